/* Bodies made of ellipsoids, with their line integrals in closed form. */
#ifndef MOTET_CT_SOLID_H
#define MOTET_CT_SOLID_H

enum { SOLID_MOST = 12 };

typedef struct solid_ellipsoid {
    double value;   /* attenuation per unit length, added to what lies below */
    double half[3]; /* half axes */
    double centre[3];
    double cosine, sine; /* of the angle by which its axes are turned about z */
} solid_ellipsoid;

typedef struct solid {
    int ellipsoids;
    solid_ellipsoid ellipsoid[SOLID_MOST];
} solid;

/* The Shepp-Logan head in three dimensions with the contrast of Toft, in the box of half width
 * `radius` around `centre`; `value` is the attenuation of bone. */
solid solid_head(const double centre[3], double radius, double value);
double solid_point(const solid *s, const double at[3]);
/* Integral along from + t along, first <= t <= last, in length units. */
double solid_line(const solid *s, const double from[3], const double along[3], double first,
                  double last);

#endif
