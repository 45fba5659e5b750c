/* Rounds over all devices of a plan. In the first each device works on its share. What a device
 * could not finish (it was lost, it hangs, it had no memory) is a list of boxes; in further rounds
 * the remaining devices, each with a plan of its own for the whole operation, take pieces of those
 * boxes as large as their chunks may be, until nothing is left or nobody. */
#include "rt/pipe.h"

#include <string.h>

#include "base/context.h"
#include "base/mem.h"
#include "rt/pipe_inside.h"

static const int64_t doze_longest = 20000000; /* nanoseconds: how late a cancellation is seen */
static const int64_t doze_short = 1000000;    /* while other devices work, too */

typedef struct pipe {
    pipe_job *job;
    pipe_task *missing;
    int64_t missing_count, room;
    int recovering;
    double elements, done; /* of the box */
    motet_status failure;  /* why a device went out */
    char reason[200];
    int dozer;
    pipe_device device[RT_DEVICES];
} pipe;

/* What is missing. */

static motet_status miss(pipe *p, const pipe_task *task)
{
    if (p->missing_count == p->room) {
        const int64_t room = 2 * p->room + 16;
        pipe_task *grown = mem_grow(p->job->context, p->missing, (size_t)room * sizeof *p->missing);
        if (!grown)
            return fail(p->job->context, MOTET_NO_MEMORY, "%s: no memory to list what is missing",
                        p->job->op->name);
        p->missing = grown;
        p->room = room;
    }
    p->missing[p->missing_count++] = *task;
    return MOTET_OK;
}

/* The chunks of a share from one to the last, as up to RT_AXES boxes. */
static motet_status miss_share(pipe *p, const rt_share *s, int64_t local)
{
    while (local < s->chunks) {
        pipe_task box;
        rt_share_chunk(s, p->job->op, local, box.first, box.count);
        int axis = RT_AXES - 1; /* the box goes to the end of this axis; axes behind it are whole */
        int64_t chunks = 1;     /* of one step along that axis */
        while (axis > 0 && local % (chunks * s->pieces[axis]) == 0) chunks *= s->pieces[axis--];
        for (int i = axis; i < RT_AXES; i++) {
            const int64_t extent = i < p->job->op->axes ? p->job->op->extent[i] : 1;
            const int64_t end = i == s->axis ? s->first + s->rows : extent;
            box.count[i] = end - box.first[i];
        }
        TRY(miss(p, &box));
        const int64_t at = local / chunks % s->pieces[axis];
        local += (s->pieces[axis] - at) * chunks;
    }
    return MOTET_OK;
}

/* Work for a device: its next chunk, or a piece of what is missing. */
static motet_status next_task(pipe_device *d, pipe_task *task, int *got)
{
    pipe *p = d->pipe;
    if (!p->recovering) {
        *got = d->next < d->share.chunks;
        if (*got) rt_share_chunk(&d->share, p->job->op, d->next++, task->first, task->count);
        return MOTET_OK;
    }
    *got = p->missing_count > 0;
    if (!*got) return MOTET_OK;
    *task = p->missing[--p->missing_count];
    for (int i = 0; i < RT_AXES; i++) {
        const int64_t rows = d->share.cut.rows[i];
        if (task->count[i] <= rows) continue;
        pipe_task rest = *task;
        rest.first[i] += rows;
        rest.count[i] -= rows;
        task->count[i] = rows;
        TRY(miss(p, &rest));
    }
    return MOTET_OK;
}

/* Devices come and go. */

static void note(pipe *p, motet_status status)
{
    motet_error error;
    motet_context_error(p->job->context, &error);
    p->failure = status;
    memcpy(p->reason, error.message, sizeof p->reason - 1);
}

/* The device failed: what it has not brought back is missing. Answers a status that ends the run.
 */
static motet_status leave(pipe *p, pipe_device *d, motet_status status)
{
    motet_context *c = p->job->context;
    note(p, status);
    const int64_t first = d->retired, end = d->kept ? d->begun : d->retired;
    int hung = status == MOTET_DEVICE_HUNG;
    d->out = 1;
    for (int64_t k = first; k < end; k++) TRY(miss(p, &d->slot[k % d->slots].task));
    if (!p->recovering) TRY(miss_share(p, &d->share, d->next));
    hung = pipe_device_end(d, hung);
    if (status != MOTET_NO_MEMORY || hung) rt_device_lose(c, d->on, p->reason);
    log_warning(c, "device", "%s goes on without %s: %s", p->job->op->name, d->on->info.name,
                p->reason);
    rt_device_leave(c, d->on);
    p->job->left[d - p->device] = 1;
    return MOTET_OK;
}

static int goes_on(motet_status st) { return st == MOTET_DEVICE_LOST || st == MOTET_DEVICE_HUNG; }

/* A device that has no memory left for its chunks takes no part; whatever else fails, fails. */
static motet_status begin(pipe *p, pipe_device *d)
{
    const motet_status st = pipe_device_begin(d);
    return goes_on(st) || st == MOTET_NO_MEMORY ? leave(p, d, st) : st;
}

/* Rounds. */

static void doze(pipe *p, const uint64_t *seen)
{
    int busy = 0, chosen = -1;
    const int count = p->job->plan->devices;
    for (int i = 0; i < count; i++) busy += pipe_device_busy(&p->device[i]);
    for (int i = 0; i < count && chosen < 0; i++) {
        p->dozer = (p->dozer + 1) % count;
        if (pipe_device_busy(&p->device[p->dozer])) chosen = p->dozer;
    }
    if (chosen < 0) return;
    dev *device = p->device[chosen].device;
    device->table->doze(device, seen[chosen], busy > 1 ? doze_short : doze_longest);
}

