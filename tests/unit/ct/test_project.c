/* Projections against a float64 walker, closed forms and symmetries. */
#include "support/ct_pair.h"

static const double quarter = 1.5707963267948966;

typedef struct walked {
    const ct_pair *pair;
    const float *volume;
    int64_t row;
    double sum;
} walked;

static void add_voxel(int64_t x, int64_t y, double chord, void *user)
{
    walked *w = user;
    const ct_grid *g = &w->pair->grid;
    w->sum += chord * (double)w->volume[(w->row * g->ny + y) * g->nx + x];
}

static double *walk_all(const ct_pair *p, const float *volume)
{
    double *out = malloc(sizeof(double) * ct_pair_sinogram(p));
    for (int64_t k = 0; k < p->views; k++)
        for (int64_t u = 0; u < p->grid.columns; u++)
            for (int64_t row = 0; row < p->rows; row++) {
                walked w = {p, volume, row, 0.0};
                ct_walk(p, k, u, add_voxel, &w);
                out[(k * p->grid.columns + u) * p->rows + row] = w.sum;
            }
    return out;
}

static void compare(const ct_pair *p, const float *volume, double tolerance)
{
    const size_t n = ct_pair_sinogram(p);
    float *got = malloc(sizeof(float) * n);
    double *expected = walk_all(p, volume), range = 0.0, worst = 0.0;
    ct_pair_project(p, ct_pair_best(), CT_PAIR_FAST, 0, 0, volume, got);
    for (size_t i = 0; i < n; i++) {
        range = fmax(range, fabs(expected[i]));
        worst = fmax(worst, fabs(expected[i] - (double)got[i]));
    }
    assert_true(range > 0.0);
    if (!(worst <= tolerance * range)) fail_msg("worst %g of %g", worst, range);
    free(got);
    free(expected);
}

/* Noise (a volume full of edges), random geometries: 1e-5 of the range from Siddon in float64. */
static void agrees_with_a_float64_walk(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int trial = 0; trial < 25; trial++) {
        const int64_t nx = 1 + (int64_t)(test_random(&seed) % 130);
        const int64_t ny = 1 + (int64_t)(test_random(&seed) % 130);
        const int64_t columns = 1 + (int64_t)(test_random(&seed) % 150);
        double angles[8];
        for (int k = 0; k < 8; k++)
            angles[k] = k < 3 ? quarter / 2 * (double)(test_random(&seed) % 9)
                              : test_uniform(&seed, -7.0, 7.0);
        ct_pair p = ct_pair_make(8, angles, columns, 1 + trial % 3, 0.9,
                                 0.5 * (double)(columns - 1) + test_uniform(&seed, -3.0, 3.0), nx,
                                 ny, 0.9 * exp(test_uniform(&seed, log(0.3), log(3.0))));
        float *volume = malloc(sizeof(float) * ct_pair_volume(&p));
        ct_pair_fill(volume, ct_pair_volume(&p), &seed);
        compare(&p, volume, 1e-5);
        free(volume);
        ct_pair_free(&p);
    }
}

/* A slice wider than many blocks keeps that accuracy. */
static void wide_slices_stay_accurate(void **state)
{
    (void)state;
    const double angles[] = {0.1, 0.9, 1.5, 2.7};
    ct_pair p = ct_pair_make(4, angles, 900, 1, 1.0, 449.7, 1700, 23, 1.0);
    uint64_t seed = 8;
    float *volume = malloc(sizeof(float) * ct_pair_volume(&p));
    ct_pair_fill(volume, ct_pair_volume(&p), &seed);
    compare(&p, volume, 1e-5);
    free(volume);
    ct_pair_free(&p);
}

/* Chord of a ray with the box |x| <= a, |y| <= b. */
static double box_chord(double c, double s, double d, double a, double b)
{
    double low = -1e30, high = 1e30;
    const double origin[2] = {d * c, d * s}, step[2] = {-s, c}, size[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        if (step[i] == 0.0) {
            if (fabs(origin[i]) > size[i]) return 0.0;
            continue;
        }
        const double p = (-size[i] - origin[i]) / step[i], q = (size[i] - origin[i]) / step[i];
        low = fmax(low, fmin(p, q));
        high = fmin(high, fmax(p, q));
    }
    return high > low ? high - low : 0.0;
}

