/* Streams, events and copies, and the thread that executes commands.
 *
 * A command is executed some time after it was given, one at a time: of the streams whose first
 * command can be executed, a random one goes on. So what no event orders happens in any order, and
 * a copy reads its source when it is executed. A wait names the record that was the event's latest
 * when the wait was given. */
#include <stdlib.h>
#include <string.h>

#include "inside.h"

typedef enum command_kind { LAUNCH, COPY, FILL, RECORD, WAIT } command_kind;

struct fake_command {
    fake_command *next;
    command_kind kind;
    /* COPY, FILL */
    char *to;
    const char *from;
    fake_memory *to_memory, *from_memory;
    size_t bytes, rows, to_pitch, from_pitch;
    unsigned char byte;
    /* RECORD, WAIT */
    CUevent event;
    uint64_t serial;
    /* LAUNCH */
    fake_launch launch;
    _Alignas(16) char args[];
};

/* Events and streams go when nothing names them any more. */
static void event_leave(CUevent e)
{
    if (--e->users) return;
    CUevent *at = &e->context->events;
    while (*at != e) at = &(*at)->next;
    *at = e->next;
    free(e);
}

static void stream_sweep(CUcontext c)
{
    for (CUstream *at = &c->streams; *at;) {
        CUstream s = *at;
        if (s->destroyed && !s->first) {
            *at = s->next;
            free(s);
        } else {
            at = &s->next;
        }
    }
}

static void pop(CUstream s)
{
    fake_command *k = s->first;
    s->first = k->next;
    if (!s->first) s->last = NULL;
    if (k->event) event_leave(k->event);
    free(k);
}

void fake_queue_clear(CUcontext c)
{
    while (c->streams) {
        CUstream s = c->streams;
        while (s->first) pop(s);
        c->streams = s->next;
        free(s);
    }
    while (c->sync && c->sync->first) pop(c->sync);
    free(c->sync);
    c->sync = NULL;
    while (c->events) {
        CUevent e = c->events;
        c->events = e->next;
        free(e);
    }
}

/* Executing. */

static int can_go(CUstream s)
{
    const fake_command *k = s ? s->first : NULL;
    return k && !s->hung && (k->kind != WAIT || k->event->reached >= k->serial);
}

static CUstream choose(void)
{
    CUstream chosen = NULL;
    uint64_t seen = 0;
    for (int i = 0; i < FAKE_DEVICES; i++) {
        if (can_go(fake.device[i].sync)) return fake.device[i].sync;
        for (CUstream s = fake.device[i].streams; s; s = s->next)
            if (can_go(s) && fake_random() % ++seen == 0) chosen = s;
    }
    return chosen;
}

/* Workers in descending order, each with its items and scratch of its own. */
static void run_launch(const fake_command *k)
{
    const fake_launch *l = &k->launch;
    for (int64_t self = (l->workers < l->items ? l->workers : l->items) - 1; self >= 0; self--)
        for (int64_t i = self; i < l->items; i += l->workers)
            l->range(k->args, i, i + 1, l->scratch ? l->scratch + self * l->scratch_bytes : NULL);
}

static void run(const fake_command *k)
{
    if (k->kind == LAUNCH) run_launch(k);
    for (size_t i = 0; i < k->rows; i++)
        if (k->kind == COPY)
            memmove(k->to + i * k->to_pitch, k->from + i * k->from_pitch, k->bytes);
        else
            memset(k->to + i * k->to_pitch, k->byte, k->bytes);
}

static void open_for(CUcontext c, const fake_command *k, int open)
{
    if (k->kind == LAUNCH) fake_memory_open(c, NULL, open);
    if (k->to_memory) fake_memory_open(NULL, k->to_memory, open);
    if (k->from_memory && k->from_memory != k->to_memory)
        fake_memory_open(NULL, k->from_memory, open);
}

static void flip(void *data) { *(unsigned char *)data ^= 4; }

