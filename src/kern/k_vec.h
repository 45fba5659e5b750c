/* Eight lanes of float or int32 for code that compilers do not turn into vectors by themselves
 * (tracers, searches). GCC's vector extension on the CPU, one lane on CUDA; the same operations
 * lane by lane as the scalar code, so the same bits. Masks are 0 or -1 in each lane: combine them
 * with & | ~. Values add, subtract, multiply and divide with the plain operators. */
#ifndef MOTET_KERN_K_VEC_H
#define MOTET_KERN_K_VEC_H

#include "kern/convert.h"

#if defined(__CUDACC__)

enum { K_LANES = 1 };
typedef float k_vf;
typedef int32_t k_vi;
typedef int32_t k_vm;

K_FN k_vf k_vf_set(float a) { return a; }
K_FN k_vi k_vi_set(int32_t a) { return a; }
K_FN k_vi k_vi_lanes(void) { return 0; }
K_FN k_vf k_vf_load(const float *p) { return *p; }
K_FN k_vi k_vi_load(const int32_t *p) { return *p; }
K_FN void k_vf_store(float *p, k_vf a) { *p = a; }
K_FN void k_vi_store(int32_t *p, k_vi a) { *p = a; }
K_FN float k_vf_lane(k_vf a, int lane) { return lane == 0 ? a : 0.0f; }
K_FN int32_t k_vi_lane(k_vi a, int lane) { return lane == 0 ? a : 0; }
K_FN k_vi k_vf_bits(k_vf a) { return (k_vi)k_f32_bits(a); }
K_FN k_vf k_bits_vf(k_vi a) { return k_bits_f32((uint32_t)a); }
K_FN k_vm k_vf_less(k_vf a, k_vf b) { return -(a < b); }
K_FN k_vm k_vf_less_equal(k_vf a, k_vf b) { return -(a <= b); }
K_FN k_vm k_vf_equal(k_vf a, k_vf b) { return -(a == b); }
K_FN k_vm k_vi_less(k_vi a, k_vi b) { return -(a < b); }
K_FN k_vm k_vi_equal(k_vi a, k_vi b) { return -(a == b); }
K_FN k_vf k_vf_select(k_vm m, k_vf a, k_vf b) { return m ? a : b; }
K_FN k_vi k_vi_select(k_vm m, k_vi a, k_vi b) { return m ? a : b; }
K_FN k_vf k_vf_fma(k_vf a, k_vf b, k_vf c) { return k_fmaf(a, b, c); }
K_FN k_vf k_vf_sqrt(k_vf a) { return k_sqrtf(a); }
K_FN k_vf k_vf_floor(k_vf a) { return k_floorf(a); }
K_FN k_vf k_vf_rint(k_vf a) { return k_rintf(a); }
K_FN k_vf k_vi_to_float(k_vi a) { return (float)a; }
K_FN k_vi k_vf_to_i32(k_vf a) { return k_to_i32(a); }
K_FN k_vf k_vf_gather(const float *p, k_vi at) { return p[at]; }
K_FN k_vi k_vi_gather(const int32_t *p, k_vi at) { return p[at]; }
K_FN int k_vm_any(k_vm m) { return m != 0; }
K_FN int k_vm_all(k_vm m) { return m != 0; }

#else

/* Everything here is inlined, so how vectors are passed does not matter. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif
#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#define K_VEC_AVX2 1
#else
#define K_VEC_AVX2 0
#endif

enum { K_LANES = 8 };
typedef float k_vf __attribute__((vector_size(32)));
typedef int32_t k_vi __attribute__((vector_size(32)));
typedef int32_t k_vm __attribute__((vector_size(32)));

K_FN k_vf k_vf_set(float a) { return (k_vf){a, a, a, a, a, a, a, a}; }
K_FN k_vi k_vi_set(int32_t a) { return (k_vi){a, a, a, a, a, a, a, a}; }
K_FN k_vi k_vi_lanes(void) { return (k_vi){0, 1, 2, 3, 4, 5, 6, 7}; }
/* No alignment is asked. */
K_FN k_vf k_vf_load(const float *p)
{
    k_vf a;
    __builtin_memcpy(&a, p, sizeof a);
    return a;
}
K_FN k_vi k_vi_load(const int32_t *p)
{
    k_vi a;
    __builtin_memcpy(&a, p, sizeof a);
    return a;
}
K_FN void k_vf_store(float *p, k_vf a) { __builtin_memcpy(p, &a, sizeof a); }
K_FN void k_vi_store(int32_t *p, k_vi a) { __builtin_memcpy(p, &a, sizeof a); }
K_FN float k_vf_lane(k_vf a, int lane) { return a[lane]; }
K_FN int32_t k_vi_lane(k_vi a, int lane) { return a[lane]; }
K_FN k_vi k_vf_bits(k_vf a) { return (k_vi)a; }
K_FN k_vf k_bits_vf(k_vi a) { return (k_vf)a; }

K_FN k_vm k_vf_less(k_vf a, k_vf b) { return (k_vm)(a < b); }
K_FN k_vm k_vf_less_equal(k_vf a, k_vf b) { return (k_vm)(a <= b); }
K_FN k_vm k_vf_equal(k_vf a, k_vf b) { return (k_vm)(a == b); }
K_FN k_vm k_vi_less(k_vi a, k_vi b) { return (k_vm)(a < b); }
K_FN k_vm k_vi_equal(k_vi a, k_vi b) { return (k_vm)(a == b); }

