/* The column form's projection in float64 throughout: what is left is the model, not its rounding.
 */
#define CT_DOUBLE
#include "ct/beam/beam.h"
#include "ct/beam/columns_project.k.h"

#include "support/ct_random.h"

static double *project(const ct_space *space, const ct_pose *pose, const motet_ct_views *g,
                       const float *volume)
{
    const int64_t lines = space->n[space->f], cells = space->n[space->w];
    double *laid = malloc(sizeof *laid * ct_oracle_voxels(g));
    double *out = malloc(sizeof *out * ct_oracle_rays(g));
    int64_t at[3];
    size_t i = 0;
    for (at[space->s] = 0; at[space->s] < space->n[space->s]; at[space->s]++)
        for (at[space->f] = 0; at[space->f] < lines; at[space->f]++)
            for (at[space->w] = 0; at[space->w] < cells; at[space->w]++)
                laid[i++] = (double)volume[(at[2] * g->ny + at[1]) * g->nx + at[0]];
    const ct_columns_project_args a = {.space = *space,
                                       .pose = pose,
                                       .views = g->views,
                                       .columns = g->columns,
                                       .rows = g->rows,
                                       .volume = laid,
                                       .s_stride = lines * cells,
                                       .f_stride = cells,
                                       .end = space->n[space->s],
                                       .sinogram = out,
                                       .view_stride = g->columns * g->rows,
                                       .column_stride = g->rows,
                                       .starts = 1,
                                       .finishes = 1};
    for (int64_t item = 0; item < ct_columns_project_items(&a); item++)
        ct_columns_project_item(&a, item, NULL);
    free(laid);
    return out;
}

/* 200 geometries of each kind: 1e-12 of the range. */
static void agrees_with_siddon_to_rounding(void **state)
{
    (void)state;
    motet_context *c = test_context();
    uint64_t seed = 21;
    int trials = 0, columns = 0;
    for (int kind = 0; kind < CT_RANDOM_KINDS; kind++)
        for (int trial = 0; trial < 200; trial++) {
            motet_ct_view view[2];
            const motet_ct_views g = ct_random_views(&seed, kind, trial % 3, 2, 12, view);
            motet_ct_geometry *geometry = NULL;
            assert_ok(c, motet_ct_geometry_create(c, &g, &geometry));
            trials++;
            if (geometry->beam->form == CT_FORM_COLUMNS) {
                columns++;
                const size_t rays = ct_oracle_rays(&g);
                float *volume = malloc(sizeof *volume * ct_oracle_voxels(&g));
                double *expected = malloc(sizeof *expected * rays), range = 0.0;
                ct_oracle_fill(volume, ct_oracle_voxels(&g), &seed);
                ct_oracle_project(&g, volume, expected);
                double *got = project(&geometry->beam->space,
                                      motet_array_data(geometry->beam->poses), &g, volume);
                for (size_t i = 0; i < rays; i++) range = fmax(range, fabs(expected[i]));
                for (size_t i = 0; i < rays; i++)
                    if (!(fabs(expected[i] - got[i]) <= 1e-12 * fmax(range, 1.0)))
                        fail_msg("kind %d trial %d ray %zu: %.17g, expected %.17g of %g", kind,
                                 trial, i, got[i], expected[i], range);
                free(volume);
                free(expected);
                free(got);
            }
            motet_ct_geometry_free(geometry);
        }
    if (columns < trials * 3 / 4) fail_msg("%d of %d take the column form", columns, trials);
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_siddon_to_rounding)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
