/* Devices: a small table that every back end fills.
 *
 * Rules. Every entry that can fail answers a status. None waits, but for `doze`, which sleeps at
 * most as long as it is told, and `close`, which lets running commands end. Clean-up entries never
 * fail. A stream executes its commands in order; streams are ordered among each other by events
 * only. A launch names the ranges it reads and writes, for the simulator and the budget. Entries
 * may be called from several threads at once; one stream or event belongs to one thread at a time.
 */
#ifndef MOTET_DEV_DEV_H
#define MOTET_DEV_DEV_H

#include <motet/context.h>
#include <motet/device.h>

#include "kern/kernel.h"

typedef struct dev dev;               /* an opened device */
typedef struct dev_stream dev_stream; /* commands in order */
typedef struct dev_event dev_event;   /* a point in a stream */
typedef enum dev_memory_kind { DEV_DEVICE, DEV_PINNED, DEV_HOST } dev_memory_kind;
typedef struct dev_memory {
    void *
        data; /* where the device's kernels find it; host-visible for HOST, PINNED and on the cpu */
    size_t bytes;
    uint64_t epoch; /* of the device when it was made; use after a reopen is an error */
    dev_memory_kind kind;
} dev_memory;

typedef enum dev_health { DEV_HEALTH_OK, DEV_HEALTH_LOST, DEV_HEALTH_GONE } dev_health;

/* A range of memory, or `rows` ranges of `bytes` bytes that begin `pitch` bytes apart (0 rows:
 * one). */
typedef struct dev_access {
    const void *data;
    size_t bytes;
    int writes;
    size_t rows, pitch;
} dev_access;

/* A box that is cut along an inner axis: rows of `bytes` bytes, which begin so many bytes apart. */
typedef struct dev_rows {
    void *to;
    const void *from;
    size_t bytes, rows, to_pitch, from_pitch;
} dev_rows;

typedef struct dev_launch {
    const k_kernel *kernel;
    const void *args; /* kernel->args_bytes bytes, copied */
    int64_t items;
    int64_t grain;            /* items that a worker should take at once; 0: chosen, */
    int64_t batch;            /* as a multiple of this; 0: 1 */
    k_scratch scratch;        /* private to each worker */
    const dev_access *access; /* ranges read and written; copied */
    int accesses;
} dev_launch;

typedef struct dev_table {
    const char *name; /* "cpu" */
    int (*count)(motet_context *context);
    motet_status (*open)(motet_context *context, int index, dev **out);
    void (*close)(dev *device);
    motet_status (*info)(dev *device, motet_device_info *out);
    motet_status (*alloc)(dev *device, dev_memory_kind kind, size_t bytes, dev_memory *out);
    /* Legal after a close, too, until `end`, for what a command that hangs kept from being
     * released: a back end whose devices may hang keeps each `dev` so long. */
    void (*release)(dev *device, dev_memory *memory);
    motet_status (*stream_create)(dev *device, dev_stream **out);
    void (*stream_free)(dev_stream *stream); /* drops it, too */
    /* Commands that have not begun never will, where the device can take them back; a running one
     * ends, perhaps cut short. Events recorded in the stream become ready then. */
    void (*stream_drop)(dev_stream *stream);
    motet_status (*stream_poll)(
        dev_stream *stream); /* OK when all its commands have ended, or BUSY */
    motet_status (*event_create)(dev *device, dev_event **out);
    void (*event_free)(dev_event *event); /* legal at any time */
    motet_status (*event_record)(dev_stream *stream, dev_event *event);
    /* OK when the latest record was reached (or there was none), BUSY, or the error of the stream.
     */
    motet_status (*event_poll)(dev_event *event);
    motet_status (*stream_wait)(dev_stream *stream, dev_event *event);
    motet_status (*copy)(dev_stream *stream, void *to, const void *from, size_t bytes);
    motet_status (*copy_rows)(dev_stream *stream, const dev_rows *rows);
    motet_status (*fill)(dev_stream *stream, void *to, unsigned char byte, size_t bytes);
    motet_status (*launch)(dev_stream *stream, const dev_launch *launch);
    dev_health (*health)(dev *device);
    /* Counts events reached and streams that ran empty. Sleeping takes the count read before
     * polling, so that what happens between the two is not slept through: seen = progress(d);
     * poll...; doze(d, seen, ns). */
    uint64_t (*progress)(dev *device);
    void (*doze)(dev *device, uint64_t seen, int64_t nanoseconds);
    /* Gives back memory of its own that nothing uses now; answers how many bytes. NULL: never any.
     */
    size_t (*trim)(dev *device);
    /* Items computed by each thread since the device was opened, at most `room` of them; answers
     * how many threads there are (0: the device does not tell). */
    int (*share)(dev *device, int64_t *items, int room);
    /* From now on the streams of `device` may copy from and to the memory of `other`, a device of
     * the same back end. DECLINED: they cannot, the way goes through the host. */
    motet_status (*peer)(dev *device, dev *other);
    /* For checks; neither fails, both may do nothing. `memory_name` says what memory is for from
     * now on: no command uses it, and what it holds is undefined. The text lives as long.
     * `host_access`: the caller now reads or writes host memory that commands
     * use, too. */
    void (*memory_name)(dev *device, const dev_memory *memory, const char *text);
    void (*host_access)(dev *device, const void *data, size_t bytes, int writes);
    /* Once for a context, when all its devices are closed: gives back what the back end kept for
     * it. */
    void (*end)(motet_context *context);
    /* What the name of a device says of it behind an '@', before it is opened; for tests. NULL: the
     * back end takes nothing. BAD_ARGUMENT. */
    motet_status (*options)(motet_context *context, int index, const char *text, size_t length);
    /* Of a back end whose devices "auto" means, where there are any: why there are none, in a line
     * that lives as long as the context. NULL: its devices are taken by name only. */
    const char *(*absence)(motet_context *context);
    /* The UUID of one, as the driver's own tools print it, "GPU-1f2e..."; "" where there is none.
     * NULL: they have none. */
    void (*uuid)(motet_context *context, int index, char text[48]);
} dev_table;

/* A device begins with its table, so that generic code can find it. */
struct dev {
    const dev_table *table;
    motet_context *context;
    int index; /* in the context's device set */
    uint64_t epoch;
    int host_visible; /* kernels reach all host memory in place: nothing needs copying */
};

extern const dev_table dev_cpu, dev_cuda, dev_sim;

#endif
