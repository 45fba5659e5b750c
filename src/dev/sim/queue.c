/* Streams and events: what is put in a stream is checked here, and executed in clock.c. */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "dev/sim/inside.h"

static const int64_t poll_longest = 1000; /* virtual nanoseconds that a poll takes */

/* A command with `extra` bytes behind it, after the checks that all have in common. */
static motet_status begin(dev_stream *s, sim_kind kind, const char *what, size_t extra,
                          sim_command **out)
{
    sim_device *d = s->device;
    sim_world *w = d->world;
    TRY(sim_call(d, what));
    const size_t head = (sizeof(sim_command) + 63) / 64 * 64;
    sim_command *k = sim_take(w, head + extra);
    if (!k || !sim_book_reserve(w, SIM_RANGES)) {
        sim_give(w, k);
        return fail(w->context, MOTET_NO_MEMORY, "sim:%d: no memory for a command", d->number);
    }
    k->stream = s;
    k->kind = kind;
    k->label = (sim_label){what, ++w->numbers, d->number, s->number};
    k->args = (char *)k + head;
    *out = k;
    return MOTET_OK;
}

static motet_status refuse(sim_command *k)
{
    sim_world *w = k->stream->device->world;
    char who[96];
    fail(w->context, MOTET_INTERNAL, "%s names memory that it must not",
         sim_label_text(&k->label, who));
    sim_command_free(w, k);
    return MOTET_INTERNAL;
}

static void enqueue(sim_command *k)
{
    dev_stream *s = k->stream;
    sim_device *d = s->device;
    sim_world *w = d->world;
    if (k->ranges) {
        w->actor[s->actor].last = ++s->time.at[s->actor];
        for (int i = 0; i < k->ranges; i++)
            sim_book_add(w, d, &s->time, s->actor, &k->label, &k->range[i]);
        k->cost = sim_cost(k);
    }
    if (s->last)
        s->last->following = k;
    else
        s->first = k;
    s->last = k;
}

static sim_world *enter(sim_device *d)
{
    pthread_mutex_lock(&d->world->lock);
    return d->world;
}

static motet_status leave(sim_world *w, motet_status status)
{
    pthread_mutex_unlock(&w->lock);
    return status;
}

/* Streams. */

static motet_status make_stream(sim_device *d, dev_stream **out)
{
    sim_world *w = d->world;
    TRY(sim_call(d, "stream_create"));
    dev_stream *s = sim_take(w, sizeof *s);
    if (!s) return fail(w->context, MOTET_NO_MEMORY, "sim:%d: no memory for a stream", d->number);
    s->actor = sim_actor_take(w);
    if (!s->actor) {
        sim_give(w, s);
        return fail(w->context, MOTET_DEVICE_ERROR, "sim:%d: more than %d streams at once",
                    d->number, SIM_ACTORS - 1);
    }
    s->time.at[s->actor] = w->actor[s->actor].last;
    s->device = d;
    s->number = d->streams_made++;
    s->next = d->streams;
    s->self = &d->streams;
    if (s->next) s->next->self = &s->next;
    d->streams = s;
    *out = s;
    return MOTET_OK;
}

motet_status sim_stream_create(dev *device, dev_stream **out)
{
    sim_world *w = enter((sim_device *)device);
    return leave(w, make_stream((sim_device *)device, out));
}

void sim_stream_drop(dev_stream *s)
{
    sim_world *w = enter(s->device);
    sim_stream_clear(s, 0);
    leave(w, MOTET_OK);
}

void sim_stream_free(dev_stream *s)
{
    if (!s) return;
    sim_world *w = enter(s->device);
    s->freed = 1;
    sim_stream_clear(s, 0);
    sim_stream_tidy(s);
    leave(w, MOTET_OK);
}

/* Polls are not counted as calls: how often one polls depends on the seed. */
static motet_status polled(sim_device *d, const char *what)
{
    sim_world *w = d->world;
    if (d->closed) {
        sim_found(w, "%s in a former epoch of sim:%d", what, d->number);
        return fail(w->context, MOTET_DEVICE_LOST, "sim:%d: %s in a former epoch", d->number, what);
    }
    if (!d->lost) sim_advance(w, w->now + (int64_t)(sim_random(w) % (uint64_t)poll_longest), 0);
    if (d->lost)
        return fail(w->context, MOTET_DEVICE_LOST, "sim:%d: the device is lost", d->number);
    return MOTET_OK;
}

