/* One device at work: a stream brings chunks up, one computes, one brings results down, ordered by
 * events only; the calling thread moves parts between arrays and staging memory.
 *
 * Device memory is one arena: fixed ports, then the slots of chunks, then the ring of blocks of the
 * stream. The staging memory has the same slots and ring; fixed ports go through a bounded part of
 * it, half by half. Copies by the device name staging memory only, so a device that hangs can
 * never reach an array. A slot is used again when its results have been taken out of it. */
#include <string.h>

#include "base/clock.h"
#include "base/context.h"
#include "base/mem.h"
#include "rt/pipe_inside.h"

static const int64_t doze_longest = 20000000;

/* Setting up. */

static rt_chunk whole_share(const pipe_device *d)
{
    rt_chunk all;
    memset(&all, 0, sizeof all);
    const rt_op *op = d->job->op;
    for (int i = 0; i < op->axes; i++) all.count[i] = op->extent[i];
    all.first[d->share.axis] = d->share.first;
    all.count[d->share.axis] = d->share.rows;
    all.stream_count = op->stream_extent;
    return all;
}

static void lay_out(pipe_device *d)
{
    const rt_op *op = d->job->op;
    const rt_chunk all = whole_share(d);
    d->fixed_bytes = d->chunk_bytes = d->block_bytes = 0;
    for (int i = 0; i < RT_PORTS; i++) {
        const rt_port *p = &op->port[i];
        if (!p->array) continue;
        d->kind[i] = rt_share_port(&d->share, p, op->axes);
        if (d->kind[i] == RT_FIXED) d->held[i] = pipe_box_of(op, p, &all);
        size_t *sum = d->kind[i] == RT_FIXED      ? &d->fixed_bytes
                      : d->kind[i] == RT_OF_BLOCK ? &d->block_bytes
                                                  : &d->chunk_bytes;
        d->place[i] = *sum;
        *sum += (size_t)rt_share_port_bytes(&d->share, op, p);
    }
    const size_t most = d->job->test.fixed_stage ? d->job->test.fixed_stage : RT_STAGE_FIXED;
    d->stage_bytes = d->fixed_bytes < most ? d->fixed_bytes : most / RT_ALIGN * RT_ALIGN;
}

static motet_status take_memory(pipe_device *d)
{
    const dev_table *t = d->device->table;
    const size_t moving = (size_t)d->slots * d->chunk_bytes + (size_t)d->ring_size * d->block_bytes;
    const size_t bytes[2] = {d->fixed_bytes + moving, d->stage_bytes + moving};
    static const dev_memory_kind kinds[2] = {DEV_DEVICE, DEV_PINNED};
    static const char *const texts[2] = {"arena", "staging"};
    for (int i = 0; i < 2; i++) {
        if (!bytes[i]) continue;
        TRY(t->alloc(d->device, kinds[i], bytes[i], &d->kept->memory[i]));
        t->memory_name(d->device, &d->kept->memory[i], texts[i]);
    }
    return MOTET_OK;
}

static void give_memory(pipe_device *d)
{
    for (int i = 0; i < 2; i++)
        if (d->kept->memory[i].data) d->device->table->release(d->device, &d->kept->memory[i]);
}

static motet_status make_handles(pipe_device *d)
{
    const dev_table *t = d->device->table;
    dev *on = d->device;
    const int remote = !on->host_visible;
    for (int i = 0; i < 2 + remote; i++) TRY(t->stream_create(on, &d->stream[i]));
    for (int i = 0; i < d->slots; i++) {
        TRY(t->event_create(on, &d->slot[i].down));
        if (!remote) continue;
        TRY(t->event_create(on, &d->slot[i].up));
        TRY(t->event_create(on, &d->slot[i].run));
    }
    for (int i = 0; i < d->ring_size; i++) {
        TRY(t->event_create(on, &d->ring[i].up));
        TRY(t->event_create(on, &d->ring[i].run));
    }
    if (!d->fixed_bytes) return MOTET_OK;
    for (int i = 0; i < 2; i++) TRY(t->event_create(on, &d->sent[i]));
    return MOTET_OK;
}

