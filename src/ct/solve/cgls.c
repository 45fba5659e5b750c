/* Conjugate gradients for least squares: A' A x = A' b without ever forming A' A.
 *
 * Step k > 0: s = A' r, p = s + (|s|^2 / |s'|^2) p, q = A p, a = |s|^2 / |q|^2, x += a p,
 * r -= a q; s' is the s of the step before. */
#include "base/call.h"
#include "ct/solve/solver.h"

static motet_status begin(ct_solver *s, motet_array *r, double *square)
{
    double factor = 0.0;
    if (s->options.warm_start) {
        TRY(ct_solver_project(s, s->x, r));
        factor = -1.0;
    }
    return ct_solver_run(s, ct_combine_of(1.0, s->b, factor, r, s->ray_sums), square);
}

static motet_status step(int64_t k, int *done, void *user)
{
    ct_solver *s = user;
    motet_array *p = s->voxels[0], *gradient = s->voxels[1], *r = s->rays[0], *q = s->rays[1];
    double square, curvature, residual, size;
    if (k == 0) {
        TRY(begin(s, r, &residual));
        return ct_solver_tell(s, 0, residual, done);
    }
    TRY(ct_solver_backproject(s, r, gradient));
    TRY(ct_solver_run(s, ct_square_of(gradient, s->voxel_sums), &square));
    const double factor = k == 1 ? 0.0 : square / s->numbers.gradient;
    TRY(ct_solver_run(s, ct_combine_of(1.0, gradient, factor, p, NULL), NULL));
    TRY(ct_solver_project(s, p, q));
    TRY(ct_solver_run(s, ct_square_of(q, s->ray_sums), &curvature));
    /* A A' r is 0 where A' r is, and nowhere else: then float32 has no number as small as A p. */
    if (square == 0.0 || curvature == 0.0) {
        ct_solver_end(s, k, square == 0.0 ? MOTET_CT_STOP_EXACT : MOTET_CT_STOP_UNDERFLOW, done);
        return MOTET_OK;
    }
    const double length = square / curvature;
    TRY(ct_solver_run(s, ct_combine_of(length, p, 1.0, s->x, s->voxel_sums), &size));
    TRY(ct_solver_run(s, ct_combine_of(-length, q, 1.0, r, s->ray_sums), &residual));
    s->numbers.gradient = square;
    TRY(ct_solver_range(s, k, "volume", size)); /* the recurrence of r does not see x */
    return ct_solver_tell(s, k, residual, done);
}

const ct_method ct_cgls = {.name = "ct.cgls",
                           .voxels = 2,
                           .rays = 2,
                           .state_voxels = 1,
                           .state_rays = 1,
                           .begins = 1,
                           .step = step};

motet_status motet_ct_cgls(motet_ct_geometry *geometry, const motet_ct_solve_options *options,
                           const motet_array *sinogram, motet_array *volume,
                           motet_ct_solve_result *result)
{
    call one;
    call_begin(geometry->context, &one);
    return call_end(&one, ct_solve(geometry, &ct_cgls, options, sinogram, volume, result));
}

motet_status motet_ct_cgls_forget(motet_context *context, const char *folder)
{
    return rt_loop_forget(context, folder, ct_cgls.name);
}
