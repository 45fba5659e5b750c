/* CGLS and SIRT: against the same methods on dense matrices in float64, and their promises. */
#include "support/ct_dense.h"
#include "support/ct_solve.h"

enum { MOST = 64 };

typedef motet_status solve_fn(motet_ct_geometry *, const motet_ct_solve_options *,
                              const motet_array *, motet_array *, motet_ct_solve_result *);

static motet_ct_solve_options options_of(int64_t iterations)
{
    motet_ct_solve_options o;
    motet_ct_solve_options_init(&o);
    o.iterations = iterations;
    return o;
}

typedef struct heard {
    int64_t count;
    motet_ct_iteration iteration[MOST];
    int64_t stop_at; /* number; 0: never */
} heard;

static motet_status hear(const motet_ct_iteration *iteration, void *user)
{
    heard *h = user;
    assert_true(h->count < MOST);
    assert_int_equal(iteration->number, h->count);
    h->iteration[h->count++] = *iteration;
    return h->stop_at && iteration->number == h->stop_at ? MOTET_BUSY : MOTET_OK;
}

static void assert_near(const motet_array *got, const double *want, double tolerance)
{
    const float *x = motet_array_data(got);
    double error = 0.0, size = 0.0;
    for (int64_t i = 0; i < motet_array_elements(got); i++) {
        error += ((double)x[i] - want[i]) * ((double)x[i] - want[i]);
        size += want[i] * want[i];
    }
    if (!(sqrt(error) <= tolerance * sqrt(size)))
        fail_msg("off by %g of its size", sqrt(error / size));
}

/* Residuals and volume of each iteration are those of the method in float64 on a dense matrix. Only
 * the first ones: in float32 directions soon cease to be conjugate, which the residual hardly
 * feels. */
static void cgls_is_the_dense_solver(void **state)
{
    (void)state;
    motet_context *c = test_context();
    ct_scan_case s = ct_case_slices(c, 20, 6, 2, 0);
    const ct_dense d = ct_dense_make(c, s.geometry, s.volume_shape, s.sinogram_shape);
    for (int warm = 0; warm < 2; warm++) {
        double x[72] = {0}, residual[MOST];
        heard h = {0};
        motet_ct_solve_options o = options_of(6);
        motet_ct_solve_result result;
        o.each = hear, o.user = &h, o.warm_start = warm;
        ct_case_fill(s.volume, 3, -1, 1);
        for (int i = 0; warm && i < 72; i++)
            x[i] = (double)((float *)motet_array_data(s.volume))[i];
        ct_dense_cgls(&d, motet_array_data(s.sinogram), 6, x, residual);
        assert_ok(c, motet_ct_cgls(s.geometry, &o, s.sinogram, s.volume, &result));
        assert_near(s.volume, x, 1e-4);
        assert_int_equal(h.count, 7);
        for (int k = 0; k <= 6; k++)
            assert_true(fabs(h.iteration[k].residual / residual[k] - 1) < 1e-5);
        assert_int_equal(result.iterations, 6);
        assert_int_equal(result.stop, MOTET_CT_STOP_ITERATIONS);
        assert_true(result.residual == h.iteration[6].residual);
        assert_true(result.relative == h.iteration[6].relative && result.relative > 0);
    }
    free(d.a);
    ct_case_free(&s);
    motet_context_free(c);
}

static void sirt_is_the_dense_solver(void **state)
{
    (void)state;
    motet_context *c = test_context();
    ct_scan_case s = ct_case_slices(c, 5, 6, 2, 0);
    const ct_dense d = ct_dense_make(c, s.geometry, s.volume_shape, s.sinogram_shape);
    for (int bounded = 0; bounded < 2; bounded++) {
        double x[72] = {0}, residual[MOST];
        heard h = {0};
        motet_ct_solve_options o = options_of(20);
        motet_ct_solve_result result;
        o.each = hear, o.user = &h, o.relaxation = bounded ? 1.3 : 1.0;
        if (bounded) o.least = 0.2, o.greatest = 0.8;
        ct_dense_sirt(&d, motet_array_data(s.sinogram), 20, o.relaxation, o.least, o.greatest, x,
                      residual);
        assert_ok(c, motet_ct_sirt(s.geometry, &o, s.sinogram, s.volume, &result));
        assert_near(s.volume, x, 1e-5);
        assert_int_equal(h.count, 21);
        for (int k = 0; k <= 20; k++)
            assert_true(fabs(h.iteration[k].residual / residual[k] - 1) < 1e-5);
        assert_int_equal(result.iterations, 20);
    }
    free(d.a);
    ct_case_free(&s);
    motet_context_free(c);
}

