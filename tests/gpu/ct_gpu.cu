/* P1 on a GPU for the kernels of computed tomography: the same launch on the GPU and, item by item,
 * on the host; every output's bits compared. Stand-alone like exact_gpu.cu.
 *
 *     ct_gpu      one line for each kernel and case, then "N passed, M failed" */
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "kern/define.h"

#include "ct/backproject.k.h"
#include "ct/filter.k.h"
#include "ct/normalise.k.h"
#include "ct/project.k.h"

K_DEFINE(ct_project)
K_DEFINE(ct_backproject)
K_DEFINE(ct_normalise)
K_DEFINE(ct_filter)

#include "ct/geometry_view.c"

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const cudaError_t error_ = (call);                                                         \
        if (error_ != cudaSuccess) {                                                               \
            std::printf("%s: %s\n", #call, cudaGetErrorString(error_));                            \
            std::exit(2);                                                                          \
        }                                                                                          \
    } while (0)

static int passed, failed;

/* Uniform in [low, high), any number of them, the same everywhere. */
static std::vector<float> noise(size_t count, float low, float high, uint64_t seed)
{
    std::vector<float> values(count);
    for (size_t i = 0; i < count; i++) {
        uint64_t z = (i + seed * 0x1000003u) * 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        values[i] = low + (high - low) * (float)((z ^ (z >> 31)) >> 40) * 0x1p-24f;
    }
    return values;
}

/* Host memory and its twin on the device. */
template <typename T> struct twin {
    std::vector<T> host;
    T *device = nullptr;
    explicit twin(std::vector<T> values) : host(std::move(values))
    {
        CHECK(cudaMalloc((void **)&device, host.size() * sizeof(T)));
        CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    ~twin() { cudaFree(device); }
    void compare(const char *kernel, const char *what)
    {
        std::vector<T> back(host.size());
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaMemcpy(back.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost));
        size_t wrong = 0, nonzero = 0;
        for (size_t i = 0; i < host.size(); i++) {
            wrong += std::memcmp(&back[i], &host[i], sizeof(T)) != 0;
            nonzero += host[i] != T(0);
        }
        std::printf("%-16s %-36s %zu of %zu values differ, %zu are not zero\n", kernel, what, wrong,
                    host.size(), nonzero);
        if (wrong || !nonzero) failed++;
        else passed++;
    }
};

template <typename A, typename F>
static void on_host(const A &args, int64_t items, size_t scratch, F item)
{
    const unsigned workers = std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < workers; t++)
        threads.emplace_back([=, &args] {
            std::vector<float> own(scratch / sizeof(float) + 16);
            for (int64_t i = items * t / workers; i < items * (t + 1) / workers; i++)
                item(&args, i, own.data());
        });
    for (auto &thread : threads) thread.join();
}

template <typename A>
static void on_device(void (*entry)(A, int64_t, char *, int64_t), const A &args, int64_t items,
                      size_t scratch)
{
    const unsigned blocks = 512, threads = 64;
    char *own = nullptr;
    if (scratch) CHECK(cudaMalloc((void **)&own, scratch * blocks * threads));
    entry<<<blocks, threads>>>(args, items, own, (int64_t)scratch);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    if (own) CHECK(cudaFree(own));
}

struct scan {
    const char *name;
    int64_t views, columns, rows, nx, ny;
    double voxel, centre;
};

static std::vector<ct_view> views_of(const scan &s)
{
    std::vector<ct_view> views;
    for (int64_t k = 0; k < s.views; k++) { /* multiples of 45 degrees among them */
        const double turn = 2.0 * (double)k / (double)s.views;
        views.push_back(ct_view_of(k_cospi(turn), k_sinpi(turn), 1.0, s.voxel));
    }
    return views;
}

static ct_grid grid_of(const scan &s)
{
    ct_grid grid;
    grid.nx = s.nx;
    grid.ny = s.ny;
    grid.columns = s.columns;
    grid.middle_x = (double)(s.nx - 1) / 2;
    grid.middle_y = (double)(s.ny - 1) / 2;
    grid.centre = s.centre;
    return grid;
}

static void project(const scan &s, const twin<ct_view> &views)
{
    twin<float> volume(noise((size_t)(s.rows * s.ny * s.nx), -1.0f, 1.0f, 1));
    twin<float> sinogram(std::vector<float>((size_t)(s.views * s.columns * s.rows), -7.0f));
    ct_project_args a;
    std::memset(&a, 0, sizeof a);
    a.grid = grid_of(s);
    a.view = views.host.data();
    a.views = s.views;
    a.volume = volume.host.data();
    a.slice_stride = s.ny * s.nx;
    a.line_stride = s.nx;
    a.sinogram = sinogram.host.data();
    a.view_stride = s.columns * s.rows;
    a.column_stride = s.rows;
    a.rows = s.rows;
    on_host(a, ct_project_items(&a), 0,
            [](const ct_project_args *p, int64_t i, void *own) { ct_project_item(p, i, own); });
    const int64_t items = ct_project_items(&a);
    a.view = views.device;
    a.volume = volume.device;
    a.sinogram = sinogram.device;
    on_device(ct_project_entry, a, items, 0);
    sinogram.compare("ct_project", s.name);
}

