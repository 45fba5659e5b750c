/* The one weight of the parallel-beam pair: the chord of a ray with a square voxel.
 *
 * Seen along the rays, a square of side s is a trapezoid: as a function of the distance d between
 * the voxel's centre and the ray, the chord is s / max(|cos|,|sin|) while |d| is small, 0 when it
 * is large, and linear between, being half at |d| = s max(|cos|,|sin|) / 2. So Siddon's weights
 * (Med. Phys. 12(2):252, 1985) need no walk along the ray. Distances are in detector columns.
 *
 * Where a voxel falls on the detector is computed against fixed blocks of CT_BLOCK voxels along x
 * (multiples of the index in the slice, never of a chunk): once in float64 per (view, line, block),
 * split in a whole column and a float32 fraction, then by one float32 fma per voxel. Both
 * operators call the same functions with the same arguments, so their weights are equal bit for
 * bit, and each voxel offers itself to the same `taps` columns in both. */
#ifndef MOTET_CT_GEOMETRY_K_H
#define MOTET_CT_GEOMETRY_K_H

#include "kern/bits.h"

enum {
    CT_BLOCK = 64, /* voxels along x that share a base */
    CT_ROWS = 32   /* detector rows (and slices) that one item does */
};

/* What the pair needs to know of a view. */
typedef struct ct_view {
    double along_x, along_y; /* columns from one voxel to the next */
    float step, step_low;    /* along_x = step + step_low */
    float half;              /* distance at which a chord is half the longest, columns */
    float slope;             /* of the chord beyond, in longest chords per column; finite */
    float middle;            /* 1/2 + (what `half` lost to rounding) * slope */
    float chord;             /* the longest, in length units */
    float reach;             /* the first tap is the whole column nearest to (place - reach) */
    int32_t taps;            /* columns from there on that a chord may reach */
} ct_view;

typedef struct ct_grid {
    int64_t nx, ny, columns;
    double middle_x, middle_y; /* voxel index of the rotation axis */
    double centre;             /* its column */
} ct_grid;

/* Where the middle of a block of voxels falls: column + fraction, |fraction| <= 1/2. */
typedef struct ct_base {
    int64_t column;
    float fraction;
} ct_base;

/* The whole number nearest to a, |a| < 2^22 (float32) and 2^51 (float64). */
K_FN float ct_nearestf(float a) { return (a + 12582912.0f) - 12582912.0f; }
K_FN double ct_nearest(double a) { return (a + 6755399441055744.0) - 6755399441055744.0; }

/* Column, unrounded, of a voxel centre. */
K_FN double ct_column(const ct_grid *grid, const ct_view *view, double x, double y)
{
    return k_fma(x - grid->middle_x, view->along_x,
                 k_fma(y - grid->middle_y, view->along_y, grid->centre));
}

K_FN ct_base ct_base_of(const ct_grid *grid, const ct_view *view, int64_t y, int64_t block)
{
    const double u = ct_column(grid, view, (double)(block * CT_BLOCK + CT_BLOCK / 2), (double)y);
    const double whole = ct_nearest(u); /* geometry.c bounds it by 2^40 */
    ct_base base;
    base.column = (int64_t)whole;
    base.fraction = (float)(u - whole);
    return base;
}

/* Voxel `at` of a block (0 .. CT_BLOCK - 1): its first tap, and how far beyond that its centre
 * lies. The product with `step` is taken apart from the whole columns before it is rounded, so that
 * the distance is good to 2^-23 columns anywhere in the block: near the axes, where chords are
 * steep, neighbours then still share a ray without loss. */
typedef struct ct_place {
    float first, beyond;
} ct_place;

K_FN ct_place ct_place_of(const ct_view *view, float fraction, int32_t at)
{
    const float i = (float)(at - CT_BLOCK / 2);
    const float low = k_fmaf(i, view->step_low, fraction);
    ct_place place;
    place.first = ct_nearestf(k_fmaf(i, view->step, low) - view->reach);
    place.beyond = k_fmaf(i, view->step, -place.first) + low;
    return place;
}

/* Chord of a ray at distance d columns from the voxel's centre. */
K_FN float ct_chord(const ct_view *view, float d)
{
    const float part = k_fmaf(view->half - k_absf(d), view->slope, view->middle);
    return view->chord * k_minf(k_maxf(part, 0.0f), 1.0f);
}

/* What a sum becomes in an output: one kind of NaN, and no negative zero (a sum that skipped terms
 * of weight 0 may differ in that sign from one that did not). */
K_FN float ct_result(float sum) { return k_out(sum + 0.0f); }

#endif
