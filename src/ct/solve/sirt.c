/* Simultaneous iterative reconstruction: x += relaxation C A' R (b - A x), where R and C are the
 * inverses of A's row and column sums. */
#include "base/call.h"
#include "ct/solve/solver.h"
#include "rt/disk.h"

static motet_status fill_ones(motet_array *a)
{
    const float one = 1.0f;
    TRY(rt_disk_fill(a, &one));
    motet_array_changed(a);
    return MOTET_OK;
}

/* The sums: of a volume, and of rays, that are 1 everywhere. */
static motet_status prepare(ct_solver *s)
{
    motet_array *ones = s->voxels[0], *columns = s->voxels[1];
    motet_array *rays = s->rays[0], *rows = s->rays[1];
    TRY(fill_ones(ones));
    TRY(fill_ones(rays));
    TRY(ct_solver_project(s, ones, rows));
    TRY(ct_solver_backproject(s, rays, columns));
    TRY(ct_solver_run(s, ct_invert_of(rows), NULL));
    return ct_solver_run(s, ct_invert_of(columns), NULL);
}

static motet_status step(int64_t k, int *done, void *user)
{
    ct_solver *s = user;
    motet_array *correction = s->voxels[0], *columns = s->voxels[1];
    motet_array *misfit = s->rays[0], *rows = s->rays[1];
    double residual;
    TRY(ct_solver_project(s, s->x, misfit));
    TRY(ct_solver_run(s, ct_misfit_of(s->b, rows, misfit, s->ray_sums), &residual));
    TRY(ct_solver_tell(s, k, residual, done));
    if (*done) return MOTET_OK;
    TRY(ct_solver_backproject(s, misfit, correction));
    const motet_ct_solve_options *o = &s->options;
    return ct_solver_run(
        s, ct_correct_of(o->relaxation, correction, columns, o->least, o->greatest, s->x), NULL);
}

const ct_method ct_sirt = {.name = "ct.sirt",
                           .voxels = 2,
                           .rays = 2,
                           .rereads = 1,
                           .bounded = 1,
                           .halves = 1,
                           .prepare = prepare,
                           .step = step};

motet_status motet_ct_sirt(motet_ct_geometry *geometry, const motet_ct_solve_options *options,
                           const motet_array *sinogram, motet_array *volume,
                           motet_ct_solve_result *result)
{
    call one;
    call_begin(geometry->context, &one);
    return call_end(&one, ct_solve(geometry, &ct_sirt, options, sinogram, volume, result));
}

motet_status motet_ct_sirt_forget(motet_context *context, const char *folder)
{
    return rt_loop_forget(context, folder, ct_sirt.name);
}