/* A box of whole voxels gives its own chord to rounding. */
static void boxes_are_exact(void **state)
{
    (void)state;
    double angles[33];
    for (int k = 0; k < 33; k++) angles[k] = 0.1 + 0.19 * k;
    const double voxel = 0.8;
    ct_pair p = ct_pair_make(33, angles, 101, 1, 0.77, 50.0, 80, 70, voxel);
    float *volume = calloc(ct_pair_volume(&p), sizeof(float));
    float *got = malloc(sizeof(float) * ct_pair_sinogram(&p));
    for (int64_t y = 20; y < 50; y++)
        for (int64_t x = 18; x < 62; x++) volume[y * 80 + x] = 1.0f;
    ct_pair_project(&p, ct_pair_best(), CT_PAIR_FAST, 0, 0, volume, got);
    for (int64_t k = 0; k < p.views; k++)
        for (int64_t u = 0; u < 101; u++) {
            const double chord = box_chord(p.cosine[k], p.sine[k], (double)(u - 50) * p.pitch,
                                           22 * voxel, 15 * voxel);
            const double error = fabs(chord - (double)got[k * 101 + u]);
            if (!(error <= 4e-5)) /* 1e-6 of a diagonal of 42 */
                fail_msg("view %d column %d: %g, expected %g", (int)k, (int)u,
                         (double)got[k * 101 + u], chord);
        }
    free(volume);
    free(got);
    ct_pair_free(&p);
}

/* Rays along an axis: whole columns of voxels exactly; in the face between two, half of each. */
static void axis_parallel_rays_are_exact(void **state)
{
    (void)state;
    const double angles[] = {0.0, quarter, 2 * quarter, 3 * quarter, -quarter, 4 * quarter};
    for (int odd = 0; odd < 2; odd++) {
        const int64_t n = 6, columns = 6 + odd;
        ct_pair p =
            ct_pair_make(6, angles, columns, 1, 2.0, 0.5 * (double)(columns - 1), n, n, 2.0);
        float volume[36], sinogram[6 * 7];
        for (int i = 0; i < 36; i++) volume[i] = (float)(i * i % 23);
        ct_pair_project(&p, ct_pair_best(), CT_PAIR_FAST, 0, 0, volume, sinogram);
        for (int k = 0; k < 6; k++)
            for (int64_t u = 0; u < columns; u++) {
                const int along_y = p.sine[k] == 0.0;
                const double sign = along_y ? p.cosine[k] : p.sine[k];
                double expected = 0.0;
                for (int64_t i = 0; i < n; i++)
                    for (int64_t j = 0; j < n; j++) {
                        const double place = sign * ((double)i - 2.5) + p.grid.centre;
                        const double away = fabs(place - (double)u);
                        const double weight = away < 0.4 ? 2.0 : away < 0.6 ? 1.0 : 0.0;
                        expected +=
                            weight * (double)(along_y ? volume[j * n + i] : volume[i * n + j]);
                    }
                assert_true(sinogram[k * columns + u] == (float)expected);
            }
        ct_pair_free(&p);
    }
}

/* Rays that miss the slice read exactly 0; so does everything of an empty slice. */
static void rays_that_miss_are_zero(void **state)
{
    (void)state;
    const double angles[] = {0.0, 0.4, quarter, 2.0};
    ct_pair p = ct_pair_make(4, angles, 64, 2, 1.0, 31.5, 5, 4, 1.0);
    float volume[40], sinogram[4 * 64 * 2];
    for (int i = 0; i < 40; i++) volume[i] = 1.0f;
    ct_pair_project(&p, ct_pair_best(), CT_PAIR_FAST, 0, 0, volume, sinogram);
    for (int k = 0; k < 4; k++)
        for (int u = 0; u < 64; u++)
            if (fabs(u - 31.5) > 3.3)
                assert_true(sinogram[(k * 64 + u) * 2] == 0.0f);
            else if (fabs(u - 31.5) < 2.0)
                assert_true(sinogram[(k * 64 + u) * 2 + 1] > 0.0f);
    ct_pair_free(&p);
    p = ct_pair_make(4, angles, 64, 2, 1.0, 500.0, 5, 4, 1.0); /* the axis is off the detector */
    ct_pair_project(&p, ct_pair_best(), CT_PAIR_FAST, 0, 0, volume, sinogram);
    for (int i = 0; i < 512; i++) assert_true(sinogram[i] == 0.0f);
    ct_pair_free(&p);
}

