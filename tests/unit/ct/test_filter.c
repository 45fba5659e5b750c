/* The ramp filter against sums in float64. */
#include "support/ct_scan.h"

#include "ct/filter.h"
#include "ct/filter_fast.h"
#include "kern/kernel.h"

static const double pi = 3.14159265358979323846;

static double ramp(int64_t n, double pitch)
{
    if (n == 0) return 0.25 / pitch;
    return n & 1 ? -1.0 / (pi * pi * (double)n * (double)n * pitch) : 0.0;
}

static double padded(const float *row, int64_t stride, int64_t columns, int64_t pad, int64_t n)
{
    n -= pad;
    n = n < 0 ? 0 : n >= columns ? columns - 1 : n;
    return (double)row[n * stride];
}

/* Ram-lak is the linear convolution with the ramp, ends continued by their value: 1e-6 of the
 * range. */
static void ram_lak_is_a_linear_convolution(void **state)
{
    (void)state;
    motet_context *c = test_context();
    uint64_t seed = 11;
    const int64_t sizes[][3] = {{1, 1, 0},   {2, 3, 0},   {3, 1, 2},   {31, 2, 0},
                                {64, 18, 9}, {65, 5, 40}, {100, 33, 1}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const int64_t columns = sizes[i][0], rows = sizes[i][1], pad = sizes[i][2], views = 3;
        double *angles = ct_angles(views, 0.0, pi);
        motet_ct_parallel p = ct_parallel(views, angles, columns, rows);
        p.pitch = 0.3;
        motet_ct_geometry *g = NULL;
        assert_ok(c, motet_ct_geometry_parallel(c, &p, &g));
        motet_array *in = ct_array(c, views, columns, rows),
                    *out = ct_array(c, views, columns, rows);
        float *from = ct_values(in);
        for (int64_t n = 0; n < views * columns * rows; n++)
            from[n] = (float)test_uniform(&seed, -0.5, 1.0);
        motet_ct_filter_options options;
        motet_ct_filter_options_init(&options);
        options.pad = pad;
        assert_ok(c, motet_ct_filter(g, &options, in, out));
        for (int64_t k = 0; k < views; k++)
            for (int64_t v = 0; v < rows; v++)
                for (int64_t u = 0; u < columns; u++) {
                    double sum = 0.0;
                    for (int64_t n = 0; n < columns + 2 * pad; n++)
                        sum += ramp(u + pad - n, 0.3) *
                               padded(from + k * columns * rows + v, rows, columns, pad, n);
                    const double got = (double)ct_values(out)[(k * columns + u) * rows + v];
                    if (!(fabs(got - sum) < 2e-6)) fail_msg("%g, expected %g", got, sum);
                }
        /* in place: the same bits */
        float *kept = malloc(sizeof(float) * (size_t)(views * columns * rows));
        memcpy(kept, ct_values(out), sizeof(float) * (size_t)(views * columns * rows));
        assert_ok(c, motet_ct_filter(g, &options, in, in));
        assert_memory_equal(kept, from, sizeof(float) * (size_t)(views * columns * rows));
        free(kept);
        motet_array_free(in);
        motet_array_free(out);
        motet_ct_geometry_free(g);
        free(angles);
    }
    motet_context_free(c);
}

static double window_of(motet_ct_window window, double f) /* f: fraction of the cutoff */
{
    switch (window) {
    case MOTET_CT_SHEPP_LOGAN: return f > 0.0 ? sin(pi * f / 2) / (pi * f / 2) : 1.0;
    case MOTET_CT_COSINE: return cos(pi * f / 2);
    case MOTET_CT_HAMMING: return 0.54 + 0.46 * cos(pi * f);
    case MOTET_CT_HANN: return 0.5 * (1.0 + cos(pi * f));
    default: return 1.0;
    }
}

/* Every window and cutoff: the naive transform in float64, times window, and back. */
static void windows_shape_the_spectrum(void **state)
{
    (void)state;
    motet_context *c = test_context();
    enum { U = 23, L = 64 };
    const double angle = 0.0, cutoffs[] = {1.0, 0.5, 0.03};
    motet_ct_parallel p = ct_parallel(1, &angle, U, 1);
    motet_ct_geometry *g = NULL;
    assert_ok(c, motet_ct_geometry_parallel(c, &p, &g));
    motet_array *in = ct_array(c, 1, U, 1), *out = ct_array(c, 1, U, 1);
    uint64_t seed = 2;
    for (int u = 0; u < U; u++) ct_values(in)[u] = (float)test_uniform(&seed, 0.0, 1.0);
    for (int w = 0; w <= MOTET_CT_HANN; w++)
        for (int i = 0; i < 3; i++) {
            motet_ct_filter_options options;
            motet_ct_filter_options_init(&options);
            options.window = (motet_ct_window)w;
            options.cutoff = cutoffs[i];
            assert_ok(c, motet_ct_filter(g, &options, in, out));
            double response[L];
            for (int k = 0; k < L; k++) {
                const double f = (double)(k <= L / 2 ? k : L - k) / (L / 2);
                response[k] = 0.0;
                for (int n = -L / 2; n < L / 2; n++)
                    response[k] += ramp(n, 1.0) * cos(2 * pi * k * n / L);
                response[k] *= f <= cutoffs[i] ? window_of(options.window, f / cutoffs[i]) : 0.0;
            }
            for (int u = 0; u < U; u++) {
                double sum = 0.0;
                for (int m = 0; m < U; m++)
                    for (int k = 0; k < L; k++)
                        sum += (double)ct_values(in)[m] * response[k] *
                               cos(2 * pi * k * (u - m) / L) / L;
                assert_true(fabs(sum - (double)ct_values(out)[u]) < 1e-6);
            }
        }
    motet_array_free(in);
    motet_array_free(out);
    motet_ct_geometry_free(g);
    motet_context_free(c);
}

