/* motet bench: how fast projection, back-projection and reconstruction are, on slices of a parallel
 * beam and on a cone beam, by instruction set, and how they grow from one thread to several. */
#include <stdio.h>
#include <string.h>

#include "ct_case.h"
#include "words.h"

static const double gate = 1.7; /* least speed-up on GATE_THREADS threads */
enum { GATE_THREADS = 2, STEPS = 3 };

/* What is measured: steps on one kind of scan. */
typedef struct scene {
    ct_scene kind;
    const char *name, *unit;
    ct_step step[STEPS];
    int steps;
} scene;

static const scene scenes[] = {
    {CT_SLICES, "parallel", "updates", {CT_PROJECT, CT_BACKPROJECT, CT_FBP}, 3},
    {CT_CONE, "cone", "cell steps", {CT_PROJECT, CT_BACKPROJECT}, 2}};
enum { SCENES = sizeof scenes / sizeof *scenes };

typedef struct bench {
    run *r;
    const char *devices; /* as given, where it is not the CPU alone; NULL */
    int64_t rows, columns, views, size, repeat;
    const scene *scene; /* the one at hand */
    double work;        /* of one run of it, in its unit */
    json_t *table;
    double slowest; /* the lowest speed-up; 0: not measured */
    const char *slowest_name;
} bench;

enum { LANES = 2 }; /* one thread, and as many as are compared with it */

typedef struct lane {
    int threads;
    motet_context *context;
    ct_case c;
    double best; /* seconds of the step at hand */
} lane;

static motet_status time_step(lane *l, ct_step step, double *seconds)
{
    const motet_array *result;
    if (run_stopped()) return MOTET_CANCELLED;
    const double begun = run_now();
    const motet_status st = ct_case_run(&l->c, step, &result);
    *seconds = run_now() - begun;
    return st;
}

/* The least of several runs, in which the numbers of threads take turns: what else the machine does
 * makes runs longer, never shorter, and what changes slowly meets both alike. The first turn warms
 * up. */
static motet_status measure(bench *b, lane *lanes, int count, ct_step step, motet_context **failed)
{
    for (int64_t turn = 0; turn <= b->repeat; turn++)
        for (int i = 0; i < count; i++) {
            double seconds;
            const motet_status st = time_step(&lanes[i], step, &seconds);
            *failed = lanes[i].context;
            if (st != MOTET_OK) return st;
            if (turn == 1 || (turn && seconds < lanes[i].best)) lanes[i].best = seconds;
        }
    return MOTET_OK;
}

static void tell(bench *b, ct_step step, motet_isa isa, const lane *l, double single)
{
    const double rate = b->work / l->best * 1e-9;
    const char *name = step == CT_FBP ? "recon" : ct_step_name(step);
    const double gain = single > 0 && l->threads > 1 && l->best > 0 ? single / l->best : 0;
    if (gain > 0 && (b->slowest <= 0 || gain < b->slowest)) {
        b->slowest = gain;
        b->slowest_name = name;
    }
    char gains[32] = "";
    if (gain > 0) snprintf(gains, sizeof gains, "%.2f", gain);
    if (b->r->talks) {
        run_progress_end(b->r);
        printf("%-12s  %-4s  %7d  %9.4f  %8.3f  %8.3f  %8s\n", name, motet_isa_text(isa),
               l->threads, l->best, rate, rate / l->threads, gains);
        fflush(stdout);
    }
    json_array_append_new(
        b->table, json_pack("{s:s, s:s, s:s, s:i, s:f, s:s, s:f, s:f, s:o}", "scan", b->scene->name,
                            "operation", name, "isa", motet_isa_text(isa), "threads", l->threads,
                            "seconds", l->best, "unit", b->scene->unit, "giga_per_second", rate,
                            "giga_per_second_a_thread", rate / l->threads, "speed_up",
                            gain > 0 ? json_real(gain) : json_null()));
}

