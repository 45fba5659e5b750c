/* Another program's line integrals of a head (ctsim/README.md): ours are the same, our projector
 * comes near as voxels shrink, and filtered back-projection finds the head in them. */
#include <stdio.h>

#include "ct/solid.h"
#include "support/ct_views.h"

enum { COLUMNS = 129, FAN_VIEWS = 100, PARALLEL_VIEWS = 60, MOST_VIEWS = FAN_VIEWS };

static const double pi = 3.14159265358979323846;
static const double width = 2.60215295477; /* of what the detector sees */

/* value, a, b, x, y, degrees */
static const double head[][6] = {
    {1.0, 0.69, 0.92, 0.0, 0.0, 0.0},
    {-0.98, 0.6624, 0.874, 0.0, -0.0184, 0.0},
    {-0.02, 0.11, 0.31, 0.22, 0.0, -18.0},
    {-0.02, 0.16, 0.41, -0.22, 0.0, 18.0},
    {0.01, 0.21, 0.25, 0.0, 0.35, 0.0},
    {0.01, 0.046, 0.046, 0.0, 0.1, 0.0},
    {0.01, 0.046, 0.046, 0.0, -0.1, 0.0},
    {0.01, 0.046, 0.023, -0.08, -0.605, 0.0},
    {0.01, 0.023, 0.023, 0.0, -0.605, 0.0},
    {0.01, 0.023, 0.023, 0.06, -0.605, 0.0},
    {0.03, 0.033, 0.206, 0.5538, -0.3858, -18.0},
};

static solid ctsim_head(void)
{
    solid s = {.ellipsoids = sizeof head / sizeof *head};
    for (int k = 0; k < s.ellipsoids; k++)
        s.ellipsoid[k] = (solid_ellipsoid){head[k][0],
                                           {head[k][1], head[k][2], 1e6},
                                           {head[k][3], head[k][4], 0.0},
                                           cos(head[k][5] * pi / 180),
                                           sin(head[k][5] * pi / 180)};
    return s;
}

static motet_ct_views ctsim_views(int parallel, motet_ct_view *view, int64_t n)
{
    const double sid = 3.90322943215, sdd = 6.50538238692;
    motet_ct_views g;
    motet_ct_views_init(&g);
    g.beam = parallel ? MOTET_CT_BEAM_PARALLEL : MOTET_CT_BEAM_CONE;
    g.views = parallel ? PARALLEL_VIEWS : FAN_VIEWS;
    g.view = view;
    g.columns = COLUMNS;
    g.pitch_u = parallel ? width / COLUMNS : 0.0356589147287;
    g.nx = g.ny = n;
    g.voxel[0] = g.voxel[1] = width / (double)n;
    for (int64_t k = 0; k < g.views; k++) {
        const double a = (parallel ? pi : 2 * pi) * (double)k / (double)g.views;
        const double s = sin(a), c = cos(a);
        view[k] = (motet_ct_view){.source = {-sid * s, sid * c, 0.0},
                                  .detector = {(sdd - sid) * s, (sid - sdd) * c, 0.0},
                                  .u = {c, s, 0.0},
                                  .v = {0.0, 0.0, 1.0}};
    }
    if (parallel) ct_make_parallel(&g, view);
    return g;
}

static void read_data(int parallel, float *out)
{
    FILE *f = fopen(parallel ? MOTET_SOURCE "/tests/unit/ct/ctsim/parallel.npy"
                             : MOTET_SOURCE "/tests/unit/ct/ctsim/fan.npy",
                    "rb");
    const size_t count = (size_t)(parallel ? PARALLEL_VIEWS : FAN_VIEWS) * COLUMNS;
    assert_non_null(f);
    assert_int_equal(fseek(f, 128, SEEK_SET), 0);
    assert_int_equal(fread(out, sizeof *out, count, f), count);
    assert_int_equal(fgetc(f), EOF);
    fclose(f);
}

static void line_integrals_are_the_same(void **state)
{
    (void)state;
    motet_ct_view view[MOST_VIEWS];
    float data[MOST_VIEWS * COLUMNS];
    const solid body = ctsim_head();
    for (int parallel = 0; parallel < 2; parallel++) {
        const motet_ct_views g = ctsim_views(parallel, view, 1);
        read_data(parallel, data);
        for (int64_t i = 0; i < g.views * COLUMNS; i++) {
            const motet_ct_view *w = &view[i / COLUMNS];
            double at[3], along[3];
            for (int j = 0; j < 3; j++) {
                at[j] = w->detector[j] + ((double)(i % COLUMNS) - 64.0) * g.pitch_u * w->u[j];
                along[j] = parallel ? w->source[j] : at[j] - w->source[j];
            }
            const double line = parallel ? solid_line(&body, at, along, -1e9, 1e9)
                                         : solid_line(&body, w->source, along, 0.0, 1.0);
            assert_true(fabs(line - (double)data[i]) < 1e-4);
        }
    }
}

