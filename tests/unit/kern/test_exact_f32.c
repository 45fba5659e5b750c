/* float32 functions against libm's float64, over a stride of all bit patterns; with --long or
 * MOTET_TEST_LONG over every one. The errors are in ulp of the result and must stay below what
 * exact_f32.h states. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kern/exact.h"
#include "support/support.h"

static uint32_t stride = 6007;

static double ulp_of(double value)
{
    const double size = fabs(value);
    if (size < 0x1p-126) return 0x1p-149;
    int e;
    frexp(size, &e);
    return ldexp(1.0, e - 24);
}

/* Error of `got` in ulp; NaN and infinities must agree. A reference past the largest float may be
 * it or infinity. */
static double error_of(float got, double want)
{
    if (want != want || got != got) return (want != want) == (got != got) ? 0.0 : INFINITY;
    if (isinf(got) || fabs(want) > 0x1.fffffefp127) {
        const float rounded = (float)want;
        if (got == rounded) return 0.0;
        if (fabs(want) < 0x1.fffffcp127 || isinf(want)) return INFINITY;
        return fabs((double)got) >= 0x1.fffffep127 && (got > 0.0f) == (want > 0.0) ? 1.0 : INFINITY;
    }
    return fabs((double)got - want) / ulp_of(want);
}

static double sin_turns(double x)
{
    if (!isfinite(x)) return NAN;
    double r = fmod(x, 2.0); /* exact */
    const double q = nearbyint(2.0 * r);
    r -= 0.5 * q;
    const int quarter = (int)q & 3;
    const double s = sin(M_PI * r), c = cos(M_PI * r);
    return quarter == 0 ? s : quarter == 1 ? c : quarter == 2 ? -s : -c;
}
static double cos_turns(double x)
{
    if (!isfinite(x)) return NAN;
    double r = fmod(x, 2.0);
    const double q = nearbyint(2.0 * r);
    r -= 0.5 * q;
    const int quarter = (int)q & 3;
    const double s = sin(M_PI * r), c = cos(M_PI * r);
    return quarter == 0 ? c : quarter == 1 ? -s : quarter == 2 ? -c : s;
}
static double rsqrt_(double x) { return 1.0 / sqrt(x); }
static double limited(double x, double y) { return fabs(x) <= 0x1p17 ? y : NAN; }
static double sin_(double x) { return limited(x, sin(x)); }
static double cos_(double x) { return limited(x, cos(x)); }
static double tan_(double x) { return limited(x, tan(x)); }

