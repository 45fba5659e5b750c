/* Out of core: the pair from file to file, against what the disk and the computation take by
 * themselves, one after the other in one run.
 *
 * usage: disk [FOLDER [MEGABYTES]]
 *
 * Files lie in FOLDER (the current one), memory is bounded by MEGABYTES (256). `read` is plain
 * reading of the input from first to last byte in pieces of 4 MiB, `write` plain writing of the
 * output, neither from or to the cache; `compute` the same operation on arrays in memory; `ratio`
 * the slower of disk and computation over the time from file to file. The least of two rounds. */
#include <fcntl.h>
#include <math.h>
#include <motet/motet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 2, PIECE = 1 << 22 };

typedef struct bench_case {
    const char *name;
    int64_t n, views, columns, rows;
    double voxel; /* in columns of the axis */
    int back;
} bench_case;

static const bench_case cases[] = {
    {"project, 256^3, 24 views of 512 x 384", 256, 24, 512, 384, 1.0, 0},
    {"project, 512^3, 4 views of 512 x 384", 512, 4, 512, 384, 0.5, 0},
    {"backproject, 24 views of 512 x 384, 128^3", 128, 24, 512, 384, 2.0, 1},
    {"backproject, 180 views of 768 x 576, 24^3", 24, 180, 768, 576, 8.0, 1},
};

