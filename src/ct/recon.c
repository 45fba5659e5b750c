/* A whole reconstruction: scan -> line integrals -> filtered back-projection -> mask -> the caller,
 * in slabs of detector rows.
 *
 * Every slice depends on its own detector row alone, so the thickness of a slab is a matter of
 * memory and never of bits. A slab reads its own rows of every frame. What cannot be read in part
 * (packed frames, and the (view, u, v) of NPY, where every page has some of each row) is read again
 * for every slab: slabs are as thick as memory allows. */
#include <string.h>

#include "base/call.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/number.h"
#include "ct/operations.h"
#include "ct/scan.h"
#include "kern/bits.h"
#include "kern/digest.h"
#include "rt/array.h"
#include "rt/devices.h"

enum { CENTRE_ROWS = 8, SLAB_ROUND = 16 };

void motet_ct_recon_options_init(motet_ct_recon_options *options)
{
    *options = (motet_ct_recon_options){.size = sizeof *options, .centre = k_nan()};
    motet_ct_filter_options_init(&options->filter);
}

typedef struct recon {
    motet_ct_scan *scan;
    motet_context *context;
    const motet_ct_recon_options *options;
    int64_t first, rows, nx, ny, slab;
    double pitch, voxel, centre, quality, radius2; /* radius of the mask squared, in voxels */
    int64_t clamped, broken;
    float minimum, maximum;
    int started; /* minimum and maximum hold something */
} recon;

static motet_status check_options(recon *r)
{
    const motet_ct_recon_options *o = r->options;
    motet_context *c = r->context;
    const motet_ct_scan_info *info = &r->scan->info;
    char text[NUMBER_TEXT];
    if (o->size != sizeof *o)
        return fail(c, MOTET_BAD_ARGUMENT,
                    "options: size is %u, expected %zu: call motet_ct_recon_options_init",
                    (unsigned)o->size, sizeof *o);
    if (o->first_row < 0 || o->first_row >= info->rows)
        return fail(c, MOTET_BAD_ARGUMENT, "first_row is %lld, the scan has rows 0 to %lld",
                    (long long)o->first_row, (long long)(info->rows - 1));
    r->first = o->first_row;
    r->rows = o->rows ? o->rows : info->rows - r->first;
    if (r->rows < 1 || r->rows > info->rows - r->first)
        return fail(c, MOTET_BAD_ARGUMENT, "rows is %lld from row %lld on, the scan has %lld",
                    (long long)o->rows, (long long)r->first, (long long)info->rows);
    if (o->nx < 0 || o->ny < 0)
        return fail(c, MOTET_BAD_ARGUMENT, "nx, ny are %lld, %lld, expected at least 1, or 0",
                    (long long)o->nx, (long long)o->ny);
    r->nx = o->nx ? o->nx : info->columns;
    r->ny = o->ny ? o->ny : info->columns;
    if (!(o->pitch >= 0.0 && o->pitch < 1e30))
        return fail(c, MOTET_BAD_ARGUMENT, "pitch is %s, expected a positive length, or 0",
                    number_text(o->pitch, text));
    if (!(o->voxel >= 0.0 && o->voxel < 1e30))
        return fail(c, MOTET_BAD_ARGUMENT, "voxel is %s, expected a positive length, or 0",
                    number_text(o->voxel, text));
    r->pitch = o->pitch > 0.0 ? o->pitch : info->pitch > 0.0 ? info->pitch : 1.0;
    r->voxel = o->voxel > 0.0 ? o->voxel : r->pitch;
    if (!(o->mask >= 0.0 && o->mask < 1e6))
        return fail(c, MOTET_BAD_ARGUMENT,
                    "mask is %s, expected a fraction of the half width, or 0",
                    number_text(o->mask, text));
    const double radius = o->mask * 0.5 * (double)(r->nx < r->ny ? r->nx : r->ny);
    r->radius2 = radius * radius;
    if (o->slab_rows < 0)
        return fail(c, MOTET_BAD_ARGUMENT, "slab_rows is %lld, expected at least 1, or 0",
                    (long long)o->slab_rows);
    return MOTET_OK;
}

/* Without a bound, what the machine has free: a thick slab reads packed files least often. */
static double free_memory(motet_context *c)
{
    const int64_t bytes = rt_host_free(c);
    return bytes > 0 ? (double)bytes : 0x1p30;
}

