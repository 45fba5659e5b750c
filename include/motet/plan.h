/* Plans: what would run where, and what it would take, before anything runs. A plan needs sizes
 * only; its devices need not be there. */
#ifndef MOTET_PLAN_H
#define MOTET_PLAN_H

#include <motet/ct.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct motet_plan_device {
    const char *name;    /* "cuda:0", as messages shall call it */
    int host_visible;    /* 1: works on arrays in host memory in place, as the CPU does */
    int64_t memory_free; /* bytes; -1: not known */
    uint64_t budget; /* most bytes that Motet may hold there; 0: three quarters of what is free */
    double weight;   /* its part of the work, relative to the others'; 0: none */
    int threads;     /* that work at a time, each with memory of its own; 0: not known */
} motet_plan_device;

typedef struct motet_plan_options {
    uint32_t size;
    const motet_plan_device *devices; /* at most 16; NULL: the context's own, with its weights */
    int count;
    int64_t chunk;             /* rows of the outermost axis in one chunk; 0: chosen */
    uint64_t host_memory;      /* most bytes on the host; 0: no bound */
    int64_t chunks_per_device; /* of a device with memory of its own; 0: 4 */
    int64_t slab_rows;         /* of a reconstruction; 0: chosen from memory, as the run does */
    const motet_ct_filter_options *filter; /* of filter and recon; NULL: the defaults */
    int scan;       /* 1: a reconstruction reads and normalises a scan, as motet_ct_recon does */
    int checkpoint; /* 1: a solver has a folder for one */
    int direct;     /* 1: outputs are MOTET_WRITE_DIRECT */
    int64_t views; /* in place of the geometry's, which then stand for so many; 0: the geometry's */
} motet_plan_options;

MOTET_API void motet_plan_options_init(motet_plan_options *options);

/* X(name, number, text) */
#define MOTET_CT_OPERATION_LIST(X)                                                                 \
    X(PROJECT, 0, "project")                                                                       \
    X(BACKPROJECT, 1, "backproject")                                                               \
    X(FILTER, 2, "filter")                                                                         \
    X(RECON, 3, "recon") /* a slab of it: perhaps a scan, filter, then back-projection */          \
    X(FDK, 4, "fdk")     /* filter, then back-projection; of views in space */                     \
    X(CGLS, 5, "cgls")   /* the operations of one iteration */                                     \
    X(SIRT, 6, "sirt")

typedef enum motet_ct_operation {
#define MOTET_CT_OPERATION_ENUM(name, number, text) MOTET_CT_##name = number,
    MOTET_CT_OPERATION_LIST(MOTET_CT_OPERATION_ENUM)
#undef MOTET_CT_OPERATION_ENUM
} motet_ct_operation;

/* The plan of an operation on whole arrays of the geometry's sizes, as one JSON object:
 *   {"operations": [{"name", "mode": "single|sharded|pipelined|chunked|streamed", "box": [..],
 *      "chunks", "row_bytes", "private_bytes", "host_bytes",
 *      "devices": [{"name", "axis", "first", "rows", "chunk": [..], "stream_block",
 *         "chunks", "blocks", "slots", "ring", "fixed_bytes", "chunk_bytes", "block_bytes",
 *         "resident_bytes", "reserved_bytes", "peak_bytes", "staging_bytes", "limit"}]}],
 *    "slab_rows", "slabs", "held_bytes", "host_bytes", "devices": [{"name", "peak_bytes"}]}
 * One axis of the box, `axis`, is shared out among the devices; `limit` is null where there is
 * none, `slab_rows` and `slabs` where nothing is cut in slabs. A device's peak is fixed_bytes +
 * slots * chunk_bytes + ring * block_bytes + resident_bytes, which are arrays that stay there
 * between the operations of a solver, + reserved_bytes, which Motet holds there already, such as a
 * GPU's context and kernels; 0 where arrays are used in place. The peak of all counts
 * those that the operation does not use, too. `held_bytes` are arrays that Motet makes on the host
 * for the whole of it, `host_bytes` the most it holds there at once (not counting the caller's
 * arrays). The text is freed with motet_text_free. OVER_BUDGET: it does not fit; the message tells
 * the least that would. BAD_ARGUMENT names the option. */
MOTET_API motet_status motet_ct_plan(motet_ct_geometry *geometry, motet_ct_operation operation,
                                     const motet_plan_options *options, char **json);

#ifdef __cplusplus
}
#endif
#endif
