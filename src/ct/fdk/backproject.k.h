/* Voxel-driven back-projection of filtered views: one item is a column of up to CT_FDK_DEEP voxels
 * along z. Each view adds what it shows where the voxel's middle falls, linear between pixels,
 * times 1 / depth^2 (L. A. Feldkamp, L. C. Davis, J. W. Kress, J. Opt. Soc. Am. A 1(6):612, 1984).
 * A voxel that falls on no pixel, or lies behind the source, adds nothing.
 *
 * Places are computed in float64. Where a view's depth and column do not depend on z, which is so
 * when the detector's v runs along z, that is done once for the item, and rows go on from there by
 * one float32 fma a voxel. Blocks of z are multiples of CT_FDK_DEEP in the whole volume, never of a
 * chunk.
 *
 * Items are numbered by blocks of z, then tile by tile, then along x and y in the tile. Items
 * beyond the chunk do nothing. */
#ifndef MOTET_CT_FDK_BACKPROJECT_K_H
#define MOTET_CT_FDK_BACKPROJECT_K_H

#include "ct/fdk/view.k.h"

enum { CT_FDK_DEEP = 32, CT_FDK_TILE = 16, CT_FDK_ITEMS = CT_FDK_TILE * CT_FDK_TILE };

typedef struct ct_fdk_args {
    const ct_fdk_view *view; /* of the block */
    const float *rays;       /* (views, columns, rows); rows adjacent */
    int64_t view_stride, column_stride;
    int64_t views, columns, rows;
    /* Of an offset detector: filtered views go on beyond its nearer edge, where rays weigh nothing
     * but their neighbours are felt. As many columns again, from first_column on; NULL: none. */
    const float *beyond;
    int64_t beyond_view_stride, beyond_column_stride;
    int64_t first_column, last_column; /* that there are in all */
    float *volume;                     /* the chunk; x adjacent */
    int64_t slice_stride, line_stride;
    int64_t first[3], count[3]; /* of the chunk along x, y, z; first z a multiple of CT_FDK_DEEP */
    int32_t first_block, last_block;
} ct_fdk_args;

typedef struct ct_fdk_tiles {
    int64_t across, tiles; /* along x; in a slice */
} ct_fdk_tiles;

K_FN ct_fdk_tiles ct_fdk_tiles_of(const ct_fdk_args *a)
{
    ct_fdk_tiles t;
    t.across = (a->count[0] + CT_FDK_TILE - 1) / CT_FDK_TILE;
    t.tiles = t.across * ((a->count[1] + CT_FDK_TILE - 1) / CT_FDK_TILE);
    return t;
}

K_FN int64_t ct_fdk_items(const ct_fdk_args *a)
{
    return (a->count[2] + CT_FDK_DEEP - 1) / CT_FDK_DEEP * ct_fdk_tiles_of(a).tiles * CT_FDK_ITEMS;
}

K_FN float ct_fdk_between(float a, float b, float part) { return k_fmaf(part, b - a, a); }

/* A place between two pixels. */
typedef struct ct_fdk_place {
    int64_t at; /* and the next one */
    float part; /* of the way to the next; below 0: on no pixel */
} ct_fdk_place;

K_FN ct_fdk_place ct_fdk_place_of(double place, int64_t first, int64_t last)
{
    const double low = (double)first, high = (double)last;
    const int on = place >= low - 0.5 && place <= high + 0.5;
    const double inside = on ? k_min(k_max(place, low), high) : low;
    const double whole = k_floor(inside);
    ct_fdk_place p;
    p.at = (int64_t)whole;
    p.part = on ? (float)(inside - whole) : -1.0f;
    return p;
}

/* The rows of a column of pixels. */
K_FN const float *ct_fdk_pixels(const ct_fdk_args *a, int64_t k, int64_t column)
{
    if (column >= 0 && column < a->columns)
        return a->rays + k * a->view_stride + column * a->column_stride;
    const int64_t at = column < 0 ? column + a->columns : column - a->columns;
    return a->beyond + k * a->beyond_view_stride + at * a->beyond_column_stride;
}

/* The value between four pixels: along u first. */
K_FN float ct_fdk_sample(const ct_fdk_args *a, int64_t k, ct_fdk_place u, ct_fdk_place v)
{
    const float *p = ct_fdk_pixels(a, k, u.at) + v.at;
    const float *q = ct_fdk_pixels(a, k, k_min_i64(u.at + 1, a->last_column)) + v.at;
    const int64_t up = v.at + 1 < a->rows ? 1 : 0;
    return ct_fdk_between(ct_fdk_between(p[0], q[0], u.part), ct_fdk_between(p[up], q[up], u.part),
                          v.part);
}

/* Where a column of voxels falls. */
typedef struct ct_fdk_column {
    int general; /* 1: each voxel must be asked for itself */
    ct_fdk_place u;
    float weight;
    int64_t row;          /* of voxel 0: row + fraction */
    float fraction, step; /* and from one voxel to the next */
} ct_fdk_column;

static const double ct_fdk_least_depth = 0x1p-20;

/* Is the column's place the same for all z? */
K_FN int ct_fdk_upright(const ct_fdk_view *view)
{
    return view->u[3] == 0.0 && view->depth[3] == 0.0;
}

