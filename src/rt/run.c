/* Running an operation as planned, wait, commit. One device that reaches host memory works in place
 * with nothing in between: a few chunks in flight on two streams, so that the tail of one overlaps
 * the head of the next. All else is pipe.c's.
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
#include "rt/hold.h"
#include "rt/pipe_inside.h"
#include "rt/recover.h"
#include "rt/weights.h"

enum {
    STREAMS = 2,
    DEPTH = 4 /* chunks in flight */
};
static const int64_t doze_longest = 20000000; /* nanoseconds: how late a cancellation is seen */

typedef struct run {
    motet_context *context;
    const rt_op *op;
    rt_share share;
    void *data[RT_PORTS];    /* where the kernels find each port's array */
    void *private[RT_PORTS]; /* to commit; NULL: none */
    rt_device *on;
    dev_stream *stream[STREAMS];
    dev_event *event[DEPTH];
    int64_t finished, items;
    int64_t failed; /* the chunk that did; -1: none */
    log_phase phase;
} run;

typedef struct plan {
    rt_plan plan;
    rt_plan_options options;
    rt_plan_device devices[RT_DEVICES];
    int index[RT_DEVICES]; /* of each in the context's device set */
    rt_weights weights[RT_WEIGHTINGS];
    int users;            /* of which so many are used by this run */
    int left[RT_DEVICES]; /* 1: it has left that one already */
    rt_hold hold;
} plan;

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
            const pipe_box whole = pipe_box_whole(op->port[i].array);
            const pipe_box part = pipe_box_of(op, &op->port[i], &chunk);
            chunk.port[i] = pipe_view(&op->port[i], r->data[i], &whole, &part);
            access[queue.accesses++] =
                pipe_access(&op->port[i], op->port[i].array->type, &chunk.port[i]);
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
        if ((p->access == RT_UPDATE || p->access == RT_ADD) && p->array->bytes)
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
    return MOTET_OK;
}

static void commit(run *r)
{
    for (int i = 0; i < RT_PORTS; i++) {
        const motet_array *a = r->op->port[i].array;
        if (r->private[i] && a->bytes) memcpy(a->data, r->private[i], a -> bytes);
    }
}

static int in_place(const plan *p, const rt_op *op, int devices)
{
    return devices == 1 && p->devices[0].host_visible && !rt_op_buffered(op);
}

static motet_status on_one_host(run *r)
{
    motet_status st = MOTET_OK;
    TRY_GOTO(prepare_device(r));
    TRY_GOTO(all_chunks(r));
    atomic_fetch_add(&r->on->chunks, r->finished);
out:
    if (st != MOTET_OK) drain(r);
    for (int i = 0; i < STREAMS; i++)
        if (r->stream[i]) r->on->device->table->stream_free(r->stream[i]);
    for (int i = 0; i < DEPTH; i++)
        if (r->event[i]) r->on->device->table->event_free(r->event[i]);
    return st;
}

static motet_status on_all(run *r, plan *p, const rt_run_options *options)
{
    pipe_job job = {.context = r->context,
                    .op = r->op,
                    .plan = &p->plan,
                    .devices = p->devices,
                    .options = &p->options,
                    .hold = &p->hold,
                    .index = p->index,
                    .phase = &r->phase,
                    .failed = -1,
                    .left = p->left,
                    .test = options->test};
    memcpy(job.data, r->data, sizeof job.data);
    const motet_status st = pipe_run(&job);
    if (job.failed >= 0) {
        r->failed = job.failed;
        r->on = &r->context->devices->set[job.failed_on];
    }
    TRY(st);
    r->items = job.items;
    for (int i = 0; i < p->plan.devices; i++) {
        r->finished += job.chunks[i];
        atomic_fetch_add(&r->context->devices->set[p->index[i]].chunks, job.chunks[i]);
    }
    return MOTET_OK;
}

static motet_status go(run *r, plan *p, const rt_run_options *options)
{
    motet_status st = MOTET_OK;
    TRY_GOTO(prepare_ports(r));
    rt_hold_drawn(r->context, &p->hold, p->plan.private_bytes);
    st = in_place(p, r->op, p->plan.devices) ? on_one_host(r) : on_all(r, p, options);
    if (st == MOTET_OK) commit(r);
out:
    for (int i = 0; i < RT_PORTS; i++) mem_free(r->context, r->private[i]);
    /* Last: a lost device has more to say while it is drained. */
    if (st != MOTET_OK && r->failed >= 0)
        fail_where(r->context, st, (int)(r->on - r->context->devices->set), r->failed);
    return st;
}

