/* Count, scan, fill; or fill what fits a capacity, and again what did not. */
#include "rt/ragged.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "rt/plan_inside.h"

enum { NAME = 80 };

typedef struct ragged {
    motet_context *context;
    const rt_ragged *of;
    const rt_run_options *options;
    int64_t rows, allowed; /* bytes of the host */
} ragged;

/* Arrays of one filling. */
typedef struct filling {
    motet_array *spans, *lengths, *entries;
    int64_t *offset; /* of the entries */
} filling;

static motet_status nonsense(motet_context *c, const rt_op *op, const char *what)
{
    return fail(c, MOTET_INTERNAL, "%s: a ragged operation %s", op->name, what);
}

static motet_status check(motet_context *c, const rt_ragged *r)
{
    const rt_op *op = &r->op;
    if (op->axes != 1 || op->stream_extent)
        return nonsense(c, op, "has a box of one axis and no stream");
    if (r->width < 1 || r->capacity < 0 || !r->fill || (!r->count && !r->capacity))
        return nonsense(c, op, "needs a width, a way to fill, and one to count or a capacity");
    for (int i = 0; i < RT_PORTS; i++) {
        const rt_port *p = &op->port[i];
        if (!p->array) continue;
        if (i >= RT_LENGTHS || p->access != RT_READ)
            return nonsense(c, op, "only reads, by the ports before the last three");
        if (r->capacity && p->cut[0] != RT_WHOLE && (p->list || p->offset || p->halo || p->source))
            return nonsense(c, op, "with a capacity has no ragged, listed, haloed or sourced port");
    }
    return MOTET_OK;
}

static motet_status run(const ragged *r, rt_op *op, const char *what)
{
    char name[NAME];
    snprintf(name, sizeof name, "%s:%s", r->of->op.name, what);
    op->name = name;
    return rt_run_with(r->context, op, r->options);
}

static rt_port lengths_port(const motet_array *lengths)
{
    return (rt_port){.name = "lengths", .array = lengths, .access = RT_WRITE};
}

/* One filling: rows list[i] (NULL: row i) with room for the entries [offset[i], offset[i + 1]). */

static void filling_free(motet_context *c, filling *f)
{
    motet_array_free(f->spans);
    motet_array_free(f->lengths);
    motet_array_free(f->entries);
    mem_free(c, f->offset);
}

/* Host bytes of a filling of n rows with so many entries. */
static int64_t filling_bytes(const ragged *r, int64_t n, int64_t entries)
{
    const int64_t books = (int64_t)sizeof(rt_span) + 2 * (int64_t)sizeof(int64_t);
    return plan_add(plan_mul(plan_add(n, 1), books),
                    rt_rows_bytes(entries, r->of->type, r->of->width));
}

/* Spans and lengths; entries where there are none. */
static motet_status filling_make(const ragged *r, const int64_t *list, int64_t n,
                                 const int64_t *offset, filling *f)
{
    motet_context *c = r->context;
    TRY(rt_rows_array(c, MOTET_I64, n, 3, &f->spans));
    TRY(rt_rows_array(c, MOTET_I64, n, 1, &f->lengths));
    rt_span *span = f->spans->data;
    for (int64_t i = 0; i < n; i++)
        span[i] = (rt_span){list ? list[i] : i, offset[i], offset[i + 1] - offset[i]};
    return MOTET_OK;
}

static motet_status fill(const ragged *r, const int64_t *list, int64_t n, const int64_t *offset,
                         const motet_array *entries, const filling *f, const char *what)
{
    rt_op op = r->of->op;
    op.extent[0] = n;
    op.enqueue = r->of->fill;
    for (int i = 0; i < RT_LENGTHS && list; i++) {
        if (!op.port[i].array || op.port[i].cut[0] == RT_WHOLE) continue;
        op.port[i].list = list;
        op.port[i].list_count = n;
    }
    op.port[RT_LENGTHS] = lengths_port(f->lengths);
    op.port[RT_SPANS] = (rt_port){.name = "spans", .array = f->spans, .access = RT_READ};
    op.port[RT_ENTRIES] =
        (rt_port){.name = "entries", .array = entries, .access = RT_WRITE, .offset = offset};
    return run(r, &op, what);
}

/* The filling found the lengths that were there before. */
static motet_status agree(const ragged *r, const int64_t *list, int64_t n, const int64_t *before,
                          const filling *f)
{
    const int64_t *length = f->lengths->data;
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = list ? list[i] : i;
        if (length[i] != before[row])
            return fail(r->context, MOTET_INTERNAL,
                        "%s: row %lld has %lld entries when it is filled, %lld before",
                        r->of->op.name, (long long)row, (long long)length[i],
                        (long long)before[row]);
    }
    return MOTET_OK;
}

/* Counted. */

