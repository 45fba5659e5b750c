/* Devices, contexts and each thread's stack of them, the names of errors. */
#include <stdio.h>
#include <string.h>

#include "inside.h"

static _Thread_local struct {
    CUcontext at[FAKE_DEPTH];
    int depth;
} stack;

CUcontext fake_current(void) { return stack.depth ? stack.at[stack.depth - 1] : NULL; }
int fake_stack_depth(void) { return stack.depth; }
void fake_stack_clear(void) { stack.depth = 0; }

FAKE_API(cuInit, unsigned flags)
{
    CUresult r = fake_enter(FAKE_cuInit, FAKE_NOTHING);
    if (r == CUDA_SUCCESS && flags) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && !fake.devices) r = CUDA_ERROR_NO_DEVICE;
    if (r == CUDA_SUCCESS) fake.initialised = 1;
    return fake_leave(r);
}

FAKE_API(cuDriverGetVersion, int *version)
{
    const CUresult r = fake_enter(FAKE_cuDriverGetVersion, FAKE_NOTHING);
    if (r == CUDA_SUCCESS) *version = fake.version;
    return fake_leave(r);
}

static const struct {
    CUresult result;
    const char *name;
} errors[] = {{0, "CUDA_SUCCESS"},
              {1, "CUDA_ERROR_INVALID_VALUE"},
              {2, "CUDA_ERROR_OUT_OF_MEMORY"},
              {3, "CUDA_ERROR_NOT_INITIALIZED"},
              {4, "CUDA_ERROR_DEINITIALIZED"},
              {46, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
              {100, "CUDA_ERROR_NO_DEVICE"},
              {101, "CUDA_ERROR_INVALID_DEVICE"},
              {200, "CUDA_ERROR_INVALID_IMAGE"},
              {201, "CUDA_ERROR_INVALID_CONTEXT"},
              {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
              {214, "CUDA_ERROR_ECC_UNCORRECTABLE"},
              {217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED"},
              {220, "CUDA_ERROR_NVLINK_UNCORRECTABLE"},
              {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
              {304, "CUDA_ERROR_OPERATING_SYSTEM"},
              {400, "CUDA_ERROR_INVALID_HANDLE"},
              {500, "CUDA_ERROR_NOT_FOUND"},
              {600, "CUDA_ERROR_NOT_READY"},
              {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
              {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
              {702, "CUDA_ERROR_LAUNCH_TIMEOUT"},
              {704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED"},
              {709, "CUDA_ERROR_CONTEXT_IS_DESTROYED"},
              {710, "CUDA_ERROR_ASSERT"},
              {714, "CUDA_ERROR_HARDWARE_STACK_ERROR"},
              {715, "CUDA_ERROR_ILLEGAL_INSTRUCTION"},
              {716, "CUDA_ERROR_MISALIGNED_ADDRESS"},
              {717, "CUDA_ERROR_INVALID_ADDRESS_SPACE"},
              {718, "CUDA_ERROR_INVALID_PC"},
              {719, "CUDA_ERROR_LAUNCH_FAILED"},
              {802, "CUDA_ERROR_SYSTEM_NOT_READY"},
              {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
              {999, "CUDA_ERROR_UNKNOWN"}};

FAKE_API(cuGetErrorName, CUresult error, const char **name)
{
    CUresult r = fake_enter(FAKE_cuGetErrorName, FAKE_NOTHING);
    if (r != CUDA_SUCCESS) return fake_leave(r);
    *name = NULL;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].result == error) *name = errors[i].name;
    return fake_leave(*name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

static CUresult enter_device(fake_function function, CUdevice device)
{
    const CUresult r = fake_enter(function, FAKE_INIT);
    if (r != CUDA_SUCCESS) return r;
    return device < 0 || device >= fake.devices ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

FAKE_API(cuDeviceGetCount, int *count)
{
    const CUresult r = fake_enter(FAKE_cuDeviceGetCount, FAKE_INIT);
    if (r == CUDA_SUCCESS) *count = fake.devices;
    return fake_leave(r);
}

FAKE_API(cuDeviceGet, CUdevice *device, int ordinal)
{
    const CUresult r = enter_device(FAKE_cuDeviceGet, ordinal);
    if (r == CUDA_SUCCESS) *device = ordinal;
    return fake_leave(r);
}

FAKE_API(cuDeviceGetName, char *name, int room, CUdevice device)
{
    const CUresult r = enter_device(FAKE_cuDeviceGetName, device);
    if (r == CUDA_SUCCESS && room > 0) snprintf(name, (size_t)room, "Fake GPU %d", device);
    return fake_leave(r);
}

FAKE_API(cuDeviceGetUuid_v2, CUuuid *uuid, CUdevice device)
{
    const CUresult r = enter_device(FAKE_cuDeviceGetUuid_v2, device);
    if (r == CUDA_SUCCESS)
        for (int i = 0; i < 16; i++) uuid->bytes[i] = (char)(0xa0 + 17 * i + device);
    return fake_leave(r);
}

/* By CUdevice_attribute. */
static const struct {
    int attribute, value;
} attributes[] = {{1, 1024} /* threads of a block */,
                  {2, 1024},
                  {5, 2147483647} /* blocks of a grid */,
                  {6, 65535},
                  {7, 65535},
                  {8, 49152} /* shared memory of a block */,
                  {10, 32} /* threads of a warp */,
                  {11, 2147483647} /* pitch */,
                  {13, 1000000} /* clock, kHz */,
                  {16, 4} /* multiprocessors */,
                  {17, 0} /* limit of time */,
                  {18, 0} /* integrated */,
                  {19, 1} /* maps host memory */,
                  {20, 0} /* compute mode */,
                  {31, 1} /* concurrent kernels */,
                  {32, 1} /* ECC */,
                  {33, 1} /* PCI bus */,
                  {34, 0},
                  {36, 1000000} /* memory clock, kHz */,
                  {37, 512} /* width of its bus */,
                  {38, 1 << 20} /* L2 */,
                  {39, 2048} /* threads of a multiprocessor */,
                  {40, 3} /* engines for copies */,
                  {41, 1} /* unified addressing */,
                  {50, 0},
                  {75, 9} /* compute capability */,
                  {76, 0},
                  {81, 233472} /* shared memory of a multiprocessor */,
                  {82, 65536} /* its registers */,
                  {97, 232448} /* shared memory of a block that asks */};

FAKE_API(cuDeviceGetAttribute, int *value, int attribute, CUdevice device)
{
    CUresult r = enter_device(FAKE_cuDeviceGetAttribute, device);
    if (r == CUDA_SUCCESS) {
        r = CUDA_ERROR_INVALID_VALUE;
        for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
            if (attributes[i].attribute == attribute) {
                *value = attributes[i].value;
                r = CUDA_SUCCESS;
            }
    }
    return fake_leave(r);
}

FAKE_API(cuDeviceTotalMem_v2, size_t *bytes, CUdevice device)
{
    const CUresult r = enter_device(FAKE_cuDeviceTotalMem_v2, device);
    if (r == CUDA_SUCCESS) *bytes = fake.device[device].total;
    return fake_leave(r);
}

FAKE_API(cuDevicePrimaryCtxRetain, CUcontext *context, CUdevice device)
{
    const CUresult r = enter_device(FAKE_cuDevicePrimaryCtxRetain, device);
    if (r == CUDA_SUCCESS) {
        *context = &fake.device[device];
        (*context)->retained++;
    }
    return fake_leave(r);
}

/* The last release destroys all that the context has. */
FAKE_API(cuDevicePrimaryCtxRelease_v2, CUdevice device)
{
    CUresult r = enter_device(FAKE_cuDevicePrimaryCtxRelease_v2, device);
    CUcontext c = r == CUDA_SUCCESS ? &fake.device[device] : NULL;
    if (c && !c->retained) r = CUDA_ERROR_INVALID_CONTEXT;
    if (c && c->retained == 1) {
        if (!fake_idle(c, "cuDevicePrimaryCtxRelease")) return fake_leave(r);
        fake_queue_clear(c);
        fake_modules_clear(c);
        fake_memory_clear(c);
        memset(c->peer, 0, sizeof c->peer);
    }
    if (c && c->retained) c->retained--;
    return fake_leave(r);
}

static int is_context(CUcontext c)
{
    for (int i = 0; i < fake.devices; i++)
        if (c == &fake.device[i]) return 1;
    return 0;
}

FAKE_API(cuCtxPushCurrent_v2, CUcontext context)
{
    CUresult r = fake_enter(FAKE_cuCtxPushCurrent_v2, FAKE_INIT);
    if (r == CUDA_SUCCESS && (!is_context(context) || !context->retained))
        r = CUDA_ERROR_INVALID_CONTEXT;
    if (r == CUDA_SUCCESS && stack.depth == FAKE_DEPTH) {
        fake_find("cuCtxPushCurrent: more than %d contexts on one thread's stack", FAKE_DEPTH);
        r = CUDA_ERROR_INVALID_VALUE;
    }
    if (r == CUDA_SUCCESS) stack.at[stack.depth++] = context;
    return fake_leave(r);
}

FAKE_API(cuCtxPopCurrent_v2, CUcontext *context)
{
    CUresult r = fake_enter(FAKE_cuCtxPopCurrent_v2, FAKE_INIT);
    if (r == CUDA_SUCCESS && !stack.depth) r = CUDA_ERROR_INVALID_CONTEXT;
    if (r == CUDA_SUCCESS) {
        stack.depth--;
        if (context) *context = stack.at[stack.depth];
    }
    return fake_leave(r);
}

FAKE_API(cuDeviceCanAccessPeer, int *can, CUdevice device, CUdevice peer)
{
    CUresult r = enter_device(FAKE_cuDeviceCanAccessPeer, device);
    if (r == CUDA_SUCCESS && (peer < 0 || peer >= fake.devices)) r = CUDA_ERROR_INVALID_DEVICE;
    if (r == CUDA_SUCCESS) *can = device != peer;
    return fake_leave(r);
}

FAKE_API(cuCtxEnablePeerAccess, CUcontext peer, unsigned flags)
{
    CUresult r = fake_enter(FAKE_cuCtxEnablePeerAccess, FAKE_CONTEXT);
    CUcontext c = fake_current();
    if (r == CUDA_SUCCESS) {
        if (flags)
            r = CUDA_ERROR_INVALID_VALUE;
        else if (!is_context(peer) || !peer->retained || peer == c)
            r = CUDA_ERROR_INVALID_CONTEXT;
        else if (c->peer[peer->ordinal])
            r = CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
        else
            c->peer[peer->ordinal] = 1;
    }
    return fake_leave(r);
}
