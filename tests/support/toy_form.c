#include "support/toy_form.h"

#include <stdlib.h>
#include <string.h>

#include "kern/accumulate.h"
#include "support/ports.h"
#include "support/toy_cover.h"
#include "support/toy_rows.h"
#include "support/toy_solver.h"

#include "support/pipe.h"

enum { ITEMS = 3, DIGEST = 33 };

struct toy_form {
    motet_context *context;
    toy_which which;
    int size;
    int64_t rows, columns;
    pipe_case map[ITEMS]; /* several in a batch */
    ports_case ports;
    motet_array *wanted;
    rt_rows *result; /* NULL: not yet */
    motet_array *gain, *sums, *histogram;
    toy_solver solver;

    motet_array bare; /* sizes of what goes to a sink */
    rt_sink sink;
    motet_array *taken;
    int64_t taken_elements, last[2];
    int ends, disorder;
    motet_status end;

    int64_t told; /* items of the batch */
    motet_status status[ITEMS];

    char before[ITEMS][DIGEST];
};

static const struct {
    int64_t rows, columns;
} sizes[TOY_SIZES] = {{40, 13}, {7, 5}, {96, 24}};

/* A journal may keep it. */
static void known(rt_op *op, const toy_form *f, int item)
{
    op->fingerprint[0] = 0x746f79;
    op->fingerprint[1] = (uint64_t)(16 * (int)f->which + item);
}

/* Maps, and a batch of them. */

static void make_map(toy_form *f)
{
    static const int map[] = {PIPE_SMOOTH, PIPE_SUM, PIPE_UPDATE, PIPE_PROJECT};
    pipe_case_make(f->context, map[f->which], f->rows, f->columns, &f->map[0]);
}

static motet_status run_map(toy_form *f, const rt_run_options *o)
{
    if (f->which != TOY_PROJECT) known(&f->map[0].op, f, 0);
    return rt_run_with(f->context, &f->map[0].op, o);
}

static void digest_map(const toy_form *f, int item, char digest[DIGEST])
{
    assert_ok(f->context, motet_array_digest(f->map[item].out, digest));
}

static void make_batch(toy_form *f)
{
    static const int map[ITEMS] = {PIPE_SUM, PIPE_SMOOTH, PIPE_UPDATE};
    for (int i = 0; i < ITEMS; i++)
        pipe_case_make(f->context, map[i], f->rows, f->columns, &f->map[i]);
}

static void done(int64_t index, motet_status status, void *user)
{
    toy_form *f = user;
    f->disorder |= index != f->told;
    if (f->told < ITEMS) f->status[f->told] = status;
    f->told++;
}

static motet_status run_batch(toy_form *f, const rt_run_options *o)
{
    rt_op ops[ITEMS];
    for (int i = 0; i < ITEMS; i++) {
        ops[i] = f->map[i].op;
        known(&ops[i], f, i);
    }
    const motet_status st = rt_run_batch(f->context, ops, ITEMS, o, done, f);
    if (st != MOTET_OK) return st;
    for (int i = 0; i < ITEMS; i++)
        if (f->status[i] != MOTET_OK) return f->status[i];
    return MOTET_OK;
}

/* Other ports. */

static void make_ports(toy_form *f)
{
    static const int which[] = {PORTS_LISTED, PORTS_SUMS, PORTS_SOURCE, PORTS_MADE};
    ports_case_make(f->context, which[f->which - TOY_LISTED], f->rows, f->columns, &f->ports);
}

static motet_status run_ports(toy_form *f, const rt_run_options *o)
{
    known(&f->ports.op, f, 0);
    return rt_run_with(f->context, &f->ports.op, o);
}

static void digest_ports(const toy_form *f, int item, char digest[DIGEST])
{
    (void)item;
    assert_ok(f->context, motet_array_digest(f->ports.out, digest));
}

/* A sink. */

