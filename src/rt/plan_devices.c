/* The context's devices, as the planner wants to know them. */
#include "base/context.h"
#include "rt/plan.h"

int rt_plan_devices(const motet_context *c, rt_plan_device out[RT_DEVICES])
{
    for (int i = 0; i < c->devices->count; i++) {
        const rt_device *one = &c->devices->set[i];
        const uint64_t bytes = one->info.memory_free, most = c->options.memory;
        out[i] = (rt_plan_device){.name = one->info.name,
                                  .host_visible = one->host_visible,
                                  .workers = one->info.threads,
                                  .free = bytes < INT64_MAX ? (int64_t)bytes : INT64_MAX};
        if (!one->host_visible) out[i].budget = most < INT64_MAX ? (int64_t)most : INT64_MAX;
    }
    return c->devices->count;
}
