/* How much of a GPU's memory is used, by whomever, as NVIDIA's management library tells.
 *
 * The driver itself tells only inside a context, which takes memory itself: half a gigabyte that a
 * budget should know of. The library comes with the driver; without it that part is not counted. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "dev/cuda/inside.h"

typedef struct nvml_memory {
    unsigned long long total, available, used;
} nvml_memory;

typedef struct management {
    int (*start)(void), (*stop)(void);
    int (*find)(const char *uuid, void **device);
    int (*memory)(void *device, nvml_memory *out);
} management;

static int find_all(void *library, management *m)
{
    const struct {
        const char *name;
        void *to;
    } all[] = {{"nvmlInit_v2", &m->start},
               {"nvmlShutdown", &m->stop},
               {"nvmlDeviceGetHandleByUUID", &m->find},
               {"nvmlDeviceGetMemoryInfo", &m->memory}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        void *symbol = dlsym(library, all[i].name);
        if (!symbol) return 0;
        memcpy(all[i].to, &symbol, sizeof symbol);
    }
    return 1;
}

int cuda_used(const char *uuid, uint64_t *bytes)
{
    management m;
    nvml_memory memory = {0, 0, 0};
    void *device = NULL;
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library || !find_all(library, &m) || m.start() != 0) return 0;
    const int told = !m.find(uuid, &device) && !m.memory(device, &memory);
    m.stop();
    *bytes = memory.used;
    return told;
}
