/* float32 functions.
 *
 * Method: reduce the argument to a small interval, keeping what rounding drops in a second float
 * (Cody and Waite 1980; Dekker 1971 for sums and products in two parts), then a polynomial fitted
 * to the interval (weighted least squares on Chebyshev nodes), then put together so that only the
 * last addition rounds much. No float64: many GPUs have little of it. */
#ifndef MOTET_KERN_EXACT_F32_H
#define MOTET_KERN_EXACT_F32_H

#include "kern/convert.h"

/* Adding this rounds to an integer, which then stands in the low bits: for |a| < 2^22. */
#define K_SHIFTERF 0x1.8p23f

/* ---- Sine and cosine ---- */

typedef struct k_reducedf {
    float high, low;  /* x - quarter * pi/2, |high| < 0.79 */
    uint32_t quarter; /* modulo 4 */
} k_reducedf;

/* |x| <= 2^17. high1 is exact; pi/2 is kept in three floats. */
K_FN k_reducedf k_reducef(float x)
{
    const float shifted = k_fmaf(x, 0x1.45f306p-1f, K_SHIFTERF);
    const float q = shifted - K_SHIFTERF;
    const float high1 = k_fmaf(-q, 0x1.921fb6p+0f, x);
    const float p = q * -0x1.777a5cp-25f, p_low = k_fmaf(q, -0x1.777a5cp-25f, -p);
    const float high = high1 - p, back = high - high1;
    const float lost = (high1 - (high - back)) - (p + back);
    k_reducedf r;
    r.high = high;
    r.low = k_fmaf(q, 0x1.ee59dap-50f, lost - p_low);
    r.quarter = k_f32_bits(shifted);
    return r;
}

K_FN float k_sin_partf(float h, float low)
{
    const float z = h * h;
    float p = k_fmaf(z, 0x1.75d4eap-19f, -0x1.a04128p-13f);
    p = k_fmaf(z, p, 0x1.11115ep-7f);
    p = k_fmaf(z, p, -0x1.555556p-3f);
    return h + k_fmaf(h * z, p, k_fmaf(-0.5f * z, low, low));
}

K_FN float k_cos_partf(float h, float low)
{
    const float z = h * h, z_low = k_fmaf(h, h, -z), w = -0.5f * z;
    float p = k_fmaf(z, 0x1.998d66p-16f, -0x1.6c0aecp-10f);
    p = k_fmaf(z, p, 0x1.555548p-5f);
    const float u = 1.0f + w, lost = (1.0f - u) + w;
    return u + k_fmaf(z * z, p, k_fmaf(-0.5f, z_low, lost) - h * low);
}

/* Turns (sin, cos) of the reduced angle by quarter turns. */
K_FN float k_turn_sinf(float s, float c, uint32_t quarter)
{
    return k_bits_f32(k_f32_bits(quarter & 1u ? c : s) ^ (quarter & 2u) << 30);
}
K_FN float k_turn_cosf(float s, float c, uint32_t quarter)
{
    return k_bits_f32(k_f32_bits(quarter & 1u ? s : c) ^ ((quarter + 1u) & 2u) << 30);
}

/* |x| <= 2^17 radians: 1 ulp. NaN beyond, for infinities and NaN. For larger phases count in turns:
 * k_sincospif, k_sincospi. */
K_FN float k_sinf(float x)
{
    const k_reducedf r = k_reducef(x);
    const float y = k_turn_sinf(k_sin_partf(r.high, r.low), k_cos_partf(r.high, r.low), r.quarter);
    const float size = k_absf(x);
    return size < 0x1p-12f ? x : size <= 0x1p17f ? y : k_nanf();
}
K_FN float k_cosf(float x)
{
    const k_reducedf r = k_reducef(x);
    const float y = k_turn_cosf(k_sin_partf(r.high, r.low), k_cos_partf(r.high, r.low), r.quarter);
    return k_absf(x) <= 0x1p17f ? y : k_nanf();
}
K_FN void k_sincosf(float x, float *sine, float *cosine)
{
    const k_reducedf r = k_reducef(x);
    const float s = k_sin_partf(r.high, r.low), c = k_cos_partf(r.high, r.low);
    const float size = k_absf(x), y = k_turn_sinf(s, c, r.quarter);
    *sine = size < 0x1p-12f ? x : size <= 0x1p17f ? y : k_nanf();
    *cosine = size <= 0x1p17f ? k_turn_cosf(s, c, r.quarter) : k_nanf();
}

