/* Streams and events on a pool of threads.
 *
 * A stream is a list of commands. Its head, if it is work (launch, copy, fill), is a job of the
 * pool; a record or a wait is settled right here, under the device's lock, whenever something
 * changed. So workers of one pool serve the heads of all streams, and nobody ever waits for
 * anybody.
 *
 * Workers never call the allocator: what has ended goes to a list that the callers' next poll or
 * clean-up sweeps. So once an event is seen ready, nothing of the commands before it is held. */
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "base/mem.h"
#include "dev/cpu/cpu.h"

enum { LINE = 64, COPY_RANGE = 1 << 20 /* bytes that a worker moves at once */ };
static const int64_t awake = 20000; /* nanoseconds */

struct dev_event {
    cpu_device *device;
    int users;                  /* the owner and the commands that name it */
    uint64_t recorded, reached; /* serial numbers of its records */
};

typedef enum command_kind { LAUNCH, COPY, COPY_ROWS, FILL, RECORD, WAIT } command_kind;

typedef struct command {
    thread_job job; /* first: a job is its command */
    struct command *following;
    dev_stream *stream;
    command_kind kind;
    /* LAUNCH */
    k_range_fn *range;
    const void *args;
    cpu_scratch *scratch;
    /* COPY, FILL */
    char *to;
    const char *from;
    unsigned char byte;
    size_t bytes;
    /* COPY_ROWS, with to, from and bytes of a row */
    size_t to_pitch, from_pitch;
    /* RECORD, WAIT */
    dev_event *event;
    uint64_t serial;
} command;

struct dev_stream {
    cpu_device *device;
    dev_stream *next, **self; /* in the device's list */
    command *first, *last;
    int running; /* the pool has the first */
    int freed;   /* lives on until its last command has ended */
};

static char *scratch_data(cpu_scratch *s) { return (char *)s + LINE; }

static void pop(dev_stream *s)
{
    command *k = s->first;
    s->first = k->following;
    if (!s->first) {
        s->last = NULL;
        s->device->progress++;
    }
    k->following = s->device->dead_commands;
    s->device->dead_commands = k;
}

void cpu_sweep(cpu_device *d)
{
    motet_context *c = d->base.context;
    pthread_mutex_lock(&d->lock);
    command *commands = d->dead_commands, *k;
    dev_stream *streams = d->dead_streams, *s;
    d->dead_commands = NULL;
    d->dead_streams = NULL;
    for (k = commands; k; k = k->following) {
        if (k->scratch && --k->scratch->users) k->scratch = NULL;
        if (k->event && --k->event->users) k->event = NULL;
    }
    pthread_mutex_unlock(&d->lock);
    while ((k = commands)) {
        commands = k->following;
        mem_free(c, k->scratch);
        mem_free(c, k->event);
        mem_free(c, k);
    }
    while ((s = streams)) {
        streams = s->next;
        mem_free(c, s);
    }
}

/* Settles what can be settled at the head of every stream and hands work to the pool, until nothing
 * changes any more. The device's lock is held. */
static void advance(cpu_device *d)
{
    for (int changed = 1; changed;) {
        changed = 0;
        for (dev_stream *s = d->streams, *next; s; s = next) {
            next = s->next;
            while (s->first && !s->running) {
                command *k = s->first;
                if (k->kind == RECORD) {
                    if (k->event->reached < k->serial) k->event->reached = k->serial;
                    d->progress++;
                    changed = 1; /* streams seen before may wait for it */
                    pop(s);
                } else if (k->kind == WAIT) {
                    if (k->event->reached < k->serial) break;
                    pop(s);
                } else {
                    s->running = 1;
                    thread_pool_submit(d->pool, &k->job);
                }
            }
            if (s->freed && !s->first) {
                *s->self = s->next;
                if (s->next) s->next->self = s->self;
                s->next = d->dead_streams;
                d->dead_streams = s;
            }
        }
    }
}

static void leave(cpu_device *d, uint64_t progress_before)
{
    if (d->progress != progress_before && d->dozers) pthread_cond_broadcast(&d->progressed);
    pthread_mutex_unlock(&d->lock);
}

