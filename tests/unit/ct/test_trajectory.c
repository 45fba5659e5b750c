/* Where paths put source and detector. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

static const double pi = 3.14159265358979323846;

static motet_ct_views cone(int64_t views)
{
    motet_ct_views v;
    motet_ct_views_init(&v);
    v.views = views;
    v.columns = v.rows = v.nx = v.ny = v.nz = 4;
    return v;
}

static motet_ct_trajectory circle(void)
{
    motet_ct_trajectory t;
    motet_ct_trajectory_init(&t);
    t.sid = 3.0, t.sdd = 5.0;
    return t;
}

static void assert_near(const double a[3], double x, double y, double z)
{
    const double b[3] = {x, y, z};
    for (int i = 0; i < 3; i++) assert_true(fabs(a[i] - b[i]) <= 1e-12);
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* u x v, from the detector towards the source. */
static void normal_of(const motet_ct_view *w, double n[3])
{
    for (int i = 0; i < 3; i++)
        n[i] = w->u[(i + 1) % 3] * w->v[(i + 2) % 3] - w->u[(i + 2) % 3] * w->v[(i + 1) % 3];
}

static void circular_source_at_0_looks_along_y_and_quarter_turns_are_exact(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_view w[4];
    const motet_ct_views g = cone(4);
    const motet_ct_trajectory t = circle();
    assert_ok(c, motet_ct_trajectory_views(c, &t, &g, w));
    const double at[4][2] = {{0, -1}, {1, 0}, {0, 1}, {-1, 0}};
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < 3; i++) { /* exactly: no 1e-16 where a ray should run along an axis */
            const double towards = i < 2 ? at[k][i] : 0.0;
            assert_true(w[k].source[i] == 3.0 * towards);
            assert_true(w[k].detector[i] == -2.0 * towards);
            assert_true(w[k].v[i] == (i == 2 ? 1.0 : 0.0));
        }
        assert_true(w[k].u[0] == -at[k][1] && w[k].u[1] == at[k][0]);
    }
    motet_context_free(c);
}

static void parallel_rays_run_as_those_of_a_source_far_away(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_view w[7];
    motet_ct_views g = cone(7);
    g.beam = MOTET_CT_BEAM_PARALLEL;
    motet_ct_trajectory t;
    motet_ct_trajectory_init(&t);
    t.start = 0.1;
    t.arc = pi;
    assert_ok(c, motet_ct_trajectory_views(c, &t, &g, w));
    for (int k = 0; k < 7; k++) {
        const double a = 0.1 + pi * k / 7;
        assert_near(w[k].source, -sin(a), cos(a), 0);
        assert_near(w[k].u, cos(a), sin(a), 0);
        assert_near(w[k].detector, 0, 0, 0);
    }
    motet_context_free(c);
}

static void helix_rises_a_pitch_a_turn_about_height_0(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_view w[25];
    const motet_ct_views g = cone(25);
    motet_ct_trajectory t = circle();
    t.path = MOTET_CT_PATH_HELICAL;
    t.arc = 2 * pi * 25 / 12; /* 12 views a turn */
    t.rise = 6.0;
    assert_ok(c, motet_ct_trajectory_views(c, &t, &g, w));
    for (int k = 0; k < 25; k++) {
        const double a = 2 * pi * k / 12, z = 0.5 * (k - 12);
        assert_near(w[k].source, 3 * sin(a), -3 * cos(a), z);
        assert_near(w[k].detector, -2 * sin(a), 2 * cos(a), z);
    }
    motet_context_free(c);
}

static void saddle_and_sinusoid_have_their_heights(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_view w[9];
    const motet_ct_views g = cone(9);
    motet_ct_trajectory t = circle();
    t.amplitude = 0.75;
    t.periods = 3;
    t.path = MOTET_CT_PATH_SADDLE;
    assert_ok(c, motet_ct_trajectory_views(c, &t, &g, w));
    for (int k = 0; k < 9; k++) {
        const double a = 2 * pi * k / 9, z = 0.75 * cos(2 * a);
        assert_near(w[k].source, 3 * sin(a), -3 * cos(a), z);
        assert_near(w[k].detector, -2 * sin(a), 2 * cos(a), z);
    }
    t.path = MOTET_CT_PATH_SINUSOIDAL;
    assert_ok(c, motet_ct_trajectory_views(c, &t, &g, w));
    for (int k = 0; k < 9; k++) {
        const double a = 2 * pi * k / 9;
        assert_near(w[k].source, 3 * sin(a), -3 * cos(a), 0.75 * sin(3 * a));
    }
    motet_context_free(c);
}

