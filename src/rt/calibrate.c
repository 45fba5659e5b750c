/* The trials. Each is a run of the operation with weights of its own, which win over those of the
 * context and ignore the smallest share worth a device. So there is nothing to restore, whatever
 * fails. Weightings are measured by turns: what disturbs the machine for a while disturbs all. */
#include "rt/calibrate.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/context.h"
#include "base/log.h"
#include "base/mem.h"

static const double shares[RT_LADDER] = {1, 0.5, 0.25, 0.1, 0};
static const char does_not_fit[] = "it does not fit";

typedef struct calibration {
    motet_context *context;
    rt_op op;
    char name[RT_WEIGHTS_NAME + 16];
    const rt_op *given;
    motet_array *output[RT_PORTS]; /* private */
    rt_calibration record;
    rt_plan_device device[RT_DEVICES]; /* that take part */
    int index[RT_DEVICES], devices;
    log_phase phase;
    int64_t runs;
} calibration;

void motet_calibrate_options_init(motet_calibrate_options *options)
{
    *options = (motet_calibrate_options){.size = sizeof *options, .warm_up = 1, .repeats = 3};
}

/* Pure parts. */

void rt_weights_scale(double *weights, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++) sum += weights[i];
    for (int i = 0; i < count; i++) weights[i] *= (double)count / sum;
}

int rt_ladder_choose(const rt_trial *trial, int trials)
{
    double best = 0;
    for (int i = 0; i < trials; i++)
        if (trial[i].seconds > 0 && (best <= 0 || trial[i].seconds < best)) best = trial[i].seconds;
    for (int i = 0; i < trials; i++) /* the shares descend */
        if (trial[i].seconds > 0 && trial[i].seconds <= RT_NEAR * best) return i;
    return -1;
}

/* In a straight line from the former weights, as far as no step is too large. */
int rt_weights_bound(double *weights, const double *former, int count)
{
    double part = 1;
    for (int i = 0; i < count; i++) {
        const double from = former[i], to = weights[i];
        if (!(from > 0 && to > 0)) continue;
        double most = 1;
        if (to > RT_STEP * from) most = (RT_STEP - 1) * from / (to - from);
        if (to < from / RT_STEP) most = (1 - 1 / RT_STEP) * from / (from - to);
        if (most < part) part = most;
    }
    if (part >= 1) return 0;
    for (int i = 0; i < count; i++) weights[i] = former[i] + part * (weights[i] - former[i]);
    return 1;
}

/* Setting up. */

static motet_status check(motet_context *c, const rt_op *op, const motet_calibrate_options *o)
{
    if (o->size != sizeof *o)
        return fail(c, MOTET_BAD_ARGUMENT,
                    "calibrate: size is %u, expected what motet_calibrate_options_init sets",
                    (unsigned)o->size);
    if (o->warm_up < 0)
        return fail(c, MOTET_BAD_ARGUMENT, "calibrate: warm_up is %d, expected at least 0",
                    o->warm_up);
    if (o->repeats < 1)
        return fail(c, MOTET_BAD_ARGUMENT, "calibrate: repeats is %d, expected at least 1",
                    o->repeats);
    if (!*op->name || strlen(op->name) >= RT_WEIGHTS_NAME)
        return fail(c, MOTET_BAD_ARGUMENT,
                    "calibrate: the operation's name is \"%.80s\", expected 1 to %d characters",
                    op->name, RT_WEIGHTS_NAME - 1);
    TRY(rt_op_check(c, op));
    for (int i = 0; i < op->axes; i++)
        if (op->extent[i] == 0)
            return fail(c, MOTET_BAD_ARGUMENT,
                        "calibrate: %s has 0 rows along axis %d, expected some", op->name, i);
    return MOTET_OK;
}

static motet_status take_devices(calibration *k)
{
    motet_context *c = k->context;
    rt_plan_device all[RT_DEVICES];
    rt_calibration *r = &k->record;
    r->devices = rt_plan_devices(c, all);
    for (int i = 0; i < r->devices; i++) {
        rt_device *one = &c->devices->set[i];
        snprintf(r->device[i].name, sizeof r->device[i].name, "%s", one->info.name);
        r->device[i].part = !atomic_load(&one->lost);
        if (!r->device[i].part) continue;
        k->index[k->devices] = i;
        k->device[k->devices++] = all[i];
    }
    if (!k->devices)
        return fail(c, MOTET_DEVICE_LOST, "calibrate: %s: no device is left, all are lost",
                    k->given->name);
    return MOTET_OK;
}

