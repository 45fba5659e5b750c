/* The tuned form of column projection on a GPU: its bits and its time. Stand-alone.
 *
 *     tuned_forward [cases [n [views]]]    300 random geometries; time for n = 512, 360 views
 *
 * The item function on the host, the plain loop over it on the GPU and the tuned form see the same
 * launches: chunks cut anywhere, the volume in one to three blocks. Every bit of the outputs is
 * compared, and what lies between the rays. In sums that a later block continues, the sign of zero
 * and of NaN is free. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "kern/define.h"

#include "ct/beam/columns_project.k.h"

#include "ct/beam/columns_project_cuda.h"

K_DEFINE(ct_columns_project)
K_DEFINE_BLOCKS(ct_columns_project, ct_columns_project_block, CT_GPU_THREADS, CT_GPU_ITEMS,
                CT_GPU_SHARED, 2)

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const cudaError_t error_ = (call);                                                         \
        if (error_ != cudaSuccess) {                                                               \
            std::printf("%s: %s\n", #call, cudaGetErrorString(error_));                            \
            std::exit(2);                                                                          \
        }                                                                                          \
    } while (0)

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
    void fetch()
    {
        CHECK(cudaMemcpy(host.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost));
    }
};

static void on_host(const ct_columns_project_args &a)
{
    const int64_t items = ct_columns_project_items(&a);
    for (int64_t i = 0; i < items; i++) ct_columns_project_item(&a, i, nullptr);
}

static void on_device_plain(const ct_columns_project_args &a)
{
    const int64_t items = ct_columns_project_items(&a);
    ct_columns_project_entry<<<(unsigned)std::min<int64_t>((items + 63) / 64, 8192), 64>>>(
        a, items, nullptr, 0);
    CHECK(cudaGetLastError());
}

static void on_device_tuned(const ct_columns_project_args &a)
{
    const int64_t items = ct_columns_project_items(&a);
    CHECK(cudaFuncSetAttribute(ct_columns_project_blocks,
                               cudaFuncAttributeMaxDynamicSharedMemorySize, CT_GPU_SHARED));
    ct_columns_project_blocks<<<(unsigned)((items + CT_GPU_ITEMS - 1) / CT_GPU_ITEMS),
                                CT_GPU_THREADS, CT_GPU_SHARED>>>(a, items);
    CHECK(cudaGetLastError());
}

/* ---------------------------------------------------------------- random numbers and geometries */

static uint64_t seed;
static double uniform(void) /* [0, 1) */
{
    uint64_t z = (seed += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}
static double between(double low, double high) { return low + (high - low) * uniform(); }
static int64_t integer(int64_t low, int64_t high)
{
    return low + (int64_t)(uniform() * (double)(high - low + 1));
}
static bool once_in(int n) { return integer(1, n) == 1; }

struct geometry {
    ct_space space;
    std::vector<ct_pose> poses;
    const char *kind;
};

static void set_axes(ct_space *space, int w)
{
    space->w = w;
    space->s = w == 2 ? 1 : 2;
    space->f = 3 - space->w - space->s;
}

/* As beam.c: t = 0 near the middle of the volume. `source` is the direction of a parallel beam. */
static ct_pose pose_of(const ct_space &space, bool cone, const double source[3],
                       const double detector[3], const double u[3], const double v[3])
{
    const double normal[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2],
                              u[0] * v[1] - u[1] * v[0]};
    double along[3], depth = 0, from = 0, to = 0, most = 0;
    for (int i = 0; i < 3; i++) {
        along[i] = cone ? detector[i] - source[i] : source[i];
        most = std::max(most, std::fabs(along[i]));
    }
    for (int i = 0; i < 3; i++) {
        if (!cone) along[i] /= most;
        depth += along[i] * normal[i];
        from -= source[i] * normal[i];
        to += detector[i] * normal[i];
    }
    double before = std::min(std::max(from / depth, 0.0), 1.0);
    double after = cone ? std::min(std::max(to / depth, 0.0), 1.0) : to / depth;
    const bool near = before < after;
    if (near)
        after = cone ? 1 - before : after;
    else
        before = 1 - after;
    ct_pose p;
    for (int i = 0; i < 3; i++) {
        const double a = source[i] + 0.5 * (double)space.n[i];
        const double b = detector[i] + 0.5 * (double)space.n[i];
        p.d[i] = along[i];
        p.o[i] = cone && near ? k_fma(before, p.d[i], a) : k_fma(-after, p.d[i], b);
        p.du[i] = cone ? u[i] : 0;
        p.dv[i] = cone ? v[i] : 0;
        p.ou[i] = cone ? before * u[i] : u[i];
        p.ov[i] = cone ? before * v[i] : v[i];
    }
    p.first = cone ? -before : -1e30;
    p.last = cone ? after : 1e30;
    return p;
}

