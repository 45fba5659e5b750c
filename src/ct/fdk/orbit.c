#include "ct/fdk/orbit.h"

#include "base/fail.h"
#include "base/mem.h"
#include "ct/directions.h"
#include "ct/vector.h"
#include "kern/exact.h"

static const double same_direction = 1e-6;     /* radians */
static const double least_common = 0.6;        /* length of the mean of the v axes */
static const double sideways = 1e-3;           /* more than that of u than of v: it is the axis */
static const double gap_medians = 3.5;         /* a gap of more is covered by no view */
static const double least_gap = 0.05;          /* radians; and of more than that */
static const double widest_fall = CT_TURN / 8; /* from covered to not */

static void scale(double a[3], double by)
{
    for (int i = 0; i < 3; i++) a[i] *= by;
}

void orbit_flat(const orbit *o, const double v[3], double out[2])
{
    out[0] = vector_dot(v, o->across[0]);
    out[1] = vector_dot(v, o->across[1]);
}

/* Sum of the views' u or v axes, each turned towards the first: it may count down. Answers the
 * length of their mean: 1 where they are one. */
static double common_axis(const motet_ct_views *g, int of_u, double sum[3])
{
    const double *first = of_u ? g->view[0].u : g->view[0].v;
    sum[0] = sum[1] = sum[2] = 0.0;
    for (int64_t k = 0; k < g->views; k++) {
        const double *a = of_u ? g->view[k].u : g->view[k].v;
        const double sign = vector_dot(a, first) < 0.0 ? -1.0 : 1.0;
        for (int i = 0; i < 3; i++) sum[i] += sign * a[i];
    }
    return k_sqrt(vector_dot(sum, sum)) / (double)g->views;
}

int orbit_axis(const motet_ct_views *g, double axis[3])
{
    const double common_u = common_axis(g, 1, axis), common_v = common_axis(g, 0, axis);
    if (!(common_v > least_common) || common_u > common_v + sideways) return 0;
    scale(axis, 1.0 / k_sqrt(vector_dot(axis, axis)));
    return 1;
}

static motet_status refuse_axis(motet_context *c, const motet_ct_views *g)
{
    double sum[3];
    const double common_u = common_axis(g, 1, sum), common_v = common_axis(g, 0, sum);
    if (!(common_v > least_common))
        return fail(c, MOTET_UNSUPPORTED,
                    "the views' v axes point anywhere (their mean has length %.2f), expected views "
                    "around an axis; cgls and sirt take any",
                    common_v);
    return fail(c, MOTET_UNSUPPORTED,
                "the views' u axes have more in common than their v axes (their means have "
                "lengths %.3f and %.3f), expected v along the axis that views go around: "
                "exchange u and v, and columns and rows; cgls and sirt take any",
                common_u, common_v);
}

static void go_around(orbit *o, const double axis[3])
{
    int least = 0;
    for (int i = 1; i < 3; i++)
        if (k_abs(axis[i]) < k_abs(axis[least])) least = i;
    double other[3] = {0.0, 0.0, 0.0};
    other[least] = 1.0;
    vector_cross(axis, other, o->across[0]);
    scale(o->across[0], 1.0 / k_sqrt(vector_dot(o->across[0], o->across[0])));
    vector_cross(axis, o->across[0], o->across[1]);
    for (int i = 0; i < 3; i++) o->axis[i] = axis[i];
}

/* Of the source, or of the detector where rays are parallel, from the volume's middle. */
static void place_of(const motet_ct_views *g, int64_t k, double out[3])
{
    const motet_ct_view *w = &g->view[k];
    const double *at = g->beam == MOTET_CT_BEAM_CONE ? w->source : w->detector;
    for (int i = 0; i < 3; i++) out[i] = at[i] - g->centre[i];
}

/* The circle nearest to the sources (I. Kasa, IEEE Trans. Instrum. Meas. 25:8, 1976). Sources on a
 * line have none; then they are seen from the volume's middle. */
