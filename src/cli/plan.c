/* motet plan: what an operation would take, for devices that need not be there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "ct_views.h"
#include "device_list.h"
#include "weights.h"
#include "words.h"

enum { DEVICES = 16, NAME = 32, SAMPLE = 4096 };

static const double pi = 3.14159265358979323846;

typedef struct planning {
    run *r;
    const args *a;
    motet_plan_device device[DEVICES];
    char name[DEVICES][NAME];
    motet_plan_options options;
    motet_ct_operation operation;
    int64_t views, columns, rows;
    double pitch;
    int own;      /* the devices are the context's */
    int in_space; /* views in space rather than slices of a parallel beam */
} planning;

static int device_name(const char *text, size_t n)
{
    if (n == 3 && !strncmp(text, "cpu", 3)) return 1;
    const size_t prefix = !strncmp(text, "cuda:", 5) ? 5 : !strncmp(text, "sim:", 4) ? 4 : 0;
    return prefix && n > prefix && n < prefix + 4 &&
           strspn(text + prefix, "0123456789") >= n - prefix;
}

/* One of "cpu,cuda:0=80G": a name, perhaps with the bytes that are free there. */
static int read_device(planning *p, const char *text, size_t length)
{
    char free_bytes[32] = "";
    const char *equals = memchr(text, '=', length);
    const size_t n = equals ? (size_t)(equals - text) : length;
    uint64_t bytes = 0;
    if (p->options.count == DEVICES || !device_name(text, n)) return 0;
    if (equals) {
        if (length - n - 1 >= sizeof free_bytes) return 0;
        memcpy(free_bytes, equals + 1, length - n - 1);
        if (!number_bytes(free_bytes, &bytes) || bytes > INT64_MAX) return 0;
    }
    motet_plan_device *d = &p->device[p->options.count];
    char *name = p->name[p->options.count++];
    memcpy(name, text, n);
    name[n] = 0;
    *d = (motet_plan_device){.name = name,
                             .host_visible = !strcmp(name, "cpu"),
                             .memory_free = equals ? (int64_t)bytes : -1,
                             .weight = 1};
    return 1;
}

static int read_devices(planning *p)
{
    const char *list = args_text(p->a, "devices");
    p->options.devices = p->device;
    for (const char *at = list && !device_list_auto(list) ? list : "cpu";;) {
        const size_t n = strcspn(at, ",");
        if (!read_device(p, at, n))
            return complain(p->a->command, EXIT_USAGE, "--devices is \"%s\", expected %s", list,
                            "at most 16 of cpu, cuda:N and sim:N, each perhaps with =BYTES");
        at += n;
        if (!*at++) break;
    }
    for (int i = 0; i < p->options.count; i++)
        for (int j = 0; j < i; j++)
            if (!strcmp(p->name[i], p->name[j]))
                return complain(p->a->command, EXIT_USAGE, "--devices names %s twice", p->name[i]);
    return EXIT_OK;
}

static int read_weights(planning *p)
{
    const char *list = args_text(p->a, "weights"), *at = list;
    motet_context *c = p->r->context;
    const int count = p->own ? motet_context_devices(c) : p->options.count;
    weights one;
    if (!list) return EXIT_OK;
    if (weights_next(&at, &one) != 1 || *at || *one.operation || one.count != count)
        return complain(
            p->a->command, EXIT_USAGE,
            "--weights is \"%s\", expected %d numbers of at least 0, one for each device", list,
            count);
    for (int i = 0; !p->own && i < count; i++) p->device[i].weight = one.weight[i];
    const motet_status st = p->own ? motet_context_weights(c, NULL, count, one.weight) : MOTET_OK;
    return st == MOTET_OK ? EXIT_OK : run_fail(p->r, c, st);
}

static int read_limits(planning *p)
{
    const uint64_t memory = args_value(p->a, "memory")->bytes;
    uint64_t host = args_value(p->a, "host-memory")->bytes;
    for (int i = 0; i < p->options.count; i++) {
        p->device[i].budget = memory;
        /* The CPU's memory is the host's: the smaller bound holds, as when it runs. */
        if (p->device[i].host_visible && memory && (!host || memory < host)) host = memory;
    }
    p->options.host_memory = p->own ? p->r->host_memory : host;
    p->options.chunk = args_whole(p->a, "chunk", 0);
    p->options.slab_rows = args_whole(p->a, "slab", 0);
    return EXIT_OK;
}

