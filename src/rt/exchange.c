/* Count the entries of each bucket, move them there in order, sort and combine them there. */
#include "rt/exchange.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "rt/plan_inside.h"

enum { FROM, SORTED, WORK, SPANS, LEFT };
enum { COMBINE_VERSION = 0x636d6201 }; /* another one when the kernel gives other results */

typedef struct exchange {
    motet_context *context;
    const rt_exchange *of;
    const rt_rows *in;
    int64_t entries, width, buckets;
    int shift; /* of keys, when bits tell the bucket */
    int64_t *offset;
    motet_array *from, *sorted, *work, *spans, *left;
} exchange;

static motet_status check(exchange *x)
{
    motet_context *c = x->context;
    const rt_exchange *of = x->of;
    if (x->in->data->type != MOTET_I64)
        return fail(c, MOTET_BAD_SHAPE, "%s: entries are %s, expected int64", of->name,
                    motet_type_text(x->in->data->type));
    if (of->buckets < 1)
        return fail(c, MOTET_BAD_ARGUMENT, "%s: %lld buckets, expected at least 1", of->name,
                    (long long)of->buckets);
    if (!of->bound && (of->buckets & (of->buckets - 1)))
        return fail(c, MOTET_BAD_ARGUMENT, "%s: %lld buckets without bounds, expected a power of 2",
                    of->name, (long long)of->buckets);
    for (int64_t b = 1; of->bound && b < of->buckets - 1; b++)
        if (of->bound[b] < of->bound[b - 1])
            return fail(c, MOTET_BAD_ARGUMENT, "%s: bound %lld is below the one before it",
                        of->name, (long long)b);
    x->shift = 64;
    for (int64_t n = of->buckets; n > 1; n /= 2) x->shift--;
    return MOTET_OK;
}

