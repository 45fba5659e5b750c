/* Raw scans: opening them, checking that their parts agree, and reading line integrals.
 *
 * Flats and darks are averaged once, in float64 and in ascending order of frames. The views are read in blocks of whole
 * frames, since that is how files hold them; each block goes through the kernel of normalise.k.h. A value
 * depends on its own pixel alone, so neither rows, blocks nor threads can change a bit. */
#include "ct/scan.h"

#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/number.h"
#include "ct/angles.h"
#include "ct/normalise.k.h"
#include "rt/op.h"

enum { BLOCK_BYTES = 32 << 20 }; /* of raw frames read at once */

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
    f.stride_v = transposed ? 1 : fast;
    f.stride_u = transposed ? fast : 1;
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

motet_status scan_frames_read(scan_frames *frames, int64_t first, int64_t count, double *out)
{
    if (frames->single) return motet_store_read(frames->store, 0, frames->info.shape[0], MOTET_F64, out);
    return motet_store_read(frames->store, first, count, MOTET_F64, out);
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

/* Mean of the frames, as (rows, columns); zero frames give zeros. */
static motet_status mean_of_frames(motet_ct_scan *scan, scan_frames *frames, const int64_t *index,
                                   int64_t count, double *mean)
{
    const int64_t rows = scan->info.rows, columns = scan->info.columns, pixels = rows * columns;
    memset(mean, 0, (size_t)pixels * sizeof *mean);
    if (count < 1) return MOTET_OK;
    double *frame = mem_alloc_array(scan->context, pixels, sizeof *frame);
    if (!frame)
        return fail(scan->context, MOTET_NO_MEMORY, "%s: no memory for a frame of %lld x %lld pixels",
                    scan->path, (long long)rows, (long long)columns);
    motet_status st = MOTET_OK;
    for (int64_t i = 0; i < count; i++) {
        TRY_GOTO(scan_frames_read(frames, index ? index[i] : i, 1, frame));
        for (int64_t v = 0; v < rows; v++)
            for (int64_t u = 0; u < columns; u++)
                mean[v * columns + u] += frame[v * frames->stride_v + u * frames->stride_u];
    }
    for (int64_t i = 0; i < pixels; i++) mean[i] /= (double)count;
out:
    mem_free(scan->context, frame);
    return st;
}

static motet_status check_frame_size(motet_ct_scan *scan, const char *what, const scan_frames *frames)
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
            if (open[u] > 0.0 && open[u] < 1e30 && dark[u] - dark[u] == 0.0) last = (int32_t)u;
            else dead++;
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
                    scan->path, (long long)dead, dead_rows ? "; some rows have none and become 0" : "");
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
                    "%s: no flat fields; give them with --flats FILE, or say --line-integrals if "
                    "the data are line integrals already",
                    scan->path);
    TRY(check_frame_size(scan, "flats", &parts->flats));
    if (parts->darks.store && parts->dark_count) TRY(check_frame_size(scan, "darks", &parts->darks));
    else log_warning(c, "ct.scan", "%s: no dark fields; taken as 0", scan->path);
    scan->info.flats = parts->flat_count;
    scan->info.darks = parts->darks.store ? parts->dark_count : 0;
    TRY(mean_of_frames(scan, &parts->flats, parts->flat_index, scan->info.flats, scan->open));
    TRY(mean_of_frames(scan, &parts->darks, parts->dark_index, scan->info.darks, scan->dark));
    for (int64_t i = 0; i < pixels; i++) scan->open[i] -= scan->dark[i];
    find_live(scan);
    return MOTET_OK;
}

