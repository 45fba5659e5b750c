/* The pair from and to stores: the bits are those of arrays in memory, whatever the format, the
 * order of its axes and the budget; what does not fit or is the same file is refused, and a file
 * that ends early ends the run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/context.h"
#include "rt/disk.h"
#include "support/sim.h"

enum { VIEWS = 12, COLUMNS = 21, ROWS = 10 };
static const int64_t sinogram_shape[3] = {VIEWS, COLUMNS, ROWS};

typedef struct fixture {
    motet_context *c;
    motet_ct_geometry *g;
    motet_array *volume, *sinogram, *forth, *back;
    int64_t volume_shape[3];
    char forth_digest[33], back_digest[33];
} fixture;

static motet_ct_geometry *parallel(motet_context *c)
{
    double angles[VIEWS];
    motet_ct_parallel p;
    motet_ct_parallel_init(&p);
    for (int k = 0; k < VIEWS; k++) angles[k] = 0.1 + 0.26 * k;
    p.views = VIEWS;
    p.columns = COLUMNS;
    p.rows = ROWS;
    p.angles = angles;
    p.pitch = 1.25;
    p.nx = 18;
    p.ny = 17;
    motet_ct_geometry *g;
    assert_ok(c, motet_ct_geometry_parallel(c, &p, &g));
    return g;
}

/* A cone beam; `tilt` makes it one that takes rays of any pose. */
static motet_ct_geometry *cone(motet_context *c, double tilt)
{
    motet_ct_view view[VIEWS];
    motet_ct_views v;
    motet_ct_views_init(&v);
    for (int k = 0; k < VIEWS; k++) {
        const double a = 0.1 + 0.52 * k, cosine = cos(a), sine = sin(a);
        view[k] = (motet_ct_view){{-60 * sine, 60 * cosine, 0.0},
                                  {40 * sine, -40 * cosine, 0.0},
                                  {cosine, sine, 0.0},
                                  {-sine * sin(tilt), cosine * sin(tilt), cos(tilt)}};
    }
    v.views = VIEWS;
    v.columns = COLUMNS;
    v.rows = ROWS;
    v.view = view;
    v.pitch_u = 1.9;
    v.pitch_v = 1.7;
    v.nx = 18;
    v.ny = 17;
    v.nz = ROWS;
    motet_ct_geometry *g;
    assert_ok(c, motet_ct_geometry_create(c, &v, &g));
    return g;
}

static motet_array *noise(motet_context *c, const int64_t shape[3], uint64_t seed)
{
    motet_array *a;
    assert_ok(c, motet_array_create(c, MOTET_F32, 3, shape, &a));
    float *data = motet_array_data(a);
    for (int64_t i = 0; i < motet_array_elements(a); i++)
        data[i] = (float)test_uniform(&seed, -1.0, 1.0);
    return a;
}

enum { PARALLEL, CONE, TILTED, BEAMS };

static void setup_beam(fixture *f, int beam, const char *devices)
{
    static const int64_t shape[3] = {ROWS, 17, 18};
    f->c = test_context();
    f->g = beam == PARALLEL ? parallel(f->c) : cone(f->c, beam == TILTED ? 0.1 : 0.0);
    memcpy(f->volume_shape, shape, sizeof shape);
    f->volume = noise(f->c, shape, 1);
    f->sinogram = noise(f->c, sinogram_shape, 2);
    assert_ok(f->c, motet_array_create(f->c, MOTET_F32, 3, sinogram_shape, &f->forth));
    assert_ok(f->c, motet_array_create(f->c, MOTET_F32, 3, shape, &f->back));
    assert_ok(f->c, motet_ct_project(f->g, f->volume, f->forth));
    assert_ok(f->c, motet_ct_backproject(f->g, f->sinogram, f->back));
    assert_ok(f->c, motet_array_digest(f->forth, f->forth_digest));
    assert_ok(f->c, motet_array_digest(f->back, f->back_digest));
    if (devices) assert_ok(f->c, sim_use(f->c, NULL, devices));
}

static void setup(fixture *f, const char *devices) { setup_beam(f, PARALLEL, devices); }

static void teardown(fixture *f)
{
    motet_array_free(f->volume);
    motet_array_free(f->sinogram);
    motet_array_free(f->forth);
    motet_array_free(f->back);
    motet_ct_geometry_free(f->g);
    motet_context_free(f->c);
}

