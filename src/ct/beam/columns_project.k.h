/* Projection, column form: one item is one (view, u) and a group of rows, across one block of the
 * volume. A ray sums its chords in ascending order along s, below before above, and the blocks
 * continue each other's sums; the last one multiplies by the ray's length per t.
 *
 * Items are numbered view by view, then column by column of the detector, then along the rows. */
#ifndef MOTET_CT_COLUMNS_PROJECT_K_H
#define MOTET_CT_COLUMNS_PROJECT_K_H

#include "ct/beam/columns_trace.k.h"

enum { CT_COLUMN_ROWS = 16 }; /* of an item */

typedef struct ct_columns_project_args {
    ct_space space;
    const ct_pose *pose; /* of the chunk's first view */
    int64_t views, first_column, columns, first_row, rows;
    const ct_real *volume; /* first slab of the block; w adjacent */
    int64_t s_stride, f_stride;
    int64_t begin, end; /* slabs of the block */
    ct_real *sinogram;  /* first ray of the chunk; rows adjacent */
    int64_t view_stride, column_stride;
    int32_t starts, finishes; /* the first block, the last */
} ct_columns_project_args;

K_FN int64_t ct_columns_project_groups(const ct_columns_project_args *a)
{
    return (a->rows + CT_COLUMN_ROWS - 1) / CT_COLUMN_ROWS;
}

K_FN int64_t ct_columns_project_items(const ct_columns_project_args *a)
{
    return a->views * a->columns * ct_columns_project_groups(a);
}

/* A ray's sum, with a column of nw cells along its chord. */
K_FN ct_real ct_column_add(ct_piece chord, ct_row row, const ct_real *cell, int64_t nw, ct_real sum)
{
    const ct_split split = ct_split_of(chord, row);
    if (split.k >= 1 && split.k <= nw) sum = ct_madd(split.low, cell[split.k - 1], sum);
    if (split.k >= 0 && split.k < nw) sum = ct_madd(split.high, cell[split.k], sum);
    return sum;
}

K_FN ct_real ct_column_finish(const ct_columns_project_args *a, const ct_pose *pose, int64_t u,
                              int64_t v, ct_real sum)
{
    const ct_ray ray = ct_ray_of(&a->space, pose, u, v);
    return ct_outcome(sum * (ct_real)ct_ray_length(&a->space, &ray));
}

K_FN void ct_columns_project_item(const ct_columns_project_args *a, int64_t item, void *scratch)
{
    (void)scratch;
    const int64_t groups = ct_columns_project_groups(a);
    const int64_t row = item % groups * CT_COLUMN_ROWS, column = item / groups % a->columns;
    const int64_t view = item / groups / a->columns;
    const int64_t rows = k_min_i64(CT_COLUMN_ROWS, a->rows - row);
    const int64_t u = a->first_column + column, v = a->first_row + row;
    const int64_t nw = a->space.n[a->space.w];
    const ct_pose *pose = a->pose + view;
    ct_real *out = a->sinogram + view * a->view_stride + column * a->column_stride + row;

    const int turned = ct_turned(&a->space, pose, u);
    ct_row place[CT_COLUMN_ROWS];
    ct_real sum[CT_COLUMN_ROWS];
    for (int64_t r = 0; r < rows; r++) {
        place[r] = ct_row_of(&a->space, pose, v + r, turned);
        sum[r] = a->starts ? (ct_real)0 : out[r];
    }
    ct_trace trace = ct_trace_of(&a->space, pose, u, a->begin, a->end);
    ct_piece chord;
    int64_t s, f;
    while (ct_trace_next(&trace, &s, &f, &chord)) {
        const ct_real *cell = a->volume + (s - a->begin) * a->s_stride + f * a->f_stride;
        for (int64_t r = 0; r < rows; r++)
            sum[r] = ct_column_add(chord, place[r], cell, nw, sum[r]);
    }
    for (int64_t r = 0; r < rows; r++)
        out[r] = a->finishes ? ct_column_finish(a, pose, u, v + r, sum[r]) : sum[r];
}

#endif