static void execute(CUstream s)
{
    fake_command *k = s->first;
    CUcontext c = s->context;
    if (k->kind == RECORD && k->event->reached < k->serial) k->event->reached = k->serial;
    if (k->kind == RECORD || k->kind == WAIT) {
        pop(s);
        return;
    }
    if (k->kind == LAUNCH && k->launch.items) {
        fake.launches++;
        c->launches++;
        if (fake.launches == fake.hang_at) s->hung = 1;
        if (fake.launches == fake.trap_at) fake.broken = fake.trap_result;
    }
    fake.copies += k->kind == COPY;
    if (s->hung || fake.broken) return;
    const int corrupt = k->kind == COPY && fake.copies == fake.corrupt_at;
    open_for(c, k, 1);
    fake.running = 1;
    pthread_mutex_unlock(&fake.lock);
    run(k);
    if (corrupt) flip(k->to + k->bytes / 2);
    pthread_mutex_lock(&fake.lock);
    fake.running = 0;
    if (k->kind == LAUNCH && k->launch.is_health && k->launch.items && c->wrong_health) {
        flip(*(void **)(void *)k->args);
        if (c->wrong_health > 0) c->wrong_health--;
    }
    open_for(c, k, 0);
    pop(s);
}

static void *execute_all(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&fake.lock);
    for (;;) {
        CUstream s = fake.broken || (fake.held && !fake.waiting) ? NULL : choose();
        if (s) {
            execute(s);
            for (int i = 0; i < FAKE_DEVICES; i++) stream_sweep(&fake.device[i]);
            pthread_cond_broadcast(&fake.changed);
        } else {
            pthread_cond_wait(&fake.changed, &fake.lock);
        }
    }
    return NULL;
}

/* The thread lives as long as the process, as a driver's threads do. */
static int start(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    if (fake.executing) return 1;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    fake.executing = pthread_create(&thread, &attributes, execute_all, NULL) == 0;
    pthread_attr_destroy(&attributes);
    return fake.executing;
}

static int hangs(CUcontext c)
{
    for (CUstream s = c->streams; s; s = s->next)
        if (s->hung) return 1;
    return 0;
}

static int busy(CUcontext c)
{
    for (CUstream s = c->streams; s; s = s->next)
        if (s->first) return 1;
    return c->sync && c->sync->first;
}

int fake_idle(CUcontext c, const char *function)
{
    fake.waiting++;
    pthread_cond_broadcast(&fake.changed);
    while (busy(c) && !hangs(c) && !fake.broken) pthread_cond_wait(&fake.changed, &fake.lock);
    fake.waiting--;
    if (hangs(c)) fake_find("%s: waits for ever for a stream that hangs", function);
    return !hangs(c);
}

/* Streams. */

static CUstream stream_make(CUcontext c, int blocking)
{
    CUstream s = start() ? calloc(1, sizeof *s) : NULL;
    if (!s) return NULL;
    s->context = c;
    s->blocking = blocking;
    return s;
}

int fake_stream_valid(CUstream stream)
{
    for (CUstream s = fake_current()->streams; s; s = s->next)
        if (s == stream) return !s->destroyed;
    return 0;
}

static int event_valid(CUevent event)
{
    for (int i = 0; i < FAKE_DEVICES; i++)
        for (CUevent e = fake.device[i].events; e; e = e->next)
            if (e == event) return !e->destroyed;
    return 0;
}

/* A call on a stream of the current context. */
static CUresult enter_stream(fake_function function, CUstream stream)
{
    const CUresult r = fake_enter(function, FAKE_CONTEXT);
    if (r != CUDA_SUCCESS) return r;
    return fake_stream_valid(stream) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

FAKE_API(cuStreamCreate, CUstream *out, unsigned flags)
{
    CUresult r = fake_enter(FAKE_cuStreamCreate, FAKE_CONTEXT);
    if (r == CUDA_SUCCESS && flags > 1) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) {
        CUstream s = stream_make(fake_current(), !flags);
        if (!s) return fake_leave(CUDA_ERROR_OUT_OF_MEMORY);
        s->next = s->context->streams;
        s->context->streams = s;
        *out = s;
    }
    return fake_leave(r);
}

/* Its commands are executed still. */
FAKE_API(cuStreamDestroy_v2, CUstream stream)
{
    const CUresult r = enter_stream(FAKE_cuStreamDestroy_v2, stream);
    if (r == CUDA_SUCCESS) {
        stream->destroyed = 1;
        stream_sweep(stream->context);
    }
    return fake_leave(r);
}

FAKE_API(cuStreamQuery, CUstream stream)
{
    CUresult r = enter_stream(FAKE_cuStreamQuery, stream);
    if (r == CUDA_SUCCESS && stream->first) r = CUDA_ERROR_NOT_READY;
    return fake_leave(r);
}

/* Events. */

