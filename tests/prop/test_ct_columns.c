/* The pair in column form as laws, over random geometries of each kind. */
#include "support/ct_kinds.h"
#include "support/ct_random.h"

static double dot(const float *a, const float *b, size_t count)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) sum += (double)a[i] * (double)b[i];
    return sum;
}

/* |<Ax, y> - <x, A'y>| <= 1e-6 |Ax| |y|, with w along each axis in turn. */
static void back_projection_is_the_transpose(void **state)
{
    (void)state;
    motet_context *c = test_context();
    uint64_t seed = 31;
    for (int kind = 0; kind < CT_RANDOM_KINDS; kind++) {
        int columns = 0;
        for (int trial = 0; columns < 200; trial++) {
            motet_ct_view view[4];
            const motet_ct_views g = ct_random_views(&seed, kind, trial % 3, 4, 12, view);
            motet_ct_geometry *geometry = NULL;
            assert_ok(c, motet_ct_geometry_create(c, &g, &geometry));
            if (geometry->beam->form == CT_FORM_COLUMNS) {
                const size_t rays = ct_oracle_rays(&g), voxels = ct_oracle_voxels(&g);
                float *x = malloc(sizeof *x * voxels), *back = malloc(sizeof *back * voxels);
                float *y = malloc(sizeof *y * rays), *forth = malloc(sizeof *forth * rays);
                ct_oracle_fill(x, voxels, &seed);
                ct_oracle_fill(y, rays, &seed);
                ct_kinds_project(c, geometry, &g, x, forth);
                ct_kinds_backproject(c, geometry, &g, y, back);
                const double error = dot(forth, y, rays) - dot(x, back, voxels);
                const double size = sqrt(dot(forth, forth, rays) * dot(y, y, rays));
                if (!(fabs(error) <= 1e-6 * size))
                    fail_msg("kind %d trial %d: %g of %g", kind, trial, error, size);
                columns++;
                free(x);
                free(y);
                free(back);
                free(forth);
            }
            motet_ct_geometry_free(geometry);
            assert_true(trial < 400);
        }
    }
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(back_projection_is_the_transpose)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
