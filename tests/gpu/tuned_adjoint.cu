/* The tuned CUDA form of column back-projection against the item function, on the GPU and on the
 * host, bit for bit; then its time. Stand-alone like exact_gpu.cu.
 *
 *     tuned_adjoint [voxels] [views]     cases, a table of times, then "N passed, M failed" */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "kern/define.h"

#include "ct/beam/columns_backproject.k.h"
#include "ct/beam/columns_backproject_cuda.h"

K_DEFINE(ct_columns_backproject)

extern "C" __global__ void __launch_bounds__(CT_BLOCK_THREADS, 1)
    tuned_blocks(const __grid_constant__ ct_columns_backproject_args a)
{
    extern __shared__ float4 shared[];
    ct_columns_backproject_block(&a, (int64_t)blockIdx.x * CT_COLUMNS_TILE, CT_COLUMNS_TILE,
                                 shared);
}

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const cudaError_t error_ = (call);                                                         \
        if (error_ != cudaSuccess) {                                                               \
            std::printf("%s: %s\n", #call, cudaGetErrorString(error_));                            \
            std::exit(2);                                                                          \
        }                                                                                          \
    } while (0)

static uint64_t state = 1;
static double draw(double low, double high)
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return low + (high - low) * (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}
static int64_t pick(int64_t low, int64_t high)
{
    return low + (int64_t)draw(0, (double)(high - low) + 0.999999);
}

/* The pose of beam.c: voxels are 1, v runs along w, which is axis 2 upwards or downwards. */
static ct_pose pose_of(const ct_space &p, const double source[3], const double detector[3],
                       const double u[3], double v, bool cone)
{
    ct_pose q;
    double along[3], before = 0, after = 0;
    const double normal[] = {u[1] * v, -u[0] * v, 0};
    double depth = 0, from = 0, to = 0, most = 0;
    for (int i = 0; i < 3; i++) {
        const double middle = 0.5 * (double)p.n[i];
        along[i] = cone ? detector[i] - source[i] : source[i];
        most = k_max(most, k_abs(along[i]));
        from += (cone ? middle - source[i] : 0) * normal[i];
        to += (detector[i] - middle) * normal[i];
    }
    for (int i = 0; i < 3 && !cone; i++) along[i] /= most;
    for (int i = 0; i < 3; i++) depth += along[i] * normal[i];
    bool near_source = false;
    if (cone) {
        before = k_min(k_max(from / depth, 0.0), 1.0);
        after = k_min(k_max(to / depth, 0.0), 1.0);
        near_source = before < after;
        if (near_source)
            after = 1.0 - before;
        else
            before = 1.0 - after;
    } else
        after = to / depth;
    for (int i = 0; i < 3; i++) {
        const double dv = i == 2 ? v : 0.0;
        q.d[i] = along[i];
        q.o[i] = cone && near_source ? k_fma(before, along[i], source[i])
                                     : k_fma(-after, along[i], detector[i]);
        q.du[i] = cone ? u[i] : 0.0;
        q.dv[i] = cone ? dv : 0.0;
        q.ou[i] = cone ? before * u[i] : u[i];
        q.ov[i] = cone ? before * dv : dv;
    }
    q.first = cone ? -before : -1e30;
    q.last = cone ? after : 1e30;
    return q;
}

/* The steepest ray, in cells a chord: what beam.c bounds by 0.999. */
static double rise_of(const ct_space &p, const ct_pose &q)
{
    double least = 1e300;
    for (int64_t u = 0; u < p.columns; u++) {
        const double a = (double)u - p.middle_u;
        least = k_min(least, k_max(k_abs(k_fma(a, q.du[p.s], q.d[p.s])),
                                   k_abs(k_fma(a, q.du[p.f], q.d[p.f]))));
    }
    return (k_abs(q.d[2]) + p.middle_v * k_abs(q.dv[2])) / least;
}

static ct_space space_of(int64_t nx, int64_t ny, int64_t nz, int64_t columns, int64_t rows)
{
    ct_space p;
    std::memset(&p, 0, sizeof p);
    p.n[0] = nx, p.n[1] = ny, p.n[2] = nz;
    p.columns = columns, p.rows = rows;
    p.middle_u = 0.5 * (double)(columns - 1), p.middle_v = 0.5 * (double)(rows - 1);
    p.voxel[0] = p.voxel[1] = p.voxel[2] = 1.0;
    p.w = 2, p.s = 1, p.f = 0;
    return p;
}

