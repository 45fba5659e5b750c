#include "dev/cuda/driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "dev/cuda/image.h"

enum { OLDEST = 12000 /* CUDA 12.0: what the functions used here need, and current images */ };

static int find_all(cuda_driver *d, void *library)
{
    const char *missing = NULL;
    /* A function pointer cannot be cast from an object pointer in C; POSIX lets it be copied. */
#define CUDA_FIND(name, arguments)                                                                 \
    do {                                                                                           \
        void *symbol = dlsym(library, #name);                                                      \
        if (!symbol && !missing) missing = #name;                                                  \
        memcpy(&d->name, &symbol, sizeof symbol);                                                  \
    } while (0);
    CUDA_FUNCTIONS(CUDA_FIND)
#undef CUDA_FIND
    if (missing)
        snprintf(d->absence, sizeof d->absence, "the NVIDIA driver here has no %s: it is too old",
                 missing);
    return !missing;
}

void cuda_driver_open(cuda_driver *d)
{
    char text[96];
    int version = 0;
    memset(d, 0, sizeof *d);
    if (!cuda_image_bytes) {
        snprintf(d->absence, sizeof d->absence,
                 "this build has no GPU kernels: it was made without nvcc");
        return;
    }
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *reason = dlerror(); /* not there, or broken as in many a container */
        snprintf(d->absence, sizeof d->absence,
                 "no NVIDIA driver: libcuda.so.1 cannot be loaded (%s)",
                 reason ? reason : "no reason is given");
        return;
    }
    if (!find_all(d, library)) return;
    CUresult result = d->cuInit(0);
    if (result == CUDA_SUCCESS) result = d->cuDriverGetVersion(&version);
    if (result == CUDA_SUCCESS && version < OLDEST) {
        snprintf(d->absence, sizeof d->absence,
                 "the NVIDIA driver here is for CUDA %d.%d, expected at least %d.%d",
                 version / 1000, version % 1000 / 10, OLDEST / 1000, OLDEST % 1000 / 10);
        return;
    }
    if (result == CUDA_SUCCESS) result = d->cuDeviceGetCount(&d->devices);
    if (result == CUDA_SUCCESS && d->devices > 0) return;
    d->devices = 0;
    if (result == CUDA_SUCCESS || result == CUDA_ERROR_NO_DEVICE)
        snprintf(d->absence, sizeof d->absence,
                 "the NVIDIA driver reports no GPU (CUDA_VISIBLE_DEVICES may hide them)");
    else
        snprintf(d->absence, sizeof d->absence, "the NVIDIA driver does not start: %s",
                 cuda_text(d, result, text));
}

motet_status cuda_status(CUresult result)
{
    switch (result) {
    case CUDA_SUCCESS: return MOTET_OK;
    case CUDA_ERROR_OUT_OF_MEMORY: return MOTET_NO_MEMORY;
    case CUDA_ERROR_NOT_READY: return MOTET_BUSY;
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
    case CUDA_ERROR_INVALID_CONTEXT:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_CONTAINED:
    case CUDA_ERROR_OPERATING_SYSTEM:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_UNKNOWN: return MOTET_DEVICE_LOST;
    default: return MOTET_DEVICE_ERROR;
    }
}

const char *cuda_text(const cuda_driver *d, CUresult result, char text[96])
{
    const char *name = NULL;
    if (!d->cuGetErrorName || d->cuGetErrorName(result, &name) != CUDA_SUCCESS || !name)
        name = "CUDA error";
    snprintf(text, 96, "%s (%d)", name, result);
    return text;
}