static motet_status open_parts(motet_ct_scan *scan, const motet_ct_scan_options *options,
                               scan_parts *parts)
{
    motet_context *c = scan->context;
    int found = 0;
    if (scan_is_hdf5(scan->path)) TRY(scan_open_hdf5(scan, options, parts, &found));
    if (!found) {
        TRY(scan_frames_open(c, scan->path, NULL, 0, &scan->data));
        memcpy(scan->info.format, scan->data.info.format, sizeof scan->data.info.format);
        const double spacing = scan->data.info.spacing[scan->data.stride_u == 1 ? 2 : 1];
        if (spacing > 0.0 && spacing < 1e30) scan->info.pitch = spacing;
    }
    scan->info.type = scan->data.info.type;
    scan->info.rows = scan->data.rows;
    scan->info.columns = scan->data.columns;
    if (!scan->frame_of_view) scan->info.views = scan->data.count;
    if (scan->info.views < 1)
        return fail(c, MOTET_BAD_SHAPE, "%s: no views", scan->path);
    if (scan->info.columns > INT32_MAX)
        return fail(c, MOTET_UNSUPPORTED, "%s: %lld columns are more than 2^31 - 1", scan->path,
                    (long long)scan->info.columns);
    if (options->angles) {
        if (!(scan->angles = mem_array(c, double, scan->info.views)))
            return fail(c, MOTET_NO_MEMORY, "%s: no memory for %lld angles", scan->path,
                        (long long)scan->info.views);
        TRY(angles_given(c, options->angles, scan->info.views, scan->angles));
    } else if (!scan->angles)
        return fail(c, MOTET_NOT_FOUND,
                    "%s: the file holds no angles; say --angles start:stop (degrees) or --angles FILE",
                    scan->path);
    scan->info.first_angle = scan->angles[0];
    scan->info.last_angle = scan->angles[scan->info.views - 1];
    if (scan->info.views == 1)
        log_warning(c, "ct.scan", "%s: one view only", scan->path);
    return average(scan, options, parts);
}

