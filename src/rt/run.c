/* Running an operation on one device, as planned: keep a few chunks in flight on two streams (so
 * that the tail of one overlaps the head of the next), wait, commit.
 *
 * Written arrays get a private copy, and the copies are committed when everything has succeeded, so
 * a failure or a cancellation leaves the caller's arrays as they were. */
#include "rt/run.h"

#include <string.h>

#include "base/clock.h"
#include "base/context.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/report.h"
#include "base/threads.h"
#include "rt/devices.h"
#include "rt/stage.h"

enum {
    STREAMS = 2,
    DEPTH = 4 /* chunks in flight */
};
static const int64_t doze_longest = 20000000; /* nanoseconds: how late a cancellation is seen */

struct rt_queue {
    motet_context *context;
    dev *device;
    dev_stream *stream;
    int64_t *items;     /* of the whole run */
    int64_t batch;
    k_scratch scratch;
    dev_access *access; /* of the chunk */
    int accesses;
};

typedef struct run {
    motet_context *context;
    const rt_op *op;
    rt_share share;
    void *data[RT_PORTS];    /* where the kernels find each port's array */
    void *private[RT_PORTS]; /* to commit; NULL: none */
    rt_stage stage;          /* on devices that do not reach host memory */
    rt_device *on;
    dev_stream *stream[STREAMS];
    dev_event *event[DEPTH];
    int64_t finished, items;
    int64_t failed; /* the chunk that did; -1: none */
    log_phase phase;
} run;

motet_status rt_launch(const rt_queue *queue, const k_kernel *kernel, const void *args,
                       int64_t items)
{
    if (items < 0)
        return fail(queue->context, MOTET_INTERNAL, "%s: launched with %lld items", kernel->name,
                    (long long)items);
    const dev_launch launch = {.kernel = kernel,
                               .args = args,
                               .items = items,
                               .batch = queue->batch,
                               .scratch = queue->scratch,
                               .access = queue->access,
                               .accesses = queue->accesses};
    TRY(queue->device->table->launch(queue->stream, &launch));
    *queue->items += items;
    return MOTET_OK;
}

/* A chunk. */

static void cut_axis(rt_view *v, int axis, int64_t first, int64_t count, int64_t halo)
{
    const int64_t size = v->count[axis]; /* whole so far */
    const int64_t before = first < halo ? first : halo;
    const int64_t behind = size - first - count < halo ? size - first - count : halo;
    v->first[axis] = first - before;
    v->count[axis] = before + count + behind;
}

static rt_view view_of(const rt_op *op, const rt_port *p, void *data, const rt_chunk *chunk)
{
    rt_view v = {.data = data};
    const motet_array *a = p->array;
    int64_t stride = 1;
    for (int i = a->axes - 1; i >= 0; i--) {
        v.count[i] = a->shape[i];
        v.stride[i] = stride;
        stride *= a->shape[i];
    }
    for (int i = 0; i < op->axes; i++)
        if (p->cut[i] != RT_WHOLE)
            cut_axis(&v, p->cut[i], chunk->first[i], chunk->count[i], i == 0 ? p->halo : 0);
    if (p->streamed) cut_axis(&v, p->stream_axis, chunk->stream_first, chunk->stream_count, 0);
    int64_t offset = 0;
    for (int i = 0; i < a->axes; i++) offset += v.first[i] * v.stride[i];
    if (a->bytes) v.data = (char *)data + (size_t)offset * motet_type_bytes(a->type);
    return v;
}

/* What a chunk touches of a port: rows, where the view has one stride beside the elements' own;
 * else all from the first to the last element. */
static dev_access access_of(const rt_port *p, const rt_view *v)
{
    const size_t element = motet_type_bytes(p->array->type);
    int64_t length = 1, rows = 1, pitch = 0, last = 0;
    int even = 1;
    for (int i = p->array->axes - 1; i >= 0; i--) {
        const int64_t count = v->count[i], stride = v->stride[i];
        if (count == 0) return (dev_access){.data = v->data};
        last += (count - 1) * stride;
        if (count == 1) continue;
        if (rows == 1 && stride == length) {
            length *= count;
        } else if (rows == 1) {
            rows = count;
            pitch = stride;
        } else {
            even &= stride == rows * pitch;
            rows *= count;
        }
    }
    return (dev_access){.data = v->data,
                        .bytes = (size_t)(even ? length : last + 1) * element,
                        .writes = p->access != RT_READ,
                        .rows = even ? (size_t)rows : 1,
                        .pitch = (size_t)pitch * element};
}

