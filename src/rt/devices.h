/* The devices of a context. */
#ifndef MOTET_RT_DEVICES_H
#define MOTET_RT_DEVICES_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/recovery.h"
#include "dev/dev.h"

enum { RT_DEVICES = 16 };

/* Memory that a device which hangs may touch still: released when it is closed. */
typedef struct rt_kept {
    struct rt_kept *next;
    dev_memory memory[2];
} rt_kept;

/* A lost device may come back (recover.h), and `device` is another one then. So whoever asks the
 * device for anything uses or holds it meanwhile; it is closed when nobody does. */
typedef struct rt_device {
    dev *device;
    const dev_table *table; /* its back end */
    int number;             /* there */
    int host_visible;
    int fallback;                 /* it computes only when no other device is left */
    motet_device_info info;       /* as it was when the device was first opened */
    atomic_int_fast64_t chunks;   /* done since the last reset of the report */
    atomic_int_fast64_t verified; /* computed once more, since then */
    int64_t *baseline; /* items of each thread at that reset; guarded by the context's lock */
    atomic_int_fast64_t uploaded, downloaded; /* bytes since then */
    atomic_int_fast64_t held, taken;          /* bytes of device memory, see rt/hold.h */
    atomic_int_fast64_t taken_most;           /* at once, since that reset */
    atomic_int lost; /* no run uses it any more. Set last: who sees it finds reason and cool-down */

    /* Guarded by the context's lock: */
    char reason[160]; /* of the last loss; stays when the device is back */
    int64_t losses, returns;
    recovery recovery;
    int users;  /* that use or hold it */
    int closed; /* and not open again */
    rt_kept *kept;
} rt_device;

typedef struct rt_devices {
    int count;
    rt_device set[RT_DEVICES];
    pthread_mutex_t planning;      /* one plan is made at a time; guards what follows */
    pthread_cond_t changed;        /* something was given */
    uint64_t given;                /* how often */
    struct rt_hold *waiting;       /* for memory, the longest first */
    int64_t runs_hold[RT_DEVICES]; /* bytes of device memory, part of `held` */
    int64_t promised, drawn;       /* bytes of the host that runs will allocate; have allocated */
} rt_devices;

/* Opens what the context's options name. On failure nothing stays open. */
motet_status rt_devices_open(motet_context *context, const char *names);
void rt_devices_close(motet_context *context);
/* Until rt_device_leave the device is not closed. NULL: it is lost. */
dev *rt_device_use(motet_context *context, rt_device *one);
/* The same for a lost one, to ask it something. NULL: it is not there now. */
dev *rt_device_hold(motet_context *context, rt_device *one);
void rt_device_leave(motet_context *context, rt_device *one);
/* From now on no run uses the device, until it is back. Who says so uses it. */
void rt_device_lose(motet_context *context, rt_device *one, const char *reason);
/* What a device said of itself, without its name before it: for texts that name it already. */
const char *rt_device_words(const rt_device *one, const char *message);
/* Why it was lost last; "" if it never was. */
void rt_device_reason(motet_context *context, const rt_device *one, char reason[160]);
/* Whether it computes known bits; `name` begins the message. DEVICE_ERROR: other ones; DEVICE_LOST:
 * none. */
motet_status rt_device_check(motet_context *context, dev *device, const char *name);
/* Bytes that the machine has free for what is on the host; 0: unknown. */
int64_t rt_host_free(motet_context *context);
/* 1: the context has devices with memory of their own, all are lost, and that is to end runs. */
int rt_devices_ended(const motet_context *context);
void rt_device_keep(motet_context *context, rt_device *one, rt_kept *kept);
/* Releases what was kept; the device is closed. */
void rt_device_release(motet_context *context, rt_device *one);

#endif
