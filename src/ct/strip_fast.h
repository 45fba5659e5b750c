/* What the fast ranges of project and backproject share: the weights of a strip of voxels at once,
 * and sums over lanes of rows. Every line does what the items do, in their order.
 *
 * Lanes are rows, padded with zeros to a power of two: with R rows a weight is computed once and
 * used R times. The loops have constant bounds so that compilers turn them into vectors. */
#ifndef MOTET_CT_STRIP_FAST_H
#define MOTET_CT_STRIP_FAST_H
#ifndef __CUDACC__

#include <string.h>

#include "ct/geometry.k.h"

enum {
    CT_STRIP = 16,     /* voxels along x; divides CT_BLOCK and is CT_TILE */
    CT_FAST_TAPS = 16, /* more: the plain item */
    CT_FAST_VIEWS = 8  /* views that share what was packed */
};

typedef struct ct_strip {
    int32_t first[CT_STRIP]; /* tap 0, in columns of a window */
    float chord[CT_FAST_TAPS][CT_STRIP];
} ct_strip;

/* Weights of the strip at x of line y. A window begins at column `begin`; taps that would lie
 * outside [0, limit] of it are moved to its ends. Strips of several views are made before any is
 * used: then their latencies overlap. */
K_FN void ct_strip_weights(const ct_grid *grid, const ct_view *view, int64_t y, int64_t x,
                           int64_t begin, int64_t limit, ct_strip *K_RESTRICT out)
{
    const ct_view v = *view;
    const ct_base base = ct_base_of(grid, &v, y, x / CT_BLOCK);
    const int32_t at = (int32_t)(x % CT_BLOCK);
    /* Windows are near their strips and less than 2^24 columns long: float32 holds these. */
    const float shift = (float)(base.column - begin), last = (float)limit;
    float beyond[CT_STRIP]; /* from the first tap to the voxel */
    for (int i = 0; i < CT_STRIP; i++) {
        const ct_place place = ct_place_of(&v, base.fraction, at + i);
        out->first[i] = (int32_t)k_minf(k_maxf(place.first + shift, 0.0f), last);
        beyond[i] = place.beyond;
    }
    if (v.taps == 2)
        for (int t = 0; t < 2; t++)
            for (int i = 0; i < CT_STRIP; i++)
                out->chord[t][i] = ct_chord(&v, beyond[i] - (float)t);
    else
        for (int t = 0; t < v.taps; t++)
            for (int i = 0; i < CT_STRIP; i++)
                out->chord[t][i] = ct_chord(&v, beyond[i] - (float)t);
}

/* Lanes for so many rows: the next power of two. */
K_FN int ct_lanes(int64_t rows)
{
    int lanes = 1;
    while (lanes < rows) lanes *= 2;
    return lanes;
}

/* Keeps what is stored before it apart from what follows. Without it compilers make one vector of
 * two taps' sums (of which the next voxel loads half, and processors cannot forward that from the
 * store), or vectors across voxels, whose taps they must then gather one by one. */
#define CT_APART() __asm__ volatile("" ::: "memory")

/* sum += chord * values, lane by lane. Few lanes are unrolled before compilers look for vectors,
 * and then they find none across stores that might overlap what is loaded: so load all, then store.
 */
K_FN void ct_lanes_add(const int lanes, float chord, const float *K_RESTRICT values,
                       float *K_RESTRICT sum)
{
    if (lanes > 16) {
        for (int r = 0; r < lanes; r++) sum[r] = k_fmaf(chord, values[r], sum[r]);
        return;
    }
    float s[16];
    for (int r = 0; r < lanes; r++) s[r] = k_fmaf(chord, values[r], sum[r]);
    for (int r = 0; r < lanes; r++) sum[r] = s[r];
}

/* Two at once: one * values of the first, then two * those of the next column. */
K_FN void ct_lanes_add_two(const int lanes, float one, float two, const float *K_RESTRICT values,
                           float *K_RESTRICT sum)
{
    if (lanes > 16) {
        for (int r = 0; r < lanes; r++)
            sum[r] = k_fmaf(two, values[lanes + r], k_fmaf(one, values[r], sum[r]));
        return;
    }
    float s[16];
    for (int r = 0; r < lanes; r++)
        s[r] = k_fmaf(two, values[lanes + r], k_fmaf(one, values[r], sum[r]));
    for (int r = 0; r < lanes; r++) sum[r] = s[r];
}

/* Calls f(lanes, ..) with a constant. */
#define CT_WITH_LANES(lanes, f, ...)                                                               \
    switch (lanes) {                                                                               \
    case 1: f(1, __VA_ARGS__); break;                                                              \
    case 2: f(2, __VA_ARGS__); break;                                                              \
    case 4: f(4, __VA_ARGS__); break;                                                              \
    case 8: f(8, __VA_ARGS__); break;                                                              \
    case 16: f(16, __VA_ARGS__); break;                                                            \
    default: f(32, __VA_ARGS__); break;                                                            \
    }

#endif
#endif
