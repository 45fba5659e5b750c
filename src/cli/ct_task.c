#include "ct_task.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ct_input.h"
#include "ct_memory.h"
#include "resume.h"
#include "words.h"

static int name_files(run *r)
{
    const args *a = r->args;
    run_input(r, a->positional[0]);
    run_input(r, args_text(a, "flats"));
    run_input(r, args_text(a, "darks"));
    run_input(r, args_text(a, "initial"));
    run_output(r, args_text(a, "output"));
    run_output(r, args_text(a, "png"));
    return EXIT_OK;
}

static int take_geometry(ct_task *t, const ct_views_known *known)
{
    run *r = t->r;
    int code = ct_views_take(r, known, &t->views);
    if (!code) code = run_check_distinct(r);
    if (code) return code;
    const motet_status st = motet_ct_geometry_create(r->context, &t->views, &t->geometry);
    return st == MOTET_OK ? EXIT_OK : run_fail(r, r->context, st);
}

/* ---- Arrays ---- */

/* The output is written in place: whole or not at all is the file's business here. */
static motet_status make_array(ct_task *t, int i, const int64_t shape[3], motet_array **out)
{
    const motet_status st = motet_array_create(t->r->context, MOTET_F32, 3, shape, &t->memory[i]);
    if (st != MOTET_OK) return st;
    return motet_array_wrap(t->r->context, motet_array_data(t->memory[i]), MOTET_F32, 3, shape,
                            MOTET_WRITE_DIRECT, out);
}

static int make_arrays(ct_task *t)
{
    run *r = t->r;
    const motet_ct_views *v = &t->views;
    motet_status st = make_array(t, 0, (const int64_t[]){v->nz, v->ny, v->nx}, &t->volume);
    if (st == MOTET_OK)
        st = make_array(t, 1, (const int64_t[]){v->views, v->columns, v->rows}, &t->sinogram);
    return st == MOTET_OK ? EXIT_OK : run_fail(r, r->context, st);
}

static int read_input(ct_task *t)
{
    run *r = t->r;
    const double begun = run_now();
    int code = EXIT_OK;
    if (t->store) {
        code = ct_input_fill(r, r->args->positional[0], t->store, t->volume);
    } else {
        const motet_status st = motet_ct_scan_read(t->scan, 0, t->sinogram);
        if (st != MOTET_OK) code = run_fail(r, r->context, st);
    }
    run_stage(r, "read", run_now() - begun);
    return code;
}

static int open_input(ct_task *t, int projects, ct_views_known *known)
{
    if (projects) return ct_input_volume(t->r, t->r->args->positional[0], known, &t->store);
    return ct_input_scan(t->r, known, &t->scan);
}

static int in_memory(ct_task *t, const ct_task_kind *kind, void *user)
{
    run *r = t->r;
    int code = read_input(t);
    if (!code && kind->ready) code = kind->ready(t, user);
    if (!code && kind->journal) code = resume_begin(r);
    if (code) return code;
    const double begun = run_now();
    const motet_status st = kind->work(t, user);
    if (st != MOTET_OK) return run_fail(r, r->context, st);
    run_stage(r, kind->stage, run_now() - begun);
    ct_output *const outs[] = {&t->output};
    code = ct_output_fill(&t->output, kind->projects ? t->sinogram : t->volume);
    if (!code) code = ct_output_commit(outs, 1);
    if (!code && kind->journal) resume_end(r);
    return code;
}

/* From file to file nobody would see values that are none, so the file is looked through first, a
 * few rows of a frame at a time. */
