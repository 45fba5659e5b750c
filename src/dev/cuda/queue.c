/* Streams, events and copies of a GPU.
 *
 * Nothing waits: polls ask the driver. Who dozes asks for all that was seen busy, first at once and
 * then ever less often. */
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "base/mem.h"
#include "dev/cuda/inside.h"

static const int64_t awake = 30000, nap_shortest = 10000, nap_longest = 200000; /* nanoseconds */
enum { LONGEST_PITCH = 0x7fffffff /* of the driver's copies of rows */ };

static CUdeviceptr at(const void *data) { return (CUdeviceptr)(uintptr_t)data; }

motet_status cuda_stream_create(dev *device, dev_stream **out)
{
    cuda_device *d = (cuda_device *)device;
    dev_stream *s = mem_new(device->context, dev_stream);
    if (!s)
        return fail(device->context, MOTET_NO_MEMORY, "cuda:%d: no memory for a stream", d->number);
    s->device = d;
    motet_status st = cuda_enter(d);
    if (st == MOTET_OK) {
        st = CUDA(d, cuStreamCreate, &s->stream, CU_STREAM_NON_BLOCKING);
        cuda_leave(d);
    }
    if (st != MOTET_OK) {
        mem_free(device->context, s);
        return st;
    }
    pthread_mutex_lock(&d->lock);
    s->next = d->streams;
    s->self = &d->streams;
    if (s->next) s->next->self = &s->next;
    d->streams = s;
    pthread_mutex_unlock(&d->lock);
    *out = s;
    return MOTET_OK;
}

/* One that still runs, or of a device that tells nothing any more, is left until the device is
 * closed: what its commands use must stay. Scratch goes to another stream only when nothing runs.
 */
void cuda_stream_free(dev_stream *s)
{
    if (!s) return;
    cuda_device *d = s->device;
    int idle = 0;
    if (!atomic_load(&d->closed) && cuda_enter_still(d)) {
        idle = d->driver->cuStreamQuery(s->stream) == CUDA_SUCCESS;
        if (idle) d->driver->cuStreamDestroy_v2(s->stream);
        cuda_leave(d);
    }
    pthread_mutex_lock(&d->lock);
    *s->self = s->next;
    if (s->next) s->next->self = s->self;
    if (idle) {
        cuda_scratch **end = &s->scratch;
        while (*end) end = &(*end)->next;
        *end = d->spare;
        d->spare = s->scratch;
    } else {
        s->next = d->left;
        d->left = s;
    }
    pthread_mutex_unlock(&d->lock);
    if (idle) mem_free(d->base.context, s);
}

/* A GPU takes no command back. */
void cuda_stream_drop(dev_stream *s) { (void)s; }

/* A poll that found something busy has it waited for; one that found it ended counts as progress.
 */
static motet_status polled(cuda_device *d, int *waited, motet_status st)
{
    pthread_mutex_lock(&d->lock);
    if (st == MOTET_BUSY) {
        *waited = 1;
    } else if (*waited) {
        *waited = 0;
        d->progress++;
    }
    pthread_mutex_unlock(&d->lock);
    return st;
}

motet_status cuda_stream_poll(dev_stream *s)
{
    cuda_device *d = s->device;
    TRY(cuda_enter(d));
    const motet_status st = CUDA(d, cuStreamQuery, s->stream);
    cuda_leave(d);
    return polled(d, &s->waited, st);
}

motet_status cuda_event_create(dev *device, dev_event **out)
{
    cuda_device *d = (cuda_device *)device;
    dev_event *e = mem_new(device->context, dev_event);
    if (!e)
        return fail(device->context, MOTET_NO_MEMORY, "cuda:%d: no memory for an event", d->number);
    e->device = d;
    motet_status st = cuda_enter(d);
    if (st == MOTET_OK) {
        st = CUDA(d, cuEventCreate, &e->event, CU_EVENT_DISABLE_TIMING);
        cuda_leave(d);
    }
    if (st != MOTET_OK) {
        mem_free(device->context, e);
        return st;
    }
    pthread_mutex_lock(&d->lock);
    e->next = d->events;
    e->self = &d->events;
    if (e->next) e->next->self = &e->next;
    d->events = e;
    pthread_mutex_unlock(&d->lock);
    *out = e;
    return MOTET_OK;
}

void cuda_event_free(dev_event *e)
{
    if (!e) return;
    cuda_device *d = e->device;
    pthread_mutex_lock(&d->lock);
    *e->self = e->next;
    if (e->next) e->next->self = e->self;
    pthread_mutex_unlock(&d->lock);
    if (!atomic_load(&d->closed) && cuda_enter_still(d)) {
        d->driver->cuEventDestroy_v2(e->event);
        cuda_leave(d);
    }
    mem_free(d->base.context, e);
}

