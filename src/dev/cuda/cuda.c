/* GPUs as devices: what there are, opening and closing them. */
#include "dev/cuda/cuda.h"

#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "base/fail.h"
#include "base/mem.h"
#include "dev/cuda/inside.h"

static const int64_t patience = 500000000; /* nanoseconds that commands may take at a close */

cuda_world *cuda_world_of(motet_context *c)
{
    pthread_mutex_lock(&c->lock);
    cuda_world *w = c->cuda;
    pthread_mutex_unlock(&c->lock);
    if (w) return w;
    cuda_world *fresh = mem_new(c, cuda_world);
    if (!fresh) return NULL;
    pthread_mutex_init(&fresh->lock, NULL);
    cuda_driver_open(&fresh->driver);
    pthread_mutex_lock(&c->lock);
    w = c->cuda;
    if (!w) c->cuda = w = fresh;
    pthread_mutex_unlock(&c->lock);
    if (w != fresh) {
        pthread_mutex_destroy(&fresh->lock);
        mem_free(c, fresh);
    }
    return w;
}

const char *cuda_absence(motet_context *c)
{
    const cuda_world *w = cuda_world_of(c);
    if (!w) return "there is no memory to ask for them";
    return w->driver.devices ? NULL : w->driver.absence;
}

void cuda_uuid(motet_context *c, int index, char text[48])
{
    const cuda_world *w = cuda_world_of(c);
    CUdevice id;
    CUuuid uuid;
    text[0] = 0;
    if (!w || index < 0 || index >= w->driver.devices) return;
    if (w->driver.cuDeviceGet(&id, index) != CUDA_SUCCESS) return;
    if (w->driver.cuDeviceGetUuid_v2(&uuid, id) != CUDA_SUCCESS) return;
    int used = snprintf(text, 48, "GPU-");
    for (int i = 0; i < 16; i++)
        used += snprintf(text + used, 48 - (size_t)used, "%s%02x",
                         i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid.bytes[i]);
}

void cuda_plain(motet_context *c, int plain)
{
    cuda_world *w = cuda_world_of(c);
    if (w) w->plain = plain;
}

static int count(motet_context *c)
{
    const cuda_world *w = cuda_world_of(c);
    return w ? w->driver.devices : 0;
}

/* The context of a device. */

motet_status cuda_check(cuda_device *d, CUresult result, const char *call)
{
    char text[96];
    const motet_status st = cuda_status(result);
    if (st == MOTET_OK || st == MOTET_BUSY) return st;
    if (st == MOTET_DEVICE_LOST) atomic_store(&d->lost, 1);
    return fail_native(d->base.context, st, result, "cuda:%d: %s: %s", d->number, call,
                       cuda_text(d->driver, result, text));
}

motet_status cuda_enter(cuda_device *d)
{
    if (atomic_load(&d->lost))
        return fail(d->base.context, MOTET_DEVICE_LOST, "cuda:%d is lost", d->number);
    return CUDA(d, cuCtxPushCurrent_v2, d->primary);
}

int cuda_enter_still(cuda_device *d)
{
    return !atomic_load(&d->lost) && d->driver->cuCtxPushCurrent_v2(d->primary) == CUDA_SUCCESS;
}

void cuda_leave(cuda_device *d)
{
    CUcontext former;
    d->driver->cuCtxPopCurrent_v2(&former);
}

/* Opening. */

static uint64_t memory_taken(cuda_device *d)
{
    size_t available = 0, total = 0;
    return d->driver->cuMemGetInfo_v2(&available, &total) == CUDA_SUCCESS ? total - available : 0;
}

/* With the context current. */
static motet_status prepare(cuda_device *d)
{
    TRY(CUDA(d, cuDeviceGetAttribute, &d->multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
             d->id));
    TRY(CUDA(d, cuStreamCreate, &d->own, CU_STREAM_NON_BLOCKING));
    TRY(cuda_kernels_load(d));
    return cuda_health_begin(d);
}

/* Makes or joins the process's context, and measures what it and the kernels take: by what is used
 * before and after, or, where nobody tells that, by what the kernels take. */
