/* Projection in column form against a float64 walk, closed forms, and what rays may do at worst. */
#include <motet/motet.h>

#include "ct/beam/beam.h"
#include "support/ct_random.h"

static motet_ct_geometry *make(motet_context *c, const motet_ct_views *views)
{
    motet_ct_geometry *g = NULL;
    assert_ok(c, motet_ct_geometry_create(c, views, &g));
    return g;
}

static motet_array *volume_of(motet_context *c, const motet_ct_views *g)
{
    motet_array *out = NULL;
    assert_ok(c, motet_array_create(c, MOTET_F32, 3, (int64_t[]){g->nz, g->ny, g->nx}, &out));
    return out;
}

static motet_array *sinogram_of(motet_context *c, const motet_ct_views *g)
{
    motet_array *out = NULL;
    assert_ok(
        c, motet_array_create(c, MOTET_F32, 3, (int64_t[]){g->views, g->columns, g->rows}, &out));
    return out;
}

/* Noise, a volume full of edges: 1e-5 of the range. */
static void agrees_with_a_float64_walk(void **state)
{
    (void)state;
    motet_context *c = test_context();
    uint64_t seed = 5;
    int columns = 0, trials = 0;
    for (int kind = 0; kind < CT_RANDOM_KINDS; kind++)
        for (int trial = 0; trial < 12; trial++) {
            motet_ct_view view[3];
            const motet_ct_views g = ct_random_views(&seed, kind, trial % 3, 3, 24, view);
            motet_ct_geometry *geometry = make(c, &g);
            trials++;
            if (geometry->beam->form != CT_FORM_COLUMNS) {
                motet_ct_geometry_free(geometry);
                continue;
            }
            columns++;
            motet_array *volume = volume_of(c, &g), *sinogram = sinogram_of(c, &g);
            ct_oracle_fill(motet_array_data(volume), ct_oracle_voxels(&g), &seed);
            double *expected = malloc(sizeof *expected * ct_oracle_rays(&g)), range = 0.0;
            ct_oracle_project(&g, motet_array_data(volume), expected);
            assert_ok(c, motet_ct_project(geometry, volume, sinogram));
            const float *got = motet_array_data(sinogram);
            for (size_t i = 0; i < ct_oracle_rays(&g); i++) range = fmax(range, fabs(expected[i]));
            for (size_t i = 0; i < ct_oracle_rays(&g); i++)
                if (!(fabs(expected[i] - (double)got[i]) <= 1e-5 * range))
                    fail_msg("kind %d trial %d ray %zu: %.9g, expected %.9g of %g", kind, trial, i,
                             (double)got[i], expected[i], range);
            free(expected);
            motet_array_free(volume);
            motet_array_free(sinogram);
            motet_ct_geometry_free(geometry);
        }
    if (columns < trials * 3 / 4) fail_msg("%d of %d take the column form", columns, trials);
    motet_context_free(c);
}

/* A parallel beam of one row along (x, y), over a volume of one slice of n x n voxels of size 2. */
static motet_ct_views flat(int64_t n, int64_t columns, double x, double y, motet_ct_view *view)
{
    motet_ct_views g;
    motet_ct_views_init(&g);
    g.beam = MOTET_CT_BEAM_PARALLEL;
    g.views = 1;
    g.view = view;
    g.columns = columns;
    g.nx = g.ny = n;
    g.voxel[0] = g.voxel[1] = g.pitch_u = 2.0;
    *view = (motet_ct_view){.source = {x, y, 0}, .u = {y, -x, 0}, .v = {0, 0, 1}};
    const double size = sqrt(x * x + y * y);
    for (int i = 0; i < 3; i++) view->u[i] /= size;
    return g;
}

static void project(motet_context *c, const motet_ct_views *g, const float *x, float *out)
{
    motet_ct_geometry *geometry = make(c, g);
    assert_int_equal(geometry->beam->form, CT_FORM_COLUMNS);
    motet_array *volume = volume_of(c, g), *sinogram = sinogram_of(c, g);
    memcpy(motet_array_data(volume), x, sizeof *x * ct_oracle_voxels(g));
    memset(motet_array_data(sinogram), 0xff, sizeof *out * ct_oracle_rays(g));
    assert_ok(c, motet_ct_project(geometry, volume, sinogram));
    memcpy(out, motet_array_data(sinogram), sizeof *out * ct_oracle_rays(g));
    motet_array_free(volume);
    motet_array_free(sinogram);
    motet_ct_geometry_free(geometry);
}