/* CHECK(function, reference, bound in ulp) makes a test over all bit patterns. */
#define CHECK(name, reference, bound)                                                              \
    static void name##_is_accurate(void **state)                                                   \
    {                                                                                              \
        (void)state;                                                                               \
        double worst = 0.0;                                                                        \
        float at = 0.0f;                                                                           \
        for (uint64_t u = 0; u <= UINT32_MAX; u += stride) {                                       \
            const float x = k_bits_f32((uint32_t)u);                                               \
            const double error = error_of(k_##name(x), reference((double)x));                      \
            if (error > worst) worst = error, at = x;                                              \
        }                                                                                          \
        printf("%-10s worst %.4f ulp at %a\n", #name, worst, (double)at);                          \
        assert_true(worst <= (bound));                                                             \
    }
CHECK(sinf, sin_, 1.0)
CHECK(cosf, cos_, 1.0)
CHECK(tanf, tan_, 1.0)
CHECK(sinpif, sin_turns, 1.0)
CHECK(cospif, cos_turns, 1.0)
CHECK(expf, exp, 1.0)
CHECK(exp2f, exp2, 1.0)
CHECK(logf, log, 1.0)
CHECK(log2f, log2, 1.04)
CHECK(atanf, atan, 1.0)
CHECK(asinf, asin, 1.0)
CHECK(acosf, acos, 1.0)
CHECK(rsqrtf, rsqrt_, 1.5)
CHECK(cbrtf, cbrt, 1.0)
CHECK(rintf, rint, 0.0)
CHECK(floorf, floor, 0.0)

static uint64_t random_state = 11;
/* Any bits, numbers of one scale, and numbers near 1, in turn. */
static float any_float(int64_t i)
{
    const uint64_t r = test_random(&random_state);
    if (i % 3 == 0) return k_bits_f32((uint32_t)r);
    if (i % 3 == 1) return (float)((double)(int64_t)r * 0x1p-60);
    return 1.0f + (float)((double)(int64_t)r * 0x1p-66);
}

/* Two arguments: random pairs, and every pair of special values. */
#define CHECK2(name, reference, bound)                                                             \
    static void name##_is_accurate(void **state)                                                   \
    {                                                                                              \
        (void)state;                                                                               \
        static const float special[] = {0.0f,                                                      \
                                        -0.0f,                                                     \
                                        0x1p-149f,                                                 \
                                        -0x1p-149f,                                                \
                                        0.5f,                                                      \
                                        1.0f,                                                      \
                                        -1.0f,                                                     \
                                        2.0f,                                                      \
                                        3.0f,                                                      \
                                        -3.0f,                                                     \
                                        -2.5f,                                                     \
                                        1e30f,                                                     \
                                        -1e30f,                                                    \
                                        0x1.fffffep127f,                                           \
                                        -0x1.fffffep127f,                                          \
                                        INFINITY,                                                  \
                                        -INFINITY,                                                 \
                                        NAN};                                                      \
        enum { N = sizeof special / sizeof *special };                                             \
        const int64_t count = stride == 1 ? 200000000 : 1000000;                                   \
        double worst = 0.0;                                                                        \
        float at = 0.0f, at2 = 0.0f;                                                               \
        for (int64_t i = 0; i < count + N * N; i++) {                                              \
            const float x = i < N * N ? special[i / N] : any_float(i);                             \
            const float y = i < N * N ? special[i % N] : any_float(i / 3);                         \
            const double want = reference((double)x, (double)y);                                   \
            const double error = error_of(k_##name(x, y), want);                                   \
            if (i < N * N && want == 0.0)                                                          \
                assert_int_equal(signbit(want) != 0, k_negativef(k_##name(x, y)));                 \
            if (error > worst) worst = error, at = x, at2 = y;                                     \
        }                                                                                          \
        printf("%-10s worst %.4f ulp at %a, %a\n", #name, worst, (double)at, (double)at2);         \
        assert_true(worst <= (bound));                                                             \
    }
CHECK2(atan2f, atan2, 1.0)
CHECK2(hypotf, hypot, 1.02)
/* C's pow answers 1 for pow(1, NaN) and pow(NaN, 0), and so do we. */
CHECK2(powf, pow, 1.0)

/* Newton forms keep the relative error they state. */
static void approximations_keep_their_error(void **state)
{
    (void)state;
    double worst = 0.0, worst_root = 0.0;
    for (uint64_t u = 0; u <= UINT32_MAX; u += stride) {
        const float x = k_bits_f32((uint32_t)u), size = k_absf(x);
        if (!(size >= 0x1p-120f && size <= 0x1p120f)) continue;
        const double error = fabs((double)k_rcp_approx(x) * (double)x - 1.0);
        if (error > worst) worst = error;
        if (x < 0.0f) continue;
        const double root = fabs((double)k_rsqrt_approx(x) * sqrt((double)x) - 1.0);
        if (root > worst_root) worst_root = root;
    }
    printf("rcp_approx %.3g, rsqrt_approx %.3g (bound %.3g)\n", worst, worst_root, 0x1p-22);
    assert_true(worst < 0x1p-22 && worst_root < 0x1p-22);
}

/* The pairs are the same bits as the single functions. */
static void pairs_equal_singles(void **state)
{
    (void)state;
    for (uint64_t u = 0; u <= UINT32_MAX; u += 16 * (uint64_t)stride) {
        const float x = k_bits_f32((uint32_t)u);
        float s, c;
        k_sincosf(x, &s, &c);
        assert_true(k_f32_bits(k_out(s)) == k_f32_bits(k_out(k_sinf(x))));
        assert_true(k_f32_bits(k_out(c)) == k_f32_bits(k_out(k_cosf(x))));
        k_sincospif(x, &s, &c);
        assert_true(k_f32_bits(k_out(s)) == k_f32_bits(k_out(k_sinpif(x))));
        assert_true(k_f32_bits(k_out(c)) == k_f32_bits(k_out(k_cospif(x))));
    }
}

/* Values that must be exact, and signs of zero. */
static void exact_values_are_exact(void **state)
{
    (void)state;
    for (int n = -126; n <= 127; n++) {
        assert_true(k_exp2f((float)n) == ldexpf(1.0f, n));
        assert_true(k_log2f(ldexpf(1.0f, n)) == (float)n);
    }
    assert_true(k_expf(0.0f) == 1.0f && k_logf(1.0f) == 0.0f);
    assert_true(k_sinpif(0.5f) == 1.0f && k_sinpif(1.0f) == 0.0f && k_cospif(0.5f) == 0.0f &&
                k_cospif(1.0f) == -1.0f && k_cospif(1e20f) == 1.0f && k_sinpif(1.5f) == -1.0f);
    assert_true(k_negativef(k_sinf(-0.0f)) && k_negativef(k_tanf(-0.0f)) &&
                k_negativef(k_sinpif(-0.0f)) && k_negativef(k_cbrtf(-0.0f)) &&
                k_negativef(k_rintf(-0.25f)) && k_negativef(k_floorf(-0.0f)) &&
                k_negativef(k_asinf(-0.0f)) && k_negativef(k_atanf(-0.0f)));
    /* The worst arguments that the sweep over all of them found. */
    const float x = 0x1.698672p+0f;
    assert_true(error_of(k_log2f(x), log2((double)x)) <= 1.04);
    const float a = 0x1.017896p+0f, b = 0x1.00614cp+0f;
    assert_true(error_of(k_hypotf(a, b), hypot((double)a, (double)b)) <= 1.02);
    assert_true(k_cbrtf(27.0f) == 3.0f && k_hypotf(3.0f, 4.0f) == 5.0f);
}

int main(int count, char **words)
{
    const char *wish = getenv("MOTET_TEST_LONG");
    if ((count > 1 && !strcmp(words[1], "--long")) || wish) stride = 1;
    if (count > 2) stride = (uint32_t)strtoul(words[2], NULL, 10);
    if (count > 3) cmocka_set_test_filter(words[3]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sinf_is_accurate),    cmocka_unit_test(cosf_is_accurate),
        cmocka_unit_test(tanf_is_accurate),    cmocka_unit_test(sinpif_is_accurate),
        cmocka_unit_test(cospif_is_accurate),  cmocka_unit_test(expf_is_accurate),
        cmocka_unit_test(exp2f_is_accurate),   cmocka_unit_test(logf_is_accurate),
        cmocka_unit_test(log2f_is_accurate),   cmocka_unit_test(atanf_is_accurate),
        cmocka_unit_test(asinf_is_accurate),   cmocka_unit_test(acosf_is_accurate),
        cmocka_unit_test(rsqrtf_is_accurate),  cmocka_unit_test(cbrtf_is_accurate),
        cmocka_unit_test(rintf_is_accurate),   cmocka_unit_test(floorf_is_accurate),
        cmocka_unit_test(atan2f_is_accurate),  cmocka_unit_test(hypotf_is_accurate),
        cmocka_unit_test(powf_is_accurate),    cmocka_unit_test(approximations_keep_their_error),
        cmocka_unit_test(pairs_equal_singles), cmocka_unit_test(exact_values_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
