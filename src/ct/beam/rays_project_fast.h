/* The fast range of ct_rays_project: neighbouring rows as lanes, two sets of them at a time, so
 * that one works while the other waits. */
#ifndef MOTET_CT_RAYS_PROJECT_FAST_H
#define MOTET_CT_RAYS_PROJECT_FAST_H

#include "ct/beam/rays_project.k.h"
#include "ct/beam/rays_walk_fast.h"

#ifdef CT_RAYS_LANES

enum { CT_RAYS_SETS = 2, CT_RAYS_TOGETHER = CT_RAYS_SETS * CT_RAYS_LANES };

K_FN ct_vs ct_walkers_add(ct_walkers *w, const float *volume, ct_vs sum, ct_vm *on)
{
    ct_vs weight;
    ct_vl at;
    ct_vm has;
    *on = ct_walkers_step(w, &weight, &at, &has);
    return ct_vs_select(has, ct_vs_fma(weight, ct_vs_gather(volume, at), sum), sum);
}

/* Rows [v, v + count) of column u in view k, all of the chunk; count <= CT_RAYS_TOGETHER. */
K_FN void ct_rays_project_together(const ct_rays_project_args *a, int64_t k, int64_t u, int64_t v,
                                   int64_t count)
{
    const int64_t stride[] = {1, a->line_stride, a->slice_stride};
    const ct_box box = {{0, 0, a->first_slice},
                        {a->space.n[0], a->space.n[1], a->first_slice + a->slices}};
    float *out = a->sinogram + k * a->view_stride + u * a->column_stride + v;
    float sums[CT_RAYS_TOGETHER];
    for (int64_t i = 0; i < CT_RAYS_TOGETHER; i++)
        sums[i] = a->begins || i >= count ? 0.0f : out[i];
    ct_walkers one, two;
    ct_walkers_start(&a->space, &a->pose[k], a->first_column + u, a->first_row + v, count, &box,
                     stride, &one);
    ct_walkers_start(&a->space, &a->pose[k], a->first_column + u, a->first_row + v + CT_RAYS_LANES,
                     count - CT_RAYS_LANES, &box, stride, &two);
    ct_vs sum_one = ct_vs_load(sums), sum_two = ct_vs_load(sums + CT_RAYS_LANES);
    int on_one = one.any, on_two = two.any;
    ct_vm on;
    while (on_one && on_two) {
        sum_one = ct_walkers_add(&one, a->volume, sum_one, &on);
        on_one = ct_vm_any(on);
        sum_two = ct_walkers_add(&two, a->volume, sum_two, &on);
        on_two = ct_vm_any(on);
    }
    while (on_one) {
        sum_one = ct_walkers_add(&one, a->volume, sum_one, &on);
        on_one = ct_vm_any(on);
    }
    while (on_two) {
        sum_two = ct_walkers_add(&two, a->volume, sum_two, &on);
        on_two = ct_vm_any(on);
    }
    ct_vs_store(sums, sum_one);
    ct_vs_store(sums + CT_RAYS_LANES, sum_two);
    for (int64_t i = 0; i < count; i++) out[i] = a->ends ? ct_outcome(sums[i]) : sums[i];
}

/* Items [begin, end). Whole columns of a view go together, rows by rows: rays side by side meet the
 * same voxels, which are then still near. */
K_FN void ct_rays_project_range(const ct_rays_project_args *a, int64_t begin, int64_t end,
                                void *scratch)
{
    (void)scratch;
    while (begin < end) {
        const int64_t first = begin % a->rows, ray = begin / a->rows;
        const int64_t k = ray / a->columns, u = ray % a->columns;
        int64_t columns = 1, last = k_min_i64(a->rows, first + (end - begin));
        if (first == 0 && last == a->rows)
            columns = k_min_i64((end - begin) / a->rows, a->columns - u);
        for (int64_t v = first; v < last; v += CT_RAYS_TOGETHER)
            for (int64_t i = 0; i < columns; i++)
                ct_rays_project_together(a, k, u + i, v, k_min_i64(CT_RAYS_TOGETHER, last - v));
        begin += (columns - 1) * a->rows + last - first;
    }
}

#else
K_FN void ct_rays_project_range(const ct_rays_project_args *a, int64_t begin, int64_t end,
                                void *scratch)
{
    for (int64_t i = begin; i < end; i++) ct_rays_project_item(a, i, scratch);
}
#endif

#endif
