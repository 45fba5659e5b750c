/* The planner: what would run, as a pure function of sizes. It looks at no data, asks no device and
 * allocates nothing, so a plan can be printed, tested by the thousand and made again elsewhere.
 *
 * One axis of the box is shared out by weight, in contiguous shares: the first that has a grain for
 * every device, which is axis 0 unless the box is flat. A share is cut in chunks, of
 * which a device holds RT_SLOTS at a time (one arrives, one is computed, one leaves), or fewer
 * where there is no room for so many. On a device with memory of its own the ports of an operation
 * come in three kinds: fixed (the same for all of the device's chunks: sent once), of a chunk, and
 * of a block of the stream. Its peak is
 *
 *     reserved + fixed + slots * chunk + ring * block + made + resident
 *
 * (each array but resident ones rounded up to RT_ALIGN bytes) and never passes its limit; `made` is
 * what transforms make of blocks; resident are new parts of arrays that stay on devices
 * (resident.h), and reserved is what Motet holds there already, former parts among it. A device
 * that sees host memory (the CPU) uses arrays in place and needs this for buffered ports only
 * (op.h), on the host. No choice made here changes a result; engines promise that. */
#ifndef MOTET_RT_PLAN_H
#define MOTET_RT_PLAN_H

#include "rt/devices.h"
#include "rt/op.h"

enum {
    RT_SLOTS = 3,
    RT_ALIGN = 256,
    RT_STAGE_FIXED = 1 << 22, /* host bytes through which fixed ports are sent, at most */
    RT_UNKNOWN = -1
};

/* Rows of one chunk along each axis of the box, and of one block of the stream. */
typedef struct rt_cut {
    int64_t rows[RT_AXES];
    int64_t stream_rows;
} rt_cut;

typedef struct rt_plan_device {
    const char *name; /* for messages; must outlive the plan */
    int host_visible; /* 1: its kernels use arrays in host memory in place */
    int64_t free;     /* bytes, those that Motet holds there included; RT_UNKNOWN */
    int64_t budget;   /* most bytes that Motet may hold there; 0: three quarters of what is free */
    int64_t reserved; /* bytes that Motet holds there already: a GPU's context and kernels, other
                         runs, arrays */
    int64_t workers;  /* that run items at a time, each with scratch of its own; 0: unknown */
    int place; /* in the context's device set, from 1: what stays there is used; 0: not there */
    int64_t wanted_rows; /* of a chunk along the shared axis, at most: about as long as a turn
                            should take; 0: unknown */
} rt_plan_device;

/* Weights of the devices for the operations whose name is `operation` or begins with it up to a
 * '.',
 * ':' or '_' ("rf.reflections" is meant by "rf.reflections:4", too); NULL: all. The longest
 * name wins. */
typedef struct rt_weights {
    const char *operation;
    int count;
    double weight[RT_DEVICES];
} rt_weights;

typedef struct rt_plan_options {
    rt_cut cut; /* rows as asked for, rounded up to the grain, never shrunk; 0: chosen */
    const rt_weights *weights;
    int weightings;            /* how many; 0: all devices weigh the same */
    int64_t host_memory;       /* most bytes on the host; 0: no bound */
    int64_t host_held;         /* bytes held there already */
    int64_t host_free;         /* bytes that the machine has free, which bound what comes from files
                                  where nothing else does; 0: unknown */
    int unpipelined;           /* 1: one chunk for each share that has room for it */
    int64_t chunks_per_device; /* when pipelined; 0: 4 */
    int64_t shard_rows;        /* in place of the operation's; 0: the operation's */
    int from_home; /* 1: what is read comes from host memory, although it may stay on a device */
} rt_plan_options;

/* X(name, text) */
#define RT_MODE_LIST(X)                                                                            \
    X(SINGLE, "single")       /* all on one device */                                              \
    X(SHARDED, "sharded")     /* one chunk for each share, where it fits */                        \
    X(PIPELINED, "pipelined") /* several chunks for each share */                                  \
    X(CHUNKED, "chunked")     /* rows or a budget were asked for */                                \
    X(STREAMED, "streamed")   /* the same, and the stream arrives in several blocks */

typedef enum rt_mode {
#define RT_MODE_ENUM(name, text) RT_##name,
    RT_MODE_LIST(RT_MODE_ENUM)
#undef RT_MODE_ENUM
} rt_mode;

typedef enum rt_port_kind { RT_FIXED, RT_OF_CHUNK, RT_OF_BLOCK, RT_RESIDENT } rt_port_kind;

