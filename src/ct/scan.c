/* Raw scans: opening them and checking that their parts agree.
 *
 * Flats and darks are averaged once, in float64 and in ascending order of frames. */
#include "ct/scan.h"

#include <string.h>
#include <strings.h>

#include "base/call.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/number.h"
#include "ct/angles.h"

/* ---- Frames ---- */

motet_status scan_frames_open(motet_context *context, const char *path, const char *entry,
                              int single, scan_frames *out)
{
    scan_frames f;
    memset(&f, 0, sizeof f);
    TRY(motet_store_open(context, path, entry, &f.store));
    motet_store_describe(f.store, &f.info);
    const int transposed = !strcmp(f.info.format, "npy") || !strcmp(f.info.format, "npz");
    const char *order = transposed ? "u, v" : "v, u";
    motet_status st = MOTET_OK;
    if (f.info.axes != 3 && !(single && f.info.axes == 2))
        TRY_GOTO(fail(context, MOTET_BAD_SHAPE, "%s%s%s has %d axes, expected 3 (view, %s)", path,
                      entry ? ": " : "", entry ? entry : "", f.info.axes, order));
    f.single = f.info.axes == 2;
    f.count = f.single ? 1 : f.info.shape[0];
    const int64_t slow = f.info.shape[f.info.axes - 2], fast = f.info.shape[f.info.axes - 1];
    f.rows = transposed ? fast : slow;
    f.columns = transposed ? slow : fast;
    f.transposed = transposed;
    if (f.rows < 1 || f.columns < 1)
        TRY_GOTO(fail(context, MOTET_BAD_SHAPE, "%s%s%s has frames of %lld rows and %lld columns",
                      path, entry ? ": " : "", entry ? entry : "", (long long)f.rows,
                      (long long)f.columns));
    *out = f;
    return MOTET_OK;
out:
    motet_store_free(f.store);
    return st;
}

motet_status scan_frames_read(scan_frames *f, int64_t first, int64_t count, int64_t row,
                              int64_t rows, double *out)
{
    const int64_t from[3] = {first, f->transposed ? 0 : row, f->transposed ? row : 0};
    const int64_t part[3] = {count, f->transposed ? f->columns : rows,
                             f->transposed ? rows : f->columns};
    return motet_store_read_box(f->store, from + f->single, part + f->single, MOTET_F64, out);
}

void scan_frames_strides(const scan_frames *f, int64_t rows, int64_t *stride_v, int64_t *stride_u)
{
    *stride_v = f->transposed ? 1 : f->columns;
    *stride_u = f->transposed ? rows : 1;
}

int64_t scan_room(int64_t left)
{
    enum { MOST = 32 << 20 };
    return left / 4 < MOST ? left / 4 : MOST;
}

int64_t scan_block(int64_t left, int64_t pixels, int64_t views)
{
    const int64_t fit = scan_room(left) / (8 * pixels);
    return fit < 1 ? 1 : fit < views ? fit : views;
}

void scan_frames_close(scan_frames *frames)
{
    motet_store_free(frames->store);
    frames->store = NULL;
}

/* ---- Opening ---- */

void motet_ct_scan_options_init(motet_ct_scan_options *options)
{
    *options = (motet_ct_scan_options){.size = sizeof *options};
}

/* Mean of the frames, as (rows, columns); zero frames give zeros. Each frame is read in bands of
 * rows, one after the other, so that a file is read once however little memory there is. */
static motet_status mean_of_frames(motet_ct_scan *scan, const char *what, scan_frames *frames,
                                   const int64_t *index, int64_t count, double *mean)
{
    const int64_t rows = scan->info.rows, columns = scan->info.columns, pixels = rows * columns;
    memset(mean, 0, (size_t)pixels * sizeof *mean);
    if (count < 1) return MOTET_OK;
    const int64_t fit = scan_room(mem_left(scan->context)) / (8 * columns);
    const int64_t most = fit < 1 ? 1 : fit < rows ? fit : rows;
    double *band = mem_alloc_array(scan->context, most * columns, sizeof *band);
    if (!band)
        return fail(scan->context, MOTET_NO_MEMORY,
                    "%s: no memory for %lld x %lld pixels of a frame", scan->path, (long long)most,
                    (long long)columns);
    motet_status st = MOTET_OK;
    log_phase phase = log_phase_begin(scan->context, what, count);
    for (int64_t i = 0; i < count; i++) {
        for (int64_t row = 0; row < rows; row += most) {
            const int64_t part = rows - row < most ? rows - row : most;
            int64_t stride_v, stride_u;
            TRY_GOTO(scan_frames_read(frames, index ? index[i] : i, 1, row, part, band));
            scan_frames_strides(frames, part, &stride_v, &stride_u);
            for (int64_t v = 0; v < part; v++)
                for (int64_t u = 0; u < columns; u++)
                    mean[(row + v) * columns + u] += band[v * stride_v + u * stride_u];
        }
        TRY_GOTO(log_phase_step(&phase, i + 1));
    }
    for (int64_t i = 0; i < pixels; i++) mean[i] /= (double)count;
out:
    mem_free(scan->context, band);
    return st;
}

