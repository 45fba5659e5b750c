/* The parallel-beam kernels called directly, and a float64 Siddon walker written without them. */
#ifndef MOTET_TEST_CT_PAIR_H
#define MOTET_TEST_CT_PAIR_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ct/backproject_fast.h"
#include "ct/geometry.h"
#include "ct/project_fast.h"
#include "kern/kernel.h"
#include "support/support.h"

typedef struct ct_pair {
    ct_grid grid;
    int64_t views, rows;
    double pitch, voxel;
    double *cosine, *sine;
    ct_view *table;
} ct_pair;

static inline ct_pair ct_pair_make(int64_t views, const double *angles, int64_t columns,
                                   int64_t rows, double pitch, double centre, int64_t nx,
                                   int64_t ny, double voxel)
{
    ct_pair p = {.grid = {nx, ny, columns, 0.5 * (double)(nx - 1), 0.5 * (double)(ny - 1), centre},
                 .views = views,
                 .rows = rows,
                 .pitch = pitch,
                 .voxel = voxel};
    p.cosine = malloc(sizeof(double) * (size_t)views);
    p.sine = malloc(sizeof(double) * (size_t)views);
    p.table = malloc(sizeof(ct_view) * (size_t)views);
    for (int64_t k = 0; k < views; k++) {
        const double c = cos(angles[k]), s = sin(angles[k]);
        p.cosine[k] = fabs(c) < 1e-12 ? 0.0 : fabs(s) < 1e-12 ? copysign(1.0, c) : c;
        p.sine[k] = fabs(s) < 1e-12 ? 0.0 : fabs(c) < 1e-12 ? copysign(1.0, s) : s;
        p.table[k] = ct_view_of(p.cosine[k], p.sine[k], pitch, voxel);
    }
    return p;
}

static inline void ct_pair_free(ct_pair *p)
{
    free(p->cosine);
    free(p->sine);
    free(p->table);
}

static inline size_t ct_pair_volume(const ct_pair *p)
{
    return (size_t)(p->rows * p->grid.ny * p->grid.nx);
}
static inline size_t ct_pair_sinogram(const ct_pair *p)
{
    return (size_t)(p->views * p->grid.columns * p->rows);
}

static inline int ct_pair_taps(const ct_pair *p)
{
    int taps = 0;
    for (int64_t k = 0; k < p->views; k++) taps = p->table[k].taps > taps ? p->table[k].taps : taps;
    return taps;
}

enum { CT_PAIR_PLAIN, CT_PAIR_FAST };

/* NULL stays NULL: of the two arrays that a direction does not use. */
#define CT_PAIR_AT(values, offset) ((values) ? (values) + (offset) : NULL)

/* Ranges of so many items (0: one range), over row chunks of so many rows (0: one chunk). */
static inline void ct_pair_run(const ct_pair *p, int backward, int isa, int fast, int64_t range,
                               int64_t chunk, const float *volume_in, float *volume_out,
                               const float *sinogram_in, float *sinogram_out)
{
    const int taps = ct_pair_taps(p);
    const int64_t slice = p->grid.nx * p->grid.ny;
    const int64_t window = ct_window_columns(p->voxel / p->pitch, taps);
    const size_t scratch_bytes =
        backward ? ct_backproject_scratch(window) : ct_project_scratch(p->grid.nx);
    void *scratch = aligned_alloc(64, (scratch_bytes + 63) / 64 * 64);
    memset(scratch, 0xff, scratch_bytes); /* NaN: nothing may count on its contents */
    if (!chunk) chunk = p->rows;
    for (int64_t row = 0; row < p->rows; row += chunk) {
        const int64_t rows = row + chunk < p->rows ? chunk : p->rows - row;
        const int64_t columns = p->grid.columns;
        const ct_backproject_args back = {p->grid,
                                          p->table,
                                          p->views,
                                          CT_PAIR_AT(sinogram_in, row),
                                          columns * p->rows,
                                          p->rows,
                                          CT_PAIR_AT(volume_out, row * slice),
                                          slice,
                                          p->grid.nx,
                                          rows,
                                          0,
                                          p->grid.ny,
                                          window};
        const ct_project_args forth = {p->grid,
                                       p->table,
                                       p->views,
                                       CT_PAIR_AT(volume_in, row * slice),
                                       slice,
                                       p->grid.nx,
                                       CT_PAIR_AT(sinogram_out, row),
                                       columns * p->rows,
                                       p->rows,
                                       rows,
                                       taps > CT_FAST_TAPS ? 0 : taps};
        const k_kernel *kernel = backward ? &K_ct_backproject : &K_ct_project;
        const int64_t items = backward ? ct_backproject_items(&back) : ct_project_items(&forth);
        const int64_t step = range ? range : items;
        for (int64_t begin = 0; begin < items; begin += step)
            (fast ? kernel->fast : kernel->plain)[isa](
                backward ? (const void *)&back : (const void *)&forth, begin,
                begin + step < items ? begin + step : items, scratch);
    }
    free(scratch);
}

