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

/* Lane i is lane i + by of the two vectors in a row; 0 <= by < CT_LANES. */
K_FN ct_vi ct_vi_after(ct_vi a, ct_vi b, int by)
{
    const ct_vi at = ct_vi_iota() + ct_vi_of(by);
    return (ct_vi)_mm512_permutex2var_epi32((__m512i)a, (__m512i)at, (__m512i)b);
}

/* Lanes in which two vectors are the same. */
typedef struct ct_same {
    uint32_t bits; /* bit i: lane i */
} ct_same;

K_FN ct_same ct_same_of(ct_vi a, ct_vi b)
{
    return (ct_same){_mm512_cmpeq_epi32_mask((__m512i)a, (__m512i)b)};
}
K_FN ct_same ct_same_none(void) { return (ct_same){0}; }
K_FN uint32_t ct_same_bits(ct_same a) { return a.bits; }
K_FN ct_same ct_same_after(ct_same a, ct_same b, int by)
{
    return (ct_same){((b.bits << CT_LANES | a.bits) >> by) & 0xffffu};
}
/* a + b in these lanes; else a, of whatever sign where it is 0. */
K_FN ct_vf ct_vf_add_same(ct_same which, ct_vf a, ct_vf b)
{
    return (ct_vf)_mm512_mask_add_ps((__m512)a, (__mmask16)which.bits, (__m512)a, (__m512)b);
}
/* Bit i: lane i. */
K_FN uint32_t ct_vf_above(ct_vf a, ct_vf b)
{
    return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_GT_OQ);
}
/* The first `count` of them; the rest are 0. */
K_FN ct_vf ct_vf_load_some(const float *p, int64_t count)
{
    const uint32_t which = count < CT_LANES ? (1u << count) - 1u : 0xffffu;
    return (ct_vf)_mm512_maskz_loadu_ps((__mmask16)which, p);
}

/* Makes the table that ct_vf_pack looks up: none here. */
K_FN void ct_packs_make(uint64_t *packs) { (void)packs; }
/* The lanes of `which`, side by side from lane 0 on. */
K_FN ct_vf ct_vf_pack(const uint64_t *packs, uint32_t which, ct_vf a)
{
    (void)packs;
    return (ct_vf)_mm512_maskz_compress_ps((__mmask16)which, (__m512)a);
}

#else

K_FN ct_vi ct_vi_after(ct_vi a, ct_vi b, int by)
{
    const __m256i first = (__m256i)a, last = (__m256i)b;
    const __m256i middle = _mm256_permute2x128_si256(first, last, 0x21);
    switch (by) {
    case 0: return a;
    case 1: return (ct_vi)_mm256_alignr_epi8(middle, first, 4);
    case 2: return (ct_vi)_mm256_alignr_epi8(middle, first, 8);
    case 3: return (ct_vi)_mm256_alignr_epi8(middle, first, 12);
    case 4: return (ct_vi)middle;
    case 5: return (ct_vi)_mm256_alignr_epi8(last, middle, 4);
    case 6: return (ct_vi)_mm256_alignr_epi8(last, middle, 8);
    default: return (ct_vi)_mm256_alignr_epi8(last, middle, 12);
    }
}

typedef struct ct_same {
    ct_vi lanes; /* -1 where they are */
} ct_same;

K_FN ct_same ct_same_of(ct_vi a, ct_vi b) { return (ct_same){a == b}; }
K_FN ct_same ct_same_none(void) { return (ct_same){ct_vi_of(0)}; }
K_FN uint32_t ct_same_bits(ct_same a) { return (uint32_t)_mm256_movemask_ps((__m256)a.lanes); }
K_FN ct_same ct_same_after(ct_same a, ct_same b, int by)
{
    return (ct_same){ct_vi_after(a.lanes, b.lanes, by)};
}
K_FN ct_vf ct_vf_add_same(ct_same which, ct_vf a, ct_vf b)
{
    return a + (ct_vf)(which.lanes & (ct_vi)b);
}
K_FN uint32_t ct_vf_above(ct_vf a, ct_vf b)
{
    return (uint32_t)_mm256_movemask_ps((__m256)(a > b));
}
K_FN ct_vf ct_vf_load_some(const float *p, int64_t count)
{
    const ct_vi some = ct_vi_iota() < ct_vi_of(count < CT_LANES ? (int32_t)count : CT_LANES);
    return (ct_vf)_mm256_maskload_ps(p, (__m256i)some);
}

/* For each `which` the lanes that it packs, a byte each. */
K_FN void ct_packs_make(uint64_t *packs)
{
    for (uint32_t which = 0; which < 1u << CT_LANES; which++) {
        const uint64_t bytes = _pdep_u64(which, 0x0101010101010101u) * 0xffu;
        packs[which] = _pext_u64(0x0706050403020100u, bytes);
    }
}
K_FN ct_vf ct_vf_pack(const uint64_t *packs, uint32_t which, ct_vf a)
{
    const __m128i from = _mm_cvtsi64_si128((int64_t)packs[which]);
    return (ct_vf)_mm256_permutevar8x32_ps((__m256)a, _mm256_cvtepu8_epi32(from));
}

#endif

K_FN ct_vf ct_vf_after(ct_vf a, ct_vf b, int by)
{
    return (ct_vf)ct_vi_after((ct_vi)a, (ct_vi)b, by);
}

#endif
#endif
