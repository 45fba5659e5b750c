/* Plans of CT operations: the very operations that would run, on arrays that are sizes only. */
#include <motet/plan.h>
#include <stdlib.h>

#include "base/mem.h"
#include "ct/filter.h"
#include "ct/operations.h"
#include "rt/plan_json.h"

void motet_plan_options_init(motet_plan_options *options)
{
    *options = (motet_plan_options){.size = sizeof *options};
}

enum { OPERATIONS = 2 };

typedef struct planning {
    motet_context *context;
    const motet_ct_geometry *geometry; /* as given, or of one slab */
    rt_plan_device device[RT_DEVICES];
    rt_weights weights;
    int devices;
    rt_plan_options options;
    int64_t held; /* on the host, all the while */
    int64_t host; /* the most */
    int64_t peak[RT_DEVICES];
    json_t *operations;
} planning;

motet_array ct_array_sizes(motet_context *c, int axes, const int64_t *shape)
{
    motet_array a = {.context = c, .type = MOTET_F32, .axes = axes, .elements = 1};
    for (int i = 0; i < axes; i++) {
        a.shape[i] = shape[i];
        if (__builtin_mul_overflow(a.elements, shape[i], &a.elements)) a.elements = INT64_MAX;
    }
    if (!mem_product(a.elements, sizeof(float), &a.bytes)) a.bytes = INT64_MAX;
    return a;
}

static motet_array sinogram_of(const motet_ct_geometry *g)
{
    return ct_array_sizes(g->context, 3, (const int64_t[]){g->views, g->grid.columns, g->rows});
}

static motet_array volume_of(const motet_ct_geometry *g)
{
    return ct_array_sizes(g->context, 3, (const int64_t[]){g->rows, g->grid.ny, g->grid.nx});
}

static motet_status take_devices(planning *p, const motet_plan_options *o)
{
    const int count = o->devices ? o->count : rt_plan_devices(p->context, p->device);
    if (count < 1 || count > RT_DEVICES)
        return fail(p->context, MOTET_BAD_ARGUMENT, "count is %d devices, expected 1 to %d", count,
                    RT_DEVICES);
    p->devices = p->weights.count = count;
    for (int i = 0; i < count; i++) p->weights.weight[i] = o->devices ? o->devices[i].weight : 1;
    for (int i = 0; o->devices && i < count; i++) {
        const motet_plan_device *d = &o->devices[i];
        p->device[i] =
            (rt_plan_device){.name = d->name ? d->name : "a device",
                             .host_visible = d->host_visible,
                             .free = d->memory_free < 0 ? RT_UNKNOWN : d->memory_free,
                             .budget = d->budget > INT64_MAX ? INT64_MAX : (int64_t)d->budget};
    }
    return MOTET_OK;
}

static motet_status add(planning *p, const rt_op *op)
{
    rt_plan plan;
    p->options.host_held = p->held;
    TRY(rt_plan_make(p->context, op, p->device, p->devices, &p->options, &plan));
    if (json_array_append_new(p->operations, rt_plan_json(&plan, op, p->device)))
        return fail(p->context, MOTET_NO_MEMORY, "no memory for the plan");
    const int64_t host =
        plan.host_bytes > INT64_MAX - p->held ? INT64_MAX : plan.host_bytes + p->held;
    if (host > p->host) p->host = host;
    for (int i = 0; i < p->devices; i++)
        if (plan.share[i].peak_bytes > p->peak[i]) p->peak[i] = plan.share[i].peak_bytes;
    return MOTET_OK;
}

static motet_status add_filter(planning *p, const motet_array *scale, unsigned flags)
{
    const motet_ct_geometry *g = p->geometry;
    const int32_t bits = ct_filter_bits(g->grid.columns, 0);
    motet_ct_filter_options defaults;
    motet_ct_filter_options_init(&defaults);
    motet_array *response = NULL, sinogram = sinogram_of(g), filtered = sinogram;
    filtered.flags = flags;
    TRY(ct_filter_table(p->context, &defaults, bits, g->pitch, &response));
    const rt_op op = ct_filter_op(g, bits, response, scale, &sinogram, &filtered);
    const motet_status st = add(p, &op);
    motet_array_free(response);
    return st;
}

static motet_status add_backprojection(planning *p, const ct_table *table, unsigned flags)
{
    const motet_array sinogram = sinogram_of(p->geometry);
    motet_array volume = volume_of(p->geometry);
    volume.flags = flags;
    const rt_op op = ct_backproject_op(p->geometry, table, &sinogram, &volume);
    return add(p, &op);
}

static motet_status add_projection(planning *p)
{
    const motet_array sinogram = sinogram_of(p->geometry), volume = volume_of(p->geometry);
    const rt_op op = ct_project_op(p->geometry, &volume, &sinogram);
    return add(p, &op);
}

/* As motet_ct_recon and motet_ct_fbp do it: both keep what they make themselves without a second
 * copy. */
