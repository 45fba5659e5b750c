/* Virtual time. Each device has an engine for launches, one for uploads and one for downloads; each
 * takes one command at a time, picked at random among the streams' heads, and keeps it for a time
 * that follows from its size, the device's speed and chance. What the command does happens when it
 * ends: a copy reads its source at the last moment. */
#include <string.h>

#include "base/threads.h"
#include "dev/sim/inside.h"

void sim_event_unuse(sim_world *w, dev_event *e)
{
    if (!e || --e->users) return;
    *e->self = e->next;
    if (e->next) e->next->self = e->self;
    sim_give(w, e);
}

void sim_command_free(sim_world *w, sim_command *k)
{
    sim_event_unuse(w, k->event);
    sim_give(w, k);
}

static void progress(sim_device *d)
{
    d->progress++;
    d->world->progress++;
}

static void pop(dev_stream *s)
{
    sim_command *k = s->first;
    s->first = k->following;
    if (!s->first) {
        s->last = NULL;
        progress(s->device);
    }
    sim_command_free(s->device->world, k);
}

static void reach(sim_command *k)
{
    if (k->event->reached < k->serial) k->event->reached = k->serial;
    progress(k->event->device);
    progress(k->stream->device);
}

void sim_stream_tidy(dev_stream *s)
{
    if (!s->freed || s->first) return;
    sim_world *w = s->device->world;
    *s->self = s->next;
    if (s->next) s->next->self = s->self;
    w->actor[s->actor].taken = 0;
    sim_give(w, s);
}

void sim_stream_clear(dev_stream *s, int all)
{
    sim_device *d = s->device;
    sim_command *k = s->first, *next, *former = s->first;
    s->first = s->last = NULL;
    for (; k; k = next) {
        next = k->following;
        k->following = NULL;
        const int begun = k == former && s->running;
        if (!all && (begun || k->kind == SIM_RECORD)) {
            if (s->last)
                s->last->following = k;
            else
                s->first = k;
            s->last = k;
            continue;
        }
        if (begun) {
            d->engine[k->engine] = NULL;
            s->running = 0;
        }
        if (k->kind == SIM_RECORD) reach(k);
        sim_command_free(d->world, k);
    }
    if (former && !s->first) progress(d);
}

/* Durations. */

/* Whatever the configuration: eleven days at most, which no sum of a test's passes. */
static int64_t bounded(double nanoseconds)
{
    return (int64_t)(nanoseconds < 1e15 ? nanoseconds > 0 ? nanoseconds : 0 : 1e15);
}

int64_t sim_cost(const sim_command *k)
{
    const sim_device *d = k->stream->device;
    const sim_device_config *config = &d->world->config.device[d->number];
    const double bytes = (double)k->rows.bytes * (double)k->rows.rows;
    const double speed = k->kind == SIM_LAUNCH     ? config->items_per_second
                         : k->engine == SIM_UPLOAD ? config->upload
                                                   : config->download;
    const double seconds = (k->kind == SIM_LAUNCH ? (double)k->items : bytes) / speed;
    return bounded((double)config->latency) + bounded(seconds * 1e9);
}

static int64_t delayed(sim_world *w, int64_t cost)
{
    if (w->config.jitter <= 0) return cost;
    const double part = (double)(sim_random(w) >> 11) * 0x1p-53;
    const double much = sim_random(w) % 16 == 0 ? 8 : 1;
    return bounded((double)cost * (1 + w->config.jitter * part) * much);
}

static void begin(sim_command *k)
{
    sim_device *d = k->stream->device;
    sim_world *w = d->world;
    sim_slot *slot = &w->slot[d->number];
    const sim_fault *f = &slot->fault;
    k->ordinal = ++slot->commands;
    slot->counts.commands++;
    int64_t cost = delayed(w, k->cost);
    if (f->slow_at_command && k->ordinal >= f->slow_at_command)
        cost = bounded((double)cost * f->slow);
    k->cost = cost;
    const int64_t left = INT64_MAX / 2 - w->now; /* then time stands still */
    k->end = k->ordinal == f->hang_at_command ? INT64_MAX : w->now + (cost < left ? cost : left);
    k->stream->running = 1;
    d->engine[k->engine] = k;
}

/* Records and waits take no time. */
static int settle(dev_stream *s)
{
    int changed = 0;
    while (s->first && !s->running) {
        sim_command *k = s->first;
        if (k->kind == SIM_RECORD)
            reach(k);
        else if (k->kind != SIM_WAIT || k->event->reached < k->serial)
            break;
        pop(s);
        changed = 1;
    }
    sim_stream_tidy(s);
    return changed;
}

static void begin_all(sim_device *d)
{
    for (int e = 0; e < SIM_ENGINES; e++) {
        if (d->engine[e]) continue;
        uint64_t ready = 0;
        sim_command *chosen = NULL;
        for (dev_stream *s = d->streams; s; s = s->next) {
            sim_command *k = s->first;
            if (!k || s->running || k->engine != e || k->kind == SIM_WAIT || k->kind == SIM_RECORD)
                continue;
            if (sim_random(d->world) % ++ready == 0) chosen = k;
        }
        if (chosen) begin(chosen);
    }
}

