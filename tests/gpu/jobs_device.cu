/* jobs.c with the ranges of every kernel of computed tomography run on a GPU: this file takes the
 * place of the kernels compiled for the CPU, under their names. Memory is managed, so that both sides
 * reach it. */
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "jobs.h"
#include "kern/define.h"

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const cudaError_t error_ = (call);                                                         \
        if (error_ != cudaSuccess) {                                                               \
            std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error_));                   \
            std::exit(2);                                                                          \
        }                                                                                          \
    } while (0)

static void *allocate(size_t bytes, void *user)
{
    void *block = nullptr;
    (void)user;
    return cudaMallocManaged(&block, bytes) == cudaSuccess ? block : nullptr;
}
static void release(void *block, size_t bytes, void *user)
{
    (void)bytes;
    (void)user;
    CHECK(cudaFree(block));
}
extern "C" const motet_allocator jobs_allocator = {allocate, release, nullptr};

enum { BLOCKS = 128, THREADS = 64, SCRATCH = 1 << 19 /* bytes of each thread, for any kernel here */ };

static std::mutex one; /* of the pool's threads at a time: they share the scratch */
static char *scratch_of_all()
{
    static char *scratch;
    if (!scratch) CHECK(cudaMalloc((void **)&scratch, (size_t)SCRATCH * BLOCKS * THREADS));
    return scratch;
}

#undef K_DEFINE
#undef K_DEFINE_FAST
#define K_DEFINE(name)                                                                             \
    static __global__ void name##_on_device(name##_args a, int64_t begin, int64_t end, char *own)  \
    {                                                                                              \
        const int64_t self = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;                       \
        for (int64_t i = begin + self; i < end; i += (int64_t)gridDim.x * blockDim.x)              \
            name##_item(&a, i, own + self * SCRATCH);                                              \
    }                                                                                              \
    extern "C" void name##_plain_base(const void *args, int64_t begin, int64_t end, void *)        \
    {                                                                                              \
        const std::lock_guard<std::mutex> guard(one);                                              \
        name##_on_device<<<BLOCKS, THREADS>>>(*(const name##_args *)args, begin, end,              \
                                              scratch_of_all());                                   \
        CHECK(cudaGetLastError());                                                                 \
        CHECK(cudaDeviceSynchronize());                                                            \
    }                                                                                              \
    SAME(name, plain_v3) SAME(name, plain_v4) SAME(name, fast_base) SAME(name, fast_v3)            \
    SAME(name, fast_v4)                                                                            \
    extern "C" {                                                                                   \
    extern const size_t name##_args_bytes_base;                                                    \
    const size_t name##_args_bytes_base = sizeof(name##_args);                                     \
    }
#define SAME(name, form)                                                                           \
    extern "C" void name##_##form(const void *args, int64_t begin, int64_t end, void *scratch)     \
    {                                                                                              \
        name##_plain_base(args, begin, end, scratch);                                              \
    }
#define K_DEFINE_FAST(name, range) K_DEFINE(name)

#include "ct/beam/beam_kernels.c"
#include "ct/ct_kernels.c"
#include "ct/fdk/fdk_kernels.c"
#include "ct/solve/solve_kernels.c"
