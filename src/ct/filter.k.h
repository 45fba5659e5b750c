/* Filtering detector rows: one item is one row (view, v), by a linear convolution through a real
 * transform of half the length in the item's scratch (fft.k.h). */
#ifndef MOTET_CT_FILTER_K_H
#define MOTET_CT_FILTER_K_H

#include "ct/fft.k.h"
#include "ct/geometry.k.h"

typedef struct ct_filter_args {
    const float *from; /* first view and row of the chunk; rows adjacent */
    int64_t from_view_stride, from_column_stride;
    float *to;
    int64_t to_view_stride, to_column_stride;
    const float *scale;         /* one factor per view of the chunk; NULL: none */
    const float *response;      /* [0 .. 2^bits], then the turns (fft.k.h) of 2^(bits+1) values */
    int64_t columns, rows, pad; /* each end continued by `pad` times its value */
    int32_t bits;               /* 2^bits complex values hold a row */
} ct_filter_args;

K_FN size_t ct_filter_scratch(int32_t bits, int lanes)
{
    return sizeof(float) * 2 * (size_t)lanes << bits;
}

K_FN const float *ct_filter_turns(const ct_filter_args *a)
{
    return a->response + ((int64_t)1 << a->bits) + 1;
}

K_FN void ct_filter_spectrum(const int lanes, const ct_filter_args *a, float *data)
{
    ct_fft_forward(lanes, data, a->bits, ct_filter_turns(a));
    ct_fft_respond(lanes, data, a->bits, ct_filter_turns(a), a->response);
    ct_fft_inverse(lanes, data, a->bits, ct_filter_turns(a));
}

/* Columns as the transform sees them: padded, then zeros. */
K_FN int64_t ct_filter_source(const ct_filter_args *a, int64_t n)
{
    return k_min_i64(k_max_i64(n - a->pad, 0), a->columns - 1);
}

K_FN float ct_filter_result(const ct_filter_args *a, int64_t view, float value)
{
    return ct_result(a->scale ? value * a->scale[view] : value);
}

K_FN void ct_filter_item(const ct_filter_args *a, int64_t item, void *scratch)
{
    float *data = (float *)scratch;
    const int64_t view = item / a->rows, v = item % a->rows;
    const float *from = a->from + view * a->from_view_stride + v;
    float *to = a->to + view * a->to_view_stride + v;
    const int64_t length = a->columns + 2 * a->pad, whole = (int64_t)2 << a->bits;
    for (int64_t n = 0; n < length; n++)
        data[n] = from[ct_filter_source(a, n) * a->from_column_stride];
    for (int64_t n = length; n < whole; n++) data[n] = 0.0f;
    ct_filter_spectrum(1, a, data);
    for (int64_t u = 0; u < a->columns; u++)
        to[u * a->to_column_stride] = ct_filter_result(a, view, data[u + a->pad]);
}

#endif
