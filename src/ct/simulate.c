/* A scan made from nothing: a Shepp-Logan head in a parallel beam, as counts of a detector.
 *
 * A pixel counts dark + Poisson(counts * gain * exp(-line integral)). The gain falls off smoothly
 * towards the corners and differs from pixel to pixel by a few per cent; the dark level too. Flats
 * and darks are frames of the same detector. Random numbers are functions of (seed, kind of frame,
 * pixel), so no order of work can change a scan. */
#include <string.h>

#include <motet/ct.h>

#include "base/call.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/number.h"
#include "ct/phantom.h"
#include "kern/random.h"
#include "rt/array.h"

/* Streams of random numbers. */
enum { STREAM_GAIN = 1, STREAM_DARK_LEVEL, STREAM_VIEWS, STREAM_FLATS, STREAM_DARKS };

static const double dark_level = 100.0, quiet_counts = 20000.0;

void motet_ct_simulate_options_init(motet_ct_simulate_options *options)
{
    *options = (motet_ct_simulate_options){.size = sizeof *options,
                                           .views = 180,
                                           .rows = 4,
                                           .columns = 128,
                                           .flats = 10,
                                           .darks = 10,
                                           .centre = k_nan(),
                                           .arc = 180.0,
                                           .counts = 20000.0,
                                           .pitch = 0.05};
}

static motet_status check_options(motet_context *c, const motet_ct_simulate_options *o)
{
    if (o->size != sizeof *o)
        return fail(c, MOTET_BAD_ARGUMENT,
                    "options: size is %u, expected %zu: call motet_ct_simulate_options_init",
                    (unsigned)o->size, sizeof *o);
    const struct {
        const char *name;
        int64_t value, least, most;
    } whole[] = {{"views", o->views, 1, 1 << 20},
                 {"rows", o->rows, 1, 1 << 20},
                 {"columns", o->columns, 1, 1 << 20},
                 {"flats", o->flats, 0, 1 << 20},
                 {"darks", o->darks, 0, 1 << 20}};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (whole[i].value < whole[i].least || whole[i].value > whole[i].most)
            return fail(c, MOTET_BAD_ARGUMENT, "%s is %lld, expected %lld to %lld", whole[i].name,
                        (long long)whole[i].value, (long long)whole[i].least,
                        (long long)whole[i].most);
    const double width = (double)o->columns;
    const struct {
        const char *name;
        double value, least, most;
    } real[] = {{"arc", o->arc, 1e-6, 36000.0},
                {"counts", o->counts, 0.0, 40000.0},
                {"pitch", o->pitch, 1e-9, 1e9},
                {"centre", o->centre == o->centre ? o->centre : 0.0, -10.0 * width, 11.0 * width}};
    for (size_t i = 0; i < sizeof real / sizeof *real; i++)
        if (!(real[i].value >= real[i].least && real[i].value <= real[i].most)) {
            char value[NUMBER_TEXT], least[NUMBER_TEXT], most[NUMBER_TEXT];
            return fail(c, MOTET_BAD_ARGUMENT, "%s is %s, expected %s to %s", real[i].name,
                        number_text(real[i].value, value), number_text(real[i].least, least),
                        number_text(real[i].most, most));
        }
    return MOTET_OK;
}

/* The head of one row: it fills most of the field even when the axis is a tenth off the middle,
 * shrinks by a tenth from the first row to the last, and its darkest ray is about 2. */
static phantom row_phantom(const motet_ct_simulate_options *o, int64_t row)
{
    const double radius = 0.42 * (double)o->columns * o->pitch;
    const double part = o->rows > 1 ? (double)row / (double)(o->rows - 1) : 0.0;
    return phantom_head(radius, 1.0 - 0.1 * part, 3.6 / radius);
}

/* ---- The detector ---- */

typedef struct detector {
    const motet_ct_simulate_options *options;
    int64_t rows, columns;
    double *gain, *dark; /* mean counts of a pixel: open beam less dark, dark */
} detector;

static double uniform(uint64_t seed, uint32_t stream, int64_t index)
{
    const k_words w = k_random((k_source){seed, stream}, (uint64_t)index, 0);
    return k_uniform(w.w[0], w.w[1]);
}

static void detector_build(detector *d)
{
    const motet_ct_simulate_options *o = d->options;
    const double counts = o->counts > 0.0 ? o->counts : quiet_counts;
    for (int64_t v = 0; v < d->rows; v++)
        for (int64_t u = 0; u < d->columns; u++) {
            const int64_t pixel = v * d->columns + u;
            const double x = ((double)u + 0.5) / (double)d->columns - 0.5;
            const double y = ((double)v + 0.5) / (double)d->rows - 0.5;
            const double smooth = 1.0 - 0.4 * x * x - 0.2 * y * y;
            const double own = uniform(o->seed, STREAM_GAIN, pixel) - 0.5;
            const double level = uniform(o->seed, STREAM_DARK_LEVEL, pixel);
            d->gain[pixel] = counts * smooth * (1.0 + 0.1 * own);
            d->dark[pixel] = dark_level * (0.8 + 0.4 * level);
        }
}