motet_status motet_ct_scan_open(motet_context *context, const char *path,
                                const motet_ct_scan_options *options, motet_ct_scan **out)
{
    motet_ct_scan_options defaults;
    motet_ct_scan_options_init(&defaults);
    if (!path) return fail(context, MOTET_BAD_ARGUMENT, "path is NULL, expected a scan's file");
    if (!options) options = &defaults;
    motet_ct_scan *scan = mem_new(context, motet_ct_scan);
    if (!scan) return fail(context, MOTET_NO_MEMORY, "%s: no memory for a scan", path);
    scan_parts parts;
    memset(&parts, 0, sizeof parts);
    motet_status st = MOTET_OK;
    scan->context = context;
    scan->line_integrals = options->line_integrals;
    if (!(scan->path = mem_text(context, path)))
        TRY_GOTO(fail(context, MOTET_NO_MEMORY, "%s: no memory for its name", path));
    TRY_GOTO(open_parts(scan, options, &parts));
out:
    if (parts.flats.store != scan->data.store) scan_frames_close(&parts.flats);
    if (parts.darks.store != scan->data.store) scan_frames_close(&parts.darks);
    mem_free(context, parts.flat_index);
    mem_free(context, parts.dark_index);
    if (st != MOTET_OK) motet_ct_scan_free(scan);
    else *out = scan;
    return st;
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

/* ---- Reading ---- */

enum { RAW, SINOGRAM, COUNTERS, DARK, OPEN, LIVE, PORTS };

typedef struct normalise {
    const motet_ct_scan *scan;
    int64_t first, rows; /* of the detector */
} normalise;

static void *start_of(const rt_view *view, size_t element, int64_t row)
{
    return (char *)view->data + (row - view->first[0]) * view->stride[0] * (int64_t)element;
}

static motet_status enqueue(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    const normalise *n = user;
    const scan_frames *data = &n->scan->data;
    const int64_t view = chunk->first[0], columns = data->columns;
    const ct_normalise_args a = {
        .raw = (const double *)start_of(&chunk->port[RAW], sizeof(double), view) +
               n->first * data->stride_v,
        .frame = data->rows * columns,
        .stride_v = data->stride_v,
        .stride_u = data->stride_u,
        .dark = (const double *)start_of(&chunk->port[DARK], sizeof(double), n->first),
        .open = (const double *)start_of(&chunk->port[OPEN], sizeof(double), n->first),
        .live = (const int32_t *)start_of(&chunk->port[LIVE], sizeof(int32_t), n->first),
        .columns = columns,
        .rows = n->rows,
        .line_integrals = n->scan->line_integrals,
        .sinogram = start_of(&chunk->port[SINOGRAM], sizeof(float), view),
        .counters = start_of(&chunk->port[COUNTERS], sizeof(int64_t), view),
    };
    return rt_launch(queue, &K_ct_normalise, &a, chunk->count[0], 0);
}

/* One block of `count` views whose frames lie in `raw`. */
static motet_status normalise_block(motet_ct_scan *scan, const normalise *n, double *raw,
                                    int64_t count, float *sinogram, int64_t *counters)
{
    const int64_t rows = scan->info.rows, columns = scan->info.columns;
    const struct {
        const char *name;
        void *data;
        motet_type type;
        int axes;
        int64_t shape[3];
    } ports[PORTS] = {
        {"raw", raw, MOTET_F64, 2, {count, rows * columns}},
        {"sinogram", sinogram, MOTET_F32, 3, {count, columns, n->rows}},
        {"counters", counters, MOTET_I64, 2, {count, CT_NORMALISE_COUNTERS}},
        {"dark", scan->dark, MOTET_F64, 2, {rows, columns}},
        {"open", scan->open, MOTET_F64, 2, {rows, columns}},
        {"live", scan->live, MOTET_I32, 3, {rows, columns, 2}},
    };
    rt_op op = {.name = "ct.normalise", .axes = 1, .extent = {count}, .enqueue = enqueue, .user = n};
    motet_array *arrays[PORTS] = {0};
    motet_status st = MOTET_OK;
    for (int i = 0; i < PORTS; i++) {
        TRY_GOTO(motet_array_wrap(scan->context, ports[i].data, ports[i].type, ports[i].axes,
                                  ports[i].shape, MOTET_WRITE_DIRECT, &arrays[i]));
        op.port[i] = (rt_port){.name = ports[i].name,
                               .array = arrays[i],
                               .access = i == SINOGRAM || i == COUNTERS ? RT_WRITE : RT_READ,
                               .cut = {i < DARK ? 0 : RT_WHOLE}};
    }
    st = rt_run(scan->context, &op);
out:
    for (int i = 0; i < PORTS; i++) motet_array_free(arrays[i]);
    return st;
}

/* Frames of views [first, first + count) into `raw`, run by run of neighbouring frames. */
static motet_status read_frames(motet_ct_scan *scan, int64_t first, int64_t count, double *raw)
{
    const int64_t pixels = scan->info.rows * scan->info.columns;
    for (int64_t k = 0; k < count;) {
        const int64_t *frame = scan->frame_of_view ? scan->frame_of_view + first : NULL;
        int64_t run = frame ? 1 : count;
        while (frame && k + run < count && frame[k + run] == frame[k] + run) run++;
        TRY(scan_frames_read(&scan->data, frame ? frame[k] : first, run, raw + k * pixels));
        k += run;
    }
    return MOTET_OK;
}

static motet_status check_sinogram(motet_ct_scan *scan, int64_t first, const motet_array *sinogram)
{
    motet_context *c = scan->context;
    if (motet_array_type(sinogram) != MOTET_F32 || motet_array_axes(sinogram) != 3)
        return fail(c, MOTET_BAD_SHAPE,
                    "sinogram is %s with %d axes, expected float32 with 3 (view, u, v)",
                    motet_type_text(motet_array_type(sinogram)), motet_array_axes(sinogram));
    const int64_t rows = motet_array_size(sinogram, 2);
    if (motet_array_size(sinogram, 0) != scan->info.views ||
        motet_array_size(sinogram, 1) != scan->info.columns)
        return fail(c, MOTET_BAD_SHAPE,
                    "sinogram has %lld views and %lld columns, the scan %lld and %lld",
                    (long long)motet_array_size(sinogram, 0),
                    (long long)motet_array_size(sinogram, 1), (long long)scan->info.views,
                    (long long)scan->info.columns);
    if (first < 0 || rows < 1 || first > scan->info.rows - rows)
        return fail(c, MOTET_BAD_ARGUMENT,
                    "detector rows %lld to %lld were asked for, the scan has rows 0 to %lld",
                    (long long)first, (long long)(first + rows - 1), (long long)(scan->info.rows - 1));
    return MOTET_OK;
}

motet_status scan_read(motet_ct_scan *scan, int64_t first, motet_array *sinogram, int64_t *clamped,
                       int64_t *broken)
{
    TRY(check_sinogram(scan, first, sinogram));
    motet_context *c = scan->context;
    const int64_t views = scan->info.views, columns = scan->info.columns;
    const int64_t pixels = scan->info.rows * columns, rows = motet_array_size(sinogram, 2);
    const int64_t fit = (int64_t)BLOCK_BYTES / (8 * pixels);
    const int64_t block = fit < 1 ? 1 : fit < views ? fit : views;
    const normalise n = {scan, first, rows};
    motet_status st = MOTET_OK;
    int64_t sums[CT_NORMALISE_COUNTERS] = {0};
    /* The caller's array gets all or nothing, unless it says that it need not. */
    const int direct = (sinogram->flags & MOTET_WRITE_DIRECT) != 0;
    float *copy = direct ? NULL : mem_alloc(c, sinogram->bytes);
    double *raw = mem_alloc_array(c, block * pixels, sizeof *raw);
    int64_t *counters = mem_alloc_array(c, block * CT_NORMALISE_COUNTERS, sizeof *counters);
    if ((!direct && !copy) || !raw || !counters)
        TRY_GOTO(fail(c, MOTET_NO_MEMORY, "%s: no memory to read %lld views of %lld rows",
                      scan->path, (long long)views, (long long)rows));
    float *to = direct ? motet_array_data(sinogram) : copy;
    log_phase phase = log_phase_begin(c, "read", views);
    for (int64_t k = 0; k < views; k += block) {
        const int64_t count = views - k < block ? views - k : block;
        TRY_GOTO(read_frames(scan, k, count, raw));
        TRY_GOTO(normalise_block(scan, &n, raw, count, to + k * columns * rows, counters));
        for (int64_t i = 0; i < count * CT_NORMALISE_COUNTERS; i++)
            sums[i % CT_NORMALISE_COUNTERS] += counters[i];
        TRY_GOTO(log_phase_step(&phase, k + count));
    }
    if (!direct) memcpy(motet_array_data(sinogram), copy, sinogram->bytes);
    *clamped = sums[CT_NORMALISE_CLAMPED];
    *broken = sums[CT_NORMALISE_BROKEN];
out:
    mem_free(c, copy);
    mem_free(c, raw);
    mem_free(c, counters);
    return st;
}

void scan_warn(motet_ct_scan *scan, int64_t clamped, int64_t broken)
{
    if (clamped)
        log_warning(scan->context, "ct.scan",
                    "%s: %lld measurements at or below the dark level were clamped to 2^-20",
                    scan->path, (long long)clamped);
    if (broken)
        log_warning(scan->context, "ct.scan", "%s: %lld measurements are no numbers; taken as %s",
                    scan->path, (long long)broken, scan->line_integrals ? "0" : "blocked rays");
}

motet_status motet_ct_scan_read(motet_ct_scan *scan, int64_t first, motet_array *sinogram)
{
    int64_t clamped = 0, broken = 0;
    TRY(scan_read(scan, first, sinogram, &clamped, &broken));
    scan_warn(scan, clamped, broken);
    return MOTET_OK;
}
