#include "ct_case.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[CT_STEPS] = {"project", "backproject", "filter", "fbp"};

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
    motet_status st = motet_ct_geometry_parallel(c->context, &p, &c->geometry);
    free(angles);
    motet_array **const arrays[] = {&c->phantom, &c->volume, &c->sinogram, &c->filtered};
    for (int i = 0; i < 4 && st == MOTET_OK; i++)
        st = motet_array_create(c->context, MOTET_F32, 3, i < 2 ? volume : sinogram, arrays[i]);
    if (st == MOTET_OK) fill_phantom(c->phantom, c->rows, c->columns);
    return st;
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

void ct_case_free(ct_case *c)
{
    motet_array_free(c->phantom);
    motet_array_free(c->sinogram);
    motet_array_free(c->filtered);
    motet_array_free(c->volume);
    motet_ct_geometry_free(c->geometry);
    memset(c, 0, sizeof *c);
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
    default: return motet_ct_fbp(c->geometry, &filter, c->sinogram, c->volume);
    }
}
