/* The rotation axis from a sinogram: analytic heads, with noise, off the middle, half and whole
 * turns. */
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ct/phantom.h"

typedef struct shape {
    int64_t views, columns, rows;
    double centre, arc, noise, radius; /* degrees; of the line integrals; columns */
    int endpoint, shuffle;
} shape;

static double normal(uint64_t *state)
{
    double sum = 0.0;
    for (int i = 0; i < 12; i++) sum += test_uniform(state, -0.5, 0.5);
    return sum;
}

static motet_array *head_sinogram(motet_context *c, const shape *s, double *angles, uint64_t seed)
{
    motet_array *sinogram = NULL;
    const int64_t sizes[3] = {s->views, s->columns, s->rows};
    assert_ok(c, motet_array_create(c, MOTET_F32, 3, sizes, &sinogram));
    float *data = motet_array_data(sinogram);
    uint64_t state = seed;
    for (int64_t k = 0; k < s->views; k++)
        angles[k] =
            s->arc * M_PI / 180.0 * (double)k / (double)(s->endpoint ? s->views - 1 : s->views);
    if (s->shuffle)
        for (int64_t k = s->views - 1; k > 0; k--) {
            const int64_t other = (int64_t)(test_random(&state) % (uint64_t)(k + 1));
            const double kept = angles[k];
            angles[k] = angles[other];
            angles[other] = kept;
        }
    for (int64_t v = 0; v < s->rows; v++) {
        const phantom head = phantom_head(s->radius, 1.0 - 0.02 * (double)v, 3.6 / s->radius);
        for (int64_t k = 0; k < s->views; k++)
            for (int64_t u = 0; u < s->columns; u++)
                data[(k * s->columns + u) * s->rows + v] =
                    (float)(phantom_line(&head, (double)u - s->centre, cos(angles[k]),
                                         sin(angles[k])) +
                            s->noise * normal(&state));
    }
    return sinogram;
}

static double found(const shape *s, double *quality)
{
    motet_context *c = test_context();
    double *angles = calloc((size_t)s->views, sizeof *angles), centre = -1.0, q = -1.0;
    assert_non_null(angles);
    motet_array *sinogram = head_sinogram(c, s, angles, 7);
    assert_ok(c, motet_ct_find_centre(c, sinogram, angles, &centre, &q));
    assert_true(q >= 0.0 && q <= 1.0);
    if (quality) *quality = q;
    motet_array_free(sinogram);
    free(angles);
    motet_context_free(c);
    return centre;
}

/* Within a quarter of a column for axes up to a tenth of the width off the middle, for odd and even
 * widths, half turns with and without their end, whole turns, views in any order, and noise of 2 %.
 */
static void within_a_quarter_column(void **state)
{
    (void)state;
    static const double offsets[] = {-0.1, -0.037, 0.0, 0.0713, 0.1};
    static const struct {
        double arc;
        int endpoint, shuffle;
    } scans[] = {{180, 1, 0}, {180, 0, 0}, {180, 0, 1}, {360, 0, 0}, {360, 1, 1}, {270, 1, 0}};
    for (int64_t columns = 127; columns <= 128; columns++)
        for (size_t o = 0; o < sizeof offsets / sizeof *offsets; o++)
            for (size_t i = 0; i < sizeof scans / sizeof *scans; i++) {
                const shape s = {.views = 150,
                                 .columns = columns,
                                 .rows = 2,
                                 .centre =
                                     0.5 * (double)(columns - 1) + offsets[o] * (double)columns,
                                 .arc = scans[i].arc,
                                 .noise = 0.02,
                                 .radius = 0.4 * (double)columns,
                                 .endpoint = scans[i].endpoint,
                                 .shuffle = scans[i].shuffle};
                double quality;
                const double got = found(&s, &quality);
                if (fabs(got - s.centre) > 0.25 || quality < 0.1) {
                    print_error(
                        "columns %d arc %g end %d shuffle %d: centre %g found %g quality %g\n",
                        (int)columns, s.arc, s.endpoint, s.shuffle, s.centre, got, quality);
                    fail();
                }
            }
}

/* Few views, many views, uneven steps do not break it. */
static void other_numbers_of_views(void **state)
{
    (void)state;
    static const int64_t views[] = {40, 90, 361};
    for (int i = 0; i < 3; i++) {
        const shape s = {.views = views[i],
                         .columns = 160,
                         .rows = 1,
                         .centre = 86.3,
                         .arc = 180,
                         .radius = 62,
                         .endpoint = 1};
        double quality;
        const double got = found(&s, &quality);
        if (fabs(got - s.centre) > 0.5) {
            print_error("%d views: found %g\n", (int)views[i], got);
            fail();
        }
    }
}

