/* motet ct cgls and motet ct sirt: iterative reconstruction. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ct_input.h"
#include "ct_task.h"
#include "words.h"

typedef motet_status solver_fn(motet_ct_geometry *, const motet_ct_solve_options *,
                               const motet_array *, motet_array *, motet_ct_solve_result *);

typedef motet_status disk_solver_fn(motet_ct_geometry *, const motet_ct_solve_options *,
                                    motet_store *, motet_store *, motet_store *,
                                    motet_ct_solve_result *);

typedef motet_status forget_fn(motet_context *, const char *);

typedef struct solving {
    run *r;
    const char *name; /* "cgls" */
    solver_fn *solve;
    disk_solver_fn *solve_on_disk;
    forget_fn *forget;
    motet_store *initial; /* what it begins at; NULL: zeros */
    motet_ct_solve_options options;
    motet_ct_solve_result result;
    json_t *residuals; /* |b - A x| / |b| after each iteration, the first before any */
} solving;

static motet_status each(const motet_ct_iteration *i, void *user)
{
    solving *s = user;
    char phase[64];
    snprintf(phase, sizeof phase, "%s, residual %.4g of the data's norm", s->name, i->relative);
    run_progress(s->r, phase, i->number, s->options.iterations);
    json_array_append_new(s->residuals, json_finite(i->relative));
    return run_stopped() ? MOTET_CANCELLED : MOTET_OK;
}

static int choose(ct_task *t, void *user)
{
    solving *s = user;
    const args *a = t->r->args;
    motet_ct_solve_options *o = &s->options;
    motet_ct_solve_options_init(o);
    o->iterations = args_whole(a, "iterations", o->iterations);
    o->tolerance = args_real(a, "tolerance", o->tolerance);
    o->stall = args_real(a, "stall", o->stall);
    o->warm_start = args_given(a, "initial");
    o->relaxation = args_real(a, "relaxation", o->relaxation);
    o->least = args_given(a, "nonnegative") ? 0 : args_real(a, "least", o->least);
    o->greatest = args_real(a, "greatest", o->greatest);
    o->checkpoint = args_text(a, "resume");
    o->keep_checkpoint = 1; /* until the output is in its place */
    t->plan_options.checkpoint = o->checkpoint != NULL;
    o->each = each;
    o->user = s;
    if (args_given(a, "nonnegative") && args_given(a, "least"))
        return complain(a->command, EXIT_USAGE, "--least is \"%s\", but --nonnegative makes it 0",
                        args_text(a, "least"));
    if (o->least > o->greatest)
        return complain(a->command, EXIT_USAGE, "--greatest is \"%s\", expected at least %.9g",
                        args_text(a, "greatest"), o->least);
    return EXIT_OK;
}

/* --initial, if it is given: a volume of the right size. */
static int open_initial(ct_task *t, motet_store **out)
{
    run *r = t->r;
    const char *path = args_text(r->args, "initial");
    if (!path) return EXIT_OK;
    ct_views_known k;
    memset(&k, 0, sizeof k);
    const int code = ct_input_volume(r, path, &k, out);
    if (code || (k.nx == t->views.nx && k.ny == t->views.ny && k.nz == t->views.nz)) return code;
    return complain(r->args->command, EXIT_REFUSED,
                    "%s has %lld x %lld x %lld voxels, the volume %lld x %lld x %lld", path,
                    (long long)k.nx, (long long)k.ny, (long long)k.nz, (long long)t->views.nx,
                    (long long)t->views.ny, (long long)t->views.nz);
}

static int check(ct_task *t, void *user)
{
    solving *s = user;
    return open_initial(t, &s->initial);
}

static int ready(ct_task *t, void *user)
{
    solving *s = user;
    const char *path = args_text(t->r->args, "initial");
    return s->initial ? ct_input_fill(t->r, path, s->initial, t->volume) : EXIT_OK;
}

static motet_status work(ct_task *t, void *user)
{
    solving *s = user;
    t->r->alone = 1; /* an iteration is many operations */
    const motet_status st = s->solve(t->geometry, &s->options, t->sinogram, t->volume, &s->result);
    t->r->alone = 0;
    return st;
}

static motet_status work_on_disk(ct_task *t, void *user)
{
    solving *s = user;
    t->r->alone = 1;
    const motet_status st = s->solve_on_disk(t->geometry, &s->options, s->initial, t->store,
                                             t->output.store, &s->result);
    t->r->alone = 0;
    return st;
}

/* The output is in its place. */
static void forget(const solving *s)
{
    const run *r = s->r;
    const char *folder = args_text(r->args, "resume");
    motet_error error;
    if (!folder) return;
    if (s->forget(r->context, folder) == MOTET_OK) {
        rmdir(folder); /* what else is in it stays */
        return;
    }
    motet_context_error(r->context, &error);
    complain(r->args->command, EXIT_OK, "warning: the checkpoint stays: %s", error.message);
}

static void tell(ct_task *t, void *user)
{
    const solving *s = user;
    run *r = t->r;
    static const char *const stops[] = {
#define STOP(name, number, text) [number] = text,
        MOTET_CT_STOP_LIST(STOP)
#undef STOP
    };
    const motet_ct_solve_result *k = &s->result;
    forget(s);
    json_object_set_new(r->result, "iterations", json_integer(k->iterations));
    json_object_set_new(r->result, "resumed", json_integer(k->resumed));
    json_object_set_new(r->result, "residual", json_finite(k->residual));
    json_object_set_new(r->result, "relative", json_finite(k->relative));
    json_object_set_new(r->result, "stop", json_string(stops[k->stop]));
    json_object_set(r->result, "residuals", s->residuals);
    if (!r->talks) return;
    printf("solved    %lld iterations", (long long)k->iterations);
    if (k->resumed) printf(", %lld of them before", (long long)k->resumed);
    printf("; stopped by %s; residual %.6g, %.4g of the data's norm\n", stops[k->stop], k->residual,
           k->relative);
}

static int solve(const args *a, motet_ct_operation operation, solving s)
{
    const ct_task_kind kind = {.operation = operation,
                               .stage = "solve",
                               .choose = choose,
                               .check = check,
                               .ready = ready,
                               .work = work,
                               .work_on_disk = work_on_disk,
                               .tell = tell};
    run r;
    const int code = run_begin(&r, a);
    if (code) return code;
    s.r = &r;
    s.residuals = json_array();
    const int done = ct_task_run(&r, &kind, &s);
    json_decref(s.residuals);
    motet_store_free(s.initial);
    return run_end(&r, done);
}

int run_ct_cgls(const args *a)
{
    return solve(a, MOTET_CT_CGLS,
                 (solving){.name = "cgls",
                           .solve = motet_ct_cgls,
                           .solve_on_disk = motet_ct_cgls_store,
                           .forget = motet_ct_cgls_forget});
}

int run_ct_sirt(const args *a)
{
    return solve(a, MOTET_CT_SIRT,
                 (solving){.name = "sirt",
                           .solve = motet_ct_sirt,
                           .solve_on_disk = motet_ct_sirt_store,
                           .forget = motet_ct_sirt_forget});
}