/* |x| <= 2^17: 1 ulp; NaN beyond. */
K_FN float k_tanf(float x)
{
    const k_reducedf r = k_reducef(x);
    const float h = r.high, z = h * h;
    float p = k_fmaf(z, 0x1.206e5ap-9f, -0x1.f8e2e6p-11f);
    p = k_fmaf(z, p, 0x1.5d68fcp-8f);
    p = k_fmaf(z, p, 0x1.0bc520p-7f);
    p = k_fmaf(z, p, 0x1.68dc34p-6f);
    p = k_fmaf(z, p, 0x1.b9f3f2p-5f);
    p = k_fmaf(z, p, 0x1.1111a2p-3f);
    const float cube = h * z, cube_low = k_fmaf(h, z, -cube) + h * k_fmaf(h, h, -z);
    const float about = h + cube * k_fmaf(z, p, 0x1.555554p-2f);
    const float slope = k_fmaf(about, about, 1.0f);
    const float small = k_fmaf(r.low, slope, cube_low * 0x1.555554p-2f);
    const float rest = k_fmaf(cube, 0x1.555554p-2f, k_fmaf(cube * z, p, small));
    const float t = h + rest, t_low = (h - t) + rest;
    const float inverse = -1.0f / t;
    const float left = k_fmaf(inverse, t_low, k_fmaf(inverse, t, 1.0f));
    const float y = r.quarter & 1u ? k_fmaf(inverse, left, inverse) : t;
    const float size = k_absf(x);
    return size < 0x1p-12f ? x : size <= 0x1p17f ? y : k_nanf();
}

typedef struct k_turnf {
    float sine, cosine;
    uint32_t quarter;
} k_turnf;

K_FN k_turnf k_pi_partsf(float x)
{
    const float y = k_absf(x) <= 1.0f ? x : k_fmaf(-2.0f, k_rintf(0.5f * x), x);
    const float shifted = k_fmaf(2.0f, y, K_SHIFTERF);
    const float r = k_fmaf(-0.5f, shifted - K_SHIFTERF, y), z = r * r;
    const float a = r * 0x1.921fb6p+1f, a_low = k_fmaf(r, 0x1.921fb6p+1f, -a);
    float p = k_fmaf(z, 0x1.46c1c8p-4f, -0x1.32b5a2p-1f);
    p = k_fmaf(z, p, 0x1.466b84p+1f);
    p = k_fmaf(z, p, -0x1.4abbcep+2f);
    k_turnf t;
    t.sine = a + k_fmaf(r * z, p, k_fmaf(r, -0x1.777a5cp-24f, a_low));

    const float z_low = k_fmaf(r, r, -z);
    const float w = z * -0x1.3bd3ccp+2f, w_low = k_fmaf(z, -0x1.3bd3ccp+2f, -w);
    p = k_fmaf(z, 0x1.dad068p-3f, -0x1.55c9ecp+0f);
    p = k_fmaf(z, p, 0x1.03c1e8p+2f);
    const float u = 1.0f + w, lost = (1.0f - u) + w;
    const float small = k_fmaf(z_low, -0x1.3bd3ccp+2f, k_fmaf(z, -0x1.37c8bcp-23f, w_low));
    t.cosine = u + k_fmaf(z * z, p, lost + small);
    t.quarter = k_f32_bits(shifted);
    return t;
}

/* sin and cos of pi x: every finite x, 1 ulp; NaN for infinities and NaN. Integers and halves give
 * exact values. */
K_FN float k_sinpif(float x)
{
    const k_turnf t = k_pi_partsf(x);
    return x == 0.0f ? x : k_turn_sinf(t.sine, t.cosine, t.quarter);
}
K_FN float k_cospif(float x)
{
    const k_turnf t = k_pi_partsf(x);
    return k_turn_cosf(t.sine, t.cosine, t.quarter);
}
K_FN void k_sincospif(float x, float *sine, float *cosine)
{
    const k_turnf t = k_pi_partsf(x);
    *sine = x == 0.0f ? x : k_turn_sinf(t.sine, t.cosine, t.quarter);
    *cosine = k_turn_cosf(t.sine, t.cosine, t.quarter);
}

/* ---- Exponential and logarithm ---- */

