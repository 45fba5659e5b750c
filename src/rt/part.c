/* Parts of arrays on devices, and bringing their values home. */
#include "rt/part.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/context.h"
#include "base/fail.h"
#include "base/mem.h"
#include "rt/hold.h"
#include "rt/pipe.h"
#include "rt/pipe_move.h"
#include "rt/pool.h"

/* Host bytes through which parts come home: at most, and at least of each half. */
enum { STAGE = 1 << 22, STAGE_LEAST = 1 << 12 };
static const int64_t doze_longest = 20000000;

static motet_array *mutable(const motet_array *array) { return (motet_array *)(uintptr_t)array; }

/* Boxes. */

int rt_box_within(const pipe_box *inner, const pipe_box *outer, int axes)
{
    for (int i = 0; i < axes; i++)
        if (inner->first[i] < outer->first[i] ||
            inner->first[i] + inner->count[i] > outer->first[i] + outer->count[i])
            return 0;
    return 1;
}

int rt_box_common(const pipe_box *a, const pipe_box *b, int axes, pipe_box *out)
{
    memset(out, 0, sizeof *out);
    for (int i = 0; i < axes; i++) {
        const int64_t x = a->first[i] + a->count[i], y = b->first[i] + b->count[i];
        out->first[i] = a->first[i] > b->first[i] ? a->first[i] : b->first[i];
        out->count[i] = (x < y ? x : y) - out->first[i];
        if (out->count[i] <= 0) return 0;
    }
    return 1;
}

/* Making and giving back. */

rt_part *rt_part_new(motet_context *c, int device, const pipe_box *box)
{
    rt_part *part = mem_new(c, rt_part);
    if (!part) return NULL;
    part->device = device;
    part->box = *box;
    part->users = 1;
    part->dropped = 1; /* of no array yet */
    return part;
}

motet_status rt_part_alloc(motet_context *c, rt_part *part, size_t bytes, int64_t limit,
                           const char *name)
{
    rt_device *on = &c->devices->set[part->device];
    const dev_table *t = on->device->table;
    TRY(rt_pool_alloc(c, on, RT_POOL_ARENA, bytes, limit, &part->kept.memory[0]));
    t->memory_name(on->device, &part->kept.memory[0], name);
    return MOTET_OK;
}

/* What a lost device has may be touched by it still: it stays until that is closed. */
static void release(motet_context *c, rt_part *part)
{
    rt_device *on = &c->devices->set[part->device];
    dev_memory *memory = &part->kept.memory[0];
    if (memory->data) {
        rt_hold_taken(on, -(int64_t)memory->bytes);
        rt_hold_bytes(on, -part->held);
        if (atomic_load(&on->lost)) {
            rt_device_keep(c, on, &part->kept);
            return;
        }
        on->device->table->release(on->device, memory);
    }
    mem_free(c, part);
}

void rt_part_unuse(motet_context *c, rt_part *part)
{
    if (!part) return;
    pthread_mutex_lock(&c->lock);
    const int last = --part->users == 0 && part->dropped;
    pthread_mutex_unlock(&c->lock);
    if (last) release(c, part);
}

static void release_all(motet_context *c, rt_part *list)
{
    for (rt_part *part = list, *next; part; part = next) {
        next = part->next;
        release(c, part);
    }
}

/* The list of an array. */

rt_part *rt_part_find(const motet_array *a, int device, const pipe_box *box, int use)
{
    if (!a->residence) return NULL;
    motet_context *c = a->context;
    pthread_mutex_lock(&c->lock);
    rt_part *found = a->parts;
    while (found && !(found->device == device && rt_box_within(box, &found->box, a->axes)))
        found = found->next;
    if (found && use) found->users++;
    pthread_mutex_unlock(&c->lock);
    return found;
}

/* Takes it out of the list; 1: nobody uses it. The lock is held. */
static int take_out(motet_array *a, rt_part *part)
{
    rt_part **at = &a->parts;
    while (*at && *at != part) at = &(*at)->next;
    if (!*at) return 0;
    *at = part->next;
    part->next = NULL;
    part->dropped = 1;
    return part->users == 0;
}

void rt_part_add(motet_array *a, rt_part *part)
{
    motet_context *c = a->context;
    rt_part *list = NULL;
    part->held = (int64_t)part->kept.memory[0].bytes;
    rt_hold_bytes(&c->devices->set[part->device], part->held);
    pthread_mutex_lock(&c->lock);
    for (rt_part *other = a->parts, *next; other; other = next) {
        next = other->next;
        if (other->device != part->device || !rt_box_within(&other->box, &part->box, a->axes))
            continue;
        part->owner |= other->owner;
        if (!take_out(a, other)) continue;
        other->next = list;
        list = other;
    }
    part->dropped = 0;
    part->next = a->parts;
    a->parts = part;
    pthread_mutex_unlock(&c->lock);
    release_all(c, list);
}