motet_status pipe_device_begin(pipe_device *d)
{
    motet_context *c = d->job->context;
    d->kept = mem_new(c, rt_kept);
    if (!d->kept)
        return fail(c, MOTET_NO_MEMORY, "%s: no memory for the account of %s", d->job->op->name,
                    d->on->info.name);
    d->slots = d->share.slots;
    d->fixed_bytes = d->chunk_bytes = d->block_bytes = d->stage_bytes = 0;
    d->ring_size = 0;
    if (!d->device->host_visible) {
        d->ring_size = d->share.ring;
        lay_out(d);
        motet_status st = take_memory(d);
        if (st == MOTET_NO_MEMORY && (d->slots > 1 || d->ring_size > 1)) {
            give_memory(d); /* somebody else took some: one at a time will do */
            d->slots = 1;
            if (d->ring_size > 1) d->ring_size = 1;
            st = take_memory(d);
        }
        TRY(st);
    }
    TRY(make_handles(d));
    d->begun = d->retired = d->block_number = d->longest = 0;
    d->feeding = d->half = d->half_used[0] = d->half_used[1] = d->port = 0;
    d->done = 0;
    for (int i = 0; i < RT_SLOTS; i++) d->ring[i].used = 0;
    d->state = d->fixed_bytes ? PIPE_SENDING : PIPE_RUNNING;
    d->since = clock_now(c);
    return MOTET_OK;
}

/* Places. */

static char *arena(const pipe_device *d, int port, int slot, int place)
{
    char *base = (char *)d->kept->memory[0].data + d->place[port];
    if (d->kind[port] == RT_FIXED) return base;
    base += d->fixed_bytes;
    if (d->kind[port] == RT_OF_CHUNK) return base + (size_t)slot * d->chunk_bytes;
    return base + (size_t)d->slots * d->chunk_bytes + (size_t)place * d->block_bytes;
}

static char *staging(const pipe_device *d, int port, int slot, int place)
{
    char *base = (char *)d->kept->memory[1].data + d->stage_bytes + d->place[port];
    if (d->kind[port] == RT_OF_CHUNK) return base + (size_t)slot * d->chunk_bytes;
    return base + (size_t)d->slots * d->chunk_bytes + (size_t)place * d->block_bytes;
}

static int keeps(const pipe_device *d, pipe_edge edge) { return d->job->test.without != edge; }

static void progressed(pipe_device *d, int *moved)
{
    d->since = clock_now(d->job->context);
    *moved = 1;
}

/* Fixed ports. */

static motet_status send_fixed(pipe_device *d, int *moved)
{
    const dev_table *t = d->device->table;
    size_t half = d->stage_bytes / 2;
    while (d->port < RT_PORTS) {
        const rt_port *p = &d->job->op->port[d->port];
        const size_t bytes =
            p->array && d->kind[d->port] == RT_FIXED ? pipe_box_bytes(p, &d->held[d->port]) : 0;
        if (d->done == bytes) {
            d->port++;
            d->done = 0;
            continue;
        }
        const int h = d->half;
        if (d->half_used[h] && keeps(d, PIPE_NO_FIXED_REFILL)) {
            const motet_status st = t->event_poll(d->sent[h]);
            if (st == MOTET_BUSY) return MOTET_OK;
            TRY(st);
        }
        const size_t part = bytes - d->done < half ? bytes - d->done : half;
        char *stage = (char *)d->kept->memory[1].data + (size_t)h * half;
        t->host_access(d->device, stage, part, 1);
        pipe_pack(p, d->job->data[d->port], &d->held[d->port], d->done, part, stage);
        TRY(t->copy(d->stream[PIPE_UP], arena(d, d->port, 0, 0) + d->done, stage, part));
        TRY(t->event_record(d->stream[PIPE_UP], d->sent[h]));
        d->half_used[h] = 1;
        d->half = !h;
        d->done += part;
        progressed(d, moved);
    }
    d->state = PIPE_RUNNING;
    progressed(d, moved);
    return MOTET_OK;
}

/* Chunks. */

static rt_chunk chunk_of(const pipe_device *d, const pipe_task *task)
{
    rt_chunk chunk;
    memset(&chunk, 0, sizeof chunk);
    memcpy(chunk.first, task->first, sizeof chunk.first);
    memcpy(chunk.count, task->count, sizeof chunk.count);
    const int64_t rows = d->share.cut.stream_rows, extent = d->job->op->stream_extent;
    chunk.stream_first = d->block * rows;
    const int64_t left = extent - chunk.stream_first;
    chunk.stream_count = left < rows ? left : rows;
    chunk.first_block = d->block == 0;
    chunk.last_block = d->block == d->share.blocks - 1;
    return chunk;
}

/* Brings the ports of a kind up. */
static motet_status send_ports(pipe_device *d, const rt_chunk *chunk, rt_port_kind kind, int slot,
                               int place)
{
    const dev_table *t = d->device->table;
    for (int i = 0; i < RT_PORTS; i++) {
        const rt_port *p = &d->job->op->port[i];
        if (!p->array || d->kind[i] != kind || p->access == RT_WRITE) continue;
        const pipe_box box = pipe_box_of(d->job->op, p, chunk);
        const size_t bytes = pipe_box_bytes(p, &box);
        if (!bytes) continue;
        char *stage = staging(d, i, slot, place);
        t->host_access(d->device, stage, bytes, 1);
        pipe_pack(p, d->job->data[i], &box, 0, bytes, stage);
        TRY(t->copy(d->stream[PIPE_UP], arena(d, i, slot, place), stage, bytes));
    }
    return MOTET_OK;
}

