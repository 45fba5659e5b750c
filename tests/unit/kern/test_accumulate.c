#include <math.h>
#include <string.h>

#include "kern/accumulate.h"
#include "support/support.h"

enum { MANY = 20000 };
static uint64_t random_state = 3;

static void shuffle(float *a, int n)
{
    for (int i = n - 1; i > 0; i--) {
        const int j = (int)(test_random(&random_state) % (uint64_t)(i + 1));
        const float t = a[i];
        a[i] = a[j];
        a[j] = t;
    }
}

static float wild(void)
{
    float x;
    do x = k_bits_f32((uint32_t)test_random(&random_state));
    while (!k_is_finitef(x));
    return x;
}

/* An independent sum: a 512-bit two's-complement integer in units of 2^-149, added bit by bit. */
typedef struct big {
    uint8_t bit[512];
} big;

static void big_add(big *sum, float x)
{
    int e;
    const double m = frexp(fabs((double)x), &e); /* |x| = m 2^e; all 24 bits lie in [e - 24, e) */
    big term;
    memset(&term, 0, sizeof term);
    uint64_t whole = (uint64_t)ldexp(m, 24);
    for (int at = e - 24 + 149; whole; at++, whole >>= 1)
        if (whole & 1) term.bit[at] = 1;
    int carry = 0;
    if (signbit(x)) {
        for (int i = 0; i < 512; i++) term.bit[i] ^= 1;
        carry = 1;
    }
    for (int i = 0; i < 512; i++) {
        const int t = sum->bit[i] + term.bit[i] + carry;
        sum->bit[i] = (uint8_t)(t & 1);
        carry = t >> 1;
    }
}

/* Any-order sums are exact: equal to bit-by-bit integer addition, for any finite floats. */
static void ten_limbs_are_exact(void **state)
{
    (void)state;
    int64_t limb[K_LIMBS_FLOAT] = {0};
    static big want;
    memset(&want, 0, sizeof want);
    for (int i = 0; i < MANY; i++) {
        const float x =
            i % 7 == 3 ? k_bits_f32((uint32_t)test_random(&random_state) & 0x807fffffu) : wild();
        assert_int_equal(k_limbs_add_float(limb, x), 0);
        big_add(&want, x);
    }
    assert_int_equal(k_limbs_normalise(limb, K_LIMBS_FLOAT), 0);
    for (int i = 0; i < 512; i++) {
        const int at = i / 32 < K_LIMBS_FLOAT ? i / 32 : K_LIMBS_FLOAT - 1;
        const int by = i - 32 * at > 63 ? 63 : i - 32 * at;
        assert_int_equal((limb[at] >> by) & 1, want.bit[i]);
    }
}

/* P1: shuffled, split among workers and merged, the sum has the same bits. */
static void order_and_split_do_not_matter(void **state)
{
    (void)state;
    static float a[MANY];
    for (int i = 0; i < MANY; i++)
        a[i] = i % 3 ? wild() : (float)test_uniform(&random_state, -1, 1);
    double want = 0.0;
    for (int round = 0; round < 20; round++) {
        int64_t part[5][K_LIMBS_FLOAT];
        memset(part, 0, sizeof part);
        for (int i = 0; i < MANY; i++)
            assert_int_equal(k_limbs_add_float(part[round ? i % (round % 5 + 1) : 0], a[i]), 0);
        for (int p = 0; p < 5; p++) assert_int_equal(k_limbs_normalise(part[p], K_LIMBS_FLOAT), 0);
        for (int p = 1; p < 5; p++)
            assert_int_equal(k_limbs_merge(part[0], part[p], K_LIMBS_FLOAT), 0);
        const double got = k_limbs_value(part[0], K_LIMBS_FLOAT, K_UNIT_FLOAT);
        if (round == 0) want = got;
        assert_memory_equal(&got, &want, sizeof want);
        shuffle(a, MANY);
    }
}

static double value_of(const float *a, int n)
{
    int64_t limb[K_LIMBS_FLOAT] = {0};
    for (int i = 0; i < n; i++) assert_int_equal(k_limbs_add_float(limb, a[i]), 0);
    return k_limbs_value(limb, K_LIMBS_FLOAT, K_UNIT_FLOAT);
}

