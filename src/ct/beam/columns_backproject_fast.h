/* The fast range of ct_columns_backproject: tiles of columns, a view at a time, rows as lanes.
 *
 * A ray u gives its chords with the columns of a tile all at once, from where it crosses their
 * planes. Along a chord, rows ascend with their planes. So the parts of rows that share a plane lie
 * side by side: they are added up, packed to one value for each cell, and then added to the column
 * of cells. That is where planes follow each other without gaps, rows being less than a cell apart;
 * where they are not, rows add to their planes one by one. */
#ifndef MOTET_CT_COLUMNS_BACKPROJECT_FAST_H
#define MOTET_CT_COLUMNS_BACKPROJECT_FAST_H
#ifndef __CUDACC__

#include <string.h>

#include "ct/beam/columns_backproject.k.h"
#include "ct/beam/columns_pack.h"

enum {
    CT_GATHER_ROWS = 2048, /* of a table */
    CT_GATHER_SHARE = 8,   /* rows that may share a plane where they are packed */
    CT_GATHER_PAD = 32,    /* for whole vectors */
    CT_GATHER_SUMS = CT_COLUMNS_W + CT_GATHER_PAD
};

/* Rows [begin, end) of a view, upright. Planes count from the block's first cell, rows from
 * `begin`. */
typedef struct ct_gather_table {
    float fraction[CT_GATHER_ROWS + CT_GATHER_PAD], slope[CT_GATHER_ROWS + CT_GATHER_PAD];
    float steep[CT_GATHER_ROWS + CT_GATHER_PAD];
    int32_t whole[CT_GATHER_ROWS + CT_GATHER_PAD]; /* less the bits of ct_whole's magic number */
    int64_t begin, end;
    float steepest;               /* |slope| */
    float at, at_t, step, step_t; /* row r lies near at + at_t t + r (step + step_t t) */
} ct_gather_table;

/* A row of the tile's columns, and what ray u does to each. */
typedef struct ct_gather_strip {
    float t0[CT_COLUMNS_F], t1[CT_COLUMNS_F]; /* its chords */
    float middle[CT_COLUMNS_F];               /* of the ray, not turned */
    int32_t row[CT_COLUMNS_F], end[CT_COLUMNS_F];
    int32_t share[CT_COLUMNS_F]; /* rows that a plane may have, at most; 0: not to be packed */
} ct_gather_strip;

/* What a chord gives to cells [first, end) of a column. */
typedef struct ct_gather_given {
    float values[CT_GATHER_ROWS + 3 * CT_GATHER_PAD]; /* that of `first` after zeros */
    float *to;                                        /* the column's sums */
    int64_t first, end;
} ct_gather_given;

typedef struct ct_gather {
    ct_gather_given given[2]; /* by the chord at hand and the one before, which is added later */
    int which;                /* the former */
    float above[CT_GATHER_SUMS], below[CT_GATHER_SUMS]; /* planes that rows are added to singly */
    float sums[CT_COLUMNS_TILE][CT_GATHER_SUMS];        /* of the tile */
    ct_gather_table table;
    uint64_t packs[1 << 8]; /* ct_packs */
} ct_gather;

K_FN size_t ct_columns_backproject_scratch(void) { return sizeof(ct_gather); }

#ifdef CT_LANES

/* A block of the tile at hand. */
typedef struct ct_gather_block {
    const ct_columns_backproject_args *a;
    int64_t s, f, w;              /* first cell */
    int64_t end_s, end_f, cells;  /* cells along w */
    uint32_t which[CT_COLUMNS_S]; /* columns along f that are wanted, bit by bit */
} ct_gather_block;

/* Between which t rays pass the tile: t grows along the detector's normal, whatever u. */
K_FN void ct_gather_depths(const ct_gather_block *b, const ct_pose *pose, double t[2])
{
    const ct_space *p = &b->a->space;
    const double qs = pose->ou[p->s] + pose->du[p->s], qf = pose->ou[p->f] + pose->du[p->f];
    const double whole = pose->d[p->s] * qf - pose->d[p->f] * qs;
    t[0] = k_infinity();
    t[1] = -k_infinity();
    for (int i = 0; i < 4; i++) {
        const double ps = (double)(i & 1 ? b->end_s : b->s) - pose->o[p->s];
        const double pf = (double)(i & 2 ? b->end_f : b->f) - pose->o[p->f];
        const double at = (ps * qf - pf * qs) / whole;
        t[0] = k_min(t[0], at);
        t[1] = k_max(t[1], at);
    }
    t[0] = k_min(k_max(t[0], pose->first), pose->last);
    t[1] = k_min(k_max(t[1], pose->first), pose->last);
}

