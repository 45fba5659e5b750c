/* Fourier transforms of 2^k complex float32 values, many sequences side by side.
 *
 * Value n of lane l is (data[2n][l], data[2n+1][l]): lanes are independent sequences and each gets
 * the same operations in the same order, so its bits depend neither on its neighbours nor on the
 * number of lanes. Forward: decimation in frequency, natural order in, bit-reversed order out;
 * inverse (unscaled): the way back. Between them a filter works in bit-reversed order, so nothing
 * is ever permuted (Gentleman and Sande, 1966; radix 4, with one stage of radix 2 for odd k).
 *
 * turn[2j], turn[2j+1] = cos, -sin of 2 pi j / (2 M): the table serves the M complex values and the
 * 2 M real ones that they hold. */
#ifndef MOTET_CT_FFT_K_H
#define MOTET_CT_FFT_K_H

#include "kern/k.h"

typedef struct ct_complex {
    float re, im;
} ct_complex;

K_FN ct_complex ct_times(ct_complex a, ct_complex w)
{
    ct_complex r;
    r.re = k_fmaf(a.re, w.re, -(a.im * w.im));
    r.im = k_fmaf(a.re, w.im, a.im * w.re);
    return r;
}

K_FN ct_complex ct_turn(const float *turn, int64_t j)
{
    ct_complex w;
    w.re = turn[2 * j];
    w.im = turn[2 * j + 1];
    return w;
}

K_FN ct_complex ct_conjugate(ct_complex a)
{
    a.im = -a.im;
    return a;
}

/* Position of value k of 2^bits values in bit-reversed order. */
K_FN int64_t ct_reversed(int64_t k, int bits)
{
    int64_t r = 0;
    for (int b = 0; b < bits; b++) r |= ((k >> b) & 1) << (bits - 1 - b);
    return r;
}

/* One butterfly on lanes of values p, q (radix 2) or at distance `quarter` (radix 4). */
K_FN void ct_fft_pair(const int lanes, float *K_RESTRICT p, float *K_RESTRICT q)
{
    for (int l = 0; l < 2 * lanes; l++) {
        const float a = p[l], b = q[l];
        p[l] = a + b;
        q[l] = a - b;
    }
}

K_FN void ct_fft_four_down(const int lanes, float *K_RESTRICT p0, float *K_RESTRICT p1,
                           float *K_RESTRICT p2, float *K_RESTRICT p3, ct_complex w1, ct_complex w2,
                           ct_complex w3)
{
    for (int l = 0; l < lanes; l++) {
        const float ar = p0[l], ai = p0[lanes + l], br = p1[l], bi = p1[lanes + l];
        const float cr = p2[l], ci = p2[lanes + l], dr = p3[l], di = p3[lanes + l];
        const float sr = ar + cr, si = ai + ci, mr = ar - cr, mi = ai - ci;
        const float tr = br + dr, ti = bi + di, nr = bi - di, ni = dr - br; /* -i (b - d) */
        const ct_complex y2 = ct_times((ct_complex){sr - tr, si - ti}, w2);
        const ct_complex y1 = ct_times((ct_complex){mr + nr, mi + ni}, w1);
        const ct_complex y3 = ct_times((ct_complex){mr - nr, mi - ni}, w3);
        p0[l] = sr + tr;
        p0[lanes + l] = si + ti;
        p1[l] = y2.re;
        p1[lanes + l] = y2.im;
        p2[l] = y1.re;
        p2[lanes + l] = y1.im;
        p3[l] = y3.re;
        p3[lanes + l] = y3.im;
    }
}

K_FN void ct_fft_four_up(const int lanes, float *K_RESTRICT p0, float *K_RESTRICT p1,
                         float *K_RESTRICT p2, float *K_RESTRICT p3, ct_complex w1, ct_complex w2,
                         ct_complex w3)
{
    for (int l = 0; l < lanes; l++) {
        const ct_complex y2 = ct_times((ct_complex){p1[l], p1[lanes + l]}, ct_conjugate(w2));
        const ct_complex y1 = ct_times((ct_complex){p2[l], p2[lanes + l]}, ct_conjugate(w1));
        const ct_complex y3 = ct_times((ct_complex){p3[l], p3[lanes + l]}, ct_conjugate(w3));
        const float yr = p0[l], yi = p0[lanes + l];
        const float sr = yr + y2.re, si = yi + y2.im, tr = yr - y2.re, ti = yi - y2.im;
        const float mr = y1.re + y3.re, mi = y1.im + y3.im;
        const float nr = y3.im - y1.im, ni = y1.re - y3.re; /* i (y1 - y3) */
        p0[l] = sr + mr;
        p0[lanes + l] = si + mi;
        p1[l] = tr + nr;
        p1[lanes + l] = ti + ni;
        p2[l] = sr - mr;
        p2[lanes + l] = si - mi;
        p3[l] = tr - nr;
        p3[lanes + l] = ti - ni;
    }
}