static motet_status check_frame_size(motet_ct_scan *scan, const char *what,
                                     const scan_frames *frames)
{
    if (frames->rows == scan->info.rows && frames->columns == scan->info.columns) return MOTET_OK;
    return fail(scan->context, MOTET_BAD_SHAPE,
                "%s: the %s have %lld rows and %lld columns, the views %lld and %lld", scan->path,
                what, (long long)frames->rows, (long long)frames->columns,
                (long long)scan->info.rows, (long long)scan->info.columns);
}

/* Which pixels the flats say are alive, and where the dead find their neighbours. */
static void find_live(motet_ct_scan *scan)
{
    const int64_t rows = scan->info.rows, columns = scan->info.columns;
    int64_t dead = 0, dead_rows = 0;
    for (int64_t v = 0; v < rows; v++) {
        const double *open = scan->open + v * columns, *dark = scan->dark + v * columns;
        int32_t *live = scan->live + 2 * v * columns, last = -1;
        for (int64_t u = 0; u < columns; u++) {
            if (open[u] > 0.0 && open[u] < 1e30 && dark[u] - dark[u] == 0.0)
                last = (int32_t)u;
            else
                dead++;
            live[2 * u] = last;
        }
        dead_rows += last < 0;
        last = -1;
        for (int64_t u = columns; u-- > 0;) {
            if (live[2 * u] == u) last = (int32_t)u;
            live[2 * u + 1] = last;
        }
    }
    if (dead)
        log_warning(scan->context, "ct.scan",
                    "%s: %lld detector pixels are dead (flat not above dark); they take the values "
                    "of their neighbours in the row%s",
                    scan->path, (long long)dead,
                    dead_rows ? "; some rows have none and become 0" : "");
}

static motet_status average(motet_ct_scan *scan, const motet_ct_scan_options *options,
                            scan_parts *parts)
{
    motet_context *c = scan->context;
    if (options->flats && !scan->line_integrals) {
        TRY(scan_frames_open(c, options->flats, NULL, 1, &parts->flats));
        parts->flat_count = parts->flats.count;
        mem_free(c, parts->flat_index);
        parts->flat_index = NULL;
    }
    if (options->darks && !scan->line_integrals) {
        TRY(scan_frames_open(c, options->darks, NULL, 1, &parts->darks));
        parts->dark_count = parts->darks.count;
        mem_free(c, parts->dark_index);
        parts->dark_index = NULL;
    }
    const int64_t pixels = scan->info.rows * scan->info.columns;
    scan->dark = mem_array(c, double, pixels);
    scan->open = mem_array(c, double, pixels);
    scan->live = mem_array(c, int32_t, 2 * pixels);
    if (!scan->dark || !scan->open || !scan->live)
        return fail(c, MOTET_NO_MEMORY, "%s: no memory for flats and darks of %lld pixels",
                    scan->path, (long long)pixels);
    if (scan->line_integrals) {
        for (int64_t i = 0; i < pixels; i++) scan->open[i] = 1.0;
        find_live(scan);
        return MOTET_OK;
    }
    if (!parts->flats.store || parts->flat_count < 1)
        return fail(c, MOTET_BAD_DATA,
                    "%s: no flat fields, and options.flats gives none; options.line_integrals is 0",
                    scan->path);
    TRY(check_frame_size(scan, "flats", &parts->flats));
    if (parts->darks.store && parts->dark_count)
        TRY(check_frame_size(scan, "darks", &parts->darks));
    else
        log_warning(c, "ct.scan", "%s: no dark fields; taken as 0", scan->path);
    scan->info.flats = parts->flat_count;
    scan->info.darks = parts->darks.store ? parts->dark_count : 0;
    TRY(mean_of_frames(scan, "read flats", &parts->flats, parts->flat_index, scan->info.flats,
                       scan->open));
    TRY(mean_of_frames(scan, "read darks", &parts->darks, parts->dark_index, scan->info.darks,
                       scan->dark));
    for (int64_t i = 0; i < pixels; i++) scan->open[i] -= scan->dark[i];
    find_live(scan);
    return MOTET_OK;
}

