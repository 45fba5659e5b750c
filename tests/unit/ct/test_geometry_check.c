/* What a check of a geometry measures, and what it warns of. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

static const double pi = 3.14159265358979323846;

/* A circular cone beam of 36 views that sees all of its volume. */
static motet_ct_views good(void)
{
    motet_ct_views v;
    motet_ct_views_init(&v);
    v.views = 36;
    v.columns = 50, v.rows = 40;
    v.pitch_u = v.pitch_v = 1.25;
    v.nx = v.ny = v.nz = 20;
    return v;
}

static motet_ct_trajectory circle(void)
{
    motet_ct_trajectory t;
    motet_ct_trajectory_init(&t);
    t.start = 0.2;
    t.sid = 50.0, t.sdd = 80.0;
    return t;
}

/* Changes views before the geometry is made of them. */
typedef void change_fn(motet_ct_view *view, int64_t views);

static motet_ct_check checked(const motet_ct_views *v, const motet_ct_trajectory *t,
                              change_fn *change, char text[4096])
{
    motet_context *c = test_context();
    motet_ct_views made;
    motet_ct_geometry *g = NULL;
    motet_ct_check out;
    char *texts = NULL;
    assert_ok(c, motet_ct_trajectory_make(c, t, v, &made));
    if (change) change((motet_ct_view *)(uintptr_t)made.view, made.views);
    assert_ok(c, motet_ct_geometry_create(c, &made, &g));
    assert_ok(c, motet_ct_geometry_check(g, &out, &texts));
    snprintf(text, 4096, "%s", texts);
    int lines = 0;
    for (const char *at = texts; *at; at++) lines += *at == '\n';
    assert_int_equal(lines, out.warnings);
    motet_text_free(c, texts);
    motet_ct_geometry_free(g);
    motet_ct_views_release(c, &made);
    motet_context_free(c);
    return out;
}

static void quiet(const motet_ct_check *o, const char *text)
{
    if (o->warnings) print_error("%s", text);
    assert_int_equal(o->warnings, 0);
}

static void says(const char *text, const char *words)
{
    if (!strstr(text, words)) print_error("\"%s\" lacks \"%s\"\n", text, words);
    assert_non_null(strstr(text, words));
}

static void near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-9 * (1 + fabs(b)))) print_error("%.17g, expected %.17g\n", a, b);
    assert_true(fabs(a - b) <= 1e-9 * (1 + fabs(b)));
}

static void a_good_circular_scan_has_its_figures_and_no_warnings(void **state)
{
    (void)state;
    char text[4096];
    const motet_ct_views v = good();
    const motet_ct_trajectory t = circle();
    const motet_ct_check o = checked(&v, &t, NULL, text);
    quiet(&o, text);
    near(o.magnification, 1.6);
    near(o.arc, 2 * pi);
    near(o.largest_gap, 2 * pi / 36);
    near(o.axis[2], 1);
    for (int i = 0; i < 3; i++) near(o.isocentre[i], 0);
    near(o.isocentre_spread, 0);
    near(o.shift_u, 0);
    near(o.shift_v, 0);
    near(o.truncated_u, 0);
    near(o.truncated_v, 0);
    assert_int_equal(o.mirrored, 0);
    assert_int_equal(o.inside, 0);
    assert_int_equal(o.columns, 1);
    /* The outermost row rises 19.5 pitches over sdd where the ray's longer component is least. */
    assert_true(o.steepest > 19.5 * 1.25 / 80 && o.steepest < 1.5 * 19.5 * 1.25 / 80);
}

static void parallel_half_turn(motet_ct_views *v, motet_ct_trajectory *t)
{
    *v = good();
    v->beam = MOTET_CT_BEAM_PARALLEL;
    v->pitch_u = v->pitch_v = 0.5;
    v->columns = 60, v->rows = 60;
    *t = circle();
    t->arc = pi;
}

