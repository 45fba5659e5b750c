/* Float64 transforms for tables: radix 2, decimation in time (Cooley and Tukey, 1965). */
#include "ct/fft.h"

#include "ct/fft.k.h"
#include "kern/exact.h"

void ct_fft_turns(double *turn, int bits)
{
    const int64_t count = (int64_t)1 << bits;
    for (int64_t j = 0; j < count; j++) {
        double sine, cosine;
        k_sincospi(2.0 * (double)j / (double)count, &sine, &cosine);
        turn[2 * j] = cosine;
        turn[2 * j + 1] = -sine;
    }
}

void ct_fft_f64(double *data, int bits, const double *turn)
{
    const int64_t count = (int64_t)1 << bits;
    for (int64_t k = 0; k < count; k++) {
        const int64_t r = ct_reversed(k, bits);
        if (r <= k) continue;
        for (int part = 0; part < 2; part++) {
            const double other = data[2 * r + part];
            data[2 * r + part] = data[2 * k + part];
            data[2 * k + part] = other;
        }
    }
    for (int64_t size = 2; size <= count; size *= 2)
        for (int64_t block = 0; block < count; block += size)
            for (int64_t j = 0; j < size / 2; j++) {
                double *p = data + 2 * (block + j), *q = p + size;
                const double *w = turn + 2 * j * (count / size);
                const double re = q[0] * w[0] - q[1] * w[1], im = q[0] * w[1] + q[1] * w[0];
                q[0] = p[0] - re;
                q[1] = p[1] - im;
                p[0] += re;
                p[1] += im;
            }
}
