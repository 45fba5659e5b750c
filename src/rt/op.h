/* An operation: outputs × inputs → bytes per row, a kernel, a commit; described by data.
 *
 * The work is a box of up to RT_AXES axes, cut by the runtime into chunks. A port names an array
 * and says which of its axes follow which axis of the box (`cut`), whether it is streamed in
 * ascending blocks, and how it is used. The engine's `enqueue` gets one chunk with pointers already
 * resolved, puts kernels on the queue and returns; it never waits and knows no devices.
 *
 * What the engine promises: the same bits however the box and the stream are cut. So an element of
 * an output is computed by the chunk that owns it alone, and a streamed sum is continued from block
 * to block: the kernel starts it at chunk->first_block, else adds to what is there, in ascending
 * order. Chunks run in any order and at once; the blocks of one chunk run in order. */
#ifndef MOTET_RT_OP_H
#define MOTET_RT_OP_H

#include "base/fail.h"
#include "dev/dev.h"
#include "rt/array.h"

enum { RT_AXES = 3, RT_PORTS = 8, RT_WHOLE = -1 };

typedef struct rt_queue rt_queue;

typedef enum rt_access {
    RT_READ,
    RT_WRITE,
    RT_UPDATE, /* read and written */
    RT_ADD     /* added to: former contents + what all chunks add, in any order */
} rt_access;

/* A port as a chunk sees it: element (i, j, k..) of the whole array is at
 * data[(i - first[0]) * stride[0] + (j - first[1]) * stride[1] + ...]; so `data` points
 * at the first element of the part, a halo included. Axes that the array has not are 0. `data` is
 * memory of the device: enqueue hands it to kernels and never looks there itself. */
typedef struct rt_view {
    void *data;
    int64_t first[MOTET_MAX_AXES];
    int64_t count[MOTET_MAX_AXES];
    int64_t stride[MOTET_MAX_AXES]; /* in elements */
} rt_view;

/* Where parts of an input come from, or finished parts of an output go to, in place of the memory
 * of an array. Called on the thread that runs the operation, but for sources that say otherwise;
 * neither may run operations. A failure ends the run with its status. */
typedef struct rt_source {
    /* Fills the part, which lies without gaps. A part may be asked for again. */
    motet_status (*read)(const rt_view *part, void *user);
    void *user;
    int apart; /* 1: also called on another thread, while others compute: by one at a time for all
                  sources of a run */
} rt_source;

typedef struct rt_sink {
    /* Takes the part, which lies without gaps; they come in ascending order of the box (axis 0
     * slowest), each exactly once; empty ones do not come. */
    motet_status (*take)(const rt_view *part, void *user);
    /* Once, after the last part or whatever ended the run; NULL: nobody is told. */
    void (*end)(motet_status status, void *user);
    void *user;
} rt_sink;

typedef struct rt_chunk rt_chunk;

/* Puts kernels on the queue that make a block of the same place and size, `made`, out of the one
 * that arrived, `raw`, and other ports that are read, as they arrived. An element of it must not
 * depend on the cut. Where all chunks see the whole stream it is made for the first alone, so the
 * other ports are such as no chunk sees other parts of. `user` is the operation's. */
typedef motet_status rt_transform_fn(const rt_chunk *chunk, const rt_view *raw, const rt_view *made,
                                     const rt_queue *queue, const void *user);

