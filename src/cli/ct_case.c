#include "ct_case.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[CT_STEPS] = {"project", "backproject", "filter", "fbp",
                                            "fdk",     "cgls",        "sirt"};

const char *ct_step_name(ct_step step) { return names[step]; }

/* An ellipse, a disc in it and a checked corner, in eighths; another offset in every slice. */
static float phantom_value(int64_t z, int64_t y, int64_t x, int64_t n)
{
    const int64_t u = 2 * x + 1 - n, v = 2 * y + 1 - n;
    const int64_t s = 3 * u + n / 4 + z % 5, t = 3 * v - n / 6;
    float value = 0;
    if (16 * u * u + 25 * v * v < 12 * n * n) value += 1.0f;
    if (s * s + t * t < n * n) value -= 0.625f;
    if (u > n / 3 && v > n / 3) value += 0.125f * (float)((x + 2 * y + 3 * z) % 8);
    return value;
}

static void fill_phantom(motet_array *volume, int64_t rows, int64_t n)
{
    float *at = motet_array_data(volume);
    for (int64_t z = 0; z < rows; z++)
        for (int64_t y = 0; y < n; y++)
            for (int64_t x = 0; x < n; x++) *at++ = phantom_value(z, y, x, n);
}

static motet_status make_arrays(ct_case *c, const int64_t volume[3], const int64_t sinogram[3])
{
    motet_status st = MOTET_OK;
    motet_array **const arrays[] = {&c->phantom, &c->volume, &c->sinogram, &c->filtered};
    for (int i = 0; i < 4 && st == MOTET_OK; i++)
        st = motet_array_create(c->context, MOTET_F32, 3, i < 2 ? volume : sinogram, arrays[i]);
    if (st == MOTET_OK) fill_phantom(c->phantom, volume[0], volume[1]);
    return st;
}

static motet_status make(ct_case *c)
{
    const int64_t sinogram[3] = {c->views, c->columns, c->rows};
    const int64_t volume[3] = {c->rows, c->columns, c->columns};
    double *angles = malloc((size_t)c->views * sizeof *angles);
    if (!angles) return MOTET_NO_MEMORY;
    for (int64_t i = 0; i < c->views; i++)
        angles[i] = (double)i * (3.141592653589793 / (double)c->views);
    motet_ct_parallel p;
    motet_ct_parallel_init(&p);
    p.views = c->views;
    p.columns = c->columns;
    p.rows = c->rows;
    p.angles = angles;
    p.pitch = 1;
    p.centre = (double)c->columns / 2 + 0.375;
    const motet_status st = motet_ct_geometry_parallel(c->context, &p, &c->geometry);
    free(angles);
    return st == MOTET_OK ? make_arrays(c, volume, sinogram) : st;
}

static motet_status make_views(ct_case *c, ct_scene scene, int64_t n)
{
    motet_ct_views v;
    motet_ct_views_init(&v);
    v.views = c->views;
    v.columns = c->columns;
    v.rows = c->rows;
    v.pitch_u = v.pitch_v = 1.25;
    v.nx = v.ny = v.nz = n;
    motet_ct_trajectory t;
    motet_ct_trajectory_init(&t);
    t.sid = 2.5 * (double)n;
    t.sdd = 4 * (double)n;
    t.tilt = scene == CT_TILTED ? 0.25 : 0;
    motet_ct_view *view = calloc((size_t)c->views, sizeof *view);
    if (!view) return MOTET_NO_MEMORY;
    motet_status st = motet_ct_trajectory_views(c->context, &t, &v, view);
    v.view = view;
    if (st == MOTET_OK) st = motet_ct_geometry_create(c->context, &v, &c->geometry);
    free(view);
    if (st != MOTET_OK) return st;
    return make_arrays(c, (const int64_t[]){n, n, n},
                       (const int64_t[]){c->views, c->columns, c->rows});
}

motet_status ct_case_create(motet_context *context, int64_t rows, int64_t columns, int64_t views,
                            ct_case *out)
{
    memset(out, 0, sizeof *out);
    out->context = context;
    out->rows = rows;
    out->columns = columns;
    out->views = views;
    const motet_status st = make(out);
    if (st != MOTET_OK) ct_case_free(out);
    return st;
}

