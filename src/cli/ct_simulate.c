/* motet ct simulate: a scan made from nothing. */
#include <stdio.h>

#include "words.h"

static int simulate(run *r)
{
    const args *a = r->args;
    const char *path = args_text(a, "output");
    run_output(r, path);
    const int code = run_check_distinct(r);
    if (code) return code;
    motet_ct_simulate_options o;
    motet_ct_simulate_options_init(&o);
    o.views = args_whole(a, "views", o.views);
    o.rows = args_whole(a, "rows", o.rows);
    o.columns = args_whole(a, "columns", o.columns);
    o.flats = args_whole(a, "flats", o.flats);
    o.darks = args_whole(a, "darks", o.darks);
    o.centre = args_real(a, "center", (double)(o.columns - 1) / 2);
    o.arc = args_real(a, "arc", o.arc);
    o.counts = args_real(a, "counts", o.counts);
    o.pitch = args_real(a, "pitch", o.pitch);
    o.seed = (uint64_t)args_whole(a, "seed", 0);
    const double begun = run_now();
    const motet_status st = motet_ct_simulate(r->context, &o, path, args_given(a, "overwrite"));
    if (st != MOTET_OK) return run_fail(r, r->context, st);
    run_stage(r, "simulate", run_now() - begun);
    run_progress_end(r);
    json_object_set_new(r->result, "views", json_integer(o.views));
    json_object_set_new(r->result, "rows", json_integer(o.rows));
    json_object_set_new(r->result, "columns", json_integer(o.columns));
    json_object_set_new(r->result, "center", json_finite(o.centre));
    if (r->talks)
        printf("%s: %lld views of %lld rows x %lld columns, axis at column %.9g, %lld flats, %lld "
               "darks\n",
               path, (long long)o.views, (long long)o.rows, (long long)o.columns, o.centre,
               (long long)o.flats, (long long)o.darks);
    return EXIT_OK;
}

int run_ct_simulate(const args *a)
{
    run r;
    int code = run_begin(&r, a);
    if (code) return code;
    code = simulate(&r);
    return run_end(&r, code);
}
