/* Simulated devices: opening and closing, which begins and ends an epoch, and losing.
 *
 * An epoch's device stays in the world after its close, so that handles of it can still be freed,
 * and any other use of them is an error instead of a crash. */
#include "dev/sim/sim.h"

#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "base/fail.h"
#include "base/threads.h"
#include "dev/cpu/isa.h"
#include "dev/sim/inside.h"
#include "kern/health.k.h"

motet_status sim_call(sim_device *d, const char *what)
{
    sim_world *w = d->world;
    sim_slot *s = &w->slot[d->number];
    if (d->closed) {
        sim_found(w, "%s in a former epoch of sim:%d", what, d->number);
        return fail(w->context, MOTET_DEVICE_LOST, "sim:%d: %s in a former epoch", d->number, what);
    }
    if (!d->lost) {
        s->calls++;
        s->counts.calls++;
        if (s->calls == s->fault.lose_at_call && (!s->losses || s->fault.lose_again)) sim_lose(d);
    }
    if (d->lost)
        return fail(w->context, MOTET_DEVICE_LOST, "sim:%d: %s: the device is lost", d->number,
                    what);
    const int64_t nth = s->fault.fail_call;
    if (nth && (s->calls == nth || (s->fault.fail_call_on && s->calls > nth)))
        return fail(w->context, MOTET_DEVICE_ERROR,
                    "sim:%d: %s fails, as it was told to (call %lld)", d->number, what,
                    (long long)s->calls);
    return MOTET_OK;
}

static void clear_streams(sim_device *d)
{
    for (dev_stream *s = d->streams, *next; s; s = next) {
        next = s->next;
        sim_stream_clear(s, 1);
        sim_stream_tidy(s);
    }
}

/* Running commands stop halfway; the others never begin; what was in the device's memory is gone.
 */
void sim_lose(sim_device *d)
{
    sim_world *w = d->world;
    for (int e = 0; e < SIM_ENGINES; e++)
        if (d->engine[e]) sim_half(d->engine[e]);
    d->lost = 1;
    w->slot[d->number].losses++;
    w->slot[d->number].counts.losses++;
    sim_book_forget_device(w, d);
    clear_streams(d);
    sim_memory_spoil(d);
    d->progress++;
    w->progress++;
}

static int count(motet_context *c)
{
    (void)c;
    return SIM_DEVICES;
}

static motet_status open_in(sim_world *w, int number, dev **out)
{
    motet_context *c = w->context;
    sim_slot *s = &w->slot[number];
    if (s->open) return fail(c, MOTET_BAD_ARGUMENT, "sim:%d is open already", number);
    const int refused = s->fault.refused_opens;
    if (s->losses && (refused < 0 || s->refused < refused)) {
        s->refused++;
        return fail(c, MOTET_DEVICE_LOST, "sim:%d: the device has not come back", number);
    }
    sim_device *d = sim_take(w, sizeof *d);
    if (!d) return fail(c, MOTET_NO_MEMORY, "sim:%d: no memory to open the device", number);
    const motet_isa isa = c->options.isa;
    d->base = (dev){.table = &dev_sim, .context = c, .epoch = ++s->epochs};
    d->world = w;
    d->number = number;
    d->isa = isa_index(isa == MOTET_ISA_AUTO ? isa_best() : isa);
    d->linked = 1u << number;
    d->next = w->devices;
    w->devices = d;
    s->open = d;
    s->counts.opens++;
    if (s->fault.lose_again) s->calls = s->commands = s->allocs = 0;
    *out = &d->base;
    return MOTET_OK;
}

static motet_status open_device(motet_context *c, int number, dev **out)
{
    if (number < 0 || number >= SIM_DEVICES)
        return fail(c, MOTET_BAD_ARGUMENT, "sim:%d: there are sim:0 to sim:%d", number,
                    SIM_DEVICES - 1);
    if (!motet_isa_available(c->options.isa))
        return fail(c, MOTET_UNSUPPORTED, "isa %s: this processor runs up to %s",
                    motet_isa_text(c->options.isa), motet_isa_text(isa_best()));
    sim_world *w = c->sim;
    if (!w) TRY(sim_world_make(c, NULL, &w));
    pthread_mutex_lock(&w->lock);
    const motet_status st = open_in(w, number, out);
    pthread_mutex_unlock(&w->lock);
    return st;
}

