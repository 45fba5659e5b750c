/* float64 functions: for phases, which need more than float32, and for tables made at set-up.
 * Methods as in exact_f32.h. */
#ifndef MOTET_KERN_EXACT_F64_H
#define MOTET_KERN_EXACT_F64_H

#include "kern/convert.h"

/* Adding this rounds to an integer, which then stands in the low bits: for |a| < 2^51. */
#define K_SHIFTER 0x1.8p52

/* ---- Sine and cosine ---- */

typedef struct k_reduced {
    double high, low; /* x - quarter * pi/2, |high| < 0.786 */
    uint64_t quarter; /* modulo 4 */
} k_reduced;

/* |x| <= 2^27. */
K_FN k_reduced k_reduce(double x)
{
    const double shifted = k_fma(x, 0x1.45f306dc9c883p-1, K_SHIFTER);
    const double q = shifted - K_SHIFTER;
    const double high1 = k_fma(-q, 0x1.921fb54442d18p+0, x);
    const double p = q * 0x1.1a62633145c07p-54, p_low = k_fma(q, 0x1.1a62633145c07p-54, -p);
    const double high = high1 - p, back = high - high1;
    const double lost = (high1 - (high - back)) - (p + back);
    k_reduced r;
    r.high = high;
    r.low = k_fma(q, 0x1.f1976b7ed8fbcp-110, lost - p_low);
    r.quarter = k_f64_bits(shifted);
    return r;
}

K_FN double k_sin_part(double h, double low)
{
    const double z = h * h;
    double p = k_fma(z, -0x1.a5196fc2c3e15p-41, 0x1.611419d5a1659p-33);
    p = k_fma(z, p, -0x1.ae643c63ca39ep-26);
    p = k_fma(z, p, 0x1.71de3a3f6f10bp-19);
    p = k_fma(z, p, -0x1.a01a01a0065f0p-13);
    p = k_fma(z, p, 0x1.1111111111089p-7);
    p = k_fma(z, p, -0x1.5555555555555p-3);
    return h + k_fma(h * z, p, k_fma(-0.5 * z, low, low));
}

K_FN double k_cos_part(double h, double low)
{
    const double z = h * h, z_low = k_fma(h, h, -z), w = -0.5 * z;
    double p = k_fma(z, -0x1.8fa8d72c9f014p-37, 0x1.1ee9e0212f397p-29);
    p = k_fma(z, p, -0x1.27e4f7f76a253p-22);
    p = k_fma(z, p, 0x1.a01a019c95ec1p-16);
    p = k_fma(z, p, -0x1.6c16c16c15042p-10);
    p = k_fma(z, p, 0x1.555555555554bp-5);
    const double u = 1.0 + w, lost = (1.0 - u) + w;
    return u + k_fma(z * z, p, k_fma(-0.5, z_low, lost) - h * low);
}

K_FN double k_turn_sin(double s, double c, uint64_t quarter)
{
    return k_bits_f64(k_f64_bits(quarter & 1u ? c : s) ^ (quarter & 2u) << 62);
}
K_FN double k_turn_cos(double s, double c, uint64_t quarter)
{
    return k_bits_f64(k_f64_bits(quarter & 1u ? s : c) ^ ((quarter + 1u) & 2u) << 62);
}

/* |x| <= 2^27 radians: 1 ulp. NaN beyond, for infinities and NaN. For larger phases count in turns:
 * k_sincospi. */
K_FN void k_sincos(double x, double *sine, double *cosine)
{
    const k_reduced r = k_reduce(x);
    const double s = k_sin_part(r.high, r.low), c = k_cos_part(r.high, r.low);
    const double size = k_abs(x), y = k_turn_sin(s, c, r.quarter);
    *sine = size < 0x1p-27 ? x : size <= 0x1p27 ? y : k_nan();
    *cosine = size <= 0x1p27 ? k_turn_cos(s, c, r.quarter) : k_nan();
}
K_FN double k_sin(double x)
{
    double s, c;
    k_sincos(x, &s, &c);
    return s;
}
K_FN double k_cos(double x)
{
    double s, c;
    k_sincos(x, &s, &c);
    return c;
}
/* |x| <= 2^27: 2 ulp; NaN beyond. */
K_FN double k_tan(double x)
{
    double s, c;
    k_sincos(x, &s, &c);
    return s / c;
}

