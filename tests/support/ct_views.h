/* Scans around a circle as views in space, for tests. */
#ifndef MOTET_TEST_CT_VIEWS_H
#define MOTET_TEST_CT_VIEWS_H

#include "support/ct_scan.h"

/* The view at an angle of a source that turns about z: source at sid (sin, -cos, 0) of the angle,
 * detector sdd away from it, u = (cos, sin, 0), v = z. */
static inline motet_ct_view ct_circular_view(double angle, double sid, double sdd)
{
    const double c = cos(angle), s = sin(angle);
    return (motet_ct_view){.source = {sid * s, -sid * c, 0.0},
                           .detector = {(sid - sdd) * s, (sdd - sid) * c, 0.0},
                           .u = {c, s, 0.0},
                           .v = {0.0, 0.0, 1.0}};
}

/* Views k / views of a turn; `view` holds them. */
static inline motet_ct_views ct_circular(int64_t views, motet_ct_view *view, double sid, double sdd,
                                         int64_t columns, int64_t rows, double pitch, int64_t nx,
                                         int64_t ny, int64_t nz)
{
    for (int64_t k = 0; k < views; k++)
        view[k] = ct_circular_view(6.283185307179586 * (double)k / (double)views, sid, sdd);
    motet_ct_views g;
    motet_ct_views_init(&g);
    g.views = views;
    g.view = view;
    g.columns = columns;
    g.rows = rows;
    g.pitch_u = g.pitch_v = pitch;
    g.nx = nx;
    g.ny = ny;
    g.nz = nz;
    return g;
}

/* The same with parallel rays: cone's at an infinite distance, the detector through the middle. */
static inline void ct_make_parallel(motet_ct_views *g, motet_ct_view *view)
{
    g->beam = MOTET_CT_BEAM_PARALLEL;
    for (int64_t k = 0; k < g->views; k++)
        for (int i = 0; i < 3; i++) {
            view[k].source[i] = view[k].detector[i] - view[k].source[i];
            view[k].detector[i] = 0.0;
        }
}

#endif
