/* The kernels of the general pair built in float64: adjoint and right to 1e-12. */
#define CT_DOUBLE
#include "ct/beam/rays_backproject.k.h"
#include "ct/beam/rays_project.k.h"
#include "support/ct_kinds.h"

static void project(const motet_ct_geometry *g, const double *volume, double *sinogram)
{
    const ct_space *s = &g->beam->space;
    const ct_rays_project_args a = {
        .space = *s,
        .pose = motet_array_data(g->beam->poses),
        .volume = volume,
        .slice_stride = s->n[0] * s->n[1],
        .line_stride = s->n[0],
        .slices = s->n[2],
        .sinogram = sinogram,
        .view_stride = s->columns * s->rows,
        .column_stride = s->rows,
        .columns = s->columns,
        .rows = s->rows,
        .begins = 1,
        .ends = 1,
    };
    const int64_t items = g->views * s->columns * s->rows;
    for (int64_t i = 0; i < items; i++) ct_rays_project_item(&a, i, NULL);
}

static void backproject(const motet_ct_geometry *g, const double *sinogram, double *volume)
{
    const ct_space *s = &g->beam->space;
    const ct_rays_backproject_args a = {
        .space = *s,
        .pose = motet_array_data(g->beam->poses),
        .views = g->views,
        .sinogram = sinogram,
        .view_stride = s->columns * s->rows,
        .column_stride = s->rows,
        .volume = volume,
        .slice_stride = s->n[0] * s->n[1],
        .line_stride = s->n[0],
        .count = {s->n[0], s->n[1], s->n[2]},
        .begins = 1,
        .ends = 1,
    };
    const int64_t items = ct_rays_backproject_items(&a);
    for (int64_t i = 0; i < items; i++) ct_rays_backproject_item(&a, i, NULL);
}

static double dot(const double *a, const double *b, size_t n)
{
    long double sum = 0.0L;
    for (size_t i = 0; i < n; i++) sum += (long double)a[i] * b[i];
    return (double)sum;
}

static double worst_of(const double *got, const double *want, size_t n)
{
    double range = 1e-30, worst = 0.0;
    for (size_t i = 0; i < n; i++) {
        range = fmax(range, fabs(want[i]));
        worst = fmax(worst, fabs(want[i] - got[i]));
    }
    return worst / range;
}

/* |<Ax, y> - <x, A'y>| <= 1e-12 |Ax| |y|, 200 geometries of each kind; of some, both against a
 * sorted walk in long double. */
static void inner_products_agree(void **state)
{
    (void)state;
    motet_context *context = test_context();
    uint64_t seed = 21;
    int64_t met = 0;
    for (int trial = 0; trial < 200 * CT_KIND_COUNT; trial++) {
        const ct_kind kind = (ct_kind)(trial % CT_KIND_COUNT);
        ct_kinds_case c = ct_kinds_random(&seed, kind, trial % 17 ? 9 : 20);
        motet_ct_geometry *g = ct_kinds_create(context, &c);
        ct_beam_use_rays(g->beam);
        const size_t rays = ct_oracle_rays(&c.g), voxels = ct_oracle_voxels(&c.g);
        float *some = malloc(sizeof(float) * (rays + voxels));
        double *x = malloc(sizeof *x * voxels), *back = calloc(voxels, sizeof *back);
        double *y = malloc(sizeof *y * rays), *forth = calloc(rays, sizeof *forth);
        ct_oracle_fill(some, rays + voxels, &seed);
        for (size_t i = 0; i < rays; i++) y[i] = (double)some[i];
        for (size_t i = 0; i < voxels; i++) x[i] = (double)some[rays + i];
        project(g, x, forth);
        backproject(g, y, back);
        const double left = dot(forth, y, rays), right = dot(x, back, voxels);
        const double size = sqrt(dot(forth, forth, rays) * dot(y, y, rays));
        if (!(fabs(left - right) <= 1e-12 * size))
            fail_msg("trial %d, %s: %.17g and %.17g of %g", trial, ct_kind_text(kind), left, right,
                     size);
        met += size > 0.0;
        if (trial % 10 == trial / 10 % 10) {
            ct_oracle_project(&c.g, some + rays, y);
            memset(x, 0, sizeof *x * voxels);
            ct_oracle_backproject(&c.g, some, x);
            const double wrong_forth = worst_of(forth, y, rays);
            const double wrong_back = worst_of(back, x, voxels);
            if (!(wrong_forth <= 1e-12 && wrong_back <= 1e-12))
                fail_msg("trial %d, %s: %g forth, %g back", trial, ct_kind_text(kind), wrong_forth,
                         wrong_back);
        }
        free(some);
        free(x);
        free(y);
        free(back);
        free(forth);
        motet_ct_geometry_free(g);
    }
    assert_true(met > 180 * CT_KIND_COUNT);
    motet_context_free(context);
}

