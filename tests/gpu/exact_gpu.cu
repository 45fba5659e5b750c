/* P1 on a GPU: evaluates every function of tests/golden/exact_list.h on the same items on the GPU and on the host, and
 * counts the bits that differ. Stand-alone: nvcc and the headers of src/kern are all it needs (see run.sh).
 *
 *     exact_gpu [items for each function]      one line each, then "N passed, M failed" */
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "golden/exact_eval.h"

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const cudaError_t error_ = (call);                                                         \
        if (error_ != cudaSuccess) {                                                               \
            std::printf("%s: %s\n", #call, cudaGetErrorString(error_));                            \
            return 2;                                                                              \
        }                                                                                          \
    } while (0)

#define X(name, kind, result)                                                                      \
    __global__ void gpu_##name(uint64_t *out, int64_t items)                                       \
    {                                                                                              \
        const int64_t step = (int64_t)gridDim.x * blockDim.x;                                      \
        for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < items; i += step)     \
            out[i] = eval_item_##name((uint64_t)i);                                                \
    }                                                                                              \
    static void cpu_##name(uint64_t *out, int64_t begin, int64_t end)                              \
    {                                                                                              \
        for (int64_t i = begin; i < end; i++) out[i] = eval_item_##name((uint64_t)i);              \
    }
#include "golden/exact_list.h"
#undef X

static const struct {
    const char *name;
    void (*gpu)(uint64_t *, int64_t);
    void (*cpu)(uint64_t *, int64_t, int64_t);
} functions[] = {
#define X(name, kind, result) {#name, gpu_##name, cpu_##name},
#include "golden/exact_list.h"
#undef X
};

int main(int count, char **words)
{
    const int64_t items = count > 1 ? std::atoll(words[1]) : 8 << 20;
    if (items < 1) {
        std::printf("items is %s, expected at least 1\n", words[1]);
        return 1;
    }
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    unsigned workers = std::thread::hardware_concurrency();
    if (workers < 1) workers = 1;
    std::printf("%s, compute capability %d.%d; %lld items a function, %u host threads\n", device.name,
                device.major, device.minor, (long long)items, workers);

    uint64_t *on_device;
    CHECK(cudaMalloc((void **)&on_device, (size_t)items * 8));
    std::vector<uint64_t> gpu((size_t)items), cpu((size_t)items);
    int passed = 0, failed = 0;
    for (const auto &f : functions) {
        CHECK(cudaMemset(on_device, 0xff, (size_t)items * 8));
        f.gpu<<<4096, 128>>>(on_device, items);
        CHECK(cudaGetLastError());

        std::vector<std::thread> threads;
        for (unsigned t = 0; t < workers; t++)
            threads.emplace_back(f.cpu, cpu.data(), items * t / workers, items * (t + 1) / workers);
        for (auto &thread : threads) thread.join();
        CHECK(cudaMemcpy(gpu.data(), on_device, (size_t)items * 8, cudaMemcpyDeviceToHost));

        int64_t wrong = 0, bits = 0, first = -1;
        for (int64_t i = 0; i < items; i++) {
            const uint64_t difference = gpu[(size_t)i] ^ cpu[(size_t)i];
            if (!difference) continue;
            if (first < 0) first = i;
            wrong++;
            bits += __builtin_popcountll(difference);
        }
        std::printf("%-14s %lld items, %lld bits differ", f.name, (long long)wrong, (long long)bits);
        if (first >= 0)
            std::printf("; first item %lld: gpu %016llx, cpu %016llx", (long long)first,
                        (unsigned long long)gpu[(size_t)first], (unsigned long long)cpu[(size_t)first]);
        std::printf("\n");
        if (wrong) failed++;
        else passed++;
    }
    CHECK(cudaFree(on_device));
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed ? 6 : 0;
}
