/* The tuned CUDA form of ct_columns_backproject: a block of threads is a tile, its sums stay in
 * registers over all views.
 *
 * Chords of the tile's columns are made once for each view, in ascending u, and the tile's part of
 * the rays is copied to shared memory, both one view ahead. A warp has four columns. Along a chord
 * each lane has rows that follow each other, computes their splits once, adds up what they put on
 * both sides of a plane, and leaves cells in shared memory as soon as both planes are known. What
 * two lanes share is settled last. Then lanes are cells, and add to the sums: those of the item.
 *
 * A view whose rays are too close, too many or too far away for this is left to the item's way. */
#ifndef MOTET_CT_COLUMNS_BACKPROJECT_CUDA_H
#define MOTET_CT_COLUMNS_BACKPROJECT_CUDA_H

#include "ct/beam/columns_backproject.k.h"

enum {
    CT_BLOCK_THREADS = 512,
    CT_BLOCK_WARPS = CT_BLOCK_THREADS / 32,
    CT_BLOCK_OWN = CT_COLUMNS_TILE / CT_BLOCK_WARPS, /* columns of a warp */
    CT_BLOCK_CELLS = CT_COLUMNS_W / 32,              /* of a lane */
    CT_BLOCK_VIEWS = 128,                            /* looked at together */
    CT_BLOCK_RAYS = 48,                              /* of a view, at most */
    CT_BLOCK_CROSS = CT_COLUMNS_S + 1 + CT_COLUMNS_F + 1,
    CT_BLOCK_CHORDS = 8, /* of a column */
    CT_BLOCK_ROWS = 640, /* of a view */
    CT_BLOCK_PAD = 32,   /* rows far away on each side */
    CT_BLOCK_TILE = 18200,
    CT_BLOCK_SHARE = 8, /* rows that may share a plane */
    CT_BLOCK_RUN = 15,  /* rows of a lane */
    CT_BLOCK_PLANES = CT_COLUMNS_W + 4
};

typedef struct ct_block_view { /* of one view */
    int32_t u, rays;           /* that may meet the tile */
    int32_t row, rows;         /* that may meet its cells */
    int32_t share;             /* rows of a plane, at most; 0: left to the item's way */
    int32_t full;              /* no plane is without rows */
} ct_block_view;

typedef struct ct_block_row {
    float fraction, slope, steep;
    int32_t whole; /* from the tile's second cell, less the bits of ct_whole's magic number */
} ct_block_row;

typedef struct ct_block_chord {
    float middle, length; /* t of the ray, not turned */
    int32_t ray;          /* where its rows begin in the tile */
    int32_t unused;
} ct_block_chord;

typedef struct ct_block_shared {
    float tile[2][CT_BLOCK_TILE];
    ct_block_row row[2][CT_BLOCK_ROWS + 3 * CT_BLOCK_PAD];
    ct_block_chord chord[2][CT_COLUMNS_TILE][CT_BLOCK_CHORDS];
    ct_block_view view[CT_BLOCK_VIEWS];
    float cross[2][CT_BLOCK_RAYS][CT_BLOCK_CROSS + 1];
    float above[CT_BLOCK_WARPS][CT_BLOCK_PLANES], below[CT_BLOCK_WARPS][CT_BLOCK_PLANES];
    int32_t chords[2][CT_COLUMNS_TILE];
} ct_block_shared;

/* The tile. */
typedef struct ct_block_place {
    int64_t s, f, w, end_s, end_f, cells;
} ct_block_place;

static __device__ ct_block_place ct_block_of(const ct_columns_backproject_args *a, int64_t number)
{
    const ct_columns_tiles tiles = ct_columns_tiles_of(a);
    const int64_t tile = number % tiles.tiles, w = number / tiles.tiles * CT_COLUMNS_W;
    const int64_t s = tile / tiles.along_f * CT_COLUMNS_S, f = tile % tiles.along_f * CT_COLUMNS_F;
    ct_block_place b;
    b.s = a->first_s + s;
    b.f = a->first_f + f;
    b.w = a->first_w + w;
    b.end_s = a->first_s + k_min_i64(s + CT_COLUMNS_S, a->count_s);
    b.end_f = a->first_f + k_min_i64(f + CT_COLUMNS_F, a->count_f);
    b.cells = k_min_i64(CT_COLUMNS_W, a->count_w - w);
    return b;
}

