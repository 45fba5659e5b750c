/* Filtered back-projection as an operation: voxels are owned, views arrive in ascending blocks and
 * are weighted and filtered on the way. */
#include <string.h>

#include "ct/beam/beam.h"
#include "ct/fdk/backproject_fast.h"
#include "ct/fdk/fdk.h"
#include "ct/fdk/filter_fast.h"
#include "ct/operations.h"
#include "kern/digest.h"

enum { VOLUME, SINOGRAM, BEYOND, VIEWS, SHARES, RESPONSE }; /* of back-projection */

static ct_fdk_filter_args filter_args(const fdk_job *job, int beyond, const rt_view *raw,
                                      const rt_view *made, const void *views, const float *shares,
                                      const float *response)
{
    const motet_ct_geometry *g = job->geometry;
    const fdk_tables *t = &job->tables;
    const int64_t half = (int64_t)1 << t->bits;
    return (ct_fdk_filter_args){
        .filter = {.from = raw->data,
                   .from_view_stride = raw->stride[0],
                   .from_column_stride = raw->stride[1],
                   .to = made->data,
                   .to_view_stride = made->stride[0],
                   .to_column_stride = made->stride[1],
                   .response = response,
                   .columns = g->grid.columns,
                   .rows = g->rows,
                   .pad = t->pad,
                   .bits = t->bits},
        .view = views,
        .share = shares,
        .mean = response + half + 1 + 4 * half,
        .reach = t->reach,
        .shift = beyond * g->grid.columns,
    };
}

static motet_status make(const rt_chunk *chunk, int beyond, const rt_view *raw, const rt_view *made,
                         const rt_queue *queue, const fdk_job *job)
{
    const ct_fdk_filter_args a = filter_args(job, beyond, raw, made, chunk->port[VIEWS].data,
                                             chunk->port[SHARES].data, chunk->port[RESPONSE].data);
    return rt_launch(queue, &K_ct_fdk_filter, &a, raw->count[0] * job->geometry->rows);
}

static motet_status transform(const rt_chunk *chunk, const rt_view *raw, const rt_view *made,
                              const rt_queue *queue, const void *user)
{
    return make(chunk, 0, raw, made, queue, user);
}

static motet_status transform_beyond(const rt_chunk *chunk, const rt_view *raw, const rt_view *made,
                                     const rt_queue *queue, const void *user)
{
    const fdk_job *job = user;
    return make(chunk, job->tables.beyond, raw, made, queue, job);
}

static motet_status backproject(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    const fdk_job *job = user;
    const motet_ct_geometry *g = job->geometry;
    const rt_view *volume = &chunk->port[VOLUME], *rays = &chunk->port[SINOGRAM];
    const rt_view *beyond = &chunk->port[BEYOND];
    const int64_t columns = g->grid.columns;
    const ct_fdk_args a = {
        .view = chunk->port[VIEWS].data,
        .rays = rays->data,
        .view_stride = rays->stride[0],
        .column_stride = rays->stride[1],
        .views = chunk->stream_count,
        .columns = columns,
        .rows = g->rows,
        .beyond = beyond->data,
        .beyond_view_stride = beyond->stride[0],
        .beyond_column_stride = beyond->stride[1],
        .first_column = job->tables.beyond < 0 ? -columns : 0,
        .last_column = (job->tables.beyond > 0 ? 2 * columns : columns) - 1,
        .volume = volume->data,
        .slice_stride = volume->stride[0],
        .line_stride = volume->stride[1],
        .first = {chunk->first[2], chunk->first[1], chunk->first[0]},
        .count = {chunk->count[2], chunk->count[1], chunk->count[0]},
        .first_block = chunk->first_block,
        .last_block = chunk->last_block,
    };
    return rt_launch(queue, &K_ct_fdk, &a, ct_fdk_items(&a));
}

