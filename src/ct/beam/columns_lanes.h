/* Rows of the detector as lanes: the fast range of projection works on so many at once. Each
 * operation does to a lane what the item does to a row. */
#ifndef MOTET_CT_COLUMNS_LANES_H
#define MOTET_CT_COLUMNS_LANES_H

#include "ct/beam/columns.k.h"

#if !defined(__CUDACC__) && !defined(CT_DOUBLE) && defined(__AVX512F__)
#include <immintrin.h>
#define CT_LANES 16
typedef float ct_vf __attribute__((vector_size(64)));
typedef int32_t ct_vi __attribute__((vector_size(64)));

K_FN ct_vf ct_vf_of(float a) { return (ct_vf)_mm512_set1_ps(a); }
K_FN ct_vi ct_vi_of(int32_t a) { return (ct_vi)_mm512_set1_epi32(a); }
K_FN ct_vf ct_vf_fma(ct_vf a, ct_vf b, ct_vf c)
{
    return (ct_vf)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}
/* As ct_least and ct_most. */
K_FN ct_vf ct_vf_least(ct_vf a, ct_vf b) { return (ct_vf)_mm512_min_ps((__m512)a, (__m512)b); }
K_FN ct_vf ct_vf_most(ct_vf a, ct_vf b) { return (ct_vf)_mm512_max_ps((__m512)a, (__m512)b); }

/* 2 CT_LANES cells of a column from `base` on; those outside [0, size) are 0. */
typedef struct ct_window {
    __m512 a, b;
} ct_window;

K_FN ct_window ct_window_of(const float *column, int64_t base)
{
    return (ct_window){_mm512_loadu_ps(column + base), _mm512_loadu_ps(column + base + 16)};
}

K_FN __mmask16 ct_window_mask(int64_t base, int64_t size)
{
    const __m512i at =
        _mm512_add_epi32(_mm512_set1_epi32((int32_t)base),
                         _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    return _mm512_cmplt_epu32_mask(at, _mm512_set1_epi32((int32_t)size));
}

K_FN ct_window ct_window_within(const float *column, int64_t base, int64_t size)
{
    return (ct_window){_mm512_maskz_loadu_ps(ct_window_mask(base, size), column + base),
                       _mm512_maskz_loadu_ps(ct_window_mask(base + 16, size), column + base + 16)};
}

/* Cell at[lane], counted from the window's base. */
K_FN ct_vf ct_window_cell(const ct_window *w, ct_vi at)
{
    return (ct_vf)_mm512_permutex2var_ps(w->a, (__m512i)at, w->b);
}

/* Cell at[lane] of a column; 0 outside [0, size). */
K_FN ct_vf ct_column_cell(const float *column, ct_vi at, int64_t size)
{
    const __mmask16 inside = _mm512_cmplt_epu32_mask((__m512i)at, _mm512_set1_epi32((int32_t)size));
    return (ct_vf)_mm512_mask_i32gather_ps(_mm512_setzero_ps(), inside, (__m512i)at, column, 4);
}

#elif !defined(__CUDACC__) && !defined(CT_DOUBLE) && defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#define CT_LANES 8
typedef float ct_vf __attribute__((vector_size(32)));
typedef int32_t ct_vi __attribute__((vector_size(32)));

K_FN ct_vf ct_vf_of(float a) { return (ct_vf)_mm256_set1_ps(a); }
K_FN ct_vi ct_vi_of(int32_t a) { return (ct_vi)_mm256_set1_epi32(a); }
K_FN ct_vf ct_vf_fma(ct_vf a, ct_vf b, ct_vf c)
{
    return (ct_vf)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}
K_FN ct_vf ct_vf_least(ct_vf a, ct_vf b) { return (ct_vf)_mm256_min_ps((__m256)a, (__m256)b); }
K_FN ct_vf ct_vf_most(ct_vf a, ct_vf b) { return (ct_vf)_mm256_max_ps((__m256)a, (__m256)b); }

typedef struct ct_window {
    __m256 a, b;
} ct_window;

K_FN ct_window ct_window_of(const float *column, int64_t base)
{
    return (ct_window){_mm256_loadu_ps(column + base), _mm256_loadu_ps(column + base + 8)};
}

/* -1 where 0 <= at < size. */
K_FN __m256i ct_lanes_within(__m256i at, int64_t size)
{
    return _mm256_and_si256(_mm256_cmpgt_epi32(at, _mm256_set1_epi32(-1)),
                            _mm256_cmpgt_epi32(_mm256_set1_epi32((int32_t)size), at));
}

K_FN ct_window ct_window_within(const float *column, int64_t base, int64_t size)
{
    const __m256i at = _mm256_add_epi32(_mm256_set1_epi32((int32_t)base),
                                        _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    const __m256i beyond = _mm256_add_epi32(at, _mm256_set1_epi32(8));
    return (ct_window){_mm256_maskload_ps(column + base, ct_lanes_within(at, size)),
                       _mm256_maskload_ps(column + base + 8, ct_lanes_within(beyond, size))};
}

K_FN ct_vf ct_window_cell(const ct_window *w, ct_vi at)
{
    const __m256 a = _mm256_permutevar8x32_ps(w->a, (__m256i)at);
    const __m256 b = _mm256_permutevar8x32_ps(w->b, (__m256i)at);
    return (ct_vf)_mm256_blendv_ps(a, b, _mm256_castsi256_ps(_mm256_slli_epi32((__m256i)at, 28)));
}

K_FN ct_vf ct_column_cell(const float *column, ct_vi at, int64_t size)
{
    return (ct_vf)_mm256_mask_i32gather_ps(_mm256_setzero_ps(), column, (__m256i)at,
                                           (__m256)ct_lanes_within((__m256i)at, size), 4);
}
#endif

#ifdef CT_LANES
K_FN ct_vf ct_vf_load(const float *p)
{
    ct_vf a;
    __builtin_memcpy(&a, p, sizeof a);
    return a;
}
K_FN ct_vi ct_vi_load(const int32_t *p)
{
    ct_vi a;
    __builtin_memcpy(&a, p, sizeof a);
    return a;
}
K_FN void ct_vf_store(float *p, ct_vf a) { __builtin_memcpy(p, &a, sizeof a); }
#endif

#endif