static void half_a_turn_is_enough_for_parallel_rays_only(void **state)
{
    (void)state;
    char text[4096];
    motet_ct_views v;
    motet_ct_trajectory t;
    parallel_half_turn(&v, &t);
    motet_ct_check o = checked(&v, &t, NULL, text);
    quiet(&o, text);
    near(o.magnification, 1);
    near(o.arc, pi);
    near(o.needed, pi);
    t.arc = 0.9 * pi;
    o = checked(&v, &t, NULL, text);
    near(o.arc, 0.9 * pi);
    says(text, "short arc");
    says(text, "162 degrees");
    assert_int_equal(o.warnings, 1);

    v = good();
    t = circle();
    const double fan = 2 * asin(10.0 / 50); /* of the volume, which is narrower than the detector */
    t.arc = pi + fan;
    o = checked(&v, &t, NULL, text);
    near(o.needed, pi + fan);
    quiet(&o, text);
    t.arc = pi;
    o = checked(&v, &t, NULL, text);
    says(text, "short arc");
    v.columns = 12; /* now the detector is narrower */
    o = checked(&v, &t, NULL, text);
    near(o.needed, pi + 2 * atan(6 * 1.25 / 80));
}

static void isocentre_is_found_where_the_scan_turns(void **state)
{
    (void)state;
    char text[4096];
    motet_ct_views v = good();
    v.columns = 90, v.rows = 90;
    v.centre[0] = 3, v.centre[1] = -2, v.centre[2] = 1;
    const motet_ct_trajectory t = circle();
    motet_ct_check o = checked(&v, &t, NULL, text);
    for (int i = 0; i < 3; i++) near(o.isocentre[i], 0);
    near(o.isocentre_spread, 0);
    quiet(&o, text);
}

static void move_all(motet_ct_view *view, int64_t views)
{
    for (int64_t k = 0; k < views; k++)
        for (int i = 0; i < 3; i++) {
            view[k].source[i] += 1.0 + i;
            view[k].detector[i] += 1.0 + i;
        }
}

static void an_isocentre_off_the_origin_is_found(void **state)
{
    (void)state;
    char text[4096];
    motet_ct_views v = good();
    const motet_ct_trajectory t = circle();
    const motet_ct_check o = checked(&v, &t, move_all, text);
    for (int i = 0; i < 3; i++) near(o.isocentre[i], 1.0 + i);
    near(o.shift_u, 0);
}

static void shifts_are_told_in_pixels_with_their_sign(void **state)
{
    (void)state;
    char text[4096];
    motet_ct_views v = good();
    motet_ct_trajectory t = circle();
    t.shift_u = 0.5;
    t.shift_v = -1.0;
    motet_ct_check o = checked(&v, &t, NULL, text);
    near(o.shift_u, -0.5 / 1.25);
    near(o.shift_v, 1.0 / 1.25);
    quiet(&o, text);  /* a small one is no offset detector */
    t.shift_u = 12.5; /* ten columns of fifty */
    o = checked(&v, &t, NULL, text);
    near(o.shift_u, -10);
    says(text, "detector shift");
    says(text, "-10 columns (-12.5 in length units)");
    near(o.needed, pi + 2 * asin(10.0 / 50)); /* both sides see all of the volume */
    v.columns = 30; /* the nearer side ends within it: now it needs a whole turn */
    o = checked(&v, &t, NULL, text);
    near(o.needed, 2 * pi);
    t.arc = 1.5 * pi;
    checked(&v, &t, NULL, text);
    says(text, "270 of the 360 degrees");
    v.columns = 50;
    t = circle();
    t.shift_u = 40; /* pixels in place of a length */
    checked(&v, &t, NULL, text);
    says(text, "beside it");

    /* Parallel views of half a turn do not cancel: the axis has to be told from the shift. */
    parallel_half_turn(&v, &t);
    t.shift_u = 0.25;
    o = checked(&v, &t, NULL, text);
    near(o.shift_u, -0.5);
    near(o.isocentre[0], 0);
    near(o.isocentre[1], 0);
    quiet(&o, text);
}

static void truncation_is_the_part_beside_the_detector(void **state)
{
    (void)state;
    char text[4096];
    motet_ct_views v;
    motet_ct_trajectory t;
    parallel_half_turn(&v, &t);
    v.columns = 30; /* 15 of the circle's diameter 20 */
    v.rows = 36;    /* 18 of the height 20 */
    motet_ct_check o = checked(&v, &t, NULL, text);
    assert_true(fabs(o.truncated_u - 0.25) < 2e-3); /* the outline is a polygon of 64 points */
    near(o.truncated_v, 0.1);
    says(text, "25 % of the volume's width");
    says(text, "10 % of the volume's height");
    v = good();
    t = circle();
    v.columns = 50, v.rows = 20;
    o = checked(&v, &t, NULL, text);
    /* The near side of the ellipse is seen at 80 / (50 - 10). */
    assert_true(fabs(o.truncated_v - (1 - 25.0 / 40.0)) < 2e-3);
}

