/* A small program on one device: upload, compute, download, two slots, three streams, ordered by
 * events only. Every edge can be left out. */
#ifndef MOTET_TEST_PIPELINE_H
#define MOTET_TEST_PIPELINE_H

#include <string.h>

#include "base/context.h"
#include "base/fail.h"
#include "support/sim.h"

enum { PIPE_CHUNKS = 6, PIPE_N = 48, PIPE_SLOTS = 2, PIPE_BYTES = PIPE_N * (int)sizeof(float) };

typedef enum pipe_edge {
    PIPE_HOST_REFILLS,  /* the host fills staging again when its upload is done */
    PIPE_UPLOAD_AFTER,  /* an upload waits for the kernel that read the slot */
    PIPE_KERNEL_INPUT,  /* a kernel waits for its upload */
    PIPE_KERNEL_OUTPUT, /* a kernel waits for the download of what it overwrites */
    PIPE_DOWNLOAD,      /* a download waits for its kernel */
    PIPE_HOST_READS,    /* the host reads when the download is done */
    PIPE_EDGES
} pipe_edge;

typedef struct twice_args {
    const float *in;
    float *out;
} twice_args;

static inline void twice(const void *p, int64_t begin, int64_t end, void *scratch)
{
    (void)scratch;
    const twice_args *a = p;
    for (int64_t i = begin; i < end; i++) a->out[i] = 2 * a->in[i] + 1;
}
SIM_KERNEL(twice, twice_args)

typedef struct pipe {
    dev *d;
    dev_stream *up, *run, *down;
    dev_event *up_done[PIPE_SLOTS], *run_done[PIPE_SLOTS], *down_done[PIPE_SLOTS];
    dev_memory stage_in[PIPE_SLOTS], stage_out[PIPE_SLOTS], in[PIPE_SLOTS], out[PIPE_SLOTS];
    int skip_edge, skip_chunk; /* the edge left out; -1: none */
    float result[PIPE_CHUNKS][PIPE_N];
} pipe;

static inline float pipe_input(int chunk, int i) { return (float)(100 * chunk + i); }

/* Whether an edge is there for a chunk in the complete program. */
static inline int pipe_has(pipe_edge edge, int chunk)
{
    return edge == PIPE_KERNEL_INPUT || edge == PIPE_DOWNLOAD || edge == PIPE_HOST_READS ||
           chunk >= PIPE_SLOTS;
}

static inline int pipe_obeys(const pipe *p, pipe_edge edge, int chunk)
{
    return pipe_has(edge, chunk) && !(p->skip_edge == (int)edge && p->skip_chunk == chunk);
}

static inline motet_status pipe_make(pipe *p)
{
    const dev_table *t = p->d->table;
    TRY(t->stream_create(p->d, &p->up));
    TRY(t->stream_create(p->d, &p->run));
    TRY(t->stream_create(p->d, &p->down));
    for (int i = 0; i < PIPE_SLOTS; i++) {
        TRY(t->event_create(p->d, &p->up_done[i]));
        TRY(t->event_create(p->d, &p->run_done[i]));
        TRY(t->event_create(p->d, &p->down_done[i]));
        TRY(t->alloc(p->d, DEV_PINNED, PIPE_BYTES, &p->stage_in[i]));
        TRY(t->alloc(p->d, DEV_PINNED, PIPE_BYTES, &p->stage_out[i]));
        TRY(t->alloc(p->d, DEV_DEVICE, PIPE_BYTES, &p->in[i]));
        TRY(t->alloc(p->d, DEV_DEVICE, PIPE_BYTES, &p->out[i]));
        t->memory_name(p->d, &p->stage_in[i], "staged input");
        t->memory_name(p->d, &p->stage_out[i], "staged output");
        t->memory_name(p->d, &p->in[i], "input");
        t->memory_name(p->d, &p->out[i], "output");
    }
    return MOTET_OK;
}

static inline motet_status pipe_read(pipe *p, int chunk)
{
    const int s = chunk % PIPE_SLOTS;
    if (pipe_obeys(p, PIPE_HOST_READS, chunk)) TRY(sim_wait_event(p->d, p->down_done[s]));
    p->d->table->host_access(p->d, p->stage_out[s].data, PIPE_BYTES, 0);
    memcpy(p->result[chunk], p->stage_out[s].data, PIPE_BYTES);
    return MOTET_OK;
}