/* Between cuda_enter and cuda_leave. */
#define INSIDE(device, function, ...)                                                              \
    do {                                                                                           \
        TRY(cuda_enter(device));                                                                   \
        const motet_status inside_ = CUDA(device, function, __VA_ARGS__);                          \
        cuda_leave(device);                                                                        \
        return inside_;                                                                            \
    } while (0)

motet_status cuda_event_record(dev_stream *s, dev_event *e)
{
    INSIDE(s->device, cuEventRecord, e->event, s->stream);
}

motet_status cuda_stream_wait(dev_stream *s, dev_event *e)
{
    INSIDE(s->device, cuStreamWaitEvent, s->stream, e->event, 0);
}

motet_status cuda_event_poll(dev_event *e)
{
    cuda_device *d = e->device;
    TRY(cuda_enter(d));
    const motet_status st = CUDA(d, cuEventQuery, e->event);
    cuda_leave(d);
    return polled(d, &e->waited, st);
}

motet_status cuda_copy(dev_stream *s, void *to, const void *from, size_t bytes)
{
    if (bytes == 0 || to == from) return MOTET_OK;
    INSIDE(s->device, cuMemcpyAsync, at(to), at(from), bytes, s->stream);
}

static motet_status copy_row_by_row(dev_stream *s, const dev_rows *r)
{
    for (size_t i = 0; i < r->rows; i++)
        TRY(CUDA(s->device, cuMemcpyAsync, at(r->to) + i * r->to_pitch,
                 at(r->from) + i * r->from_pitch, r->bytes, s->stream));
    return MOTET_OK;
}

motet_status cuda_copy_rows(dev_stream *s, const dev_rows *r)
{
    if (r->bytes == 0 || r->rows == 0 || r->to == r->from) return MOTET_OK;
    const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                                .srcDevice = at(r->from),
                                .srcPitch = r->from_pitch,
                                .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                                .dstDevice = at(r->to),
                                .dstPitch = r->to_pitch,
                                .WidthInBytes = r->bytes,
                                .Height = r->rows};
    const int plain = r->from_pitch > LONGEST_PITCH || r->to_pitch > LONGEST_PITCH ||
                      r->from_pitch < r->bytes || r->to_pitch < r->bytes;
    TRY(cuda_enter(s->device));
    const motet_status st =
        plain ? copy_row_by_row(s, r) : CUDA(s->device, cuMemcpy2DAsync_v2, &copy, s->stream);
    cuda_leave(s->device);
    return st;
}

motet_status cuda_fill(dev_stream *s, void *to, unsigned char byte, size_t bytes)
{
    if (bytes == 0) return MOTET_OK;
    INSIDE(s->device, cuMemsetD8Async, at(to), byte, bytes, s->stream);
}

motet_status cuda_launch(dev_stream *s, const dev_launch *l)
{
    TRY(cuda_enter(s->device));
    const motet_status st = cuda_kernel_launch(s, l);
    cuda_leave(s->device);
    return st;
}

uint64_t cuda_progress(dev *device) { return atomic_load(&((cuda_device *)device)->progress); }

/* 1: something that was waited for has ended, or failed; whoever polls it next sees which. */
static int look(cuda_device *d)
{
    const cuda_driver *driver = d->driver;
    int ended = 0;
    pthread_mutex_lock(&d->lock);
    for (dev_event *e = d->events; e; e = e->next)
        if (e->waited && driver->cuEventQuery(e->event) != CUDA_ERROR_NOT_READY) {
            e->waited = 0;
            ended = 1;
        }
    for (dev_stream *s = d->streams; s; s = s->next)
        if (s->waited && driver->cuStreamQuery(s->stream) != CUDA_ERROR_NOT_READY) {
            s->waited = 0;
            ended = 1;
        }
    if (ended) d->progress++;
    pthread_mutex_unlock(&d->lock);
    return ended;
}

int64_t cuda_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void cuda_nap(int64_t nanoseconds)
{
    const struct timespec t = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    nanosleep(&t, NULL);
}

void cuda_doze(dev *device, uint64_t seen, int64_t nanoseconds)
{
    cuda_device *d = (cuda_device *)device;
    const int64_t begin = cuda_now(),
                  until = begin + (nanoseconds < 3600000000000 ? nanoseconds : 3600000000000);
    int64_t nap = nap_shortest;
    if (nanoseconds <= 0 || !cuda_enter_still(d)) return;
    for (int64_t t = begin; t < until && cuda_progress(device) == seen && !look(d);
         t = cuda_now()) {
        if (t - begin < awake) continue;
        cuda_nap(nap < until - t ? nap : until - t);
        nap = nap < nap_longest / 2 ? 2 * nap : nap_longest;
    }
    cuda_leave(d);
}
