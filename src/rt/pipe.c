/* Who does what. Each device works on its share; what a device could not finish (it was lost, it
 * hangs, it had no memory) goes to a list. A device that has done its share takes from the list at
 * once, while others still work: for that it is set up anew for the whole operation, as any part
 * may fall to it, in host memory that nobody holds.
 *
 * Where results go to a sink all of the work is such a list from the beginning, and a chunk leaves
 * its slot only when all that come before it have: the slots are the reorder buffer. */
#include "rt/pipe.h"

#include <string.h>

#include "base/clock.h"
#include "base/context.h"
#include "base/mem.h"
#include "kern/digest.h"
#include "rt/pipe_work.h"
#include "rt/plan_record.h"
#include "rt/pool.h"

enum { FETCH_DOZE = 1000000 }; /* nanoseconds: devices may be done before what is read */

static int in_flight(const pipe_device *d) { return d->kept && pipe_device_busy(d); }

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
    for (int64_t k = first; k < end; k++) TRY(pipe_work_return(p, pipe_task_of(d, k)));
    if (!d->listed) TRY(pipe_work_leave(p, d));
    hung = pipe_device_end(d, hung);
    if (status != MOTET_NO_MEMORY || hung) rt_device_lose(c, d->on, p->reason);
    d->pipe->changes++;
    TRY(rt_resident_lost(p->job->resident, d->on->device->index, status));
    rt_device_leave(c, d->on);
    p->job->left[d - p->device] = 1;
    if (rt_devices_ended(c)) return fail(c, MOTET_DEVICE_LOST, "%s", p->reason);
    log_warning(c, "device", "%s goes on without %s: %s", p->job->op->name, d->on->info.name,
                rt_device_words(d->on, p->reason));
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
    rt_op op = *job->op;
    d->apart = p->verify > 0;
    for (int i = 0; i < RT_PORTS && d->apart; i++) op.port[i].apart = op.port[i].access != RT_READ;
    rt_plan_options options = *job->options;
    options.weightings = 0;
    job->hold->left = 0;   /* the host's bytes are counted from when the run began */
    options.from_home = 1; /* parts that stay here are those of the share */
    TRY(rt_resident_home(job->resident, d->on->device->index));
    rt_pool_flush_device(job->context, d->on); /* else it would hold the share's memory as well */
    if (!options.chunks_per_device) options.chunks_per_device = 4 * p->count;
    if (options.host_memory) {
        options.host_memory = options.host_held + job->plan->private_bytes + host_room(p);
        if (d->device->host_visible) options.host_memory += d->share.staging_bytes;
    }
    rt_plan plan;
    rt_plan_device device = job->devices[d - p->device];
    const int *index = &job->index[d - p->device];
    const rt_cut asked = options.cut;
    pipe_work_again_rows(p, options.cut.rows);
    motet_status st =
        rt_hold_plan(job->context, &op, &device, index, 1, &options, &plan, job->hold);
    if (st == MOTET_OVER_BUDGET && memcmp(&asked, &options.cut, sizeof asked)) {
        options.cut = asked;
        device = job->devices[d - p->device];
        st = rt_hold_plan(job->context, &op, &device, index, 1, &options, &plan, job->hold);
    }
    TRY(st);
    p->held = 0;
    d->share = plan.share[0];
    rt_plan_record_more(job->context, d->device->index, d->share.peak_bytes);
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
    const int work = pipe_work_for(p, d);
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
    const int64_t now = clock_now(p->job->context);
    const motet_status st = pipe_device_begin(d);
    d->idle = now;
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

int pipe_fetches(const pipeline *p)
{
    for (int i = 0; i < p->count; i++)
        if (p->device[i].kept && p->device[i].fetching) return 1;
    return 0;
}

void pipe_doze(pipeline *p) { rt_fetch_doze(p->reader, FETCH_DOZE); }

/* The chunk that comes before all others which are not done yet may leave; NULL: that one has not
 * begun. */