static int passed, failed;
enum { PLAIN, TUNED, HOST };

struct problem {
    ct_space space;
    std::vector<ct_pose> pose;
    std::vector<float> rays;
    ct_pose *d_pose = nullptr;
    float *d_rays = nullptr;
    void send()
    {
        CHECK(cudaMalloc((void **)&d_pose, pose.size() * sizeof(ct_pose)));
        CHECK(cudaMalloc((void **)&d_rays, rays.size() * 4));
        CHECK(
            cudaMemcpy(d_pose, pose.data(), pose.size() * sizeof(ct_pose), cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(d_rays, rays.data(), rays.size() * 4, cudaMemcpyHostToDevice));
    }
    ~problem() { cudaFree(d_pose), cudaFree(d_rays); }
};

static void launch(const ct_columns_backproject_args &a, int way)
{
    const int64_t items = ct_columns_backproject_items(&a);
    if (way == TUNED)
        tuned_blocks<<<(unsigned)(items / CT_COLUMNS_TILE), CT_BLOCK_THREADS,
                       sizeof(ct_block_shared)>>>(a);
    else
        ct_columns_backproject_entry<<<(unsigned)((items + 63) / 64), 64>>>(a, items, nullptr, 0);
    CHECK(cudaGetLastError());
}

/* The chunk [first, first + count) in blocks of views. */
static std::vector<float> carry_out(const problem &q, const int64_t first[3],
                                    const int64_t count[3], int64_t block, int way)
{
    const size_t voxels = (size_t)(count[0] * count[1] * count[2]);
    std::vector<float> out(voxels, -7.0f);
    float *d = nullptr;
    CHECK(cudaMalloc((void **)&d, voxels * 4));
    CHECK(cudaMemcpy(d, out.data(), voxels * 4, cudaMemcpyHostToDevice));
    const int64_t views = (int64_t)q.pose.size();
    for (int64_t k = 0; k < views; k += block) {
        ct_columns_backproject_args a;
        std::memset(&a, 0, sizeof a);
        a.space = q.space;
        a.pose = (way == HOST ? q.pose.data() : q.d_pose) + k;
        a.views = std::min(block, views - k);
        a.rays = (way == HOST ? q.rays.data() : q.d_rays) + k * q.space.columns * q.space.rows;
        a.volume = way == HOST ? out.data() : d;
        a.stride_f = 1, a.stride_s = count[0], a.stride_w = count[0] * count[1];
        a.first_f = first[0], a.first_s = first[1], a.first_w = first[2];
        a.count_f = count[0], a.count_s = count[1], a.count_w = count[2];
        a.starts = k == 0, a.finishes = k + block >= views;
        if (way == HOST)
            for (int64_t i = 0; i < ct_columns_backproject_items(&a); i++)
                ct_columns_backproject_item(&a, i, nullptr);
        else
            launch(a, way);
    }
    if (way != HOST) {
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaMemcpy(out.data(), d, voxels * 4, cudaMemcpyDeviceToHost));
    }
    cudaFree(d);
    return out;
}

static size_t differing(const std::vector<float> &a, const std::vector<float> &b)
{
    size_t n = 0;
    for (size_t i = 0; i < a.size(); i++) n += std::memcmp(&a[i], &b[i], 4) != 0;
    return n;
}