static void shift_moves_along_the_tilted_axes(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_view w;
    const motet_ct_views g = cone(1);
    motet_ct_trajectory t = circle();
    t.tilt = pi / 6;
    t.shift_u = 2.0;
    t.shift_v = -1.0;
    assert_ok(c, motet_ct_trajectory_views(c, &t, &g, &w));
    assert_near(w.u, cos(pi / 6), 0, 0.5);
    assert_near(w.v, -0.5, 0, cos(pi / 6));
    assert_near(w.detector, 2 * cos(pi / 6) + 0.5, 2, 1 - cos(pi / 6));
    assert_near(w.source, 0, -3, 0);
    double n[3];
    normal_of(&w, n);
    assert_near(n, 0, -1, 0); /* a tilt is about the normal */
    motet_context_free(c);
}

static void random_views_are_orthonormal_spread_and_repeatable(void **state)
{
    (void)state;
    motet_context *c = test_context();
    enum { VIEWS = 400 };
    static motet_ct_view w[VIEWS], again[VIEWS];
    motet_ct_views g = cone(VIEWS);
    motet_ct_trajectory t = circle();
    t.path = MOTET_CT_PATH_RANDOM;
    t.seed = 7;
    assert_ok(c, motet_ct_trajectory_views(c, &t, &g, w));
    double sum[3] = {0}, square[3] = {0}, turn = 0;
    for (int k = 0; k < VIEWS; k++) {
        double n[3];
        normal_of(&w[k], n);
        assert_true(fabs(dot(w[k].u, w[k].u) - 1) < 1e-12 && fabs(dot(w[k].v, w[k].v) - 1) < 1e-12);
        assert_true(fabs(dot(w[k].u, w[k].v)) < 1e-12);
        assert_near(w[k].source, 3 * n[0], 3 * n[1], 3 * n[2]);
        assert_near(w[k].detector, -2 * n[0], -2 * n[1], -2 * n[2]);
        for (int i = 0; i < 3; i++) sum[i] += n[i], square[i] += n[i] * n[i];
        turn += w[k].v[2] > 0 ? 1 : -1;
    }
    for (int i = 0; i < 3; i++) {
        assert_true(fabs(sum[i] / VIEWS) < 0.12); /* 4 standard errors of sqrt(1/3) / 20 */
        assert_true(fabs(square[i] / VIEWS - 1.0 / 3) < 0.06);
    }
    assert_true(fabs(turn / VIEWS) < 0.2);
    g.views = 10; /* a view depends on the seed and its number alone */
    assert_ok(c, motet_ct_trajectory_views(c, &t, &g, again));
    assert_memory_equal(w, again, 10 * sizeof *w);
    t.seed = 8;
    assert_ok(c, motet_ct_trajectory_views(c, &t, &g, again));
    assert_memory_not_equal(w, again, 10 * sizeof *w);
    motet_context_free(c);
}

static void given_angles_are_taken_in_place_of_an_arc(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_view w[3];
    const motet_ct_views g = cone(3);
    motet_ct_trajectory t = circle();
    const double angles[3] = {0.5, -0.25, 2.0};
    t.angles = angles;
    t.arc = NAN; /* not looked at */
    assert_ok(c, motet_ct_trajectory_views(c, &t, &g, w));
    for (int k = 0; k < 3; k++) assert_near(w[k].u, cos(angles[k]), sin(angles[k]), 0);
    motet_context_free(c);
}