static ct_scan_case case_of(motet_context *c, int which)
{
    if (which == 0) return ct_case_slices(c, 20, 12, 1, CT_CASE_NOISY);
    return ct_case_cone(c, 14, 8, 7, 6, which == 1 ? 0.0 : 0.2, CT_CASE_NOISY);
}

/* Without bounds a residual never grows, but for the rounding of float32 at the end: the pair is
 * one matrix and its transpose. */
static void residuals_fall(void **state)
{
    (void)state;
    motet_context *c = test_context();
    solve_fn *const solve[] = {motet_ct_cgls, motet_ct_sirt};
    for (int k = 0; k < 6; k++) {
        ct_scan_case s = case_of(c, k / 2);
        heard h = {0};
        motet_ct_solve_options o = options_of(MOST - 1);
        o.each = hear, o.user = &h;
        assert_ok(c, solve[k % 2](s.geometry, &o, s.sinogram, s.volume, NULL));
        for (int i = 1; i < MOST; i++)
            assert_true(h.iteration[i].residual <= h.iteration[i - 1].residual * (1 + 1e-6));
        assert_true(h.iteration[MOST - 1].relative < 0.5 * h.iteration[1].relative);
        ct_case_free(&s);
    }
    motet_context_free(c);
}

/* A volume that holds only the middle of the body: sums of rows are those of the volume that there
 * is, so nothing blows up where rays only touch it. */
static void a_volume_within_the_body(void **state)
{
    (void)state;
    motet_context *c = test_context();
    ct_scan_case body = ct_case_cone(c, 14, 14, 14, 10, 0, CT_CASE_EXACT);
    motet_ct_views v;
    assert_ok(c, motet_ct_geometry_describe(body.geometry, &v));
    v.nx = v.ny = v.nz = 6;
    motet_ct_geometry *g = NULL;
    assert_ok(c, motet_ct_geometry_create(c, &v, &g));
    motet_array *middle;
    assert_ok(c, motet_array_create(c, MOTET_F32, 3, (int64_t[]){6, 6, 6}, &middle));
    heard h = {0};
    motet_ct_solve_options o = options_of(MOST - 1);
    o.each = hear, o.user = &h;
    assert_ok(c, motet_ct_sirt(g, &o, body.sinogram, middle, NULL));
    for (int i = 0; i < 216; i++)
        assert_true(fabsf(((float *)motet_array_data(middle))[i]) < 20.0f);
    assert_true(h.iteration[MOST - 1].residual < h.iteration[0].residual);
    assert_true(fabs(h.iteration[MOST - 1].residual / h.iteration[MOST - 2].residual - 1) < 1e-2);
    motet_array_free(middle);
    motet_ct_geometry_free(g);
    ct_case_free(&body);
    motet_context_free(c);
}

/* Data of a volume give it back. */
static void cgls_finds_what_was_projected(void **state)
{
    (void)state;
    motet_context *c = test_context();
    ct_scan_case s = ct_case_slices(c, 24, 12, 2, 1);
    motet_ct_solve_options o = options_of(200);
    motet_ct_solve_result result;
    o.tolerance = 1e-6;
    assert_ok(c, motet_ct_cgls(s.geometry, &o, s.sinogram, s.volume, &result));
    assert_int_equal(result.stop, MOTET_CT_STOP_TOLERANCE);
    assert_true(result.iterations > 5 && result.iterations < 200);
    const float *x = motet_array_data(s.volume), *truth = motet_array_data(s.truth);
    for (int64_t i = 0; i < motet_array_elements(s.volume); i++)
        assert_true(fabsf(x[i] - truth[i]) < 1e-3f);
    ct_case_free(&s);
    motet_context_free(c);
}