/* Weights that were set for this very operation. */
static void take_former(calibration *k)
{
    rt_calibration *r = &k->record;
    rt_weights set[RT_WEIGHTINGS];
    const int count = rt_weights_of(k->context, set, RT_WEIGHTINGS);
    for (int i = 0; i < r->devices; i++) r->device[i].former = -1;
    for (int j = 0; j < count; j++) {
        if (!set[j].operation || strcmp(set[j].operation, k->given->name) != 0) continue;
        rt_weights_scale(set[j].weight, r->devices);
        for (int i = 0; i < r->devices; i++) r->device[i].former = set[j].weight[i];
    }
}

static motet_status take_outputs(calibration *k)
{
    for (int i = 0; i < RT_PORTS; i++) {
        rt_port *p = &k->op.port[i];
        if (!p->array || p->access == RT_READ) continue;
        TRY(motet_array_create(k->context, p->array->type, p->array->axes, p->array->shape,
                               &k->output[i]));
        k->output[i]->flags = MOTET_WRITE_DIRECT; /* one copy is enough */
        p->array = k->output[i];
        p->sink = NULL;
    }
    return MOTET_OK;
}

static motet_status begin(calibration *k, const rt_op *op, const motet_calibrate_options *o)
{
    rt_calibration *r = &k->record;
    k->given = op;
    k->op = *op;
    snprintf(k->name, sizeof k->name, "calibrate:%s", op->name);
    k->op.name = k->name;
    k->op.shard_rows = 0;
    k->op.fingerprint[0] = k->op.fingerprint[1] = 0; /* finished chunks shall not be found */
    snprintf(r->operation, sizeof r->operation, "%s", op->name);
    memcpy(r->extent, op->extent, sizeof r->extent);
    r->stream_extent = op->stream_extent;
    r->warm_up = o->warm_up;
    r->repeats = o->repeats;
    r->choice = -1;
    TRY(take_devices(k));
    take_former(k);
    const int weightings = k->devices + (o->throughput_only ? 0 : RT_LADDER);
    k->phase = log_phase_begin(k->context, "calibrate",
                               (int64_t)weightings * (o->warm_up + (int64_t)o->repeats));
    return take_outputs(k);
}

/* Trials. */

/* What updates and sums begin with is the same each time: they cannot grow out of their range. */
static void reset_outputs(calibration *k)
{
    for (int i = 0; i < RT_PORTS; i++) {
        const motet_array *to = k->output[i];
        if (!to || !to->bytes || k->op.port[i].access == RT_WRITE) continue;
        const motet_array *from = k->given->port[i].array;
        memcpy(to->data, from->data, to->bytes);
    }
}

/* How the planner splits the rows by these weights; what it cannot is skipped. */
static motet_status split(calibration *k, rt_trial *t)
{
    rt_weights w = {.count = k->devices};
    for (int i = 0; i < k->devices; i++) w.weight[i] = t->weight[k->index[i]];
    const rt_plan_options o = {.weights = &w, .weightings = 1};
    rt_plan plan;
    const motet_status st = rt_plan_make(k->context, &k->op, k->device, k->devices, &o, &plan);
    if (st == MOTET_OVER_BUDGET) {
        t->skipped = does_not_fit;
        return MOTET_OK;
    }
    TRY(st);
    k->record.rows = k->op.extent[plan.share[0].axis];
    for (int i = 0; i < k->devices; i++) t->rows[k->index[i]] = plan.share[i].rows;
    return MOTET_OK;
}

/* What gives the same rows is measured once: as the largest share, but where the others idle it is
 * none. */
static void skip_duplicates(rt_trial *list, int devices)
{
    const size_t bytes = (size_t)devices * sizeof list->rows[0];
    for (int i = 0; i < RT_LADDER - 1; i++) {
        list[i].skipped = list[i].skipped ? list[i].skipped
                          : !memcmp(list[i].rows, list[RT_LADDER - 1].rows, bytes)
                              ? "the same rows as without the others"
                              : NULL;
        for (int j = 0; j < i && !list[i].skipped; j++)
            if (!list[j].skipped && !memcmp(list[i].rows, list[j].rows, bytes))
                list[i].skipped = "the same rows as a larger share";
    }
}