/* The value is the exact sum, rounded once, ties to even. */
static void value_is_rounded_once(void **state)
{
    (void)state;
    assert_true(value_of((const float[]){1e38f, 0x1p-149f, -1e38f}, 3) == 0x1p-149);
    assert_true(value_of((const float[]){-3.0f, 1.0f}, 2) == -2.0);
    assert_true(value_of(NULL, 0) == 0.0);
    assert_true(value_of((const float[]){0x1p53f, 1.0f}, 2) == 0x1p53);
    assert_true(value_of((const float[]){0x1p53f, 2.0f, 1.0f}, 3) == 0x1p53 + 4.0);
    assert_true(value_of((const float[]){0x1p53f, 1.0f, 0x1p-149f}, 3) == 0x1p53 + 2.0);
    assert_true(value_of((const float[]){-0x1p53f, -1.0f, -0x1p-149f}, 3) == -0x1p53 - 2.0);
    assert_true(value_of((const float[]){0x1p53f, 1.0f, -0x1p-149f}, 3) == 0x1p53);
    assert_true(value_of((const float[]){0x1.fffffep127f, 0x1.fffffep127f}, 2) == 0x1.fffffep128);
    for (int i = 0; i < 20000; i++) { /* two floats of near exponents: exact in float64 */
        const float a = (float)test_uniform(&random_state, -9, 9);
        const float b = (float)test_uniform(&random_state, -9, 9);
        assert_true(value_of((const float[]){a, b}, 2) == (double)a + (double)b);
    }
}

/* Three limbs below a bound keep 24 bits down to 2^(bound - 72) and drop lower ones addend by
 * addend. */
static void bounded_limbs_keep_what_they_say(void **state)
{
    (void)state;
    for (int bound = -30; bound <= 30; bound += 10) {
        int64_t limb[K_LIMBS_BOUNDED] = {0};
        const float least = ldexpf(0x1.fffffep0f, bound - 73);
        assert_int_equal(k_limbs_add_bounded(limb, least, bound), 0);
        assert_true(k_limbs_value(limb, K_LIMBS_BOUNDED, bound - 96) == (double)least);
        const float most = ldexpf(-0x1.fffffep-1f, bound);
        assert_int_equal(k_limbs_add_bounded(limb, most, bound), 0);
        assert_int_equal(k_limbs_add_bounded(limb, -most, bound), 0);
        assert_true(k_limbs_value(limb, K_LIMBS_BOUNDED, bound - 96) == (double)least);
        const int64_t before[] = {limb[0], limb[1], limb[2]};
        assert_int_equal(k_limbs_add_bounded(limb, ldexpf(1.0f, bound), bound), 1);
        assert_int_equal(k_limbs_add_bounded(limb, NAN, bound), 1);
        assert_int_equal(k_limbs_add_bounded(limb, -INFINITY, bound), 1);
        assert_memory_equal(limb, before, sizeof before);
    }
    /* Against 128-bit integers. */
    int64_t limb[K_LIMBS_BOUNDED] = {0};
    __int128 want = 0;
    for (int i = 0; i < MANY; i++) {
        const float x = (float)test_uniform(&random_state, -1, 1) * k_power2f(-(i % 90));
        assert_int_equal(k_limbs_add_bounded(limb, x, 1), 0);
        want +=
            (__int128)ldexp((double)x, 53) * ((__int128)1 << 42) + /* bits 2^-53 and up: exact */
            (__int128)ldexp((double)x - ldexp(trunc(ldexp((double)x, 53)), -53), 95);
    }
    assert_int_equal(k_limbs_normalise(limb, K_LIMBS_BOUNDED), 0);
    assert_true((__int128)limb[2] * ((__int128)1 << 64) + (__int128)limb[1] * ((__int128)1 << 32) +
                    limb[0] ==
                want);
}

/* The running sum that made plain float32 blocks fail: nothing small is lost beside something
 * large. */
