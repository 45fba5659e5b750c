/* Geometries: checking what the caller says, and the table of views that the kernels read. */
#include "ct/geometry.h"

#include <string.h>

#include "base/fail.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/threads.h"
#include "ct/beam/beam.h"
#include "ct/directions.h"
#include "ct/operations.h"
#include "kern/digest.h"
#include "kern/exact.h"

/* Bounds that keep whole columns below 2^40 and float32 places useful. */
static const double greatest_size = 1073741824.0; /* voxels or columns along an axis */
static const double greatest_ratio = 1024.0;      /* voxel / pitch, or its inverse */

void ct_direction(double angle, double *cosine, double *sine)
{
    double c = k_cos(angle), s = k_sin(angle);
    const double small = 0x1p-40; /* moves a ray by less than 2^-20 columns in 2^20 */
    if (k_abs(c) < small) {
        c = 0.0;
        s = s < 0.0 ? -1.0 : 1.0;
    } else if (k_abs(s) < small) {
        s = 0.0;
        c = c < 0.0 ? -1.0 : 1.0;
    }
    *cosine = c;
    *sine = s;
}

_Static_assert(sizeof(ct_grid) == 6 * 8, "no padding: the grid is taken as bytes");

void ct_fingerprint(const motet_ct_geometry *g, uint64_t out[2])
{
    const struct ct_views_key {
        ct_space space;
        int64_t form;
    } key = g->beam ? (struct ct_views_key){g->beam->space, (int64_t)g->beam->form}
                    : (struct ct_views_key){.form = -1};
    const digest d =
        g->beam ? digest_bytes(&key, sizeof key) : digest_bytes(&g->grid, sizeof g->grid);
    out[0] = d.low;
    out[1] = d.high;
}

motet_status ct_table_create(const motet_ct_geometry *g, ct_entry_fn *entry, ct_table *out)
{
    size_t bytes = 0;
    if (!mem_product(g->views, sizeof(ct_view), &bytes))
        return fail(g->context, MOTET_NO_MEMORY, "no memory for %lld views", (long long)g->views);
    const int64_t shape[] = {(int64_t)bytes};
    ct_table table = {NULL, 0};
    TRY(motet_array_create(g->context, MOTET_U8, 1, shape, &table.views));
    ct_view *view = motet_array_data(table.views);
    for (int64_t k = 0; k < g->views; k++) {
        double cosine, sine;
        ct_direction(g->angles[k], &cosine, &sine);
        view[k] = entry(cosine, sine, g->pitch, g->voxel);
        if (view[k].taps > table.most_taps) table.most_taps = view[k].taps;
    }
    *out = table;
    return MOTET_OK;
}

void motet_ct_parallel_init(motet_ct_parallel *parallel)
{
    memset(parallel, 0, sizeof *parallel);
    parallel->size = sizeof *parallel;
    parallel->pitch = 1.0;
    parallel->centre = k_nan();
}

static motet_status check_size(motet_context *c, const char *name, int64_t value, int64_t least)
{
    if (value >= least && (double)value <= greatest_size) return MOTET_OK;
    return fail(c, MOTET_BAD_ARGUMENT, "%s is %lld, expected %lld to %.0f", name, (long long)value,
                (long long)least, greatest_size);
}

static motet_status check_length(motet_context *c, const char *name, double value, int zero)
{
    char text[NUMBER_TEXT];
    if (k_is_finite(value) && (value > 0.0 || (zero && value == 0.0))) return MOTET_OK;
    return fail(c, MOTET_BAD_ARGUMENT, "%s is %s, expected a positive length", name,
                number_text(value, text));
}

static void warn_degrees(motet_context *c, const motet_ct_parallel *p)
{
    double least, most;
    char from[NUMBER_TEXT], to[NUMBER_TEXT];
    if (directions_look_like_degrees(p->angles, p->views, &least, &most))
        log_warning(
            c, "ct.geometry",
            "the angles run from %s to %s radians, more than three turns: are they degrees?",
            number_text(least, from), number_text(most, to));
}

