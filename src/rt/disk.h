/* Arrays whose home is a file: as large as the disk. They have no data pointer. Operations read
 * them part by part and write them part by part, through sources and sinks that their ports get
 * here, so whatever runs on arrays in memory runs on these, within the same budget.
 *
 * What is written is in the file at once: there is no private copy, and after a failure the array
 * is undefined, as with MOTET_WRITE_DIRECT. */
#ifndef MOTET_RT_DISK_H
#define MOTET_RT_DISK_H

#include <motet/store.h>

#include "kern/digest.h"
#include "rt/op.h"

typedef struct rt_disk {
    rt_source source;
    rt_sink sink;
    int reads, writes; /* what may be done with it */
    int whole_rows;    /* 1: written by whole rows of axis 0 alone */
    int64_t aside;     /* host bytes that a read or write takes for itself */
    motet_context *context;
    motet_store *store;
    int owned; /* the store goes with the array */
    motet_type type;
    int axes, of[MOTET_MAX_AXES]; /* axis of the store for each of the array; -1: it has none */
    int turned;                   /* the store has the array's last two axes in the other order */
    char *buffer;                 /* of one piece that is turned */
    size_t room;
} rt_disk;

/* An array of `type` and `shape` in a store that lives longer: one that was opened is read, one
 * that was begun is written, all of it by one operation. `turned`: the store has the last two axes
 * in the other order. Axes of size 1 may be missing in the store. BAD_SHAPE names `name` and both
 * shapes; BAD_ARGUMENT: a store that is written and of another type; NO_MEMORY. */
motet_status rt_disk_store(motet_context *context, motet_store *store, const char *name,
                           motet_type type, int axes, const int64_t *shape, int turned,
                           motet_array **out);
/* Zeros, in a file without a name in the folder (NULL: the current one), read and written as often
 * as wanted. */
motet_status rt_disk_scratch(motet_context *context, const char *folder, motet_type type, int axes,
                             const int64_t *shape, motet_array **out);
/* Parts of the array without a run. The values lie in C order. */
motet_status rt_disk_read(const motet_array *array, const int64_t *first, const int64_t *count,
                          void *out);
motet_status rt_disk_write(const motet_array *array, const int64_t *first, const int64_t *count,
                           const void *values);

/* Rows of axis 0 that are moved at a time by what follows, and by whoever walks such an array. */
int64_t rt_disk_rows(const motet_array *array);
/* Rows [first, first + count) of axis 0; also of arrays in memory. */
motet_status rt_disk_read_rows(const motet_array *array, int64_t first, int64_t count, void *out);
motet_status rt_disk_write_rows(const motet_array *array, int64_t first, int64_t count,
                                const void *rows);
/* All of `from`, of the same type and shape; either may be in memory. This, filling and the digest
 * take long for large files: CANCELLED and DEADLINE end them between two pieces. */
motet_status rt_disk_copy(const motet_array *from, motet_array *to);
/* Every element the same; `value` is of the array's type. */
motet_status rt_disk_fill(motet_array *array, const void *value);

/* Host bytes that the ports of an operation take aside for what they read and write on disk. */
int64_t rt_disk_aside(const rt_op *op);
/* 1 if an array of it is on disk. */
int rt_disk_used(const rt_op *op);
/* The operation with sources and sinks for its arrays on disk. UNSUPPORTED: it uses one as such an
 * array cannot be used. */
motet_status rt_disk_bind(motet_context *context, const rt_op *op, rt_op *bound);

motet_status rt_disk_digest(const motet_array *array, digest_rows *state);
void rt_disk_close(rt_disk *disk); /* NULL is legal */

#endif