FAKE_API(cuEventCreate, CUevent *out, unsigned flags)
{
    CUresult r = fake_enter(FAKE_cuEventCreate, FAKE_CONTEXT);
    if (r == CUDA_SUCCESS && flags > 7) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) {
        CUevent e = calloc(1, sizeof *e);
        if (!e) return fake_leave(CUDA_ERROR_OUT_OF_MEMORY);
        e->context = fake_current();
        e->users = 1;
        e->next = e->context->events;
        e->context->events = e;
        *out = e;
    }
    return fake_leave(r);
}

static CUresult enter_event(fake_function function, CUevent event)
{
    const CUresult r = fake_enter(function, FAKE_CONTEXT);
    if (r != CUDA_SUCCESS) return r;
    return event_valid(event) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

FAKE_API(cuEventDestroy_v2, CUevent event)
{
    const CUresult r = enter_event(FAKE_cuEventDestroy_v2, event);
    if (r == CUDA_SUCCESS) {
        event->destroyed = 1;
        event_leave(event);
    }
    return fake_leave(r);
}

FAKE_API(cuEventQuery, CUevent event)
{
    CUresult r = enter_event(FAKE_cuEventQuery, event);
    if (r == CUDA_SUCCESS && event->reached < event->recorded) r = CUDA_ERROR_NOT_READY;
    return fake_leave(r);
}

/* Commands. */

static CUresult enqueue(CUstream s, const fake_command *k, const void *args, size_t args_bytes)
{
    fake_command *copy = calloc(1, sizeof *copy + args_bytes);
    if (!copy) return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(copy, k, sizeof *k);
    if (args_bytes) memcpy(copy->args, args, args_bytes);
    if (s->last)
        s->last->next = copy;
    else
        s->first = copy;
    s->last = copy;
    if (copy->event) copy->event->users++;
    pthread_cond_broadcast(&fake.changed);
    return CUDA_SUCCESS;
}

CUresult fake_enqueue_launch(CUstream s, const fake_launch *launch, const void *args,
                             size_t args_bytes)
{
    const fake_command k = {.kind = LAUNCH, .launch = *launch};
    return enqueue(s, &k, args, args_bytes);
}

FAKE_API(cuEventRecord, CUevent event, CUstream stream)
{
    CUresult r = enter_stream(FAKE_cuEventRecord, stream);
    if (r == CUDA_SUCCESS && (!event_valid(event) || event->context != stream->context))
        r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS) {
        const fake_command k = {.kind = RECORD, .event = event, .serial = event->recorded + 1};
        r = enqueue(stream, &k, NULL, 0);
        event->recorded += r == CUDA_SUCCESS;
    }
    return fake_leave(r);
}

FAKE_API(cuStreamWaitEvent, CUstream stream, CUevent event, unsigned flags)
{
    CUresult r = enter_stream(FAKE_cuStreamWaitEvent, stream);
    if (r == CUDA_SUCCESS && !event_valid(event)) r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS && flags) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) {
        const fake_command k = {.kind = WAIT, .event = event, .serial = event->recorded};
        r = enqueue(stream, &k, NULL, 0);
    }
    return fake_leave(r);
}

/* One side of a copy: where it is, which must be within one piece of memory. */
static CUresult side(const void *data, size_t bytes, size_t rows, size_t pitch, int waits,
                     const char *function, fake_memory **out)
{
    const size_t extent = rows ? (rows - 1) * pitch + bytes : 0;
    const fake_place place = fake_where(data, extent, out);
    const int apart =
        place == FAKE_PINNED && (*out)->context != fake_current() && !(*out)->portable;
    if (place == FAKE_NOWHERE) return CUDA_ERROR_INVALID_VALUE;
    if (!waits && (place == FAKE_PAGEABLE || apart))
        fake_find("%s: host memory that is not page-locked for the device makes it wait", function);
    return CUDA_SUCCESS;
}

static CUresult move(CUstream s, fake_command *k, const char *function)
{
    CUresult r = CUDA_SUCCESS;
    if (!k->bytes || !k->rows) return CUDA_SUCCESS;
    const int waits = s == fake_current()->sync;
    if (k->kind == COPY)
        r = side(k->from, k->bytes, k->rows, k->from_pitch, waits, function, &k->from_memory);
    if (r == CUDA_SUCCESS)
        r = side(k->to, k->bytes, k->rows, k->to_pitch, waits, function, &k->to_memory);
    return r == CUDA_SUCCESS ? enqueue(s, k, NULL, 0) : r;
}

