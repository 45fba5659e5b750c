/* Siddon in three dimensions, written without the library: any geometry of views, float64 weights.
 * Rays that run in a face between voxels are not for it. */
#ifndef MOTET_TEST_CT_ORACLE_H
#define MOTET_TEST_CT_ORACLE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <motet/ct_geometry.h>

#include "support/support.h"

/* A ray: from + t along, first <= t <= last, in voxels: cell i of an axis is [i, i + 1]. */
typedef struct ct_oracle_line {
    long double from[3], along[3], first, last;
    long double voxel[3];
    int64_t n[3];
} ct_oracle_line;

/* Counted from the end that is nearer to the volume's middle. */
static inline ct_oracle_line ct_oracle_line_of(const motet_ct_views *g, int64_t view, int64_t u,
                                               int64_t v)
{
    const motet_ct_view *w = &g->view[view];
    const long double a = ((long double)u - 0.5L * (long double)(g->columns - 1)) * g->pitch_u;
    const long double b = ((long double)v - 0.5L * (long double)(g->rows - 1)) * g->pitch_v;
    ct_oracle_line line = {.n = {g->nx, g->ny, g->nz}, .first = 0.0L, .last = 1.0L};
    long double pixel[3], source[3], to_pixel = 0.0L, to_source = 0.0L;
    for (int i = 0; i < 3; i++) {
        const long double middle = 0.5L * (long double)line.n[i];
        line.voxel[i] = g->voxel[i];
        pixel[i] = (w->detector[i] + a * w->u[i] + b * w->v[i] - g->centre[i]) / g->voxel[i];
        source[i] = ((long double)w->source[i] - g->centre[i]) / g->voxel[i];
        to_pixel += pixel[i] * pixel[i];
        to_source += source[i] * source[i];
        line.from[i] = pixel[i] + middle;
        line.along[i] = (long double)w->source[i] / g->voxel[i];
        if (g->beam == MOTET_CT_BEAM_CONE) line.along[i] = source[i] - pixel[i];
    }
    if (g->beam == MOTET_CT_BEAM_PARALLEL) {
        line.first = -HUGE_VALL;
        line.last = HUGE_VALL;
    } else if (to_source < to_pixel) {
        for (int i = 0; i < 3; i++) {
            line.from[i] = source[i] + 0.5L * (long double)line.n[i];
            line.along[i] = -line.along[i];
        }
    }
    return line;
}

typedef void ct_oracle_fn(int64_t x, int64_t y, int64_t z, double length, void *user);

static inline int ct_oracle_ascending(const void *a, const void *b)
{
    const long double x = *(const long double *)a, y = *(const long double *)b;
    return (x > y) - (x < y);
}

/* All crossings with planes, sorted; between two neighbours the ray is in one voxel. Lengths are
 * in the world's unit; voxels come in order along the ray, one way or the other. */
static inline void ct_oracle_walk(const motet_ct_views *g, int64_t view, int64_t u, int64_t v,
                                  ct_oracle_fn *each, void *user)
{
    const ct_oracle_line l = ct_oracle_line_of(g, view, u, v);
    long double *t = malloc(sizeof *t * (size_t)(l.n[0] + l.n[1] + l.n[2] + 5)), unit = 0.0L;
    size_t count = 0;
    assert_non_null(t);
    for (int i = 0; i < 3; i++) {
        unit += l.along[i] * l.voxel[i] * l.along[i] * l.voxel[i];
        for (int64_t k = 0; l.along[i] != 0.0L && k <= l.n[i]; k++) {
            const long double at = ((long double)k - l.from[i]) / l.along[i];
            if (at > l.first && at < l.last) t[count++] = at;
        }
    }
    if (g->beam == MOTET_CT_BEAM_CONE) {
        t[count++] = l.first;
        t[count++] = l.last;
    }
    qsort(t, count, sizeof *t, ct_oracle_ascending);
    for (size_t k = 0; k + 1 < count; k++) {
        const long double middle = 0.5L * (t[k] + t[k + 1]);
        int64_t cell[3];
        int inside = t[k + 1] > t[k];
        for (int i = 0; i < 3; i++) {
            const long double at = floorl(l.from[i] + middle * l.along[i]);
            inside = inside && at >= 0.0L && at < (long double)l.n[i];
            cell[i] = inside ? (int64_t)at : 0;
        }
        if (inside)
            each(cell[0], cell[1], cell[2], (double)((t[k + 1] - t[k]) * sqrtl(unit)), user);
    }
    free(t);
}