/* Between which t rays pass the tile: t grows along the detector's normal, whatever u. */
static __device__ void ct_block_depths(const ct_space *p, const ct_block_place *b,
                                       const ct_pose *pose, double t[2])
{
    const double qs = pose->ou[p->s] + pose->du[p->s], qf = pose->ou[p->f] + pose->du[p->f];
    const double whole = pose->d[p->s] * qf - pose->d[p->f] * qs;
    t[0] = k_infinity();
    t[1] = -k_infinity();
    for (int i = 0; i < 4; i++) {
        const double ps = (double)(i & 1 ? b->end_s : b->s) - pose->o[p->s];
        const double pf = (double)(i & 2 ? b->end_f : b->f) - pose->o[p->f];
        const double at = (ps * qf - pf * qs) / whole;
        t[0] = k_min(t[0], at);
        t[1] = k_max(t[1], at);
    }
    t[0] = k_min(k_max(t[0], pose->first), pose->last);
    t[1] = k_min(k_max(t[1], pose->first), pose->last);
}

/* What of a view the tile needs. */
static __device__ ct_block_view ct_block_look(const ct_space *p, const ct_block_place *b,
                                              const ct_pose *given)
{
    ct_block_view v = {0, 0, 0, 0, 0, 1};
    const ct_pose pose = ct_upright(p, given);
    const ct_near columns = ct_columns_near(p, &pose, b->s, b->end_s, b->f, b->end_f);
    if (columns.begin >= columns.end) return v;
    v.u = (int32_t)columns.begin;
    v.rays = (int32_t)(columns.end - columns.begin);
    double t[2], least = k_infinity(), most = 0.0;
    ct_block_depths(p, b, &pose, t);
    int64_t begin = p->rows, end = 0;
    for (int i = 0; i < 2; i++) { /* where a plane is seen is monotonous in t */
        const ct_climb climb = ct_climb_of(p, &pose, t[i]);
        if (climb.inverse == 0.0) return v;
        if (!(climb.step > 0x1p-10 * (k_abs(pose.ov[p->w]) + k_abs(t[i] * pose.dv[p->w]))))
            return v;
        least = k_min(least, climb.step);
        most = k_max(most, climb.step);
        const ct_near rows = ct_rows_near(p, climb, b->w, b->w + b->cells);
        begin = k_min_i64(begin, rows.begin);
        end = k_max_i64(end, rows.end);
        if (((double)b->w - 0.75 - climb.at) * climb.inverse < 0.0) v.full = 0;
        if (((double)(b->w + b->cells) + 0.75 - climb.at) * climb.inverse > (double)(p->rows - 1))
            v.full = 0;
    }
    if (begin >= end) { /* none: as if there were no rays */
        v.rays = 0;
        return v;
    }
    /* Float32 moves rows by so many cells. */
    double steepest = 0.0, reach = 0.0;
    const double far = k_max(k_abs(t[0]), k_abs(t[1]));
    for (int i = 0; i < 2; i++) {
        const double r = (double)(i ? end - 1 : begin) - p->middle_v;
        const double slope = k_abs(k_fma(r, pose.dv[p->w], pose.d[p->w]));
        const double at = k_fma(r, pose.ov[p->w], pose.o[p->w] - (double)b->w);
        steepest = k_max(steepest, slope);
        reach = k_max(reach, k_abs(at) + far * slope);
    }
    const double moves = 0x1p-20 * (1.0 + far * steepest);
    const double share = (1.0 + moves) / least * 1.0001;
    if (!(reach < 0x1p16) || !(moves <= 0.01) || !(share < (double)CT_BLOCK_SHARE)) return v;
    if (end - begin > CT_BLOCK_ROWS || v.rays > CT_BLOCK_RAYS) return v;
    if ((int64_t)v.rays * (end - begin + 2 * CT_BLOCK_PAD) > CT_BLOCK_TILE) return v;
    if (most * 1.0001 + moves > 1.0) v.full = 0;
    v.row = (int32_t)begin;
    v.rows = (int32_t)(end - begin);
    v.share = share < 2.0 ? 2 : (int32_t)share + 1;
    return v;
}