/* The steepest ray, as columns_do() of beam.c has it. */
static double steepest_of(const ct_space &space, const ct_pose &p)
{
    const double ds = p.d[space.s], df = p.d[space.f], us = p.du[space.s], uf = p.du[space.f];
    const double end = space.middle_u;
    const double place[] = {-end, end, us != uf ? (df - ds) / (us - uf) : end,
                            us != -uf ? -(df + ds) / (us + uf) : end};
    double least = 1e300;
    for (double at : place) {
        const double a = std::min(std::max(at, -end), end);
        least = std::min(least, std::max(std::fabs(ds + a * us), std::fabs(df + a * uf)));
    }
    return (std::fabs(p.d[space.w]) + space.middle_v * std::fabs(p.dv[space.w])) / least;
}

static geometry random_geometry(void)
{
    geometry g;
    ct_space &space = g.space;
    std::memset(&space, 0, sizeof space);
    set_axes(&space, (int)integer(0, 2));
    for (int i = 0; i < 3; i++) space.n[i] = once_in(6) ? integer(1, 4) : integer(1, 48);
    const bool tall = once_in(8); /* windows of the usual size */
    if (once_in(3)) space.n[space.w] = integer(1, 400);
    if (tall) space.n[space.w] = integer(300, 900);
    const bool wide = once_in(6); /* many lists of chords, and rows that leave on the way */
    if (wide) space.n[space.s] = integer(60, 250), space.n[space.f] = integer(60, 250);
    if (once_in(2)) space.n[space.w] = (space.n[space.w] + 3) / 4 * 4;
    space.columns = wide ? integer(1, 4) : integer(1, 24);
    space.rows = tall ? integer(200, 900) : once_in(3) ? integer(1, 700) : integer(1, 70);
    space.middle_u = 0.5 * (double)(space.columns - 1);
    space.middle_v = 0.5 * (double)(space.rows - 1);
    for (int i = 0; i < 3; i++) space.voxel[i] = between(0.5, 2.0);
    const bool cone = !once_in(4), inside = cone && once_in(4);
    const double size = (double)std::max(space.n[space.s], space.n[space.f]);
    const double steep = once_in(5) ? 0.0 : once_in(4) ? 0.999 : between(0.0, 0.999);
    const double tilt = once_in(2) ? 0.0 : uniform(); /* how much of it is in the middle row */
    const double high = (double)space.n[space.w];
    const int64_t views = wide ? integer(1, 3) : integer(1, 9);
    g.kind = !cone ? "parallel" : inside ? "inside" : "cone";
    for (int64_t k = 0; k < views; k++) {
        const double turn =
            once_in(3) ? (double)integer(0, 7) * 0.78539816339744831 : between(-7.0, 7.0);
        double c = std::cos(turn), s = std::sin(turn);
        if (std::fabs(c) < 1e-12) c = 0;
        if (std::fabs(s) < 1e-12) s = 0;
        const double distance = (inside ? between(0.0, 0.4) : between(0.8, 5.0)) * size + 0.1;
        const double beyond = (once_in(4) ? between(0.05, 0.5) : between(0.6, 4.0)) * size + 0.1;
        const double pitch = between(0.3, 2.0) * size / (double)space.columns;
        const double lift = once_in(3) ? 0.0 : between(-0.7, 0.7) * high;
        double source[3] = {0}, detector[3] = {0}, u[3] = {0}, v[3] = {0};
        const int a = (int)space.s, b = (int)space.f, w = (int)space.w;
        source[a] = -c * distance;
        source[b] = -s * distance;
        detector[a] = c * beyond;
        detector[b] = s * beyond;
        if (!cone) source[a] = c, source[b] = s; /* the direction */
        u[a] = -s * pitch;
        u[b] = c * pitch;
        const double sign = once_in(4) ? -1.0 : 1.0;
        v[w] = sign * (cone || once_in(3) ? 1.0 : between(0.01, 3.0) * high / (double)space.rows);
        if (tall && !cone) v[w] = sign * between(0.8, 1.2);
        detector[w] = lift;
        source[w] = cone ? lift : 0.0;
        ct_pose p = pose_of(space, cone, source, detector, u, v);
        /* Rows and tilt as steep as is wanted. */
        const double unit = steepest_of(space, p);
        if (cone && space.rows > 1 && unit > 0) v[w] *= (1 - tilt) * steep / unit;
        if (v[w] == 0.0) v[w] = sign * 1e-3;
        p = pose_of(space, cone, source, detector, u, v);
        ct_pose flat = p;
        flat.d[w] = 1.0, flat.dv[w] = 0.0;
        const double most = 1 / steepest_of(space, flat); /* advance across columns, at least */
        const double rise = (once_in(2) ? 1 : -1) * tilt * steep * most * (1 - 1e-9);
        detector[w] += cone ? 0.5 * rise : 0.0;
        source[w] += cone ? -0.5 * rise : rise;
        p = pose_of(space, cone, source, detector, u, v);
        if (!(steepest_of(space, p) <= 0.999)) { /* as near as can be: try another */
            k--;
            continue;
        }
        g.poses.push_back(p);
    }
    return g;
}

