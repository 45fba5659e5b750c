/* Projection by a parallel beam: Siddon's sum of value times chord. One item is one ray (view, u)
 * through CT_ROWS slices. It sums in ascending (y, x), whatever the angle, over exactly the voxels
 * that offer it a tap (geometry.k.h).
 *
 * Items are numbered by blocks of rows, then view by view along u. */
#ifndef MOTET_CT_PROJECT_K_H
#define MOTET_CT_PROJECT_K_H

#include "ct/geometry.k.h"

typedef struct ct_project_args {
    ct_grid grid;
    const ct_view *view; /* of the chunk's views */
    int64_t views;
    const float *volume; /* first slice of the chunk; x adjacent */
    int64_t slice_stride, line_stride;
    float *sinogram; /* first view and row of the chunk; rows adjacent */
    int64_t view_stride, column_stride;
    int64_t rows;
    int32_t fast_taps; /* most taps of a view; 0: more than the fast range takes */
} ct_project_args;

K_FN int64_t ct_project_items(const ct_project_args *a)
{
    return (a->rows + CT_ROWS - 1) / CT_ROWS * a->views * a->grid.columns;
}

/* Voxels [first, last) of a line may offer a tap to columns [low, high); no others do. */
typedef struct ct_span {
    int64_t first, last;
} ct_span;

K_FN ct_span ct_line_span(const ct_grid *grid, const ct_view *view, int64_t y, int64_t low,
                          int64_t high)
{
    const double slack = 2.0, n = (double)grid->nx;
    const double begin = (double)(low - view->taps), end = (double)(high + view->taps);
    const double at = ct_column(grid, view, 0.0, (double)y);
    const double step = view->along_x;
    double first = 0.0, last = n;
    if (step > 1e-9 || step < -1e-9) {
        const double p = (begin - at) / step, q = (end - at) / step;
        first = k_min(k_max(k_min(p, q) - slack, 0.0), n);
        last = k_min(k_max(k_max(p, q) + slack, 0.0), n);
    } else if (at + 1.0 < begin || at - 1.0 > end)
        last = 0.0; /* along x: n * 1e-9 columns are far below one */
    ct_span span;
    span.first = (int64_t)first;
    span.last = k_min_i64((int64_t)last + 1, grid->nx);
    return span;
}

K_FN void ct_project_item(const ct_project_args *a, int64_t item, void *scratch)
{
    (void)scratch;
    const int64_t u = item % a->grid.columns;
    const int64_t k = item / a->grid.columns % a->views;
    const int64_t row = item / a->grid.columns / a->views * CT_ROWS;
    const int64_t rows = k_min_i64(CT_ROWS, a->rows - row);
    const ct_view *view = &a->view[k];

    float sum[CT_ROWS];
    for (int r = 0; r < CT_ROWS; r++) sum[r] = 0.0f;
    for (int64_t y = 0; y < a->grid.ny; y++) {
        const ct_span span = ct_line_span(&a->grid, view, y, u, u + 1);
        for (int64_t x = span.first; x < span.last; x++) {
            const ct_base base = ct_base_of(&a->grid, view, y, x / CT_BLOCK);
            const ct_place place = ct_place_of(view, base.fraction, (int32_t)(x % CT_BLOCK));
            const int64_t tap = u - (base.column + (int64_t)place.first);
            if (tap < 0 || tap >= view->taps) continue;
            const float chord = ct_chord(view, place.beyond - (float)tap);
            const float *voxel = a->volume + row * a->slice_stride + y * a->line_stride + x;
            for (int64_t r = 0; r < rows; r++)
                sum[r] = k_fmaf(chord, voxel[r * a->slice_stride], sum[r]);
        }
    }
    float *out = a->sinogram + k * a->view_stride + u * a->column_stride + row;
    for (int64_t r = 0; r < rows; r++) out[r] = ct_result(sum[r]);
}

#endif
