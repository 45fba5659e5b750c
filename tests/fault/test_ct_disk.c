/* Every failing call to the system, and every failing allocation, while an operation works from
 * file to file: the right status, one line that says why, no output, nothing left beside it,
 * nothing leaked.
 *
 * The linker sends the calls of the store through the functions below (tests/CMakeLists.txt). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/context.h"
#include "ct/disk/disk.h"
#include "ct/solve/solver.h"
#include "support/support.h"

static atomic_int countdown, failed; /* reads come from another thread, too; 0: none fails */

static int fails(int reason)
{
    if (atomic_load(&countdown) == 0 || atomic_fetch_sub(&countdown, 1) > 1) return 0;
    atomic_store(&countdown, 0);
    atomic_store(&failed, 1);
    errno = reason;
    return 1;
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
    va_end(list);
    return fails(EIO) ? -1 : __real_open(path, flags, mode);
}

ssize_t __real_pread(int descriptor, void *out, size_t bytes, off_t offset);
ssize_t __wrap_pread(int descriptor, void *out, size_t bytes, off_t offset);
ssize_t __wrap_pread(int descriptor, void *out, size_t bytes, off_t offset)
{
    return fails(EIO) ? -1 : __real_pread(descriptor, out, bytes, offset);
}

ssize_t __real_pwrite(int descriptor, const void *data, size_t bytes, off_t offset);
ssize_t __wrap_pwrite(int descriptor, const void *data, size_t bytes, off_t offset);
ssize_t __wrap_pwrite(int descriptor, const void *data, size_t bytes, off_t offset)
{
    return fails(ENOSPC) ? -1 : __real_pwrite(descriptor, data, bytes, offset);
}

int __real_ftruncate(int descriptor, off_t bytes);
int __wrap_ftruncate(int descriptor, off_t bytes);
int __wrap_ftruncate(int descriptor, off_t bytes)
{
    return fails(ENOSPC) ? -1 : __real_ftruncate(descriptor, bytes);
}

int __real_fsync(int descriptor);
int __wrap_fsync(int descriptor);
int __wrap_fsync(int descriptor)
{
    (void)descriptor; /* nothing here has to outlive the machine */
    return fails(EIO) ? -1 : 0;
}

/* ---- Jobs ---- */

enum { VIEWS = 5, COLUMNS = 11, ROWS = 6, N = 8 };

static motet_ct_geometry *cone(motet_context *c)
{
    motet_ct_view view[VIEWS];
    motet_ct_views v;
    motet_ct_views_init(&v);
    for (int k = 0; k < VIEWS; k++) {
        const double a = 6.283185307179586 * k / VIEWS;
        view[k] = (motet_ct_view){{-60 * sin(a), 60 * cos(a), 0.0},
                                  {40 * sin(a), -40 * cos(a), 0.0},
                                  {cos(a), sin(a), 0.0},
                                  {0.0, 0.0, 1.0}};
    }
    v.views = VIEWS, v.columns = COLUMNS, v.rows = ROWS, v.view = view;
    v.pitch_u = v.pitch_v = 2.0;
    v.nx = v.ny = v.nz = N;
    motet_ct_geometry *g = NULL;
    assert_ok(c, motet_ct_geometry_create(c, &v, &g));
    return g;
}

typedef enum job { PROJECT, BACKPROJECT, FDK, CGLS, JOBS } job;

static const char *path_of(const char *name) { return test_path(name); }

/* `ending` is that of the sinogram. */
static motet_status do_job(motet_context *c, motet_ct_geometry *g, job which, const char *ending)
{
    char sinogram[32], made[32];
    snprintf(sinogram, sizeof sinogram, "sinogram%s", ending);
    snprintf(made, sizeof made, "made%s", which == PROJECT ? ending : ".mha");
    motet_store *in = NULL, *out = NULL;
    motet_array *pair[2] = {NULL, NULL};
    motet_ct_solve_options o;
    motet_ct_solve_options_init(&o);
    o.iterations = 2;
    motet_status st =
        motet_store_open(c, path_of(which == PROJECT ? "volume.npy" : sinogram), NULL, &in);
    if (st == MOTET_OK)
        st = which == PROJECT ? motet_ct_create_sinogram(g, path_of(made), NULL, 0, &out)
                              : motet_ct_create_volume(g, path_of(made), NULL, 0, &out);
    if (st == MOTET_OK && which == PROJECT) st = motet_ct_project_store(g, in, out);
    if (st == MOTET_OK && which == BACKPROJECT) st = motet_ct_backproject_store(g, in, out);
    if (st == MOTET_OK && which == FDK) st = motet_ct_fdk_store(g, NULL, in, out);
    if (st == MOTET_OK && which == CGLS) {
        st = ct_disk_pair(g, in, out, 1, pair);
        if (st == MOTET_OK)
            st = ct_solve_on_disk(g, &ct_cgls, &o, test_folder(), NULL, pair[0], pair[1], NULL);
    }
    motet_array_free(pair[0]);
    motet_array_free(pair[1]);
    if (st == MOTET_OK) st = motet_store_commit(out);
    motet_store_free(in);
    motet_store_free(out);
    return st;
}

