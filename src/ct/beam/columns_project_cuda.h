/* Projection, column form, for a GPU: the bits of ct_columns_project_item.
 *
 * A warp owns one (view, u) and up to 256 rows: lanes are neighbouring rows, the sums of 8 vectors
 * of them stay in registers. The chords of the ray come 32 at a time, a lane each: after j steps
 * the walk of ct_trace_next is in slab i and line j - i, and where the ray has passed j + 1 cells
 * of both axes together tells i up to rounding, which the crossings themselves then mend. The cells
 * that the rows see of the next 4 columns are copied to shared memory while the sums of the last 4
 * are made. A vector whose rows are all beyond the ends of the columns is left out.
 *
 * fminf and fmaxf stand for comparisons here. They differ from those in the sign of a zero alone,
 * where one end of a chord is 0 (its middle and length are the same then) or a part of it is; a
 * part that is no number becomes 0 in both.
 *
 * Every warp is on its own; there are no barriers of the block and no atomics. Rows see the chords
 * in the order of the item, and make of each what the item makes. Cells outside the volume are 0
 * here, which adds nothing to a sum that the item would not change. */
#ifndef MOTET_CT_COLUMNS_PROJECT_CUDA_H
#define MOTET_CT_COLUMNS_PROJECT_CUDA_H
#ifdef __CUDACC__

#include "ct/beam/columns_project.k.h"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

enum {
    CT_GPU_WARPS = 8,   /* of a block: neighbouring u of one view */
    CT_GPU_VECTORS = 8, /* of 32 rows, of a warp */
    CT_GPU_ROWS = 32 * CT_GPU_VECTORS,
    CT_GPU_VIEWS = 4,                 /* at work together: they share the volume in the cache */
    CT_GPU_CHORDS = 32,               /* that are listed at a time */
    CT_GPU_BATCH = 4,                 /* of them whose columns are copied at a time */
    CT_GPU_LANES = 32 / CT_GPU_BATCH, /* that copy one column */
    CT_GPU_ROUND = 4 * CT_GPU_LANES,  /* cells that they copy at a time */
    CT_GPU_WINDOW = 288,              /* cells of a column in shared memory */
    CT_GPU_ALIGN = 8,                 /* of a window's first cell */
    CT_GPU_THREADS = 32 * CT_GPU_WARPS,
    CT_GPU_ITEMS = CT_GPU_WARPS * CT_GPU_ROWS / CT_COLUMN_ROWS
};

/* What a warp keeps in shared memory. */
typedef struct ct_gpu_warp {
    float window[2][CT_GPU_BATCH][CT_GPU_WINDOW];
    float4 chord[2][CT_GPU_CHORDS]; /* middle, half of the length, length */
    const float *column[2][CT_GPU_CHORDS];
    float slope[2 * CT_GPU_VECTORS], fraction[2 * CT_GPU_VECTORS]; /* first and last row of each */
    int32_t whole[2 * CT_GPU_VECTORS];                             /* vector */
    double o_s, inverse_s, o_f, inverse_f;                         /* the ray */
    double start, rate; /* slabs passed after j steps: start + j rate */
    int32_t s, f, step; /* where the walk starts */
    float first, last;
} ct_gpu_warp;

enum { CT_GPU_SHARED = CT_GPU_WARPS * sizeof(ct_gpu_warp) };

/* Chords of the list and vectors of rows that see a window together. */
typedef struct ct_gpu_part {
    int32_t list, chords;
    uint32_t vectors;   /* a bit each */
    int32_t small;      /* no chord is longer than 1 */
    int32_t wide;       /* no window holds them: read from the volume itself */
    int32_t base, stop; /* cells of the window; those that there are not are 0 */
    int32_t begin, end; /* cells that there are: copied */
    int32_t rounds;     /* of CT_GPU_ROUND cells, so many exactly; 0: no such number, or some of a
                           batch's columns are not there */
    const float *const *column; /* of the first chord that the lane copies, the cell there, and */
    int32_t from;               /* where to in the first window; */
    float *to;
} ct_gpu_part;