static void settle_all(sim_world *w)
{
    for (int changed = 1; changed;) {
        changed = 0;
        for (sim_device *d = w->devices; d; d = d->next)
            for (dev_stream *s = d->streams, *next; s; s = next) {
                next = s->next;
                changed |= settle(s);
            }
    }
    for (sim_device *d = w->devices; d; d = d->next)
        if (!d->closed && !d->lost) begin_all(d);
}

/* What commands do. */

static void launch(sim_command *k)
{
    enum { PIECES = 4 };
    sim_device *d = k->stream->device;
    sim_world *w = d->world;
    if (k->scratch) memset(k->scratch, 0xff, k->scratch_bytes);
    int64_t cut[PIECES + 1];
    int order[PIECES], pieces = 1 + (int)(sim_random(w) % PIECES);
    if (k->items < pieces) pieces = k->items > 0 ? (int)k->items : 1;
    for (int i = 0; i <= pieces; i++)
        cut[i] = k->items / pieces * i + k->items % pieces * i / pieces;
    for (int i = 0; i < pieces; i++) {
        const int j = (int)(sim_random(w) % (uint64_t)(i + 1));
        order[i] = order[j];
        order[j] = i;
    }
    const thread_float_state former = thread_float_enter();
    for (int i = 0; i < pieces; i++)
        if (cut[order[i]] < cut[order[i] + 1])
            k->kernel->fast[d->isa](k->args, cut[order[i]], cut[order[i] + 1], k->scratch);
    thread_float_leave(former);
    w->slot[d->number].counts.items += k->items;
    w->slot[d->number].counts.busy += k->cost;
}

static void move(const sim_command *k)
{
    const dev_rows *r = &k->rows;
    for (size_t i = 0; i < r->rows; i++) {
        char *to = (char *)r->to + i * r->to_pitch;
        if (k->kind == SIM_FILL)
            memset(to, k->byte, r->bytes);
        else
            memcpy(to, (const char *)r->from + i * r->from_pitch, r->bytes);
    }
}

static void corrupt(sim_command *k)
{
    for (int i = 0; i < k->ranges; i++)
        if (k->range[i].writes && k->range[i].bytes) {
            char *byte = (char *)k->range[i].at + k->range[i].bytes / 2;
            *byte = (char)(*byte ^ 0x10);
            return;
        }
}

static void effect(sim_command *k)
{
    sim_device *d = k->stream->device;
    sim_world *w = d->world;
    sim_slot *slot = &w->slot[d->number];
    char *copy = k->kind == SIM_LAUNCH ? sim_watch_begin(w) : NULL;
    sim_memory_open(w, k);
    if (k->kind == SIM_LAUNCH)
        launch(k);
    else
        move(k);
    if (slot->fault.corrupt_at_command && k->ordinal == slot->fault.corrupt_at_command) corrupt(k);
    sim_memory_shut(w, k);
    const int64_t bytes = (int64_t)(k->rows.bytes * k->rows.rows);
    if (k->kind == SIM_COPY && k->engine == SIM_UPLOAD) slot->counts.uploaded += bytes;
    if (k->kind == SIM_COPY && k->engine == SIM_DOWNLOAD) slot->counts.downloaded += bytes;
    if (k->kind != SIM_LAUNCH) return;
    sim_watch_end(w, copy, k);
    char who[96];
    for (int i = 0; i < k->ranges; i++) {
        const sim_block *b = k->range[i].writes ? sim_block_at(w, k->range[i].at) : NULL;
        if (b) sim_zones_check(w, b, sim_label_text(&k->label, who));
    }
}

void sim_half(sim_command *k)
{
    k->items /= 2;
    if (k->rows.rows > 1)
        k->rows.rows /= 2;
    else
        k->rows.bytes /= 2;
    effect(k);
}

static void complete(sim_command *k)
{
    dev_stream *s = k->stream;
    sim_device *d = s->device;
    sim_world *w = d->world;
    sim_slot *slot = &w->slot[d->number];
    const uint64_t words[] = {(uint64_t)d->number, (uint64_t)s->number, (uint64_t)k->label.number,
                              (uint64_t)k->end};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        w->trace = (w->trace ^ words[i]) * 0x94d049bb133111ebu;
        w->trace ^= w->trace >> 29;
    }
    if (k->ordinal == slot->fault.crash_at_command) __builtin_trap();
    if (k->ordinal == slot->fault.lose_at_command && (!slot->losses || slot->fault.lose_again)) {
        sim_lose(d);
        return;
    }
    effect(k);
    s->running = 0;
    d->engine[k->engine] = NULL;
    pop(s);
}

void sim_finish_running(sim_device *d)
{
    for (int e = 0; e < SIM_ENGINES; e++)
        if (d->engine[e] && d->engine[e]->end != INT64_MAX && !d->lost) complete(d->engine[e]);
}

void sim_advance(sim_world *w, int64_t until, int stop)
{
    const uint64_t before = w->progress;
    for (;;) {
        settle_all(w);
        if (stop && w->progress != before) return;
        sim_command *first = NULL;
        for (sim_device *d = w->devices; d; d = d->next)
            for (int e = 0; e < SIM_ENGINES; e++)
                if (d->engine[e] && (!first || d->engine[e]->end < first->end))
                    first = d->engine[e];
        if (!first || first->end > until || first->end == INT64_MAX) {
            if (until > w->now) w->now = until;
            return;
        }
        if (first->end > w->now) w->now = first->end;
        complete(first);
    }
}
