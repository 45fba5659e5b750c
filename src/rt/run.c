/* Running an operation: plan it, compute it, commit it.
 *
 * Written arrays get a private copy, and the copies are committed when everything has succeeded, so
 * a failure or a cancellation leaves the caller's arrays as they were. On one device that reaches
 * host memory kernels use these in place, with nothing in between. */
#include "rt/run.h"

#include <string.h>

#include "base/call.h"
#include "base/clock.h"
#include "base/context.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/report.h"
#include "rt/calibrate.h"
#include "rt/devices.h"
#include "rt/disk.h"
#include "rt/hold.h"
#include "rt/journal.h"
#include "rt/pipe_inside.h"
#include "rt/plan_record.h"
#include "rt/pool.h"
#include "rt/recover.h"
#include "rt/run_inside.h"

motet_status rt_launch(const rt_queue *queue, const k_kernel *kernel, const void *args,
                       int64_t items)
{
    if (items < 0)
        return fail(queue->context, MOTET_INTERNAL, "%s: launched with %lld items", kernel->name,
                    (long long)items);
    const dev_launch launch = {.kernel = kernel,
                               .args = args,
                               .items = items,
                               .batch = queue->batch,
                               .scratch = queue->scratch,
                               .access = queue->access,
                               .accesses = queue->accesses};
    TRY(queue->device->table->launch(queue->stream, &launch));
    *queue->items += items;
    return MOTET_OK;
}

/* The plan. */

/* Weights of the devices that remain, in their old proportion; of devices without weight alone,
 * each the same. */
static motet_status weigh(run *r, int remaining)
{
    const rt_run_options *o = r->options;
    rt_plan_options *p = &r->plan_options;
    const int count = r->context->devices->count;
    p->weights = o->weights ? o->weights : r->weights;
    p->weightings =
        o->weights ? o->weightings : rt_weights_of(r->context, r->weights, RT_WEIGHTINGS);
    if (r->declined) {
        p->weights = r->weights;
        p->weightings = rt_weights_fallback(r->context, r->weights);
    }
    if (remaining == count) return MOTET_OK;
    const rt_weights *meant = rt_weights_for(p, r->op->name);
    p->weightings = 0;
    if (!meant) return MOTET_OK;
    TRY(rt_weights_check(r->context, meant, count));
    rt_weights w = {.operation = meant->operation, .count = remaining};
    for (int i = 0; i < remaining; i++) {
        w.weight[i] = meant->weight[r->index[i]];
        if (w.weight[i] > 0) p->weightings = 1;
    }
    p->weights = r->weights;
    r->weights[0] = w;
    return MOTET_OK;
}

/* Of the devices that are not lost. */
static motet_status make_plan(run *r)
{
    motet_context *c = r->context;
    const rt_run_options *o = r->options;
    rt_plan_device all[RT_DEVICES];
    const int count = rt_plan_devices(c, all);
    int remaining = 0;
    for (int i = 0; i < count; i++) {
        if (!rt_device_use(c, &c->devices->set[i])) continue;
        r->devices[remaining] = all[i];
        if (o->budget) r->devices[remaining].budget = o->budget[i];
        r->index[remaining++] = i;
        r->users = remaining;
    }
    if (!remaining || rt_devices_ended(c))
        return fail(c, MOTET_DEVICE_LOST, "%s: no device is left, all are lost", r->op->name);
    r->plan_options = (rt_plan_options){.cut = o->cut,
                                        .shard_rows = o->shard_rows,
                                        .unpipelined = c->options.unpipelined,
                                        .chunks_per_device = c->options.chunks_per_device};
    TRY(weigh(r, remaining));
    if (rt_op_buffered(r->op)) r->plan_options.host_free = rt_host_free(c);
    const int64_t bound = mem_bound(c);
    if (bound < INT64_MAX) {
        r->hold.left = mem_left(c);
        r->plan_options.host_memory = bound;
        r->plan_options.host_held = bound - r->hold.left;
        if (remaining > 1 || !r->devices[0].host_visible || rt_op_buffered(r->op))
            r->plan_options.host_held += PIPE_BOOKS;
        r->plan_options.host_held += rt_disk_aside(r->op);
    }
    return rt_hold_plan(c, r->op, r->devices, r->index, remaining, &r->plan_options, &r->plan,
                        &r->hold);
}