/* Every x: 1 ulp; 0 below -104, infinity above 88.73. */
K_FN float k_expf(float x)
{
    const float low = x < -105.0f ? -105.0f : x, in = low > 90.0f ? 90.0f : low;
    const float shifted = k_fmaf(in, 0x1.715476p+0f, K_SHIFTERF), q = shifted - K_SHIFTERF;
    const float r = k_fmaf(q, 0x1.05c610p-29f, k_fmaf(-q, 0x1.62e430p-1f, in));
    float p = k_fmaf(r, 0x1.a25f7cp-13f, 0x1.6d6984p-10f);
    p = k_fmaf(r, p, 0x1.110ff6p-7f);
    p = k_fmaf(r, p, 0x1.5554d2p-5f);
    p = k_fmaf(r, p, 0x1.555556p-3f);
    p = k_fmaf(r, p, 0.5f);
    const float u = 1.0f + r, lost = (1.0f - u) + r;
    const float y = u + k_fmaf(r * r, p, lost);
    /* A NaN's bits would make a wild exponent. */
    const int32_t n = (int32_t)(k_f32_bits(shifted) - k_f32_bits(K_SHIFTERF));
    return in == in ? k_ldexpf(y, n) : x;
}

/* Every x: 1 ulp; exact for integers. */
K_FN float k_exp2f(float x)
{
    const float low = x < -151.0f ? -151.0f : x, in = low > 129.0f ? 129.0f : low;
    const float shifted = in + K_SHIFTERF, r = in - (shifted - K_SHIFTERF);
    float p = k_fmaf(r, 0x1.e5ba06p-17f, 0x1.44227cp-13f);
    p = k_fmaf(r, p, 0x1.5da0f4p-10f);
    p = k_fmaf(r, p, 0x1.3b2a4ap-7f);
    p = k_fmaf(r, p, 0x1.c6b072p-5f);
    p = k_fmaf(r, p, 0x1.ebfbe0p-3f);
    p = k_fmaf(r, p, 0x1.62e430p-1f);
    const float y = k_fmaf(r, p, 1.0f);
    const int32_t n = (int32_t)(k_f32_bits(shifted) - k_f32_bits(K_SHIFTERF));
    return in == in ? k_ldexpf(y, n) : x;
}

typedef struct k_log_partsf {
    float exponent; /* x = 2^exponent (1 + f), sqrt(1/2) <= 1 + f < sqrt(2) */
    float f, rest;  /* log(1 + f) = f + rest */
} k_log_partsf;

K_FN k_log_partsf k_log_splitf(float x)
{
    const int tiny = x < 0x1p-126f;
    const uint32_t u = k_f32_bits(tiny ? x * 0x1p23f : x);
    const int32_t e = (int32_t)(u - 0x3f3504f3u) >> 23;
    const float f = k_bits_f32(u - ((uint32_t)e << 23)) - 1.0f, z = f * f;
    float p = k_fmaf(f, 0x1.11848ep-4f, -0x1.ddcb1ap-4f);
    p = k_fmaf(f, p, 0x1.e801fcp-4f);
    p = k_fmaf(f, p, -0x1.fc4ce6p-4f);
    p = k_fmaf(f, p, 0x1.2327b6p-3f);
    p = k_fmaf(f, p, -0x1.555a6ep-3f);
    p = k_fmaf(f, p, 0x1.99a56cp-3f);
    p = k_fmaf(f, p, -0x1.00000cp-2f);
    p = k_fmaf(f, p, 0x1.555546p-2f);
    k_log_partsf r;
    r.exponent = (float)(e - (tiny ? 23 : 0));
    r.f = f;
    r.rest = k_fmaf(f * z, p, -0.5f * z);
    return r;
}

/* y where x is positive and finite; the limits elsewhere. */
K_FN float k_log_limitsf(float x, float y)
{
    return x > 0.0f ? (x < k_infinityf() ? y : x) : (x == 0.0f ? -k_infinityf() : k_nanf());
}

/* Every x: 1 ulp; log(0) = -infinity, NaN below. */
K_FN float k_logf(float x)
{
    const k_log_partsf s = k_log_splitf(x);
    const float whole = s.exponent * 0x1.62e8p-1f; /* exact: 14 bits times 8 */
    const float u = whole + s.f, lost = (whole - u) + s.f;
    return k_log_limitsf(x, u + (lost + k_fmaf(s.exponent, -0x1.e8082ep-16f, s.rest)));
}

