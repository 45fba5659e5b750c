/* Floats as integers and back, and what follows from it: signs, NaN, powers of two. */
#ifndef MOTET_KERN_BITS_H
#define MOTET_KERN_BITS_H

#include "kern/k.h"

#ifdef __CUDA_ARCH__
K_FN uint32_t k_f32_bits(float a) { return __float_as_uint(a); }
K_FN float k_bits_f32(uint32_t u) { return __uint_as_float(u); }
K_FN uint64_t k_f64_bits(double a) { return (uint64_t)__double_as_longlong(a); }
K_FN double k_bits_f64(uint64_t u) { return __longlong_as_double((long long)u); }
#else
K_FN uint32_t k_f32_bits(float a)
{
    uint32_t u;
    __builtin_memcpy(&u, &a, sizeof u);
    return u;
}
K_FN float k_bits_f32(uint32_t u)
{
    float a;
    __builtin_memcpy(&a, &u, sizeof a);
    return a;
}
K_FN uint64_t k_f64_bits(double a)
{
    uint64_t u;
    __builtin_memcpy(&u, &a, sizeof u);
    return u;
}
K_FN double k_bits_f64(uint64_t u)
{
    double a;
    __builtin_memcpy(&a, &u, sizeof a);
    return a;
}
#endif

K_FN float k_nanf(void) { return k_bits_f32(0x7fc00000u); }
K_FN float k_infinityf(void) { return k_bits_f32(0x7f800000u); }
K_FN double k_nan(void) { return k_bits_f64(0x7ff8000000000000u); }
K_FN double k_infinity(void) { return k_bits_f64(0x7ff0000000000000u); }

/* What a kernel stores: processors differ in the payload and sign of the NaNs they make, so any NaN
 * becomes one. */
K_FN float k_out(float a) { return a == a ? a : k_nanf(); }
K_FN double k_out_f64(double a) { return a == a ? a : k_nan(); }

K_FN float k_absf(float a) { return k_bits_f32(k_f32_bits(a) & 0x7fffffffu); }
K_FN double k_abs(double a) { return k_bits_f64(k_f64_bits(a) & 0x7fffffffffffffffu); }
K_FN float k_copysignf(float size, float sign)
{
    return k_bits_f32((k_f32_bits(size) & 0x7fffffffu) | (k_f32_bits(sign) & 0x80000000u));
}
K_FN double k_copysign(double size, double sign)
{
    return k_bits_f64((k_f64_bits(size) & 0x7fffffffffffffffu) |
                      (k_f64_bits(sign) & 0x8000000000000000u));
}
/* By the sign bit, so that -0 and NaNs have one. */
K_FN int k_negativef(float a) { return k_f32_bits(a) >> 31 != 0; }
K_FN int k_negative(double a) { return k_f64_bits(a) >> 63 != 0; }
K_FN int k_is_finitef(float a) { return k_absf(a) < k_infinityf(); }
K_FN int k_is_finite(double a) { return k_abs(a) < k_infinity(); }

/* 2^n, exactly: -126 <= n <= 127, and -1022 <= n <= 1023. */
K_FN float k_power2f(int32_t n) { return k_bits_f32((uint32_t)(n + 127) << 23); }
K_FN double k_power2(int64_t n) { return k_bits_f64((uint64_t)(n + 1023) << 52); }

/* a * 2^n. Exact when the result is a normal number; else rounded once or twice. -252 <= n <= 254,
 * and -2044 <= n <= 2046. */
K_FN float k_ldexpf(float a, int32_t n)
{
    const int32_t half = n >> 1;
    return a * k_power2f(half) * k_power2f(n - half);
}
K_FN double k_ldexp(double a, int64_t n)
{
    const int64_t half = n >> 1;
    return a * k_power2(half) * k_power2(n - half);
}

/* Exponent e with 2^e <= |a| < 2^(e+1) of a normal number; -127 (-1023) for zeros and denormals,
 * 128 (1024) for infinities and NaNs. */
K_FN int32_t k_exponentf(float a) { return (int32_t)(k_f32_bits(a) >> 23 & 255u) - 127; }
K_FN int32_t k_exponent(double a) { return (int32_t)(k_f64_bits(a) >> 52 & 2047u) - 1023; }

/* High half of the product. */
K_FN uint32_t k_mulhi(uint32_t a, uint32_t b) { return (uint32_t)((uint64_t)a * b >> 32); }
K_FN uint64_t k_mulhi_u64(uint64_t a, uint64_t b)
{
    const uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    const uint64_t low = a0 * b0, middle = a1 * b0 + (low >> 32),
                   other = a0 * b1 + (uint32_t)middle;
    return a1 * b1 + (middle >> 32) + (other >> 32);
}

#endif
