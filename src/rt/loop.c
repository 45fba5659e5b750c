/* Steps, and what is done so that a lost device costs a few of them only. */
#include "rt/loop.h"

#include <string.h>

#include "base/clock.h"
#include "base/context.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/mem.h"
#include "rt/devices.h"
#include "rt/loop_inside.h"

static const double usual_share = 0.05;

typedef struct work {
    motet_context *context;
    const rt_loop *loop;
    int keeps; /* snapshots */
    loop_snapshot last;
    int ended;                      /* there is no step after it */
    int64_t taken_at, cost;         /* of the last snapshot: when it was taken, nanoseconds */
    int64_t on_disk;                /* step of the checkpoint; -1: none */
    int64_t written_at, write_cost; /* of that, as above */
    int64_t losses;                 /* of all devices, when the state was last known to be whole */
    rt_loop_result told;
} work;

size_t loop_place(const rt_loop *loop, int state)
{
    size_t at = 0;
    for (int i = 0; i < state; i++)
        if (!loop->state[i]->disk) at += (loop->state[i]->bytes + 63) / 64 * 64;
    return at;
}

int loop_on_disk(const rt_loop *loop)
{
    for (int i = 0; i < loop->states; i++)
        if (loop->state[i]->disk) return 1;
    return 0;
}

/* Without devices that have memory of their own nothing is lost but the process. */
int rt_loop_keeps(motet_context *c, const rt_loop *loop)
{
    int keeps = loop->folder != NULL;
    pthread_mutex_lock(&c->lock);
    for (int i = 0; i < c->devices->count; i++) keeps |= !c->devices->set[i].host_visible;
    pthread_mutex_unlock(&c->lock);
    return keeps;
}

int64_t rt_loop_bytes(motet_context *context, const rt_loop *loop)
{
    const int states = rt_loop_keeps(context, loop) ? loop->states : 0;
    return (int64_t)(loop_place(loop, states) + sizeof(loop_snapshot));
}

static motet_status check(motet_context *c, const rt_loop *l)
{
    if (l->states < 0 || l->states > RT_LOOP_STATES || l->numbers_bytes > LOOP_NUMBERS ||
        l->steps < 0 || !(l->share >= 0 && l->share <= 1))
        return fail(c, MOTET_INTERNAL, "%s: %d states, %zu bytes of numbers, %lld steps, share %g",
                    l->name, l->states, l->numbers_bytes, (long long)l->steps, l->share);
    if (mem_left(c) < rt_loop_bytes(c, l))
        return fail(c, MOTET_OVER_BUDGET,
                    "%s: a copy of its state takes %lld bytes on the host, %lld are left", l->name,
                    (long long)rt_loop_bytes(c, l), (long long)mem_left(c));
    return MOTET_OK;
}

/* Losses. */

static int64_t losses_of(motet_context *c, int *usable)
{
    int64_t losses = 0;
    *usable = 0;
    pthread_mutex_lock(&c->lock);
    for (int i = 0; i < c->devices->count; i++) {
        losses += c->devices->set[i].losses;
        *usable += !atomic_load(&c->devices->set[i].lost);
    }
    pthread_mutex_unlock(&c->lock);
    return losses;
}

/* 1: a device was lost since the state was whole, and another one is there. */
static int can_go_on(work *w, motet_status status)
{
    int usable;
    if (status != MOTET_DEVICE_LOST && status != MOTET_DEVICE_HUNG) return 0;
    if (loop_on_disk(w->loop)) return 0; /* nothing to put back */
    const int64_t losses = losses_of(w->context, &usable);
    if (losses == w->losses || !usable) return 0;
    w->losses = losses;
    return 1;
}

/* Snapshots. */

static int64_t least_pause(const work *w, int64_t cost)
{
    const double share = w->loop->share > 0 ? w->loop->share : usual_share;
    return (int64_t)((double)cost / share);
}

static motet_status fetch_all(const rt_loop *l)
{
    for (int i = 0; i < l->states; i++) TRY(motet_array_fetch(l->state[i]));
    return MOTET_OK;
}

/* The former one is whole until everything is here. */
static motet_status take(work *w, int64_t step, int ended)
{
    const rt_loop *l = w->loop;
    const int64_t begin = clock_now(w->context);
    TRY(fetch_all(l));
    for (int i = 0; i < l->states; i++)
        if (l->state[i]->bytes && !l->state[i]->disk)
            memcpy(w->last.state + loop_place(l, i), l->state[i]->data, l->state[i]->bytes);
    if (l->numbers_bytes) memcpy(w->last.numbers, l->numbers, l->numbers_bytes);
    w->last.step = step;
    w->ended = ended;
    w->taken_at = clock_now(w->context);
    w->cost = w->taken_at - begin;
    w->told.snapshots++;
    w->told.snapshot_seconds += (double)w->cost * 1e-9;
    return MOTET_OK;
}