/* The rms error of a disc's chords falls with the voxel. */
static void disc_chords_converge(void **state)
{
    (void)state;
    double before = 1e9;
    for (int64_t n = 32; n <= 256; n *= 2) {
        double angles[12], sum = 0.0;
        for (int k = 0; k < 12; k++) angles[k] = 0.05 + 0.26 * k;
        const double voxel = 2.0 / (double)n, radius = 0.8;
        ct_pair p = ct_pair_make(12, angles, 61, 1, 1.9 / 61, 30.0, n, n, voxel);
        float *volume = malloc(sizeof(float) * ct_pair_volume(&p));
        float *got = malloc(sizeof(float) * ct_pair_sinogram(&p));
        for (int64_t y = 0; y < n; y++)
            for (int64_t x = 0; x < n; x++) {
                int inside = 0; /* of 8 x 8 points */
                for (int i = 0; i < 64; i++) {
                    const double px = ((double)x + (i % 8 + 0.5) / 8) * voxel - 1.0;
                    const double py = ((double)y + (i / 8 + 0.5) / 8) * voxel - 1.0;
                    inside += px * px + py * py < radius * radius;
                }
                volume[y * n + x] = (float)inside / 64.0f;
            }
        ct_pair_project(&p, ct_pair_best(), CT_PAIR_FAST, 0, 0, volume, got);
        for (size_t i = 0; i < ct_pair_sinogram(&p); i++) {
            const double d = ((double)(i % 61) - 30.0) * p.pitch;
            const double chord = d * d < radius * radius ? 2 * sqrt(radius * radius - d * d) : 0.0;
            sum += (chord - (double)got[i]) * (chord - (double)got[i]);
        }
        const double rms = sqrt(sum / (double)ct_pair_sinogram(&p));
        if (!(rms < 0.7 * before)) fail_msg("%d voxels: rms %g after %g", (int)n, rms, before);
        before = rms;
        free(volume);
        free(got);
        ct_pair_free(&p);
    }
    assert_true(before < 3e-3);
}

/* Chords of an ellipse that is turned and off the middle, against the closed form: the rms error
 * falls with the voxel, and the longest chord of each view is right. */
static void ellipse_chords_converge(void **state)
{
    (void)state;
    enum { VIEWS = 16, COLUMNS = 71 };
    const double a = 0.62, b = 0.27, x0 = 0.21, y0 = -0.16, turn = 0.6, value = 1.7;
    double before = 1e9, worst = 0.0;
    for (int64_t n = 32; n <= 256; n *= 2) {
        double angles[VIEWS], sum = 0.0;
        for (int k = 0; k < VIEWS; k++) angles[k] = 0.07 + 0.41 * k; /* beyond a whole turn */
        const double voxel = 2.0 / (double)n;
        ct_pair p = ct_pair_make(VIEWS, angles, COLUMNS, 1, 1.9 / COLUMNS, 34.6, n, n, voxel);
        float *volume = malloc(sizeof(float) * ct_pair_volume(&p));
        float *got = malloc(sizeof(float) * ct_pair_sinogram(&p));
        for (int64_t y = 0; y < n; y++)
            for (int64_t x = 0; x < n; x++) {
                int inside = 0; /* of 8 x 8 points */
                for (int i = 0; i < 64; i++) {
                    const double dx = ((double)x + (i % 8 + 0.5) / 8) * voxel - 1.0 - x0;
                    const double dy = ((double)y + (i / 8 + 0.5) / 8) * voxel - 1.0 - y0;
                    const double u = (dx * cos(turn) + dy * sin(turn)) / a;
                    const double v = (dy * cos(turn) - dx * sin(turn)) / b;
                    inside += u * u + v * v < 1.0;
                }
                volume[y * n + x] = (float)(value * inside / 64.0);
            }
        ct_pair_project(&p, ct_pair_best(), CT_PAIR_FAST, 0, 0, volume, got);
        worst = 0.0;
        for (int k = 0; k < VIEWS; k++) {
            /* Half the shadow's width squared, and the middle of the shadow. */
            const double along = a * cos(angles[k] - turn), across = b * sin(angles[k] - turn);
            const double q = along * along + across * across;
            const double middle = x0 * cos(angles[k]) + y0 * sin(angles[k]);
            double longest = 0.0, most = 0.0;
            for (int u = 0; u < COLUMNS; u++) {
                const double d = (u - 34.6) * p.pitch - middle, is = (double)got[k * COLUMNS + u];
                const double chord = d * d < q ? value * 2 * a * b * sqrt(q - d * d) / q : 0.0;
                sum += (chord - is) * (chord - is);
                longest = fmax(longest, chord);
                most = fmax(most, is);
            }
            worst = fmax(worst, fabs(most - longest) / longest);
        }
        const double rms = sqrt(sum / (double)ct_pair_sinogram(&p));
        if (!(rms < 0.7 * before)) fail_msg("%d voxels: rms %g after %g", (int)n, rms, before);
        before = rms;
        free(volume);
        free(got);
        ct_pair_free(&p);
    }
    if (!(before < 6e-3 && worst < 0.01)) fail_msg("rms %g, longest chord %g off", before, worst);
}

