/* Least squares over views: small symmetric systems by Jacobi's rotations, in which directions that
 * nothing decides are left alone. */
#include "ct/paths/axis.h"

#include <string.h>

#include "kern/exact.h"

enum { MOST = 5 };
static const double flat = 0.05;    /* spread of a circle's directions off its plane */
static const double decided = 1e-9; /* of the greatest eigenvalue */
static const double shift_unit =
    100.0; /* the shortest solution rather shifts detectors than the place */

void paths_normal(const motet_ct_view *w, double n[3])
{
    for (int i = 0; i < 3; i++)
        n[i] = w->u[(i + 1) % 3] * w->v[(i + 2) % 3] - w->u[(i + 2) % 3] * w->v[(i + 1) % 3];
}

void paths_ahead(motet_ct_beam beam, const motet_ct_view *w, double ahead[3])
{
    if (beam == MOTET_CT_BEAM_PARALLEL) {
        const double length = k_sqrt(paths_dot(w->source, w->source));
        for (int i = 0; i < 3; i++) ahead[i] = w->source[i] / length;
        return;
    }
    double to[3];
    paths_normal(w, ahead);
    for (int i = 0; i < 3; i++) to[i] = w->detector[i] - w->source[i];
    if (paths_dot(to, ahead) < 0.0)
        for (int i = 0; i < 3; i++) ahead[i] = -ahead[i];
}

int paths_project(const motet_ct_views *g, const motet_ct_view *w, const double at[3], double *u,
                  double *v)
{
    double n[3], from[3], to[3], on[3];
    const int cone = g->beam == MOTET_CT_BEAM_CONE;
    paths_normal(w, n);
    for (int i = 0; i < 3; i++) {
        from[i] = cone ? at[i] - w->source[i] : w->source[i];
        to[i] = w->detector[i] - (cone ? w->source[i] : at[i]);
    }
    const double depth = paths_dot(from, n), t = paths_dot(to, n) / depth;
    if (!(depth != 0.0) || (cone && !(t > 0.0))) return 0;
    for (int i = 0; i < 3; i++)
        on[i] = (cone ? w->source[i] : at[i]) + t * from[i] - w->detector[i];
    *u = paths_dot(on, w->u) / g->pitch_u;
    *v = paths_dot(on, w->v) / g->pitch_v;
    return 1;
}

/* a becomes diagonal, the columns of e its eigenvectors (C. G. J. Jacobi, 1846). */
static void eigen(int n, double a[MOST][MOST], double e[MOST][MOST])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) e[i][j] = i == j;
    for (int sweep = 0; sweep < 60; sweep++)
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                if (k_abs(a[p][q]) <= 1e-17 * (k_abs(a[p][p]) + k_abs(a[q][q]))) continue;
                const double theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                const double t =
                    (theta < 0.0 ? -1.0 : 1.0) / (k_abs(theta) + k_sqrt(theta * theta + 1.0));
                const double c = 1.0 / k_sqrt(t * t + 1.0), s = t * c;
                for (int i = 0; i < n; i++) {
                    const double x = a[i][p], y = a[i][q];
                    a[i][p] = c * x - s * y;
                    a[i][q] = s * x + c * y;
                }
                for (int i = 0; i < n; i++) {
                    const double x = a[p][i], y = a[q][i];
                    a[p][i] = c * x - s * y;
                    a[q][i] = s * x + c * y;
                }
                for (int i = 0; i < n; i++) {
                    const double x = e[i][p], y = e[i][q];
                    e[i][p] = c * x - s * y;
                    e[i][q] = s * x + c * y;
                }
            }
}

/* The shortest x with the least |a x - b|. */
static void solve(int n, double a[MOST][MOST], const double b[MOST], double x[MOST])
{
    double e[MOST][MOST], greatest = 0.0;
    eigen(n, a, e);
    for (int i = 0; i < n; i++) greatest = k_max(greatest, a[i][i]);
    for (int i = 0; i < n; i++) x[i] = 0.0;
    for (int k = 0; k < n; k++) {
        if (!(a[k][k] > decided * greatest)) continue;
        double along = 0.0;
        for (int i = 0; i < n; i++) along += e[i][k] * b[i];
        for (int i = 0; i < n; i++) x[i] += e[i][k] * along / a[k][k];
    }
}

static int unit(double a[3])
{
    const double length = k_sqrt(paths_dot(a, a));
    if (!(length > 1e-6)) return 0;
    for (int i = 0; i < 3; i++) a[i] /= length;
    return 1;
}

