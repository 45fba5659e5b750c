#include "rt/hold.h"

#include <string.h>
#include <time.h>

#include "base/context.h"
#include "base/mem.h"
#include "rt/plan_inside.h"
#include "rt/pool.h"

enum { WAIT = 10000000 }; /* nanoseconds: how late a cancellation is seen */

void rt_hold_bytes(rt_device *one, int64_t bytes) { atomic_fetch_add(&one->held, bytes); }
void rt_hold_taken(rt_device *one, int64_t bytes)
{
    const int64_t now = atomic_fetch_add(&one->taken, bytes) + bytes;
    int_fast64_t most = atomic_load(&one->taken_most);
    while (now > most && !atomic_compare_exchange_weak(&one->taken_most, &most, now)) continue;
}

/* What follows is called with the lock of planning held. */

static void hold_device(rt_devices *all, rt_hold *hold, int index, int64_t bytes)
{
    const int64_t more = bytes - hold->device[index];
    hold->device[index] = bytes;
    all->runs_hold[index] += more;
    rt_hold_bytes(&all->set[index], more);
}

static void hold_host(rt_devices *all, rt_hold *hold, int64_t promised, int64_t drawn)
{
    all->promised += promised - hold->promised;
    all->drawn += drawn - hold->drawn;
    hold->promised = promised;
    hold->drawn = drawn;
}

static void given(rt_devices *all)
{
    all->given++;
    pthread_cond_broadcast(&all->changed);
}

static rt_hold **place_in_queue(rt_devices *all, const rt_hold *hold)
{
    rt_hold **at = &all->waiting;
    while (*at && *at != hold) at = &(*at)->next;
    return at;
}

/* The next one may be served. */
static void leave_queue(rt_devices *all, rt_hold *hold)
{
    if (!hold->waits) return;
    *place_in_queue(all, hold) = hold->next;
    hold->next = NULL;
    hold->waits = 0;
    given(all);
}

/* It was refused: would it fit if no other run held anything? Else the refusal is about that. */
static int fits_alone(motet_context *c, const rt_op *op, rt_plan_device *devices, const int *index,
                      int count, const rt_plan_options *options)
{
    const rt_devices *all = c->devices;
    rt_plan_options alone = *options;
    rt_plan unused;
    int64_t held = all->promised + all->drawn;
    for (int i = 0; i < count; i++) held = plan_add(held, all->runs_hold[index[i]]);
    if (!held) return 0;
    for (int i = 0; i < count; i++) devices[i].reserved -= all->runs_hold[index[i]];
    alone.host_held -= alone.host_held < all->drawn ? alone.host_held : all->drawn;
    return rt_plan_make(c, op, devices, count, &alone, &unused) == MOTET_OK;
}

static motet_status plan_and_hold(motet_context *c, const rt_op *op, rt_plan_device *devices,
                                  const int *index, int count, rt_plan_options *options,
                                  rt_plan *plan, rt_hold *hold)
{
    rt_devices *all = c->devices;
    rt_plan_options now = *options;
    now.host_held = plan_add(now.host_held, all->promised);
    const motet_status st = rt_plan_make(c, op, devices, count, &now, plan);
    hold->shared = st == MOTET_OVER_BUDGET && fits_alone(c, op, devices, index, count, options);
    if (st != MOTET_OK) return st;
    for (int i = 0; i < count; i++)
        if (plan->share[i].chunks)
            hold_device(all, hold, index[i], plan->share[i].peak_bytes - devices[i].reserved);
    hold_host(all, hold, plan->host_bytes, hold->drawn);
    hold->planned = 1;
    leave_queue(all, hold);
    return st;
}

