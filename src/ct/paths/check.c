/* Whether views make sense: what they see of the volume, how far around it they go, and whether
 * their numbers look like a slip that others made before. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/threads.h"
#include "ct/beam/beam.h"
#include "ct/directions.h"
#include "ct/fdk/fdk.h"
#include "ct/paths/axis.h"
#include "ct/paths/helix.h"
#include "kern/exact.h"
#include <motet/ct_paths.h>

enum { OUTLINE = 64, SENTENCE = 512 };
static const double seen = 1e-3;     /* a part below which nothing is said to be cut off */
static const double off_axis = 0.04; /* of the detector's half width: an offset detector */
static const double degrees = 57.29577951308232; /* of a radian */

typedef struct check {
    motet_context *context;
    const motet_ct_views *views;
    motet_ct_check *out;
    double cut_left, cut_right; /* of the outline beside the detector's first and last column */
    fdk_lacks lacks;            /* all 0: the views have no axis */
    paths_helix helix;
    char *text;
    size_t length;
    motet_status status;
} check;

__attribute__((format(printf, 2, 3))) static void say(check *c, const char *format, ...)
{
    char sentence[SENTENCE];
    va_list list;
    va_start(list, format);
    vsnprintf(sentence, sizeof sentence, format, list);
    va_end(list);
    const size_t n = strlen(sentence);
    char *grown = c->status == MOTET_OK ? mem_grow(c->context, c->text, c->length + n + 2) : NULL;
    if (!grown) {
        c->status = fail(c->context, MOTET_NO_MEMORY, "no memory for the findings of a check");
        return;
    }
    memcpy(grown + c->length, sentence, n);
    memcpy(grown + c->length + n, "\n", 2);
    c->text = grown;
    c->length += n + 1;
    c->out->warnings++;
}

/* ---- What is seen ---- */

/* The axis of the volume that is nearest to the views' axis. */
static int upright(const double axis[3])
{
    int up = 2;
    for (int i = 0; i < 2; i++)
        if (k_abs(axis[i]) > k_abs(axis[up]) + 1e-9) up = i;
    return up;
}

static double half_size(const motet_ct_views *g, int axis)
{
    const int64_t n[] = {g->nx, g->ny, g->nz};
    return 0.5 * (double)n[axis] * g->voxel[axis];
}

/* Points of the ellipse in the volume's box, at its lower and upper end. */
static void outline(const motet_ct_views *g, int up, int i, double at[3])
{
    double c, s;
    const int f = (up + 1) % 3, h = (up + 2) % 3;
    k_sincospi(2.0 * (double)(i / 2) / OUTLINE, &s, &c);
    at[f] = g->centre[f] + c * half_size(g, f);
    at[h] = g->centre[h] + s * half_size(g, h);
    at[up] = g->centre[up] + (i & 1 ? 1.0 : -1.0) * half_size(g, up);
}

/* Parts of [low, high] below -half and above half. */
static void cut_of(double low, double high, double half, double *below, double *above)
{
    const double width = k_max(high - low, 1e-300);
    *below = k_min(k_max(-half - low, 0.0) / width, 1.0);
    *above = k_min(k_max(high - half, 0.0) / width, 1.0);
}

static void look(check *c, int up, const motet_ct_view *w)
{
    const motet_ct_views *g = c->views;
    double low[2] = {k_infinity(), k_infinity()}, high[2] = {-k_infinity(), -k_infinity()};
    double left = 1.0, right = 1.0, below = 1.0, above = 1.0;
    int whole = 1;
    for (int i = 0; i < 2 * OUTLINE && whole; i++) {
        double at[3], p[2];
        outline(g, up, i, at);
        whole = paths_project(g, w, at, &p[0], &p[1]);
        for (int j = 0; j < 2 && whole; j++) {
            low[j] = k_min(low[j], p[j]);
            high[j] = k_max(high[j], p[j]);
        }
    }
    if (whole) {
        cut_of(low[0], high[0], 0.5 * (double)g->columns, &left, &right);
        cut_of(low[1], high[1], 0.5 * (double)g->rows, &below, &above);
    }
    c->cut_left = k_max(c->cut_left, left);
    c->cut_right = k_max(c->cut_right, right);
    c->out->truncated_u = k_max(c->out->truncated_u, k_min(left + right, 1.0));
    if (g->rows > 1 || g->nz > 1)
        c->out->truncated_v = k_max(c->out->truncated_v, k_min(below + above, 1.0));
}

static int is_inside(const motet_ct_views *g, const motet_ct_view *w)
{
    for (int i = 0; i < 3; i++)
        if (!(k_abs(w->source[i] - g->centre[i]) < half_size(g, i))) return 0;
    return g->beam == MOTET_CT_BEAM_CONE;
}

