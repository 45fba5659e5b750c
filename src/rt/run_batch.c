/* Several operations in a row. While the last chunks of one are under way the next one begins, so
 * that devices do not run dry between them; its bytes are planned beside those that are held. */
#include "base/call.h"
#include "base/context.h"
#include "rt/disk.h"
#include "rt/recover.h"
#include "rt/run_inside.h"

enum { ALONE = 1, FAILED };

typedef struct batch {
    motet_context *context;
    const rt_op *ops;
    int64_t count;
    const rt_run_options *options;
    rt_done_fn *done;
    void *user;

    flow flow;       /* run[0]: the first item that is not reported; run[1]: the one after it */
    log_phase phase; /* of the whole, to see a cancellation between two items */
    int64_t reported;
    int ahead;         /* 0: the second item may begin beside the first; else not */
    motet_error error; /* it has failed, with this */
    run slot[2];
} batch;

static void report(batch *b, motet_status status)
{
    run_tell(&b->ops[b->reported], status);
    if (b->done) b->done(b->reported, status, b->user);
    b->reported++;
}

/* The whole batch: cancelled, or its job's deadline has passed. */
static int stopped(motet_status status)
{
    return motet_status_class_of(status) == MOTET_CLASS_CANCELLED;
}

static int nobody_left(const batch *b)
{
    const rt_devices *all = b->context->devices;
    for (int i = 0; i < all->count; i++)
        if (!atomic_load(&all->set[i].lost)) return 0;
    return 1;
}

/* What one writes the other must not see half done, nor may arrays on devices, sources and sinks
 * serve two; and what a sink was given cannot be taken back. */
static int depend(const rt_op *a, const rt_op *b)
{
    if (rt_op_ordered(b) || rt_disk_used(a) || rt_disk_used(b)) return 1;
    for (int i = 0; i < RT_PORTS; i++)
        for (int j = 0; j < RT_PORTS; j++) {
            const rt_port *p = &a->port[i], *q = &b->port[j];
            if (!p->array || !q->array) continue;
            if (p->source || q->source || p->array->residence || q->array->residence) return 1;
            if ((p->access != RT_READ || q->access != RT_READ) && rt_ports_overlap(p, q)) return 1;
        }
    return 0;
}

static motet_status begin(batch *b, int64_t item, int wait, run **out)
{
    run *r = &b->slot[item % 2];
    const rt_op *op = &b->ops[item];
    *r = (run){.context = b->context,
               .options = b->options,
               .phase = log_phase_begin(b->context, op->name, op->extent[0])};
    TRY(run_use(r, op));
    TRY(flow_begin(&b->flow, r, wait));
    *out = r;
    return MOTET_OK;
}

/* The first item that is not reported. What does not fit beside what other runs hold is waited for
 * without a turn. */
static motet_status begin_first(batch *b)
{
    flow *f = &b->flow;
    TRY(log_phase_look(&b->phase));
    motet_status st = MOTET_OVER_BUDGET;
    if (f->turn.turn.context) st = begin(b, b->reported, 0, &f->run[0]);
    if (st != MOTET_OVER_BUDGET) return st;
    flow_end(f);
    return begin(b, b->reported, 1, &f->run[0]);
}

/* The second item failed beside the first. For want of memory: then it is tried alone. */
static void ahead_failed(batch *b, motet_status status)
{
    b->flow.run[1] = NULL;
    b->ahead = status == MOTET_OVER_BUDGET || status == MOTET_NO_MEMORY ? ALONE : FAILED;
    motet_context_error(b->context, &b->error);
    b->error.status = status;
}

/* The item after the first, if there is room for both and they have nothing to do with each other.
 */
static void begin_ahead(batch *b)
{
    flow *f = &b->flow;
    const int64_t item = b->reported + 1;
    if (f->run[1] || b->ahead || item >= b->count || f->turn.ending) return;
    if (depend(&b->ops[b->reported], &b->ops[item])) return;
    const motet_status st = begin(b, item, 0, &f->run[1]);
    if (st != MOTET_OK) ahead_failed(b, st);
}

static int is_over(const run *r) { return !r->pipe || pipe_over(r->pipe); }

static motet_status step(batch *b)
{
    flow *f = &b->flow;
    const motet_status st = flow_step(f);
    if (st == MOTET_OK || f->failed == 0) return st;
    ahead_failed(b, run_end(f->run[1], st));
    return stopped(st) ? st : MOTET_OK;
}

/* The first item, until it is over and the next one has something on the devices. */
static motet_status go_on(batch *b)
{
    run *r = b->flow.run[0];
    while (!is_over(r)) {
        if (pipe_handed_out(r->pipe)) begin_ahead(b);
        TRY(step(b));
    }
    begin_ahead(b);
    const flow *f = &b->flow;
    while (f->run[1] && !is_over(f->run[1]) && !pipe_begun(f->run[1]->pipe) && !f->turn.ending)
        TRY(step(b));
    return MOTET_OK;
}

static motet_status next_item(batch *b)
{
    flow *f = &b->flow;
    motet_status st = MOTET_OK;
    if (b->ahead == FAILED) {
        st = b->error.status;
        fail(b->context, st, "%s", b->error.message);
    } else if (!f->run[0]) {
        st = begin_first(b);
    }
    b->ahead = 0;
    if (f->run[0]) st = run_end(f->run[0], go_on(b));
    f->run[0] = f->run[1];
    f->run[1] = NULL;
    return st;
}

static motet_status go(batch *b)
{
    motet_status st = MOTET_OK;
    while (b->reported < b->count && !stopped(st) && !nobody_left(b)) {
        st = next_item(b);
        if (st == MOTET_OK || (!stopped(st) && !nobody_left(b))) report(b, st);
    }
    if (b->reported < b->count && !stopped(st))
        st = fail(b->context, MOTET_DECLINED, "%s: no device is left for item %lld of %lld",
                  b->ops[b->reported].name, (long long)b->reported, (long long)b->count);
    if (b->flow.run[0]) (void)run_end(b->flow.run[0], st); /* it is not done */
    flow_end(&b->flow);
    if (b->reported == b->count) return MOTET_OK;
    while (b->reported < b->count) report(b, st);
    return st;
}

motet_status rt_run_batch(motet_context *c, const rt_op *ops, int64_t count,
                          const rt_run_options *options, rt_done_fn *done, void *user)
{
    if (count < 0)
        return fail(c, MOTET_BAD_ARGUMENT, "a batch of %lld operations, expected at least 0",
                    (long long)count);
    for (int64_t i = 0; i < count; i++) TRY(rt_op_check(c, &ops[i]));
    const rt_run_options defaults = rt_run_defaults(c);
    call one;
    call_begin(c, &one); /* engines compute in enqueue */
    batch b = {.context = c,
               .ops = ops,
               .count = count,
               .options = options ? options : &defaults,
               .done = done,
               .user = user,
               .flow = {.context = c},
               .phase = log_phase_begin(c, "batch", count)};
    rt_recover(c);
    return call_end(&one, go(&b));
}
