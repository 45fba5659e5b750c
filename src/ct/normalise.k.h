/* From counts to line integrals: -log of (data - dark) / (flat - dark), and from (v, u) to (u, v).
 *
 * One item is one view. A ratio below 2^-20, or none at all (NaN, infinite), is a ray that was
 * blocked: it becomes 2^-20 and is counted. A pixel that is dead in the flats takes the line
 * integrals of the nearest live pixels of its row, weighted by distance. Counters are integers, so
 * their sum knows no order. */
#ifndef MOTET_CT_NORMALISE_K_H
#define MOTET_CT_NORMALISE_K_H

#include "kern/exact.h"

enum { CT_NORMALISE_CLAMPED, CT_NORMALISE_BROKEN, CT_NORMALISE_COUNTERS };

typedef struct ct_normalise_args {
    const double *raw; /* view k at raw + k * frame, its pixel at v * stride_v + u * stride_u */
    int64_t frame, stride_v, stride_u;
    const double *dark, *open; /* of these detector rows: mean dark; mean flat less dark */
    const int32_t *live; /* of these rows: the nearest live column at or left, at or right; -1 */
    int64_t columns, rows;
    int line_integrals;
    float *sinogram;   /* (view, u, v) */
    int64_t *counters; /* (view, CT_NORMALISE_COUNTERS) */
} ct_normalise_args;

/* 0: NaN, infinite, or no measurement for its size. */
K_FN int ct_normalise_counts(double value) { return value > -1e30 && value < 1e30; }

K_FN float ct_normalise_value(const ct_normalise_args *a, int64_t view, int64_t v, int64_t u,
                              int64_t *clamped, int64_t *broken)
{
    const double raw = a->raw[view * a->frame + v * a->stride_v + u * a->stride_u];
    if (a->line_integrals) {
        if (ct_normalise_counts(raw)) return (float)raw;
        ++*broken;
        return 0.0f;
    }
    const int64_t pixel = v * a->columns + u;
    double ratio = (raw - a->dark[pixel]) / a->open[pixel];
    if (!ct_normalise_counts(ratio)) {
        ++*broken;
        ratio = 0x1p-20;
    } else if (ratio < 0x1p-20) {
        ++*clamped;
        ratio = 0x1p-20;
    }
    return -k_logf((float)ratio);
}

K_FN void ct_normalise_item(const ct_normalise_args *a, int64_t view, void *scratch)
{
    (void)scratch;
    int64_t clamped = 0, broken = 0, unused = 0;
    float *out = a->sinogram + view * a->columns * a->rows;
    for (int64_t v = 0; v < a->rows; v++)
        for (int64_t u = 0; u < a->columns; u++) {
            float value;
            const int32_t left = a->live[2 * (v * a->columns + u)];
            const int32_t right = a->live[2 * (v * a->columns + u) + 1];
            if (left == right)
                value = left < 0 ? 0.0f : ct_normalise_value(a, view, v, left, &clamped, &broken);
            else if (left < 0)
                value = ct_normalise_value(a, view, v, right, &unused, &unused);
            else if (right < 0)
                value = ct_normalise_value(a, view, v, left, &unused, &unused);
            else {
                const float low = ct_normalise_value(a, view, v, left, &unused, &unused);
                const float high = ct_normalise_value(a, view, v, right, &unused, &unused);
                value = low + (high - low) * ((float)(u - left) / (float)(right - left));
            }
            out[u * a->rows + v] = value;
        }
    a->counters[view * CT_NORMALISE_COUNTERS + CT_NORMALISE_CLAMPED] = clamped;
    a->counters[view * CT_NORMALISE_COUNTERS + CT_NORMALISE_BROKEN] = broken;
}

#endif
