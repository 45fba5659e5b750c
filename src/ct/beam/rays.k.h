/* The pair for any pose: what a ray has in common with a box of cells, one cell or many.
 *
 * A cell's chord begins at the last of the planes that the ray enters it by and ends at the first
 * of those it leaves by. As crossings depend on the number of the plane alone and rise along the
 * ray, walking along it meets the same chords as clipping it by each cell: the weight of a ray and
 * a cell is the same number whoever asks. */
#ifndef MOTET_CT_RAYS_K_H
#define MOTET_CT_RAYS_K_H

#include "ct/beam/beam.k.h"

typedef struct ct_box {
    int64_t first[3], end[3]; /* cells [first, end) along x, y, z */
} ct_box;

typedef struct ct_part {
    double t0, t1; /* none unless t1 > t0 */
} ct_part;

K_FN ct_part ct_ray_clip(const ct_ray *ray, const ct_box *box)
{
    ct_part piece;
    piece.t0 = ray->first;
    piece.t1 = ray->last;
    for (int i = 0; i < 3; i++) {
        const double p = ct_cross(ray, i, box->first[i]), q = ct_cross(ray, i, box->end[i]);
        piece.t0 = k_max(piece.t0, k_min(p, q));
        piece.t1 = k_min(piece.t1, k_max(p, q));
    }
    return piece;
}

/* `length`: of the ray per t, ct_ray_length. */
K_FN ct_real ct_ray_weight(double t0, double t1, double length)
{
    return (ct_real)((t1 - t0) * length);
}

/* The cell of an axis that the ray is in just after t, t in its piece of the box: all planes that
 * it has met by then are behind it. The guess is off by rounding only. */
K_FN int64_t ct_ray_cell(const ct_ray *ray, int axis, double t, const ct_box *box)
{
    const int64_t first = box->first[axis], last = box->end[axis] - 1;
    const double guess = k_fma(t, ray->d[axis], ray->o[axis]);
    int64_t i = k_to_i64(k_min(k_max(k_floor(guess), (double)first), (double)last));
    if (ray->inverse[axis] > 0.0) {
        while (i > first && ct_cross(ray, axis, i) > t) i--;
        while (i < last && ct_cross(ray, axis, i + 1) <= t) i++;
    } else {
        while (i < last && ct_cross(ray, axis, i + 1) > t) i++;
        while (i > first && ct_cross(ray, axis, i) <= t) i--;
    }
    return i;
}

#endif
