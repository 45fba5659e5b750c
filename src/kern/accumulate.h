/* Sums that come out the same in any order of work.
 *
 * Fixed order, for dot products and norms: blocks of 4096 elements that never cross a row; 256
 * lanes in float64, folded by halves; block sums added in ascending order of their global number.
 *
 * Any order, for scatter: each addend by itself becomes an integer spread over limbs of 32 payload
 * bits in int64, and integers add exactly (Kulisch 1971; limbs with spare bits, so that carries can
 * wait, as in Collange and others 2015). */
#ifndef MOTET_KERN_ACCUMULATE_H
#define MOTET_KERN_ACCUMULATE_H

#include "kern/exact.h"

/* ---- Fixed order ---- */

enum { K_BLOCK = 4096, K_BLOCK_LANES = 256 };

/* Blocks of a row of n elements. */
K_FN int64_t k_row_blocks(int64_t n) { return n / K_BLOCK + (n % K_BLOCK != 0); }

K_FN double k_fold_lanes(double *lane)
{
    for (int half = K_BLOCK_LANES / 2; half > 0; half /= 2)
        for (int j = 0; j < half; j++) lane[j] += lane[j + half];
    return lane[0];
}

/* Sum of a[i] * b[i] over one block, n <= K_BLOCK. Products of floats are exact in float64. */
K_FN double k_dot_block(const float *a, const float *b, int64_t n)
{
    double lane[K_BLOCK_LANES];
    for (int j = 0; j < K_BLOCK_LANES; j++) lane[j] = 0.0;
    int64_t i = 0;
    for (; i + K_BLOCK_LANES <= n; i += K_BLOCK_LANES)
        for (int j = 0; j < K_BLOCK_LANES; j++) lane[j] += (double)a[i + j] * (double)b[i + j];
    for (int j = 0; i + j < n; j++) lane[j] += (double)a[i + j] * (double)b[i + j];
    return k_fold_lanes(lane);
}
K_FN double k_sum_block(const float *a, int64_t n)
{
    double lane[K_BLOCK_LANES];
    for (int j = 0; j < K_BLOCK_LANES; j++) lane[j] = 0.0;
    for (int64_t i = 0; i < n; i++) lane[i % K_BLOCK_LANES] += (double)a[i];
    return k_fold_lanes(lane);
}
/* Block sums in ascending order; `before` is the sum of those that came earlier. */
K_FN double k_add_blocks(double before, const double *sums, int64_t count)
{
    for (int64_t i = 0; i < count; i++) before += sums[i];
    return before;
}

/* ---- Limbs ----
 *
 * Value: the sum over i of limb[i] * 2^(32 i + unit). A limb takes 2^30 addends before it must be
 * normalised; then all but the highest are in [0, 2^32) and the highest has the sign. Limbs begin
 * as zeros. Sums of limbs (merging the parts of several workers) are sums of their entries, after
 * both were normalised. */

enum {
    K_LIMBS_FLOAT = 10, /* any float32, unit 2^-149 */
    K_UNIT_FLOAT = -149,
    K_LIMBS_BOUNDED =
        3, /* |x| < 2^bound: 24 bits kept down to 2^(bound - 72), unit 2^(bound - 96) */
    K_LIMBS_DOUBLE = 4, /* float64 below a known exponent: 128 bits, unit 2^(exponent - 127) */
    K_LIMB_ADDENDS = 1 << 30
};

/* Adds sign * m * 2^shift, m < 2^53, 0 <= shift < 32 (count - 2) or so that no bit passes the top.
 */
K_FN void k_limbs_spread(int64_t *limb, int count, uint64_t m, int32_t shift, int negative)
{
    const int32_t at = shift >> 5;
    const uint32_t bits = (uint32_t)shift & 31u;
    const uint64_t low = m << bits, high = bits ? m >> (64u - bits) : 0;
    const int64_t sign = negative ? -1 : 1;
    limb[at] += sign * (int64_t)(uint32_t)low;
    if (at + 1 < count) limb[at + 1] += sign * (int64_t)(low >> 32);
    if (at + 2 < count) limb[at + 2] += sign * (int64_t)high;
}

/* These answer 1 and add nothing when x is not finite or not below the bound, else 0. */
K_FN int k_limbs_add_float(int64_t limb[K_LIMBS_FLOAT], float x)
{
    const uint32_t u = k_f32_bits(x) & 0x7fffffffu, e = u >> 23;
    if (e == 255u) return 1;
    const uint64_t m = e ? (u & 0x7fffffu) | 0x800000u : u;
    k_limbs_spread(limb, K_LIMBS_FLOAT, m, e ? (int32_t)e - 1 : 0, k_negativef(x));
    return 0;
}
/* Bits below the unit are dropped from each addend by itself, towards zero. -126 <= bound <= 128.
 */