static int is_turned(const char *ending)
{
    return strcmp(ending, ".npy") && strcmp(ending, ".npz");
}

/* An array written to a file in the order of its format, by plain loops. */
static void write_file(motet_context *c, const motet_array *a, const char *path, int turned)
{
    const int64_t n = motet_array_size(a, 0), u = motet_array_size(a, 1),
                  v = motet_array_size(a, 2);
    const float *from = motet_array_data(a);
    motet_store_info info = {
        .type = MOTET_F32, .axes = 3, .shape = {n, turned ? v : u, turned ? u : v}};
    float *rows = test_malloc(sizeof(float) * (size_t)(n * u * v));
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = 0; i < u; i++)
            for (int64_t j = 0; j < v; j++)
                rows[k * u * v + (turned ? j * u + i : i * v + j)] = from[(k * u + i) * v + j];
    motet_store *s;
    assert_ok(c, motet_store_create(c, path, NULL, &info, 1, &s));
    assert_ok(c, motet_store_write(s, 0, n, rows));
    assert_ok(c, motet_store_commit(s));
    motet_store_free(s);
    test_free(rows);
}

/* The digest of what a file holds, as an array (n, u, v). */
static void digest_file(motet_context *c, const char *path, const int64_t shape[3], int turned,
                        char out[33])
{
    motet_store *s;
    motet_array *a;
    assert_ok(c, motet_store_open(c, path, NULL, &s));
    assert_ok(c, motet_array_create(c, MOTET_F32, 3, shape, &a));
    const int64_t u = shape[1], v = shape[2];
    float *rows = test_malloc(sizeof(float) * (size_t)(shape[0] * u * v));
    assert_ok(c, motet_store_read(s, 0, shape[0], MOTET_F32, rows));
    float *to = motet_array_data(a);
    for (int64_t k = 0; k < shape[0]; k++)
        for (int64_t i = 0; i < u; i++)
            for (int64_t j = 0; j < v; j++)
                to[(k * u + i) * v + j] = rows[k * u * v + (turned ? j * u + i : i * v + j)];
    assert_ok(c, motet_array_digest(a, out));
    motet_array_free(a);
    motet_store_free(s);
    test_free(rows);
}

typedef struct files {
    char volume[512], sinogram[512], forth[512], back[512];
} files;

static files names(const char *ending)
{
    files f;
    snprintf(f.volume, sizeof f.volume, "%s%s", test_path("volume"), ending);
    snprintf(f.sinogram, sizeof f.sinogram, "%s%s", test_path("sinogram"), ending);
    snprintf(f.forth, sizeof f.forth, "%s%s", test_path("forth"), ending);
    snprintf(f.back, sizeof f.back, "%s%s", test_path("back"), ending);
    return f;
}

static motet_status forth_to_file(fixture *f, const files *n)
{
    motet_store *in = NULL, *out = NULL;
    motet_status st = motet_store_open(f->c, n->volume, NULL, &in);
    if (st == MOTET_OK) st = motet_ct_create_sinogram(f->g, n->forth, NULL, 1, &out);
    if (st == MOTET_OK) st = motet_ct_project_store(f->g, in, out);
    if (st == MOTET_OK) st = motet_store_commit(out);
    motet_store_free(in);
    motet_store_free(out);
    return st;
}

static motet_status back_to_file(fixture *f, const files *n)
{
    motet_store *in = NULL, *out = NULL;
    motet_status st = motet_store_open(f->c, n->sinogram, NULL, &in);
    if (st == MOTET_OK) st = motet_ct_create_volume(f->g, n->back, NULL, 1, &out);
    if (st == MOTET_OK) st = motet_ct_backproject_store(f->g, in, out);
    if (st == MOTET_OK) st = motet_store_commit(out);
    motet_store_free(in);
    motet_store_free(out);
    return st;
}

static const char *const endings[] = {".npy", ".tif", ".mha", ".mhd", ".npz", ".h5"};

/* HDF5, the last of them, may be left out of a build. */
static int formats(motet_context *c)
{
    const motet_store_info info = {.type = MOTET_F32, .axes = 1, .shape = {1}};
    motet_store *s = NULL;
    const motet_status st = motet_store_create(c, test_path("try.h5"), NULL, &info, 1, &s);
    motet_store_free(s);
    return st == MOTET_UNSUPPORTED ? 5 : 6;
}

