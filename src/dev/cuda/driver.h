/* The CUDA driver, found at run time.
 *
 * Declarations of our own, so that no CUDA header is needed to build and no CUDA library to start.
 * The names, numbers and layouts are those of the CUDA driver API (NVIDIA's documentation), whose
 * binary interface is kept from version to version: a function that was changed got a new name
 * (`_v2`), and the old ones stay. */
#ifndef MOTET_DEV_CUDA_DRIVER_H
#define MOTET_DEV_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#include <motet/context.h>

typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;

typedef struct CUuuid {
    unsigned char bytes[16];
} CUuuid;

typedef struct CUDA_MEMCPY2D {
    size_t srcXInBytes, srcY;
    int srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    void *srcArray;
    size_t srcPitch;
    size_t dstXInBytes, dstY;
    int dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    void *dstArray;
    size_t dstPitch;
    size_t WidthInBytes, Height;
} CUDA_MEMCPY2D;

enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_DEINITIALIZED = 4,
    CUDA_ERROR_DEVICE_UNAVAILABLE = 46,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_INVALID_CONTEXT = 201,
    CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
    CUDA_ERROR_ECC_UNCORRECTABLE = 214,
    CUDA_ERROR_NVLINK_UNCORRECTABLE = 220,
    CUDA_ERROR_CONTAINED = 226,
    CUDA_ERROR_OPERATING_SYSTEM = 304,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_ILLEGAL_ADDRESS = 700,
    CUDA_ERROR_LAUNCH_TIMEOUT = 702,
    CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = 704,
    CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
    CUDA_ERROR_ASSERT = 710,
    CUDA_ERROR_HARDWARE_STACK_ERROR = 714,
    CUDA_ERROR_ILLEGAL_INSTRUCTION = 715,
    CUDA_ERROR_MISALIGNED_ADDRESS = 716,
    CUDA_ERROR_INVALID_ADDRESS_SPACE = 717,
    CUDA_ERROR_INVALID_PC = 718,
    CUDA_ERROR_LAUNCH_FAILED = 719,
    CUDA_ERROR_UNKNOWN = 999
};

enum {
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
    CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
    CU_STREAM_NON_BLOCKING = 1,
    CU_EVENT_DISABLE_TIMING = 2,
    CU_MEMHOSTALLOC_PORTABLE = 1,
    CU_MEMORYTYPE_UNIFIED = 4
};

/* X(name, arguments): all that is used. */
#define CUDA_FUNCTIONS(X)                                                                          \
    X(cuInit, (unsigned flags))                                                                    \
    X(cuDriverGetVersion, (int *version))                                                          \
    X(cuGetErrorName, (CUresult error, const char **text))                                         \
    X(cuDeviceGetCount, (int *count))                                                              \
    X(cuDeviceGet, (CUdevice * device, int ordinal))                                               \
    X(cuDeviceGetName, (char *name, int length, CUdevice device))                                  \
    X(cuDeviceGetUuid_v2, (CUuuid * uuid, CUdevice device))                                        \
    X(cuDeviceGetAttribute, (int *value, int attribute, CUdevice device))                          \
    X(cuDeviceTotalMem_v2, (size_t * bytes, CUdevice device))                                      \
    X(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))                            \
    X(cuDevicePrimaryCtxRelease_v2, (CUdevice device))                                             \
    X(cuCtxPushCurrent_v2, (CUcontext context))                                                    \
    X(cuCtxPopCurrent_v2, (CUcontext * context))                                                   \
    X(cuMemGetInfo_v2, (size_t * available, size_t * total))                                       \
    X(cuMemAlloc_v2, (CUdeviceptr * data, size_t bytes))                                           \
    X(cuMemFree_v2, (CUdeviceptr data))                                                            \
    X(cuMemHostAlloc, (void **data, size_t bytes, unsigned flags))                                 \
    X(cuMemFreeHost, (void *data))                                                                 \
    X(cuStreamCreate, (CUstream * stream, unsigned flags))                                         \
    X(cuStreamDestroy_v2, (CUstream stream))                                                       \
    X(cuStreamQuery, (CUstream stream))                                                            \
    X(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags))                         \
    X(cuEventCreate, (CUevent * event, unsigned flags))                                            \
    X(cuEventDestroy_v2, (CUevent event))                                                          \
    X(cuEventQuery, (CUevent event))                                                               \
    X(cuEventRecord, (CUevent event, CUstream stream))                                             \
    X(cuMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))            \
    X(cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D *copy, CUstream stream))                            \
    X(cuMemsetD8Async, (CUdeviceptr to, unsigned char byte, size_t bytes, CUstream stream))        \
    X(cuMemcpyDtoH_v2, (void *to, CUdeviceptr from, size_t bytes))                                 \
    X(cuModuleLoadData, (CUmodule * module, const void *image))                                    \
    X(cuModuleUnload, (CUmodule module))                                                           \
    X(cuModuleGetFunction, (CUfunction * function, CUmodule module, const char *name))             \
    X(cuModuleGetGlobal_v2,                                                                        \
      (CUdeviceptr * data, size_t * bytes, CUmodule module, const char *name))                     \
    X(cuFuncGetAttribute, (int *value, int attribute, CUfunction function))                        \
    X(cuFuncSetAttribute, (CUfunction function, int attribute, int value))                         \
    X(cuLaunchKernel, (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,     \
                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,      \
                       CUstream stream, void **arguments, void **extra))                           \
    X(cuDeviceCanAccessPeer, (int *can, CUdevice device, CUdevice peer))                           \
    X(cuCtxEnablePeerAccess, (CUcontext peer, unsigned flags))

typedef struct cuda_driver {
#define CUDA_POINTER(name, arguments) CUresult(*name) arguments;
    CUDA_FUNCTIONS(CUDA_POINTER)
#undef CUDA_POINTER
    int devices;
    char absence[160]; /* why there are none; "" if there are some */
} cuda_driver;

/* Finds the driver, starts it and counts its devices; what is in the way is said in `absence`. The
 * driver library is never unloaded: it keeps threads of its own. */
void cuda_driver_open(cuda_driver *driver);

/* OUT_OF_MEMORY: NO_MEMORY; NOT_READY: BUSY; what ends a context for good: DEVICE_LOST; else
 * DEVICE_ERROR. */
motet_status cuda_status(CUresult result);
/* "CUDA_ERROR_LAUNCH_FAILED (719)" */
const char *cuda_text(const cuda_driver *driver, CUresult result, char text[96]);

#endif
