/* Rays as lanes, in float64: 8 with AVX-512, 4 with AVX2. Each operation does to a lane what the
 * item does to a ray. + - * / are the plain operators. */
#ifndef MOTET_CT_RAYS_LANES_H
#define MOTET_CT_RAYS_LANES_H

#include "ct/beam/beam.k.h"

#if !defined(__CUDACC__) && !defined(CT_DOUBLE) && defined(__AVX512F__) &&                         \
    defined(__AVX512DQ__) && defined(__AVX512VL__)
#include <immintrin.h>
#define CT_RAYS_LANES 8
typedef double ct_vd __attribute__((vector_size(64)));
typedef int64_t ct_vl __attribute__((vector_size(64)));
typedef float ct_vs __attribute__((vector_size(32)));
typedef __mmask8 ct_vm;

K_FN ct_vd ct_vd_of(double a) { return (ct_vd)_mm512_set1_pd(a); }
K_FN ct_vl ct_vl_of(int64_t a) { return (ct_vl)_mm512_set1_epi64(a); }
K_FN ct_vd ct_vd_fma(ct_vd a, ct_vd b, ct_vd c)
{
    return (ct_vd)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}
K_FN ct_vd ct_vd_sqrt(ct_vd a) { return (ct_vd)_mm512_sqrt_pd((__m512d)a); }
K_FN ct_vd ct_vd_floor(ct_vd a)
{
    return (ct_vd)_mm512_roundscale_pd((__m512d)a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}
K_FN ct_vd ct_vd_abs(ct_vd a) { return (ct_vd)_mm512_abs_pd((__m512d)a); }
/* As k_min and k_max. */
K_FN ct_vd ct_vd_min(ct_vd a, ct_vd b) { return (ct_vd)_mm512_min_pd((__m512d)a, (__m512d)b); }
K_FN ct_vd ct_vd_max(ct_vd a, ct_vd b) { return (ct_vd)_mm512_max_pd((__m512d)a, (__m512d)b); }
K_FN ct_vm ct_vd_less(ct_vd a, ct_vd b)
{
    return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_LT_OQ);
}
K_FN ct_vm ct_vd_differ(ct_vd a, ct_vd b)
{
    return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_NEQ_OQ);
}
K_FN ct_vm ct_vm_and(ct_vm a, ct_vm b) { return (ct_vm)(a & b); }
K_FN ct_vm ct_vm_and_not(ct_vm a, ct_vm b) { return (ct_vm)(a & ~b); }
K_FN int ct_vm_any(ct_vm m) { return m != 0; }
/* m ? a : b */
K_FN ct_vd ct_vd_select(ct_vm m, ct_vd a, ct_vd b)
{
    return (ct_vd)_mm512_mask_blend_pd(m, (__m512d)b, (__m512d)a);
}
K_FN ct_vs ct_vs_select(ct_vm m, ct_vs a, ct_vs b)
{
    return (ct_vs)_mm256_mask_blend_ps(m, (__m256)b, (__m256)a);
}
/* a + b where m, else a. */
K_FN ct_vd ct_vd_add_where(ct_vm m, ct_vd a, ct_vd b)
{
    return (ct_vd)_mm512_mask_add_pd((__m512d)a, m, (__m512d)a, (__m512d)b);
}
K_FN ct_vl ct_vl_add_where(ct_vm m, ct_vl a, ct_vl b)
{
    return (ct_vl)_mm512_mask_add_epi64((__m512i)a, m, (__m512i)a, (__m512i)b);
}
K_FN ct_vs ct_vd_to_float(ct_vd a) { return (ct_vs)_mm512_cvtpd_ps((__m512d)a); }
K_FN ct_vs ct_vs_fma(ct_vs a, ct_vs b, ct_vs c)
{
    return (ct_vs)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}

#elif !defined(__CUDACC__) && !defined(CT_DOUBLE) && defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#define CT_RAYS_LANES 4
typedef double ct_vd __attribute__((vector_size(32)));
typedef int64_t ct_vl __attribute__((vector_size(32)));
typedef float ct_vs __attribute__((vector_size(16)));
typedef ct_vl ct_vm; /* 0 or -1 */

K_FN ct_vd ct_vd_of(double a) { return (ct_vd)_mm256_set1_pd(a); }
K_FN ct_vl ct_vl_of(int64_t a) { return (ct_vl)_mm256_set1_epi64x(a); }
K_FN ct_vd ct_vd_fma(ct_vd a, ct_vd b, ct_vd c)
{
    return (ct_vd)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}
