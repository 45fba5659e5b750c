/* Back-projection, column form, as an operation: voxels are owned, the sinogram comes in blocks of
 * views. */
#include "ct/beam/columns_backproject_fast.h"

#include "ct/beam/beam.h"
#include "ct/beam/columns_scale.k.h"
#include "ct/operations.h"
#include "kern/kernel.h"

enum { VOLUME, SINOGRAM, POSES };

/* A chunk should have columns long enough to be worth the search for their chords. */
enum { CT_COLUMNS_GRAIN = 128 };

static motet_status scale(const rt_chunk *chunk, const rt_view *raw, const rt_view *made,
                          const rt_queue *queue, const void *user)
{
    const motet_ct_geometry *g = user;
    const ct_columns_scale_args a = {
        .space = g->beam->space,
        .pose = chunk->port[POSES].data,
        .views = raw->count[0],
        .from = raw->data,
        .view_stride = raw->stride[0],
        .column_stride = raw->stride[1],
        .to = made->data,
    };
    return rt_launch(queue, &K_ct_columns_scale, &a, a.views * a.space.columns);
}

static motet_status enqueue(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    const ct_space *space = &((const motet_ct_geometry *)user)->beam->space;
    const rt_view *volume = &chunk->port[VOLUME];
    const int s = ct_volume_axis(space->s), f = ct_volume_axis(space->f),
              w = ct_volume_axis(space->w);
    const ct_columns_backproject_args a = {
        .space = *space,
        .pose = chunk->port[POSES].data,
        .views = chunk->stream_count,
        .rays = chunk->port[SINOGRAM].data,
        .volume = volume->data,
        .stride_s = volume->stride[s],
        .stride_f = volume->stride[f],
        .stride_w = volume->stride[w],
        .first_s = chunk->first[s],
        .first_f = chunk->first[f],
        .first_w = chunk->first[w],
        .count_s = chunk->count[s],
        .count_f = chunk->count[f],
        .count_w = chunk->count[w],
        .starts = chunk->first_block,
        .finishes = chunk->last_block,
    };
    return rt_launch(queue, &K_ct_columns_backproject, &a, ct_columns_backproject_items(&a));
}

rt_op ct_columns_backproject_op(const motet_ct_geometry *g, const motet_array *sinogram,
                                const motet_array *volume)
{
    const ct_space *space = &g->beam->space;
    rt_op op = {
        .name = "ct.backproject.columns",
        .axes = 3,
        .extent = {space->n[2], space->n[1], space->n[0]},
        .stream_extent = g->views,
        .port =
            {[VOLUME] = {.name = "volume", .array = volume, .access = RT_WRITE, .cut = {0, 1, 2}},
             [SINOGRAM] = {.name = "sinogram",
                           .array = sinogram,
                           .access = RT_READ,
                           .cut = {RT_WHOLE, RT_WHOLE, RT_WHOLE},
                           .streamed = 1,
                           .transform = scale,
                           .made_type = MOTET_F32},
             [POSES] = {.name = "views",
                        .array = g->beam->poses,
                        .access = RT_READ,
                        .cut = {RT_WHOLE, RT_WHOLE, RT_WHOLE},
                        .streamed = 1}},
        .batch = CT_COLUMNS_TILE,
        .scratch = {.fast = ct_columns_backproject_scratch()},
        .enqueue = enqueue,
        .user = g,
    };
    op.grain[ct_volume_axis(space->w)] = CT_COLUMNS_GRAIN;
    op.grain[ct_volume_axis(space->s)] = CT_COLUMNS_S;
    op.grain[ct_volume_axis(space->f)] = CT_COLUMNS_F;
    ct_fingerprint(g, op.fingerprint);
    return op;
}