/* A head wider than the detector, axis off the middle: still within a column and a half. */
static void truncated_head(void **state)
{
    (void)state;
    static const double offsets[] = {-0.1, 0.0, 0.0713};
    for (int i = 0; i < 3; i++)
        for (int arc = 180; arc <= 360; arc += 180)
            for (int wide = 0; wide < 2; wide++) {
                const shape s = {.views = 180,
                                 .columns = 128,
                                 .rows = 1,
                                 .centre = 63.5 + offsets[i] * 128.0,
                                 .arc = arc,
                                 .noise = 0.01,
                                 .radius = wide ? 102.0 : 76.0};
                double quality;
                const double got = found(&s, &quality);
                if (fabs(got - s.centre) > 1.5) {
                    print_error("radius %g arc %d: centre %g found %g quality %g\n", s.radius, arc,
                                s.centre, got, quality);
                    fail();
                }
            }
}

/* Nothing to see: no failure, quality 0 and the middle. */
static void flat_sinogram_has_no_centre(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_array *sinogram = NULL;
    double angles[20], centre = -1.0, quality = -1.0;
    for (int k = 0; k < 20; k++) angles[k] = M_PI * k / 20;
    assert_ok(c, motet_array_create(c, MOTET_F32, 3, (int64_t[3]){20, 31, 2}, &sinogram));
    assert_ok(c, motet_ct_find_centre(c, sinogram, angles, &centre, &quality));
    assert_true(centre == 15.0 && quality == 0.0);
    float *data = motet_array_data(sinogram);
    for (int i = 0; i < 20 * 31 * 2; i++) data[i] = 0.75f;
    assert_ok(c, motet_ct_find_centre(c, sinogram, angles, &centre, &quality));
    assert_true(centre >= 3.0 && centre <= 27.0);
    motet_array_free(sinogram);
    motet_context_free(c);
}

/* The quality tells noise from a head. */
static void noise_alone_has_low_quality(void **state)
{
    (void)state;
    shape s = {.views = 120,
               .columns = 128,
               .rows = 1,
               .centre = 63.5,
               .arc = 180,
               .noise = 0.05,
               .radius = 52};
    double head, noise;
    found(&s, &head);
    s.radius = 1e-9; /* a head too small for any ray */
    found(&s, &noise);
    if (!(noise < 0.02 && head > 0.1)) {
        print_error("quality of a head %g, of noise %g\n", head, noise);
        fail();
    }
}

/* NaN and infinite values are passed over. */
static void broken_values_are_passed_over(void **state)
{
    (void)state;
    motet_context *c = test_context();
    const shape s = {.views = 120,
                     .columns = 128,
                     .rows = 2,
                     .centre = 60.2,
                     .arc = 180,
                     .noise = 0.01,
                     .radius = 50};
    double angles[120], centre, quality;
    motet_array *sinogram = head_sinogram(c, &s, angles, 3);
    float *data = motet_array_data(sinogram);
    data[0] = NAN;
    data[5000] = INFINITY;
    assert_ok(c, motet_ct_find_centre(c, sinogram, angles, &centre, &quality));
    assert_true(fabs(centre - s.centre) < 0.5);
    motet_array_free(sinogram);
    motet_context_free(c);
}

/* One view, one column: no failure. Wrong arrays: BAD_SHAPE, outputs untouched. */
static void edges_of_the_domain(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_array *a = NULL;
    double angles[4] = {0, 1, 2, 3}, centre = -1.0, quality = -1.0;
    assert_ok(c, motet_array_create(c, MOTET_F32, 3, (int64_t[3]){1, 9, 1}, &a));
    assert_ok(c, motet_ct_find_centre(c, a, angles, &centre, &quality));
    assert_true(centre == 4.0 && quality == 0.0);
    motet_array_free(a);
    assert_ok(c, motet_array_create(c, MOTET_F32, 3, (int64_t[3]){4, 1, 1}, &a));
    assert_ok(c, motet_ct_find_centre(c, a, angles, &centre, &quality));
    assert_true(centre == 0.0 && quality == 0.0);
    motet_array_free(a);
    centre = quality = -1.0;
    assert_ok(c, motet_array_create(c, MOTET_F32, 2, (int64_t[2]){4, 9}, &a));
    assert_status(c, motet_ct_find_centre(c, a, angles, &centre, &quality), MOTET_BAD_SHAPE);
    assert_message(c, "2 axes", "expected", NULL);
    motet_array_free(a);
    assert_ok(c, motet_array_create(c, MOTET_F64, 3, (int64_t[3]){4, 9, 1}, &a));
    assert_status(c, motet_ct_find_centre(c, a, angles, &centre, &quality), MOTET_BAD_SHAPE);
    assert_message(c, "float64", NULL);
    motet_array_free(a);
    assert_ok(c, motet_array_create(c, MOTET_F32, 3, (int64_t[3]){4, 9, 1}, &a));
    angles[2] = NAN;
    assert_status(c, motet_ct_find_centre(c, a, angles, &centre, &quality), MOTET_BAD_ARGUMENT);
    assert_message(c, "angle 2", NULL);
    motet_array_free(a);
    assert_true(centre == -1.0 && quality == -1.0);
    motet_context_free(c);
}

