/* Plans of CT operations: the very operations that would run, on arrays that are sizes only. */
#include <motet/plan.h>

#include "base/mem.h"
#include "base/report.h"
#include "ct/beam/beam.h"
#include "ct/filter.h"
#include "ct/operations.h"
#include "ct/plan_inside.h"
#include "ct/scan.h"
#include "ct/solve/solver.h"
#include "rt/plan_json.h"

void motet_plan_options_init(motet_plan_options *options)
{
    *options = (motet_plan_options){.size = sizeof *options};
}

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

motet_array ct_sinogram_sizes(const motet_ct_geometry *g)
{
    if (g->beam)
        return ct_array_sizes(
            g->context, 3,
            (const int64_t[]){g->views, g->beam->given.columns, g->beam->given.rows});
    return ct_array_sizes(g->context, 3, (const int64_t[]){g->views, g->grid.columns, g->rows});
}

motet_array ct_volume_sizes(const motet_ct_geometry *g)
{
    if (g->beam)
        return ct_array_sizes(
            g->context, 3,
            (const int64_t[]){g->beam->given.nz, g->beam->given.ny, g->beam->given.nx});
    return ct_array_sizes(g->context, 3, (const int64_t[]){g->rows, g->grid.ny, g->grid.nx});
}

static motet_array table_sizes(const motet_ct_geometry *g)
{
    size_t bytes;
    if (!mem_product(g->views, sizeof(ct_view), &bytes)) bytes = INT64_MAX;
    const int64_t count = (int64_t)bytes;
    motet_array table = ct_array_sizes(g->context, 1, &count);
    table.type = MOTET_U8;
    table.bytes = bytes;
    return table;
}

static motet_status take_devices(ct_planning *p, const motet_plan_options *o)
{
    const int count = o->devices ? o->count : rt_plan_devices(p->context, p->device);
    if (count < 1 || count > RT_DEVICES)
        return fail(p->context, MOTET_BAD_ARGUMENT, "count is %d devices, expected 1 to %d", count,
                    RT_DEVICES);
    p->devices = count;
    p->own = !o->devices;
    p->options.weights = p->weights;
    p->options.weightings = 1;
    if (!o->devices)
        p->options.weightings = rt_weights_of(p->context, p->weights, RT_WEIGHTINGS);
    else
        p->weights[0] = (rt_weights){.count = count};
    for (int i = 0; o->devices && i < count; i++) p->weights[0].weight[i] = o->devices[i].weight;
    for (int i = 0; o->devices && i < count; i++) {
        const motet_plan_device *d = &o->devices[i];
        if (d->threads < 0)
            return fail(p->context, MOTET_BAD_ARGUMENT, "threads of %s is %d, expected at least 0",
                        d->name ? d->name : "a device", d->threads);
        p->device[i] =
            (rt_plan_device){.name = d->name ? d->name : "a device",
                             .host_visible = d->host_visible,
                             .workers = d->threads,
                             .free = d->memory_free < 0 ? RT_UNKNOWN : d->memory_free,
                             .budget = d->budget > INT64_MAX ? INT64_MAX : (int64_t)d->budget};
    }
    return MOTET_OK;
}

static int64_t sum(int64_t a, int64_t b) { return a > INT64_MAX - b ? INT64_MAX : a + b; }

motet_status ct_plan_make(const ct_planning *p, const rt_op *op, rt_plan *plan)
{
    const motet_status st = rt_plan_make(p->context, op, p->device, p->devices, &p->options, plan);
    rt_weights fallback;
    if (st != MOTET_OVER_BUDGET || !p->own || !rt_weights_fallback(p->context, &fallback))
        return st;
    rt_plan_options o = p->options;
    o.weights = &fallback;
    o.weightings = 1;
    return rt_plan_make(p->context, op, p->device, p->devices, &o, plan);
}

motet_status ct_plan_add(ct_planning *p, const rt_op *op, const int64_t device_held[RT_DEVICES])
{
    rt_plan plan;
    p->options.host_held = p->held;
    TRY(ct_plan_make(p, op, &plan));
    if (json_array_append_new(p->operations, rt_plan_json(&plan, op, p->device)))
        return fail(p->context, MOTET_NO_MEMORY, "no memory for the plan");
    const int64_t host = sum(plan.host_bytes, p->held);
    if (host > p->host) p->host = host;
    for (int i = 0; i < p->devices; i++) {
        int64_t peak = sum(plan.share[i].peak_bytes, device_held ? device_held[i] : 0);
        if (peak > plan.share[i].limit) peak = plan.share[i].limit;
        if (peak > p->peak[i]) p->peak[i] = peak;
    }
    return MOTET_OK;
}

