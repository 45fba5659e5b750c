/* The Shepp-Logan head as ten ellipses, with its line integrals in closed form. */
#ifndef MOTET_CT_PHANTOM_H
#define MOTET_CT_PHANTOM_H

#include <stdint.h>

enum { PHANTOM_ELLIPSES = 10 };

typedef struct phantom_ellipse {
    double value;        /* attenuation per unit length, added to what lies below */
    double a, b;         /* half axes */
    double x, y;         /* centre */
    double cosine, sine; /* of the angle of the axis a against x */
} phantom_ellipse;

typedef struct phantom {
    phantom_ellipse ellipse[PHANTOM_ELLIPSES];
} phantom;

/* The head whose skull is 0.92 * radius tall. `scale` shrinks the inside of a slice, `value` is the
 * attenuation of bone. */
phantom phantom_head(double radius, double scale, double value);
/* Line integral along the ray at distance s from the origin, measured along (cosine, sine). */
double phantom_line(const phantom *p, double s, double cosine, double sine);
double phantom_point(const phantom *p, double x, double y);

#endif