/* 512^3 from 360 views on a circle: the case of the other programs' figures, at any size. */
static geometry circle(int64_t n, int64_t views, double pitch_v = 1.25)
{
    geometry g;
    std::memset(&g.space, 0, sizeof g.space);
    set_axes(&g.space, 2);
    for (int i = 0; i < 3; i++) g.space.n[i] = n, g.space.voxel[i] = 1.0;
    g.space.columns = 2 * n;
    g.space.rows = 3 * n / 2;
    g.space.middle_u = 0.5 * (double)(g.space.columns - 1);
    g.space.middle_v = 0.5 * (double)(g.space.rows - 1);
    g.kind = "circle";
    for (int64_t k = 0; k < views; k++) {
        const double turn = 6.283185307179586 * (double)k / (double)views;
        const double c = std::cos(turn), s = std::sin(turn), far = 2.5 * (double)n,
                     beyond = 1.5 * (double)n;
        const double source[3] = {-far * s, far * c, 0}, detector[3] = {beyond * s, -beyond * c, 0};
        const double u[3] = {1.25 * c, 1.25 * s, 0}, v[3] = {0, 0, pitch_v};
        g.poses.push_back(pose_of(g.space, true, source, detector, u, v));
    }
    return g;
}

/* ---------------------------------------------------------------- bits */

static uint32_t bits_of(float a)
{
    uint32_t u;
    std::memcpy(&u, &a, sizeof u);
    return u;
}

static bool same(float a, float b, bool last)
{
    if (bits_of(a) == bits_of(b)) return true;
    return !last && ((a == 0.0f && b == 0.0f) || (a != a && b != b));
}

/* Small numbers, zeros of both signs, and sometimes what is none. */
static float some_value(int odd)
{
    if (odd == 1 && once_in(50)) return -0.0f;
    if (odd == 2 && once_in(400)) {
        const uint32_t u[] = {0x7fc00000u, 0x7f800000u, 0xff800000u, 0x80000000u, 1u, 0x7f7fffffu};
        float a;
        std::memcpy(&a, &u[integer(0, 5)], sizeof a);
        return a;
    }
    return (float)between(-1.0, 1.0);
}

