/* Memory of a GPU, page-locked memory of the host, and whether the GPU computes rightly. */
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "dev/cuda/inside.h"
#include "kern/health.k.h"

static const int64_t health_patience = 10000000000; /* nanoseconds; the kernel takes microseconds */

motet_status cuda_alloc(dev *device, dev_memory_kind kind, size_t bytes, dev_memory *out)
{
    cuda_device *d = (cuda_device *)device;
    motet_context *c = device->context;
    void *data = NULL;
    if (kind == DEV_HOST) {
        data = mem_alloc(c, bytes);
        if (!data)
            return fail(c, MOTET_NO_MEMORY, "cuda:%d: no memory for %zu bytes", d->number, bytes);
    } else {
        const size_t asked = bytes ? bytes : 1;
        CUdeviceptr at = 0;
        TRY(cuda_enter(d));
        const CUresult result =
            kind == DEV_DEVICE ? d->driver->cuMemAlloc_v2(&at, asked)
                               : d->driver->cuMemHostAlloc(&data, asked, CU_MEMHOSTALLOC_PORTABLE);
        cuda_leave(d);
        if (result == CUDA_ERROR_OUT_OF_MEMORY)
            return fail_native(c, MOTET_NO_MEMORY, result, "cuda:%d: no %s memory for %zu bytes",
                               d->number, kind == DEV_DEVICE ? "device" : "page-locked host",
                               bytes);
        TRY(cuda_check(d, result, kind == DEV_DEVICE ? "cuMemAlloc" : "cuMemHostAlloc"));
        if (kind == DEV_DEVICE) data = (void *)(uintptr_t)at;
    }
    *out = (dev_memory){data, bytes, device->epoch, kind};
    return MOTET_OK;
}

/* Freeing waits for the GPU; on one that is lost, or was left with a command that hangs, it might
 * do so for ever. */
void cuda_release(dev *device, dev_memory *memory)
{
    cuda_device *d = (cuda_device *)device;
    const dev_memory m = *memory;
    *memory = (dev_memory){.data = NULL};
    if (!m.data) return;
    if (m.kind == DEV_HOST) {
        mem_free(device->context, m.data);
        return;
    }
    if ((atomic_load(&d->closed) && !d->quiet) || !cuda_enter_still(d)) return;
    if (m.kind == DEV_DEVICE)
        d->driver->cuMemFree_v2((CUdeviceptr)(uintptr_t)m.data);
    else
        d->driver->cuMemFreeHost(m.data);
    cuda_leave(d);
}

motet_status cuda_health_begin(cuda_device *d)
{
    const size_t bytes = K_HEALTH_ITEMS * sizeof(uint64_t);
    TRY(cuda_alloc(&d->base, DEV_DEVICE, bytes, &d->health_device));
    return cuda_alloc(&d->base, DEV_PINNED, bytes, &d->health_host);
}

static motet_status run_health(cuda_device *d)
{
    const size_t bytes = d->health_host.bytes;
    const k_health_args args = {d->health_device.data};
    const dev_launch launch = {.kernel = &K_k_health, .args = &args, .items = K_HEALTH_ITEMS};
    dev_stream own = {.device = d, .stream = d->own};
    memset(d->health_host.data, 0, bytes);
    TRY(cuda_kernel_launch(&own, &launch));
    TRY(CUDA(d, cuMemcpyAsync, (CUdeviceptr)(uintptr_t)d->health_host.data,
             (CUdeviceptr)(uintptr_t)d->health_device.data, bytes, d->own));
    const int64_t until = cuda_now() + health_patience;
    for (;;) {
        const motet_status st = CUDA(d, cuStreamQuery, d->own);
        if (st != MOTET_BUSY) return st;
        if (cuda_now() > until)
            return fail(d->base.context, MOTET_DEVICE_HUNG,
                        "cuda:%d: the health kernel does not end", d->number);
        cuda_nap(20000);
    }
}

dev_health cuda_health(dev *device)
{
    cuda_device *d = (cuda_device *)device;
    if (cuda_enter(d) != MOTET_OK) return DEV_HEALTH_GONE;
    const motet_status st = run_health(d);
    cuda_leave(d);
    if (st != MOTET_OK) return DEV_HEALTH_GONE;
    return k_health_digest(d->health_host.data) == K_HEALTH_EXPECTED ? DEV_HEALTH_OK
                                                                     : DEV_HEALTH_LOST;
}
