/* Who does what. Each device works on its share; what a device could not finish (it was lost, it
 * hangs, it had no memory) goes to a list. A device that has done its share takes from the list at
 * once, while others still work: for that it is set up anew for the whole operation, as any part
 * may fall to it, in host memory that nobody holds.
 *
 * Where results go to a sink all of the work is such a list from the beginning, and a chunk leaves
 * its slot only when all that come before it have: the slots are the reorder buffer. */
#include "rt/pipe.h"

#include <string.h>

#include "base/context.h"
#include "base/mem.h"
#include "rt/journal.h"
#include "rt/pipe_inside.h"

struct pipeline {
    pipe_job *job;
    pipe_list left;        /* to do, beside the shares */
    double elements, done; /* of the box */
    int held;              /* what was promised is taken */
    int ordered;           /* chunks leave in ascending order */
    int64_t changes;       /* how often a device gave memory back */
    motet_status failure;  /* why a device went out */
    char reason[200];
    int count;
    pipe_device device[];
};

/* What is left to do. */

/* The chunks of a share from one to the last, as up to RT_AXES boxes. */
static motet_status leave_share(pipeline *p, const rt_share *s, int64_t local)
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
        TRY(pipe_list_add(&p->left, &box));
        const int64_t at = local / chunks % s->pieces[axis];
        local += (s->pieces[axis] - at) * chunks;
    }
    return MOTET_OK;
}

/* A device without weight helps only when no other is left. */
static int has_a_say(const pipeline *p, const pipe_device *d)
{
    if (!d->weightless) return 1;
    for (int i = 0; i < p->count; i++)
        if (!p->device[i].out && !p->device[i].weightless) return 0;
    return 1;
}

static const pipe_task *task_of(const pipe_device *d, int64_t number)
{
    return &d->slot[number % d->slots].task;
}

static int in_flight(const pipe_device *d) { return d->kept && pipe_device_busy(d); }

/* In order: a device takes nothing that comes before what it has, as its own chunks leave in the
 * order in which they were begun. */
static int may_take(const pipeline *p, const pipe_device *d)
{
    if (!p->ordered || d->begun == d->retired) return 1;
    return pipe_task_compare(pipe_list_first(&p->left), task_of(d, d->begun - 1)) > 0;
}

static int has_work(const pipeline *p, const pipe_device *d)
{
    if (d->out) return 0;
    if (!d->listed && d->next < d->share.chunks) return 1;
    return p->left.count > 0 && has_a_say(p, d);
}

static double volume(const pipe_task *task)
{
    double size = 1;
    for (int i = 0; i < RT_AXES; i++) size *= (double)task->count[i];
    return size;
}

/* 1 if the journal had all of it: it counts as done. */
static int is_known(pipeline *p, const pipe_task *task)
{
    if (!rt_journal_covers(p->job->journal, task->first, task->count)) return 0;
    p->done += volume(task);
    return 1;
}

/* To the next chunk of its share that is to be computed. */
static void skip_known(pipeline *p, pipe_device *d)
{
    pipe_task task;
    for (; p->job->journal && d->next < d->share.chunks; d->next++) {
        rt_share_chunk(&d->share, p->job->op, d->next, task.first, task.count);
        if (!is_known(p, &task)) return;
    }
}

/* Work for a device: its next chunk, or a piece of what is left. */
static motet_status next_task(pipe_device *d, pipe_task *task, int *got)
{
    pipeline *p = d->pipe;
    pipe_turn *turn = p->job->turn;
    const int number = d->device->index;
    *got = 0;
    if (turn->over[number]) return MOTET_OK;
    if (!d->listed) {
        *got = d->next < d->share.chunks;
        if (*got) rt_share_chunk(&d->share, p->job->op, d->next++, task->first, task->count);
        if (*got) skip_known(p, d);
    }
    while (d->listed && !*got && has_work(p, d) && may_take(p, d)) {
        TRY(pipe_list_take(&p->left, d->share.cut.rows, task));
        *got = !is_known(p, task);
    }
    if (*got && rt_turn_over(&turn->turn, number)) turn->over[number] = turn->ending = 1;
    return MOTET_OK;
}

