/* Reductions on the host in the fixed order of accumulate.h, which no thread count or device can
 * change. */
#ifndef MOTET_KERN_REDUCE_H
#define MOTET_KERN_REDUCE_H

#include <stddef.h>
#include <stdint.h>

/* Sum over rows of a . b in the order of accumulate.h: blocks of a row, ascending. */
double reduce_dot(const float *a, const float *b, int64_t rows, int64_t row_elements);
double reduce_sum(const float *a, int64_t rows, int64_t row_elements);
/* Least and greatest; NaNs are passed over; both NaN if there is nothing else. A zero comes out as
 * +0. */
void reduce_range(const float *a, int64_t n, float *least, float *greatest);

#endif
