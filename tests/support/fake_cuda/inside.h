/* Inside the driver that has no GPU. One lock guards all of it; a thread of its own executes the
 * commands, one at a time, in an order that follows from the seed as far as streams and events
 * leave it open.
 *
 *     control.c  settings, faults, findings: what tests say and ask
 *     device.c   devices, contexts, the names of errors
 *     memory.c   device and page-locked memory
 *     queue.c    streams, events, copies, the thread that executes
 *     module.c   modules, functions, launches: kernels are those of the CPU, item by item
 *
 * The types and numbers are those of NVIDIA's driver API. */
#ifndef MOTET_TEST_FAKE_CUDA_INSIDE_H
#define MOTET_TEST_FAKE_CUDA_INSIDE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "fake_cuda.h"
#include "kern/kernel.h"

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUuuid {
    char bytes[16];
} CUuuid;
typedef struct CUDA_MEMCPY2D {
    size_t srcXInBytes, srcY;
    int srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    void *srcArray;
    size_t srcPitch, dstXInBytes, dstY;
    int dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    void *dstArray;
    size_t dstPitch, WidthInBytes, Height;
} CUDA_MEMCPY2D;

enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_INVALID_IMAGE = 200,
    CUDA_ERROR_INVALID_CONTEXT = 201,
    CUDA_ERROR_PEER_ACCESS_UNSUPPORTED = 217,
    CUDA_ERROR_INVALID_HANDLE = 400,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = 704,
    CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
};

enum { FAKE_DEVICES = 8, FAKE_DEPTH = 16, FAKE_FINDINGS = 16, FAKE_KERNELS = 64 };

/* A function of the driver: declared, exported, begun. */
#define FAKE_API(name, ...)                                                                        \
    __attribute__((visibility("default"))) CUresult name(__VA_ARGS__);                             \
    CUresult name(__VA_ARGS__)

#define FAKE_FUNCTIONS(X)                                                                          \
    X(cuInit)                                                                                      \
    X(cuDriverGetVersion)                                                                          \
    X(cuGetErrorName)                                                                              \
    X(cuDeviceGetCount)                                                                            \
    X(cuDeviceGet)                                                                                 \
    X(cuDeviceGetName)                                                                             \
    X(cuDeviceGetUuid_v2)                                                                          \
    X(cuDeviceGetAttribute)                                                                        \
    X(cuDeviceTotalMem_v2)                                                                         \
    X(cuDevicePrimaryCtxRetain)                                                                    \
    X(cuDevicePrimaryCtxRelease_v2)                                                                \
    X(cuCtxPushCurrent_v2)                                                                         \
    X(cuCtxPopCurrent_v2)                                                                          \
    X(cuMemGetInfo_v2)                                                                             \
    X(cuMemAlloc_v2)                                                                               \
    X(cuMemFree_v2)                                                                                \
    X(cuMemHostAlloc)                                                                              \
    X(cuMemFreeHost)                                                                               \
    X(cuStreamCreate)                                                                              \
    X(cuStreamDestroy_v2)                                                                          \
    X(cuStreamQuery)                                                                               \
    X(cuStreamWaitEvent)                                                                           \
    X(cuEventCreate)                                                                               \
    X(cuEventDestroy_v2)                                                                           \
    X(cuEventQuery)                                                                                \
    X(cuEventRecord)                                                                               \
    X(cuMemcpyAsync)                                                                               \
    X(cuMemcpy2DAsync_v2)                                                                          \
    X(cuMemsetD8Async)                                                                             \
    X(cuMemcpyDtoH_v2)                                                                             \
    X(cuModuleLoadData)                                                                            \
    X(cuModuleUnload)                                                                              \
    X(cuModuleGetFunction)                                                                         \
    X(cuModuleGetGlobal_v2)                                                                        \
    X(cuFuncGetAttribute)                                                                          \
    X(cuFuncSetAttribute)                                                                          \
    X(cuLaunchKernel)                                                                              \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor)                                                 \
    X(cuDeviceCanAccessPeer)                                                                       \
    X(cuCtxEnablePeerAccess)

