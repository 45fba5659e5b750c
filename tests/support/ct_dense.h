/* Small systems as dense matrices in float64, and the two methods on them as the papers write them.
 * The matrix is what the projector makes of volumes that are 1 in one voxel. */
#ifndef MOTET_TEST_CT_DENSE_H
#define MOTET_TEST_CT_DENSE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rt/array.h"
#include "support/support.h"

typedef struct ct_dense {
    int64_t voxels, rays;
    double *a; /* [ray][voxel] */
} ct_dense;

static inline ct_dense ct_dense_make(motet_context *c, motet_ct_geometry *g,
                                     const int64_t volume_shape[3], const int64_t sinogram_shape[3])
{
    motet_array *volume, *sinogram;
    assert_ok(c, motet_array_create(c, MOTET_F32, 3, volume_shape, &volume));
    assert_ok(c, motet_array_create(c, MOTET_F32, 3, sinogram_shape, &sinogram));
    ct_dense d = {motet_array_elements(volume), motet_array_elements(sinogram), NULL};
    d.a = malloc(sizeof *d.a * (size_t)(d.voxels * d.rays));
    float *x = motet_array_data(volume), *y = motet_array_data(sinogram);
    for (int64_t j = 0; j < d.voxels; j++) {
        x[j] = 1.0f;
        assert_ok(c, motet_ct_project(g, volume, sinogram));
        for (int64_t i = 0; i < d.rays; i++) d.a[i * d.voxels + j] = (double)y[i];
        x[j] = 0.0f;
    }
    motet_array_free(volume);
    motet_array_free(sinogram);
    return d;
}

/* y = A x, x = A' y */
static inline void ct_dense_apply(const ct_dense *d, const double *x, double *y)
{
    for (int64_t i = 0; i < d->rays; i++) {
        y[i] = 0.0;
        for (int64_t j = 0; j < d->voxels; j++) y[i] += d->a[i * d->voxels + j] * x[j];
    }
}
static inline void ct_dense_transpose(const ct_dense *d, const double *y, double *x)
{
    for (int64_t j = 0; j < d->voxels; j++) x[j] = 0.0;
    for (int64_t i = 0; i < d->rays; i++)
        for (int64_t j = 0; j < d->voxels; j++) x[j] += d->a[i * d->voxels + j] * y[i];
}

static inline double ct_dense_dot(const double *a, const double *b, int64_t n)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static inline double *ct_dense_vector(int64_t n) { return calloc((size_t)n, sizeof(double)); }

/* residual[k] = |b - A x| after k iterations, k from 0. */
static inline void ct_dense_cgls(const ct_dense *d, const float *b, int64_t iterations, double *x,
                                 double *residual)
{
    double *r = ct_dense_vector(d->rays), *q = ct_dense_vector(d->rays);
    double *s = ct_dense_vector(d->voxels), *p = ct_dense_vector(d->voxels);
    ct_dense_apply(d, x, r);
    for (int64_t i = 0; i < d->rays; i++) r[i] = (double)b[i] - r[i];
    ct_dense_transpose(d, r, s);
    memcpy(p, s, sizeof *p * (size_t)d->voxels);
    double gamma = ct_dense_dot(s, s, d->voxels);
    residual[0] = sqrt(ct_dense_dot(r, r, d->rays));
    for (int64_t k = 1; k <= iterations; k++) {
        ct_dense_apply(d, p, q);
        const double alpha = gamma / ct_dense_dot(q, q, d->rays);
        for (int64_t j = 0; j < d->voxels; j++) x[j] += alpha * p[j];
        for (int64_t i = 0; i < d->rays; i++) r[i] -= alpha * q[i];
        ct_dense_transpose(d, r, s);
        const double next = ct_dense_dot(s, s, d->voxels);
        for (int64_t j = 0; j < d->voxels; j++) p[j] = s[j] + next / gamma * p[j];
        gamma = next;
        residual[k] = sqrt(ct_dense_dot(r, r, d->rays));
    }
    free(r);
    free(q);
    free(s);
    free(p);
}

static inline void ct_dense_sirt(const ct_dense *d, const float *b, int64_t iterations,
                                 double relaxation, double least, double greatest, double *x,
                                 double *residual)
{
    double *r = ct_dense_vector(d->rays), *rows = ct_dense_vector(d->rays);
    double *s = ct_dense_vector(d->voxels), *columns = ct_dense_vector(d->voxels);
    for (int64_t i = 0; i < d->rays; i++)
        for (int64_t j = 0; j < d->voxels; j++) {
            rows[i] += d->a[i * d->voxels + j];
            columns[j] += d->a[i * d->voxels + j];
        }
    for (int64_t k = 0;; k++) {
        ct_dense_apply(d, x, r);
        for (int64_t i = 0; i < d->rays; i++) r[i] = (double)b[i] - r[i];
        residual[k] = sqrt(ct_dense_dot(r, r, d->rays));
        if (k == iterations) break;
        for (int64_t i = 0; i < d->rays; i++) r[i] = rows[i] > 0.0 ? r[i] / rows[i] : 0.0;
        ct_dense_transpose(d, r, s);
        for (int64_t j = 0; j < d->voxels; j++) {
            x[j] += columns[j] > 0.0 ? relaxation * s[j] / columns[j] : 0.0;
            if (x[j] < least) x[j] = least;
            if (x[j] > greatest) x[j] = greatest;
        }
    }
    free(r);
    free(rows);
    free(s);
    free(columns);
}

#endif