/* Every failing allocation: NO_MEMORY, outputs untouched, nothing left behind. */
static void every_failing_allocation(void **state)
{
    (void)state;
    motet_context *c = test_context_failing(0, 0);
    const shape s = {.views = 40, .columns = 48, .rows = 1, .centre = 25, .arc = 180, .radius = 40};
    double angles[40], centre, quality;
    motet_array *sinogram = head_sinogram(c, &s, angles, 3);
    motet_memory before, after;
    motet_context_memory(c, &before);
    int64_t n = 1;
    for (; n < 1000; n++) {
        centre = quality = -1.0;
        test_context_fail_at(c, n, n % 2 == 0);
        const motet_status st = motet_ct_find_centre(c, sinogram, angles, &centre, &quality);
        const int failed = test_context_failed(c);
        test_context_fail_at(c, 0, 0);
        motet_context_trim(c);
        motet_context_memory(c, &after);
        assert_true(after.now == before.now && after.blocks == before.blocks);
        if (!failed) {
            assert_int_equal(st, MOTET_OK);
            break;
        }
        assert_int_equal(st, MOTET_NO_MEMORY);
        assert_true(centre == -1.0 && quality == -1.0);
    }
    assert_true(n > 10 && n < 1000);
    motet_array_free(sinogram);
    motet_context_free(c);
}

typedef struct stopper {
    int64_t now, calls, stop_at;
} stopper;

static motet_go stop_at(const motet_progress *progress, void *user)
{
    stopper *s = user;
    assert_string_equal(progress->phase, "find the axis");
    assert_true(progress->done >= 0 && (!progress->total || progress->done <= progress->total));
    return ++s->calls == s->stop_at ? MOTET_STOP : MOTET_GO_ON;
}

static int64_t fast_clock(void *user) { return ((stopper *)user)->now += 1000000000; }

/* However long a scan is, the search can be stopped at any moment, by each of its ways: a half
 * turn, a whole one, an object wider than the detector. */
static void the_search_can_be_stopped(void **state)
{
    (void)state;
    static const shape shapes[] = {{90, 32, 2, 16.5, 180, 0, 14, 0, 0},
                                   {90, 32, 2, 16.5, 360, 0, 14, 0, 0},
                                   {60, 32, 2, 15.5, 180, 0, 30, 0, 0}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        stopper s = {0, 0, 0};
        motet_context_options options;
        motet_context_options_init(&options);
        options.progress = stop_at;
        options.clock.now = fast_clock;
        options.progress_user = options.clock.user = &s;
        motet_context *c;
        assert_int_equal(motet_context_create(&options, &c), MOTET_OK);
        double angles[90], centre = -1.0, quality = -1.0;
        motet_array *sinogram = head_sinogram(c, &shapes[i], angles, 7);
        assert_ok(c, motet_ct_find_centre(c, sinogram, angles, &centre, &quality));
        const int64_t calls = s.calls;
        assert_true(calls > 100);
        centre = quality = -1.0;
        for (int64_t at = 1; at <= calls; at += at < calls - 7 ? 7 : 1) {
            s = (stopper){0, 0, at};
            assert_status(c, motet_ct_find_centre(c, sinogram, angles, &centre, &quality),
                          MOTET_CANCELLED);
            assert_int_equal(s.calls, at);
            assert_true(centre == -1.0 && quality == -1.0);
        }
        motet_array_free(sinogram);
        motet_context_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(within_a_quarter_column),
        cmocka_unit_test(other_numbers_of_views),
        cmocka_unit_test(truncated_head),
        cmocka_unit_test(flat_sinogram_has_no_centre),
        cmocka_unit_test(noise_alone_has_low_quality),
        cmocka_unit_test(broken_values_are_passed_over),
        cmocka_unit_test(edges_of_the_domain),
        cmocka_unit_test(every_failing_allocation),
        cmocka_unit_test(the_search_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