/* Each rule stops where it says, with the iterations that were done. */
static void rules_stop(void **state)
{
    (void)state;
    motet_context *c = test_context();
    ct_scan_case s = ct_case_slices(c, 9, 8, 2, 0);
    solve_fn *const solve[] = {motet_ct_cgls, motet_ct_sirt};
    for (int i = 0; i < 2; i++) {
        heard all = {0};
        motet_ct_solve_result result;
        motet_ct_solve_options o = options_of(40);
        o.each = hear, o.user = &all;
        assert_ok(c, solve[i](s.geometry, &o, s.sinogram, s.volume, NULL));
        o = options_of(40);
        o.tolerance = 0.5 * (all.iteration[4].relative + all.iteration[5].relative);
        assert_ok(c, solve[i](s.geometry, &o, s.sinogram, s.volume, &result));
        assert_int_equal(result.stop, MOTET_CT_STOP_TOLERANCE);
        assert_int_equal(result.iterations, 5);
        assert_true(result.residual == all.iteration[5].residual);
        char digest[33], same[33];
        assert_ok(c, motet_array_digest(s.volume, digest));
        o = options_of(5);
        assert_ok(c, solve[i](s.geometry, &o, s.sinogram, s.volume, NULL));
        assert_ok(c, motet_array_digest(s.volume, same));
        assert_string_equal(digest, same);
        o = options_of(40);
        o.stall = 0.05;
        int stalled = 1;
        while (all.iteration[stalled].residual < 0.95 * all.iteration[stalled - 1].residual)
            stalled++;
        assert_ok(c, solve[i](s.geometry, &o, s.sinogram, s.volume, &result));
        assert_int_equal(result.stop, MOTET_CT_STOP_STALLED);
        assert_int_equal(result.iterations, stalled);
        o = options_of(0);
        ct_case_fill(s.volume, 4, 1, 2);
        assert_ok(c, solve[i](s.geometry, &o, s.sinogram, s.volume, &result));
        assert_int_equal(result.stop, MOTET_CT_STOP_ITERATIONS);
        assert_int_equal(result.iterations, 0);
        assert_true(result.relative == 1.0);
        assert_true(((float *)motet_array_data(s.volume))[3] == 0.0f);
    }
    ct_case_free(&s);
    motet_context_free(c);
}

/* Data so small that projections vanish in float32 while there is something left to correct: that
 * is not called exact. */
static void what_underflows_is_not_exact(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_geometry *g;
    motet_ct_parallel p;
    motet_ct_parallel_init(&p);
    const double angle = 0.3;
    p.views = 1, p.columns = 4, p.rows = 1, p.angles = &angle;
    p.pitch = p.voxel = 1e-8;
    assert_ok(c, motet_ct_geometry_parallel(c, &p, &g));
    ct_scan_case s =
        ct_case_of(c, g, (const int64_t[]){1, 4, 4}, (const int64_t[]){1, 4, 1}, CT_CASE_RANDOM);
    float *data = motet_array_data(s.sinogram);
    for (int i = 0; i < 4; i++) data[i] = 1e-34f;
    motet_ct_solve_result result;
    const motet_ct_solve_options o = options_of(9);
    assert_ok(c, motet_ct_cgls(g, &o, s.sinogram, s.volume, &result));
    assert_int_equal(result.stop, MOTET_CT_STOP_UNDERFLOW);
    assert_true(result.iterations == 0 && result.relative == 1.0);
    for (int k = 0; k < 16; k++) assert_true(((float *)motet_array_data(s.volume))[k] == 0.0f);
    char *report = NULL;
    assert_ok(c, motet_context_report(c, &report));
    assert_non_null(strstr(report, "below the range of float32"));
    motet_text_free(c, report);
    ct_case_free(&s);
    motet_context_free(c);
}

/* Nothing to correct ends it at once, also where nothing was measured, or no ray meets the volume.
 */