static void find_circle(const motet_ct_views *g, orbit *o)
{
    double mean[2] = {0.0, 0.0}, at[3], p[2];
    for (int64_t k = 0; k < g->views; k++) {
        place_of(g, k, at);
        orbit_flat(o, at, p);
        for (int i = 0; i < 2; i++) mean[i] += p[i] / (double)g->views;
    }
    double xx = 0.0, xy = 0.0, yy = 0.0, x = 0.0, y = 0.0;
    for (int64_t k = 0; k < g->views; k++) {
        place_of(g, k, at);
        orbit_flat(o, at, p);
        for (int i = 0; i < 2; i++) p[i] -= mean[i];
        const double half = 0.5 * (p[0] * p[0] + p[1] * p[1]);
        xx += p[0] * p[0];
        xy += p[0] * p[1];
        yy += p[1] * p[1];
        x += half * p[0];
        y += half * p[1];
    }
    const double area = xx * yy - xy * xy, trace = xx + yy;
    if (!(area > 1e-7 * trace * trace)) return;
    o->centre[0] = mean[0] + (x * yy - y * xy) / area;
    o->centre[1] = mean[1] + (y * xx - x * xy) / area;
}

/* Parallel rays: the point from which all detectors are seen at the same place: the sum of squares
 * of (detector - centre) . across - shift is least. */
static void find_centre(const motet_ct_views *g, orbit *o)
{
    double m[3][4] = {{0.0}};
    for (int64_t k = 0; k < g->views; k++) {
        double at[3], p[2];
        place_of(g, k, at);
        orbit_flat(o, at, p);
        const double row[] = {-k_sin(o->view[k].angle), k_cos(o->view[k].angle), 1.0};
        const double value = p[0] * row[0] + p[1] * row[1];
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) m[i][j] += row[i] * row[j] / (double)g->views;
            m[i][3] += row[i] * value / (double)g->views;
        }
    }
    for (int i = 0; i < 3; i++) { /* Gauss; the matrix is positive */
        if (!(m[i][i] > 1e-6)) return;
        for (int r = i + 1; r < 3; r++) {
            const double part = m[r][i] / m[i][i];
            for (int j = i; j < 4; j++) m[r][j] -= part * m[i][j];
        }
    }
    double x[3];
    for (int i = 2; i >= 0; i--) {
        x[i] = m[i][3];
        for (int j = i + 1; j < 3; j++) x[i] -= m[i][j] * x[j];
        x[i] /= m[i][i];
    }
    o->centre[0] = x[0];
    o->centre[1] = x[1];
}

static double turn_of(double y, double x) { return direction_modulo(k_atan2(y, x), CT_TURN); }

static void find_places(const motet_ct_views *g, orbit *o)
{
    double least = k_infinity(), most = -k_infinity();
    const int cone = g->beam == MOTET_CT_BEAM_CONE;
    if (cone) find_circle(g, o);
    for (int64_t k = 0; k < g->views; k++) {
        double at[3], p[2];
        place_of(g, k, at);
        least = k_min(least, vector_dot(at, o->axis));
        most = k_max(most, vector_dot(at, o->axis));
        if (cone) {
            orbit_flat(o, at, p);
            for (int i = 0; i < 2; i++) p[i] -= o->centre[i];
            o->view[k].radius = k_hypot(p[0], p[1]);
        } else {
            orbit_flat(o, g->view[k].source, p);
            for (int i = 0; i < 2; i++) p[i] = -p[i];
        }
        o->view[k].angle = turn_of(p[1], p[0]);
    }
    o->rise = most - least;
    if (!cone) find_centre(g, o);
}

/* Slope at 0 of the parabola through three points at -before, 0, after. */
static double slope_of(double lower, double at, double upper, double before, double after)
{
    const double down = (at - lower) / before, up = (upper - at) / after;
    return (up * before + down * after) / (before + after);
}

typedef struct groups {
    int64_t count;
    direction *first; /* of each: its angle and one of its views */
    double *gap;      /* to the next */
    int *broken;      /* 1: nothing is covered until there */
} groups;

static double drift_of(const orbit *o, const groups *g, int64_t i)
{
    const int64_t before = i ? i - 1 : g->count - 1, after = i + 1 < g->count ? i + 1 : 0;
    const double at = o->view[g->first[i].view].radius;
    const double lower = o->view[g->first[before].view].radius;
    const double upper = o->view[g->first[after].view].radius;
    if (g->count < 3 || (g->broken[before] && g->broken[i])) return 0.0;
    if (g->broken[before]) return (upper - at) / g->gap[i];
    if (g->broken[i]) return (at - lower) / g->gap[before];
    return slope_of(lower, at, upper, g->gap[before], g->gap[i]);
}

/* Arcs between the gaps; half a median gap beyond the views at their ends. */
static void find_arcs(orbit *o, const groups *g)
{
    o->covered = 0.0;
    for (int64_t i = 0; i < g->count; i++) {
        if (!g->broken[i ? i - 1 : g->count - 1]) continue;
        double length = o->median;
        for (int64_t j = i; !g->broken[j]; j = j + 1 < g->count ? j + 1 : 0) length += g->gap[j];
        o->arc[o->arcs++] = (orbit_arc){g->first[i].angle - 0.5 * o->median, length};
        o->covered += length;
    }
    if (o->arcs == 0) o->covered = CT_TURN;
}