static void must(motet_context *c, motet_status st)
{
    if (st == MOTET_OK) return;
    motet_error error;
    motet_context_error(c, &error);
    fprintf(stderr, "disk: %s\n", error.message);
    exit(1);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Out of the cache, so that it comes from the disk. */
static void forget(const char *path)
{
    const int file = open(path, O_RDONLY);
    if (file < 0) return;
    fdatasync(file);
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    close(file);
}

static double read_plainly(const char *path, char *piece)
{
    forget(path);
    const double begun = now();
    const int file = open(path, O_RDONLY);
    while (read(file, piece, PIECE) > 0) continue;
    close(file);
    return now() - begun;
}

static double write_plainly(const char *path, int64_t bytes, char *piece)
{
    unlink(path);
    const double begun = now();
    const int file = open(path, O_WRONLY | O_CREAT, 0666);
    for (int64_t at = 0; at < bytes; at += PIECE)
        if (write(file, piece, bytes - at < PIECE ? (size_t)(bytes - at) : PIECE) < 0) exit(1);
    const double took = now() - begun;
    close(file);
    unlink(path);
    return took;
}

static motet_ct_geometry *geometry_of(motet_context *c, const bench_case *b)
{
    motet_ct_geometry *g;
    motet_ct_views v;
    motet_ct_views_init(&v);
    motet_ct_view *view = calloc((size_t)b->views, sizeof *view);
    const double side = (double)b->n * b->voxel, far = 2.5 * side, near = 1.5 * side;
    for (int64_t k = 0; k < b->views; k++) {
        const double a = 6.283185307179586 * (double)k / (double)b->views;
        view[k] = (motet_ct_view){{-far * sin(a), far * cos(a), 0},
                                  {near * sin(a), -near * cos(a), 0},
                                  {cos(a), sin(a), 0},
                                  {0, 0, 1}};
    }
    v.view = view;
    v.views = b->views, v.columns = b->columns, v.rows = b->rows;
    v.pitch_u = v.pitch_v = 2.5 * side / (double)b->columns;
    v.nx = v.ny = v.nz = b->n;
    for (int i = 0; i < 3; i++) v.voxel[i] = b->voxel;
    must(c, motet_ct_geometry_create(c, &v, &g));
    free(view);
    return g;
}

static motet_array *array_of(motet_context *c, const bench_case *b, int volume)
{
    const int64_t v[3] = {b->n, b->n, b->n}, s[3] = {b->views, b->columns, b->rows};
    motet_array *a;
    must(c, motet_array_create(c, MOTET_F32, 3, volume ? v : s, &a));
    float *data = motet_array_data(a);
    for (int64_t i = 0; i < motet_array_elements(a); i++) data[i] = (float)(i % 1021) * 1e-3f;
    return a;
}

static double in_memory(motet_context *c, const bench_case *b, const motet_array *in,
                        motet_array *out)
{
    motet_ct_geometry *g = geometry_of(c, b);
    const double begun = now();
    must(c, b->back ? motet_ct_backproject(g, in, out) : motet_ct_project(g, in, out));
    const double took = now() - begun;
    motet_ct_geometry_free(g);
    return took;
}

static double from_files(motet_context *c, const bench_case *b, const char *from, const char *to)
{
    motet_ct_geometry *g = geometry_of(c, b);
    motet_store *in, *out;
    forget(from);
    const double begun = now();
    must(c, motet_store_open(c, from, NULL, &in));
    if (b->back) {
        must(c, motet_ct_create_volume(g, to, NULL, 1, &out));
        must(c, motet_ct_backproject_store(g, in, out));
    } else {
        must(c, motet_ct_create_sinogram(g, to, NULL, 1, &out));
        must(c, motet_ct_project_store(g, in, out));
    }
    const double took = now() - begun;
    motet_store_free(in);
    motet_store_free(out);
    motet_ct_geometry_free(g);
    return took;
}

static void run(const bench_case *b, const char *folder, uint64_t megabytes, char *piece)
{
    motet_context *memory, *bounded;
    motet_context_options o;
    motet_context_options_init(&o);
    if (motet_context_create(&o, &memory)) exit(1);
    o.host_memory = megabytes << 20;
    if (motet_context_create(&o, &bounded)) exit(1);
    char from[4096], to[4096];
    snprintf(from, sizeof from, "%s/motet-bench-in.npy", folder);
    snprintf(to, sizeof to, "%s/motet-bench-out.npy", folder);
    motet_array *in = array_of(memory, b, !b->back), *out = array_of(memory, b, b->back);
    motet_store_info info = {.type = MOTET_F32, .axes = 3};
    for (int i = 0; i < 3; i++) info.shape[i] = motet_array_size(in, i);
    motet_store *store;
    must(memory, motet_store_create(memory, from, NULL, &info, 1, &store));
    must(memory, motet_store_write(store, 0, info.shape[0], motet_array_data(in)));
    must(memory, motet_store_commit(store));
    motet_store_free(store);
    double least[4] = {1e30, 1e30, 1e30, 1e30};
    const int64_t bytes = 4 * motet_array_elements(out);
    for (int i = 0; i < ROUNDS; i++) {
        const double took[4] = {read_plainly(from, piece), write_plainly(to, bytes, piece),
                                in_memory(memory, b, in, out), from_files(bounded, b, from, to)};
        for (int j = 0; j < 4; j++)
            if (took[j] < least[j]) least[j] = took[j];
    }
    const double disk = least[0] + least[1], slower = disk > least[2] ? disk : least[2];
    printf("%-44s %5.0f %7.3f %7.3f %9.3f %9.3f %6.2f\n", b->name,
           4e-6 * (double)motet_array_elements(in), least[0], least[1], least[2], least[3],
           slower / least[3]);
    fflush(stdout);
    unlink(from);
    unlink(to);
    motet_array_free(in);
    motet_array_free(out);
    motet_context_free(memory);
    motet_context_free(bounded);
}

int main(int count, char **words)
{
    const char *folder = count > 1 ? words[1] : ".";
    const uint64_t megabytes = count > 2 ? strtoull(words[2], NULL, 10) : 256;
    char *piece = calloc(1, PIECE);
    printf("%-44s %5s %7s %7s %9s %9s %6s\n", "memory at most MB, seconds", "MB", "read", "write",
           "compute", "to file", "ratio");
    for (size_t i = 0; piece && i < sizeof cases / sizeof *cases; i++)
        run(&cases[i], folder, megabytes, piece);
    free(piece);
    return 0;
}
