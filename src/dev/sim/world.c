/* The world of a context's simulated devices, what was found in it, and its counts.
 *
 * Its books and the devices' memory come from the context's allocator directly: they stand for
 * memory of a machine that is not there, so a run is not charged for them. */
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "base/fail.h"
#include "base/log.h"
#include "dev/sim/inside.h"

enum { HEAD = 64 };

void *sim_take(sim_world *w, size_t bytes)
{
    if (bytes > INT64_MAX - HEAD) return NULL;
    const motet_allocator *a = &w->context->options.allocator;
    char *block = a->allocate(bytes + HEAD, a->user);
    if (!block) return NULL;
    memset(block, 0, bytes + HEAD);
    memcpy(block, &bytes, sizeof bytes);
    return block + HEAD;
}

void sim_give(sim_world *w, void *block)
{
    if (!block) return;
    const motet_allocator *a = &w->context->options.allocator;
    char *base = (char *)block - HEAD;
    size_t bytes;
    memcpy(&bytes, base, sizeof bytes);
    a->release(base, bytes + HEAD, a->user);
}

/* splitmix64 (Steele, Lea and Flood 2014). */
uint64_t sim_random(sim_world *w)
{
    uint64_t z = w->random += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void sim_config_init(sim_config *config)
{
    memset(config, 0, sizeof *config);
    config->jitter = 1.0;
    config->watch_bytes = 1 << 20;
    config->trap = 1;
    for (int i = 0; i < SIM_DEVICES; i++) {
        sim_device_config *d = &config->device[i];
        d->memory = (uint64_t)256 << 20 >> i / 2;
        d->items_per_second = 1e8 / (1 + i);
        d->upload = 10e9 / (1 + i % 3);
        d->download = 8e9 / (1 + i % 2);
        d->latency = 5000 + 1000 * i;
    }
}

motet_status sim_world_make(motet_context *c, const sim_config *config, sim_world **out)
{
    sim_world outside = {.context = c};
    sim_world *w = sim_take(&outside, sizeof *w);
    if (!w) return fail(c, MOTET_NO_MEMORY, "sim: no memory for its books");
    w->context = c;
    if (config)
        w->config = *config;
    else
        sim_config_init(&w->config);
    w->random = w->config.seed;
    for (int i = 0; i < SIM_DEVICES; i++) w->slot[i].fault = w->config.device[i].fault;
    pthread_mutex_init(&w->lock, NULL);
    w->actor[SIM_HOST].taken = 1;
    c->sim = w;
    *out = w;
    return MOTET_OK;
}

motet_status sim_configure(motet_context *c, const sim_config *config)
{
    if (c->sim) {
        for (int i = 0; i < SIM_DEVICES; i++)
            if (c->sim->slot[i].open)
                return fail(c, MOTET_BAD_ARGUMENT, "sim:%d is open, it is too late to configure",
                            i);
        sim_world_end(c);
    }
    sim_world *w;
    return sim_world_make(c, config, &w);
}

void sim_set_fault(motet_context *c, int number, const sim_fault *fault)
{
    sim_world *w = c->sim;
    pthread_mutex_lock(&w->lock);
    sim_slot *s = &w->slot[number];
    s->fault = *fault;
    s->calls = s->commands = s->allocs = 0;
    s->losses = s->refused = s->healths = 0;
    pthread_mutex_unlock(&w->lock);
}

void sim_world_end(motet_context *c)
{
    sim_world *w = c->sim;
    if (!w) return;
    for (sim_device *d = w->devices, *next; d; d = next) {
        next = d->next;
        for (dev_stream *s = d->streams; s; s = d->streams) {
            sim_found(w, "stream %d of sim:%d was never freed", s->number, d->number);
            s->freed = 1;
            sim_stream_clear(s, 1);
            sim_stream_tidy(s);
        }
    }
    for (sim_device *d = w->devices; d; d = d->next)
        for (dev_event *e = d->events; e; e = d->events) {
            sim_found(w, "an event of sim:%d was never freed", d->number);
            e->users = 1;
            sim_event_unuse(w, e);
        }
    sim_memory_end(w);
    for (sim_device *d = w->devices, *next; d; d = next) {
        next = d->next;
        sim_give(w, d);
    }
    sim_give(w, w->book);
    pthread_mutex_destroy(&w->lock);
    c->sim = NULL;
    sim_world outside = {.context = c};
    sim_give(&outside, w);
}

void sim_found(sim_world *w, const char *format, ...)
{
    char text[sizeof w->finding[0]];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (w->findings < SIM_FINDINGS) memcpy(w->finding[w->findings], text, sizeof text);
    w->findings++;
    if (w->config.found)
        w->config.found(text, w->config.found_user);
    else
        log_text(w->context, MOTET_LOG_ERROR, "sim", "%s", text);
}

const char *sim_label_text(const sim_label *l, char text[96])
{
    if (l->device < 0)
        snprintf(text, 96, "%.40s %lld (host)", l->what, (long long)l->number);
    else
        snprintf(text, 96, "%.40s %lld (sim:%d, stream %d)", l->what, (long long)l->number,
                 l->device, l->stream);
    return text;
}

int64_t sim_findings(const motet_context *c)
{
    sim_world *w = c->sim;
    if (!w) return 0;
    pthread_mutex_lock(&w->lock);
    const int64_t count = w->findings;
    pthread_mutex_unlock(&w->lock);
    return count;
}

const char *sim_finding(const motet_context *c, int64_t index)
{
    const int64_t count = sim_findings(c);
    return index >= 0 && index < count && index < SIM_FINDINGS ? c->sim->finding[index] : "";
}

void sim_check(motet_context *c)
{
    if (!c->sim) return;
    pthread_mutex_lock(&c->sim->lock);
    sim_memory_check(c->sim);
    pthread_mutex_unlock(&c->sim->lock);
}

int64_t sim_now(const motet_context *c)
{
    if (!c->sim) return 0;
    pthread_mutex_lock(&c->sim->lock);
    const int64_t now = c->sim->now;
    pthread_mutex_unlock(&c->sim->lock);
    return now;
}

uint64_t sim_trace(const motet_context *c)
{
    if (!c->sim) return 0;
    pthread_mutex_lock(&c->sim->lock);
    const uint64_t trace = c->sim->trace;
    pthread_mutex_unlock(&c->sim->lock);
    return trace;
}

void sim_count(const motet_context *c, int number, sim_counts *out)
{
    memset(out, 0, sizeof *out);
    if (!c->sim) return;
    pthread_mutex_lock(&c->sim->lock);
    *out = c->sim->slot[number].counts;
    pthread_mutex_unlock(&c->sim->lock);
}
