/* One device at work: a stream brings chunks up, one computes, one brings results down, ordered by
 * events only; the calling thread moves parts between arrays and staging memory. Copies by the
 * device name staging memory only, so a device that hangs can never reach an array. A slot is used
 * again when its results have been taken out of it.
 *
 * A device that reaches host memory works on arrays in place, on two streams in turn, with nothing
 * to bring; what its buffered ports hold is filled before a chunk begins and taken out after it. */
#include <string.h>

#include "base/clock.h"
#include "base/context.h"
#include "base/mem.h"
#include "rt/pipe_inside.h"
#include "rt/pipe_move.h"

static const int64_t doze_longest = 20000000;

/* Setting up. */

static motet_status make_handles(pipe_device *d)
{
    const dev_table *t = d->device->table;
    dev *on = d->device;
    const int remote = !on->host_visible;
    for (int i = 0; i < 2 + remote; i++) TRY(t->stream_create(on, &d->stream[i]));
    if (d->made_bytes) TRY(t->event_create(on, &d->made_event));
    for (int i = 0; i < d->slots; i++) {
        TRY(t->event_create(on, &d->slot[i].down));
        if (!remote) continue;
        TRY(t->event_create(on, &d->slot[i].up));
        TRY(t->event_create(on, &d->slot[i].run));
    }
    for (int i = 0; i < d->ring_size; i++) {
        TRY(t->event_create(on, &d->ring[i].run));
        if (remote) TRY(t->event_create(on, &d->ring[i].up));
    }
    if (!d->stage_bytes || !remote) return MOTET_OK;
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
    TRY(pipe_memory_take(d));
    TRY(make_handles(d));
    d->begun = d->retired = d->block_number = d->longest = 0;
    d->feeding = d->half = d->half_used[0] = d->half_used[1] = d->port = 0;
    d->done = 0;
    d->made_once = 0;
    for (int i = 0; i < RT_SLOTS; i++) d->ring[i].used = 0;
    d->state = d->fixed_bytes || d->share.resident ? PIPE_SENDING : PIPE_RUNNING;
    d->since = clock_now(c);
    return MOTET_OK;
}

static int keeps(const pipe_device *d, pipe_edge edge) { return d->job->test.without != edge; }

static void progressed(pipe_device *d, int *moved)
{
    d->since = clock_now(d->job->context);
    *moved = 1;
}

/* What a port's array cannot do by itself, source and sink, may fail; that is no device's fault. */
static motet_status gather(pipe_device *d, int port, const pipe_box *box, int again, char *to)
{
    const rt_port *p = &d->job->op->port[port];
    const void *former = p->array->data; /* of what is updated: the private copy is ahead of it */
    rt_fetch *reader = p->source && p->source->apart ? d->reader : NULL;
    rt_fetch_hold(reader);
    const motet_status st = pipe_gather(p, again ? former : d->job->data[port], box, to);
    rt_fetch_release(reader);
    if (st != MOTET_OK) d->job->refused = 1;
    return st;
}

/* Fixed ports, and what is missing of those that stay on the device. */

/* The next piece of such a port. */
static motet_status send_piece(pipe_device *d, const pipe_box *piece, int *moved)
{
    const dev_table *t = d->device->table;
    const rt_port *p = &d->job->op->port[d->port];
    const size_t bytes = pipe_box_bytes(p, piece), half = d->stage_bytes / 2;
    char *to = pipe_arena(d, d->port, 0, 0) + (size_t)d->done * motet_type_bytes(p->array->type);
    if (d->device->host_visible) {
        TRY(gather(d, d->port, piece, 0, to));
    } else {
        const int h = d->half;
        if (d->half_used[h] && keeps(d, PIPE_NO_FIXED_REFILL)) {
            const motet_status st = t->event_poll(d->sent[h]);
            if (st == MOTET_BUSY) return MOTET_OK;
            TRY(st);
        }
        char *stage = (char *)d->kept->memory[1].data + (size_t)h * half;
        t->host_access(d->device, stage, bytes, 1);
        TRY(gather(d, d->port, piece, 0, stage));
        TRY(t->copy(d->stream[PIPE_UP], to, stage, bytes));
        atomic_fetch_add(&d->on->uploaded, (int64_t)bytes);
        TRY(t->event_record(d->stream[PIPE_UP], d->sent[h]));
        d->half_used[h] = 1;
        d->half = !h;
    }
    d->done += pipe_box_elements(p, piece);
    progressed(d, moved);
    return MOTET_OK;
}

