#include "rt/recover.h"

#include <string.h>

#include "base/clock.h"
#include "base/context.h"
#include "base/fail.h"
#include "base/log.h"
#include "rt/part.h"
#include "rt/pool.h"

/* 1: it is the caller's alone, until give. Nobody can begin to use a lost device, so its users only
 * become fewer; while there are any, no attempt is spent. */
static int claim(motet_context *c, rt_device *one)
{
    const int64_t now = clock_now(c);
    pthread_mutex_lock(&c->lock);
    const int mine = !one->users && recovery_begin(&one->recovery, now) == RECOVERY_BEGUN;
    pthread_mutex_unlock(&c->lock);
    return mine;
}

/* With the device that is to be used from now on, or NULL. The flag is cleared last. */
static void give(motet_context *c, rt_device *one, dev *fresh)
{
    pthread_mutex_lock(&c->lock);
    if (fresh) {
        one->device = fresh;
        one->returns++;
    }
    one->closed = !fresh;
    recovery_end(&one->recovery, fresh != NULL);
    if (fresh) atomic_store(&one->lost, 0);
    pthread_mutex_unlock(&c->lock);
}

static motet_status check(motet_context *c, rt_device *one, dev *fresh, motet_device_info *info)
{
    TRY(fresh->table->info(fresh, info));
    if (strcmp(info->name, one->info.name) != 0)
        return fail(c, MOTET_DEVICE_ERROR, "it is %s now", info->name);
    return rt_device_check(c, fresh, "it");
}

static motet_status reopen(motet_context *c, rt_device *one, motet_device_info *info, dev **out)
{
    dev *fresh;
    if (!one->closed) {
        rt_pool_flush_device(c, one);
        one->table->close(one->device);
    }
    rt_parts_drop(c, one->device->index);
    rt_device_release(c, one);
    TRY(one->table->open(c, one->number, &fresh));
    fresh->index = one->device->index;
    const motet_status st = check(c, one, fresh, info);
    if (st == MOTET_OK)
        *out = fresh;
    else
        fresh->table->close(fresh);
    return st;
}

const char *rt_device_words(const rt_device *one, const char *message)
{
    const size_t n = strlen(one->info.name);
    return !strncmp(message, one->info.name, n) && !strncmp(message + n, ": ", 2) ? message + n + 2
                                                                                  : message;
}

static void try_one(motet_context *c, rt_device *one)
{
    if (!claim(c, one)) return;
    dev *fresh = NULL;
    motet_device_info info;
    const motet_status st = reopen(c, one, &info, &fresh);
    motet_error error;
    if (st != MOTET_OK) motet_context_error(c, &error);
    give(c, one, fresh);
    if (st == MOTET_OK)
        log_text(c, MOTET_LOG_INFO, "device", "%s is back: %s", one->info.name, info.description);
    else
        log_warning(c, "device", "%s does not come back: %s", one->info.name,
                    rt_device_words(one, error.message));
}

int rt_recover(motet_context *c)
{
    int usable = 0;
    for (int i = 0; i < c->devices->count; i++) {
        rt_device *one = &c->devices->set[i];
        if (atomic_load(&one->lost)) try_one(c, one);
        usable += !atomic_load(&one->lost);
    }
    return usable;
}

int motet_context_recover(motet_context *c) { return rt_recover(c); }

motet_status motet_context_device_state(const motet_context *context, int index,
                                        motet_device_state *out)
{
    motet_context *c = (motet_context *)(uintptr_t)context; /* for the lock */
    if (index < 0 || index >= c->devices->count)
        return fail(c, MOTET_BAD_ARGUMENT, "device %d: this context has %d", index,
                    c->devices->count);
    rt_device *one = &c->devices->set[index];
    const int64_t now = clock_now(c);
    pthread_mutex_lock(&c->lock);
    memcpy(out->name, one->info.name, sizeof out->name);
    out->lost = atomic_load(&one->lost);
    out->losses = one->losses;
    out->returns = one->returns;
    out->attempts = one->recovery.attempts;
    out->wait = (double)recovery_wait(&one->recovery, now) / 1e9;
    memcpy(out->reason, one->reason, sizeof out->reason);
    pthread_mutex_unlock(&c->lock);
    return MOTET_OK;
}
