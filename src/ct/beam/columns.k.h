/* The pair where the detector's v axis runs along the volume's axis w: columns of voxels.
 *
 * The path of ray (u, v) across the other two axes, s and f, then depends on u alone. So the plane
 * is walked once for all rows: each column of voxels that ray u meets gives one chord [t0, t1], and
 * along that chord row v lies at w = whole + fraction + t slope. As long as no chord is more than
 * one cell high (beam.c sees to it), it lies in the two cells beside the plane that is nearest to
 * its middle: `low` of it below, the rest above. Both operators take chords and parts from here, so
 * their weights are equal bit for bit. Weights are in t; a ray's length per t is multiplied in once
 * for the ray: after the sum in projection, before it in back-projection.
 *
 * A row offers itself to both cells, also where its part is 0. Cells outside the volume are none.
 */
#ifndef MOTET_CT_COLUMNS_K_H
#define MOTET_CT_COLUMNS_K_H

#include "ct/beam/beam.k.h"

typedef struct ct_piece {
    ct_real t0, t1; /* none unless t1 > t0 */
} ct_piece;

/* Ray u of the plane (row 0 stands for all) through the column at cells (s, f). */
K_FN ct_piece ct_column_clip(const ct_space *space, const ct_ray *ray, int64_t s, int64_t f)
{
    const ct_real a = (ct_real)ct_cross(ray, (int)space->s, s);
    const ct_real b = (ct_real)ct_cross(ray, (int)space->s, s + 1);
    const ct_real p = (ct_real)ct_cross(ray, (int)space->f, f);
    const ct_real q = (ct_real)ct_cross(ray, (int)space->f, f + 1);
    ct_piece c; /* along s rays never descend: a <= b */
    c.t0 = ct_most(ct_most(a, ct_least(p, q)), (ct_real)ray->first);
    c.t1 = ct_least(ct_least(b, ct_most(p, q)), (ct_real)ray->last);
    return c;
}

/* A row, along one view: w = whole + fraction + t slope. */
typedef struct ct_row {
    int64_t whole;
    ct_real fraction, slope;
    ct_real steep; /* 1 / |slope|, bounded */
} ct_row;

/* `turned`: 1 where ct_ray_of turned the ray. */
K_FN ct_row ct_row_of(const ct_space *space, const ct_pose *pose, int64_t v, int turned)
{
    const double b = (double)v - space->middle_v;
    const double at = k_fma(b, pose->ov[space->w], pose->o[space->w]);
    const double slope = k_fma(b, pose->dv[space->w], pose->d[space->w]);
    const double whole = k_floor(at + 0.5);
    ct_row row;
    row.whole = (int64_t)whole; /* beam.c bounds it by 2^40 */
    row.fraction = (ct_real)(at - whole);
    row.slope = (ct_real)(turned ? -slope : slope);
    row.steep = (ct_real)(k_abs(slope) < 1e-30 ? 1e30 : 1.0 / k_abs(slope));
    return row;
}

/* Cells k - 1 and k with their parts of the chord. */
typedef struct ct_split {
    int64_t k;
    ct_real low, high;
} ct_split;

K_FN ct_split ct_split_of(ct_piece c, ct_row row)
{
    const ct_real middle = (ct_real)0.5 * (c.t0 + c.t1), length = c.t1 - c.t0;
    const ct_real w = ct_madd(middle, row.slope, row.fraction);
    const ct_real plane = ct_whole(w);
    const ct_real part = ct_madd(plane - w, row.steep, (ct_real)0.5 * length);
    ct_split split;
    split.k = row.whole + (int64_t)plane;
    split.low = ct_least(ct_most(part, (ct_real)0), length);
    split.high = length - split.low;
    return split;
}

#endif
