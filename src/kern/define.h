/* Turns item functions into what kernel.h declares; included by the *_kernels.c of an engine, which
 * is compiled once per instruction set with -DK_ISA=base|v3|v4, and by nvcc, where each item
 * function becomes a grid-stride entry point.
 *
 *     K_DEFINE(name)              plain = fast = the loop over name_item
 *     K_DEFINE_FAST(name, range)  fast = range(const name_args *, begin, end, scratch)
 *
 * A form tuned for GPUs, with the same bits, beside the entry point (under __CUDACC__ only):
 *
 *     K_DEFINE_BLOCKS(name, body, threads, block, bytes, resident)
 *
 * Blocks of `threads` threads together compute `block` items each, by body(const name_args *,
 * first, count, shared) with `bytes` bytes of shared memory; registers are given out such that
 * `resident` blocks run on a multiprocessor at a time. */
#ifndef MOTET_KERN_DEFINE_H
#define MOTET_KERN_DEFINE_H

#include "kern/k.h"

#define K_JOIN_(a, b) a##b
#define K_JOIN(a, b)  K_JOIN_(a, b)

#ifdef __CUDACC__
#define K_DEFINE(name)                                                                             \
    extern "C" __global__ void name##_entry(const __grid_constant__ name##_args a, int64_t items,  \
                                            char *scratch, int64_t scratch_bytes)                  \
    {                                                                                              \
        const int64_t step = (int64_t)gridDim.x * blockDim.x;                                      \
        const int64_t self = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;                       \
        for (int64_t i = self; i < items; i += step)                                               \
            name##_item(&a, i, scratch + self * scratch_bytes);                                    \
    }
#define K_DEFINE_FAST(name, range) K_DEFINE(name)
#define K_DEFINE_BLOCKS(name, body, threads, block, bytes, resident)                               \
    extern "C" {                                                                                   \
    __device__ int32_t name##_blocks_shape[3] = {threads, block, bytes};                           \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(threads, resident)                                \
        name##_blocks(const __grid_constant__ name##_args a, int64_t items)                        \
    {                                                                                              \
        extern __shared__ __align__(128) char k_shared[];                                          \
        const int64_t first = (int64_t)blockIdx.x * (block);                                       \
        if (first < items) body(&a, first, k_min_i64(block, items - first), k_shared);             \
    }
#else
#define K_PLAIN_(name)                                                                             \
    void K_JOIN(name##_plain_, K_ISA)(const void *args, int64_t begin, int64_t end,                \
                                      void *scratch);                                              \
    void K_JOIN(name##_plain_, K_ISA)(const void *args, int64_t begin, int64_t end, void *scratch) \
    {                                                                                              \
        const name##_args *a = (const name##_args *)args;                                          \
        for (int64_t i = begin; i < end; i++) name##_item(a, i, scratch);                          \
    }                                                                                              \
    extern const size_t K_JOIN(name##_args_bytes_, K_ISA);                                         \
    const size_t K_JOIN(name##_args_bytes_, K_ISA) = sizeof(name##_args);
#define K_FAST_(name, call)                                                                        \
    void K_JOIN(name##_fast_, K_ISA)(const void *args, int64_t begin, int64_t end, void *scratch); \
    void K_JOIN(name##_fast_, K_ISA)(const void *args, int64_t begin, int64_t end, void *scratch)  \
    {                                                                                              \
        call((const name##_args *)args, begin, end, scratch);                                      \
    }
#define K_DEFINE(name)                                                                             \
    K_PLAIN_(name)                                                                                 \
    K_FAST_(name, K_JOIN(name##_plain_, K_ISA))
#define K_DEFINE_FAST(name, range)                                                                 \
    K_PLAIN_(name)                                                                                 \
    K_FAST_(name, range)
#endif

#endif
