/* The fast range of ct_fdk_filter: CT_FILTER_LANES rows at once, of one view or of several. */
#ifndef MOTET_CT_FDK_FILTER_FAST_H
#define MOTET_CT_FDK_FILTER_FAST_H
#ifndef __CUDACC__

#include "ct/fdk/filter.k.h"
#include "ct/filter_fast.h"

/* Rows v, v + 1, .. of one view. */
K_FN void ct_fdk_rays_together(const ct_fdk_filter_args *a, int64_t k, int64_t u, int64_t v,
                               float *K_RESTRICT out)
{
    const ct_filter_args *f = &a->filter;
    const ct_fdk_view view = a->view[k];
    const float share = a->share[k * f->columns + u];
    const float *from = f->from + k * f->from_view_stride + u * f->from_column_stride + v;
    for (int l = 0; l < CT_FILTER_LANES; l++)
        out[l] = ct_fdk_ray_weight(&view, (double)u, (double)v + (double)l) * share * from[l];
}

/* Items [begin, end), at most CT_FILTER_LANES. Lanes to spare repeat the last item. */
K_FN void ct_fdk_filter_batch(const ct_fdk_filter_args *a, int64_t begin, int64_t end, float *data)
{
    enum { LANES = CT_FILTER_LANES };
    const ct_filter_args *f = &a->filter;
    int64_t view[LANES], row[LANES];
    for (int l = 0; l < LANES; l++) {
        const int64_t item = k_min_i64(begin + l, end - 1);
        view[l] = item / f->rows;
        row[l] = item % f->rows;
    }
    const int64_t length = f->columns + 2 * f->pad, whole = (int64_t)2 << f->bits;
    const int together = view[0] == view[LANES - 1] && end - begin == LANES;
    float *first = data + f->pad * LANES;
    for (int64_t u = 0; u < f->columns; u++) {
        float *to = first + u * LANES;
        if (together && a->reach == 0)
            ct_fdk_rays_together(a, view[0], u, row[0], to);
        else
            for (int l = 0; l < LANES; l++) to[l] = ct_fdk_mean_ray(a, view[l], u, row[l]);
    }
    for (int64_t n = 0; n < f->pad; n++) memcpy(data + n * LANES, first, sizeof *data * LANES);
    for (int64_t n = f->pad + f->columns; n < length; n++)
        memcpy(data + n * LANES, data + (n - 1) * LANES, sizeof *data * LANES);
    memset(data + length * LANES, 0, sizeof *data * LANES * (size_t)(whole - length));
    ct_filter_spectrum(LANES, f, data);
    for (int64_t u = 0; u < f->columns; u++)
        for (int64_t l = 0; l < end - begin; l++)
            f->to[view[l] * f->to_view_stride + u * f->to_column_stride + row[l]] =
                ct_result(data[ct_fdk_result_at(a, u) * LANES + l]);
}

K_FN void ct_fdk_filter_range(const ct_fdk_filter_args *a, int64_t begin, int64_t end,
                              void *scratch)
{
    for (int64_t next; begin < end; begin = next) {
        next = k_min_i64(begin + CT_FILTER_LANES, end);
        ct_fdk_filter_batch(a, begin, next, (float *)scratch);
    }
}

#endif
#endif
