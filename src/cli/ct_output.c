#include "ct_output.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "picture.h"
#include "quantise.h"
#include "supervise.h"
#include "words.h"

static int ends_in(const char *path, const char *ending)
{
    const size_t n = strlen(path), m = strlen(ending);
    return n > m && !strcasecmp(path + n - m, ending);
}

static int begin_picture(ct_output *out)
{
    run *r = out->r;
    const args *a = r->args;
    const char *png = args_text(a, "png"), *slice = args_text(a, "slice");
    out->slice = args_whole(a, "slice", out->shape[0] / 2);
    if (slice && !png)
        return complain(a->command, EXIT_USAGE,
                        "--slice is \"%s\", but without --png there is no picture", slice);
    if (out->slice >= out->shape[0])
        return complain(a->command, EXIT_REFUSED, "--slice is \"%s\", there are %s 0 to %lld",
                        slice, out->views ? "views" : "slices", (long long)out->shape[0] - 1);
    if (!png) return EXIT_OK;
    if (!ends_in(png, ".png"))
        return complain(a->command, EXIT_USAGE, "--png is \"%s\", expected a path ending in .png",
                        png);
    const int64_t high = out->shape[out->views ? 2 : 1], wide = out->shape[out->views ? 1 : 2];
    const motet_store_info picture = {.type = MOTET_U8, .axes = 2, .shape = {high, wide}};
    const motet_status st =
        motet_store_create(r->context, png, NULL, &picture, args_given(a, "overwrite"), &out->png);
    return st == MOTET_OK ? EXIT_OK : run_fail(r, r->context, st);
}

static int begin(ct_output *out, const motet_store_info *info)
{
    run *r = out->r;
    const motet_status st = motet_store_create(r->context, out->path, NULL, info,
                                               args_given(r->args, "overwrite"), &out->store);
    if (st != MOTET_OK) return run_fail(r, r->context, st);
    return out->path == args_text(r->args, "output") ? begin_picture(out) : EXIT_OK;
}

/* Sizes and lengths along an axis of a file. */
static void set_axis(motet_store_info *info, int axis, int64_t size, double spacing, double middle)
{
    info->shape[axis] = size;
    info->spacing[axis] = spacing;
    info->origin[axis] = middle - 0.5 * (double)(size - 1) * spacing;
}

int ct_output_volume(ct_output *out, run *r, const char *name, const motet_ct_views *v)
{
    const int64_t size[3] = {v->nx, v->ny, v->nz};
    motet_store_info info = {.type = MOTET_F32, .axes = 3};
    *out = (ct_output){.r = r, .path = args_text(r->args, name), .shape = {v->nz, v->ny, v->nx}};
    for (int i = 0; i < 3; i++) set_axis(&info, 2 - i, size[i], v->voxel[i], v->centre[i]);
    return begin(out, &info);
}

int ct_output_sinogram(ct_output *out, run *r, const char *name, const motet_ct_views *v)
{
    motet_store_info info = {.type = MOTET_F32, .axes = 3};
    *out = (ct_output){.r = r,
                       .path = args_text(r->args, name),
                       .views = 1,
                       .shape = {v->views, v->columns, v->rows}};
    out->turned = !ends_in(out->path, ".npy") && !ends_in(out->path, ".npz");
    info.shape[0] = v->views;
    info.spacing[0] = 1;
    set_axis(&info, out->turned ? 2 : 1, v->columns, v->pitch_u, 0);
    set_axis(&info, out->turned ? 1 : 2, v->rows, v->pitch_v, 0);
    return begin(out, &info);
}

/* A view with its rows one below the other. */
static void turn(const ct_output *out, const float *from, float *to)
{
    const int64_t n = out->shape[1], m = out->shape[2];
    for (int64_t j = 0; j < m; j++)
        for (int64_t i = 0; i < n; i++) to[j * n + i] = from[i * m + j];
}

