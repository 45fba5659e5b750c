/* What views lack for filtered back-projection. It asks this before it runs, and the check of a
 * geometry asks it, too, so that each warns where the other does.
 *
 * A place of the volume needs rays over half a turn as it sees them itself; with the source nearer
 * than infinity that is half a turn and the fan. Of the fan only the part that meets the volume
 * counts: rays beyond it go into no voxel, and views are filtered row by row, so they are not
 * missed on the way either. */
#include "ct/fdk/fdk.h"

#include "ct/directions.h"
#include "ct/vector.h"
#include "kern/exact.h"

enum { OUTLINE = 64 };
static const double counted = 0.75; /* of a step: what views stand for at both ends is a guess */
static const double slack = 1e-6;   /* radians */

double fdk_reach(const motet_ct_views *g, const orbit *path)
{
    const double half[] = {0.5 * (double)g->nx * g->voxel[0], 0.5 * (double)g->ny * g->voxel[1],
                           0.5 * (double)g->nz * g->voxel[2]};
    double reach = 0.0, at[3], p[2];
    int up = 2;
    for (int i = 0; i < 2; i++)
        if (k_abs(path->axis[i]) > k_abs(path->axis[up]) + 1e-9) up = i;
    for (int i = 0; i < 2 * OUTLINE; i++) {
        double c, s;
        k_sincospi(2.0 * (double)(i / 2) / OUTLINE, &s, &c);
        at[(up + 1) % 3] = c * half[(up + 1) % 3];
        at[(up + 2) % 3] = s * half[(up + 2) % 3];
        at[up] = i & 1 ? half[up] : -half[up];
        orbit_flat(path, at, p);
        reach = k_max(reach, k_hypot(p[0] - path->centre[0], p[1] - path->centre[1]));
    }
    return reach;
}

/* The detector's height as seen at the axis; mean over the views. */
static double height_at_axis(const motet_ct_views *g, const orbit *path)
{
    const double high = (double)g->rows * g->pitch_v;
    if (g->beam == MOTET_CT_BEAM_PARALLEL) return high;
    double sum = 0.0;
    for (int64_t k = 0; k < g->views; k++) {
        const motet_ct_view *w = &g->view[k];
        double normal[3], to[3];
        vector_cross(w->u, w->v, normal);
        for (int i = 0; i < 3; i++) to[i] = w->detector[i] - w->source[i];
        sum += path->view[k].radius / k_abs(vector_dot(to, normal));
    }
    return high * sum / (double)g->views;
}

fdk_lacks fdk_lacks_of(const motet_ct_views *g, const orbit *path, const fdk_extent *e)
{
    fdk_lacks l = {.covered = path->covered,
                   .step = path->median,
                   .rise = path->rise,
                   .height = height_at_axis(g, path)};
    if (path->directions < 3 || path->widest >= CT_TURN - slack) { /* too few to tell a step */
        l.covered = CT_TURN - path->widest;
        l.step = 0.0;
    }
    const double nearer = k_min(-e->low, e->high), farther = k_max(-e->low, e->high);
    const double used = k_min(fdk_reach(g, path), farther);
    double fan = 0.0; /* half of the angle */
    for (int64_t k = 0; g->beam == MOTET_CT_BEAM_CONE && k < g->views; k++)
        if (path->view[k].radius > 0.0)
            fan = k_max(fan, k_asin(k_min(used / path->view[k].radius, 1.0)));
    l.needed = CT_HALF_TURN + 2.0 * fan;
    /* Rays of the volume that the nearer side does not see are measured once in a turn. */
    l.one_side = !(nearer > 0.0);
    l.whole_turn = e->offset && nearer < used;
    if (l.whole_turn) l.needed = CT_TURN;
    l.short_arc = l.covered < l.needed - counted * l.step - slack;
    l.rises = l.rise > l.height;
    return l;
}
