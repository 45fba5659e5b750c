/* What CGLS and SIRT share: the iterate, the norm of the data, when to stop, checkpoints.
 *
 * A solver is a loop (rt/loop.h) of iterations + 1 steps: step 0 of CGLS finds where it begins, the
 * last step of SIRT how well it ended. A step may be done anew after a loss. */
#ifndef MOTET_CT_SOLVER_H
#define MOTET_CT_SOLVER_H

#include <motet/ct_reconstruct.h>

#include "base/log.h"
#include "ct/geometry.h"
#include "ct/solve/vectors.h"
#include "rt/loop.h"

enum { CT_SOLVER_ARRAYS = 4 };

/* What a step knows from the one before, beside arrays; kept in checkpoints. */
typedef struct ct_solver_numbers {
    double gradient; /* CGLS: |A' r|^2 of the former step */
    double residual; /* of the former step */
    double before;   /* and of the one before that */
    int64_t number;  /* of the last iteration */
    int64_t ended;   /* 1: a rule said stop; 2 and more: nothing was left to do */
} ct_solver_numbers;

typedef struct ct_solver {
    const char *name; /* "ct.cgls" */
    const struct ct_method *method;
    motet_ct_geometry *geometry;
    motet_context *context;
    motet_ct_solve_options options;
    const char *scratch; /* folder of arrays on disk; NULL: all are in memory */
    motet_array *b;      /* the sinogram's memory, to be read only; itself, where it is on disk */
    motet_array *volume; /* the caller's */
    motet_array *x;      /* its memory where it is direct, else memory of the solver's own */
    motet_array *voxels[CT_SOLVER_ARRAYS], *rays[CT_SOLVER_ARRAYS]; /* the method's */
    motet_array *voxel_sums, *ray_sums;
    double norm; /* |b| */
    ct_solver_numbers numbers;
    log_phase phase;
    int64_t told; /* number of the last iteration that was told; -1: none */
    motet_ct_iteration last;
    motet_ct_stop stop;
} ct_solver;

/* Method: how many arrays it wants, which of them are state, its step and what comes before the
 * first. */
typedef struct ct_method {
    const char *name;
    int voxels, rays;                      /* arrays of its own, zeros when it begins */
    int state_voxels, state_rays;          /* the first so many of them are state, as x is */
    int begins;                            /* 1: its step 0 is no iteration yet */
    int rereads;                           /* its steps read b, not the first alone */
    int bounded;                           /* it knows bounds and relaxation */
    int halves;                            /* 1: the step that ends it is half of one, and is taken
                                              again where it goes on after all */
    motet_status (*prepare)(ct_solver *s); /* before the first step; NULL: nothing. What it writes
                                              outlives the loss of a device */
    motet_status (*step)(int64_t k, int *done, void *user);
} ct_method;

extern const ct_method ct_cgls, ct_sirt;

/* Bytes of host memory that it takes beside the caller's arrays, which need sizes only; with
 * `keeps`, snapshots of its state among them. INT64_MAX where they pass that. */
int64_t ct_method_bytes(const ct_method *method, const motet_array *volume,
                        const motet_array *sinogram, int keeps);

motet_status ct_solve(motet_ct_geometry *geometry, const ct_method *method,
                      const motet_ct_solve_options *options, const motet_array *sinogram,
                      motet_array *volume, motet_ct_solve_result *result);
/* The same with all its large arrays in files in the folder `scratch`, sinogram and volume on disk;
 * `start` is the volume of a warm start, and may be NULL without one. */
motet_status ct_solve_on_disk(motet_ct_geometry *geometry, const ct_method *method,
                              const motet_ct_solve_options *options, const char *scratch,
                              const motet_array *start, const motet_array *sinogram,
                              motet_array *volume, motet_ct_solve_result *result);

/* Operations of a step. Where what stays on a device leaves no room for one, all of it is brought
 * home, from where it is sent as far as there is room; where that is not enough nothing stays any
 * more. */
motet_status ct_solver_project(ct_solver *s, motet_array *volume, motet_array *sinogram);
motet_status ct_solver_backproject(ct_solver *s, motet_array *sinogram, motet_array *volume);
motet_status ct_solver_run(ct_solver *s, ct_vectors vectors, double *square);

/* BAD_DATA: what iteration k made has no finite sum of squares. */
motet_status ct_solver_range(const ct_solver *s, int64_t k, const char *what, double square);
/* Tells of iteration k, whose residual has this square. *done: a rule says stop. BAD_DATA: it is
 * not finite; what the caller's function answers; CANCELLED. */
motet_status ct_solver_tell(ct_solver *s, int64_t k, double square, int *done);
/* As rt_loop has it: the rules may be others than when the checkpoint was written. */
motet_status ct_solver_resume(int64_t *step, int *done, void *user);
/* Iteration k has nothing left to correct, or cannot: k - 1 was the last. */
void ct_solver_end(ct_solver *s, int64_t k, motet_ct_stop stop, int *done);

#endif
