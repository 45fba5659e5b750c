/* What filtering and back-projection need to know of a view (views.c makes it). */
#ifndef MOTET_CT_FDK_VIEW_K_H
#define MOTET_CT_FDK_VIEW_K_H

#include "kern/convert.h"

typedef struct ct_fdk_view {
    /* Of voxel (x, y, z): base, then along x, y, z. It falls on column u / depth and row v / depth;
     * depth is its distance from the source along the detector's normal, in units of some fixed
     * distance; 1 where rays are parallel. */
    double u[4], v[4], depth[4];
    /* Of ray (column, row): tangents of its angles against the detector's normal are
     * a = (column - foot_u) * slope_u and b = (row - foot_v) * slope_v. */
    double foot_u, foot_v, slope_u, slope_v;
    double move_u, move_n; /* the way of the source that the view stands for, scaled */
} ct_fdk_view;

K_FN double ct_fdk_affine(const double c[4], double x, double y)
{
    return k_fma(x, c[1], k_fma(y, c[2], c[0]));
}

/* Weight of a ray before filtering: how far the view moves it across itself, within the plane that
 * it spans with u (weights.c). For a circle: the cosine of its angle. */
K_FN float ct_fdk_ray_weight(const ct_fdk_view *view, double column, double row)
{
    const double a = (column - view->foot_u) * view->slope_u;
    const double b = (row - view->foot_v) * view->slope_v;
    const double q = k_fma(b, b, 1.0), r = k_fma(a, a, q);
    return (float)(k_abs(k_fma(q, view->move_u, -(a * view->move_n))) / (q * k_sqrt(r)));
}

#endif
