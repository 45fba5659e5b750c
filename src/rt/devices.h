/* The devices of a context. */
#ifndef MOTET_RT_DEVICES_H
#define MOTET_RT_DEVICES_H

#include <stdatomic.h>

#include "dev/dev.h"

enum { RT_DEVICES = 16 };

typedef struct rt_device {
    dev *device;
    motet_device_info info;     /* as it was when the device was opened */
    atomic_int_fast64_t chunks; /* done since the last reset of the report */
    int64_t *baseline;          /* items of each thread at that reset; guarded by the context's lock */
} rt_device;

typedef struct rt_devices {
    int count;
    rt_device set[RT_DEVICES];
} rt_devices;

/* Opens what the context's options name. On failure nothing stays open. */
motet_status rt_devices_open(motet_context *context, const char *names);
void rt_devices_close(motet_context *context);

#endif
