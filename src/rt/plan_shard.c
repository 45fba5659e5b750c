/* Who gets which rows: weights, and contiguous shares with bounds at
 * floor(total * cumulative / sum), moved to the nearest grain. */
#include <string.h>

#include "rt/plan_inside.h"
#include "rt/weights.h"

__extension__ typedef unsigned __int128 wide;

/* The first axis with a grain for each device that has a weight, or the one with most. */
static int shared_axis(const rt_op *op, const rt_weights *w, int devices)
{
    int needed = 0, best = 0;
    int64_t most = 0;
    for (int i = 0; i < devices; i++) needed += !w || w->weight[i] > 0;
    for (int i = 0; i < op->axes; i++) {
        const int64_t grains = plan_pieces(op->extent[i], op->grain[i] < 1 ? 1 : op->grain[i]);
        if (grains >= needed) return i;
        if (grains > most) {
            most = grains;
            best = i;
        }
    }
    return best;
}

/* Length of the key if it means the operation, -1 if it does not. */
static int matches(const char *key, const char *operation)
{
    if (!key) return 0;
    const size_t n = strlen(key);
    if (strncmp(key, operation, n)) return -1;
    return operation[n] && !strchr(".:_", operation[n]) ? -1 : (int)n;
}

const rt_weights *rt_weights_for(const rt_plan_options *o, const char *operation)
{
    const rt_weights *best = NULL;
    int length = -1;
    for (int i = 0; i < o->weightings; i++) {
        const int n = matches(o->weights[i].operation, operation);
        if (n <= length) continue;
        best = &o->weights[i];
        length = n;
    }
    return best;
}

/* Weights as whole numbers relative to the largest, so that the split does not depend on their
 * scale. Their rounding, and the caller's, must not push a bound that is a whole number below it: a
 * few units are added to each, far less than a row. */
static void bounds_of(const rt_weights *w, int devices, int64_t rows, int64_t grain,
                      int64_t bound[RT_DEVICES + 1])
{
    uint64_t share[RT_DEVICES], sum = 0, before = 0;
    double most = 0;
    for (int i = 0; w && i < devices; i++)
        if (w->weight[i] > most) most = w->weight[i];
    for (int i = 0; i < devices; i++) {
        const double part = w ? w->weight[i] / most : 1;
        share[i] = (uint64_t)(part * 0x1p46 + 0.5);
        if (part > 0 && !share[i]) share[i] = 1;
        sum += share[i];
    }
    int last = devices - 1;
    while (last > 0 && !share[last]) last--;
    bound[0] = 0;
    for (int i = 0; i < devices; i++) {
        before += share[i];
        int64_t at = (int64_t)((wide)rows * (before + 8 * RT_DEVICES) / sum);
        if (at > rows) at = rows;
        const int64_t beyond = at % grain;
        at = beyond < grain - beyond      ? at - beyond
             : rows - at > grain - beyond ? at + (grain - beyond)
                                          : rows;
        if (before == 0) at = 0;
        bound[i + 1] = i >= last ? rows : at;
    }
}

static void give_all(rt_plan *plan, int device, int64_t rows)
{
    for (int i = 0; i < plan->devices; i++) {
        plan->share[i].first = i <= device ? 0 : rows;
        plan->share[i].rows = i == device ? rows : 0;
    }
}

/* Rows that are worth another device: more, when a row is wide and so dear to move. */
static int64_t floor_of(const rt_op *op, const rt_plan_options *o, int64_t row_bytes)
{
    const int64_t rows = o->shard_rows ? o->shard_rows : op->shard_rows;
    if (rows < 1) return 1;
    const int64_t width = row_bytes > 100 ? row_bytes : 100;
    const wide product = (wide)rows * (wide)width;
    const wide least = product / 100 + (product % 100 != 0);
    return least > INT64_MAX ? INT64_MAX : (int64_t)least;
}

motet_status plan_shares(motet_context *c, const rt_op *op, const rt_plan_device *devices,
                         int count, const rt_plan_options *o, rt_plan *plan)
{
    for (int i = 0; i < o->weightings; i++) TRY(rt_weights_check(c, &o->weights[i], count));
    const rt_weights *w = rt_weights_for(o, op->name);
    const int axis = shared_axis(op, w, count);
    const int64_t rows = op->extent[axis];
    const int64_t grain = op->grain[axis] < 1 ? 1 : op->grain[axis];
    plan->row_bytes = plan_row_bytes(op, axis);
    int64_t bound[RT_DEVICES + 1];
    bounds_of(w, count, rows, grain, bound);
    int busy = 0, master = -1, budgets = 0, viable = 1;
    const int64_t least = floor_of(op, o, plan->row_bytes);
    for (int i = 0; i < count; i++) {
        plan->share[i].axis = axis;
        plan->share[i].first = bound[i];
        plan->share[i].rows = bound[i + 1] - bound[i];
        budgets |= devices[i].budget > 0;
        if (master < 0 && (!w || w->weight[i] > 0)) master = i;
        if (!plan->share[i].rows) continue;
        busy++;
        if (i != master && plan->share[i].rows < least) viable = 0;
    }
    if (o->cut.rows[0] > 0 || budgets) {
        plan->mode = RT_CHUNKED;
    } else if (busy < 2 || !viable) {
        plan->mode = RT_SINGLE;
        if (busy > 1) give_all(plan, master, rows);
    } else {
        plan->mode = o->unpipelined ? RT_SHARDED : RT_PIPELINED;
    }
    plan->listed = rt_op_ordered(op);
    for (int i = 0; i < count && plan->listed; i++)
        if (plan->share[i].rows) plan->share[i].first = 0, plan->share[i].rows = rows;
    return MOTET_OK;
}
