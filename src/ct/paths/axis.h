/* The axis that views turn about, and the place where their central rays meet. */
#ifndef MOTET_CT_PATHS_AXIS_H
#define MOTET_CT_PATHS_AXIS_H

#include <motet/ct_geometry.h>

static inline double paths_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* u x v of a view: a unit vector. */
void paths_normal(const motet_ct_view *view, double normal[3]);
/* From source to detector along the normal (cone), or along the rays: a unit vector. */
void paths_ahead(motet_ct_beam beam, const motet_ct_view *view, double ahead[3]);
/* Pixels of a place from the detector's middle; 0: it is not seen (at or behind the source). */
int paths_project(const motet_ct_views *views, const motet_ct_view *view, const double at[3],
                  double *u, double *v);

/* The unit vector that the directions ahead make equal angles with, towards v. 0: they lie on no
 * circle; then it is the mean of v. Where it is ambiguous (a direction and its opposite), the mean
 * of v, too, at right angles to them. */
int paths_axis(const motet_ct_views *views, double axis[3]);
/* Least squares; where views leave a direction open, nearest to the volume's middle. */
void paths_isocentre(const motet_ct_views *views, double at[3], double *spread);

#endif
