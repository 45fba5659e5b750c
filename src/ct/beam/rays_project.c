/* Projection in any pose as an operation: rays are owned, the volume is streamed along z. */
#include "ct/beam/rays_project.k.h"

#include "ct/beam/beam.h"
#include "ct/operations.h"

enum { VOLUME, SINOGRAM, POSES };

static motet_status enqueue(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    const motet_ct_geometry *g = user;
    const rt_view *volume = &chunk->port[VOLUME], *sinogram = &chunk->port[SINOGRAM];
    const ct_rays_project_args a = {
        .space = g->beam->space,
        .pose = chunk->port[POSES].data,
        .volume = volume->data,
        .slice_stride = volume->stride[0],
        .line_stride = volume->stride[1],
        .first_slice = chunk->stream_first,
        .slices = chunk->stream_count,
        .sinogram = sinogram->data,
        .view_stride = sinogram->stride[0],
        .column_stride = sinogram->stride[1],
        .first_column = chunk->first[1],
        .columns = chunk->count[1],
        .first_row = chunk->first[2],
        .rows = chunk->count[2],
        .begins = chunk->first_block,
        .ends = chunk->last_block,
    };
    return rt_launch(queue, &K_ct_rays_project, &a, chunk->count[0] * a.columns * a.rows);
}

rt_op ct_rays_project_op(const motet_ct_geometry *g, const motet_array *volume,
                         const motet_array *sinogram)
{
    rt_op op = {
        .name = "ct.project.rays",
        .axes = 3,
        .extent = {g->views, g->grid.columns, g->rows},
        .stream_extent = g->beam->space.n[2],
        .port = {[VOLUME] = {.name = "volume",
                             .array = volume,
                             .access = RT_READ,
                             .cut = {RT_WHOLE, RT_WHOLE, RT_WHOLE},
                             .streamed = 1,
                             .stream_axis = 0},
                 [SINOGRAM] =
                     {.name = "sinogram", .array = sinogram, .access = RT_WRITE, .cut = {0, 1, 2}},
                 [POSES] = {.name = "poses",
                            .array = g->beam->poses,
                            .access = RT_READ,
                            .cut = {0, RT_WHOLE, RT_WHOLE}}},
        .batch = 8 * g->rows, /* columns side by side meet the same voxels */
        .enqueue = enqueue,
        .user = g,
    };
    ct_fingerprint(g, op.fingerprint);
    return op;
}
