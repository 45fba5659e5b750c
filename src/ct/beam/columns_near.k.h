/* What may meet: the detector's columns that may see a column of voxels, the rows that may touch a
 * cell along a chord. Both only cull: they are wider than what rounding can do to a ray, and
 * whoever asks tests each one.
 *
 * Back-projection counts rows so that they ascend along w, whichever way the detector's do. */
#ifndef MOTET_CT_COLUMNS_NEAR_K_H
#define MOTET_CT_COLUMNS_NEAR_K_H

#include "ct/beam/columns.k.h"

typedef struct ct_near {
    int64_t begin, end;
} ct_near;

/* Whole numbers in [0, size) from `low` to `high`. */
K_FN ct_near ct_near_of(double low, double high, int64_t size)
{
    ct_near near;
    near.begin = (int64_t)k_min(k_max(-k_floor(-low), 0.0), (double)size);
    near.end = (int64_t)(k_max(k_min(k_floor(high), (double)(size - 1)), -1.0) + 1.0);
    return near;
}

K_FN int ct_rows_descend(const ct_space *space, const ct_pose *pose)
{
    return pose->ov[space->w] + pose->dv[space->w] < 0.0;
}

/* The pose with its rows counted upwards. */
K_FN ct_pose ct_upright(const ct_space *space, const ct_pose *pose)
{
    ct_pose p = *pose;
    if (ct_rows_descend(space, pose)) {
        p.ov[space->w] = -p.ov[space->w];
        p.dv[space->w] = -p.dv[space->w];
    }
    return p;
}

/* Columns of the detector that may see the cells [s, s1) x [f, f1) of the plane. A corner is seen
 * by u where u rises in proportion to the corner's place across d, over its depth before the
 * source. */
K_FN ct_near ct_columns_near(const ct_space *space, const ct_pose *pose, int64_t s, int64_t s1,
                             int64_t f, int64_t f1)
{
    const double ds = pose->d[space->s], df = pose->d[space->f];
    const double us = pose->du[space->s], uf = pose->du[space->f];
    const double across = pose->ou[space->f] * ds - pose->ou[space->s] * df;
    const double size = k_abs(pose->ou[space->f] * ds) + k_abs(pose->ou[space->s] * df);
    const double ahead = across + ds * uf - df * us; /* its sign is that of depths in front */
    double low = k_infinity(), high = -k_infinity();
    int front = 0, behind = 0;
    for (int i = 0; i < 4; i++) {
        const double ps = (double)(i & 1 ? s1 : s) - pose->o[space->s];
        const double pf = (double)(i & 2 ? f1 : f) - pose->o[space->f];
        const double place = pf * ds - ps * df, depth = ps * uf - pf * us + across;
        const double places = k_abs(pf * ds) + k_abs(ps * df);
        const double depths = k_abs(ps * uf) + k_abs(pf * us) + size;
        const double sound = k_abs(depth) > 0x1p-30 * depths ? (ahead < 0.0 ? -depth : depth) : 0.0;
        front += sound > 0.0;
        behind += sound < 0.0;
        if (sound == 0.0) continue;
        const double u = place / depth;
        const double slack = 0.01 + 0x1p-40 * ((places + k_abs(u) * depths) / k_abs(depth));
        low = k_min(low, u - slack);
        high = k_max(high, u + slack);
    }
    if (front == 4)
        return ct_near_of(low + space->middle_u, high + space->middle_u, space->columns);
    ct_near near;
    near.begin = 0;
    near.end = behind == 4 ? 0 : space->columns;
    return near;
}

/* Where upright rows lie at t of an unturned ray: row r at w = at + r step. */
typedef struct ct_climb {
    double at, step, inverse; /* inverse: 0 where rows lie too close to tell them apart */
} ct_climb;

K_FN ct_climb ct_climb_of(const ct_space *space, const ct_pose *upright, double t)
{
    ct_climb c;
    c.step = k_fma(t, upright->dv[space->w], upright->ov[space->w]);
    c.at = k_fma(t, upright->d[space->w], upright->o[space->w]) - space->middle_v * c.step;
    c.inverse = c.step > 0x1p-20 ? 1.0 / c.step : 0.0;
    return c;
}

/* Rows whose plane may be one of [first, last]. In float32 a row may seem up to a quarter of a cell
 * from its place, in volumes of 2^20 cells. */
K_FN ct_near ct_rows_near(const ct_space *space, ct_climb climb, int64_t first, int64_t last)
{
    if (climb.inverse == 0.0) {
        const ct_near all = {0, space->rows};
        return all;
    }
    const double low = ((double)first - 0.75 - climb.at) * climb.inverse;
    const double high = ((double)last + 0.75 - climb.at) * climb.inverse;
    return ct_near_of(low, high, space->rows);
}

#endif
