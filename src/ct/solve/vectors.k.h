/* What solvers do to whole arrays, element by element, and sums of squares.
 *
 * One item is one block of at most K_BLOCK elements of a row, and its sum of squares is that
 * block's own: what a row is and where blocks begin depends on the array's shape alone, so no cut
 * shows. Elements are computed in float64 and rounded once. */
#ifndef MOTET_CT_VECTORS_K_H
#define MOTET_CT_VECTORS_K_H

#include "kern/accumulate.h"
#include "kern/bits.h"

/* Row j of plane i begins at data + i * plane + j * row; its elements lie side by side. */
typedef struct ct_operand {
    float *data;
    int64_t plane, row;
} ct_operand;

typedef struct ct_vector_args {
    ct_operand x, y, out;
    double a, b, least, greatest;
    double
        *sums; /* of block k of row j of plane i: sums[i * sums_plane + j * sums_row + k]; NULL */
    int64_t sums_plane, sums_row;
    int64_t rows, elements, blocks; /* of a plane; of a row; of a row */
} ct_vector_args;

typedef ct_vector_args ct_combine_args, ct_square_args, ct_misfit_args, ct_correct_args,
    ct_invert_args;

typedef struct ct_block {
    int64_t plane, row, block, first, count;
} ct_block;

K_FN ct_block ct_block_of(const ct_vector_args *a, int64_t item)
{
    const int64_t row = item / a->blocks, block = item % a->blocks, first = block * K_BLOCK;
    const int64_t left = a->elements - first;
    return (ct_block){row / a->rows, row % a->rows, block, first, left < K_BLOCK ? left : K_BLOCK};
}

K_FN float *ct_operand_at(const ct_operand *o, const ct_block *b)
{
    return o->data + b->plane * o->plane + b->row * o->row + b->first;
}

K_FN void ct_square_into(const ct_vector_args *a, const ct_block *b, const float *x)
{
    if (a->sums)
        a->sums[b->plane * a->sums_plane + b->row * a->sums_row + b->block] =
            k_dot_block(x, x, b->count);
}

K_FN float ct_rounded(double a) { return k_out((float)a + 0.0f); }

/* out = a x + b out, and the sum of its squares */
K_FN void ct_combine_item(const ct_combine_args *a, int64_t item, void *scratch)
{
    (void)scratch;
    const ct_block b = ct_block_of(a, item);
    const float *K_RESTRICT x = ct_operand_at(&a->x, &b);
    float *K_RESTRICT out = ct_operand_at(&a->out, &b);
    const double factor = a->a, of_out = a->b;
    for (int64_t i = 0; i < b.count; i++)
        out[i] = ct_rounded(factor * (double)x[i] + of_out * (double)out[i]);
    ct_square_into(a, &b, out);
}

/* The sum of squares of x */
K_FN void ct_square_item(const ct_square_args *a, int64_t item, void *scratch)
{
    (void)scratch;
    const ct_block b = ct_block_of(a, item);
    ct_square_into(a, &b, ct_operand_at(&a->x, &b));
}

/* out = x - out, the sum of its squares; then out = y out */
K_FN void ct_misfit_item(const ct_misfit_args *a, int64_t item, void *scratch)
{
    (void)scratch;
    const ct_block b = ct_block_of(a, item);
    const float *K_RESTRICT x = ct_operand_at(&a->x, &b), *K_RESTRICT y = ct_operand_at(&a->y, &b);
    float *K_RESTRICT out = ct_operand_at(&a->out, &b);
    for (int64_t i = 0; i < b.count; i++) out[i] = k_out(x[i] - out[i]);
    ct_square_into(a, &b, out);
    for (int64_t i = 0; i < b.count; i++) out[i] = k_out(y[i] * out[i]);
}

/* out = out + a x y, kept between least and greatest (NaN: no bound) */
K_FN void ct_correct_item(const ct_correct_args *a, int64_t item, void *scratch)
{
    (void)scratch;
    const ct_block b = ct_block_of(a, item);
    const float *K_RESTRICT x = ct_operand_at(&a->x, &b), *K_RESTRICT y = ct_operand_at(&a->y, &b);
    float *K_RESTRICT out = ct_operand_at(&a->out, &b);
    const double factor = a->a, least = a->least, greatest = a->greatest;
    for (int64_t i = 0; i < b.count; i++) {
        const double value = (double)out[i] + factor * ((double)x[i] * (double)y[i]);
        const double above = value < least ? least : value;
        out[i] = ct_rounded(above > greatest ? greatest : above);
    }
}

/* out = 1 / out; 0 where nothing adds up to it */
K_FN void ct_invert_item(const ct_invert_args *a, int64_t item, void *scratch)
{
    (void)scratch;
    const ct_block b = ct_block_of(a, item);
    float *out = ct_operand_at(&a->out, &b);
    for (int64_t i = 0; i < b.count; i++) {
        const float inverse = 1.0f / out[i];
        out[i] = out[i] > 0.0f && inverse < k_infinityf() ? inverse : 0.0f;
    }
}

#endif
