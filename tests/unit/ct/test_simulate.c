/* The simulated scan and its known answer. */
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ct/phantom.h"

/* The closed form of a ray agrees with adding up points along it. */
static void line_integrals_agree_with_quadrature(void **state)
{
    (void)state;
    const phantom head = phantom_head(1.0, 1.0, 2.0);
    uint64_t random = 5;
    for (int ray = 0; ray < 40; ray++) {
        const double t = test_uniform(&random, 0.0, 2.0 * M_PI),
                     s = test_uniform(&random, -1.0, 1.0);
        const int steps = 200000;
        double sum = 0.0;
        for (int i = 0; i < steps; i++) {
            const double r = -1.0 + 2.0 * (i + 0.5) / steps;
            sum += phantom_point(&head, s * cos(t) - r * sin(t), s * sin(t) + r * cos(t));
        }
        sum *= 2.0 / steps;
        assert_true(fabs(sum - phantom_line(&head, s, cos(t), sin(t))) < 2e-4);
    }
}

/* All rays of one direction add up to the area times the value, for every direction. */
static void mass_is_the_same_from_everywhere(void **state)
{
    (void)state;
    const phantom head = phantom_head(2.0, 0.5, 1.5);
    double mass = 0.0;
    for (int i = 0; i < PHANTOM_ELLIPSES; i++)
        mass += head.ellipse[i].value * M_PI * head.ellipse[i].a * head.ellipse[i].b;
    for (int d = 0; d < 12; d++) {
        double sum = 0.0;
        for (int i = 0; i < 20000; i++)
            sum += phantom_line(&head, -1.0 + 2.0 * (i + 0.5) / 20000, cos(0.3 * d), sin(0.3 * d)) *
                   2.0 / 20000;
        assert_true(fabs(sum - mass) < 1e-4 * mass);
    }
}

/* Without noise the scan, opened again, holds the line integrals to the rounding of counts. */
static void scan_holds_the_line_integrals(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_simulate_options o;
    motet_ct_simulate_options_init(&o);
    o.views = 24, o.rows = 3, o.columns = 40, o.counts = 0, o.centre = 21.25, o.arc = 180;
    const char *path = test_path("quiet.h5");
    assert_ok(c, motet_ct_simulate(c, &o, path, 0));
    motet_ct_scan *scan = NULL;
    motet_array *a = NULL;
    assert_ok(c, motet_ct_scan_open(c, path, NULL, &scan));
    motet_ct_scan_info info;
    motet_ct_scan_describe(scan, &info);
    assert_true(info.views == 24 && info.rows == 3 && info.columns == 40);
    assert_true(info.flats == 10 && info.darks == 10 && info.type == MOTET_U16);
    assert_true(fabs(info.pitch - 0.05) < 1e-12 && fabs(info.last_angle - M_PI) < 1e-12);
    assert_ok(c, motet_array_create(c, MOTET_F32, 3, (int64_t[3]){24, 40, 3}, &a));
    assert_ok(c, motet_ct_scan_read(scan, 0, a));
    const float *got = motet_array_data(a);
    const double radius = 0.42 * 40 * 0.05;
    double most = 0.0;
    for (int v = 0; v < 3; v++) {
        const phantom head = phantom_head(radius, 1.0 - 0.05 * v, 3.6 / radius);
        for (int k = 0; k < 24; k++)
            for (int u = 0; u < 40; u++) {
                const double t = M_PI * k / 23.0;
                const double want = phantom_line(&head, (u - 21.25) * 0.05, cos(t), sin(t));
                assert_true(fabs((double)got[(k * 40 + u) * 3 + v] - want) < 1e-3);
                most = fmax(most, want);
            }
    }
    assert_true(most > 1.7 && most < 2.3);
    motet_array_free(a);
    motet_ct_scan_free(scan);
    motet_context_free(c);
}

/* Noise has the variance of counting, other seeds give other noise, one seed the same file values.
 */
static void noise_is_that_of_counting(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_simulate_options o;
    motet_ct_simulate_options_init(&o);
    o.views = 2, o.rows = 4, o.columns = 64, o.flats = 200, o.counts = 5000, o.seed = 3;
    static uint16_t first[200 * 256], again[200 * 256];
    for (int run = 0; run < 3; run++) {
        motet_store *store = NULL;
        uint16_t *into = run == 0 ? first : again;
        o.seed = run == 2 ? 4 : 3;
        assert_ok(c, motet_ct_simulate(c, &o, test_path("noisy.h5"), 1));
        assert_ok(c, motet_store_open(c, test_path("noisy.h5"), "/exchange/data_white", &store));
        assert_ok(c, motet_store_read(store, 0, 200, MOTET_U16, into));
        motet_store_free(store);
        if (run == 1) assert_memory_equal(first, again, sizeof first);
        if (run == 2) assert_memory_not_equal(first, again, sizeof first);
    }
    double ratio = 0.0, smallest = 1e9, largest = 0.0;
    for (int p = 0; p < 256; p++) {
        double sum = 0.0, squares = 0.0;
        for (int i = 0; i < 200; i++) {
            const double n = first[i * 256 + p];
            sum += n, squares += n * n;
        }
        const double mean = sum / 200.0;
        ratio += (squares / 200.0 - mean * mean) * 200.0 / 199.0 / mean / 256.0;
        smallest = fmin(smallest, mean), largest = fmax(largest, mean);
    }
    assert_true(fabs(ratio - 1.0) < 0.03);
    assert_true(largest > 1.1 * smallest); /* the gain is a pattern */
    motet_context_free(c);
}

