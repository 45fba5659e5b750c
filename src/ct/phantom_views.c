/* The head as a volume and as a sinogram of views in space. */
#include <motet/ct_phantom.h>

#include <string.h>

#include "base/call.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/number.h"
#include "ct/beam/beam.h"
#include "ct/solid.h"
#include "kern/exact.h"
#include "rt/array.h"

static const double whole_line = 1e300;

void motet_ct_phantom_init(motet_ct_phantom *phantom)
{
    *phantom = (motet_ct_phantom){.size = sizeof *phantom, .value = 1.0, .points = 1};
}

/* Where to fill, and with what. */
typedef struct filling {
    const motet_ct_views *views;
    solid body;
    int64_t points;
} filling;

static motet_status begin(const motet_ct_geometry *g, const motet_ct_phantom *given, filling *out)
{
    motet_context *c = g->context;
    char text[NUMBER_TEXT];
    motet_ct_phantom p;
    motet_ct_phantom_init(&p);
    if (given) p = *given;
    if (p.size != sizeof p)
        return fail(c, MOTET_BAD_ARGUMENT, "size is %u, expected %zu: call motet_ct_phantom_init",
                    p.size, sizeof p);
    if (!g->beam)
        return fail(c, MOTET_UNSUPPORTED, "the geometry was made of angles, not of views in space");
    if (!(p.radius >= 0.0 && k_is_finite(p.radius)))
        return fail(c, MOTET_BAD_ARGUMENT, "radius is %s, expected a length, or 0",
                    number_text(p.radius, text));
    if (!k_is_finite(p.value))
        return fail(c, MOTET_BAD_ARGUMENT, "value is %s, expected a finite number",
                    number_text(p.value, text));
    if (p.points < 1 || p.points > 64)
        return fail(c, MOTET_BAD_ARGUMENT, "points is %lld, expected 1 to 64", (long long)p.points);
    const motet_ct_views *v = &g->beam->given;
    const double side = k_min((double)v->nx * v->voxel[0],
                              k_min((double)v->ny * v->voxel[1], (double)v->nz * v->voxel[2]));
    out->views = v;
    out->body = solid_head(v->centre, p.radius > 0.0 ? p.radius : 0.5 * side, p.value);
    out->points = p.points;
    return MOTET_OK;
}

/* Place of point j of `points` in a cell around 0. */
static double point_at(int64_t j, int64_t points)
{
    return ((double)j + 0.5) / (double)points - 0.5;
}

static void fill_slice(const filling *f, int64_t z, float *out)
{
    const motet_ct_views *v = f->views;
    const int64_t n = f->points;
    for (int64_t y = 0; y < v->ny; y++)
        for (int64_t x = 0; x < v->nx; x++) {
            double sum = 0.0;
            for (int64_t j = 0; j < n * n * n; j++) {
                const double cell[] = {
                    (double)x - 0.5 * (double)(v->nx - 1) + point_at(j % n, n),
                    (double)y - 0.5 * (double)(v->ny - 1) + point_at(j / n % n, n),
                    (double)z - 0.5 * (double)(v->nz - 1) + point_at(j / n / n, n)};
                double at[3];
                for (int i = 0; i < 3; i++) at[i] = k_fma(cell[i], v->voxel[i], v->centre[i]);
                sum += solid_point(&f->body, at);
            }
            out[y * v->nx + x] = (float)(sum / (double)(n * n * n));
        }
}

static double line_at(const filling *f, const motet_ct_view *w, double a, double b)
{
    double pixel[3], along[3];
    const int cone = f->views->beam == MOTET_CT_BEAM_CONE;
    for (int i = 0; i < 3; i++) {
        pixel[i] = k_fma(a * f->views->pitch_u, w->u[i],
                         k_fma(b * f->views->pitch_v, w->v[i], w->detector[i]));
        along[i] = cone ? pixel[i] - w->source[i] : w->source[i];
    }
    return cone ? solid_line(&f->body, w->source, along, 0.0, 1.0)
                : solid_line(&f->body, pixel, along, -whole_line, whole_line);
}

static void fill_view(const filling *f, int64_t k, float *out)
{
    const motet_ct_views *v = f->views;
    const int64_t n = f->points;
    for (int64_t column = 0; column < v->columns; column++)
        for (int64_t row = 0; row < v->rows; row++) {
            const double a = (double)column - 0.5 * (double)(v->columns - 1);
            const double b = (double)row - 0.5 * (double)(v->rows - 1);
            double sum = 0.0;
            for (int64_t j = 0; j < n * n; j++)
                sum += line_at(f, &v->view[k], a + point_at(j % n, n), b + point_at(j / n, n));
            out[column * v->rows + row] = (float)(sum / (double)(n * n));
        }
}

typedef void part_fn(const filling *f, int64_t part, float *out);

/* Part by part into a copy that nobody sees until it is whole. */
static motet_status fill(const filling *f, const char *name, part_fn *part, motet_array *array)
{
    motet_status st = MOTET_OK;
    motet_context *c = array->context;
    const int64_t parts = array->shape[0];
    const size_t bytes = array->bytes / (size_t)parts;
    float *copy = NULL;
    if (!(array->flags & MOTET_WRITE_DIRECT)) {
        copy = mem_alloc(c, array->bytes);
        if (!copy)
            return fail(c, MOTET_NO_MEMORY, "no memory for %zu bytes of %s", array->bytes, name);
    }
    char *out = copy ? (char *)copy : array->data;
    log_phase phase = log_phase_begin(c, name, parts);
    for (int64_t i = 0; i < parts; i++) {
        part(f, i, (float *)(void *)(out + (size_t)i * bytes));
        TRY_GOTO(log_phase_step(&phase, i + 1));
    }
    if (copy) memcpy(array->data, copy, array->bytes);
    motet_array_changed(array);
out:
    mem_free(c, copy);
    return st;
}

static motet_status fill_volume(motet_ct_geometry *g, const motet_ct_phantom *phantom,
                                motet_array *volume)
{
    filling f;
    TRY(begin(g, phantom, &f));
    TRY(ct_check_volume(g, volume, "volume"));
    return fill(&f, "phantom", fill_slice, volume);
}

static motet_status fill_sinogram(motet_ct_geometry *g, const motet_ct_phantom *phantom,
                                  motet_array *sinogram)
{
    filling f;
    TRY(begin(g, phantom, &f));
    TRY(ct_check_sinogram(g, sinogram, "sinogram"));
    return fill(&f, "phantom", fill_view, sinogram);
}

motet_status motet_ct_phantom_volume(motet_ct_geometry *geometry, const motet_ct_phantom *phantom,
                                     motet_array *volume)
{
    call one;
    call_begin(geometry->context, &one);
    return call_end(&one, fill_volume(geometry, phantom, volume));
}

motet_status motet_ct_phantom_project(motet_ct_geometry *geometry, const motet_ct_phantom *phantom,
                                      motet_array *sinogram)
{
    call one;
    call_begin(geometry->context, &one);
    return call_end(&one, fill_sinogram(geometry, phantom, sinogram));
}