/* The walk of the warp, and of the list at hand the vectors that are still to come. */
typedef struct ct_gpu_walk {
    int32_t steps, more, list, chords, small;
    uint32_t vectors;  /* to come; bit 4 r is vector r */
    int32_t low, high; /* cells that the lane's vector, lane / 4, sees */
} ct_gpu_walk;

/* Asynchronous copies to shared memory, in groups. */
__device__ __forceinline__ void ct_gpu_copy_16(float *to, const float *from)
{
    asm volatile(
        "cp.async.ca.shared.global [%0], [%1], 16;" ::"r"((uint32_t)__cvta_generic_to_shared(to)),
        "l"(from));
}
/* As that, from AT floats on. */
template <int AT>
__device__ __forceinline__ void ct_gpu_copy_16_if(int really, float *to, const float *from)
{
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0;"
                 "@p cp.async.ca.shared.global [%0 + %3], [%1 + %3], 16; }" ::"r"(
                     (uint32_t)__cvta_generic_to_shared(to)),
                 "l"(from), "r"(really), "n"(4 * AT));
}
__device__ __forceinline__ void ct_gpu_copy_4(float *to, const float *from)
{
    asm volatile(
        "cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((uint32_t)__cvta_generic_to_shared(to)),
        "l"(from));
}
__device__ __forceinline__ void ct_gpu_end_group(void)
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}
__device__ __forceinline__ void ct_gpu_await_all_but_one(void)
{
    asm volatile("cp.async.wait_group 1;" ::: "memory");
}
/* k_saturatef(k_fmaf(a, b, c)) in one instruction. */
__device__ __forceinline__ float ct_gpu_fma_saturate(float a, float b, float c)
{
    float d;
    asm("fma.rn.sat.f32 %0, %1, %2, %3;" : "=f"(d) : "f"(a), "f"(b), "f"(c));
    return d;
}

/* ct_cross; columns are at most 2^20 cells along any axis. */
__device__ __forceinline__ float ct_gpu_cross(double o, double inverse, double plane)
{
    return (float)((plane - o) * inverse);
}

/* Lists the next chords; walk->chords is 0 where there are none among them. */
__device__ __forceinline__ void ct_gpu_list(const ct_columns_project_args *a, ct_gpu_warp *w,
                                            ct_gpu_walk *walk)
{
    const int lane = threadIdx.x & 31;
    const int32_t j = walk->steps + lane, up = w->step > 0;
    const double guess = __fma_rn((double)(j + 1), w->rate, w->start);
    int32_t i = max(min(__double2int_rd(guess), j), 0), s, f;
    float enter_s, leave_s, enter_f, leave_f;
    for (;;) {
        s = w->s + i;
        f = w->f + (up ? j - i : i - j);
        const double low_s = s, low_f = f;
        const float a_f = ct_gpu_cross(w->o_f, w->inverse_f, low_f);
        const float b_f = ct_gpu_cross(w->o_f, w->inverse_f, low_f + 1.0);
        enter_s = ct_gpu_cross(w->o_s, w->inverse_s, low_s);
        leave_s = ct_gpu_cross(w->o_s, w->inverse_s, low_s + 1.0);
        enter_f = up ? a_f : b_f;
        leave_f = up ? b_f : a_f;
        if (i > 0 && enter_s > leave_f)
            i--;
        else if (i < j && !(enter_f < leave_s))
            i++;
        else
            break;
    }
    const int valid =
        s < (int32_t)a->end && (uint32_t)f < (uint32_t)a->space.n[a->space.f] && enter_s < w->last;
    const float t0 = fmaxf(fmaxf(enter_s, enter_f), w->first);
    const float t1 = fminf(fminf(leave_s, leave_f), w->last);
    const int some = valid && t1 > t0;
    const uint32_t which = __ballot_sync(~0u, some);
    walk->steps += CT_GPU_CHORDS;
    walk->more = __all_sync(~0u, valid);
    walk->chords = __popc(which);
    walk->small = __all_sync(~0u, !some || t1 - t0 <= 1.0f);
    if (some) {
        const int at = __popc(which & ((1u << lane) - 1));
        const float length = t1 - t0;
        w->chord[walk->list][at] = make_float4(0.5f * (t0 + t1), 0.5f * length, length, 0.0f);
        w->column[walk->list][at] =
            a->volume + (int64_t)(s - (int32_t)a->begin) * a->s_stride + f * a->f_stride;
    }
    __syncwarp();
}

