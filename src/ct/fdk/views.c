/* The entries of views.k.h.
 *
 * With S the source, D the detector's middle, n its normal and L the distance between them along n:
 * what voxel X shows on the detector is affine in X over its depth (X - S) . n. Measured from D, so
 * that a source however far costs no digits.
 *
 * The weight. In a plane, f = sum over rays of p h(distance of X from the ray) |ds d(angle)|, each
 * line once. While the source moves by dS, ray a of a flat detector sweeps |dS . m| dL/(L^2+a^2) da
 * of lines, m the unit vector across the ray; and with h(c x) = h(x) / c^2 the kernel becomes that
 * of the detector, times L^2 / depth^2 / cos^2. So rays are weighted by |dS . m| before the filter
 * and by L / depth^2 after, whatever the path and the detector's pose are. Planes that are tilted
 * (rows above and below) are treated as Feldkamp and others do: each as a fan of its own. For a
 * circle and a detector square to it this is their formula. Parallel rays: |dr . u| / (1 - (r .
 * u)^2) with r the direction and dr how it turns. */
#include "ct/fdk/fdk.h"

#include "ct/vector.h"
#include "kern/exact.h"

/* Unit vector of the plane at an angle. */
static void radial(const orbit *path, double angle, double out[3])
{
    double s, c;
    k_sincos(angle, &s, &c);
    for (int i = 0; i < 3; i++) out[i] = c * path->across[0][i] + s * path->across[1][i];
}

/* Adds the middles of the detector: columns and rows count from 0. */
static void count_from_corner(const motet_ct_views *g, ct_fdk_view *v)
{
    const double u = 0.5 * (double)(g->columns - 1), w = 0.5 * (double)(g->rows - 1);
    for (int i = 0; i < 4; i++) {
        v->u[i] = v->u[i] / g->pitch_u + u * v->depth[i];
        v->v[i] = v->v[i] / g->pitch_v + w * v->depth[i];
    }
    v->foot_u = v->foot_u / g->pitch_u + u;
    v->foot_v = v->foot_v / g->pitch_v + w;
}

static void cone_view(const motet_ct_views *g, const orbit *path, int64_t k, ct_fdk_view *out)
{
    const motet_ct_view *w = &g->view[k];
    const orbit_view *way = &path->view[k];
    double n[3], from[3], corner[3], middle[3], out_ward[3], on_ward[3], move[3];
    vector_cross(w->u, w->v, n);
    for (int i = 0; i < 3; i++) from[i] = w->source[i] - w->detector[i];
    double length = -vector_dot(from, n);
    if (length < 0.0) {
        for (int i = 0; i < 3; i++) n[i] = -n[i];
        length = -length;
    }
    const double size[] = {(double)g->nx, (double)g->ny, (double)g->nz};
    for (int i = 0; i < 3; i++) {
        middle[i] = g->centre[i] - w->detector[i];
        corner[i] = k_fma(-0.5 * (size[i] - 1.0), g->voxel[i], middle[i]);
    }
    const double unit = k_max(k_abs(vector_dot(middle, n) + length), g->voxel[0]);
    const double foot_u = vector_dot(from, w->u), foot_v = vector_dot(from, w->v);
    for (int i = 0; i < 4; i++) {
        double step[3] = {0.0, 0.0, 0.0};
        if (i) step[i - 1] = g->voxel[i - 1];
        const double *at = i ? step : corner;
        const double along = vector_dot(at, n);
        out->depth[i] = (along + (i ? 0.0 : length)) / unit;
        out->u[i] = k_fma(vector_dot(at, w->u), length, foot_u * along) / unit;
        out->v[i] = k_fma(vector_dot(at, w->v), length, foot_v * along) / unit;
    }
    out->foot_u = foot_u;
    out->foot_v = foot_v;
    out->slope_u = g->pitch_u / length;
    out->slope_v = g->pitch_v / length;
    radial(path, way->angle, out_ward);
    vector_cross(path->axis, out_ward, on_ward);
    for (int i = 0; i < 3; i++)
        move[i] = way->step * k_fma(way->radius, on_ward[i], way->drift * out_ward[i]);
    const double factor = length / unit / unit;
    out->move_u = vector_dot(move, w->u) * factor;
    out->move_n = vector_dot(move, n) * factor;
}

static void parallel_view(const motet_ct_views *g, const orbit *path, int64_t k, ct_fdk_view *out)
{
    const motet_ct_view *w = &g->view[k];
    double n[3], r[3], corner[3], turned[3];
    vector_cross(w->u, w->v, n);
    const double size = k_sqrt(vector_dot(w->source, w->source));
    for (int i = 0; i < 3; i++) r[i] = w->source[i] / size;
    const double count[] = {(double)g->nx, (double)g->ny, (double)g->nz};
    for (int i = 0; i < 3; i++)
        corner[i] = k_fma(-0.5 * (count[i] - 1.0), g->voxel[i], g->centre[i] - w->detector[i]);
    const double down = vector_dot(r, n), ru = vector_dot(r, w->u), rv = vector_dot(r, w->v);
    for (int i = 0; i < 4; i++) {
        double step[3] = {0.0, 0.0, 0.0};
        if (i) step[i - 1] = g->voxel[i - 1];
        const double *at = i ? step : corner;
        const double along = vector_dot(at, n) / down;
        out->depth[i] = i ? 0.0 : 1.0;
        out->u[i] = vector_dot(at, w->u) - along * ru;
        out->v[i] = vector_dot(at, w->v) - along * rv;
    }
    out->foot_u = out->foot_v = out->slope_u = out->slope_v = out->move_n = 0.0;
    vector_cross(path->axis, r, turned);
    out->move_u = path->view[k].step * vector_dot(turned, w->u) / (1.0 - ru * ru);
}

void fdk_views(const motet_ct_views *g, const orbit *path, ct_fdk_view *out)
{
    for (int64_t k = 0; k < g->views; k++) {
        if (g->beam == MOTET_CT_BEAM_CONE)
            cone_view(g, path, k, &out[k]);
        else
            parallel_view(g, path, k, &out[k]);
        count_from_corner(g, &out[k]);
    }
}
