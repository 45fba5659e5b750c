/* The general pair in float32 over random geometries: adjoint, and the same bits however it is run.
 */
#include "ct/beam/rays_backproject_fast.h"
#include "ct/beam/rays_project.k.h"
#include "kern/kernel.h"
#include "support/ct_kinds.h"
#include "support/ct_pair.h"

/* Ranges of so many items (0: one range) of the whole operators, in one form of the kernel. */
static void run(const motet_ct_geometry *g, const float *from, float *to, int backward, int isa,
                int fast, int64_t range)
{
    const ct_space *s = &g->beam->space;
    const ct_rays_project_args forth = {.space = *s,
                                        .pose = motet_array_data(g->beam->poses),
                                        .volume = from,
                                        .slice_stride = s->n[0] * s->n[1],
                                        .line_stride = s->n[0],
                                        .slices = s->n[2],
                                        .sinogram = to,
                                        .view_stride = s->columns * s->rows,
                                        .column_stride = s->rows,
                                        .columns = s->columns,
                                        .rows = s->rows,
                                        .begins = 1,
                                        .ends = 1};
    const ct_rays_backproject_args back = {.space = *s,
                                           .pose = forth.pose,
                                           .views = g->views,
                                           .sinogram = from,
                                           .view_stride = forth.view_stride,
                                           .column_stride = forth.column_stride,
                                           .volume = to,
                                           .slice_stride = forth.slice_stride,
                                           .line_stride = forth.line_stride,
                                           .count = {s->n[0], s->n[1], s->n[2]},
                                           .begins = 1,
                                           .ends = 1};
    const k_kernel *kernel = backward ? &K_ct_rays_backproject : &K_ct_rays_project;
    const int64_t items =
        backward ? ct_rays_backproject_items(&back) : g->views * s->columns * s->rows;
    const int64_t step = range ? range : items;
    void *scratch = aligned_alloc(64, (sizeof(ct_rays_scratch) + 63) / 64 * 64);
    memset(scratch, 0xff, sizeof(ct_rays_scratch)); /* NaN: nothing may count on its contents */
    for (int64_t begin = 0; begin < items; begin += step)
        (fast ? kernel->fast : kernel->plain)[isa](backward ? (const void *)&back : &forth, begin,
                                                   begin + step < items ? begin + step : items,
                                                   scratch);
    free(scratch);
}

/* P1: plain and fast, every instruction set, any ranges, with a NaN and an infinity on the way. */
static void fast_is_plain(void **state)
{
    (void)state;
    motet_context *context = test_context();
    uint64_t seed = 23;
    for (int trial = 0; trial < 12 * CT_KIND_COUNT; trial++) {
        const ct_kind kind = (ct_kind)(trial % CT_KIND_COUNT);
        ct_kinds_case c = ct_kinds_random(&seed, kind, trial % 3 ? 37 : 10);
        motet_ct_geometry *g = ct_kinds_create(context, &c);
        ct_beam_use_rays(g->beam);
        const size_t count[] = {ct_oracle_voxels(&c.g), ct_oracle_rays(&c.g)};
        for (int backward = 0; backward < 2; backward++) {
            const size_t n = count[backward], m = count[!backward];
            float *from = malloc(sizeof(float) * n), *plain = malloc(sizeof(float) * m);
            float *other = malloc(sizeof(float) * m);
            ct_oracle_fill(from, n, &seed);
            from[n / 2] = NAN;
            from[n / 3] = -INFINITY;
            const int64_t range = 1 + (int64_t)(test_random(&seed) % 700);
            run(g, from, plain, backward, ct_pair_best(), 0, 0);
            for (int isa = K_BASE; isa < K_ISAS; isa++)
                for (int fast = 0; fast < 2; fast++) {
                    if (!ct_pair_can(isa) || (isa == K_BASE && trial > CT_KIND_COUNT)) continue;
                    memset(other, 0xff, sizeof(float) * m);
                    run(g, from, other, backward, isa, fast, trial % 2 ? range : 0);
                    if (memcmp(plain, other, sizeof(float) * m))
                        fail_msg("trial %d, %s, %s, isa %d, fast %d differs", trial,
                                 ct_kind_text(kind), backward ? "back" : "forth", isa, fast);
                }
            free(from);
            free(plain);
            free(other);
        }
        motet_ct_geometry_free(g);
    }
    motet_context_free(context);
}

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
    const struct CMUnitTest tests[] = {cmocka_unit_test(inner_products_agree),
                                       cmocka_unit_test(fast_is_plain)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