/* Which cells each vector sees along the chords of the list: lane 4 r + 2 h + e looks at the first
 * (h = 0) or last row of vector r and the first or last chord. Rows are evenly spaced and rounding
 * moves none by a cell. */
__device__ __forceinline__ void ct_gpu_see(const ct_gpu_warp *w, ct_gpu_walk *walk, int32_t rows,
                                           int32_t cells)
{
    const int lane = threadIdx.x & 31, row = lane >> 1;
    const float middle = w->chord[walk->list][lane & 1 ? walk->chords - 1 : 0].x;
    const int32_t plane =
        w->whole[row] + (int32_t)ct_whole(k_fmaf(middle, w->slope[row], w->fraction[row]));
    int32_t low = min(plane, __shfl_xor_sync(~0u, plane, 1));
    int32_t high = max(plane, __shfl_xor_sync(~0u, plane, 1));
    /* Cells beside those planes, and one more on each side for rounding. */
    walk->low = min(low, __shfl_xor_sync(~0u, low, 2)) - 2;
    walk->high = max(high, __shfl_xor_sync(~0u, high, 2)) + 1;
    const int seen = 8 * lane < rows && walk->high >= 0 && walk->low < cells;
    walk->vectors = __ballot_sync(~0u, seen) & 0x11111111u;
}

/* Bits 0, 4, 8, .. 28 as bits 0 .. 7. */
__device__ __forceinline__ uint32_t ct_gpu_pack(uint32_t bits)
{
    bits = (bits | bits >> 3) & 0x03030303u;
    bits = (bits | bits >> 6) & 0x000f000fu;
    return (bits | bits >> 12) & 0xffu;
}

/* The next part; 0: there is none. */
__device__ __forceinline__ int ct_gpu_next(const ct_columns_project_args *a, ct_gpu_warp *w,
                                           ct_gpu_walk *walk, int32_t rows, int aligned,
                                           ct_gpu_part *part)
{
    const int32_t cells = (int32_t)a->space.n[a->space.w];
    if (!walk->vectors) walk->list = 1 - walk->list; /* the former is in use still */
    while (!walk->vectors) {
        if (!walk->more) return 0;
        ct_gpu_list(a, w, walk);
        if (walk->chords) ct_gpu_see(w, walk, rows, cells);
    }
    const int lane = threadIdx.x & 31;
    uint32_t take = walk->vectors;
    int32_t low, stop;
    for (;;) {
        const int mine = take >> (lane & ~3) & 1;
        low = __reduce_min_sync(~0u, mine ? walk->low : INT32_MAX) & -CT_GPU_ALIGN;
        stop = (__reduce_max_sync(~0u, mine ? walk->high : INT32_MIN) + 4) & -4;
        if (stop - low <= CT_GPU_WINDOW || !(take & (take - 1))) break;
        take &= ~(0x80000000u >> __clz(take)); /* fewer: without the last */
    }
    walk->vectors &= ~take;
    part->list = walk->list;
    part->chords = walk->chords;
    part->vectors = ct_gpu_pack(take);
    part->small = walk->small;
    part->wide = stop - low > CT_GPU_WINDOW;
    int32_t begin = max(low, 0), end = min(stop, cells);
    const int32_t grow = -(end - begin) & (CT_GPU_ROUND - 1); /* to whole rounds, where it can */
    if (end + grow <= cells && end + grow - low <= CT_GPU_WINDOW) {
        end += grow;
        stop = max(stop, end);
    } else if (begin - grow >= 0 && stop - min(low, begin - grow) <= CT_GPU_WINDOW) {
        begin -= grow;
        low = min(low, begin);
    }
    part->base = low;
    part->begin = begin;
    part->end = end;
    part->stop = stop;
    part->rounds = aligned && part->chords % CT_GPU_BATCH == 0 && (end - begin) % CT_GPU_ROUND == 0
                       ? (end - begin) / CT_GPU_ROUND
                       : 0;
    const int mine = lane / CT_GPU_LANES, l = lane % CT_GPU_LANES * (aligned ? 4 : 1);
    part->column = w->column[part->list] + mine;
    part->from = part->begin + l;
    part->to = w->window[0][mine] + (part->begin - part->base + l);
    return 1;
}

