/* Running an operation on one device: cut the box, keep a few chunks in flight on two streams (so
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

enum {
    STREAMS = 2,
    DEPTH = 4,           /* chunks in flight */
    CHUNKS = 32,         /* wanted, for progress and cancellation */
    CHUNK_BYTES = 1 << 14, /* but no smaller ones than this, as far as ports tell */
    BLOCKS = 8,
    BLOCK_BYTES = 1 << 24
};
static const int64_t doze_longest = 20000000; /* nanoseconds: how late a cancellation is seen */

struct rt_queue {
    motet_context *context;
    dev *device;
    dev_stream *stream;
    int64_t *items;     /* of the whole run */
    dev_access *access; /* of the chunk */
    int accesses;
};

typedef struct run {
    motet_context *context;
    const rt_op *op;
    rt_cut cut;
    int64_t chunks, pieces[RT_AXES], blocks;
    void *data[RT_PORTS];    /* where the kernels find each port's array */
    void *private[RT_PORTS]; /* to commit; NULL: none */
    rt_device *on;
    dev_stream *stream[STREAMS];
    dev_event *event[DEPTH];
    int64_t finished, items;
    log_phase phase;
} run;

motet_status rt_launch(const rt_queue *queue, const k_kernel *kernel, const void *args,
                       int64_t items, size_t scratch)
{
    if (items < 0)
        return fail(queue->context, MOTET_INTERNAL, "%s: launched with %lld items", kernel->name,
                    (long long)items);
    const dev_launch launch = {.kernel = kernel,
                               .args = args,
                               .items = items,
                               .scratch = scratch,
                               .access = queue->access,
                               .accesses = queue->accesses};
    TRY(queue->device->table->launch(queue->stream, &launch));
    *queue->items += items;
    return MOTET_OK;
}

/* Checks. */

static motet_status check_axis(motet_context *c, const rt_op *op, const rt_port *p, int axis,
                               int64_t expected, const char *what)
{
    if (axis < 0 || axis >= p->array->axes)
        return fail(c, MOTET_BAD_SHAPE, "%s: %s has %d axes, the operation needs axis %d", op->name,
                    p->name, p->array->axes, axis);
    if (p->array->shape[axis] != expected)
        return fail(c, MOTET_BAD_SHAPE, "%s: axis %d of %s has size %lld, %s has %lld", op->name,
                    axis, p->name, (long long)p->array->shape[axis], what, (long long)expected);
    return MOTET_OK;
}

static motet_status check_port(motet_context *c, const rt_op *op, const rt_port *p)
{
    for (int i = 0; i < op->axes; i++) {
        if (p->cut[i] == RT_WHOLE) {
            if (p->access != RT_READ)
                return fail(c, MOTET_INTERNAL, "%s: %s is written and not cut by axis %d", op->name,
                            p->name, i);
            continue;
        }
        TRY(check_axis(c, op, p, p->cut[i], op->extent[i], "the box"));
        for (int j = 0; j < i; j++)
            if (p->cut[i] == p->cut[j])
                return fail(c, MOTET_INTERNAL, "%s: axis %d of %s is cut twice", op->name,
                            p->cut[i], p->name);
        if (p->streamed && p->cut[i] == p->stream_axis)
            return fail(c, MOTET_INTERNAL, "%s: axis %d of %s is cut and streamed", op->name,
                        p->cut[i], p->name);
    }
    if (p->streamed) TRY(check_axis(c, op, p, p->stream_axis, op->stream_extent, "the stream"));
    if (p->halo < 0 || (p->access != RT_READ && (p->streamed || p->halo)))
        return fail(c, MOTET_INTERNAL, "%s: %s is written with a halo or streamed", op->name,
                    p->name);
    return MOTET_OK;
}

static int overlap(const rt_port *a, const rt_port *b)
{
    const uintptr_t x = (uintptr_t)a->array->data, y = (uintptr_t)b->array->data;
    return x < y + b->array->bytes && y < x + a->array->bytes;
}

static motet_status check(motet_context *c, const rt_op *op)
{
    if (op->axes < 1 || op->axes > RT_AXES || op->stream_extent < 0 || op->stream_block < 0)
        return fail(c, MOTET_INTERNAL, "%s: a box of %d axes", op->name, op->axes);
    for (int i = 0; i < op->axes; i++)
        if (op->extent[i] < 0 || op->grain[i] < 0)
            return fail(c, MOTET_INTERNAL, "%s: axis %d of the box is negative", op->name, i);
    for (int i = 0; i < RT_PORTS; i++) {
        const rt_port *p = &op->port[i];
        if (!p->array) continue;
        TRY(check_port(c, op, p));
        for (int j = 0; j < i; j++) {
            const rt_port *q = &op->port[j];
            if (q->array && p->access != RT_READ && q->access != RT_READ && overlap(p, q))
                return fail(c, MOTET_BAD_ARGUMENT, "%s: %s and %s are written and share memory",
                            op->name, q->name, p->name);
        }
    }
    return MOTET_OK;
}

