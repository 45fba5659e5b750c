/* Weighting and ramp filtering of detector rows: one item is one row (view, v). Voxels that are
 * much larger than pixels see the mean over their size: along u by the response, along v by a mean
 * over neighbouring rows, here. */
#ifndef MOTET_CT_FDK_FILTER_K_H
#define MOTET_CT_FDK_FILTER_K_H

#include "ct/fdk/view.k.h"
#include "ct/filter.k.h"

typedef struct ct_fdk_filter_args {
    ct_filter_args filter; /* `scale` is not used; rows: of the detector */
    const ct_fdk_view *view;
    const float *share; /* (views, columns): of rays that are measured more than once */
    const float *mean;  /* 2 reach + 1 weights of neighbouring rows */
    int64_t reach;
    int64_t shift; /* column u of the result is column u + shift */
} ct_fdk_filter_args;

K_FN float ct_fdk_ray(const ct_fdk_filter_args *a, int64_t k, int64_t u, int64_t v)
{
    const ct_filter_args *f = &a->filter;
    const float weight = ct_fdk_ray_weight(&a->view[k], (double)u, (double)v);
    return weight * a->share[k * f->columns + u] *
           f->from[k * f->from_view_stride + u * f->from_column_stride + v];
}

/* Rows beyond the ends count as the last ones. */
K_FN float ct_fdk_mean_ray(const ct_fdk_filter_args *a, int64_t k, int64_t u, int64_t v)
{
    if (a->reach == 0) return ct_fdk_ray(a, k, u, v);
    float sum = 0.0f;
    for (int64_t j = -a->reach; j <= a->reach; j++) {
        const int64_t row = k_min_i64(k_max_i64(v + j, 0), a->filter.rows - 1);
        sum = k_fmaf(a->mean[j + a->reach], ct_fdk_ray(a, k, u, row), sum);
    }
    return sum;
}

/* Where column u of the result is in the transform, which is circular. */
K_FN int64_t ct_fdk_result_at(const ct_fdk_filter_args *a, int64_t u)
{
    const int64_t whole = (int64_t)2 << a->filter.bits, n = u + a->shift + a->filter.pad;
    return n < 0 ? n + whole : n;
}

K_FN void ct_fdk_filter_item(const ct_fdk_filter_args *a, int64_t item, void *scratch)
{
    float *data = (float *)scratch;
    const ct_filter_args *f = &a->filter;
    const int64_t k = item / f->rows, v = item % f->rows;
    const int64_t length = f->columns + 2 * f->pad, whole = (int64_t)2 << f->bits;
    for (int64_t u = 0; u < f->columns; u++) data[f->pad + u] = ct_fdk_mean_ray(a, k, u, v);
    for (int64_t n = 0; n < f->pad; n++) data[n] = data[f->pad];
    for (int64_t n = f->pad + f->columns; n < length; n++) data[n] = data[n - 1];
    for (int64_t n = length; n < whole; n++) data[n] = 0.0f;
    ct_filter_spectrum(1, f, data);
    float *to = f->to + k * f->to_view_stride + v;
    for (int64_t u = 0; u < f->columns; u++)
        to[u * f->to_column_stride] = ct_result(data[ct_fdk_result_at(a, u)]);
}

#endif