static motet_status add_filter(ct_planning *p, const motet_array *scale, unsigned flags)
{
    const motet_ct_geometry *g = p->geometry;
    TRY(ct_filter_check(p->context, g, p->filter));
    const int32_t bits = ct_filter_bits(g->grid.columns, p->filter->pad);
    motet_array *response = NULL, sinogram = ct_sinogram_sizes(g), filtered = sinogram;
    filtered.flags = flags;
    TRY(ct_filter_table(p->context, p->filter, bits, g->pitch, &response));
    const rt_op op = ct_filter_op(g, bits, response, scale, &sinogram, &filtered);
    const motet_status st = ct_plan_add(p, &op, NULL);
    motet_array_free(response);
    return st;
}

static motet_status add_backprojection(ct_planning *p, const ct_table *table, unsigned flags)
{
    const motet_array sinogram = ct_sinogram_sizes(p->geometry);
    motet_array volume = ct_volume_sizes(p->geometry);
    volume.flags = flags;
    const rt_op op = ct_backproject_op(p->geometry, table, &sinogram, &volume);
    return ct_plan_add(p, &op, NULL);
}

static motet_status add_transpose(ct_planning *p, unsigned flags)
{
    if (!p->geometry->beam) return add_backprojection(p, &p->geometry->chords, flags);
    const motet_array sinogram = ct_sinogram_sizes(p->geometry);
    motet_array volume = ct_volume_sizes(p->geometry);
    volume.flags = flags;
    const rt_op op = ct_beam_backproject_op(p->geometry, &sinogram, &volume);
    return ct_plan_add(p, &op, NULL);
}

static motet_status add_projection(ct_planning *p, unsigned flags)
{
    const motet_array volume = ct_volume_sizes(p->geometry);
    motet_array sinogram = ct_sinogram_sizes(p->geometry);
    sinogram.flags = flags;
    const rt_op op = p->geometry->beam ? ct_beam_project_op(p->geometry, &volume, &sinogram)
                                       : ct_project_op(p->geometry, &volume, &sinogram);
    return ct_plan_add(p, &op, NULL);
}

/* Products that stay at INT64_MAX, as sums do. */
static int64_t times(int64_t a, int64_t b)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}
static int64_t bytes_of(const motet_array *a)
{
    return a->bytes < INT64_MAX ? (int64_t)a->bytes : INT64_MAX;
}

/* A block of views on its way from file to sinogram, as scan_read does it. */
static motet_status add_scan(ct_planning *p, int64_t scan_rows)
{
    const motet_ct_geometry *g = p->geometry;
    const int64_t pixels = times(g->rows, g->grid.columns), held = p->held;
    const int64_t bound = p->options.host_memory ? p->options.host_memory : INT64_MAX;
    if (pixels > INT64_MAX / 64 || times(scan_rows, g->grid.columns) > INT64_MAX / 64)
        return fail(p->context, MOTET_OVER_BUDGET, "a frame of %lld pixels is too large",
                    (long long)pixels);
    const int64_t count = scan_block(bound > held ? bound - held : 0, pixels, g->views);
    motet_array array[SCAN_PORTS];
    const motet_array *arrays[SCAN_PORTS];
    for (int i = 0; i < SCAN_PORTS; i++) {
        int axes;
        int64_t shape[3];
        const motet_type type =
            scan_port_shape(i, scan_rows, g->grid.columns, g->rows, count, &axes, shape);
        array[i] = ct_array_sizes(p->context, axes, shape);
        array[i].type = type;
        array[i].bytes = (size_t)times(array[i].elements, (int64_t)motet_type_bytes(type));
        array[i].flags = MOTET_WRITE_DIRECT;
        arrays[i] = &array[i];
    }
    p->held = sum(held, sum(bytes_of(&array[SCAN_RAW]), bytes_of(&array[SCAN_COUNTERS])));
    const rt_op op = scan_normalise_op(arrays, count);
    const motet_status st = ct_plan_add(p, &op, NULL);
    p->held = held;
    return st;
}

/* What is there all the while that slabs are reconstructed: frames of the scan; sinogram and volume
 * of a slab; its geometry with two tables of views and their scale. */
static int64_t held_by_slab(const motet_ct_geometry *g, int64_t scan_rows, int scan)
{
    const motet_array sinogram = ct_sinogram_sizes(g), volume = ct_volume_sizes(g);
    const int64_t frames = scan ? times(24, times(scan_rows, g->grid.columns)) : 0;
    const int64_t views =
        times(g->views, (int64_t)(2 * sizeof(ct_view) + sizeof(double) + sizeof(float)));
    return sum(sum(frames, views), sum(bytes_of(&sinogram), bytes_of(&volume)));
}

