/* The memory of one device of a run, and where each port lies in it. */
#include <string.h>

#include "rt/pipe_inside.h"
#include "rt/pool.h"

static void lay_out(pipe_device *d)
{
    const rt_op *op = d->job->op;
    const rt_chunk all = rt_share_whole(op, &d->share);
    d->fixed_bytes = d->chunk_bytes = d->block_bytes = d->made_bytes = 0;
    for (int i = 0; i < RT_PORTS; i++) {
        const rt_port *p = &op->port[i];
        if (!p->array) continue;
        if (p->transform) {
            d->made[i] = d->made_bytes;
            d->made_bytes += (size_t)rt_share_made_bytes(&d->share, op, p);
        }
        d->buffered[i] = !d->device->host_visible || rt_port_buffered(op, p) ||
                         (d->apart && p->access != RT_READ);
        if (!d->buffered[i]) continue;
        if (d->share.resident >> i & 1) {
            d->kind[i] = RT_RESIDENT;
            d->held[i] = d->use[i].part->box;
            continue;
        }
        d->kind[i] = rt_share_port(&d->share, p, op->axes);
        if (d->kind[i] == RT_FIXED) d->held[i] = pipe_box_of(op, p, &all);
        size_t *sum = d->kind[i] == RT_FIXED      ? &d->fixed_bytes
                      : d->kind[i] == RT_OF_BLOCK ? &d->block_bytes
                                                  : &d->chunk_bytes;
        d->place[i] = *sum;
        *sum += (size_t)rt_share_port_bytes(&d->share, op, p);
    }
    d->slots = d->share.slots;
    d->ring_size = d->block_bytes ? d->share.ring : 0;
    if (d->device->host_visible && d->share.blocks > 1 && !d->ring_size)
        d->ring_size = RT_SLOTS; /* of no bytes: so many blocks are under way at most */
    d->made_places = rt_share_made_places(&d->share, op, d->device->host_visible);
    const size_t most = d->job->test.fixed_stage ? d->job->test.fixed_stage : RT_STAGE_FIXED;
    size_t sent = d->fixed_bytes;
    if (d->share.resident) sent += rt_resident_fill(d->job->resident, d->device->index);
    d->stage_bytes = sent < most ? sent : most / RT_ALIGN * RT_ALIGN;
}

static motet_status take(pipe_device *d)
{
    const dev_table *t = d->device->table;
    const size_t moving = (size_t)d->slots * d->chunk_bytes + (size_t)d->ring_size * d->block_bytes;
    const size_t made = (size_t)d->made_places * d->made_bytes;
    const size_t bytes[2] = {d->fixed_bytes + moving + made,
                             d->device->host_visible ? 0 : d->stage_bytes + moving};
    static const rt_pool_kind kinds[2] = {RT_POOL_ARENA, RT_POOL_STAGING};
    static const char *const texts[2] = {"arena", "staging"};
    for (int i = 0; i < 2; i++) {
        if (!bytes[i]) continue;
        TRY(rt_pool_take(d->job->context, d->on, kinds[i], bytes[i], d->share.limit,
                         &d->kept->memory[i]));
        t->memory_name(d->device, &d->kept->memory[i], texts[i]);
    }
    return MOTET_OK;
}

motet_status pipe_memory_take(pipe_device *d)
{
    if (d->share.resident) {
        d->use = d->job->resident->use[d->device->index];
        TRY(rt_resident_take(d->job->resident, d->device->index, d->share.limit));
    }
    lay_out(d);
    const motet_status st = take(d);
    if (st != MOTET_NO_MEMORY || (d->slots <= 1 && d->ring_size <= 1)) return st;
    pipe_memory_give(d); /* somebody else took some: one at a time will do */
    d->slots = 1;
    if (d->ring_size > 1) d->ring_size = 1;
    return take(d);
}

void pipe_memory_give(pipe_device *d)
{
    rt_pool_give(d->job->context, d->on, RT_POOL_ARENA, &d->kept->memory[0]);
    rt_pool_give(d->job->context, d->on, RT_POOL_STAGING, &d->kept->memory[1]);
}

/* Places. */

/* From the end of what is fixed. */
static size_t place_of(const pipe_device *d, int port, int slot, int place)
{
    const size_t chunks = (size_t)d->slots * d->chunk_bytes;
    return d->place[port] + (d->kind[port] == RT_OF_CHUNK
                                 ? (size_t)slot * d->chunk_bytes
                                 : chunks + (size_t)place * d->block_bytes);
}

/* Where all is empty there is no memory to count from. */
static char *at(const pipe_device *d, int memory, size_t offset)
{
    char *base = d->kept->memory[memory].data;
    return base ? base + offset : NULL;
}

char *pipe_arena(const pipe_device *d, int port, int slot, int place)
{
    if (d->kind[port] == RT_RESIDENT) return d->use[port].part->kept.memory[0].data;
    if (d->kind[port] == RT_FIXED) return at(d, 0, d->place[port]);
    return at(d, 0, d->fixed_bytes + place_of(d, port, slot, place));
}

char *pipe_made(const pipe_device *d, int port, int place)
{
    return at(d, 0,
              d->fixed_bytes + (size_t)d->slots * d->chunk_bytes +
                  (size_t)d->ring_size * d->block_bytes + (size_t)place * d->made_bytes +
                  d->made[port]);
}

char *pipe_host_side(const pipe_device *d, int port, int slot, int place)
{
    if (d->device->host_visible) return pipe_arena(d, port, slot, place);
    return at(d, 1, d->stage_bytes + place_of(d, port, slot, place));
}