static motet_status enqueue_chunk(run *r, int64_t number)
{
    const rt_op *op = r->op;
    rt_chunk chunk;
    memset(&chunk, 0, sizeof chunk);
    rt_share_chunk(&r->share, op, number, chunk.first, chunk.count);
    dev_access access[RT_PORTS];
    rt_queue queue = {.context = r->context,
                      .device = r->on->device,
                      .stream = r->stream[number % STREAMS],
                      .items = &r->items,
                      .batch = op->batch,
                      .scratch = op->scratch,
                      .access = access};
    for (int64_t block = 0; block < r->share.blocks; block++) {
        chunk.stream_first = block * r->share.cut.stream_rows;
        const int64_t left = op->stream_extent - chunk.stream_first;
        chunk.stream_count = left < r->share.cut.stream_rows ? left : r->share.cut.stream_rows;
        chunk.first_block = block == 0;
        chunk.last_block = block == r->share.blocks - 1;
        queue.accesses = 0;
        for (int i = 0; i < RT_PORTS; i++) {
            if (!op->port[i].array) continue;
            void *data = queue.device->host_visible ? r->data[i] : r->stage.memory[i].data;
            chunk.port[i] = view_of(op, &op->port[i], data, &chunk);
            access[queue.accesses++] = access_of(&op->port[i], &chunk.port[i]);
        }
        TRY(op->enqueue(&chunk, &queue, op->user));
    }
    return queue.device->table->event_record(queue.stream, r->event[number % DEPTH]);
}

/* The run. */

static int64_t rows_done(const run *r)
{
    const int64_t extent = r->op->extent[0];
    return r->finished == r->share.chunks
               ? extent
               : (int64_t)((double)extent * ((double)r->finished / (double)r->share.chunks));
}

static motet_status chunk_failed(run *r, motet_status status, int64_t number)
{
    r->failed = number;
    return status;
}

static motet_status wait_for(run *r, int64_t number)
{
    dev *device = r->on->device;
    for (;;) {
        const uint64_t seen = device->table->progress(device);
        const motet_status st = device->table->event_poll(r->event[number % DEPTH]);
        if (st == MOTET_OK) break;
        if (st != MOTET_BUSY) return chunk_failed(r, st, number);
        TRY(log_phase_step(&r->phase, rows_done(r)));
        device->table->doze(device, seen, doze_longest);
    }
    r->finished++;
    return log_phase_step(&r->phase, rows_done(r));
}

static motet_status all_chunks(run *r)
{
    TRY(log_phase_step(&r->phase, 0));
    for (int64_t number = 0; number < r->share.chunks; number++) {
        if (number >= DEPTH) TRY(wait_for(r, number - DEPTH));
        const motet_status st = enqueue_chunk(r, number);
        if (st != MOTET_OK) return chunk_failed(r, st, number);
    }
    while (r->finished < r->share.chunks) TRY(wait_for(r, r->finished));
    return MOTET_OK;
}

/* After a failure: nothing may touch the buffers any more when this returns. */
static void drain(run *r)
{
    dev *device = r->on->device;
    for (int i = 0; i < STREAMS; i++)
        if (r->stream[i]) device->table->stream_drop(r->stream[i]);
    for (int i = 0; i < STREAMS; i++) {
        if (!r->stream[i]) continue;
        for (;;) {
            const uint64_t seen = device->table->progress(device);
            if (device->table->stream_poll(r->stream[i]) != MOTET_BUSY) break;
            device->table->doze(device, seen, doze_longest);
        }
    }
}

/* The arrays that the kernels see. */
static motet_status prepare_ports(run *r)
{
    const rt_op *op = r->op;
    for (int i = 0; i < RT_PORTS; i++) {
        const rt_port *p = &op->port[i];
        if (!p->array) continue;
        r->data[i] = p->array->data;
        if (!rt_port_private(op, i)) continue;
        r->private[i] = mem_alloc(r->context, p->array->bytes);
        if (!r->private[i])
            return fail(r->context, MOTET_NO_MEMORY,
                        "%s: no memory for the private copy of %s, %zu bytes", op->name, p->name,
                        p->array->bytes);
        r->data[i] = r->private[i];
        if (p->access == RT_UPDATE && p->array->bytes)
            memcpy(r->private[i], p -> array -> data, p -> array -> bytes);
    }
    return MOTET_OK;
}

