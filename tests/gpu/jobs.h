/* Memory that kernels of the program at hand can reach. */
#ifndef MOTET_TEST_GPU_JOBS_H
#define MOTET_TEST_GPU_JOBS_H

#include <motet/context.h>

#ifdef __cplusplus
extern "C" {
#endif
extern const motet_allocator jobs_allocator;
#ifdef __cplusplus
}
#endif
#endif
