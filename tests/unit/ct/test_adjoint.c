/* The pair is one matrix and its transpose, bit for bit, however it is run. */
#include "support/ct_pair.h"

/* Angles that make trouble: along the axes, diagonal, and nearly so. */
static const double angles[] = {0.0,
                                1.5707963267948966,
                                0.7853981633974483,
                                3.141592653589793,
                                2.356194490192345,
                                0.3,
                                1.2,
                                1.9,
                                2.9,
                                1e-5,
                                1.57079,
                                -0.7,
                                4.1};
enum { ANGLES = sizeof angles / sizeof *angles };

static void check_matrix(int64_t columns, double pitch, double centre, int64_t nx, int64_t ny,
                         double voxel)
{
    ct_pair p = ct_pair_make(ANGLES, angles, columns, 1, pitch, centre, nx, ny, voxel);
    const size_t rays = ct_pair_sinogram(&p), voxels = ct_pair_volume(&p);
    float *forward = malloc(sizeof(float) * rays * voxels); /* [voxel][ray] */
    float *one = calloc(voxels > rays ? voxels : rays, sizeof(float));
    float *column = malloc(sizeof(float) * voxels);
    for (size_t v = 0; v < voxels; v++) {
        one[v] = 1.0f;
        ct_pair_project(&p, K_BASE, CT_PAIR_PLAIN, 0, 0, one, forward + v * rays);
        one[v] = 0.0f;
    }
    size_t weights = 0;
    for (size_t r = 0; r < rays; r++) {
        one[r] = 1.0f;
        ct_pair_backproject(&p, K_BASE, CT_PAIR_PLAIN, 0, 0, one, column);
        one[r] = 0.0f;
        for (size_t v = 0; v < voxels; v++) {
            if (memcmp(&forward[v * rays + r], &column[v], sizeof(float)))
                fail_msg("ray %zu voxel %zu: %a forward, %a back", r, v,
                         (double)forward[v * rays + r], (double)column[v]);
            weights += column[v] > 0.0f;
        }
    }
    assert_true(weights > rays / 4);
    free(forward);
    free(one);
    free(column);
    ct_pair_free(&p);
}

/* Every weight of the back-projection has the bits of the projection's. */
static void weights_are_transposed_bit_for_bit(void **state)
{
    (void)state;
    check_matrix(17, 1.0, 8.0, 12, 12, 1.0);
    check_matrix(16, 1.0, 7.5, 9, 14, 1.0);
    check_matrix(11, 0.7, 6.2, 10, 7, 1.9);
    check_matrix(40, 1.0, 19.5, 10, 11, 3.0);
    check_matrix(9, 1.0, 3.3, 20, 18, 0.31);
}

static double dot(const float *a, const float *b, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) sum += (double)a[i] * (double)b[i];
    return sum;
}

/* <Ax, y> = <x, A'y> to 1e-6 over random geometries. */
static void inner_products_agree(void **state)
{
    (void)state;
    uint64_t seed = 20;
    for (int trial = 0; trial < 40; trial++) {
        const int64_t columns = 20 + (int64_t)(test_random(&seed) % 80);
        const int64_t nx = 1 + (int64_t)(test_random(&seed) % 150);
        const int64_t ny = 1 + (int64_t)(test_random(&seed) % 90);
        const int64_t rows = 1 + (int64_t)(test_random(&seed) % 5);
        double many[7];
        for (int k = 0; k < 7; k++)
            many[k] = k < 3 ? 0.7853981633974483 * (double)(test_random(&seed) % 9)
                            : test_uniform(&seed, -4.0, 4.0);
        ct_pair p = ct_pair_make(7, many, columns, rows, 1.3,
                                 0.5 * (double)columns + test_uniform(&seed, -9.0, 9.0), nx, ny,
                                 1.3 * exp(test_uniform(&seed, log(0.3), log(3.0))));
        const size_t rays = ct_pair_sinogram(&p), voxels = ct_pair_volume(&p);
        float *x = malloc(sizeof(float) * voxels), *back = malloc(sizeof(float) * voxels);
        float *y = malloc(sizeof(float) * rays), *forth = malloc(sizeof(float) * rays);
        for (size_t i = 0; i < voxels; i++) x[i] = (float)test_uniform(&seed, 0.0, 1.0);
        for (size_t i = 0; i < rays; i++) y[i] = (float)test_uniform(&seed, 0.0, 1.0);
        ct_pair_project(&p, ct_pair_best(), CT_PAIR_FAST, 0, 0, x, forth);
        ct_pair_backproject(&p, ct_pair_best(), CT_PAIR_FAST, 0, 0, y, back);
        const double left = dot(forth, y, rays), right = dot(x, back, voxels);
        if (!(fabs(left - right) <= 1e-6 * fabs(right)))
            fail_msg("trial %d: %.10g and %.10g", trial, left, right);
        free(x);
        free(y);
        free(back);
        free(forth);
        ct_pair_free(&p);
    }
}

