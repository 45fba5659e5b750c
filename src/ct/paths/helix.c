/* Every place within a helix lies on one line between two points of it less than a turn apart. The
 * piece of the path between them, half a turn as the place sees it, is just enough (P. E.
 * Danielsson, P. Edholm, J. Eriksson, M. Magnusson Seger, Proc. 3D 1997:141). From a source
 * these places are seen between the turn above and the turn below it, the Tam window (K. C. Tam,
 * S. Samarasekera, F. Sauer, Phys. Med. Biol. 43:1015, 1998). On a flat detector at distance D from
 * sources at distance R from the axis, with a pitch of 2 pi h, it is
 *
 *     -(u^2 + D^2) (pi/2 + atan(u/D)) h / (R D)  <=  v  <=  (u^2 + D^2) (pi/2 - atan(u/D)) h / (R
 * D),
 *
 * u along the way of the source. Both bounds are convex in u, so the ends of the volume's fan
 * decide. */
#include "ct/paths/helix.h"

#include "ct/directions.h"
#include "ct/paths/axis.h"
#include "kern/exact.h"

enum { CHORDS = 512 };
static const double uneven = 0.01;  /* of the pitch, of the radius */
static const double upright = 0.02; /* of v off the axis, of the detector's normal off it: sines */

typedef struct line {
    double slope, start, spread; /* height = start + slope * angle; greatest distance from it */
    double angles;               /* from the first to the last */
} line;

static double height_of(const motet_ct_views *g, const orbit *path, int64_t k)
{
    double at[3];
    for (int i = 0; i < 3; i++) at[i] = g->view[k].source[i] - g->centre[i];
    return paths_dot(at, path->axis);
}

/* Angle that view k has gone on from view k - 1. */
static double step_of(const orbit *path, int64_t k)
{
    const double step = path->view[k].angle - path->view[k - 1].angle;
    return direction_modulo(step + CT_HALF_TURN, CT_TURN) - CT_HALF_TURN;
}

/* Least squares. */
static line line_of(const motet_ct_views *g, const orbit *path)
{
    line l = {0.0, 0.0, 0.0, 0.0};
    const double share = 1.0 / (double)g->views;
    double a = 0.0, mean_a = 0.0, mean_z = 0.0, aa = 0.0, az = 0.0;
    for (int pass = 0; pass < 3; pass++) {
        a = 0.0;
        for (int64_t k = 0; k < g->views; k++) {
            const double z = height_of(g, path, k);
            a += k ? step_of(path, k) : 0.0;
            if (pass == 0) {
                mean_a += share * a;
                mean_z += share * z;
            } else if (pass == 1) {
                aa += (a - mean_a) * (a - mean_a);
                az += (a - mean_a) * (z - mean_z);
            } else {
                l.spread = k_max(l.spread, k_abs(z - l.start - l.slope * a));
            }
        }
        if (pass == 1) {
            l.slope = aa > 0.0 ? az / aa : 0.0;
            l.start = mean_z - l.slope * mean_a;
        }
    }
    l.angles = k_abs(a);
    return l;
}

/* Pitch at which the Tam window just fills the detector of a view; the fan's half is asin(reach /
 * R). 0: the view does not stand as on a helix. */
