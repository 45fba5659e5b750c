/* The fast range of ct_fdk: tile by tile, so that a tile's sums and what it touches of a view stay
 * near. Of each column of voxels the two columns of pixels are first blended over the rows that
 * it needs, which is half of the work of all its voxels. */
#ifndef MOTET_CT_FDK_BACKPROJECT_FAST_H
#define MOTET_CT_FDK_BACKPROJECT_FAST_H
#ifndef __CUDACC__

#include "ct/fdk/backproject.k.h"
#include "kern/k_vec.h"

enum { CT_FDK_WINDOW = 8 * CT_FDK_DEEP + 32 }; /* rows of the steepest column, and to spare */

K_FN size_t ct_fdk_scratch(void) { return sizeof(float) * (CT_FDK_ITEMS * CT_FDK_DEEP); }

static const float ct_fdk_count[CT_FDK_DEEP] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                                11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                                22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

/* The lines of pixels on both sides of a column of voxels, from row c->row on, and its bounds. */
typedef struct ct_fdk_lines {
    const float *left, *right; /* of row 0 of the detector */
    float first, last;         /* rows of the detector, counted from c->row */
} ct_fdk_lines;

/* Any steps: the blend is laid down, and lanes gather from it. */
K_FN void ct_fdk_column_gather(const ct_fdk_column *c, const ct_fdk_lines *p, float low, float high,
                               float *K_RESTRICT sum)
{
    float window[CT_FDK_WINDOW];
    const int32_t count = (int32_t)(high - low) + 1;
    const float *left = p->left + c->row + (int64_t)low;
    const float *right = p->right + c->row + (int64_t)low;
    for (int32_t r = 0; r < count; r++) window[r] = ct_fdk_between(left[r], right[r], c->u.part);
    /* The row after the last one is asked for, too: there is one, or its weight is 0. */
    const int more = high < p->last;
    window[count] = ct_fdk_between(left[count - !more], right[count - !more], c->u.part);
    const k_vf first = k_vf_set(p->first), last = k_vf_set(p->last), half = k_vf_set(0.5f);
    for (int i = 0; i < CT_FDK_DEEP; i += K_LANES) {
        const k_vf place =
            k_vf_fma(k_vf_load(ct_fdk_count + i), k_vf_set(c->step), k_vf_set(c->fraction));
        const k_vm on = k_vf_less_equal(first - half, place) & k_vf_less_equal(place, last + half);
        const k_vf up = k_vf_select(k_vf_less(first, place), place, first);
        const k_vf inside = k_vf_select(k_vf_less(up, last), up, last);
        const k_vf whole = k_vf_floor(inside);
        const k_vi at = k_vf_to_i32(whole - k_vf_set(low));
        const k_vf one = k_vf_gather(window, at), two = k_vf_gather(window + 1, at);
        const k_vf value = k_vf_fma(inside - whole, two - one, one), before = k_vf_load(sum + i);
        k_vf_store(sum + i, k_vf_select(on, k_vf_fma(k_vf_set(c->weight), value, before), before));
    }
}