static motet_status add_recon(planning *p, const motet_plan_options *o, int64_t *slab)
{
    motet_ct_geometry g = *p->geometry;
    const ct_slab_size size = {g.views, g.grid.columns, g.rows, g.grid.nx, g.grid.ny};
    const int64_t bound = p->options.host_memory ? p->options.host_memory : INT64_MAX;
    if (o->slab_rows)
        *slab = o->slab_rows < g.rows ? o->slab_rows : g.rows;
    else
        TRY(ct_slab_rows(p->context, &size, bound, bound, slab));
    g.rows = *slab;
    p->geometry = &g;
    const motet_array sinogram = sinogram_of(&g), volume = volume_of(&g);
    const motet_array scale = ct_array_sizes(g.context, 1, &g.views);
    ct_table means = {NULL, 0};
    size_t held;
    if (__builtin_add_overflow(sinogram.bytes, sinogram.bytes, &held) || /* and its filtered copy */
        __builtin_add_overflow(held, volume.bytes, &held) || held > INT64_MAX)
        held = INT64_MAX;
    p->held = (int64_t)held;
    motet_status st = MOTET_OK;
    TRY_GOTO(add_filter(p, &scale, MOTET_WRITE_DIRECT));
    TRY_GOTO(ct_table_create(&g, ct_mean_of, &means));
    TRY_GOTO(add_backprojection(p, &means, MOTET_WRITE_DIRECT));
out:
    motet_array_free(means.views);
    p->geometry = NULL;
    return st;
}

static json_t *whole_or_null(int64_t value) { return value ? json_integer(value) : json_null(); }

static motet_status print(const planning *p, int64_t rows, int64_t slab, char **out)
{
    motet_status st = MOTET_NO_MEMORY;
    char *text = NULL, *copy = NULL;
    json_t *devices = json_array();
    json_t *whole =
        json_pack("{s:O, s:o, s:o, s:I, s:I}", "operations", p->operations, "slab_rows",
                  whole_or_null(slab), "slabs", whole_or_null(slab ? (rows - 1) / slab + 1 : 0),
                  "held_bytes", (json_int_t)p->held, "host_bytes", (json_int_t)p->host);
    if (!devices || !whole) goto out;
    for (int i = 0; i < p->devices; i++)
        if (json_array_append_new(devices, json_pack("{s:s, s:I}", "name", p->device[i].name,
                                                     "peak_bytes", (json_int_t)p->peak[i])))
            goto out;
    if (json_object_set(whole, "devices", devices)) goto out;
    text = json_dumps(whole, JSON_INDENT(1));
    copy = text ? mem_text(p->context, text) : NULL;
    if (!copy) goto out;
    *out = copy;
    st = MOTET_OK;
out:
    free(text);
    json_decref(devices);
    json_decref(whole);
    return st == MOTET_OK ? st : fail(p->context, st, "no memory for the plan");
}

static motet_status add_all(planning *p, motet_ct_operation operation, const motet_plan_options *o,
                            int64_t *slab)
{
    switch (operation) {
    case MOTET_CT_PROJECT: return add_projection(p);
    case MOTET_CT_BACKPROJECT: return add_backprojection(p, &p->geometry->chords, 0);
    case MOTET_CT_FILTER: return add_filter(p, NULL, 0);
    case MOTET_CT_RECON: return add_recon(p, o, slab);
    }
    return fail(p->context, MOTET_BAD_ARGUMENT,
                "operation is %d, expected one of motet_ct_operation", (int)operation);
}

motet_status motet_ct_plan(motet_ct_geometry *geometry, motet_ct_operation operation,
                           const motet_plan_options *options, char **json)
{
    motet_context *c = geometry->context;
    motet_plan_options defaults;
    motet_plan_options_init(&defaults);
    const motet_plan_options *o = options ? options : &defaults;
    if (o->size != sizeof *o)
        return fail(c, MOTET_BAD_ARGUMENT,
                    "options: size is %u, expected %zu: call motet_plan_options_init",
                    (unsigned)o->size, sizeof *o);
    if (o->slab_rows < 0)
        return fail(c, MOTET_BAD_ARGUMENT, "slab_rows is %lld, expected at least 1, or 0",
                    (long long)o->slab_rows);
    planning p = {.context = c, .geometry = geometry};
    TRY(take_devices(&p, o));
    p.options = (rt_plan_options){
        .cut = {{o->chunk}, o->chunk},
        .weights = &p.weights,
        .weightings = 1,
        .host_memory = o->host_memory > INT64_MAX ? INT64_MAX : (int64_t)o->host_memory,
        .chunks_per_device = o->chunks_per_device};
    p.operations = json_array();
    if (!p.operations) return fail(c, MOTET_NO_MEMORY, "no memory for the plan");
    int64_t slab = 0;
    motet_status st = MOTET_OK;
    TRY_GOTO(add_all(&p, operation, o, &slab));
    TRY_GOTO(print(&p, geometry->rows, slab, json));
out:
    json_decref(p.operations);
    return st;
}
