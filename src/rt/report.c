/* The report of a context: what the devices tell, joined with the account that base keeps. */
#include "base/report.h"

#include <motet/job.h>
#include <string.h>

#include "base/context.h"
#include "base/fail.h"
#include "base/mem.h"
#include "rt/devices.h"
#include "rt/plan_record.h"

enum { THREADS = 4096 }; /* the most a device has, see motet_context_options */

/* Items of each thread since the last reset; NULL when there is no memory. */
static json_t *items_json(motet_context *c, rt_device *one)
{
    json_t *list = json_array();
    const int threads = one->info.threads;
    int64_t *items = mem_array(c, int64_t, threads);
    int failed = !list || !items;
    dev *device = failed ? NULL : rt_device_hold(c, one);
    if (device) {
        device->table->share(device, items, threads);
        rt_device_leave(c, one);
    }
    for (int i = 0; !failed && i < threads; i++) {
        pthread_mutex_lock(&c->lock);
        const int64_t count = items[i] - one->baseline[i];
        pthread_mutex_unlock(&c->lock);
        failed = json_array_append_new(list, json_integer(count));
    }
    mem_free(c, items);
    if (!failed) return list;
    json_decref(list);
    return NULL;
}

/* Of the device; a host's own is told for the context. */
static json_t *memory_json(motet_context *c, const rt_device *one)
{
    if (one->host_visible) return json_null();
    const json_int_t opened = (json_int_t)one->info.memory_context;
    return json_pack("{s:I, s:I, s:I}", "planned",
                     (json_int_t)rt_plan_most(c, (int)(one - c->devices->set)), "accounted",
                     opened + (json_int_t)atomic_load(&one->taken_most), "context", opened);
}

static json_t *device_json(motet_context *c, rt_device *one)
{
    json_t *items = items_json(c, one);
    if (!items) return NULL;
    char reason[sizeof one->reason];
    pthread_mutex_lock(&c->lock);
    memcpy(reason, one->reason, sizeof reason);
    pthread_mutex_unlock(&c->lock);
    return json_pack(
        "{s:s, s:s, s:s, s:i, s:I, s:I, s:s?, s:I, s:I, s:o, s:o}", "name", one->info.name,
        "description", one->info.description, "isa", motet_isa_text(one->info.isa), "threads",
        one->info.threads, "chunks", (json_int_t)atomic_load(&one->chunks), "verified",
        (json_int_t)atomic_load(&one->verified), "lost", atomic_load(&one->lost) ? reason : NULL,
        "uploaded", (json_int_t)atomic_load(&one->uploaded), "downloaded",
        (json_int_t)atomic_load(&one->downloaded), "memory", memory_json(c, one),
        "items_per_thread", items);
}

/* Devices that were lost, here or before: also those that are back. */
static json_t *losses_json(motet_context *c)
{
    json_t *list = json_array();
    for (int i = 0; list && i < c->devices->count; i++) {
        const rt_device *one = &c->devices->set[i];
        pthread_mutex_lock(&c->lock);
        json_t *row =
            one->losses ? json_pack("{s:s, s:s, s:I, s:I, s:b}", "device", one->info.name, "reason",
                                    one->reason, "losses", (json_int_t)one->losses, "returns",
                                    (json_int_t)one->returns, "lost", atomic_load(&one->lost))
                        : NULL;
        const int failed = one->losses && json_array_append_new(list, row);
        pthread_mutex_unlock(&c->lock);
        if (!failed) continue;
        json_decref(list);
        list = NULL;
    }
    return list;
}

/* Plans, losses and what was planned for the host. */
static int add_plans(motet_context *c, json_t *report)
{
    const int64_t host = rt_plan_most(c, RT_HOST);
    return json_object_set_new(report, "plan",
                               json_pack("{s:o}", "operations", rt_plan_records(c))) ||
           json_object_set_new(report, "losses", losses_json(c)) ||
           json_object_set_new(json_object_get(report, "memory"), "planned",
                               host ? json_integer(host) : json_null());
}

motet_status motet_context_report(motet_context *c, char **json)
{
    motet_status st = MOTET_NO_MEMORY;
    json_t *devices = json_array(), *report = report_json(c);
    if (!devices || !report) goto out;
    for (int i = 0; i < c->devices->count; i++)
        if (json_array_append_new(devices, device_json(c, &c->devices->set[i]))) goto out;
    if (json_object_set(report, "devices", devices) || add_plans(c, report)) goto out;
    char *text = report_text(c, report, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
    if (!text) goto out;
    *json = text;
    st = MOTET_OK;
out:
    json_decref(devices);
    json_decref(report);
    return st == MOTET_OK ? st : fail(c, st, "no memory for the report");
}

void motet_text_free(motet_context *c, char *text) { mem_free(c, text); }

void motet_context_report_reset(motet_context *c)
{
    report_reset(c);
    rt_plan_records_clear(c);
    for (int i = 0; i < c->devices->count; i++) {
        rt_device *one = &c->devices->set[i];
        atomic_store(&one->chunks, 0);
        atomic_store(&one->verified, 0);
        atomic_store(&one->uploaded, 0);
        atomic_store(&one->downloaded, 0);
        atomic_store(&one->taken_most, atomic_load(&one->taken));
        dev *device = one->baseline ? rt_device_hold(c, one) : NULL;
        if (!device) continue;
        int64_t now[THREADS]; /* the device is asked without the lock: it may want it itself */
        const int threads = one->info.threads < THREADS ? one->info.threads : THREADS;
        device->table->share(device, now, threads);
        rt_device_leave(c, one);
        pthread_mutex_lock(&c->lock);
        memcpy(one->baseline, now, (size_t)threads * sizeof *now);
        pthread_mutex_unlock(&c->lock);
    }
}
