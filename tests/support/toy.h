/* Toy operations on the runtime: small, with every kind of port, and with results that show each
 * mistake in cutting (order of sums, halos, first blocks) in their bits. */
#ifndef MOTET_TEST_TOY_H
#define MOTET_TEST_TOY_H

#include "rt/op.h"
#include "rt/run.h"
#include "support/support.h"

/* smooth[i][j] = ((x[i-2][j] + x[i-1][j]) + x[i][j]) + x[i+1][j]) + x[i+2][j], rows outside left
 * out. The box is [rows][columns], x has a halo of 2 rows. */
rt_op toy_smooth(const motet_array *x, const motet_array *smooth);

/* sum[i][j] = w[0][i] x[0][j] + w[1][i] x[1][j] + ..., in ascending order, in float32: the box is
 * [rows][columns], w and x are streamed along their axis 0. */
rt_op toy_sum(const motet_array *w, const motet_array *x, const motet_array *sum);

/* y[i] = a x[i] + y[i] for arrays of two axes, where rows of a are numbered: a = 1 + i / 8. */
rt_op toy_update(const motet_array *x, const motet_array *y);

/* Elements that a kernel found outside of its view, or of its box twice. Reset by reading. */
int toy_mistakes(void);
void toy_mistake(void);

/* A float32 array of values of wild range; a sum of them in another order has other bits. */
motet_array *toy_array(motet_context *context, int64_t rows, int64_t columns, uint64_t seed);

/* A kernel of a test: one function for every instruction set. */
#if defined(__x86_64__)
#define TOY_KERNEL(f, args)                                                                        \
    static const k_kernel f##_kernel = {"toy." #f, &args##_bytes, {f, f, f}, {f, f, f}};
#else
#define TOY_KERNEL(f, args) static const k_kernel f##_kernel = {"toy." #f, &args##_bytes, {f}, {f}};
#endif

#endif