static motet_status take(const rt_view *part, void *user)
{
    toy_form *f = user;
    const int64_t *at = part->first;
    f->disorder |= f->ends || at[0] < f->last[0] || (at[0] == f->last[0] && at[1] <= f->last[1]);
    memcpy(f->last, at, sizeof f->last);
    for (int64_t i = 0; i < part->count[0]; i++)
        memcpy((float *)f->taken->data + (at[0] + i) * f->columns + at[1],
               (const float *)part->data + i * part->stride[0],
               (size_t)part->count[1] * sizeof(float));
    f->taken_elements += part->count[0] * part->count[1];
    return MOTET_OK;
}

static void end(motet_status status, void *user)
{
    toy_form *f = user;
    f->ends++;
    f->end = status;
}

static void make_sink(toy_form *f)
{
    pipe_case_make(f->context, PIPE_SMOOTH, f->rows, f->columns, &f->map[0]);
    f->taken = f->map[0].out;
    f->bare = *f->taken;
    f->bare.data = NULL;
    f->last[0] = -1;
    f->sink = (rt_sink){take, end, f};
    f->map[0].op.port[2].array = &f->bare;
    f->map[0].op.port[2].sink = &f->sink;
}

/* Rows of unknown length. */

static void make_emit(toy_form *f)
{
    assert_ok(f->context, motet_array_create(f->context, MOTET_I64, 1, &f->rows, &f->wanted));
    int64_t *n = f->wanted->data;
    for (int64_t i = 0; i < f->rows; i++) n[i] = i == 3 ? 4 * f->columns : i * i % 6;
}

static motet_status run_emit(toy_form *f, const rt_run_options *o)
{
    rt_ragged r = toy_emit(f->wanted, 0);
    known(&r.op, f, 0);
    return rt_ragged_run(f->context, &r, o, &f->result);
}

static void make_walk(toy_form *f) { (void)f; }

static motet_status run_walk(toy_form *f, const rt_run_options *o)
{
    const toy_walk walk = {.steps = 2 + (uint32_t)(f->rows % 16) / 3, .buckets = 32, .capacity = 3};
    return toy_walk_run(f->context, &walk, o, &f->result);
}

static void digest_result(const toy_form *f, int item, char digest[DIGEST])
{
    (void)item;
    strcpy(digest, "none");
    if (f->result) rt_rows_digest(f->result, digest);
}

/* Sums. */

static void make_cover(toy_form *f)
{
    motet_context *c = f->context;
    assert_ok(c, motet_array_create(c, MOTET_F32, 1, &f->rows, &f->gain));
    float *gain = f->gain->data;
    for (int64_t i = 0; i < f->rows; i++) gain[i] = 1 / (1 + (float)(i % 13));
    const int64_t shape[2] = {TOY_CELLS, K_LIMBS_BOUNDED}, bins = TOY_BINS;
    assert_ok(c, motet_array_create(c, MOTET_I64, 2, shape, &f->sums));
    assert_ok(c, motet_array_create(c, MOTET_I64, 1, &bins, &f->histogram));
}

static motet_status run_cover(toy_form *f, const rt_run_options *o)
{
    const toy_cover cover = {.gain = f->gain, .map = f->sums, .histogram = f->histogram};
    const rt_op op = toy_cover_op(&cover);
    return rt_run_with(f->context, &op, o);
}

static void digest_cover(const toy_form *f, int item, char digest[DIGEST])
{
    (void)item;
    assert_ok(f->context, motet_array_digest(f->sums, digest));
}

/* A solver. */

enum { STEPS = 4 };

static void make_solve(toy_form *f)
{
    toy_solver_make(f->context, f->rows, f->columns, 7, 1, &f->solver);
}

static motet_status run_solve(toy_form *f, const rt_run_options *o)
{
    f->solver.options = o;
    const rt_loop loop = toy_solver_loop(&f->solver, STEPS, NULL);
    return rt_loop_run(f->context, &loop, NULL);
}

static void digest_solve(const toy_form *f, int item, char digest[DIGEST])
{
    (void)item;
    assert_ok(f->context, motet_array_digest(f->solver.x, digest));
}

/* All of them. */

typedef struct kind {
    const char *name;
    void (*make)(toy_form *);
    motet_status (*run)(toy_form *, const rt_run_options *);
    void (*digest)(const toy_form *, int item, char digest[DIGEST]);
    int items;
} kind;