static motet_status compute(pipe_device *d, rt_chunk *chunk, int slot, int place)
{
    const rt_op *op = d->job->op;
    dev_access access[RT_PORTS];
    rt_queue queue = {.context = d->job->context,
                      .device = d->device,
                      .stream = d->stream[PIPE_COMPUTE],
                      .items = &d->job->items,
                      .batch = op->batch,
                      .scratch = op->scratch,
                      .access = access};
    if (d->device->host_visible) queue.stream = d->stream[d->begun % 2];
    for (int i = 0; i < RT_PORTS; i++) {
        const rt_port *p = &op->port[i];
        if (!p->array) continue;
        const pipe_box box = pipe_box_of(op, p, chunk);
        if (d->device->host_visible) {
            const pipe_box whole = pipe_box_whole(p->array);
            chunk->port[i] = pipe_view(p, d->job->data[i], &whole, &box);
        } else {
            chunk->port[i] = pipe_view(p, arena(d, i, slot, place),
                                       d->kind[i] == RT_FIXED ? &d->held[i] : &box, &box);
        }
        access[queue.accesses++] = pipe_access(p, &chunk->port[i]);
    }
    return op->enqueue(chunk, &queue, op->user);
}

/* Results of the chunk begun last go down. */
static motet_status receive(pipe_device *d, const rt_chunk *chunk, int slot)
{
    const dev_table *t = d->device->table;
    pipe_slot *s = &d->slot[slot];
    if (d->device->host_visible) return t->event_record(d->stream[d->begun % 2], s->down);
    TRY(t->event_record(d->stream[PIPE_COMPUTE], s->run));
    if (keeps(d, PIPE_NO_RESULT)) TRY(t->stream_wait(d->stream[PIPE_DOWN], s->run));
    for (int i = 0; i < RT_PORTS; i++) {
        const rt_port *p = &d->job->op->port[i];
        if (!p->array || p->access == RT_READ) continue;
        const pipe_box box = pipe_box_of(d->job->op, p, chunk);
        TRY(t->copy(d->stream[PIPE_DOWN], staging(d, i, slot, 0), arena(d, i, slot, 0),
                    pipe_box_bytes(p, &box)));
    }
    return t->event_record(d->stream[PIPE_DOWN], s->down);
}

static motet_status begin_chunk(pipe_device *d, const pipe_task *task)
{
    const dev_table *t = d->device->table;
    const int slot = (int)(d->begun % d->slots);
    pipe_slot *s = &d->slot[slot];
    s->task = *task;
    s->began = clock_now(d->job->context);
    d->begun++;
    d->feeding = 1;
    d->block = 0;
    if (d->device->host_visible) return MOTET_OK;
    const rt_chunk chunk = chunk_of(d, task);
    TRY(send_ports(d, &chunk, RT_OF_CHUNK, slot, 0));
    TRY(t->event_record(d->stream[PIPE_UP], s->up));
    return keeps(d, PIPE_NO_CHUNK) ? t->stream_wait(d->stream[PIPE_COMPUTE], s->up) : MOTET_OK;
}

/* The next block of the chunk begun last. */
static motet_status feed(pipe_device *d, int *moved)
{
    const dev_table *t = d->device->table;
    const int slot = (int)((d->begun - 1) % d->slots);
    const int place = d->ring_size ? (int)(d->block_number % d->ring_size) : 0;
    rt_chunk chunk = chunk_of(d, &d->slot[slot].task);
    pipe_ring *r = &d->ring[place];
    if (d->ring_size) {
        if (r->used && keeps(d, PIPE_NO_BLOCK_REFILL)) {
            const motet_status st = t->event_poll(r->up);
            if (st == MOTET_BUSY) return MOTET_OK;
            TRY(st);
        }
        if (r->used && keeps(d, PIPE_NO_BLOCK_REUSE))
            TRY(t->stream_wait(d->stream[PIPE_UP], r->run));
        TRY(send_ports(d, &chunk, RT_OF_BLOCK, slot, place));
        TRY(t->event_record(d->stream[PIPE_UP], r->up));
        if (keeps(d, PIPE_NO_BLOCK)) TRY(t->stream_wait(d->stream[PIPE_COMPUTE], r->up));
        r->used = 1;
    }
    TRY(compute(d, &chunk, slot, place));
    if (d->ring_size) TRY(t->event_record(d->stream[PIPE_COMPUTE], r->run));
    d->block_number++;
    d->block++;
    if (chunk.last_block) {
        TRY(receive(d, &chunk, slot));
        d->feeding = 0;
    }
    progressed(d, moved);
    return MOTET_OK;
}