static void leave_devices(run *r)
{
    for (int i = 0; i < r->users; i++)
        if (!r->left[i]) rt_device_leave(r->context, &r->context->devices->set[r->index[i]]);
    r->users = 0;
}

/* Memory. */

/* The arrays that the kernels see. */
static motet_status prepare_ports(run *r)
{
    const rt_op *op = r->op;
    for (int i = 0; i < RT_PORTS; i++) {
        const rt_port *p = &op->port[i];
        if (!p->array) continue;
        r->job.data[i] = p->array->data;
        if (!(r->plan.private_ports >> i & 1)) continue;
        r->private[i] = rt_pool_take_host(r->context, p->array->bytes, 0);
        if (!r->private[i])
            return fail(r->context, MOTET_NO_MEMORY,
                        "%s: no memory for the private copy of %s, %zu bytes", op->name, p->name,
                        p->array->bytes);
        r->job.data[i] = r->private[i];
        if ((p->access == RT_UPDATE || p->access == RT_ADD) && p->array->bytes)
            memcpy(r->private[i], p -> array -> data, p -> array -> bytes);
    }
    return MOTET_OK;
}

static void commit(run *r)
{
    for (int i = 0; i < RT_PORTS; i++) {
        const motet_array *a = r->op->port[i].array;
        if (r->private[i] && a->bytes && !a->residence) memcpy(a->data, r->private[i], a -> bytes);
    }
    rt_resident_commit(r->job.resident, r->private);
}

/* One operation. */

motet_status run_use(run *r, const rt_op *op)
{
    r->op = op;
    if (!rt_disk_used(op)) return MOTET_OK;
    TRY(rt_disk_bind(r->context, op, &r->bound));
    r->op = &r->bound;
    return rt_op_check(r->context, r->op);
}

/* There is no room on the devices, whatever others give back: 1, and the next plan is one for the
 * fallbacks. */
static int decline(run *r)
{
    motet_context *c = r->context;
    rt_weights unused;
    if (r->declined || !rt_weights_fallback(c, &unused)) return 0;
    motet_error error;
    motet_context_error(c, &error);
    log_warning(c, "device", "%s is left to the fallback: %s", r->op->name, error.message);
    return r->declined = 1;
}

motet_status run_plan(run *r, int wait)
{
    motet_context *c = r->context;
    r->start = clock_now(c);
    r->job = (pipe_job){.context = c, .op = r->op, .failed = -1, .left = r->left};
    for (;;) {
        const uint64_t seen = rt_hold_given(c);
        const motet_status st = make_plan(r);
        if (st == MOTET_OK) return st;
        leave_devices(r);
        if (st == MOTET_OVER_BUDGET && !r->hold.behind &&
            (rt_pool_trim_devices(c) || rt_parts_spill(c)))
            continue;
        if (st == MOTET_OVER_BUDGET && !r->hold.shared && decline(r)) continue;
        if (!wait || st != MOTET_OVER_BUDGET || !r->hold.shared) return run_end(r, st);
        TRY(rt_hold_wait(c, &r->hold, seen, &r->phase));
    }
}

/* Bytes that the host may hold while this goes on. */
static int64_t most_of_host(motet_context *c)
{
    motet_memory memory;
    motet_context_memory(c, &memory);
    return (int64_t)memory.now + rt_hold_promised(c) + PIPE_BOOKS;
}

motet_status run_begin(run *r, pipe_turn *turn)
{
    motet_context *c = r->context;
    motet_status st = report_operation_begin(c, r->op->name);
    if (st == MOTET_OK) st = rt_plan_record(c, r->op, &r->plan, r->index, most_of_host(c));
    if (st == MOTET_OK && r->plan.chunks == 0) return MOTET_OK;
    r->job.plan = &r->plan;
    r->job.devices = r->devices;
    r->job.options = &r->plan_options;
    r->job.hold = &r->hold;
    r->job.index = r->index;
    r->job.phase = &r->phase;
    r->job.turn = turn;
    r->job.verify = r->options->verify > 0 ? r->options->verify : c->options.verify_fraction;
    r->job.test = r->options->test;
    if (st == MOTET_OK) st = rt_resident_begin(c, r->op, &r->plan, r->index, &r->job.resident);
    if (st == MOTET_OK) st = prepare_ports(r);
    if (st == MOTET_OK) st = rt_journal_begin(c, r->op, r->job.data, &r->job.journal);
    rt_hold_drawn(c, &r->hold, r->plan.private_bytes);
    if (st == MOTET_OK) st = pipe_begin(&r->job, &r->pipe);
    return st == MOTET_OK ? st : run_end(r, st);
}

