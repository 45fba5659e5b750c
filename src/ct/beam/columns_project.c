/* Projection, column form, as an operation: rays are owned, the volume comes in slabs along s. */
#include "ct/beam/beam.h"
#include "ct/beam/columns_lay.k.h"
#include "ct/beam/columns_project_fast.h"
#include "ct/operations.h"
#include "kern/kernel.h"

enum { VOLUME, SINOGRAM, POSES };

/* Each chunk lays the volume anew, so it has rays enough to be worth it where there are many. */
enum { VIEWS = 16, COLUMNS = 256, ROWS = 4 * CT_COLUMN_ROWS };

static int64_t grain_of(int64_t extent, int64_t many, int64_t least)
{
    return extent >= many ? many : least;
}

static motet_status lay(const rt_chunk *chunk, const rt_view *raw, const rt_view *made,
                        const rt_queue *queue, const void *user)
{
    (void)chunk;
    const ct_space *space = &((const motet_ct_geometry *)user)->beam->space;
    const int s = ct_volume_axis(space->s), f = ct_volume_axis(space->f),
              w = ct_volume_axis(space->w);
    const ct_columns_lay_args a = {
        .from = raw->data,
        .from_s = raw->stride[s],
        .from_f = raw->stride[f],
        .from_w = raw->stride[w],
        .to = made->data,
        .slabs = raw->count[s],
        .lines = raw->count[f],
        .cells = raw->count[w],
    };
    return rt_launch(queue, &K_ct_columns_lay, &a, a.slabs * a.lines);
}

static motet_status enqueue(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    const ct_space *space = &((const motet_ct_geometry *)user)->beam->space;
    const rt_view *volume = &chunk->port[VOLUME], *sinogram = &chunk->port[SINOGRAM];
    const int64_t cells = space->n[space->w];
    const int laid = space->w != 0;
    const ct_columns_project_args a = {
        .space = *space,
        .pose = chunk->port[POSES].data,
        .views = chunk->count[0],
        .first_column = chunk->first[1],
        .columns = chunk->count[1],
        .first_row = chunk->first[2],
        .rows = chunk->count[2],
        .volume = volume->data,
        .s_stride = laid ? space->n[space->f] * cells : volume->stride[ct_volume_axis(space->s)],
        .f_stride = laid ? cells : volume->stride[ct_volume_axis(space->f)],
        .begin = chunk->stream_first,
        .end = chunk->stream_first + chunk->stream_count,
        .sinogram = sinogram->data,
        .view_stride = sinogram->stride[0],
        .column_stride = sinogram->stride[1],
        .starts = chunk->first_block,
        .finishes = chunk->last_block,
    };
    return rt_launch(queue, &K_ct_columns_project, &a, ct_columns_project_items(&a));
}

rt_op ct_columns_project_op(const motet_ct_geometry *g, const motet_array *volume,
                            const motet_array *sinogram)
{
    const ct_space *space = &g->beam->space;
    rt_op op = {
        .name = "ct.project.columns",
        .axes = 3,
        .extent = {g->views, space->columns, space->rows},
        .grain = {grain_of(g->views, VIEWS, 1), grain_of(space->columns, COLUMNS, 1),
                  grain_of(space->rows, ROWS, CT_COLUMN_ROWS)},
        .stream_extent = space->n[space->s],
        .port = {[VOLUME] = {.name = "volume",
                             .array = volume,
                             .access = RT_READ,
                             .cut = {RT_WHOLE, RT_WHOLE, RT_WHOLE},
                             .streamed = 1,
                             .stream_axis = ct_volume_axis(space->s)},
                 [SINOGRAM] =
                     {.name = "sinogram", .array = sinogram, .access = RT_WRITE, .cut = {0, 1, 2}},
                 [POSES] = {.name = "views",
                            .array = g->beam->poses,
                            .access = RT_READ,
                            .cut = {0, RT_WHOLE, RT_WHOLE}}},
        .batch = 16 * ((space->rows + CT_COLUMN_ROWS - 1) / CT_COLUMN_ROWS),
        .scratch = {.fast = ct_columns_project_scratch()},
        .enqueue = enqueue,
        .user = g,
    };
    if (space->w != 0) {
        op.port[VOLUME].transform = lay;
        op.port[VOLUME].made_type = MOTET_F32;
    }
    ct_fingerprint(g, op.fingerprint);
    return op;
}
