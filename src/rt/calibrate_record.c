/* The records of calibrations that a context keeps, one for each operation, and their print. */
#include <string.h>

#include "base/context.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/report.h"
#include "rt/calibrate.h"

struct rt_calibrations { /* guarded by the context's lock */
    struct rt_calibrations *next;
    rt_calibration record;
};

/* With the lock held. */
static struct rt_calibrations *find(motet_context *c, const char *operation)
{
    struct rt_calibrations *k = c->calibrations;
    while (k && strcmp(k->record.operation, operation) != 0) k = k->next;
    return k;
}

int rt_calibration_of(motet_context *c, const char *operation, rt_calibration *out)
{
    pthread_mutex_lock(&c->lock);
    const struct rt_calibrations *k = find(c, operation);
    if (k) *out = k->record;
    pthread_mutex_unlock(&c->lock);
    return k != NULL;
}

motet_status rt_calibration_keep(motet_context *c, const rt_calibration *record)
{
    struct rt_calibrations *fresh = mem_new(c, struct rt_calibrations);
    if (!fresh)
        return fail(c, MOTET_NO_MEMORY, "calibrate: %s: no memory for the record",
                    record->operation);
    double weight[RT_DEVICES];
    for (int i = 0; i < record->devices; i++) weight[i] = record->device[i].weight;
    const motet_status st = motet_context_weights(c, record->operation, record->devices, weight);
    if (st != MOTET_OK) {
        mem_free(c, fresh);
        return st;
    }
    pthread_mutex_lock(&c->lock);
    struct rt_calibrations *k = find(c, record->operation);
    if (k) {
        k->record = *record;
    } else {
        fresh->record = *record;
        fresh->next = c->calibrations;
        c->calibrations = fresh;
    }
    pthread_mutex_unlock(&c->lock);
    if (k) mem_free(c, fresh);
    return MOTET_OK;
}

void rt_calibrations_free(motet_context *c)
{
    for (struct rt_calibrations *k = c->calibrations, *next; k; k = next) {
        next = k->next;
        mem_free(c, k);
    }
    c->calibrations = NULL;
}

void rt_drift_note(motet_context *c, const rt_op *op, const double seconds[RT_DEVICES],
                   const int64_t rows[RT_DEVICES])
{
    int due = 0;
    pthread_mutex_lock(&c->lock);
    struct rt_calibrations *k = find(c, op->name);
    if (k) {
        rt_calibration *r = &k->record;
        const int same = !memcmp(r->extent, op->extent, sizeof r->extent) &&
                         r->stream_extent == op->stream_extent;
        r->runs++;
        r->far = rt_drift_far(r, same, seconds, rows) ? r->far + 1 : 0;
        due = r->far == RT_DRIFT_RUNS && !r->drifted;
        if (due) r->drifted = 1;
    }
    pthread_mutex_unlock(&c->lock);
    if (due)
        log_text(c, MOTET_LOG_INFO, "calibrate",
                 "%s: %d runs in a row differ from the calibration, which is due again", op->name,
                 RT_DRIFT_RUNS);
}

/* Print. */

static json_t *real_or_null(double value, int there)
{
    return there ? json_real(value) : json_null();
}

/* Takes `item` over; 0: no memory, and the list is gone. */
static int add(json_t **list, json_t *item)
{
    if (*list && !json_array_append_new(*list, item)) return 1;
    json_decref(*list);
    *list = NULL;
    return 0;
}

static json_t *devices_json(const rt_calibration *r)
{
    json_t *list = json_array();
    for (int i = 0; list && i < r->devices; i++) {
        const rt_calibrated *d = &r->device[i];
        add(&list, json_pack("{s:s, s:o, s:o, s:o, s:f}", "name", d->name, "alone_seconds",
                             real_or_null(d->alone, d->alone > 0), "throughput_weight",
                             real_or_null(d->throughput, d->part), "former_weight",
                             real_or_null(d->former, d->former >= 0), "weight", d->weight));
    }
    return list;
}

static json_t *trial_json(const rt_trial *t, int devices)
{
    json_t *weights = json_array(), *rows = json_array();
    for (int i = 0; weights && i < devices; i++) add(&weights, json_real(t->weight[i]));
    for (int i = 0; rows && i < devices; i++) add(&rows, json_integer(t->rows[i]));
    if (weights && rows)
        return json_pack("{s:f, s:o, s:o, s:o, s:s?}", "share", t->share, "weights", weights,
                         "rows", rows, "seconds", real_or_null(t->seconds, t->seconds > 0),
                         "skipped", t->skipped);
    json_decref(weights);
    json_decref(rows);
    return NULL;
}

static json_t *record_json(const rt_calibration *r)
{
    json_t *devices = devices_json(r), *trials = json_array();
    for (int i = 0; trials && i < r->trials; i++)
        add(&trials, trial_json(&r->trial[i], r->devices));
    if (devices && trials)
        return json_pack(
            "{s:s, s:I, s:i, s:i, s:o, s:s, s:o, s:o, s:b, s:I, s:b}", "operation", r->operation,
            "rows", (json_int_t)r->rows, "warm_up", r->warm_up, "repeats", r->repeats, "devices",
            devices, "reference", r->device[r->reference].name, "trials", trials, "chosen_share",
            real_or_null(r->choice < 0 ? 1 : r->trial[r->choice].share, r->choice >= 0), "bounded",
            r->bounded, "runs", (json_int_t)r->runs, "drifted", r->drifted);
    json_decref(devices);
    json_decref(trials);
    return NULL;
}

motet_status motet_context_calibration(motet_context *c, const char *operation, char **json)
{
    rt_calibration *r = mem_new(c, rt_calibration);
    if (!r) return fail(c, MOTET_NO_MEMORY, "no memory for the calibration of %.80s", operation);
    if (!rt_calibration_of(c, operation, r)) {
        mem_free(c, r);
        return fail(c, MOTET_NOT_FOUND, "operation is \"%.80s\", which was not calibrated",
                    operation);
    }
    json_t *record = record_json(r);
    mem_free(c, r);
    char *text = report_text(c, record, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
    json_decref(record);
    if (!text) return fail(c, MOTET_NO_MEMORY, "no memory for the calibration of %.80s", operation);
    *json = text;
    return MOTET_OK;
}