/* P1: one result for every instruction set, fast or plain, for every cut in ranges and rows. */
static void same_bits_however_it_is_run(void **state)
{
    (void)state;
    const struct {
        int64_t columns, rows, nx, ny;
        double ratio;
    } cases[] = {{33, 1, 40, 29, 1.0},  {70, 2, 70, 70, 1.0}, {30, 5, 17, 33, 2.6},
                 {47, 37, 66, 20, 0.8}, {600, 1, 20, 9, 0.4}, {40, 3, 9, 8, 40.0}};
    uint64_t seed = 5;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ct_pair p = ct_pair_make(ANGLES, angles, cases[i].columns, cases[i].rows, 1.0,
                                 0.5 * (double)cases[i].columns - 1.2, cases[i].nx, cases[i].ny,
                                 cases[i].ratio);
        const size_t rays = ct_pair_sinogram(&p), voxels = ct_pair_volume(&p);
        float *x = malloc(sizeof(float) * voxels), *y = malloc(sizeof(float) * rays);
        float *back = malloc(sizeof(float) * voxels), *forth = malloc(sizeof(float) * rays);
        float *back2 = malloc(sizeof(float) * voxels), *forth2 = malloc(sizeof(float) * rays);
        ct_pair_fill(x, voxels, &seed);
        ct_pair_fill(y, rays, &seed);
        x[voxels / 2] = NAN; /* one kind of NaN comes out, at the same places */
        x[voxels / 3] = -INFINITY;
        y[rays / 2] = -NAN;
        ct_pair_project(&p, K_BASE, CT_PAIR_PLAIN, 0, 0, x, forth);
        ct_pair_backproject(&p, K_BASE, CT_PAIR_PLAIN, 0, 0, y, back);
        for (int isa = K_BASE; isa < K_ISAS; isa++) {
            if (!ct_pair_can(isa)) continue;
            for (int fast = 0; fast < 2; fast++)
                for (int cut = 0; cut < 4; cut++) {
                    const int64_t range[] = {0, 1, 37, 300}, chunk[] = {0, 3, 1, 2};
                    if (cut == 1 && (rays > 4000 || !fast)) continue;
                    ct_pair_project(&p, isa, fast, range[cut], chunk[cut], x, forth2);
                    ct_pair_backproject(&p, isa, fast, range[cut], chunk[cut], y, back2);
                    if (memcmp(forth, forth2, sizeof(float) * rays) ||
                        memcmp(back, back2, sizeof(float) * voxels))
                        fail_msg("case %zu, isa %d, fast %d, cut %d differs", i, isa, fast, cut);
                }
        }
        free(x);
        free(y);
        free(back);
        free(back2);
        free(forth);
        free(forth2);
        ct_pair_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(weights_are_transposed_bit_for_bit),
                                       cmocka_unit_test(inner_products_agree),
                                       cmocka_unit_test(same_bits_however_it_is_run)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