static void write_file(motet_context *c, const char *name, int64_t a, int64_t b, int64_t d)
{
    const motet_store_info info = {.type = MOTET_F32, .axes = 3, .shape = {a, b, d}};
    float *values = test_malloc(sizeof(float) * (size_t)(a * b * d));
    for (int64_t i = 0; i < a * b * d; i++) values[i] = (float)(i % 17);
    motet_store *s;
    assert_ok(c, motet_store_create(c, path_of(name), NULL, &info, 1, &s));
    assert_ok(c, motet_store_write(s, 0, a, values));
    assert_ok(c, motet_store_commit(s));
    motet_store_free(s);
    test_free(values);
}

/* Files of the folder but the inputs. */
static int others(void)
{
    int count = 0;
    DIR *folder = opendir(test_folder());
    assert_non_null(folder);
    for (struct dirent *d; (d = readdir(folder));)
        count += *d->d_name != 's' && *d->d_name != 'v' && strcmp(d->d_name, ".") != 0 &&
                 strcmp(d->d_name, "..") != 0;
    closedir(folder);
    return count;
}

static void remove_made(void)
{
    unlink(path_of("made.npy"));
    unlink(path_of("made.tif"));
    unlink(path_of("made.mha"));
}

static motet_context *begin(void)
{
    motet_context *c = test_context_failing(0, 0);
    write_file(c, "volume.npy", N, N, N);
    write_file(c, "sinogram.npy", VIEWS, COLUMNS, ROWS);
    write_file(c, "sinogram.tif", VIEWS, ROWS, COLUMNS);
    remove_made();
    return c;
}

static uint64_t blocks_of(motet_context *c)
{
    motet_memory memory;
    motet_context_trim(c);
    motet_context_memory(c, &memory);
    return memory.blocks;
}

static const char *const endings[] = {".npy", ".tif"};

static void every_failing_call(void **state)
{
    (void)state;
    motet_context *c = begin();
    motet_ct_geometry *g = cone(c);
    for (job which = PROJECT; which < JOBS; which++)
        for (int format = 0; format < 2; format++) {
            assert_ok(c, do_job(c, g, which, endings[format])); /* what the report keeps */
            remove_made();
            const uint64_t before = blocks_of(c);
            int nth = 0;
            do {
                nth += 1 + nth / 24;
                atomic_store(&failed, 0);
                atomic_store(&countdown, nth);
                const motet_status st = do_job(c, g, which, endings[format]);
                atomic_store(&countdown, 0);
                if (!atomic_load(&failed)) {
                    assert_ok(c, st);
                    assert_int_equal(others(), 1);
                } else if (st != MOTET_OK) {
                    motet_error error;
                    motet_context_error(c, &error);
                    assert_int_equal(st, MOTET_IO);
                    assert_true(strlen(error.message) > 8);
                    assert_int_equal(others(), 0);
                } /* else the sync of a folder, or what a format can do without */
                remove_made();
                assert_int_equal(blocks_of(c), before);
            } while (atomic_load(&failed));
            assert_true(nth > 8);
        }
    motet_ct_geometry_free(g);
    motet_context_free(c);
}

/* ---- A solver whose volume cannot be written ---- */

static motet_status count(const motet_ct_iteration *iteration, void *user)
{
    (void)iteration;
    ++*(int *)user;
    return MOTET_OK;
}

