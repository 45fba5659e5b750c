/* Rays in space, as both operators of a pair see them.
 *
 * Lengths are in voxels: cell i of an axis is [i, i + 1], axes in the order x, y, z. Ray (u, v) of
 * a view is o + t d with o and d affine in u and v; t = 0 is near the middle of the volume, so that
 * t is small where it matters however far the source is. Where a ray meets plane i of an axis is a
 * function of the plane's number in the whole volume alone, so walking along a ray and clipping it
 * by one voxel give the same chord, bit for bit, and no cut of the work can be seen. (R. L. Siddon,
 * Med. Phys. 12(2):252, 1985.)
 *
 * A ray is summed in ascending cells of the axis `s`, the one that is streamed: rays that run the
 * other way are turned around. A ray in a face between two voxels belongs to the lower one where
 * t < 0 and to the upper one where t > 0.
 *
 * With CT_DOUBLE defined the same source works in float64 throughout: for tests. */
#ifndef MOTET_CT_BEAM_K_H
#define MOTET_CT_BEAM_K_H

#include "kern/bits.h"
#include "kern/convert.h"

#ifdef CT_DOUBLE
typedef double ct_real;
K_FN ct_real ct_madd(ct_real a, ct_real b, ct_real c) { return k_fma(a, b, c); }
K_FN ct_real ct_least(ct_real a, ct_real b) { return k_min(a, b); }
K_FN ct_real ct_most(ct_real a, ct_real b) { return k_max(a, b); }
/* The whole number nearest to a, |a| < 2^51. */
K_FN ct_real ct_whole(ct_real a) { return (a + 6755399441055744.0) - 6755399441055744.0; }
K_FN ct_real ct_outcome(ct_real a) { return k_out_f64(a + 0.0); }
#else
typedef float ct_real;
K_FN ct_real ct_madd(ct_real a, ct_real b, ct_real c) { return k_fmaf(a, b, c); }
K_FN ct_real ct_least(ct_real a, ct_real b) { return k_minf(a, b); }
K_FN ct_real ct_most(ct_real a, ct_real b) { return k_maxf(a, b); }
/* The whole number nearest to a, |a| < 2^22. */
K_FN ct_real ct_whole(ct_real a) { return (a + 12582912.0f) - 12582912.0f; }
/* What a sum becomes in an output: one kind of NaN, and no negative zero. */
K_FN ct_real ct_outcome(ct_real a) { return k_out(a + 0.0f); }
#endif

/* One view: ray (u, v), u and v counted from the detector's middle, is
 * o + u ou + v ov + t (d + u du + v dv), first <= t <= last. */
typedef struct ct_pose {
    double o[3], ou[3], ov[3];
    double d[3], du[3], dv[3];
    double first, last;
} ct_pose;

typedef struct ct_space {
    int64_t n[3];          /* voxels along x, y, z */
    int64_t columns, rows; /* of the detector */
    double middle_u, middle_v;
    double voxel[3];
    int64_t w, s, f; /* axes: of the columns of voxels (columns.k.h), of the stream, the third */
} ct_space;

typedef struct ct_ray {
    double o[3], d[3], inverse[3]; /* of d; huge where d is 0 */
    double first, last;
} ct_ray;

/* 1 where ray u, of whatever row, is turned; where v runs along an axis other than s. */
K_FN int ct_turned(const ct_space *space, const ct_pose *pose, int64_t u)
{
    const double a = (double)u - space->middle_u;
    return k_fma(a, pose->du[space->s], pose->d[space->s]) < 0.0;
}

/* Ray (u, v), whole numbers, turned so that it never descends along the axis s. */
K_FN ct_ray ct_ray_of(const ct_space *space, const ct_pose *pose, int64_t u, int64_t v)
{
    const double a = (double)u - space->middle_u, b = (double)v - space->middle_v;
    ct_ray ray;
    for (int i = 0; i < 3; i++) {
        ray.o[i] = k_fma(b, pose->ov[i], k_fma(a, pose->ou[i], pose->o[i]));
        ray.d[i] = k_fma(b, pose->dv[i], k_fma(a, pose->du[i], pose->d[i]));
    }
    ray.first = pose->first;
    ray.last = pose->last;
    if (ray.d[space->s] < 0.0) {
        for (int i = 0; i < 3; i++) ray.d[i] = -ray.d[i];
        ray.first = -pose->last;
        ray.last = -pose->first;
    }
    for (int i = 0; i < 3; i++) ray.inverse[i] = k_abs(ray.d[i]) < 1e-280 ? 1e280 : 1.0 / ray.d[i];
    return ray;
}

/* t where the ray meets plane i of an axis. */
K_FN double ct_cross(const ct_ray *ray, int axis, int64_t i)
{
    return ((double)i - ray->o[axis]) * ray->inverse[axis];
}

/* World length of a piece of the ray per unit of t. */
K_FN double ct_ray_length(const ct_space *space, const ct_ray *ray)
{
    const double x = ray->d[0] * space->voxel[0], y = ray->d[1] * space->voxel[1];
    const double z = ray->d[2] * space->voxel[2];
    return k_sqrt(k_fma(x, x, k_fma(y, y, z * z)));
}

#endif
