/* Back-projection of a parallel beam: transpose of project.k.h. One item is one voxel column (y, x)
 * through CT_ROWS slices; it gathers its taps in ascending (view, column), so that no two items
 * write one place and the order of every sum is fixed.
 *
 * Items are numbered by blocks of rows, then tile by tile of the slice, then along x and y in the
 * tile: neighbours share columns of the detector. Items beyond the slice do nothing. */
#ifndef MOTET_CT_BACKPROJECT_K_H
#define MOTET_CT_BACKPROJECT_K_H

#include "ct/geometry.k.h"

enum { CT_TILE = 16, CT_TILE_ITEMS = CT_TILE * CT_TILE };

typedef struct ct_backproject_args {
    ct_grid grid;
    const ct_view *view; /* all views, in the order of the sinogram */
    int64_t views;
    const float *sinogram; /* first row of the chunk in column 0 of view 0; rows adjacent */
    int64_t view_stride, column_stride;
    float *volume; /* first slice and line of the chunk; x adjacent */
    int64_t slice_stride, line_stride;
    int64_t rows, first_line, lines; /* of the chunk */
    int64_t window;                  /* columns that a tile may touch in one view; 0: unbounded */
} ct_backproject_args;

typedef struct ct_tiles {
    int64_t across, tiles; /* tiles along x; in a slice */
} ct_tiles;

K_FN ct_tiles ct_backproject_tiles(const ct_backproject_args *a)
{
    ct_tiles t;
    t.across = (a->grid.nx + CT_TILE - 1) / CT_TILE;
    t.tiles = t.across * ((a->lines + CT_TILE - 1) / CT_TILE);
    return t;
}

K_FN int64_t ct_backproject_items(const ct_backproject_args *a)
{
    return (a->rows + CT_ROWS - 1) / CT_ROWS * ct_backproject_tiles(a).tiles * CT_TILE_ITEMS;
}

K_FN void ct_backproject_item(const ct_backproject_args *a, int64_t item, void *scratch)
{
    (void)scratch;
    const ct_tiles tiles = ct_backproject_tiles(a);
    const int64_t tile = item / CT_TILE_ITEMS % tiles.tiles;
    const int64_t row = item / CT_TILE_ITEMS / tiles.tiles * CT_ROWS;
    const int64_t x = tile % tiles.across * CT_TILE + item % CT_TILE;
    const int64_t line = tile / tiles.across * CT_TILE + item % CT_TILE_ITEMS / CT_TILE;
    if (x >= a->grid.nx || line >= a->lines) return;
    const int64_t rows = k_min_i64(CT_ROWS, a->rows - row);

    float sum[CT_ROWS];
    for (int r = 0; r < CT_ROWS; r++) sum[r] = 0.0f;
    for (int64_t k = 0; k < a->views; k++) {
        const ct_view *view = &a->view[k];
        const ct_base base = ct_base_of(&a->grid, view, a->first_line + line, x / CT_BLOCK);
        const ct_place place = ct_place_of(view, base.fraction, (int32_t)(x % CT_BLOCK));
        for (int32_t t = 0; t < view->taps; t++) {
            const int64_t u = base.column + (int64_t)place.first + t;
            if (u < 0 || u >= a->grid.columns) continue;
            const float chord = ct_chord(view, place.beyond - (float)t);
            const float *ray = a->sinogram + k * a->view_stride + u * a->column_stride + row;
            for (int64_t r = 0; r < rows; r++) sum[r] = k_fmaf(chord, ray[r], sum[r]);
        }
    }
    float *out = a->volume + row * a->slice_stride + line * a->line_stride + x;
    for (int64_t r = 0; r < rows; r++) out[r * a->slice_stride] = ct_result(sum[r]);
}

#endif
