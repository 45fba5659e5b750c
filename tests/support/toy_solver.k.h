/* Kernels of toy_solver.h; an item is a row. */
#ifndef MOTET_TEST_TOY_SOLVER_K_H
#define MOTET_TEST_TOY_SOLVER_K_H

#include "kern/accumulate.h"
#include "support/toy_view.h"

typedef struct toy_solver_args {
    toy_view a, b, out;
    int64_t first, rows; /* of the chunk; of the arrays */
    int64_t columns;
    float factor;
} toy_solver_args;
typedef toy_solver_args toy_difference_args, toy_add_args, toy_turn_args, toy_multiply_args;

/* out = A a */
K_FN void toy_difference_item(const toy_solver_args *s, int64_t item, void *scratch)
{
    const int64_t i = s->first + item;
    (void)scratch;
    for (int64_t j = 0; j < s->columns; j++) {
        float sum = 2 * *toy_f32(&s->a, i, j);
        if (i > 0) sum -= *toy_f32(&s->a, i - 1, j);
        if (i < s->rows - 1) sum -= *toy_f32(&s->a, i + 1, j);
        *toy_f32(&s->out, i, j) = sum;
    }
}

/* out = out + factor a */
K_FN void toy_add_item(const toy_solver_args *s, int64_t item, void *scratch)
{
    const int64_t i = s->first + item;
    (void)scratch;
    for (int64_t j = 0; j < s->columns; j++)
        *toy_f32(&s->out, i, j) += s->factor * *toy_f32(&s->a, i, j);
}

/* out = a + factor out */
K_FN void toy_turn_item(const toy_solver_args *s, int64_t item, void *scratch)
{
    const int64_t i = s->first + item;
    (void)scratch;
    for (int64_t j = 0; j < s->columns; j++)
        *toy_f32(&s->out, i, j) = *toy_f32(&s->a, i, j) + s->factor * *toy_f32(&s->out, i, j);
}

/* out[row] = a[row] . b[row] */
K_FN void toy_multiply_item(const toy_solver_args *s, int64_t item, void *scratch)
{
    const int64_t i = s->first + item;
    double sum = 0;
    (void)scratch;
    for (int64_t j = 0; j < s->columns; j += K_BLOCK)
        sum += k_dot_block(toy_f32(&s->a, i, j), toy_f32(&s->b, i, j),
                           s->columns - j < K_BLOCK ? s->columns - j : K_BLOCK);
    *toy_f64(&s->out, i, 0) = sum;
}

#endif
