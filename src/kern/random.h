/* Random numbers without state: a number is a function of what it is for (seed, stream, index of
 * the sample, dimension), so threads, devices and the order of work cannot change it. No number
 * depends on a device.
 *
 * Philox 4x32-10: Salmon, Moraes, Dror, Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3".
 * pcg3d: Jarzynski, Olano 2020, JCGT 9(3). */
#ifndef MOTET_KERN_RANDOM_H
#define MOTET_KERN_RANDOM_H

#include "kern/exact.h"

typedef struct k_words {
    uint32_t w[4];
} k_words;

/* The bare generator: ten rounds over a counter of four words with a key of two. */
K_FN k_words k_philox_4x32(k_words c, uint32_t key0, uint32_t key1)
{
    for (int round = 0; round < 10; round++) {
        const uint64_t p0 = (uint64_t)0xd2511f53u * c.w[0], p1 = (uint64_t)0xcd9e8d57u * c.w[2];
        k_words next;
        next.w[0] = (uint32_t)(p1 >> 32) ^ c.w[1] ^ key0;
        next.w[1] = (uint32_t)p1;
        next.w[2] = (uint32_t)(p0 >> 32) ^ c.w[3] ^ key1;
        next.w[3] = (uint32_t)p0;
        c = next;
        key0 += 0x9e3779b9u;
        key1 += 0xbb67ae85u;
    }
    return c;
}

/* Which numbers: `seed` is the user's, `stream` what they are for (one constant per use), so that
 * two uses never share any. The seed is the key; the stream is the last word of the counter. */
typedef struct k_source {
    uint64_t seed;
    uint32_t stream;
} k_source;

/* Four independent words for dimension `dimension` of sample `index`. */
K_FN k_words k_random(k_source source, uint64_t index, uint32_t dimension)
{
    k_words c;
    c.w[0] = (uint32_t)index;
    c.w[1] = (uint32_t)(index >> 32);
    c.w[2] = dimension;
    c.w[3] = source.stream;
    return k_philox_4x32(c, (uint32_t)source.seed, (uint32_t)(source.seed >> 32));
}

/* A cheap hash of three words to three, where Philox is measured to matter. */
K_FN void k_pcg3d(uint32_t *x, uint32_t *y, uint32_t *z)
{
    uint32_t a = *x * 1664525u + 1013904223u;
    uint32_t b = *y * 1664525u + 1013904223u;
    uint32_t c = *z * 1664525u + 1013904223u;
    a += b * c;
    b += c * a;
    c += a * b;
    a ^= a >> 16;
    b ^= b >> 16;
    c ^= c >> 16;
    a += b * c;
    b += c * a;
    c += a * b;
    *x = a;
    *y = b;
    *z = c;
}

/* Uniform in [0, 1), multiples of 2^-24. */
K_FN float k_uniformf(uint32_t word) { return (float)(word >> 8) * 0x1p-24f; }
/* Uniform in (0, 1), odd multiples of 2^-25: logarithms are safe. */
K_FN float k_uniform_openf(uint32_t word) { return k_fmaf((float)(word >> 9), 0x1p-23f, 0x1p-24f); }
/* Uniform in (0, 1), odd multiples of 2^-53. */
K_FN double k_uniform(uint32_t high, uint32_t low)
{
    const uint64_t bits = ((uint64_t)high << 32 | low) >> 12;
    return k_fma((double)(int64_t)bits, 0x1p-52, 0x1p-53);
}

/* Two independent standard normal deviates (Box, Muller 1958). */
K_FN void k_normal(k_words w, double *a, double *b)
{
    const double radius = k_sqrt(-2.0 * k_log(k_uniform(w.w[0], w.w[1])));
    double s, c;
    k_sincospi(2.0 * k_uniform(w.w[2], w.w[3]), &s, &c);
    *a = radius * c;
    *b = radius * s;
}
/* In float32; no deviate beyond 5.8. */
K_FN void k_normalf(uint32_t w0, uint32_t w1, float *a, float *b)
{
    const float radius = k_sqrtf(-2.0f * k_logf(k_uniform_openf(w0)));
    float s, c;
    k_sincospif(2.0f * k_uniformf(w1), &s, &c);
    *a = radius * c;
    *b = radius * s;
}

/* log(n!), n >= 0 a whole number: Stirling's series from 16 on, the recurrence below. Absolute
 * error below 1e-13 (1 + the result). */
K_FN double k_log_factorial(double n)
{
    double x = n + 1.0, product = 1.0;
    for (int i = 0; i < 16; i++) {
        const int low = x < 16.0;
        product = low ? product * x : product;
        x = low ? x + 1.0 : x;
    }
    const double r = 1.0 / x, r2 = r * r;
    double p = k_fma(r2, -1.0 / 1680.0, 1.0 / 1260.0);
    p = k_fma(r2, p, -1.0 / 360.0);
    p = k_fma(r2, p, 1.0 / 12.0);
    const double gamma = (x - 0.5) * k_log(x) - x + 0x1.d67f1c864beb5p-1 + r * p;
    return gamma - k_log(product);
}

enum { K_POISSON_TRIES = 64 };

/* A Poisson deviate with this mean, 0 <= mean <= 2^40 (0 for a NaN or a negative one; larger ones
 * are clamped). Takes the dimensions [first, first + 64) of the sample. Below 10 by inversion; from
 * 10 on by transformed rejection (Hoermann 1993, "The transformed rejection method for generating
 * Poisson random variables", PTRS), whose tries succeed with probability 0.75 and more: the bound
 * on tries is met less than once in 2^120, and answers the mean rounded. Exact but for the rounding
 * of float64. */
K_FN double k_poisson(double mean, k_source source, uint64_t index, uint32_t first)
{
    if (!(mean > 0.0)) return 0.0;
    if (mean < 10.0) {
        const k_words w = k_random(source, index, first);
        const double u = k_uniform(w.w[0], w.w[1]);
        double term = k_exp(-mean), sum = term, n = 0.0;
        for (int i = 0; i < 128 && u > sum; i++) {
            n += 1.0;
            term = term * mean / n;
            sum += term;
        }
        return n;
    }
    const double m = mean < 0x1p40 ? mean : 0x1p40;
    const double b = 0.931 + 2.53 * k_sqrt(m), a = -0.059 + 0.02483 * b;
    const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), v_r = 0.9277 - 3.6224 / (b - 2.0);
    const double log_mean = k_log(m);
    for (uint32_t i = 0; i < K_POISSON_TRIES; i++) {
        const k_words w = k_random(source, index, first + i);
        const double u = k_uniform(w.w[0], w.w[1]) - 0.5, v = k_uniform(w.w[2], w.w[3]);
        const double us = 0.5 - k_abs(u);
        const double n = k_floor((2.0 * a / us + b) * u + m + 0.43);
        if (us >= 0.07 && v <= v_r) return n;
        if (n < 0.0 || (us < 0.013 && v > us)) continue;
        if (k_log(v * inverse_alpha / (a / (us * us) + b)) <= n * log_mean - m - k_log_factorial(n))
            return n;
    }
    return k_floor(m + 0.5);
}

#endif