motet_status sim_stream_poll(dev_stream *s)
{
    sim_world *w = enter(s->device);
    motet_status st = polled(s->device, "stream_poll");
    if (st == MOTET_OK && s->first) st = MOTET_BUSY;
    if (st == MOTET_OK) sim_host_join(w, &s->time);
    return leave(w, st);
}

/* Events. */

motet_status sim_event_create(dev *device, dev_event **out)
{
    sim_device *d = (sim_device *)device;
    sim_world *w = enter(d);
    const motet_status st = sim_call(d, "event_create");
    if (st != MOTET_OK) return leave(w, st);
    dev_event *e = sim_take(w, sizeof *e);
    if (!e)
        return leave(
            w, fail(w->context, MOTET_NO_MEMORY, "sim:%d: no memory for an event", d->number));
    e->device = d;
    e->users = 1;
    e->next = d->events;
    e->self = &d->events;
    if (e->next) e->next->self = &e->next;
    d->events = e;
    *out = e;
    return leave(w, MOTET_OK);
}

void sim_event_free(dev_event *e)
{
    if (!e) return;
    sim_world *w = enter(e->device);
    sim_event_unuse(w, e);
    leave(w, MOTET_OK);
}

static motet_status name_event(dev_stream *s, sim_kind kind, const char *what, dev_event *e)
{
    sim_command *k;
    TRY(begin(s, kind, what, 0, &k));
    sim_device *d = s->device;
    if (e->device->closed || (kind == SIM_RECORD && e->device != d)) {
        sim_found(d->world, "%s on sim:%d of an event of %s sim:%d", what, d->number,
                  e->device->closed ? "a former epoch of" : "", e->device->number);
        sim_command_free(d->world, k);
        return fail(d->world->context, MOTET_INTERNAL, "sim:%d: %s of another device's event",
                    d->number, what);
    }
    k->event = e;
    e->users++;
    k->serial = kind == SIM_RECORD ? ++e->recorded : e->recorded;
    if (kind == SIM_RECORD)
        e->time = s->time;
    else if (e->recorded)
        sim_time_join(&s->time, &e->time);
    enqueue(k);
    return MOTET_OK;
}

motet_status sim_event_record(dev_stream *s, dev_event *e)
{
    sim_world *w = enter(s->device);
    return leave(w, name_event(s, SIM_RECORD, "event_record", e));
}

motet_status sim_stream_wait(dev_stream *s, dev_event *e)
{
    sim_world *w = enter(s->device);
    return leave(w, name_event(s, SIM_WAIT, "stream_wait", e));
}

motet_status sim_event_poll(dev_event *e)
{
    sim_world *w = enter(e->device);
    motet_status st = polled(e->device, "event_poll");
    if (st == MOTET_OK && e->reached != e->recorded) st = MOTET_BUSY;
    if (st == MOTET_OK) sim_host_join(w, &e->time);
    return leave(w, st);
}

/* Copies and fills. */

static int on(sim_world *w, const sim_device *d, uintptr_t at)
{
    const sim_block *b = sim_block_at(w, at);
    return b && b->device == d && b->kind == DEV_DEVICE;
}

