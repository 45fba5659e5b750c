/* float64 functions against libm's long double, on random arguments of every kind. Errors in ulp of
 * the result must stay below what exact_f64.h and exact_pow.h state. --long or MOTET_TEST_LONG: a
 * hundred times as many. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kern/exact.h"
#include "support/support.h"

static int64_t items = 400000;

static void need_wide_long_double(void)
{
    if (LDBL_MANT_DIG >= 64) return;
    printf("skipped: long double is no wider than double here, so there is no reference\n");
    exit(77);
}

static long double ulp_of(long double value)
{
    const long double size = fabsl(value);
    if (size < 0x1p-1022L) return 0x1p-1074L;
    int e;
    frexpl(size, &e);
    return ldexpl(1.0L, e - 53);
}

static double error_of(double got, long double want)
{
    if (want != want || got != got) return (want != want) == (got != got) ? 0.0 : INFINITY;
    if (isinf(got) || fabsl(want) > (long double)DBL_MAX) {
        if (got == (double)want) return 0.0;
        if (isinf(want) || fabsl(want) < 0x1.ffffffffffffep1023L) return INFINITY;
        return fabs(got) >= DBL_MAX && (got > 0.0) == (want > 0.0L) ? 1.0 : INFINITY;
    }
    return (double)(fabsl((long double)got - want) / ulp_of(want));
}

static uint64_t random_state = 5;
/* Any bits; one scale; moderate exponents; near 1; in [-1, 1]; near a multiple of pi/2. */
static double any_double(int64_t kind)
{
    const uint64_t r = test_random(&random_state), s = test_random(&random_state);
    const double unit = (double)(int64_t)r * 0x1p-63;
    switch (kind % 6) {
    case 0: return k_bits_f64(r);
    case 1: return unit * 20.0;
    case 2: return unit * k_power2((int64_t)(s % 100) - 60);
    case 3: return 1.0 + unit * k_power2(-(int64_t)(s % 40));
    case 4: return unit;
    default: return (double)((long double)(s % 80000000) * 1.57079632679489661923132169163975144L);
    }
}

static long double limited(long double x, long double y) { return fabsl(x) <= 0x1p27L ? y : NAN; }
static long double sin_(long double x) { return limited(x, sinl(x)); }
static long double cos_(long double x) { return limited(x, cosl(x)); }
static long double tan_(long double x) { return limited(x, tanl(x)); }
static long double turn(long double x, int cosine)
{
    if (!isfinite(x)) return NAN;
    long double r = fmodl(x, 2.0L);
    const long double q = nearbyintl(2.0L * r);
    r -= 0.5L * q;
    const long double a = 3.14159265358979323846264338327950288L * r;
    const int quarter = ((int)q + cosine) & 3;
    const long double s = sinl(a), c = cosl(a);
    return quarter == 0 ? s : quarter == 1 ? c : quarter == 2 ? -s : -c;
}
static long double sinpi_(long double x) { return turn(x, 0); }
static long double cospi_(long double x) { return turn(x, 1); }
static long double rsqrt_(long double x) { return 1.0L / sqrtl(x); }