/* Means over the views. */
static void measure(check *c)
{
    const motet_ct_views *g = c->views;
    motet_ct_check *o = c->out;
    const double share = 1.0 / (double)g->views;
    const int up = upright(o->axis), cone = g->beam == MOTET_CT_BEAM_CONE;
    int64_t facing = 0;
    for (int64_t k = 0; k < g->views; k++) {
        const motet_ct_view *w = &g->view[k];
        double normal[3], ahead[3], to_detector[3], to_middle[3], u, v;
        paths_normal(w, normal);
        paths_ahead(g->beam, w, ahead);
        for (int i = 0; i < 3; i++) {
            to_detector[i] = w->detector[i] - w->source[i];
            to_middle[i] = g->centre[i] - w->source[i];
        }
        const double sdd = paths_dot(to_detector, ahead);
        facing += paths_dot(normal, ahead) < 0.0;
        o->inside += is_inside(g, w);
        o->magnification += share * (cone ? sdd / paths_dot(to_middle, ahead) : 1.0);
        if (paths_project(g, w, o->isocentre, &u, &v)) {
            o->shift_u += share * u;
            o->shift_v += share * v;
        }
        look(c, up, w);
    }
    o->mirrored = facing == g->views ? 0 : facing == 0 ? 1 : -1;
}

/* ---- How far around ---- */

static int is_offset(const check *c)
{
    return k_abs(c->out->shift_u) > off_axis * 0.5 * (double)c->views->columns;
}

/* Consecutive views of linspace(0, 360) taken for radians are 1.003 radians apart, say. */
static void suspect_degrees(check *c, const orbit *path)
{
    const int64_t n = path->views;
    const orbit_view *at = path->view;
    if (n < 4) return;
    const double step =
        direction_modulo(at[1].angle - at[0].angle + CT_HALF_TURN, CT_TURN) - CT_HALF_TURN;
    for (int64_t k = 1; k < n; k++) {
        const double other = at[k].angle - at[k - 1].angle - step;
        if (k_abs(direction_modulo(other + CT_HALF_TURN, CT_TURN) - CT_HALF_TURN) > 1e-4) return;
    }
    static const double spans[] = {180.0, 360.0, 720.0};
    for (int i = 0; i < 3; i++)
        for (int64_t steps = n - 1; steps <= n; steps++) {
            const double apart = spans[i] / (double)steps; /* in radians, by mistake */
            const double sense = step < 0.0 ? -apart : apart;
            const double off =
                direction_modulo(sense - step + CT_HALF_TURN, CT_TURN) - CT_HALF_TURN;
            if (apart < 0.1 || k_abs(off) > 1e-4) continue;
            say(c,
                "consecutive views are %.4g degrees apart, as %g degrees taken for radians would "
                "be: "
                "convert the angles to radians where the views are made",
                k_abs(step) * degrees, spans[i]);
            return;
        }
}

static motet_status go_around(check *c, const double axis[3])
{
    motet_ct_check *o = c->out;
    orbit path;
    TRY(orbit_make_around(c->context, c->views, axis, &path));
    const fdk_extent extent = fdk_extent_of(c->views, &path, MOTET_CT_WEIGHTS_AUTO);
    c->lacks = fdk_lacks_of(c->views, &path, &extent);
    o->arc = c->lacks.covered;
    o->needed = c->lacks.needed;
    o->largest_gap = path.widest;
    suspect_degrees(c, &path);
    if (paths_helix_of(c->views, &path, &c->helix)) {
        o->pitch = c->helix.pitch;
        o->largest_pitch = c->helix.largest;
    }
    orbit_free(&path);
    return MOTET_OK;
}

/* ---- What to say ---- */

static void speak_of_arc(check *c)
{
    const motet_ct_check *o = c->out;
    const double step = c->lacks.step;
    if (!c->lacks.short_arc) return;
    const int small = k_abs(o->arc * degrees - CT_TURN) < 2.0 * step * degrees ||
                      k_abs(o->arc * degrees - CT_HALF_TURN) < 2.0 * step * degrees;
    if (small && o->arc < 0.2)
        say(c,
            "the views cover %.4g degrees, as radians taken for degrees would: check the unit of "
            "the angles",
            o->arc * degrees);
    else if (c->lacks.whole_turn)
        say(c,
            "the views cover %.4g of the 360 degrees that a detector off the axis needs: parts of "
            "the volume are seen from no side",
            o->arc * degrees);
    else
        say(c,
            "short arc: the views cover %.4g degrees, every ray takes %.4g (180 and the fan of the "
            "volume): "
            "filtered back-projection will shade; iterate instead, or scan further",
            o->arc * degrees, o->needed * degrees);
}

static void speak_of_truncation(check *c)
{
    const motet_ct_views *g = c->views;
    const motet_ct_check *o = c->out;
    const int turn = o->arc >= CT_TURN - 1e-6;
    const double cut = is_offset(c) && turn ? k_min(c->cut_left, c->cut_right) : o->truncated_u;
    if (cut > seen)
        say(c,
            "truncation: %.3g %% of the volume's width falls beside the detector in the worst "
            "view: "
            "continue the rows (--pad), or take more columns or a smaller volume",
            100.0 * cut);
    /* Where the source changes its height, other views see what one does not. */
    if (o->truncated_v > seen && o->isocentre_spread < 0.1 * half_size(g, upright(o->axis)))
        say(c,
            "truncation: %.3g %% of the volume's height falls above or below the detector in the "
            "worst view: its ends are seen by some views only; take more rows or a lower volume",
            100.0 * o->truncated_v);
    const double pixel = g->pitch_u / k_abs(o->magnification);
    const int across = upright(o->axis) == 0 ? 1 : 0;
    const double ratio = g->voxel[across] / pixel;
    if (ratio > 4.0 || ratio < 0.25)
        say(c,
            "a voxel is %.3g times as wide as a pixel seen at the volume's middle (%.4g): is the "
            "voxel or the pitch in another unit?",
            ratio, pixel);
}