/* Along an axis: lines of voxels exactly; in the face between two, the lower up to the middle and
 * the upper from there; in the outer face, the voxels that there are. */
static void axis_parallel_rays_are_exact(void **state)
{
    (void)state;
    enum { N = 6 };
    motet_context *c = test_context();
    float volume[N * N], sinogram[N + 1];
    for (int i = 0; i < N * N; i++) volume[i] = (float)(i * i % 23);
    const double x[] = {1, -1, 0, 0}, y[] = {0, 0, 3, -0.25};
    for (int k = 0; k < 4; k++)
        for (int odd = 0; odd < 2; odd++) {
            motet_ct_view view;
            const motet_ct_views g = flat(N, N + odd, x[k], y[k], &view);
            project(c, &g, volume, sinogram);
            const int along_x = y[k] == 0.0, up = along_x ? x[k] > 0 : y[k] > 0;
            for (int u = 0; u < N + odd; u++) {
                /* u runs along +x where rays go up y, and along -y where they go up x */
                const int at = up == along_x ? N + odd - 1 - u : u;
                double expected = 0.0;
                for (int i = 0; i < N; i++) {
                    int line = at;
                    /* t = 0 is in the middle; along y all rays count t upwards */
                    if (odd) line = (i < N / 2) == (!along_x || up) ? at - 1 : at;
                    if (line < 0 || line >= N) continue;
                    expected +=
                        2.0 * (double)(along_x ? volume[line * N + i] : volume[i * N + line]);
                }
                if ((double)sinogram[u] != expected)
                    fail_msg("direction %d odd %d ray %d: %g, expected %g", k, odd, u,
                             (double)sinogram[u], expected);
            }
        }
    motet_context_free(c);
}

/* Through the corners of voxels, at 45 degrees: the diagonal and its neighbours. */
static void rays_through_corners_sum_right(void **state)
{
    (void)state;
    enum { N = 8 };
    motet_context *c = test_context();
    float volume[N * N], sinogram[2 * N + 1];
    for (int i = 0; i < N * N; i++) volume[i] = (float)(1 + i * 7 % 11);
    const double signs[] = {1, -1};
    for (int k = 0; k < 4; k++) {
        motet_ct_view view;
        const double x = signs[k % 2], y = signs[k / 2];
        motet_ct_views g = flat(N, 2 * N - 1, x, y, &view);
        g.pitch_u = sqrt(2.0); /* half a diagonal: every ray passes corners */
        project(c, &g, volume, sinogram);
        for (int u = 0; u < 2 * N - 1; u++) {
            double expected = 0.0;
            for (int j = 0; j < N; j++)
                for (int i = 0; i < N; i++) {
                    const double px = 2.0 * i - (N - 1), py = 2.0 * j - (N - 1);
                    const double place = (px * view.u[0] + py * view.u[1]) / g.pitch_u + N - 1;
                    if (fabs(place - u) < 0.1)
                        expected += 2.0 * sqrt(2.0) * (double)volume[j * N + i];
                }
            if (!(fabs((double)sinogram[u] - expected) <= 1e-4))
                fail_msg("direction %d ray %d: %g, expected %g", k, u, (double)sinogram[u],
                         expected);
        }
    }
    motet_context_free(c);
}

/* One view, row, column and voxel. */
static void one_voxel_is_a_chord(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_view view = ct_oracle_circular(MOTET_CT_BEAM_CONE, 0.3, 5.0, 9.0);
    motet_ct_views g;
    motet_ct_views_init(&g);
    g.views = g.columns = g.nx = g.ny = 1;
    g.view = &view;
    const float one = 1.0f;
    float got = 0.0f;
    project(c, &g, &one, &got);
    assert_true(fabs((double)got - 1.0 / cos(0.3)) < 1e-6);
    motet_context_free(c);
}

/* Rays past the volume, and rays that end before it or begin behind it, are 0; a voxel that is not
 * a number reaches no ray but its own. */