#define CHECK(name, reference, bound)                                                              \
    static void name##_is_accurate(void **state)                                                   \
    {                                                                                              \
        (void)state;                                                                               \
        double worst = 0.0, at = 0.0;                                                              \
        for (int64_t i = 0; i < items; i++) {                                                      \
            const double x = any_double(i);                                                        \
            const double error = error_of(k_##name(x), reference((long double)x));                 \
            if (error > worst) worst = error, at = x;                                              \
        }                                                                                          \
        printf("%-8s worst %.4f ulp at %a\n", #name, worst, at);                                   \
        assert_true(worst <= (bound));                                                             \
    }
CHECK(sin, sin_, 1.0)
CHECK(cos, cos_, 1.0)
CHECK(tan, tan_, 2.0)
CHECK(sinpi, sinpi_, 1.0)
CHECK(cospi, cospi_, 1.0)
CHECK(exp, expl, 1.0)
CHECK(exp2, exp2l, 1.0)
CHECK(log, logl, 1.0)
CHECK(log2, log2l, 1.0)
CHECK(atan, atanl, 1.0)
CHECK(asin, asinl, 2.0)
CHECK(acos, acosl, 2.0)
CHECK(rsqrt, rsqrt_, 1.5)
CHECK(rint, rintl, 0.0)
CHECK(floor, floorl, 0.0)

#define CHECK2(name, reference, bound)                                                             \
    static void name##_is_accurate(void **state)                                                   \
    {                                                                                              \
        (void)state;                                                                               \
        static const double special[] = {0.0,    -0.0,   0x1p-1074, -0x1p-1074, 0.5,       1.0,    \
                                         -1.0,   2.0,    3.0,       -3.0,       -2.5,      1e300,  \
                                         -1e300, 1e-300, DBL_MAX,   INFINITY,   -INFINITY, NAN};   \
        enum { N = sizeof special / sizeof *special };                                             \
        double worst = 0.0, at = 0.0, at2 = 0.0;                                                   \
        for (int64_t i = 0; i < items + N * N; i++) {                                              \
            const double x = i < N * N ? special[i / N] : any_double(i);                           \
            const double y = i < N * N ? special[i % N] : any_double(i / 6);                       \
            const long double want = reference((long double)x, (long double)y);                    \
            const double error = error_of(k_##name(x, y), want);                                   \
            if (i < N * N && want == 0.0L)                                                         \
                assert_int_equal(signbit(want) != 0, k_negative(k_##name(x, y)));                  \
            if (error > worst) worst = error, at = x, at2 = y;                                     \
        }                                                                                          \
        printf("%-8s worst %.4f ulp at %a, %a\n", #name, worst, at, at2);                          \
        assert_true(worst <= (bound));                                                             \
    }
CHECK2(atan2, atan2l, 1.0)
CHECK2(hypot, hypotl, 1.0)
CHECK2(pow, powl, 1.0)

/* Powers of numbers of one scale, whose results fill the whole range. */
static void powers_over_the_whole_range(void **state)
{
    (void)state;
    double worst = 0.0;
    for (int64_t i = 0; i < items; i++) {
        const double x = test_uniform(&random_state, 0.0, 4.0);
        const double y = test_uniform(&random_state, -1080.0, 1030.0) / log2(x);
        const double error = error_of(k_pow(x, y), powl((long double)x, (long double)y));
        if (error > worst) worst = error;
    }
    printf("pow      worst %.4f ulp over the whole range\n", worst);
    assert_true(worst <= 1.0);
}

/* Values that must be exact. */
static void exact_values_are_exact(void **state)
{
    (void)state;
    for (int n = -1074; n <= 1023; n++) {
        assert_true(k_exp2((double)n) == ldexp(1.0, n));
        assert_true(k_log2(ldexp(1.0, n)) == (double)n);
    }
    for (int n = 1; n <= 20; n++)
        for (int b = -15; b <= 15; b++) {
            double product = 1.0;
            for (int i = 0; i < n && fabs(product) < 0x1p53; i++) product *= b;
            if (fabs(product) < 0x1p53) assert_true(k_pow((double)b, (double)n) == product);
        }
    assert_true(k_sinpi(0.5) == 1.0 && k_sinpi(7.0) == 0.0 && k_cospi(1.5) == 0.0 &&
                k_cospi(1.0) == -1.0 && k_cospi(1e200) == 1.0);
    assert_true(k_sin(0x1p28) != k_sin(0x1p28) && k_cos(INFINITY) != k_cos(INFINITY));
    assert_true(k_exp(0.0) == 1.0 && k_log(1.0) == 0.0 && k_negative(k_sin(-0.0)));
}

int main(int count, char **words)
{
    need_wide_long_double();
    const char *wish = getenv("MOTET_TEST_LONG");
    if ((count > 1 && !strcmp(words[1], "--long")) || wish) items *= 100;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sin_is_accurate),
        cmocka_unit_test(cos_is_accurate),
        cmocka_unit_test(tan_is_accurate),
        cmocka_unit_test(sinpi_is_accurate),
        cmocka_unit_test(cospi_is_accurate),
        cmocka_unit_test(exp_is_accurate),
        cmocka_unit_test(exp2_is_accurate),
        cmocka_unit_test(log_is_accurate),
        cmocka_unit_test(log2_is_accurate),
        cmocka_unit_test(atan_is_accurate),
        cmocka_unit_test(asin_is_accurate),
        cmocka_unit_test(acos_is_accurate),
        cmocka_unit_test(rsqrt_is_accurate),
        cmocka_unit_test(rint_is_accurate),
        cmocka_unit_test(floor_is_accurate),
        cmocka_unit_test(atan2_is_accurate),
        cmocka_unit_test(hypot_is_accurate),
        cmocka_unit_test(pow_is_accurate),
        cmocka_unit_test(powers_over_the_whole_range),
        cmocka_unit_test(exact_values_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