static motet_status prepare_device(run *r)
{
    dev *device = r->on->device;
    const dev_table *t = device->table;
    for (int i = 0; i < STREAMS; i++) TRY(t->stream_create(device, &r->stream[i]));
    for (int i = 0; i < DEPTH; i++) TRY(t->event_create(device, &r->event[i]));
    if (device->host_visible) return MOTET_OK;
    TRY(rt_stage_in(&r->stage, device, r->stream[0], r->op));
    TRY(t->event_record(r->stream[0], r->event[0]));
    for (int i = 1; i < STREAMS; i++) TRY(t->stream_wait(r->stream[i], r->event[0]));
    return MOTET_OK;
}

/* All chunks are done. */
static motet_status fetch(run *r)
{
    dev *device = r->on->device;
    if (device->host_visible) return MOTET_OK;
    void *to[RT_PORTS];
    for (int i = 0; i < RT_PORTS; i++) to[i] = r->data[i];
    TRY(rt_stage_out(&r->stage, device, r->stream[0], r->op, to));
    for (;;) {
        const uint64_t seen = device->table->progress(device);
        const motet_status st = device->table->stream_poll(r->stream[0]);
        if (st != MOTET_BUSY) return st;
        device->table->doze(device, seen, doze_longest);
    }
}

static void commit(run *r)
{
    for (int i = 0; i < RT_PORTS; i++) {
        const motet_array *a = r->op->port[i].array;
        if (r->private[i] && a->bytes) memcpy(a->data, r->private[i], a -> bytes);
    }
}

static motet_status go(run *r)
{
    motet_status st = MOTET_OK;
    TRY_GOTO(prepare_ports(r));
    TRY_GOTO(prepare_device(r));
    TRY_GOTO(all_chunks(r));
    TRY_GOTO(fetch(r));
    commit(r);
out:
    if (st != MOTET_OK) drain(r);
    rt_stage_end(&r->stage, r->on->device);
    for (int i = 0; i < STREAMS; i++)
        if (r->stream[i]) r->on->device->table->stream_free(r->stream[i]);
    for (int i = 0; i < DEPTH; i++)
        if (r->event[i]) r->on->device->table->event_free(r->event[i]);
    for (int i = 0; i < RT_PORTS; i++) mem_free(r->context, r->private[i]);
    /* Last: a lost device has more to say while it is drained. */
    if (st != MOTET_OK && r->failed >= 0)
        fail_where(r->context, st, (int)(r->on - r->context->devices->set), r->failed);
    return st;
}

static motet_status make_plan(motet_context *c, const rt_op *op, const rt_cut *cut, rt_plan *out)
{
    rt_plan_device devices[RT_DEVICES];
    rt_plan_devices(c, devices);
    rt_plan_options options = {.cut = *cut};
    const int64_t bound = mem_bound(c);
    if (bound < INT64_MAX) {
        options.host_memory = bound;
        options.host_held = bound - mem_left(c);
    }
    return rt_plan_make(c, op, devices, 1, &options, out);
}

motet_status rt_run_cut(motet_context *c, const rt_op *op, const rt_cut *cut)
{
    rt_plan plan;
    TRY(make_plan(c, op, cut, &plan));
    const int64_t start = clock_now(c);
    run r = {.context = c,
             .op = op,
             .share = plan.share[0],
             .on = &c->devices->set[0],
             .failed = -1,
             .phase = log_phase_begin(c, op->name, op->extent[0])};
    TRY(report_operation_begin(c, op->name));
    if (plan.chunks > 0) {
        const thread_float_state former = thread_float_enter(); /* engines compute in enqueue */
        const motet_status st = go(&r);
        thread_float_leave(former);
        TRY(st);
    }
    atomic_fetch_add(&r.on->chunks, plan.chunks);
    report_operation_add(c, op->name, plan.chunks, r.items, clock_seconds_since(c, start));
    return MOTET_OK;
}

motet_status rt_run(motet_context *c, const rt_op *op)
{
    const int64_t chunk =
        c->options.chunk; /* of the stream, too: so that the option tries every cut */
    const rt_cut cut = {{chunk}, chunk};
    return rt_run_cut(c, op, &cut);
}