static void tell_times(const run *r, rt_run_times *out)
{
    const rt_op *op = r->op;
    memset(out, 0, sizeof *out);
    double row = 1; /* elements of the box in it */
    for (int i = 0; i < op->axes; i++)
        if (i != r->plan.share[0].axis) row *= (double)op->extent[i];
    for (int i = 0; i < r->plan.devices; i++) {
        out->seconds[r->index[i]] = (double)r->job.nanoseconds[i] * 1e-9;
        out->rows[r->index[i]] = row > 0 ? (int64_t)(r->job.elements[i] / row + 0.5) : 0;
    }
}

motet_status run_end(run *r, motet_status st)
{
    motet_context *c = r->context;
    if (r->pipe) st = pipe_end(r->pipe, st);
    r->pipe = NULL;
    if (st == MOTET_OK) commit(r);
    rt_resident_end(r->job.resident);
    r->job.resident = NULL;
    rt_journal_end(r->job.journal);
    r->job.journal = NULL;
    for (int i = 0; i < RT_PORTS; i++) {
        if (r->private[i]) rt_pool_give_host(c, r->private[i], r -> op -> port[i].array->bytes);
        r->private[i] = NULL;
    }
    leave_devices(r);
    rt_hold_end(c, &r->hold);
    if (st != MOTET_OK) {
        /* Last: a lost device has more to say while it is drained. */
        if (r->job.failed >= 0) fail_where(c, st, r->job.failed_on, r->job.failed);
        return st;
    }
    int64_t chunks = 0;
    for (int i = 0; i < r->plan.devices; i++) {
        chunks += r->job.chunks[i];
        atomic_fetch_add(&c->devices->set[r->index[i]].chunks, r->job.chunks[i]);
        atomic_fetch_add(&c->devices->set[r->index[i]].verified, r->job.verified[i]);
    }
    rt_run_times times;
    tell_times(r, &times);
    if (r->options->times) *r->options->times = times;
    if (!r->options->weights && chunks) rt_drift_note(c, r->op, times.seconds, times.rows);
    report_operation_add(c, r->op->name, chunks, r->job.items, clock_seconds_since(c, r->start));
    return MOTET_OK;
}

void run_tell(const rt_op *op, motet_status status)
{
    for (int i = 0; i < RT_PORTS; i++) {
        const rt_sink *s = op->port[i].array ? op->port[i].sink : NULL;
        if (s && s->end) s->end(status, s->user);
    }
}

static motet_status go(run *r, flow *f)
{
    motet_status st = flow_begin(f, r, 1);
    if (st == MOTET_OK) {
        f->run[0] = r;
        while (st == MOTET_OK && r->pipe && !pipe_over(r->pipe)) st = flow_step(f);
        st = run_end(r, st);
    }
    flow_end(f);
    return st;
}

motet_status rt_run_with(motet_context *c, const rt_op *op, const rt_run_options *options)
{
    TRY(rt_op_check(c, op));
    call one;
    call_begin(c, &one); /* engines compute in enqueue */
    rt_recover(c);
    run r = {
        .context = c, .options = options, .phase = log_phase_begin(c, op->name, op->extent[0])};
    flow f = {.context = c};
    motet_status st = run_use(&r, op);
    if (st == MOTET_OK) st = go(&r, &f);
    run_tell(op, st); /* sinks on disk need not be told */
    return call_end(&one, st);
}

motet_status rt_run_cut(motet_context *c, const rt_op *op, const rt_cut *cut)
{
    const rt_run_options options = {.cut = *cut};
    return rt_run_with(c, op, &options);
}

rt_run_options rt_run_defaults(const motet_context *c)
{
    const int64_t chunk = c->options.chunk;
    return (rt_run_options){.cut = {{chunk}, chunk}}; /* so that the option tries every cut */
}

motet_status rt_run(motet_context *c, const rt_op *op)
{
    const rt_run_options options = rt_run_defaults(c);
    return rt_run_with(c, op, &options);
}