/* Where rays meet the planes of the tile's columns, and their ends. */
static __device__ void ct_block_cross(const ct_columns_backproject_args *a, const ct_block_place *b,
                                      const ct_block_view *v, const ct_pose *pose,
                                      float (*cross)[CT_BLOCK_CROSS + 1])
{
    const ct_space *p = &a->space;
    for (int i = (int)threadIdx.x; i < v->rays * CT_BLOCK_CROSS; i += CT_BLOCK_THREADS) {
        const int ray = i / CT_BLOCK_CROSS, plane = i % CT_BLOCK_CROSS;
        const int axis = plane <= CT_COLUMNS_S ? (int)p->s : (int)p->f;
        const int64_t at = plane <= CT_COLUMNS_S ? b->s + plane : b->f + plane - CT_COLUMNS_S - 1;
        const double u = (double)(v->u + ray) - p->middle_u, r = -p->middle_v;
        const double o = k_fma(r, pose->ov[axis], k_fma(u, pose->ou[axis], pose->o[axis]));
        const double along = k_fma(r, pose->dv[p->s], k_fma(u, pose->du[p->s], pose->d[p->s]));
        double d = k_fma(r, pose->dv[axis], k_fma(u, pose->du[axis], pose->d[axis]));
        if (along < 0.0) d = -d;
        const double inverse = k_abs(d) < 1e-280 ? 1e280 : 1.0 / d;
        cross[ray][plane] = (float)(((double)at - o) * inverse);
        if (plane == 0) cross[ray][CT_BLOCK_CROSS] = along < 0.0 ? -1.0f : 1.0f;
    }
}

/* The chords of the tile's columns, u ascending. */
static __device__ void ct_block_clip(const ct_columns_backproject_args *a, const ct_block_place *b,
                                     const ct_block_view *v, const ct_pose *pose,
                                     const float (*cross)[CT_BLOCK_CROSS + 1],
                                     ct_block_chord (*chord)[CT_BLOCK_CHORDS], int32_t *chords)
{
    const int lane = (int)threadIdx.x & 31, warp = (int)threadIdx.x / 32;
    const int pitch = v->rows + 2 * CT_BLOCK_PAD;
    const float before = (float)pose->first, after = (float)pose->last;
    for (int c = warp; c < CT_COLUMNS_TILE; c += CT_BLOCK_WARPS) {
        const int s = c / CT_COLUMNS_F, f = c % CT_COLUMNS_F;
        int count = 0;
        if (b->s + s < b->end_s && b->f + f < b->end_f && v->share)
            for (int first = 0; first < v->rays; first += 32) {
                const int ray = first + lane;
                float t0 = 0, t1 = 0, turn = 1.0f;
                if (ray < v->rays) {
                    const float *x = cross[ray], *y = x + CT_COLUMNS_S + 1;
                    turn = x[CT_BLOCK_CROSS];
                    const float begin = turn < 0 ? -after : before,
                                end = turn < 0 ? -before : after;
                    t0 = ct_most(ct_most(x[s], ct_least(y[f], y[f + 1])), begin);
                    t1 = ct_least(ct_least(x[s + 1], ct_most(y[f], y[f + 1])), end);
                }
                const unsigned met = __ballot_sync(0xffffffffu, t1 > t0);
                const int place = count + __popc(met & ((1u << lane) - 1u));
                if (t1 > t0 && place < CT_BLOCK_CHORDS) {
                    const ct_block_chord it = {0.5f * (t0 + t1) * turn, t1 - t0, ray * pitch, 0};
                    chord[c][place] = it;
                }
                count += __popc(met);
            }
        if (lane == 0) chords[c] = count;
    }
}