/* What one device does. No chunks: it stays idle. */
typedef struct rt_share {
    int axis;            /* of the box, that is shared out: the same for all */
    int64_t first, rows; /* of that axis */
    rt_cut cut;
    int64_t pieces[RT_AXES]; /* chunks along each axis */
    int64_t chunks, blocks;  /* of the share; of the stream, for each chunk */
    int slots, ring;         /* chunks and blocks that the device holds at a time */
    int64_t fixed_bytes, chunk_bytes, block_bytes; /* all 0 where arrays are used in place */
    int64_t made_bytes;                            /* of all places */
    unsigned resident; /* a bit for each port that uses a part of its array on the device */
    int64_t resident_bytes, fill_bytes; /* of new parts; of those, what may have to be sent */
    int64_t reserved_bytes;             /* that Motet holds there already */
    int64_t peak_bytes;                 /* on the device, all of these together */
    int64_t staging_bytes; /* on the host: page-locked, or what a host's own workers take */
    int64_t limit;         /* most bytes on the device; INT64_MAX: none */
} rt_share;

typedef struct rt_plan {
    const char *operation;
    rt_mode mode;
    /* 1: devices take pieces from one list, in ascending order; so each that works has the whole
     * box as its share, of which it does a part, and `chunks` are about those of all. */
    int listed;
    int devices;
    rt_share share[RT_DEVICES];
    int64_t chunks; /* of all devices */
    int64_t
        row_bytes; /* of one row of the shared axis, as it moves: what is read and written of it */
    unsigned private_ports; /* a bit for each port with a copy on the host until it is committed */
    int64_t private_bytes;  /* copies of written arrays until they are committed */
    int64_t host_bytes;     /* with those and all staging */
} rt_plan;

/* Those of the context, with the budgets of its options;
 * answers how many. What is free and held is asked anew. */
int rt_plan_devices(motet_context *context, rt_plan_device out[RT_DEVICES]);
/* Asks a device of the context anew how much is free and held. */
void rt_plan_device_now(motet_context *context, int index, rt_plan_device *device);

/* INTERNAL, BAD_SHAPE, BAD_ARGUMENT: as rt_op_check tells; BAD_ARGUMENT: also options, weights,
 * devices, or more than 2^63 chunks; OVER_BUDGET: one grain of rows does not fit a device, or the
 * rows that were asked for, or the host: the message tells the least that would do. The context
 * takes the message only. */
motet_status rt_plan_make(motet_context *context, const rt_op *op, const rt_plan_device *devices,
                          int count, const rt_plan_options *options, rt_plan *out);

/* The weights that are meant for the operation; NULL: all devices weigh the same. */
const rt_weights *rt_weights_for(const rt_plan_options *options, const char *operation);

/* Chunk `number` of the plan in the order of launching: round robin, so that no device gets a
 * second one before each has its first. Answers the device; *local is the chunk's number in its
 * share. */
int rt_plan_chunk(const rt_plan *plan, int64_t number, int64_t *local);
/* The part of the box that chunk `local` of a share is; last axis fastest. */
void rt_share_chunk(const rt_share *share, const rt_op *op, int64_t local, int64_t first[RT_AXES],
                    int64_t count[RT_AXES]);
rt_chunk rt_share_whole(const rt_op *op, const rt_share *share); /* all of it as one chunk */
rt_port_kind rt_share_port(const rt_share *share, const rt_port *port, int axes);
/* Bytes of one buffer for the port, rounded up; INT64_MAX when they pass that. Of a ragged port:
 * enough for any so many rows of the box that a chunk may have. */
int64_t rt_share_port_bytes(const rt_share *share, const rt_op *op, const rt_port *port);
/* The same for what its transform makes, and how many such places there are: kernels that use one
 * run on one stream. */
int64_t rt_share_made_bytes(const rt_share *share, const rt_op *op, const rt_port *port);
int rt_share_made_places(const rt_share *share, const rt_op *op, int host_visible);
/* 1 if the port's transform makes the same for all chunks: the whole stream, of which no chunk sees
 * another part. It is made once then. */
int rt_share_still(const rt_share *share, const rt_op *op, const rt_port *port);

/* How a device that uses arrays in place cuts the whole box. `chunk` as in the context's options,
 * 0: chosen. */
rt_cut rt_cut_choose(const rt_op *op, int64_t chunk);

const char *rt_mode_text(rt_mode mode);

#endif