/* P1: plain and fast, every instruction set and every cut give the same bits; a NaN stays in its
 * row. */
static void same_bits_however_it_is_run(void **state)
{
    (void)state;
    motet_context *c = test_context();
    enum { VIEWS = 3, U = 45, ROWS = 21, PAD = 4, VALUES = VIEWS * U * ROWS };
    motet_ct_filter_options options;
    motet_ct_filter_options_init(&options);
    options.window = MOTET_CT_HANN;
    motet_array *table = NULL;
    const int32_t bits = ct_filter_bits(U, PAD);
    assert_ok(c, ct_filter_table(c, &options, bits, 0.7, &table));
    static float in[VALUES], first[VALUES], again[VALUES], scale[VIEWS] = {1.0f, 0.3f, 2.5f};
    uint64_t seed = 3;
    for (int i = 0; i < VALUES; i++) in[i] = (float)test_uniform(&seed, -1.0, 1.0);
    in[5 * ROWS + 7] = -NAN; /* view 0, row 7 */
    void *scratch = aligned_alloc(64, ct_filter_scratch(bits, CT_FILTER_LANES));
    memset(scratch, 0xff, ct_filter_scratch(bits, CT_FILTER_LANES));
    const ct_filter_args a = {in,       U * ROWS, ROWS,  first,
                              U * ROWS, ROWS,     scale, motet_array_data(table),
                              U,        ROWS,     PAD,   bits};
    K_ct_filter.plain[K_BASE](&a, 0, VIEWS * ROWS, scratch);
    for (int i = 0; i < VALUES; i++)
        assert_int_equal(isnan(first[i]) != 0, i < U * ROWS && i % ROWS == 7);
    for (int isa = K_BASE; isa < K_ISAS; isa++) {
        if (!motet_isa_available((motet_isa)(isa + 1))) continue;
        for (int fast = 0; fast < 2; fast++)
            for (int64_t step = 1; step <= VIEWS * ROWS; step += step < 18 ? 1 : 15) {
                ct_filter_args b = a;
                b.to = again;
                memset(again, 0, sizeof again);
                for (int64_t i = 0; i < VIEWS * ROWS; i += step)
                    (fast ? K_ct_filter.fast : K_ct_filter.plain)[isa](
                        &b, i, i + step < VIEWS * ROWS ? i + step : VIEWS * ROWS, scratch);
                assert_memory_equal(first, again, sizeof first);
            }
    }
    free(scratch);
    motet_array_free(table);
    motet_context_free(c);
}

/* Options out of range are refused with their value; the output stays as it was. */
static void refuses_bad_options(void **state)
{
    (void)state;
    motet_context *c = test_context();
    const double angle = 0.0;
    motet_ct_parallel p = ct_parallel(1, &angle, 8, 1);
    motet_ct_geometry *g = NULL;
    assert_ok(c, motet_ct_geometry_parallel(c, &p, &g));
    motet_array *in = ct_array(c, 1, 8, 1), *out = ct_array(c, 1, 8, 1),
                *odd = ct_array(c, 1, 7, 1);
    ct_values(out)[3] = 5.0f;
    motet_ct_filter_options options;
    motet_ct_filter_options_init(&options);
    options.cutoff = 1.5;
    assert_status(c, motet_ct_filter(g, &options, in, out), MOTET_BAD_ARGUMENT);
    assert_message(c, "cutoff", "1.5", NULL);
    options.cutoff = NAN;
    assert_status(c, motet_ct_filter(g, &options, in, out), MOTET_BAD_ARGUMENT);
    options.cutoff = 1.0;
    options.pad = -3;
    assert_status(c, motet_ct_filter(g, &options, in, out), MOTET_BAD_ARGUMENT);
    assert_message(c, "pad", "-3", NULL);
    options.pad = INT64_MAX;
    assert_status(c, motet_ct_filter(g, &options, in, out), MOTET_BAD_ARGUMENT);
    options.pad = 0;
    options.window = (motet_ct_window)77;
    assert_status(c, motet_ct_filter(g, &options, in, out), MOTET_BAD_ARGUMENT);
    assert_message(c, "window", "77", NULL);
    options.size = 3;
    assert_status(c, motet_ct_filter(g, &options, in, out), MOTET_BAD_ARGUMENT);
    assert_status(c, motet_ct_filter(g, NULL, in, odd), MOTET_BAD_SHAPE);
    assert_message(c, "filtered", "7", "8", NULL);
    assert_true(ct_values(out)[3] == 5.0f);
    assert_ok(c, motet_ct_filter(g, NULL, in, out));
    motet_array_free(in);
    motet_array_free(out);
    motet_array_free(odd);
    motet_ct_geometry_free(g);
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ram_lak_is_a_linear_convolution),
                                       cmocka_unit_test(windows_shape_the_spectrum),
                                       cmocka_unit_test(same_bits_however_it_is_run),
                                       cmocka_unit_test(refuses_bad_options)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