/* Each voxel is the mean over 8 x 8 points. */
static void fill_slice(const motet_ct_views *g, const solid *body, float *out)
{
    for (int64_t i = 0; i < g->nx * g->ny; i++) {
        double sum = 0.0;
        for (int j = 0; j < 64; j++) {
            const double at[] = {
                ((double)(i % g->nx) + (j % 8 + 0.5) / 8 - 0.5 * (double)g->nx) * g->voxel[0],
                ((double)(i / g->nx) + (j / 8 + 0.5) / 8 - 0.5 * (double)g->ny) * g->voxel[1], 0.0};
            sum += solid_point(body, at) / 64;
        }
        out[i] = (float)sum;
    }
}

/* Root of the mean square against the file; the mean ray is 0.1. */
static double projection_error(motet_context *c, int parallel, int64_t n)
{
    motet_ct_view view[MOST_VIEWS];
    float data[MOST_VIEWS * COLUMNS];
    const motet_ct_views g = ctsim_views(parallel, view, n);
    const solid body = ctsim_head();
    motet_ct_geometry *geometry = NULL;
    assert_ok(c, motet_ct_geometry_create(c, &g, &geometry));
    motet_array *x = ct_array(c, 1, n, n), *y = ct_array(c, g.views, COLUMNS, 1);
    fill_slice(&g, &body, ct_values(x));
    assert_ok(c, motet_ct_project(geometry, x, y));
    read_data(parallel, data);
    double sum = 0.0;
    for (int64_t i = 0; i < g.views * COLUMNS; i++)
        sum += pow((double)ct_values(y)[i] - (double)data[i], 2.0);
    motet_array_free(x);
    motet_array_free(y);
    motet_ct_geometry_free(geometry);
    return sqrt(sum / (double)(g.views * COLUMNS));
}

static void projections_come_near_as_voxels_shrink(void **state)
{
    (void)state;
    motet_context *c = test_context();
    for (int parallel = 0; parallel < 2; parallel++) {
        const double coarse = projection_error(c, parallel, 64);
        const double fine = projection_error(c, parallel, 256);
        if (!(fine < 0.006 && fine < 0.3 * coarse))
            fail_msg("parallel %d: %g, then %g", parallel, coarse, fine);
    }
    motet_context_free(c);
}

static double mean_around(const motet_ct_views *g, const float *slice, double x, double y, double r)
{
    double sum = 0.0, count = 0.0;
    for (int64_t i = 0; i < g->nx * g->ny; i++) {
        const double dx = ((double)(i % g->nx) + 0.5 - 0.5 * (double)g->nx) * g->voxel[0] - x;
        const double dy = ((double)(i / g->nx) + 0.5 - 0.5 * (double)g->ny) * g->voxel[1] - y;
        if (dx * dx + dy * dy > r * r) continue;
        sum += (double)slice[i];
        count += 1.0;
    }
    return sum / count;
}

/* Brain 0.02, ventricles 0, the great mass 0.03, within the ripples of a skull of 1. */
static void the_head_is_found_in_them(void **state)
{
    (void)state;
    const double want[][4] = {{0.45, 0.0, 0.06, 0.02}, {-0.46, -0.3, 0.06, 0.02},
                              {-0.22, 0.0, 0.07, 0.0}, {0.22, 0.0, 0.05, 0.0},
                              {0.0, 0.37, 0.12, 0.03}, {0.25, -0.6, 0.06, 0.02}};
    motet_context *c = test_context();
    for (int parallel = 0; parallel < 2; parallel++) {
        motet_ct_view view[MOST_VIEWS];
        const motet_ct_views g = ctsim_views(parallel, view, 129);
        motet_ct_geometry *geometry = NULL;
        assert_ok(c, motet_ct_geometry_create(c, &g, &geometry));
        motet_array *x = ct_array(c, 1, 129, 129), *y = ct_array(c, g.views, COLUMNS, 1);
        read_data(parallel, ct_values(y));
        motet_ct_fdk_options options;
        motet_ct_fdk_options_init(&options);
        options.filter.window = MOTET_CT_HANN;
        assert_ok(c, motet_ct_fdk(geometry, &options, y, x));
        for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
            const double got = mean_around(&g, ct_values(x), want[i][0], want[i][1], want[i][2]);
            if (!(fabs(got - want[i][3]) < 0.001))
                fail_msg("place %zu, parallel %d: %g, expected %g", i, parallel, got, want[i][3]);
        }
        motet_array_free(x);
        motet_array_free(y);
        motet_ct_geometry_free(geometry);
    }
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(line_integrals_are_the_same),
                                       cmocka_unit_test(projections_come_near_as_voxels_shrink),
                                       cmocka_unit_test(the_head_is_found_in_them)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
