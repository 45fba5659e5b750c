/* The inside of the CUDA back end.
 *
 *  - driver.c: the driver's functions, found at run time; image.c: the kernels, embedded;
 *  - cuda.c: the table: opening, closing, what a GPU is; footprint.c: what a context takes;
 *  - kernels.c: finding and launching kernels; queue.c: streams, events, copies;
 *  - memory.c: memory of each kind, health.
 *
 * Each entry makes the device's primary context current and puts the caller's back, so that a
 * thread that uses CUDA by itself notices nothing. The first error that ends the context for good
 * marks the device as lost; from then on it is asked for nothing, and nothing of it is released:
 * the process's share of the GPU comes back when the process ends. */
#ifndef MOTET_DEV_CUDA_INSIDE_H
#define MOTET_DEV_CUDA_INSIDE_H

#include <pthread.h>
#include <stdatomic.h>

#include "dev/cuda/cuda.h"
#include "dev/cuda/driver.h"

/* How a kernel is launched: as blocks of a tuned form, or item by item. */
typedef struct cuda_kernel {
    CUfunction item, blocks; /* blocks NULL: there is no tuned form */
    int threads;             /* of a block of items */
    struct {
        int threads, items, shared; /* of a block; bytes */
    } shape;
} cuda_kernel;

/* Scratch of the workers of one stream, kept from stream to stream once nothing runs. */
typedef struct cuda_scratch {
    struct cuda_scratch *next;
    CUdeviceptr data;
    size_t bytes;
} cuda_scratch;

typedef struct cuda_device {
    dev base;
    struct cuda_device *next; /* in the world, until its end */
    struct cuda_world *world;
    const cuda_driver *driver;
    int number;
    CUdevice id;
    CUcontext primary;
    CUmodule module;
    cuda_kernel *kernel; /* as k_kernels */
    int multiprocessors;
    uint64_t context_bytes; /* of the GPU's memory, see motet_device_info */
    atomic_int lost, closed;
    int quiet; /* nothing ran when it was closed: what is left can be released */

    CUstream own; /* of what the device does for itself */
    dev_memory health_device, health_host;

    pthread_mutex_t lock;       /* guards what follows */
    dev_stream *streams, *left; /* left: freed with a command that has not ended */
    dev_event *events;
    cuda_scratch *spare;
    atomic_uint_fast64_t progress;
} cuda_device;

typedef struct cuda_world {
    pthread_mutex_t lock;
    cuda_driver driver;
    cuda_device *devices; /* all that were opened */
    int plain;
} cuda_world;

/* `waited`: seen busy, and of interest to who dozes; guarded by the device's lock. */
struct dev_event {
    cuda_device *device;
    dev_event *next, **self;
    CUevent event;
    int waited;
};

struct dev_stream {
    cuda_device *device;
    dev_stream *next, **self;
    CUstream stream;
    cuda_scratch *scratch; /* the largest, then what it outgrew; NULL: none yet */
    int waited;
};

cuda_world *cuda_world_of(motet_context *context); /* NULL: no memory */

/* Answers OK and makes the context current, or says that the device is lost. */
motet_status cuda_enter(cuda_device *device);
/* The same for what cleans up, which says nothing: 1 or 0. */
int cuda_enter_still(cuda_device *device);
void cuda_leave(cuda_device *device);
/* The status of a driver's call; a failure is said as "cuda:0: CALL: NAME (NUMBER)", and marks the
 * device as lost if it is one for good. NOT_READY says nothing. */
motet_status cuda_check(cuda_device *device, CUresult result, const char *call);
#define CUDA(device, function, ...)                                                                \
    cuda_check((device), (device)->driver->function(__VA_ARGS__), #function)

/* footprint.c. Bytes of the GPU's memory that are used, by whomever, asked outside of any context;
 * answers 0 if nobody tells. */
int cuda_used(const char *uuid, uint64_t *bytes);

/* memory.c */
motet_status cuda_alloc(dev *device, dev_memory_kind kind, size_t bytes, dev_memory *out);
void cuda_release(dev *device, dev_memory *memory);
motet_status cuda_health_begin(cuda_device *device); /* its memory; the context is current */
dev_health cuda_health(dev *device);

/* kernels.c; the context is current. */
motet_status cuda_kernels_load(cuda_device *device);
/* Items that run at once, each with scratch of its own. */
int cuda_workers(const cuda_device *device);
motet_status cuda_kernel_launch(dev_stream *stream, const dev_launch *launch);
size_t cuda_trim(dev *device); /* scratch that no stream has; in any context */

/* queue.c */
motet_status cuda_stream_create(dev *device, dev_stream **out);
void cuda_stream_free(dev_stream *stream);
void cuda_stream_drop(dev_stream *stream);
motet_status cuda_stream_poll(dev_stream *stream);
motet_status cuda_event_create(dev *device, dev_event **out);
void cuda_event_free(dev_event *event);
motet_status cuda_event_record(dev_stream *stream, dev_event *event);
motet_status cuda_event_poll(dev_event *event);
motet_status cuda_stream_wait(dev_stream *stream, dev_event *event);
motet_status cuda_copy(dev_stream *stream, void *to, const void *from, size_t bytes);
motet_status cuda_copy_rows(dev_stream *stream, const dev_rows *rows);
motet_status cuda_fill(dev_stream *stream, void *to, unsigned char byte, size_t bytes);
motet_status cuda_launch(dev_stream *stream, const dev_launch *launch);
uint64_t cuda_progress(dev *device);
int64_t cuda_now(void); /* nanoseconds of the monotonic clock */
void cuda_nap(int64_t nanoseconds);
void cuda_doze(dev *device, uint64_t seen, int64_t nanoseconds);

#endif
