/* Stepping runs until they are over. A thread holds all devices in its turn, which ends when each
 * has had its two chunks and somebody waits; then what is in flight comes back first. */
#include <string.h>

#include "base/context.h"
#include "rt/devices.h"
#include "rt/run_inside.h"

static const int64_t doze_longest = 20000000; /* nanoseconds: how late a cancellation is seen */
static const int64_t doze_short = 1000000;    /* while other devices work, too */

static int busy(const flow *f, int device)
{
    for (int i = 0; i < 2; i++)
        if (f->run[i] && f->run[i]->pipe && pipe_busy(f->run[i]->pipe, device)) return 1;
    return 0;
}

static void doze(flow *f, const uint64_t *seen)
{
    const rt_devices *all = f->context->devices;
    int count = 0, chosen = -1;
    for (int i = 0; i < 2; i++)
        if (f->run[i] && f->run[i]->pipe && pipe_fetches(f->run[i]->pipe)) {
            pipe_doze(f->run[i]->pipe);
            return;
        }
    for (int i = 0; i < all->count; i++) count += busy(f, i);
    for (int i = 0; i < all->count && chosen < 0; i++) {
        f->dozer = (f->dozer + 1) % all->count;
        if (busy(f, f->dozer)) chosen = f->dozer;
    }
    if (chosen < 0) return;
    dev *device = all->set[chosen].device;
    device->table->doze(device, seen[chosen], count > 1 ? doze_short : doze_longest);
}

motet_status flow_begin(flow *f, run *r, int wait)
{
    for (;;) {
        TRY(run_plan(r, wait));
        motet_status st = wait ? rt_turn_take(f->context, &f->turn.turn, &r->phase) : MOTET_OK;
        if (st != MOTET_OK) return run_end(r, st);
        st = run_begin(r, &f->turn);
        if (st != MOTET_BUSY) return st;
        if (wait) flow_end(f);
    }
}

static void go_on(flow *f)
{
    memset(f->turn.over, 0, sizeof f->turn.over);
    f->turn.ending = 0;
}

/* Somebody waits and all is back: they have their turn, then this run goes on without the devices
 * that they lost. */
static motet_status change_turns(flow *f)
{
    for (int i = 0; i < 2; i++)
        if (f->run[i] && f->run[i]->pipe && !pipe_at_rest(f->run[i]->pipe)) return MOTET_OK;
    go_on(f);
    f->failed = 0;
    TRY(rt_turn_pass(&f->turn.turn, &f->run[0]->phase));
    for (; f->failed < 2; f->failed++) {
        run *r = f->run[f->failed];
        if (r && r->pipe) TRY(pipe_return(r->pipe));
    }
    return MOTET_OK;
}

motet_status flow_step(flow *f)
{
    const rt_devices *all = f->context->devices;
    uint64_t seen[RT_DEVICES] = {0};
    int moved = 0;
    if (f->turn.ending && !rt_turn_wanted(&f->turn.turn)) go_on(f); /* who waited was cancelled */
    for (int i = 0; i < all->count; i++)
        if (busy(f, i)) seen[i] = all->set[i].device->table->progress(all->set[i].device);
    for (f->failed = 0; f->failed < 2; f->failed++) {
        run *r = f->run[f->failed];
        if (r && r->pipe && !pipe_over(r->pipe)) TRY(pipe_step(r->pipe, &moved));
    }
    const run *first = f->run[0]; /* when it is over, its caller's turn comes first */
    if (f->turn.ending && first->pipe && !pipe_over(first->pipe)) TRY(change_turns(f));
    if (!moved) doze(f, seen);
    return MOTET_OK;
}

void flow_end(flow *f) { rt_turn_give(&f->turn.turn); }