void rt_parts_drop_all(motet_array *a)
{
    rt_part *list = NULL;
    pthread_mutex_lock(&a->context->lock);
    for (rt_part *part = a->parts, *next; part; part = next) {
        next = part->next;
        if (!take_out(a, part)) continue;
        part->next = list;
        list = part;
    }
    pthread_mutex_unlock(&a->context->lock);
    release_all(a->context, list);
}

static int gone(const motet_context *c, const rt_part *part)
{
    const rt_device *on = &c->devices->set[part->device];
    return atomic_load(&on->lost) || part->kept.memory[0].epoch != on->device->epoch;
}

/* The parts of a device (-1: of those that are lost) leave the array; those that nobody uses go to
 * the list. The lock is held. */
static void take_gone(motet_array *a, int device, rt_part **list)
{
    const motet_context *c = a->context;
    for (rt_part *part = a->parts, *next; part; part = next) {
        next = part->next;
        if (device < 0 ? !gone(c, part) : part->device != device) continue;
        if (part->owner && !*a->broken)
            snprintf(a->broken, sizeof a->broken, "%s", c->devices->set[part->device].info.name);
        if (!take_out(a, part)) continue;
        part->next = *list;
        *list = part;
    }
}

void rt_array_drop_lost(const motet_array *array)
{
    motet_context *c = array->context;
    rt_part *list = NULL;
    pthread_mutex_lock(&c->lock);
    take_gone(mutable(array), -1, &list);
    pthread_mutex_unlock(&c->lock);
    release_all(c, list);
}

motet_status rt_array_whole(const motet_array *a)
{
    char device[sizeof a->broken];
    pthread_mutex_lock(&a->context->lock);
    memcpy(device, a->broken, sizeof device);
    pthread_mutex_unlock(&a->context->lock);
    if (!*device) return MOTET_OK;
    return fail(a->context, MOTET_DEVICE_LOST,
                "the newest values of an array of %zu bytes were lost with %s: it must be written "
                "anew",
                a->bytes, device);
}

void rt_parts_drop(motet_context *c, int device)
{
    rt_part *list = NULL;
    pthread_mutex_lock(&c->lock);
    for (motet_array *a = c->resident; a; a = a->next) take_gone(a, device, &list);
    pthread_mutex_unlock(&c->lock);
    release_all(c, list);
}

int rt_parts_spill(motet_context *c)
{
    rt_part *list = NULL;
    int count = 0;
    pthread_mutex_lock(&c->lock);
    for (motet_array *a = c->resident; a; a = a->next)
        for (rt_part *part = a->parts, *next; part; part = next) {
            next = part->next;
            if (part->owner || part->users) continue;
            take_out(a, part);
            part->next = list;
            list = part;
            count++;
        }
    pthread_mutex_unlock(&c->lock);
    release_all(c, list);
    return count;
}

/* Bringing home. */

typedef struct transfer {
    motet_context *context;
    rt_device *on;
    const motet_array *array;
    const rt_part *part;
    pipe_box box;  /* of it */
    rt_kept *kept; /* memory[1]: staging */
    dev_stream *stream;
    dev_event *event[2];
    size_t at[2], bytes[2]; /* what each half of the staging waits for */
} transfer;

/* Bytes [offset, offset + bytes) of the box, in its own order, go to `to`, run by run: the part is
 * an array of its own, of which the box is a part. */
static motet_status copy_runs(const transfer *t, size_t offset, size_t bytes, char *to)
{
    motet_array held = {.type = t->array->type, .axes = t->array->axes};
    pipe_box box = t->box;
    for (int i = 0; i < held.axes; i++) {
        held.shape[i] = t->part->box.count[i];
        box.first[i] -= t->part->box.first[i];
    }
    const rt_port port = {.array = &held};
    const char *data = t->part->kept.memory[0].data;
    for (size_t size; bytes; offset += size, to += size, bytes -= size) {
        const size_t at = pipe_run(&port, &box, offset, bytes, &size);
        TRY(t->on->device->table->copy(t->stream, to, data + at, size));
    }
    return MOTET_OK;
}

static motet_status wait_for(const transfer *t, dev_event *event)
{
    dev *device = t->on->device;
    const int64_t since = clock_now(t->context);
    for (;;) {
        const uint64_t seen = device->table->progress(device);
        const motet_status st = device->table->event_poll(event);
        if (st != MOTET_BUSY) return st;
        if (clock_now(t->context) - since > RT_DEADLINE)
            return fail(t->context, MOTET_DEVICE_HUNG, "%s: no values came back for %.3g s",
                        t->on->info.name, clock_seconds_since(t->context, since));
        device->table->doze(device, seen, doze_longest);
    }
}

/* No command touches the staging any more, or the device is lost. */
static void drain(const transfer *t)
{
    const dev_table *table = t->on->device->table;
    const int64_t since = clock_now(t->context);
    if (!t->stream) return;
    table->stream_drop(t->stream);
    for (;;) {
        const uint64_t seen = table->progress(t->on->device);
        if (table->stream_poll(t->stream) != MOTET_BUSY) return;
        if (clock_now(t->context) - since > RT_DEADLINE) {
            rt_device_lose(t->context, t->on, "it did not end what it had begun");
            return;
        }
        table->doze(t->on->device, seen, doze_longest);
    }
}

