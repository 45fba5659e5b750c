/* Random geometries of every kind, and the pair run on them through the library. */
#ifndef MOTET_TEST_CT_KINDS_H
#define MOTET_TEST_CT_KINDS_H

#include "ct/beam/beam.h"
#include "support/ct_oracle.h"

/* X(name, text) */
#define CT_KINDS(X)                                                                                \
    X(PARALLEL, "parallel") /* a circle, the detector's v along z */                               \
    X(FAN, "fan")           /* one row, one slice */                                               \
    X(CONE, "cone")                                                                                \
    X(HELICAL, "helical")                                                                          \
    X(STATIC, "static detector") /* and a source that moves */                                     \
    X(INSIDE, "source in the volume")                                                              \
    X(TILTED, "tilted")    /* a circle around any axis */                                          \
    X(RANDOM, "random")    /* source and detector anywhere around */                               \
    X(OBLIQUE, "oblique")  /* parallel, in any direction */                                        \
    X(OFF, "off the axis") /* rays that miss for the most part, ends in or near the volume */

typedef enum ct_kind {
#define CT_KIND_ENUM(name, text) CT_KIND_##name,
    CT_KINDS(CT_KIND_ENUM)
#undef CT_KIND_ENUM
        CT_KIND_COUNT
} ct_kind;

static inline const char *ct_kind_text(ct_kind kind)
{
    static const char *const text[] = {
#define CT_KIND_TEXT(name, words) words,
        CT_KINDS(CT_KIND_TEXT)
#undef CT_KIND_TEXT
    };
    return text[kind];
}

enum { CT_KINDS_MOST = 4 };

typedef struct ct_kinds_case {
    motet_ct_views g;
    motet_ct_view view[CT_KINDS_MOST];
} ct_kinds_case;

static inline int64_t ct_kinds_count(uint64_t *seed, int64_t most)
{
    return 1 + (int64_t)(test_random(seed) % (uint64_t)most);
}

static inline void ct_kinds_unit(uint64_t *seed, double out[3])
{
    double size;
    do {
        size = 0.0;
        for (int i = 0; i < 3; i++) {
            out[i] = test_uniform(seed, -1, 1);
            size += out[i] * out[i];
        }
    } while (size > 1.0 || size < 0.01);
    for (int i = 0; i < 3; i++) out[i] /= sqrt(size);
}

/* A unit vector u at right angles to the unit vector a, and v = a x u. */
static inline void ct_kinds_axes(uint64_t *seed, const double a[3], double u[3], double v[3])
{
    double shared, size = 0.0;
    do {
        ct_kinds_unit(seed, u);
        shared = a[0] * u[0] + a[1] * u[1] + a[2] * u[2];
    } while (fabs(shared) > 0.9);
    for (int i = 0; i < 3; i++) {
        u[i] -= shared * a[i];
        size += u[i] * u[i];
    }
    for (int i = 0; i < 3; i++) u[i] /= sqrt(size);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        v[i] = a[j] * u[k] - a[k] * u[j];
    }
}

/* A rotation matrix. */
static inline void ct_kinds_turn(uint64_t *seed, double m[3][3])
{
    ct_kinds_unit(seed, m[0]);
    ct_kinds_axes(seed, m[0], m[1], m[2]);
}

static inline void ct_kinds_apply(double m[3][3], double a[3])
{
    double b[3];
    for (int i = 0; i < 3; i++) b[i] = m[i][0] * a[0] + m[i][1] * a[1] + m[i][2] * a[2];
    memcpy(a, b, sizeof b);
}

static inline motet_ct_view ct_kinds_anywhere(uint64_t *seed, ct_kind kind, double reach)
{
    motet_ct_view w;
    double along[3], a[3];
    ct_kinds_unit(seed, along);
    memcpy(a, along, sizeof a);
    const double tilt = test_uniform(seed, 0, 0.5); /* of the detector against the beam */
    double other[3];
    ct_kinds_unit(seed, other);
    double size = 0.0;
    for (int i = 0; i < 3; i++) {
        a[i] += tilt * other[i];
        size += a[i] * a[i];
    }
    for (int i = 0; i < 3; i++) a[i] /= sqrt(size);
    ct_kinds_axes(seed, a, w.u, w.v);
    const int near = kind == CT_KIND_OFF || kind == CT_KIND_INSIDE;
    const double before = near ? test_uniform(seed, 0.05, 1.2) : test_uniform(seed, 1.5, 4.0);
    const double after = near ? test_uniform(seed, 0.05, 1.2) : test_uniform(seed, 0.7, 3.0);
    for (int i = 0; i < 3; i++) {
        const double off = kind == CT_KIND_OFF ? reach * test_uniform(seed, -0.8, 0.8) : 0.0;
        w.source[i] = kind == CT_KIND_OBLIQUE ? 3.0 * along[i] : off - before * reach * along[i];
        w.detector[i] = off + after * reach * along[i];
    }
    return w;
}

/* Up to `most` voxels along an axis. The pointer to the views is set by ct_kinds_create, and again
 * when the case moves. */
