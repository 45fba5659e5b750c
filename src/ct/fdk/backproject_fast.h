/* The fast range of ct_fdk: tile by tile, so that a tile's sums and what it touches of a view stay
 * near. Of each column of voxels the two columns of pixels are first blended over the rows that
 * it needs, which is half of the work of all its voxels. */
#ifndef MOTET_CT_FDK_BACKPROJECT_FAST_H
#define MOTET_CT_FDK_BACKPROJECT_FAST_H
#ifndef __CUDACC__

#include "ct/fdk/backproject.k.h"

enum { CT_FDK_WINDOW = 8 * CT_FDK_DEEP + 32 }; /* rows of the steepest column, and to spare */

K_FN size_t ct_fdk_scratch(void) { return sizeof(float) * (CT_FDK_ITEMS * CT_FDK_DEEP); }

/* All voxels of a column in one view. */
K_FN void ct_fdk_column_add(const int lanes, const ct_fdk_args *a, int64_t k,
                            const ct_fdk_column *c, float *K_RESTRICT sum)
{
    float window[CT_FDK_WINDOW];
    int32_t at[CT_FDK_DEEP], on[CT_FDK_DEEP];
    float part[CT_FDK_DEEP];
    const float first = (float)-c->row, last = (float)(a->rows - 1 - c->row);
    const ct_fdk_row begin = ct_fdk_row_of(c, first, last, 0.0f);
    const ct_fdk_row end = ct_fdk_row_of(c, first, last, (float)(lanes - 1));
    const float low = k_minf(begin.whole, end.whole), high = k_maxf(begin.whole, end.whole);
    for (int i = 0; i < lanes; i++) {
        const ct_fdk_row row = ct_fdk_row_of(c, first, last, (float)i);
        at[i] = (int32_t)(row.whole - low);
        part[i] = row.inside - row.whole;
        on[i] = row.on;
    }
    const int32_t count = (int32_t)(high - low) + 2;
    const int64_t row = c->row + (int64_t)low;
    const float *left = ct_fdk_pixels(a, k, c->u.at) + row;
    const float *right = ct_fdk_pixels(a, k, k_min_i64(c->u.at + 1, a->last_column)) + row;
    const int32_t there = (int32_t)k_min_i64(count, a->rows - row);
    for (int32_t r = 0; r < there; r++) window[r] = ct_fdk_between(left[r], right[r], c->u.part);
    if (there < count) window[there] = window[there - 1];
    for (int i = 0; i < lanes; i++) {
        const float value = ct_fdk_between(window[at[i]], window[at[i] + 1], part[i]);
        const float more = k_fmaf(c->weight, value, sum[i]);
        sum[i] = on[i] ? more : sum[i];
    }
}

/* Items [begin, end) of one tile. */
K_FN void ct_fdk_tile(const int lanes, const ct_fdk_args *a, int64_t x, int64_t y, int64_t z,
                      int64_t begin, int64_t end, float *sums)
{
    const int64_t deep = k_min_i64(CT_FDK_DEEP, a->count[2] - z);
    const int64_t lines = k_min_i64((end + CT_FDK_TILE - 1) / CT_FDK_TILE, a->count[1] - y);
    float *out = a->volume + z * a->slice_stride + y * a->line_stride + x;
    memset(sums, 0, sizeof *sums * CT_FDK_ITEMS * CT_FDK_DEEP);
    for (int64_t line = begin / CT_FDK_TILE; line < lines; line++) {
        const int64_t low = k_max_i64(begin - line * CT_FDK_TILE, 0);
        const int64_t high =
            k_min_i64(k_min_i64(end - line * CT_FDK_TILE, CT_FDK_TILE), a->count[0] - x);
        if (a->first_block) continue;
        for (int64_t i = low; i < high; i++)
            for (int64_t d = 0; d < deep; d++)
                sums[(line * CT_FDK_TILE + i) * CT_FDK_DEEP + d] =
                    out[d * a->slice_stride + line * a->line_stride + i];
    }
    const double wz = (double)(a->first[2] + z);
    for (int64_t k = 0; k < a->views; k++)
        for (int64_t line = begin / CT_FDK_TILE; line < lines; line++) {
            const int64_t low = k_max_i64(begin - line * CT_FDK_TILE, 0);
            const int64_t high =
                k_min_i64(k_min_i64(end - line * CT_FDK_TILE, CT_FDK_TILE), a->count[0] - x);
            const double wy = (double)(a->first[1] + y + line);
            ct_fdk_column column[CT_FDK_TILE];
            for (int i = 0; i < CT_FDK_TILE; i++)
                column[i] = ct_fdk_column_of(a, &a->view[k], (double)(a->first[0] + x + i), wy, wz);
            for (int64_t i = low; i < high; i++) {
                float *sum = sums + (line * CT_FDK_TILE + i) * CT_FDK_DEEP;
                const double wx = (double)(a->first[0] + x + i);
                if (column[i].general)
                    for (int64_t d = 0; d < deep; d++)
                        sum[d] = ct_fdk_add_general(a, k, wx, wy, wz + (double)d, sum[d]);
                else if (column[i].u.part >= 0.0f)
                    ct_fdk_column_add(lanes, a, k, &column[i], sum);
            }
        }
    for (int64_t d = 0; d < deep; d++)
        for (int64_t line = begin / CT_FDK_TILE; line < lines; line++) {
            const int64_t low = k_max_i64(begin - line * CT_FDK_TILE, 0);
            const int64_t high =
                k_min_i64(k_min_i64(end - line * CT_FDK_TILE, CT_FDK_TILE), a->count[0] - x);
            for (int64_t i = low; i < high; i++)
                out[d * a->slice_stride + line * a->line_stride + i] =
                    ct_fdk_outcome(a, sums[(line * CT_FDK_TILE + i) * CT_FDK_DEEP + d]);
        }
}

K_FN void ct_fdk_range(const ct_fdk_args *a, int64_t begin, int64_t end, void *scratch)
{
    const ct_fdk_tiles tiles = ct_fdk_tiles_of(a);
    for (int64_t next; begin < end; begin = next) {
        const int64_t number = begin / CT_FDK_ITEMS, origin = number * CT_FDK_ITEMS;
        next = k_min_i64(end, origin + CT_FDK_ITEMS);
        const int64_t tile = number % tiles.tiles;
        const int64_t x = tile % tiles.across * CT_FDK_TILE, y = tile / tiles.across * CT_FDK_TILE;
        const int64_t z = number / tiles.tiles * CT_FDK_DEEP;
        const int64_t from = begin - origin, to = next - origin;
        float *sums = (float *)scratch;
        if (a->count[2] - z == 1) /* a slice: most lanes would be idle */
            ct_fdk_tile(1, a, x, y, z, from, to, sums);
        else
            ct_fdk_tile(CT_FDK_DEEP, a, x, y, z, from, to, sums);
    }
}

#endif
#endif