K_FN ct_vd ct_vd_sqrt(ct_vd a) { return (ct_vd)_mm256_sqrt_pd((__m256d)a); }
K_FN ct_vd ct_vd_floor(ct_vd a) { return (ct_vd)_mm256_floor_pd((__m256d)a); }
K_FN ct_vd ct_vd_abs(ct_vd a) { return (ct_vd)_mm256_andnot_pd(_mm256_set1_pd(-0.0), (__m256d)a); }
/* As k_min and k_max. */
K_FN ct_vd ct_vd_min(ct_vd a, ct_vd b) { return (ct_vd)_mm256_min_pd((__m256d)a, (__m256d)b); }
K_FN ct_vd ct_vd_max(ct_vd a, ct_vd b) { return (ct_vd)_mm256_max_pd((__m256d)a, (__m256d)b); }
K_FN ct_vm ct_vd_less(ct_vd a, ct_vd b)
{
    return (ct_vm)_mm256_cmp_pd((__m256d)a, (__m256d)b, _CMP_LT_OQ);
}
K_FN ct_vm ct_vd_differ(ct_vd a, ct_vd b)
{
    return (ct_vm)_mm256_cmp_pd((__m256d)a, (__m256d)b, _CMP_NEQ_OQ);
}
K_FN ct_vm ct_vm_and(ct_vm a, ct_vm b) { return a & b; }
K_FN ct_vm ct_vm_and_not(ct_vm a, ct_vm b) { return a & ~b; }
K_FN int ct_vm_any(ct_vm m) { return _mm256_movemask_pd((__m256d)m) != 0; }
/* m ? a : b */
K_FN ct_vd ct_vd_select(ct_vm m, ct_vd a, ct_vd b)
{
    return (ct_vd)_mm256_blendv_pd((__m256d)b, (__m256d)a, (__m256d)m);
}
K_FN ct_vs ct_vs_select(ct_vm m, ct_vs a, ct_vs b)
{
    const __m256i low = _mm256_permutevar8x32_epi32(
        (__m256i)m, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6)); /* a mask of floats */
    return (ct_vs)_mm_blendv_ps((__m128)b, (__m128)a,
                                _mm_castsi128_ps(_mm256_castsi256_si128(low)));
}
/* a + b where m, else a: values that are sums of whole numbers. */
K_FN ct_vd ct_vd_add_where(ct_vm m, ct_vd a, ct_vd b) { return a + (ct_vd)(m & (ct_vl)b); }
K_FN ct_vl ct_vl_add_where(ct_vm m, ct_vl a, ct_vl b) { return a + (m & b); }
K_FN ct_vs ct_vd_to_float(ct_vd a) { return (ct_vs)_mm256_cvtpd_ps((__m256d)a); }
K_FN ct_vs ct_vs_fma(ct_vs a, ct_vs b, ct_vs c)
{
    return (ct_vs)_mm_fmadd_ps((__m128)a, (__m128)b, (__m128)c);
}
#endif

#ifdef CT_RAYS_LANES
K_FN ct_vd ct_vd_load(const double *p)
{
    ct_vd a;
    __builtin_memcpy(&a, p, sizeof a);
    return a;
}
K_FN void ct_vd_store(double *p, ct_vd a) { __builtin_memcpy(p, &a, sizeof a); }
K_FN ct_vl ct_vl_load(const int64_t *p)
{
    ct_vl a;
    __builtin_memcpy(&a, p, sizeof a);
    return a;
}
K_FN void ct_vl_store(int64_t *p, ct_vl a) { __builtin_memcpy(p, &a, sizeof a); }
K_FN ct_vs ct_vs_load(const float *p)
{
    ct_vs a;
    __builtin_memcpy(&a, p, sizeof a);
    return a;
}
K_FN void ct_vs_store(float *p, ct_vs a) { __builtin_memcpy(p, &a, sizeof a); }
K_FN ct_vs ct_vs_of(float a) { return (ct_vs){0} + a; }
/* p[at] in each lane, one by one: faster here than the processors' own gathers. */
K_FN ct_vs ct_vs_gather(const float *p, ct_vl at)
{
    int64_t i[CT_RAYS_LANES];
    float value[CT_RAYS_LANES];
    ct_vl_store(i, at);
    for (int l = 0; l < CT_RAYS_LANES; l++) value[l] = p[i[l]];
    return ct_vs_load(value);
}
#endif

#endif