static void an_offset_detector_over_a_turn_is_not_called_truncated(void **state)
{
    (void)state;
    char text[4096];
    motet_ct_views v = good();
    motet_ct_trajectory t = circle();
    v.columns = 30;
    t.shift_u = 12.0;
    const motet_ct_check o = checked(&v, &t, NULL, text);
    assert_true(o.truncated_u > 0.1);
    assert_null(strstr(text, "truncation"));
    says(text, "offset detector");
}

static void negate_u(motet_ct_view *view, int64_t views)
{
    for (int64_t k = 0; k < views; k++)
        for (int i = 0; i < 3; i++) view[k].u[i] = -view[k].u[i];
}
static void negate_one(motet_ct_view *view, int64_t views)
{
    (void)views;
    negate_u(view + 3, 1);
}

static void mirrored_columns_are_warned_about(void **state)
{
    (void)state;
    char text[4096];
    const motet_ct_views v = good();
    const motet_ct_trajectory t = circle();
    motet_ct_check o = checked(&v, &t, negate_u, text);
    assert_int_equal(o.mirrored, 1);
    says(text, "turn the sign of u");
    o = checked(&v, &t, negate_one, text);
    assert_int_equal(o.mirrored, -1);
    says(text, "some views");
}

/* Row 3 of peers' complaints: linspace(0, 360) where radians were meant. */
static void degrees_taken_for_radians_are_seen_in_the_views_alone(void **state)
{
    (void)state;
    char text[4096];
    motet_ct_views v = good();
    motet_ct_trajectory t = circle();
    double angles[360];
    v.views = 360;
    t.angles = angles;
    for (int k = 0; k < 360; k++) angles[k] = 360.0 * k / 359;
    checked(&v, &t, NULL, text);
    says(text, "360 degrees taken for radians");
    for (int k = 0; k < 360; k++) angles[k] = -k;
    checked(&v, &t, NULL, text);
    says(text, "360 degrees taken for radians");
    for (int k = 0; k < 360; k++) angles[k] = 2.39996322972865332 * k; /* golden angle: meant so */
    const motet_ct_check o = checked(&v, &t, NULL, text);
    quiet(&o, text);
    t = circle();
    t.arc = 2 * pi / 180 * pi; /* and the other way round */
    checked(&v, &t, NULL, text);
    says(text, "radians taken for degrees");
}

static void lean(motet_ct_view *view, int64_t views)
{
    const double c = cos(0.4), s = sin(0.4);
    for (int64_t k = 0; k < views; k++) {
        double *vectors[] = {view[k].source, view[k].detector, view[k].u, view[k].v};
        for (int i = 0; i < 4; i++) {
            const double y = vectors[i][1], z = vectors[i][2];
            vectors[i][1] = c * y - s * z;
            vectors[i][2] = s * y + c * z;
        }
    }
}

static void a_leaning_axis_is_found_and_the_general_form_runs(void **state)
{
    (void)state;
    char text[4096];
    motet_ct_views v = good();
    const motet_ct_trajectory t = circle();
    const motet_ct_check o = checked(&v, &t, lean, text);
    near(o.axis[0], 0);
    near(o.axis[1], -sin(0.4));
    near(o.axis[2], cos(0.4));
    near(o.arc, 2 * pi);
    assert_int_equal(o.columns, 0);
    assert_true(o.steepest == 0);
}

static void random_directions_share_no_axis(void **state)
{
    (void)state;
    char text[4096];
    motet_ct_views v = good();
    motet_ct_trajectory t = circle();
    t.path = MOTET_CT_PATH_RANDOM;
    const motet_ct_check o = checked(&v, &t, NULL, text);
    assert_true(isnan(o.arc) && isnan(o.largest_gap) && isnan(o.needed));
    assert_null(strstr(text, "arc"));
}

static void a_helix_turns_about_its_middle(void **state)
{
    (void)state;
    char text[4096];
    motet_ct_views v = good();
    motet_ct_trajectory t = circle();
    t.path = MOTET_CT_PATH_HELICAL;
    t.arc = 4 * pi;
    t.rise = 8;
    const motet_ct_check o = checked(&v, &t, NULL, text);
    near(o.axis[2], 1);
    near(o.arc, 2 * pi);
    for (int i = 0; i < 3; i++) near(o.isocentre[i], 0);
    near(o.isocentre_spread, 8 * 2 * 35.0 / 36 / 2);
    assert_true(o.truncated_v > 0.05);
    assert_null(strstr(text, "height")); /* other turns see it */
}