static void backproject(const scan &s, const twin<ct_view> &views)
{
    twin<float> sinogram(noise((size_t)(s.views * s.columns * s.rows), -1.0f, 1.0f, 2));
    twin<float> volume(std::vector<float>((size_t)(s.rows * s.ny * s.nx), -7.0f));
    ct_backproject_args a;
    std::memset(&a, 0, sizeof a);
    a.grid = grid_of(s);
    a.view = views.host.data();
    a.views = s.views;
    a.sinogram = sinogram.host.data();
    a.view_stride = s.columns * s.rows;
    a.column_stride = s.rows;
    a.volume = volume.host.data();
    a.slice_stride = s.ny * s.nx;
    a.line_stride = s.nx;
    a.rows = s.rows;
    a.lines = s.ny;
    const int64_t items = ct_backproject_items(&a);
    on_host(a, items, 0, [](const ct_backproject_args *p, int64_t i, void *own) {
        ct_backproject_item(p, i, own);
    });
    a.view = views.device;
    a.sinogram = sinogram.device;
    a.volume = volume.device;
    on_device(ct_backproject_entry, a, items, 0);
    volume.compare("ct_backproject", s.name);
}

static void filter(const scan &s)
{
    int32_t bits = 1;
    while (((int64_t)2 << bits) < 2 * s.columns - 1) bits++;
    const int64_t half = (int64_t)1 << bits;
    std::vector<float> table = noise((size_t)(half + 1), 0.0f, 1.0f, 3);
    for (int64_t j = 0; j < 2 * half; j++) { /* the turns of a transform of 2 half values */
        table.push_back((float)k_cospi((double)j / (double)half));
        table.push_back((float)-k_sinpi((double)j / (double)half));
    }
    twin<float> response(table);
    twin<float> from(noise((size_t)(s.views * s.columns * s.rows), -1.0f, 1.0f, 4));
    twin<float> to(std::vector<float>(from.host.size(), -7.0f));
    ct_filter_args a;
    std::memset(&a, 0, sizeof a);
    a.from = from.host.data();
    a.to = to.host.data();
    a.from_view_stride = a.to_view_stride = s.columns * s.rows;
    a.from_column_stride = a.to_column_stride = s.rows;
    a.response = response.host.data();
    a.columns = s.columns;
    a.rows = s.rows;
    a.bits = bits;
    const int64_t items = s.views * s.rows;
    const size_t scratch = ct_filter_scratch(bits, 1);
    on_host(a, items, scratch,
            [](const ct_filter_args *p, int64_t i, void *own) { ct_filter_item(p, i, own); });
    a.from = from.device;
    a.to = to.device;
    a.response = response.device;
    on_device(ct_filter_entry, a, items, scratch);
    to.compare("ct_filter", s.name);
}

static void normalise(const scan &s)
{
    const size_t pixels = (size_t)(s.rows * s.columns);
    std::vector<double> counts, dark(pixels, 90.0), open(pixels, 20000.0);
    for (float value : noise(pixels * (size_t)s.views, 0.0f, 20000.0f, 5)) counts.push_back(value);
    counts[3] = 0.0 / 0.0 * counts[3]; /* broken */
    std::vector<int32_t> near;
    for (int64_t i = 0; i < (int64_t)pixels; i++) {
        const int32_t u = (int32_t)(i % s.columns);
        near.push_back(u == 5 ? 4 : u);
        near.push_back(u == 5 ? 6 : u);
    }
    twin<double> raw(counts), darks(dark), opens(open);
    twin<int32_t> live(near);
    twin<float> sinogram(std::vector<float>(counts.size(), -7.0f));
    twin<int64_t> counters(
        std::vector<int64_t>((size_t)(s.views * CT_NORMALISE_COUNTERS), (int64_t)-7));
    ct_normalise_args a;
    std::memset(&a, 0, sizeof a);
    a.raw = raw.host.data();
    a.frame = s.rows * s.columns;
    a.stride_v = s.columns;
    a.stride_u = 1;
    a.dark = darks.host.data();
    a.open = opens.host.data();
    a.live = live.host.data();
    a.columns = s.columns;
    a.rows = s.rows;
    a.sinogram = sinogram.host.data();
    a.counters = counters.host.data();
    on_host(a, s.views, 0,
            [](const ct_normalise_args *p, int64_t i, void *own) { ct_normalise_item(p, i, own); });
    a.raw = raw.device;
    a.dark = darks.device;
    a.open = opens.device;
    a.live = live.device;
    a.sinogram = sinogram.device;
    a.counters = counters.device;
    on_device(ct_normalise_entry, a, s.views, 0);
    sinogram.compare("ct_normalise", s.name);
    counters.compare("ct_normalise", "counters");
}

int main()
{
    const scan scans[] = {
        {"181 views, 640 columns, 2 rows", 181, 640, 2, 640, 640, 1.0, 296.25},
        {"360 views, 256 columns, 64 rows", 360, 256, 64, 256, 256, 1.0, 127.5},
        {"64 views, 301 columns, 33 rows, fine", 64, 301, 33, 407, 211, 0.37, 150.0},
        {"64 views, 77 columns, 5 rows, coarse", 64, 77, 5, 40, 51, 2.6, 31.7},
    };
    for (const scan &s : scans) {
        const twin<ct_view> views(views_of(s));
        project(s, views);
        backproject(s, views);
        filter(s);
        normalise(s);
    }
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed ? 6 : 0;
}