/* 0: rows are too many, too close, or too far away for float32 to tell which ones are near; the
 * view is left to the item's way. */
K_FN int ct_gather_rows(const ct_gather_block *b, const ct_pose *pose, ct_gather_table *table)
{
    const ct_space *p = &b->a->space;
    const double o = pose->o[p->w] - (double)b->w, d = pose->d[p->w];
    const double ov = pose->ov[p->w], dv = pose->dv[p->w];
    double t[2];
    ct_gather_depths(b, pose, t);
    table->begin = p->rows;
    table->end = 0;
    for (int i = 0; i < 2; i++) { /* where a plane is seen is monotonous in t */
        const ct_climb climb = ct_climb_of(p, pose, t[i]);
        if (climb.inverse == 0.0) return 0;
        if (!(climb.step > 0x1p-10 * (k_abs(ov) + k_abs(t[i] * dv)))) return 0;
        const ct_near rows = ct_rows_near(p, climb, b->w - 2, b->w + b->cells + 2);
        table->begin = k_min_i64(table->begin, rows.begin);
        table->end = k_max_i64(table->end, rows.end);
    }
    const double r = (double)table->begin - p->middle_v;
    const double at = k_fma(r, ov, o), at_t = k_fma(r, dv, d);
    table->at = (float)at;
    table->at_t = (float)at_t;
    table->step = (float)ov;
    table->step_t = (float)dv;
    if (!(k_abs(at) + k_max(k_abs(t[0]), k_abs(t[1])) * k_abs(at_t) < 0x1p16)) return 0;
    if (table->end - table->begin > CT_GATHER_ROWS) return 0;
    double steepest = 0.0;
    const int64_t rows = table->end - table->begin;
    for (int64_t i = 0; i < rows; i++) {
        const ct_row row = ct_row_of(p, pose, table->begin + i, 0);
        table->fraction[i] = row.fraction;
        table->slope[i] = row.slope;
        table->steep[i] = row.steep;
        const int64_t whole = k_min_i64(k_max_i64(row.whole - b->w, -(1 << 24)), 1 << 24);
        table->whole[i] = (int32_t)whole - 0x4b400000;
        steepest = k_max(steepest, k_abs((double)row.slope));
    }
    table->steepest = (float)steepest;
    for (int64_t i = k_max_i64(rows, 0); i < rows + CT_GATHER_PAD; i++) { /* a plane far away */
        table->fraction[i] = table->slope[i] = 0.0f;
        table->steep[i] = 1.0f;
        table->whole[i] = (1 << 28) - 0x4b400000;
    }
    return 1;
}

/* A vector of rows along a chord. */
typedef struct ct_spread {
    ct_vi plane;
    ct_vf above, below;
} ct_spread;

typedef struct ct_gather_chord {
    float middle, length; /* t of the ray, not turned */
    const float *ray;     /* row table->begin */
    int64_t readable;     /* values from there on */
} ct_gather_chord;

K_FN ct_spread ct_spread_of(const ct_gather_table *table, const ct_gather_chord *c, int64_t row)
{
    const ct_vf middle = ct_vf_of(c->middle), length = ct_vf_of(c->length);
    const ct_vf magic = ct_vf_of(12582912.0f);
    const ct_vf w =
        ct_vf_fma(middle, ct_vf_load(table->slope + row), ct_vf_load(table->fraction + row));
    const ct_vf moved = w + magic, plane = moved - magic;
    const ct_vf part =
        ct_vf_fma(plane - w, ct_vf_load(table->steep + row), ct_vf_of(0.5f) * length);
    const ct_vf low = ct_vf_least(ct_vf_most(part, ct_vf_of(0.0f)), length);
    const ct_vf ray = row + CT_LANES <= c->readable
                          ? ct_vf_load(c->ray + row)
                          : ct_vf_load_some(c->ray + row, k_max_i64(c->readable - row, 0));
    ct_spread spread;
    spread.plane = (ct_vi)moved + ct_vi_load(table->whole + row);
    spread.below = low * ray;
    spread.above = (length - low) * ray;
    return spread;
}

/* Rows [row, end): no plane is without rows, none has more than `share`. The first row of a plane
 * has what the cell below it is given: what rows of the plane before, which end here, put above
 * them, and what those of this plane put below. These are packed, from cell `first` on. */
