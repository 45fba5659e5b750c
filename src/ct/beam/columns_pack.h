/* Lanes that move: what back-projection needs beside columns_lanes.h. */
#ifndef MOTET_CT_COLUMNS_PACK_H
#define MOTET_CT_COLUMNS_PACK_H

#include "ct/beam/columns_lanes.h"

#ifdef CT_LANES

K_FN ct_vi ct_vi_iota(void)
{
    ct_vi a;
    for (int i = 0; i < CT_LANES; i++) a[i] = i;
    return a;
}
K_FN void ct_vi_store(int32_t *p, ct_vi a) { __builtin_memcpy(p, &a, sizeof a); }

#if CT_LANES == 16

typedef struct ct_shift {
    __m512i at;
} ct_shift;

/* Lane i of `ct_after` is lane i + by of the two vectors in a row; 0 < by < CT_LANES. */
K_FN ct_shift ct_shift_of(int by) { return (ct_shift){(__m512i)(ct_vi_iota() + ct_vi_of(by))}; }
K_FN ct_vf ct_vf_after(ct_vf a, ct_vf b, ct_shift by)
{
    return (ct_vf)_mm512_permutex2var_ps((__m512)a, by.at, (__m512)b);
}
K_FN ct_vi ct_vi_after(ct_vi a, ct_vi b, ct_shift by)
{
    return (ct_vi)_mm512_permutex2var_epi32((__m512i)a, by.at, (__m512i)b);
}
/* Bit i: lane i. */
K_FN uint32_t ct_vi_equal(ct_vi a, ct_vi b)
{
    return _mm512_cmpeq_epi32_mask((__m512i)a, (__m512i)b);
}
K_FN uint32_t ct_vf_above(ct_vf a, ct_vf b)
{
    return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_GT_OQ);
}
/* a + b in the lanes of `which`, else a. */
K_FN ct_vf ct_vf_add_where(uint32_t which, ct_vf a, ct_vf b)
{
    return (ct_vf)_mm512_mask_add_ps((__m512)a, (__mmask16)which, (__m512)a, (__m512)b);
}
/* The first `count` of them; the rest are 0. */
K_FN ct_vf ct_vf_load_some(const float *p, int64_t count)
{
    const uint32_t which = count < CT_LANES ? (1u << count) - 1u : 0xffffu;
    return (ct_vf)_mm512_maskz_loadu_ps((__mmask16)which, p);
}

typedef struct ct_pack {
    __mmask16 which;
} ct_pack;

/* The lanes of `which`, side by side from lane 0 on. */
K_FN ct_pack ct_pack_of(uint32_t which) { return (ct_pack){(__mmask16)which}; }
K_FN ct_vf ct_vf_pack(ct_vf a, ct_pack pack)
{
    return (ct_vf)_mm512_maskz_compress_ps(pack.which, (__m512)a);
}

#else

typedef struct ct_shift {
    __m256i at, far; /* far: -1 where the lane is one of b */
} ct_shift;

K_FN ct_shift ct_shift_of(int by)
{
    const ct_vi at = ct_vi_iota() + ct_vi_of(by);
    return (ct_shift){(__m256i)at, (__m256i)(at > ct_vi_of(CT_LANES - 1))};
}
K_FN ct_vi ct_vi_after(ct_vi a, ct_vi b, ct_shift by)
{
    const __m256i both = _mm256_blendv_epi8(_mm256_permutevar8x32_epi32((__m256i)a, by.at),
                                            _mm256_permutevar8x32_epi32((__m256i)b, by.at), by.far);
    return (ct_vi)both;
}
K_FN ct_vf ct_vf_after(ct_vf a, ct_vf b, ct_shift by)
{
    return (ct_vf)ct_vi_after((ct_vi)a, (ct_vi)b, by);
}
K_FN uint32_t ct_vi_equal(ct_vi a, ct_vi b)
{
    return (uint32_t)_mm256_movemask_ps((__m256)(a == b));
}
K_FN uint32_t ct_vf_above(ct_vf a, ct_vf b)
{
    return (uint32_t)_mm256_movemask_ps((__m256)(a > b));
}
/* -1 in the lanes of `which`. */
K_FN ct_vi ct_lanes_of(uint32_t which)
{
    const ct_vi bit = ct_vi_of(1) << ct_vi_iota();
    return (ct_vi_of((int32_t)which) & bit) == bit;
}
K_FN ct_vf ct_vf_add_where(uint32_t which, ct_vf a, ct_vf b)
{
    return (ct_vf)_mm256_blendv_ps((__m256)a, (__m256)(a + b), (__m256)ct_lanes_of(which));
}
K_FN ct_vf ct_vf_load_some(const float *p, int64_t count)
{
    const ct_vi some = ct_vi_iota() < ct_vi_of(count < CT_LANES ? (int32_t)count : CT_LANES);
    return (ct_vf)_mm256_maskload_ps(p, (__m256i)some);
}

typedef struct ct_pack {
    __m256i from;
} ct_pack;

K_FN ct_pack ct_pack_of(uint32_t which)
{
    const uint64_t bytes = _pdep_u64(which, 0x0101010101010101u) * 0xffu;
    const uint64_t from = _pext_u64(0x0706050403020100u, bytes);
    return (ct_pack){_mm256_cvtepu8_epi32(_mm_cvtsi64_si128((int64_t)from))};
}
K_FN ct_vf ct_vf_pack(ct_vf a, ct_pack pack)
{
    return (ct_vf)_mm256_permutevar8x32_ps((__m256)a, pack.from);
}

#endif
#endif
#endif