/* Writes the zeros of one of the two windows. */
__device__ __forceinline__ void ct_gpu_clear(ct_gpu_warp *w, int which, const ct_gpu_part *part)
{
    const int lane = threadIdx.x & 31;
    float *window = w->window[which][lane / CT_GPU_LANES];
#pragma unroll 1
    for (int32_t i = part->base + lane % CT_GPU_LANES; i < part->begin; i += CT_GPU_LANES)
        window[i - part->base] = 0.0f;
#pragma unroll 1
    for (int32_t i = part->end + lane % CT_GPU_LANES; i < part->stop; i += CT_GPU_LANES)
        window[i - part->base] = 0.0f;
}

/* Rounds from I on. */
template <int I>
__device__ __forceinline__ void ct_gpu_copy_rounds(float *to, const float *from, int32_t rounds)
{
    if constexpr (I < CT_GPU_WINDOW / CT_GPU_ROUND) {
        ct_gpu_copy_16_if<I * CT_GPU_ROUND>(I < rounds, to, from);
        ct_gpu_copy_rounds<I + 1>(to, from, rounds);
    }
}

/* Starts to copy what the part sees of the columns of chords [chord, chord + CT_GPU_BATCH). */
__device__ __forceinline__ void ct_gpu_copy(int which, const ct_gpu_part *part, int32_t chord,
                                            int aligned)
{
    const int lane = threadIdx.x & 31, l = lane % CT_GPU_LANES;
    const int32_t cells = part->end - part->begin;
    float *to = part->to + which * (CT_GPU_BATCH * CT_GPU_WINDOW);
    if (part->rounds) {
        const float *from = part->column[chord] + part->from;
        ct_gpu_copy_rounds<0>(to, from, part->rounds);
    } else if (chord + lane / CT_GPU_LANES < part->chords) {
        const float *from = part->column[chord] + part->from;
        if (aligned) {
#pragma unroll 1
            for (int32_t i = 0; i + 4 * l < cells; i += CT_GPU_ROUND)
                ct_gpu_copy_16(to + i, from + i);
        } else {
#pragma unroll 1
            for (int32_t i = 0; i + l < cells; i += CT_GPU_LANES) ct_gpu_copy_4(to + i, from + i);
        }
    }
}

/* The rows of a lane. */
typedef struct ct_gpu_rows {
    float slope[CT_GPU_VECTORS], fraction[CT_GPU_VECTORS], steep[CT_GPU_VECTORS];
    float sum[CT_GPU_VECTORS];
    /* Bytes from the start of shared memory to cell 0 of the first column in the first window, of
     * the row's `whole` and less what turns ct_whole's float into a number. */
    uint32_t cell[CT_GPU_VECTORS];
} ct_gpu_rows;

/* One chord and one row: ct_split_of and ct_column_add. SMALL: the chord is no longer than 1. */
template <int SMALL>
__device__ __forceinline__ void ct_gpu_add(ct_gpu_rows *rows, int r, float4 chord,
                                           const char *shared, uint32_t start, int offset)
{
    const float w = k_fmaf(chord.x, rows->slope[r], rows->fraction[r]);
    const float moved = w + 12582912.0f, plane = moved - 12582912.0f;
    const float away = plane - w;
    const float part = SMALL ? ct_gpu_fma_saturate(away, rows->steep[r], chord.y)
                             : fmaxf(k_fmaf(away, rows->steep[r], chord.y), 0.0f);
    const float low = fminf(part, chord.z);
    const float high = chord.z - low;
    const float *cell =
        (const float *)(shared + (int32_t)(start + (__float_as_uint(moved) << 2)) + offset);
    rows->sum[r] = k_fmaf(low, cell[-1], rows->sum[r]);
    rows->sum[r] = k_fmaf(high, cell[0], rows->sum[r]);
}

enum {
    CT_GPU_COLUMN = CT_GPU_WINDOW * sizeof(float),
    CT_GPU_TO_OTHER = CT_GPU_BATCH * CT_GPU_COLUMN /* window, in bytes */
};

