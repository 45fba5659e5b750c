/* The fast range of ct_rays_backproject: tiles of voxels instead of voxels. The rays that may meet
 * a tile walk through it in ascending (view, u, v) and leave their pieces in scratch; then each
 * adds itself to its voxels before the next does, so that a voxel's sum grows in the very order of
 * the item. */
#ifndef MOTET_CT_RAYS_BACKPROJECT_FAST_H
#define MOTET_CT_RAYS_BACKPROJECT_FAST_H

#include "ct/beam/rays_backproject.k.h"
#include "ct/beam/rays_walk_fast.h"

enum {
    CT_RAYS_TILE_VOXELS = CT_RAYS_TILE * CT_RAYS_TILE * CT_RAYS_TILE,
    CT_RAYS_PIECES = 3 * (CT_RAYS_TILE + 1) + 1, /* a piece ends at a plane, or the ray does */
    CT_RAYS_MOST_LANES = 8
};

/* What the rays of one set of lanes leave. */
typedef struct ct_rays_pieces {
    float weight[CT_RAYS_PIECES * CT_RAYS_MOST_LANES]; /* < 0: none */
    int64_t at[CT_RAYS_PIECES * CT_RAYS_MOST_LANES];
} ct_rays_pieces;

typedef struct ct_rays_scratch {
    float voxel[CT_RAYS_TILE_VOXELS];
    ct_rays_pieces pieces[2];
} ct_rays_scratch;

#ifdef CT_RAYS_LANES

/* A piece of each lane, the nth. Answers whether a lane goes on. */
K_FN int ct_rays_leave(ct_walkers *w, int n, ct_rays_pieces *p)
{
    ct_vs weight;
    ct_vl at;
    ct_vm has;
    const ct_vm on = ct_walkers_step(w, &weight, &at, &has);
    ct_vs_store(p->weight + n * CT_RAYS_LANES, ct_vs_select(has, weight, ct_vs_of(-1.0f)));
    ct_vl_store(p->at + n * CT_RAYS_LANES, at);
    return ct_vm_any(on);
}

K_FN void ct_rays_gain(const ct_rays_pieces *p, int count, int64_t lanes, const float *rays,
                       float *voxel)
{
    for (int l = 0; l < CT_RAYS_LANES && l < lanes; l++)
        for (int i = l; i < count * CT_RAYS_LANES; i += CT_RAYS_LANES)
            if (p->weight[i] >= 0.0f)
                voxel[p->at[i]] = k_fmaf(p->weight[i], rays[l], voxel[p->at[i]]);
}

/* Rays (u, v + i), i < count <= 2 CT_RAYS_LANES, to the tile; two sets of lanes, so that one works
 * while the other waits. */
K_FN void ct_rays_add_to_tile(const ct_space *space, const ct_pose *pose, int64_t u, int64_t v,
                              int64_t count, const ct_box *box, const float *rays,
                              ct_rays_scratch *s)
{
    const int64_t stride[] = {1, CT_RAYS_TILE, CT_RAYS_TILE * CT_RAYS_TILE};
    ct_walkers one, two;
    ct_walkers_start(space, pose, u, v, count, box, stride, &one);
    ct_walkers_start(space, pose, u, v + CT_RAYS_LANES, count - CT_RAYS_LANES, box, stride, &two);
    int n = 0, m = 0, on_one = one.any, on_two = two.any;
    while (on_one && on_two) {
        on_one = ct_rays_leave(&one, n++, &s->pieces[0]);
        on_two = ct_rays_leave(&two, m++, &s->pieces[1]);
    }
    while (on_one) on_one = ct_rays_leave(&one, n++, &s->pieces[0]);
    while (on_two) on_two = ct_rays_leave(&two, m++, &s->pieces[1]);
    ct_rays_gain(&s->pieces[0], n, count, rays, s->voxel);
    if (m > 0)
        ct_rays_gain(&s->pieces[1], m, count - CT_RAYS_LANES, rays + CT_RAYS_LANES, s->voxel);
}

K_FN void ct_rays_backproject_tile(const ct_rays_backproject_args *a, const ct_box *box,
                                   ct_rays_scratch *s)
{
    float *out = ct_rays_voxel(a, box);
    const int64_t nx = box->end[0] - box->first[0], ny = box->end[1] - box->first[1];
    const int64_t nz = box->end[2] - box->first[2];
    for (int64_t z = 0; z < nz; z++)
        for (int64_t y = 0; y < ny; y++)
            for (int64_t x = 0; x < nx; x++)
                s->voxel[(z * CT_RAYS_TILE + y) * CT_RAYS_TILE + x] =
                    a->begins ? 0.0f : out[z * a->slice_stride + y * a->line_stride + x];
    for (int64_t k = 0; k < a->views; k++) {
        const ct_shadow shadow = ct_shadow_of(&a->space, &a->pose[k]);
        const ct_pixels pixels = ct_shadow_cast(&shadow, box);
        for (int64_t u = pixels.first_u; u < pixels.end_u; u++)
            for (int64_t v = pixels.first_v; v < pixels.end_v; v += 2 * CT_RAYS_LANES)
                ct_rays_add_to_tile(&a->space, &a->pose[k], u, v,
                                    k_min_i64(2 * CT_RAYS_LANES, pixels.end_v - v), box,
                                    a->sinogram + k * a->view_stride + u * a->column_stride + v, s);
    }
    for (int64_t z = 0; z < nz; z++)
        for (int64_t y = 0; y < ny; y++)
            for (int64_t x = 0; x < nx; x++) {
                const float sum = s->voxel[(z * CT_RAYS_TILE + y) * CT_RAYS_TILE + x];
                out[z * a->slice_stride + y * a->line_stride + x] = a->ends ? ct_outcome(sum) : sum;
            }
}

K_FN void ct_rays_backproject_range(const ct_rays_backproject_args *a, int64_t begin, int64_t end,
                                    void *scratch)
{
    while (begin < end) {
        const int64_t next = (begin / CT_RAYS_TILE_ITEMS + 1) * CT_RAYS_TILE_ITEMS;
        if (begin % CT_RAYS_TILE_ITEMS == 0 && next <= end) {
            const ct_box box = ct_rays_tile(a, begin / CT_RAYS_TILE_ITEMS);
            ct_rays_backproject_tile(a, &box, (ct_rays_scratch *)scratch);
            begin = next;
        } else {
            ct_rays_backproject_item(a, begin++, scratch);
        }
    }
}

#else
K_FN void ct_rays_backproject_range(const ct_rays_backproject_args *a, int64_t begin, int64_t end,
                                    void *scratch)
{
    for (int64_t i = begin; i < end; i++) ct_rays_backproject_item(a, i, scratch);
}
#endif

#endif
