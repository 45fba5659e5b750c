/* Random parallel-beam geometries: the fast ranges have the bits of the plain items. */
#include "support/ct_pair.h"

static void one(uint64_t *seed, int trial)
{
    const int64_t columns = 1 + (int64_t)(test_random(seed) % (trial % 8 ? 60 : 1300));
    const int64_t nx = 1 + (int64_t)(test_random(seed) % 150);
    const int64_t ny = 1 + (int64_t)(test_random(seed) % 40);
    const int64_t rows = 1 + (int64_t)(test_random(seed) % (trial % 4 ? 6 : 70));
    const int64_t views = 1 + (int64_t)(test_random(seed) % 11);
    double angles[11];
    for (int64_t k = 0; k < views; k++) {
        angles[k] = test_uniform(seed, -10.0, 10.0);
        if (test_random(seed) % 3 == 0) /* on an axis or diagonal, or just beside it */
            angles[k] = 0.7853981633974483 * (double)(test_random(seed) % 9) +
                        (test_random(seed) % 2 ? 0.0 : exp(test_uniform(seed, -30.0, -3.0)));
    }
    const double pitch = exp(test_uniform(seed, -3.0, 3.0));
    const double ratio = exp(test_uniform(seed, log(0.03), log(20.0)));
    const double off = test_uniform(seed, -1.0, 1.0) * (trial % 5 ? 3.0 : 2.0 * (double)columns);
    const double centre =
        trial % 3 ? 0.5 * (double)columns + off : floor(0.5 * (double)columns + off);
    ct_pair p = ct_pair_make(views, angles, columns, rows, pitch, centre, nx, ny, pitch * ratio);
    const size_t rays = ct_pair_sinogram(&p), voxels = ct_pair_volume(&p);
    float *x = malloc(sizeof(float) * voxels), *y = malloc(sizeof(float) * rays);
    float *plain = malloc(sizeof(float) * (voxels + rays));
    float *fast = malloc(sizeof(float) * (voxels + rays));
    ct_pair_fill(x, voxels, seed);
    ct_pair_fill(y, rays, seed);
    memset(fast, 0xff, sizeof(float) * (voxels + rays));
    const int isa = ct_pair_best();
    const int64_t range = trial % 2 ? 0 : 1 + (int64_t)(test_random(seed) % 700);
    ct_pair_backproject(&p, isa, CT_PAIR_PLAIN, 0, 0, y, plain);
    ct_pair_backproject(&p, isa, CT_PAIR_FAST, range, 0, y, fast);
    ct_pair_project(&p, isa, CT_PAIR_PLAIN, 0, 0, x, plain + voxels);
    ct_pair_project(&p, isa, CT_PAIR_FAST, range, 0, x, fast + voxels);
    if (memcmp(plain, fast, sizeof(float) * (voxels + rays)))
        fail_msg("trial %d: %d x %d voxels, %d columns, %d rows, voxel/pitch %g, range %d", trial,
                 (int)nx, (int)ny, (int)columns, (int)rows, ratio, (int)range);
    free(x);
    free(y);
    free(plain);
    free(fast);
    ct_pair_free(&p);
}

/* P1, over 200 geometries: sizes, ratios of 0.03 to 20, axes off the detector, angles at and beside
 * the axes. */
static void fast_is_plain(void **state)
{
    (void)state;
    uint64_t seed = 2026;
    for (int trial = 0; trial < 200; trial++) one(&seed, trial);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fast_is_plain)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