static void assert_files(fixture *f, const files *n, int turned)
{
    char found[33];
    assert_ok(f->c, forth_to_file(f, n));
    digest_file(f->c, n->forth, sinogram_shape, turned, found);
    assert_string_equal(found, f->forth_digest);
    assert_ok(f->c, back_to_file(f, n));
    digest_file(f->c, n->back, f->volume_shape, 0, found);
    assert_string_equal(found, f->back_digest);
}

static void every_format_has_the_bits_of_memory(void **state)
{
    (void)state;
    for (int i = 0, count = 6; i < count; i++) {
        fixture f;
        setup(&f, NULL);
        count = formats(f.c);
        if (i >= count) {
            teardown(&f);
            break;
        }
        const files n = names(endings[i]);
        const int turned = is_turned(endings[i]);
        write_file(f.c, f.volume, n.volume, 0);
        write_file(f.c, f.sinogram, n.sinogram, turned);
        assert_files(&f, &n, turned);
        teardown(&f);
    }
}

/* From plenty down to where it is refused, which names the least that would do: that does. */
static void no_budget_changes_a_bit(void **state)
{
    (void)state;
    static const char *const sets[] = {NULL, "sim:0", "cpu,sim:1", "sim:0,sim:1"};
    for (int beam = 0; beam < BEAMS; beam++)
        for (int set = 0; set < 4; set++) {
            fixture f;
            setup_beam(&f, beam, sets[set]);
            const int count = formats(f.c);
            motet_memory memory;
            motet_context_trim(f.c);
            motet_context_memory(f.c, &memory);
            int refused = 0;
            for (uint64_t more = 6000000; more > 1000; more = more * 6 / 10) {
                f.c->options.host_memory = memory.now + more;
                for (int i = set ? 1 : 0; i < (set ? 2 : count); i++) {
                    const files n = names(endings[i]);
                    if (more == 6000000) {
                        write_file(f.c, f.volume, n.volume, 0);
                        write_file(f.c, f.sinogram, n.sinogram, is_turned(endings[i]));
                    }
                    const motet_status st = forth_to_file(&f, &n);
                    if (st == MOTET_OVER_BUDGET || st == MOTET_NO_MEMORY) {
                        refused = 1;
                        continue;
                    }
                    assert_ok(f.c, st);
                    f.c->options.host_memory = 0;
                    char found[33];
                    digest_file(f.c, n.forth, sinogram_shape, is_turned(endings[i]), found);
                    assert_string_equal(found, f.forth_digest);
                    f.c->options.host_memory = memory.now + more;
                }
            }
            assert_true(refused);
            f.c->options.host_memory = 0;
            teardown(&f);
        }
}

/* The volume or the sinogram arrives in blocks; the result leaves in few pieces. */
static void beams_stream_from_files(void **state)
{
    (void)state;
    static const char *const sets[] = {NULL, "sim:0", "cpu,sim:1", "sim:0,sim:1,sim:2"};
    for (int beam = CONE; beam < BEAMS; beam++)
        for (int set = 0; set < 4; set++)
            for (int64_t chunk = 0; chunk < 8; chunk += 1 + chunk) {
                fixture f;
                setup_beam(&f, beam, sets[set]);
                f.c->options.chunk = chunk;
                const files n = names(endings[set % 2]);
                write_file(f.c, f.volume, n.volume, 0);
                write_file(f.c, f.sinogram, n.sinogram, set % 2);
                assert_files(&f, &n, set % 2);
                if (sets[set]) assert_clean(f.c);
                teardown(&f);
            }
}

static void chunks_of_any_size_give_the_same_bits(void **state)
{
    (void)state;
    static const char *const sets[] = {NULL, "sim:0", "cpu,sim:1", "sim:0,sim:1,sim:2"};
    for (int set = 0; set < 4; set++)
        for (int64_t chunk = 1; chunk <= ROWS; chunk += 4) {
            fixture f;
            setup(&f, sets[set]);
            f.c->options.chunk = chunk;
            for (int i = 0; i < 2; i++) {
                const files n = names(endings[i]);
                write_file(f.c, f.volume, n.volume, 0);
                write_file(f.c, f.sinogram, n.sinogram, i);
                assert_files(&f, &n, i);
            }
            if (sets[set]) assert_clean(f.c);
            teardown(&f);
        }
}