/* Answers how often it told of an iteration; the file is committed. */
static motet_status solve_and_keep(motet_context *c, motet_ct_geometry *g, int on_disk, int *told)
{
    motet_store *in = NULL, *out = NULL;
    motet_array *pair[2] = {NULL, NULL};
    motet_ct_solve_options o;
    motet_ct_solve_options_init(&o);
    o.iterations = 4;
    o.checkpoint = path_of("sure");
    o.keep_checkpoint = 1;
    o.each = count, o.user = told;
    *told = 0;
    motet_status st = motet_store_open(c, path_of("sinogram.npy"), NULL, &in);
    if (st == MOTET_OK) st = motet_ct_create_volume(g, path_of("made.mha"), NULL, 0, &out);
    if (st == MOTET_OK && !on_disk) st = motet_ct_cgls_store(g, &o, NULL, in, out, NULL);
    if (st == MOTET_OK && on_disk) st = ct_disk_pair(g, in, out, 1, pair);
    if (st == MOTET_OK && on_disk)
        st = ct_solve_on_disk(g, &ct_cgls, &o, test_folder(), NULL, pair[0], pair[1], NULL);
    motet_array_free(pair[0]);
    motet_array_free(pair[1]);
    if (st == MOTET_OK) st = motet_store_commit(out);
    motet_store_free(in);
    motet_store_free(out);
    return st;
}

static void read_start(const char *path, unsigned char *out, size_t bytes)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_true(fread(out, 1, bytes, f) == bytes);
    fclose(f);
}

/* Each look at the clock is a microsecond later: checkpoints come when they came before. */
static int64_t count_up(void *user)
{
    return 1000 * atomic_fetch_add((atomic_int_fast64_t *)user, 1);
}

/* Wherever the disk is full: the same call gives the same bits then, and where all iterations were
 * done before, without one more. */
static void a_full_disk_loses_no_iteration(void **state)
{
    (void)state;
    enum { BYTES = 64 + sizeof(float) * N * N * N }; /* the file has that, at least */
    static unsigned char want[BYTES], got[BYTES];
    atomic_int_fast64_t looks = 0;
    motet_context *c = begin();
    motet_ct_geometry *g = cone(c);
    c->options.clock = (motet_clock){count_up, &looks};
    for (int on_disk = 0; on_disk < 2; on_disk++) {
        int told, free_ones = 0, nth = 0, was_full;
        assert_ok(c, solve_and_keep(c, g, on_disk, &told));
        read_start(path_of("made.mha"), want, BYTES);
        do {
            remove_made();
            assert_ok(c, motet_ct_cgls_forget(c, path_of("sure")));
            nth++;
            atomic_store(&failed, 0);
            atomic_store(&countdown, nth);
            const motet_status st = solve_and_keep(c, g, on_disk, &told);
            atomic_store(&countdown, 0);
            was_full = atomic_load(&failed);
            const int done = told == 5;
            if (st == MOTET_OK) continue; /* or a checkpoint was done without */
            assert_int_equal(others(), 0);
            assert_ok(c, solve_and_keep(c, g, on_disk, &told));
            read_start(path_of("made.mha"), got, BYTES);
            assert_memory_equal(want, got, BYTES);
            if (!done) continue;
            assert_int_equal(told, 1);
            free_ones++;
        } while (was_full);
        assert_true(free_ones > 1);
        remove_made();
        assert_ok(c, motet_ct_cgls_forget(c, path_of("sure")));
        assert_int_equal(rmdir(path_of("sure")), 0);
    }
    motet_ct_geometry_free(g);
    motet_context_free(c);
}

static void every_failing_allocation(void **state)
{
    (void)state;
    motet_context *c = begin();
    motet_ct_geometry *g = cone(c);
    for (job which = PROJECT; which < JOBS; which++) {
        assert_ok(c, do_job(c, g, which, ".tif"));
        remove_made();
        const uint64_t before = blocks_of(c);
        int allocations_failed;
        int64_t nth = 0;
        do {
            nth += 1 + nth / 24;
            test_context_fail_at(c, nth, 0);
            const motet_status st = do_job(c, g, which, ".tif");
            allocations_failed = test_context_failed(c);
            test_context_fail_at(c, 0, 0);
            if (!allocations_failed) assert_ok(c, st);
            if (st != MOTET_OK) {
                assert_int_equal(st, MOTET_NO_MEMORY);
                assert_int_equal(others(), 0);
            }
            remove_made();
            assert_true(blocks_of(c) <= before + 8); /* of the report, scratch of workers */
        } while (allocations_failed);
        assert_true(nth > 16);
    }
    motet_ct_geometry_free(g);
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_failing_call),
        cmocka_unit_test(a_full_disk_loses_no_iteration),
        cmocka_unit_test(every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
