/* What went wrong for users of other programs, with projectors of views in space. docs/peers.md
 * lists all that is known, and the test of each. */
#include <string.h>

#include "support/ct_views.h"

static motet_ct_geometry *make(motet_context *c, const motet_ct_views *g)
{
    motet_ct_geometry *made = NULL;
    assert_ok(c, motet_ct_geometry_create(c, g, &made));
    return made;
}

/* Sinogram of a volume whose values are given by `fill`, or of one voxel. */
static motet_array *project(motet_context *c, const motet_ct_views *g, const motet_array *volume)
{
    motet_ct_geometry *made = make(c, g);
    motet_array *y = ct_array(c, g->views, g->columns, g->rows);
    assert_ok(c, motet_ct_project(made, volume, y));
    motet_ct_geometry_free(made);
    return y;
}

static motet_array *backproject(motet_context *c, const motet_ct_views *g, const motet_array *y)
{
    motet_ct_geometry *made = make(c, g);
    motet_array *x = ct_array(c, g->nz, g->ny, g->nx);
    assert_ok(c, motet_ct_backproject(made, y, x));
    motet_ct_geometry_free(made);
    return x;
}

static motet_array *noise(motet_context *c, int64_t nz, int64_t ny, int64_t nx)
{
    motet_array *x = ct_array(c, nz, ny, nx);
    uint64_t seed = 7;
    for (int64_t i = 0; i < nz * ny * nx; i++) ct_values(x)[i] = (float)test_uniform(&seed, 0, 1);
    return x;
}

static double total(const motet_array *a)
{
    double sum = 0;
    for (int64_t i = 0; i < motet_array_elements(a); i++) sum += (double)ct_values(a)[i];
    return sum;
}

/* Detectors wider than a texture and more views than 2^14: nothing is special about them. Sums of
 * rows and of columns of the matrix are the same number, but for float32's sums of 60,000 terms. */