static int is_sent(const pipe_device *d, int port)
{
    if (!d->job->op->port[port].array || !d->buffered[port]) return 0;
    return d->kind[port] == RT_RESIDENT ? d->use[port].fill : d->kind[port] == RT_FIXED;
}

/* What the device has already of an array that stays there is copied, when it is its turn; *most
 * elements may be sent before it is. */
static motet_status copy_own(pipe_device *d, int64_t *most)
{
    if (d->kind[d->port] != RT_RESIDENT || !d->use[d->port].own) return MOTET_OK;
    const rt_use *use = &d->use[d->port];
    const int64_t element = (int64_t)motet_type_bytes(d->job->op->port[d->port].array->type);
    const int64_t low = (int64_t)use->low / element, high = (int64_t)use->high / element;
    if (d->done == low) {
        TRY(d->device->table->copy(d->stream[PIPE_UP], pipe_arena(d, d->port, 0, 0) + use->low,
                                   (char *)use->own->kept.memory[0].data + use->own_offset,
                                   use->high - use->low));
        d->done = high;
    }
    if (d->done < low && low - d->done < *most) *most = low - d->done;
    return MOTET_OK;
}

static motet_status send_fixed(pipe_device *d, int *moved)
{
    for (; d->port < RT_PORTS; d->port++, d->done = 0) {
        const rt_port *p = &d->job->op->port[d->port];
        if (!is_sent(d, d->port)) continue;
        const size_t room = d->device->host_visible ? RT_STAGE_FIXED : d->stage_bytes / 2;
        int64_t most = (int64_t)(room / motet_type_bytes(p->array->type));
        TRY(copy_own(d, &most));
        pipe_box piece;
        if (pipe_box_piece(p, &d->held[d->port], d->done, most, &piece))
            return send_piece(d, &piece, moved);
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

/* Read ahead on a thread of the run's own. */
static int is_fetched(const pipe_device *d, int port, rt_port_kind kind)
{
    const rt_port *p = &d->job->op->port[port];
    if (!d->reader || !p->array || !d->buffered[port] || d->kind[port] != kind) return 0;
    return p->source && p->source->apart;
}

/* *there: what the ports of a kind fetch is where it goes up from; else it is asked for. */
static motet_status fetch_ports(pipe_device *d, const rt_chunk *chunk, rt_port_kind kind, int slot,
                                int place, int *there, int *moved)
{
    *there = 1;
    if (d->fetching) {
        const motet_status st = rt_fetch_poll(d->reader, &d->asked);
        *there = st != MOTET_BUSY;
        d->since = clock_now(d->job->context); /* a slow source is no device's fault */
        if (st == MOTET_BUSY) return MOTET_OK;
        d->fetching = 0;
        if (st != MOTET_OK) d->job->refused = 1;
        return st;
    }
    d->asked.count = 0;
    for (int i = 0; i < RT_PORTS; i++) {
        if (!is_fetched(d, i, kind)) continue;
        const rt_port *p = &d->job->op->port[i];
        const pipe_box box = pipe_box_of(d->job->op, p, chunk);
        char *to = pipe_host_side(d, i, slot, place);
        if (!pipe_box_elements(p, &box)) continue;
        d->device->table->host_access(d->device, to, pipe_box_bytes(p, &box), 1);
        d->asked.part[d->asked.count].port = p;
        d->asked.part[d->asked.count].box = box;
        d->asked.part[d->asked.count++].to = to;
    }
    if (!d->asked.count) return MOTET_OK;
    rt_fetch_ask(d->reader, &d->asked);
    d->fetching = 1;
    *there = 0;
    progressed(d, moved);
    return MOTET_OK;
}

/* Brings the ports of a kind up. */
static motet_status send_ports(pipe_device *d, const rt_chunk *chunk, rt_port_kind kind, int slot,
                               int place)
{
    const dev_table *t = d->device->table;
    for (int i = 0; i < RT_PORTS; i++) {
        const rt_port *p = &d->job->op->port[i];
        if (!p->array || !d->buffered[i] || d->kind[i] != kind || p->access == RT_WRITE) continue;
        const pipe_box box = pipe_box_of(d->job->op, p, chunk);
        const size_t bytes = pipe_box_bytes(p, &box);
        if (!bytes) continue;
        if (p->access == RT_ADD) {
            TRY(t->fill(pipe_compute_stream(d), pipe_arena(d, i, slot, place), 0, bytes));
            continue;
        }
        char *stage = pipe_host_side(d, i, slot, place);
        if (!is_fetched(d, i, kind)) {
            t->host_access(d->device, stage, bytes, 1);
            TRY(gather(d, i, &box, d->slot[slot].task.by > 0, stage));
        }
        if (d->device->host_visible) continue;
        TRY(t->copy(d->stream[PIPE_UP], pipe_arena(d, i, slot, place), stage, bytes));
        atomic_fetch_add(&d->on->uploaded, (int64_t)bytes);
    }
    return MOTET_OK;
}

/* Results of the chunk begun last go down. */
static motet_status receive(pipe_device *d, const rt_chunk *chunk, int slot)
{
    const dev_table *t = d->device->table;
    pipe_slot *s = &d->slot[slot];
    if (d->device->host_visible) return t->event_record(pipe_compute_stream(d), s->down);
    TRY(t->event_record(d->stream[PIPE_COMPUTE], s->run));
    if (keeps(d, PIPE_NO_RESULT)) TRY(t->stream_wait(d->stream[PIPE_DOWN], s->run));
    for (int i = 0; i < RT_PORTS; i++) {
        const rt_port *p = &d->job->op->port[i];
        if (!pipe_comes_down(d, i)) continue;
        const pipe_box box = pipe_box_of(d->job->op, p, chunk);
        const size_t bytes = pipe_box_bytes(p, &box);
        TRY(t->copy(d->stream[PIPE_DOWN], pipe_host_side(d, i, slot, 0), pipe_arena(d, i, slot, 0),
                    bytes));
        atomic_fetch_add(&d->on->downloaded, (int64_t)bytes);
    }
    return t->event_record(d->stream[PIPE_DOWN], s->down);
}

static void begin_chunk(pipe_device *d, const pipe_task *task)
{
    const int slot = (int)(d->begun % d->slots);
    pipe_slot *s = &d->slot[slot];
    s->task = *task;
    s->began = clock_now(d->job->context);
    d->begun++;
    d->feeding = 1;
    d->brought = 0;
    d->block = 0;
}

/* Its ports, before its first block. */
static motet_status bring(pipe_device *d, const rt_chunk *chunk, int slot, int *moved)
{
    const dev_table *t = d->device->table;
    int there;
    TRY(fetch_ports(d, chunk, RT_OF_CHUNK, slot, 0, &there, moved));
    if (!there) return MOTET_OK;
    TRY(send_ports(d, chunk, RT_OF_CHUNK, slot, 0));
    d->brought = 1;
    if (d->device->host_visible) return MOTET_OK;
    TRY(t->event_record(d->stream[PIPE_UP], d->slot[slot].up));
    if (!keeps(d, PIPE_NO_CHUNK)) return MOTET_OK;
    return t->stream_wait(d->stream[PIPE_COMPUTE], d->slot[slot].up);
}

/* The next block of the chunk begun last. */
static motet_status feed(pipe_device *d, int *moved)
{
    const dev_table *t = d->device->table;
    const int slot = (int)((d->begun - 1) % d->slots);
    const int place = d->ring_size ? (int)(d->block_number % d->ring_size) : 0;
    rt_chunk chunk = chunk_of(d, &d->slot[slot].task);
    pipe_ring *r = &d->ring[place];
    const int remote = !d->device->host_visible;
    if (!d->brought) TRY(bring(d, &chunk, slot, moved));
    if (!d->brought) return MOTET_OK;
    if (d->ring_size) {
        int there;
        /* the host fills staging, or the place itself */
        if (!d->fetching && r->used && (!remote || keeps(d, PIPE_NO_BLOCK_REFILL))) {
            const motet_status st = t->event_poll(remote ? r->up : r->run);
            if (st == MOTET_BUSY) return MOTET_OK;
            TRY(st);
        }
        TRY(fetch_ports(d, &chunk, RT_OF_BLOCK, slot, place, &there, moved));
        if (!there) return MOTET_OK;
        if (remote && r->used && keeps(d, PIPE_NO_BLOCK_REUSE))
            TRY(t->stream_wait(d->stream[PIPE_UP], r->run));
        TRY(send_ports(d, &chunk, RT_OF_BLOCK, slot, place));
        if (remote) TRY(t->event_record(d->stream[PIPE_UP], r->up));
        if (remote && keeps(d, PIPE_NO_BLOCK)) TRY(t->stream_wait(d->stream[PIPE_COMPUTE], r->up));
        r->used = 1;
    }
    TRY(pipe_compute(d, &chunk, slot, place));
    if (d->ring_size) TRY(t->event_record(pipe_compute_stream(d), r->run));
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
    d->ready = d->held_back;
    if (d->held_back) {
        d->since = clock_now(d->job->context); /* that it waits is not its fault */
        return MOTET_OK;
    }
    const rt_chunk chunk = chunk_of(d, &s->task);
    TRY(pipe_take_results(d, &chunk, &s->task, slot));
    const int64_t from = s->began > d->since ? s->began : d->since;
    progressed(d, moved);
    if (d->since - from > d->longest) d->longest = d->since - from;
    d->retired++;
    d->published++;
    d->verified += s->task.by > 0;
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
        d->at = d->published;
        TRY_GOTO(retire(d, moved));
        d->at = d->published + d->begun - d->retired - d->feeding;
        if (!d->feeding && d->begun - d->retired < d->slots) TRY_GOTO(next(d, &task, &got));
        if (got) begin_chunk(d, &task);
        if (d->feeding) TRY_GOTO(feed(d, moved));
        d->at = d->published;
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
    if (d->fetching) rt_fetch_wait(d->reader, &d->asked);
    d->fetching = 0;
    if (!hung) hung = drain(d);
    for (int i = 0; i < 3; i++) {
        if (!d->stream[i]) continue;
        t->stream_free(d->stream[i]);
        d->stream[i] = NULL;
    }
    enum { OWN = 3, EVENTS = OWN + 5 * RT_SLOTS };
    dev_event **events[EVENTS] = {&d->sent[0], &d->sent[1], &d->made_event};
    for (int i = 0; i < RT_SLOTS; i++) {
        dev_event **const of[5] = {&d->slot[i].up, &d->slot[i].run, &d->slot[i].down,
                                   &d->ring[i].up, &d->ring[i].run};
        for (int j = 0; j < 5; j++) events[OWN + 5 * i + j] = of[j];
    }
    for (int i = 0; i < EVENTS; i++) {
        if (*events[i]) t->event_free(*events[i]);
        *events[i] = NULL;
    }
    if (hung) {
        rt_hold_taken(d->on, -(int64_t)d->kept->memory[0].bytes); /* no run uses it any more */
        rt_device_keep(d->job->context, d->on, d->kept);
    } else {
        pipe_memory_give(d);
        mem_free(d->job->context, d->kept);
    }
    d->kept = NULL;
    d->state = PIPE_IDLE;
    return hung;
}
