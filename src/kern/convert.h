/* Rounding and conversions between types, defined for every bit pattern: casts of values that do
 * not fit gave four different answers on four targets. */
#ifndef MOTET_KERN_CONVERT_H
#define MOTET_KERN_CONVERT_H

#include "kern/bits.h"

/* Nearest integer, ties to even; zeros keep and results take the sign of `a`; infinities and NaN
 * stay. Exact, so the processor's own instruction may serve. */
#if defined(__CUDA_ARCH__)
K_FN float k_rintf(float a) { return rintf(a); }
K_FN double k_rint(double a) { return rint(a); }
K_FN float k_floorf(float a) { return floorf(a); }
K_FN double k_floor(double a) { return floor(a); }
#elif defined(__SSE4_1__) || defined(__aarch64__)
K_FN float k_rintf(float a) { return __builtin_rintf(a); }
K_FN double k_rint(double a) { return __builtin_rint(a); }
K_FN float k_floorf(float a) { return __builtin_floorf(a); }
K_FN double k_floor(double a) { return __builtin_floor(a); }
#else
/* Adding 2^23 of the same sign rounds the fraction away. */
K_FN float k_rintf(float a)
{
    const float big = k_copysignf(0x1p23f, a);
    const float r = k_copysignf((a + big) - big, a);
    return k_absf(a) < 0x1p23f ? r : a;
}
K_FN double k_rint(double a)
{
    const double big = k_copysign(0x1p52, a);
    const double r = k_copysign((a + big) - big, a);
    return k_abs(a) < 0x1p52 ? r : a;
}
/* Largest integer not above; -0 stays. */
K_FN float k_floorf(float a)
{
    const float r = k_rintf(a);
    return r > a ? r - 1.0f : r;
}
K_FN double k_floor(double a)
{
    const double r = k_rint(a);
    return r > a ? r - 1.0 : r;
}
#endif

/* Towards zero; NaN gives 0, values outside the type its nearest end. */
K_FN int32_t k_to_i32(float a)
{
    const float low = a > -0x1p31f ? a : -0x1p31f; /* a NaN becomes the low end here, */
    const float in = low < 0x1.fffffep30f ? low : 0x1.fffffep30f;
    const int32_t n = (int32_t)in;
    return a >= 0x1p31f ? INT32_MAX : a == a ? n : 0; /* and 0 here */
}
K_FN int32_t k_to_i32_f64(double a)
{
    const double low = a > -0x1p31 ? a : -0x1p31;
    const double in = low < 0x1.fffffffcp30 ? low : 0x1.fffffffcp30;
    const int32_t n = (int32_t)in;
    return a == a ? n : 0;
}
K_FN int64_t k_to_i64(double a)
{
    const double low = a > -0x1p63 ? a : -0x1p63;
    const double in = low < 0x1.fffffffffffffp62 ? low : 0x1.fffffffffffffp62;
    const int64_t n = (int64_t)in;
    return a >= 0x1p63 ? INT64_MAX : a == a ? n : 0;
}
K_FN int64_t k_to_i64_f32(float a) { return k_to_i64((double)a); }
/* Towards zero; NaN and negative values give 0, too large ones the largest. */
K_FN uint32_t k_to_u32(float a)
{
    const float low = a > 0.0f ? a : 0.0f;
    const float in = low < 0x1.fffffep31f ? low : 0x1.fffffep31f;
    const uint32_t n = (uint32_t)(int64_t)in;
    return a >= 0x1p32f ? UINT32_MAX : n;
}
/* Nearest, ties to even, NaN 0, clamped: what stores of integer pixels use. */
K_FN uint8_t k_to_u8(float a)
{
    const float r = k_rintf(a);
    const float low = r > 0.0f ? r : 0.0f;
    return (uint8_t)(int32_t)(low < 255.0f ? low : 255.0f);
}
K_FN uint16_t k_to_u16(float a)
{
    const float r = k_rintf(a);
    const float low = r > 0.0f ? r : 0.0f;
    return (uint16_t)(int32_t)(low < 65535.0f ? low : 65535.0f);
}

/* IEEE binary16, as its bits. Exact; NaNs keep their payload. */
K_FN float k_from_f16(uint16_t h)
{
    const uint32_t u = (uint32_t)(h & 0x7fffu) << 13;
    const uint32_t finite = k_f32_bits(k_bits_f32(u) * 0x1p112f);
    const uint32_t size = u < 0x0f800000u ? finite : u | 0x7f800000u;
    return k_bits_f32(size | (uint32_t)(h & 0x8000u) << 16);
}
/* Nearest, ties to even; from 65520 on infinity; any NaN becomes 7e00. */
K_FN uint16_t k_to_f16(float a)
{
    const uint32_t u = k_f32_bits(a) & 0x7fffffffu, sign = k_f32_bits(a) >> 16 & 0x8000u;
    /* Below 2^-14 the unit of binary16 is 2^-24, which is the unit of floats in [0.5, 1). */
    const uint32_t small = k_f32_bits(k_bits_f32(u) + 0.5f) - 0x3f000000u;
    const uint32_t normal = (u + 0xfffu + (u >> 13 & 1u) - 0x38000000u) >> 13;
    const uint32_t finite = u < 0x38800000u ? small : u < 0x477ff000u ? normal : 0x7c00u;
    return (uint16_t)(u > 0x7f800000u ? 0x7e00u : finite | sign);
}

#endif