/* Every x: 1.04 ulp (of all 2^32; just above 1 near 1.41); exact for powers of two. */
K_FN float k_log2f(float x)
{
    const k_log_partsf s = k_log_splitf(x);
    const float w = s.f * 0x1.715476p+0f, w_low = k_fmaf(s.f, 0x1.715476p+0f, -w);
    const float u = s.exponent + w, lost = (s.exponent - u) + w;
    const float rest = k_fmaf(s.rest, 0x1.715476p+0f, k_fmaf(s.f, 0x1.4ae0c0p-26f, w_low));
    return k_log_limitsf(x, u + (lost + rest));
}

/* ---- Arcs ---- */

K_FN float k_atan_polynomialf(float z)
{
    float p = k_fmaf(z, -0x1.f05af6p-5f, 0x1.b193ecp-4f);
    p = k_fmaf(z, p, -0x1.23ae52p-3f);
    p = k_fmaf(z, p, 0x1.999128p-3f);
    return k_fmaf(z, p, -0x1.555548p-2f);
}

/* Angle of (x, y), in [-pi, pi]: 1 ulp. Zeros, signs and infinities as in C's atan2. One division:
 * the smaller over the larger side, or (n - d) / (n + d) past pi/8; a second float keeps what the
 * quotient lacks. */
K_FN float k_atan2f(float y, float x)
{
    const float ax = k_absf(x), ay = k_absf(y);
    const int steep = ay > ax, left = k_negativef(x);
    const float d0 = steep ? ay : ax, n0 = steep ? ax : ay;
    const float scale = d0 > 0x1p60f ? 0x1p-30f : 0x1p60f; /* residues must not vanish */
    const int endless = d0 == k_infinityf();
    const int odd = endless | (d0 == 0.0f);
    const float d = odd ? 1.0f : d0 * scale;
    const float corner = n0 == d0 ? 1.0f : 0.0f, n = endless ? corner : n0 * scale;

    const int past = n > 0x1.a8279ap-2f * d;
    const float a = past ? n - d : n, sum = n + d, b = past ? sum : d;
    const float a_low = past ? n - (a + d) : 0.0f, b_low = past ? n - (b - d) : 0.0f;
    const float inverse = 1.0f / b, t = a * inverse;
    const float t_low = (k_fmaf(-t, b, a) + (a_low - t * b_low)) * inverse;
    const float z = t * t;
    const float bend = k_fmaf(t * z, k_atan_polynomialf(z), k_fmaf(-z, t_low, t_low));

    const float flat = left ? 0x1.921fb6p+1f : 0.0f, axis = steep ? 0x1.921fb6p+0f : flat;
    const float slant = left ? 0x1.2d97c8p+1f : 0x1.921fb6p-1f, from = past ? slant : axis;
    const float flat_low = left ? -0x1.777a5cp-24f : 0.0f;
    const float axis_low = steep ? -0x1.777a5cp-25f : flat_low;
    const float slant_low = left ? -0x1.99bc5cp-28f : -0x1.777a5cp-26f;
    const float from_low = past ? slant_low : axis_low;
    const float sign = steep != left ? -1.0f : 1.0f;
    const float u = k_fmaf(sign, t, from), lost = k_fmaf(sign, t, from - u);
    const float angle = u + (lost + k_fmaf(sign, bend, from_low));
    const int numbers = (ax == ax) & (ay == ay);
    return numbers ? k_copysignf(angle, y) : k_nanf();
}
K_FN float k_atanf(float x) { return k_atan2f(x, 1.0f); }

typedef struct k_arcf {
    float s, rest; /* asin of the reduced argument is s + rest, halved past 1/2 */
    int past;
} k_arcf;

K_FN k_arcf k_arc_partsf(float size)
{
    k_arcf r;
    r.past = size > 0.5f;
    const float z = r.past ? k_fmaf(-0.5f, size, 0.5f) : size * size;
    const float root = k_sqrtf(z);
    r.s = r.past ? root : size;
    const float root_low = k_fmaf(-root, root, z) * (0.5f / (root == 0.0f ? 1.0f : root));
    float p = k_fmaf(z, 0x1.59652cp-5f, 0x1.8c2538p-6f);
    p = k_fmaf(z, p, 0x1.74808cp-5f);
    p = k_fmaf(z, p, 0x1.3301acp-4f);
    p = k_fmaf(z, p, 0x1.5555cap-3f);
    r.rest = k_fmaf(r.s * z, p, r.past ? root_low : 0.0f);
    return r;
}

