/* The fast range of ct_columns_lay: a transposition tile by tile, so that whole lines of the cache
 * are read and written. */
#ifndef MOTET_CT_COLUMNS_LAY_FAST_H
#define MOTET_CT_COLUMNS_LAY_FAST_H
#ifndef __CUDACC__

#include <string.h>

#include "ct/beam/columns_lay.k.h"

enum { CT_LAY_LINES = 64, CT_LAY_CELLS = 16 };

/* Columns [f, f + lines) of a slab, cells [w, w + CT_LAY_CELLS). */
K_FN void ct_columns_lay_tile(const float *K_RESTRICT from, int64_t from_w, int64_t lines,
                              float *K_RESTRICT to, int64_t cells)
{
    float tile[CT_LAY_LINES][CT_LAY_CELLS];
    for (int64_t i = 0; i < CT_LAY_CELLS; i++)
        for (int64_t f = 0; f < lines; f++) tile[f][i] = from[i * from_w + f];
    for (int64_t f = 0; f < lines; f++) memcpy(to + f * cells, tile[f], sizeof tile[f]);
}

K_FN void ct_columns_lay_range(const ct_columns_lay_args *a, int64_t begin, int64_t end,
                               void *scratch)
{
    if (a->from_f != 1 || a->cells < CT_LAY_CELLS) {
        for (int64_t i = begin; i < end; i++) ct_columns_lay_item(a, i, scratch);
        return;
    }
    while (begin < end) {
        const int64_t s = begin / a->lines, f = begin % a->lines;
        const int64_t lines = k_min_i64(k_min_i64(a->lines - f, end - begin), CT_LAY_LINES);
        const float *from = a->from + s * a->from_s + f;
        float *to = a->to + begin * a->cells;
        for (int64_t w = 0; w < a->cells; w += CT_LAY_CELLS) {
            w = k_min_i64(w, a->cells - CT_LAY_CELLS); /* the last tile overlaps the one before */
            ct_columns_lay_tile(from + w * a->from_w, a->from_w, lines, to + w, a->cells);
        }
        begin += lines;
    }
}

#endif
#endif