static motet_status open_lane(bench *b, motet_isa isa, int threads, lane *l)
{
    run *r = b->r;
    motet_context_options o;
    run_options(r, &o);
    o.devices = b->devices ? b->devices : "cpu";
    o.isa = isa;
    o.threads = threads;
    l->threads = threads;
    motet_status st = run_context(r, &o, &l->context);
    if (st == MOTET_OK && b->devices) st = run_weights(r, l->context);
    if (st != MOTET_OK) return st;
    if (b->scene->kind != CT_SLICES)
        return ct_case_create_views(l->context, b->scene->kind, b->size, b->views, &l->c);
    return ct_case_create(l->context, b->rows, b->columns, b->views, &l->c);
}

static int most_threads(const bench *b) { return (int)args_whole(b->r->args, "threads", 2); }

static double work_of(const bench *b, const ct_case *c)
{
    if (b->scene->kind != CT_SLICES) return ct_case_crossings(c);
    return (double)b->rows * (double)b->columns * (double)b->columns * (double)b->views;
}

static int isa_table(bench *b, motet_isa isa)
{
    const int count = most_threads(b) > 1 && !b->devices ? LANES : 1;
    lane lanes[LANES] = {0};
    motet_status st = MOTET_OK;
    motet_context *failed = NULL;
    for (int i = 0; i < count && st == MOTET_OK; i++) {
        st = open_lane(b, isa, i || b->devices ? most_threads(b) : 1, &lanes[i]);
        failed = lanes[i].context;
    }
    if (st == MOTET_OK && b->work <= 0) b->work = work_of(b, &lanes[0].c);
    for (int k = 0; k < b->scene->steps && st == MOTET_OK; k++) {
        const ct_step step = b->scene->step[k];
        st = measure(b, lanes, count, step, &failed);
        for (int i = 0; i < count && st == MOTET_OK; i++)
            tell(b, step, isa, &lanes[i], count > 1 ? lanes[0].best : 0);
    }
    const int code = st == MOTET_OK ? EXIT_OK : run_fail(b->r, failed, st);
    for (int i = 0; i < count; i++) {
        if (!lanes[i].context) continue;
        ct_case_free(&lanes[i].c);
        run_context_free(b->r, lanes[i].context);
    }
    return code;
}

static void tell_scene(const bench *b)
{
    const long long n = (long long)b->size, columns = (long long)b->columns;
    if (b->scene->kind == CT_SLICES)
        printf("parallel: volume of %lld x %lld x %lld, %lld views", (long long)b->rows, columns,
               columns, (long long)b->views);
    else
        printf("cone: volume of %lld^3, %lld views of %lld x %lld pixels", n, (long long)b->views,
               2 * n, n + n / 2);
    printf("; the least of %lld runs after a warm-up%s\n\n", (long long)b->repeat,
           b->devices ? "" : ", in which the numbers of threads take turns");
    if (b->devices) printf("on %s\n\n", b->devices);
    printf("%-12s  %-4s  %7s  %9s  %8s  %8s  %8s\n", "operation", "isa", "threads", "seconds",
           "G/s", "a thread", "speed-up");
}

static int measure_scene(bench *b, const scene *at)
{
    run *r = b->r;
    b->scene = at;
    b->work = 0;
    if (r->talks) tell_scene(b);
    const flag_value *isa = args_value(r->args, "isa");
    if (isa->given && isa->choice) return isa_table(b, (motet_isa)isa->choice);
    if (b->devices) return isa_table(b, MOTET_ISA_AUTO);
    int code = EXIT_OK, any = 0;
    const motet_isa fast[] = {MOTET_ISA_V4, MOTET_ISA_V3};
    for (int i = 0; i < 2 && !code; i++) {
        if (!motet_isa_available(fast[i])) continue;
        any = 1;
        code = isa_table(b, fast[i]);
    }
    if (!any && !code) code = isa_table(b, MOTET_ISA_BASE);
    return code;
}

static int measure_all(bench *b)
{
    const char *only = b->r->args->positional[1];
    int code = EXIT_OK, any = 0;
    for (int i = 0; i < SCENES && !code; i++) {
        if (only && strcmp(only, scenes[i].name) != 0) continue;
        if (any++ && b->r->talks) putchar('\n');
        code = measure_scene(b, &scenes[i]);
        if (!code && b->r->talks) printf("\nG/s: 10^9 %s a second\n", scenes[i].unit);
    }
    return code;
}