/* So many chords with the first FIRST vectors, or where that is 0 with those that `vectors` has a
 * bit for. `offset`: bytes from the first column of the first window to that of the first chord. */
template <int FIRST, int SMALL, int CHORDS>
__device__ __forceinline__ void ct_gpu_sum(const float4 *list, uint32_t vectors, ct_gpu_rows *rows,
                                           uint32_t offset, const char *shared)
{
    float4 chord[CHORDS];
#pragma unroll
    for (int j = 0; j < CHORDS; j++) chord[j] = list[j];
    if (FIRST) {
        uint32_t start[CT_GPU_VECTORS];
#pragma unroll
        for (int r = 0; r < FIRST; r++) start[r] = rows->cell[r] + offset;
#pragma unroll
        for (int j = 0; j < CHORDS; j++)
#pragma unroll
            for (int r = 0; r < FIRST; r++)
                ct_gpu_add<SMALL>(rows, r, chord[j], shared, start[r], j * CT_GPU_COLUMN);
    } else {
#pragma unroll
        for (int r = 0; r < CT_GPU_VECTORS; r++)
            if (vectors >> r & 1) {
                const uint32_t start = rows->cell[r] + offset;
#pragma unroll
                for (int j = 0; j < CHORDS; j++)
                    ct_gpu_add<SMALL>(rows, r, chord[j], shared, start, j * CT_GPU_COLUMN);
            }
    }
}

/* The sums of a batch; `left`: chords from there on. */
__device__ __forceinline__ void ct_gpu_sums(const float4 *list, int32_t left, uint32_t vectors,
                                            int32_t small, ct_gpu_rows *rows, uint32_t offset,
                                            const char *shared)
{
    if (left >= CT_GPU_BATCH) {
        if (small && vectors == 0xffu)
            ct_gpu_sum<8, 1, CT_GPU_BATCH>(list, vectors, rows, offset, shared);
        else if (small && vectors == 0x7fu)
            ct_gpu_sum<7, 1, CT_GPU_BATCH>(list, vectors, rows, offset, shared);
        else if (small && vectors == 0x3fu)
            ct_gpu_sum<6, 1, CT_GPU_BATCH>(list, vectors, rows, offset, shared);
        else if (small && vectors == 0x1fu)
            ct_gpu_sum<5, 1, CT_GPU_BATCH>(list, vectors, rows, offset, shared);
        else if (small && vectors == 0x0fu)
            ct_gpu_sum<4, 1, CT_GPU_BATCH>(list, vectors, rows, offset, shared);
        else if (small)
            ct_gpu_sum<0, 1, CT_GPU_BATCH>(list, vectors, rows, offset, shared);
        else
            ct_gpu_sum<0, 0, CT_GPU_BATCH>(list, vectors, rows, offset, shared);
    } else {
#pragma unroll 1
        for (int32_t j = 0; j < left; j++)
            ct_gpu_sum<0, 0, 1>(list + j, vectors, rows, offset + j * CT_GPU_COLUMN, shared);
    }
}

/* A part without a window; `base`: shared memory's byte of the window. */
__device__ __forceinline__ void ct_gpu_sum_wide(const ct_gpu_warp *w, const ct_gpu_part *part,
                                                ct_gpu_rows *rows, uint32_t base, int32_t cells)
{
#pragma unroll 1
    for (int32_t j = 0; j < part->chords; j++) {
        const float4 c = w->chord[part->list][j];
        const float *column = w->column[part->list][j];
#pragma unroll
        for (int r = 0; r < CT_GPU_VECTORS; r++)
            if (part->vectors >> r & 1) {
                const float at = k_fmaf(c.x, rows->slope[r], rows->fraction[r]);
                const float plane = ct_whole(at);
                const float part_low = k_fmaf(plane - at, rows->steep[r], c.y);
                const float low = fminf(fmaxf(part_low, 0.0f), c.z), high = c.z - low;
                const int32_t k =
                    ((int32_t)(rows->cell[r] + (__float_as_uint(at + 12582912.0f) << 2) - base) >>
                     2) +
                    part->base;
                if (k >= 1 && k <= cells) rows->sum[r] = k_fmaf(low, column[k - 1], rows->sum[r]);
                if (k >= 0 && k < cells) rows->sum[r] = k_fmaf(high, column[k], rows->sum[r]);
            }
    }
}