static motet_status enter_first(cuda_device *d)
{
    char uuid[48];
    uint64_t before = 0, after = 0;
    cuda_uuid(d->base.context, d->number, uuid);
    const int told = cuda_used(uuid, &before);
    TRY(CUDA(d, cuDevicePrimaryCtxRetain, &d->primary, d->id));
    TRY(cuda_enter(d));
    if (!told) before = memory_taken(d);
    const motet_status st = prepare(d);
    if (!told || !cuda_used(uuid, &after)) after = memory_taken(d);
    cuda_leave(d);
    d->context_bytes = after > before ? after - before : 0;
    return st;
}

/* The driver's things, where nothing runs any more. */
static void give_back(cuda_device *d)
{
    const cuda_driver *driver = d->driver;
    cuda_release(&d->base, &d->health_device);
    cuda_release(&d->base, &d->health_host);
    cuda_trim(&d->base);
    if (!cuda_enter_still(d)) return;
    for (dev_stream *s = d->left; s; s = s->next) {
        for (cuda_scratch *of = s->scratch; of; of = of->next) driver->cuMemFree_v2(of->data);
        driver->cuStreamDestroy_v2(s->stream);
    }
    if (d->own) driver->cuStreamDestroy_v2(d->own);
    if (d->module) driver->cuModuleUnload(d->module);
    cuda_leave(d);
}

/* OK: nothing runs any more; BUSY; or something is wrong. */
static CUresult look(cuda_device *d)
{
    CUresult result = d->own ? d->driver->cuStreamQuery(d->own) : CUDA_SUCCESS;
    pthread_mutex_lock(&d->lock);
    const dev_stream *const lists[] = {d->streams, d->left};
    for (int i = 0; i < 2; i++)
        for (const dev_stream *s = lists[i]; s && result == CUDA_SUCCESS; s = s->next)
            result = d->driver->cuStreamQuery(s->stream);
    pthread_mutex_unlock(&d->lock);
    return result;
}

/* 1: everything that was begun has ended, perhaps after a while. */
static int settle(cuda_device *d)
{
    if (!cuda_enter_still(d)) return 0;
    const int64_t until = cuda_now() + patience;
    CUresult result;
    while ((result = look(d)) == CUDA_ERROR_NOT_READY && cuda_now() < until) cuda_nap(20000);
    cuda_leave(d);
    return result == CUDA_SUCCESS;
}

/* Of a device that is lost, or does not end what it began, nothing is given back: the driver would
 * wait. The context stays until the end, for memory that is released after the close. */
static void close_device(dev *device)
{
    cuda_device *d = (cuda_device *)device;
    d->quiet = d->primary && settle(d);
    if (d->quiet) give_back(d);
    atomic_store(&d->closed, 1);
}

static motet_status open_device(motet_context *c, int index, dev **out)
{
    cuda_world *w = cuda_world_of(c);
    if (!w) return fail(c, MOTET_NO_MEMORY, "cuda:%d: no memory to open the device", index);
    if (!w->driver.devices)
        return fail(c, MOTET_UNSUPPORTED, "cuda:%d: %s", index, w->driver.absence);
    if (index < 0 || index >= w->driver.devices)
        return fail(c, MOTET_BAD_ARGUMENT, "cuda:%d: there %s %d GPU%s, numbered from 0", index,
                    w->driver.devices == 1 ? "is" : "are", w->driver.devices,
                    w->driver.devices == 1 ? "" : "s");
    cuda_device *d = mem_new(c, cuda_device);
    if (!d) return fail(c, MOTET_NO_MEMORY, "cuda:%d: no memory to open the device", index);
    d->world = w;
    d->driver = &w->driver;
    d->number = index;
    pthread_mutex_init(&d->lock, NULL);
    pthread_mutex_lock(&w->lock);
    d->base = (dev){.table = &dev_cuda, .context = c, .epoch = 1};
    for (const cuda_device *other = w->devices; other; other = other->next) d->base.epoch++;
    d->next = w->devices;
    w->devices = d;
    pthread_mutex_unlock(&w->lock);
    motet_status st = CUDA(d, cuDeviceGet, &d->id, index);
    if (st == MOTET_OK) st = enter_first(d);
    if (st != MOTET_OK) {
        close_device(&d->base);
        return st;
    }
    *out = &d->base;
    return MOTET_OK;
}