static void done(thread_job *job)
{
    command *k = (command *)job;
    dev_stream *s = k->stream;
    cpu_device *d = s->device;
    pthread_mutex_lock(&d->lock);
    const uint64_t before = d->progress;
    s->running = 0;
    pop(s);
    advance(d);
    leave(d, before);
}

static void launch_work(void *user, int worker, int64_t begin, int64_t end)
{
    const command *k = user;
    cpu_scratch *scratch = k->scratch;
    k->range(k->args, begin, end,
             scratch ? scratch_data(scratch) + (size_t)worker * scratch->bytes : NULL);
    atomic_fetch_add_explicit(&k->stream->device->count[worker].items, end - begin,
                              memory_order_relaxed);
}

/* Items are ranges of bytes. */
static void move_work(void *user, int worker, int64_t begin, int64_t end)
{
    (void)worker;
    const command *k = user;
    const size_t from = (size_t)begin * COPY_RANGE;
    const size_t until = (size_t)end * COPY_RANGE < k->bytes ? (size_t)end * COPY_RANGE : k->bytes;
    if (k->kind == COPY)
        memcpy(k->to + from, k->from + from, until - from);
    else
        memset(k->to + from, k->byte, until - from);
}

/* Items are rows. */
static void rows_work(void *user, int worker, int64_t begin, int64_t end)
{
    (void)worker;
    const command *k = user;
    for (size_t i = (size_t)begin; i < (size_t)end; i++)
        memcpy(k->to + i * k->to_pitch, k->from + i * k->from_pitch, k->bytes);
}

/* A command with `extra` bytes behind it, 64-byte aligned. */
static command *command_new(dev_stream *s, command_kind kind, size_t extra)
{
    motet_context *c = s->device->base.context;
    const size_t head = (sizeof(command) + LINE - 1) / LINE * LINE;
    command *k = mem_alloc(c, head + extra);
    if (!k) {
        fail(c, MOTET_NO_MEMORY, "cpu: no memory for a command");
        return NULL;
    }
    memset(k, 0, sizeof *k);
    k->stream = s;
    k->kind = kind;
    k->args = (char *)k + head;
    return k;
}

/* Appends; the device's lock is held. */
static void append(dev_stream *s, command *k)
{
    if (s->last)
        s->last->following = k;
    else
        s->first = k;
    s->last = k;
}

static void enqueue(command *k)
{
    dev_stream *s = k->stream;
    cpu_device *d = s->device;
    pthread_mutex_lock(&d->lock);
    const uint64_t before = d->progress;
    append(s, k);
    advance(d);
    leave(d, before);
}

motet_status cpu_stream_create(dev *device, dev_stream **out)
{
    cpu_device *d = (cpu_device *)device;
    dev_stream *s = mem_new(device->context, dev_stream);
    if (!s) return fail(device->context, MOTET_NO_MEMORY, "cpu: no memory for a stream");
    s->device = d;
    pthread_mutex_lock(&d->lock);
    s->next = d->streams;
    s->self = &d->streams;
    if (s->next) s->next->self = &s->next;
    d->streams = s;
    pthread_mutex_unlock(&d->lock);
    *out = s;
    return MOTET_OK;
}

static void drop(dev_stream *s, int freed)
{
    cpu_device *d = s->device;
    pthread_mutex_lock(&d->lock);
    const uint64_t before = d->progress;
    s->freed = freed;
    command *all = s->first, *next;
    s->first = s->last = NULL;
    for (command *k = all; k; k = next) {
        next = k->following;
        k->following = NULL;
        if (k->kind == RECORD) {
            append(s, k);
        } else if (k == all && s->running) {
            thread_job_stop(&k->job);
            append(s, k);
        } else {
            k->following = d->dead_commands;
            d->dead_commands = k;
        }
    }
    advance(d);
    leave(d, before);
    cpu_sweep(d);
}

void cpu_stream_drop(dev_stream *s) { drop(s, 0); }

void cpu_stream_free(dev_stream *s)
{
    if (s) drop(s, 1);
}

motet_status cpu_stream_poll(dev_stream *s)
{
    cpu_device *d = s->device;
    pthread_mutex_lock(&d->lock);
    const int empty = !s->first;
    pthread_mutex_unlock(&d->lock);
    cpu_sweep(d);
    return empty ? MOTET_OK : MOTET_BUSY;
}