/* ---- A helix against a search for the line through a place that ends on the path twice ---- */

typedef struct spiral {
    double radius, distance, rise; /* rise in a radian */
} spiral;

/* Of the line from the source at angle s through (x, y): how far the path goes on until the line
 * meets it again, and the part of the line where the place is. */
static double chord_of(const spiral *p, double s, double x, double y, double *part)
{
    const double from[2] = {p->radius * cos(s), p->radius * sin(s)};
    const double to[2] = {x - from[0], y - from[1]};
    const double square = to[0] * to[0] + to[1] * to[1];
    const double whole = -2 * (from[0] * to[0] + from[1] * to[1]) / square;
    const double end = atan2(from[1] + whole * to[1], from[0] + whole * to[0]);
    *part = 1 / whole;
    return fmod(end - s + 8 * pi, 2 * pi);
}

/* Where the path begins and ends to be needed by (x, y, 0). */
static void piece_of(const spiral *p, double x, double y, double *first, double *last)
{
    double low = -3 * pi, high = 3 * pi, part;
    for (int i = 0; i < 100; i++) {
        const double s = 0.5 * (low + high), on = chord_of(p, s, x, y, &part);
        const int above = s + on * part > 0.0; /* height over the rise */
        if (above)
            high = s;
        else
            low = s;
    }
    *first = low;
    *last = low + chord_of(p, low, x, y, &part);
}

/* The greatest height on the detector, from the source's, at which a place near the rim is seen. */
static double highest_of(const spiral *p, double reach, double *lead)
{
    double most = 0.0;
    *lead = 0.0;
    for (int i = 0; i < 720; i++) {
        const double x = reach * cos(pi * i / 360), y = reach * sin(pi * i / 360);
        double first, last;
        piece_of(p, x, y, &first, &last);
        *lead = fmax(*lead, fmax(-first, last) * p->rise);
        for (int j = 0; j <= 400; j++) {
            const double s = first + (last - first) * j / 400;
            const double depth = p->radius - (x * cos(s) + y * sin(s));
            most = fmax(most, fabs(-p->rise * s) * p->distance / depth);
        }
    }
    return most;
}

static void the_largest_pitch_of_a_helix_is_found(void **state)
{
    (void)state;
    char text[4096];
    for (int which = 0; which < 8; which++) {
        motet_ct_views v = good();
        motet_ct_trajectory t = circle();
        t.path = MOTET_CT_PATH_HELICAL;
        v.views = 400;
        v.columns = 70;
        v.nx = which & 1 ? 20 : 8;
        v.ny = 8;
        t.arc = (which & 2 ? -1 : 1) * 8 * pi;
        t.rise = (which & 4 ? -1 : 1) * 8.0;
        motet_ct_check o = checked(&v, &t, NULL, text);
        assert_null(strstr(text, "too large"));
        near(o.pitch, t.rise);
        const double reach = which & 1 ? 10 : 4;
        double lead;
        const spiral p = {50, 80, o.largest_pitch / (2 * pi)};
        const double highest = highest_of(&p, reach, &lead);
        assert_true(fabs(highest / 25 - 1) < 2e-3); /* of 40 rows of 1.25, half are above */
        t.rise = o.largest_pitch * 0.999;
        checked(&v, &t, NULL, text);
        assert_null(strstr(text, "too large"));
        t.rise = -o.largest_pitch * 1.001;
        o = checked(&v, &t, NULL, text);
        says(text, "too large");
        char largest[32];
        snprintf(largest, sizeof largest, "up to %.6g:", o.largest_pitch);
        says(text, largest);

        /* A path that ends `lead` beyond the volume is long enough, a shorter one is not. */
        const spiral one = {50, 80, 8 / (2 * pi)};
        highest_of(&one, reach, &lead);
        for (int enough = 0; enough < 2; enough++) {
            const double half = 10 + lead * (enough ? 1.002 : 0.99);
            t.rise = 8;
            t.arc = 2 * pi * (2 * half) / 8 * (double)v.views / (double)(v.views - 1);
            checked(&v, &t, NULL, text);
            assert_true((strstr(text, "begin and end") == NULL) == enough);
        }
    }
}

