/* motet ct fdk: filtered back-projection of a cone beam; motet ct fbp: of fan and parallel beams.
 */
#include <stdio.h>

#include "ct_task.h"

typedef struct filtered {
    motet_ct_fdk_options options;
    int flat; /* fbp: each row of the detector sees its own slice */
} filtered;

static int choose(ct_task *t, void *user)
{
    filtered *f = user;
    const args *a = t->r->args;
    motet_ct_fdk_options_init(&f->options);
    const flag_value *window = args_value(a, "window"), *scheme = args_value(a, "weights-scheme");
    if (window->given) f->options.filter.window = (motet_ct_window)window->choice;
    f->options.filter.cutoff = args_real(a, "cutoff", 1);
    f->options.filter.pad = args_whole(a, "pad", 0);
    if (scheme->given) f->options.weights = (motet_ct_weights)scheme->choice;
    t->plan_options.filter = &f->options.filter;
    return EXIT_OK;
}

static int check(ct_task *t, void *user)
{
    const filtered *f = user;
    if (!f->flat || t->views.beam == MOTET_CT_BEAM_PARALLEL || t->views.rows == 1) return EXIT_OK;
    return complain(t->r->args->command, EXIT_REFUSED,
                    "a cone beam on %lld rows, expected a fan beam, of one row, or --beam "
                    "parallel; motet ct fdk takes cones",
                    (long long)t->views.rows);
}

static motet_status work(ct_task *t, void *user)
{
    const filtered *f = user;
    return motet_ct_fdk(t->geometry, &f->options, t->sinogram, t->volume);
}

static motet_status work_on_disk(ct_task *t, void *user)
{
    const filtered *f = user;
    return motet_ct_fdk_store(t->geometry, &f->options, t->store, t->output.store);
}

static int reconstruct(const args *a, int flat)
{
    static const ct_task_kind kind = {.operation = MOTET_CT_FDK,
                                      .journal = 1,
                                      .stage = "reconstruct",
                                      .choose = choose,
                                      .check = check,
                                      .work = work,
                                      .work_on_disk = work_on_disk};
    run r;
    const int code = run_begin(&r, a);
    if (code) return code;
    filtered f = {.flat = flat};
    return run_end(&r, ct_task_run(&r, &kind, &f));
}

int run_ct_fdk(const args *a) { return reconstruct(a, 0); }
int run_ct_fbp(const args *a) { return reconstruct(a, 1); }
