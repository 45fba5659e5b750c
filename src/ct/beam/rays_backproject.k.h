/* Back-projection in any pose: the transpose of rays_project.k.h. One item is CT_RAYS_TILE voxels
 * of a line along x; each gathers the rays that cross it in ascending (view, u, v), clipping them
 * by its faces, and goes on with the sum that former blocks of views left in the output.
 *
 * Items are numbered tile by tile, tiles along x, y, z, then along y and z in the tile: neighbours
 * share pixels. Items beyond the chunk do nothing. */
#ifndef MOTET_CT_RAYS_BACKPROJECT_K_H
#define MOTET_CT_RAYS_BACKPROJECT_K_H

#include "ct/beam/shadow.k.h"

enum { CT_RAYS_TILE = 16, CT_RAYS_TILE_ITEMS = CT_RAYS_TILE * CT_RAYS_TILE };

typedef struct ct_rays_backproject_args {
    ct_space space;
    const ct_pose *pose; /* of the block's views */
    int64_t views;
    const ct_real *sinogram; /* first view of the block; rows adjacent */
    int64_t view_stride, column_stride;
    ct_real *volume; /* first voxel of the chunk; x adjacent */
    int64_t slice_stride, line_stride;
    int64_t first[3], count[3]; /* voxels of the chunk along x, y, z */
    int32_t begins, ends;       /* with this block */
} ct_rays_backproject_args;

K_FN int64_t ct_rays_tiles(const ct_rays_backproject_args *a, int axis)
{
    return (a->count[axis] + CT_RAYS_TILE - 1) / CT_RAYS_TILE;
}

K_FN int64_t ct_rays_backproject_items(const ct_rays_backproject_args *a)
{
    return ct_rays_tiles(a, 0) * ct_rays_tiles(a, 1) * ct_rays_tiles(a, 2) * CT_RAYS_TILE_ITEMS;
}

/* The part of the chunk that is tile number `tile`, in cells of the volume. */
K_FN ct_box ct_rays_tile(const ct_rays_backproject_args *a, int64_t tile)
{
    ct_box box;
    for (int i = 0; i < 3; i++) {
        const int64_t tiles = ct_rays_tiles(a, i);
        const int64_t begin = tile % tiles * CT_RAYS_TILE;
        box.first[i] = a->first[i] + begin;
        box.end[i] = a->first[i] + k_min_i64(begin + CT_RAYS_TILE, a->count[i]);
        tile /= tiles;
    }
    return box;
}

K_FN ct_real *ct_rays_voxel(const ct_rays_backproject_args *a, const ct_box *box)
{
    return a->volume + (box->first[2] - a->first[2]) * a->slice_stride +
           (box->first[1] - a->first[1]) * a->line_stride + (box->first[0] - a->first[0]);
}

K_FN ct_real ct_voxel_sum(const ct_space *space, const ct_pose *pose, const ct_shadow *shadow,
                          const ct_box *cell, const ct_real *view, int64_t column_stride,
                          ct_real sum)
{
    const ct_pixels pixels = ct_shadow_cast(shadow, cell);
    for (int64_t u = pixels.first_u; u < pixels.end_u; u++)
        for (int64_t v = pixels.first_v; v < pixels.end_v; v++) {
            const ct_ray ray = ct_ray_of(space, pose, u, v);
            const ct_part piece = ct_ray_clip(&ray, cell);
            if (piece.t1 > piece.t0)
                sum = ct_madd(ct_ray_weight(piece.t0, piece.t1, ct_ray_length(space, &ray)),
                              view[u * column_stride + v], sum);
        }
    return sum;
}

K_FN void ct_rays_backproject_item(const ct_rays_backproject_args *a, int64_t item, void *scratch)
{
    (void)scratch;
    ct_box line = ct_rays_tile(a, item / CT_RAYS_TILE_ITEMS);
    line.first[1] += item % CT_RAYS_TILE;
    line.first[2] += item % CT_RAYS_TILE_ITEMS / CT_RAYS_TILE;
    if (line.first[1] >= line.end[1] || line.first[2] >= line.end[2]) return;
    line.end[1] = line.first[1] + 1;
    line.end[2] = line.first[2] + 1;
    ct_real *out = ct_rays_voxel(a, &line);
    const int64_t count = line.end[0] - line.first[0];
    if (a->begins)
        for (int64_t x = 0; x < count; x++) out[x] = (ct_real)0;
    for (int64_t k = 0; k < a->views; k++) {
        const ct_shadow shadow = ct_shadow_of(&a->space, &a->pose[k]);
        ct_box cell = line;
        for (int64_t x = 0; x < count; x++) {
            cell.first[0] = line.first[0] + x;
            cell.end[0] = cell.first[0] + 1;
            out[x] = ct_voxel_sum(&a->space, &a->pose[k], &shadow, &cell,
                                  a->sinogram + k * a->view_stride, a->column_stride, out[x]);
        }
    }
    if (a->ends)
        for (int64_t x = 0; x < count; x++) out[x] = ct_outcome(out[x]);
}

#endif