motet_status ct_case_create_views(motet_context *context, ct_scene scene, int64_t size,
                                  int64_t views, ct_case *out)
{
    memset(out, 0, sizeof *out);
    out->context = context;
    out->rows = size + size / 2;
    out->columns = 2 * size;
    out->views = views;
    const motet_status st = make_views(out, scene, size);
    if (st != MOTET_OK) ct_case_free(out);
    return st;
}

/* Voxels of a cube of n^3 between two points, lengths in voxels from its corner: one, and one more
 * for each face between voxels on the way. */
static double crossed(const double from[3], const double to[3], double n)
{
    double low = 0, high = 1, count = 1;
    for (int i = 0; i < 3; i++) {
        const double d = to[i] - from[i];
        if (d > 0 || d < 0) {
            const double a = -from[i] / d, b = (n - from[i]) / d;
            const double near = a < b ? a : b, far = a < b ? b : a;
            low = near > low ? near : low;
            high = far < high ? far : high;
        } else if (from[i] < 0 || from[i] > n) {
            return 0;
        }
    }
    if (!(low < high)) return 0;
    for (int i = 0; i < 3; i++) {
        const double d = to[i] - from[i]; /* from here on no place is below 0 but by rounding */
        const int64_t faces = (int64_t)(from[i] + high * d) - (int64_t)(from[i] + low * d);
        count += (double)(faces < 0 ? -faces : faces);
    }
    return count;
}

double ct_case_crossings(const ct_case *c)
{
    motet_ct_views v;
    double sum = 0;
    if (motet_ct_geometry_describe(c->geometry, &v) != MOTET_OK) return 0;
    const double half = 0.5 * (double)v.nx;
    for (int64_t k = 0; k < v.views; k++)
        for (int64_t i = 0; i < v.columns; i++)
            for (int64_t j = 0; j < v.rows; j++) {
                const motet_ct_view *w = &v.view[k];
                double from[3], to[3];
                for (int x = 0; x < 3; x++) {
                    from[x] = w->source[x] + half;
                    to[x] = w->detector[x] + half +
                            ((double)i - 0.5 * (double)(v.columns - 1)) * v.pitch_u * w->u[x] +
                            ((double)j - 0.5 * (double)(v.rows - 1)) * v.pitch_v * w->v[x];
                }
                sum += crossed(from, to, (double)v.nx);
            }
    return sum;
}

void ct_case_free(ct_case *c)
{
    motet_array_free(c->phantom);
    motet_array_free(c->sinogram);
    motet_array_free(c->filtered);
    motet_array_free(c->volume);
    motet_ct_geometry_free(c->geometry);
    memset(c, 0, sizeof *c);
}

static motet_status solve(ct_case *c, ct_step step)
{
    motet_ct_solve_options o;
    motet_ct_solve_options_init(&o);
    o.iterations = 3;
    if (step == CT_CGLS) return motet_ct_cgls(c->geometry, &o, c->sinogram, c->volume, NULL);
    o.least = 0;
    o.relaxation = 1.25;
    return motet_ct_sirt(c->geometry, &o, c->sinogram, c->volume, NULL);
}

motet_status ct_case_run(ct_case *c, ct_step step, const motet_array **result)
{
    motet_ct_filter_options filter;
    motet_ct_filter_options_init(&filter);
    filter.window = MOTET_CT_HANN;
    filter.pad = 7;
    *result = step == CT_PROJECT ? c->sinogram : step == CT_FILTER ? c->filtered : c->volume;
    switch (step) {
    case CT_PROJECT: return motet_ct_project(c->geometry, c->phantom, c->sinogram);
    case CT_BACKPROJECT: return motet_ct_backproject(c->geometry, c->sinogram, c->volume);
    case CT_FILTER: return motet_ct_filter(c->geometry, &filter, c->sinogram, c->filtered);
    case CT_FBP: return motet_ct_fbp(c->geometry, &filter, c->sinogram, c->volume);
    case CT_FDK: {
        motet_ct_fdk_options fdk;
        motet_ct_fdk_options_init(&fdk);
        fdk.filter = filter;
        return motet_ct_fdk(c->geometry, &fdk, c->sinogram, c->volume);
    }
    default: return solve(c, step);
    }
}