K_FN void ct_gather_packed(const int share, const ct_gather *g, const ct_gather_chord *c,
                           int64_t row, int64_t end, ct_gather_given *given)
{
    const int lanes = CT_LANES;
    ct_spread here = ct_spread_of(&g->table, c, row);
    ct_vf above_before = ct_vf_of(0.0f);
    ct_same same_before = ct_same_none();
    uint32_t shared = 0; /* bit 0: the first lane has the plane of the row before */
    float *values = given->values + CT_GATHER_PAD;
    int64_t count = 0;
    given->first = (int64_t)here.plane[0] - 1;
    /* The row after the last one has what that one puts above it. */
    for (; row <= end; row += CT_LANES) {
        const ct_spread next = ct_spread_of(&g->table, c, row + CT_LANES);
        const ct_same same = ct_same_of(ct_vi_after(here.plane, next.plane, 1), here.plane);
        ct_vf up = ct_vf_after(above_before, here.above, lanes - share);
        for (int j = share - 1; j > 0; j--)
            up = ct_vf_add_same(ct_same_after(same_before, same, lanes - 1 - j),
                                ct_vf_after(above_before, here.above, lanes - j), up);
        ct_vf down = ct_vf_add_same(same, here.below, ct_vf_after(here.below, next.below, 1));
        for (int j = 2; j < share; j++)
            down = ct_vf_add_same(ct_same_of(ct_vi_after(here.plane, next.plane, j), here.plane),
                                  down, ct_vf_after(here.below, next.below, j));
        shared |= ct_same_bits(same) << 1;
        const uint32_t firsts = ~shared & ((1u << CT_LANES) - 1u);
        ct_vf_store(values + count, ct_vf_pack(g->packs, firsts, up + down));
        count += __builtin_popcount(firsts);
        shared >>= CT_LANES;
        above_before = here.above;
        same_before = same;
        here = next;
    }
    ct_vf_store(values + count, ct_vf_of(0.0f));
    given->end = given->first + count;
}

/* Adds it to a column of cells. Up to CT_LANES cells on each side get zeros. */
K_FN void ct_gather_add(ct_gather_given *given, int64_t cells)
{
    float *K_RESTRICT sum = given->to;
    const float *K_RESTRICT values = given->values + CT_GATHER_PAD - given->first;
    const int64_t end = k_min_i64(given->end, cells);
    for (int64_t i = k_max_i64(given->first, 0) & -CT_LANES; i < end; i += CT_LANES)
        ct_vf_store(sum + i, ct_vf_load(sum + i) + ct_vf_load(values + i));
    given->end = 0;
}

K_FN void ct_gather_one_by_one(ct_gather *g, const ct_gather_chord *c, int64_t row, int64_t end,
                               int64_t cells, ct_gather_given *given)
{
    memset(g->above, 0, sizeof *g->above * (size_t)(cells + 1));
    memset(g->below, 0, sizeof *g->below * (size_t)(cells + 1));
    for (; row < end; row += CT_LANES) {
        const ct_spread spread = ct_spread_of(&g->table, c, row);
        int32_t plane[CT_LANES];
        float up[CT_LANES], down[CT_LANES];
        ct_vi_store(plane, spread.plane);
        ct_vf_store(up, spread.above);
        ct_vf_store(down, spread.below);
        for (int i = 0; i < CT_LANES; i++) {
            if (plane[i] < 0 || plane[i] > cells) continue;
            g->above[plane[i]] += up[i];
            g->below[plane[i]] += down[i];
        }
    }
    float *values = given->values + CT_GATHER_PAD;
    for (int64_t i = 0; i < cells; i++) values[i] = g->above[i] + g->below[i + 1];
    ct_vf_store(values + cells, ct_vf_of(0.0f));
    given->first = 0;
    given->end = cells;
}

