/* A small scan to be solved. */
#ifndef MOTET_TEST_CT_SOLVE_H
#define MOTET_TEST_CT_SOLVE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rt/array.h"
#include "support/support.h"

typedef struct ct_scan_case {
    motet_context *context;
    motet_ct_geometry *geometry;
    motet_array *truth, *sinogram, *volume;
    int64_t volume_shape[3], sinogram_shape[3];
} ct_scan_case;

static inline void ct_case_fill(motet_array *a, uint64_t seed, double low, double high)
{
    float *value = motet_array_data(a);
    for (int64_t i = 0; i < motet_array_elements(a); i++)
        value[i] = (float)test_uniform(&seed, low, high);
}

/* Data of a volume, exactly or with noise, or of none, for which nothing is computed. */
enum { CT_CASE_NOISY, CT_CASE_EXACT, CT_CASE_RANDOM };

/* Takes the geometry. */
static inline ct_scan_case ct_case_of(motet_context *c, motet_ct_geometry *g,
                                      const int64_t volume[3], const int64_t sinogram[3], int data)
{
    ct_scan_case s = {.context = c, .geometry = g};
    memcpy(s.volume_shape, volume, sizeof s.volume_shape);
    memcpy(s.sinogram_shape, sinogram, sizeof s.sinogram_shape);
    assert_ok(c, motet_array_create(c, MOTET_F32, 3, volume, &s.truth));
    assert_ok(c, motet_array_create(c, MOTET_F32, 3, volume, &s.volume));
    assert_ok(c, motet_array_create(c, MOTET_F32, 3, sinogram, &s.sinogram));
    ct_case_fill(s.truth, 5, 0, 1);
    if (data == CT_CASE_RANDOM)
        ct_case_fill(s.sinogram, 6, 0, 3);
    else
        assert_ok(c, motet_ct_project(g, s.truth, s.sinogram));
    uint64_t seed = 9;
    float *b = motet_array_data(s.sinogram);
    for (int64_t i = 0; data == CT_CASE_NOISY && i < motet_array_elements(s.sinogram); i++)
        b[i] += (float)test_uniform(&seed, -0.3, 0.3);
    return s;
}

/* Slices of n * n voxels. */
static inline ct_scan_case ct_case_slices(motet_context *c, int64_t views, int64_t n, int64_t rows,
                                          int data)
{
    motet_ct_geometry *g = NULL;
    double *angles = calloc((size_t)views, sizeof *angles);
    for (int64_t k = 0; k < views; k++) angles[k] = 0.1 + 3.14159265 * (double)k / (double)views;
    motet_ct_parallel p;
    motet_ct_parallel_init(&p);
    p.views = views, p.columns = n + 3, p.rows = rows, p.angles = angles, p.nx = p.ny = n;
    assert_ok(c, motet_ct_geometry_parallel(c, &p, &g));
    free(angles);
    return ct_case_of(c, g, (const int64_t[]){rows, n, n}, (const int64_t[]){views, n + 3, rows},
                      data);
}

/* A cone around a volume of nx * ny * nz voxels; a tilted detector is for rays of any pose. */
static inline ct_scan_case ct_case_cone(motet_context *c, int64_t views, int64_t nx, int64_t ny,
                                        int64_t nz, double tilt, int data)
{
    motet_ct_views v;
    motet_ct_views_init(&v);
    v.views = views, v.columns = nx + 4, v.rows = nz + 3;
    v.nx = nx, v.ny = ny, v.nz = nz;
    v.pitch_u = v.pitch_v = 1.3;
    motet_ct_view *view = calloc((size_t)views, sizeof *view);
    const double sid = 3.0 * (double)nx, sdd = 4.0 * (double)nx;
    for (int64_t k = 0; k < views; k++) {
        const double t = 0.1 + 6.28318531 * (double)k / (double)views;
        const double x = sin(t), y = -cos(t), a = cos(tilt), b = sin(tilt);
        const double u[] = {cos(t), sin(t), 0}, w[] = {0, 0, 1};
        view[k] = (motet_ct_view){.source = {sid * x, sid * y, 0.3},
                                  .detector = {(sid - sdd) * x, (sid - sdd) * y, 0}};
        for (int i = 0; i < 3; i++) {
            view[k].u[i] = a * u[i] + b * w[i];
            view[k].v[i] = a * w[i] - b * u[i];
        }
    }
    v.view = view;
    motet_ct_geometry *g = NULL;
    assert_ok(c, motet_ct_geometry_create(c, &v, &g));
    free(view);
    return ct_case_of(c, g, (const int64_t[]){nz, ny, nx},
                      (const int64_t[]){views, v.columns, v.rows}, data);
}

static inline void ct_case_free(ct_scan_case *s)
{
    motet_array_free(s->truth);
    motet_array_free(s->sinogram);
    motet_array_free(s->volume);
    motet_ct_geometry_free(s->geometry);
}

#endif