static void put_back(work *w)
{
    const rt_loop *l = w->loop;
    for (int i = 0; i < l->states; i++) {
        if (l->state[i]->disk) continue;
        if (l->state[i]->bytes)
            memcpy(l->state[i]->data, w->last.state + loop_place(l, i), l->state[i]->bytes);
        motet_array_changed(l->state[i]);
    }
    if (l->numbers_bytes) memcpy(l->numbers, w->last.numbers, l->numbers_bytes);
}

/* The checkpoint. */

/* CANCELLED, DEADLINE; what else fails is warned about. */
static motet_status write_last(work *w)
{
    motet_context *c = w->context;
    if (!w->loop->folder || w->last.step == w->on_disk) return MOTET_OK;
    const int64_t begin = clock_now(c);
    motet_error error;
    const motet_status st = loop_file_write(c, w->loop, &w->last);
    if (motet_status_class_of(st) == MOTET_CLASS_CANCELLED) return st;
    if (st == MOTET_OK) {
        w->on_disk = w->last.step;
        w->told.written++;
    } else {
        motet_context_error(c, &error);
        log_warning(c, "loop", "%s: no checkpoint was written: %s", w->loop->name, error.message);
    }
    w->written_at = clock_now(c);
    w->write_cost = w->written_at - begin;
    w->told.written_seconds += (double)w->write_cost * 1e-9;
    return MOTET_OK;
}

/* What is due after a step. */
static motet_status keep_up(work *w, int64_t step)
{
    if (!w->keeps) return MOTET_OK;
    if (loop_on_disk(w->loop)) {
        if (!w->loop->folder) return MOTET_OK;
        if (clock_now(w->context) - w->written_at < least_pause(w, w->write_cost)) return MOTET_OK;
        TRY(take(w, step, 0));
        return write_last(w);
    }
    if (clock_now(w->context) - w->taken_at < least_pause(w, w->cost)) return MOTET_OK;
    TRY(take(w, step, 0));
    const int due = w->taken_at - w->written_at >= least_pause(w, w->write_cost);
    return due ? write_last(w) : MOTET_OK;
}

/* The loop. */

static motet_status begin(work *w)
{
    motet_context *c = w->context;
    const rt_loop *l = w->loop;
    int found = 0, usable;
    const size_t bytes = loop_place(l, l->states);
    w->on_disk = -1;
    w->keeps = rt_loop_keeps(c, l);
    if (!w->keeps) return MOTET_OK;
    w->last.state = mem_alloc(c, bytes ? bytes : 1);
    if (!w->last.state)
        return fail(c, MOTET_NO_MEMORY, "%s: no memory for a copy of its state, %zu bytes", l->name,
                    bytes);
    w->losses = losses_of(c, &usable);
    w->written_at = clock_now(c);
    if (l->folder) TRY(loop_file_read(c, l, &w->last, &found));
    if (!found) return take(w, 0, 0);
    put_back(w);
    w->on_disk = w->last.step;
    if (l->resume) TRY(l->resume(&w->last.step, &w->ended, l->user));
    w->told.resumed = w->last.step;
    w->taken_at = clock_now(c);
    return MOTET_OK;
}

static motet_status all_steps(work *w)
{
    const rt_loop *l = w->loop;
    int64_t step = w->last.step;
    int done = w->ended;
    for (;;) {
        motet_status st = MOTET_OK;
        if (!done && step < l->steps) {
            st = l->step(step, &done, l->user);
            w->told.taken++;
            if (st == MOTET_OK) st = ++step < l->steps && !done ? keep_up(w, step) : MOTET_OK;
        } else {
            st = fetch_all(l);
            if (st == MOTET_OK) break;
        }
        if (st == MOTET_OK) continue;
        if (!w->keeps || !can_go_on(w, st)) return st;
        log_text(w->context, MOTET_LOG_INFO, "loop", "%s: back to step %lld of %lld", l->name,
                 (long long)w->last.step, (long long)step);
        put_back(w);
        step = w->last.step;
        done = w->ended;
        w->told.restored++;
    }
    w->told.steps = step;
    if (!l->folder) return MOTET_OK;
    if (!l->keep) {
        rt_loop_tidy(w->context, l->folder, l->name);
        return MOTET_OK;
    }
    if (step == w->last.step && w->ended) return MOTET_OK;
    TRY(take(w, step, 1));
    return write_last(w);
}

motet_status rt_loop_run(motet_context *c, const rt_loop *loop, rt_loop_result *out)
{
    TRY(check(c, loop));
    work w = {.context = c, .loop = loop};
    const int64_t start = clock_now(c);
    motet_status st = begin(&w);
    const int begun = st == MOTET_OK;
    if (begun) st = all_steps(&w);
    if (st == MOTET_OK) {
        w.told.seconds = clock_seconds_since(c, start);
        if (out) *out = w.told;
    } else if (begun) {
        motet_error error;
        motet_context_error(c, &error);
        if (!loop_on_disk(loop))
            (void)write_last(&w); /* else what is on disk is between two steps */
        fail_where(c, fail(c, st, "%s", error.message), error.device, error.chunk);
    }
    mem_free(c, w.last.state);
    return st;
}