/* Devices come and go. */

static void note(pipeline *p, motet_status status)
{
    motet_error error;
    motet_context_error(p->job->context, &error);
    p->failure = status;
    memcpy(p->reason, error.message, sizeof p->reason - 1);
}

/* The device failed: what it has not brought back is left to do. Answers a status that ends the
 * run. */
static motet_status leave(pipeline *p, pipe_device *d, motet_status status)
{
    motet_context *c = p->job->context;
    note(p, status);
    const int64_t first = d->retired, end = d->kept ? d->begun : d->retired;
    int hung = status == MOTET_DEVICE_HUNG;
    d->out = 1;
    for (int64_t k = first; k < end; k++) TRY(pipe_list_add(&p->left, &d->slot[k % d->slots].task));
    if (!d->listed) TRY(leave_share(p, &d->share, d->next));
    hung = pipe_device_end(d, hung);
    if (status != MOTET_NO_MEMORY || hung) rt_device_lose(c, d->on, p->reason);
    d->pipe->changes++;
    TRY(rt_resident_lost(p->job->resident, d->on->device->index, status));
    log_warning(c, "device", "%s goes on without %s: %s", p->job->op->name, d->on->info.name,
                p->reason);
    rt_device_leave(c, d->on);
    p->job->left[d - p->device] = 1;
    return MOTET_OK;
}

static int goes_on(motet_status st) { return st == MOTET_DEVICE_LOST || st == MOTET_DEVICE_HUNG; }

/* Bytes of the host that nobody holds, for each device that holds none: staging, or the scratch of
 * the host's own workers, which is always there. */
static int64_t host_room(const pipeline *p)
{
    const pipe_job *job = p->job;
    int64_t room = job->options->host_memory - job->options->host_held - job->plan->private_bytes;
    int idle = 0;
    for (int i = 0; i < p->count; i++) {
        const pipe_device *d = &p->device[i];
        if (d->kept || d->device->host_visible)
            room -= d->share.staging_bytes;
        else
            idle += !d->out;
    }
    return room < 0 ? 0 : room / (idle ? idle : 1);
}

/* A plan for the whole operation on one device, of which any piece can be done. */
static motet_status plan_alone(pipeline *p, pipe_device *d)
{
    const pipe_job *job = p->job;
    rt_plan_options options = *job->options;
    options.weightings = 0;
    options.from_home = 1; /* parts that stay here are those of the share */
    rt_resident_leave(job->resident, d->on->device->index);
    if (!options.chunks_per_device) options.chunks_per_device = 4 * p->count;
    if (options.host_memory) {
        options.host_memory = options.host_held + job->plan->private_bytes + host_room(p);
        if (d->device->host_visible) options.host_memory += d->share.staging_bytes;
    }
    rt_plan plan;
    rt_plan_device device = job->devices[d - p->device];
    TRY(rt_hold_plan(job->context, job->op, &device, &job->index[d - p->device], 1, &options, &plan,
                     job->hold));
    p->held = 0;
    d->share = plan.share[0];
    return MOTET_OK;
}

/* Sets the device up for what is left to do. If its memory does not suffice for any part, it waits
 * for others to give back some, and takes no part when nobody holds any. */
static motet_status join(pipeline *p, pipe_device *d)
{
    if (d->refused == p->changes + 1) return MOTET_OK;
    const motet_status st = plan_alone(p, d);
    if (st != MOTET_OVER_BUDGET) {
        d->listed = st == MOTET_OK;
        return st;
    }
    d->refused = p->changes + 1;
    for (int i = 0; i < p->count; i++)
        if (p->device[i].kept) return MOTET_OK;
    note(p, st);
    d->out = 1;
    return MOTET_OK;
}

/* The device gets its memory before its first chunk, and gives it back after its last. One that has
 * no memory left for its chunks takes no part; whatever else fails, fails. */
