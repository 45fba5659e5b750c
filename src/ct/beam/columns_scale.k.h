/* Makes rays ready for back-projection: each is multiplied by its length per t, and rows are laid
 * so that they ascend along w. One item is one (view, u). */
#ifndef MOTET_CT_COLUMNS_SCALE_K_H
#define MOTET_CT_COLUMNS_SCALE_K_H

#include "ct/beam/columns_near.k.h"

typedef struct ct_columns_scale_args {
    ct_space space;
    const ct_pose *pose; /* of the block's first view */
    int64_t views;       /* of the block */
    const ct_real *from; /* its first ray; rows adjacent */
    int64_t view_stride, column_stride;
    ct_real *to; /* (view, u, row) without gaps */
} ct_columns_scale_args;

K_FN void ct_columns_scale_item(const ct_columns_scale_args *a, int64_t item, void *scratch)
{
    (void)scratch;
    const int64_t view = item / a->space.columns, u = item % a->space.columns;
    const ct_pose *pose = &a->pose[view];
    const int64_t rows = a->space.rows;
    const int descend = ct_rows_descend(&a->space, pose);
    const ct_real *from = a->from + view * a->view_stride + u * a->column_stride;
    ct_real *to = a->to + item * rows;
    for (int64_t v = 0; v < rows; v++) {
        const ct_ray ray = ct_ray_of(&a->space, pose, u, v);
        to[descend ? rows - 1 - v : v] = from[v] * (ct_real)ct_ray_length(&a->space, &ray);
    }
}

#endif