/* Volumes of another type, and axes of size 1 that a file leaves out. */
static void a_file_may_hold_any_type(void **state)
{
    (void)state;
    fixture f;
    setup(&f, NULL);
    const files n = names(".npy");
    motet_store_info info = {.type = MOTET_F64, .axes = 3};
    memcpy(info.shape, f.volume_shape, sizeof f.volume_shape);
    double *values = test_malloc(sizeof(double) * (size_t)motet_array_elements(f.volume));
    const float *from = motet_array_data(f.volume);
    for (int64_t i = 0; i < motet_array_elements(f.volume); i++) values[i] = (double)from[i];
    motet_store *s;
    assert_ok(f.c, motet_store_create(f.c, n.volume, NULL, &info, 1, &s));
    assert_ok(f.c, motet_store_write(s, 0, info.shape[0], values));
    assert_ok(f.c, motet_store_commit(s));
    motet_store_free(s);
    test_free(values);
    char found[33];
    assert_ok(f.c, forth_to_file(&f, &n));
    digest_file(f.c, n.forth, sinogram_shape, 0, found);
    assert_string_equal(found, f.forth_digest);
    teardown(&f);
}

static void files_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    fixture f;
    setup(&f, NULL);
    const files n = names(".tif");
    write_file(f.c, f.volume, n.volume, 0);
    write_file(f.c, f.sinogram, n.sinogram, 0); /* as if it were (view, u, v) */
    assert_status(f.c, back_to_file(&f, &n), MOTET_BAD_SHAPE);
    assert_message(f.c, "sinogram.tif", "(12, 21, 10)", "(12, 10, 21)", NULL);
    motet_store *in, *out, *other;
    assert_ok(f.c, motet_store_open(f.c, n.volume, NULL, &in));
    assert_ok(f.c, motet_store_open(f.c, n.sinogram, NULL, &other));
    assert_ok(f.c, motet_ct_create_sinogram(f.g, n.volume, NULL, 1, &out));
    assert_status(f.c, motet_ct_project_store(f.g, in, out), MOTET_SAME_FILE);
    assert_status(f.c, motet_ct_project_store(f.g, out, out), MOTET_BAD_ARGUMENT);
    assert_message(f.c, "the volume is to be read", NULL);
    assert_status(f.c, motet_ct_project_store(f.g, in, other), MOTET_BAD_ARGUMENT);
    assert_message(f.c, "the sinogram is to be written", NULL);
    assert_status(f.c, motet_ct_project_store(f.g, NULL, out), MOTET_BAD_ARGUMENT);
    motet_store_free(out);
    const motet_store_info info = {.type = MOTET_F64, .axes = 3, .shape = {VIEWS, ROWS, COLUMNS}};
    assert_ok(f.c, motet_store_create(f.c, n.forth, NULL, &info, 1, &out));
    assert_status(f.c, motet_ct_project_store(f.g, in, out), MOTET_BAD_ARGUMENT);
    assert_message(f.c, "float64", "float32", NULL);
    motet_store_free(out);
    motet_store_free(in);
    motet_store_free(other);
    teardown(&f);
}

/* A file that was cut short after it was opened, and one that is stopped, leave nothing behind. */
static void a_file_that_ends_early_ends_the_run(void **state)
{
    (void)state;
    fixture f;
    setup(&f, NULL);
    const files n = names(".npy");
    write_file(f.c, f.volume, n.volume, 0);
    unlink(n.forth);
    motet_store *in, *out;
    assert_ok(f.c, motet_store_open(f.c, n.volume, NULL, &in));
    assert_ok(f.c, motet_ct_create_sinogram(f.g, n.forth, NULL, 0, &out));
    assert_int_equal(truncate(n.volume, 9000), 0);
    assert_status(f.c, motet_ct_project_store(f.g, in, out), MOTET_BAD_DATA);
    assert_message(f.c, "volume.npy", "cut short", NULL);
    motet_store_free(in);
    motet_store_free(out);
    assert_int_equal(access(n.forth, F_OK), -1);
    teardown(&f);
}

static motet_go stop(const motet_progress *progress, void *user)
{
    (void)progress;
    int64_t *calls = user;
    return --*calls == 0 ? MOTET_STOP : MOTET_GO_ON;
}

static int64_t later(void *user) { return *(int64_t *)user += 60000000; }