static double largest_of(const motet_ct_views *g, const orbit *path, int64_t k, double rise,
                         double reach)
{
    const motet_ct_view *w = &g->view[k];
    double normal[3], from[3], flat[2], across[2];
    paths_ahead(g->beam, w, normal);
    for (int i = 0; i < 3; i++) from[i] = w->detector[i] - w->source[i];
    const double distance = paths_dot(from, normal), radius = path->view[k].radius;
    const double along_v = paths_dot(w->v, path->axis);
    /* The way of the source as angles grow: at right angles to where it is. */
    const double c = k_cos(path->view[k].angle), s = k_sin(path->view[k].angle);
    orbit_flat(path, normal, flat);
    orbit_flat(path, w->u, across);
    const double along_u = c * across[1] - s * across[0];
    if (!(k_abs(along_v) > 1.0 - upright) || !(k_abs(c * flat[1] - s * flat[0]) < upright) ||
        !(reach < radius) || !(k_abs(along_u) > 1.0 - upright))
        return 0.0;
    const double u = paths_dot(from, w->u) * (along_u < 0.0 ? -1.0 : 1.0);
    const double v = paths_dot(from, w->v) * (along_v < 0.0 ? -1.0 : 1.0);
    const double wide = 0.5 * (double)g->columns * g->pitch_u;
    const double high = 0.5 * (double)g->rows * g->pitch_v;
    const double fan = distance * reach / k_sqrt((radius - reach) * (radius + reach));
    const double end[] = {k_max(u - wide, -fan), k_min(u + wide, fan)};
    double largest = k_infinity();
    for (int i = 0; i < 2; i++) {
        const double part = radius * distance / (end[i] * end[i] + distance * distance);
        const double ray = k_atan(end[i] / distance);
        const double ahead = rise > 0.0 ? high + v : high - v; /* room towards the next turn */
        const double behind = rise > 0.0 ? high - v : high + v;
        largest = k_min(largest, CT_TURN * part * ahead / (0.5 * CT_HALF_TURN - ray));
        largest = k_min(largest, CT_TURN * part * behind / (0.5 * CT_HALF_TURN + ray));
    }
    return k_max(largest, 0.0);
}

/* Angle of the path before, or after, the highest place that a line from its end meets within
 * `reach` of the axis: a chord of `whole` meets the circle for the last time at a part of it. */
static double lead_of(double radius, double reach)
{
    const double fan = k_asin(reach / radius);
    double lead = 0.0;
    for (int i = 0; i <= CHORDS; i++) {
        const double whole = CT_HALF_TURN + fan * (4.0 * i / CHORDS - 2.0);
        const double half = radius * k_sin(0.5 * whole), off = radius * k_cos(0.5 * whole);
        const double within = k_sqrt(k_max((reach - off) * (reach + off), 0.0));
        lead = k_max(lead, whole * (half + within) / (2.0 * half));
    }
    return lead;
}

/* Lowest and highest end of the box along the axis, from its middle. */
static double half_length(const motet_ct_views *g, const orbit *path)
{
    const int64_t n[] = {g->nx, g->ny, g->nz};
    int up = 0;
    for (int i = 1; i < 3; i++)
        if (k_abs(path->axis[i]) > k_abs(path->axis[up])) up = i;
    return 0.5 * (double)n[up] * g->voxel[up];
}

int paths_helix_of(const motet_ct_views *g, const orbit *path, paths_helix *out)
{
    if (g->beam != MOTET_CT_BEAM_CONE || g->views < 3) return 0;
    const line l = line_of(g, path);
    const double pitch = CT_TURN * l.slope, half = half_length(g, path);
    double mean = 0.0, largest = k_infinity();
    for (int64_t k = 0; k < g->views; k++) mean += path->view[k].radius / (double)g->views;
    for (int64_t k = 0; k < g->views; k++)
        if (!(k_abs(path->view[k].radius - mean) < uneven * mean)) return 0;
    /* A rise that is less than a voxel is none. */
    if (!(l.spread < uneven * k_abs(pitch)) ||
        !(k_abs(l.slope) * l.angles * (double)(2 * g->nz) > 2.0 * half))
        return 0;
    const double reach = fdk_reach(g, path);
    for (int64_t k = 0; k < g->views; k++)
        largest = k_min(largest, largest_of(g, path, k, l.slope, reach));
    if (!(largest > 0.0)) return 0;
    const double one = l.start, two = height_of(g, path, g->views - 1);
    const double lead = k_abs(l.slope) * lead_of(mean, reach);
    const double low = k_max(k_min(one, two) + lead, -half);
    const double high = k_min(k_max(one, two) - lead, half);
    *out = (paths_helix){.pitch = pitch,
                         .largest = largest,
                         .lead = lead,
                         .missing = 1.0 - k_max(high - low, 0.0) / (2.0 * half)};
    return 1;
}