/* What a pixel of a frame counts when `open` of the beam comes through. */
static uint16_t count(const detector *d, int64_t pixel, double open, uint32_t stream, int64_t frame)
{
    const double mean = d->dark[pixel] + d->gain[pixel] * open;
    const uint64_t sample = (uint64_t)(frame * d->rows * d->columns + pixel);
    const double n = d->options->counts > 0.0
                         ? k_poisson(mean, (k_source){d->options->seed, stream}, sample, 0)
                         : mean + 0.5;
    return (uint16_t)k_to_i32((float)k_min(n, 65535.0));
}

/* ---- The file ---- */

static const char *const data_entry = "/exchange/data", *const theta_entry = "/exchange/theta",
                         *const pixel_entry = "/measurement/instrument/detector/pixel_size_x";

static motet_status write_views(motet_context *c, motet_store *store, const detector *d,
                                const phantom *heads)
{
    const motet_ct_simulate_options *o = d->options;
    const double centre = o->centre == o->centre ? o->centre : 0.5 * (double)(d->columns - 1);
    uint16_t *frame = mem_alloc_array(c, d->rows * d->columns, sizeof *frame);
    if (!frame) return fail(c, MOTET_NO_MEMORY, "no memory for a frame");
    motet_status st = MOTET_OK;
    log_phase phase = log_phase_begin(c, "simulate", o->views);
    for (int64_t k = 0; k < o->views; k++) {
        const double part = o->views > 1 ? (double)k / (double)(o->views - 1) : 0.0;
        double sine, cosine;
        k_sincospi(o->arc * part / 180.0, &sine, &cosine);
        for (int64_t v = 0; v < d->rows; v++)
            for (int64_t u = 0; u < d->columns; u++) {
                const double s = ((double)u - centre) * o->pitch;
                const double line = phantom_line(&heads[v], s, cosine, sine);
                frame[v * d->columns + u] =
                    count(d, v * d->columns + u, k_exp(-line), STREAM_VIEWS, k);
            }
        TRY_GOTO(motet_store_write(store, k, 1, frame));
        TRY_GOTO(log_phase_step(&phase, k + 1));
    }
out:
    mem_free(c, frame);
    return st;
}

static motet_status add_frames(motet_context *c, motet_store *store, const detector *d,
                               const char *entry, int64_t frames, double open, uint32_t stream)
{
    if (frames < 1) return MOTET_OK;
    const int64_t pixels = d->rows * d->columns;
    const motet_store_info info = {
        .type = MOTET_U16, .axes = 3, .shape = {frames, d->rows, d->columns}};
    motet_status st = MOTET_OK;
    uint16_t *all = mem_alloc_array(c, frames * pixels, sizeof *all);
    if (!all) return fail(c, MOTET_NO_MEMORY, "no memory for %lld frames", (long long)frames);
    log_phase phase = log_phase_begin(c, "simulate frames", frames);
    for (int64_t i = 0; i < frames; i++) {
        for (int64_t pixel = 0; pixel < pixels; pixel++)
            all[i * pixels + pixel] = count(d, pixel, open, stream, i);
        TRY_GOTO(log_phase_step(&phase, i + 1));
    }
    TRY_GOTO(motet_store_add(store, entry, &info, all));
out:
    mem_free(c, all);
    return st;
}

static motet_status add_numbers(motet_store *store, const char *entry, int64_t count_of,
                                const double *values, const char *unit)
{
    const motet_store_info info = {.type = MOTET_F64, .axes = 1, .shape = {count_of}};
    TRY(motet_store_add(store, entry, &info, values));
    return motet_store_set_text(store, entry, "units", unit);
}

static motet_status write_scan(motet_context *c, motet_store *store, const detector *d)
{
    const motet_ct_simulate_options *o = d->options;
    motet_status st = MOTET_OK;
    double *theta = mem_array(c, double, o->views);
    phantom *heads = mem_array(c, phantom, o->rows);
    if (!theta || !heads)
        TRY_GOTO(fail(c, MOTET_NO_MEMORY, "no memory for %lld views", (long long)o->views));
    for (int64_t k = 0; k < o->views; k++)
        theta[k] = o->views > 1 ? o->arc * ((double)k / (double)(o->views - 1)) : 0.0;
    for (int64_t v = 0; v < o->rows; v++) heads[v] = row_phantom(o, v);
    TRY_GOTO(write_views(c, store, d, heads));
    TRY_GOTO(motet_store_set_text(store, data_entry, "units", "counts"));
    TRY_GOTO(add_frames(c, store, d, "/exchange/data_white", o->flats, 1.0, STREAM_FLATS));
    TRY_GOTO(add_frames(c, store, d, "/exchange/data_dark", o->darks, 0.0, STREAM_DARKS));
    TRY_GOTO(add_numbers(store, theta_entry, o->views, theta, "degrees"));
    TRY_GOTO(add_numbers(store, pixel_entry, 1, &o->pitch, "mm"));
    TRY_GOTO(motet_store_commit(store));
out:
    mem_free(c, theta);
    mem_free(c, heads);
    return st;
}

