/* The table of kernels of gpu.cuda_forms, in place of the library's: what its image has. */
#define k_kernels k_kernels_of_the_library
#include "kern/kernel_table.c"
#undef k_kernels

#include "support/toy_kernels.h"

extern const k_kernel *const k_kernels[];

#define K_KERNEL(name) &K_##name,
const k_kernel *const k_kernels[] = {&K_ct_project, &K_ct_backproject, &K_ct_normalise,
                                     &K_ct_filter,  &K_k_health,       &K_k_combine,
#include "support/toy_list.h"
                                     NULL};
#undef K_KERNEL