static __device__ void ct_block_rows(const ct_columns_backproject_args *a, const ct_block_place *b,
                                     const ct_block_view *v, const ct_pose *given,
                                     ct_block_row *row)
{
    const ct_space *p = &a->space;
    const ct_pose pose = ct_upright(p, given);
    const int many = max(v->rows + 2 * CT_BLOCK_PAD, 32 * CT_BLOCK_RUN) + CT_BLOCK_PAD;
    for (int i = (int)threadIdx.x; i < many; i += CT_BLOCK_THREADS) {
        ct_block_row it = {0.0f, 0.0f, 1.0f, (1 << 28) - 0x4b400001}; /* a plane far away */
        if (i >= CT_BLOCK_PAD && i < v->rows + CT_BLOCK_PAD) {
            const ct_row r = ct_row_of(p, &pose, v->row + i - CT_BLOCK_PAD, 0);
            it.fraction = r.fraction;
            it.slope = r.slope;
            it.steep = r.steep;
            it.whole =
                (int32_t)k_min_i64(k_max_i64(r.whole - b->w, -(1 << 24)), 1 << 24) - 0x4b400001;
        }
        row[i] = it;
    }
}

static __device__ void ct_block_copy(const ct_columns_backproject_args *a, const ct_block_view *v,
                                     int64_t view, float *tile)
{
    const ct_space *p = &a->space;
    const int lane = (int)threadIdx.x & 31, warp = (int)threadIdx.x / 32;
    const int pitch = v->rows + 2 * CT_BLOCK_PAD;
    for (int i = warp; i < v->rays; i += CT_BLOCK_WARPS) {
        const float *from = a->rays + (view * p->columns + v->u + i) * p->rows + v->row;
        const unsigned to = (unsigned)__cvta_generic_to_shared(tile + i * pitch + CT_BLOCK_PAD);
        for (int r = lane; r < v->rows; r += 32)
            asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\n" ::"r"(to + 4u * r),
                         "l"(from + r));
    }
}

/* A row's split of a chord, times its ray. `cell` is below its plane, counted from the tile's. */
typedef struct ct_block_part {
    int32_t cell;
    float above, below;
} ct_block_part;

static __device__ __forceinline__ ct_block_part ct_block_split(const ct_block_row row,
                                                               const ct_block_chord c, float ray)
{
    const float w = k_fmaf(c.middle, row.slope, row.fraction);
    const float moved = w + 12582912.0f, plane = moved - 12582912.0f;
    const float part = k_fmaf(plane - w, row.steep, 0.5f * c.length);
    const float low = fminf(fmaxf(part, 0.0f), c.length); /* never NaN */
    ct_block_part it;
    it.cell = (int32_t)k_f32_bits(moved) + row.whole;
    it.above = (c.length - low) * ray;
    it.below = low * ray;
    return it;
}

/* What a chord gives to all cells of its column, where at most two rows share a plane. Each lane
 * has RUN rows that follow each other. Of two lanes that share a plane the lower one has it: the
 * other stores a part of it first. GAPS: planes may be without rows. */