/* |x| <= 1: 1 ulp; NaN beyond. */
K_FN float k_asinf(float x)
{
    const k_arcf r = k_arc_partsf(k_absf(x));
    const float from = r.past ? 0x1.921fb6p+0f : 0.0f, times = r.past ? -2.0f : 1.0f;
    const float u = k_fmaf(times, r.s, from), lost = k_fmaf(times, r.s, from - u);
    const float y = u + (lost + k_fmaf(times, r.rest, r.past ? -0x1.777a5cp-25f : 0.0f));
    return k_copysignf(y, x);
}
K_FN float k_acosf(float x)
{
    const k_arcf r = k_arc_partsf(k_absf(x));
    const int left = k_negativef(x);
    const float from = r.past ? (left ? 0x1.921fb6p+1f : 0.0f) : 0x1.921fb6p+0f;
    const float from_low = r.past ? (left ? -0x1.777a5cp-24f : 0.0f) : -0x1.777a5cp-25f;
    const float times = r.past ? (left ? -2.0f : 2.0f) : (left ? 1.0f : -1.0f);
    const float u = k_fmaf(times, r.s, from), lost = k_fmaf(times, r.s, from - u);
    return u + (lost + k_fmaf(times, r.rest, from_low));
}

/* ---- Roots and reciprocals ---- */

/* 1 / sqrt(x). Every x: 1.5 ulp; +-infinity at +-0, NaN below. */
K_FN float k_rsqrtf(float x) { return 1.0f / k_sqrtf(x); }

/* Every x: 1 ulp. Newton on x^(-1/3) from a guess made by dividing the exponent, then one corrected
 * step. */
K_FN float k_cbrtf(float x)
{
    const float size = k_absf(x);
    const int small = size < 0x1p-60f;
    const float a = small ? size * 0x1p90f : size;
    const uint32_t guess = 0x54a2fa8cu - k_f32_bits(a) / 3u;
    float r = k_bits_f32(guess);
    for (int i = 0; i < 3; i++) {
        const float left = k_fmaf(-(a * r), r * r, 1.0f);
        r = k_fmaf(r * left, 0x1.555556p-2f, r);
    }
    const float y = a * r * r, y2 = y * y, y2_low = k_fmaf(y, y, -y2);
    const float over = k_fmaf(y, y2_low, k_fmaf(y, y2, -a));
    const float root = k_fmaf(-over * 0x1.555556p-2f, r * r, y);
    const float scaled = small ? root * 0x1p-30f : root;
    const float most = k_infinityf();
    const int ordinary = (size > 0.0f) & (size < most);
    return ordinary ? k_copysignf(scaled, x) : x;
}

/* sqrt(x^2 + y^2). Every x, y: 1.02 ulp (seen, not proven), no overflow on the way; infinity if
 * either is infinite. */
K_FN float k_hypotf(float x, float y)
{
    const float ax = k_absf(x), ay = k_absf(y);
    const float a0 = ax > ay ? ax : ay, b0 = ax > ay ? ay : ax;
    const int large = a0 > 0x1p60f, small = a0 < 0x1p-40f;
    const float scale = large ? 0x1p-70f : small ? 0x1p100f : 1.0f;
    const float back = large ? 0x1p70f : small ? 0x1p-100f : 1.0f;
    const float a = a0 * scale, b = b0 * scale;
    const float length = k_sqrtf(k_fmaf(a, a, b * b)) * back;
    const float most = k_infinityf();
    const int endless = (ax == most) | (ay == most), numbers = (ax == ax) & (ay == ay);
    return endless ? most : numbers ? length : k_nanf();
}

/* 1 / x and 1 / sqrt(x) to about 1e-7, without division or square root: a guess by integers and
 * three Newton steps. 2^-120 <= |x| <= 2^120, x > 0 for the root: relative error below 2^-22.
 * Elsewhere some value, the same everywhere. */
K_FN float k_rcp_approx(float x)
{
    float r = k_bits_f32(0x7ef311c7u - k_f32_bits(x));
    r = k_fmaf(r, k_fmaf(-x, r, 1.0f), r);
    r = k_fmaf(r, k_fmaf(-x, r, 1.0f), r);
    return k_fmaf(r, k_fmaf(-x, r, 1.0f), r);
}
K_FN float k_rsqrt_approx(float x)
{
    const float half = 0.5f * x;
    float r = k_bits_f32(0x5f375a86u - (k_f32_bits(x) >> 1));
    r = k_fmaf(r, k_fmaf(-half * r, r, 0.5f), r);
    r = k_fmaf(r, k_fmaf(-half * r, r, 0.5f), r);
    return k_fmaf(r, k_fmaf(-half * r, r, 0.5f), r);
}

#endif
