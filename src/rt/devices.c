/* Opening the devices that the options name, and telling about them. */
#include "rt/devices.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/context.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/mem.h"
#include "dev/registry.h"
#include "rt/device_names.h"
#include "rt/pool.h"

motet_status rt_device_check(motet_context *c, dev *device, const char *name)
{
    motet_error error;
    switch (device->table->health(device)) {
    case DEV_HEALTH_OK: return MOTET_OK;
    case DEV_HEALTH_LOST:
        return fail(c, MOTET_DEVICE_ERROR,
                    "%s computes wrongly: the health kernel gave other bits than expected", name);
    case DEV_HEALTH_GONE: break;
    }
    motet_context_error(c, &error);
    const int told = motet_status_class_of(error.status) == MOTET_CLASS_DEVICE;
    return fail(c, MOTET_DEVICE_LOST, "%s does not compute: %s", name,
                told ? error.message : "the device is lost");
}

static motet_status open_one(motet_context *c, const dev_table *table, int index)
{
    rt_devices *all = c->devices;
    rt_device *one = &all->set[all->count];
    TRY(table->open(c, index, &one->device));
    one->device->index = all->count++;
    one->table = table;
    one->number = index;
    one->host_visible = one->device->host_visible;
    TRY(one->device->table->info(one->device, &one->info));
    if (one->info.threads > 0) {
        one->baseline = mem_array(c, int64_t, one->info.threads);
        if (!one->baseline)
            return fail(c, MOTET_NO_MEMORY, "%s: no memory for its account", one->info.name);
    }
    return rt_device_check(c, one->device, one->info.name);
}

/* The last one of the set, which did not open whole. */
static void drop_last(motet_context *c)
{
    rt_device *one = &c->devices->set[--c->devices->count];
    one->table->close(one->device);
    mem_free(c, one->baseline);
    memset(one, 0, sizeof *one);
}

/* What nobody named may be left out. */
static motet_status open_named(motet_context *c, const rt_named *d)
{
    const int before = c->devices->count;
    motet_status st = MOTET_OK;
    if (d->options) st = d->table->options(c, d->number, d->options, d->options_length);
    if (st == MOTET_OK) st = open_one(c, d->table, d->number);
    if (st == MOTET_OK) c->devices->set[before].fallback = d->fallback;
    if (st == MOTET_OK || !d->optional) return st;
    motet_error error;
    motet_context_error(c, &error);
    if (c->devices->count > before) drop_last(c);
    log_warning(c, "device", "auto leaves out %s:%d: %s", d->table->name, d->number, error.message);
    return MOTET_OK;
}

static motet_status open_all(motet_context *c, const char *names)
{
    rt_named named[RT_DEVICES];
    int count;
    TRY(rt_device_names(c, names, named, &count));
    for (int i = 0; i < count; i++) TRY(open_named(c, &named[i]));
    return MOTET_OK;
}

static motet_status make_set(motet_context *c)
{
    rt_devices *all = mem_new(c, rt_devices);
    if (!all) return fail(c, MOTET_NO_MEMORY, "no memory for the device set");
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&all->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&all->planning, NULL);
    c->devices = all;
    return rt_pool_open(c);
}

motet_status rt_devices_open(motet_context *c, const char *names)
{
    motet_status st = make_set(c);
    if (st == MOTET_OK) st = open_all(c, names ? names : "cpu");
    if (st != MOTET_OK) rt_devices_close(c);
    return st;
}

void rt_device_release(motet_context *c, rt_device *one)
{
    pthread_mutex_lock(&c->lock);
    rt_kept *k = one->kept;
    one->kept = NULL;
    pthread_mutex_unlock(&c->lock);
    for (rt_kept *next; k; k = next) {
        next = k->next;
        for (int j = 0; j < 2; j++)
            if (k->memory[j].data) one->table->release(one->device, &k->memory[j]);
        mem_free(c, k);
    }
}

