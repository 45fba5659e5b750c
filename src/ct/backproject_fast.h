/* The fast range of ct_backproject: tile by tile, CT_FAST_VIEWS views at a time.
 *
 * What a tile touches of a view is a window of few columns. It is first copied together (rows
 * adjacent, zeros beyond the detector), which spares the inner loop all bounds and keeps it within
 * the first-level cache whatever the strides of the sinogram are. The sums of the tile stay in
 * scratch, go through the views in order, and are turned to (z, y, x) once at the end. */
#ifndef MOTET_CT_BACKPROJECT_FAST_H
#define MOTET_CT_BACKPROJECT_FAST_H
#ifndef __CUDACC__

#include "ct/backproject.k.h"
#include "ct/strip_fast.h"

/* Columns that a tile may touch in one view; 0: more taps than the fast range takes. */
K_FN int64_t ct_window_columns(double ratio, int32_t most_taps)
{
    if (most_taps > CT_FAST_TAPS) return 0;
    const double across = 1.4142135623730951 * ratio * (double)(CT_TILE - 1);
    return (int64_t)across + most_taps + 8;
}

/* Bytes of scratch for windows of so many columns. */
K_FN size_t ct_backproject_scratch(int64_t window)
{
    return sizeof(float) * CT_ROWS * (CT_TILE_ITEMS + (size_t)(CT_FAST_VIEWS * window));
}

/* First column of the window of a tile. */
K_FN int64_t ct_window_begin(const ct_backproject_args *a, const ct_view *view, int64_t x,
                             int64_t line)
{
    const double span = (double)(CT_TILE - 1);
    const double corner = ct_column(&a->grid, view, (double)x, (double)(a->first_line + line));
    const double least =
        corner + k_min(0.0, span * view->along_x) + k_min(0.0, span * view->along_y);
    return (int64_t)ct_nearest(least) - view->taps / 2 - 3;
}

K_FN void ct_window_copy(const int lanes, const ct_backproject_args *a, int64_t k, int64_t begin,
                         int64_t row, int64_t rows, float *K_RESTRICT window)
{
    const int64_t first = k_min_i64(k_max_i64(0, -begin), a->window);
    const int64_t last = k_max_i64(first, k_min_i64(a->window, a->grid.columns - begin));
    memset(window, 0, (size_t)(first * lanes) * sizeof *window);
    memset(window + last * lanes, 0, (size_t)((a->window - last) * lanes) * sizeof *window);
    if (first == last) return;
    const float *from = a->sinogram + k * a->view_stride + (begin + first) * a->column_stride + row;
    if (rows == lanes)
        for (int64_t u = first; u < last; u++, from += a->column_stride)
            for (int r = 0; r < lanes; r++) window[u * lanes + r] = from[r];
    else
        for (int64_t u = first; u < last; u++, from += a->column_stride) {
            for (int64_t r = 0; r < rows; r++) window[u * lanes + r] = from[r];
            for (int64_t r = rows; r < lanes; r++) window[u * lanes + r] = 0.0f;
        }
}

K_FN void ct_strip_gather(const int lanes, const int32_t taps, const ct_strip *strip,
                          const float *K_RESTRICT window, float *K_RESTRICT sums)
{
    for (int i = 0; i < CT_STRIP; i++) {
        const float *ray = window + strip->first[i] * lanes;
        float *K_RESTRICT sum = sums + i * lanes;
        int32_t t = 0;
        for (; t + 1 < taps; t += 2, ray += 2 * lanes) /* two at a time spare loads and stores */
            ct_lanes_add_two(lanes, strip->chord[t][i], strip->chord[t + 1][i], ray, sum);
        if (t < taps) ct_lanes_add(lanes, strip->chord[t][i], ray, sum);
        CT_APART();
    }
}

/* Items [begin, end) of one tile. */
K_FN void ct_backproject_tile(const int lanes, const ct_backproject_args *a, int64_t x,
                              int64_t line, int64_t row, int64_t rows, int64_t begin, int64_t end,
                              float *scratch)
{
    float *sums = scratch, *windows = scratch + CT_TILE_ITEMS * CT_ROWS;
    const int64_t first_strip = begin / CT_TILE;
    const int64_t last_strip = k_min_i64((end + CT_TILE - 1) / CT_TILE, a->lines - line);
    memset(sums, 0, sizeof *sums * CT_TILE_ITEMS * (size_t)lanes);

    for (int64_t k0 = 0; k0 < a->views; k0 += CT_FAST_VIEWS) {
        const int64_t views = k_min_i64(CT_FAST_VIEWS, a->views - k0);
        int64_t start[CT_FAST_VIEWS];
        for (int64_t k = 0; k < views; k++) {
            start[k] = ct_window_begin(a, &a->view[k0 + k], x, line);
            ct_window_copy(lanes, a, k0 + k, start[k], row, rows, windows + k * a->window * lanes);
        }
        for (int64_t s = first_strip; s < last_strip; s++) {
            ct_strip strip[CT_FAST_VIEWS];
            for (int64_t k = 0; k < views; k++) {
                const ct_view *view = &a->view[k0 + k];
                ct_strip_weights(&a->grid, view, a->first_line + line + s, x, start[k],
                                 a->window - view->taps, &strip[k]);
            }
            float *sum = sums + s * CT_STRIP * lanes;
            for (int64_t k = 0; k < views; k++) {
                const float *window = windows + k * a->window * lanes;
                const int32_t taps = a->view[k0 + k].taps;
                if (taps == 2)
                    ct_strip_gather(lanes, 2, &strip[k], window, sum);
                else
                    ct_strip_gather(lanes, taps, &strip[k], window, sum);
            }
        }
    }

    for (int64_t r = 0; r < rows; r++)
        for (int64_t s = first_strip; s < last_strip; s++) {
            const int64_t low = k_max_i64(begin - s * CT_TILE, 0);
            const int64_t high = k_min_i64(k_min_i64(end - s * CT_TILE, CT_TILE), a->grid.nx - x);
            float *out = a->volume + (row + r) * a->slice_stride + (line + s) * a->line_stride + x;
            for (int64_t i = low; i < high; i++)
                out[i] = ct_result(sums[(s * CT_STRIP + i) * lanes + r]);
        }
}

K_FN void ct_backproject_range(const ct_backproject_args *a, int64_t begin, int64_t end,
                               void *scratch)
{
    if (a->window == 0) {
        for (int64_t i = begin; i < end; i++) ct_backproject_item(a, i, scratch);
        return;
    }
    const ct_tiles tiles = ct_backproject_tiles(a);
    for (int64_t next; begin < end; begin = next) {
        const int64_t number = begin / CT_TILE_ITEMS, origin = number * CT_TILE_ITEMS;
        next = k_min_i64(end, origin + CT_TILE_ITEMS);
        const int64_t row = number / tiles.tiles * CT_ROWS, tile = number % tiles.tiles;
        const int64_t x = tile % tiles.across * CT_TILE, line = tile / tiles.across * CT_TILE;
        const int64_t rows = k_min_i64(CT_ROWS, a->rows - row);
        CT_WITH_LANES(ct_lanes(rows), ct_backproject_tile, a, x, line, row, rows, begin - origin,
                      next - origin, (float *)scratch)
    }
}

#endif
#endif