/* A scan that columns do, of whatever kind. */
static void draw_scan(problem &q, int number)
{
    for (;;) {
        const int64_t wide = number % 7 == 6 ? 300 : 40;
        q.space =
            space_of(pick(1, 40), pick(1, 40), pick(1, wide), pick(1, 70), pick(1, wide + 30));
        q.pose.clear();
        const bool cone = draw(0, 1) < 0.7, inside = draw(0, 1) < 0.2, whole = draw(0, 1) < 0.2;
        const bool level = draw(0, 1) < 0.3;
        const int64_t views = pick(1, 7);
        const double pitch_u = draw(0, 1) < 0.5 ? 1.25 : std::exp(draw(-2.0, 1.5));
        const double pitch_v = draw(0, 1) < 0.5 ? 1.25 : std::exp(draw(-2.0, 1.5));
        const double away = inside ? draw(1, 15) : std::exp(draw(3.2, number % 5 ? 5.0 : 11.0));
        const double behind = draw(0, 1) < 0.2 ? draw(-8, 10) : std::exp(draw(2.5, 4.5));
        const double down = draw(0, 1) < 0.3 ? -1.0 : 1.0;
        double rise = 0;
        for (int64_t k = 0; k < views; k++) {
            const double turn = 3.14159265358979 * (whole ? 0.5 * (double)k : draw(0, 2));
            double c = std::cos(turn), s = std::sin(turn);
            if (std::fabs(c) < 1e-9) c = 0;
            if (std::fabs(s) < 1e-9) s = 0;
            const double middle[] = {0.5 * (double)q.space.n[0], 0.5 * (double)q.space.n[1],
                                     0.5 * (double)q.space.n[2]};
            const double height = level ? 0.0 : draw(-0.6, 0.6) * (double)q.space.n[2];
            const double climb = level ? 0.0 : draw(-0.4, 0.4) * away;
            const double u[] = {pitch_u * c, pitch_u * s, 0};
            double source[] = {middle[0] - away * s, middle[1] + away * c, middle[2] + height};
            const double detector[] = {middle[0] + behind * s + draw(-3, 3) * c,
                                       middle[1] - behind * c + draw(-3, 3) * s,
                                       middle[2] + (level ? 0.0 : height + draw(-9, 9))};
            if (!cone) source[0] = s, source[1] = -c, source[2] = climb / away;
            q.pose.push_back(pose_of(q.space, source, detector, u, pitch_v * down, cone));
            rise = std::max(rise, rise_of(q.space, q.pose.back()));
        }
        if (rise <= 0.999) break;
    }
    q.rays.resize(q.pose.size() * (size_t)(q.space.columns * q.space.rows));
    const bool odd = number % 4 == 3;
    for (float &r : q.rays) {
        r = (float)draw(-1, 1);
        if (!odd) continue;
        const double which = draw(0, 1);
        if (which < 0.002)
            r = NAN;
        else if (which < 0.004)
            r = INFINITY;
        else if (which < 0.006)
            r = -INFINITY;
        else if (which < 0.3)
            r = -0.0f;
        else if (which < 0.32)
            r = 1e-40f;
    }
    q.send();
}

static void random_case(int number)
{
    state = 1000003 * (uint64_t)number + 17;
    problem q;
    draw_scan(q, number);
    int64_t first[3], count[3];
    for (int i = 0; i < 3; i++) {
        first[i] = number % 2 ? pick(0, q.space.n[i] - 1) : 0;
        count[i] = number % 2 ? pick(1, q.space.n[i] - first[i]) : q.space.n[i];
    }
    const int64_t block = number % 3 ? (int64_t)q.pose.size() : pick(1, (int64_t)q.pose.size());
    const std::vector<float> plain = carry_out(q, first, count, block, PLAIN);
    const std::vector<float> tuned = carry_out(q, first, count, block, TUNED);
    size_t wrong = differing(plain, tuned), wrong_host = 0;
    if (count[0] * count[1] * count[2] * (int64_t)q.pose.size() < 100000)
        wrong_host = differing(tuned, carry_out(q, first, count, block, HOST));
    if (wrong || wrong_host) {
        failed++;
        size_t at = 0;
        while (std::memcmp(&plain[at], &tuned[at], 4) == 0 && at + 1 < plain.size()) at++;
        if (failed < 12)
            std::printf(
                "case %d: %zu differ from plain, %zu from the host, of %zu, first %zu: %.9g "
                "for %.9g; %s %lld views, volume %lld %lld %lld, detector %lld %lld\n",
                number, wrong, wrong_host, tuned.size(), at, tuned[at], plain[at],
                q.pose[0].first < -1e29 ? "parallel" : "cone", (long long)q.pose.size(),
                (long long)q.space.n[0], (long long)q.space.n[1], (long long)q.space.n[2],
                (long long)q.space.columns, (long long)q.space.rows);
    } else
        passed++;
}

__global__ void fill(float *p, size_t n)
{
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x) {
        unsigned h = (unsigned)i * 2654435761u ^ (unsigned)(i >> 32);
        h ^= h >> 15, h *= 2246822519u, h ^= h >> 13, h *= 3266489917u, h ^= h >> 16;
        p[i] = (float)(h >> 8) * 0x1p-24f;
    }
}