/* Takes the oldest chunk out, if it is done. */
static motet_status retire(pipe_device *d, int *moved)
{
    const int64_t fed = d->begun - d->feeding;
    if (d->retired == fed) return MOTET_OK;
    const dev_table *t = d->device->table;
    const int slot = (int)(d->retired % d->slots);
    pipe_slot *s = &d->slot[slot];
    if (keeps(d, PIPE_NO_GATHER)) {
        const motet_status st = t->event_poll(s->down);
        if (st == MOTET_BUSY) return MOTET_OK;
        TRY(st);
    }
    const rt_chunk chunk = chunk_of(d, &s->task);
    for (int i = 0; i < RT_PORTS && !d->device->host_visible; i++) {
        const rt_port *p = &d->job->op->port[i];
        if (!p->array || p->access == RT_READ) continue;
        const pipe_box box = pipe_box_of(d->job->op, p, &chunk);
        const size_t bytes = pipe_box_bytes(p, &box);
        char *stage = staging(d, i, slot, 0);
        t->host_access(d->device, stage, bytes, 0);
        pipe_unpack(p, d->job->data[i], &box, 0, bytes, stage);
    }
    const int64_t from = s->began > d->since ? s->began : d->since;
    progressed(d, moved);
    if (d->since - from > d->longest) d->longest = d->since - from;
    d->retired++;
    d->published++;
    return MOTET_OK;
}

int pipe_device_busy(const pipe_device *d)
{
    return d->state == PIPE_SENDING || (d->state == PIPE_RUNNING && d->begun > d->retired);
}

static int overdue(const pipe_device *d)
{
    if (d->device->host_visible) return 0;
    const int64_t chunks = d->longest < INT64_MAX / 20 ? 20 * d->longest : INT64_MAX;
    return clock_now(d->job->context) - d->since > (chunks > RT_DEADLINE ? chunks : RT_DEADLINE);
}

motet_status pipe_device_step(pipe_device *d, pipe_task_fn *next, int *moved)
{
    const int before = *moved;
    *moved = 0;
    motet_status st = MOTET_OK;
    if (d->state == PIPE_SENDING) TRY_GOTO(send_fixed(d, moved));
    if (d->state == PIPE_RUNNING) {
        pipe_task task;
        int got = 0;
        TRY_GOTO(retire(d, moved));
        if (!d->feeding && d->begun - d->retired < d->slots) TRY_GOTO(next(d, &task, &got));
        if (got) TRY_GOTO(begin_chunk(d, &task));
        if (d->feeding) TRY_GOTO(feed(d, moved));
    }
    if (!*moved && pipe_device_busy(d) && overdue(d))
        st = fail(d->job->context, MOTET_DEVICE_HUNG, "%s: %s made no progress for %.3g s",
                  d->job->op->name, d->on->info.name,
                  clock_seconds_since(d->job->context, d->since));
out:
    *moved |= before;
    return st;
}

/* The end. */

static int drain(const pipe_device *d)
{
    const dev_table *t = d->device->table;
    for (int i = 0; i < 3; i++)
        if (d->stream[i]) t->stream_drop(d->stream[i]);
    for (int i = 0; i < 3; i++) {
        if (!d->stream[i]) continue;
        for (;;) {
            const uint64_t seen = t->progress(d->device);
            if (t->stream_poll(d->stream[i]) != MOTET_BUSY) break;
            if (overdue(d)) return 1;
            t->doze(d->device, seen, doze_longest);
        }
    }
    return 0;
}

int pipe_device_end(pipe_device *d, int hung)
{
    if (!d->kept) return 0;
    const dev_table *t = d->device->table;
    if (!hung) hung = drain(d);
    for (int i = 0; i < 3; i++) {
        if (!d->stream[i]) continue;
        t->stream_free(d->stream[i]);
        d->stream[i] = NULL;
    }
    dev_event **events[2 + 5 * RT_SLOTS] = {&d->sent[0], &d->sent[1]};
    for (int i = 0; i < RT_SLOTS; i++) {
        dev_event **const of[5] = {&d->slot[i].up, &d->slot[i].run, &d->slot[i].down,
                                   &d->ring[i].up, &d->ring[i].run};
        for (int j = 0; j < 5; j++) events[2 + 5 * i + j] = of[j];
    }
    for (int i = 0; i < 2 + 5 * RT_SLOTS; i++) {
        if (*events[i]) t->event_free(*events[i]);
        *events[i] = NULL;
    }
    if (hung) {
        rt_device_keep(d->job->context, d->on, d->kept);
    } else {
        give_memory(d);
        mem_free(d->job->context, d->kept);
    }
    d->kept = NULL;
    d->state = PIPE_IDLE;
    return hung;
}