static int draw(ct_output *out, const float *row)
{
    run *r = out->r;
    const int64_t values = out->shape[1] * out->shape[2];
    const int64_t high = out->shape[out->views ? 2 : 1], wide = out->shape[out->views ? 1 : 2];
    uint8_t *grey = malloc((size_t)values);
    if (!grey || !picture_window(row, high, wide, &out->black, &out->white)) {
        free(grey);
        return complain(r->args->command, EXIT_DEVICE, "no memory for the picture");
    }
    picture_grey(row, values, out->black, out->white, grey);
    const motet_status st = motet_store_write(out->png, 0, high, grey);
    free(grey);
    return st == MOTET_OK ? EXIT_OK : run_fail(r, r->context, st);
}

static int write_rows(ct_output *out, const float *values)
{
    run *r = out->r;
    const int64_t count = out->shape[1] * out->shape[2];
    float *room = out->views ? malloc((size_t)count * sizeof *room) : NULL;
    if (out->views && !room) return complain(r->args->command, EXIT_DEVICE, "no memory for a view");
    extent seen;
    extent_begin(&seen);
    int code = EXIT_OK;
    for (int64_t row = 0; row < out->shape[0] && !code; row++) {
        const float *here = values + row * count;
        if (out->views) turn(out, here, room);
        extent_add_f32(&seen, here, count);
        const motet_status st = motet_store_write(out->store, row, 1, out->turned ? room : here);
        if (st != MOTET_OK) code = run_fail(r, r->context, st);
        if (!code && out->png && row == out->slice) code = draw(out, out->views ? room : here);
        if (!code && run_stopped()) code = run_cancelled(r);
        run_progress(r, "write", row + 1, out->shape[0]);
    }
    free(room);
    out->minimum = seen.low;
    out->maximum = seen.high;
    return code;
}

int ct_output_fill(ct_output *out, motet_array *array)
{
    run *r = out->r;
    const double begun = run_now();
    motet_status st = motet_array_fetch(array);
    if (st == MOTET_OK) st = motet_array_digest(array, out->digest);
    if (st != MOTET_OK) return run_fail(r, r->context, st);
    const int code = write_rows(out, motet_array_data(array));
    run_progress_end(r);
    run_stage(r, "write", run_now() - begun);
    return code;
}

/* All files are whole and synced before the first takes its place; left are renames, the last
 * output's last: if one fails, those before it that replaced nothing go again. */
int ct_output_commit(ct_output *const outs[], int count)
{
    enum { FILES = 4 };
    run *r = outs[0]->r;
    motet_store *store[FILES];
    const char *path[FILES];
    int files = 0, done = 0;
    for (int i = 0; i < count; i++) {
        if (outs[i]->png) path[files] = args_text(r->args, "png"), store[files++] = outs[i]->png;
        path[files] = outs[i]->path;
        store[files++] = outs[i]->store;
    }
    if (run_stopped()) return run_cancelled(r);
    const double begun = run_now();
    motet_status st = MOTET_OK;
    for (int i = 0; i < files && st == MOTET_OK; i++) st = motet_store_prepare(store[i]);
    for (int i = 0; i < files; i++) child_placing(path[i]);
    child_placing(args_text(r->args, "json"));
    for (; done < files && st == MOTET_OK; done += st == MOTET_OK)
        st = motet_store_commit(store[done]);
    run_stage(r, "write", run_now() - begun);
    if (st == MOTET_OK) return EXIT_OK;
    const int code = run_fail(r, r->context, st);
    for (int i = 0; i < done && !args_given(r->args, "overwrite"); i++) unlink(path[i]);
    return code;
}

/* The picture, of a frame as it lies in the file; that frame alone is in memory. */
static int draw_from(ct_output *out, motet_store *written)
{
    run *r = out->r;
    const int64_t count = out->shape[1] * out->shape[2];
    const int turns = out->views && !out->turned;
    float *frame = malloc((size_t)(turns ? 2 : 1) * (size_t)count * sizeof *frame);
    if (!frame) return complain(r->args->command, EXIT_DEVICE, "no memory for a slice");
    const motet_status st = motet_store_read(written, out->slice, 1, MOTET_F32, frame);
    int code = st == MOTET_OK ? EXIT_OK : run_fail(r, r->context, st);
    if (!code && turns) turn(out, frame, frame + count);
    if (!code) code = draw(out, turns ? frame + count : frame);
    free(frame);
    return code;
}