static void what_is_not_met_does_not_count(void **state)
{
    (void)state;
    enum { N = 5 };
    motet_context *c = test_context();
    float volume[N * N * N], sinogram[3 * 40 * 12];
    for (int i = 0; i < N * N * N; i++) volume[i] = 1.0f;
    volume[(2 * N + 2) * N + 2] = NAN;
    motet_ct_view view[3];
    motet_ct_views g;
    motet_ct_views_init(&g);
    g.view = view;
    g.views = 3;
    g.columns = 40;
    g.rows = 12;
    g.nx = g.ny = g.nz = N;
    view[0] = ct_oracle_circular(MOTET_CT_BEAM_CONE, 0.1, 30.0, 45.0);
    view[1] = ct_oracle_circular(MOTET_CT_BEAM_CONE, 0.2, 60.0, 50.0);  /* ends before */
    view[2] = ct_oracle_circular(MOTET_CT_BEAM_CONE, 0.3, -10.0, 20.0); /* begins behind */
    project(c, &g, volume, sinogram);
    int through = 0, zero = 0, lost = 0;
    for (int u = 0; u < 40; u++)
        for (int v = 0; v < 12; v++) {
            const float got = sinogram[u * 12 + v];
            const double expected = ct_oracle_ray(&g, 0, u, v, NULL);
            if (expected == 0.0) {
                zero++;
                assert_true(k_f32_bits(got) == 0);
            } else if (isnan(got)) {
                lost++;
            } else {
                through++;
                assert_true(fabs(expected - (double)got) < 1e-5);
            }
        }
    assert_true(through > 20 && zero > 200 && lost > 0 && lost < 20);
    for (int i = 40 * 12; i < 3 * 40 * 12; i++) assert_true(k_f32_bits(sinogram[i]) == 0);
    motet_context_free(c);
}

/* A source very far away gives what parallel rays do. */
static void far_sources_lose_no_digits(void **state)
{
    (void)state;
    enum { N = 9 };
    motet_context *c = test_context();
    uint64_t seed = 3;
    float volume[N * N * N], near[11 * 7], far[11 * 7];
    ct_oracle_fill(volume, N * N * N, &seed);
    motet_ct_view view = ct_oracle_circular(MOTET_CT_BEAM_PARALLEL, 0.7, 0.0, 10.0);
    motet_ct_views g;
    motet_ct_views_init(&g);
    g.beam = MOTET_CT_BEAM_PARALLEL;
    g.view = &view;
    g.views = 1;
    g.columns = 11;
    g.rows = 7;
    g.nx = g.ny = g.nz = N;
    project(c, &g, volume, near);
    const double distance[] = {1e8, 1e12, 9e14};
    for (int k = 0; k < 3; k++) {
        view = ct_oracle_circular(MOTET_CT_BEAM_CONE, 0.7, distance[k], distance[k] + 10.0);
        g.beam = MOTET_CT_BEAM_CONE;
        project(c, &g, volume, far);
        for (int i = 0; i < 11 * 7; i++)
            if (!(fabs((double)near[i] - (double)far[i]) <= 2e-5))
                fail_msg("from %g ray %d: %.9g, expected %.9g", distance[k], i, (double)far[i],
                         (double)near[i]);
    }
    motet_context_free(c);
}

static void survives_every_failing_allocation(void **state)
{
    (void)state;
    for (int64_t nth = 1;; nth++) {
        motet_context *c = test_context_failing(0, 0);
        motet_ct_view view = ct_oracle_circular(MOTET_CT_BEAM_CONE, 0.3, 30.0, 50.0);
        motet_ct_views g;
        motet_ct_views_init(&g);
        g.view = &view;
        g.views = 1;
        g.columns = g.rows = g.nx = g.ny = g.nz = 4;
        motet_ct_geometry *geometry = make(c, &g);
        motet_array *volume = volume_of(c, &g), *sinogram = sinogram_of(c, &g);
        memset(motet_array_data(volume), 0, sizeof(float) * 64);
        memset(motet_array_data(sinogram), 0x55, sizeof(float) * 16);
        test_context_fail_at(c, nth, 1);
        const motet_status st = motet_ct_project(geometry, volume, sinogram);
        const int reached = test_context_failed(c);
        test_context_fail_at(c, 0, 0);
        const unsigned char *bytes = motet_array_data(sinogram);
        if (reached && st != MOTET_OK) {
            assert_int_equal(st, MOTET_NO_MEMORY);
            for (int i = 0; i < 64; i++) assert_int_equal(bytes[i], 0x55);
        } else {
            assert_int_equal(st, MOTET_OK);
        }
        motet_array_free(volume);
        motet_array_free(sinogram);
        motet_ct_geometry_free(geometry);
        motet_context_free(c);
        if (!reached) {
            assert_true(nth > 2);
            return;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_a_float64_walk),
                                       cmocka_unit_test(axis_parallel_rays_are_exact),
                                       cmocka_unit_test(rays_through_corners_sum_right),
                                       cmocka_unit_test(one_voxel_is_a_chord),
                                       cmocka_unit_test(what_is_not_met_does_not_count),
                                       cmocka_unit_test(far_sources_lose_no_digits),
                                       cmocka_unit_test(survives_every_failing_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
