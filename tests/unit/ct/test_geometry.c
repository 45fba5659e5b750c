/* What a geometry accepts, refuses and warns about; the weights of views. */
#include "ct/geometry.h"
#include "support/ct_scan.h"

static const double pi = 3.14159265358979323846;

static motet_status make(motet_context *c, motet_ct_parallel p)
{
    motet_ct_geometry *g = NULL;
    const motet_status st = motet_ct_geometry_parallel(c, &p, &g);
    assert_int_equal(st == MOTET_OK, g != NULL);
    motet_ct_geometry_free(g);
    return st;
}

/* Every field out of range is refused by its name and value. */
static void refuses_fields_out_of_range(void **state)
{
    (void)state;
    motet_context *c = test_context();
    double angles[3] = {0.0, 1.0, 2.0};
    const motet_ct_parallel good = ct_parallel(3, angles, 8, 2);
    assert_ok(c, make(c, good));
#define REFUSED(field, value, word)                                                                \
    do {                                                                                           \
        motet_ct_parallel bad = good;                                                              \
        bad.field = value;                                                                         \
        assert_status(c, make(c, bad), MOTET_BAD_ARGUMENT);                                        \
        assert_message(c, #field, word, NULL);                                                     \
    } while (0)
    REFUSED(size, 4, "4");
    REFUSED(views, 0, "0");
    REFUSED(columns, 0, "0");
    REFUSED(columns, (int64_t)1 << 40, "1099511627776");
    REFUSED(rows, -1, "-1");
    REFUSED(nx, -2, "-2");
    REFUSED(ny, -2, "-2");
    REFUSED(pitch, 0.0, "0");
    REFUSED(pitch, -1.5, "-1.5");
    REFUSED(pitch, NAN, "nan");
    REFUSED(pitch, INFINITY, "inf");
    REFUSED(voxel, -1.0, "-1");
    REFUSED(voxel, NAN, "nan");
    REFUSED(voxel, 5000.0, "5000");
    REFUSED(voxel, 1e-9, "1024");
    REFUSED(centre, 100.0, "100");
    REFUSED(centre, -INFINITY, "-inf");
    REFUSED(angles, NULL, "NULL");
#undef REFUSED
    angles[1] = NAN;
    assert_status(c, make(c, good), MOTET_BAD_ARGUMENT);
    assert_message(c, "angle 1", "nan", NULL);
    motet_ct_geometry_free(NULL);
    motet_context_free(c);
}

static void count_warnings(motet_log_level level, const char *component, const char *text,
                           void *user)
{
    (void)component;
    if (level == MOTET_LOG_WARNING && strstr(text, "degrees")) ++*(int *)user;
}

/* A scan of 0 to 180 "radians" is taken for degrees; spirals of a few turns are not. */
static void warns_about_degrees(void **state)
{
    (void)state;
    int warnings = 0;
    motet_context_options options;
    motet_context_options_init(&options);
    options.log = count_warnings;
    options.log_user = &warnings;
    motet_context *c = NULL;
    assert_int_equal(motet_context_create(&options, &c), MOTET_OK);
    double *angles = ct_angles(181, 0.0, 181.0);
    assert_ok(c, make(c, ct_parallel(181, angles, 8, 1)));
    assert_int_equal(warnings, 1);
    for (int k = 0; k < 181; k++) angles[k] *= pi / 180.0;
    assert_ok(c, make(c, ct_parallel(181, angles, 8, 1)));
    for (int k = 0; k < 181; k++) angles[k] *= 4.0; /* two turns */
    assert_ok(c, make(c, ct_parallel(181, angles, 8, 1)));
    assert_int_equal(warnings, 1);
    free(angles);
    motet_context_free(c);
}

/* Defaults: square slices of the detector's width, voxels of its pitch, the axis in its middle. */
static void fills_in_defaults(void **state)
{
    (void)state;
    motet_context *c = test_context();
    const double angle = 0.0;
    motet_ct_parallel p = ct_parallel(1, &angle, 9, 2);
    p.pitch = 0.25;
    motet_ct_geometry *g = NULL;
    assert_ok(c, motet_ct_geometry_parallel(c, &p, &g));
    assert_true(g->grid.nx == 9 && g->grid.ny == 9 && g->voxel == 0.25 && g->grid.centre == 4.0);
    motet_ct_geometry_free(g);
    motet_context_free(c);
}

/* Right angles are exact whichever way they were rounded; others are sine and cosine. */
static void right_angles_are_exact(void **state)
{
    (void)state;
    for (int k = -9; k <= 9; k++) {
        double c, s;
        ct_direction(k * pi / 2, &c, &s);
        const int quarter = ((k % 4) + 4) % 4;
        assert_true(c == (quarter == 0 ? 1.0 : quarter == 2 ? -1.0 : 0.0));
        assert_true(s == (quarter == 1 ? 1.0 : quarter == 3 ? -1.0 : 0.0));
        ct_direction(k * pi / 2 + 1e-5, &c, &s);
        assert_true(fabs(c - cos(k * pi / 2 + 1e-5)) < 1e-15 && c != 0.0 && s != 0.0);
    }
}

static void weights_of(motet_context *c, const double *angles, int64_t views, double *weights,
                       double *wedge)
{
    assert_ok(c, ct_view_weights(c, angles, views, weights, wedge));
    double sum = 0.0;
    for (int64_t k = 0; k < views; k++) sum += weights[k];
    if (*wedge == 0.0) assert_true(fabs(sum - pi) < 1e-12);
}

/* Even scans weigh evenly, in any order and over any number of half turns; doubled views share. */
static void views_weigh_what_they_stand_for(void **state)
{
    (void)state;
    motet_context *c = test_context();
    double angles[361], w[361], wedge;
    for (int turns = 1; turns <= 2; turns++) { /* 0 to 180 or 360 degrees, the end included */
        const int views = 180 * turns + 1;
        for (int k = 0; k < views; k++) angles[k] = (double)(k * 7 % views) * pi / 180.0 - 3.0 * pi;
        weights_of(c, angles, views, w, &wedge);
        for (int k = 0; k < views; k++) {
            const int degree = k * 7 % views;
            const double share = turns == 1     ? (degree % 180 ? 1.0 : 0.5)
                                 : degree % 180 ? 0.5
                                                : 1.0 / 3.0;
            assert_true(fabs(w[k] - share * pi / 180.0) < 1e-9 && wedge == 0.0);
        }
    }
    const double uneven[] = {0.0, 0.2, 0.3, 1.0, 1.9, 2.4};
    weights_of(c, uneven, 6, w, &wedge);
    assert_true(fabs(w[0] - 0.5 * (0.2 + pi - 2.4)) < 1e-12);
    assert_true(fabs(w[3] - 0.5 * (0.7 + 0.9)) < 1e-12);
    const double one = 1.234;
    weights_of(c, &one, 1, w, &wedge);
    assert_true(fabs(w[0] - pi) < 1e-12);
    motet_context_free(c);
}

/* A missing wedge is not smeared over by the views beside it, and is reported. */
static void missing_wedge_is_left_out(void **state)
{
    (void)state;
    motet_context *c = test_context();
    double angles[91], w[91], wedge;
    for (int k = 0; k < 91; k++) angles[k] = k * pi / 180.0;
    weights_of(c, angles, 91, w, &wedge);
    for (int k = 0; k < 91; k++) assert_true(fabs(w[k] - pi / 180.0) < 1e-9);
    assert_true(fabs(wedge - pi / 2) < 1e-9);
    motet_context_free(c);
}

/* Every failing allocation of a geometry answers NO_MEMORY and leaves nothing behind. */
static void survives_every_failing_allocation(void **state)
{
    (void)state;
    const double angles[] = {0.0, 1.0, 2.0};
    motet_context *c = test_context_failing(0, 0);
    motet_memory before, after;
    motet_context_memory(c, &before);
    int64_t nth = 1;
    for (;; nth++) {
        test_context_fail_at(c, nth, 0);
        double weights[3], wedge;
        motet_ct_geometry *g = NULL;
        motet_ct_parallel p = ct_parallel(3, angles, 8, 1);
        motet_status st = motet_ct_geometry_parallel(c, &p, &g);
        if (st == MOTET_OK) st = ct_view_weights(c, angles, 3, weights, &wedge);
        motet_ct_geometry_free(g);
        motet_context_memory(c, &after);
        assert_true(after.now == before.now && after.blocks == before.blocks);
        if (!test_context_failed(c)) {
            assert_int_equal(st, MOTET_OK);
            break;
        }
        assert_int_equal(st, MOTET_NO_MEMORY);
    }
    assert_true(nth > 8);
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(refuses_fields_out_of_range),
                                       cmocka_unit_test(warns_about_degrees),
                                       cmocka_unit_test(fills_in_defaults),
                                       cmocka_unit_test(right_angles_are_exact),
                                       cmocka_unit_test(views_weigh_what_they_stand_for),
                                       cmocka_unit_test(missing_wedge_is_left_out),
                                       cmocka_unit_test(survives_every_failing_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
