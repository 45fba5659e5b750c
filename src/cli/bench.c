/* motet bench: how fast projection, back-projection and reconstruction are, by instruction set, and
 * how they grow from one thread to two. The median of several runs after one warm-up. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ct_case.h"
#include "words.h"

static const double gate = 1.7; /* least speed-up on two threads */
static const ct_step measured[] = {CT_PROJECT, CT_BACKPROJECT, CT_FBP};
enum { MEASURED = sizeof measured / sizeof *measured };

typedef struct bench {
    run *r;
    int64_t rows, columns, views, repeat;
    double *times;
    json_t *table;
    double slowest; /* the lowest speed-up on two threads; 0: not measured */
    const char *slowest_name;
} bench;

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median seconds of one step. */
static motet_status measure(bench *b, ct_case *c, ct_step step, double *seconds)
{
    const motet_array *result;
    motet_status st = ct_case_run(c, step, &result);
    for (int64_t i = 0; i < b->repeat && st == MOTET_OK; i++) {
        if (run_stopped()) return MOTET_CANCELLED;
        const double begun = run_now();
        st = ct_case_run(c, step, &result);
        b->times[i] = run_now() - begun;
    }
    qsort(b->times, (size_t)b->repeat, sizeof *b->times, by_value);
    const int64_t half = b->repeat / 2;
    *seconds = b->repeat % 2 ? b->times[half] : (b->times[half - 1] + b->times[half]) / 2;
    return st;
}

static void tell(bench *b, ct_step step, motet_isa isa, int threads, double seconds, double single)
{
    const double updates = (double)b->rows * (double)b->columns * (double)b->columns *
                           (double)b->views / seconds * 1e-9;
    const char *name = step == CT_FBP ? "recon" : ct_step_name(step);
    const double gain = single > 0 ? single / seconds : 0;
    if (threads == 2 && gain > 0 && (b->slowest <= 0 || gain < b->slowest)) {
        b->slowest = gain;
        b->slowest_name = name;
    }
    char gains[32] = "";
    if (gain > 0) snprintf(gains, sizeof gains, "%.2f", gain);
    if (b->r->talks) {
        run_progress_end(b->r);
        printf("%-12s  %-4s  %7d  %9.4f  %11.3f  %8s\n", name, motet_isa_text(isa), threads,
               seconds, updates, gains);
        fflush(stdout);
    }
    json_array_append_new(b->table,
                          json_pack("{s:s, s:s, s:i, s:f, s:f, s:o}", "operation", name, "isa",
                                    motet_isa_text(isa), "threads", threads, "seconds", seconds,
                                    "giga_updates_per_second", updates, "speed_up",
                                    gain > 0 ? json_real(gain) : json_null()));
}

static motet_status all_steps(bench *b, motet_context *context, motet_isa isa, int threads,
                              double single[MEASURED])
{
    ct_case c;
    motet_status st = ct_case_create(context, b->rows, b->columns, b->views, &c);
    if (st != MOTET_OK) return st;
    for (int i = 0; i < MEASURED && st == MOTET_OK; i++) {
        double seconds = 0;
        st = measure(b, &c, measured[i], &seconds);
        if (st == MOTET_OK) tell(b, measured[i], isa, threads, seconds, single[i]);
        if (threads == 1) single[i] = seconds;
    }
    ct_case_free(&c);
    return st;
}

static int configuration(bench *b, motet_isa isa, int threads, double single[MEASURED])
{
    run *r = b->r;
    if (run_stopped()) return run_cancelled(r);
    motet_context_options o;
    run_options(r, &o);
    o.devices = "cpu";
    o.isa = isa;
    o.threads = threads;
    motet_context *context = NULL;
    motet_status st = run_context(r, &o, &context);
    if (st != MOTET_OK) return run_fail(r, NULL, st);
    st = all_steps(b, context, isa, threads, single);
    const int code = st == MOTET_OK ? EXIT_OK : run_fail(r, context, st);
    run_context_free(r, context);
    return code;
}

static int isa_table(bench *b, motet_isa isa)
{
    const int most = (int)args_whole(b->r->args, "threads", 2);
    double single[MEASURED] = {0};
    int code = configuration(b, isa, 1, single);
    if (!code && most > 1) code = configuration(b, isa, most, single);
    return code;
}

static int measure_all(bench *b)
{
    run *r = b->r;
    if (r->talks) {
        printf(
            "ct: volume of %lld x %lld x %lld, %lld views; median of %lld runs after a warm-up\n\n",
            (long long)b->rows, (long long)b->columns, (long long)b->columns, (long long)b->views,
            (long long)b->repeat);
        printf("%-12s  %-4s  %7s  %9s  %11s  %8s\n", "operation", "isa", "threads", "seconds",
               "G updates/s", "speed-up");
    }
    const flag_value *isa = args_value(r->args, "isa");
    if (isa->given && isa->choice) return isa_table(b, (motet_isa)isa->choice);
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

static void tell_gate(bench *b)
{
    run *r = b->r;
    json_object_set(r->result, "table", b->table);
    json_object_set_new(r->result, "gate", json_real(gate));
    const int known = b->slowest > 0;
    json_object_set_new(r->result, "speed_up", known ? json_real(b->slowest) : json_null());
    json_object_set_new(r->result, "gate_met",
                        known ? json_boolean(b->slowest >= gate) : json_null());
    if (!r->talks) return;
    if (known)
        printf("\nspeed-up of at least %.1f on 2 threads: %s (lowest %.2f, %s)\n", gate,
               b->slowest >= gate ? "met" : "not met", b->slowest, b->slowest_name);
    else
        printf("\nspeed-up on 2 threads: not measured\n");
}

int run_bench(const args *a)
{
    if (a->positional[0] && strcmp(a->positional[0], "ct"))
        return complain(a->command, EXIT_USAGE, "ENGINE is \"%s\", expected ct", a->positional[0]);
    run r;
    int code = run_begin(&r, a);
    if (code) return code;
    bench b = {.r = &r,
               .rows = args_whole(a, "rows", 16),
               .columns = args_whole(a, "columns", 256),
               .views = args_whole(a, "views", 180),
               .repeat = args_whole(a, "repeat", 5),
               .table = json_array()};
    b.times = calloc((size_t)b.repeat, sizeof *b.times);
    code = run_check_distinct(&r);
    if (!code && !b.times)
        code = complain(a->command, EXIT_DEVICE, "no memory for %lld times", (long long)b.repeat);
    if (!code) code = measure_all(&b);
    if (!code) tell_gate(&b);
    free(b.times);
    json_decref(b.table);
    return run_end(&r, code);
}