static motet_status counted(const ragged *r, rt_rows **out)
{
    motet_context *c = r->context;
    const char *name = r->of->op.name;
    motet_status st = MOTET_OK;
    motet_array *lengths = NULL;
    rt_rows *rows = NULL;
    filling f = {.offset = NULL};
    const int64_t books = plan_add(plan_mul(r->rows, 8), filling_bytes(r, r->rows, 0));
    TRY_GOTO(rt_rows_fit(c, name, r->rows, 0, books, r->allowed));
    TRY_GOTO(rt_rows_array(c, MOTET_I64, r->rows, 1, &lengths));
    rt_op op = r->of->op;
    op.enqueue = r->of->count;
    op.port[RT_LENGTHS] = lengths_port(lengths);
    TRY_GOTO(run(r, &op, "count"));
    TRY_GOTO(rt_rows_create(c, name, r->rows, lengths->data, r->of->type, r->of->width, books,
                            r->allowed, &rows));
    TRY_GOTO(filling_make(r, NULL, r->rows, rows->offset, &f));
    TRY_GOTO(fill(r, NULL, r->rows, rows->offset, rows->data, &f, "fill"));
    TRY_GOTO(agree(r, NULL, r->rows, lengths->data, &f));
    *out = rows;
    rows = NULL;
out:
    filling_free(c, &f);
    rt_rows_free(rows);
    motet_array_free(lengths);
    return st;
}

/* Within a capacity. */

static motet_status offsets_of(const ragged *r, int64_t n, int64_t **out)
{
    *out = mem_alloc_array(r->context, n + 1, sizeof **out);
    if (*out) return MOTET_OK;
    return fail(r->context, MOTET_NO_MEMORY, "%s: no memory for the places of %lld rows",
                r->of->op.name, (long long)n);
}

static motet_status first_filling(const ragged *r, filling *f)
{
    const int64_t capacity = r->of->capacity, entries = plan_mul(r->rows, capacity);
    TRY(rt_rows_fit(r->context, r->of->op.name, r->rows, entries,
                    filling_bytes(r, r->rows, entries), r->allowed));
    TRY(offsets_of(r, r->rows, &f->offset));
    for (int64_t i = 0; i <= r->rows; i++) f->offset[i] = i * capacity;
    TRY(filling_make(r, NULL, r->rows, f->offset, f));
    TRY(rt_rows_array(r->context, r->of->type, entries, r->of->width, &f->entries));
    return fill(r, NULL, r->rows, f->offset, f->entries, f, "fill");
}

/* Rows that did not fit, with the room that they need. */
static motet_status second_filling(const ragged *r, const int64_t *length, const int64_t *list,
                                   int64_t n, int64_t entries, filling *f)
{
    TRY(offsets_of(r, n, &f->offset));
    f->offset[0] = 0;
    for (int64_t i = 0; i < n; i++) f->offset[i + 1] = f->offset[i] + length[list[i]];
    TRY(filling_make(r, list, n, f->offset, f));
    TRY(rt_rows_array(r->context, r->of->type, entries, r->of->width, &f->entries));
    TRY(fill(r, list, n, f->offset, f->entries, f, "again"));
    return agree(r, list, n, length, f);
}

static void gather(const ragged *r, const filling *first, const int64_t *list, int64_t n,
                   const filling *second, const rt_rows *rows)
{
    const size_t entry = (size_t)rt_rows_bytes(1, r->of->type, r->of->width);
    int64_t k = 0; /* rows of the second filling so far */
    for (int64_t i = 0; i < r->rows; i++) {
        const int again = k < n && list[k] == i;
        const filling *f = again ? second : first;
        const int64_t from = again ? second->offset[k++] : first->offset[i];
        const size_t bytes = (size_t)(rows->offset[i + 1] - rows->offset[i]) * entry;
        if (bytes)
            memcpy((char *)rows->data->data + (size_t)rows->offset[i] * entry,
                   (const char *)f->entries->data + (size_t)from * entry, bytes);
    }
}

static motet_status bounded(const ragged *r, rt_rows **out)
{
    motet_context *c = r->context;
    const char *name = r->of->op.name;
    motet_status st = MOTET_OK;
    filling first = {.offset = NULL}, second = {.offset = NULL};
    int64_t *list = NULL, n = 0, beyond = 0;
    rt_rows *rows = NULL;
    TRY_GOTO(first_filling(r, &first));
    const int64_t *length = first.lengths->data;
    for (int64_t i = 0; i < r->rows; i++) {
        if (length[i] <= r->of->capacity) continue;
        beyond = plan_add(beyond, length[i]);
        n++;
    }
    int64_t held = filling_bytes(r, r->rows, plan_mul(r->rows, r->of->capacity));
    if (n) held = plan_add(held, plan_add(filling_bytes(r, n, beyond), plan_mul(n, 8)));
    TRY_GOTO(rt_rows_create(c, name, r->rows, length, r->of->type, r->of->width, held, r->allowed,
                            &rows));
    if (n) {
        list = mem_alloc_array(c, n, sizeof *list);
        if (!list) {
            st = fail(c, MOTET_NO_MEMORY, "%s: no memory to list %lld rows", name, (long long)n);
            goto out;
        }
        for (int64_t i = 0, k = 0; i < r->rows; i++)
            if (length[i] > r->of->capacity) list[k++] = i;
        TRY_GOTO(second_filling(r, length, list, n, beyond, &second));
    }
    gather(r, &first, list, n, &second, rows);
    *out = rows;
    rows = NULL;
out:
    rt_rows_free(rows);
    filling_free(c, &first);
    filling_free(c, &second);
    mem_free(c, list);
    return st;
}

motet_status rt_ragged_run(motet_context *c, const rt_ragged *of, const rt_run_options *options,
                           rt_rows **out)
{
    TRY(check(c, of));
    static const rt_run_options plain;
    const ragged r = {.context = c,
                      .of = of,
                      .options = options ? options : &plain,
                      .rows = of->op.extent[0],
                      .allowed = rt_rows_allowed(c, of->most_bytes)};
    return of->capacity ? bounded(&r, out) : counted(&r, out);
}