static const kind kinds[TOY_FORMS] = {
    [TOY_SMOOTH] = {"smooth", make_map, run_map, digest_map, 1},
    [TOY_SUM] = {"sum", make_map, run_map, digest_map, 1},
    [TOY_UPDATE] = {"update", make_map, run_map, digest_map, 1},
    [TOY_PROJECT] = {"project", make_map, run_map, digest_map, 1},
    [TOY_LISTED] = {"listed", make_ports, run_ports, digest_ports, 1},
    [TOY_SUMS] = {"sums", make_ports, run_ports, digest_ports, 1},
    [TOY_SOURCE] = {"source", make_ports, run_ports, digest_ports, 1},
    [TOY_MADE] = {"made", make_ports, run_ports, digest_ports, 1},
    [TOY_SINK] = {"sink", make_sink, run_map, digest_map, 1},
    [TOY_EMIT] = {"emit", make_emit, run_emit, digest_result, 1},
    [TOY_WALK] = {"walk", make_walk, run_walk, digest_result, 1},
    [TOY_COVER] = {"cover", make_cover, run_cover, digest_cover, 1},
    [TOY_SOLVE] = {"solve", make_solve, run_solve, digest_solve, 1},
    [TOY_BATCH] = {"batch", make_batch, run_batch, digest_map, ITEMS},
};

static char expected[TOY_FORMS][TOY_SIZES][ITEMS][DIGEST];

const char *toy_form_name(toy_which which) { return kinds[which].name; }

toy_form *toy_form_make(motet_context *context, toy_which which, int size)
{
    toy_form *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->context = context;
    f->which = which;
    f->size = size;
    f->rows = sizes[size].rows;
    f->columns = sizes[size].columns;
    kinds[which].make(f);
    for (int i = 0; i < kinds[which].items; i++) kinds[which].digest(f, i, f->before[i]);
    return f;
}

void toy_form_free(toy_form *f)
{
    for (int i = 0; i < ITEMS; i++) pipe_case_free(&f->map[i]);
    if (f->ports.out) ports_case_free(&f->ports);
    if (f->solver.x) toy_solver_free(&f->solver);
    motet_array_free(f->wanted);
    rt_rows_free(f->result);
    motet_array_free(f->gain);
    motet_array_free(f->sums);
    motet_array_free(f->histogram);
    free(f);
}

motet_status toy_form_run(toy_form *f, const rt_run_options *options)
{
    return kinds[f->which].run(f, options);
}

void toy_form_learn(toy_which which, int size)
{
    if (*expected[which][size][0]) return;
    motet_context *c = test_context();
    toy_form *f = toy_form_make(c, which, size);
    const rt_run_options plain = {.shard_rows = 0};
    assert_ok(c, toy_form_run(f, &plain));
    for (int i = 0; i < kinds[which].items; i++)
        kinds[which].digest(f, i, expected[which][size][i]);
    toy_form_free(f);
    motet_context_free(c);
}

const char *toy_form_wrong(const toy_form *f, motet_status status)
{
    const kind *k = &kinds[f->which];
    toy_form_learn(f->which, f->size);
    if (f->disorder) return "something came out of order";
    if (f->which == TOY_SINK && f->ends > 1) return "the end was told twice";
    if (f->which == TOY_SINK && f->ends && f->end != status) return "another end was told";
    if (f->which == TOY_SINK && status != MOTET_OK) return NULL;  /* it saw what was finished */
    if (f->which == TOY_SOLVE && status != MOTET_OK) return NULL; /* its state is undefined */
    if (f->which == TOY_SINK && (!f->ends || f->taken_elements != f->rows * f->columns))
        return "the sink did not get all";
    if (f->which == TOY_BATCH && f->told && f->told != ITEMS) return "not all items were reported";
    for (int i = 0; i < k->items; i++) {
        const motet_status st = f->which == TOY_BATCH && f->told ? f->status[i] : status;
        char now[DIGEST];
        k->digest(f, i, now);
        if (st == MOTET_OK && strcmp(now, expected[f->which][f->size][i])) return "wrong bits";
        if (st != MOTET_OK && strcmp(now, f->before[i])) return "an output was touched";
    }
    return NULL;
}