/* sin and cos of pi x: every finite x, 1 ulp; NaN for infinities and NaN. Integers and halves give
 * exact values. */
K_FN void k_sincospi(double x, double *sine, double *cosine)
{
    const double y = k_abs(x) <= 1.0 ? x : k_fma(-2.0, k_rint(0.5 * x), x);
    const double shifted = k_fma(2.0, y, K_SHIFTER);
    const double r = k_fma(-0.5, shifted - K_SHIFTER, y), z = r * r;
    const double a = r * 0x1.921fb54442d18p+1, a_low = k_fma(r, 0x1.921fb54442d18p+1, -a);
    double p = k_fma(z, -0x1.7059396e3ebbcp-16, 0x1.e8fd60c2f9922p-12);
    p = k_fma(z, p, -0x1.e30760585027cp-8);
    p = k_fma(z, p, 0x1.507834950249ep-4);
    p = k_fma(z, p, -0x1.32d2cce6362f6p-1);
    p = k_fma(z, p, 0x1.466bc6775ab5dp+1);
    p = k_fma(z, p, -0x1.4abbce625be53p+2);
    const double s = a + k_fma(r * z, p, k_fma(r, 0x1.1a62633145c07p-53, a_low));

    const double z_low = k_fma(r, r, -z);
    const double w = z * -0x1.3bd3cc9be45dep+2, w_low = k_fma(z, -0x1.3bd3cc9be45dep+2, -w);
    p = k_fma(z, -0x1.b29d96beec7d7p-14, 0x1.f9cd11fb1cde5p-10);
    p = k_fma(z, p, -0x1.a6d1eda955f96p-6);
    p = k_fma(z, p, 0x1.e1f506851301ep-3);
    p = k_fma(z, p, -0x1.55d3c7e3ca637p+0);
    p = k_fma(z, p, 0x1.03c1f081b5abcp+2);
    const double u = 1.0 + w, lost = (1.0 - u) + w;
    const double small =
        k_fma(z_low, -0x1.3bd3cc9be45dep+2, k_fma(z, -0x1.692b71366cc04p-52, w_low));
    const double c = u + k_fma(z * z, p, lost + small);

    const uint64_t quarter = k_f64_bits(shifted);
    *sine = x == 0.0 ? x : k_turn_sin(s, c, quarter);
    *cosine = k_turn_cos(s, c, quarter);
}
K_FN double k_sinpi(double x)
{
    double s, c;
    k_sincospi(x, &s, &c);
    return s;
}
K_FN double k_cospi(double x)
{
    double s, c;
    k_sincospi(x, &s, &c);
    return c;
}

/* ---- Exponential and logarithm ---- */

