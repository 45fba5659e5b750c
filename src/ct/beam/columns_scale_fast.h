/* The fast range of ct_columns_scale: rows are lanes, in float64. Whether a ray is turned does not
 * matter to its length. */
#ifndef MOTET_CT_COLUMNS_SCALE_FAST_H
#define MOTET_CT_COLUMNS_SCALE_FAST_H
#ifndef __CUDACC__

#include "ct/beam/columns_scale.k.h"
#include "ct/beam/rays_lanes.h"

#ifdef CT_RAYS_LANES

enum { CT_SCALE_ROWS = 64 }; /* of a batch */

/* As ct_ray_length has it, rays (u, v + i), in whole vectors from 0 to `count`. */
K_FN void ct_scale_lengths(const ct_space *space, const ct_pose *pose, int64_t u, int64_t v,
                           int64_t count, float *length)
{
    const double across = (double)u - space->middle_u;
    ct_vd lane;
    for (int i = 0; i < CT_RAYS_LANES; i++) lane[i] = (double)i;
    ct_vd d[3], dv[3], voxel[3];
    for (int i = 0; i < 3; i++) {
        d[i] = ct_vd_of(k_fma(across, pose->du[i], pose->d[i]));
        dv[i] = ct_vd_of(pose->dv[i]);
        voxel[i] = ct_vd_of(space->voxel[i]);
    }
    for (int64_t i = 0; i < count; i += CT_RAYS_LANES) {
        const ct_vd b = (ct_vd_of((double)(v + i)) + lane) - ct_vd_of(space->middle_v);
        const ct_vd x = ct_vd_fma(b, dv[0], d[0]) * voxel[0];
        const ct_vd y = ct_vd_fma(b, dv[1], d[1]) * voxel[1];
        const ct_vd z = ct_vd_fma(b, dv[2], d[2]) * voxel[2];
        ct_vs_store(length + i,
                    ct_vd_to_float(ct_vd_sqrt(ct_vd_fma(x, x, ct_vd_fma(y, y, z * z)))));
    }
}

K_FN void ct_columns_scale_range(const ct_columns_scale_args *a, int64_t begin, int64_t end,
                                 void *scratch)
{
    (void)scratch;
    const int64_t columns = a->space.columns, rows = a->space.rows;
    for (int64_t item = begin; item < end; item++) {
        const int64_t view = item / columns, u = item % columns;
        const ct_pose *pose = &a->pose[view];
        const int descend = ct_rows_descend(&a->space, pose);
        const float *from = a->from + view * a->view_stride + u * a->column_stride;
        float *to = a->to + item * rows, length[CT_SCALE_ROWS];
        for (int64_t v = 0; v < rows; v += CT_SCALE_ROWS) {
            const int64_t some = k_min_i64(rows - v, CT_SCALE_ROWS);
            ct_scale_lengths(&a->space, pose, u, v, some, length);
            if (descend)
                for (int64_t i = 0; i < some; i++) to[rows - 1 - v - i] = from[v + i] * length[i];
            else
                for (int64_t i = 0; i < some; i++) to[v + i] = from[v + i] * length[i];
        }
    }
}

#else

K_FN void ct_columns_scale_range(const ct_columns_scale_args *a, int64_t begin, int64_t end,
                                 void *scratch)
{
    for (int64_t i = begin; i < end; i++) ct_columns_scale_item(a, i, scratch);
}

#endif
#endif
#endif
