/* What there is to do in a run, and which of it a device may take next. */
#ifndef MOTET_RT_PIPE_WORK_H
#define MOTET_RT_PIPE_WORK_H

#include "rt/pipe_inside.h"

struct pipeline {
    pipe_job *job;
    pipe_list left;        /* to do, beside the shares */
    pipe_list again;       /* done, and to be computed once more */
    double elements, done; /* of the box */
    int held;              /* what was promised is taken */
    int ordered;           /* chunks leave in ascending order */
    double verify;         /* so many of the chunks are computed once more */
    uint64_t name;         /* digest of the operation's */
    int adds;              /* it has sums, which are compared by whole chunks */
    int64_t changes;       /* how often a device gave memory back */
    motet_status failure;  /* why a device went out */
    char reason[200];
    rt_fetch *reader; /* NULL: sources are read as they are needed */
    int count;
    pipe_device device[];
};

/* Before all else: what the journal has counts as done; the whole box goes to the list, where there
 * are no shares. */
motet_status pipe_work_begin(pipeline *p);
/* Chunks of a device's share from one to the last go to the list. */
motet_status pipe_work_leave(pipeline *p, const pipe_device *d);
/* Begun and not finished: back to where it came from. */
motet_status pipe_work_return(pipeline *p, const pipe_task *task);
/* The device finished it. It may have to be computed once more: which chunks depends on operation,
 * box and the fraction alone. */
motet_status pipe_work_done(pipeline *p, const pipe_device *d, const pipe_task *task);

/* The largest of the sums that wait to be computed once more. */
void pipe_work_again_rows(const pipeline *p, int64_t rows[RT_AXES]);
/* There is something that it may take, once it is set up for that. */
int pipe_work_for(const pipeline *p, const pipe_device *d);
pipe_task_fn pipe_work_next;
int pipe_work_none(const pipeline *p); /* all is begun, at least */

static inline const pipe_task *pipe_task_of(const pipe_device *d, int64_t number)
{
    return &d->slot[number % d->slots].task;
}

#endif