K_FN ct_fdk_column ct_fdk_column_of(const ct_fdk_args *a, const ct_fdk_view *view, double x,
                                    double y, double z)
{
    ct_fdk_column c;
    const double depth = ct_fdk_affine(view->depth, x, y);
    const double inverse = 1.0 / depth;
    const double row = k_fma(z, view->v[3], ct_fdk_affine(view->v, x, y)) * inverse;
    const double step = view->v[3] * inverse, whole = k_floor(row);
    const int seen = depth > ct_fdk_least_depth;
    /* Within these bounds float32 counts rows without loss. */
    const int bounded = k_abs(row) < 0x1p20 && k_abs(step) <= 8.0 && a->rows <= (int64_t)1 << 22;
    c.general = !ct_fdk_upright(view) || (seen && !bounded);
    c.u = ct_fdk_place_of(seen ? ct_fdk_affine(view->u, x, y) * inverse : k_infinity(),
                          a->first_column, a->last_column);
    c.weight = (float)(inverse * inverse);
    c.row = c.general ? 0 : k_to_i64(whole);
    c.fraction = (float)(row - whole);
    c.step = (float)step;
    return c;
}

/* Sum with voxel z of a view that is not upright. */
K_FN float ct_fdk_add_general(const ct_fdk_args *a, int64_t k, double x, double y, double z,
                              float sum)
{
    const ct_fdk_view *view = &a->view[k];
    const double depth = k_fma(z, view->depth[3], ct_fdk_affine(view->depth, x, y));
    if (!(depth > ct_fdk_least_depth)) return sum;
    const double inverse = 1.0 / depth;
    const ct_fdk_place u =
        ct_fdk_place_of(k_fma(z, view->u[3], ct_fdk_affine(view->u, x, y)) * inverse,
                        a->first_column, a->last_column);
    const ct_fdk_place v = ct_fdk_place_of(
        k_fma(z, view->v[3], ct_fdk_affine(view->v, x, y)) * inverse, 0, a->rows - 1);
    if (u.part < 0.0f || v.part < 0.0f) return sum;
    return k_fmaf((float)(inverse * inverse), ct_fdk_sample(a, k, u, v), sum);
}

/* Voxel i of a column: its row, counted from column->row; and whether it is one. */
typedef struct ct_fdk_row {
    float inside, whole; /* moved to the nearest pixel; rounded down */
    int32_t on;
} ct_fdk_row;

K_FN ct_fdk_row ct_fdk_row_of(const ct_fdk_column *c, float first, float last, float i)
{
    const float place = k_fmaf(i, c->step, c->fraction);
    ct_fdk_row row;
    row.on = (place >= first - 0.5f) & (place <= last + 0.5f);
    row.inside = k_minf(k_maxf(place, first), last);
    row.whole = k_floorf(row.inside);
    return row;
}

K_FN float ct_fdk_add_upright(const ct_fdk_args *a, int64_t k, const ct_fdk_column *c, int i,
                              float sum)
{
    const ct_fdk_row row =
        ct_fdk_row_of(c, (float)-c->row, (float)(a->rows - 1 - c->row), (float)i);
    if (!row.on) return sum;
    ct_fdk_place v;
    v.at = c->row + (int64_t)row.whole;
    v.part = row.inside - row.whole;
    return k_fmaf(c->weight, ct_fdk_sample(a, k, c->u, v), sum);
}

/* What a sum becomes: with the last block one kind of NaN, and no negative zero. */
K_FN float ct_fdk_outcome(const ct_fdk_args *a, float sum)
{
    return a->last_block ? k_out(sum + 0.0f) : sum;
}

K_FN void ct_fdk_item(const ct_fdk_args *a, int64_t item, void *scratch)
{
    (void)scratch;
    const ct_fdk_tiles tiles = ct_fdk_tiles_of(a);
    const int64_t tile = item / CT_FDK_ITEMS % tiles.tiles;
    const int64_t z = item / CT_FDK_ITEMS / tiles.tiles * CT_FDK_DEEP;
    const int64_t x = tile % tiles.across * CT_FDK_TILE + item % CT_FDK_TILE;
    const int64_t y = tile / tiles.across * CT_FDK_TILE + item % CT_FDK_ITEMS / CT_FDK_TILE;
    if (x >= a->count[0] || y >= a->count[1]) return;
    const int64_t deep = k_min_i64(CT_FDK_DEEP, a->count[2] - z);
    const double wx = (double)(a->first[0] + x), wy = (double)(a->first[1] + y);
    const double wz = (double)(a->first[2] + z);
    float *out = a->volume + z * a->slice_stride + y * a->line_stride + x;
    float sum[CT_FDK_DEEP];
    for (int i = 0; i < CT_FDK_DEEP; i++)
        sum[i] = a->first_block || i >= deep ? 0.0f : out[i * a->slice_stride];
    for (int64_t k = 0; k < a->views; k++) {
        const ct_fdk_column c = ct_fdk_column_of(a, &a->view[k], wx, wy, wz);
        if (c.general)
            for (int i = 0; i < deep; i++)
                sum[i] = ct_fdk_add_general(a, k, wx, wy, wz + (double)i, sum[i]);
        else if (c.u.part >= 0.0f)
            for (int i = 0; i < deep; i++) sum[i] = ct_fdk_add_upright(a, k, &c, i, sum[i]);
    }
    for (int i = 0; i < deep; i++) out[i * a->slice_stride] = ct_fdk_outcome(a, sum[i]);
}

#endif