static void nothing_left_is_exact(void **state)
{
    (void)state;
    motet_context *c = test_context();
    ct_scan_case s = ct_case_slices(c, 5, 6, 1, 1);
    solve_fn *const solve[] = {motet_ct_cgls, motet_ct_sirt};
    for (int i = 0; i < 2; i++) {
        motet_ct_solve_result result;
        motet_ct_solve_options o = options_of(9);
        o.warm_start = 1;
        memcpy(motet_array_data(s.volume), motet_array_data(s.truth), s.truth->bytes);
        assert_ok(c, solve[i](s.geometry, &o, s.sinogram, s.volume, &result));
        assert_int_equal(result.stop, MOTET_CT_STOP_EXACT);
        assert_int_equal(result.iterations, 0);
        assert_memory_equal(motet_array_data(s.volume), motet_array_data(s.truth), s.truth->bytes);
        motet_array *nothing;
        assert_ok(c, motet_array_create(c, MOTET_F32, 3, s.sinogram_shape, &nothing));
        o.warm_start = 0;
        assert_ok(c, solve[i](s.geometry, &o, nothing, s.volume, &result));
        assert_int_equal(result.stop, MOTET_CT_STOP_EXACT);
        assert_true(result.iterations == 0 && result.residual == 0 && result.relative == 0);
        motet_array_free(nothing);
    }
    ct_case_free(&s);
    motet_ct_geometry *g;
    motet_ct_parallel p;
    motet_ct_parallel_init(&p);
    const double angle = 0.3;
    p.views = 1, p.columns = 4, p.rows = 1, p.angles = &angle, p.centre = -30;
    assert_ok(c, motet_ct_geometry_parallel(c, &p, &g));
    s = ct_case_of(c, g, (const int64_t[]){1, 4, 4}, (const int64_t[]){1, 4, 1}, 0);
    for (int i = 0; i < 2; i++) {
        motet_ct_solve_result result;
        motet_ct_solve_options o = options_of(9);
        assert_ok(c, solve[i](g, &o, s.sinogram, s.volume, &result));
        assert_int_equal(result.stop, i ? MOTET_CT_STOP_ITERATIONS : MOTET_CT_STOP_EXACT);
        assert_true(result.relative == 1.0);
        for (int k = 0; k < 16; k++) assert_true(((float *)motet_array_data(s.volume))[k] == 0.0f);
    }
    ct_case_free(&s);
    motet_context_free(c);
}