/* Ends up to 10^14 voxels away, detectors seen almost edge-on, units however small or large, pixels
 * much larger or smaller than voxels: what is met forth is met back. */
static void what_is_met_forth_is_met_back(void **state)
{
    (void)state;
    motet_context *context = test_context();
    uint64_t seed = 22;
    int64_t met = 0, trials = 0;
    for (int trial = 0; trial < 100 * CT_KIND_COUNT; trial++) {
        const ct_kind kind = (ct_kind)(trial % CT_KIND_COUNT);
        ct_kinds_case c = ct_kinds_random(&seed, kind, 7);
        const double far = exp(test_uniform(&seed, 0, 32)),
                     unit = exp(test_uniform(&seed, -80, 80));
        const double fine = exp(test_uniform(&seed, -3, 3)),
                     lean = exp(test_uniform(&seed, -12, 0));
        const int far_detector = (int)(test_random(&seed) % 2);
        const int parallel = c.g.beam == MOTET_CT_BEAM_PARALLEL;
        c.g.pitch_u *= unit * fine;
        c.g.pitch_v *= unit * fine;
        for (int i = 0; i < 3; i++) {
            c.g.voxel[i] *= unit;
            c.g.centre[i] *= unit;
        }
        for (int64_t k = 0; k < c.g.views; k++) {
            motet_ct_view *w = &c.view[k];
            double along[3], normal[3], away = 0.0;
            for (int i = 0; i < 3; i++) {
                const int j = (i + 1) % 3, l = (i + 2) % 3;
                normal[i] = w->u[j] * w->v[l] - w->u[l] * w->v[j];
                w->source[i] *= unit;
                w->detector[i] *= unit;
                along[i] = w->source[i] - (parallel ? 0.0 : w->detector[i]);
                away += normal[i] * along[i];
            }
            for (int i = 0; i < 3; i++) { /* towards the detector's plane, or away from it */
                if (trial / CT_KIND_COUNT % 3 == 0)
                    w->source[i] -= (1.0 - lean) * away * normal[i];
                else if (parallel && trial / CT_KIND_COUNT % 3 == 1)
                    w->source[i] *= far;
                else if (!parallel && trial / CT_KIND_COUNT % 3 == 1 && far_detector)
                    w->detector[i] -= (far - 1.0) * along[i];
                else if (!parallel && trial / CT_KIND_COUNT % 3 == 1)
                    w->source[i] += (far - 1.0) * along[i];
            }
        }
        if (!parallel && trial / CT_KIND_COUNT % 3 == 1 && far_detector) {
            c.g.pitch_u *= far;
            c.g.pitch_v *= far;
        }
        motet_ct_geometry *g = NULL;
        c.g.view = c.view;
        if (motet_ct_geometry_create(context, &c.g, &g) != MOTET_OK) continue;
        trials++;
        ct_beam_use_rays(g->beam);
        const size_t rays = ct_oracle_rays(&c.g), voxels = ct_oracle_voxels(&c.g);
        double *x = malloc(sizeof *x * voxels), *back = calloc(voxels, sizeof *back);
        double *y = malloc(sizeof *y * rays), *forth = calloc(rays, sizeof *forth);
        for (size_t i = 0; i < rays; i++) y[i] = test_uniform(&seed, 0.5, 1.0);
        for (size_t i = 0; i < voxels; i++) x[i] = test_uniform(&seed, 0.5, 1.0);
        project(g, x, forth);
        backproject(g, y, back);
        const double left = dot(forth, y, rays), right = dot(x, back, voxels);
        if (!(fabs(left - right) <= 1e-13 * left))
            fail_msg("trial %d, %s: %.17g and %.17g; far %g, lean %g, unit %g", trial,
                     ct_kind_text(kind), left, right, far, lean, unit);
        met += left > 0.0;
        free(x);
        free(y);
        free(back);
        free(forth);
        motet_ct_geometry_free(g);
    }
    if (met < 60 * CT_KIND_COUNT) fail_msg("%d of %d met", (int)met, (int)trials);
    motet_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(inner_products_agree),
                                       cmocka_unit_test(what_is_met_forth_is_met_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