FAKE_API(cuMemcpyAsync, CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    CUresult r = enter_stream(FAKE_cuMemcpyAsync, stream);
    fake_command k = {.kind = COPY,
                      .to = (char *)(uintptr_t)to,
                      .from = (const char *)(uintptr_t)from,
                      .bytes = bytes,
                      .rows = 1};
    if (r == CUDA_SUCCESS) r = move(stream, &k, "cuMemcpyAsync");
    return fake_leave(r);
}

enum { TYPE_HOST = 1, TYPE_DEVICE = 2, TYPE_UNIFIED = 4 };

/* Where a side of a copy of rows begins; NULL: it is told wrongly. */
static const char *begin_of(int type, const void *host, CUdeviceptr device, size_t x, size_t y,
                            size_t pitch)
{
    fake_memory *memory;
    const char *data = type == TYPE_HOST ? host : (const char *)(uintptr_t)device;
    if (type != TYPE_HOST && type != TYPE_DEVICE && type != TYPE_UNIFIED) return NULL;
    if (!data) return NULL;
    data += y * pitch + x;
    const fake_place place = fake_where(data, 1, &memory);
    if (place == FAKE_NOWHERE) return NULL;
    if (type == TYPE_DEVICE && place != FAKE_ON_DEVICE) return NULL;
    if (type == TYPE_HOST && place == FAKE_ON_DEVICE) return NULL;
    return data;
}

FAKE_API(cuMemcpy2DAsync_v2, const CUDA_MEMCPY2D *c, CUstream stream)
{
    CUresult r = enter_stream(FAKE_cuMemcpy2DAsync_v2, stream);
    if (r == CUDA_SUCCESS && c->WidthInBytes && c->Height) {
        fake_command k = {.kind = COPY,
                          .bytes = c->WidthInBytes,
                          .rows = c->Height,
                          .to_pitch = c->dstPitch ? c->dstPitch : c->WidthInBytes,
                          .from_pitch = c->srcPitch ? c->srcPitch : c->WidthInBytes};
        const size_t longest = 2147483647;
        k.from = begin_of(c->srcMemoryType, c->srcHost, c->srcDevice, c->srcXInBytes, c->srcY,
                          k.from_pitch);
        k.to = (char *)(uintptr_t)begin_of(c->dstMemoryType, c->dstHost, c->dstDevice,
                                           c->dstXInBytes, c->dstY, k.to_pitch);
        if (!k.from || !k.to || k.to_pitch < k.bytes || k.from_pitch < k.bytes ||
            k.to_pitch > longest || k.from_pitch > longest)
            r = CUDA_ERROR_INVALID_VALUE;
        if (r == CUDA_SUCCESS) r = move(stream, &k, "cuMemcpy2DAsync");
    }
    return fake_leave(r);
}

FAKE_API(cuMemsetD8Async, CUdeviceptr to, unsigned char byte, size_t bytes, CUstream stream)
{
    CUresult r = enter_stream(FAKE_cuMemsetD8Async, stream);
    fake_command k = {
        .kind = FILL, .to = (char *)(uintptr_t)to, .byte = byte, .bytes = bytes, .rows = 1};
    if (r == CUDA_SUCCESS) r = move(stream, &k, "cuMemsetD8Async");
    return fake_leave(r);
}

/* After all that streams which block were given; it waits. */
static CUresult copy_now(CUcontext c, fake_command *k)
{
    for (CUstream s = c->streams; s; s = s->next)
        if (s->blocking && s->first && !fake_idle(c, "cuMemcpyDtoH")) return CUDA_SUCCESS;
    if (!c->sync) c->sync = stream_make(c, 0);
    if (!c->sync) return CUDA_ERROR_OUT_OF_MEMORY;
    const CUresult r = move(c->sync, k, "cuMemcpyDtoH");
    fake.waiting++;
    pthread_cond_broadcast(&fake.changed);
    while (c->sync->first && !fake.broken) pthread_cond_wait(&fake.changed, &fake.lock);
    fake.waiting--;
    return fake.broken ? fake.broken : r;
}

FAKE_API(cuMemcpyDtoH_v2, void *to, CUdeviceptr from, size_t bytes)
{
    CUresult r = fake_enter(FAKE_cuMemcpyDtoH_v2, FAKE_CONTEXT);
    fake_command k = {
        .kind = COPY, .to = to, .from = (const char *)(uintptr_t)from, .bytes = bytes, .rows = 1};
    if (r == CUDA_SUCCESS) r = copy_now(fake_current(), &k);
    return fake_leave(r);
}