/* Whatever is wrong is named, and the volume is as it was. */
static void refusals_name_what_is_wrong(void **state)
{
    (void)state;
    motet_context *c = test_context();
    ct_scan_case s = ct_case_slices(c, 5, 6, 1, 0);
    ct_case_fill(s.volume, 8, 0, 1);
    char before[33], after[33];
    assert_ok(c, motet_array_digest(s.volume, before));
    const struct {
        size_t field;
        double value;
        const char *name;
    } wrong[] = {{offsetof(motet_ct_solve_options, tolerance), -1, "tolerance"},
                 {offsetof(motet_ct_solve_options, tolerance), NAN, "tolerance"},
                 {offsetof(motet_ct_solve_options, stall), 1, "stall"},
                 {offsetof(motet_ct_solve_options, relaxation), 2, "relaxation"},
                 {offsetof(motet_ct_solve_options, relaxation), 0, "relaxation"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        motet_ct_solve_options o = options_of(3);
        memcpy((char *)&o + wrong[i].field, &wrong[i].value, sizeof wrong[i].value);
        assert_status(c, motet_ct_sirt(s.geometry, &o, s.sinogram, s.volume, NULL),
                      MOTET_BAD_ARGUMENT);
        assert_message(c, wrong[i].name, NULL);
    }
    motet_ct_solve_options o = options_of(-1);
    assert_status(c, motet_ct_cgls(s.geometry, &o, s.sinogram, s.volume, NULL), MOTET_BAD_ARGUMENT);
    assert_message(c, "iterations is -1", NULL);
    o = options_of(3);
    o.least = 0;
    assert_status(c, motet_ct_cgls(s.geometry, &o, s.sinogram, s.volume, NULL), MOTET_BAD_ARGUMENT);
    assert_message(c, "no bounds", NULL);
    o.greatest = -1;
    assert_status(c, motet_ct_sirt(s.geometry, &o, s.sinogram, s.volume, NULL), MOTET_BAD_ARGUMENT);
    assert_message(c, "greatest", NULL);
    o = options_of(3);
    o.relaxation = 1.5;
    assert_status(c, motet_ct_cgls(s.geometry, &o, s.sinogram, s.volume, NULL), MOTET_BAD_ARGUMENT);
    o = options_of(3);
    o.size = 3;
    assert_status(c, motet_ct_cgls(s.geometry, &o, s.sinogram, s.volume, NULL), MOTET_BAD_ARGUMENT);
    assert_status(c, motet_ct_cgls(s.geometry, NULL, s.volume, s.volume, NULL), MOTET_BAD_SHAPE);
    assert_status(c, motet_ct_cgls(s.geometry, NULL, s.sinogram, s.sinogram, NULL),
                  MOTET_BAD_SHAPE);
    ((float *)motet_array_data(s.sinogram))[9 * 3 + 5] = NAN;
    assert_status(c, motet_ct_cgls(s.geometry, NULL, s.sinogram, s.volume, NULL), MOTET_BAD_DATA);
    assert_message(c, "sinogram: (3, 5, 0) is nan", NULL);
    assert_ok(c, motet_array_digest(s.volume, after));
    assert_string_equal(before, after);
    ((float *)motet_array_data(s.sinogram))[9 * 3 + 5] = 0;
    ((float *)motet_array_data(s.volume))[6 * 2 + 1] = INFINITY;
    o = options_of(3);
    o.warm_start = 1;
    assert_status(c, motet_ct_sirt(s.geometry, &o, s.sinogram, s.volume, NULL), MOTET_BAD_DATA);
    assert_message(c, "volume: (0, 2, 1) is inf", NULL);
    ((float *)motet_array_data(s.sinogram))[3] = 3e38f;
    o.warm_start = 0;
    assert_status(c, motet_ct_cgls(s.geometry, &o, s.sinogram, s.volume, NULL), MOTET_BAD_DATA);
    assert_message(c, "float32", NULL);
    ct_case_free(&s);
    motet_context_free(c);
}

/* A caller who stops it gets his status, and the volume is as it was; one that is written directly
 * needs no copy and holds the same bits in the end. */
static void whole_or_nothing(void **state)
{
    (void)state;
    motet_context *c = test_context();
    ct_scan_case s = ct_case_slices(c, 9, 8, 3, 0);
    solve_fn *const solve[] = {motet_ct_cgls, motet_ct_sirt};
    for (int i = 0; i < 2; i++) {
        heard h = {.stop_at = 4};
        motet_ct_solve_options o = options_of(7);
        o.each = hear, o.user = &h;
        ct_case_fill(s.volume, 8, 0, 1);
        char before[33], after[33];
        assert_ok(c, motet_array_digest(s.volume, before));
        motet_ct_solve_result result = {.iterations = 77};
        assert_status(c, solve[i](s.geometry, &o, s.sinogram, s.volume, &result), MOTET_BUSY);
        assert_ok(c, motet_array_digest(s.volume, after));
        assert_string_equal(before, after);
        assert_int_equal(result.iterations, 77);
        motet_array *direct;
        assert_ok(c, motet_array_wrap(c, motet_array_data(s.truth), MOTET_F32, 3, s.volume_shape,
                                      MOTET_WRITE_DIRECT, &direct));
        o = options_of(7);
        assert_ok(c, solve[i](s.geometry, &o, s.sinogram, s.volume, NULL));
        assert_ok(c, solve[i](s.geometry, &o, s.sinogram, direct, NULL));
        assert_ok(c, motet_array_digest(s.volume, before));
        assert_ok(c, motet_array_digest(direct, after));
        assert_string_equal(before, after);
        motet_array_free(direct);
    }
    ct_case_free(&s);
    motet_context_free(c);
}

/* Values that pass float32 are no result, also where the residual stays small. */
static void values_stay_within_float32(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_geometry *g;
    motet_ct_parallel p;
    motet_ct_parallel_init(&p);
    const double angles[] = {0.3, 1.1, 2.0};
    p.views = 3, p.columns = 9, p.rows = 1, p.angles = angles, p.nx = p.ny = 6, p.pitch = 1e-3;
    assert_ok(c, motet_ct_geometry_parallel(c, &p, &g));
    ct_scan_case s =
        ct_case_of(c, g, (const int64_t[]){1, 6, 6}, (const int64_t[]){3, 9, 1}, CT_CASE_EXACT);
    float *b = motet_array_data(s.sinogram);
    for (int64_t i = 0; i < 27; i++) b[i] = b[i] * 1e20f * 1e20f; /* of voxels of 10^40 */
    solve_fn *const solve[] = {motet_ct_cgls, motet_ct_sirt};
    for (int i = 0; i < 2; i++) {
        motet_ct_solve_options o = options_of(1);
        assert_status(c, solve[i](g, &o, s.sinogram, s.volume, NULL), MOTET_BAD_DATA);
        for (int k = 0; k < 36; k++) assert_true(((float *)motet_array_data(s.volume))[k] == 0.0f);
    }
    ct_case_free(&s);
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cgls_is_the_dense_solver),
                                       cmocka_unit_test(sirt_is_the_dense_solver),
                                       cmocka_unit_test(residuals_fall),
                                       cmocka_unit_test(a_volume_within_the_body),
                                       cmocka_unit_test(cgls_finds_what_was_projected),
                                       cmocka_unit_test(rules_stop),
                                       cmocka_unit_test(nothing_left_is_exact),
                                       cmocka_unit_test(what_underflows_is_not_exact),
                                       cmocka_unit_test(refusals_name_what_is_wrong),
                                       cmocka_unit_test(whole_or_nothing),
                                       cmocka_unit_test(values_stay_within_float32)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