template <int RUN, bool GAPS>
static __device__ __forceinline__ void
ct_block_run(const ct_block_row *rows, const ct_block_chord c, const float *ray, float *cell)
{
    if (GAPS) {
        for (int i = (int)threadIdx.x & 31; i < CT_COLUMNS_W; i += 32) cell[i] = 0.0f;
        __syncwarp();
    }
    int32_t at = 0, first = 0;
    float above = 0.0f, below = 0.0f; /* of the plane at hand */
    float former = 0.0f;              /* above the plane before */
    float first_above = 0.0f, first_below = 0.0f, second_below = 0.0f;
    int planes = 0;
#pragma unroll
    for (int j = 0; j < RUN; j++) {
        const ct_block_part it = ct_block_split(rows[j], c, ray[j]);
        if (j == 0) {
            at = first = it.cell;
            above = it.above;
            below = it.below;
            continue;
        }
        const bool next = it.cell != at;
        if (next && (uint32_t)at < CT_COLUMNS_W) cell[at] = former + below;
        if (GAPS && next && (uint32_t)(at + 1) < CT_COLUMNS_W) cell[at + 1] = above;
        if (j <= 4 && next) { /* the first plane has two rows at most, the second as well */
            if (planes == 0) {
                first_above = above;
                first_below = below;
            } else if (planes == 1)
                second_below = !GAPS || at == first + 1 ? below : 0.0f;
            planes++;
        }
        const float kept = !GAPS || it.cell == at + 1 ? above : 0.0f;
        former = next ? kept : former;
        above = (next ? 0.0f : above) + it.above;
        below = (next ? 0.0f : below) + it.below;
        at = it.cell;
    }
    __syncwarp();
    const int32_t after = __shfl_down_sync(0xffffffffu, first, 1);
    const float more = __shfl_down_sync(0xffffffffu, first_above, 1);
    const float less = __shfl_down_sync(0xffffffffu, first_below, 1);
    const float then = __shfl_down_sync(0xffffffffu, second_below, 1);
    const bool same = after == at;
    if (same) {
        above += more;
        below += less;
    }
    if ((uint32_t)at < CT_COLUMNS_W) cell[at] = former + below;
    if ((uint32_t)(at + 1) < CT_COLUMNS_W)
        cell[at + 1] = above + (same ? then : !GAPS || after == at + 1 ? less : 0.0f);
    __syncwarp();
}

/* The same, however many rows share a plane. Lanes are rows; the first row of a plane gathers from
 * those that follow. Lanes whose followers are in the next group are done again there. */
static __device__ __forceinline__ void ct_block_scatter(const ct_block_row *rows, int count,
                                                        int share, const ct_block_chord c,
                                                        const float *ray, float *above,
                                                        float *below)
{
    const int lane = (int)threadIdx.x & 31, step = 32 - share;
    for (int i = lane; i <= CT_COLUMNS_W; i += 32) above[i] = below[i] = 0.0f;
    __syncwarp();
    for (int j = lane - 1; j - lane + 1 < count; j += step) {
        const ct_block_part it = ct_block_split(rows[j], c, ray[j]);
        float ups = it.above, downs = it.below;
        for (int i = 1; i < share; i++) {
            const int32_t cell = __shfl_down_sync(0xffffffffu, it.cell, i);
            const float more = __shfl_down_sync(0xffffffffu, it.above, i);
            const float less = __shfl_down_sync(0xffffffffu, it.below, i);
            if (cell == it.cell) {
                ups += more;
                downs += less;
            }
        }
        const int32_t former = __shfl_up_sync(0xffffffffu, it.cell, 1);
        const uint32_t plane = (uint32_t)it.cell + 1u;
        if (lane >= 1 && lane <= step && former != it.cell && plane <= CT_COLUMNS_W) {
            above[plane] = ups;
            below[plane] = downs;
        }
    }
    __syncwarp();
    float given[CT_BLOCK_CELLS];
#pragma unroll
    for (int j = 0; j < CT_BLOCK_CELLS; j++)
        given[j] = above[lane + 32 * j] + below[lane + 32 * j + 1];
    __syncwarp();
#pragma unroll
    for (int j = 0; j < CT_BLOCK_CELLS; j++) above[lane + 32 * j] = given[j];
    __syncwarp();
}

/* What a chord gave to cells, to the sums of column i. */
static __device__ __forceinline__ void ct_block_take(const float *cell, int i,
                                                     float (*sum)[CT_BLOCK_CELLS])
{
    const int lane = (int)threadIdx.x & 31;
    float more[CT_BLOCK_CELLS];
#pragma unroll
    for (int j = 0; j < CT_BLOCK_CELLS; j++) more[j] = cell[lane + 32 * j];
#define CT_BLOCK_CASE(n)                                                                           \
    case n: _Pragma("unroll") for (int j = 0; j < CT_BLOCK_CELLS; j++) sum[n][j] += more[j]; break;
    switch (i) {
        CT_BLOCK_CASE(0)
        CT_BLOCK_CASE(1)
        CT_BLOCK_CASE(2)
        CT_BLOCK_CASE(3)
    }
#undef CT_BLOCK_CASE
    __syncwarp();
}

