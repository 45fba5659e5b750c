/* The one place that knows every kernel by name and instruction set. */
#include "kern/kernel.h"

#define K_DECLARE(name, isa) extern k_range_fn name##_plain_##isa, name##_fast_##isa;

#if defined(__x86_64__)
#define K_KERNEL(name)                                                                             \
    K_DECLARE(name, base)                                                                          \
    K_DECLARE(name, v3)                                                                            \
    K_DECLARE(name, v4)                                                                            \
    extern const size_t name##_args_bytes_base;                                                    \
    const k_kernel K_##name = {#name,                                                              \
                               &name##_args_bytes_base,                                            \
                               {name##_plain_base, name##_plain_v3, name##_plain_v4},              \
                               {name##_fast_base, name##_fast_v3, name##_fast_v4}};
#else
#define K_KERNEL(name)                                                                             \
    K_DECLARE(name, base)                                                                          \
    extern const size_t name##_args_bytes_base;                                                    \
    const k_kernel K_##name = {                                                                    \
        #name, &name##_args_bytes_base, {name##_plain_base}, {name##_fast_base}};
#endif
#include "kern/kernel_list.h"
#undef K_KERNEL

#define K_KERNEL(name) &K_##name,
const k_kernel *const k_kernels[] = {
#include "kern/kernel_list.h"
    NULL};
#undef K_KERNEL