static inline motet_status pipe_chunk(pipe *p, int chunk)
{
    const dev_table *t = p->d->table;
    const int s = chunk % PIPE_SLOTS;
    if (pipe_obeys(p, PIPE_HOST_REFILLS, chunk)) TRY(sim_wait_event(p->d, p->up_done[s]));
    t->host_access(p->d, p->stage_in[s].data, PIPE_BYTES, 1);
    for (int i = 0; i < PIPE_N; i++) ((float *)p->stage_in[s].data)[i] = pipe_input(chunk, i);

    if (pipe_obeys(p, PIPE_UPLOAD_AFTER, chunk)) TRY(t->stream_wait(p->up, p->run_done[s]));
    TRY(t->copy(p->up, p->in[s].data, p->stage_in[s].data, PIPE_BYTES));
    TRY(t->event_record(p->up, p->up_done[s]));

    if (pipe_obeys(p, PIPE_KERNEL_INPUT, chunk)) TRY(t->stream_wait(p->run, p->up_done[s]));
    if (pipe_obeys(p, PIPE_KERNEL_OUTPUT, chunk)) TRY(t->stream_wait(p->run, p->down_done[s]));
    const twice_args args = {p->in[s].data, p->out[s].data};
    const dev_access access[] = {{.data = p->in[s].data, .bytes = PIPE_BYTES},
                                 {.data = p->out[s].data, .bytes = PIPE_BYTES, .writes = 1}};
    const dev_launch launch = {
        .kernel = &twice_kernel, .args = &args, .items = PIPE_N, .access = access, .accesses = 2};
    TRY(t->launch(p->run, &launch));
    TRY(t->event_record(p->run, p->run_done[s]));

    if (chunk >= PIPE_SLOTS) TRY(pipe_read(p, chunk - PIPE_SLOTS));
    if (pipe_obeys(p, PIPE_DOWNLOAD, chunk)) TRY(t->stream_wait(p->down, p->run_done[s]));
    TRY(t->copy(p->down, p->stage_out[s].data, p->out[s].data, PIPE_BYTES));
    return t->event_record(p->down, p->down_done[s]);
}

static inline motet_status pipe_all(pipe *p)
{
    TRY(pipe_make(p));
    for (int i = 0; i < PIPE_CHUNKS; i++) TRY(pipe_chunk(p, i));
    for (int i = PIPE_CHUNKS - PIPE_SLOTS; i < PIPE_CHUNKS; i++) TRY(pipe_read(p, i));
    return MOTET_OK;
}

/* On every path: nothing runs any more, then nothing is held any more. */
static inline void pipe_end(pipe *p)
{
    const dev_table *t = p->d->table;
    dev_stream *const streams[] = {p->up, p->run, p->down};
    for (int i = 0; i < 3; i++)
        if (streams[i]) t->stream_drop(streams[i]);
    for (int i = 0; i < 3; i++) {
        if (!streams[i]) continue;
        sim_wait_stream(p->d, streams[i]);
        t->stream_free(streams[i]);
    }
    for (int i = 0; i < PIPE_SLOTS; i++) {
        t->event_free(p->up_done[i]);
        t->event_free(p->run_done[i]);
        t->event_free(p->down_done[i]);
        t->release(p->d, &p->stage_in[i]);
        t->release(p->d, &p->stage_out[i]);
        t->release(p->d, &p->in[i]);
        t->release(p->d, &p->out[i]);
    }
}

static inline motet_status pipe_run(pipe *p, dev *d, int skip_edge, int skip_chunk)
{
    memset(p, 0, sizeof *p);
    p->d = d;
    p->skip_edge = skip_edge;
    p->skip_chunk = skip_chunk;
    const motet_status st = pipe_all(p);
    pipe_end(p);
    return st;
}

static inline int pipe_right(const pipe *p)
{
    for (int chunk = 0; chunk < PIPE_CHUNKS; chunk++)
        for (int i = 0; i < PIPE_N; i++)
            if (!(p->result[chunk][i] == 2 * pipe_input(chunk, i) + 1)) return 0;
    return 1;
}

#endif
