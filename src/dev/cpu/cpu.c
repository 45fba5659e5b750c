/* The CPU as a device: its threads, its kernels' instruction set, its memory. */
#include "dev/cpu/cpu.h"

#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/number.h"
#include "dev/cpu/isa.h"
#include "kern/health.k.h"

static int count(motet_context *c)
{
    (void)c;
    return 1;
}

static void close_device(dev *device)
{
    cpu_device *d = (cpu_device *)device;
    motet_context *c = device->context;
    thread_pool_free(d->pool);
    cpu_sweep(d);
    pthread_cond_destroy(&d->progressed);
    pthread_mutex_destroy(&d->lock);
    mem_free(c, d->scratch);
    mem_free(c, d->count);
    mem_free(c, d);
}

static motet_status open_device(motet_context *c, int index, dev **out)
{
    if (index != 0)
        return fail(c, MOTET_BAD_ARGUMENT, "cpu:%d: there is one cpu device, number 0", index);
    const motet_isa asked = c->options.isa;
    if (!motet_isa_available(asked))
        return fail(c, MOTET_UNSUPPORTED, "isa %s: this processor runs up to %s",
                    motet_isa_text(asked), motet_isa_text(isa_best()));
    cpu_device *d = mem_new(c, cpu_device);
    if (!d) return fail(c, MOTET_NO_MEMORY, "cpu: no memory to open the device");
    d->base = (dev){.table = &dev_cpu, .context = c, .epoch = 1, .host_visible = 1};
    d->threads = c->options.threads ? c->options.threads : thread_processors();
    d->isa_named = asked == MOTET_ISA_AUTO ? isa_best() : asked;
    d->isa = isa_index(d->isa_named);
    pthread_mutex_init(&d->lock, NULL);
    pthread_condattr_t monotonic; /* the wall clock may be set while somebody dozes */
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&d->progressed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    motet_status st = MOTET_OK;
    d->count = mem_array(c, cpu_count, d->threads);
    if (!d->count) st = fail(c, MOTET_NO_MEMORY, "cpu: no memory for %d threads", d->threads);
    if (st == MOTET_OK) st = thread_pool_create(c, d->threads, &d->pool);
    if (st != MOTET_OK) {
        close_device(&d->base);
        return st;
    }
    *out = &d->base;
    return MOTET_OK;
}

/* The text after "key :" of the first such line; `out` keeps its content when there is none. */
static void field_of(const char *path, const char *key, char *out, size_t room)
{
    FILE *file = fopen(path, "re");
    if (!file) return;
    char line[256];
    while (fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (!colon || strncmp(line, key, strlen(key)) != 0) continue;
        colon += 1 + strspn(colon + 1, " \t");
        snprintf(out, room, "%.*s", (int)strcspn(colon, "\n"), colon);
        break;
    }
    fclose(file);
}

static uint64_t memory_of(const char *key)
{
    char text[64] = "";
    uint64_t kib = 0;
    field_of("/proc/meminfo", key, text, sizeof text);
    return number_natural(text, &kib) && kib < UINT64_MAX / 1024 ? kib * 1024 : 0;
}

static motet_status info(dev *device, motet_device_info *out)
{
    const cpu_device *d = (const cpu_device *)device;
    char model[80] = "CPU";
    field_of("/proc/cpuinfo", "model name", model, sizeof model);
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "cpu");
    snprintf(out->description, sizeof out->description, "%s, %d thread%s, %s", model, d->threads,
             d->threads == 1 ? "" : "s", motet_isa_text(d->isa_named));
    out->threads = out->workers = d->threads;
    out->isa = d->isa_named;
    out->memory_total = memory_of("MemTotal");
    out->memory_free = memory_of("MemAvailable");
    return MOTET_OK;
}

static motet_status alloc(dev *device, dev_memory_kind kind, size_t bytes, dev_memory *out)
{
    void *data = mem_alloc(device->context, bytes);
    if (!data) return fail(device->context, MOTET_NO_MEMORY, "cpu: no memory for %zu bytes", bytes);
    *out = (dev_memory){data, bytes, device->epoch, kind};
    return MOTET_OK;
}

static void release(dev *device, dev_memory *memory)
{
    mem_free(device->context, memory->data);
    *memory = (dev_memory){.data = NULL};
}

/* On the caller's thread: what it would find wrong (a miscompiled or faulty instruction set) is the
 * same on all, and so it needs no memory and waits for nobody. */
static dev_health health(dev *device)
{
    const cpu_device *d = (const cpu_device *)device;
    uint64_t words[K_HEALTH_ITEMS];
    const k_health_args args = {words};
    const thread_float_state former = thread_float_enter();
    K_k_health.fast[d->isa](&args, 0, K_HEALTH_ITEMS, NULL);
    thread_float_leave(former);
    return k_health_digest(words) == K_HEALTH_EXPECTED ? DEV_HEALTH_OK : DEV_HEALTH_LOST;
}

static int share(dev *device, int64_t *items, int room)
{
    const cpu_device *d = (const cpu_device *)device;
    for (int i = 0; i < d->threads && i < room; i++)
        items[i] = atomic_load_explicit(&d->count[i].items, memory_order_relaxed);
    return d->threads;
}

/* There is one cpu device, and its memory is the host's. */
static motet_status peer(dev *device, dev *other)
{
    return device == other
               ? MOTET_OK
               : fail(device->context, MOTET_DECLINED, "cpu: no other device is its peer");
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

static void end(motet_context *c) { (void)c; }

const dev_table dev_cpu = {
    .name = "cpu",
    .count = count,
    .open = open_device,
    .close = close_device,
    .info = info,
    .alloc = alloc,
    .release = release,
    .stream_create = cpu_stream_create,
    .stream_free = cpu_stream_free,
    .stream_drop = cpu_stream_drop,
    .stream_poll = cpu_stream_poll,
    .event_create = cpu_event_create,
    .event_free = cpu_event_free,
    .event_record = cpu_event_record,
    .event_poll = cpu_event_poll,
    .stream_wait = cpu_stream_wait,
    .copy = cpu_copy,
    .copy_rows = cpu_copy_rows,
    .fill = cpu_fill,
    .launch = cpu_launch,
    .health = health,
    .progress = cpu_progress,
    .doze = cpu_doze,
    .trim = cpu_trim,
    .share = share,
    .peer = peer,
    .memory_name = memory_name,
    .host_access = host_access,
    .end = end,
};