/* Sums all that the walk meets: each batch while the next is on its way to the other window. */
__device__ __forceinline__ void ct_gpu_sum_all(const ct_columns_project_args *a, ct_gpu_warp *w,
                                               ct_gpu_walk *walk, int32_t rows_there,
                                               ct_gpu_rows *rows, const char *shared)
{
    const int aligned = ((uintptr_t)a->volume & 15) == 0 && (a->s_stride & 3) == 0 &&
                        (a->f_stride & 3) == 0 && (a->space.n[a->space.w] & 3) == 0;
    ct_gpu_part part; /* that is being copied */
    int32_t chord = 0, base = 0, there = 0, which = 0, clear = 0;
    part.chords = part.list = part.vectors = part.small = part.base = part.wide = 0;
    do {
        /* What has been copied. */
        const float4 *list = w->chord[part.list] + chord;
        const int32_t left = part.chords - chord, small = part.small, wide = part.wide;
        const uint32_t vectors = part.vectors;
        const ct_gpu_part now = part;
        const int32_t ready = there;
        if (part.base != base) {
#pragma unroll
            for (int r = 0; r < CT_GPU_VECTORS; r++)
                rows->cell[r] += 4u * (uint32_t)(base - part.base);
            base = part.base;
        }
        /* What is to be. */
        chord += CT_GPU_BATCH;
        if (chord >= part.chords || part.wide) {
            chord = 0;
            there = ct_gpu_next(a, w, walk, rows_there, aligned, &part);
            clear = part.base < part.begin || part.end < part.stop ? 2 : 0;
        }
        if (there && !part.wide) {
            if (clear) {
                ct_gpu_clear(w, 1 - which, &part);
                clear--;
            }
            ct_gpu_copy(1 - which, &part, chord, aligned);
        }
        ct_gpu_end_group();
        ct_gpu_await_all_but_one();
        __syncwarp();
        if (ready) {
            if (wide)
                ct_gpu_sum_wide(w, &now, rows, (uint32_t)((const char *)w - shared),
                                (int32_t)a->space.n[a->space.w]);
            else
                ct_gpu_sums(list, left, vectors, small, rows, which * CT_GPU_TO_OTHER, shared);
        }
        which = 1 - which;
        __syncwarp();
    } while (there);
}

