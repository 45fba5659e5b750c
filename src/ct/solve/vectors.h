/* Volumes and sinograms as vectors: operations of the runtime on whole arrays. All are float32 with
 * three axes and of one shape. */
#ifndef MOTET_CT_VECTORS_H
#define MOTET_CT_VECTORS_H

#include "ct/solve/vectors.k.h"
#include "rt/op.h"

/* Sums of an array of such a shape, one for each block: their shape. Answers the axes. */
int ct_sums_shape(const motet_array *like, int64_t shape[3]);
motet_status ct_sums_create(const motet_array *like, motet_array **out);

/* What an operation takes: arrays that the kernel does not use are NULL. */
typedef struct ct_vectors {
    const char *name; /* of the operation */
    const k_kernel *kernel;
    const motet_array *x, *y, *out, *sums;
    double a, b, least, greatest;
} ct_vectors;

/* `vectors` is its user. */
rt_op ct_vectors_op(const ct_vectors *vectors);

/* out = a x + b out; *square = out . out where it is not NULL. In a fixed order, as all dots are.
 */
motet_status ct_combine(double a, const motet_array *x, double b, motet_array *out,
                        motet_array *sums, double *square);
motet_status ct_square(const motet_array *x, motet_array *sums, double *square);
/* out = weights (x - out); *square is that of x - out. */
motet_status ct_misfit(const motet_array *x, const motet_array *weights, motet_array *out,
                       motet_array *sums, double *square);
/* out = out + a weights x, between least and greatest; NaN: no bound. */
motet_status ct_correct(double a, const motet_array *x, const motet_array *weights, double least,
                        double greatest, motet_array *out);
/* out = 1 / out, 0 where it is not positive. */
motet_status ct_invert(motet_array *out);

#endif
