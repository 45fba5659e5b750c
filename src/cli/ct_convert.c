/* motet ct convert: rows of one store to another, a few megabytes at a time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quantise.h"
#include "words.h"

enum { BLOCK_BYTES = 8 << 20 };

typedef struct conversion {
    run *r;
    motet_store *in, *out;
    motet_store_info from, to;
    int swap;           /* the last two axes */
    int scaled;         /* through `q` */
    motet_type read_as; /* type of the rows as read */
    int64_t row_values; /* values of one row of axis 0 */
    int64_t block;      /* rows at once */
    void *read, *written;
    quantiser q;
} conversion;

static int plan(conversion *c)
{
    const args *a = c->r->args;
    const command *cmd = a->command;
    const flag_value *range = args_value(a, "range");
    c->to = c->from;
    if (args_given(a, "dtype")) type_of_word(args_text(a, "dtype"), &c->to.type);
    c->scaled = range->given;
    if (c->scaled && !quantise_knows(c->to.type))
        return complain(cmd, EXIT_USAGE,
                        "--range is \"%s\" but the output is %s, expected --dtype u8, u16 or i32",
                        range->text, motet_type_text(c->to.type));
    c->read_as = c->scaled ? MOTET_F64 : c->to.type;
    c->swap = args_given(a, "sinogram");
    if (c->swap && c->from.axes != 3)
        return complain(cmd, EXIT_REFUSED, "%s has %d axes, --sinogram needs 3", a->positional[0],
                        c->from.axes);
    if (c->swap) {
        c->to.shape[1] = c->from.shape[2];
        c->to.shape[2] = c->from.shape[1];
        c->to.spacing[1] = c->from.spacing[2];
        c->to.spacing[2] = c->from.spacing[1];
        c->to.origin[1] = c->from.origin[2];
        c->to.origin[2] = c->from.origin[1];
    }
    c->row_values = 1;
    for (int i = 1; i < c->from.axes; i++) c->row_values *= c->from.shape[i];
    const int64_t row_bytes = c->row_values * (int64_t)motet_type_bytes(c->read_as);
    c->block = row_bytes > 0 && row_bytes < BLOCK_BYTES ? BLOCK_BYTES / row_bytes : 1;
    if (c->block > c->from.shape[0]) c->block = c->from.shape[0];
    if (c->block < 1) c->block = 1;
    c->read = malloc((size_t)(c->block * row_bytes) + 1);
    c->written = malloc((size_t)(c->block * row_bytes) + 1);
    if (!c->read || !c->written)
        return complain(cmd, EXIT_DEVICE, "no memory for %lld rows of %lld bytes",
                        (long long)c->block, (long long)row_bytes);
    return EXIT_OK;
}

/* Each row (a, b) becomes (b, a). */
static void transpose(const conversion *c, const void *from, void *to, int64_t rows, size_t bytes)
{
    const int64_t na = c->from.shape[1], nb = c->from.shape[2];
    const char *source = from;
    char *target = to;
    for (int64_t row = 0; row < rows;
         row++, source += (size_t)c->row_values * bytes, target += (size_t)c->row_values * bytes)
        for (int64_t a = 0; a < na; a++)
            for (int64_t b = 0; b < nb; b++)
                memcpy(target + (size_t)(b * na + a) * bytes, source + (size_t)(a * nb + b) * bytes,
                       bytes);
}

static int64_t rows_from(const conversion *c, int64_t first)
{
    const int64_t left = c->from.shape[0] - first;
    return left < c->block ? left : c->block;
}

/* The whole file's minimum and maximum, for --range auto. */
static int measure(conversion *c, double range[2])
{
    extent e;
    extent_begin(&e);
    const int64_t total = c->from.shape[0];
    for (int64_t first = 0; first < total; first += c->block) {
        const int64_t rows = rows_from(c, first);
        if (run_stopped()) return run_cancelled(c->r);
        const motet_status st = motet_store_read(c->in, first, rows, MOTET_F64, c->read);
        if (st != MOTET_OK) return run_fail(c->r, c->r->context, st);
        extent_add_f64(&e, c->read, rows * c->row_values);
        run_progress(c->r, "find the range", first + rows, total);
    }
    if (!(e.low <= e.high))
        return complain(c->r->args->command, EXIT_REFUSED,
                        "%s holds no finite value, --range auto needs one",
                        c->r->args->positional[0]);
    range[0] = e.low;
    range[1] = e.high;
    return EXIT_OK;
}

