/* The fast range of ct_columns_project: the chords of a (view, u) are listed once for all its rows,
 * and rows are lanes. Where the cells that the lanes read of a column lie within a window of
 * 2 CT_LANES, two loads and a permutation replace the gather.
 *
 * Where the lanes of a vector lie follows from its first and its last row: rows are evenly spaced,
 * and rounding moves none by a cell. Cells outside the volume read 0, which adds nothing to a sum
 * that the item would not change. */
#ifndef MOTET_CT_COLUMNS_PROJECT_FAST_H
#define MOTET_CT_COLUMNS_PROJECT_FAST_H
#ifndef __CUDACC__

#include "ct/beam/columns_lanes.h"
#include "ct/beam/columns_project.k.h"

enum {
    CT_LIST_CHORDS = 256, /* that are listed before they are used */
    CT_LIST_ROWS = 512    /* of a (view, u) that share the list */
};

typedef struct ct_columns_list {
    float middle[CT_LIST_CHORDS], half[CT_LIST_CHORDS], length[CT_LIST_CHORDS];
    const float *cell[CT_LIST_CHORDS]; /* of the column */
    int32_t base[CT_LIST_CHORDS];      /* of the window of a vector of rows, or a CT_WINDOW */
    float slope[CT_LIST_ROWS], fraction[CT_LIST_ROWS], steep[CT_LIST_ROWS], sum[CT_LIST_ROWS];
    int32_t whole[CT_LIST_ROWS];
} ct_columns_list;

K_FN size_t ct_columns_project_scratch(void) { return sizeof(ct_columns_list); }

#ifdef CT_LANES

enum { CT_WINDOW_NONE = INT32_MIN, CT_WINDOW_WIDE };

/* Rows [first, first + rows) of the detector; up to the next whole vector the last is repeated. */
K_FN void ct_list_rows(const ct_columns_project_args *a, const ct_pose *pose, int turned,
                       int64_t first, int64_t rows, ct_columns_list *list)
{
    const int64_t padded = (rows + CT_LANES - 1) / CT_LANES * CT_LANES;
    for (int64_t r = 0; r < padded; r++) {
        const ct_row row = ct_row_of(&a->space, pose, first + k_min_i64(r, rows - 1), turned);
        list->slope[r] = row.slope;
        list->fraction[r] = row.fraction;
        list->steep[r] = row.steep;
        /* Planes are less than 2^22 away from it, and columns at most 2^20 long: beyond, all the
         * same. */
        list->whole[r] = (int32_t)k_min_i64(k_max_i64(row.whole, -(1 << 24)), 1 << 24);
    }
}

K_FN int64_t ct_list_chords(const ct_columns_project_args *a, ct_trace *trace,
                            ct_columns_list *list)
{
    int64_t n = 0, s, f;
    ct_piece piece;
    while (n < CT_LIST_CHORDS && ct_trace_next(trace, &s, &f, &piece)) {
        list->middle[n] = 0.5f * (piece.t0 + piece.t1);
        list->length[n] = piece.t1 - piece.t0;
        list->half[n] = 0.5f * list->length[n];
        list->cell[n] = a->volume + (s - a->begin) * a->s_stride + f * a->f_stride;
        n++;
    }
    return n;
}

/* Where the vector of rows from `row` on lies in each column. */
K_FN void ct_list_windows(ct_columns_list *list, int64_t chords, int64_t row, int32_t cells)
{
    const int64_t last = row + CT_LANES - 1;
    const float slope = list->slope[row], fraction = list->fraction[row];
    const float last_slope = list->slope[last], last_fraction = list->fraction[last];
    const int32_t whole = list->whole[row], last_whole = list->whole[last];
    for (int64_t i = 0; i < chords; i++) {
        const float one = ct_whole(k_fmaf(list->middle[i], slope, fraction));
        const float two = ct_whole(k_fmaf(list->middle[i], last_slope, last_fraction));
        const int32_t p = whole + (int32_t)one, q = last_whole + (int32_t)two;
        /* Cells beside those planes, and one more on each side for rounding. */
        const int32_t low = (p < q ? p : q) - 2, high = (p < q ? q : p) + 1;
        const int32_t at = high - low < 2 * CT_LANES ? low : CT_WINDOW_WIDE;
        list->base[i] = ((high < 0) | (low >= cells)) ? CT_WINDOW_NONE : at;
    }
}

/* A chord to a vector of rows. */
typedef struct ct_rows {
    ct_vf slope, fraction, steep;
    ct_vi whole; /* less what turns ct_whole's float into the cell below the plane */
} ct_rows;

typedef struct ct_parts {
    ct_vf low, high;
    ct_vi below; /* the cell of `low` */
} ct_parts;

K_FN ct_parts ct_parts_of(const ct_rows *rows, ct_vf middle, ct_vf half, ct_vf length)
{
    const ct_vf magic = ct_vf_of(12582912.0f); /* of ct_whole */
    const ct_vf w = ct_vf_fma(middle, rows->slope, rows->fraction);
    const ct_vf moved = w + magic, plane = moved - magic;
    const ct_vf part = ct_vf_fma(plane - w, rows->steep, half);
    ct_parts parts;
    parts.low = ct_vf_least(ct_vf_most(part, ct_vf_of(0.0f)), length);
    parts.high = length - parts.low;
    parts.below = (ct_vi)moved + rows->whole;
    return parts;
}