static void wide_detectors_and_many_views(void **state)
{
    (void)state;
    motet_context *c = test_context();
    const struct {
        int64_t views, columns, rows;
    } cases[] = {{2, 5001, 1}, {20001, 3, 1}, {3, 1, 4500}, {2600, 9, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        motet_ct_view *view = calloc((size_t)cases[i].views, sizeof *view);
        assert_non_null(view);
        const motet_ct_views g = ct_circular(cases[i].views, view, 40, 60, cases[i].columns,
                                             cases[i].rows, 0.01, 4, 5, 3);
        motet_array *x = ct_array(c, 3, 5, 4), *y = ct_array(c, g.views, g.columns, g.rows);
        for (int64_t k = 0; k < 60; k++) ct_values(x)[k] = 1;
        for (int64_t k = 0; k < motet_array_elements(y); k++) ct_values(y)[k] = 1;
        motet_array *forth = project(c, &g, x), *back = backproject(c, &g, y);
        const double one = total(forth), two = total(back);
        if (!(one > 0 && fabs(one - two) <= 2e-5 * one))
            fail_msg("case %zu: %.9g and %.9g", i, one, two);
        /* The middle of the last view looks through the middle of the volume. */
        const int64_t last = ((g.views - 1) * g.columns + g.columns / 2) * g.rows + g.rows / 2;
        assert_true(ct_values(forth)[last] > 3.9f && ct_values(forth)[last] < 6.5f);
        motet_array_free(x);
        motet_array_free(y);
        motet_array_free(forth);
        motet_array_free(back);
        free(view);
    }
    motet_context_free(c);
}

/* A voxel at greater x is seen at greater u in view 0, one at greater y a quarter turn later; one
 * at greater z at greater v in both. Rows are not columns. */
static void senses_of_rotation_columns_and_rows(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_view view[4];
    const motet_ct_views g = ct_circular(4, view, 100, 150, 31, 21, 1, 15, 15, 11);
    motet_array *x = ct_array(c, 11, 15, 15);
    ct_values(x)[(8 * 15 + 10) * 15 + 12] = 1; /* z 8, y 10, x 12: 3 above, 3 behind, 5 right */
    motet_array *y = project(c, &g, x);
    static const int sign[4] = {1, 1, -1, -1};
    const double across[4] = {5, 3, 5, 3}, towards[4] = {-3, 5, 3, -5};
    for (int64_t k = 0; k < 4; k++) {
        double sum = 0, u = 0, v = 0;
        for (int64_t i = 0; i < 31 * 21; i++) {
            const double value = (double)ct_values(y)[k * 31 * 21 + i];
            sum += value;
            u += value * (double)(i / 21 - 15);
            v += value * (double)(i % 21 - 10);
        }
        const double enlarged = 150 / (100 - towards[k]);
        assert_true(fabs(u / sum - sign[k] * across[k] * enlarged) < 0.25);
        assert_true(fabs(v / sum - 3 * enlarged) < 0.25);
    }
    motet_array_free(x);
    motet_array_free(y);
    motet_context_free(c);
}

static void assert_close(const motet_array *got, const motet_array *want, double factor,
                         double tolerance)
{
    double most = 0, worst = 0;
    for (int64_t i = 0; i < motet_array_elements(want); i++) {
        const double w = factor * (double)ct_values(want)[i];
        most = fmax(most, fabs(w));
        worst = fmax(worst, fabs((double)ct_values(got)[i] - w));
    }
    assert_true(most > 0);
    if (!(worst <= tolerance * most)) fail_msg("%g of the greatest", worst / most);
}

/* Lengths in any unit: ten thousand times smaller or larger voxels, with all else, give line
 * integrals that are as many times smaller or larger, and nothing moves. */
static void any_unit_of_length(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_view view[12];
    motet_ct_views g = ct_circular(12, view, 60, 90, 24, 20, 1.1, 13, 12, 11);
    g.centre[0] = 0.7;
    motet_array *x = noise(c, 11, 12, 13), *want = project(c, &g, x);
    static const double units[] = {1e-4, 0.03, 1e4};
    for (int n = 0; n < 3; n++) {
        const double s = units[n];
        motet_ct_view moved[12];
        motet_ct_views h = g;
        memcpy(moved, view, sizeof moved);
        h.view = moved;
        h.pitch_u *= s;
        h.pitch_v *= s;
        for (int i = 0; i < 3; i++) {
            h.voxel[i] *= s;
            h.centre[i] *= s;
            for (int k = 0; k < 12; k++) moved[k].source[i] *= s;
            for (int k = 0; k < 12; k++) moved[k].detector[i] *= s;
        }
        motet_array *y = project(c, &h, x);
        assert_close(y, want, s, 2e-6);
        motet_array_free(y);
    }
    motet_array_free(x);
    motet_array_free(want);
    motet_context_free(c);
}

/* The volume's middle counts: where it moves along with the scan, nothing changes. */
static void the_middle_of_the_volume_is_honoured(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_view view[12], moved[12];
    motet_ct_views g = ct_circular(12, view, 60, 90, 24, 20, 1.25, 13, 12, 11), h = g;
    motet_array *x = noise(c, 11, 12, 13), *want = project(c, &g, x);
    memcpy(moved, view, sizeof moved);
    static const double by[] = {5.5, -3.25, 17};
    for (int i = 0; i < 3; i++) {
        h.centre[i] = by[i];
        for (int k = 0; k < 12; k++) moved[k].source[i] += by[i];
        for (int k = 0; k < 12; k++) moved[k].detector[i] += by[i];
    }
    h.view = moved;
    motet_array *y = project(c, &h, x);
    assert_close(y, want, 1, 2e-6);
    motet_array_free(x);
    motet_array_free(y);
    motet_array_free(want);
    motet_context_free(c);
}

/* A detector that moves by a pitch along u or v sees what its neighbours saw, with parallel rays
 * and with a cone. */
static void a_detector_that_moves_by_a_pixel(void **state)
{
    (void)state;
    motet_context *c = test_context();
    for (int parallel = 0; parallel < 2; parallel++)
        for (int along_v = 0; along_v < 2; along_v++) {
            motet_ct_view view[9], moved[9];
            motet_ct_views g = ct_circular(9, view, 60, 90, 20, 18, 1.5, 13, 12, 11);
            if (parallel) ct_make_parallel(&g, view);
            motet_ct_views h = g;
            memcpy(moved, view, sizeof moved);
            for (int k = 0; k < 9; k++)
                for (int i = 0; i < 3; i++)
                    moved[k].detector[i] += 1.5 * (along_v ? moved[k].v[i] : moved[k].u[i]);
            h.view = moved;
            motet_array *x = noise(c, 11, 12, 13);
            motet_array *one = project(c, &g, x), *two = project(c, &h, x);
            for (int64_t k = 0; k < 9; k++)
                for (int64_t u = 0; u < 20 - !along_v; u++)
                    for (int64_t v = 0; v < 18 - along_v; v++) {
                        const float a = ct_values(one)[(k * 20 + u + !along_v) * 18 + v + along_v];
                        const float b = ct_values(two)[(k * 20 + u) * 18 + v];
                        assert_true(fabsf(a - b) <= 2e-5f);
                    }
            motet_array_free(x);
            motet_array_free(one);
            motet_array_free(two);
        }
    motet_context_free(c);
}

/* Tomosynthesis: the source moves, the detector does not. What is seen of a voxel goes back to that
 * voxel more than to any other, so that slices do not drift. */
static void a_static_detector_keeps_slices_in_place(void **state)
{
    (void)state;
    motet_context *c = test_context();
    enum { VIEWS = 15, NX = 17, NY = 9, NZ = 15 };
    motet_ct_view view[VIEWS];
    motet_ct_views g = ct_circular(VIEWS, view, 100, 110, 64, 48, 0.5, NX, NY, NZ);
    for (int k = 0; k < VIEWS; k++) {
        const double t = 0.06 * (k - VIEWS / 2);
        view[k] = (motet_ct_view){.source = {100 * sin(t), -100 * cos(t), 0},
                                  .detector = {0, 8, 0},
                                  .u = {1, 0, 0},
                                  .v = {0, 0, 1}};
    }
    static const int64_t places[][3] = {{7, 4, 8}, {3, 1, 12}, {11, 7, 4}}; /* z, y, x */
    for (int n = 0; n < 3; n++) {
        motet_array *x = ct_array(c, NZ, NY, NX);
        const int64_t at = (places[n][0] * NY + places[n][1]) * NX + places[n][2];
        ct_values(x)[at] = 1;
        motet_array *y = project(c, &g, x), *back = backproject(c, &g, y);
        for (int64_t i = 0; i < NX * NY * NZ; i++)
            assert_true(i == at || ct_values(back)[i] < ct_values(back)[at]);
        motet_array_free(x);
        motet_array_free(y);
        motet_array_free(back);
    }
    motet_context_free(c);
}

/* CGLS on data that fit no volume: the residual falls to the least there is and stays, for far more
 * iterations than anybody would do. */
static motet_status watch(const motet_ct_iteration *iteration, void *user)
{
    double *last = user;
    assert_true(isfinite(iteration->residual));
    assert_true(iteration->residual <= *last * (1 + 1e-6));
    *last = iteration->residual;
    return MOTET_OK;
}
static void cgls_does_not_diverge(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_view view[10];
    const motet_ct_views g = ct_circular(10, view, 40, 60, 14, 12, 1.25, 8, 7, 6);
    motet_ct_geometry *made = make(c, &g);
    motet_array *y = noise(c, 10, 14, 12), *x = ct_array(c, 6, 7, 8);
    double last = INFINITY;
    motet_ct_solve_options o;
    motet_ct_solve_options_init(&o);
    o.iterations = 200;
    o.each = watch;
    o.user = &last;
    motet_ct_solve_result result;
    assert_ok(c, motet_ct_cgls(made, &o, y, x, &result));
    for (int64_t i = 0; i < 8 * 7 * 6; i++) assert_true(fabsf(ct_values(x)[i]) < 1e3f);
    motet_array_free(x);
    motet_array_free(y);
    motet_ct_geometry_free(made);
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wide_detectors_and_many_views),
        cmocka_unit_test(senses_of_rotation_columns_and_rows),
        cmocka_unit_test(any_unit_of_length),
        cmocka_unit_test(the_middle_of_the_volume_is_honoured),
        cmocka_unit_test(a_detector_that_moves_by_a_pixel),
        cmocka_unit_test(a_static_detector_keeps_slices_in_place),
        cmocka_unit_test(cgls_does_not_diverge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
