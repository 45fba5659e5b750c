/* What kernels may use: + - * / sqrt fma, comparisons, integers and the helpers below. The same
 * source compiles as C11 and as CUDA C and gives the same bits (exact.h has the functions).
 *
 * Why no fminf, no casts, no libm: signed zeros differ, out-of-range casts differ, libm's differ.
 */
#ifndef MOTET_KERN_K_H
#define MOTET_KERN_K_H

#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__
#define K_FN       static __host__ __device__ __forceinline__
#define K_RESTRICT __restrict__
#else
#define K_FN       static inline __attribute__((always_inline, unused))
#define K_RESTRICT restrict
#include <float.h>
#if defined(__FAST_MATH__)
#error "kernels must not be compiled with -ffast-math: results would differ between builds"
#endif
#if FLT_EVAL_METHOD != 0
#error "kernels need float arithmetic in float (FLT_EVAL_METHOD 0)"
#endif
#endif

#ifdef __CUDA_ARCH__
K_FN float k_fmaf(float a, float b, float c) { return __fmaf_rn(a, b, c); }
K_FN double k_fma(double a, double b, double c) { return __fma_rn(a, b, c); }
K_FN float k_sqrtf(float a) { return __fsqrt_rn(a); }
K_FN double k_sqrt(double a) { return __dsqrt_rn(a); }
#else
K_FN float k_fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
K_FN double k_fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
K_FN float k_sqrtf(float a) { return __builtin_sqrtf(a); }
K_FN double k_sqrt(double a) { return __builtin_sqrt(a); }
#endif

/* Ordered so that a NaN in `a` gives `b`. */
K_FN float k_minf(float a, float b) { return a < b ? a : b; }
K_FN float k_maxf(float a, float b) { return a > b ? a : b; }
K_FN double k_min(double a, double b) { return a < b ? a : b; }
K_FN double k_max(double a, double b) { return a > b ? a : b; }
K_FN int64_t k_min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
K_FN int64_t k_max_i64(int64_t a, int64_t b) { return a > b ? a : b; }
/* [0, 1]; NaN gives 0. */
K_FN float k_saturatef(float a) { return a > 0.0f ? (a < 1.0f ? a : 1.0f) : 0.0f; }

#endif