static motet_status find_steps(motet_context *c, orbit *o)
{
    motet_status st = MOTET_OK;
    const int64_t n = o->views;
    double *angles = mem_array(c, double, n), *room = mem_array(c, double, n);
    direction *sorted = mem_array(c, direction, n);
    int64_t *number = mem_array(c, int64_t, n), *members = mem_array(c, int64_t, n);
    groups g = {.first = mem_array(c, direction, n),
                .gap = mem_array(c, double, n),
                .broken = mem_array(c, int, n)};
    if (!angles || !room || !sorted || !number || !members || !g.first || !g.gap || !g.broken) {
        st = fail(c, MOTET_NO_MEMORY, "no memory for the weights of %lld views", (long long)n);
        goto out;
    }
    for (int64_t k = 0; k < n; k++) angles[k] = o->view[k].angle;
    directions_sort(angles, n, CT_TURN, same_direction, sorted);
    for (int64_t i = 0; i < n; i++) {
        if (i == 0 || sorted[i].angle - g.first[g.count - 1].angle > same_direction)
            g.first[g.count++] = sorted[i];
        number[i] = g.count - 1;
        members[g.count - 1]++;
    }
    o->directions = g.count;
    o->median = directions_median_gap(g.first, g.count, CT_TURN, room);
    for (int64_t i = 0; i < g.count; i++) {
        g.gap[i] = directions_gap(g.first, g.count, i, CT_TURN);
        o->widest = k_max(o->widest, g.gap[i]);
        g.broken[i] = g.gap[i] > least_gap && g.gap[i] > gap_medians * o->median;
        if (g.broken[i]) g.gap[i] = o->median;
    }
    for (int64_t i = 0; i < n; i++) {
        const int64_t j = number[i];
        orbit_view *v = &o->view[sorted[i].view];
        v->step = 0.5 * (g.gap[j ? j - 1 : g.count - 1] + g.gap[j]) / (double)members[j];
        v->drift = drift_of(o, &g, j);
    }
    find_arcs(o, &g);
out:
    mem_free(c, angles);
    mem_free(c, room);
    mem_free(c, sorted);
    mem_free(c, number);
    mem_free(c, members);
    mem_free(c, g.first);
    mem_free(c, g.gap);
    mem_free(c, g.broken);
    return st;
}

motet_status orbit_make_around(motet_context *context, const motet_ct_views *views,
                               const double axis[3], orbit *out)
{
    motet_status st = MOTET_OK;
    orbit o = {.context = context, .views = views->views};
    go_around(&o, axis);
    o.view = mem_array(context, orbit_view, o.views);
    o.arc = mem_array(context, orbit_arc, o.views);
    if (!o.view || !o.arc) {
        st = fail(context, MOTET_NO_MEMORY, "no memory for the weights of %lld views",
                  (long long)o.views);
        goto out;
    }
    find_places(views, &o);
    TRY_GOTO(find_steps(context, &o));
    *out = o;
    return MOTET_OK;
out:
    orbit_free(&o);
    return st;
}

motet_status orbit_make(motet_context *context, const motet_ct_views *views, orbit *out)
{
    double axis[3];
    if (!orbit_axis(views, axis)) return refuse_axis(context, views);
    return orbit_make_around(context, views, axis, out);
}

void orbit_free(orbit *o)
{
    mem_free(o->context, o->view);
    mem_free(o->context, o->arc);
}

double orbit_cover(const orbit *o, double angle)
{
    if (o->arcs == 0) return 1.0;
    for (int64_t i = 0; i < o->arcs; i++) {
        const orbit_arc *arc = &o->arc[i];
        const double at = direction_modulo(angle - arc->first, CT_TURN);
        if (at >= arc->length) continue;
        /* Over what a half turn leaves, as D. L. Parker's weights do in the middle of the fan. */
        const double fall =
            k_min(k_max(k_min(o->covered - CT_HALF_TURN, widest_fall), 2.0 * o->median),
                  0.5 * arc->length);
        const double end = k_min(at, arc->length - at) / fall;
        if (!(end < 1.0)) return 1.0;
        const double s = k_sinpi(0.5 * end);
        return s * s;
    }
    return 0.0;
}
