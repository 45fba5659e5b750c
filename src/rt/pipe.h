/* Carrying out a plan on the devices of a context: chunks go up, are computed and come back, on
 * every device at once, and whatever a lost device leaves behind is computed by the others. Nothing
 * here waits: whoever steps it sleeps when nothing moved. */
#ifndef MOTET_RT_PIPE_H
#define MOTET_RT_PIPE_H

#include "base/log.h"
#include "rt/hold.h"
#include "rt/turn.h"

/* What orders commands; a test leaves one out to see that it is missed. */
typedef enum pipe_edge {
    PIPE_ALL_EDGES,
    PIPE_NO_FIXED_REFILL, /* the host fills their staging again when its upload is done */
    PIPE_NO_CHUNK, /* kernels wait for what went up before: fixed ports, and those of the chunk */
    PIPE_NO_BLOCK, /* kernels wait for their block of the stream */
    PIPE_NO_BLOCK_REUSE,  /* the upload of a block waits for the kernels that read its place */
    PIPE_NO_BLOCK_REFILL, /* the host fills a block's staging again when its upload is done */
    PIPE_NO_RESULT,       /* a download waits for the kernels */
    PIPE_NO_GATHER,       /* the host reads what came back when the download is done */
    PIPE_EDGES
} pipe_edge;

typedef struct pipe_test { /* all 0: the complete program */
    pipe_edge without;
    size_t fixed_stage; /* bytes of staging for fixed ports, at most; 0: RT_STAGE_FIXED */
} pipe_test;

/* Nobody waits longer than this for a device that makes no progress, or 20 times as long as its
 * longest chunk took. A host's own workers are waited for to the end. */
#define RT_DEADLINE ((int64_t)10000000000)

/* Host bytes that a run takes beside what is planned: books, commands. */
enum { PIPE_BOOKS = 1 << 16 };

/* Whose turn it is, for all that one thread runs at a time. */
typedef struct pipe_turn {
    rt_turn turn;
    int over[RT_DEVICES]; /* of the context's set: no more chunks for it before the next turn */
    int ending;           /* some are over */
} pipe_turn;

typedef struct pipe_job {
    motet_context *context;
    const rt_op *op;
    const rt_plan *plan;
    const rt_plan_device *devices; /* of the plan */
    const rt_plan_options *options;
    rt_hold *hold;
    const int *index; /* of each in the context's device set; the run uses them */
    int *left;        /* set to 1 for a device that the run uses no more: it may come back */
    struct rt_resident *resident;   /* NULL: no array stays on a device */
    struct rt_journal_run *journal; /* NULL: nothing of it is known or kept */
    void *data[RT_PORTS];           /* host memory of each port: its array's or the private copy */
    log_phase *phase;
    pipe_turn *turn;
    double verify; /* the part of the chunks that is computed once more */
    pipe_test test;
    int64_t items;  /* launched */
    int64_t failed; /* chunk of a device's own count that did last; -1: none */
    int failed_on;  /* that device, in the context's set */
    int refused;    /* a source, a sink or a sum failed: that ends the run, whatever the status */
    int64_t chunks[RT_DEVICES];      /* done by each device of the plan */
    int64_t nanoseconds[RT_DEVICES]; /* that those took there, */
    double elements[RT_DEVICES];     /* of the box, and how much they were */
    int64_t verified[RT_DEVICES];    /* computed there once more, and found equal */
} pipe_job;

typedef struct pipeline pipeline;

/* Takes memory for the books only. The job stays in place until the end. */
motet_status pipe_begin(pipe_job *job, pipeline **out);
/* One step of everything that can go on; *moved: something did. */
motet_status pipe_step(pipeline *p, int *moved);
int pipe_over(const pipeline *p);       /* everything is done */
int pipe_begun(const pipeline *p);      /* a chunk was dispatched */
int pipe_handed_out(const pipeline *p); /* everything is begun, at least */
int pipe_at_rest(const pipeline *p);    /* nothing is in flight */
int pipe_busy(const pipeline *p,
              int device); /* of the context's set: it has something to wait for */
/* Something is read ahead that it waits for; sleeping until it may be there, a little while. */
int pipe_fetches(const pipeline *p);
void pipe_doze(pipeline *p);
/* After a time in which others had the devices: those that they lost are left out. */
motet_status pipe_return(pipeline *p);
/* Frees it. When it returns no command touches host memory any more. Answers the status that it was
 * given, with the message as it was; after a failure the data that is written is undefined. */
motet_status pipe_end(pipeline *p, motet_status status);

#endif