/* All chords of the warp's columns. */
template <int RUN, bool GAPS>
static __device__ __forceinline__ void
ct_block_add(const ct_block_view *v, const ct_block_row *rows, const float *tile,
             const ct_block_chord (*chord)[CT_BLOCK_CHORDS], const int32_t *chords, float *above,
             float *below, float (*sum)[CT_BLOCK_CELLS])
{
    const int from = CT_BLOCK_PAD + ((int)threadIdx.x & 31) * RUN;
    ct_block_row kept[RUN + 1];
#pragma unroll
    for (int j = 0; j < RUN; j++) kept[j] = rows[from + j];
#pragma unroll 1
    for (int i = 0; i < CT_BLOCK_OWN; i++) {
        const int count = chords[i];
#pragma unroll 1
        for (int n = 0; n < count; n++) {
            const ct_block_chord c = chord[i][n];
            if (RUN)
                ct_block_run<RUN, GAPS>(kept, c, tile + c.ray + from, above);
            else
                ct_block_scatter(rows + CT_BLOCK_PAD, v->rows, v->share, c,
                                 tile + c.ray + CT_BLOCK_PAD, above, below);
            ct_block_take(above, i, sum);
        }
    }
}

/* The item's way, for one view and one cell. */
static __device__ __forceinline__ float ct_block_plainly(const ct_columns_backproject_args *a,
                                                         int64_t view, int64_t s, int64_t f,
                                                         int64_t w, float sum)
{
    const ct_space *space = &a->space;
    const ct_pose pose = ct_upright(space, &a->pose[view]);
    const ct_near columns = ct_columns_near(space, &pose, s, s + 1, f, f + 1);
    for (int64_t u = columns.begin; u < columns.end; u++) {
        const ct_ray ray = ct_ray_of(space, &pose, u, 0);
        const ct_piece chord = ct_column_clip(space, &ray, s, f);
        if (!(chord.t1 > chord.t0)) continue;
        const int turned = ct_turned(space, &pose, u);
        const double middle = (double)(0.5f * (chord.t0 + chord.t1));
        const ct_climb climb = ct_climb_of(space, &pose, turned ? -middle : middle);
        const float *rays = a->rays + (view * space->columns + u) * space->rows;
        sum += ct_column_gather(a, &pose, climb, chord, turned, rays, w);
    }
    return sum;
}

