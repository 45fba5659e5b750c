/* What kernels of the toys see of a view, on the CPU and on GPUs. */
#ifndef MOTET_TEST_TOY_VIEW_H
#define MOTET_TEST_TOY_VIEW_H

#include "kern/k.h"

typedef struct toy_view {
    char *data;
    int64_t first[2], count[2],
        stride[2]; /* an axis that the array has not has count and stride 0 */
} toy_view;

#ifndef __CUDACC__
void toy_mistake(void);
#endif

/* Where element (i, j) of so many bytes is. One that the view does not hold is a mistake: the CPU
 * counts it and answers a dummy, a GPU traps. */
K_FN char *toy_at(const toy_view *v, size_t element, int64_t i, int64_t j)
{
    const int64_t index[2] = {i, j};
    int64_t offset = 0;
    for (int axis = 0; axis < 2; axis++) {
        const int64_t k = index[axis] - v->first[axis];
        if (k < 0 || (k >= v->count[axis] && (axis == 0 || v->count[1]))) {
#ifdef __CUDACC__
#ifdef __CUDA_ARCH__
            __trap();
#endif
            return v->data;
#else
            static int64_t nowhere[16];
            toy_mistake();
            return (char *)nowhere;
#endif
        }
        offset += k * v->stride[axis];
    }
    return v->data + offset * (int64_t)element;
}

K_FN float *toy_f32(const toy_view *v, int64_t i, int64_t j)
{
    return (float *)(void *)toy_at(v, sizeof(float), i, j);
}

K_FN double *toy_f64(const toy_view *v, int64_t i, int64_t j)
{
    return (double *)(void *)toy_at(v, sizeof(double), i, j);
}

K_FN int64_t *toy_i64(const toy_view *v, int64_t i, int64_t j)
{
    return (int64_t *)(void *)toy_at(v, sizeof(int64_t), i, j);
}

#endif
