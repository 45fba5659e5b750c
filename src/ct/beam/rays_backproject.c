/* Back-projection in any pose as an operation: voxels are owned, views are streamed. */
#include "ct/beam/rays_backproject_fast.h"

#include "ct/beam/beam.h"
#include "ct/operations.h"

enum { VOLUME, SINOGRAM, POSES };

static motet_status enqueue(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    const motet_ct_geometry *g = user;
    const rt_view *volume = &chunk->port[VOLUME], *sinogram = &chunk->port[SINOGRAM];
    const ct_rays_backproject_args a = {
        .space = g->beam->space,
        .pose = chunk->port[POSES].data,
        .views = chunk->stream_count,
        .sinogram = sinogram->data,
        .view_stride = sinogram->stride[0],
        .column_stride = sinogram->stride[1],
        .volume = volume->data,
        .slice_stride = volume->stride[0],
        .line_stride = volume->stride[1],
        .first = {chunk->first[2], chunk->first[1], chunk->first[0]},
        .count = {chunk->count[2], chunk->count[1], chunk->count[0]},
        .begins = chunk->first_block,
        .ends = chunk->last_block,
    };
    return rt_launch(queue, &K_ct_rays_backproject, &a, ct_rays_backproject_items(&a));
}

rt_op ct_rays_backproject_op(const motet_ct_geometry *g, const motet_array *sinogram,
                             const motet_array *volume)
{
    const int64_t *n = g->beam->space.n;
    rt_op op = {
        .name = "ct.backproject.rays",
        .axes = 3,
        .extent = {n[2], n[1], n[0]},
        .stream_extent = g->views,
        .port =
            {[VOLUME] = {.name = "volume", .array = volume, .access = RT_WRITE, .cut = {0, 1, 2}},
             [SINOGRAM] = {.name = "sinogram",
                           .array = sinogram,
                           .access = RT_READ,
                           .cut = {RT_WHOLE, RT_WHOLE, RT_WHOLE},
                           .streamed = 1,
                           .stream_axis = 0},
             [POSES] = {.name = "poses",
                        .array = g->beam->poses,
                        .access = RT_READ,
                        .cut = {RT_WHOLE, RT_WHOLE, RT_WHOLE},
                        .streamed = 1,
                        .stream_axis = 0}},
        .batch = CT_RAYS_TILE_ITEMS,
        .scratch = {.fast = sizeof(ct_rays_scratch)},
        .enqueue = enqueue,
        .user = g,
    };
    ct_fingerprint(g, op.fingerprint);
    return op;
}