/* Beside arrays: how they are read. */
static void fingerprint(const fdk_job *job, int filtered, uint64_t out[2])
{
    const int64_t key[] = {job->tables.bits, job->tables.pad, job->tables.reach, filtered,
                           job->tables.beyond};
    const digest d = digest_bytes(key, sizeof key);
    out[0] = d.low;
    out[1] = d.high;
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

static rt_port streamed(const char *name, const motet_array *array, rt_transform_fn *made)
{
    return (rt_port){.name = name,
                     .array = array,
                     .access = RT_READ,
                     .cut = {RT_WHOLE, RT_WHOLE, RT_WHOLE},
                     .streamed = 1,
                     .transform = made,
                     .made_type = MOTET_F32};
}

static rt_op op_of(const fdk_job *job, int filtered, const motet_array *sinogram,
                   const motet_array *beyond, const motet_array *volume)
{
    const fdk_tables *t = &job->tables;
    const int64_t *n = job->geometry->beam->space.n;
    rt_op op = {
        .name = "ct.fdk",
        .axes = 3,
        .extent = {n[2], n[1], n[0]},
        .grain = {CT_FDK_DEEP, CT_FDK_TILE, CT_FDK_TILE},
        .stream_extent = job->geometry->views,
        .port =
            {[VOLUME] = {.name = "volume", .array = volume, .access = RT_WRITE, .cut = {0, 1, 2}},
             [SINOGRAM] = streamed("sinogram", sinogram, filtered ? NULL : transform),
             [BEYOND] = streamed("beyond", beyond, filtered ? NULL : transform_beyond),
             [VIEWS] = streamed("views", t->views, NULL)},
        .batch = CT_FDK_ITEMS,
        .scratch = {.fast = ct_fdk_scratch()},
        .enqueue = backproject,
        .user = job,
    };
    if (!filtered) {
        op.port[SHARES] = streamed("shares", t->shares, NULL);
        op.port[RESPONSE] = (rt_port){.name = "response",
                                      .array = t->response,
                                      .access = RT_READ,
                                      .cut = {RT_WHOLE, RT_WHOLE, RT_WHOLE}};
        op.scratch.plain = ct_filter_scratch(t->bits, 1);
        op.scratch.fast = larger(op.scratch.fast, ct_filter_scratch(t->bits, CT_FILTER_LANES));
    }
    fingerprint(job, filtered, op.fingerprint);
    return op;
}

rt_op ct_fdk_op(const fdk_job *job, const motet_array *sinogram, const motet_array *volume)
{
    return op_of(job, 0, sinogram, job->tables.beyond ? sinogram : NULL, volume);
}

rt_op ct_fdk_filtered_op(const fdk_job *job, const motet_array *filtered, const motet_array *beyond,
                         const motet_array *volume)
{
    return op_of(job, 1, filtered, beyond, volume);
}

/* Filtering alone. */

enum { RAW, FILTERED, FILTER_VIEWS, FILTER_SHARES, FILTER_RESPONSE };

static motet_status filter_by(const rt_chunk *chunk, int beyond, const rt_queue *queue,
                              const fdk_job *job)
{
    const ct_fdk_filter_args a = filter_args(
        job, beyond, &chunk->port[RAW], &chunk->port[FILTERED], chunk->port[FILTER_VIEWS].data,
        chunk->port[FILTER_SHARES].data, chunk->port[FILTER_RESPONSE].data);
    return rt_launch(queue, &K_ct_fdk_filter, &a, chunk->count[0] * a.filter.rows);
}

static motet_status filter(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    return filter_by(chunk, 0, queue, user);
}

static motet_status filter_beyond(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    const fdk_job *job = user;
    return filter_by(chunk, job->tables.beyond, queue, job);
}

rt_op ct_fdk_filter_op(const fdk_job *job, int beyond, const motet_array *sinogram,
                       const motet_array *filtered)
{
    const fdk_tables *t = &job->tables;
    return (rt_op){
        .name = "ct.fdk_filter",
        .axes = 1,
        .extent = {job->geometry->views},
        .port =
            {[RAW] = {.name = "sinogram", .array = sinogram, .access = RT_READ, .cut = {0}},
             [FILTERED] = {.name = "filtered", .array = filtered, .access = RT_WRITE, .cut = {0}},
             [FILTER_VIEWS] = {.name = "views", .array = t->views, .access = RT_READ, .cut = {0}},
             [FILTER_SHARES] =
                 {.name = "shares", .array = t->shares, .access = RT_READ, .cut = {0}},
             [FILTER_RESPONSE] =
                 {.name = "response", .array = t->response, .access = RT_READ, .cut = {RT_WHOLE}}},
        .batch = CT_FILTER_LANES,
        .scratch = {.plain = ct_filter_scratch(t->bits, 1),
                    .fast = ct_filter_scratch(t->bits, CT_FILTER_LANES)},
        .enqueue = beyond ? filter_beyond : filter,
        .user = job,
    };
}
