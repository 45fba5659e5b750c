/* The kernels of the toys, as the runtime launches them, and views for them. */
#ifndef MOTET_TEST_TOY_KERNELS_H
#define MOTET_TEST_TOY_KERNELS_H

#include "rt/op.h"
#include "support/toy_view.h"

#define K_KERNEL(name) extern const k_kernel K_##name;
#include "support/toy_list.h"
#undef K_KERNEL

static inline toy_view toy_view_of(const rt_view *v)
{
    return (toy_view){.data = v->data,
                      .first = {v->first[0], v->first[1]},
                      .count = {v->count[0], v->count[1]},
                      .stride = {v->stride[0], v->stride[1]}};
}

#endif