static __device__ void ct_columns_backproject_block(const ct_columns_backproject_args *a,
                                                    int64_t first, int64_t count, void *shared)
{
    (void)count; /* a whole tile: what is beyond the chunk does nothing */
    ct_block_shared *m = (ct_block_shared *)shared;
    const int lane = (int)threadIdx.x & 31, warp = (int)threadIdx.x / 32;
    const int own = warp * CT_BLOCK_OWN;
    const ct_block_place b = ct_block_of(a, first / CT_COLUMNS_TILE);
    float *above = m->above[warp], *below = m->below[warp];
    float sum[CT_BLOCK_OWN][CT_BLOCK_CELLS];
    const int64_t s = b.s + own / CT_COLUMNS_F, f = b.f + own % CT_COLUMNS_F;
    const int w = lane;
    float *out = a->volume + (s - a->first_s) * a->stride_s + (f - a->first_f) * a->stride_f +
                 (b.w - a->first_w + w) * a->stride_w;
#pragma unroll
    for (int i = 0; i < CT_BLOCK_OWN; i++)
#pragma unroll
        for (int j = 0; j < CT_BLOCK_CELLS; j++)
            sum[i][j] = !a->starts && s < b.end_s && f + i < b.end_f && w + 32 * j < b.cells
                            ? out[i * a->stride_f + 32 * j * a->stride_w]
                            : 0.0f;
    for (int64_t base = 0; base < a->views; base += CT_BLOCK_VIEWS) {
        const int views = (int)k_min_i64(CT_BLOCK_VIEWS, a->views - base);
        const ct_pose *pose = a->pose + base;
        __syncthreads();
        for (int k = (int)threadIdx.x; k < views; k += CT_BLOCK_THREADS)
            m->view[k] = ct_block_look(&a->space, &b, &pose[k]);
        __syncthreads();
        for (int k = -2; k < views; k++) {
            /* What later views need; `k` is ready. Half of the warps do it first, the others last,
             * so that the one's sums fill the other's waits. */
            const int next = (k + 1) & 1,
                      needs = k + 1 >= 0 && k + 1 < views && m->view[k + 1].share;
            if (needs) ct_block_copy(a, &m->view[k + 1], base + k + 1, m->tile[next]);
#pragma unroll 1
            for (int turn = 0; turn < 2; turn++) {
                if ((turn ^ warp / 4) & 1) {
                    if (k + 2 < views && m->view[k + 2].share)
                        ct_block_cross(a, &b, &m->view[k + 2], &pose[k + 2], m->cross[k & 1]);
                    if (needs) {
                        ct_block_rows(a, &b, &m->view[k + 1], &pose[k + 1], m->row[next]);
                        ct_block_clip(a, &b, &m->view[k + 1], &pose[k + 1], m->cross[next],
                                      m->chord[next], m->chords[next]);
                    }
                    continue;
                }
                if (k >= 0 && m->view[k].rays) {
                    const ct_block_view *v = &m->view[k];
                    const int at = k & 1;
                    int most = 0;
                    if (v->share)
                        for (int i = 0; i < CT_BLOCK_OWN; i++)
                            most = max(most, m->chords[at][own + i]);
#define CT_BLOCK_ADD(run, gaps)                                                                    \
    ct_block_add<run, gaps>(v, m->row[at], m->tile[at], m->chord[at] + own, m->chords[at] + own,   \
                            above, below, sum)
                    if (!v->share || most > CT_BLOCK_CHORDS) {
                        float now[CT_BLOCK_OWN * CT_BLOCK_CELLS];
#pragma unroll
                        for (int i = 0; i < CT_BLOCK_OWN * CT_BLOCK_CELLS; i++)
                            now[i] = sum[i / CT_BLOCK_CELLS][i % CT_BLOCK_CELLS];
#pragma unroll 1
                        for (int i = 0; i < CT_BLOCK_OWN * CT_BLOCK_CELLS; i++) {
                            const int column = i / CT_BLOCK_CELLS,
                                      cell = i % CT_BLOCK_CELLS * 32 + lane;
                            if (s < b.end_s && f + column < b.end_f && cell < b.cells)
                                now[i] = ct_block_plainly(a, base + k, s, f + column, b.w + cell,
                                                          now[i]);
                        }
                        __syncwarp();
#pragma unroll
                        for (int i = 0; i < CT_BLOCK_OWN * CT_BLOCK_CELLS; i++)
                            sum[i / CT_BLOCK_CELLS][i % CT_BLOCK_CELLS] = now[i];
                    } else if (v->share > 2 || v->rows > 32 * CT_BLOCK_RUN)
                        CT_BLOCK_ADD(0, true);
                    else if (!v->full && v->rows <= 32 * 9)
                        CT_BLOCK_ADD(9, true);
                    else if (!v->full && v->rows <= 32 * 13)
                        CT_BLOCK_ADD(13, true);
                    else if (!v->full)
                        CT_BLOCK_ADD(15, true);
                    else if (v->rows <= 32 * 9)
                        CT_BLOCK_ADD(9, false);
                    else if (v->rows <= 32 * 11)
                        CT_BLOCK_ADD(11, false);
                    else if (v->rows <= 32 * 13)
                        CT_BLOCK_ADD(13, false);
                    else
                        CT_BLOCK_ADD(15, false);
                }
            }
            asm volatile("cp.async.wait_all;\n" ::: "memory");
            __syncthreads();
        }
    }
#pragma unroll
    for (int i = 0; i < CT_BLOCK_OWN; i++)
#pragma unroll
        for (int j = 0; j < CT_BLOCK_CELLS; j++)
            if (s < b.end_s && f + i < b.end_f && w + 32 * j < b.cells)
                out[i * a->stride_f + 32 * j * a->stride_w] =
                    a->finishes ? ct_outcome(sum[i][j]) : sum[i][j];
}

#endif