/* Turning the slice by 90 degrees and the view with it, or mirroring both, changes nothing. */
static void quarter_turns_and_mirrors_agree(void **state)
{
    (void)state;
    enum { N = 53, U = 61 };
    uint64_t seed = 2;
    float volume[N * N], turned[N * N], mirrored[N * N];
    ct_pair_fill(volume, N * N, &seed);
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++) {
            turned[x * N + (N - 1 - y)] = volume[y * N + x]; /* (x, y) goes to (-y, x) */
            mirrored[y * N + (N - 1 - x)] = volume[y * N + x];
        }
    double first[9], later[9], other[9];
    for (int k = 0; k < 9; k++) {
        first[k] = 0.17 + 0.71 * k;
        later[k] = first[k] + quarter;
        other[k] = -first[k];
    }
    ct_pair p = ct_pair_make(9, first, U, 1, 1.0, 30.3, N, N, 1.1);
    ct_pair q = ct_pair_make(9, later, U, 1, 1.0, 30.3, N, N, 1.1);
    ct_pair m = ct_pair_make(9, other, U, 1, 1.0, U - 1 - 30.3, N, N, 1.1);
    float a[9 * U], b[9 * U], c[9 * U];
    ct_pair_project(&p, ct_pair_best(), CT_PAIR_FAST, 0, 0, volume, a);
    ct_pair_project(&q, ct_pair_best(), CT_PAIR_FAST, 0, 0, turned, b);
    ct_pair_project(&m, ct_pair_best(), CT_PAIR_FAST, 0, 0, mirrored, c);
    for (int k = 0; k < 9; k++)
        for (int u = 0; u < U; u++) {
            const double value = (double)a[k * U + u];
            assert_true(fabs(value - (double)b[k * U + u]) < 3e-4);
            assert_true(fabs(value - (double)c[k * U + (U - 1 - u)]) < 3e-4);
        }
    ct_pair_free(&p);
    ct_pair_free(&q);
    ct_pair_free(&m);
}

/* Each view holds the slice's mass: value times area. */
static void mass_is_kept(void **state)
{
    (void)state;
    enum { N = 64, U = 150 };
    double angles[10], mass = 0.0;
    for (int k = 0; k < 10; k++) angles[k] = 0.1 + 0.3 * k;
    ct_pair p = ct_pair_make(10, angles, U, 1, 0.5, 70.2, N, N, 0.7);
    float volume[N * N], sinogram[10 * U];
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++) {
            const double r = hypot(x - 30.0, y - 33.0) / 9.0;
            volume[y * N + x] = (float)exp(-r * r);
            mass += (double)volume[y * N + x] * 0.49;
        }
    ct_pair_project(&p, ct_pair_best(), CT_PAIR_FAST, 0, 0, volume, sinogram);
    for (int k = 0; k < 10; k++) {
        double sum = 0.0;
        for (int u = 0; u < U; u++) sum += (double)sinogram[k * U + u] * 0.5;
        assert_true(fabs(sum - mass) < 1e-4 * mass);
    }
    ct_pair_free(&p);
}

/* One view, one column, one row, one voxel: the chord through its middle. */
static void smallest_scan(void **state)
{
    (void)state;
    for (int k = 0; k < 8; k++) {
        const double angle = 0.5 * quarter * k;
        ct_pair p = ct_pair_make(1, &angle, 1, 1, 1.0, 0.0, 1, 1, 3.0);
        const float one = 2.0f;
        float ray = 0.0f;
        ct_pair_project(&p, ct_pair_best(), CT_PAIR_FAST, 0, 0, &one, &ray);
        assert_true(fabs((double)ray - (k & 1 ? 6.0 * 1.4142135623730951 : 6.0)) < 1e-6);
        ct_pair_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_a_float64_walk),
                                       cmocka_unit_test(wide_slices_stay_accurate),
                                       cmocka_unit_test(boxes_are_exact),
                                       cmocka_unit_test(axis_parallel_rays_are_exact),
                                       cmocka_unit_test(rays_that_miss_are_zero),
                                       cmocka_unit_test(disc_chords_converge),
                                       cmocka_unit_test(ellipse_chords_converge),
                                       cmocka_unit_test(quarter_turns_and_mirrors_agree),
                                       cmocka_unit_test(mass_is_kept),
                                       cmocka_unit_test(smallest_scan)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
