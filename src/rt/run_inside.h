/* What the files of a run share. run.c: one operation, planned, begun and committed; run_flow.c:
 * stepping one or two of them until they are over, turn by turn. */
#ifndef MOTET_RT_RUN_INSIDE_H
#define MOTET_RT_RUN_INSIDE_H

#include "rt/run.h"
#include "rt/weights.h"

typedef struct run {
    motet_context *context;
    const rt_op *op;
    rt_op bound; /* that, where arrays of what was asked for are on disk */
    const rt_run_options *options;

    rt_plan plan;
    rt_plan_options plan_options;
    rt_plan_device devices[RT_DEVICES];
    int index[RT_DEVICES]; /* of each in the context's device set */
    rt_weights weights[RT_WEIGHTINGS];
    int declined;         /* 1: there is no room on other devices than fallbacks */
    int users;            /* so many of them are used by this run */
    int left[RT_DEVICES]; /* 1: it has left that one already */
    rt_hold hold;

    void *private[RT_PORTS]; /* to commit; NULL: none */
    pipe_job job;
    pipeline *pipe; /* NULL: nothing is to be done */
    log_phase phase;
    int64_t start;
} run;

/* The run is to use `op`. */
motet_status run_use(run *r, const rt_op *op);
/* All 0 but context, op, options and phase. Plans it, and holds what the plan takes. What does not
 * fit because of what other runs hold is waited for, or refused. After a failure nothing is held.
 */
motet_status run_plan(run *r, int wait);
/* Takes its memory, in its turn; after a failure nothing is held. BUSY: it must be planned anew. */
motet_status run_begin(run *r, pipe_turn *turn);
/* Tells the sinks of an operation how it ended. */
void run_tell(const rt_op *op, motet_status status);
/* Commits what has succeeded, or nothing, and gives all memory back. */
motet_status run_end(run *r, motet_status status);

typedef struct flow { /* all 0, with a context, in the beginning */
    motet_context *context;
    pipe_turn turn;
    run *run[2]; /* NULL: none */
    int failed;  /* which of them did */
    int dozer;
} flow;

/* Plans and begins it: in the turn that the flow has; `wait`: in its first turn, which it waits for
 * after what run_plan waits for. After a failure it holds nothing, and the flow may have a turn. */
motet_status flow_begin(flow *f, run *r, int wait);
/* One step of all that can go on, or a sleep, or a change of turns. */
motet_status flow_step(flow *f);
void flow_end(flow *f);

#endif
