#include "ct_input.h"

#include <math.h>

#include "words.h"

int ct_input_volume(run *r, const char *path, ct_views_known *known, motet_store **out)
{
    motet_store_info info;
    const motet_status st = motet_store_open(r->context, path, args_text(r->args, "entry"), out);
    if (st != MOTET_OK) return run_fail(r, r->context, st);
    motet_store_describe(*out, &info);
    if (info.axes != 3 && info.axes != 2)
        return complain(r->args->command, EXIT_REFUSED, "%s has %d axes, expected 3 (z, y, x)",
                        path, info.axes);
    const int first = info.axes == 2; /* one slice */
    known->input = path;
    known->nz = first ? 1 : info.shape[0];
    known->ny = info.shape[1 - first];
    known->nx = info.shape[2 - first];
    for (int axis = 0; axis < 3 - first; axis++) {
        const double spacing = info.spacing[2 - first - axis];
        if (spacing > 0 && isfinite(spacing)) known->voxel[axis] = spacing;
    }
    return EXIT_OK;
}

int ct_input_scan(run *r, ct_views_known *known, motet_ct_scan **out)
{
    const args *a = r->args;
    motet_ct_scan_options o;
    motet_ct_scan_options_init(&o);
    o.flats = args_text(a, "flats");
    o.darks = args_text(a, "darks");
    o.entry = args_text(a, "entry");
    o.line_integrals = args_given(a, "line-integrals");
    o.nan_as_zero = args_given(a, "nan-as-zero");
    o.no_angles = 1;
    if (o.line_integrals && (o.flats || o.darks))
        return complain(a->command, EXIT_USAGE, "--%s is \"%s\", but --line-integrals needs none",
                        o.flats ? "flats" : "darks", o.flats ? o.flats : o.darks);
    const double begun = run_now();
    const motet_status st = motet_ct_scan_open(r->context, a->positional[0], &o, out);
    if (st != MOTET_OK) return run_fail(r, r->context, st);
    run_stage(r, "open", run_now() - begun);
    motet_ct_scan_info info;
    motet_ct_scan_describe(*out, &info);
    known->input = a->positional[0];
    known->views = info.views;
    known->columns = info.columns;
    known->rows = info.rows;
    known->pitch_u = known->pitch_v = info.pitch;
    /* A file without angles is given zeros. */
    if (info.first_angle != info.last_angle) known->angles = motet_ct_scan_angles(*out);
    return EXIT_OK;
}

/* ---- Values that are none ---- */

void ct_input_look(ct_input_broken *b, const float *values, int64_t count, int64_t slice,
                   int64_t row, int64_t columns)
{
    for (int64_t i = 0; i < count; i++) {
        if (values[i] > -1e30f && values[i] < 1e30f) continue;
        if (b->count++) continue;
        b->value = values[i];
        b->at[0] = slice;
        b->at[1] = row + i / columns;
        b->at[2] = i % columns;
    }
}

int ct_input_refuse(const run *r, const char *path, const ct_input_broken *b)
{
    const int asked = args_given(r->args, "nan-as-zero");
    return complain(r->args->command, EXIT_REFUSED,
                    "%s: %lld values are not finite or beyond 1e30, the first, at (%lld, %lld, "
                    "%lld), is %g; %s",
                    path, (long long)b->count, (long long)b->at[0], (long long)b->at[1],
                    (long long)b->at[2], (double)b->value,
                    asked ? "--nan-as-zero takes them as 0 in memory only (--from-disk no)"
                          : "--nan-as-zero takes them as 0");
}

static void replace(float *values, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (!(values[i] > -1e30f && values[i] < 1e30f)) values[i] = 0.0f;
}

int ct_input_fill(run *r, const char *path, motet_store *store, motet_array *array)
{
    motet_store_info info;
    motet_store_describe(store, &info);
    const int64_t rows = info.axes == 2 ? 1 : info.shape[0];
    const int64_t values = motet_array_elements(array) / rows;
    float *at = motet_array_data(array);
    ct_input_broken broken = {.count = 0};
    for (int64_t row = 0; row < rows; row++) {
        const int64_t first[3] = {row, 0, 0}, count[3] = {1, info.shape[1], info.shape[2]};
        const motet_status st = info.axes == 2
                                    ? motet_store_read(store, 0, info.shape[0], MOTET_F32, at)
                                    : motet_store_read_box(store, first, count, MOTET_F32, at);
        if (st != MOTET_OK) return run_fail(r, r->context, st);
        ct_input_look(&broken, at, values, row, 0, info.shape[info.axes - 1]);
        if (args_given(r->args, "nan-as-zero")) replace(at, values);
        if (run_stopped()) return run_cancelled(r);
        run_progress(r, "read", row + 1, rows);
        at += values;
    }
    if (broken.count && !args_given(r->args, "nan-as-zero"))
        return ct_input_refuse(r, path, &broken);
    if (broken.count)
        complain(r->args->command, EXIT_OK,
                 "warning: %s: %lld values are not finite or beyond 1e30; taken as 0", path,
                 (long long)broken.count);
    motet_array_changed(array);
    return EXIT_OK;
}