static int read_operation(planning *p)
{
    static const char names[] = "project|backproject|filter|recon|fdk|cgls|sirt";
    static const char *const flags[] = {"geometry", "path", "beam", "sid", "sdd", "detector"};
    const command *c = p->a->command;
    if (strcmp(p->a->positional[0], "ct"))
        return complain(c, EXIT_USAGE, "ENGINE is \"%s\", expected ct", p->a->positional[0]);
    const int index = choice_index(names, p->a->positional[1]);
    if (index < 0)
        return complain(
            c, EXIT_USAGE,
            "OPERATION is \"%s\", expected project, backproject, filter, recon, fdk, cgls or sirt",
            p->a->positional[1]);
    p->operation = (motet_ct_operation)index;
    p->in_space = p->operation >= MOTET_CT_FDK;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        p->in_space |= args_given(p->a, flags[i]);
    return EXIT_OK;
}

/* A scan's sizes, without reading its data; flags win. */
static int read_sizes(planning *p)
{
    run *r = p->r;
    const char *path = p->a->positional[2];
    motet_ct_scan_info info = {.views = 180, .rows = 128, .columns = 128};
    if (path) {
        motet_ct_scan *scan = NULL;
        run_input(r, path);
        motet_ct_scan_options o;
        motet_ct_scan_options_init(&o);
        o.no_angles = o.line_integrals = p->in_space; /* sizes are all that is asked for */
        if (!p->in_space) o.angles = args_text(p->a, "angles");
        const motet_status st = motet_ct_scan_open(r->context, path, &o, &scan);
        if (st != MOTET_OK) return run_fail(r, r->context, st);
        motet_ct_scan_describe(scan, &info);
        motet_ct_scan_free(scan);
    }
    p->views = args_whole(p->a, "views", info.views);
    p->columns = args_whole(p->a, "columns", info.columns);
    p->rows = args_whole(p->a, "rows", info.rows);
    p->pitch = info.pitch;
    return EXIT_OK;
}

/* Threads of the CPU that is planned for are this machine's. */
static void set_threads(planning *p)
{
    motet_device_info host;
    if (motet_context_device(p->r->context, 0, &host) != MOTET_OK) return;
    for (int i = 0; i < p->options.count; i++)
        if (p->device[i].host_visible) p->device[i].threads = host.threads;
}

static int make_in_space(planning *p, char **json)
{
    run *r = p->r;
    const args *a = p->a;
    /* What a flag says is no size of the input's. */
    const int sized = a->positional[2] || !args_given(a, "detector");
    const ct_views_known known = {.input = a->positional[2],
                                  .views = a->positional[2] ? p->views : 0,
                                  .columns = sized ? p->columns : 0,
                                  .rows = sized ? p->rows : 0,
                                  .pitch_u = p->pitch,
                                  .pitch_v = p->pitch};
    motet_ct_views views;
    motet_ct_geometry *geometry = NULL;
    const int alone = args_given(a, "geometry") && !a->positional[2];
    const int code = ct_views_take(r, alone ? NULL : &known, &views);
    if (code) return code;
    p->views = views.views;
    p->columns = views.columns;
    p->rows = views.rows;
    motet_ct_filter_options filter;
    motet_ct_filter_options_init(&filter);
    filter.pad = args_whole(a, "pad", 0);
    p->options.filter = &filter;
    set_threads(p);
    motet_status st = motet_ct_geometry_create(r->context, &views, &geometry);
    if (st == MOTET_OK) st = motet_ct_plan(geometry, p->operation, &p->options, json);
    motet_ct_geometry_free(geometry);
    if (st == MOTET_OK) ct_views_tell(r, &views);
    motet_ct_views_release(r->context, &views);
    p->options.filter = NULL;
    return st == MOTET_OK ? EXIT_OK : run_fail(r, r->context, st);
}