static void small_beside_large_is_kept(void **state)
{
    (void)state;
    int64_t limb[K_LIMBS_BOUNDED] = {0};
    assert_int_equal(k_limbs_add_bounded(limb, 1.0f, 1), 0);
    for (int i = 0; i < 4095; i++) assert_int_equal(k_limbs_add_bounded(limb, 1e-10f, 1), 0);
    const double got = k_limbs_value(limb, K_LIMBS_BOUNDED, 1 - 96);
    assert_true(fabs(got - (1.0 + 4095.0 * (double)1e-10f)) < 1e-15);
}

/* A limb takes K_LIMB_ADDENDS of the largest payload before it must be normalised, and the sum is
 * right then (the undefined-behaviour sanitizer would tell an overflow). */
static void limbs_take_as_many_addends_as_stated(void **state)
{
    (void)state;
    const float most = 0x1.fffffep0f; /* all 24 bits, in limbs 4 and 5 */
    int64_t one[K_LIMBS_FLOAT] = {0}, many[K_LIMBS_FLOAT], brim[K_LIMBS_FLOAT];
    assert_int_equal(k_limbs_add_float(one, most), 0);
    for (int i = 0; i < K_LIMBS_FLOAT; i++) {
        many[i] = one[i] * (K_LIMB_ADDENDS - 1);
        brim[i] = (int64_t)UINT32_MAX * (K_LIMB_ADDENDS - 1); /* whatever the addends were */
    }
    assert_int_equal(k_limbs_add_float(many, most), 0);
    assert_true(k_limbs_value(many, K_LIMBS_FLOAT, K_UNIT_FLOAT) ==
                (double)most * (double)K_LIMB_ADDENDS);
    assert_int_equal(k_limbs_add_float(brim, most), 0);
    k_limbs_normalise(brim, K_LIMBS_FLOAT);
    for (int i = 0; i + 1 < K_LIMBS_FLOAT; i++) assert_true(brim[i] >= 0 && brim[i] <= UINT32_MAX);
}

/* Overflow is an error, not a wrong sum. */
static void overflow_is_reported(void **state)
{
    (void)state;
    int64_t limb[K_LIMBS_BOUNDED] = {0, 0, ((int64_t)1 << 62) - 1};
    assert_int_equal(k_limbs_normalise(limb, K_LIMBS_BOUNDED), 0);
    limb[1] = (int64_t)1 << 32;
    assert_int_equal(k_limbs_normalise(limb, K_LIMBS_BOUNDED), 1);
    int64_t floats[K_LIMBS_FLOAT] = {0};
    assert_int_equal(k_limbs_add_float(floats, INFINITY), 1);
    assert_int_equal(k_limbs_add_float(floats, NAN), 1);
    assert_true(k_limbs_value(floats, K_LIMBS_FLOAT, K_UNIT_FLOAT) == 0.0);
}

/* float64 terms of wild range below their exact greatest exponent: any order, and within 2^-127 of
 * the truth a term. */
static void double_limbs_keep_128_bits(void **state)
{
    (void)state;
    static double a[MANY];
    int32_t exponent = -2000;
    for (int i = 0; i < MANY; i++) {
        a[i] = test_uniform(&random_state, 0.5, 1) * k_power2(-(int64_t)(i % 50)) *
               (test_random(&random_state) & 1 ? -1.0 : 1.0);
        if (k_exponent(a[i]) > exponent) exponent = k_exponent(a[i]);
    }
    int64_t limb[K_LIMBS_DOUBLE] = {0}, back[K_LIMBS_DOUBLE] = {0};
    __int128 want = 0; /* units of 2^-110: every addend is a multiple */
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(k_limbs_add_double(limb, a[i], exponent), 0);
        assert_int_equal(k_limbs_add_double(back, a[MANY - 1 - i], exponent), 0);
        int e;
        const double m = frexp(a[i], &e);
        want += (__int128)ldexp(m, 53) * ((__int128)1 << (e - 53 + 108));
    }
    const double got = k_limbs_value(limb, K_LIMBS_DOUBLE, exponent - 127);
    const double other = k_limbs_value(back, K_LIMBS_DOUBLE, exponent - 127);
    assert_memory_equal(&got, &other, sizeof got);
    assert_true(got == ldexp((double)want, -108));
    int64_t extremes[K_LIMBS_DOUBLE] = {0};
    assert_int_equal(k_limbs_add_double(extremes, 0x1.fffffffffffffp1023, 1023), 0);
    assert_int_equal(k_limbs_add_double(extremes, 0x1p-1074, 1023), 0);
    assert_true(k_limbs_value(extremes, K_LIMBS_DOUBLE, 1023 - 127) == 0x1.fffffffffffffp1023);
    assert_int_equal(k_limbs_add_double(extremes, 4.0, 1), 1);
}