void rt_devices_close(motet_context *c)
{
    rt_pool_close(c);
    for (int i = 0; c->devices && i < c->devices->count; i++) {
        rt_device *one = &c->devices->set[i];
        if (!one->closed) one->table->close(one->device);
        rt_device_release(c, one);
        mem_free(c, one->baseline);
    }
    if (c->devices) {
        pthread_cond_destroy(&c->devices->changed);
        pthread_mutex_destroy(&c->devices->planning);
    }
    mem_free(c, c->devices);
    c->devices = NULL;
    dev_end(c);
}

/* Using a device. */

static dev *take(motet_context *c, rt_device *one, int lost_too)
{
    pthread_mutex_lock(&c->lock);
    const int there = !one->closed && !one->recovery.trying;
    dev *device = there && (lost_too || !atomic_load(&one->lost)) ? one->device : NULL;
    if (device) one->users++;
    pthread_mutex_unlock(&c->lock);
    return device;
}

dev *rt_device_use(motet_context *c, rt_device *one) { return take(c, one, 0); }
dev *rt_device_hold(motet_context *c, rt_device *one) { return take(c, one, 1); }

void rt_device_leave(motet_context *c, rt_device *one)
{
    pthread_mutex_lock(&c->lock);
    one->users--;
    pthread_mutex_unlock(&c->lock);
}

/* The order matters: the flag is read without the lock. */
void rt_device_lose(motet_context *c, rt_device *one, const char *reason)
{
    const int64_t now = clock_now(c);
    pthread_mutex_lock(&c->lock);
    if (!atomic_load(&one->lost)) {
        snprintf(one->reason, sizeof one->reason, "%s", reason);
        one->losses++;
        recovery_lose(&one->recovery, now);
        atomic_store(&one->lost, 1);
    }
    pthread_mutex_unlock(&c->lock);
    rt_pool_flush_device(c, one);
}

void rt_device_reason(motet_context *c, const rt_device *one, char reason[160])
{
    pthread_mutex_lock(&c->lock);
    memcpy(reason, one->reason, sizeof one->reason);
    pthread_mutex_unlock(&c->lock);
}

int64_t rt_host_free(motet_context *c)
{
    for (int i = 0; i < c->devices->count; i++) {
        const rt_device *one = &c->devices->set[i];
        motet_device_info host;
        if (one->host_visible && motet_context_device(c, i, &host) == MOTET_OK)
            return host.memory_free < INT64_MAX ? (int64_t)host.memory_free : INT64_MAX;
    }
    const long pages = sysconf(_SC_AVPHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && bytes > 0 ? (int64_t)pages * bytes : 0;
}

int rt_devices_ended(const motet_context *c)
{
    int own = 0;
    for (int i = 0; i < c->devices->count; i++) {
        const rt_device *one = &c->devices->set[i];
        if (one->host_visible) continue;
        if (!atomic_load(&one->lost)) return 0;
        own = 1;
    }
    return own && c->options.lost_ends;
}

void rt_device_keep(motet_context *c, rt_device *one, rt_kept *kept)
{
    pthread_mutex_lock(&c->lock);
    kept->next = one->kept;
    one->kept = kept;
    pthread_mutex_unlock(&c->lock);
}

int motet_context_gpus(motet_context *c, char absence[160])
{
    const dev_table *gpus = dev_gpus();
    const int count = gpus ? gpus->count(c) : 0;
    const char *why = gpus ? gpus->absence(c) : "this build of Motet drives none";
    if (absence) snprintf(absence, 160, "%s", !count && why ? why : "");
    return count;
}

int motet_context_devices(const motet_context *c) { return c->devices->count; }

motet_status motet_context_device(const motet_context *context, int index, motet_device_info *out)
{
    motet_context *c = (motet_context *)(uintptr_t)context; /* for the error record */
    if (index < 0 || index >= c->devices->count)
        return fail(c, MOTET_BAD_ARGUMENT, "device %d: this context has %d", index,
                    c->devices->count);
    rt_device *one = &c->devices->set[index];
    dev *device = rt_device_use(c, one);
    if (!device) return fail(c, MOTET_DEVICE_LOST, "device %d, %s, is lost", index, one->info.name);
    const motet_status st = device->table->info(device, out);
    rt_device_leave(c, one);
    return st;
}
