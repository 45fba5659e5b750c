/* A toy solver: conjugate gradients (Hestenes and Stiefel 1952) for A x = b, where A is the negated
 * second difference along the rows, for every column at once. Its state, x, r, p and the square of
 * the residual, stays on the devices; rows have halos, and sums of products are taken in blocks. */
#ifndef MOTET_TEST_TOY_SOLVER_H
#define MOTET_TEST_TOY_SOLVER_H

#include "rt/loop.h"
#include "rt/run.h"
#include "support/support.h"

typedef struct toy_solver {
    motet_context *context;
    motet_array *x, *r, *p, *q;    /* float32 [rows][columns] */
    motet_array *sums;             /* float64, one for each row */
    double rho;                    /* the square of the residual's norm */
    double enough;                 /* when rho is this, it is done */
    int64_t cut;                   /* rows of a chunk; 0: chosen */
    const rt_run_options *options; /* in place of it; NULL: none */
    /* Called after each step, before it counts; NULL: none. */
    motet_status (*after)(int64_t k, struct toy_solver *solver);
    void *user;
} toy_solver;

/* x = 0 and b from the seed; `resident`: all of it stays on devices. */
void toy_solver_make(motet_context *context, int64_t rows, int64_t columns, uint64_t seed,
                     int resident, toy_solver *out);
void toy_solver_free(toy_solver *solver);
/* The loop that solves it in at most `steps` steps. */
rt_loop toy_solver_loop(toy_solver *solver, int64_t steps, const char *folder);

#endif
