/* motet ct recon: a scan becomes a volume in a file, slab by slab, and a picture of one slice.
 *
 * Integers with a range to be found need the whole volume's minimum and maximum first: slabs then
 * go to an unnamed spool file beside the output, as float32, and are scaled from there. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "picture.h"
#include "quantise.h"
#include "resume.h"
#include "supervise.h"
#include "words.h"

typedef struct recon {
    run *r;
    motet_ct_scan *scan;
    motet_ct_scan_info info;
    motet_ct_recon_options options;
    motet_ct_recon_result result;
    int64_t rows, ny, nx;
    double voxel, pitch;
    int pitch_known; /* by the scan or the flags; else lengths are in pixels */
    motet_store *volume, *png;
    motet_store_info volume_info;
    int scaled, range_found; /* integers; their range comes from the volume */
    quantiser q;
    extent seen;
    int spool;      /* descriptor; -1: none */
    void *integers; /* one slice of them */
    float *picture; /* the slice wanted; NULL: none */
    int64_t slice;
    double black, white;
    double write_seconds;
    char trouble[256]; /* what went wrong in receive, when it was not the library */
} recon;

static motet_status write_scaled(recon *c, int64_t first, int64_t rows, const float *slices)
{
    const int64_t values = c->ny * c->nx;
    for (int64_t row = 0; row < rows; row++) {
        quantise_f32(&c->q, slices + row * values, values, c->integers);
        const motet_status st = motet_store_write(c->volume, first + row, 1, c->integers);
        if (st != MOTET_OK) return st;
    }
    return MOTET_OK;
}

static motet_status receive(int64_t first, int64_t rows, const float *slices, void *user)
{
    recon *c = user;
    if (run_stopped()) return MOTET_CANCELLED;
    const double begun = run_now();
    const int64_t values = c->ny * c->nx;
    if (c->picture && c->slice >= first && c->slice < first + rows)
        memcpy(c->picture, slices + (c->slice - first) * values, (size_t)values * sizeof *slices);
    motet_status st = MOTET_OK;
    if (c->range_found) {
        extent_add_f32(&c->seen, slices, rows * values);
        const int reason = write_whole(c->spool, slices, (size_t)(rows * values) * sizeof *slices);
        if (reason) {
            snprintf(c->trouble, sizeof c->trouble, "spooling slabs beside %.128s: %s",
                     args_text(c->r->args, "output"), strerror(reason));
            st = MOTET_IO;
        }
    } else if (c->scaled) {
        st = write_scaled(c, first, rows, slices);
    } else {
        st = motet_store_write(c->volume, first, rows, slices);
    }
    c->write_seconds += run_now() - begun;
    return st;
}

static int open_scan(recon *c)
{
    run *r = c->r;
    const args *a = r->args;
    motet_ct_scan_options o;
    motet_ct_scan_options_init(&o);
    o.flats = args_text(a, "flats");
    o.darks = args_text(a, "darks");
    o.angles = args_text(a, "angles");
    o.line_integrals = args_given(a, "line-integrals");
    o.nan_as_zero = args_given(a, "nan-as-zero");
    o.entry = args_text(a, "entry");
    if (o.line_integrals && (o.flats || o.darks))
        return complain(a->command, EXIT_USAGE, "--%s is \"%s\", but --line-integrals needs none",
                        o.flats ? "flats" : "darks", o.flats ? o.flats : o.darks);
    run_input(r, a->positional[0]);
    run_input(r, o.flats);
    run_input(r, o.darks);
    if (o.angles && !access(o.angles, F_OK)) run_input(r, o.angles);
    run_output(r, args_text(a, "output"));
    run_output(r, args_text(a, "png"));
    const int code = run_check_distinct(r);
    if (code) return code;
    const double begun = run_now();
    const motet_status st = motet_ct_scan_open(r->context, a->positional[0], &o, &c->scan);
    if (st != MOTET_OK) return run_fail(r, r->context, st);
    motet_ct_scan_describe(c->scan, &c->info);
    run_stage(r, "open", run_now() - begun);
    return EXIT_OK;
}