/* Rows to one side only of the source's plane see one turn and not the other. */
static void a_detector_beside_the_plane_of_the_source_allows_less_pitch(void **state)
{
    (void)state;
    char text[4096];
    motet_ct_views v = good();
    motet_ct_trajectory t = circle();
    t.path = MOTET_CT_PATH_HELICAL;
    v.views = 400;
    t.arc = 8 * pi;
    t.rise = 8;
    const double middle = checked(&v, &t, NULL, text).largest_pitch;
    t.shift_v = 12.5; /* half of its half */
    near(checked(&v, &t, NULL, text).largest_pitch, 0.5 * middle);
    t.shift_v = -12.5;
    near(checked(&v, &t, NULL, text).largest_pitch, 0.5 * middle);
    t.path = MOTET_CT_PATH_SADDLE;
    t.amplitude = 3;
    assert_true(isnan(checked(&v, &t, NULL, text).largest_pitch));
    t = circle();
    assert_true(isnan(checked(&v, &t, NULL, text).pitch));
}

/* ---- What filtered back-projection warns of ---- */

static int fdk_warns(const motet_ct_views *v, const motet_ct_trajectory *t, const char *words)
{
    motet_context *c = test_context();
    motet_ct_views made;
    motet_ct_geometry *g = NULL;
    motet_array *sinogram = NULL, *volume = NULL;
    char *report = NULL;
    assert_ok(c, motet_ct_trajectory_make(c, t, v, &made));
    assert_ok(c, motet_ct_geometry_create(c, &made, &g));
    assert_ok(c, motet_array_create(c, MOTET_F32, 3, (int64_t[]){v->views, v->columns, v->rows},
                                    &sinogram));
    assert_ok(c, motet_array_create(c, MOTET_F32, 3, (int64_t[]){v->nz, v->ny, v->nx}, &volume));
    assert_ok(c, motet_ct_fdk(g, NULL, sinogram, volume));
    assert_ok(c, motet_context_report(c, &report));
    const int found = strstr(report, words) != NULL;
    motet_text_free(c, report);
    motet_array_free(sinogram);
    motet_array_free(volume);
    motet_ct_geometry_free(g);
    motet_ct_views_release(c, &made);
    motet_context_free(c);
    return found;
}

static void what_filtered_back_projection_warns_of_is_told(void **state)
{
    (void)state;
    static const double arcs[] = {40, 150, 180, 190, 203, 204, 215, 225, 240, 270, 330, 355, 360};
    int told[3] = {0, 0, 0}, cases = 0;
    char text[4096];
    for (size_t i = 0; i < sizeof arcs / sizeof *arcs; i++)
        for (int which = 0; which < 24; which++, cases++) {
            motet_ct_views v = good();
            motet_ct_trajectory t = circle();
            v.rows = v.nz = 3;
            v.views = which & 1 ? 12 : 36;
            v.columns = which & 2 ? 20 : 50;
            if (which & 4) v.centre[0] = 8;
            t.shift_u = (double[]){0, 10, 40}[which / 8];
            t.arc = arcs[i] * pi / 180;
            t.path = MOTET_CT_PATH_SINUSOIDAL;
            t.amplitude = which % 3 * 1.1; /* the detector is 2.34 high at the axis */
            checked(&v, &t, NULL, text);
            const int is[3] = {strstr(text, "short arc") || strstr(text, "of the 360 degrees") ||
                                   strstr(text, "radians taken for degrees"),
                               strstr(text, "beside it: a shift is a length") && t.shift_u > 0,
                               strstr(text, "the path rises") != NULL};
            static const char *const words[] = {"degrees that a complete scan needs",
                                                "one side of the axis only", "the path rises"};
            for (int k = 0; k < 3; k++) {
                const int warned = fdk_warns(&v, &t, words[k]);
                if (warned != is[k])
                    print_error("%g degrees, %d: \"%s\" %d, check: %s\n", arcs[i], which, words[k],
                                warned, text);
                assert_int_equal(warned, is[k]);
                told[k] += warned;
            }
        }
    for (int k = 0; k < 3; k++) assert_true(told[k] > 0 && told[k] < cases);
}

