/* The kernels of one block of one chunk: what they see, and what they touch. */
#include "rt/pipe_inside.h"

/* What the kernels of a chunk see: arrays in place, or the arena. */
static void resolve(const pipe_device *d, rt_chunk *chunk, int slot, int place)
{
    const rt_op *op = d->job->op;
    for (int i = 0; i < RT_PORTS; i++) {
        const rt_port *p = &op->port[i];
        if (!p->array) continue;
        const pipe_box box = pipe_box_of(op, p, chunk);
        if (d->buffered[i]) {
            const int held = d->kind[i] == RT_FIXED || d->kind[i] == RT_RESIDENT;
            chunk->port[i] =
                pipe_view(p, pipe_arena(d, i, slot, place), held ? &d->held[i] : &box, &box);
        } else {
            const pipe_box whole = pipe_box_whole(p->array);
            chunk->port[i] = pipe_view(p, d->job->data[i], &whole, &box);
        }
    }
}

/* Kernels that make what the chunk's see out of what arrived. They run on the chunk's stream, and
 * so does all that used the place before; what is the same for all chunks is made for the first,
 * and other streams wait for it. */
static motet_status transform(pipe_device *d, rt_chunk *chunk, rt_queue *queue, int port)
{
    const dev_table *t = d->device->table;
    const rt_op *op = d->job->op;
    const rt_port *p = &op->port[port];
    const pipe_box box = pipe_box_of(op, p, chunk);
    const int still = rt_share_still(&d->share, op, p);
    char *to = pipe_made(d, port, still ? 0 : (int)(d->begun % d->made_places));
    const rt_view made = pipe_view_made(p, to, &box);
    if (still && d->made_once >> port & 1) {
        chunk->port[port] = made;
        return t->stream_wait(queue->stream, d->made_event);
    }
    dev_access access[RT_PORTS + 1];
    queue->access = access;
    queue->accesses = 0;
    for (int i = 0; i < RT_PORTS; i++)
        if (op->port[i].array && op->port[i].access == RT_READ)
            access[queue->accesses++] =
                pipe_access(&op->port[i], op->port[i].array->type, &chunk->port[i]);
    access[queue->accesses] = pipe_access(p, p->made_type, &made);
    access[queue->accesses++].writes = 1;
    TRY(p->transform(chunk, &chunk->port[port], &made, queue, op->user));
    chunk->port[port] = made;
    if (!still) return MOTET_OK;
    d->made_once |= 1u << port;
    return t->event_record(queue->stream, d->made_event);
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
        if (op->port[i].array && op->port[i].transform) {
            rt_chunk raw = arrived;
            TRY(transform(d, &raw, &queue, i));
            chunk->port[i] = raw.port[i];
        }
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