static motet_status settle(pipeline *p, pipe_device *d, int *moved)
{
    const int work = has_work(p, d);
    if (d->kept) {
        if (d->state != PIPE_RUNNING || d->begun > d->retired) return MOTET_OK;
        if (work && (d->listed || d->next < d->share.chunks)) return MOTET_OK;
        *moved = 1;
        if (pipe_device_end(d, 0))
            return leave(p, d,
                         fail(p->job->context, MOTET_DEVICE_HUNG,
                              "%s did not end what it had begun", d->on->info.name));
        p->changes++;
    }
    if (!work || p->job->turn->ending) return MOTET_OK;
    if (!d->listed && d->next >= d->share.chunks) {
        TRY(join(p, d));
        if (!d->listed) return MOTET_OK;
    }
    *moved = 1;
    const motet_status st = pipe_device_begin(d);
    return goes_on(st) || st == MOTET_NO_MEMORY ? leave(p, d, st) : st;
}

motet_status pipe_return(pipeline *p)
{
    for (int i = 0; i < p->count; i++) {
        pipe_device *d = &p->device[i];
        if (d->out || !atomic_load(&d->on->lost)) continue;
        char reason[sizeof d->on->reason];
        rt_device_reason(p->job->context, d->on, reason);
        TRY(leave(p, d, fail(p->job->context, MOTET_DEVICE_LOST, "%s", reason)));
    }
    return MOTET_OK;
}

/* Steps. */

/* Something will happen on the device by itself. */
static int waits(const pipe_device *d)
{
    return in_flight(d) && (!d->ready || d->feeding || d->state != PIPE_RUNNING);
}

int pipe_busy(const pipeline *p, int device)
{
    for (int i = 0; i < p->count; i++)
        if (p->job->index[i] == device) return waits(&p->device[i]);
    return 0;
}

/* The chunk that comes before all others which are not done yet may leave; NULL: that one has not
 * begun. */
static const pipe_device *first_to_leave(const pipeline *p)
{
    const pipe_device *first = NULL;
    const pipe_task *task = pipe_list_first(&p->left);
    for (int i = 0; i < p->count; i++) {
        const pipe_device *d = &p->device[i];
        if (!d->kept || d->begun == d->retired) continue;
        const pipe_task *oldest = task_of(d, d->retired);
        if (task && pipe_task_compare(task, oldest) < 0) continue;
        task = oldest;
        first = d;
    }
    return first;
}

/* What waits in the slots for a piece that nobody has room for, or for the next turn, is given up
 * and listed again. That happens after a loss only. */
static motet_status give_up(pipeline *p, int *moved)
{
    for (int i = 0; i < p->count; i++)
        if (waits(&p->device[i])) return MOTET_OK;
    for (int i = 0; i < p->count; i++) {
        pipe_device *d = &p->device[i];
        if (!in_flight(d)) continue;
        for (int64_t k = d->retired; k < d->begun; k++) TRY(pipe_list_add(&p->left, task_of(d, k)));
        d->begun = d->retired;
        d->ready = 0;
        *moved = 1;
        p->changes++;
        if (pipe_device_end(d, 0))
            return leave(p, d,
                         fail(p->job->context, MOTET_DEVICE_HUNG,
                              "%s did not end what it had begun", d->on->info.name));
        if (!p->job->turn->ending) return MOTET_OK;
    }
    return MOTET_OK;
}

int pipe_at_rest(const pipeline *p)
{
    for (int i = 0; i < p->count; i++)
        if (in_flight(&p->device[i])) return 0;
    return 1;
}

int pipe_begun(const pipeline *p)
{
    for (int i = 0; i < p->count; i++)
        if (p->device[i].published || p->device[i].begun) return 1;
    return 0;
}

int pipe_handed_out(const pipeline *p)
{
    for (int i = 0; i < p->count; i++) {
        const pipe_device *d = &p->device[i];
        if (!d->out && !d->listed && d->next < d->share.chunks) return 0;
        if (d->kept && d->feeding) return 0;
    }
    return p->left.count == 0;
}

int pipe_over(const pipeline *p) { return pipe_handed_out(p) && pipe_at_rest(p); }

static int64_t rows_done(const pipeline *p)
{
    const int64_t extent = p->job->op->extent[0];
    const double rows = (double)extent * (p->done / p->elements);
    return rows < (double)extent ? (int64_t)rows : extent - 1; /* the end is told at the end */
}

