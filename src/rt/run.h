/* How rt_run cuts an operation; for tests and, later, the planner. */
#ifndef MOTET_RT_RUN_H
#define MOTET_RT_RUN_H

#include "rt/op.h"

/* Rows of one chunk along each axis of the box, and of one block of the stream. */
typedef struct rt_cut {
    int64_t rows[RT_AXES];
    int64_t stream_rows;
} rt_cut;

/* Rounded up to the operation's grains. `chunk` as in the context's options, 0: chosen. */
rt_cut rt_cut_choose(const rt_op *op, int64_t chunk);
/* rt_run with a given cut (rounded up to the grains). */
motet_status rt_run_cut(motet_context *context, const rt_op *op, const rt_cut *cut);

#endif
