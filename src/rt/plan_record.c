/* A record has room for as many shares as its plan has devices, so that it is small on one. */
#include "rt/plan_record.h"

#include <string.h>

#include "base/context.h"
#include "base/mem.h"
#include "rt/plan_inside.h"
#include "rt/plan_json.h"
#include "rt/pool.h"

typedef struct record {
    struct record *next;
    char *name;
    int room, devices;
    int axes;
    int64_t extent[RT_AXES], stream_extent;
    int64_t chunks, row_bytes, private_bytes, host_bytes;
    rt_mode mode;
    int index[RT_DEVICES];
    rt_share share[]; /* `room` of them */
} record;

struct rt_plan_records { /* guarded by the context's lock */
    record *first;
    int64_t host, device[RT_DEVICES]; /* the most that was planned */
};

static void free_record(motet_context *c, record *r)
{
    mem_free(c, r->name);
    mem_free(c, r);
}

/* With the lock held, as what follows. Where the record of a name is, or would be put. */
static record **place_of(struct rt_plan_records *all, const char *name)
{
    record **at = &all->first;
    while (*at && strcmp((*at)->name, name) != 0) at = &(*at)->next;
    return at;
}

static record *make_record(motet_context *c, const char *name, int room)
{
    record *r = mem_zero(c, sizeof *r + (size_t)room * sizeof *r->share);
    if (!r) return NULL;
    r->room = room;
    r->name = mem_text(c, name);
    if (r->name) return r;
    mem_free(c, r);
    return NULL;
}

static record *record_for(motet_context *c, const char *name, int devices)
{
    if (!c->plans) c->plans = mem_new(c, struct rt_plan_records);
    if (!c->plans) return NULL;
    record **at = place_of(c->plans, name);
    if (*at && (*at)->room >= devices) return *at;
    record *r = make_record(c, name, devices);
    if (!r) return NULL;
    record *former = *at;
    if (former) {
        r->next = former->next;
        free_record(c, former);
    }
    *at = r;
    return r;
}

static void fill(record *r, const rt_op *op, const rt_plan *plan, const int *index)
{
    r->devices = plan->devices;
    r->axes = op->axes;
    memcpy(r->extent, op->extent, sizeof r->extent);
    r->stream_extent = op->stream_extent;
    r->chunks = plan->chunks;
    r->row_bytes = plan->row_bytes;
    r->private_bytes = plan->private_bytes;
    r->host_bytes = plan->host_bytes;
    r->mode = plan->mode;
    memcpy(r->index, index, (size_t)plan->devices * sizeof *index);
    memcpy(r->share, plan->share, (size_t)plan->devices * sizeof *r->share);
}

/* What is idle may stay, up to the limit. */
static int64_t with_idle(motet_context *c, const rt_share *s, int index)
{
    const int64_t all = plan_add(s->peak_bytes, rt_pool_idle(c, &c->devices->set[index]));
    return all < s->limit || s->peak_bytes > s->limit ? all : s->limit;
}

motet_status rt_plan_record(motet_context *c, const rt_op *op, const rt_plan *plan,
                            const int *index, int64_t host)
{
    pthread_mutex_lock(&c->lock);
    record *r = record_for(c, op->name, plan->devices);
    if (r) {
        fill(r, op, plan, index);
        if (host > c->plans->host) c->plans->host = host;
        for (int i = 0; i < plan->devices; i++) {
            int64_t *most = &c->plans->device[index[i]];
            const int64_t peak = with_idle(c, &plan->share[i], index[i]);
            if (peak > *most) *most = peak;
        }
    }
    pthread_mutex_unlock(&c->lock);
    return r ? MOTET_OK : fail(c, MOTET_NO_MEMORY, "%s: no memory to note its plan", op->name);
}

void rt_plan_record_more(motet_context *c, int device, int64_t peak)
{
    pthread_mutex_lock(&c->lock);
    if (c->plans && peak > c->plans->device[device]) c->plans->device[device] = peak;
    pthread_mutex_unlock(&c->lock);
}

static json_t *record_json(const motet_context *c, const record *r)
{
    rt_plan plan = {.operation = r->name,
                    .mode = r->mode,
                    .devices = r->devices,
                    .chunks = r->chunks,
                    .row_bytes = r->row_bytes,
                    .private_bytes = r->private_bytes,
                    .host_bytes = r->host_bytes};
    rt_plan_device devices[RT_DEVICES];
    rt_op op = {.name = r->name, .axes = r->axes, .stream_extent = r->stream_extent};
    memcpy(op.extent, r->extent, sizeof op.extent);
    memcpy(plan.share, r->share, (size_t)r->devices * sizeof *r->share);
    for (int i = 0; i < r->devices; i++)
        devices[i] = (rt_plan_device){.name = c->devices->set[r->index[i]].info.name};
    return rt_plan_json(&plan, &op, devices);
}

json_t *rt_plan_records(motet_context *c)
{
    json_t *list = json_array();
    pthread_mutex_lock(&c->lock);
    for (const record *r = c->plans ? c->plans->first : NULL; r && list; r = r->next)
        if (json_array_append_new(list, record_json(c, r))) {
            json_decref(list);
            list = NULL;
        }
    pthread_mutex_unlock(&c->lock);
    return list;
}

int64_t rt_plan_most(motet_context *c, int device)
{
    pthread_mutex_lock(&c->lock);
    const int64_t most = !c->plans           ? 0
                         : device == RT_HOST ? c->plans->host
                                             : c->plans->device[device];
    pthread_mutex_unlock(&c->lock);
    return most;
}

void rt_plan_records_clear(motet_context *c)
{
    pthread_mutex_lock(&c->lock);
    struct rt_plan_records *all = c->plans;
    c->plans = NULL;
    pthread_mutex_unlock(&c->lock);
    if (!all) return;
    for (record *r = all->first, *next; r; r = next) {
        next = r->next;
        free_record(c, r);
    }
    mem_free(c, all);
}
