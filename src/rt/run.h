/* Running an operation with a given cut; for tests. */
#ifndef MOTET_RT_RUN_H
#define MOTET_RT_RUN_H

#include "rt/plan.h"

/* rt_run with a given cut (rounded up to the grains). */
motet_status rt_run_cut(motet_context *context, const rt_op *op, const rt_cut *cut);

#endif
