/* Back-projection in column form against a float64 walk, and what it may touch. */
#include "rt/run.h"
#include "support/ct_kinds.h"
#include "support/ct_random.h"

static motet_ct_geometry *make(motet_context *c, const motet_ct_views *views)
{
    motet_ct_geometry *g = NULL;
    assert_ok(c, motet_ct_geometry_create(c, views, &g));
    return g;
}

/* Noise on the detector: 1e-5 of the range. */
static void agrees_with_a_float64_walk(void **state)
{
    (void)state;
    motet_context *c = test_context();
    uint64_t seed = 7;
    int columns = 0, trials = 0;
    for (int kind = 0; kind < CT_RANDOM_KINDS; kind++)
        for (int trial = 0; trial < 12; trial++) {
            motet_ct_view view[3];
            const motet_ct_views g = ct_random_views(&seed, kind, trial % 3, 3, 24, view);
            motet_ct_geometry *geometry = make(c, &g);
            const size_t rays = ct_oracle_rays(&g), voxels = ct_oracle_voxels(&g);
            float *y = malloc(sizeof *y * rays), *x = malloc(sizeof *x * voxels);
            double *expected = calloc(voxels, sizeof *expected), range = 0.0;
            trials++;
            columns += geometry->beam->form == CT_FORM_COLUMNS;
            ct_oracle_fill(y, rays, &seed);
            ct_oracle_backproject(&g, y, expected);
            ct_kinds_backproject(c, geometry, &g, y, x);
            for (size_t i = 0; i < voxels; i++) range = fmax(range, fabs(expected[i]));
            for (size_t i = 0; i < voxels; i++)
                if (!(fabs(expected[i] - (double)x[i]) <= 1e-5 * range))
                    fail_msg("kind %d trial %d voxel %zu: %.9g, expected %.9g of %g", kind, trial,
                             i, (double)x[i], expected[i], range);
            free(expected);
            free(x);
            free(y);
            motet_ct_geometry_free(geometry);
        }
    if (columns < trials * 3 / 4) fail_msg("%d of %d take the column form", columns, trials);
    motet_context_free(c);
}

/* A NaN goes back to exactly the voxels that it may have come from: pixel i spoils voxel j where
 * voxel j spoils pixel i, weights of 0 included. */
static void a_nan_goes_back_to_where_it_came_from(void **state)
{
    (void)state;
    motet_context *c = test_context();
    uint64_t seed = 3;
    for (int trial = 0; trial < 12; trial++) {
        motet_ct_view view[1];
        const motet_ct_views g =
            ct_random_views(&seed, trial % CT_RANDOM_KINDS, trial % 3, 1, 6, view);
        motet_ct_geometry *geometry = make(c, &g);
        const size_t rays = ct_oracle_rays(&g), voxels = ct_oracle_voxels(&g);
        float *x = calloc(voxels, sizeof *x), *y = calloc(rays, sizeof *y);
        unsigned char *spoils = calloc(rays * voxels, 1);
        if (geometry->beam->form == CT_FORM_COLUMNS)
            for (size_t j = 0; j < voxels; j++) {
                float *one = calloc(voxels, sizeof *one);
                one[j] = NAN;
                ct_kinds_project(c, geometry, &g, one, y);
                for (size_t i = 0; i < rays; i++) spoils[i * voxels + j] = y[i] != y[i];
                free(one);
            }
        memset(y, 0, sizeof *y * rays);
        for (size_t i = 0; i < rays && geometry->beam->form == CT_FORM_COLUMNS; i++) {
            y[i] = NAN;
            ct_kinds_backproject(c, geometry, &g, y, x);
            y[i] = 0.0f;
            for (size_t j = 0; j < voxels; j++)
                if ((x[j] != x[j]) != spoils[i * voxels + j])
                    fail_msg("trial %d: pixel %zu and voxel %zu", trial, i, j);
        }
        free(spoils);
        free(x);
        free(y);
        motet_ct_geometry_free(geometry);
    }
    motet_context_free(c);
}

/* P1: whatever the volume and the views are cut into. */
static void same_bits_for_every_cut(void **state)
{
    (void)state;
    motet_context *c = test_context();
    uint64_t seed = 11;
    for (int trial = 0; trial < 18; trial++) {
        motet_ct_view view[7];
        const motet_ct_views g =
            ct_random_views(&seed, trial % CT_RANDOM_KINDS, trial % 3, 7, 40, view);
        motet_ct_geometry *geometry = make(c, &g);
        const size_t rays = ct_oracle_rays(&g), bytes = sizeof(float) * ct_oracle_voxels(&g);
        float *values = malloc(sizeof *values * rays);
        ct_oracle_fill(values, rays, &seed);
        motet_array *y = ct_kinds_array(c, &g, 1, values), *whole = ct_kinds_array(c, &g, 0, NULL);
        assert_ok(c, motet_ct_backproject(geometry, y, whole));
        for (int i = 0; i < 6; i++) {
            motet_array *x = ct_kinds_array(c, &g, 0, NULL);
            memset(motet_array_data(x), 0xff, bytes);
            rt_cut cut;
            for (int k = 0; k < 3; k++) cut.rows[k] = 1 + (int64_t)(test_random(&seed) % 20);
            cut.stream_rows = 1 + (int64_t)(test_random(&seed) % 7);
            const rt_op op = ct_beam_backproject_op(geometry, y, x);
            assert_ok(c, rt_run_cut(c, &op, &cut));
            if (memcmp(motet_array_data(x), motet_array_data(whole), bytes))
                fail_msg("trial %d: cut %d", trial, i);
            motet_array_free(x);
        }
        motet_array_free(whole);
        motet_array_free(y);
        free(values);
        motet_ct_geometry_free(geometry);
    }
    motet_context_free(c);
}

/* Every failing allocation is told; the volume stays as it was. */
static void survives_every_failing_allocation(void **state)
{
    (void)state;
    uint64_t seed = 12;
    motet_ct_view view[3];
    const motet_ct_views g = ct_random_views(&seed, CT_RANDOM_CONE, 2, 3, 9, view);
    motet_context *c = test_context_failing(0, 0);
    motet_ct_geometry *geometry = make(c, &g);
    assert_int_equal(geometry->beam->form, CT_FORM_COLUMNS);
    const size_t bytes = sizeof(float) * ct_oracle_voxels(&g);
    motet_array *y = ct_kinds_array(c, &g, 1, NULL), *x = ct_kinds_array(c, &g, 0, NULL);
    void *before = malloc(bytes);
    memset(before, 0x5a, bytes);
    for (int64_t nth = 1;; nth++) {
        memcpy(motet_array_data(x), before, bytes);
        test_context_fail_at(c, nth, 0);
        const motet_status st = motet_ct_backproject(geometry, y, x);
        const int reached = test_context_failed(c);
        assert_int_equal(st, reached ? MOTET_NO_MEMORY : MOTET_OK);
        if (!reached) break;
        assert_memory_equal(motet_array_data(x), before, bytes);
    }
    free(before);
    motet_array_free(x);
    motet_array_free(y);
    motet_ct_geometry_free(geometry);
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_a_float64_walk),
        cmocka_unit_test(a_nan_goes_back_to_where_it_came_from),
        cmocka_unit_test(same_bits_for_every_cut),
        cmocka_unit_test(survives_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
