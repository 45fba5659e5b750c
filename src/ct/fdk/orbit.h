/* The way of the source around the volume, as filtered back-projection sees it: directions around
 * an axis, the angle that each view stands for, and what of the turn is covered. Of parallel rays
 * the source is infinitely far against their direction. */
#ifndef MOTET_CT_FDK_ORBIT_H
#define MOTET_CT_FDK_ORBIT_H

#include <motet/ct_geometry.h>

typedef struct orbit_view {
    double angle;  /* of the source around the centre, [0, 2 pi) */
    double radius; /* its distance from the axis; parallel: 0 */
    double drift;  /* d radius / d angle */
    double step;   /* angle that the view stands for */
} orbit_view;

typedef struct orbit_arc {
    double first, length;
} orbit_arc;

typedef struct orbit {
    motet_context *context;
    double axis[3];      /* the mean of the views' v */
    double across[2][3]; /* and the plane at right angles to it */
    double centre[2];    /* of the circle, in the plane, from the volume's middle */
    double rise; /* along the axis, between the farthest two sources (parallel: detectors) */
    int64_t views;
    orbit_view *view;
    int64_t arcs; /* 0: the whole turn is covered */
    orbit_arc *arc;
    double covered;     /* in all */
    double median;      /* of the angles between neighbours */
    double widest;      /* of those angles */
    int64_t directions; /* that differ */
} orbit;

/* UNSUPPORTED: the views' v point anywhere, or their u run along the axis; NO_MEMORY. */
motet_status orbit_make(motet_context *context, const motet_ct_views *views, orbit *out);
/* The same around a given axis, which all views have in some way. NO_MEMORY. */
motet_status orbit_make_around(motet_context *context, const motet_ct_views *views,
                               const double axis[3], orbit *out);
/* The axis that orbit_make takes; 0: there is none. */
int orbit_axis(const motet_ct_views *views, double axis[3]);
void orbit_free(orbit *o);
/* Coordinates in the plane of a vector of space. */
void orbit_flat(const orbit *o, const double v[3], double out[2]);
/* 1 within what is covered, falling to 0 at its ends; 0 elsewhere. Smooth, as what is filtered
 * must be (F. Noo, M. Defrise, R. Clackdoyle, H. Kudo, Phys. Med. Biol. 47:2525, 2002). */
double orbit_cover(const orbit *o, double angle);

#endif
