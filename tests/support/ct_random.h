/* Random geometries whose detectors' rows run along an axis of the volume. */
#ifndef MOTET_TEST_CT_RANDOM_H
#define MOTET_TEST_CT_RANDOM_H

#include "support/ct_oracle.h"

enum {
    CT_RANDOM_PARALLEL,
    CT_RANDOM_FAN,
    CT_RANDOM_CONE,    /* circular */
    CT_RANDOM_HELICAL, /* source and detector move along the axis */
    CT_RANDOM_INSIDE,  /* the source, and sometimes the detector, within the volume */
    CT_RANDOM_STATIC,  /* the detector stands still */
    CT_RANDOM_KINDS
};

static inline int64_t ct_random_size(uint64_t *seed, int64_t least, int64_t most)
{
    return least + (int64_t)(test_random(seed) % (uint64_t)(most - least + 1));
}

/* One view around z. */
static inline motet_ct_view ct_random_view(uint64_t *seed, int kind, double size, double angle)
{
    const motet_ct_beam beam =
        kind == CT_RANDOM_PARALLEL ? MOTET_CT_BEAM_PARALLEL : MOTET_CT_BEAM_CONE;
    const double sid = size * test_uniform(seed, 1.2, 4.0);
    motet_ct_view w = ct_oracle_circular(beam, angle, sid, sid + size * test_uniform(seed, 0, 2));
    for (int i = 0; i < 2; i++) w.detector[i] += size * test_uniform(seed, -0.1, 0.1);
    switch (kind) {
    case CT_RANDOM_PARALLEL: w.source[2] = test_uniform(seed, -0.4, 0.4); break;
    case CT_RANDOM_HELICAL:
        w.source[2] = size * test_uniform(seed, -0.3, 0.3);
        w.detector[2] = w.source[2] + size * test_uniform(seed, -0.05, 0.05);
        break;
    case CT_RANDOM_INSIDE:
        for (int i = 0; i < 2; i++) w.source[i] *= 0.3 / 4.0;
        if (test_random(seed) % 2)
            for (int i = 0; i < 2; i++) w.detector[i] = -3.0 * w.source[i];
        break;
    default: break;
    }
    return w;
}

/* The axis w (0, 1, 2: x, y, z) takes the part of z. Sizes below 2^most; `view` has room for
 * `views`. */
static inline motet_ct_views ct_random_views(uint64_t *seed, int kind, int w, int64_t views,
                                             int64_t most, motet_ct_view *view)
{
    motet_ct_views g;
    motet_ct_views_init(&g);
    g.beam = kind == CT_RANDOM_PARALLEL ? MOTET_CT_BEAM_PARALLEL : MOTET_CT_BEAM_CONE;
    const int fan = kind == CT_RANDOM_FAN;
    int64_t n[3];
    for (int i = 0; i < 3; i++) {
        n[i] = ct_random_size(seed, 1, most);
        g.voxel[i] = 0.9 * exp(test_uniform(seed, log(0.7), log(1.4)));
        g.centre[i] = fan && i == w ? 0.0 : test_uniform(seed, -2.0, 2.0);
    }
    if (fan) n[w] = 1;
    g.nx = n[0], g.ny = n[1], g.nz = n[2];
    g.columns = ct_random_size(seed, 1, most + 9);
    g.rows = fan ? 1 : ct_random_size(seed, 1, most);
    const double size = 1.3 * (double)most;
    g.pitch_u = size / (double)g.columns * test_uniform(seed, 0.7, 1.6);
    g.pitch_v = fan ? 1.0 : 0.7 * size / (double)g.rows * test_uniform(seed, 0.4, 1.0);
    g.views = views;
    g.view = view;
    for (int64_t k = 0; k < views; k++) {
        const double quarter = 1.5707963267948966;
        const double angle = test_random(seed) % 4
                                 ? test_uniform(seed, -7.0, 7.0)
                                 : quarter / 2 * (double)(test_random(seed) % 8) + 1e-9;
        motet_ct_view v = ct_random_view(seed, kind, size, angle);
        if (kind == CT_RANDOM_STATIC && k) {
            memcpy(v.detector, view[0].detector, sizeof v.detector);
            memcpy(v.u, view[0].u, sizeof v.u);
            for (int i = 0; i < 3; i++) v.source[i] = view[0].source[i];
            v.source[0] += size * test_uniform(seed, -0.5, 0.5);
            v.source[1] += size * test_uniform(seed, -0.5, 0.5);
        }
        if (test_random(seed) % 2)
            for (int i = 0; i < 3; i++) v.u[i] = -v.u[i];
        if (test_random(seed) % 2)
            for (int i = 0; i < 3; i++) v.v[i] = -v.v[i];
        view[k] = v;
    }
    if (w != 2) /* turn the scene: w takes the place of z, cyclically */
        for (int64_t k = 0; k < views; k++) {
            const motet_ct_view v = view[k];
            for (int i = 0; i < 3; i++) {
                const int to = (i + w + 1) % 3;
                view[k].source[to] = v.source[i];
                view[k].detector[to] = v.detector[i];
                view[k].u[to] = v.u[i];
                view[k].v[to] = v.v[i];
            }
        }
    return g;
}

#endif