static inline void ct_pair_project(const ct_pair *p, int isa, int fast, int64_t range,
                                   int64_t chunk, const float *volume, float *sinogram)
{
    ct_pair_run(p, 0, isa, fast, range, chunk, volume, NULL, NULL, sinogram);
}
static inline void ct_pair_backproject(const ct_pair *p, int isa, int fast, int64_t range,
                                       int64_t chunk, const float *sinogram, float *volume)
{
    ct_pair_run(p, 1, isa, fast, range, chunk, NULL, volume, sinogram, NULL);
}

static inline int ct_pair_can(int isa)
{
#if defined(__x86_64__)
    if (isa == K_V3) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (isa == K_V4)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#endif
    return isa == K_BASE;
}

/* The best instruction set there is, so that long tests are quick. */
static inline int ct_pair_best(void)
{
    int best = K_BASE;
    for (int isa = K_BASE; isa < K_ISAS; isa++)
        if (ct_pair_can(isa)) best = isa;
    return best;
}

static inline void ct_pair_fill(float *values, size_t count, uint64_t *seed)
{
    for (size_t i = 0; i < count; i++) values[i] = (float)test_uniform(seed, -0.2, 1.0);
}

typedef void ct_walk_fn(int64_t x, int64_t y, double chord, void *user);

static int ct_walk_ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Siddon as he wrote it: all crossings with planes, sorted; between two neighbours the ray is in
 * one voxel. In length units. Rays in a face are not for it. */
static inline void ct_walk(const ct_pair *p, int64_t view, int64_t u, ct_walk_fn *each, void *user)
{
    const ct_grid *g = &p->grid;
    const double c = p->cosine[view], s = p->sine[view];
    const double d = ((double)u - g->centre) * p->pitch, h = p->voxel;
    double *t = malloc(sizeof(double) * (size_t)(g->nx + g->ny + 2));
    size_t n = 0;
    if (s != 0.0)
        for (int64_t i = 0; i <= g->nx; i++)
            t[n++] = (d * c - ((double)i - 0.5 * (double)g->nx) * h) / s;
    if (c != 0.0)
        for (int64_t j = 0; j <= g->ny; j++)
            t[n++] = (((double)j - 0.5 * (double)g->ny) * h - d * s) / c;
    qsort(t, n, sizeof *t, ct_walk_ascending);
    for (size_t k = 0; k + 1 < n; k++) {
        const double middle = 0.5 * (t[k] + t[k + 1]);
        const double x = floor((d * c - middle * s) / h + 0.5 * (double)g->nx);
        const double y = floor((d * s + middle * c) / h + 0.5 * (double)g->ny);
        if (x >= 0 && x < (double)g->nx && y >= 0 && y < (double)g->ny && t[k + 1] > t[k])
            each((int64_t)x, (int64_t)y, t[k + 1] - t[k], user);
    }
    free(t);
}

#endif
