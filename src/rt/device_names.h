/* What a list of devices means: "cpu,cuda:0", "cuda/cpu", "auto,-cuda:1". */
#ifndef MOTET_RT_DEVICE_NAMES_H
#define MOTET_RT_DEVICE_NAMES_H

#include "rt/devices.h"

typedef struct rt_named {
    const dev_table *table;
    int number;          /* there */
    int fallback;        /* computes only when no other device is left */
    int optional;        /* nobody named it: when it does not open, others do */
    const char *options; /* in the list, behind an '@'; NULL: none */
    size_t options_length;
} rt_named;

/* At least one device, each once, in the order of the list. BAD_ARGUMENT: the message tells the
 * name, and what there is. `names` as motet_context_options.devices, not NULL. */
motet_status rt_device_names(motet_context *context, const char *names, rt_named out[RT_DEVICES],
                             int *count);

#endif
