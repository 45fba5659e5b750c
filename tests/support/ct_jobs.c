/* Whole jobs of computed tomography on seven geometries, with a digest each: golden.ct_jobs holds
 * them to what the tree says, tests/gpu runs them with kernels on a GPU. No cmocka in here. */
#include "ct_jobs.h"

#include <math.h>
#include <stdlib.h>

typedef struct jobs {
    motet_context *context;
    ct_job_fn *tell;
    void *user;
} jobs;

static motet_status array(const jobs *j, int64_t a, int64_t b, int64_t c, uint64_t seed,
                          motet_array **out)
{
    const motet_status st =
        motet_array_create(j->context, MOTET_F32, 3, (const int64_t[]){a, b, c}, out);
    if (st != MOTET_OK) return st;
    float *at = motet_array_data(*out);
    for (int64_t i = 0; seed && i < a * b * c; i++) {
        uint64_t z = ((uint64_t)i + seed * 0x1000003u) * 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        at[i] = (float)((z ^ (z >> 31)) >> 40) * 0x1p-24f;
    }
    return MOTET_OK;
}

/* A job that has run: its digest. */
static motet_status tell(const jobs *j, const char *geometry, const char *job, motet_status done,
                         const motet_array *result)
{
    char digest[33];
    motet_status st = done;
    if (st == MOTET_OK) st = motet_array_digest(result, digest);
    if (st == MOTET_OK) j->tell(geometry, job, digest, j->user);
    return st;
}

typedef struct sizes {
    int64_t views, columns, rows, nz, ny, nx;
    int orbit; /* 1: a path that FDK knows */
} sizes;

static motet_status run(const jobs *j, const char *name, motet_ct_geometry *g, sizes s)
{
    motet_array *x = NULL, *back = NULL, *y = NULL, *forth = NULL;
    motet_ct_solve_options o;
    motet_ct_solve_options_init(&o);
    o.iterations = 4;
    motet_status st = array(j, s.nz, s.ny, s.nx, 1, &x);
    if (st == MOTET_OK) st = array(j, s.nz, s.ny, s.nx, 0, &back);
    if (st == MOTET_OK) st = array(j, s.views, s.columns, s.rows, 2, &y);
    if (st == MOTET_OK) st = array(j, s.views, s.columns, s.rows, 0, &forth);
    if (st == MOTET_OK) st = tell(j, name, "project", motet_ct_project(g, x, forth), forth);
    if (st == MOTET_OK) st = tell(j, name, "backproject", motet_ct_backproject(g, y, back), back);
    if (st == MOTET_OK) st = tell(j, name, "filter", motet_ct_filter(g, NULL, y, y), y);
    if (st == MOTET_OK && s.orbit)
        st = tell(j, name, "fdk", motet_ct_fdk(g, NULL, forth, back), back);
    if (st == MOTET_OK) st = tell(j, name, "cgls", motet_ct_cgls(g, &o, forth, back, NULL), back);
    o.least = 0;
    if (st == MOTET_OK) st = tell(j, name, "sirt", motet_ct_sirt(g, &o, forth, back, NULL), back);
    motet_array_free(x);
    motet_array_free(back);
    motet_array_free(y);
    motet_array_free(forth);
    return st;
}

typedef struct path {
    const char *name;
    motet_ct_path path;
    motet_ct_beam beam;
    int halves; /* of the size */
    double tilt;
} path;

static const path paths[] = {
    {"cone_circular", MOTET_CT_PATH_CIRCULAR, MOTET_CT_BEAM_CONE, 2, 0},
    {"parallel_circular", MOTET_CT_PATH_CIRCULAR, MOTET_CT_BEAM_PARALLEL, 2, 0},
    {"cone_helical", MOTET_CT_PATH_HELICAL, MOTET_CT_BEAM_CONE, 2, 0},
    {"cone_tilted", MOTET_CT_PATH_CIRCULAR, MOTET_CT_BEAM_CONE, 1, 0.1},
    {"cone_random", MOTET_CT_PATH_RANDOM, MOTET_CT_BEAM_CONE, 1, 0},
    {"parallel_random", MOTET_CT_PATH_RANDOM, MOTET_CT_BEAM_PARALLEL, 1, 0},
};

static motet_status run_path(const jobs *j, const path *p, int64_t size)
{
    const int64_t n = size * p->halves / 2;
    motet_ct_views g;
    motet_ct_views_init(&g);
    g.beam = p->beam;
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
    t.path = p->path;
    t.sid = 2.5 * (double)n;
    t.sdd = 4 * (double)n;
    t.rise = 0.25 * (double)n;
    t.tilt = p->tilt;
    motet_ct_view *view = calloc((size_t)g.views, sizeof *view);
    if (!view) return MOTET_NO_MEMORY;
    motet_ct_geometry *geometry = NULL;
    motet_status st = motet_ct_trajectory_views(j->context, &t, &g, view);
    g.view = view;
    if (st == MOTET_OK) st = motet_ct_geometry_create(j->context, &g, &geometry);
    const sizes s = {
        g.views, g.columns, g.rows, g.nz, g.ny, g.nx, p->path == MOTET_CT_PATH_CIRCULAR};
    if (st == MOTET_OK) st = run(j, p->name, geometry, s);
    motet_ct_geometry_free(geometry);
    free(view);
    return st;
}

static motet_status run_slices(const jobs *j, int64_t n)
{
    const int64_t views = n + 7;
    double *angles = calloc((size_t)views, sizeof *angles);
    if (!angles) return MOTET_NO_MEMORY;
    for (int64_t k = 0; k < views; k++)
        angles[k] = (double)k * 3.14159265358979323846 / (double)views;
    motet_ct_parallel p;
    motet_ct_parallel_init(&p);
    p.views = views;
    p.columns = n;
    p.rows = 5;
    p.angles = angles;
    motet_ct_geometry *geometry = NULL;
    motet_status st = motet_ct_geometry_parallel(j->context, &p, &geometry);
    if (st == MOTET_OK) st = run(j, "slices", geometry, (sizes){views, n, 5, 5, n, n, 0});
    motet_ct_geometry_free(geometry);
    free(angles);
    return st;
}

motet_status ct_jobs_run(motet_context *context, int64_t size, ct_job_fn *each, void *user)
{
    const jobs j = {context, each, user};
    motet_status st = run_slices(&j, 2 * size);
    for (size_t i = 0; i < sizeof paths / sizeof *paths && st == MOTET_OK; i++)
        st = run_path(&j, &paths[i], size);
    return st;
}