static motet_status slab_steps(ct_planning *p, int64_t scan_rows, int scan, ct_table *means)
{
    const motet_ct_geometry *g = p->geometry;
    const motet_array scale = ct_array_sizes(g->context, 1, &g->views),
                      filtered = ct_sinogram_sizes(g);
    TRY(ct_table_create(p->sample, ct_mean_of, means));
    const motet_array table = table_sizes(g);
    const ct_table sizes = {(motet_array *)(uintptr_t)&table, means->most_taps};
    p->held = held_by_slab(g, scan_rows, scan);
    if (scan) TRY(add_scan(p, scan_rows));
    p->held = sum(p->held, bytes_of(&filtered));
    TRY(add_filter(p, &scale, MOTET_WRITE_DIRECT));
    return add_backprojection(p, &sizes, MOTET_WRITE_DIRECT);
}

/* As motet_ct_recon and motet_ct_fbp do it: both keep what they make themselves without a second
 * copy. */
static motet_status add_recon(ct_planning *p, const motet_plan_options *o, int64_t *slab)
{
    const motet_ct_geometry *whole = p->geometry;
    motet_ct_geometry g = *whole;
    const ct_slab_size size = {g.views, g.grid.columns, g.rows, g.grid.nx, g.grid.ny};
    const int64_t bound = p->options.host_memory ? p->options.host_memory : INT64_MAX;
    if (o->slab_rows)
        *slab = o->slab_rows < g.rows ? o->slab_rows : g.rows;
    else
        TRY(ct_slab_rows(p->context, &size, bound, bound, slab));
    g.rows = *slab;
    p->geometry = &g;
    ct_table means = {NULL, 0};
    const motet_status st = slab_steps(p, whole->rows, o->scan, &means);
    motet_array_free(means.views);
    p->geometry = whole;
    return st;
}

static json_t *whole_or_null(int64_t value) { return value ? json_integer(value) : json_null(); }

static motet_status print(const ct_planning *p, int64_t rows, int64_t slab, char **out)
{
    motet_status st = MOTET_NO_MEMORY;
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
    char *text = report_text(p->context, whole, JSON_INDENT(1));
    if (!text) goto out;
    *out = text;
    st = MOTET_OK;
out:
    json_decref(devices);
    json_decref(whole);
    return st == MOTET_OK ? st : fail(p->context, st, "no memory for the plan");
}

static motet_status add_all(ct_planning *p, motet_ct_operation operation,
                            const motet_plan_options *o, int64_t *slab)
{
    if (p->geometry->beam && (operation == MOTET_CT_FILTER || operation == MOTET_CT_RECON))
        return fail(p->context, MOTET_UNSUPPORTED,
                    "operation is %d, which works on parallel slices, not on views in space",
                    (int)operation);
    if (!p->geometry->beam && operation == MOTET_CT_FDK)
        return fail(p->context, MOTET_UNSUPPORTED,
                    "operation is %d, which works on views in space, not on parallel slices",
                    (int)operation);
    const unsigned flags = o->direct ? MOTET_WRITE_DIRECT : 0;
    switch (operation) {
    case MOTET_CT_PROJECT: return add_projection(p, flags);
    case MOTET_CT_BACKPROJECT: return add_transpose(p, flags);
    case MOTET_CT_FILTER: return add_filter(p, NULL, flags);
    case MOTET_CT_RECON: return add_recon(p, o, slab);
    case MOTET_CT_FDK: return ct_plan_fdk(p, flags);
    case MOTET_CT_CGLS: return ct_plan_solve(p, &ct_cgls, o->checkpoint, flags);
    case MOTET_CT_SIRT: return ct_plan_solve(p, &ct_sirt, o->checkpoint, flags);
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
    if (o->views < 0)
        return fail(c, MOTET_BAD_ARGUMENT, "views is %lld, expected at least 1, or 0",
                    (long long)o->views);
    if (o->views && geometry->beam)
        return fail(c, MOTET_BAD_ARGUMENT, "views is %lld, expected 0 for views in space",
                    (long long)o->views);
    motet_ct_filter_options filter;
    motet_ct_filter_options_init(&filter);
    motet_ct_geometry of_all = *geometry;
    if (o->views) of_all.views = o->views;
    motet_array chords = table_sizes(&of_all);
    of_all.chords.views = &chords;
    ct_planning p = {.context = c,
                     .sample = geometry,
                     .geometry = &of_all,
                     .filter = o->filter ? o->filter : &filter};
    p.options = (rt_plan_options){
        .cut = {{o->chunk}, o->chunk},
        .host_memory = o->host_memory > INT64_MAX ? INT64_MAX : (int64_t)o->host_memory,
        .chunks_per_device = o->chunks_per_device};
    TRY(take_devices(&p, o));
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