/* The sinogram and its filtered copy, twice the slice for whoever commits it. */
motet_status ct_slab_rows(motet_context *c, const ct_slab_size *size, int64_t left, int64_t bound,
                          int64_t *out)
{
    const double row = 4.0 * (3.0 * (double)size->views * (double)size->columns +
                              2.0 * (double)size->nx * (double)size->ny);
    const double most = 0.75 * (left < INT64_MAX ? (double)left : free_memory(c));
    if (most < row)
        return fail(
            c, MOTET_OVER_BUDGET,
            "reconstructing one row takes about %lld bytes, %lld are left of the %lld allowed",
            (long long)row, (long long)most, (long long)bound);
    int64_t rows = (int64_t)k_min(most / row, (double)size->rows);
    if (rows > SLAB_ROUND) rows -= rows % SLAB_ROUND;
    *out = rows < size->rows ? rows : size->rows;
    return MOTET_OK;
}

static motet_status choose_slab(recon *r)
{
    if (r->options->slab_rows) {
        r->slab = r->options->slab_rows < r->rows ? r->options->slab_rows : r->rows;
        return MOTET_OK;
    }
    const motet_ct_scan_info *info = &r->scan->info;
    const ct_slab_size size = {info->views, info->columns, r->rows, r->nx, r->ny};
    return ct_slab_rows(r->context, &size, mem_left(r->context), mem_bound(r->context), &r->slab);
}

static motet_status find_centre(recon *r)
{
    r->centre = r->options->centre;
    if (r->centre == r->centre) return MOTET_OK;
    const motet_ct_scan_info *info = &r->scan->info;
    const int64_t rows = r->rows < CENTRE_ROWS ? r->rows : CENTRE_ROWS;
    const int64_t shape[3] = {info->views, info->columns, rows};
    int64_t clamped, broken; /* counted when the slabs are read */
    motet_array *sinogram = NULL;
    TRY(motet_array_create(r->context, MOTET_F32, 3, shape, &sinogram));
    sinogram->flags |= MOTET_WRITE_DIRECT;
    motet_status st =
        scan_read(r->scan, r->first + (r->rows - rows) / 2, sinogram, &clamped, &broken);
    if (st == MOTET_OK)
        st = motet_ct_find_centre(r->context, sinogram, r->scan->angles, &r->centre, &r->quality);
    motet_array_free(sinogram);
    return st;
}

/* Empties what lies outside the circle and keeps the extremes. */
static void finish_slices(recon *r, float *slices, int64_t rows)
{
    const double mx = 0.5 * (double)(r->nx - 1), my = 0.5 * (double)(r->ny - 1);
    for (int64_t z = 0; z < rows; z++)
        for (int64_t y = 0; y < r->ny; y++) {
            float *line = slices + (z * r->ny + y) * r->nx;
            const double dy = (double)y - my;
            for (int64_t x = 0; x < r->nx; x++) {
                const double dx = (double)x - mx;
                if (r->options->mask > 0.0 && dx * dx + dy * dy > r->radius2) line[x] = 0.0f;
                if (!r->started || line[x] < r->minimum) r->minimum = line[x];
                if (!r->started || line[x] > r->maximum) r->maximum = line[x];
                r->started = 1;
            }
        }
}

static motet_status one_slab(recon *r, int64_t first, int64_t rows, float *sinogram_data,
                             float *slices)
{
    motet_context *c = r->context;
    const motet_ct_scan_info *info = &r->scan->info;
    const int64_t sinogram_shape[3] = {info->views, info->columns, rows};
    const int64_t volume_shape[3] = {rows, r->ny, r->nx};
    motet_array *sinogram = NULL, *volume = NULL;
    motet_ct_geometry *geometry = NULL;
    motet_ct_parallel parallel;
    motet_status st = MOTET_OK;
    int64_t clamped, broken;
    motet_ct_parallel_init(&parallel);
    parallel.views = info->views;
    parallel.columns = info->columns;
    parallel.rows = rows;
    parallel.angles = r->scan->angles;
    parallel.pitch = r->pitch;
    parallel.centre = r->centre;
    parallel.nx = r->nx;
    parallel.ny = r->ny;
    parallel.voxel = r->voxel;
    TRY_GOTO(motet_ct_geometry_parallel(c, &parallel, &geometry));
    if (first == 0 && (r->centre < 0.0 || r->centre > (double)(info->columns - 1)))
        log_warning(c, "ct.recon",
                    "the rotation axis at column %s is outside the detector, columns 0 to %lld",
                    number_text(r->centre, (char[NUMBER_TEXT]){0}), (long long)info->columns - 1);
    TRY_GOTO(motet_array_wrap(c, sinogram_data, MOTET_F32, 3, sinogram_shape, MOTET_WRITE_DIRECT,
                              &sinogram));
    TRY_GOTO(motet_array_wrap(c, slices, MOTET_F32, 3, volume_shape, MOTET_WRITE_DIRECT, &volume));
    TRY_GOTO(scan_read(r->scan, r->first + first, sinogram, &clamped, &broken));
    r->clamped += clamped;
    r->broken += broken;
    TRY_GOTO(motet_ct_fbp(geometry, &r->options->filter, sinogram, volume));
    finish_slices(r, slices, rows);
out:
    motet_array_free(sinogram);
    motet_array_free(volume);
    motet_ct_geometry_free(geometry);
    return st;
}

