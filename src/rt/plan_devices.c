/* The context's devices, as the planner wants to know them. */
#include "base/context.h"
#include "rt/plan.h"
#include "rt/plan_inside.h"

static int64_t whole(uint64_t bytes) { return bytes < INT64_MAX ? (int64_t)bytes : INT64_MAX; }

void rt_plan_device_now(motet_context *c, int index, rt_plan_device *out)
{
    rt_device *one = &c->devices->set[index];
    motet_device_info info;
    if (out->host_visible) return; /* its memory is the host's, which has a bound of its own */
    out->free = RT_UNKNOWN;
    out->reserved = plan_add(atomic_load(&one->held), whole(one->info.memory_context));
    dev *device = rt_device_use(c, one);
    if (!device) return;
    if (one->table->info(device, &info) == MOTET_OK)
        out->free = plan_add(plan_add(whole(info.memory_free), atomic_load(&one->taken)),
                             whole(one->info.memory_context));
    rt_device_leave(c, one);
}

int rt_plan_devices(motet_context *c, rt_plan_device out[RT_DEVICES])
{
    for (int i = 0; i < c->devices->count; i++) {
        const rt_device *one = &c->devices->set[i];
        out[i] = (rt_plan_device){.name = one->info.name,
                                  .host_visible = one->host_visible,
                                  .place = 1 + i,
                                  .workers = one->info.workers,
                                  .free = whole(one->info.memory_free)};
        if (out[i].host_visible) continue;
        out[i].budget = whole(c->options.memory);
        rt_plan_device_now(c, i, &out[i]);
    }
    return c->devices->count;
}