static const pipe_device *first_to_leave(const pipeline *p)
{
    const pipe_device *first = NULL;
    const pipe_task *task = pipe_list_first(&p->left);
    for (int i = 0; i < p->count; i++) {
        const pipe_device *d = &p->device[i];
        if (!d->kept || d->begun == d->retired) continue;
        const pipe_task *oldest = pipe_task_of(d, d->retired);
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
        for (int64_t k = d->retired; k < d->begun; k++)
            TRY(pipe_work_return(p, pipe_task_of(d, k)));
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

int pipe_handed_out(const pipeline *p) { return pipe_work_none(p); }

int pipe_over(const pipeline *p) { return pipe_handed_out(p) && pipe_at_rest(p); }

/* Of chunks that are under way and long: what is behind the blocks that may be in flight. */
static double partly_done(const pipeline *p)
{
    double done = 0;
    for (int i = 0; i < p->count; i++) {
        const pipe_device *d = &p->device[i];
        for (int64_t k = d->retired; d->kept && d->share.blocks > RT_SLOTS && k < d->begun; k++) {
            const pipe_task *task = pipe_task_of(d, k);
            const int64_t fed = d->feeding && k == d->begun - 1 ? d->block : d->share.blocks;
            double part = (double)(fed > RT_SLOTS ? fed - RT_SLOTS : 0) / (double)d->share.blocks;
            for (int j = 0; j < RT_AXES; j++) part *= (double)task->count[j];
            done += task->by ? 0 : part;
        }
    }
    return done;
}

static int64_t rows_done(const pipeline *p)
{
    const int64_t extent = p->job->op->extent[0];
    const double done = p->done + partly_done(p);
    const double rows = (double)extent * (done / p->elements);
    return rows < (double)extent ? (int64_t)rows : extent - 1; /* the end is told at the end */
}

static motet_status step(pipeline *p, pipe_device *d, int *moved)
{
    const int64_t before = d->retired;
    d->held_back = p->ordered && first_to_leave(p) != d;
    pipe_slot oldest = {.began = 0};
    if (d->begun > d->retired) oldest = d->slot[d->retired % d->slots];
    const motet_status st = pipe_device_step(d, pipe_work_next, moved);
    if (d->retired > before) {
        /* The first one's time is that of all that was sent before it, too. */
        const int64_t from = d->retired > 1 && oldest.began > d->idle ? oldest.began : d->idle;
        d->idle = clock_now(p->job->context);
        if (!oldest.task.by) p->job->nanoseconds[d - p->device] += d->idle - from;
        TRY(pipe_work_done(p, d, &oldest.task));
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
    if (!p->held && !p->job->turn->ending) { /* else some take their memory in the next turn */
        rt_hold_drawn(p->job->context, p->job->hold, INT64_MAX);
        p->held = 1;
    }
    if (!remaining && !pipe_over(p))
        return fail(p->job->context, p->failure, "%s: no device is left: %s", p->job->op->name,
                    p->reason);
    if (p->ordered && !*moved) TRY(give_up(p, moved));
    *moved |= before;
    return pipe_over(p) ? log_phase_step(p->job->phase, p->job->op->extent[0]) : MOTET_OK;
}

/* Beginning and end. */

/* Results that are in an array on the host can be compared with others. */
static int can_verify(const pipe_job *job)
{
    int ragged = 0;
    for (int i = 0; i < RT_PORTS; i++) ragged |= job->op->port[i].array && job->op->port[i].offset;
    for (int i = 0; i < RT_PORTS; i++) {
        const rt_port *p = &job->op->port[i];
        if (!p->array || p->access == RT_READ) continue;
        if (p->sink || p->array->residence) return 0;
        if (p->access == RT_ADD && ragged) return 0; /* no other windows than those of the share */
        if (p->access == RT_UPDATE && job->data[i] == p->array->data) return 0; /* it is gone */
    }
    return 1;
}

static int reads_apart(const rt_op *op)
{
    for (int i = 0; i < RT_PORTS; i++)
        if (op->port[i].array && op->port[i].source && op->port[i].source->apart) return 1;
    return 0;
}

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
    p->verify = can_verify(job) ? job->verify : 0;
    for (int i = 0; i < RT_PORTS; i++)
        p->adds |= job->op->port[i].array && job->op->port[i].access == RT_ADD;
    p->name = digest_bytes(job->op->name, strlen(job->op->name)).low;
    p->again = (pipe_list){.context = c, .name = job->op->name};
    p->left = (pipe_list){.context = c, .name = job->op->name};
    if (reads_apart(job->op)) p->reader = rt_fetch_open(c);
    p->elements = 1;
    for (int i = 0; i < job->op->axes; i++) p->elements *= (double)job->op->extent[i];
    for (int i = 0; i < plan->devices; i++) {
        pipe_device *d = &p->device[i];
        d->pipe = p;
        d->job = job;
        d->on = &c->devices->set[job->index[i]];
        d->device = d->on->device;
        d->reader = p->reader;
        d->share = plan->share[i];
        d->listed = plan->listed && d->share.rows > 0;
        d->weightless = (weights && !(weights->weight[i] > 0)) || (plan->listed && !d->listed);
    }
    motet_status st = pipe_work_begin(p);
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
        job->chunks[i] = d->published - d->verified;
        job->verified[i] = d->verified;
    }
    rt_fetch_close(p->reader);
    pipe_list_free(&p->left);
    pipe_list_free(&p->again);
    mem_free(c, p);
    if (status != MOTET_OK) /* polls of lost devices set their own */
        fail(c, status, "%s", error.message);
    return status;
}