static int check_values(ct_task *t)
{
    enum { MOST = 1 << 20 }; /* values at a time, where a row is not more */
    run *r = t->r;
    motet_store_info info;
    motet_store_describe(t->store, &info);
    if (info.axes == 2) { /* one slice */
        info.shape[2] = info.shape[1];
        info.shape[1] = info.shape[0];
        info.shape[0] = 1;
    } else if (info.axes != 3) {
        return EXIT_OK; /* refused by who reads it */
    }
    const int64_t columns = info.shape[2];
    const int64_t lines = columns < MOST ? MOST / (columns ? columns : 1) : 1;
    const int64_t most = lines < info.shape[1] ? lines : info.shape[1];
    float *values = malloc((size_t)(most * columns) * sizeof *values + 1);
    if (!values) return complain(r->args->command, EXIT_DEVICE, "no memory to look at the input");
    ct_input_broken broken = {.count = 0};
    motet_status st = MOTET_OK;
    for (int64_t k = 0; k < info.shape[0] && st == MOTET_OK; k++)
        for (int64_t i = 0; i < info.shape[1] && st == MOTET_OK; i += most) {
            const int64_t some = info.shape[1] - i < most ? info.shape[1] - i : most;
            if (run_stopped())
                st = MOTET_CANCELLED;
            else if (info.axes == 2)
                st = motet_store_read(t->store, i, some, MOTET_F32, values);
            else
                st = motet_store_read_box(t->store, (int64_t[]){k, i, 0},
                                          (int64_t[]){1, some, columns}, MOTET_F32, values);
            if (st == MOTET_OK) ct_input_look(&broken, values, some * columns, k, i, columns);
        }
    free(values);
    if (st == MOTET_CANCELLED) return run_cancelled(r);
    if (st != MOTET_OK) return run_fail(r, r->context, st);
    return broken.count ? ct_input_refuse(r, r->args->positional[0], &broken) : EXIT_OK;
}

/* From file to file. */
static int from_disk(ct_task *t, const ct_task_kind *kind, void *user)
{
    run *r = t->r;
    const args *a = r->args;
    if (!kind->projects) {
        if (!args_given(a, "line-integrals"))
            return complain(a->command, EXIT_USAGE,
                            "--from-disk is \"yes\", which takes --line-integrals: counts are "
                            "normalised in memory");
        const motet_status st =
            motet_store_open(r->context, a->positional[0], args_text(a, "entry"), &t->store);
        if (st != MOTET_OK) return run_fail(r, r->context, st);
    }
    const int code = check_values(t);
    if (code) return code;
    if (kind->journal && args_given(a, "resume"))
        complain(a->command, EXIT_OK,
                 "warning: nothing is kept in --resume, as the work goes from file to file");
    if (args_real(a, "verify-fraction", 0) > 0)
        complain(a->command, EXIT_OK,
                 "warning: --verify-fraction checks nothing, as the work goes from file to file");
    const double begun = run_now();
    const motet_status st = kind->work_on_disk(t, user);
    if (st != MOTET_OK) return run_fail(r, r->context, st);
    run_stage(r, kind->stage, run_now() - begun);
    return ct_output_finish(&t->output);
}

static int all(ct_task *t, const ct_task_kind *kind, void *user)
{
    run *r = t->r;
    ct_views_known known;
    memset(&known, 0, sizeof known);
    name_files(r);
    int code = run_check_distinct(r);
    if (!code && kind->choose) code = kind->choose(t, user);
    if (!code) code = open_input(t, kind->projects, &known);
    if (!code) code = take_geometry(t, &known);
    if (!code && kind->check) code = kind->check(t, user);
    if (!code) /* first: it takes memory, too */
        code = kind->projects ? ct_output_sinogram(&t->output, r, "output", &t->views)
                              : ct_output_volume(&t->output, r, "output", &t->views);
    if (!code) code = ct_memory_plan(t, kind->operation);
    if (!code && !t->from_disk) code = make_arrays(t);
    if (code) return code;
    ct_views_tell(r, &t->views);
    ct_memory_tell(t);
    code = t->from_disk ? from_disk(t, kind, user) : in_memory(t, kind, user);
    if (code) return code;
    run_progress_end(r);
    if (kind->tell) kind->tell(t, user);
    ct_output_tell(&t->output);
    return EXIT_OK;
}

int ct_task_run(run *r, const ct_task_kind *kind, void *user)
{
    ct_task t = {.r = r};
    motet_plan_options_init(&t.plan_options);
    const int code = all(&t, kind, user);
    ct_output_free(&t.output);
    motet_array_free(t.volume);
    motet_array_free(t.sinogram);
    for (int i = 0; i < 2; i++) motet_array_free(t.memory[i]);
    motet_ct_geometry_free(t.geometry);
    motet_ct_views_release(r->context, &t.views);
    motet_ct_scan_free(t.scan);
    motet_store_free(t.store);
    json_decref(t.plan);
    return code;
}