static void leave_devices(motet_context *c, plan *p)
{
    for (int i = 0; i < p->users; i++)
        if (!p->left[i]) rt_device_leave(c, &c->devices->set[p->index[i]]);
    p->users = 0;
}

/* Of the devices that are not lost. */
static motet_status make_plan(motet_context *c, const rt_op *op, const rt_run_options *o, plan *out)
{
    rt_plan_device all[RT_DEVICES];
    const int count = rt_plan_devices(c, all);
    int remaining = 0;
    for (int i = 0; i < count; i++) {
        if (!rt_device_use(c, &c->devices->set[i])) continue;
        out->devices[remaining] = all[i];
        if (o->budget) out->devices[remaining].budget = o->budget[i];
        out->index[remaining++] = i;
        out->users = remaining;
    }
    if (!remaining)
        return fail(c, MOTET_DEVICE_LOST, "%s: no device is left, all are lost", op->name);
    out->options = (rt_plan_options){.cut = o->cut,
                                     .shard_rows = o->shard_rows,
                                     .unpipelined = c->options.unpipelined,
                                     .chunks_per_device = c->options.chunks_per_device};
    if (remaining == count) {
        out->options.weights = o->weights ? o->weights : out->weights;
        out->options.weightings =
            o->weights ? o->weightings : rt_weights_of(c, out->weights, RT_WEIGHTINGS);
    }
    const int64_t bound = mem_bound(c);
    if (bound < INT64_MAX) {
        out->options.host_memory = bound;
        out->options.host_held = bound - mem_left(c);
        if (!in_place(out, op, remaining)) out->options.host_held += PIPE_BOOKS;
    }
    return rt_hold_plan(c, op, out->devices, out->index, remaining, &out->options, &out->plan,
                        &out->hold);
}

/* What does not fit because of what others hold may fit when they are done. */
static motet_status plan_and_hold(motet_context *c, const rt_op *op, const rt_run_options *o,
                                  plan *out, log_phase *phase)
{
    for (;;) {
        const uint64_t seen = rt_hold_given(c);
        const motet_status st = make_plan(c, op, o, out);
        if (st != MOTET_OVER_BUDGET || !out->hold.shared) return st;
        leave_devices(c, out);
        TRY(rt_hold_wait(c, seen, phase));
    }
}

static motet_status run_planned(motet_context *c, const rt_op *op, const rt_run_options *options,
                                plan *p)
{
    const int64_t start = clock_now(c);
    log_phase phase = log_phase_begin(c, op->name, op->extent[0]);
    TRY(plan_and_hold(c, op, options, p, &phase));
    run r = {.context = c,
             .op = op,
             .share = p->plan.share[0],
             .on = &c->devices->set[p->index[0]],
             .failed = -1,
             .phase = phase};
    TRY(report_operation_begin(c, op->name));
    if (p->plan.chunks > 0) {
        const thread_float_state former = thread_float_enter(); /* engines compute in enqueue */
        const motet_status st = go(&r, p, options);
        thread_float_leave(former);
        TRY(st);
    }
    report_operation_add(c, op->name, r.finished, r.items, clock_seconds_since(c, start));
    return MOTET_OK;
}

motet_status rt_run_with(motet_context *c, const rt_op *op, const rt_run_options *options)
{
    plan p; /* no time is spent on clearing it */
    p.users = 0;
    memset(p.left, 0, sizeof p.left);
    memset(&p.hold, 0, sizeof p.hold);
    rt_recover(c);
    const motet_status st = run_planned(c, op, options, &p);
    leave_devices(c, &p);
    rt_hold_end(c, &p.hold);
    return st;
}

motet_status rt_run_cut(motet_context *c, const rt_op *op, const rt_cut *cut)
{
    const rt_run_options options = {.cut = *cut};
    return rt_run_with(c, op, &options);
}

motet_status rt_run(motet_context *c, const rt_op *op)
{
    const int64_t chunk =
        c->options.chunk; /* of the stream, too: so that the option tries every cut */
    const rt_cut cut = {{chunk}, chunk};
    return rt_run_cut(c, op, &cut);
}