static void one_view_and_two_opposite_ones_are_legal(void **state)
{
    (void)state;
    char text[4096];
    motet_ct_views v = good();
    motet_ct_trajectory t = circle();
    v.views = 1;
    motet_ct_check o = checked(&v, &t, NULL, text);
    near(o.axis[2], 1);
    near(o.arc, 0);
    says(text, "short arc");
    v.views = 2;
    o = checked(&v, &t, NULL, text);
    near(o.axis[2], 1);
    near(o.largest_gap, pi);
    near(o.arc, pi);
    assert_int_equal(o.mirrored, 0);
}

static void stand_still(motet_ct_view *view, int64_t views)
{
    for (int64_t k = 1; k < views; k++) view[k] = view[0];
}
/* A stage that is stuck: all views are one. */
static void views_that_do_not_turn_are_told(void **state)
{
    (void)state;
    char text[4096];
    const motet_ct_views v = good();
    const motet_ct_trajectory t = circle();
    const motet_ct_check o = checked(&v, &t, stand_still, text);
    near(o.arc, 0);
    says(text, "short arc");
}

static void a_source_in_the_volume_is_counted(void **state)
{
    (void)state;
    char text[4096];
    const motet_ct_views v = good();
    motet_ct_trajectory t = circle();
    t.sid = 4;
    const motet_ct_check o = checked(&v, &t, NULL, text);
    assert_int_equal(o.inside, 36);
    near(o.truncated_u, 1);
    says(text, "inside the volume in 36 views");
}

static void a_detector_before_the_volume_is_suspected(void **state)
{
    (void)state;
    char text[4096];
    const motet_ct_views v = good();
    motet_ct_trajectory t = circle();
    t.sid = 80, t.sdd = 50;
    const motet_ct_check o = checked(&v, &t, NULL, text);
    near(o.magnification, 0.625);
    says(text, "not between source and detector (magnification 0.625)");
}

static void a_unit_that_does_not_fit_is_suspected(void **state)
{
    (void)state;
    char text[4096];
    motet_ct_views v = good();
    const motet_ct_trajectory t = circle();
    for (int i = 0; i < 3; i++) v.voxel[i] = 0.001;
    checked(&v, &t, NULL, text);
    says(text, "another unit");
}

static void slices_of_a_parallel_beam_are_not_views_in_space(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_parallel p;
    motet_ct_parallel_init(&p);
    const double angle = 0;
    p.views = 1, p.columns = 3, p.rows = 1;
    p.angles = &angle;
    motet_ct_geometry *g = NULL;
    motet_ct_check out = {.warnings = 77};
    assert_ok(c, motet_ct_geometry_parallel(c, &p, &g));
    assert_status(c, motet_ct_geometry_check(g, &out, NULL), MOTET_UNSUPPORTED);
    assert_int_equal(out.warnings, 77);
    motet_ct_geometry_free(g);
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_circular_scan_has_its_figures_and_no_warnings),
        cmocka_unit_test(half_a_turn_is_enough_for_parallel_rays_only),
        cmocka_unit_test(isocentre_is_found_where_the_scan_turns),
        cmocka_unit_test(an_isocentre_off_the_origin_is_found),
        cmocka_unit_test(shifts_are_told_in_pixels_with_their_sign),
        cmocka_unit_test(truncation_is_the_part_beside_the_detector),
        cmocka_unit_test(an_offset_detector_over_a_turn_is_not_called_truncated),
        cmocka_unit_test(mirrored_columns_are_warned_about),
        cmocka_unit_test(degrees_taken_for_radians_are_seen_in_the_views_alone),
        cmocka_unit_test(a_leaning_axis_is_found_and_the_general_form_runs),
        cmocka_unit_test(random_directions_share_no_axis),
        cmocka_unit_test(a_helix_turns_about_its_middle),
        cmocka_unit_test(the_largest_pitch_of_a_helix_is_found),
        cmocka_unit_test(a_detector_beside_the_plane_of_the_source_allows_less_pitch),
        cmocka_unit_test(what_filtered_back_projection_warns_of_is_told),
        cmocka_unit_test(one_view_and_two_opposite_ones_are_legal),
        cmocka_unit_test(views_that_do_not_turn_are_told),
        cmocka_unit_test(a_source_in_the_volume_is_counted),
        cmocka_unit_test(a_detector_before_the_volume_is_suspected),
        cmocka_unit_test(a_unit_that_does_not_fit_is_suspected),
        cmocka_unit_test(slices_of_a_parallel_beam_are_not_views_in_space),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