/* The extent of all values, some lines at a time: frames may be as large as memory. */
static int read_back(ct_output *out, motet_store *written)
{
    enum { MOST = 1 << 18 }; /* values at a time, where a line is not more */
    run *r = out->r;
    const int64_t lines = out->shape[out->turned ? 2 : 1], line = out->shape[out->turned ? 1 : 2];
    int64_t most = line < MOST ? MOST / line : 1;
    if (most > lines) most = lines;
    float *values = malloc((size_t)(most * line) * sizeof *values);
    if (!values) return complain(r->args->command, EXIT_DEVICE, "no memory to look at the output");
    extent seen;
    extent_begin(&seen);
    int code = EXIT_OK;
    for (int64_t k = 0; k < out->shape[0] && !code; k++) {
        for (int64_t i = 0; i < lines && !code; i += most) {
            const int64_t first[3] = {k, i, 0};
            const int64_t part[3] = {1, i + most < lines ? most : lines - i, line};
            const motet_status st = motet_store_read_box(written, first, part, MOTET_F32, values);
            if (st != MOTET_OK) code = run_fail(r, r->context, st);
            if (!code) extent_add_f32(&seen, values, part[1] * line);
            if (!code && run_stopped()) { /* too late to undo anything */
                run_progress_end(r);
                code = complain(r->args->command, EXIT_CANCELLED,
                                "cancelled; %.200s is whole, but its values were not looked at",
                                out->path);
            }
        }
        run_progress(r, "look", k + 1, out->shape[0]);
    }
    free(values);
    if (!code && out->png) code = draw_from(out, written);
    out->minimum = seen.low;
    out->maximum = seen.high;
    return code;
}

int ct_output_finish(ct_output *out)
{
    run *r = out->r;
    const double begun = run_now();
    if (run_stopped()) return run_cancelled(r);
    child_placing(out->path);
    child_placing(args_text(r->args, "png"));
    child_placing(args_text(r->args, "json"));
    motet_store *written = NULL;
    motet_status st = motet_store_commit(out->store);
    if (st == MOTET_OK) st = motet_store_open(r->context, out->path, NULL, &written);
    int code = st == MOTET_OK ? read_back(out, written) : run_fail(r, r->context, st);
    motet_store_free(written);
    if (!code && out->png) {
        st = motet_store_commit(out->png);
        if (st != MOTET_OK) code = run_fail(r, r->context, st);
    }
    run_progress_end(r);
    run_stage(r, "write", run_now() - begun);
    return code;
}

void ct_output_tell(ct_output *out)
{
    run *r = out->r;
    const args *a = r->args;
    json_object_set_new(r->result, "shape", json_shape(out->shape, 3));
    json_object_set_new(r->result, "minimum", json_finite(out->minimum));
    json_object_set_new(r->result, "maximum", json_finite(out->maximum));
    json_object_set_new(r->result, "digest", *out->digest ? json_string(out->digest) : json_null());
    if (out->png) {
        json_object_set_new(r->result, "slice", json_integer(out->slice));
        json_object_set_new(r->result, "black", json_finite(out->black));
        json_object_set_new(r->result, "white", json_finite(out->white));
    }
    if (!r->talks) return;
    char w[2][WORDS], times[1024];
    printf("values    %s to %s\n", words_real(out->minimum, 6, w[0]),
           words_real(out->maximum, 6, w[1]));
    if (args_real(a, "verify-fraction", 0) > 0 && words_verified(r) > 0)
        printf("verified  %lld parts were computed twice, to the same bits\n",
               (long long)words_verified(r));
    printf("time      %.3f s: %s\n", run_now() - r->begun, words_stages(r, times, sizeof times));
    if (*words_operations(r, times, sizeof times)) printf("kernels   %s\n", times);
    if (*out->digest) printf("digest    %s\n", out->digest);
    printf("wrote     %s%s%s\n", out->path, out->png ? ", " : "",
           out->png ? args_text(a, "png") : "");
}

void ct_output_free(ct_output *out)
{
    motet_store_free(out->store);
    motet_store_free(out->png);
    out->store = out->png = NULL;
}