static motet_status open_parts(motet_ct_scan *scan, const motet_ct_scan_options *options,
                               scan_parts *parts)
{
    motet_context *c = scan->context;
    int found = 0;
    if (!options->entry) TRY(scan_is_hdf5(c, scan->path, &found));
    if (found) TRY(scan_open_hdf5(scan, options, parts, &found));
    if (!found) {
        TRY(scan_frames_open(c, scan->path, options->entry, 0, &scan->data));
        if (scan->data.transposed && scan->data.rows > scan->data.columns)
            log_warning(c, "ct.scan",
                        "%s: read as (view, u, v), %lld columns and %lld rows; is it (view, v, u)?",
                        scan->path, (long long)scan->data.columns, (long long)scan->data.rows);
        memcpy(scan->info.format, scan->data.info.format, sizeof scan->data.info.format);
        const double spacing = scan->data.info.spacing[scan->data.transposed ? 1 : 2];
        if (spacing > 0.0 && spacing < 1e30) scan->info.pitch = spacing;
    }
    scan->info.type = scan->data.info.type;
    scan->info.rows = scan->data.rows;
    scan->info.columns = scan->data.columns;
    if (!scan->frame_of_view) scan->info.views = scan->data.count;
    if (scan->info.views < 1) return fail(c, MOTET_BAD_SHAPE, "%s: no views", scan->path);
    if (scan->info.columns > INT32_MAX)
        return fail(c, MOTET_UNSUPPORTED, "%s: %lld columns are more than 2^31 - 1", scan->path,
                    (long long)scan->info.columns);
    if (options->angles || (options->no_angles && !scan->angles)) {
        if (!(scan->angles = mem_array(c, double, scan->info.views)))
            return fail(c, MOTET_NO_MEMORY, "%s: no memory for %lld angles", scan->path,
                        (long long)scan->info.views);
        if (options->angles) TRY(angles_given(c, options->angles, scan->info.views, scan->angles));
    } else if (!scan->angles)
        return fail(c, MOTET_BAD_DATA,
                    "%s: the file holds no angles, and options.angles gives none", scan->path);
    scan->info.first_angle = scan->angles[0];
    scan->info.last_angle = scan->angles[scan->info.views - 1];
    if (scan->info.views == 1 && !options->no_angles)
        log_warning(c, "ct.scan", "%s: one view only", scan->path);
    return average(scan, options, parts);
}

static motet_status open_scan(motet_context *context, const char *path,
                              const motet_ct_scan_options *options, motet_ct_scan **out)
{
    motet_ct_scan_options defaults;
    motet_ct_scan_options_init(&defaults);
    if (!path) return fail(context, MOTET_BAD_ARGUMENT, "path is NULL, expected a scan's file");
    if (!options) options = &defaults;
    if (options->size != sizeof *options)
        return fail(context, MOTET_BAD_ARGUMENT,
                    "options: size is %u, expected %zu: call motet_ct_scan_options_init",
                    (unsigned)options->size, sizeof *options);
    motet_ct_scan *scan = mem_new(context, motet_ct_scan);
    if (!scan) return fail(context, MOTET_NO_MEMORY, "%s: no memory for a scan", path);
    scan_parts parts;
    memset(&parts, 0, sizeof parts);
    motet_status st = MOTET_OK;
    scan->context = context;
    scan->line_integrals = options->line_integrals;
    scan->nan_as_zero = options->nan_as_zero;
    if (!(scan->path = mem_text(context, path)))
        TRY_GOTO(fail(context, MOTET_NO_MEMORY, "%s: no memory for its name", path));
    TRY_GOTO(open_parts(scan, options, &parts));
out:
    if (parts.flats.store != scan->data.store) scan_frames_close(&parts.flats);
    if (parts.darks.store != scan->data.store) scan_frames_close(&parts.darks);
    mem_free(context, parts.flat_index);
    mem_free(context, parts.dark_index);
    if (st != MOTET_OK)
        motet_ct_scan_free(scan);
    else
        *out = scan;
    return st;
}

motet_status motet_ct_scan_open(motet_context *context, const char *path,
                                const motet_ct_scan_options *options, motet_ct_scan **out)
{
    call one;
    call_begin(context, &one);
    return call_end(&one, open_scan(context, path, options, out));
}

void motet_ct_scan_free(motet_ct_scan *scan)
{
    if (!scan) return;
    motet_context *c = scan->context;
    scan_frames_close(&scan->data);
    mem_free(c, scan->path);
    mem_free(c, scan->frame_of_view);
    mem_free(c, scan->angles);
    mem_free(c, scan->dark);
    mem_free(c, scan->open);
    mem_free(c, scan->live);
    mem_free(c, scan);
}

void motet_ct_scan_describe(const motet_ct_scan *scan, motet_ct_scan_info *out)
{
    *out = scan->info;
}

const double *motet_ct_scan_angles(const motet_ct_scan *scan) { return scan->angles; }