static motet_status step(pipeline *p, pipe_device *d, int *moved)
{
    const int64_t before = d->retired;
    d->held_back = p->ordered && first_to_leave(p) != d;
    const int slot = d->slots ? (int)(d->retired % d->slots) : 0;
    const pipe_task oldest = d->slot[slot].task;
    const motet_status st = pipe_device_step(d, next_task, moved);
    if (d->retired > before) {
        p->done += volume(&oldest);
        rt_journal_add(p->job->journal, oldest.first, oldest.count);
    }
    if (d->retired > before || !d->held_back) d->ready = 0;
    if (st != MOTET_OK && d->begun > d->retired) {
        p->job->failed = d->at;
        p->job->failed_on = d->on->device->index;
    }
    if (!goes_on(st) || p->job->refused) return st;
    *moved = 1;
    return leave(p, d, st);
}

motet_status pipe_step(pipeline *p, int *moved)
{
    int remaining = 0, before = *moved;
    *moved = 0;
    TRY(log_phase_step(p->job->phase, rows_done(p)));
    for (int i = 0; i < p->count; i++) {
        pipe_device *d = &p->device[i];
        if (d->out) continue;
        TRY(settle(p, d, moved));
        if (d->kept) TRY(step(p, d, moved));
        remaining += !d->out;
    }
    if (!p->held) rt_hold_drawn(p->job->context, p->job->hold, INT64_MAX);
    p->held = 1;
    if (!remaining && p->left.count)
        return fail(p->job->context, p->failure, "%s: no device is left: %s", p->job->op->name,
                    p->reason);
    if (p->ordered && !*moved) TRY(give_up(p, moved));
    *moved |= before;
    return pipe_over(p) ? log_phase_step(p->job->phase, p->job->op->extent[0]) : MOTET_OK;
}

/* Beginning and end. */

motet_status pipe_begin(pipe_job *job, pipeline **out)
{
    motet_context *c = job->context;
    const rt_plan *plan = job->plan;
    const rt_weights *weights = rt_weights_for(job->options, job->op->name);
    pipeline *p = mem_zero(c, sizeof *p + (size_t)plan->devices * sizeof *p->device);
    if (!p) return fail(c, MOTET_NO_MEMORY, "%s: no memory for its books", job->op->name);
    p->job = job;
    p->count = plan->devices;
    p->ordered = rt_op_ordered(job->op);
    p->left = (pipe_list){.context = c, .name = job->op->name};
    p->elements = 1;
    for (int i = 0; i < job->op->axes; i++) p->elements *= (double)job->op->extent[i];
    for (int i = 0; i < plan->devices; i++) {
        pipe_device *d = &p->device[i];
        d->pipe = p;
        d->job = job;
        d->on = &c->devices->set[job->index[i]];
        d->device = d->on->device;
        d->share = plan->share[i];
        d->listed = plan->listed && d->share.rows > 0;
        d->weightless = (weights && !(weights->weight[i] > 0)) || (plan->listed && !d->listed);
        skip_known(p, d);
    }
    motet_status st = MOTET_OK;
    if (plan->listed) {
        pipe_task all = {{0}, {1, 1, 1}};
        for (int i = 0; i < job->op->axes; i++) all.count[i] = job->op->extent[i];
        st = pipe_list_add(&p->left, &all);
    }
    if (st == MOTET_OK) st = pipe_return(p); /* lost since it was planned */
    if (st == MOTET_OK)
        *out = p;
    else
        (void)pipe_end(p, st);
    return st;
}

motet_status pipe_end(pipeline *p, motet_status status)
{
    pipe_job *job = p->job;
    motet_context *c = job->context;
    motet_error error;
    if (status != MOTET_OK) motet_context_error(c, &error);
    for (int i = 0; i < p->count; i++) {
        pipe_device *d = &p->device[i];
        if (pipe_device_end(d, 0)) rt_device_lose(c, d->on, "it did not end what it had begun");
        job->chunks[i] = d->published;
    }
    pipe_list_free(&p->left);
    mem_free(c, p);
    if (status != MOTET_OK) /* polls of lost devices set their own */
        fail(c, status, "%s", error.message);
    return status;
}
