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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_a_float64_walk)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