/* The circular scan: n^3 voxels, 2 n columns, 1.5 n rows, pitch 1.25. */
static void circle(problem &q, int64_t n, int64_t views)
{
    q.space = space_of(n, n, n, 2 * n, n * 3 / 2);
    const double axis = 2.5 * (double)n, all = 4.0 * (double)n, h = 0.5 * (double)n;
    for (int64_t k = 0; k < views; k++) {
        const double t = 6.283185307179586 * (double)k / (double)views;
        double c = std::cos(t), s = std::sin(t);
        if (std::fabs(c) < 1e-15) c = 0;
        if (std::fabs(s) < 1e-15) s = 0;
        const double source[] = {h - axis * s, h + axis * c, h};
        const double detector[] = {h + (all - axis) * s, h - (all - axis) * c, h};
        const double u[] = {1.25 * c, 1.25 * s, 0};
        q.pose.push_back(pose_of(q.space, source, detector, u, 1.25, true));
    }
}

template <typename F> static double median_ms(F f, int before, int times)
{
    cudaEvent_t from, to;
    CHECK(cudaEventCreate(&from));
    CHECK(cudaEventCreate(&to));
    std::vector<float> ms;
    for (int i = 0; i < before + times; i++) {
        CHECK(cudaEventRecord(from));
        f();
        CHECK(cudaEventRecord(to));
        CHECK(cudaEventSynchronize(to));
        float t = 0;
        CHECK(cudaEventElapsedTime(&t, from, to));
        if (i >= before) ms.push_back(t);
    }
    std::sort(ms.begin(), ms.end());
    return ms[ms.size() / 2];
}

static void times(int64_t n, int64_t views, bool plainly)
{
    problem q;
    circle(q, n, views);
    const size_t rays = (size_t)(views * q.space.columns * q.space.rows),
                 voxels = (size_t)(n * n * n);
    CHECK(cudaMalloc((void **)&q.d_pose, q.pose.size() * sizeof(ct_pose)));
    CHECK(cudaMemcpy(q.d_pose, q.pose.data(), q.pose.size() * sizeof(ct_pose),
                     cudaMemcpyHostToDevice));
    CHECK(cudaMalloc((void **)&q.d_rays, rays * 4));
    fill<<<4096, 256>>>(q.d_rays, rays);
    float *out[2];
    for (int i = 0; i < 2; i++) CHECK(cudaMalloc((void **)&out[i], voxels * 4));
    ct_columns_backproject_args a;
    std::memset(&a, 0, sizeof a);
    a.space = q.space;
    a.pose = q.d_pose, a.views = views, a.rays = q.d_rays;
    a.stride_f = 1, a.stride_s = n, a.stride_w = n * n;
    a.count_f = a.count_s = a.count_w = n;
    a.starts = a.finishes = 1;
    a.volume = out[TUNED];
    const double tuned = median_ms([&] { launch(a, TUNED); }, 3, 7);
    std::printf("%4lld^3, %lld views: tuned %9.2f ms", (long long)n, (long long)views, tuned);
    if (plainly) {
        a.volume = out[PLAIN];
        const double plain = median_ms([&] { launch(a, PLAIN); }, 0, 1);
        std::vector<float> x(voxels), y(voxels);
        CHECK(cudaMemcpy(x.data(), out[PLAIN], voxels * 4, cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(y.data(), out[TUNED], voxels * 4, cudaMemcpyDeviceToHost));
        const size_t wrong = differing(x, y);
        std::printf(", plain %9.2f ms, %zu of %zu differ", plain, wrong, voxels);
        if (wrong)
            failed++;
        else
            passed++;
    }
    std::printf("\n");
    std::fflush(stdout);
    for (int i = 0; i < 2; i++) cudaFree(out[i]);
}

int main(int argc, char **argv)
{
    const int64_t n = argc > 1 ? std::atoll(argv[1]) : 512,
                  views = argc > 2 ? std::atoll(argv[2]) : 360;
    CHECK(cudaFuncSetAttribute(tuned_blocks, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               (int)sizeof(ct_block_shared)));
    for (int i = 0; i < 400; i++) random_case(i);
    std::printf("random cases: %d passed, %d failed\n", passed, failed);
    std::fflush(stdout);
    times(16, 16, true);
    times(64, 90, true);
    times(128, 360, true);
    times(256, 360, true);
    times(n, views, false);
    times(n, std::min<int64_t>(views, 12), true);
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed ? 6 : 0;
}
