/* Opening the devices that the options name, and telling about them. */
#include "rt/devices.h"

#include <string.h>

#include "base/context.h"
#include "base/fail.h"
#include "base/mem.h"

static motet_status open_one(motet_context *c, const dev_table *table, int index)
{
    rt_devices *all = c->devices;
    rt_device *one = &all->set[all->count];
    TRY(table->open(c, index, &one->device));
    one->device->index = all->count++;
    TRY(one->device->table->info(one->device, &one->info));
    if (one->info.threads > 0) {
        one->baseline = mem_array(c, int64_t, one->info.threads);
        if (!one->baseline)
            return fail(c, MOTET_NO_MEMORY, "%s: no memory for its account", one->info.name);
    }
    if (one->device->table->health(one->device) != DEV_HEALTH_OK)
        return fail(c, MOTET_DEVICE_ERROR,
                    "%s computes wrongly: the health kernel gave other bits than expected",
                    one->info.name);
    return MOTET_OK;
}

motet_status rt_devices_open(motet_context *c, const char *names)
{
    if (names && strcmp(names, "cpu") != 0 && strcmp(names, "auto") != 0)
        return fail(c, MOTET_BAD_ARGUMENT, "devices is \"%s\", expected cpu or auto", names);
    c->devices = mem_new(c, rt_devices);
    if (!c->devices) return fail(c, MOTET_NO_MEMORY, "no memory for the device set");
    const motet_status st = open_one(c, &dev_cpu, 0);
    if (st != MOTET_OK) rt_devices_close(c);
    return st;
}

void rt_devices_close(motet_context *c)
{
    if (!c->devices) return;
    for (int i = 0; i < c->devices->count; i++) {
        rt_device *one = &c->devices->set[i];
        one->device->table->close(one->device);
        mem_free(c, one->baseline);
    }
    mem_free(c, c->devices);
    c->devices = NULL;
}

int motet_context_devices(const motet_context *c) { return c->devices->count; }

motet_status motet_context_device(const motet_context *context, int index, motet_device_info *out)
{
    motet_context *c = (motet_context *)(uintptr_t)context; /* for the error record */
    if (index < 0 || index >= c->devices->count)
        return fail(c, MOTET_BAD_ARGUMENT, "device %d: this context has %d", index,
                    c->devices->count);
    dev *device = c->devices->set[index].device;
    return device->table->info(device, out);
}
