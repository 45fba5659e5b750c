/* The pair for any pose against Siddon written without it, weight by weight. */
#include "support/ct_kinds.h"

typedef struct rays_case {
    motet_context *context;
    ct_kinds_case c;
    motet_ct_geometry *g;
    size_t voxels, rays;
    float *volume, *sinogram, *forth, *back;
} rays_case;

static rays_case begin(uint64_t *seed, ct_kind kind, int64_t most)
{
    rays_case r = {.context = test_context(), .c = ct_kinds_random(seed, kind, most)};
    r.g = ct_kinds_create(r.context, &r.c);
    ct_beam_use_rays(r.g->beam);
    r.voxels = ct_oracle_voxels(&r.c.g);
    r.rays = ct_oracle_rays(&r.c.g);
    r.volume = calloc(r.voxels, sizeof(float));
    r.back = calloc(r.voxels, sizeof(float));
    r.sinogram = calloc(r.rays, sizeof(float));
    r.forth = calloc(r.rays, sizeof(float));
    return r;
}

static void end(rays_case *r)
{
    free(r->volume);
    free(r->back);
    free(r->sinogram);
    free(r->forth);
    motet_ct_geometry_free(r->g);
    motet_context_free(r->context);
}

static void project(rays_case *r)
{
    r->c.g.view = r->c.view;
    ct_kinds_project(r->context, r->g, &r->c.g, r->volume, r->forth);
}

static void backproject(rays_case *r)
{
    r->c.g.view = r->c.view;
    ct_kinds_backproject(r->context, r->g, &r->c.g, r->sinogram, r->back);
}

static double compare(const float *got, const double *want, size_t n)
{
    double range = 1e-30, worst = 0.0;
    for (size_t i = 0; i < n; i++) {
        range = fmax(range, fabs(want[i]));
        worst = fmax(worst, fabs(want[i] - (double)got[i]));
    }
    return worst / range;
}

/* Noise, every kind of geometry, by this form: 2e-6 of the range from Siddon in long double. */
static void agrees_with_a_sorted_walk(void **state)
{
    (void)state;
    uint64_t seed = 11;
    for (int trial = 0; trial < 12 * CT_KIND_COUNT; trial++) {
        const ct_kind kind = (ct_kind)(trial % CT_KIND_COUNT);
        rays_case r = begin(&seed, kind, 12);
        ct_oracle_fill(r.volume, r.voxels, &seed);
        ct_oracle_fill(r.sinogram, r.rays, &seed);
        double *forth = calloc(r.rays, sizeof *forth), *back = calloc(r.voxels, sizeof *back);
        project(&r);
        backproject(&r);
        ct_oracle_project(&r.c.g, r.volume, forth);
        ct_oracle_backproject(&r.c.g, r.sinogram, back);
        const double wrong_forth = compare(r.forth, forth, r.rays);
        const double wrong_back = compare(r.back, back, r.voxels);
        if (!(wrong_forth <= 2e-6 && wrong_back <= 2e-6))
            fail_msg("trial %d, %s: %g forth, %g back", trial, ct_kind_text(kind), wrong_forth,
                     wrong_back);
        free(forth);
        free(back);
        end(&r);
    }
}

/* Every weight of the back-projection has the bits of the projection's. */
static void weights_are_transposed_bit_for_bit(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (int trial = 0; trial < 2 * CT_KIND_COUNT; trial++) {
        const ct_kind kind = (ct_kind)(trial % CT_KIND_COUNT);
        rays_case r = begin(&seed, kind, 5);
        float *matrix = malloc(sizeof(float) * r.rays * r.voxels); /* [voxel][ray] */
        for (size_t v = 0; v < r.voxels; v++) {
            r.volume[v] = 1.0f;
            project(&r);
            memcpy(matrix + v * r.rays, r.forth, sizeof(float) * r.rays);
            r.volume[v] = 0.0f;
        }
        for (size_t i = 0; i < r.rays; i++) {
            r.sinogram[i] = 1.0f;
            backproject(&r);
            r.sinogram[i] = 0.0f;
            for (size_t v = 0; v < r.voxels; v++)
                if (memcmp(&matrix[v * r.rays + i], &r.back[v], sizeof(float)))
                    fail_msg("trial %d, %s: ray %zu voxel %zu: %a forth, %a back", trial,
                             ct_kind_text(kind), i, v, (double)matrix[v * r.rays + i],
                             (double)r.back[v]);
        }
        free(matrix);
        end(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_a_sorted_walk),
        cmocka_unit_test(weights_are_transposed_bit_for_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