static int choose(recon *c)
{
    const args *a = c->r->args;
    const flag_value *rows = args_value(a, "rows"), *size = args_value(a, "size");
    motet_ct_recon_options *o = &c->options;
    motet_ct_recon_options_init(o);
    o->centre = args_real(a, "center", (double)NAN);
    if (rows->given && rows->whole[1] > c->info.rows)
        return complain(a->command, EXIT_REFUSED, "--rows is \"%s\", the scan has rows 0:%lld",
                        rows->text, (long long)c->info.rows);
    if (rows->given) {
        o->first_row = rows->whole[0];
        o->rows = rows->whole[1] - rows->whole[0];
    }
    o->nx = size->given ? size->whole[0] : 0;
    o->ny = size->given ? size->whole[1] : 0;
    o->pitch = args_real(a, "pitch", 0);
    o->voxel = args_real(a, "voxel", 0);
    o->mask = args_given(a, "mask") ? args_real(a, "mask", 1) : 0;
    o->slab_rows = args_whole(a, "slab", 0);
    const flag_value *window = args_value(a, "window");
    if (window->given) o->filter.window = (motet_ct_window)window->choice;
    o->filter.cutoff = args_real(a, "cutoff", 1);
    o->filter.pad = args_whole(a, "pad", 0);

    c->rows = o->rows ? o->rows : c->info.rows - o->first_row;
    c->nx = o->nx ? o->nx : c->info.columns;
    c->ny = o->ny ? o->ny : c->info.columns;
    c->pitch = o->pitch > 0 ? o->pitch : c->info.pitch > 0 ? c->info.pitch : 1;
    c->pitch_known = o->pitch > 0 || c->info.pitch > 0;
    c->voxel = o->voxel > 0 ? o->voxel : c->pitch;

    c->slice = args_whole(a, "slice", c->rows / 2);
    if (args_given(a, "slice") && !args_given(a, "png"))
        return complain(a->command, EXIT_USAGE,
                        "--slice is \"%s\", but without --png there is no picture",
                        args_text(a, "slice"));
    if (c->slice >= c->rows)
        return complain(a->command, EXIT_REFUSED,
                        "--slice is \"%s\", the volume has slices 0 to %lld", args_text(a, "slice"),
                        (long long)c->rows - 1);
    motet_type type = MOTET_F32;
    if (args_given(a, "dtype")) type_of_word(args_text(a, "dtype"), &type);
    c->scaled = type != MOTET_F32;
    const flag_value *range = args_value(a, "range");
    if (range->given && !c->scaled)
        return complain(a->command, EXIT_USAGE,
                        "--range is \"%s\", but float32 is not scaled, expected --dtype u16 or u8",
                        range->text);
    c->range_found = c->scaled && (!range->given || range->automatic);
    if (c->scaled && !c->range_found) quantise_begin(&c->q, type, range->real[0], range->real[1]);

    motet_store_info *v = &c->volume_info;
    v->type = type;
    v->axes = 3;
    v->shape[0] = c->rows;
    v->shape[1] = c->ny;
    v->shape[2] = c->nx;
    v->spacing[0] = c->pitch;
    v->spacing[1] = v->spacing[2] = c->voxel;
    v->origin[0] = (double)o->first_row * c->pitch;
    v->origin[1] = -(double)(c->ny - 1) / 2 * c->voxel;
    v->origin[2] = -(double)(c->nx - 1) / 2 * c->voxel;
    return EXIT_OK;
}

/* Everything that can be refused without computing is refused here. */
static int begin_outputs(recon *c)
{
    run *r = c->r;
    const args *a = r->args;
    const int overwrite = args_given(a, "overwrite");
    const char *output = args_text(a, "output"), *png = args_text(a, "png");
    motet_status st =
        motet_store_create(r->context, output, NULL, &c->volume_info, overwrite, &c->volume);
    if (st != MOTET_OK) return run_fail(r, r->context, st);
    const size_t values = (size_t)(c->ny * c->nx);
    if (png) {
        const size_t n = strlen(png);
        if (n < 5 || strcasecmp(png + n - 4, ".png"))
            return complain(a->command, EXIT_USAGE,
                            "--png is \"%s\", expected a path ending in .png", png);
        const motet_store_info picture = {.type = MOTET_U8, .axes = 2, .shape = {c->ny, c->nx}};
        st = motet_store_create(r->context, png, NULL, &picture, overwrite, &c->png);
        if (st != MOTET_OK) return run_fail(r, r->context, st);
        c->picture = malloc(values * sizeof *c->picture);
        if (!c->picture) return complain(a->command, EXIT_DEVICE, "no memory for the picture");
    }
    if (c->scaled) {
        c->integers = malloc(values * motet_type_bytes(c->volume_info.type));
        if (!c->integers) return complain(a->command, EXIT_DEVICE, "no memory for a slice");
    }
    if (c->range_found) {
        c->spool = spool_open(output);
        if (c->spool < 0)
            return complain(a->command, EXIT_FILES, "a spool file beside %s: %s", output,
                            strerror(errno));
    }
    return EXIT_OK;
}