/* As much as is worth it, or less where the host has no more. */
static motet_status take_stage(transfer *t, size_t all, size_t *half)
{
    *half = all <= STAGE / 2 ? all : STAGE / 2;
    for (;; *half /= 2) {
        const size_t bytes = *half == all ? all : 2 * *half;
        const motet_status st =
            rt_pool_take(t->context, t->on, RT_POOL_STAGING, bytes, INT64_MAX, &t->kept->memory[1]);
        if (st != MOTET_NO_MEMORY || *half <= STAGE_LEAST) return st;
    }
}

/* While one half of the staging is filled, the other is emptied. */
static motet_status move(transfer *t)
{
    const dev_table *table = t->on->device->table;
    const rt_port port = {.array = t->array};
    const size_t all = pipe_box_bytes(&port, &t->box);
    size_t half = 0;
    TRY(take_stage(t, all, &half));
    table->memory_name(t->on->device, &t->kept->memory[1], "staging");
    TRY(table->stream_create(t->on->device, &t->stream));
    for (int i = 0; i < 2; i++) TRY(table->event_create(t->on->device, &t->event[i]));
    size_t sent = 0;
    for (int h = 0; sent < all || t->bytes[0] || t->bytes[1]; h = !h) {
        char *stage = (char *)t->kept->memory[1].data + (size_t)h * half;
        if (t->bytes[h]) {
            TRY(wait_for(t, t->event[h]));
            table->host_access(t->on->device, stage, t->bytes[h], 0);
            pipe_unpack(&port, t->array->data, &t->box, t->at[h], t->bytes[h], stage);
            t->bytes[h] = 0;
        }
        if (sent == all) continue;
        t->at[h] = sent;
        t->bytes[h] = all - sent < half ? all - sent : half;
        TRY(copy_runs(t, sent, t->bytes[h], stage));
        TRY(table->event_record(t->stream, t->event[h]));
        sent += t->bytes[h];
    }
    return MOTET_OK;
}

static motet_status bring(const motet_array *a, const rt_part *part, const pipe_box *box)
{
    motet_context *c = a->context;
    transfer t = {.context = c,
                  .on = &c->devices->set[part->device],
                  .array = a,
                  .part = part,
                  .box = *box,
                  .kept = mem_new(c, rt_kept)};
    if (!t.kept)
        return fail(c, MOTET_NO_MEMORY, "no memory to bring %zu bytes of an array home from %s",
                    pipe_box_bytes(&(rt_port){.array = a}, box), t.on->info.name);
    if (!rt_device_use(c, t.on)) {
        mem_free(c, t.kept);
        return fail(c, MOTET_DEVICE_LOST, "%s is lost", t.on->info.name);
    }
    const dev_table *table = t.on->device->table;
    const motet_status st = move(&t);
    motet_error error;
    if (st != MOTET_OK) motet_context_error(c, &error);
    if (st == MOTET_DEVICE_LOST || st == MOTET_DEVICE_HUNG)
        rt_device_lose(c, t.on, error.message);
    else if (st != MOTET_OK)
        drain(&t);
    if (t.stream) table->stream_free(t.stream);
    for (int i = 0; i < 2; i++)
        if (t.event[i]) table->event_free(t.event[i]);
    if (atomic_load(&t.on->lost) && t.kept->memory[1].data) {
        rt_device_keep(c, t.on, t.kept);
    } else {
        rt_pool_give(c, t.on, RT_POOL_STAGING, &t.kept->memory[1]);
        mem_free(c, t.kept);
    }
    rt_device_leave(c, t.on);
    if (st != MOTET_OK) fail(c, st, "%s", error.message);
    return st;
}

motet_status rt_array_pull(const motet_array *array, const pipe_box *box)
{
    motet_array *a = mutable(array);
    motet_context *c = a->context;
    if (!a->residence) return MOTET_OK;
    rt_array_drop_lost(a);
    TRY(rt_array_whole(a));
    pthread_mutex_lock(&c->lock);
    motet_status st = MOTET_OK;
    rt_part *left = NULL; /* nobody uses them any more */
    for (rt_part *part = a->parts, *next; part && st == MOTET_OK; part = next) {
        pipe_box common;
        next = part->next;
        if (!part->owner || !rt_box_common(&part->box, box, a->axes, &common)) continue;
        part->users++;
        pthread_mutex_unlock(&c->lock);
        st = bring(a, part, &common);
        pthread_mutex_lock(&c->lock);
        next = part->dropped ? a->parts : part->next; /* its device was lost meanwhile */
        if (st == MOTET_OK && rt_box_within(&part->box, box, a->axes)) part->owner = 0;
        if (--part->users == 0 && part->dropped) {
            part->next = left;
            left = part;
        }
    }
    pthread_mutex_unlock(&c->lock);
    release_all(c, left);
    if (st == MOTET_DEVICE_LOST || st == MOTET_DEVICE_HUNG)
        rt_array_drop_lost(a);
    else if (st != MOTET_OK)
        return st;
    return rt_array_whole(a);
}
