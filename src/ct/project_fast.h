/* The fast range of ct_project: the same sums, voxel by voxel instead of ray by ray.
 *
 * A line of the volume is packed with its rows adjacent and offered to CT_FAST_VIEWS views: each
 * voxel adds itself to its taps in scratch. Lines come in ascending y and voxels in ascending x, so
 * a ray's sum grows in the very order of the item. Sums of a view have guards on both sides, where
 * taps outside the wanted columns land. Several views take turns strip by strip: their sums are
 * independent, which hides the latency of storing and loading one place again and again (rays
 * along x). */
#ifndef MOTET_CT_PROJECT_FAST_H
#define MOTET_CT_PROJECT_FAST_H
#ifndef __CUDACC__

#include "ct/project.k.h"
#include "ct/strip_fast.h"

enum { CT_FAST_COLUMNS = 512, CT_FAST_SUMS = CT_FAST_COLUMNS + 2 * CT_FAST_TAPS };

/* Bytes of scratch for lines of nx voxels. */
K_FN size_t ct_project_scratch(int64_t nx)
{
    const size_t line = (size_t)((nx + CT_STRIP - 1) / CT_STRIP * CT_STRIP);
    return sizeof(float) * CT_ROWS * (line + CT_FAST_VIEWS * CT_FAST_SUMS);
}

/* Strips [first, last) of line y, rows adjacent. */
K_FN void ct_line_pack(const int lanes, const ct_project_args *a, int64_t y, int64_t row,
                       int64_t rows, int64_t first, int64_t last, float *K_RESTRICT line)
{
    const float *from = a->volume + row * a->slice_stride + y * a->line_stride;
    for (int64_t s = first; s < last; s++) {
        const int64_t x = s * CT_STRIP, some = k_min_i64(CT_STRIP, a->grid.nx - x);
        float *to = line + x * lanes;
        for (int64_t r = 0; r < rows; r++) {
            const float *slice = from + r * a->slice_stride + x;
            if (some == CT_STRIP)
                for (int i = 0; i < CT_STRIP; i++) to[i * lanes + r] = slice[i];
            else
                for (int64_t i = 0; i < some; i++) to[i * lanes + r] = slice[i];
        }
        for (int64_t r = rows; r < lanes; r++)
            for (int64_t i = 0; i < some; i++) to[i * lanes + r] = 0.0f;
    }
}

/* Columns that one view of a group wants, and where their sums are. */
typedef struct ct_wanted {
    const ct_view *view;
    int64_t low, high; /* columns */
    ct_span span;      /* voxels of the line at hand */
    float *sums;       /* of column (low - taps) */
} ct_wanted;

K_FN void ct_strip_scatter(const int lanes, const int32_t taps, const ct_strip *strip, int64_t some,
                           const float *K_RESTRICT voxels, float *K_RESTRICT sums)
{
    for (int64_t i = 0; i < some; i++) {
        float *sum = sums + (int64_t)strip->first[i] * lanes;
        for (int32_t t = 0; t < taps; t++) {
            ct_lanes_add(lanes, strip->chord[t][i], voxels + i * lanes, sum + t * lanes);
            CT_APART();
        }
    }
}

/* One strip to all views of a group that want it. */
K_FN void ct_strip_offer(const int lanes, const ct_project_args *a, const ct_wanted *wanted,
                         int views, int64_t y, int64_t x, const float *line)
{
    ct_strip strip[CT_FAST_VIEWS];
    int use[CT_FAST_VIEWS], uses = 0;
    for (int k = 0; k < views; k++)
        if (x < wanted[k].span.last && x + CT_STRIP > wanted[k].span.first) use[uses++] = k;
    for (int i = 0; i < uses; i++) {
        const ct_wanted *w = &wanted[use[i]];
        const int32_t taps = w->view->taps;
        ct_strip_weights(&a->grid, w->view, y, x, w->low - taps, w->high - w->low + taps,
                         &strip[i]);
    }
    const int64_t some = k_min_i64(CT_STRIP, a->grid.nx - x);
    for (int i = 0; i < uses; i++) {
        const ct_wanted *w = &wanted[use[i]];
        if (w->view->taps == 2)
            ct_strip_scatter(lanes, 2, &strip[i], some, line + x * lanes, w->sums);
        else
            ct_strip_scatter(lanes, w->view->taps, &strip[i], some, line + x * lanes, w->sums);
    }
}