K_FN int k_limbs_add_bounded(int64_t limb[K_LIMBS_BOUNDED], float x, int32_t bound)
{
    const uint32_t u = k_f32_bits(x) & 0x7fffffffu, e = u >> 23;
    if (e == 255u || (int32_t)e - 126 > bound) return 1;
    const uint32_t m = e ? (u & 0x7fffffu) | 0x800000u : u;
    const int32_t shift = (e ? (int32_t)e - 150 : -149) - (bound - 96);
    if (shift <= -24) return 0;
    k_limbs_spread(limb, K_LIMBS_BOUNDED, shift < 0 ? m >> -shift : m, shift < 0 ? 0 : shift,
                   k_negativef(x));
    return 0;
}
/* `exponent` is the greatest k_exponent of all addends of the sum, found in a first pass. */
K_FN int k_limbs_add_double(int64_t limb[K_LIMBS_DOUBLE], double x, int32_t exponent)
{
    const uint64_t u = k_f64_bits(x) & 0x7fffffffffffffffu, e = u >> 52;
    if (e == 2047u || (int32_t)e - 1023 > exponent) return 1;
    const uint64_t m = e ? (u & 0xfffffffffffffu) | 0x10000000000000u : u;
    const int32_t shift = (e ? (int32_t)e - 1075 : -1074) - (exponent - 127);
    if (shift <= -53) return 0;
    k_limbs_spread(limb, K_LIMBS_DOUBLE, shift < 0 ? m >> -shift : m, shift < 0 ? 0 : shift,
                   k_negative(x));
    return 0;
}

/* Moves carries up. 1: the sum has left the range (the top limb reached 2^62), an error. */
K_FN int k_limbs_normalise(int64_t *limb, int count)
{
    for (int i = 0; i + 1 < count; i++) {
        limb[i + 1] += limb[i] >> 32;
        limb[i] &= 0xffffffff;
    }
    const int64_t top = limb[count - 1];
    return top >= (int64_t)1 << 62 || top <= -((int64_t)1 << 62);
}
/* Both normalised before. 1: out of range. */
K_FN int k_limbs_merge(int64_t *to, const int64_t *from, int count)
{
    for (int i = 0; i < count; i++) to[i] += from[i];
    return k_limbs_normalise(to, count);
}

/* The value, rounded once to nearest, ties to even (twice where it is a denormal float64).
 * Normalises. */
K_FN double k_limbs_value(int64_t *limb, int count, int32_t unit)
{
    k_limbs_normalise(limb, count);
    const int negative = limb[count - 1] < 0;
    int64_t size[K_LIMBS_FLOAT];
    for (int i = 0; i < count; i++) size[i] = negative ? -limb[i] : limb[i];
    k_limbs_normalise(size, count);
    /* The top limb may hold 63 bits: split it, so that all hold 32. */
    uint32_t word[K_LIMBS_FLOAT + 1];
    for (int i = 0; i < count; i++) word[i] = (uint32_t)size[i];
    word[count] = (uint32_t)(size[count - 1] >> 32);
    int top = count;
    while (top > 0 && word[top] == 0) top--;
    /* 96 bits from the highest word down; what lies lower only breaks ties. */
    uint64_t m = (uint64_t)word[top] << 32 | (top > 0 ? word[top - 1] : 0);
    uint32_t next = top > 1 ? word[top - 2] : 0, sticky = 0;
    for (int i = 0; i < top - 2; i++) sticky |= word[i];
    if (m == 0) return 0.0;
    int32_t scale = 32 * (top - 1) + unit;
    while (m >> 63 == 0) {
        m = m << 1 | next >> 31;
        next <<= 1;
        scale--;
    }
    const uint64_t rest = m & 0x7ffu;
    uint64_t whole = m >> 11;
    const int above = rest > 0x400u || (rest == 0x400u && (next || sticky));
    if (above || (rest == 0x400u && !next && !sticky && (whole & 1u))) whole++;
    const double value = (double)(int64_t)whole;
    const int32_t n = scale + 11;
    const double y = n > 2046 ? k_infinity() : n < -1200 ? 0.0 : k_ldexp(value, n);
    return negative ? -y : y;
}

/* ---- Adding from many items at once ---- */

/* Integers add exactly, so neither order nor interleaving shows. */
K_FN void k_add_i64(int64_t *to, int64_t value)
{
#ifdef __CUDA_ARCH__
    atomicAdd((unsigned long long *)to, (unsigned long long)value);
#else
    __atomic_fetch_add(to, value, __ATOMIC_RELAXED);
#endif
}

/* ---- Film ---- */

/* A sample's greatest radiance: 2^24 such samples still fit. */
#define K_FILM_MOST 0x1p15f

/* A pixel's sum in units of 2^-24; order never matters. Values beyond K_FILM_MOST are clamped; NaN
 * and infinities add nothing; both answer 1, to be counted. */
K_FN int k_film_add(int64_t *sum, float x)
{
    if (!k_is_finitef(x)) return 1;
    const float low = x > -K_FILM_MOST ? x : -K_FILM_MOST;
    const float in = low < K_FILM_MOST ? low : K_FILM_MOST;
    *sum += k_to_i64(k_rint((double)in * 0x1p24));
    return in != x;
}
K_FN double k_film_mean(int64_t sum, int64_t samples)
{
    return samples > 0 ? (double)sum * 0x1p-24 / (double)samples : 0.0;
}

#endif
