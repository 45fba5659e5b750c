/* Running an operation with a given cut, weights and budgets. */
#ifndef MOTET_RT_RUN_H
#define MOTET_RT_RUN_H

#include "rt/pipe.h"

/* What the devices of the context did in a run, and how long they were at it, what was sent to them
 * and back included: by the context's clock, without what they waited for turns. */
typedef struct rt_run_times {
    double seconds[RT_DEVICES];
    int64_t rows[RT_DEVICES]; /* of the axis that is shared out */
} rt_run_times;

typedef struct rt_run_options {
    rt_cut cut;                /* rounded up to the grains; 0: chosen */
    const rt_weights *weights; /* NULL: those of the context */
    int weightings;
    const int64_t *budget; /* bytes of each device of the context; NULL: none */
    int64_t shard_rows;    /* in place of the operation's; 0: the operation's */
    /* The part of the chunks that another device computes once more (the same, where it is alone),
     * 0 to 1; 0: as the context's options say. CHECK_FAILED: it gave other bits. What is written is
     * compared byte for byte, what is added by a digest; results for sinks, of arrays that stay on
     * devices, and updates without a private copy are not. */
    double verify;
    rt_run_times *times; /* filled when the run is done; NULL: nobody asks */
    pipe_test test;
} rt_run_options;

motet_status rt_run_with(motet_context *context, const rt_op *op, const rt_run_options *options);
motet_status rt_run_cut(motet_context *context, const rt_op *op, const rt_cut *cut);
/* Those of rt_run: the context's chunk along axis 0 and the stream. */
rt_run_options rt_run_defaults(const motet_context *context);

typedef void rt_done_fn(int64_t index, motet_status status, void *user);

/* Runs them in order, each as rt_run_with would (NULL options: as rt_run), and tells `done` (NULL:
 * nobody) of each exactly once, in their order, when its results are there. It must not run
 * operations. A declaration that rt_op_check refuses refuses the batch before anything is done or
 * told. Else an item fails alone, with its own status. A cancellation ends the first item that is
 * not done and all later ones as CANCELLED, the loss of the last device as DECLINED; that is then
 * the answer. What was done before stands. */
motet_status rt_run_batch(motet_context *context, const rt_op *ops, int64_t count,
                          const rt_run_options *options, rt_done_fn *done, void *user);

#endif
