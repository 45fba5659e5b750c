/* The fast range of ct_filter: CT_FILTER_LANES rows at once, of one view or of several. */
#ifndef MOTET_CT_FILTER_FAST_H
#define MOTET_CT_FILTER_FAST_H
#ifndef __CUDACC__

#include <string.h>

#include "ct/filter.k.h"

enum { CT_FILTER_LANES = 16 };

/* Items [begin, end), at most CT_FILTER_LANES. Lanes to spare repeat the last item. */
K_FN void ct_filter_batch(const ct_filter_args *a, int64_t begin, int64_t end, float *data)
{
    enum { LANES = CT_FILTER_LANES };
    const float *from[LANES];
    float *to[LANES];
    int64_t view[LANES];
    for (int l = 0; l < LANES; l++) {
        const int64_t item = k_min_i64(begin + l, end - 1);
        view[l] = item / a->rows;
        from[l] = a->from + view[l] * a->from_view_stride + item % a->rows;
        to[l] = a->to + view[l] * a->to_view_stride + item % a->rows;
    }
    const int64_t length = a->columns + 2 * a->pad, whole = (int64_t)2 << a->bits;
    const int together = view[0] == view[LANES - 1] && end - begin == LANES;
    for (int64_t n = 0; n < length; n++) {
        const int64_t at = ct_filter_source(a, n) * a->from_column_stride;
        if (together)
            for (int l = 0; l < LANES; l++) data[n * LANES + l] = from[0][at + l];
        else
            for (int l = 0; l < LANES; l++) data[n * LANES + l] = from[l][at];
    }
    memset(data + length * LANES, 0, sizeof *data * LANES * (size_t)(whole - length));
    ct_filter_spectrum(LANES, a, data);
    for (int64_t u = 0; u < a->columns; u++) {
        const float *row = data + (u + a->pad) * LANES;
        const int64_t at = u * a->to_column_stride;
        if (together)
            for (int l = 0; l < LANES; l++) to[0][at + l] = ct_filter_result(a, view[0], row[l]);
        else
            for (int64_t l = 0; l < end - begin; l++)
                to[l][at] = ct_filter_result(a, view[l], row[l]);
    }
}

K_FN void ct_filter_range(const ct_filter_args *a, int64_t begin, int64_t end, void *scratch)
{
    for (int64_t next; begin < end; begin = next) {
        next = k_min_i64(begin + CT_FILTER_LANES, end);
        ct_filter_batch(a, begin, next, (float *)scratch);
    }
}

#endif
#endif