typedef struct rt_port {
    const char *name;         /* for messages: "sinogram" */
    const motet_array *array; /* NULL: the port is not used */
    /* RT_WRITE promises to write every element of its part; reads of it before that are undefined.
     * Written ports are cut by every axis of the box, and neither streamed nor haloed. An array
     * that is read and written by two ports is read as it was before the operation. */
    rt_access access;
    int cut[RT_AXES]; /* box axis i cuts array axis cut[i]; RT_WHOLE: not cut by it. Say all `axes`:
                       what is left out is 0 */
    int streamed;     /* 1: axis `stream_axis` arrives in blocks, ascending */
    int stream_axis;
    int64_t halo; /* rows more on each side, along cut[0]; none beyond the array's ends */

    /* RT_ADD: int64, neither streamed nor haloed; cut by an axis or not. Kernels add by k_add_i64
     * to a part that begins as zeros. limbs > 0: each so many consecutive elements, none of which
     * is apart from its next in a cut, are one number in limbs (kern/accumulate.h), normalised when
     * the run is over. BAD_DATA: a sum leaves the range. */
    int limbs;
    /* Read ports: row i of the box (axis 0) sees row list[i] of array axis cut[0], as row i of its
     * view. list_count is extent[0]. Rows may repeat. */
    const int64_t *list;
    int64_t list_count;
    /* Ragged: rows [a, b) of the box (axis 0) are elements [offset[a], offset[b]) of array axis
     * cut[0]; ascending, extent[0] + 1 entries, within the array. */
    const int64_t *offset;
    /* The array has sizes only (no data). A source is read, a sink's port is RT_WRITE; with both it
     * is RT_UPDATE, and each part is read before it is taken. */
    const rt_source *source;
    const rt_sink *sink;
    /* Of a streamed port: kernels see what it makes, of type `made_type`. NULL: what arrived. */
    rt_transform_fn *transform;
    motet_type made_type;
    int apart; /* 1: in memory of its own also where kernels could use the array in place */
} rt_port;

struct rt_chunk {
    int64_t first[RT_AXES], count[RT_AXES]; /* part of the box */
    int64_t stream_first, stream_count;     /* block of the stream; 0, 0 when it is empty */
    int first_block, last_block;            /* of the stream, for this chunk */
    rt_view port[RT_PORTS];
};

typedef struct rt_op {
    const char *name; /* "ct.backproject" */
    int axes;
    int64_t extent[RT_AXES]; /* the box, in rows of each axis: the sizes of the axes that it cuts */
    int64_t grain[RT_AXES];  /* a chunk is a multiple of it (the last may be shorter); 0: 1 */
    int64_t stream_extent;   /* 0: nothing is streamed; each chunk is then enqueued once */
    int64_t stream_block;    /* a block is a multiple of it; 0: 1 */
    int64_t shard_rows; /* fewest rows worth another device, when they are up to 100 bytes wide; of
                           wider ones, as many more. 0: any */
    rt_port port[RT_PORTS];
    int64_t batch;     /* items that a kernel's fast range does best together; 0: 1 */
    k_scratch scratch; /* the most that a kernel of it needs for each worker */
    motet_status (*enqueue)(const rt_chunk *chunk, const rt_queue *queue, const void *user);
    const void *user; /* of the host, for enqueue; as long as the run */
    /* Digest of all that the result depends on beside the arrays and sizes; 0, 0: unknown. */
    uint64_t fingerprint[2];
} rt_op;

/* Where an engine puts its kernels: one after the other. The arguments are copied to the device:
 * they hold numbers and the pointers of views, none to host memory (a table is a port). Items are
 * numbered from 0 in each launch; those of one launch run in any order and at once. */
motet_status rt_launch(const rt_queue *queue, const k_kernel *kernel, const void *args,
                       int64_t items);

/* INTERNAL, BAD_SHAPE or BAD_DATA (lists and offsets) unless the declaration makes sense and fits
 * its arrays; BAD_ARGUMENT: two written ports share memory. Arrays without data (sizes only, for
 * plans) are fine. */
motet_status rt_op_check(motet_context *context, const rt_op *op);
/* 1 if the port takes memory of its own even where kernels reach host memory; what its transform
 * makes is not counted. */
int rt_port_buffered(const rt_op *op, const rt_port *port); /* of the operation */
int rt_op_buffered(const rt_op *op); /* one of its ports is, or has a transform */
/* 1 if parts must leave in ascending order: one of them goes to a sink. */
int rt_op_ordered(const rt_op *op);
int rt_ports_overlap(const rt_port *a, const rt_port *b); /* both with arrays */
/* 1 if the port is written by way of a private copy. A direct array that another port reads gets
 * one all the same: else what is read would depend on what is written already. */
int rt_port_private(const rt_op *op, int port);

/* Runs it and waits: all or nothing for the arrays it writes (but see MOTET_WRITE_DIRECT). Empty
 * boxes are done at once. BAD_SHAPE: an array's axis differs from the box or the stream;
 * BAD_ARGUMENT: two written ports share memory; OVER_BUDGET: private copies would
 * pass the context's bound; CANCELLED; NO_MEMORY; what enqueue answers. */
motet_status rt_run(motet_context *context, const rt_op *op);

#endif