static inline ct_kinds_case ct_kinds_random(uint64_t *seed, ct_kind kind, int64_t most)
{
    ct_kinds_case c;
    motet_ct_views *g = &c.g;
    motet_ct_views_init(g);
    const int parallel = kind == CT_KIND_PARALLEL || kind == CT_KIND_OBLIQUE;
    g->beam = parallel ? MOTET_CT_BEAM_PARALLEL : MOTET_CT_BEAM_CONE;
    g->views = ct_kinds_count(seed, CT_KINDS_MOST);
    g->columns = ct_kinds_count(seed, most * 3 / 2);
    g->rows = kind == CT_KIND_FAN ? 1 : ct_kinds_count(seed, most * 3 / 2);
    g->nx = ct_kinds_count(seed, most);
    g->ny = ct_kinds_count(seed, most);
    g->nz = kind == CT_KIND_FAN ? 1 : ct_kinds_count(seed, most);
    double reach = 0.0;
    for (int i = 0; i < 3; i++) {
        g->voxel[i] = exp(test_uniform(seed, -0.7, 0.7));
        g->centre[i] = kind == CT_KIND_FAN && i == 2 ? 0.0 : test_uniform(seed, -2, 2);
        const double n = (double)(i == 0 ? g->nx : i == 1 ? g->ny : g->nz);
        reach = fmax(reach, 0.5 * n * g->voxel[i]);
    }
    g->pitch_u = 3.0 * reach / (double)g->columns * exp(test_uniform(seed, -0.5, 0.7));
    g->pitch_v = 3.0 * reach / (double)g->rows * exp(test_uniform(seed, -0.5, 0.7));
    double turn[3][3];
    ct_kinds_turn(seed, turn);
    const double lift = kind == CT_KIND_FAN ? 0.0 : test_uniform(seed, -0.5, 0.5); /* off faces */
    const double start = test_uniform(seed, 0, 6.28), sid = reach * test_uniform(seed, 2.5, 5);
    const double sdd = sid + reach * test_uniform(seed, 1.5, 4);
    for (int64_t k = 0; k < g->views; k++) {
        const double angle = start + 1.1 * (double)k;
        motet_ct_view *w = &c.view[k];
        *w = ct_oracle_circular(g->beam, kind == CT_KIND_STATIC ? start : angle, sid, sdd);
        if (kind >= CT_KIND_RANDOM || kind == CT_KIND_INSIDE)
            *w = ct_kinds_anywhere(seed, kind, reach);
        if (kind == CT_KIND_STATIC)
            for (int i = 0; i < 3; i++) w->source[i] += 0.3 * sid * test_uniform(seed, -1, 1);
        if (kind == CT_KIND_TILTED) {
            ct_kinds_apply(turn, w->source);
            ct_kinds_apply(turn, w->detector);
            ct_kinds_apply(turn, w->u);
            ct_kinds_apply(turn, w->v);
        }
        for (int i = 0; i < 3; i++) {
            const double climb = kind == CT_KIND_HELICAL ? 0.3 * reach * (double)k : 0.0;
            const double rise = i == 2 ? climb + lift : 0.0;
            if (!parallel) w->source[i] += g->centre[i] + rise;
            w->detector[i] += g->centre[i] + rise;
        }
    }
    return c;
}

static inline motet_ct_geometry *ct_kinds_create(motet_context *context, ct_kinds_case *c)
{
    motet_ct_geometry *g = NULL;
    c->g.view = c->view;
    assert_ok(context, motet_ct_geometry_create(context, &c->g, &g));
    return g;
}

/* Arrays of the geometry's sizes, filled from `values` unless that is NULL. */
static inline motet_array *ct_kinds_array(motet_context *context, const motet_ct_views *g,
                                          int sinogram, const float *values)
{
    const int64_t shape[2][3] = {{g->nz, g->ny, g->nx}, {g->views, g->columns, g->rows}};
    motet_array *array = NULL;
    assert_ok(context, motet_array_create(context, MOTET_F32, 3, shape[sinogram], &array));
    if (values)
        memcpy(motet_array_data(array), values,
               sizeof(float) * (sinogram ? ct_oracle_rays(g) : ct_oracle_voxels(g)));
    return array;
}

static inline void ct_kinds_project(motet_context *context, motet_ct_geometry *g,
                                    const motet_ct_views *sizes, const float *volume, float *out)
{
    motet_array *x = ct_kinds_array(context, sizes, 0, volume);
    motet_array *y = ct_kinds_array(context, sizes, 1, NULL);
    assert_ok(context, motet_ct_project(g, x, y));
    memcpy(out, motet_array_data(y), sizeof(float) * ct_oracle_rays(sizes));
    motet_array_free(x);
    motet_array_free(y);
}

static inline void ct_kinds_backproject(motet_context *context, motet_ct_geometry *g,
                                        const motet_ct_views *sizes, const float *sinogram,
                                        float *out)
{
    motet_array *y = ct_kinds_array(context, sizes, 1, sinogram);
    motet_array *x = ct_kinds_array(context, sizes, 0, NULL);
    assert_ok(context, motet_ct_backproject(g, y, x));
    memcpy(out, motet_array_data(x), sizeof(float) * ct_oracle_voxels(sizes));
    motet_array_free(x);
    motet_array_free(y);
}

#endif
