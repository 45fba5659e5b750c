/* Ramp filters as tables. */
#ifndef MOTET_CT_FILTER_H
#define MOTET_CT_FILTER_H

#include <motet/ct.h>

/* Complex values (a power of two, as its logarithm) that hold a row of so many columns, each end
 * continued by `pad`: twice as many real values are enough for a linear convolution. */
int32_t ct_filter_bits(int64_t columns, int64_t pad);

/* The response of filter.k.h: [0 .. 2^bits] with the transforms' scale folded in, then the turns.
 * Its units make the filtered row p * h, h the band-limited ramp for columns of that pitch. */
motet_status ct_filter_table(motet_context *context, const motet_ct_filter_options *options,
                             int32_t bits, double pitch, motet_array **out);

motet_status ct_filter_check(motet_context *context, const motet_ct_geometry *geometry,
                             const motet_ct_filter_options *options);

/* motet_ct_filter with a factor for each view (float32 array (views); NULL: none). */
motet_status ct_filter_scaled(motet_ct_geometry *geometry, const motet_ct_filter_options *options,
                              const motet_array *scale, const motet_array *sinogram,
                              motet_array *filtered);

#endif
