/* Tables for fft.k.h, made in float64. */
#ifndef MOTET_CT_FFT_H
#define MOTET_CT_FFT_H

#include <motet/context.h>

/* In place, unscaled, natural order: 2^bits complex values (re, im); turn[2j], turn[2j+1] = cos,
 * -sin of 2 pi j / 2^bits. For tables and the search for the axis: plain radix 2. */
void ct_fft_f64(double *data, int bits, const double *turn);
void ct_fft_turns(double *turn, int bits);

#endif
