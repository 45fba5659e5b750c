/* Running an operation with a given cut, weights and budgets. */
#ifndef MOTET_RT_RUN_H
#define MOTET_RT_RUN_H

#include "rt/pipe.h"

typedef struct rt_run_options {
    rt_cut cut;                /* rounded up to the grains; 0: chosen */
    const rt_weights *weights; /* NULL: those of the context */
    int weightings;
    const int64_t *budget; /* bytes of each device of the context; NULL: none */
    int64_t shard_rows;    /* in place of the operation's; 0: the operation's */
    pipe_test test;
} rt_run_options;

motet_status rt_run_with(motet_context *context, const rt_op *op, const rt_run_options *options);
motet_status rt_run_cut(motet_context *context, const rt_op *op, const rt_cut *cut);

#endif
