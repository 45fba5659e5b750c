/* Kernels of ports.h: an item is an element of the box, or a row of it. */
#ifndef MOTET_TEST_PORTS_K_H
#define MOTET_TEST_PORTS_K_H

#include "kern/accumulate.h"
#include "support/toy_view.h"

enum {
    PORTS_IN,
    PORTS_WITH,
    PORTS_BEGIN,
    PORTS_END,
    PORTS_OUT,
    PORTS_FIXED,
    PORTS_STREAM,
    PORTS_ALSO
};
enum { PORTS_VIEWS = 8, PORTS_BINS = 7 };

typedef struct ports_args {
    toy_view port[PORTS_VIEWS];
    int64_t first[2], count[2];
    int64_t stream_first, stream_count;
    int first_block;
} ports_args;
typedef ports_args ports_listed_args, ports_rows_args, ports_sums_args, ports_count_args,
    ports_limbs_args, ports_source_sum_args, ports_made_args, ports_twice_args;

/* Row and column of an item that is an element. */
K_FN int64_t ports_row(const ports_args *a, int64_t item)
{
    return a->first[0] + item / a->count[1];
}
K_FN int64_t ports_column(const ports_args *a, int64_t item)
{
    return a->first[1] + item % a->count[1];
}

K_FN void ports_listed_item(const ports_args *a, int64_t item, void *scratch)
{
    const int64_t i = ports_row(a, item), j = ports_column(a, item);
    (void)scratch;
    *toy_f32(&a->port[PORTS_OUT], i, j) =
        *toy_f32(&a->port[PORTS_IN], i, j) * (1 + (float)i * 0.125f) +
        *toy_f32(&a->port[PORTS_WITH], j, i);
}

K_FN void ports_rows_item(const ports_args *a, int64_t item, void *scratch)
{
    const int64_t i = a->first[0] + item, from = *toy_i64(&a->port[PORTS_BEGIN], i, 0),
                  to = *toy_i64(&a->port[PORTS_END], i, 0);
    const toy_view *in = &a->port[PORTS_IN];
    (void)scratch;
    for (int64_t k = from; k < to; k++) {
        *toy_f32(&a->port[PORTS_OUT], k, 0) = *toy_f32(in, i, (k - from) % in->count[1]);
        *toy_f32(&a->port[PORTS_OUT], k, 1) = (float)(k - from);
    }
}

K_FN void ports_sums_item(const ports_args *a, int64_t item, void *scratch)
{
    const int64_t i = a->first[0] + item, from = *toy_i64(&a->port[PORTS_BEGIN], i, 0),
                  to = *toy_i64(&a->port[PORTS_END], i, 0);
    float sum = 0;
    (void)scratch;
    for (int64_t k = from; k < to; k++) sum += *toy_f32(&a->port[PORTS_IN], 1, k);
    *toy_f32(&a->port[PORTS_OUT], i, 0) = sum;
}

K_FN int64_t ports_bin(float x) { return (int64_t)(k_f32_bits(x) % PORTS_BINS); }

K_FN void ports_count_item(const ports_args *a, int64_t item, void *scratch)
{
    const int64_t i = ports_row(a, item), j = ports_column(a, item);
    (void)scratch;
    k_add_i64(toy_i64(&a->port[PORTS_OUT], ports_bin(*toy_f32(&a->port[PORTS_IN], i, j)), 0),
              i * a->port[PORTS_WITH].count[1] + j);
}

K_FN void ports_limbs_item(const ports_args *a, int64_t item, void *scratch)
{
    const int64_t i = ports_row(a, item), j = ports_column(a, item);
    int64_t limb[K_LIMBS_FLOAT] = {0};
    (void)scratch;
    k_limbs_add_float(limb, *toy_f32(&a->port[PORTS_IN], i, j));
    for (int k = 0; k < K_LIMBS_FLOAT; k++) k_add_i64(toy_i64(&a->port[PORTS_OUT], j, k), limb[k]);
}

/* Terms in ascending order, whatever the blocks. */
K_FN void ports_source_sum_item(const ports_args *a, int64_t item, void *scratch)
{
    const int64_t i = ports_row(a, item), j = ports_column(a, item);
    float *out = toy_f32(&a->port[PORTS_OUT], i, j);
    (void)scratch;
    if (a->first_block)
        *out = *toy_f32(&a->port[PORTS_IN], i, j) + *toy_f32(&a->port[PORTS_FIXED], 2, 3);
    for (int64_t k = a->stream_first; k < a->stream_first + a->stream_count; k++)
        *out += *toy_f32(&a->port[PORTS_WITH], k, i) * *toy_f32(&a->port[PORTS_STREAM], k, j);
}

K_FN void ports_made_item(const ports_args *a, int64_t item, void *scratch)
{
    const int64_t i = ports_row(a, item), j = ports_column(a, item);
    float *out = toy_f32(&a->port[PORTS_OUT], i, j);
    (void)scratch;
    if (a->first_block) *out = 0;
    for (int64_t k = a->stream_first; k < a->stream_first + a->stream_count; k++)
        *out = (float)(*out + *toy_f32(&a->port[PORTS_WITH], k, i) *
                                  *toy_f64(&a->port[PORTS_STREAM], k, j));
}

/* One item is an element of the block that arrived. */
typedef struct ports_make_args {
    toy_view raw, made, with;
} ports_make_args;

K_FN void ports_make_item(const ports_make_args *a, int64_t item, void *scratch)
{
    const int64_t k = a->raw.first[0] + item / a->raw.count[1];
    const int64_t j = a->raw.first[1] + item % a->raw.count[1];
    (void)scratch;
    *toy_f64(&a->made, k, j) = (double)*toy_f32(&a->raw, k, j) * *toy_f32(&a->with, j, 0);
}

K_FN void ports_twice_item(const ports_args *a, int64_t item, void *scratch)
{
    const int64_t i = ports_row(a, item), j = ports_column(a, item);
    const float x = *toy_f32(&a->port[PORTS_IN], i, j);
    (void)scratch;
    *toy_f32(&a->port[PORTS_OUT], i, j) = 2 * x;
    *toy_f32(&a->port[PORTS_ALSO], i, j) = x;
}

#endif