#if K_VEC_AVX2
K_FN k_vf k_vf_select(k_vm m, k_vf a, k_vf b)
{
    return (k_vf)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)m);
}
K_FN k_vi k_vi_select(k_vm m, k_vi a, k_vi b)
{
    return (k_vi)_mm256_blendv_epi8((__m256i)b, (__m256i)a, (__m256i)m);
}
K_FN k_vf k_vf_fma(k_vf a, k_vf b, k_vf c)
{
    return (k_vf)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}
K_FN k_vf k_vf_sqrt(k_vf a) { return (k_vf)_mm256_sqrt_ps((__m256)a); }
K_FN k_vf k_vf_floor(k_vf a)
{
    return (k_vf)_mm256_round_ps((__m256)a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}
K_FN k_vf k_vf_rint(k_vf a)
{
    return (k_vf)_mm256_round_ps((__m256)a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
/* p[at] in each lane; every index must lie in the array. */
K_FN k_vf k_vf_gather(const float *p, k_vi at)
{
    return (k_vf)_mm256_i32gather_ps(p, (__m256i)at, 4);
}
K_FN k_vi k_vi_gather(const int32_t *p, k_vi at)
{
    return (k_vi)_mm256_i32gather_epi32(p, (__m256i)at, 4);
}
K_FN int k_vm_any(k_vm m) { return _mm256_movemask_ps((__m256)m) != 0; }
K_FN int k_vm_all(k_vm m) { return _mm256_movemask_ps((__m256)m) == 255; }
#else
K_FN k_vi k_vi_select(k_vm m, k_vi a, k_vi b) { return (k_vi)((m & (k_vm)a) | (~m & (k_vm)b)); }
K_FN k_vf k_vf_select(k_vm m, k_vf a, k_vf b) { return (k_vf)k_vi_select(m, (k_vi)a, (k_vi)b); }
K_FN k_vf k_vf_fma(k_vf a, k_vf b, k_vf c)
{
    k_vf r;
    for (int i = 0; i < K_LANES; i++) r[i] = k_fmaf(a[i], b[i], c[i]);
    return r;
}
K_FN k_vf k_vf_sqrt(k_vf a)
{
    k_vf r;
    for (int i = 0; i < K_LANES; i++) r[i] = k_sqrtf(a[i]);
    return r;
}
K_FN k_vf k_vf_floor(k_vf a)
{
    k_vf r;
    for (int i = 0; i < K_LANES; i++) r[i] = k_floorf(a[i]);
    return r;
}
K_FN k_vf k_vf_rint(k_vf a)
{
    k_vf r;
    for (int i = 0; i < K_LANES; i++) r[i] = k_rintf(a[i]);
    return r;
}
K_FN k_vf k_vf_gather(const float *p, k_vi at)
{
    k_vf r;
    for (int i = 0; i < K_LANES; i++) r[i] = p[at[i]];
    return r;
}
K_FN k_vi k_vi_gather(const int32_t *p, k_vi at)
{
    k_vi r;
    for (int i = 0; i < K_LANES; i++) r[i] = p[at[i]];
    return r;
}
K_FN int k_vm_any(k_vm m)
{
    int32_t r = 0;
    for (int i = 0; i < K_LANES; i++) r |= m[i];
    return r != 0;
}
K_FN int k_vm_all(k_vm m)
{
    int32_t r = -1;
    for (int i = 0; i < K_LANES; i++) r &= m[i];
    return r != 0;
}
#endif

K_FN k_vf k_vi_to_float(k_vi a) { return __builtin_convertvector(a, k_vf); }
/* As k_to_i32: NaN gives 0, values outside the nearest end. */
K_FN k_vi k_vf_to_i32(k_vf a)
{
    const k_vf low = k_vf_select(k_vf_less(k_vf_set(-0x1p31f), a), a, k_vf_set(-0x1p31f));
    const k_vf in =
        k_vf_select(k_vf_less(low, k_vf_set(0x1.fffffep30f)), low, k_vf_set(0x1.fffffep30f));
    const k_vi n = __builtin_convertvector(in, k_vi);
    const k_vi kept = k_vi_select(k_vf_equal(a, a), n, k_vi_set(0));
    return k_vi_select(k_vf_less(a, k_vf_set(0x1p31f)) | ~k_vf_equal(a, a), kept,
                       k_vi_set(INT32_MAX));
}

#endif

/* a < b ? a : b and a > b ? a : b in each lane, as k_minf and k_maxf: a NaN in `a` gives `b`. */
K_FN k_vf k_vf_min(k_vf a, k_vf b) { return k_vf_select(k_vf_less(a, b), a, b); }
K_FN k_vf k_vf_max(k_vf a, k_vf b) { return k_vf_select(k_vf_less(b, a), a, b); }
K_FN k_vf k_vf_abs(k_vf a) { return k_bits_vf(k_vf_bits(a) & k_vi_set(0x7fffffff)); }
/* Gathers where m is set, `other` elsewhere; only the indices of set lanes must lie in the array,
 * which is not empty. */
K_FN k_vf k_vf_gather_if(k_vm m, const float *p, k_vi at, k_vf other)
{
    return k_vf_select(m, k_vf_gather(p, at & m), other);
}

#endif
