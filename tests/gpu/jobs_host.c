/* jobs.c with the kernels of the CPU. */
#include "jobs.h"

const motet_allocator jobs_allocator = {NULL, NULL, NULL};