/* Rays of one block of rows: columns [low, high) of a group of views. */
K_FN void ct_project_group(const int lanes, const ct_project_args *a, ct_wanted *wanted, int views,
                           int64_t row, int64_t rows, float *scratch)
{
    float *line = scratch + CT_FAST_VIEWS * CT_FAST_SUMS * CT_ROWS;
    for (int k = 0; k < views; k++) {
        wanted[k].sums = scratch + k * CT_FAST_SUMS * lanes;
        memset(wanted[k].sums, 0, sizeof *scratch * (size_t)(CT_FAST_SUMS * lanes));
    }
    for (int64_t y = 0; y < a->grid.ny; y++) {
        int64_t first = a->grid.nx, last = 0;
        for (int k = 0; k < views; k++) {
            ct_wanted *w = &wanted[k];
            w->span = ct_line_span(&a->grid, w->view, y, w->low, w->high);
            if (w->span.first >= w->span.last) continue;
            first = k_min_i64(first, w->span.first);
            last = k_max_i64(last, w->span.last);
        }
        if (first >= last) continue;
        const int64_t first_strip = first / CT_STRIP;
        const int64_t last_strip = (last + CT_STRIP - 1) / CT_STRIP;
        ct_line_pack(lanes, a, y, row, rows, first_strip, last_strip, line);
        for (int64_t s = first_strip; s < last_strip; s++)
            ct_strip_offer(lanes, a, wanted, views, y, s * CT_STRIP, line);
    }
    for (int k = 0; k < views; k++) {
        const ct_wanted *w = &wanted[k];
        float *out = a->sinogram + (w->view - a->view) * a->view_stride + row;
        for (int64_t u = w->low; u < w->high; u++)
            for (int64_t r = 0; r < rows; r++)
                out[u * a->column_stride + r] =
                    ct_result(w->sums[(u - w->low + w->view->taps) * lanes + r]);
    }
}

K_FN void ct_project_range(const ct_project_args *a, int64_t begin, int64_t end, void *scratch)
{
    if (a->fast_taps == 0) {
        for (int64_t i = begin; i < end; i++) ct_project_item(a, i, scratch);
        return;
    }
    const int64_t columns = a->grid.columns, block = a->views * columns;
    while (begin < end) {
        /* Of the views from here on: as many as fit, each whole or cut by the range's ends; one
         * stretch of columns at a time. */
        const int64_t row = begin / block * CT_ROWS, origin = begin / block * block;
        const int64_t rows = k_min_i64(CT_ROWS, a->rows - row);
        const int64_t first = (begin - origin) / columns;
        const int64_t last = k_min_i64(first + CT_FAST_VIEWS,
                                       (k_min_i64(end - origin, block) + columns - 1) / columns);
        const int64_t next = k_min_i64(end, origin + last * columns);
        for (int64_t low = 0; low < columns; low += CT_FAST_COLUMNS) {
            ct_wanted wanted[CT_FAST_VIEWS];
            int views = 0;
            for (int64_t k = first; k < last; k++) {
                ct_wanted *w = &wanted[views];
                const int64_t u0 = origin + k * columns; /* item of column 0 */
                w->view = &a->view[k];
                w->low = k_max_i64(low, begin - u0);
                w->high = k_min_i64(k_min_i64(low + CT_FAST_COLUMNS, columns), next - u0);
                views += w->low < w->high;
            }
            if (views)
                CT_WITH_LANES(ct_lanes(rows), ct_project_group, a, wanted, views, row, rows,
                              (float *)scratch)
        }
        begin = next;
    }
}

#endif
#endif
