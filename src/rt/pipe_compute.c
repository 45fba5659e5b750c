/* The kernels of one block of one chunk: what they see, and what they touch. */
#include "rt/pipe_inside.h"

/* 1 if the device has all of the port that its chunks may see. */
static int is_held(const pipe_device *d, int port)
{
    return d->kind[port] == RT_FIXED || d->kind[port] == RT_RESIDENT;
}

/* What the kernels of a chunk see: arrays in place, or the arena. */
static void resolve(const pipe_device *d, rt_chunk *chunk, int slot, int place)
{
    const rt_op *op = d->job->op;
    for (int i = 0; i < RT_PORTS; i++) {
        const rt_port *p = &op->port[i];
        if (!p->array) continue;
        const pipe_box box = pipe_box_of(op, p, chunk);
        if (d->buffered[i]) {
            chunk->port[i] = pipe_view(p, pipe_arena(d, i, slot, place),
                                       is_held(d, i) ? &d->held[i] : &box, &box);
        } else {
            const pipe_box whole = pipe_box_whole(p->array);
            chunk->port[i] = pipe_view(p, d->job->data[i], &whole, &box);
        }
    }
}

/* Kernels that make what the chunk's see out of what arrived: they run on the chunk's stream, and
 * so does all that used the place before. `box`: of the port, for that chunk. */
static motet_status make(pipe_device *d, const rt_chunk *chunk, rt_queue *queue, int port,
                         const pipe_box *box, char *to)
{
    const rt_op *op = d->job->op;
    const rt_port *p = &op->port[port];
    const int still = rt_share_still(&d->share, op, p);
    const rt_view made = pipe_view_made(p, to, box, box);
    dev_access access[RT_PORTS + 1];
    queue->access = access;
    queue->accesses = 0;
    for (int i = 0; i < RT_PORTS; i++) {
        const rt_port *other = &op->port[i];
        if (!other->array || other->access != RT_READ) continue;
        if (still && d->buffered[i] && !is_held(d, i)) continue; /* is none of its business */
        access[queue->accesses++] = pipe_access(other, other->array->type, &chunk->port[i]);
    }
    access[queue->accesses] = pipe_access(p, p->made_type, &made);
    access[queue->accesses++].writes = 1;
    return p->transform(chunk, &chunk->port[port], &made, queue, op->user);
}

/* What is the same for all chunks is made whole for the first, whatever part that sees; other
 * streams wait for it. */
static motet_status make_once(pipe_device *d, rt_queue *queue, int port, const rt_chunk *chunk,
                              const pipe_box *part, rt_view *out)
{
    const dev_table *t = d->device->table;
    const rt_op *op = d->job->op;
    const rt_port *p = &op->port[port];
    char *to = pipe_made(d, port, 0);
    rt_chunk all = rt_share_whole(op, &d->share);
    const pipe_box whole = pipe_box_of(op, p, &all);
    *out = pipe_view_made(p, to, &whole, part);
    if (d->made_once >> port & 1) return t->stream_wait(queue->stream, d->made_event);
    all.first_block = chunk->first_block;
    all.last_block = chunk->last_block;
    resolve(d, &all, 0, 0);
    TRY(make(d, &all, queue, port, &whole, to));
    d->made_once |= 1u << port;
    return t->event_record(queue->stream, d->made_event);
}

static motet_status transform(pipe_device *d, const rt_chunk *chunk, rt_queue *queue, int port,
                              rt_view *out)
{
    const rt_op *op = d->job->op;
    const rt_port *p = &op->port[port];
    const pipe_box box = pipe_box_of(op, p, chunk);
    if (rt_share_still(&d->share, op, p)) return make_once(d, queue, port, chunk, &box, out);
    char *to = pipe_made(d, port, (int)(d->begun % d->made_places));
    TRY(make(d, chunk, queue, port, &box, to));
    *out = pipe_view_made(p, to, &box, &box);
    return MOTET_OK;
}

motet_status pipe_compute(pipe_device *d, rt_chunk *chunk, int slot, int place)
{
    const rt_op *op = d->job->op;
    dev_access access[RT_PORTS];
    rt_queue queue = {.context = d->job->context,
                      .device = d->device,
                      .stream = pipe_compute_stream(d),
                      .items = &d->job->items,
                      .batch = op->batch,
                      .scratch = op->scratch};
    resolve(d, chunk, slot, place);
    const rt_chunk arrived = *chunk;
    for (int i = 0; i < RT_PORTS; i++)
        if (op->port[i].array && op->port[i].transform)
            TRY(transform(d, &arrived, &queue, i, &chunk->port[i]));
    queue.access = access;
    queue.accesses = 0;
    for (int i = 0; i < RT_PORTS; i++) {
        const rt_port *p = &op->port[i];
        if (p->array)
            access[queue.accesses++] =
                pipe_access(p, p->transform ? p->made_type : p->array->type, &chunk->port[i]);
    }
    return op->enqueue(chunk, &queue, op->user);
}