motet_status rt_hold_plan(motet_context *c, const rt_op *op, rt_plan_device *devices,
                          const int *index, int count, const rt_plan_options *options,
                          rt_plan *plan, rt_hold *hold)
{
    rt_devices *all = c->devices;
    rt_plan_options now = *options;
    motet_status st = MOTET_OVER_BUDGET;
    pthread_mutex_lock(&all->planning);
    for (int i = 0; i < count; i++) {
        hold_device(all, hold, index[i], 0);
        rt_plan_device_now(c, index[i], &devices[i]);
    }
    hold_host(all, hold, 0, hold->drawn);
    /* What others allocate leaves `promised` when the account has it: so that is asked now. */
    if (hold->left) now.host_held += hold->left - mem_left(c);
    const int64_t idle = rt_pool_idle_staging(c); /* used again, or given back when it is needed */
    now.host_held -= idle < now.host_held ? idle : now.host_held;
    hold->behind = !hold->planned && all->waiting && all->waiting != hold;
    hold->shared = hold->behind;
    if (!hold->behind) st = plan_and_hold(c, op, devices, index, count, &now, plan, hold);
    const int64_t promised = all->promised;
    pthread_mutex_unlock(&all->planning);
    if (hold->behind) fail(c, st, "%s: others wait for memory, and come first", op->name);
    /* Idle staging must not be in the way of what is allocated before it can be used again. */
    if (st == MOTET_OK && idle && mem_left(c) < promised - (plan->host_bytes - plan->private_bytes))
        rt_pool_flush_staging(c);
    return st;
}

void rt_hold_drawn(motet_context *c, rt_hold *hold, int64_t bytes)
{
    pthread_mutex_lock(&c->devices->planning);
    if (bytes > hold->promised) bytes = hold->promised;
    hold_host(c->devices, hold, hold->promised - bytes, hold->drawn + bytes);
    pthread_mutex_unlock(&c->devices->planning);
}

void rt_hold_end(motet_context *c, rt_hold *hold)
{
    rt_devices *all = c->devices;
    pthread_mutex_lock(&all->planning);
    for (int i = 0; i < all->count; i++) hold_device(all, hold, i, 0);
    hold_host(all, hold, 0, 0);
    leave_queue(all, hold);
    hold->planned = 0;
    given(all);
    pthread_mutex_unlock(&all->planning);
}

int64_t rt_hold_promised(motet_context *c)
{
    pthread_mutex_lock(&c->devices->planning);
    const int64_t promised = c->devices->promised;
    pthread_mutex_unlock(&c->devices->planning);
    return promised;
}

uint64_t rt_hold_given(motet_context *c)
{
    pthread_mutex_lock(&c->devices->planning);
    const uint64_t given = c->devices->given;
    pthread_mutex_unlock(&c->devices->planning);
    return given;
}

static void join_queue(rt_devices *all, rt_hold *hold)
{
    if (hold->waits) return;
    *place_in_queue(all, NULL) = hold; /* at the end */
    hold->waits = 1;
}

/* With the lock of planning held. */
static int is_served(const rt_devices *all, const rt_hold *hold, uint64_t seen)
{
    return all->given != seen && all->waiting == hold;
}

motet_status rt_hold_wait(motet_context *c, rt_hold *hold, uint64_t seen, log_phase *phase)
{
    rt_devices *all = c->devices;
    pthread_mutex_lock(&all->planning);
    join_queue(all, hold);
    pthread_mutex_unlock(&all->planning);
    for (;;) {
        struct timespec end;
        clock_gettime(CLOCK_MONOTONIC, &end);
        end.tv_nsec += WAIT;
        if (end.tv_nsec >= 1000000000) end.tv_nsec -= 1000000000, end.tv_sec++;
        pthread_mutex_lock(&all->planning);
        if (!is_served(all, hold, seen))
            pthread_cond_timedwait(&all->changed, &all->planning, &end);
        const int done = is_served(all, hold, seen);
        pthread_mutex_unlock(&all->planning);
        const motet_status st = log_phase_step(phase, 0);
        if (st == MOTET_OK && !done) continue;
        if (st == MOTET_OK) return st;
        pthread_mutex_lock(&all->planning);
        leave_queue(all, hold);
        pthread_mutex_unlock(&all->planning);
        return st;
    }
}