static motet_status make(planning *p, char **json)
{
    motet_context *c = p->r->context;
    motet_ct_geometry *geometry = NULL;
    motet_ct_parallel parallel;
    motet_ct_parallel_init(&parallel);
    double angles[SAMPLE]; /* sizes depend on how many there are, and little on which */
    const int64_t sample = p->views < SAMPLE ? p->views : SAMPLE;
    for (int64_t k = 0; k < sample; k++) angles[k] = pi * (double)k / (double)sample;
    motet_ct_filter_options filter;
    motet_ct_filter_options_init(&filter);
    filter.pad = args_whole(p->a, "pad", 0);
    p->options.filter = &filter;
    p->options.scan = 1;
    p->options.views = p->views;
    set_threads(p);
    const flag_value *size = args_value(p->a, "size");
    parallel.views = sample;
    parallel.columns = p->columns;
    parallel.rows = p->rows;
    parallel.angles = angles;
    parallel.pitch = 1;
    parallel.nx = size->given ? size->whole[0] : 0;
    parallel.ny = size->given ? size->whole[1] : 0;
    motet_status st = motet_ct_geometry_parallel(c, &parallel, &geometry);
    if (st == MOTET_OK) st = motet_ct_plan(geometry, p->operation, &p->options, json);
    motet_ct_geometry_free(geometry);
    p->options.filter = NULL;
    return st;
}

static uint64_t bytes_at(const json_t *o, const char *name)
{
    return (uint64_t)json_integer_value(json_object_get(o, name));
}

static const char *shape_at(const json_t *o, const char *name, char out[WORDS])
{
    int64_t shape[6];
    const json_t *list = json_object_get(o, name);
    const int axes = (int)json_array_size(list);
    for (int i = 0; i < axes && i < 6; i++)
        shape[i] = json_integer_value(json_array_get(list, (size_t)i));
    return words_shape(shape, axes < 6 ? axes : 6, out);
}

static void tell_device(const json_t *d)
{
    char chunk[WORDS], rows[WORDS], b[4][WORDS];
    const long long first = (long long)bytes_at(d, "first"), count = (long long)bytes_at(d, "rows");
    const long long chunks = (long long)bytes_at(d, "chunks");
    const char *name = json_string_value(json_object_get(d, "name"));
    if (!chunks) {
        printf("  %-8s  idle\n", name);
        return;
    }
    snprintf(rows, sizeof rows, "%lld:%lld", first, first + count);
    printf("  %-8s  %-13s  %7lld  %-12s", name, rows, chunks, shape_at(d, "chunk", chunk));
    const json_t *limit = json_object_get(d, "limit");
    if (!bytes_at(d, "peak_bytes")) {
        printf("  arrays in place\n");
        return;
    }
    printf("  %s: %s fixed + %d x %s", words_bytes(bytes_at(d, "peak_bytes"), b[0]),
           words_bytes(bytes_at(d, "fixed_bytes"), b[1]), (int)bytes_at(d, "slots"),
           words_bytes(bytes_at(d, "chunk_bytes"), b[2]));
    if (bytes_at(d, "block_bytes"))
        printf(" + %d x %s", (int)bytes_at(d, "ring"),
               words_bytes(bytes_at(d, "block_bytes"), b[2]));
    if (bytes_at(d, "reserved_bytes"))
        printf(" + %s held already", words_bytes(bytes_at(d, "reserved_bytes"), b[2]));
    if (json_is_integer(limit)) printf("; limit %s", words_bytes(bytes_at(d, "limit"), b[3]));
    putchar('\n');
}

static void tell(const json_t *plan)
{
    size_t i, j;
    const json_t *op, *d;
    char b[3][WORDS];
    if (json_is_integer(json_object_get(plan, "slab_rows")))
        printf("slabs     %lld of %lld rows; what follows is one\n",
               (long long)bytes_at(plan, "slabs"), (long long)bytes_at(plan, "slab_rows"));
    json_array_foreach(json_object_get(plan, "operations"), i, op)
    {
        printf("%s: %s, %lld chunks of %s; %s a row\n",
               json_string_value(json_object_get(op, "name")),
               json_string_value(json_object_get(op, "mode")), (long long)bytes_at(op, "chunks"),
               shape_at(op, "box", b[0]), words_bytes(bytes_at(op, "row_bytes"), b[1]));
        printf("  %-8s  %-13s  %7s  %-12s  %s\n", "device", "rows", "chunks", "of", "memory");
        json_array_foreach(json_object_get(op, "devices"), j, d) tell_device(d);
        uint64_t staging = 0;
        json_array_foreach(json_object_get(op, "devices"), j, d) staging +=
            bytes_at(d, "staging_bytes");
        printf("  %-8s  %s private copies, %s staging\n", "host",
               words_bytes(bytes_at(op, "private_bytes"), b[0]), words_bytes(staging, b[1]));
    }
    printf("host      at most %s", words_bytes(bytes_at(plan, "host_bytes"), b[0]));
    if (bytes_at(plan, "held_bytes"))
        printf(", %s of it arrays in between", words_bytes(bytes_at(plan, "held_bytes"), b[1]));
    putchar('\n');
}