/* The cut. */

/* A positive number of rows, rounded up to the grain and bounded by the extent. */
static int64_t round_rows(int64_t rows, int64_t grain, int64_t extent)
{
    if (grain < 1) grain = 1;
    if (rows < 1) rows = 1;
    if (rows >= extent) return extent < 1 ? 1 : extent;
    const int64_t missing = rows % grain ? grain - rows % grain : 0;
    return extent - rows <= missing ? extent : rows + missing;
}

static int64_t pieces_of(int64_t extent, int64_t rows) { return extent ? (extent - 1) / rows + 1 : 0; }

static void round_cut(const rt_op *op, rt_cut *cut)
{
    for (int i = 0; i < RT_AXES; i++) {
        const int64_t extent = i < op->axes ? op->extent[i] : 1;
        cut->rows[i] = round_rows(cut->rows[i], op->grain[i], extent);
    }
    cut->stream_rows = round_rows(cut->stream_rows, op->stream_block, op->stream_extent);
}

rt_cut rt_cut_choose(const rt_op *op, int64_t chunk)
{
    rt_cut cut;
    for (int i = 0; i < RT_AXES; i++) cut.rows[i] = INT64_MAX;
    cut.stream_rows = INT64_MAX;
    if (chunk > 0) { /* the stream, too: so that the option tries every cut */
        cut.rows[0] = chunk;
        cut.stream_rows = chunk;
        round_cut(op, &cut);
        return cut;
    }
    size_t bytes = 0, streamed = 0;
    for (int i = 0; i < RT_PORTS; i++) {
        const rt_port *p = &op->port[i];
        if (!p->array) continue;
        if (__builtin_add_overflow(bytes, p->array->bytes, &bytes)) bytes = SIZE_MAX;
        if (p->streamed && __builtin_add_overflow(streamed, p->array->bytes, &streamed))
            streamed = SIZE_MAX;
    }
    const size_t most = bytes / CHUNK_BYTES;
    int64_t wanted = most < 1 ? 1 : most < CHUNKS ? (int64_t)most : CHUNKS;
    for (int i = 0; i < op->axes && wanted > 1; i++) {
        cut.rows[i] = op->extent[i] / wanted + (op->extent[i] % wanted != 0);
        cut.rows[i] = round_rows(cut.rows[i], op->grain[i], op->extent[i]);
        const int64_t pieces = pieces_of(op->extent[i], cut.rows[i]);
        wanted = pieces > 0 ? (wanted - 1) / pieces + 1 : 1;
    }
    const size_t blocks = streamed / BLOCK_BYTES + 1;
    const int64_t count = blocks < BLOCKS ? (int64_t)blocks : BLOCKS;
    cut.stream_rows = op->stream_extent / count + (op->stream_extent % count != 0);
    round_cut(op, &cut);
    return cut;
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

/* From the first to the last element of the view. */
static dev_access access_of(const rt_port *p, const rt_view *v)
{
    int64_t last = 0;
    for (int i = 0; i < p->array->axes; i++) {
        if (v->count[i] == 0) return (dev_access){.data = v->data};
        last += (v->count[i] - 1) * v->stride[i];
    }
    return (dev_access){.data = v->data,
                        .bytes = (size_t)(last + 1) * motet_type_bytes(p->array->type),
                        .writes = p->access != RT_READ};
}

static motet_status enqueue_chunk(run *r, int64_t number)
{
    const rt_op *op = r->op;
    rt_chunk chunk;
    memset(&chunk, 0, sizeof chunk);
    int64_t rest = number;
    for (int i = RT_AXES - 1; i >= 0; i--) {
        const int64_t extent = i < op->axes ? op->extent[i] : 1;
        chunk.first[i] = rest % r->pieces[i] * r->cut.rows[i];
        rest /= r->pieces[i];
        const int64_t left = extent - chunk.first[i];
        chunk.count[i] = left < r->cut.rows[i] ? left : r->cut.rows[i];
    }
    dev_access access[RT_PORTS];
    rt_queue queue = {.context = r->context,
                      .device = r->on->device,
                      .stream = r->stream[number % STREAMS],
                      .items = &r->items,
                      .access = access};
    for (int64_t block = 0; block < r->blocks; block++) {
        chunk.stream_first = block * r->cut.stream_rows;
        const int64_t left = op->stream_extent - chunk.stream_first;
        chunk.stream_count = left < r->cut.stream_rows ? left : r->cut.stream_rows;
        chunk.first_block = block == 0;
        chunk.last_block = block == r->blocks - 1;
        queue.accesses = 0;
        for (int i = 0; i < RT_PORTS; i++) {
            if (!op->port[i].array) continue;
            chunk.port[i] = view_of(op, &op->port[i], r->data[i], &chunk);
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
    return r->finished == r->chunks
               ? extent
               : (int64_t)((double)extent * ((double)r->finished / (double)r->chunks));
}

static motet_status wait_for(run *r, int64_t number)
{
    dev *device = r->on->device;
    for (;;) {
        const uint64_t seen = device->table->progress(device);
        const motet_status st = device->table->event_poll(r->event[number % DEPTH]);
        if (st == MOTET_OK) break;
        if (st != MOTET_BUSY) return st;
        TRY(log_phase_step(&r->phase, rows_done(r)));
        device->table->doze(device, seen, doze_longest);
    }
    r->finished++;
    return log_phase_step(&r->phase, rows_done(r));
}

static motet_status all_chunks(run *r)
{
    TRY(log_phase_step(&r->phase, 0));
    for (int64_t number = 0; number < r->chunks; number++) {
        if (number >= DEPTH) TRY(wait_for(r, number - DEPTH));
        TRY(enqueue_chunk(r, number));
    }
    while (r->finished < r->chunks) TRY(wait_for(r, r->finished));
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

/* The arrays that the kernels see. A direct array that another port reads gets a copy all the same:
 * else what is read would depend on what is written already. */
static motet_status prepare_ports(run *r)
{
    const rt_op *op = r->op;
    for (int i = 0; i < RT_PORTS; i++) {
        const rt_port *p = &op->port[i];
        if (!p->array) continue;
        r->data[i] = p->array->data;
        if (p->access == RT_READ) continue;
        int direct = (p->array->flags & MOTET_WRITE_DIRECT) != 0;
        for (int j = 0; j < RT_PORTS; j++)
            if (j != i && op->port[j].array && overlap(p, &op->port[j])) direct = 0;
        if (direct) continue;
        r->private[i] = mem_alloc(r->context, p->array->bytes);
        if (!r->private[i])
            return fail(r->context, MOTET_NO_MEMORY,
                        "%s: no memory for the private copy of %s, %zu bytes", op->name, p->name,
                        p->array->bytes);
        r->data[i] = r->private[i];
        if (p->access == RT_UPDATE && p->array->bytes)
            memcpy(r->private[i], p->array->data, p->array->bytes);
    }
    return MOTET_OK;
}

static motet_status prepare_device(run *r)
{
    dev *device = r->on->device;
    for (int i = 0; i < STREAMS; i++) TRY(device->table->stream_create(device, &r->stream[i]));
    for (int i = 0; i < DEPTH; i++) TRY(device->table->event_create(device, &r->event[i]));
    return MOTET_OK;
}

static void commit(run *r)
{
    for (int i = 0; i < RT_PORTS; i++) {
        const motet_array *a = r->op->port[i].array;
        if (r->private[i] && a->bytes) memcpy(a->data, r->private[i], a->bytes);
    }
}

static motet_status go(run *r)
{
    motet_status st = MOTET_OK;
    TRY_GOTO(prepare_ports(r));
    TRY_GOTO(prepare_device(r));
    TRY_GOTO(all_chunks(r));
    commit(r);
out:
    if (st != MOTET_OK) drain(r);
    for (int i = 0; i < STREAMS; i++)
        if (r->stream[i]) r->on->device->table->stream_free(r->stream[i]);
    for (int i = 0; i < DEPTH; i++)
        if (r->event[i]) r->on->device->table->event_free(r->event[i]);
    for (int i = 0; i < RT_PORTS; i++) mem_free(r->context, r->private[i]);
    return st;
}

motet_status rt_run_cut(motet_context *c, const rt_op *op, const rt_cut *cut)
{
    TRY(check(c, op));
    const int64_t start = clock_now(c);
    run r = {.context = c,
             .op = op,
             .cut = *cut,
             .on = &c->devices->set[0],
             .phase = log_phase_begin(c, op->name, op->extent[0])};
    round_cut(op, &r.cut);
    r.blocks = pieces_of(op->stream_extent, r.cut.stream_rows);
    if (r.blocks < 1) r.blocks = 1;
    r.chunks = 1;
    for (int i = 0; i < RT_AXES; i++) {
        r.pieces[i] = pieces_of(i < op->axes ? op->extent[i] : 1, r.cut.rows[i]);
        if (__builtin_mul_overflow(r.chunks, r.pieces[i], &r.chunks))
            return fail(c, MOTET_BAD_ARGUMENT, "%s: more than 2^63 chunks", op->name);
    }
    if (!r.on->device->host_visible)
        return fail(c, MOTET_DECLINED, "%s: %s does not reach arrays in host memory", op->name,
                    r.on->info.name);
    TRY(report_operation_begin(c, op->name));
    if (r.chunks > 0) {
        const thread_float_state former = thread_float_enter(); /* engines compute in enqueue */
        const motet_status st = go(&r);
        thread_float_leave(former);
        TRY(st);
    }
    atomic_fetch_add(&r.on->chunks, r.chunks);
    report_operation_add(c, op->name, r.chunks, r.items, clock_seconds_since(c, start));
    return MOTET_OK;
}

motet_status rt_run(motet_context *c, const rt_op *op)
{
    const rt_cut cut = rt_cut_choose(op, c->options.chunk);
    return rt_run_cut(c, op, &cut);
}