static motet_status simulate(motet_context *context, const motet_ct_simulate_options *options,
                             const char *path, int overwrite)
{
    motet_ct_simulate_options defaults;
    motet_ct_simulate_options_init(&defaults);
    if (!options) options = &defaults;
    if (!path)
        return fail(context, MOTET_BAD_ARGUMENT, "path is NULL, expected a name for the scan");
    TRY(check_options(context, options));
    detector d = {.options = options, .rows = options->rows, .columns = options->columns};
    motet_store *store = NULL;
    motet_status st = MOTET_OK;
    d.gain = mem_array(context, double, d.rows *d.columns);
    d.dark = mem_array(context, double, d.rows *d.columns);
    if (!d.gain || !d.dark)
        TRY_GOTO(fail(context, MOTET_NO_MEMORY,
                      "%s: no memory for a detector of %lld x %lld pixels", path, (long long)d.rows,
                      (long long)d.columns));
    detector_build(&d);
    const motet_store_info info = {
        .type = MOTET_U16, .axes = 3, .shape = {options->views, d.rows, d.columns}};
    TRY_GOTO(motet_store_create(context, path, data_entry, &info, overwrite, &store));
    TRY_GOTO(write_scan(context, store, &d));
out:
    motet_store_free(store);
    mem_free(context, d.gain);
    mem_free(context, d.dark);
    return st;
}

motet_status motet_ct_simulate(motet_context *context, const motet_ct_simulate_options *options,
                               const char *path, int overwrite)
{
    call one;
    call_begin(context, &one);
    return call_end(&one, simulate(context, options, path, overwrite));
}

/* ---- The known answer ---- */

static void fill_truth(const phantom *head, int64_t ny, int64_t nx, double voxel, float *out)
{
    for (int64_t y = 0; y < ny; y++)
        for (int64_t x = 0; x < nx; x++) {
            double sum = 0.0;
            for (int i = 0; i < 16; i++) {
                const double dx = ((double)(i % 4) - 1.5) * 0.25;
                const double dy = ((double)(i / 4) - 1.5) * 0.25;
                sum += phantom_point(head, ((double)x - 0.5 * (double)(nx - 1) + dx) * voxel,
                                     ((double)y - 0.5 * (double)(ny - 1) + dy) * voxel);
            }
            out[y * nx + x] = (float)(sum / 16.0);
        }
}

static motet_status simulate_truth(motet_context *context, const motet_ct_simulate_options *options,
                                   double voxel, motet_array *volume)
{
    motet_ct_simulate_options defaults;
    motet_ct_simulate_options_init(&defaults);
    if (!options) options = &defaults;
    TRY(check_options(context, options));
    if (motet_array_type(volume) != MOTET_F32 || motet_array_axes(volume) != 3 ||
        motet_array_size(volume, 0) != options->rows)
        return fail(context, MOTET_BAD_SHAPE,
                    "volume is %s with %d axes and %lld slices, expected float32 with 3 and %lld",
                    motet_type_text(motet_array_type(volume)), motet_array_axes(volume),
                    (long long)motet_array_size(volume, 0), (long long)options->rows);
    if (!(voxel > 0.0 && voxel < 1e30))
        return fail(context, MOTET_BAD_ARGUMENT, "voxel is %s, expected a positive length",
                    number_text(voxel, (char[NUMBER_TEXT]){0}));
    const int64_t ny = motet_array_size(volume, 1), nx = motet_array_size(volume, 2);
    motet_status st = MOTET_OK;
    float *copy = NULL; /* the caller's array gets all or nothing */
    if (!(volume->flags & MOTET_WRITE_DIRECT)) {
        copy = mem_alloc(context, volume->bytes ? volume->bytes : 1);
        if (!copy)
            return fail(context, MOTET_NO_MEMORY, "no memory for %zu bytes of the volume",
                        volume->bytes);
    }
    float *out = copy ? copy : volume->data;
    log_phase phase = log_phase_begin(context, "truth", options->rows);
    for (int64_t z = 0; z < options->rows; z++) {
        const phantom head = row_phantom(options, z);
        fill_truth(&head, ny, nx, voxel, out + z * ny * nx);
        TRY_GOTO(log_phase_step(&phase, z + 1));
    }
    if (copy && volume->bytes) memcpy(volume->data, copy, volume->bytes);
    motet_array_changed(volume);
out:
    mem_free(context, copy);
    return st;
}

motet_status motet_ct_simulate_truth(motet_context *context,
                                     const motet_ct_simulate_options *options, double voxel,
                                     motet_array *volume)
{
    call one;
    call_begin(context, &one);
    return call_end(&one, simulate_truth(context, options, voxel, volume));
}