static const json_t *find(const bench *b, const char *operation, const json_t *like)
{
    size_t i;
    json_t *row;
    json_array_foreach(b->table, i, row)
    {
        if (!strcmp(json_string_value(json_object_get(row, "scan")), "cone") &&
            !strcmp(json_string_value(json_object_get(row, "operation")), operation) &&
            json_equal(json_object_get(row, "isa"), json_object_get(like, "isa")) &&
            json_equal(json_object_get(row, "threads"), json_object_get(like, "threads")))
            return row;
    }
    return NULL;
}

/* How a cone beam's back-projection compares with its projection. */
static void tell_pair(const bench *b)
{
    size_t i;
    json_t *row, *pairs = json_array();
    json_array_foreach(b->table, i, row)
    {
        if (row != find(b, "project", row)) continue;
        const json_t *back = find(b, "backproject", row);
        const double ratio = json_real_value(json_object_get(back, "seconds")) /
                             json_real_value(json_object_get(row, "seconds"));
        const char *isa = json_string_value(json_object_get(row, "isa"));
        const int threads = (int)json_integer_value(json_object_get(row, "threads"));
        json_array_append_new(pairs, json_pack("{s:s, s:i, s:f}", "isa", isa, "threads", threads,
                                               "backproject_over_project", ratio));
        if (b->r->talks)
            printf("%sback-projection takes %.2f times the projection's time (%s, %d thread%s)\n",
                   json_array_size(pairs) > 1 ? "" : "\n", ratio, isa, threads,
                   threads > 1 ? "s" : "");
    }
    json_object_set_new(b->r->result, "pairs", pairs);
}

static void tell_gate(bench *b)
{
    run *r = b->r;
    const int threads = most_threads(b), known = b->slowest > 0,
              gated = known && threads == GATE_THREADS, met = b->slowest >= gate;
    json_object_set(r->result, "table", b->table);
    json_object_set_new(r->result, "devices", json_string(b->devices ? b->devices : "cpu"));
    json_object_set_new(r->result, "threads", json_integer(threads));
    json_object_set_new(r->result, "speed_up", known ? json_real(b->slowest) : json_null());
    json_object_set_new(r->result, "gate", gated ? json_real(gate) : json_null());
    json_object_set_new(r->result, "gate_met", gated ? json_boolean(met) : json_null());
    if (!r->talks) return;
    if (gated)
        printf("\nspeed-up of at least %.1f on %d threads: %s (lowest %.2f, %s)\n", gate, threads,
               met ? "met" : "not met", b->slowest, b->slowest_name);
    else if (known)
        printf("\nlowest speed-up on %d threads: %.2f, %s\n", threads, b->slowest, b->slowest_name);
    else if (!b->devices)
        printf("\nspeed-up: not measured on one thread\n");
}

int run_bench(const args *a)
{
    if (a->positional[0] && strcmp(a->positional[0], "ct"))
        return complain(a->command, EXIT_USAGE, "ENGINE is \"%s\", expected ct", a->positional[0]);
    if (a->positional[1] && choice_index("parallel|cone", a->positional[1]) < 0)
        return complain(a->command, EXIT_USAGE, "SCAN is \"%s\", expected parallel or cone",
                        a->positional[1]);
    run r;
    int code = run_begin(&r, a);
    if (code) return code;
    bench b = {.r = &r,
               .devices = args_text(a, "devices"),
               .rows = args_whole(a, "rows", 32),
               .columns = args_whole(a, "columns", 512),
               .views = args_whole(a, "views", 360),
               .size = args_whole(a, "size", 128),
               .repeat = args_whole(a, "repeat", 5),
               .table = json_array()};
    if (r.devices_used == 1 && !strcmp(r.device[0], "cpu"))
        b.devices = NULL;
    else if (!b.devices)
        b.devices = "auto";
    code = run_check_distinct(&r);
    if (!code) code = measure_all(&b);
    if (!code) tell_pair(&b);
    if (!code) tell_gate(&b);
    json_decref(b.table);
    return run_end(&r, code);
}