/* Rows [row, row + rows) of the chunk, of one view and column. */
__device__ __forceinline__ void ct_gpu_project(const ct_columns_project_args *a, int64_t view,
                                               int64_t column, int64_t row, int32_t rows,
                                               ct_gpu_warp *w, const char *shared)
{
    const int lane = threadIdx.x & 31;
    const int64_t u = a->first_column + column;
    const ct_pose *pose = a->pose + view;
    float *out = a->sinogram + view * a->view_stride + column * a->column_stride + row;
    const int turned = ct_turned(&a->space, pose, u);
    /* Vectors that leave the column, or come to it late, are the last. */
    const double b = 0.5 * (double)a->space.n[a->space.w];
    const ct_row one = ct_row_of(&a->space, pose, a->first_row + row, turned);
    const ct_row end = ct_row_of(&a->space, pose, a->first_row + row + rows - 1, turned);
    const int32_t vectors = (rows + 31) / 32;
    const int back = k_abs((double)one.whole - b) > k_abs((double)end.whole - b);
    ct_gpu_rows mine;
#pragma unroll
    for (int r = 0; r < CT_GPU_VECTORS; r++) {
        const int32_t v = min(32 * (back ? max(vectors - 1 - r, 0) : r) + lane, rows - 1);
        const ct_row place = ct_row_of(&a->space, pose, a->first_row + row + v, turned);
        mine.slope[r] = place.slope;
        mine.fraction[r] = place.fraction;
        mine.steep[r] = place.steep;
        mine.sum[r] = a->starts ? 0.0f : out[v];
        /* Planes are less than 2^22 away from it, and columns at most 2^20 long: beyond, all the
         * same. */
        const int32_t whole = (int32_t)k_min_i64(k_max_i64(place.whole, -(1 << 24)), 1 << 24);
        mine.cell[r] = (uint32_t)((const char *)w - shared) + 4u * ((uint32_t)whole - 0x4b400000u);
        if (lane == 0 || lane == 31) {
            const int at = 2 * r + (lane == 31);
            w->slope[at] = place.slope;
            w->fraction[at] = place.fraction;
            w->whole[at] = whole;
        }
    }
    {
        const ct_trace trace = ct_trace_of(&a->space, pose, u, a->begin, a->end);
        if (lane == 0) {
            const double d_s = trace.ray.d[trace.axis_s], d_f = trace.ray.d[trace.axis_f];
            w->o_s = trace.ray.o[trace.axis_s];
            w->o_f = trace.ray.o[trace.axis_f];
            w->inverse_s = trace.ray.inverse[trace.axis_s];
            w->inverse_f = trace.ray.inverse[trace.axis_f];
            w->s = (int32_t)trace.s;
            w->f = (int32_t)trace.f;
            w->step = (int32_t)trace.step;
            w->first = trace.first;
            w->last = trace.last;
            const double x = w->o_s - (double)trace.s;
            const double y =
                trace.step > 0 ? w->o_f - (double)trace.f : (double)(trace.f + 1) - w->o_f;
            w->rate = d_s / (d_s + k_abs(d_f));
            w->start = x - (x + y) * w->rate;
        }
    }
    __syncwarp();

    ct_gpu_walk walk;
    walk.steps = 0;
    walk.more = 1;
    walk.list = 0;
    walk.vectors = 0;
    ct_gpu_sum_all(a, w, &walk, rows, &mine, shared);
#pragma unroll
    for (int r = 0; r < CT_GPU_VECTORS; r++) {
        const int32_t v = 32 * (back ? vectors - 1 - r : r) + lane;
        if (r < vectors && v < rows)
            out[v] = a->finishes ? ct_column_finish(a, pose, u, a->first_row + row + v, mine.sum[r])
                                 : mine.sum[r];
    }
    __syncwarp();
}

/* Block first / CT_GPU_ITEMS of as many as the items of the launch make. It takes the (view, u,
 * rows of a warp) in an order of its own: some views together, then along u, then along the rows.
 */
__device__ __forceinline__ void ct_columns_project_block(const ct_columns_project_args *a,
                                                         int64_t first, int64_t count, char *shared)
{
    (void)count;
    const int32_t warp =
        __shfl_sync(~0u, (int32_t)(threadIdx.x / 32), 0); /* the same, and known so */
    ct_gpu_warp *w = (ct_gpu_warp *)shared + warp;
    const int64_t blocks = (ct_columns_project_items(a) + CT_GPU_ITEMS - 1) / CT_GPU_ITEMS;
    const int64_t lines = (a->columns + CT_GPU_WARPS - 1) / CT_GPU_WARPS;
    const int64_t parts = (a->rows + CT_GPU_ROWS - 1) / CT_GPU_ROWS;
    for (int64_t i = first / CT_GPU_ITEMS; i < a->views * lines * parts; i += blocks) {
        const int64_t views = i / (CT_GPU_VIEWS * lines * parts) * CT_GPU_VIEWS;
        const int64_t some = k_min_i64(CT_GPU_VIEWS, a->views - views);
        const int64_t j = i - views * lines * parts;
        const int64_t view = views + j % some, line = j / some % lines, part = j / some / lines;
        const int64_t column = line * CT_GPU_WARPS + warp;
        const int64_t row = part * CT_GPU_ROWS;
        if (column < a->columns)
            ct_gpu_project(a, view, column, row, (int32_t)k_min_i64(CT_GPU_ROWS, a->rows - row), w,
                           shared);
    }
}

#else /* too old to copy to shared memory while it computes */

enum { CT_GPU_THREADS = 64, CT_GPU_ITEMS = 64, CT_GPU_SHARED = 0 };

__device__ __forceinline__ void ct_columns_project_block(const ct_columns_project_args *a,
                                                         int64_t first, int64_t count, char *shared)
{
    if ((int64_t)threadIdx.x < count) ct_columns_project_item(a, first + threadIdx.x, shared);
}

#endif
#endif
#endif
