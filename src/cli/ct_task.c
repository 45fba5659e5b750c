#include "ct_task.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ct_input.h"
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

/* ---- Memory, before the run ---- */

static uint64_t array_bytes(int64_t a, int64_t b, int64_t c)
{
    uint64_t bytes = sizeof(float);
    const int64_t size[3] = {a, b, c};
    for (int i = 0; i < 3; i++)
        if (__builtin_mul_overflow(bytes, (uint64_t)size[i], &bytes)) return UINT64_MAX / 4;
    return bytes < UINT64_MAX / 4 ? bytes : UINT64_MAX / 4;
}

static uint64_t volume_bytes(const ct_task *t)
{
    return array_bytes(t->views.nz, t->views.ny, t->views.nx);
}

static uint64_t sinogram_bytes(const ct_task *t)
{
    return array_bytes(t->views.views, t->views.columns, t->views.rows);
}

/* The line that stands before a long run, and "memory" of the report's result. */
static void tell_memory(ct_task *t)
{
    run *r = t->r;
    const uint64_t volume = volume_bytes(t), sinogram = sinogram_bytes(t);
    const uint64_t work = (uint64_t)json_integer_value(json_object_get(t->plan, "host_bytes"));
    const uint64_t all = t->opened + volume + sinogram + work;
    json_t *devices = json_object_get(t->plan, "devices"), *d;
    json_object_set_new(r->result, "memory",
                        json_pack("{s:I, s:I, s:I, s:I, s:I, s:O}", "host_bytes", (json_int_t)all,
                                  "input_bytes", (json_int_t)t->opened, "volume_bytes",
                                  (json_int_t)volume, "sinogram_bytes", (json_int_t)sinogram,
                                  "work_bytes", (json_int_t)work, "devices", devices));
    if (!r->talks) return;
    char b[4][WORDS];
    size_t i;
    printf("memory    at most %s on the host: %s volume, %s line integrals, %s at work",
           words_bytes(all, b[0]), words_bytes(volume, b[1]), words_bytes(sinogram, b[2]),
           words_bytes(work, b[3]));
    json_array_foreach(devices, i, d)
    {
        const uint64_t peak = (uint64_t)json_integer_value(json_object_get(d, "peak_bytes"));
        if (peak)
            printf("; %s on %s", words_bytes(peak, b[0]),
                   json_string_value(json_object_get(d, "name")));
    }
    putchar('\n');
    fflush(stdout); /* the run may be long */
}

/* What would not fit is refused here, before anything is read. */
static int plan_memory(ct_task *t, motet_ct_operation operation)
{
    run *r = t->r;
    const args *a = r->args;
    motet_memory memory; /* what files and geometry take already */
    motet_context_memory(r->context, &memory);
    t->opened = (uint64_t)memory.now;
    const uint64_t held = t->opened + volume_bytes(t) + sinogram_bytes(t);
    const uint64_t bound = r->host_memory;
    char b[2][WORDS], *text = NULL;
    if (bound && bound <= held)
        return complain(a->command, EXIT_DEVICE,
                        "volume and line integrals take %s, of %s allowed on the host",
                        words_bytes(held, b[0]), words_bytes(bound, b[1]));
    motet_plan_options *o = &t->plan_options;
    o->chunk = args_whole(a, "chunk", 0);
    o->host_memory = bound ? bound - held : 0;
    o->direct = 1;
    const motet_status st = motet_ct_plan(t->geometry, operation, o, &text);
    if (st != MOTET_OK) return run_fail(r, r->context, st);
    t->plan = json_loads(text, 0, NULL);
    motet_text_free(r->context, text);
    return t->plan ? EXIT_OK : complain(a->command, EXIT_DEVICE, "no memory for the plan");
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
        code = ct_input_fill(r, t->store, t->volume);
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

static int work(ct_task *t, const ct_task_kind *kind, void *user)
{
    run *r = t->r;
    const double begun = run_now();
    const motet_status st = kind->work(t, user);
    if (st != MOTET_OK) return run_fail(r, r->context, st);
    run_stage(r, kind->stage, run_now() - begun);
    ct_output *const outs[] = {&t->output};
    const int code = ct_output_fill(&t->output, kind->projects ? t->sinogram : t->volume);
    return code ? code : ct_output_commit(outs, 1);
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
    if (!code) code = plan_memory(t, kind->operation);
    if (!code)
        code = kind->projects ? ct_output_sinogram(&t->output, r, "output", &t->views)
                              : ct_output_volume(&t->output, r, "output", &t->views);
    if (!code) code = make_arrays(t);
    if (code) return code;
    ct_views_tell(r, &t->views);
    tell_memory(t);
    code = read_input(t);
    if (!code && kind->ready) code = kind->ready(t, user);
    if (!code && kind->journal) code = resume_begin(r);
    if (!code) code = work(t, kind, user);
    if (code) return code;
    if (kind->journal) resume_end(r);
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
