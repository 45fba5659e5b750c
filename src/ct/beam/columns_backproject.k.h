/* Back-projection, column form: the exact transpose of columns_project.k.h, as a gather. One item
 * is one column of voxels through a block of w. Views ascend, then u; a chord adds to each cell
 * what the rows that meet its lower plane put above it, and those that meet its upper plane below
 * it, both summed in rows that ascend along w. So no two items write one place, and no sum depends
 * on what else is computed.
 *
 * Items are numbered by blocks of w, then tile by tile across s and f, then along f and s in the
 * tile. Items beyond the chunk do nothing. */
#ifndef MOTET_CT_COLUMNS_BACKPROJECT_K_H
#define MOTET_CT_COLUMNS_BACKPROJECT_K_H

#include "ct/beam/columns_near.k.h"

enum {
    CT_COLUMNS_S = 4, /* a tile */
    CT_COLUMNS_F = 16,
    CT_COLUMNS_TILE = CT_COLUMNS_S * CT_COLUMNS_F,
    CT_COLUMNS_W = 256 /* a block */
};

typedef struct ct_columns_backproject_args {
    ct_space space;
    const ct_pose *pose; /* of the block's first view */
    int64_t views;       /* of the block */
    const ct_real *rays; /* of ct_columns_scale */
    ct_real *volume;     /* first voxel of the chunk */
    int64_t stride_s, stride_f, stride_w;
    int64_t first_s, first_f, first_w, count_s, count_f, count_w; /* of the chunk */
    int32_t starts, finishes; /* the first block of views, the last */
} ct_columns_backproject_args;

typedef struct ct_columns_tiles {
    int64_t along_f, tiles; /* in a row of them; in all */
} ct_columns_tiles;

K_FN ct_columns_tiles ct_columns_tiles_of(const ct_columns_backproject_args *a)
{
    ct_columns_tiles t;
    t.along_f = (a->count_f + CT_COLUMNS_F - 1) / CT_COLUMNS_F;
    t.tiles = (a->count_s + CT_COLUMNS_S - 1) / CT_COLUMNS_S * t.along_f;
    return t;
}

K_FN int64_t ct_columns_backproject_items(const ct_columns_backproject_args *a)
{
    return (a->count_w + CT_COLUMNS_W - 1) / CT_COLUMNS_W * ct_columns_tiles_of(a).tiles *
           CT_COLUMNS_TILE;
}

/* What the chord gives to cell w of its column. */
K_FN ct_real ct_column_gather(const ct_columns_backproject_args *a, const ct_pose *upright,
                              ct_climb climb, ct_piece chord, int turned, const ct_real *ray,
                              int64_t w)
{
    const ct_near rows = ct_rows_near(&a->space, climb, w, w + 1);
    ct_real above = 0, below = 0;
    for (int64_t r = rows.begin; r < rows.end; r++) {
        const ct_split split = ct_split_of(chord, ct_row_of(&a->space, upright, r, turned));
        if (split.k == w) above += split.high * ray[r];
        if (split.k == w + 1) below += split.low * ray[r];
    }
    return above + below;
}

K_FN void ct_columns_backproject_item(const ct_columns_backproject_args *a, int64_t item,
                                      void *scratch)
{
    (void)scratch;
    const ct_space *space = &a->space;
    const ct_columns_tiles tiles = ct_columns_tiles_of(a);
    const int64_t tile = item / CT_COLUMNS_TILE % tiles.tiles, at = item % CT_COLUMNS_TILE;
    const int64_t w0 = item / CT_COLUMNS_TILE / tiles.tiles * CT_COLUMNS_W;
    const int64_t ls = tile / tiles.along_f * CT_COLUMNS_S + at / CT_COLUMNS_F;
    const int64_t lf = tile % tiles.along_f * CT_COLUMNS_F + at % CT_COLUMNS_F;
    if (ls >= a->count_s || lf >= a->count_f) return;
    const int64_t s = a->first_s + ls, f = a->first_f + lf, w = a->first_w + w0;
    const int64_t cells = k_min_i64(CT_COLUMNS_W, a->count_w - w0);
    ct_real *out = a->volume + ls * a->stride_s + lf * a->stride_f + w0 * a->stride_w;

    if (a->starts)
        for (int64_t i = 0; i < cells; i++) out[i * a->stride_w] = 0;
    for (int64_t k = 0; k < a->views; k++) {
        const ct_pose pose = ct_upright(space, &a->pose[k]);
        const ct_near columns = ct_columns_near(space, &pose, s, s + 1, f, f + 1);
        for (int64_t u = columns.begin; u < columns.end; u++) {
            const ct_ray ray = ct_ray_of(space, &pose, u, 0);
            const ct_piece chord = ct_column_clip(space, &ray, s, f);
            if (!(chord.t1 > chord.t0)) continue;
            const int turned = ct_turned(space, &pose, u);
            const double middle = (double)((ct_real)0.5 * (chord.t0 + chord.t1));
            const ct_climb climb = ct_climb_of(space, &pose, turned ? -middle : middle);
            const ct_real *rays = a->rays + (k * space->columns + u) * space->rows;
            for (int64_t i = 0; i < cells; i++)
                out[i * a->stride_w] +=
                    ct_column_gather(a, &pose, climb, chord, turned, rays, w + i);
        }
    }
    if (a->finishes)
        for (int64_t i = 0; i < cells; i++) out[i * a->stride_w] = ct_outcome(out[i * a->stride_w]);
}

#endif