static void it_can_be_cancelled_anywhere(void **state)
{
    (void)state;
    for (int64_t k = 1, over = 0; !over; k++) {
        fixture f;
        int64_t calls = k, now = 0;
        setup(&f, NULL);
        const files n = names(".npy");
        write_file(f.c, f.volume, n.volume, 0);
        unlink(n.forth);
        f.c->options.chunk = 4;
        f.c->options.progress = stop;
        f.c->options.progress_user = &calls;
        f.c->options.clock = (motet_clock){later, &now};
        const motet_status st = forth_to_file(&f, &n);
        over = calls > 0;
        assert_int_equal(st, over ? MOTET_OK : MOTET_CANCELLED);
        assert_int_equal(access(n.forth, F_OK), over ? 0 : -1);
        teardown(&f);
    }
}

/* Whole arrays are moved, and their digests taken, piece by piece. */
static void moving_a_whole_array_can_be_cancelled(void **state)
{
    (void)state;
    for (int what = 0; what < 3; what++)
        for (int64_t k = 1, over = 0; !over; k++) {
            motet_context *c = test_context();
            int64_t calls = k, now = 0;
            const float one = 1;
            char text[33];
            motet_array *a, *b;
            assert_ok(c, rt_disk_scratch(c, NULL, MOTET_F32, 2, (int64_t[]){4, 1 << 19}, &a));
            assert_ok(c, rt_disk_scratch(c, NULL, MOTET_F32, 2, (int64_t[]){4, 1 << 19}, &b));
            c->options.progress = stop;
            c->options.progress_user = &calls;
            c->options.clock = (motet_clock){later, &now};
            const motet_status st = what == 0   ? rt_disk_copy(a, b)
                                    : what == 1 ? rt_disk_fill(a, &one)
                                                : motet_array_digest(a, text);
            over = calls > 0;
            assert_int_equal(st, over ? MOTET_OK : MOTET_CANCELLED);
            assert_true(k > 1 || !over);
            motet_array_free(a);
            motet_array_free(b);
            motet_context_free(c);
        }
}

/* What is planned covers what reading takes: numbers of eight bytes, in rows larger than usual. */
static void wide_rows_of_float64_stay_within_the_budget(void **state)
{
    (void)state;
    enum { N = 900 };
    static const int64_t shape[3] = {2, N, N};
    motet_context *c = test_context();
    double *values = calloc(N * N, sizeof *values);
    motet_store_info info = {.type = MOTET_F64, .axes = 3, .shape = {2, N, N}};
    motet_store *store;
    motet_memory memory;
    motet_array *a;
    char path[512];
    assert_non_null(values);
    snprintf(path, sizeof path, "%s/wide.npy", test_folder());
    assert_ok(c, motet_store_create(c, path, NULL, &info, 1, &store));
    for (int i = 0; i < 2; i++) assert_ok(c, motet_store_write(store, i, 1, values));
    assert_ok(c, motet_store_commit(store));
    motet_store_free(store);
    assert_ok(c, motet_store_open(c, path, NULL, &store));
    assert_ok(c, rt_disk_store(c, store, "it", MOTET_F32, 3, shape, 0, &a));
    float *part = malloc(sizeof *part * N * N);
    assert_non_null(part);
    motet_context_memory(c, &memory);
    const uint64_t before = memory.now;
    assert_ok(c, rt_disk_read(a, (int64_t[]){0, 0, 0}, (int64_t[]){1, N, N}, part));
    motet_context_memory(c, &memory);
    assert_true(memory.peak > before);
    assert_true((int64_t)(memory.peak - before) <= a->disk->aside);
    motet_array_free(a);
    motet_store_free(store);
    free(part);
    free(values);
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_has_the_bits_of_memory),
        cmocka_unit_test(no_budget_changes_a_bit),
        cmocka_unit_test(beams_stream_from_files),
        cmocka_unit_test(chunks_of_any_size_give_the_same_bits),
        cmocka_unit_test(a_file_may_hold_any_type),
        cmocka_unit_test(files_that_do_not_fit_are_refused),
        cmocka_unit_test(a_file_that_ends_early_ends_the_run),
        cmocka_unit_test(it_can_be_cancelled_anywhere),
        cmocka_unit_test(moving_a_whole_array_can_be_cancelled),
        cmocka_unit_test(wide_rows_of_float64_stay_within_the_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