struct tally {
    int64_t cases, values, zeros, numbers, plain, tuned;
};

static void check_case(int index, tally *tally)
{
    seed = 1000003u * (uint64_t)index + 17;
    const geometry g = random_geometry();
    const ct_space &space = g.space;
    const int64_t nw = space.n[space.w], nf = space.n[space.f], ns = space.n[space.s];
    const int odd = (int)integer(0, 2);

    ct_columns_project_args a;
    std::memset(&a, 0, sizeof a);
    a.space = space;
    const int64_t first_view = integer(0, (int64_t)g.poses.size() - 1);
    a.views = integer(1, (int64_t)g.poses.size() - first_view);
    a.first_column = once_in(2) ? 0 : integer(0, space.columns - 1);
    a.columns =
        once_in(2) ? space.columns - a.first_column : integer(1, space.columns - a.first_column);
    a.first_row = once_in(2) ? 0 : integer(0, space.rows - 1);
    a.rows = once_in(2) ? space.rows - a.first_row : integer(1, space.rows - a.first_row);
    a.column_stride = a.rows + integer(0, 3);
    a.view_stride = a.columns * a.column_stride + integer(0, 3);

    std::vector<float> host((size_t)(a.views * a.view_stride), -7.0f);
    twin<float> plain(host), tuned(host);
    twin<ct_pose> poses(g.poses);
    const int64_t blocks = integer(1, std::min<int64_t>(3, ns));
    for (int64_t block = 0; block < blocks; block++) {
        a.begin = ns * block / blocks;
        a.end = ns * (block + 1) / blocks;
        a.starts = block == 0;
        a.finishes = block == blocks - 1;
        a.f_stride = nw + (once_in(3) ? integer(0, 5) : 0);
        a.s_stride = nf * a.f_stride + (once_in(3) ? integer(0, 9) : 0);
        const size_t shift = once_in(4) ? 1 : 0; /* of the address */
        std::vector<float> values(shift + (size_t)((a.end - a.begin) * a.s_stride));
        for (float &x : values) x = some_value(odd);
        if (odd < 2) /* between the columns there is nothing to see */
            for (size_t i = 0; i < values.size(); i++)
                if (i < shift || (int64_t)(i - shift) % a.s_stride % a.f_stride >= nw)
                    values[i] = NAN;
        twin<float> volume(values);

        a.pose = g.poses.data() + first_view;
        a.volume = volume.host.data() + shift;
        a.sinogram = host.data();
        on_host(a);
        a.pose = poses.device + first_view;
        a.volume = volume.device + shift;
        a.sinogram = plain.device;
        on_device_plain(a);
        a.sinogram = tuned.device;
        on_device_tuned(a);
        plain.fetch();
        tuned.fetch();
        int64_t wrong = 0;
        for (size_t i = 0; i < host.size(); i++) {
            const bool p = same(plain.host[i], host[i], a.finishes);
            const bool t = same(tuned.host[i], host[i], a.finishes);
            tally->plain += !p;
            tally->tuned += !t;
            tally->zeros += a.finishes && host[i] == 0.0f;
            tally->numbers += a.finishes && host[i] == host[i];
            if (!t && !wrong++)
                std::printf("case %d (%s): volume %lld %lld %lld (w is %d), slabs %lld to %lld, "
                            "rows %lld of %lld: value %zu is %.9g, expected %.9g\n",
                            index, g.kind, (long long)space.n[0], (long long)space.n[1],
                            (long long)space.n[2], (int)space.w, (long long)a.begin,
                            (long long)a.end, (long long)a.rows, (long long)space.rows, i,
                            (double)tuned.host[i], (double)host[i]);
        }
        tally->values += (int64_t)host.size();
    }
    tally->cases++;
}

/* ---------------------------------------------------------------- time */