static motet_status copy_rows(dev_stream *s, const dev_rows *r)
{
    sim_device *d = s->device;
    sim_world *w = d->world;
    sim_command *k;
    TRY(begin(s, SIM_COPY, "copy", 0, &k));
    if (!r->rows || !r->bytes) {
        sim_command_free(w, k);
        return MOTET_OK;
    }
    k->rows = *r;
    k->ranges = 2;
    k->range[0] = (sim_range){(uintptr_t)r->to, r->bytes, r->rows, r->to_pitch, 1};
    k->range[1] = (sim_range){(uintptr_t)r->from, r->bytes, r->rows, r->from_pitch, 0};
    const sim_side to = sim_side_of(d, &k->range[0], &k->label);
    const sim_side from = sim_side_of(d, &k->range[1], &k->label);
    if (to == SIM_WRONG || from == SIM_WRONG) return refuse(k);
    if (!on(w, d, k->range[0].at) && !on(w, d, k->range[1].at)) {
        char who[96];
        sim_found(w, "%s has neither its source nor its target on the device",
                  sim_label_text(&k->label, who));
        return refuse(k);
    }
    k->engine = to == SIM_INSIDE && from != SIM_INSIDE ? SIM_UPLOAD : SIM_DOWNLOAD;
    for (int i = 0; i < 2; i++)
        if ((i ? from : to) == SIM_CALLER) w->place[w->places++ % SIM_PLACES] = k->range[i];
    enqueue(k);
    return MOTET_OK;
}

motet_status sim_copy_rows(dev_stream *s, const dev_rows *rows)
{
    sim_world *w = enter(s->device);
    return leave(w, copy_rows(s, rows));
}

motet_status sim_copy(dev_stream *s, void *to, const void *from, size_t bytes)
{
    const dev_rows rows = {.to = to, .from = from, .bytes = bytes, .rows = 1};
    return sim_copy_rows(s, &rows);
}

static motet_status fill(dev_stream *s, void *to, unsigned char byte, size_t bytes)
{
    sim_device *d = s->device;
    sim_command *k;
    TRY(begin(s, SIM_FILL, "fill", 0, &k));
    if (!bytes) {
        sim_command_free(d->world, k);
        return MOTET_OK;
    }
    k->rows = (dev_rows){.to = to, .bytes = bytes, .rows = 1};
    k->byte = byte;
    k->ranges = 1;
    k->range[0] = (sim_range){.at = (uintptr_t)to, .bytes = bytes, .rows = 1, .writes = 1};
    k->engine = SIM_COMPUTE;
    const sim_side side = sim_side_of(d, &k->range[0], &k->label);
    if (side == SIM_PINNED || side == SIM_CALLER) {
        char who[96];
        sim_found(d->world, "%s writes the host's memory", sim_label_text(&k->label, who));
    }
    if (side != SIM_INSIDE) return refuse(k);
    enqueue(k);
    return MOTET_OK;
}

motet_status sim_fill(dev_stream *s, void *to, unsigned char byte, size_t bytes)
{
    sim_world *w = enter(s->device);
    return leave(w, fill(s, to, byte, bytes));
}

/* Launches. */

static int named(const sim_command *k, const sim_block *b)
{
    const sim_range all = {.at = (uintptr_t)b->data, .bytes = b->bytes};
    for (int i = 0; i < k->ranges; i++)
        if (sim_overlap(&all, &k->range[i])) return 1;
    return 0;
}

/* Each word of the arguments that is an address of memory that we know must be of memory that the
 * launch names. */
static void check_arguments(sim_command *k, size_t bytes)
{
    sim_world *w = k->stream->device->world;
    char who[96], place[96];
    sim_label_text(&k->label, who);
    for (size_t i = 0; i + sizeof(uintptr_t) <= bytes; i += sizeof(uintptr_t)) {
        uintptr_t at;
        memcpy(&at, (const char *)k->args + i, sizeof at);
        const sim_block *b = sim_block_at(w, at);
        sim_place_text(w, at, place);
        if (b) {
            if (!named(k, b))
                sim_found(w,
                          "argument %zu of %s is an address in %s, which the launch does not name",
                          i / sizeof at, who, place);
            continue;
        }
        const sim_range one = {.at = at, .bytes = 1};
        for (int j = 0; j < SIM_PLACES && j < w->places; j++)
            if (sim_overlap(&one, &w->place[j])) {
                sim_found(w, "argument %zu of %s is an address in %s", i / sizeof at, who, place);
                break;
            }
    }
}