#define X(name) FAKE_##name,
typedef enum fake_function { FAKE_FUNCTIONS(X) FAKE_FUNCTION_COUNT } fake_function;
#undef X

typedef struct fake_memory {
    struct fake_memory *next;
    CUcontext context;
    char *map, *data; /* guard pages, data and what is behind it up to a page, guard pages */
    size_t mapped, bytes;
    int host, portable, open;
} fake_memory;

struct CUfunc_st {
    struct CUfunc_st *next;
    CUmodule module;
    k_range_fn *range;
    size_t args_bytes;
    int is_health, shared_limit;
};

struct CUmod_st {
    struct CUmod_st *next;
    CUcontext context;
    CUfunction functions;
};

struct CUevent_st {
    struct CUevent_st *next;
    CUcontext context;
    int users; /* the handle and the commands that name it */
    int destroyed;
    uint64_t recorded, reached;
};

typedef struct fake_command fake_command;

struct CUstream_st {
    struct CUstream_st *next;
    CUcontext context;
    fake_command *first, *last;
    int blocking, hung, destroyed;
};

/* A device and its primary context, the only one that it has. */
struct CUctx_st {
    int ordinal, retained, wrong_health;
    uint64_t total, used, used_peak, taken;
    int64_t launches;
    int peer[FAKE_DEVICES]; /* whose memory its kernels may use */
    fake_memory *memory;
    CUstream streams, sync; /* sync: of calls that wait */
    CUevent events;
    CUmodule modules;
};

typedef struct fake_fault {
    int64_t nth, more; /* calls from now on */
    int result;
} fake_fault;

typedef struct fake_world {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int configured, initialised, executing, version, devices;
    int running, held, waiting; /* a command; what the thread executes; who waits for it */
    uint64_t random;
    CUresult broken; /* what every call answers since a kernel trapped */
    struct CUctx_st device[FAKE_DEVICES];
    int64_t calls[FAKE_FUNCTION_COUNT];
    fake_fault fault[FAKE_FUNCTION_COUNT];
    int64_t launches, copies, trap_at, hang_at, corrupt_at;
    int trap_result;
    int findings;
    char finding[FAKE_FINDINGS][200];
    struct {
        char name[64];
        size_t args_bytes;
        k_range_fn *range;
    } kernel[FAKE_KERNELS];
    int kernels;
} fake_world;

extern fake_world fake;

/* Every function of the driver begins and ends with these, and holds the lock in between. What it
 * needs: that cuInit was called, and a context that is current. */
enum { FAKE_NOTHING, FAKE_INIT, FAKE_CONTEXT };
CUresult fake_enter(fake_function function, int needs);
CUresult fake_leave(CUresult result);
CUcontext fake_current(void); /* of the calling thread; NULL: none */

void fake_find(const char *format, ...) __attribute__((format(printf, 1, 2)));
uint64_t fake_random(void);
int fake_stack_depth(void);
/* Forgets this thread's stack. */
void fake_stack_clear(void);

typedef enum fake_place { FAKE_PAGEABLE, FAKE_PINNED, FAKE_ON_DEVICE, FAKE_NOWHERE } fake_place;
/* Where a range lies: within one piece of memory, or in none (FAKE_NOWHERE: across an end). */
fake_place fake_where(const void *data, size_t bytes, fake_memory **out);
/* For commands of the context, or the piece alone where the context is NULL. */
void fake_memory_open(CUcontext context, fake_memory *one, int open);
void fake_memory_clear(CUcontext context);

/* Waits until nothing of the context runs. 0: something hangs, which is told as a finding of the
 * function that would wait. */
int fake_idle(CUcontext context, const char *function);
void fake_queue_clear(CUcontext context);
/* Adds a launch; the arguments are copied. */
typedef struct fake_launch {
    k_range_fn *range;
    int64_t items, workers, scratch_bytes;
    char *scratch;
    int is_health;
} fake_launch;
CUresult fake_enqueue_launch(CUstream stream, const fake_launch *launch, const void *args,
                             size_t args_bytes);
int fake_stream_valid(CUstream stream);

void fake_modules_clear(CUcontext context);

#endif