motet_status cpu_event_create(dev *device, dev_event **out)
{
    dev_event *e = mem_new(device->context, dev_event);
    if (!e) return fail(device->context, MOTET_NO_MEMORY, "cpu: no memory for an event");
    e->device = (cpu_device *)device;
    e->users = 1;
    *out = e;
    return MOTET_OK;
}

void cpu_event_free(dev_event *e)
{
    if (!e) return;
    cpu_device *d = e->device;
    pthread_mutex_lock(&d->lock);
    const int last = --e->users == 0;
    pthread_mutex_unlock(&d->lock);
    if (last) mem_free(d->base.context, e);
}

/* Names an event in a command: the serial is that of a new record, or of the latest one. */
static motet_status name_event(dev_stream *s, command_kind kind, dev_event *e)
{
    command *k = command_new(s, kind, 0);
    if (!k) return MOTET_NO_MEMORY;
    k->event = e;
    pthread_mutex_lock(&s->device->lock);
    e->users++;
    k->serial = kind == RECORD ? ++e->recorded : e->recorded;
    pthread_mutex_unlock(&s->device->lock);
    enqueue(k);
    return MOTET_OK;
}

motet_status cpu_event_record(dev_stream *s, dev_event *e) { return name_event(s, RECORD, e); }
motet_status cpu_stream_wait(dev_stream *s, dev_event *e) { return name_event(s, WAIT, e); }

motet_status cpu_event_poll(dev_event *e)
{
    cpu_device *d = e->device;
    pthread_mutex_lock(&d->lock);
    const int ready = e->reached == e->recorded;
    const int swept = !d->dead_commands && !d->dead_streams;
    pthread_mutex_unlock(&d->lock);
    if (!swept) cpu_sweep(d);
    return ready ? MOTET_OK : MOTET_BUSY;
}

static motet_status move(dev_stream *s, command_kind kind, void *to, const void *from,
                         unsigned char byte, size_t bytes)
{
    if (bytes == 0 || to == from) return MOTET_OK;
    command *k = command_new(s, kind, 0);
    if (!k) return MOTET_NO_MEMORY;
    k->to = to;
    k->from = from;
    k->byte = byte;
    k->bytes = bytes;
    k->job = (thread_job){.work = move_work,
                          .done = done,
                          .user = k,
                          .items = (int64_t)((bytes - 1) / COPY_RANGE + 1),
                          .grain = 1};
    enqueue(k);
    return MOTET_OK;
}

motet_status cpu_copy(dev_stream *s, void *to, const void *from, size_t bytes)
{
    return move(s, COPY, to, from, 0, bytes);
}

motet_status cpu_copy_rows(dev_stream *s, const dev_rows *r)
{
    if (r->bytes == 0 || r->rows == 0 || r->to == r->from) return MOTET_OK;
    command *k = command_new(s, COPY_ROWS, 0);
    if (!k) return MOTET_NO_MEMORY;
    k->to = r->to;
    k->from = r->from;
    k->bytes = r->bytes;
    k->to_pitch = r->to_pitch;
    k->from_pitch = r->from_pitch;
    k->job = (thread_job){.work = rows_work,
                          .done = done,
                          .user = k,
                          .items = (int64_t)r->rows,
                          .grain = (int64_t)(r->bytes < COPY_RANGE ? COPY_RANGE / r->bytes : 1)};
    enqueue(k);
    return MOTET_OK;
}

motet_status cpu_fill(dev_stream *s, void *to, unsigned char byte, size_t bytes)
{
    return move(s, FILL, to, NULL, byte, bytes);
}

/* Scratch of at least `bytes` for each worker, with one user more. Grown by doubling where there is
 * plenty of memory, so that a sequence of launches with rising needs allocates rarely; a smaller
 * one is kept by its launches alone and dies with them: before there is a new one, where it has
 * none, as plans count one of them. */