/* The best time counts, and with it how long each device was at its part. */
static void take_times(calibration *k, rt_trial *t, double seconds, const rt_run_times *times)
{
    int64_t total = 0;
    for (int i = 0; i < k->record.devices; i++) {
        total += times->rows[i];
        if (t->rows[i] && !times->rows[i]) t->skipped = "a device had no memory for its part";
    }
    if (t->skipped || !(seconds > 0) || (t->seconds > 0 && seconds >= t->seconds)) return;
    t->seconds = seconds;
    for (int i = 0; i < k->record.devices; i++)
        t->pace[i] =
            times->rows[i] ? times->seconds[i] * (double)total / (double)times->rows[i] : 0;
}

static motet_status run_once(calibration *k, rt_trial *t, int counts)
{
    motet_context *c = k->context;
    rt_weights w = {.count = k->record.devices};
    memcpy(w.weight, t->weight, sizeof w.weight);
    rt_run_times times;
    const rt_run_options o = {.weights = &w, .weightings = 1, .times = &times};
    reset_outputs(k);
    const int64_t start = clock_now(c);
    const motet_status st = rt_run_with(c, &k->op, &o);
    const double seconds = clock_seconds_since(c, start);
    for (int i = 0; i < k->devices; i++) {
        const rt_device *one = &c->devices->set[k->index[i]];
        if (atomic_load(&one->lost))
            return fail(c, MOTET_DEVICE_LOST, "calibrate: %s: %s was lost meanwhile",
                        k->given->name, one->info.name);
    }
    if (st == MOTET_OVER_BUDGET) t->skipped = does_not_fit;
    if (t->skipped) return MOTET_OK;
    TRY(st);
    if (counts) take_times(k, t, seconds, &times);
    return MOTET_OK;
}

static motet_status measure(calibration *k, rt_trial *list, int count)
{
    for (int round = -k->record.warm_up; round < k->record.repeats; round++)
        for (int i = 0; i < count; i++) {
            if (list[i].skipped) continue;
            TRY(run_once(k, &list[i], round >= 0));
            if (k->runs + 1 < k->phase.total) k->runs++;
            TRY(log_phase_step(&k->phase, k->runs));
        }
    for (int i = 0; i < count; i++)
        if (!list[i].skipped && list[i].seconds <= 0)
            return fail(k->context, MOTET_BAD_ARGUMENT,
                        "calibrate: %s: the clock measured no time in %d runs, expected some",
                        k->given->name, k->record.repeats);
    return MOTET_OK;
}

/* Steps. */

/* On each device alone. One that cannot do the whole of it may do a part: it is taken for as slow
 * as the slowest, and the ladder has the last word. */
static motet_status throughput(calibration *k)
{
    rt_calibration *r = &k->record;
    rt_trial alone[RT_DEVICES];
    memset(alone, 0, sizeof alone);
    double fastest = 0, slowest = 0;
    for (int i = 0; i < k->devices; i++) {
        alone[i].weight[k->index[i]] = 1;
        TRY(split(k, &alone[i]));
    }
    TRY(measure(k, alone, k->devices));
    for (int i = 0; i < k->devices; i++) {
        const double seconds = alone[i].skipped ? 0 : alone[i].seconds;
        r->device[k->index[i]].alone = seconds;
        if (seconds > slowest) slowest = seconds;
        if (seconds > 0 && (fastest <= 0 || seconds < fastest)) {
            fastest = seconds;
            r->reference = k->index[i];
        }
    }
    if (slowest <= 0)
        return fail(k->context, MOTET_OVER_BUDGET,
                    "calibrate: %s does not fit any of its devices alone", k->given->name);
    double weight[RT_DEVICES];
    for (int i = 0; i < k->devices; i++) {
        rt_calibrated *d = &r->device[k->index[i]];
        weight[i] = 1 / (d->alone > 0 ? d->alone : slowest);
        d->pace = alone[i].pace[k->index[i]];
    }
    rt_weights_scale(weight, k->devices);
    for (int i = 0; i < k->devices; i++) r->device[k->index[i]].throughput = weight[i];
    return MOTET_OK;
}