/* Dot products follow the order that exactness asks for, for every length around the block's edges.
 */
static void dot_follows_the_stated_order(void **state)
{
    (void)state;
    static float a[K_BLOCK], b[K_BLOCK];
    for (int i = 0; i < K_BLOCK; i++) {
        a[i] = (float)test_uniform(&random_state, -1, 1);
        b[i] = (float)test_uniform(&random_state, -1, 1);
    }
    static const int sizes[] = {0, 1, 2, 255, 256, 257, 511, 512, 4095, 4096};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        double lane[256] = {0}, sum_lane[256] = {0};
        for (int j = 0; j < 256; j++)
            for (int i = j; i < sizes[s]; i += 256) {
                lane[j] += (double)a[i] * (double)b[i];
                sum_lane[j] += (double)a[i];
            }
        for (int half = 128; half; half /= 2)
            for (int j = 0; j < half; j++) {
                lane[j] += lane[j + half];
                sum_lane[j] += sum_lane[j + half];
            }
        assert_true(k_dot_block(a, b, sizes[s]) == lane[0]);
        assert_true(k_sum_block(a, sizes[s]) == sum_lane[0]);
    }
    assert_int_equal(k_row_blocks(0), 0);
    assert_int_equal(k_row_blocks(4096), 1);
    assert_int_equal(k_row_blocks(4097), 2);
    assert_int_equal(k_row_blocks(INT64_MAX), INT64_MAX / 4096 + 1);
    const double sums[] = {1e16, 1.0, -1e16};
    assert_true(k_add_blocks(0.0, sums, 3) ==
                k_add_blocks(k_add_blocks(0.0, sums, 2), sums + 2, 1));
}

/* Film: samples add exactly in any split; clamped and non-finite ones are counted. */
static void film_adds_exactly(void **state)
{
    (void)state;
    int64_t one = 0, two = 0, part = 0, counted = 0;
    static float a[MANY];
    for (int i = 0; i < MANY; i++) {
        a[i] = (float)test_uniform(&random_state, 0, i % 100 ? 1 : 30000);
        counted += k_film_add(&one, a[i]);
    }
    assert_int_equal(counted, 0);
    for (int i = MANY - 1; i >= 0; i--) k_film_add(i % 2 ? &two : &part, a[i]);
    assert_int_equal(one, two + part);
    int64_t sum = 0;
    assert_int_equal(k_film_add(&sum, NAN), 1);
    assert_int_equal(k_film_add(&sum, -INFINITY), 1);
    assert_int_equal(sum, 0);
    assert_int_equal(k_film_add(&sum, 1e30f), 1);
    assert_int_equal(sum, (int64_t)1 << 39);
    assert_true(k_film_mean(3 << 23, 3) == 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_limbs_are_exact),
        cmocka_unit_test(order_and_split_do_not_matter),
        cmocka_unit_test(value_is_rounded_once),
        cmocka_unit_test(bounded_limbs_keep_what_they_say),
        cmocka_unit_test(small_beside_large_is_kept),
        cmocka_unit_test(limbs_take_as_many_addends_as_stated),
        cmocka_unit_test(overflow_is_reported),
        cmocka_unit_test(double_limbs_keep_128_bits),
        cmocka_unit_test(dot_follows_the_stated_order),
        cmocka_unit_test(film_adds_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