static int64_t rows_done(const pipe *p)
{
    const int64_t extent = p->job->op->extent[0];
    const double rows = (double)extent * (p->done / p->elements);
    return rows < (double)extent ? (int64_t)rows : extent - 1; /* the end is told at the end */
}

static motet_status step(pipe *p, pipe_device *d, int *moved)
{
    const int64_t before = d->retired;
    const int slot = d->slots ? (int)(d->retired % d->slots) : 0;
    double size = 1;
    for (int i = 0; i < RT_AXES; i++) size *= (double)d->slot[slot].task.count[i];
    const motet_status st = pipe_device_step(d, next_task, moved);
    if (d->retired > before) p->done += size;
    if (st != MOTET_OK && d->begun > d->retired) {
        p->job->failed = d->published;
        p->job->failed_on = d->on->device->index;
    }
    if (!goes_on(st) || p->job->refused) return st;
    *moved = 1;
    return leave(p, d, st);
}

static motet_status one_round(pipe *p)
{
    const int count = p->job->plan->devices;
    for (;;) {
        int moved = 0, busy = 0;
        uint64_t seen[RT_DEVICES] = {0};
        for (int i = 0; i < count; i++) {
            pipe_device *d = &p->device[i];
            if (d->out || d->state == PIPE_IDLE) continue;
            seen[i] = d->device->table->progress(d->device);
            TRY(step(p, d, &moved));
            busy |= pipe_device_busy(d);
        }
        TRY(log_phase_step(p->job->phase, rows_done(p)));
        if (!moved && !busy) return MOTET_OK;
        if (!moved) doze(p, seen);
    }
}

/* A plan for the whole operation on one device, of which any piece can be done. The host's bytes
 * that are left are shared among those that remain. */
static motet_status plan_alone(pipe *p, pipe_device *d, int number, int remaining)
{
    const pipe_job *job = p->job;
    rt_plan_options options = *job->options;
    options.weightings = 0;
    if (options.host_memory) {
        const int64_t left = mem_left(job->context), held = options.host_memory - left;
        options.host_memory = held + left / remaining;
        options.host_held = held - job->plan->private_bytes;
        if (options.host_held < 0) options.host_held = 0;
    }
    rt_plan plan;
    rt_plan_device device = job->devices[number];
    TRY(rt_hold_plan(job->context, job->op, &device, &job->index[number], 1, &options, &plan,
                     job->hold));
    d->share = plan.share[0];
    d->next = 0;
    return MOTET_OK;
}

static motet_status recover(pipe *p)
{
    const int count = p->job->plan->devices;
    int remaining = 0, ready = 0;
    for (int i = 0; i < count; i++) {
        pipe_device_end(&p->device[i], 0); /* idle all: nothing is lost */
        remaining += !p->device[i].out;
    }
    p->recovering = 1;
    for (int i = 0; i < count; i++) {
        pipe_device *d = &p->device[i];
        if (d->out) continue;
        const motet_status st = plan_alone(p, d, i, remaining);
        if (st == MOTET_OVER_BUDGET) {
            note(p, st);
            d->out = 1;
            continue;
        }
        TRY(st);
        TRY(begin(p, d));
        rt_hold_drawn(p->job->context, p->job->hold, INT64_MAX);
        ready += !d->out;
    }
    if (!ready)
        return fail(p->job->context, p->failure, "%s: no device is left: %s", p->job->op->name,
                    p->reason);
    return one_round(p);
}

static motet_status all_rounds(pipe *p)
{
    const pipe_job *job = p->job;
    TRY(log_phase_step(job->phase, 0));
    for (int i = 0; i < job->plan->devices; i++)
        if (job->plan->share[i].chunks) TRY(begin(p, &p->device[i]));
    rt_hold_drawn(job->context, job->hold, INT64_MAX);
    TRY(one_round(p));
    while (p->missing_count) TRY(recover(p));
    return log_phase_step(job->phase, job->op->extent[0]);
}

motet_status pipe_run(pipe_job *job)
{
    motet_context *c = job->context;
    const rt_plan *plan = job->plan;
    pipe *p = mem_new(c, pipe);
    if (!p) return fail(c, MOTET_NO_MEMORY, "%s: no memory for its books", job->op->name);
    p->job = job;
    p->elements = 1;
    for (int i = 0; i < job->op->axes; i++) p->elements *= (double)job->op->extent[i];
    for (int i = 0; i < plan->devices; i++) {
        pipe_device *d = &p->device[i];
        d->pipe = p;
        d->job = job;
        d->on = &c->devices->set[job->index[i]];
        d->device = d->on->device;
        d->share = plan->share[i];
    }
    const motet_status st = all_rounds(p);
    motet_error error;
    if (st != MOTET_OK) motet_context_error(c, &error);
    for (int i = 0; i < plan->devices; i++) {
        if (pipe_device_end(&p->device[i], 0))
            rt_device_lose(c, p->device[i].on, "it did not end what it had begun");
        job->chunks[i] = p->device[i].published;
    }
    mem_free(c, p->missing);
    mem_free(c, p);
    if (st != MOTET_OK) fail(c, st, "%s", error.message); /* polls of lost devices set their own */
    return st;
}