static motet_status launch(dev_stream *s, const dev_launch *l)
{
    sim_device *d = s->device;
    sim_world *w = d->world;
    const size_t args_bytes = *l->kernel->args_bytes;
    sim_command *k;
    size_t extra; /* the scratch comes behind the arguments, on a cache line */
    if (__builtin_add_overflow(args_bytes + 64, l->scratch.fast, &extra) || extra > INT64_MAX / 2)
        return fail(w->context, MOTET_NO_MEMORY, "sim:%d: %s needs %zu bytes of scratch", d->number,
                    l->kernel->name, l->scratch.fast);
    TRY(begin(s, SIM_LAUNCH, l->kernel->name, extra, &k));
    if (l->items <= 0) {
        sim_command_free(w, k);
        return MOTET_OK;
    }
    if (args_bytes) memcpy((void *)(uintptr_t)k->args, l->args, args_bytes);
    k->kernel = l->kernel;
    k->items = l->items;
    if (l->scratch.fast) {
        char *behind = (char *)(uintptr_t)k->args + args_bytes;
        k->scratch = behind + (64 - (uintptr_t)behind % 64) % 64;
        k->scratch_bytes = l->scratch.fast;
    }
    k->engine = SIM_COMPUTE;
    if (l->accesses > SIM_RANGES) {
        sim_command_free(w, k);
        return fail(w->context, MOTET_INTERNAL, "%s: names %d ranges, the simulator takes %d",
                    l->kernel->name, l->accesses, SIM_RANGES);
    }
    int wrong = 0;
    for (int i = 0; i < l->accesses; i++) {
        const dev_access *a = &l->access[i];
        if (!a->bytes) continue;
        sim_range *r = &k->range[k->ranges++];
        *r = (sim_range){(uintptr_t)a->data, a->bytes, a->rows ? a->rows : 1, a->pitch, a->writes};
        const sim_side side = sim_side_of(d, r, &k->label);
        char who[96], place[96];
        if (side == SIM_CALLER || side == SIM_PINNED)
            sim_found(w, "%s touches host memory: %s", sim_label_text(&k->label, who),
                      sim_place_text(w, r->at, place));
        if (side == SIM_INSIDE && !on(w, d, r->at))
            sim_found(w, "%s touches another device's memory: %s", sim_label_text(&k->label, who),
                      sim_place_text(w, r->at, place));
        if (!on(w, d, r->at) || side == SIM_WRONG) wrong = 1;
    }
    if (wrong) return refuse(k);
    check_arguments(k, args_bytes);
    if (!k->ranges) k->cost = sim_cost(k);
    enqueue(k);
    return MOTET_OK;
}

motet_status sim_launch(dev_stream *s, const dev_launch *l)
{
    sim_world *w = enter(s->device);
    return leave(w, launch(s, l));
}

/* Waiting, and what the host does itself. */

uint64_t sim_progress(dev *device)
{
    sim_device *d = (sim_device *)device;
    sim_world *w = enter(d);
    const uint64_t progress = d->progress;
    leave(w, MOTET_OK);
    return progress;
}

/* Ends early whichever device makes progress: who waits for several can doze on any. */
void sim_doze(dev *device, uint64_t seen, int64_t nanoseconds)
{
    sim_device *d = (sim_device *)device;
    sim_world *w = enter(d);
    if (nanoseconds > 0 && !d->closed && d->progress == seen)
        sim_advance(w, nanoseconds < INT64_MAX / 2 - w->now ? w->now + nanoseconds : INT64_MAX / 2,
                    1);
    leave(w, MOTET_OK);
}

void sim_host_access(dev *device, const void *data, size_t bytes, int writes)
{
    sim_world *w = enter((sim_device *)device);
    const sim_label label = {"access", ++w->numbers, -1, -1};
    const sim_range range = {.at = (uintptr_t)data, .bytes = bytes, .rows = 1, .writes = writes};
    const sim_block *b = sim_block_at(w, range.at);
    char who[96], place[96];
    if (b && (b->kind == DEV_DEVICE || b->state != SIM_LIVING))
        sim_found(w, "%s touches %s", sim_label_text(&label, who),
                  sim_place_text(w, range.at, place));
    sim_book_add(w, NULL, &w->host, SIM_HOST, &label, &range);
    leave(w, MOTET_OK);
}