static void speak_of_height(check *c)
{
    const paths_helix *h = &c->helix;
    if (c->lacks.rises)
        say(c,
            "the path rises by %.4g, the detector is %.4g high as seen at the axis: no place is in "
            "all views; fdk is for circles: take cgls or sirt",
            c->lacks.rise, c->lacks.height);
    if (k_abs(h->pitch) > h->largest)
        say(c,
            "helix: the pitch of %.6g in a turn is too large for the detector, which sees all rays "
            "that each voxel needs (the Tam window) up to %.6g: take a smaller pitch, or more rows",
            k_abs(h->pitch), h->largest);
    if (h->missing > 0.0)
        say(c,
            "helix: %.3g %% of the volume along the axis lies where the path begins or ends too "
            "late or too early to see all rays: let it begin and end %.4g beyond the volume",
            100.0 * h->missing, h->lead);
}

static void speak(check *c)
{
    const motet_ct_views *g = c->views;
    const motet_ct_check *o = c->out;
    if (o->arc == o->arc) speak_of_arc(c);
    speak_of_truncation(c);
    speak_of_height(c);
    if (g->beam == MOTET_CT_BEAM_CONE && o->magnification < 1.0 - 1e-9)
        say(c,
            "the volume's middle is not between source and detector (magnification %.4g): are sid "
            "(source to axis) and sdd (source to detector) swapped?",
            o->magnification);
    if (o->mirrored == 1)
        say(c, "u x v points away from the source in all views: columns are counted as seen from "
               "behind the detector; if the data are not, turn the sign of u, or results are "
               "mirrored");
    if (o->mirrored == -1)
        say(c, "u x v points to the source in some views and away in others: turn the sign of u "
               "where the detector is seen from behind");
    if (k_abs(o->shift_u) > 0.5 * (double)g->columns || c->lacks.one_side)
        say(c,
            "detector shift: the axis falls %.4g columns (%.4g in length units) from the "
            "detector's "
            "middle, beside it: a shift is a length, not a number of pixels",
            o->shift_u, o->shift_u * g->pitch_u);
    else if (is_offset(c))
        say(c,
            "detector shift: the axis falls %.4g columns (%.4g in length units) from the "
            "detector's "
            "middle: filtered back-projection weighs it as an offset detector",
            o->shift_u, o->shift_u * g->pitch_u);
    if (k_abs(o->shift_v) > 0.5 * (double)g->rows && g->beam == MOTET_CT_BEAM_CONE)
        say(c,
            "detector shift: the plane of the source falls %.4g rows (%.4g in length units) from "
            "the "
            "detector's middle, beside it: a shift is a length, not a number of pixels",
            o->shift_v, o->shift_v * g->pitch_v);
    if (o->inside)
        say(c, "the source is inside the volume in %lld views: rays see what is ahead of it only",
            (long long)o->inside);
}

static motet_status examine(check *c, const motet_ct_geometry *geometry)
{
    motet_ct_check *o = c->out;
    const int circle = paths_axis(c->views, o->axis);
    paths_isocentre(c->views, o->isocentre, &o->isocentre_spread);
    measure(c);
    o->arc = o->largest_gap = o->needed = o->pitch = o->largest_pitch = k_nan();
    o->columns = geometry->beam->form == CT_FORM_COLUMNS;
    o->steepest = geometry->beam->steepest;
    /* The axis of filtered back-projection where that has one: what it warns of is told. */
    double axis[3];
    const int its = orbit_axis(c->views, axis);
    if (its || circle) TRY(go_around(c, its ? axis : o->axis));
    speak(c);
    return c->status;
}

motet_status motet_ct_geometry_check(const motet_ct_geometry *geometry, motet_ct_check *out,
                                     char **texts)
{
    motet_ct_views views;
    motet_ct_check found;
    TRY(motet_ct_geometry_describe(geometry, &views));
    memset(&found, 0, sizeof found);
    check c = {.context = geometry->context, .views = &views, .out = &found};
    const thread_float_state former = thread_float_enter();
    motet_status st = examine(&c, geometry);
    thread_float_leave(former);
    if (st == MOTET_OK && texts && !c.text && !(c.text = mem_text(c.context, "")))
        st = fail(c.context, MOTET_NO_MEMORY, "no memory for the findings of a check");
    if (st == MOTET_OK) {
        *out = found;
        if (texts) {
            *texts = c.text;
            c.text = NULL;
        }
    }
    mem_free(c.context, c.text);
    return st;
}