#if defined(__AVX512F__)
/* Sixteen lanes whose rows lie within 31: two loads of each line, and permutations. */
K_FN void ct_fdk_column_permute(const ct_fdk_column *c, const ct_fdk_lines *p, int i, float low,
                                float *K_RESTRICT sum)
{
    const __m512 first = _mm512_set1_ps(p->first), last = _mm512_set1_ps(p->last);
    const __m512 half = _mm512_set1_ps(0.5f), part = _mm512_set1_ps(c->u.part);
    const __m512 place = _mm512_fmadd_ps(_mm512_loadu_ps(ct_fdk_count + i), _mm512_set1_ps(c->step),
                                         _mm512_set1_ps(c->fraction));
    const __mmask16 on = _mm512_cmp_ps_mask(place, _mm512_sub_ps(first, half), _CMP_GE_OQ) &
                         _mm512_cmp_ps_mask(place, _mm512_add_ps(last, half), _CMP_LE_OQ);
    const __m512 inside = _mm512_min_ps(_mm512_max_ps(place, first), last);
    const __m512 whole = _mm512_roundscale_ps(inside, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    const __m512i at = _mm512_cvttps_epi32(_mm512_sub_ps(whole, _mm512_set1_ps(low)));
    const __m512i next = _mm512_min_epi32(_mm512_add_epi32(at, _mm512_set1_epi32(1)),
                                          _mm512_set1_epi32((int32_t)k_minf(p->last - low, 31.0f)));
    const uint32_t rows = (uint32_t)k_minf(p->last - low + 1.0f, 32.0f); /* that there are */
    const uint32_t mask = (uint32_t)(((uint64_t)1 << rows) - 1);
    const __mmask16 near = (__mmask16)mask, far = (__mmask16)(mask >> 16);
    const float *left = p->left + c->row + (int64_t)low;
    const float *right = p->right + c->row + (int64_t)low;
    const __m512 l0 = _mm512_maskz_loadu_ps(near, left), r0 = _mm512_maskz_loadu_ps(near, right);
    const __m512 l1 = _mm512_maskz_loadu_ps(far, left + 16);
    const __m512 r1 = _mm512_maskz_loadu_ps(far, right + 16);
    const __m512 w0 = _mm512_fmadd_ps(part, _mm512_sub_ps(r0, l0), l0);
    const __m512 w1 = _mm512_fmadd_ps(part, _mm512_sub_ps(r1, l1), l1);
    const __m512 one = _mm512_permutex2var_ps(w0, at, w1);
    const __m512 two = _mm512_permutex2var_ps(w0, next, w1);
    const __m512 value =
        _mm512_fmadd_ps(_mm512_sub_ps(inside, whole), _mm512_sub_ps(two, one), one);
    const __m512 before = _mm512_loadu_ps(sum + i);
    _mm512_storeu_ps(sum + i, _mm512_mask3_fmadd_ps(_mm512_set1_ps(c->weight), value, before, on));
}
#endif

/* All voxels of a column in one view. */
K_FN void ct_fdk_column_add(const int lanes, const ct_fdk_args *a, int64_t k,
                            const ct_fdk_column *c, float *K_RESTRICT sum)
{
    if (lanes < CT_FDK_DEEP) {
        for (int i = 0; i < lanes; i++) sum[i] = ct_fdk_add_upright(a, k, c, i, sum[i]);
        return;
    }
    const ct_fdk_lines p = {ct_fdk_pixels(a, k, c->u.at),
                            ct_fdk_pixels(a, k, k_min_i64(c->u.at + 1, a->last_column)),
                            (float)-c->row, (float)(a->rows - 1 - c->row)};
    const float begin = ct_fdk_row_of(c, p.first, p.last, 0.0f).whole;
    const float end = ct_fdk_row_of(c, p.first, p.last, (float)(CT_FDK_DEEP - 1)).whole;
#if defined(__AVX512F__)
    const float one = ct_fdk_row_of(c, p.first, p.last, 15.0f).whole;
    const float two = ct_fdk_row_of(c, p.first, p.last, 16.0f).whole;
    if (k_absf(one - begin) <= 30.0f && k_absf(end - two) <= 30.0f) {
        ct_fdk_column_permute(c, &p, 0, k_minf(begin, one), sum);
        ct_fdk_column_permute(c, &p, 16, k_minf(two, end), sum);
        return;
    }
#endif
    ct_fdk_column_gather(c, &p, k_minf(begin, end), k_maxf(begin, end), sum);
}

/* Items [begin, end) of one tile. */
K_FN void ct_fdk_tile(const int lanes, const ct_fdk_args *a, int64_t x, int64_t y, int64_t z,
                      int64_t begin, int64_t end, float *sums)
{
    const int64_t deep = k_min_i64(CT_FDK_DEEP, a->count[2] - z);
    const int64_t lines = k_min_i64((end + CT_FDK_TILE - 1) / CT_FDK_TILE, a->count[1] - y);
    float *out = a->volume + z * a->slice_stride + y * a->line_stride + x;
    memset(sums, 0, sizeof *sums * CT_FDK_ITEMS * CT_FDK_DEEP);
    for (int64_t line = begin / CT_FDK_TILE; line < lines; line++) {
        const int64_t low = k_max_i64(begin - line * CT_FDK_TILE, 0);
        const int64_t high =
            k_min_i64(k_min_i64(end - line * CT_FDK_TILE, CT_FDK_TILE), a->count[0] - x);
        if (a->first_block) continue;
        for (int64_t i = low; i < high; i++)
            for (int64_t d = 0; d < deep; d++)
                sums[(line * CT_FDK_TILE + i) * CT_FDK_DEEP + d] =
                    out[d * a->slice_stride + line * a->line_stride + i];
    }
    const double wz = (double)(a->first[2] + z);
    for (int64_t k = 0; k < a->views; k++)
        for (int64_t line = begin / CT_FDK_TILE; line < lines; line++) {
            const int64_t low = k_max_i64(begin - line * CT_FDK_TILE, 0);
            const int64_t high =
                k_min_i64(k_min_i64(end - line * CT_FDK_TILE, CT_FDK_TILE), a->count[0] - x);
            const double wy = (double)(a->first[1] + y + line);
            ct_fdk_column column[CT_FDK_TILE];
            for (int i = 0; i < CT_FDK_TILE; i++)
                column[i] = ct_fdk_column_of(a, &a->view[k], (double)(a->first[0] + x + i), wy, wz);
            for (int64_t i = low; i < high; i++) {
                float *sum = sums + (line * CT_FDK_TILE + i) * CT_FDK_DEEP;
                const double wx = (double)(a->first[0] + x + i);
                if (column[i].general)
                    for (int64_t d = 0; d < deep; d++)
                        sum[d] = ct_fdk_add_general(a, k, wx, wy, wz + (double)d, sum[d]);
                else if (column[i].u.part >= 0.0f)
                    ct_fdk_column_add(lanes, a, k, &column[i], sum);
            }
        }
    for (int64_t d = 0; d < deep; d++)
        for (int64_t line = begin / CT_FDK_TILE; line < lines; line++) {
            const int64_t low = k_max_i64(begin - line * CT_FDK_TILE, 0);
            const int64_t high =
                k_min_i64(k_min_i64(end - line * CT_FDK_TILE, CT_FDK_TILE), a->count[0] - x);
            for (int64_t i = low; i < high; i++)
                out[d * a->slice_stride + line * a->line_stride + i] =
                    ct_fdk_outcome(a, sums[(line * CT_FDK_TILE + i) * CT_FDK_DEEP + d]);
        }
}

K_FN void ct_fdk_range(const ct_fdk_args *a, int64_t begin, int64_t end, void *scratch)
{
    const ct_fdk_tiles tiles = ct_fdk_tiles_of(a);
    for (int64_t next; begin < end; begin = next) {
        const int64_t number = begin / CT_FDK_ITEMS, origin = number * CT_FDK_ITEMS;
        next = k_min_i64(end, origin + CT_FDK_ITEMS);
        const int64_t tile = number % tiles.tiles;
        const int64_t x = tile % tiles.across * CT_FDK_TILE, y = tile / tiles.across * CT_FDK_TILE;
        const int64_t z = number / tiles.tiles * CT_FDK_DEEP;
        const int64_t from = begin - origin, to = next - origin;
        float *sums = (float *)scratch;
        if (a->count[2] - z == 1) /* a slice: most lanes would be idle */
            ct_fdk_tile(1, a, x, y, z, from, to, sums);
        else
            ct_fdk_tile(CT_FDK_DEEP, a, x, y, z, from, to, sums);
    }
}

#endif
#endif