static motet_status all_slabs(recon *r, log_phase *phase, motet_ct_slab_fn *slab, void *user,
                              digest_rows *sum)
{
    motet_context *c = r->context;
    const size_t slice = (size_t)(r->ny * r->nx) * sizeof(float);
    motet_status st = MOTET_OK;
    size_t row_values = 0;
    float *sinogram = NULL, *slices = NULL;
    if (mem_product(r->scan->info.views, (size_t)r->scan->info.columns * sizeof(float),
                    &row_values)) {
        sinogram = mem_alloc_array(c, r->slab, row_values);
        slices = mem_alloc_array(c, r->slab, slice);
    }
    if (!sinogram || !slices)
        TRY_GOTO(fail(c, MOTET_NO_MEMORY,
                      "no memory for a slab of %lld rows; slab_rows makes it thinner",
                      (long long)r->slab));
    for (int64_t first = 0; first < r->rows; first += r->slab) {
        const int64_t rows = r->rows - first < r->slab ? r->rows - first : r->slab;
        TRY_GOTO(one_slab(r, first, rows, sinogram, slices));
        digest_rows_add(sum, slices, rows, slice, sizeof(float));
        if (slab) TRY_GOTO(slab(first, rows, slices, user));
        TRY_GOTO(log_phase_step(phase, first + rows));
    }
out:
    mem_free(c, sinogram);
    mem_free(c, slices);
    return st;
}

static motet_status reconstruct(motet_ct_scan *scan, const motet_ct_recon_options *options,
                                motet_ct_slab_fn *slab, void *user, motet_ct_recon_result *result)
{
    motet_ct_recon_options defaults;
    motet_ct_recon_options_init(&defaults);
    recon r = {.scan = scan, .context = scan->context, .options = options ? options : &defaults};
    TRY(check_options(&r));
    /* From here on, so that a cancellation between the phases within is not lost. */
    log_phase phase = log_phase_begin(r.context, "reconstruct", r.rows);
    int64_t pixels;
    if (__builtin_mul_overflow(r.nx, r.ny, &pixels) || pixels > INT64_MAX / 64)
        return fail(r.context, MOTET_BAD_ARGUMENT, "nx * ny is %lld * %lld: too many voxels",
                    (long long)r.nx, (long long)r.ny);
    TRY(choose_slab(&r));
    TRY(find_centre(&r));
    TRY(log_phase_step(&phase, 0));
    digest_rows sum;
    digest_rows_begin(&sum, MOTET_F32, 3, (int64_t[3]){r.rows, r.ny, r.nx});
    TRY(all_slabs(&r, &phase, slab, user, &sum));
    scan_warn(scan, r.clamped, r.broken);
    if (!result) return MOTET_OK;
    *result = (motet_ct_recon_result){.centre = r.centre,
                                      .centre_quality = r.quality,
                                      .clamped = r.clamped + (scan->line_integrals ? 0 : r.broken),
                                      .minimum = (double)r.minimum,
                                      .maximum = (double)r.maximum};
    digest_text(digest_rows_end(&sum), result->digest);
    return MOTET_OK;
}

motet_status motet_ct_recon(motet_ct_scan *scan, const motet_ct_recon_options *options,
                            motet_ct_slab_fn *slab, void *user, motet_ct_recon_result *result)
{
    call one;
    call_begin(scan->context, &one);
    return call_end(&one, reconstruct(scan, options, slab, user, result));
}