/* The spooled volume becomes integers. */
static int scale_spool(recon *c)
{
    run *r = c->r;
    const command *cmd = r->args->command;
    const size_t bytes = (size_t)(c->ny * c->nx) * sizeof(float);
    if (!(c->seen.low <= c->seen.high))
        return complain(cmd, EXIT_REFUSED, "the volume holds no finite value, --dtype %s needs one",
                        args_text(r->args, "dtype"));
    quantise_begin(&c->q, c->volume_info.type, c->seen.low, c->seen.high);
    float *slice = malloc(bytes);
    if (!slice) return complain(cmd, EXIT_DEVICE, "no memory for a slice");
    int code = EXIT_OK;
    for (int64_t row = 0; row < c->rows && !code; row++) {
        size_t have = 0;
        while (have < bytes) {
            const ssize_t n = pread(c->spool, (char *)slice + have, bytes - have,
                                    (off_t)row * (off_t)bytes + (off_t)have);
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) break;
            have += (size_t)n;
        }
        if (have < bytes) {
            code = complain(cmd, EXIT_FILES, "reading the spool file: %s", strerror(errno));
        } else if (run_stopped()) {
            code = run_cancelled(r);
        } else {
            const motet_status st = write_scaled(c, row, 1, slice);
            if (st != MOTET_OK) code = run_fail(r, r->context, st);
        }
        run_progress(r, "scale", row + 1, c->rows);
    }
    free(slice);
    return code;
}

static int draw(recon *c)
{
    run *r = c->r;
    const int64_t values = c->ny * c->nx;
    uint8_t *grey = malloc((size_t)values);
    if (!grey || !picture_window(c->picture, c->ny, c->nx, &c->black, &c->white)) {
        free(grey);
        return complain(r->args->command, EXIT_DEVICE, "no memory for the picture");
    }
    picture_grey(c->picture, values, c->black, c->white, grey);
    const motet_status st = motet_store_write(c->png, 0, c->ny, grey);
    free(grey);
    return st == MOTET_OK ? EXIT_OK : run_fail(r, r->context, st);
}

/* What the numbers mean, in a file that can hold texts. */
static motet_status label(recon *c)
{
    char value[2 * WORDS], w[2][WORDS];
    const char *unit = c->pitch_known ? "1/mm" : "1/pixel";
    motet_status st = motet_store_set_text(c->volume, NULL, "units", unit);
    if (st == MOTET_UNSUPPORTED) return MOTET_OK;
    if (st == MOTET_OK && c->scaled) {
        snprintf(value, sizeof value, "%s + %s * integer", words_real(c->q.low, 17, w[0]),
                 words_real(quantise_step(&c->q), 17, w[1]));
        st = motet_store_set_text(c->volume, NULL, "value", value);
    }
    return st;
}

/* Volume and picture are both whole and synced before either takes its place, so that what a full
 * disk or a path that was taken meanwhile can refuse leaves neither. Left are two renames, the
 * picture's first: if the volume's fails, a picture that replaced nothing goes again. */
static int commit(recon *c)
{
    run *r = c->r;
    if (run_stopped()) return run_cancelled(r);
    motet_status st = label(c);
    if (st == MOTET_OK) st = motet_store_prepare(c->volume);
    if (st == MOTET_OK && c->png) st = motet_store_prepare(c->png);
    child_placing(args_text(r->args, "output"));
    child_placing(args_text(r->args, "png"));
    child_placing(args_text(r->args, "json"));
    if (st == MOTET_OK && c->png) st = motet_store_commit(c->png);
    if (st != MOTET_OK) return run_fail(r, r->context, st);
    st = motet_store_commit(c->volume);
    if (st == MOTET_OK) return EXIT_OK;
    const int code = run_fail(r, r->context, st);
    if (c->png && !args_given(r->args, "overwrite")) unlink(args_text(r->args, "png"));
    return code;
}

