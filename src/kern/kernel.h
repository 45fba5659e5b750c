/* Kernels: one item function each, written once, compiled for every instruction set and for CUDA.
 *
 *     backproject.k.h     K_FN void ct_backproject_item(const ct_backproject_args *a, int64_t i,
 * void *scratch) kernel_list.h       K_KERNEL(ct_backproject) ct_kernels.c        #include
 * "kern/define.h", the .k.h files, K_DEFINE(ct_backproject)
 *
 * `plain` is the loop over the item function: the oracle. `fast` may be a tuned range with the same
 * bits; where there is none it is the same function. Items are independent: each writes its own
 * place. */
#ifndef MOTET_KERN_KERNEL_H
#define MOTET_KERN_KERNEL_H

#include <stddef.h>
#include <stdint.h>

/* Items [begin, end); `scratch` is private to the caller, of the bytes that the launch named for
 * its form, 64-byte aligned, with any contents. */
typedef void k_range_fn(const void *args, int64_t begin, int64_t end, void *scratch);

#if defined(__x86_64__)
enum { K_BASE, K_V3, K_V4, K_ISAS }; /* motet_isa - 1 */
#else
enum { K_BASE, K_ISAS };
#endif

/* Bytes that one worker needs for itself: where it runs item by item, and where it runs the fast
 * ranges. Which of the two a launch does is the device's business. */
typedef struct k_scratch {
    size_t plain, fast;
} k_scratch;

typedef struct k_kernel {
    const char *name;
    const size_t *args_bytes;
    k_range_fn *plain[K_ISAS], *fast[K_ISAS];
} k_kernel;

#define K_KERNEL(name) extern const k_kernel K_##name;
#include "kern/kernel_list.h"
#undef K_KERNEL

/* All of them, in list order; ends with NULL. */
extern const k_kernel *const k_kernels[];

#endif