static void close_device(dev *device)
{
    sim_device *d = (sim_device *)device;
    sim_world *w = d->world;
    pthread_mutex_lock(&w->lock);
    if (d->closed) {
        sim_found(w, "close of a former epoch of sim:%d", d->number);
    } else {
        sim_finish_running(d);
        sim_book_forget_device(w, d);
        clear_streams(d);
        sim_memory_close(d);
        d->closed = 1;
        w->slot[d->number].open = NULL;
    }
    pthread_mutex_unlock(&w->lock);
}

static motet_status info(dev *device, motet_device_info *out)
{
    sim_device *d = (sim_device *)device;
    sim_world *w = d->world;
    pthread_mutex_lock(&w->lock);
    const uint64_t memory = w->config.device[d->number].memory, left = sim_memory_free(d);
    const int gone = d->lost || d->closed;
    pthread_mutex_unlock(&w->lock);
    if (gone) return fail(w->context, MOTET_DEVICE_LOST, "sim:%d: the device is lost", d->number);
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "sim:%d", d->number);
    snprintf(out->description, sizeof out->description, "simulated, %llu MiB, seed %llu",
             (unsigned long long)(memory >> 20), (unsigned long long)w->config.seed);
    out->threads = out->workers = 1;
    out->isa = (motet_isa)(d->isa + (int)MOTET_ISA_BASE);
    out->memory_total = memory;
    out->memory_free = left;
    out->memory_context = w->config.device[d->number].context;
    return MOTET_OK;
}

static dev_health health(dev *device)
{
    sim_device *d = (sim_device *)device;
    sim_world *w = d->world;
    uint64_t words[K_HEALTH_ITEMS];
    const k_health_args args = {words};
    const thread_float_state former = thread_float_enter();
    K_k_health.fast[d->isa](&args, 0, K_HEALTH_ITEMS, NULL);
    thread_float_leave(former);
    pthread_mutex_lock(&w->lock);
    sim_slot *s = &w->slot[d->number];
    if (s->fault.wrong_health < 0 || s->healths < s->fault.wrong_health) words[17] ^= 1u << 9;
    s->healths++;
    const int lost = d->lost || d->closed, gone = s->fault.refused_opens < 0;
    pthread_mutex_unlock(&w->lock);
    if (lost) return gone ? DEV_HEALTH_GONE : DEV_HEALTH_LOST;
    return k_health_digest(words) == K_HEALTH_EXPECTED ? DEV_HEALTH_OK : DEV_HEALTH_LOST;
}

static int share(dev *device, int64_t *items, int room)
{
    sim_device *d = (sim_device *)device;
    sim_counts counts;
    sim_count(d->world->context, d->number, &counts);
    if (room > 0) items[0] = counts.items;
    return 1;
}

static motet_status peer(dev *device, dev *other)
{
    sim_device *d = (sim_device *)device, *o = (sim_device *)other;
    pthread_mutex_lock(&d->world->lock);
    motet_status st = sim_call(d, "peer");
    if (st == MOTET_OK && (o->lost || o->closed))
        st = fail(d->world->context, MOTET_DEVICE_LOST, "sim:%d: its peer sim:%d is lost",
                  d->number, o->number);
    if (st == MOTET_OK) d->linked |= 1u << o->number;
    pthread_mutex_unlock(&d->world->lock);
    return st;
}

const dev_table dev_sim = {
    .name = "sim",
    .count = count,
    .open = open_device,
    .close = close_device,
    .info = info,
    .alloc = sim_alloc,
    .release = sim_release,
    .stream_create = sim_stream_create,
    .stream_free = sim_stream_free,
    .stream_drop = sim_stream_drop,
    .stream_poll = sim_stream_poll,
    .event_create = sim_event_create,
    .event_free = sim_event_free,
    .event_record = sim_event_record,
    .event_poll = sim_event_poll,
    .stream_wait = sim_stream_wait,
    .copy = sim_copy,
    .copy_rows = sim_copy_rows,
    .fill = sim_fill,
    .launch = sim_launch,
    .health = health,
    .progress = sim_progress,
    .doze = sim_doze,
    .share = share,
    .peer = peer,
    .memory_name = sim_memory_name,
    .host_access = sim_host_access,
    .end = sim_world_end,
    .options = sim_options,
};