static cpu_scratch *scratch_take(cpu_device *d, size_t bytes)
{
    motet_context *c = d->base.context;
    pthread_mutex_lock(&d->lock);
    cpu_scratch *s = d->scratch;
    const size_t had = s ? s->bytes : 0;
    const int idle = s && s->users == 1 && had < bytes;
    if (had >= bytes) s->users++;
    if (idle) d->scratch = NULL;
    pthread_mutex_unlock(&d->lock);
    if (had >= bytes) return s;
    if (idle) mem_free(c, s);

    size_t each, all;
    if (__builtin_add_overflow(bytes, LINE - 1, &each)) return NULL;
    each = each / LINE * LINE;
    const size_t left = mem_left(c) > 0 ? (size_t)mem_left(c) : 0;
    if (each < 2 * had && 2 * had <= left / 2 / (size_t)d->threads) each = 2 * had;
    if (!mem_product(d->threads, each, &all) || __builtin_add_overflow(all, LINE, &all))
        return NULL;
    s = mem_alloc(c, all);
    if (!s) return NULL;
    *s = (cpu_scratch){.users = 2, .bytes = each};
    pthread_mutex_lock(&d->lock);
    cpu_scratch *former = d->scratch;
    d->scratch = s;
    if (former && --former->users) former = NULL;
    pthread_mutex_unlock(&d->lock);
    mem_free(c, former);
    return s;
}

size_t cpu_trim(dev *device)
{
    cpu_device *d = (cpu_device *)device;
    pthread_mutex_lock(&d->lock);
    cpu_scratch *idle = d->scratch && d->scratch->users == 1 ? d->scratch : NULL;
    if (idle) d->scratch = NULL;
    pthread_mutex_unlock(&d->lock);
    const size_t bytes = idle ? (size_t)d->threads * idle->bytes : 0;
    mem_free(d->base.context, idle);
    return bytes;
}

motet_status cpu_launch(dev_stream *s, const dev_launch *l)
{
    cpu_device *d = s->device;
    motet_context *c = d->base.context;
    if (l->items <= 0) return MOTET_OK;
    const size_t args_bytes = *l->kernel->args_bytes;
    command *k = command_new(s, LAUNCH, args_bytes);
    if (!k) return MOTET_NO_MEMORY;
    memcpy((void *)(uintptr_t)k->args, l->args, args_bytes);
    if (l->scratch.fast) {
        k->scratch = scratch_take(d, l->scratch.fast);
        if (!k->scratch) {
            mem_free(c, k);
            return fail(c, MOTET_NO_MEMORY,
                        "cpu: %s needs %zu bytes of scratch for each of %d threads",
                        l->kernel->name, l->scratch.fast, d->threads);
        }
    }
    k->range = l->kernel->fast[d->isa];
    k->job = (thread_job){.work = launch_work,
                          .done = done,
                          .user = k,
                          .items = l->items,
                          .grain = l->grain,
                          .batch = l->batch};
    enqueue(k);
    return MOTET_OK;
}

uint64_t cpu_progress(dev *device)
{
    cpu_device *d = (cpu_device *)device;
    pthread_mutex_lock(&d->lock);
    const uint64_t progress = d->progress;
    pthread_mutex_unlock(&d->lock);
    return progress;
}

/* What ends at once is waited for awake: to be woken takes longer than the shortest chunks do. */
static int ends_at_once(cpu_device *d, uint64_t seen, const struct timespec *now)
{
    struct timespec t = *now;
    while (atomic_load(&d->progress) == seen) {
        clock_gettime(CLOCK_MONOTONIC, &t);
        const int64_t spent = (t.tv_sec - now->tv_sec) * 1000000000 + t.tv_nsec - now->tv_nsec;
        if (spent > awake) return 0;
    }
    return 1;
}

void cpu_doze(dev *device, uint64_t seen, int64_t nanoseconds)
{
    cpu_device *d = (cpu_device *)device;
    if (nanoseconds <= 0) return;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    if (nanoseconds > awake && ends_at_once(d, seen, &until)) return;
    const int64_t capped = nanoseconds < 3600000000000 ? nanoseconds : 3600000000000;
    const int64_t sum = until.tv_nsec + capped;
    until.tv_sec += sum / 1000000000;
    until.tv_nsec = sum % 1000000000;
    pthread_mutex_lock(&d->lock);
    d->dozers++;
    while (d->progress == seen && !pthread_cond_timedwait(&d->progressed, &d->lock, &until)) {
    }
    d->dozers--;
    pthread_mutex_unlock(&d->lock);
}
