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

/* out = a x + b out, and out . out where sums are not NULL. Dots are summed in a fixed order. */
ct_vectors ct_combine_of(double a, const motet_array *x, double b, const motet_array *out,
                         const motet_array *sums);
ct_vectors ct_square_of(const motet_array *x, const motet_array *sums); /* x . x */
/* out = weights (x - out); the dot is of x - out. */
ct_vectors ct_misfit_of(const motet_array *x, const motet_array *weights, const motet_array *out,
                        const motet_array *sums);
/* out = out + a weights x, between least and greatest; NaN: no bound. */
ct_vectors ct_correct_of(double a, const motet_array *x, const motet_array *weights, double least,
                         double greatest, const motet_array *out);
ct_vectors ct_invert_of(const motet_array *out); /* out = 1 / out, 0 where it is not positive */

/* Runs it; *square is the dot, NULL where it has none. */
motet_status ct_vectors_run(ct_vectors vectors, double *square);

#endif
