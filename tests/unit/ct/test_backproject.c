/* Back-projections against the float64 walker, and over many views. */
#include "support/ct_pair.h"

typedef struct spread {
    const ct_pair *pair;
    double *volume;
    double value;
    int64_t row;
} spread;

static void add_ray(int64_t x, int64_t y, double chord, void *user)
{
    spread *s = user;
    const ct_grid *g = &s->pair->grid;
    s->volume[(s->row * g->ny + y) * g->nx + x] += chord * s->value;
}

static double worst_of(const ct_pair *p, const float *sinogram)
{
    const size_t n = ct_pair_volume(p);
    double *expected = calloc(n, sizeof(double)), range = 0.0, worst = 0.0;
    float *got = malloc(sizeof(float) * n);
    for (int64_t k = 0; k < p->views; k++)
        for (int64_t u = 0; u < p->grid.columns; u++)
            for (int64_t row = 0; row < p->rows; row++) {
                spread s = {p, expected,
                            (double)sinogram[(k * p->grid.columns + u) * p->rows + row], row};
                ct_walk(p, k, u, add_ray, &s);
            }
    ct_pair_backproject(p, ct_pair_best(), CT_PAIR_FAST, 0, 0, sinogram, got);
    for (size_t i = 0; i < n; i++) {
        range = fmax(range, fabs(expected[i]));
        worst = fmax(worst, fabs(expected[i] - (double)got[i]));
    }
    assert_true(range > 0.0);
    free(expected);
    free(got);
    return worst / range;
}

/* 1e-5 of the range over random geometries. */
static void agrees_with_a_float64_walk(void **state)
{
    (void)state;
    uint64_t seed = 31;
    for (int trial = 0; trial < 25; trial++) {
        const int64_t nx = 1 + (int64_t)(test_random(&seed) % 110);
        const int64_t ny = 1 + (int64_t)(test_random(&seed) % 110);
        const int64_t columns = 5 + (int64_t)(test_random(&seed) % 150);
        double angles[9];
        for (int k = 0; k < 9; k++)
            angles[k] = k < 3 ? 0.7853981633974483 * (double)(test_random(&seed) % 9)
                              : test_uniform(&seed, -7.0, 7.0);
        ct_pair p = ct_pair_make(9, angles, columns, 1 + trial % 3, 0.9,
                                 0.5 * (double)(columns - 1) + test_uniform(&seed, -2.0, 2.0), nx,
                                 ny, 0.9 * exp(test_uniform(&seed, log(0.3), log(3.0))));
        float *sinogram = malloc(sizeof(float) * ct_pair_sinogram(&p));
        ct_pair_fill(sinogram, ct_pair_sinogram(&p), &seed);
        const double worst = worst_of(&p, sinogram);
        if (!(worst <= 1e-5)) fail_msg("trial %d: %g of the range", trial, worst);
        free(sinogram);
        ct_pair_free(&p);
    }
}

/* Plain float32 sums over 4000 views stay within 1e-5 of the range: no wider sum is needed. */
static void many_views_do_not_wear_the_sum_out(void **state)
{
    (void)state;
    enum { VIEWS = 4000 };
    double *angles = malloc(sizeof(double) * VIEWS);
    for (int k = 0; k < VIEWS; k++) angles[k] = 3.14159265358979 * k / VIEWS;
    ct_pair p = ct_pair_make(VIEWS, angles, 48, 1, 1.0, 23.5, 40, 8, 1.0);
    float *sinogram = malloc(sizeof(float) * ct_pair_sinogram(&p));
    uint64_t seed = 7;
    for (size_t i = 0; i < ct_pair_sinogram(&p); i++)
        sinogram[i] = (float)test_uniform(&seed, 0.9, 1.1); /* all of one sign: the worst kind */
    const double worst = worst_of(&p, sinogram);
    if (!(worst <= 1e-5)) fail_msg("%g of the range", worst);
    free(sinogram);
    free(angles);
    ct_pair_free(&p);
}

/* A detector of ones gives voxels, on average, area / pitch for each view. */
static void chords_cover_the_area_on_average(void **state)
{
    (void)state;
    double angles[200];
    for (int k = 0; k < 200; k++) angles[k] = 0.0157 * k;
    ct_pair p = ct_pair_make(200, angles, 90, 2, 0.5, 44.0, 21, 30, 0.8);
    float sinogram[200 * 90 * 2], volume[2 * 21 * 30];
    for (int i = 0; i < 200 * 90 * 2; i++) sinogram[i] = 1.0f;
    ct_pair_backproject(&p, ct_pair_best(), CT_PAIR_FAST, 0, 0, sinogram, volume);
    double sum = 0.0;
    for (int i = 0; i < 2 * 21 * 30; i++) sum += (double)volume[i] / (2 * 21 * 30);
    assert_true(fabs(sum / (200 * 0.64 / 0.5) - 1.0) < 1e-3);
    ct_pair_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_a_float64_walk),
                                       cmocka_unit_test(many_views_do_not_wear_the_sum_out),
                                       cmocka_unit_test(chords_cover_the_area_on_average)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
