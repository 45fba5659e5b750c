#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kern/random.h"
#include "support/support.h"

/* The generator is the published one: Random123's known answers for philox4x32-10. */
static void philox_gives_the_published_answers(void **state)
{
    (void)state;
    static const struct {
        k_words counter;
        uint32_t key[2];
        k_words want;
    } known[] = {
        {{{0, 0, 0, 0}}, {0, 0}, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
        {{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}},
         {0xffffffff, 0xffffffff},
         {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
        {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
         {0xa4093822, 0x299f31d0},
         {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const k_words got = k_philox_4x32(known[i].counter, known[i].key[0], known[i].key[1]);
        assert_memory_equal(&got, &known[i].want, sizeof got);
    }
    const k_source s = {0x299f31d0a4093822u, 0x03707344};
    const k_words got = k_random(s, 0x85a308d3243f6a88u, 0x13198a2e);
    assert_memory_equal(&got, &known[2].want, sizeof got);
}

enum { DRAWS = 1 << 20, CELLS = 256 };
static uint32_t draws[DRAWS];

/* 5 sigma bounds: a correct generator fails one in a million. The draws never change, so a pass
 * stays a pass. */
static void check_uniform(const char *name)
{
    static int64_t cell[CELLS], pair[CELLS];
    memset(cell, 0, sizeof cell);
    memset(pair, 0, sizeof pair);
    double sum = 0.0, squares = 0.0, serial = 0.0, before = 0.0;
    for (int i = 0; i < DRAWS; i++) {
        const double u = (double)k_uniformf(draws[i]) + 0x1p-25 - 0.5;
        assert_true(k_uniformf(draws[i]) >= 0.0f && k_uniformf(draws[i]) < 1.0f);
        sum += u;
        squares += u * u;
        if (i) serial += u * before;
        before = u;
        cell[draws[i] >> 24]++;
        if (i) pair[(draws[i] >> 28) << 4 | draws[i - 1] >> 28]++;
    }
    const double n = DRAWS, mean = sum / n * sqrt(12.0 * n);
    const double variance = (squares / n - 1.0 / 12.0) * sqrt(180.0 * n);
    const double correlation = serial * 12.0 / sqrt(n);
    double chi = 0.0, chi_pair = 0.0;
    for (int i = 0; i < CELLS; i++) {
        chi += pow((double)cell[i] - n / CELLS, 2) / (n / CELLS);
        chi_pair += pow((double)pair[i] - n / CELLS, 2) / (n / CELLS);
    }
    const double degree = CELLS - 1;
    printf("%-24s sigmas: mean %.2f variance %.2f serial %.2f chi-square %.2f of pairs %.2f\n",
           name, mean, variance, correlation, (chi - degree) / sqrt(2 * degree),
           (chi_pair - degree) / sqrt(2 * degree));
    assert_true(fabs(mean) < 5 && fabs(variance) < 5 && fabs(correlation) < 5);
    assert_true(fabs(chi - degree) < 5 * sqrt(2 * degree) &&
                fabs(chi_pair - degree) < 5 * sqrt(2 * degree));
}

/* Uniform along the index, the dimension, the stream and the seed, and across words. */
static void philox_is_uniform_along_every_argument(void **state)
{
    (void)state;
    const k_source s = {12345, 6};
    for (int i = 0; i < DRAWS; i++) draws[i] = k_random(s, (uint64_t)i, 0).w[0];
    check_uniform("philox, index");
    for (int i = 0; i < DRAWS; i++) draws[i] = k_random(s, 77, (uint32_t)i).w[3];
    check_uniform("philox, dimension");
    for (int i = 0; i < DRAWS; i++) draws[i] = k_random((k_source){1, (uint32_t)i}, 0, 0).w[1];
    check_uniform("philox, stream");
    for (int i = 0; i < DRAWS; i++)
        draws[i] = k_random((k_source){(uint64_t)i << 20, 0}, 0, 0).w[2];
    check_uniform("philox, seed");
    for (int i = 0; i < DRAWS; i++) draws[i] = k_random(s, (uint64_t)i / 4, 1).w[i % 4];
    check_uniform("philox, words");
}

/* The cheap hash passes the same tests along each of its arguments. */
static void pcg3d_is_uniform_along_every_argument(void **state)
{
    (void)state;
    for (int argument = 0; argument < 3; argument++)
        for (int word = 0; word < 3; word++) {
            for (int i = 0; i < DRAWS; i++) {
                uint32_t v[3] = {11, 22, 33};
                v[argument] = (uint32_t)i;
                k_pcg3d(&v[0], &v[1], &v[2]);
                draws[i] = v[word];
            }
            char name[32];
            snprintf(name, sizeof name, "pcg3d, %c into word %d", 'x' + argument, word);
            check_uniform(name);
        }
}

/* The ends: 1 is never reached, open forms never give 0. */
static void uniforms_keep_their_intervals(void **state)
{
    (void)state;
    assert_true(k_uniformf(UINT32_MAX) == 1.0f - 0x1p-24f && k_uniformf(0) == 0.0f);
    assert_true(k_uniform_openf(0) == 0x1p-24f && k_uniform_openf(UINT32_MAX) == 1.0f - 0x1p-24f);
    assert_true(k_uniform(0, 0) == 0x1p-53 && k_uniform(UINT32_MAX, UINT32_MAX) == 1.0 - 0x1p-53);
}

/* Moments of the normal deviates, their tails, and that the two are uncorrelated. */
static void normals_are_normal(void **state)
{
    (void)state;
    for (int form = 0; form < 2; form++) {
        double m1 = 0, m2 = 0, m3 = 0, m4 = 0, cross = 0;
        int64_t beyond = 0;
        const int pairs = 400000;
        for (int i = 0; i < pairs; i++) {
            const k_words w = k_random((k_source){9, 1}, (uint64_t)i, 0);
            double v[2];
            if (form == 0)
                k_normal(w, &v[0], &v[1]);
            else {
                float a, b;
                k_normalf(w.w[0], w.w[1], &a, &b);
                v[0] = (double)a;
                v[1] = (double)b;
            }
            cross += v[0] * v[1];
            for (int k = 0; k < 2; k++) {
                const double x = v[k];
                m1 += x, m2 += x * x, m3 += x * x * x, m4 += x * x * x * x;
                beyond += fabs(x) > 1.959963984540054;
            }
        }
        const double n = 2.0 * pairs;
        assert_true(fabs(m1) / sqrt(n) < 5);
        assert_true(fabs(m2 / n - 1) / sqrt(2 / n) < 5);
        assert_true(fabs(m3 / n) / sqrt(15 / n) < 5);
        assert_true(fabs(m4 / n - 3) / sqrt(96 / n) < 5);
        assert_true(fabs(cross / pairs) * sqrt((double)pairs) < 5);
        assert_true(fabs((double)beyond - 0.05 * n) / sqrt(0.05 * 0.95 * n) < 5);
    }
}

/* log n! against lgamma. */
static void log_factorials_are_accurate(void **state)
{
    (void)state;
    for (double n = 0; n < 1e12; n = n < 200 ? n + 1 : floor(n * 1.37)) {
        const double want = lgamma(n + 1);
        assert_true(fabs(k_log_factorial(n) - want) <= 1e-13 * (1 + fabs(want)));
    }
}

/* Poisson deviates follow the Poisson law: chi-square over cells of expected count 20 and more, for
 * both methods and across the border between them. */
static void poisson_follows_the_law(void **state)
{
    (void)state;
    static const double means[] = {0.01, 0.5, 3.0, 9.999, 10.0, 12.5, 37.0, 400.0, 20000.0};
    static int64_t seen[40000];
    const int count = 200000;
    for (size_t k = 0; k < sizeof means / sizeof *means; k++) {
        const double mean = means[k];
        memset(seen, 0, sizeof seen);
        double sum = 0;
        for (int i = 0; i < count; i++) {
            const double n = k_poisson(mean, (k_source){4, (uint32_t)k}, (uint64_t)i, 0);
            assert_true(n >= 0 && n == floor(n) && n < 40000);
            sum += n;
            seen[(int)n]++;
        }
        assert_true(fabs(sum / count - mean) / sqrt(mean / count) < 5);
        double chi = 0, expected = 0, observed = 0;
        int cells = 0;
        for (int n = 0; n < 40000; n++) {
            expected += count * exp(n * log(mean) - mean - lgamma(n + 1.0));
            observed += (double)seen[n];
            if (expected < 20 && n < 39999) continue;
            if (expected > 0)
                chi +=
                    (observed - expected) * (observed - expected) / (expected > 1 ? expected : 1),
                    cells++;
            expected = observed = 0;
        }
        const double degree = cells - 1;
        printf("poisson %-8g %d cells, chi-square %.2f sigmas\n", mean, cells,
               degree > 0 ? (chi - degree) / sqrt(2 * degree) : 0.0);
        assert_true(chi - degree < 5.5 * sqrt(2 * degree + 1));
    }
}

/* Means that are no means answer 0; huge ones are clamped; results depend on nothing but the
 * arguments. */
static void poisson_is_defined_everywhere(void **state)
{
    (void)state;
    const k_source s = {1, 2};
    assert_true(k_poisson(0.0, s, 0, 0) == 0.0 && k_poisson(-3.0, s, 0, 0) == 0.0 &&
                k_poisson(NAN, s, 0, 0) == 0.0);
    assert_true(fabs(k_poisson(INFINITY, s, 0, 0) - 0x1p40) < 6 * 0x1p20);
    const double forward = k_poisson(50.0, s, 7, 0);
    for (uint64_t i = 0; i < 20; i++) (void)k_poisson(50.0, s, i, 0);
    assert_true(k_poisson(50.0, s, 7, 0) == forward);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_gives_the_published_answers),
        cmocka_unit_test(philox_is_uniform_along_every_argument),
        cmocka_unit_test(pcg3d_is_uniform_along_every_argument),
        cmocka_unit_test(uniforms_keep_their_intervals),
        cmocka_unit_test(normals_are_normal),
        cmocka_unit_test(log_factorials_are_accurate),
        cmocka_unit_test(poisson_follows_the_law),
        cmocka_unit_test(poisson_is_defined_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
