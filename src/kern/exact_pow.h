/* Powers, and the base-2 functions under them. The logarithm is carried in two float64, about 2^-63
 * relative, because the exponent magnifies its error up to 1024 times. */
#ifndef MOTET_KERN_EXACT_POW_H
#define MOTET_KERN_EXACT_POW_H

#include "kern/exact_f64.h"

typedef struct k_two {
    double high, low;
} k_two;

/* log2 of a positive finite x. */
K_FN k_two k_log2_two(double x)
{
    const k_log_split_f64 a = k_log_split(x);
    const double f = a.m - 1.0, d = a.m + 1.0, d_low = a.m - (d - 1.0), inverse = 1.0 / d;
    /* s = f / (2 + f) */
    const double s = f * inverse, s_low = (k_fma(-s, d, f) - s * d_low) * inverse;
    const double z = s * s, z_low = k_fma(2.0 * s, s_low, k_fma(s, s, -z));
    double p = k_fma(z, 0x1.ebaab9dc582fcp-4, 0x1.de202fc135c97p-4);
    p = k_fma(z, p, 0x1.11213548c6b1fp-3);
    p = k_fma(z, p, 0x1.3b135f30b1418p-3);
    p = k_fma(z, p, 0x1.745d18408353ap-3);
    p = k_fma(z, p, 0x1.c71c71c560163p-3);
    p = k_fma(z, p, 0x1.2492492493165p-2);
    p = k_fma(z, p, 0x1.9999999999995p-2);
    p = z * p;
    /* w = 2/3 + p;  log(1 + f) = 2 s + s z w */
    const double w = 0x1.5555555555555p-1 + p;
    const double w_low = (0x1.5555555555555p-1 - w) + p + 0x1.5555555555555p-55;
    const double q = z * w, q_low = k_fma(z, w_low, k_fma(z_low, w, k_fma(z, w, -q)));
    const double t = s * q, t_low = k_fma(s, q_low, k_fma(s_low, q, k_fma(s, q, -t)));
    const double l = 2.0 * s + t, l_low = k_fma(2.0, s_low, t_low) + ((2.0 * s - l) + t);
    const double g = l * 0x1.71547652b82fep+0;
    const double g_low = k_fma(l_low, 0x1.71547652b82fep+0,
                               k_fma(l, 0x1.777d0ffda0d24p-56, k_fma(l, 0x1.71547652b82fep+0, -g)));
    const double sum = a.exponent + g;
    const double sum_low = ((a.exponent - sum) + g) + g_low;
    k_two r;
    r.high = sum + sum_low;
    r.low = (sum - r.high) + sum_low;
    return r;
}

/* 2^(high + low), |low| far below 1. */
K_FN double k_exp2_two(double high, double low)
{
    const int under = high<-1080.0, over = high> 1030.0;
    const double in = under ? -1080.0 : over ? 1030.0 : high;
    const int clamped = under | over;
    const double in_low = clamped ? 0.0 : low;
    const double shifted = in + K_SHIFTER, part = in - (shifted - K_SHIFTER);
    const double r = part + in_low, r_low = (part - r) + in_low;
    const double e = r * 0x1.62e42fefa39efp-1;
    const double e_low = k_fma(r_low, 0x1.62e42fefa39efp-1,
                               k_fma(r, 0x1.abc9e3b39803fp-56, k_fma(r, 0x1.62e42fefa39efp-1, -e)));
    double p = k_fma(r, 0x1.c0e2e02f07faep-36, 0x1.e9f7cccfe6132p-32);
    p = k_fma(r, p, 0x1.e4d2017c5ff06p-28);
    p = k_fma(r, p, 0x1.b524e467d722fp-24);
    p = k_fma(r, p, 0x1.62c021635f525p-20);
    p = k_fma(r, p, 0x1.ffcbfc70ea49dp-17);
    p = k_fma(r, p, 0x1.430912f8a93b7p-13);
    p = k_fma(r, p, 0x1.5d87fe78a369cp-10);
    p = k_fma(r, p, 0x1.3b2ab6fba4d80p-7);
    p = k_fma(r, p, 0x1.c6b08d704a0c8p-5);
    p = k_fma(r, p, 0x1.ebfbdff82c58fp-3);
    const double u = 1.0 + e, lost = (1.0 - u) + e;
    const double y = u + k_fma(r * r, p, k_fma(e, e_low, e_low) + lost);
    const int64_t n = (int64_t)(k_f64_bits(shifted) - k_f64_bits(K_SHIFTER));
    return in == in ? k_ldexp(y, n) : high;
}

/* Every x: 1 ulp; exact for integers, and for powers of two. */
K_FN double k_exp2(double x) { return k_exp2_two(x, 0.0); }
K_FN double k_log2(double x) { return k_log_limits(x, k_log2_two(x).high); }

/* The cases of C's pow, given size = |x|^y. Even: y is an even integer, odd: an odd one. */
K_FN double k_pow_cases(double x, double y, double size)
{
    const double ax = k_abs(x), ay = k_abs(y), half = 0.5 * ay;
    const double most = k_infinity(), ay_floor = k_floor(ay), half_floor = k_floor(half);
    const int whole = ay_floor == ay, odd = whole & (half_floor != half);
    const int rising = y > 0.0, finite = ax < most, certain = ay < most;
    const int flips = k_negative(x), zero = ax == 0.0;
    const int below = x < 0.0, invalid = below & finite & !whole;
    const int nan = (x != x) | (y != y);
    const int one = (y == 0.0) | (x == 1.0) | ((x == -1.0) & (ay == most));
    const double limit = zero == rising ? 0.0 : most;         /* |x| is 0 or infinite */
    const double endless = (ax > 1.0) == rising ? most : 0.0; /* y is infinite */
    const int edge = zero | !finite, turned = flips & odd & certain;
    double r = edge ? limit : size;
    r = certain ? r : endless;
    r = turned ? -r : r;
    r = invalid ? k_nan() : r;
    r = nan ? k_nan() : r;
    return one ? 1.0 : r;
}

/* x^y. Every x, y: 1 ulp; cases as in C. */
K_FN double k_pow(double x, double y)
{
    const k_two l = k_log2_two(k_abs(x));
    const double e = y * l.high, e_low = k_fma(y, l.low, k_fma(y, l.high, -e));
    return k_pow_cases(x, y, k_exp2_two(e, e_low));
}
/* x^y. Every x, y: 1 ulp; cases as in C. In float64 inside: costly on GPUs with little of it. */
K_FN float k_powf(float x, float y)
{
    const double size = k_exp2(k_log(k_abs((double)x)) * 0x1.71547652b82fep+0 * (double)y);
    return (float)k_pow_cases((double)x, (double)y, size);
}

#endif