K_FN ct_vf ct_window_add(const ct_window *window, const ct_parts *parts, int32_t base, ct_vf sum)
{
    const ct_vi at = parts->below - ct_vi_of(base);
    sum = ct_vf_fma(parts->low, ct_window_cell(window, at), sum);
    return ct_vf_fma(parts->high, ct_window_cell(window, at + ct_vi_of(1)), sum);
}

/* Where a window does not lie within the column. */
K_FN ct_vf ct_apart_add(const float *cell, int64_t cells, const ct_parts *parts, int32_t base,
                        ct_vf sum)
{
    if (base == CT_WINDOW_NONE) return sum;
    if (base != CT_WINDOW_WIDE) {
        const ct_window window = ct_window_within(cell, base, cells);
        return ct_window_add(&window, parts, base, sum);
    }
    sum = ct_vf_fma(parts->low, ct_column_cell(cell, parts->below, cells), sum);
    return ct_vf_fma(parts->high, ct_column_cell(cell, parts->below + ct_vi_of(1), cells), sum);
}

/* Adds the listed chords to the sums of the vector of rows from `row` on. */
K_FN void ct_list_add(ct_columns_list *K_RESTRICT list, int64_t chords, int64_t row, int64_t cells)
{
    const ct_rows rows = {ct_vf_load(list->slope + row), ct_vf_load(list->fraction + row),
                          ct_vf_load(list->steep + row),
                          ct_vi_load(list->whole + row) - ct_vi_of(0x4b400000 + 1)};
    const int32_t within = (int32_t)cells - 2 * CT_LANES;
    ct_vf sum = ct_vf_load(list->sum + row);
    ct_list_windows(list, chords, row, (int32_t)cells);
    for (int64_t i = 0; i < chords; i++) {
        const int32_t base = list->base[i];
        const ct_parts parts = ct_parts_of(&rows, ct_vf_of(list->middle[i]),
                                           ct_vf_of(list->half[i]), ct_vf_of(list->length[i]));
        if (base >= 0 && base <= within) {
            const ct_window window = ct_window_of(list->cell[i], base);
            sum = ct_window_add(&window, &parts, base, sum);
        } else {
            sum = ct_apart_add(list->cell[i], cells, &parts, base, sum);
        }
    }
    ct_vf_store(list->sum + row, sum);
}

/* Rows [row, row + rows) of the chunk, of one view and column; list_rows has been called. */
K_FN void ct_list_project(const ct_columns_project_args *a, int64_t view, int64_t column,
                          int64_t row, int64_t rows, ct_columns_list *list)
{
    const int64_t u = a->first_column + column, cells = a->space.n[a->space.w];
    const ct_pose *pose = a->pose + view;
    float *out = a->sinogram + view * a->view_stride + column * a->column_stride + row;
    const int64_t vectors = (rows + CT_LANES - 1) / CT_LANES;
    for (int64_t r = 0; r < vectors * CT_LANES; r++)
        list->sum[r] = a->starts || r >= rows ? 0.0f : out[r];
    ct_trace trace = ct_trace_of(&a->space, pose, u, a->begin, a->end);
    for (int64_t chords; (chords = ct_list_chords(a, &trace, list)) > 0;) {
        for (int64_t j = 0; j < vectors; j++) ct_list_add(list, chords, j * CT_LANES, cells);
        if (chords < CT_LIST_CHORDS) break;
    }
    if (a->finishes)
        for (int64_t r = 0; r < rows; r++)
            out[r] = ct_column_finish(a, pose, u, a->first_row + row + r, list->sum[r]);
    else
        for (int64_t r = 0; r < rows; r++) out[r] = list->sum[r];
}

K_FN void ct_columns_project_range(const ct_columns_project_args *a, int64_t begin, int64_t end,
                                   void *scratch)
{
    ct_columns_list *list = (ct_columns_list *)scratch;
    const int64_t groups = ct_columns_project_groups(a);
    int64_t listed_view = -1, listed_row = -1, listed_rows = -1;
    int listed_turned = -1;
    while (begin < end) {
        const int64_t group = begin % groups, line = begin / groups;
        const int64_t view = line / a->columns, column = line % a->columns;
        int64_t some = k_min_i64(end - begin, groups - group);
        some = k_min_i64(some, CT_LIST_ROWS / CT_COLUMN_ROWS);
        const int64_t row = group * CT_COLUMN_ROWS;
        const int64_t rows = k_min_i64(some * CT_COLUMN_ROWS, a->rows - row);
        const int turned = ct_turned(&a->space, a->pose + view, a->first_column + column);
        if (view != listed_view || row != listed_row || rows != listed_rows ||
            turned != listed_turned) {
            ct_list_rows(a, a->pose + view, turned, a->first_row + row, rows, list);
            listed_view = view, listed_row = row, listed_rows = rows, listed_turned = turned;
        }
        ct_list_project(a, view, column, row, rows, list);
        begin += some;
    }
}

#else

K_FN void ct_columns_project_range(const ct_columns_project_args *a, int64_t begin, int64_t end,
                                   void *scratch)
{
    for (int64_t i = begin; i < end; i++) ct_columns_project_item(a, i, scratch);
}

#endif
#endif
#endif