/* One stage of radix 4 over blocks of `size` values of 2^bits. */
K_FN void ct_fft_stage(const int lanes, const int up, float *data, int bits, int64_t size,
                       const float *turn)
{
    const int64_t count = (int64_t)1 << bits, quarter = size / 4, stride = 2 * (count / size);
    const int64_t step = 2 * lanes * quarter;
    for (int64_t block = 0; block < count; block += size)
        for (int64_t j = 0; j < quarter; j++) {
            float *p = data + (block + j) * 2 * lanes;
            const ct_complex w1 = ct_turn(turn, j * stride), w2 = ct_turn(turn, 2 * j * stride);
            const ct_complex w3 = ct_turn(turn, 3 * j * stride);
            if (up)
                ct_fft_four_up(lanes, p, p + step, p + 2 * step, p + 3 * step, w1, w2, w3);
            else
                ct_fft_four_down(lanes, p, p + step, p + 2 * step, p + 3 * step, w1, w2, w3);
        }
}

K_FN void ct_fft_pairs(const int lanes, float *data, int bits)
{
    for (int64_t n = 0; n < (int64_t)1 << bits; n += 2)
        ct_fft_pair(lanes, data + n * 2 * lanes, data + (n + 1) * 2 * lanes);
}

K_FN void ct_fft_forward(const int lanes, float *data, int bits, const float *turn)
{
    for (int b = bits; b >= 2; b -= 2) ct_fft_stage(lanes, 0, data, bits, (int64_t)1 << b, turn);
    if (bits & 1) ct_fft_pairs(lanes, data, bits);
}

K_FN void ct_fft_inverse(const int lanes, float *data, int bits, const float *turn)
{
    if (bits & 1) ct_fft_pairs(lanes, data, bits);
    for (int b = 2 + (bits & 1); b <= bits; b += 2)
        ct_fft_stage(lanes, 1, data, bits, (int64_t)1 << b, turn);
}

/* Multiplies the spectrum of the 2 M real values that lie in M complex ones (even values real, odd
 * ones imaginary) by a real, even response[0 .. M], in place and in bit-reversed order. The caller
 * folds the 1 / (4 M) of the unscaled transforms into the response. */
K_FN void ct_fft_respond(const int lanes, float *data, int bits, const float *turn,
                         const float *response)
{
    const int64_t count = (int64_t)1 << bits, half = count / 2;
    float *zero = data, *middle = data + ct_reversed(half, bits) * 2 * lanes;
    for (int l = 0; l < lanes; l++) {
        const float low = 2.0f * response[0] * (zero[l] + zero[lanes + l]);
        const float high = 2.0f * response[count] * (zero[l] - zero[lanes + l]);
        zero[l] = low + high;
        zero[lanes + l] = low - high;
    }
    for (int l = 0; l < 2 * lanes; l++) middle[l] = 4.0f * response[half] * middle[l];
    for (int64_t k = 1; k < half; k++) {
        float *K_RESTRICT p = data + ct_reversed(k, bits) * 2 * lanes;
        float *K_RESTRICT q = data + ct_reversed(count - k, bits) * 2 * lanes;
        const ct_complex w = ct_turn(turn, k);
        const float sum = response[k] + response[count - k];
        const float difference = response[k] - response[count - k];
        for (int l = 0; l < lanes; l++) {
            /* even + turn odd = spectrum at k, even - turn odd = its conjugate at count - k */
            const ct_complex even = {p[l] + q[l], p[lanes + l] - q[lanes + l]};
            const ct_complex odd =
                ct_times((ct_complex){p[lanes + l] + q[lanes + l], q[l] - p[l]}, w);
            const float er = k_fmaf(sum, even.re, difference * odd.re);
            const float ei = k_fmaf(sum, even.im, difference * odd.im);
            const ct_complex turned = {k_fmaf(difference, even.re, sum * odd.re),
                                       k_fmaf(difference, even.im, sum * odd.im)};
            const ct_complex o = ct_times(turned, ct_conjugate(w));
            p[l] = er - o.im;
            p[lanes + l] = ei + o.re;
            q[l] = er + o.im;
            q[lanes + l] = o.re - ei;
        }
    }
}

#endif