int paths_axis(const motet_ct_views *g, double axis[3])
{
    double mean[3] = {0.0}, up[3] = {0.0}, ahead[3], a[MOST][MOST] = {{0.0}}, e[MOST][MOST];
    const double share = 1.0 / (double)g->views;
    for (int64_t k = 0; k < g->views; k++) {
        paths_ahead(g->beam, &g->view[k], ahead);
        for (int i = 0; i < 3; i++) {
            mean[i] += share * ahead[i];
            up[i] += share * g->view[k].v[i];
        }
    }
    for (int64_t k = 0; k < g->views; k++) {
        paths_ahead(g->beam, &g->view[k], ahead);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                a[i][j] += share * (ahead[i] - mean[i]) * (ahead[j] - mean[j]);
    }
    if (!unit(up)) memcpy(up, g->view[0].v, sizeof up);
    eigen(3, a, e);
    int least = 0, most = 0;
    for (int i = 1; i < 3; i++) {
        if (a[i][i] < a[least][least]) least = i;
        if (a[i][i] >= a[most][most]) most = i;
    }
    const double middle = a[0][0] + a[1][1] + a[2][2] - a[least][least] - a[most][most];
    memcpy(axis, up, sizeof up);
    if (!(middle > decided)) { /* one direction, perhaps both ways */
        paths_ahead(g->beam, &g->view[0], ahead);
        const double along = paths_dot(up, ahead);
        for (int i = 0; i < 3; i++) axis[i] -= along * ahead[i];
        return unit(axis);
    }
    if (!(k_sqrt(k_max(a[least][least], 0.0)) <= flat * k_sqrt(middle))) return 0;
    const double sign = e[0][least] * up[0] + e[1][least] * up[1] + e[2][least] * up[2];
    for (int i = 0; i < 3; i++) axis[i] = sign < 0.0 ? -e[i][least] : e[i][least];
    return 1;
}

/* Adds the equation row . x = value. */
static void add(int n, double a[MOST][MOST], double b[MOST], const double row[MOST], double value)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) a[i][j] += row[i] * row[j];
        b[i] += row[i] * value;
    }
}

/* A view's two equations along its axes: for x, relative to the volume's middle, and (parallel) the
 * place on the detector that all central rays pass. */
static void equations(const motet_ct_views *g, const motet_ct_view *w, double row[2][MOST],
                      double value[2])
{
    const int cone = g->beam == MOTET_CT_BEAM_CONE;
    for (int which = 0; which < 2; which++) {
        const double *axis = which ? w->v : w->u;
        value[which] = 0.0;
        for (int i = 0; i < 3; i++) {
            row[which][i] = axis[i];
            value[which] += axis[i] * ((cone ? w->source[i] : w->detector[i]) - g->centre[i]);
        }
        row[which][3] = which ? 0.0 : -shift_unit;
        row[which][4] = which ? -shift_unit : 0.0;
        if (cone) continue;
        /* Along oblique rays a place moves over the detector: take the axis that it does not. */
        double n[3];
        paths_normal(w, n);
        const double slant = paths_dot(axis, w->source) / paths_dot(n, w->source);
        double shift = 0.0;
        for (int i = 0; i < 3; i++) {
            row[which][i] -= slant * n[i];
            shift += slant * n[i] * (w->detector[i] - g->centre[i]);
        }
        value[which] -= shift;
    }
}

void paths_isocentre(const motet_ct_views *g, double at[3], double *spread)
{
    const int n = g->beam == MOTET_CT_BEAM_CONE ? 3 : 5;
    double a[MOST][MOST] = {{0.0}}, b[MOST] = {0.0}, x[MOST] = {0.0}, row[2][MOST], value[2];
    for (int64_t k = 0; k < g->views; k++) {
        equations(g, &g->view[k], row, value);
        add(n, a, b, row[0], value[0]);
        add(n, a, b, row[1], value[1]);
    }
    solve(n, a, b, x);
    *spread = 0.0;
    for (int64_t k = 0; k < g->views; k++) {
        double off[2];
        equations(g, &g->view[k], row, value);
        for (int which = 0; which < 2; which++) {
            off[which] = -value[which];
            for (int i = 0; i < n; i++) off[which] += row[which][i] * x[i];
        }
        *spread = k_max(*spread, k_sqrt(off[0] * off[0] + off[1] * off[1]));
    }
    for (int i = 0; i < 3; i++) at[i] = g->centre[i] + x[i];
}
