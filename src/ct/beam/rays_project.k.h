/* Projection in any pose. One item is one ray (view, u, v): it walks through the block of the
 * volume that is there, from plane to plane, and goes on with the sum that former blocks left in
 * the output.
 *
 * Items are numbered view by view, along u, then v. */
#ifndef MOTET_CT_RAYS_PROJECT_K_H
#define MOTET_CT_RAYS_PROJECT_K_H

#include "ct/beam/rays.k.h"

typedef struct ct_rays_project_args {
    ct_space space;
    const ct_pose *pose;   /* of the chunk's views */
    const ct_real *volume; /* first slice of the block; x adjacent */
    int64_t slice_stride, line_stride;
    int64_t first_slice, slices; /* of the block */
    ct_real *sinogram;           /* first view, column and row of the chunk; rows adjacent */
    int64_t view_stride, column_stride;
    int64_t first_column, columns, first_row, rows; /* of the chunk */
    int32_t begins, ends;                           /* with this block */
} ct_rays_project_args;

/* The sum goes on from `sum` through the box, whose first voxel is at `volume`. */
K_FN ct_real ct_ray_sum(const ct_ray *ray, double length, const ct_box *box, const ct_real *volume,
                        const int64_t stride[3], ct_real sum)
{
    const ct_part piece = ct_ray_clip(ray, box);
    if (!(piece.t1 > piece.t0)) return sum;
    int64_t plane[3], step[3], at = 0;
    double next[3];
    for (int i = 0; i < 3; i++) {
        const int64_t cell = ct_ray_cell(ray, i, piece.t0, box);
        step[i] = ray->inverse[i] > 0.0 ? 1 : -1;
        plane[i] = cell + (step[i] > 0);
        next[i] = ct_cross(ray, i, plane[i]);
        at += (cell - box->first[i]) * stride[i];
    }
    double t = piece.t0;
    for (;;) {
        const int axis = next[0] < next[1]   ? (next[0] < next[2] ? 0 : 2)
                         : next[1] < next[2] ? 1
                                             : 2;
        const double to = k_min(next[axis], piece.t1);
        if (to > t) sum = ct_madd(ct_ray_weight(t, to, length), volume[at], sum);
        if (!(next[axis] < piece.t1)) return sum;
        t = to;
        plane[axis] += step[axis];
        next[axis] = ct_cross(ray, axis, plane[axis]);
        at += step[axis] * stride[axis];
    }
}

K_FN void ct_rays_project_item(const ct_rays_project_args *a, int64_t item, void *scratch)
{
    (void)scratch;
    const int64_t v = item % a->rows, u = item / a->rows % a->columns;
    const int64_t k = item / a->rows / a->columns;
    const ct_ray ray = ct_ray_of(&a->space, &a->pose[k], a->first_column + u, a->first_row + v);
    const int64_t stride[] = {1, a->line_stride, a->slice_stride};
    ct_box box;
    for (int i = 0; i < 3; i++) {
        box.first[i] = i == 2 ? a->first_slice : 0;
        box.end[i] = i == 2 ? a->first_slice + a->slices : a->space.n[i];
    }
    ct_real *out = a->sinogram + k * a->view_stride + u * a->column_stride + v;
    const ct_real sum = ct_ray_sum(&ray, ct_ray_length(&a->space, &ray), &box, a->volume, stride,
                                   a->begins ? (ct_real)0 : *out);
    *out = a->ends ? ct_outcome(sum) : sum;
}

#endif
