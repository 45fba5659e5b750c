/* Whole jobs of computed tomography, one line each: name and digest of the result. Built twice,
 * with the kernels of the CPU (jobs_host.c) and with kernels that run on a GPU (jobs_device.cu);
 * the lines must be the same. `jobs large` takes real sizes.
 *
 * The runtime is the CPU's in both: it cuts the work and calls ranges of items. What is compared is
 * the arithmetic of every kernel where the real operations use it. */
#include "jobs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <motet/motet.h>

static motet_context *context;

static void need(motet_status status, const char *what)
{
    if (status == MOTET_OK) return;
    motet_error error = {0};
    motet_context_error(context, &error);
    fprintf(stderr, "%s: %s\n", what, error.message);
    exit(2);
}
#define NEED(call) need(call, #call)

static motet_array *array(int64_t a, int64_t b, int64_t c, uint64_t seed)
{
    motet_array *made;
    NEED(motet_array_create(context, MOTET_F32, 3, (const int64_t[]){a, b, c}, &made));
    float *at = motet_array_data(made);
    for (int64_t i = 0; seed && i < a * b * c; i++) {
        uint64_t z = ((uint64_t)i + seed * 0x1000003u) * 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        at[i] = (float)((z ^ (z >> 31)) >> 40) * 0x1p-24f;
    }
    return made;
}

static void tell(const char *geometry, const char *job, const motet_array *result)
{
    char digest[33];
    NEED(motet_array_digest(result, digest));
    printf("%-22s %-12s %s\n", geometry, job, digest);
    fflush(stdout);
}

static void run(const char *name, motet_ct_geometry *g, int64_t views, int64_t columns,
                int64_t rows, int64_t nz, int64_t ny, int64_t nx, int orbit)
{
    motet_array *x = array(nz, ny, nx, 1), *back = array(nz, ny, nx, 0);
    motet_array *y = array(views, columns, rows, 2), *forth = array(views, columns, rows, 0);
    NEED(motet_ct_project(g, x, forth));
    tell(name, "project", forth);
    NEED(motet_ct_backproject(g, y, back));
    tell(name, "backproject", back);
    NEED(motet_ct_filter(g, NULL, y, y));
    tell(name, "filter", y);
    if (orbit) {
        NEED(motet_ct_fdk(g, NULL, forth, back));
        tell(name, "fdk", back);
    }
    motet_ct_solve_options o;
    motet_ct_solve_options_init(&o);
    o.iterations = 4;
    NEED(motet_ct_cgls(g, &o, forth, back, NULL));
    tell(name, "cgls", back);
    o.least = 0;
    NEED(motet_ct_sirt(g, &o, forth, back, NULL));
    tell(name, "sirt", back);
    motet_array_free(x);
    motet_array_free(back);
    motet_array_free(y);
    motet_array_free(forth);
}

static void run_path(const char *name, motet_ct_path path, motet_ct_beam beam, int64_t n,
                     double tilt)
{
    motet_ct_views g;
    motet_ct_views_init(&g);
    g.beam = beam;
    g.views = n + n / 2 + 1;
    g.columns = 2 * n - 1;
    g.rows = n + n / 2;
    g.nx = n;
    g.ny = n + 3;
    g.nz = n - 1;
    g.pitch_u = g.pitch_v = 1.25;
    g.voxel[1] = 1.0625;
    motet_ct_trajectory t;
    motet_ct_trajectory_init(&t);
    t.path = path;
    t.sid = 2.5 * (double)n;
    t.sdd = 4 * (double)n;
    t.rise = 0.25 * (double)n;
    t.tilt = tilt;
    motet_ct_view *view = calloc((size_t)g.views, sizeof *view);
    if (!view) exit(2);
    NEED(motet_ct_trajectory_views(context, &t, &g, view));
    g.view = view;
    motet_ct_geometry *geometry;
    NEED(motet_ct_geometry_create(context, &g, &geometry));
    run(name, geometry, g.views, g.columns, g.rows, g.nz, g.ny, g.nx,
        path == MOTET_CT_PATH_CIRCULAR);
    motet_ct_geometry_free(geometry);
    free(view);
}

static void run_slices(const char *name, int64_t n)
{
    const int64_t views = n + 7;
    double *angles = calloc((size_t)views, sizeof *angles);
    if (!angles) exit(2);
    for (int64_t k = 0; k < views; k++)
        angles[k] = (double)k * 3.14159265358979323846 / (double)views;
    motet_ct_parallel p;
    motet_ct_parallel_init(&p);
    p.views = views;
    p.columns = n;
    p.rows = 5;
    p.angles = angles;
    motet_ct_geometry *geometry;
    NEED(motet_ct_geometry_parallel(context, &p, &geometry));
    run(name, geometry, views, n, 5, 5, n, n, 0);
    motet_ct_geometry_free(geometry);
    free(angles);
}

int main(int count, char **words)
{
    const int64_t n = count > 1 && !strcmp(words[1], "large") ? 96 : 20;
    motet_context_options o;
    motet_context_options_init(&o);
    o.allocator = jobs_allocator;
    if (motet_context_create(&o, &context) != MOTET_OK) return 2;
    run_slices("slices", 2 * n);
    run_path("cone, circular", MOTET_CT_PATH_CIRCULAR, MOTET_CT_BEAM_CONE, n, 0);
    run_path("parallel, circular", MOTET_CT_PATH_CIRCULAR, MOTET_CT_BEAM_PARALLEL, n, 0);
    run_path("cone, helical", MOTET_CT_PATH_HELICAL, MOTET_CT_BEAM_CONE, n, 0);
    run_path("cone, tilted detector", MOTET_CT_PATH_CIRCULAR, MOTET_CT_BEAM_CONE, n / 2, 0.1);
    run_path("cone, random", MOTET_CT_PATH_RANDOM, MOTET_CT_BEAM_CONE, n / 2, 0);
    run_path("parallel, random", MOTET_CT_PATH_RANDOM, MOTET_CT_BEAM_PARALLEL, n / 2, 0);
    motet_context_free(context);
    return 0;
}
