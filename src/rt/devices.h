/* The devices of a context. */
#ifndef MOTET_RT_DEVICES_H
#define MOTET_RT_DEVICES_H

#include <stdatomic.h>

#include "dev/dev.h"

enum { RT_DEVICES = 16 };

/* Memory that a device which hangs may touch still: released when it is closed. */
typedef struct rt_kept {
    struct rt_kept *next;
    dev_memory memory[2];
} rt_kept;

typedef struct rt_device {
    dev *device;
    motet_device_info info;     /* as it was when the device was opened */
    atomic_int_fast64_t chunks; /* done since the last reset of the report */
    int64_t *baseline; /* items of each thread at that reset; guarded by the context's lock */
    atomic_int lost;   /* no run uses it any more */
    char reason[160];  /* of that; guarded, as `kept` is, by the context's lock */
    rt_kept *kept;
} rt_device;

typedef struct rt_devices {
    int count;
    rt_device set[RT_DEVICES];
} rt_devices;

/* Opens what the context's options name. On failure nothing stays open. */
motet_status rt_devices_open(motet_context *context, const char *names);
void rt_devices_close(motet_context *context);
/* From now on no run uses the device. */
void rt_device_lose(motet_context *context, rt_device *one, const char *reason);
void rt_device_keep(motet_context *context, rt_device *one, rt_kept *kept);

#endif