/* The truth is the phantom: its mass is the closed form's, its rows differ, its middle is brain. */
static void truth_is_the_phantom(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_simulate_options o;
    motet_ct_simulate_options_init(&o);
    motet_array *a = NULL;
    assert_ok(c, motet_array_create(c, MOTET_F32, 3, (int64_t[3]){4, 128, 128}, &a));
    assert_ok(c, motet_ct_simulate_truth(c, &o, 0.05, a));
    const float *data = motet_array_data(a);
    const double radius = 0.42 * 128 * 0.05;
    double before = 1e9;
    for (int z = 0; z < 4; z++) {
        const phantom head = phantom_head(radius, 1.0 - 0.1 * z / 3.0, 3.6 / radius);
        double want = 0.0, sum = 0.0;
        for (int i = 0; i < PHANTOM_ELLIPSES; i++)
            want += head.ellipse[i].value * M_PI * head.ellipse[i].a * head.ellipse[i].b;
        for (int i = 0; i < 128 * 128; i++) sum += (double)data[z * 128 * 128 + i] * 0.05 * 0.05;
        assert_true(fabs(sum - want) < 5e-3 * want && want < before);
        before = want;
        assert_true(data[z * 128 * 128] == 0.0f);
    }
    motet_array_free(a);
    assert_ok(c, motet_array_create(c, MOTET_F32, 3, (int64_t[3]){5, 8, 8}, &a));
    assert_status(c, motet_ct_simulate_truth(c, &o, 0.05, a), MOTET_BAD_SHAPE);
    assert_message(c, "5 slices", "4", NULL);
    motet_array_free(a);
    motet_context_free(c);
}

/* The finder gets the axis that the simulator was given. */
static void centre_of_a_simulated_scan(void **state)
{
    (void)state;
    motet_context *c = test_context();
    for (int i = 0; i < 2; i++) {
        motet_ct_simulate_options o;
        motet_ct_simulate_options_init(&o);
        o.centre = 66.4, o.arc = i ? 360 : 180, o.seed = 11;
        assert_ok(c, motet_ct_simulate(c, &o, test_path("axis.h5"), 1));
        motet_ct_scan *scan = NULL;
        motet_array *a = NULL;
        double centre, quality;
        assert_ok(c, motet_ct_scan_open(c, test_path("axis.h5"), NULL, &scan));
        assert_ok(c, motet_array_create(c, MOTET_F32, 3, (int64_t[3]){180, 128, 4}, &a));
        assert_ok(c, motet_ct_scan_read(scan, 0, a));
        assert_ok(c, motet_ct_find_centre(c, a, motet_ct_scan_angles(scan), &centre, &quality));
        if (fabs(centre - 66.4) > 0.25 || quality < 0.1) {
            print_error("arc %g: found %g, quality %g\n", o.arc, centre, quality);
            fail();
        }
        motet_array_free(a);
        motet_ct_scan_free(scan);
    }
    motet_context_free(c);
}

/* Wrong options are named; an existing file is kept. */
static void wrong_options_are_named(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_simulate_options o;
    motet_ct_simulate_options_init(&o);
    o.views = 0;
    assert_status(c, motet_ct_simulate(c, &o, test_path("n.h5"), 0), MOTET_BAD_ARGUMENT);
    assert_message(c, "views is 0", NULL);
    motet_ct_simulate_options_init(&o);
    o.counts = NAN;
    assert_status(c, motet_ct_simulate(c, &o, test_path("n.h5"), 0), MOTET_BAD_ARGUMENT);
    assert_message(c, "counts is nan", "40000", NULL);
    motet_ct_simulate_options_init(&o);
    o.pitch = -1;
    assert_status(c, motet_ct_simulate(c, &o, test_path("n.h5"), 0), MOTET_BAD_ARGUMENT);
    assert_message(c, "pitch is -1", NULL);
    memset(&o, 0, sizeof o);
    assert_status(c, motet_ct_simulate(c, &o, test_path("n.h5"), 0), MOTET_BAD_ARGUMENT);
    assert_message(c, "size", NULL);
    motet_ct_simulate_options_init(&o);
    o.views = 3, o.rows = 1, o.columns = 8;
    assert_ok(c, motet_ct_simulate(c, &o, test_path("once.h5"), 0));
    assert_status(c, motet_ct_simulate(c, &o, test_path("once.h5"), 0), MOTET_EXISTS);
    assert_ok(c, motet_ct_simulate(c, &o, test_path("once.h5"), 1));
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(line_integrals_agree_with_quadrature),
        cmocka_unit_test(mass_is_the_same_from_everywhere),
        cmocka_unit_test(scan_holds_the_line_integrals),
        cmocka_unit_test(noise_is_that_of_counting),
        cmocka_unit_test(truth_is_the_phantom),
        cmocka_unit_test(centre_of_a_simulated_scan),
        cmocka_unit_test(wrong_options_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
