/* What the pipeline's files share. pipe.c: who does what, losses; pipe_device.c: one device's
 * streams and chunks; pipe_memory.c: its memory; pipe_move.c: parts of arrays. */
#ifndef MOTET_RT_PIPE_INSIDE_H
#define MOTET_RT_PIPE_INSIDE_H

#include "rt/fetch.h"
#include "rt/pipe.h"
#include "rt/pipe_box.h"
#include "rt/pipe_list.h"
#include "rt/resident.h"

struct rt_queue {
    motet_context *context;
    dev *device;
    dev_stream *stream;
    int64_t *items; /* of the whole run */
    int64_t batch;
    k_scratch scratch;
    const dev_access *access; /* of the chunk */
    int accesses;
};

typedef struct pipe_slot {
    pipe_task task;
    dev_event *up, *run, *down;
    int64_t began;
} pipe_slot;

typedef struct pipe_ring {
    dev_event *up, *run;
    int used;
} pipe_ring;

typedef enum pipe_state { PIPE_IDLE, PIPE_SENDING /* fixed ports */, PIPE_RUNNING } pipe_state;

typedef struct pipe_device {
    pipeline *pipe;
    pipe_job *job;
    rt_device *on;
    dev *device;
    rt_share share;
    pipe_state state;
    int64_t published; /* chunks */
    int64_t at;        /* the chunk, counted like those, that a failure is about */

    /* pipe.c's */
    int64_t next;  /* chunk of the share */
    int held_back; /* the oldest chunk may not leave its slot yet, */
    int ready;     /* and could */
    int listed;    /* 1: takes from the list of what is left to do, and any part of the box */
    int out;       /* takes no part in this run any more */
    int64_t idle;  /* since then, but for what was begun later: set up, or the last chunk retired */
    int weightless;
    int apart;        /* what is written lies in the arena, so that it can be compared */
    int64_t verified; /* of those published: computed once more */
    digest sums;      /* of the chunk that was retired last, see pipe_task */
    int64_t refused;  /* the count of changes when its memory did not suffice for any part */

    rt_kept *kept; /* the arena and the staging memory */
    dev_stream *stream[3];
    size_t fixed_bytes, stage_bytes, chunk_bytes, block_bytes, made_bytes;
    int made_places;
    unsigned
        made_once; /* a bit for each port whose transform is the same for all chunks and done */
    dev_event *made_event;  /* of the last of those */
    int buffered[RT_PORTS]; /* lies in the arena; else kernels see the array itself */
    size_t place[RT_PORTS]; /* in the fixed part, in a slot or in a place of the ring */
    size_t made[RT_PORTS];  /* of a transformed port, in a made place */
    rt_port_kind kind[RT_PORTS];
    pipe_box held[RT_PORTS]; /* of fixed ports, and those whose arrays stay on the device */
    rt_use *use;             /* of the latter */

    dev_event *sent[2];           /* each half of the staging for fixed ports */
    int half_used[2], half, port; /* sending */
    int64_t done;                 /* elements of that port */

    rt_fetch *reader;    /* of the run; NULL: none */
    rt_fetch_list asked; /* of the chunk or block that is brought next */
    int fetching;        /* 1: they are not known to be there */
    int brought;         /* 1: ports of the chunk begun last */

    int slots, ring_size;
    pipe_slot slot[RT_SLOTS];
    pipe_ring ring[RT_SLOTS];
    int64_t begun, retired; /* chunks, since it was set up */
    int feeding;            /* the chunk begun last has blocks to come */
    int64_t block, block_number;

    int64_t since, longest; /* last progress; of a chunk */
} pipe_device;

enum { PIPE_UP, PIPE_COMPUTE, PIPE_DOWN };

/* The memory of a device: one arena of fixed ports, then the slots of chunks, then the ring of
 * blocks of the stream, then places for what transforms make. Beside it staging memory on the host
 * with the same slots and ring; fixed ports go through a bounded part of it, half by half. A device
 * that reaches host memory has an arena of buffered ports only, which the host fills and empties in
 * place of staging. */
motet_status pipe_memory_take(pipe_device *d);
void pipe_memory_give(pipe_device *d);
char *pipe_arena(const pipe_device *d, int port, int slot, int place);
char *pipe_made(const pipe_device *d, int port, int place);
/* Where the host fills a port of a chunk or block, or takes it out. */
char *pipe_host_side(const pipe_device *d, int port, int slot, int place);

/* Streams of a device that reaches host memory take turns. */
static inline dev_stream *pipe_compute_stream(const pipe_device *d)
{
    return d->stream[d->device->host_visible ? d->begun % 2 : PIPE_COMPUTE];
}
/* Puts the kernels of the chunk begun last on its stream, for the block that lies in `place`. */
motet_status pipe_compute(pipe_device *d, rt_chunk *chunk, int slot, int place);

/* 1 if the port is written and its part lies where the host takes it out. */
int pipe_comes_down(const pipe_device *d, int port);
/* Takes the results of a finished chunk out of its slot, or compares them. CHECK_FAILED. */
motet_status pipe_take_results(pipe_device *d, const rt_chunk *chunk, const pipe_task *task,
                               int slot);

/* Memory, streams, events for the share. NO_MEMORY: not even for one chunk at a time. */
motet_status pipe_device_begin(pipe_device *d);
/* One step of everything that can go on; *moved: something did. `next` gives the next piece of
 * work, if there is one. DEVICE_HUNG: nothing did for too long. */
typedef motet_status pipe_task_fn(pipe_device *d, pipe_task *task, int *got);
motet_status pipe_device_step(pipe_device *d, pipe_task_fn *next, int *moved);
/* Chunks are in flight, or fixed ports. */
int pipe_device_busy(const pipe_device *d);
/* Commands that have not begun never will; nothing is held when it returns, but what a device that
 * hangs may touch, which is kept until that is closed. Answers 1 if it hangs. */
int pipe_device_end(pipe_device *d, int hung);

#endif