static int64_t bucket_of(const exchange *x, uint64_t key)
{
    if (!x->of->bound) return x->shift < 64 ? (int64_t)(key >> x->shift) : 0;
    int64_t low = 0, high = x->buckets - 1; /* bounds that are not above the key: that many */
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (x->of->bound[middle] <= key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Host bytes for so many entries, beside the result. */
static int64_t bytes_for(const exchange *x, int copies)
{
    const int64_t books = plan_mul(plan_add(x->buckets, 1), 6 * 8);
    return plan_add(plan_mul(rt_rows_bytes(x->entries, MOTET_I64, x->width), copies), books);
}

static motet_status make(exchange *x)
{
    motet_context *c = x->context;
    x->offset = mem_zero_array(c, x->buckets + 1, sizeof *x->offset);
    if (!x->offset)
        return fail(c, MOTET_NO_MEMORY, "%s: no memory for the places of %lld buckets", x->of->name,
                    (long long)x->buckets);
    TRY(rt_rows_array(c, MOTET_I64, x->entries, x->width, &x->from));
    TRY(rt_rows_array(c, MOTET_I64, x->entries, x->width, &x->sorted));
    TRY(rt_rows_array(c, MOTET_I64, x->entries, x->width, &x->work));
    TRY(rt_rows_array(c, MOTET_I64, x->buckets, 3, &x->spans));
    return rt_rows_array(c, MOTET_I64, x->buckets, 2, &x->left);
}

static void route(exchange *x)
{
    const int64_t width = x->width, *in = x->in->data->data;
    int64_t *from = x->from->data, *span = x->spans->data;
    for (int64_t i = 0; i < x->entries; i++) x->offset[bucket_of(x, (uint64_t)in[i * width]) + 1]++;
    for (int64_t b = 0; b < x->buckets; b++) {
        const int64_t count = x->offset[b + 1];
        x->offset[b + 1] += x->offset[b];
        memcpy(span + 3 * b, (int64_t[]){b, x->offset[b], count}, 3 * sizeof *span);
    }
    for (int64_t i = 0; i < x->entries; i++) { /* the span's first is the next free place */
        const int64_t at = span[3 * bucket_of(x, (uint64_t)in[i * width]) + 1]++;
        memcpy(from + at * width, in + i * width, (size_t)width * sizeof *in);
    }
    for (int64_t b = 0; b < x->buckets; b++) span[3 * b + 1] = x->offset[b];
}

static motet_status enqueue(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    const exchange *x = user;
    const k_combine_args a = {.span = chunk->port[SPANS].data,
                              .from = chunk->port[FROM].data,
                              .sorted = chunk->port[SORTED].data,
                              .work = chunk->port[WORK].data,
                              .first = chunk->port[FROM].first[0],
                              .width = x->width,
                              .left = chunk->port[LEFT].data,
                              .how = x->of->how};
    return rt_launch(queue, &K_k_combine, &a, chunk->count[0]);
}

static motet_status combine(const exchange *x, const rt_run_options *options)
{
    char name[80];
    snprintf(name, sizeof name, "%s:combine", x->of->name);
    const rt_op op = {
        .name = name,
        .axes = 1,
        .extent = {x->buckets},
        .port =
            {[FROM] = {.name = "entries", .array = x->from, .access = RT_READ, .offset = x->offset},
             [SORTED] = {.name = "sorted entries",
                         .array = x->sorted,
                         .access = RT_WRITE,
                         .offset = x->offset},
             [WORK] = {.name = "work", .array = x->work, .access = RT_WRITE, .offset = x->offset},
             [SPANS] = {.name = "spans", .array = x->spans, .access = RT_READ},
             [LEFT] = {.name = "lengths", .array = x->left, .access = RT_WRITE}},
        .enqueue = enqueue,
        .user = x,
        .fingerprint = {COMBINE_VERSION, (uint64_t)x->of->how}};
    return rt_run_with(x->context, &op, options);
}

static motet_status check_sums(const exchange *x)
{
    const int64_t *left = x->left->data, *sorted = x->sorted->data;
    for (int64_t b = 0; b < x->buckets; b++) {
        if (!left[2 * b + 1]) continue;
        const int64_t at = x->offset[b] + left[2 * b + 1] - 1;
        return fail(x->context, MOTET_BAD_DATA, "%s: the sum of key %llu leaves int64", x->of->name,
                    (unsigned long long)sorted[at * x->width]);
    }
    return MOTET_OK;
}

static motet_status gather(const exchange *x, int64_t allowed, rt_rows **out)
{
    int64_t *length = x->spans->data; /* not needed any more, and large enough */
    const int64_t *left = x->left->data, *sorted = x->sorted->data;
    for (int64_t b = 0; b < x->buckets; b++) length[b] = left[2 * b];
    TRY(rt_rows_create(x->context, x->of->name, x->buckets, length, MOTET_I64, x->width,
                       bytes_for(x, 1), allowed, out));
    int64_t *data = (*out)->data->data;
    for (int64_t b = 0; b < x->buckets; b++)
        if (length[b])
            memcpy(data + (*out)->offset[b] * x->width, sorted + x->offset[b] * x->width,
                   (size_t)(length[b] * x->width) * sizeof *data);
    return MOTET_OK;
}

motet_status rt_exchange_run(motet_context *c, const rt_exchange *of, const rt_rows *in,
                             const rt_run_options *options, rt_rows **out)
{
    static const rt_run_options plain;
    exchange x = {.context = c,
                  .of = of,
                  .in = in,
                  .entries = rt_rows_entries(in),
                  .width = rt_rows_width(in),
                  .buckets = of->buckets};
    const int64_t allowed = rt_rows_allowed(c, of->most_bytes);
    motet_status st = MOTET_OK;
    TRY_GOTO(check(&x));
    TRY_GOTO(rt_rows_fit(c, of->name, x.buckets, x.entries, bytes_for(&x, 3), allowed));
    TRY_GOTO(make(&x));
    route(&x);
    TRY_GOTO(combine(&x, options ? options : &plain));
    TRY_GOTO(check_sums(&x));
    motet_array_free(x.from);
    motet_array_free(x.work);
    x.from = x.work = NULL;
    TRY_GOTO(gather(&x, allowed, out));
out:
    motet_array_free(x.from);
    motet_array_free(x.sorted);
    motet_array_free(x.work);
    motet_array_free(x.spans);
    motet_array_free(x.left);
    mem_free(c, x.offset);
    return st;
}
