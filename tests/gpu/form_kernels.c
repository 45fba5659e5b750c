/* The kernels of gpu.cuda_forms, as nvcc compiles them: those of the toys, and those of the library
 * that they run beside. */
#include "ct/ct_kernels.c"
#include "kern/kern_kernels.c"
#include "support/toy_kernels.c"