static int copy(conversion *c)
{
    const int64_t total = c->from.shape[0];
    for (int64_t first = 0; first < total; first += c->block) {
        const int64_t rows = rows_from(c, first), values = rows * c->row_values;
        if (run_stopped()) return run_cancelled(c->r);
        motet_status st = motet_store_read(c->in, first, rows, c->read_as, c->read);
        if (st == MOTET_BAD_ARGUMENT && !c->scaled && quantise_knows(c->to.type))
            return complain(c->r->args->command, EXIT_REFUSED,
                            "%s: holds %s, which %s cannot take; --range LO:HI or auto scales it",
                            c->r->args->positional[0], motet_type_text(c->from.type),
                            motet_type_text(c->to.type));
        if (st != MOTET_OK) return run_fail(c->r, c->r->context, st);
        void *now = c->read, *other = c->written;
        if (c->scaled) {
            quantise_f64(&c->q, now, values, other);
            now = c->written;
            other = c->read;
        }
        if (c->swap) {
            transpose(c, now, other, rows, motet_type_bytes(c->to.type));
            now = other;
        }
        st = motet_store_write(c->out, first, rows, now);
        if (st != MOTET_OK) return run_fail(c->r, c->r->context, st);
        run_progress(c->r, "convert", first + rows, total);
    }
    if (run_stopped()) return run_cancelled(c->r);
    const motet_status st = motet_store_commit(c->out);
    return st == MOTET_OK ? EXIT_OK : run_fail(c->r, c->r->context, st);
}

static void summary(const conversion *c)
{
    const run *r = c->r;
    char shape[WORDS], low[WORDS], high[WORDS];
    json_object_set_new(r->result, "shape", json_shape(c->to.shape, c->to.axes));
    json_object_set_new(r->result, "type", json_string(motet_type_text(c->to.type)));
    if (c->scaled) {
        json_object_set_new(r->result, "offset", json_finite(c->q.low));
        json_object_set_new(r->result, "scale", json_finite(quantise_step(&c->q)));
        json_object_set_new(r->result, "clipped", json_integer(c->q.clipped));
    }
    if (!r->talks) return;
    printf("%s: %s, %s\n", r->args->positional[1], words_shape(c->to.shape, c->to.axes, shape),
           motet_type_text(c->to.type));
    if (c->scaled)
        printf("values %s to %s became 0 to %.0f; %lld were clipped\n",
               words_real(c->q.low, 9, low), words_real(c->q.high, 9, high), c->q.highest,
               (long long)c->q.clipped);
}

static int convert(conversion *c)
{
    run *r = c->r;
    const args *a = r->args;
    const char *in = a->positional[0], *out = a->positional[1];
    run_input(r, in);
    run_output(r, out);
    int code = run_check_distinct(r);
    if (code) return code;
    motet_status st = motet_store_open(r->context, in, args_text(a, "entry"), &c->in);
    if (st != MOTET_OK) return run_fail(r, r->context, st);
    motet_store_describe(c->in, &c->from);
    code = plan(c);
    if (code) return code;
    st = motet_store_create(r->context, out, args_text(a, "out-entry"), &c->to,
                            args_given(a, "overwrite"), &c->out);
    if (st != MOTET_OK) return run_fail(r, r->context, st);
    if (c->scaled) {
        const flag_value *range = args_value(a, "range");
        double span[2] = {range->real[0], range->real[1]};
        const double begun = run_now();
        if (range->automatic) code = measure(c, span);
        if (code) return code;
        run_stage(r, "find the range", run_now() - begun);
        quantise_begin(&c->q, c->to.type, span[0], span[1]);
    }
    const double begun = run_now();
    code = copy(c);
    run_stage(r, "convert", run_now() - begun);
    if (!code) {
        run_progress_end(r);
        summary(c);
    }
    return code;
}

int run_ct_convert(const args *a)
{
    run r;
    int code = run_begin(&r, a);
    if (code) return code;
    conversion c = {.r = &r};
    code = convert(&c);
    motet_store_free(c.in);
    motet_store_free(c.out);
    free(c.read);
    free(c.written);
    return run_end(&r, code);
}