static motet_status info(dev *device, motet_device_info *out)
{
    cuda_device *d = (cuda_device *)device;
    char name[64] = "";
    int major = 0, minor = 0;
    size_t available = 0, total = 0;
    TRY(cuda_enter(d));
    motet_status st = CUDA(d, cuDeviceGetName, name, (int)sizeof name, d->id);
    if (st == MOTET_OK)
        st = CUDA(d, cuDeviceGetAttribute, &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                  d->id);
    if (st == MOTET_OK)
        st = CUDA(d, cuDeviceGetAttribute, &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
                  d->id);
    if (st == MOTET_OK) st = CUDA(d, cuMemGetInfo_v2, &available, &total);
    cuda_leave(d);
    TRY(st);
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "cuda:%d", d->number);
    snprintf(out->description, sizeof out->description, "%s, compute %d.%d, %d multiprocessors",
             name, major, minor, d->multiprocessors);
    out->workers = cuda_workers(d);
    out->memory_total = total;
    out->memory_free = available;
    out->memory_context = d->context_bytes;
    cuda_uuid(d->base.context, d->number, out->uuid);
    return MOTET_OK;
}

static motet_status peer(dev *device, dev *other)
{
    cuda_device *d = (cuda_device *)device, *o = (cuda_device *)other;
    int can = 0;
    if (d->id == o->id) return MOTET_OK;
    TRY(cuda_enter(d));
    motet_status st = CUDA(d, cuDeviceCanAccessPeer, &can, d->id, o->id);
    if (st == MOTET_OK && can) {
        const CUresult result = d->driver->cuCtxEnablePeerAccess(o->primary, 0);
        if (result != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
            st = cuda_check(d, result, "cuCtxEnablePeerAccess");
    }
    cuda_leave(d);
    if (st == MOTET_OK && !can)
        return fail(device->context, MOTET_DECLINED, "cuda:%d cannot reach the memory of cuda:%d",
                    d->number, o->number);
    return st;
}

static int share(dev *device, int64_t *items, int room)
{
    (void)device;
    (void)items;
    (void)room;
    return 0;
}

static void memory_name(dev *device, const dev_memory *memory, const char *text)
{
    (void)device;
    (void)memory;
    (void)text;
}

static void host_access(dev *device, const void *data, size_t bytes, int writes)
{
    (void)device;
    (void)data;
    (void)bytes;
    (void)writes;
}

static void forget_scratch(motet_context *c, cuda_scratch *s)
{
    for (cuda_scratch *next; s; s = next) {
        next = s->next;
        mem_free(c, s);
    }
}

static void end(motet_context *c)
{
    cuda_world *w = c->cuda;
    if (!w) return;
    for (cuda_device *d = w->devices, *next; d; d = next) {
        next = d->next;
        if (d->quiet) d->driver->cuDevicePrimaryCtxRelease_v2(d->id);
        forget_scratch(c, d->spare);
        for (dev_stream *s = d->left, *following; s; s = following) {
            following = s->next;
            forget_scratch(c, s->scratch);
            mem_free(c, s);
        }
        mem_free(c, d->kernel);
        pthread_mutex_destroy(&d->lock);
        mem_free(c, d);
    }
    pthread_mutex_destroy(&w->lock);
    mem_free(c, w);
    c->cuda = NULL;
}

const dev_table dev_cuda = {
    .name = "cuda",
    .count = count,
    .open = open_device,
    .close = close_device,
    .info = info,
    .alloc = cuda_alloc,
    .release = cuda_release,
    .stream_create = cuda_stream_create,
    .stream_free = cuda_stream_free,
    .stream_drop = cuda_stream_drop,
    .stream_poll = cuda_stream_poll,
    .event_create = cuda_event_create,
    .event_free = cuda_event_free,
    .event_record = cuda_event_record,
    .event_poll = cuda_event_poll,
    .stream_wait = cuda_stream_wait,
    .copy = cuda_copy,
    .copy_rows = cuda_copy_rows,
    .fill = cuda_fill,
    .launch = cuda_launch,
    .health = cuda_health,
    .progress = cuda_progress,
    .doze = cuda_doze,
    .share = share,
    .peer = peer,
    .memory_name = memory_name,
    .host_access = host_access,
    .end = end,
    .trim = cuda_trim,
    .absence = cuda_absence,
    .uuid = cuda_uuid,
};