/* Which rows each chord needs, and how they share planes. */
K_FN void ct_gather_search(const ct_gather_block *b, const ct_gather_table *table, int turned,
                           ct_gather_strip *strip)
{
    const float rows = (float)(table->end - table->begin), cells = (float)b->cells;
    for (int i = 0; i < CT_COLUMNS_F; i++) {
        const float middle = 0.5f * (strip->t0[i] + strip->t1[i]), t = turned ? -middle : middle;
        const float step = k_fmaf(t, table->step_t, table->step), inverse = 1.0f / step;
        const float at = k_fmaf(t, table->at_t, table->at);
        const float low = (-1.0f - at) * inverse - 1.0f;
        const float high = (cells + 1.0f - at) * inverse + 2.0f;
        strip->middle[i] = t;
        strip->row[i] = (int32_t)k_minf(k_maxf(low, 0.0f), rows);
        strip->end[i] = (int32_t)k_minf(k_maxf(high, 0.0f), rows);
        /* Float32 moves rows by so many cells: planes could be left out, or come out of order. */
        const float moves = 0x1p-20f * (1.0f + k_absf(t) * table->steepest);
        const float share = (1.0f + moves) * inverse * 1.0001f;
        const int gaps = (step * 1.0001f + moves > 1.0f) | (moves > 0.01f);
        const int32_t some = share < 2.0f ? 2 : share < 3.0f ? 3 : CT_GATHER_SHARE;
        const int fits = share < (float)CT_GATHER_SHARE;
        strip->share[i] = fits && !gaps ? some : 0;
    }
}

/* Chord i of the strip to its column. What it gives is added when the next chord has been seen to:
 * what was just stored piece by piece is slow to load. */
K_FN void ct_gather_chord_add(const ct_gather_block *b, ct_gather *g, const ct_gather_strip *strip,
                              int i, const float *ray, int64_t readable, float *sum)
{
    const int64_t row = strip->row[i], end = strip->end[i];
    if (row >= end) return;
    const ct_gather_chord c = {strip->middle[i], strip->t1[i] - strip->t0[i], ray, readable};
    ct_gather_given *given = &g->given[g->which];
    given->to = sum;
    if (strip->share[i] == 2)
        ct_gather_packed(2, g, &c, row, end, given);
    else if (strip->share[i] == 3)
        ct_gather_packed(3, g, &c, row, end, given);
    else if (strip->share[i])
        ct_gather_packed(CT_GATHER_SHARE, g, &c, row, end, given);
    else
        ct_gather_one_by_one(g, &c, row, end, b->cells, given);
    g->which ^= 1;
    ct_gather_add(&g->given[g->which], b->cells);
}

/* The item's way, for one chord. */
K_FN void ct_gather_plainly(const ct_gather_block *b, const ct_pose *pose, ct_piece piece,
                            int turned, const float *ray, float *sum)
{
    const double middle = (double)(0.5f * (piece.t0 + piece.t1));
    const ct_climb climb = ct_climb_of(&b->a->space, pose, turned ? -middle : middle);
    for (int64_t i = 0; i < b->cells; i++)
        sum[i] += ct_column_gather(b->a, pose, climb, piece, turned, ray, b->w + i);
}

K_FN void ct_gather_view(const ct_gather_block *b, int64_t view, ct_gather *g)
{
    const ct_columns_backproject_args *a = b->a;
    const ct_space *p = &a->space;
    const ct_pose pose = ct_upright(p, &a->pose[view]);
    const ct_near columns = ct_columns_near(p, &pose, b->s, b->end_s, b->f, b->end_f);
    if (columns.begin >= columns.end) return;
    const int fast = ct_gather_rows(b, &pose, &g->table);
    if (fast && g->table.begin >= g->table.end) return;
    for (int64_t u = columns.begin; u < columns.end; u++) {
        const ct_ray ray = ct_ray_of(p, &pose, u, 0);
        const int turned = ct_turned(p, &pose, u);
        const int64_t at = (view * p->columns + u) * p->rows;
        float cross_s[CT_COLUMNS_S + 1], cross_f[CT_COLUMNS_F + 1];
        ct_gather_strip strip;
        for (int i = 0; i <= CT_COLUMNS_S; i++)
            cross_s[i] = (float)ct_cross(&ray, (int)p->s, b->s + i);
        for (int i = 0; i <= CT_COLUMNS_F; i++)
            cross_f[i] = (float)ct_cross(&ray, (int)p->f, b->f + i);
        const float first = (float)ray.first, last = (float)ray.last;
        for (int s = 0; s < CT_COLUMNS_S; s++) {
            uint32_t met = 0;
            for (int i = 0; i < CT_COLUMNS_F; i++) {
                const float low = ct_least(cross_f[i], cross_f[i + 1]);
                const float high = ct_most(cross_f[i], cross_f[i + 1]);
                strip.t0[i] = ct_most(ct_most(cross_s[s], low), first);
                strip.t1[i] = ct_least(ct_least(cross_s[s + 1], high), last);
            }
            for (int i = 0; i < CT_COLUMNS_F; i += CT_LANES)
                met |= ct_vf_above(ct_vf_load(strip.t1 + i), ct_vf_load(strip.t0 + i)) << i;
            met &= b->which[s];
            if (!met) continue;
            if (fast) ct_gather_search(b, &g->table, turned, &strip);
            for (; met; met &= met - 1) {
                const int i = __builtin_ctz(met);
                float *sum = g->sums[s * CT_COLUMNS_F + i];
                if (fast)
                    ct_gather_chord_add(b, g, &strip, i, a->rays + at + g->table.begin,
                                        g->table.end - g->table.begin, sum);
                else
                    ct_gather_plainly(b, &pose, (ct_piece){strip.t0[i], strip.t1[i]}, turned,
                                      a->rays + at, sum);
            }
        }
    }
    ct_gather_add(&g->given[g->which ^ 1], b->cells);
}

