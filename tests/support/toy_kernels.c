/* The kernels of the toys: for every instruction set the same plain loop over their items; by nvcc,
 * entry points of a GPU. */
#define K_ISA base
#include "kern/define.h"

#include "support/ports.k.h"
#include "support/toy.k.h"
#include "support/toy_cover.k.h"
#include "support/toy_rows.k.h"
#include "support/toy_solver.k.h"

#define K_KERNEL(name) K_DEFINE(name)
#include "support/toy_list.h"
#undef K_KERNEL

#ifndef __CUDACC__
#include "support/toy_kernels.h"

#if defined(__x86_64__)
#define EVERY(f)                                                                                   \
    {                                                                                              \
        f, f, f                                                                                    \
    }
#else
#define EVERY(f)                                                                                   \
    {                                                                                              \
        f                                                                                          \
    }
#endif
#define K_KERNEL(name)                                                                             \
    const k_kernel K_##name = {#name, &name##_args_bytes_base, EVERY(name##_plain_base),           \
                               EVERY(name##_fast_base)};
#include "support/toy_list.h"
#undef K_KERNEL
#endif
