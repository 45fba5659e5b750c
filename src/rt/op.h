/* An operation: outputs × inputs → bytes per row, a kernel, a commit; described by data.
 *
 * The work is a box of up to RT_AXES axes, cut by the runtime into chunks. A port names an array and says which of its axes follow which axis of
 * the box (`cut`), whether it is streamed in ascending blocks, and how it is used. The engine's `enqueue` gets one chunk with
 * pointers already resolved, puts kernels on the stream and returns; it never waits and knows no devices. */
#ifndef MOTET_RT_OP_H
#define MOTET_RT_OP_H

#include "base/fail.h"
#include "dev/dev.h"
#include "rt/array.h"

enum { RT_AXES = 3, RT_PORTS = 8, RT_WHOLE = -1 };

typedef struct rt_queue rt_queue;

typedef enum rt_access { RT_READ, RT_WRITE, RT_UPDATE /* read and written */ } rt_access;

typedef struct rt_port {
    const char *name;          /* for messages: "sinogram" */
    const motet_array *array;  /* NULL: the port is not used */
    rt_access access;
    int cut[RT_AXES];          /* box axis i cuts array axis cut[i]; RT_WHOLE: not cut by it */
    int streamed;              /* 1: axis `stream_axis` arrives in blocks, ascending */
    int stream_axis;
    int64_t halo;              /* rows more on each side, along cut[0] */
} rt_port;

/* A port as a chunk sees it: element (i, j, k..) of the whole array is at
 * data[(i - first[0]) * stride[0] + (j - first[1]) * stride[1] + ...]. */
typedef struct rt_view {
    void *data;
    int64_t first[MOTET_MAX_AXES];
    int64_t count[MOTET_MAX_AXES];
    int64_t stride[MOTET_MAX_AXES]; /* in elements */
} rt_view;

typedef struct rt_chunk {
    int64_t first[RT_AXES], count[RT_AXES]; /* part of the box */
    int64_t stream_first, stream_count;     /* block of the streamed ports; 0, extent if none */
    int first_block, last_block;            /* of the stream, for this chunk */
    rt_view port[RT_PORTS];
} rt_chunk;

typedef struct rt_op {
    const char *name; /* "ct.backproject" */
    int axes;
    int64_t extent[RT_AXES]; /* the box, in rows of each axis */
    int64_t grain[RT_AXES];  /* a chunk is a multiple of it (the last may be shorter); 0: 1 */
    int64_t stream_extent;   /* 0: nothing is streamed */
    int64_t stream_block;    /* a block is a multiple of it */
    rt_port port[RT_PORTS];
    motet_status (*enqueue)(const rt_chunk *chunk, const rt_queue *queue, const void *user);
    const void *user;
} rt_op;

/* Where an engine puts its kernels. */
motet_status rt_launch(const rt_queue *queue, const k_kernel *kernel, const void *args,
                       int64_t items, size_t scratch);

/* Runs it: all or nothing for the arrays it writes. Empty boxes are done at once. */
motet_status rt_run(motet_context *context, const rt_op *op);

#endif
