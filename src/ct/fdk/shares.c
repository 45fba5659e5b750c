/* The part of a ray that counts, where it is measured once, twice, or from both sides of an offset
 * detector. With c what is covered of the path (orbit_cover) and g what is covered of the detector,
 * a ray counts by c g / (c g + c' g'), the dash its other measurement, from where its line meets
 * the path again. For a whole turn with an offset detector that is G. Wang's weight (Med. Phys.
 * 29:1634, 2002), for a short scan nearly D. L. Parker's (Med. Phys. 9(2):254, 1982), and it holds
 * for any arc. */
#include "ct/fdk/fdk.h"

#include "ct/directions.h"
#include "ct/vector.h"
#include "kern/exact.h"

static const double least_offset = 0.04; /* of the detector's width, to be taken for one */

/* A ray in the plane of the path. */
typedef struct flat_ray {
    double from[2], along[2]; /* from the centre; a unit vector */
    double distance;          /* of the centre, signed */
} flat_ray;

/* Ray `column`, in the row that the detector's normal from the source meets. */
static flat_ray ray_of(const motet_ct_views *g, const orbit *path, int64_t k, double column)
{
    const motet_ct_view *w = &g->view[k];
    const double a = (column - 0.5 * (double)(g->columns - 1)) * g->pitch_u;
    double at[3], along[3];
    if (g->beam == MOTET_CT_BEAM_CONE) {
        double from[3];
        for (int i = 0; i < 3; i++) from[i] = w->source[i] - w->detector[i];
        const double foot = vector_dot(from, w->v);
        for (int i = 0; i < 3; i++) {
            at[i] = w->source[i] - g->centre[i];
            along[i] = k_fma(a, w->u[i], k_fma(foot, w->v[i], -from[i]));
        }
    } else {
        for (int i = 0; i < 3; i++) {
            at[i] = k_fma(a, w->u[i], w->detector[i] - g->centre[i]);
            along[i] = w->source[i];
        }
    }
    flat_ray r;
    orbit_flat(path, at, r.from);
    orbit_flat(path, along, r.along);
    const double size = k_hypot(r.along[0], r.along[1]);
    for (int i = 0; i < 2; i++) {
        r.from[i] -= path->centre[i];
        r.along[i] /= size > 0.0 ? size : 1.0;
    }
    r.distance = r.along[0] * r.from[1] - r.along[1] * r.from[0];
    return r;
}

fdk_extent fdk_extent_of(const motet_ct_views *g, const orbit *path, motet_ct_weights scheme)
{
    fdk_extent e = {.chosen = scheme};
    double rising = 0.0; /* of columns with distance */
    for (int64_t k = 0; k < g->views; k++) {
        const double one = ray_of(g, path, k, -0.5).distance;
        const double two = ray_of(g, path, k, (double)g->columns - 0.5).distance;
        rising += two > one ? 1.0 : -1.0;
        e.low += k_min(one, two) / (double)g->views;
        e.high += k_max(one, two) / (double)g->views;
    }
    e.offset = k_abs(e.low + e.high) > least_offset * (e.high - e.low);
    if (scheme == MOTET_CT_WEIGHTS_AUTO)
        e.chosen = path->arcs > 0                            ? MOTET_CT_WEIGHTS_SHORT
                   : e.offset && e.low < 0.0 && e.high > 0.0 ? MOTET_CT_WEIGHTS_OFFSET
                                                             : MOTET_CT_WEIGHTS_FULL;
    e.right = e.high > -e.low;
    if (e.chosen != MOTET_CT_WEIGHTS_OFFSET) return e;
    e.overlap = k_max(k_min(e.high, -e.low), 0.0);
    e.beyond = e.right == (rising > 0.0) ? -1 : 1;
    return e;
}

/* From 0 at the end of the overlap to 1 at the other, on the side that reaches farther. */
static double detector_cover(const fdk_extent *e, double distance)
{
    const double d = e->right ? distance : -distance;
    if (!(e->overlap > 0.0)) return 1.0;
    if (d >= e->overlap) return 1.0;
    if (d <= -e->overlap) return 0.0;
    return 0.5 * (1.0 + k_sinpi(0.5 * d / e->overlap));
}

/* Direction from which the ray's line is measured the other way. */
static double other_angle(const motet_ct_views *g, const orbit *path, int64_t k, const flat_ray *r)
{
    if (g->beam == MOTET_CT_BEAM_PARALLEL)
        return direction_modulo(path->view[k].angle + CT_HALF_TURN, CT_TURN);
    const double chord = -2.0 * (r->from[0] * r->along[0] + r->from[1] * r->along[1]);
    return direction_modulo(
        k_atan2(k_fma(chord, r->along[1], r->from[1]), k_fma(chord, r->along[0], r->from[0])),
        CT_TURN);
}

static double share_of(const motet_ct_views *g, const orbit *path, const fdk_extent *e, int64_t k,
                       int64_t column)
{
    const flat_ray r = ray_of(g, path, k, (double)column);
    const double here = orbit_cover(path, path->view[k].angle) * detector_cover(e, r.distance);
    const double there =
        orbit_cover(path, other_angle(g, path, k, &r)) * detector_cover(e, -r.distance);
    return here > 0.0 ? here / (here + there) : 0.0;
}

void fdk_shares(const motet_ct_views *g, const orbit *path, const fdk_extent *e, float *out)
{
    const int same = e->chosen == MOTET_CT_WEIGHTS_FULL || (path->arcs == 0 && e->overlap == 0.0);
    const float each = (float)(CT_HALF_TURN / path->covered);
    for (int64_t k = 0; k < g->views; k++)
        for (int64_t u = 0; u < g->columns; u++)
            out[k * g->columns + u] = same ? each : (float)share_of(g, path, e, k, u);
}
