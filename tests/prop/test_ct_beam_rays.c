/* The general pair in float32 over random geometries: adjoint, and the same bits however it is run.
 */
#include "support/ct_kinds.h"

static double dot(const float *a, const float *b, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) sum += (double)a[i] * (double)b[i];
    return sum;
}

/* |<Ax, y> - <x, A'y>| <= 1e-6 |Ax| |y|, 200 geometries of each kind. */
static void inner_products_agree(void **state)
{
    (void)state;
    motet_context *context = test_context();
    uint64_t seed = 20;
    int64_t met = 0;
    for (int trial = 0; trial < 200 * CT_KIND_COUNT; trial++) {
        const ct_kind kind = (ct_kind)(trial % CT_KIND_COUNT);
        ct_kinds_case c = ct_kinds_random(&seed, kind, trial % 17 ? 9 : 24);
        motet_ct_geometry *g = ct_kinds_create(context, &c);
        ct_beam_use_rays(g->beam);
        const size_t rays = ct_oracle_rays(&c.g), voxels = ct_oracle_voxels(&c.g);
        float *x = malloc(sizeof(float) * voxels), *back = malloc(sizeof(float) * voxels);
        float *y = malloc(sizeof(float) * rays), *forth = malloc(sizeof(float) * rays);
        ct_oracle_fill(x, voxels, &seed);
        ct_oracle_fill(y, rays, &seed);
        ct_kinds_project(context, g, &c.g, x, forth);
        ct_kinds_backproject(context, g, &c.g, y, back);
        const double left = dot(forth, y, rays), right = dot(x, back, voxels);
        const double size = sqrt(dot(forth, forth, rays) * dot(y, y, rays));
        if (!(fabs(left - right) <= 1e-6 * size))
            fail_msg("trial %d, %s: %.10g and %.10g of %g", trial, ct_kind_text(kind), left, right,
                     size);
        met += size > 0.0;
        free(x);
        free(y);
        free(back);
        free(forth);
        motet_ct_geometry_free(g);
    }
    assert_true(met > 180 * CT_KIND_COUNT);
    motet_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(inner_products_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