/* Every x: 1 ulp; 0 below -746, infinity above 709.79. */
K_FN double k_exp(double x)
{
    const double low = x < -746.0 ? -746.0 : x, in = low > 710.0 ? 710.0 : low;
    const double shifted = k_fma(in, 0x1.71547652b82fep+0, K_SHIFTER), q = shifted - K_SHIFTER;
    const double r1 = k_fma(-q, 0x1.62e42fefa39efp-1, in);
    const double r = k_fma(-q, 0x1.abc9e3b39803fp-56, r1);
    double p = k_fma(r, 0x1.1f8d495ff100fp-29, 0x1.af717610c0d1dp-26);
    p = k_fma(r, p, 0x1.27e4cb5627212p-22);
    p = k_fma(r, p, 0x1.71ddecf8aa89dp-19);
    p = k_fma(r, p, 0x1.a01a01adbc542p-16);
    p = k_fma(r, p, 0x1.a01a01b4bcd05p-13);
    p = k_fma(r, p, 0x1.6c16c16c14f96p-10);
    p = k_fma(r, p, 0x1.111111110e93bp-7);
    p = k_fma(r, p, 0x1.5555555555558p-5);
    p = k_fma(r, p, 0x1.555555555555cp-3);
    p = k_fma(r, p, 0.5);
    const double u = 1.0 + r, lost = (1.0 - u) + r;
    const double y = u + k_fma(r * r, p, lost);
    const int64_t n = (int64_t)(k_f64_bits(shifted) - k_f64_bits(K_SHIFTER));
    return in == in ? k_ldexp(y, n) : x;
}

typedef struct k_log_split_f64 {
    double exponent; /* x = 2^exponent m, sqrt(1/2) <= m < sqrt(2) */
    double m;
} k_log_split_f64;

K_FN k_log_split_f64 k_log_split(double x)
{
    const int tiny = x < 0x1p-1022;
    const uint64_t u = k_f64_bits(tiny ? x * 0x1p52 : x);
    /* Biased so that the shift is of a positive number and the conversion of a 32-bit one. */
    const uint32_t biased = (uint32_t)((u + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu)) >> 52);
    const int32_t e = (int32_t)biased - 1023;
    k_log_split_f64 r;
    r.exponent = (double)(e - (tiny ? 52 : 0));
    r.m = k_bits_f64(u - ((uint64_t)(int64_t)e << 52));
    return r;
}

K_FN double k_log_limits(double x, double y)
{
    return x > 0.0 ? (x < k_infinity() ? y : x) : (x == 0.0 ? -k_infinity() : k_nan());
}

/* Every x: 1 ulp; log(0) = -infinity, NaN below. With s = f / (2 + f), log(1 + f) is an odd series
 * in s. */
K_FN double k_log(double x)
{
    const k_log_split_f64 a = k_log_split(x);
    const double f = a.m - 1.0, half = 0.5 * f * f, s = f / (2.0 + f), z = s * s;
    double p = k_fma(z, 0x1.0f2b204933162p-3, 0x1.0f64423fc5a76p-3);
    p = k_fma(z, p, 0x1.3b2043bcb4bfap-3);
    p = k_fma(z, p, 0x1.745ce126aee25p-3);
    p = k_fma(z, p, 0x1.c71c724d1a87cp-3);
    p = k_fma(z, p, 0x1.249249243867dp-2);
    p = k_fma(z, p, 0x1.9999999999d19p-2);
    p = k_fma(z, p, 0x1.5555555555555p-1);
    const double rest = k_fma(s, k_fma(z, p, half), -half);
    const double whole = a.exponent * 0x1.62e42fefa4000p-1; /* exact: 40 bits times 11 */
    const double u = whole + f, lost = (whole - u) + f;
    return k_log_limits(x, u + (lost + k_fma(a.exponent, -0x1.8432a1b0e2634p-43, rest)));
}

/* ---- Arcs ---- */

/* Angle of (x, y), in [-pi, pi]: 1 ulp. Zeros, signs and infinities as in C's atan2. See k_atan2f.
 */