template <typename F> static float median_ms(int warm, int repeats, F call)
{
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    std::vector<float> times;
    for (int i = 0; i < warm + repeats; i++) {
        CHECK(cudaEventRecord(begin));
        call();
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        float ms;
        CHECK(cudaEventElapsedTime(&ms, begin, end));
        if (i >= warm) times.push_back(ms);
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

__global__ void fill(float *to, int64_t count)
{
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < count;
         i += (int64_t)gridDim.x * blockDim.x) {
        uint32_t h = (uint32_t)i * 2654435761u ^ (uint32_t)(i >> 32);
        h ^= h >> 15, h *= 2246822519u, h ^= h >> 13, h *= 3266489917u, h ^= h >> 16;
        to[i] = (float)(h >> 8) * 0x1p-24f;
    }
}

__global__ void count_differences(const uint32_t *a, const uint32_t *b, int64_t count,
                                  unsigned long long *out)
{
    unsigned long long some = 0;
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < count;
         i += (int64_t)gridDim.x * blockDim.x)
        some += a[i] != b[i];
    if (some) atomicAdd(out, some);
}

static int time_case(int64_t n, int64_t views, bool slow, double pitch_v = 1.25)
{
    const geometry g = circle(n, views, pitch_v);
    ct_columns_project_args a;
    std::memset(&a, 0, sizeof a);
    a.space = g.space;
    a.views = views;
    a.columns = g.space.columns;
    a.rows = g.space.rows;
    a.f_stride = n;
    a.s_stride = n * n;
    a.end = n;
    a.starts = a.finishes = 1;
    a.column_stride = a.rows;
    a.view_stride = a.rows * a.columns;
    const int64_t rays = views * a.view_stride;
    twin<ct_pose> poses(g.poses);
    a.pose = poses.device;
    float *volume, *expected, *got;
    unsigned long long *different;
    CHECK(cudaMalloc(&volume, (size_t)(n * n * n) * sizeof(float)));
    CHECK(cudaMalloc(&expected, (size_t)rays * sizeof(float)));
    CHECK(cudaMalloc(&got, (size_t)rays * sizeof(float)));
    CHECK(cudaMalloc(&different, sizeof *different));
    fill<<<1024, 256>>>(volume, n * n * n);
    a.volume = volume;
    a.sinogram = expected;
    const float plain = median_ms(0, slow ? 1 : 3, [&] { on_device_plain(a); });
    a.sinogram = got;
    CHECK(cudaMemset(got, 0xff, (size_t)rays * sizeof(float)));
    CHECK(cudaMemset(different, 0, sizeof *different));
    const float tuned = median_ms(3, 7, [&] { on_device_tuned(a); });
    count_differences<<<1024, 256>>>((const uint32_t *)expected, (const uint32_t *)got, rays,
                                     different);
    unsigned long long wrong;
    CHECK(cudaMemcpy(&wrong, different, sizeof wrong, cudaMemcpyDeviceToHost));
    std::printf("%lld^3, %lld views of %lld x %lld: plain %.2f ms, tuned %.2f ms, %llu of %lld "
                "differ\n",
                (long long)n, (long long)views, (long long)a.columns, (long long)a.rows, plain,
                tuned, wrong, (long long)rays);
    cudaFree(volume), cudaFree(expected), cudaFree(got), cudaFree(different);
    return wrong != 0;
}

int main(int count, char **words)
{
    const int cases = count > 1 ? std::atoi(words[1]) : 300;
    struct tally tally = {};
    for (int i = 0; i < cases; i++) check_case(i, &tally);
    std::printf("%lld random cases, %lld values (%lld of the last are numbers, %lld are zero): "
                "plain differs in %lld, tuned in %lld\n",
                (long long)tally.cases, (long long)tally.values, (long long)tally.numbers,
                (long long)tally.zeros, (long long)tally.plain, (long long)tally.tuned);
    int bad = tally.plain || tally.tuned;
    const int64_t n = count > 2 ? std::atoll(words[2]) : 512;
    const int64_t views = count > 3 ? std::atoll(words[3]) : 360;
    if (n > 0) {
        bad += time_case(32, 16, false);
        bad += time_case(64, 64, false);
        bad += time_case(n, views, true);
        if (count > 4) bad += time_case(n, views, true, 0.6);
    }
    return bad != 0;
}