static void tell(const recon *c)
{
    run *r = c->r;
    const args *a = r->args;
    const motet_ct_scan_info *i = &c->info;
    char w[2][WORDS], times[1024];
    printf("scan      %s: %s, %lld views of %lld rows x %lld columns, %s, %lld flats, %lld darks\n",
           a->positional[0], i->format, (long long)i->views, (long long)i->rows,
           (long long)i->columns, motet_type_text(i->type), (long long)i->flats,
           (long long)i->darks);
    if (args_real(a, "center", (double)NAN) - c->result.centre == 0)
        printf("axis      column %.9g, as given\n", c->result.centre);
    else
        printf("axis      column %.6g, found (quality %.2f%s)\n", c->result.centre,
               c->result.centre_quality,
               c->result.centre_quality < 0.02 ? ": a guess, look at the picture or give --center"
                                               : "; below 0.02 is a guess");
    printf("volume    %s %s, ", words_shape(c->volume_info.shape, 3, w[0]),
           motet_type_text(c->volume_info.type));
    if (c->pitch_known)
        printf("voxels of %.6g mm, slices %.6g mm apart\n", c->voxel, c->pitch);
    else
        printf("pixel size unknown (--pitch), taken as 1\n");
    printf("values    %s to %s per %s\n", words_real(c->result.minimum, 6, w[0]),
           words_real(c->result.maximum, 6, w[1]), c->pitch_known ? "mm" : "pixel");
    if (c->scaled)
        printf("integers  value = %s + %s * integer; %lld values clipped\n",
               words_real(c->q.low, 9, w[0]), words_real(quantise_step(&c->q), 9, w[1]),
               (long long)c->q.clipped);
    if (c->result.clamped)
        printf("clamped   %lld measurements before the logarithm\n", (long long)c->result.clamped);
    if (c->png)
        printf("picture   slice %lld, black %s, white %s\n", (long long)c->slice,
               words_real(c->black, 6, w[0]), words_real(c->white, 6, w[1]));
    const json_t *resumed = json_object_get(r->result, "resumed");
    const json_int_t parts = json_integer_value(json_object_get(resumed, "parts"));
    if (parts && args_given(a, "resume"))
        printf("resumed   %lld parts, %s, were computed before\n", (long long)parts,
               words_bytes((uint64_t)json_integer_value(json_object_get(resumed, "bytes")), w[0]));
    if (args_real(a, "verify-fraction", 0) > 0)
        printf("verified  %lld parts were computed twice, to the same bits\n",
               (long long)words_verified(r));
    printf("time      %.3f s: %s\n", run_now() - r->begun, words_stages(r, times, sizeof times));
    printf("kernels   %s\n", words_operations(r, times, sizeof times));
    printf("digest    %s\n", c->result.digest);
    printf("wrote     %s%s%s\n", args_text(a, "output"), c->png ? ", " : "",
           c->png ? args_text(a, "png") : "");
}

static void report(const recon *c)
{
    json_t *o = c->r->result;
    const int given = args_real(c->r->args, "center", (double)NAN) - c->result.centre == 0;
    json_object_set_new(o, "center", json_finite(c->result.centre));
    json_object_set_new(o, "center_quality",
                        given ? json_null() : json_finite(c->result.centre_quality));
    json_object_set_new(o, "shape", json_shape(c->volume_info.shape, 3));
    json_object_set_new(o, "type", json_string(motet_type_text(c->volume_info.type)));
    json_object_set_new(o, "voxel", json_finite(c->voxel));
    json_object_set_new(o, "pitch", json_finite(c->pitch));
    json_object_set_new(o, "minimum", json_finite(c->result.minimum));
    json_object_set_new(o, "maximum", json_finite(c->result.maximum));
    json_object_set_new(o, "clamped", json_integer(c->result.clamped));
    json_object_set_new(o, "digest", json_string(c->result.digest));
    if (c->scaled) {
        json_object_set_new(o, "offset", json_finite(c->q.low));
        json_object_set_new(o, "scale", json_finite(quantise_step(&c->q)));
        json_object_set_new(o, "clipped", json_integer(c->q.clipped));
    }
    if (c->png) {
        json_object_set_new(o, "slice", json_integer(c->slice));
        json_object_set_new(o, "black", json_finite(c->black));
        json_object_set_new(o, "white", json_finite(c->white));
    }
}

static int reconstruct(recon *c)
{
    run *r = c->r;
    int code = open_scan(c);
    if (!code) code = choose(c);
    if (!code) code = begin_outputs(c);
    if (!code) code = resume_begin(r);
    if (code) return code;
    double begun = run_now();
    extent_begin(&c->seen);
    const motet_status st = motet_ct_recon(c->scan, &c->options, receive, c, &c->result);
    if (st != MOTET_OK && st != MOTET_CANCELLED && *c->trouble)
        return complain(r->args->command, run_exit_code(st), "%s", c->trouble);
    if (st != MOTET_OK) return run_fail(r, r->context, st);
    run_stage(r, "reconstruct", run_now() - begun - c->write_seconds);
    begun = run_now();
    if (c->range_found) code = scale_spool(c);
    if (!code && c->png) code = draw(c);
    if (!code) code = commit(c);
    if (code) return code;
    resume_end(r);
    run_stage(r, "write", c->write_seconds + run_now() - begun);
    run_progress_end(r);
    report(c);
    if (r->talks) tell(c);
    return EXIT_OK;
}

int run_ct_recon(const args *a)
{
    run r;
    int code = run_begin(&r, a);
    if (code) return code;
    recon c = {.r = &r, .spool = -1};
    code = reconstruct(&c);
    motet_store_free(c.volume);
    motet_store_free(c.png);
    motet_ct_scan_free(c.scan);
    if (c.spool >= 0) close(c.spool);
    free(c.integers);
    free(c.picture);
    return run_end(&r, code);
}
