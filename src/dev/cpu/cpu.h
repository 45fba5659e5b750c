/* The inside of the CPU device. cpu.c opens and describes it; queue.c runs its streams. */
#ifndef MOTET_DEV_CPU_CPU_H
#define MOTET_DEV_CPU_CPU_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>

#include "base/threads.h"
#include "dev/dev.h"

/* Scratch memory of every worker, shared by the launches that need no more than `bytes`. */
typedef struct cpu_scratch {
    int users;    /* launches in flight, and the device that keeps it for the next */
    size_t bytes; /* of one worker, a multiple of 64 */
    /* each worker's part follows, 64-byte aligned */
} cpu_scratch;

typedef struct cpu_count {
    alignas(64) atomic_int_fast64_t items; /* its own cache line: each worker counts for itself */
} cpu_count;

typedef struct cpu_device {
    dev base;
    thread_pool *pool;
    int threads, isa; /* `isa` indexes a kernel's functions */
    motet_isa isa_named;
    cpu_count *count; /* of each worker */

    pthread_mutex_t lock; /* guards all below, and streams and events; taken before the pool's */
    pthread_cond_t progressed;
    atomic_uint_fast64_t
        progress; /* changed with the lock held: events reached and streams run empty */
    int dozers;
    dev_stream *streams;
    cpu_scratch *scratch;          /* the largest so far */
    struct command *dead_commands; /* ended, not yet given back */
    dev_stream *dead_streams;
} cpu_device;

void cpu_sweep(cpu_device *device); /* gives back what has ended */
motet_status cpu_stream_create(dev *device, dev_stream **out);
void cpu_stream_free(dev_stream *stream);
void cpu_stream_drop(dev_stream *stream);
motet_status cpu_stream_poll(dev_stream *stream);
motet_status cpu_event_create(dev *device, dev_event **out);
void cpu_event_free(dev_event *event);
motet_status cpu_event_record(dev_stream *stream, dev_event *event);
motet_status cpu_event_poll(dev_event *event);
motet_status cpu_stream_wait(dev_stream *stream, dev_event *event);
motet_status cpu_copy(dev_stream *stream, void *to, const void *from, size_t bytes);
motet_status cpu_copy_rows(dev_stream *stream, const dev_rows *rows);
motet_status cpu_fill(dev_stream *stream, void *to, unsigned char byte, size_t bytes);
size_t cpu_trim(dev *device); /* frees idle scratch */
motet_status cpu_launch(dev_stream *stream, const dev_launch *launch);
uint64_t cpu_progress(dev *device);
void cpu_doze(dev *device, uint64_t seen, int64_t nanoseconds);

#endif
