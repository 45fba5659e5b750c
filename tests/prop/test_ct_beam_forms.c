/* The two forms of the pair are one operator: to rounding of float32 weights. */
#include "support/ct_kinds.h"

static double worst_of(const float *a, const float *b, size_t n)
{
    double range = 1e-30, worst = 0.0;
    for (size_t i = 0; i < n; i++) {
        range = fmax(range, fabs((double)a[i]));
        worst = fmax(worst, fabs((double)a[i] - (double)b[i]));
    }
    return worst / range;
}

/* Columns along each axis: the whole scene with its axes renamed. */
static void rename_axes(ct_kinds_case *c, int by)
{
    const ct_kinds_case from = *c;
    const int64_t n[] = {from.g.nx, from.g.ny, from.g.nz};
    c->g.nx = n[(0 + by) % 3];
    c->g.ny = n[(1 + by) % 3];
    c->g.nz = n[(2 + by) % 3];
    for (int i = 0; i < 3; i++) {
        const int j = (i + by) % 3;
        c->g.voxel[i] = from.g.voxel[j];
        c->g.centre[i] = from.g.centre[j];
        for (int64_t k = 0; k < from.g.views; k++) {
            c->view[k].source[i] = from.view[k].source[j];
            c->view[k].detector[i] = from.view[k].detector[j];
            c->view[k].u[i] = from.view[k].u[j];
            c->view[k].v[i] = from.view[k].v[j];
        }
    }
}

static void columns_are_rays(void **state)
{
    (void)state;
    motet_context *context = test_context();
    uint64_t seed = 71;
    int64_t compared = 0;
    for (int trial = 0; trial < 30 * CT_KIND_COUNT; trial++) {
        ct_kinds_case c = ct_kinds_random(&seed, (ct_kind)(trial % CT_KIND_COUNT), 14);
        rename_axes(&c, trial / CT_KIND_COUNT % 3);
        motet_ct_geometry *g = ct_kinds_create(context, &c);
        const size_t rays = ct_oracle_rays(&c.g), voxels = ct_oracle_voxels(&c.g);
        if (g->beam->form == CT_FORM_COLUMNS) {
            float *x = malloc(sizeof(float) * 3 * voxels), *y = malloc(sizeof(float) * 3 * rays);
            ct_oracle_fill(x, voxels, &seed);
            ct_oracle_fill(y, rays, &seed);
            ct_kinds_project(context, g, &c.g, x, y + rays);
            ct_kinds_backproject(context, g, &c.g, y, x + voxels);
            motet_ct_geometry_free(g);
            g = ct_kinds_create(context, &c);
            ct_beam_use_rays(g->beam);
            ct_kinds_project(context, g, &c.g, x, y + 2 * rays);
            ct_kinds_backproject(context, g, &c.g, y, x + 2 * voxels);
            const double forth = worst_of(y + 2 * rays, y + rays, rays);
            const double back = worst_of(x + 2 * voxels, x + voxels, voxels);
            if (!(forth <= 5e-6 && back <= 5e-6))
                fail_msg("trial %d, %s: %g forth, %g back", trial,
                         ct_kind_text((ct_kind)(trial % CT_KIND_COUNT)), forth, back);
            free(x);
            free(y);
            compared++;
        }
        motet_ct_geometry_free(g);
    }
    assert_true(compared > 60);
    motet_context_free(context);
}

/* Every failing allocation of either operator is told, leaves its output as it was and nothing
 * behind. */
static void survives_every_failing_allocation(void **state)
{
    (void)state;
    uint64_t seed = 72;
    ct_kinds_case c = ct_kinds_random(&seed, CT_KIND_TILTED, 6);
    c.g.view = c.view;
    for (int backward = 0; backward < 2; backward++)
        for (int64_t nth = 1;; nth++) {
            motet_context *context = test_context_failing(0, 0);
            motet_ct_geometry *g = ct_kinds_create(context, &c);
            motet_array *from = ct_kinds_array(context, &c.g, backward, NULL);
            motet_array *to = ct_kinds_array(context, &c.g, !backward, NULL);
            const size_t n = backward ? ct_oracle_voxels(&c.g) : ct_oracle_rays(&c.g);
            float *out = motet_array_data(to);
            for (size_t i = 0; i < n; i++) out[i] = 7.0f;
            test_context_fail_at(context, nth, 0);
            const motet_status st =
                backward ? motet_ct_backproject(g, from, to) : motet_ct_project(g, from, to);
            const int reached = test_context_failed(context);
            test_context_fail_at(context, 0, 0);
            assert_int_equal(st, reached ? MOTET_NO_MEMORY : MOTET_OK);
            for (size_t i = 0; reached && i < n; i++) assert_true(out[i] == 7.0f);
            motet_array_free(from);
            motet_array_free(to);
            motet_ct_geometry_free(g);
            motet_context_free(context);
            if (!reached) break;
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_rays),
        cmocka_unit_test(survives_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