K_FN double k_atan2(double y, double x)
{
    const double ax = k_abs(x), ay = k_abs(y);
    const int steep = ay > ax, left = k_negative(x);
    const double d0 = steep ? ay : ax, n0 = steep ? ax : ay;
    const double scale = d0 > 0x1p500 ? 0x1p-300 : 0x1p400;
    const int endless = d0 == k_infinity();
    const int odd = endless | (d0 == 0.0);
    const double d = odd ? 1.0 : d0 * scale;
    const double corner = n0 == d0 ? 1.0 : 0.0, n = endless ? corner : n0 * scale;

    const int past = n > 0x1.a827999fcef32p-2 * d;
    const double a = past ? n - d : n, sum = n + d, b = past ? sum : d;
    const double a_low = past ? n - (a + d) : 0.0, b_low = past ? n - (b - d) : 0.0;
    const double inverse = 1.0 / b, t = a * inverse;
    const double t_low = (k_fma(-t, b, a) + (a_low - t * b_low)) * inverse;
    const double z = t * t;
    double p = k_fma(z, 0x1.ef97bb19b0756p-7, -0x1.119c229fbe0abp-5);
    p = k_fma(z, p, 0x1.70a59b71ea200p-5);
    p = k_fma(z, p, -0x1.ab6a77fbf4d5fp-5);
    p = k_fma(z, p, 0x1.e16ec7e2735d8p-5);
    p = k_fma(z, p, -0x1.110c448391322p-4);
    p = k_fma(z, p, 0x1.3b136aaf7b860p-4);
    p = k_fma(z, p, -0x1.745d148ce9987p-4);
    p = k_fma(z, p, 0x1.c71c71b5d9de4p-4);
    p = k_fma(z, p, -0x1.2492492471e3ep-3);
    p = k_fma(z, p, 0x1.99999999995bap-3);
    p = k_fma(z, p, -0x1.5555555555554p-2);
    const double bend = k_fma(t * z, p, k_fma(-z, t_low, t_low));

    const double flat = left ? 0x1.921fb54442d18p+1 : 0.0;
    const double axis = steep ? 0x1.921fb54442d18p+0 : flat;
    const double slant = left ? 0x1.2d97c7f3321d2p+1 : 0x1.921fb54442d18p-1;
    const double from = past ? slant : axis;
    const double flat_low = left ? 0x1.1a62633145c07p-53 : 0.0;
    const double axis_low = steep ? 0x1.1a62633145c07p-54 : flat_low;
    const double slant_low = left ? 0x1.a79394c9e8a0ap-54 : 0x1.1a62633145c07p-55;
    const double from_low = past ? slant_low : axis_low;
    const double sign = steep != left ? -1.0 : 1.0;
    const double u = k_fma(sign, t, from), lost = k_fma(sign, t, from - u);
    const double angle = u + (lost + k_fma(sign, bend, from_low));
    const int numbers = (ax == ax) & (ay == ay);
    return numbers ? k_copysign(angle, y) : k_nan();
}
K_FN double k_atan(double x) { return k_atan2(x, 1.0); }
/* |x| <= 1: 2 ulp; NaN beyond. */
K_FN double k_asin(double x) { return k_atan2(x, k_sqrt((1.0 - x) * (1.0 + x))); }
K_FN double k_acos(double x) { return k_atan2(k_sqrt((1.0 - x) * (1.0 + x)), x); }

/* sqrt(x^2 + y^2). Every x, y: 1 ulp, no overflow on the way; infinity if either is infinite. */
K_FN double k_hypot(double x, double y)
{
    const double ax = k_abs(x), ay = k_abs(y);
    const double a0 = ax > ay ? ax : ay, b0 = ax > ay ? ay : ax;
    const int large = a0 > 0x1p500, small = a0 < 0x1p-400;
    const double scale = large ? 0x1p-600 : small ? 0x1p700 : 1.0;
    const double back = large ? 0x1p600 : small ? 0x1p-700 : 1.0;
    const double a = a0 * scale, b = b0 * scale;
    const double length = k_sqrt(k_fma(a, a, b * b)) * back;
    const double most = k_infinity();
    const int endless = (ax == most) | (ay == most), numbers = (ax == ax) & (ay == ay);
    return endless ? most : numbers ? length : k_nan();
}
/* 1 / sqrt(x). Every x: 1.5 ulp; +-infinity at +-0, NaN below. */
K_FN double k_rsqrt(double x) { return 1.0 / k_sqrt(x); }

#endif
