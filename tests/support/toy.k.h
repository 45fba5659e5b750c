/* Kernels of toy.h. */
#ifndef MOTET_TEST_TOY_K_H
#define MOTET_TEST_TOY_K_H

#include "support/toy_view.h"

typedef struct toy_args {
    toy_view in, with, out;
    int64_t first[2], count[2], rows;
    int64_t stream_first, stream_count;
    int first_block;
} toy_args;
typedef toy_args toy_smooth_args, toy_sum_args, toy_update_args;

K_FN void toy_smooth_item(const toy_args *a, int64_t item, void *scratch)
{
    const int64_t i = a->first[0] + item / a->count[1], j = a->first[1] + item % a->count[1];
    float sum = 0;
    (void)scratch;
    for (int64_t k = i - 2; k <= i + 2; k++)
        if (k >= 0 && k < a->rows) sum += *toy_f32(&a->in, k, j);
    *toy_f32(&a->out, i, j) = sum;
}

K_FN void toy_sum_item(const toy_args *a, int64_t item, void *scratch)
{
    float *product = (float *)scratch; /* of each term of the block */
    const int64_t i = a->first[0] + item / a->count[1], j = a->first[1] + item % a->count[1];
    const int64_t first = a->stream_first;
    for (int64_t k = 0; k < a->stream_count; k++)
        product[k] = *toy_f32(&a->with, first + k, i) * *toy_f32(&a->in, first + k, j);
    float total = a->first_block ? 0 : *toy_f32(&a->out, i, j);
    for (int64_t k = 0; k < a->stream_count; k++) total += product[k];
    *toy_f32(&a->out, i, j) = total;
}

K_FN void toy_update_item(const toy_args *a, int64_t item, void *scratch)
{
    const int64_t i = a->first[0] + item;
    (void)scratch;
    for (int64_t j = 0; j < a->out.count[1]; j++)
        *toy_f32(&a->out, i, j) += (1 + (float)i * 0.125f) * *toy_f32(&a->in, i, j);
}

#endif