static int plan(planning *p)
{
    run *r = p->r;
    char *text = NULL;
    int code = read_sizes(p);
    if (!code) code = run_check_distinct(r);
    if (code) return code;
    if (p->in_space) {
        code = make_in_space(p, &text);
        if (code) return code;
    } else {
        const motet_status st = make(p, &text);
        if (st != MOTET_OK) return run_fail(r, r->context, st);
    }
    json_t *made = json_loads(text, 0, NULL);
    motet_text_free(r->context, text);
    if (!made) return complain(p->a->command, EXIT_DEVICE, "no memory for the plan");
    if (r->talks) {
        if (!p->in_space)
            printf("sizes     %lld views of %lld rows x %lld columns\n", (long long)p->views,
                   (long long)p->rows, (long long)p->columns);
        tell(made);
    }
    json_object_update(r->result, made);
    json_decref(made);
    return EXIT_OK;
}

/* The context is for messages and small tables: the flags about devices and memory are about the
 * plan. */
static void without(args *a, const char *name)
{
    const flag_value *v = args_value(a, name);
    if (v->given) a->values[v - a->values] = (flag_value){.choice = -1};
}

/* 1: the list means GPUs of this machine, if it has some, and says nothing of their memory. */
static int means_own(const args *a)
{
    const char *list = args_text(a, "devices");
    if (!list) return 1;
    return device_list_good(list) && (device_list_auto(list) || device_list_gpus(list));
}

/* 1: every item could be planned for without its device. */
static int needs_none(const char *list)
{
    device_item item = {.text = NULL};
    int all = !strchr(list, '/');
    for (const char *at = list; device_list_next(&at, &item);)
        all &= !item.out && device_name(item.text, item.length);
    return all || device_list_auto(list);
}

/* The devices that a run would use are asked themselves, so that the plan knows what is free and
 * held there. They become those of the run's context, unless there are none and the list can do
 * without. */
static int take_own(planning *p)
{
    run *r = p->r;
    const args *a = p->a;
    const char *list = args_given(a, "devices") ? args_text(a, "devices") : "auto";
    const int gpus = motet_context_gpus(r->context, NULL);
    if (!gpus && needs_none(list)) return read_devices(p);
    motet_context_options o;
    motet_context *own = NULL;
    run_options(r, &o);
    o.devices = list;
    o.memory = args_value(a, "memory")->bytes;
    o.host_memory = args_value(a, "host-memory")->bytes;
    const motet_status st = run_context(r, &o, &own);
    if (st == MOTET_BAD_ARGUMENT && needs_none(list)) return read_devices(p);
    if (st != MOTET_OK) return run_context_failed(r, st);
    run_context_free(r, r->context);
    run_context_use(r, own);
    p->own = 1;
    return EXIT_OK;
}

int run_plan(const args *a)
{
    run r = {.args = a};
    planning p = {.r = &r, .a = a};
    motet_plan_options_init(&p.options);
    const int own = means_own(a);
    int code = read_operation(&p);
    if (!code && !own) code = read_devices(&p);
    if (!code && !own) code = read_weights(&p);
    if (code) return code;
    args plain = *a;
    without(&plain, "devices");
    without(&plain, "weights");
    without(&plain, "memory");
    without(&plain, "host-memory");
    without(&plain, "chunk");
    code = run_begin(&r, &plain);
    if (code) return code;
    if (own) code = take_own(&p);
    if (!code && own) code = read_weights(&p);
    if (!code) code = read_limits(&p);
    if (!code) code = plan(&p);
    return run_end(&r, code);
}