static motet_status check(motet_context *c, const motet_ct_parallel *p)
{
    char text[NUMBER_TEXT];
    if (p->size != sizeof *p)
        return fail(c, MOTET_BAD_ARGUMENT, "size is %u, expected %zu: call motet_ct_parallel_init",
                    p->size, sizeof *p);
    TRY(check_size(c, "views", p->views, 1));
    TRY(check_size(c, "columns", p->columns, 1));
    TRY(check_size(c, "rows", p->rows, 0));
    TRY(check_size(c, "nx", p->nx, 0));
    TRY(check_size(c, "ny", p->ny, 0));
    TRY(check_length(c, "pitch", p->pitch, 0));
    TRY(check_length(c, "voxel", p->voxel, 1));
    const double ratio = p->voxel > 0.0 ? p->voxel / p->pitch : 1.0;
    if (!(ratio <= greatest_ratio && ratio * greatest_ratio >= 1.0))
        return fail(c, MOTET_BAD_ARGUMENT, "voxel is %s pitches, expected 1/1024 to 1024",
                    number_text(ratio, text));
    if (!p->angles) return fail(c, MOTET_BAD_ARGUMENT, "angles is NULL");
    for (int64_t k = 0; k < p->views; k++)
        if (!(k_abs(p->angles[k]) <= 1e6))
            return fail(c, MOTET_BAD_ARGUMENT,
                        "angle %lld is %s, expected a finite number of radians below 1e6",
                        (long long)k, number_text(p->angles[k], text));
    const double widths = 10.0 * (double)p->columns;
    if (p->centre == p->centre &&
        !(p->centre >= -widths && p->centre <= widths + (double)p->columns))
        return fail(
            c, MOTET_BAD_ARGUMENT,
            "centre is %s, expected a column within 10 widths (%lld columns) of the detector",
            number_text(p->centre, text), (long long)p->columns);
    return MOTET_OK;
}

static motet_status make_parallel(motet_context *context, const motet_ct_parallel *parallel,
                                  motet_ct_geometry **out)
{
    motet_status st = MOTET_OK;
    const motet_ct_parallel *p = parallel;
    TRY(check(context, p));
    motet_ct_geometry *g = mem_new(context, motet_ct_geometry);
    if (!g) return fail(context, MOTET_NO_MEMORY, "no memory for a geometry");
    g->context = context;
    g->views = p->views;
    g->rows = p->rows;
    g->pitch = p->pitch;
    g->voxel = p->voxel > 0.0 ? p->voxel : p->pitch;
    g->grid.columns = p->columns;
    g->grid.nx = p->nx ? p->nx : p->columns;
    g->grid.ny = p->ny ? p->ny : p->columns;
    g->grid.middle_x = 0.5 * (double)(g->grid.nx - 1);
    g->grid.middle_y = 0.5 * (double)(g->grid.ny - 1);
    g->grid.centre = p->centre == p->centre ? p->centre : 0.5 * (double)(p->columns - 1);

    g->angles = mem_array(context, double, p->views);
    if (!g->angles) {
        st = fail(context, MOTET_NO_MEMORY, "no memory for %lld angles", (long long)p->views);
        goto out;
    }
    memcpy(g->angles, p->angles, sizeof *g->angles * (size_t)p->views);
    TRY_GOTO(ct_table_create(g, ct_view_of, &g->chords));
    warn_degrees(context, p);
    *out = g;
    return MOTET_OK;
out:
    motet_ct_geometry_free(g);
    return st;
}

motet_status motet_ct_geometry_parallel(motet_context *context, const motet_ct_parallel *parallel,
                                        motet_ct_geometry **out)
{
    const thread_float_state former = thread_float_enter();
    const motet_status st = make_parallel(context, parallel, out);
    thread_float_leave(former);
    return st;
}

void motet_ct_geometry_free(motet_ct_geometry *geometry)
{
    if (!geometry) return;
    motet_context *context = geometry->context;
    ct_beam_free(context, geometry->beam);
    motet_array_free(geometry->chords.views);
    mem_free(context, geometry->angles);
    mem_free(context, geometry);
}

static motet_status check_array(const motet_ct_geometry *g, const motet_array *array,
                                const char *name, const int64_t size[3], const char *const axis[3])
{
    motet_context *c = g->context;
    if (!array) return fail(c, MOTET_BAD_ARGUMENT, "%s is NULL", name);
    if (motet_array_type(array) != MOTET_F32)
        return fail(c, MOTET_BAD_ARGUMENT, "%s is %s, expected float32", name,
                    motet_type_text(motet_array_type(array)));
    if (motet_array_axes(array) != 3)
        return fail(c, MOTET_BAD_SHAPE, "%s has %d axes, expected 3: (%s, %s, %s)", name,
                    motet_array_axes(array), axis[0], axis[1], axis[2]);
    for (int i = 0; i < 3; i++)
        if (motet_array_size(array, i) != size[i])
            return fail(c, MOTET_BAD_SHAPE, "%s: axis %d has %lld %s, the geometry has %lld", name,
                        i, (long long)motet_array_size(array, i), axis[i], (long long)size[i]);
    return MOTET_OK;
}

motet_status ct_check_sinogram(const motet_ct_geometry *g, const motet_array *array,
                               const char *name)
{
    const int64_t size[] = {g->views, g->grid.columns, g->rows};
    return check_array(g, array, name, size, (const char *const[]){"views", "columns", "rows"});
}

motet_status ct_check_volume(const motet_ct_geometry *g, const motet_array *array, const char *name)
{
    const int64_t *n = g->beam ? g->beam->space.n : NULL;
    const int64_t size[] = {n ? n[2] : g->rows, n ? n[1] : g->grid.ny, n ? n[0] : g->grid.nx};
    return check_array(g, array, name, size, (const char *const[]){"rows", "lines", "columns"});
}