/* Items [begin, end) of one tile. */
K_FN void ct_gather_tile(const ct_columns_backproject_args *a, int64_t number, int64_t begin,
                         int64_t end, ct_gather *g)
{
    const ct_columns_tiles tiles = ct_columns_tiles_of(a);
    const int64_t tile = number % tiles.tiles, w = number / tiles.tiles * CT_COLUMNS_W;
    const int64_t s = tile / tiles.along_f * CT_COLUMNS_S, f = tile % tiles.along_f * CT_COLUMNS_F;
    ct_gather_block b = {.a = a,
                         .s = a->first_s + s,
                         .f = a->first_f + f,
                         .w = a->first_w + w,
                         .end_s = a->first_s + k_min_i64(s + CT_COLUMNS_S, a->count_s),
                         .end_f = a->first_f + k_min_i64(f + CT_COLUMNS_F, a->count_f),
                         .cells = k_min_i64(CT_COLUMNS_W, a->count_w - w)};
    for (int64_t i = begin; i < end; i++) {
        const int64_t ls = i / CT_COLUMNS_F, lf = i % CT_COLUMNS_F;
        if (s + ls < a->count_s && f + lf < a->count_f) b.which[ls] |= 1u << lf;
    }
    memset(g->sums, 0, sizeof g->sums);
    for (int i = 0; i < 2; i++) {
        memset(g->given[i].values, 0, sizeof *g->given[i].values * CT_GATHER_PAD);
        g->given[i].first = g->given[i].end = 0;
        g->given[i].to = g->sums[0];
    }
    g->which = 0;
    ct_packs_make(g->packs);
    float *out = a->volume + s * a->stride_s + f * a->stride_f + w * a->stride_w;
    if (!a->starts)
        for (int64_t i = 0; i < b.cells; i++)
            for (int64_t j = 0; j < CT_COLUMNS_TILE; j++)
                if (b.which[j / CT_COLUMNS_F] >> j % CT_COLUMNS_F & 1u)
                    g->sums[j][i] = out[j / CT_COLUMNS_F * a->stride_s +
                                        j % CT_COLUMNS_F * a->stride_f + i * a->stride_w];
    for (int64_t k = 0; k < a->views; k++) ct_gather_view(&b, k, g);
    for (int64_t i = 0; i < b.cells; i++)
        for (int64_t j = 0; j < CT_COLUMNS_TILE; j++)
            if (b.which[j / CT_COLUMNS_F] >> j % CT_COLUMNS_F & 1u)
                out[j / CT_COLUMNS_F * a->stride_s + j % CT_COLUMNS_F * a->stride_f +
                    i * a->stride_w] = a->finishes ? ct_outcome(g->sums[j][i]) : g->sums[j][i];
}

K_FN void ct_columns_backproject_range(const ct_columns_backproject_args *a, int64_t begin,
                                       int64_t end, void *scratch)
{
    for (int64_t next; begin < end; begin = next) {
        const int64_t number = begin / CT_COLUMNS_TILE, origin = number * CT_COLUMNS_TILE;
        next = k_min_i64(end, origin + CT_COLUMNS_TILE);
        ct_gather_tile(a, number, begin - origin, next - origin, (ct_gather *)scratch);
    }
}

#else

K_FN void ct_columns_backproject_range(const ct_columns_backproject_args *a, int64_t begin,
                                       int64_t end, void *scratch)
{
    for (int64_t i = begin; i < end; i++) ct_columns_backproject_item(a, i, scratch);
}

#endif
#endif
#endif