static void fields_out_of_range_are_named_and_nothing_is_written(void **state)
{
    (void)state;
    motet_context *c = test_context();
    const motet_ct_views g = cone(2);
    const motet_ct_trajectory good = circle();
    motet_ct_view w[2], before[2];
    memset(w, 0x5a, sizeof w);
    memcpy(before, w, sizeof w);
#define REFUSED(field, value, word)                                                                \
    do {                                                                                           \
        motet_ct_trajectory bad = good;                                                            \
        bad.field = value;                                                                         \
        assert_status(c, motet_ct_trajectory_views(c, &bad, &g, w), MOTET_BAD_ARGUMENT);           \
        assert_message(c, #field, word, NULL);                                                     \
        assert_memory_equal(w, before, sizeof w);                                                  \
    } while (0)
    REFUSED(size, 4, "4");
    REFUSED(path, (motet_ct_path)9, "9");
    REFUSED(sid, -1.0, "-1");
    REFUSED(sid, NAN, "nan");
    REFUSED(sdd, 0.0, "0");
    REFUSED(sdd, INFINITY, "inf");
    REFUSED(start, NAN, "nan");
    REFUSED(arc, INFINITY, "inf");
    REFUSED(arc, 1e9, "1000000000");
    REFUSED(rise, NAN, "nan");
    REFUSED(amplitude, NAN, "nan");
    REFUSED(periods, 1e9, "1000000000");
    REFUSED(shift_u, NAN, "nan");
    REFUSED(shift_v, NAN, "nan");
    REFUSED(tilt, 1e9, "1000000000");
#undef REFUSED
    const double angles[2] = {0, NAN};
    motet_ct_trajectory bad = good;
    bad.angles = angles;
    assert_status(c, motet_ct_trajectory_views(c, &bad, &g, w), MOTET_BAD_ARGUMENT);
    assert_message(c, "angle 1", "nan", NULL);
    motet_ct_views none = g;
    none.views = 0;
    assert_status(c, motet_ct_trajectory_views(c, &good, &none, w), MOTET_BAD_ARGUMENT);
    assert_message(c, "views", "0", NULL);
    motet_ct_views made = {.views = 77};
    assert_status(c, motet_ct_trajectory_make(c, &good, &none, &made), MOTET_BAD_ARGUMENT);
    assert_int_equal(made.views, 77);
    motet_context_free(c);
}

static void made_views_are_the_callers_until_released(void **state)
{
    (void)state;
    motet_context *c = test_context();
    const motet_ct_views g = cone(5);
    const motet_ct_trajectory t = circle();
    motet_ct_views made;
    motet_ct_view w[5];
    assert_ok(c, motet_ct_trajectory_make(c, &t, &g, &made));
    assert_ok(c, motet_ct_trajectory_views(c, &t, &g, w));
    assert_memory_equal(w, made.view, sizeof w);
    assert_int_equal(made.columns, 4);
    motet_ct_views_release(c, &made);
    assert_null(made.view);
    motet_ct_views_release(c, &made);
    motet_context_free(c);
}

static void count(motet_log_level level, const char *component, const char *text, void *user)
{
    (void)component;
    if (level == MOTET_LOG_WARNING && strstr(text, "degrees")) ++*(int *)user;
}

/* A peer's user gave linspace(0, 360) where radians were meant and blamed the solver. */
static void degrees_taken_for_radians_are_warned_about_and_a_helix_is_not(void **state)
{
    (void)state;
    int warnings = 0;
    motet_context_options options;
    motet_context_options_init(&options);
    options.log = count;
    options.log_user = &warnings;
    motet_context *c = NULL;
    assert_int_equal(motet_context_create(&options, &c), MOTET_OK);
    static motet_ct_view w[360];
    const motet_ct_views g = cone(360);
    motet_ct_trajectory t = circle();
    assert_ok(c, motet_ct_trajectory_views(c, &t, &g, w));
    t.path = MOTET_CT_PATH_HELICAL;
    t.arc = 10 * 2 * pi;
    assert_ok(c, motet_ct_trajectory_views(c, &t, &g, w));
    assert_int_equal(warnings, 0);
    t.path = MOTET_CT_PATH_CIRCULAR;
    t.arc = 360;
    assert_ok(c, motet_ct_trajectory_views(c, &t, &g, w));
    assert_int_equal(warnings, 1);
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(circular_source_at_0_looks_along_y_and_quarter_turns_are_exact),
        cmocka_unit_test(parallel_rays_run_as_those_of_a_source_far_away),
        cmocka_unit_test(helix_rises_a_pitch_a_turn_about_height_0),
        cmocka_unit_test(saddle_and_sinusoid_have_their_heights),
        cmocka_unit_test(shift_moves_along_the_tilted_axes),
        cmocka_unit_test(random_views_are_orthonormal_spread_and_repeatable),
        cmocka_unit_test(given_angles_are_taken_in_place_of_an_arc),
        cmocka_unit_test(fields_out_of_range_are_named_and_nothing_is_written),
        cmocka_unit_test(made_views_are_the_callers_until_released),
        cmocka_unit_test(degrees_taken_for_radians_are_warned_about_and_a_helix_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