typedef struct ct_oracle_sum {
    const motet_ct_views *g;
    const float *volume; /* (z, y, x); NULL: ones */
    double sum;
} ct_oracle_sum;

static inline void ct_oracle_add(int64_t x, int64_t y, int64_t z, double length, void *user)
{
    ct_oracle_sum *s = user;
    s->sum += length * (s->volume ? (double)s->volume[(z * s->g->ny + y) * s->g->nx + x] : 1.0);
}

/* The projection of one ray; of ones, its length within the volume. */
static inline double ct_oracle_ray(const motet_ct_views *g, int64_t view, int64_t u, int64_t v,
                                   const float *volume)
{
    ct_oracle_sum s = {g, volume, 0.0};
    ct_oracle_walk(g, view, u, v, ct_oracle_add, &s);
    return s.sum;
}

typedef struct ct_oracle_spread {
    const motet_ct_views *g;
    double *volume, value;
} ct_oracle_spread;

static inline void ct_oracle_put(int64_t x, int64_t y, int64_t z, double length, void *user)
{
    ct_oracle_spread *s = user;
    s->volume[(z * s->g->ny + y) * s->g->nx + x] += length * s->value;
}

/* Whole operators. The sinogram is (view, u, v); the volume is added to. */
static inline void ct_oracle_project(const motet_ct_views *g, const float *volume, double *sinogram)
{
    for (int64_t k = 0; k < g->views; k++)
        for (int64_t u = 0; u < g->columns; u++)
            for (int64_t v = 0; v < g->rows; v++) *sinogram++ = ct_oracle_ray(g, k, u, v, volume);
}
static inline void ct_oracle_backproject(const motet_ct_views *g, const float *sinogram,
                                         double *volume)
{
    for (int64_t k = 0; k < g->views; k++)
        for (int64_t u = 0; u < g->columns; u++)
            for (int64_t v = 0; v < g->rows; v++) {
                ct_oracle_spread s = {g, volume, (double)*sinogram++};
                ct_oracle_walk(g, k, u, v, ct_oracle_put, &s);
            }
}

/* A view of a circle around z through the angle, in the world's unit: source at distance `sid`
 * from the axis, detector at `sdd` from the source (parallel: rays along that line). */
static inline motet_ct_view ct_oracle_circular(motet_ct_beam beam, double angle, double sid,
                                               double sdd)
{
    const double c = cos(angle), s = sin(angle), idd = sdd - sid;
    motet_ct_view w = {.source = {-sid * s, sid * c, 0.0},
                       .detector = {idd * s, -idd * c, 0.0},
                       .u = {c, s, 0.0},
                       .v = {0.0, 0.0, 1.0}};
    if (beam == MOTET_CT_BEAM_PARALLEL) {
        w.source[0] = s;
        w.source[1] = -c;
    }
    return w;
}

static inline size_t ct_oracle_voxels(const motet_ct_views *g)
{
    return (size_t)(g->nx * g->ny * g->nz);
}
static inline size_t ct_oracle_rays(const motet_ct_views *g)
{
    return (size_t)(g->views * g->columns * g->rows);
}
static inline void ct_oracle_fill(float *values, size_t count, uint64_t *seed)
{
    for (size_t i = 0; i < count; i++) values[i] = (float)test_uniform(seed, -0.2, 1.0);
}

#endif