static motet_status ladder(calibration *k)
{
    rt_calibration *r = &k->record;
    r->trials = RT_LADDER;
    for (int t = 0; t < RT_LADDER; t++) {
        rt_trial *one = &r->trial[t];
        one->share = shares[t];
        for (int i = 0; i < k->devices; i++) {
            const int d = k->index[i];
            one->weight[d] = r->device[d].throughput * (d == r->reference ? 1 : shares[t]);
        }
        TRY(split(k, one));
    }
    skip_duplicates(r->trial, r->devices);
    TRY(measure(k, r->trial, RT_LADDER));
    r->choice = rt_ladder_choose(r->trial, RT_LADDER);
    if (r->choice != RT_LADDER - 1) return MOTET_OK;

    /* The other devices would idle from now on. Where they had no rows in any trial that shows
     * nothing about them; else look again, at that and at the next best. */
    r->choice = rt_ladder_choose(r->trial, RT_LADDER - 1);
    for (int t = 0; r->choice < 0 && t < RT_LADDER - 1; t++)
        if (r->trial[t].skipped == does_not_fit) r->choice = RT_LADDER - 1;
    if (r->choice < 0 || r->choice == RT_LADDER - 1) return MOTET_OK;
    rt_trial again[2] = {r->trial[r->choice], r->trial[RT_LADDER - 1]};
    again[0].seconds = again[1].seconds = 0;
    TRY(measure(k, again, 2));
    if (again[0].skipped || again[0].seconds > RT_NEAR * again[1].seconds)
        r->choice = RT_LADDER - 1;
    return MOTET_OK;
}

static void apply(calibration *k)
{
    rt_calibration *r = &k->record;
    double weight[RT_DEVICES], former[RT_DEVICES] = {0}, lost = 0;
    for (int i = 0; i < r->devices; i++)
        if (!r->device[i].part) lost += r->device[i].former >= 0 ? r->device[i].former : 1;
    for (int i = 0; i < r->devices; i++) {
        rt_calibrated *d = &r->device[i];
        former[i] = d->former;
        if (!d->part)
            weight[i] = d->former >= 0 ? d->former : 1;
        else if (r->choice >= 0)
            weight[i] = r->trial[r->choice].weight[i];
        else
            weight[i] = d->throughput;
    }
    if (lost > 0 && lost < r->devices) { /* those measured share what the others leave */
        double sum = 0;
        for (int i = 0; i < r->devices; i++) sum += r->device[i].part ? weight[i] : 0;
        for (int i = 0; i < r->devices; i++)
            if (r->device[i].part) weight[i] *= ((double)r->devices - lost) / sum;
    } else {
        rt_weights_scale(weight, r->devices);
    }
    for (int i = 0; r->choice >= 0 && i < r->devices; i++)
        if (r->trial[r->choice].pace[i] > 0) r->device[i].pace = r->trial[r->choice].pace[i];
    r->bounded = former[0] >= 0 && rt_weights_bound(weight, former, r->devices);
    for (int i = 0; i < r->devices; i++) r->device[i].weight = weight[i];
}

static motet_status all_steps(calibration *k, const rt_op *op, const motet_calibrate_options *o)
{
    TRY(begin(k, op, o));
    TRY(throughput(k));
    if (k->devices > 1 && !o->throughput_only) TRY(ladder(k));
    apply(k);
    TRY(log_phase_step(&k->phase, k->phase.total));
    return rt_calibration_keep(k->context, &k->record);
}

motet_status rt_calibrate(motet_context *c, const rt_op *op, const motet_calibrate_options *options,
                          rt_calibration *out)
{
    motet_calibrate_options defaults;
    motet_calibrate_options_init(&defaults);
    const motet_calibrate_options *o = options ? options : &defaults;
    TRY(check(c, op, o));
    calibration *k = mem_new(c, calibration);
    if (!k) return fail(c, MOTET_NO_MEMORY, "calibrate: %s: no memory for its books", op->name);
    k->context = c;
    const motet_status st = all_steps(k, op, o);
    if (st == MOTET_OK && out) *out = k->record;
    for (int i = 0; i < RT_PORTS; i++) motet_array_free(k->output[i]);
    mem_free(c, k);
    return st;
}
