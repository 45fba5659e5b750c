/* Every nth failing call to the system, and every nth failing allocation, while a file is read or
 * written: the right status, one line that says why, nothing leaked, and files as they were. Calls
 * that are interrupted or move only a part change nothing at all.
 *
 * The linker sends the calls of the store through the functions below (tests/CMakeLists.txt). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/support.h"

/* What libhdf5 loses of its own when a read fails is out of our hands (src/store/README.md). */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libhdf5\n"; }

enum { MOST = 400 /* calls or allocations of one job; there are far fewer */ };

static struct {
    int64_t countdown; /* 0: none fails */
    int failed;
    int trickle; /* reads and writes move a few bytes at once and are interrupted */
    uint64_t calls;
} fault;

static void fail_call(int64_t nth)
{
    fault.countdown = nth;
    fault.failed = 0;
}

static int fails(int reason)
{
    fault.calls++;
    if (!fault.countdown || --fault.countdown) return 0;
    fault.failed = 1;
    errno = reason;
    return 1;
}

static int interrupted(void)
{
    if (!fault.trickle || fault.calls % 3) return 0;
    errno = EINTR;
    return 1;
}

static size_t some(size_t bytes)
{
    const size_t most = 1 + (size_t)(fault.calls % 11);
    return fault.trickle && bytes > most ? most : bytes;
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
    if (fails(EIO) || interrupted()) return -1;
    return __real_pread(descriptor, out, some(bytes), offset);
}

ssize_t __real_pwrite(int descriptor, const void *data, size_t bytes, off_t offset);
ssize_t __wrap_pwrite(int descriptor, const void *data, size_t bytes, off_t offset);
ssize_t __wrap_pwrite(int descriptor, const void *data, size_t bytes, off_t offset)
{
    if (fails(ENOSPC) || interrupted()) return -1;
    return __real_pwrite(descriptor, data, some(bytes), offset);
}

int __real_fsync(int descriptor);
int __wrap_fsync(int descriptor);
int __wrap_fsync(int descriptor)
{
    return fails(EIO) || interrupted() ? -1 : __real_fsync(descriptor);
}

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to)
{
    return fails(EIO) ? -1 : __real_rename(from, to);
}

int __real_renameat2(int a, const char *from, int b, const char *to, unsigned flags);
int __wrap_renameat2(int a, const char *from, int b, const char *to, unsigned flags);
int __wrap_renameat2(int a, const char *from, int b, const char *to, unsigned flags)
{
    return fails(EIO) ? -1 : __real_renameat2(a, from, b, to, flags);
}

int __real_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode)
{
    return fails(EIO) ? -1 : __real_mkdir(path, mode);
}

/* ---- Faults ---- */

static motet_context *context; /* one for all, with an allocator that can fail */

typedef enum fault_kind { CALL, ALLOCATION, ALLOCATIONS /* from the nth on */, KINDS } fault_kind;

static void arm(fault_kind kind, int nth)
{
    if (kind == CALL)
        fail_call(nth);
    else
        test_context_fail_at(context, nth, kind == ALLOCATIONS);
}

/* 1 if it came to the failure. */
static int disarm(void)
{
    const int failed = fault.failed || test_context_failed(context);
    fail_call(0);
    test_context_fail_at(context, 0, 0);
    return failed;
}

/* The status tells whose fault it was, and the one line says which file and why. */
static void assert_explained(fault_kind kind, motet_status st, const char *name)
{
    motet_error error;
    motet_context_error(context, &error);
    const int right = kind == CALL ? st == MOTET_IO && strstr(error.message, name) &&
                                         (error.native == EIO || error.native == ENOSPC)
                                   : st == MOTET_NO_MEMORY && *error.message;
    if (!right || error.status != st)
        fail_msg("%s: %s, \"%s\", errno %d", name, motet_status_name(st), error.message,
                 error.native);
}

static uint64_t blocks(void)
{
    motet_memory memory;
    motet_context_report_reset(context); /* warnings are kept on purpose */
    motet_context_memory(context, &memory);
    return memory.blocks;
}

static int count_files(void)
{
    int count = 0;
    DIR *folder = opendir(test_folder());
    assert_non_null(folder);
    while (readdir(folder)) count++;
    closedir(folder);
    return count;
}

/* ---- Reading ---- */

enum { VALUES = 4096 };

static int retried;

/* All values of a file, in several ways; the rest of `out` becomes -1. */
static motet_status read_all(const char *path, const char *entry, double out[VALUES])
{
    motet_store *store = NULL;
    float narrow[VALUES];
    for (int i = 0; i < VALUES; i++) out[i] = -1;
    motet_status st = motet_store_open(context, path, entry, &store);
    assert_int_equal(st == MOTET_OK, store != NULL);
    if (st != MOTET_OK) return st;
    motet_store_info info;
    motet_store_describe(store, &info);
    st = motet_store_read(store, info.shape[0] - 1, 1, MOTET_F32, narrow);
    if (st == MOTET_OK) st = motet_store_read(store, 0, info.shape[0], MOTET_F32, narrow);
    if (st == MOTET_OK) st = motet_store_read(store, 0, info.shape[0], MOTET_F64, out);
    if (st == MOTET_NO_MEMORY) { /* a failed read can be tried again */
        retried = test_context_failed(context);
        test_context_fail_at(context, 0, 0);
        assert_ok(context, motet_store_read(store, 0, info.shape[0], MOTET_F64, out));
    }
    motet_store_free(store);
    return st;
}

static const char *const inputs[][2] = {
    {"npy/le_f8.npy", NULL},      {"npy/fortran.npy", NULL},    {"npz/stored.npz", "a"},
    {"npz/deflated.npz", "b"},    {"npz/zip64.npz", NULL},      {"npz/fortran.npz", NULL},
    {"mha/short.mha", NULL},      {"mha/zlib.mha", NULL},       {"mha/double.mhd", NULL},
    {"png/grey16.png", NULL},     {"tiff/u16_be.tif", NULL},    {"tiff/lzw.tif", NULL},
    {"tiff/zip_tiles.tif", NULL}, {"tiff/imagej.tif", NULL},    {"hdf5/floats.h5", "/f32be"},
    {"hdf5/chunked.h5", "/data"}, {"hdf5/links.h5", "/g/data"},
};

static void reading(fault_kind kind, const char *path, const char *entry, const char *name)
{
    double want[VALUES], got[VALUES];
    assert_ok(context, read_all(path, entry, want));
    int nth = 1;
    for (; nth < MOST; nth++) {
        const uint64_t before = blocks();
        retried = 0;
        arm(kind, nth);
        const motet_status st = read_all(path, entry, got);
        const int failed = disarm() || retried;
        if (failed)
            assert_explained(kind, st, name);
        else
            assert_int_equal(st, MOTET_OK);
        assert_int_equal(blocks(), before);
        if (!failed) break;
    }
    assert_in_range(nth, 4, MOST - 1);
    assert_ok(context, read_all(path, entry, got)); /* nothing stays broken */
    assert_memory_equal(want, got, sizeof want);
}

/* ---- Writing ---- */

enum { PAGES = 3, LINES = 2, COLUMNS = 5, PIXELS = PAGES * LINES * COLUMNS };

static motet_status write_all(const char *path, int overwrite, int first)
{
    uint8_t values[PIXELS];
    for (int i = 0; i < PIXELS; i++) values[i] = (uint8_t)(first + i);
    const int flat = strstr(path, ".png") != NULL;
    const motet_store_info info = {.type = MOTET_U8,
                                   .axes = flat ? 2 : 3,
                                   .shape = {PAGES, flat ? LINES * COLUMNS : LINES, COLUMNS}};
    motet_store *store = NULL;
    motet_status st = motet_store_create(context, path, NULL, &info, overwrite, &store);
    assert_int_equal(st == MOTET_OK, store != NULL);
    for (int page = 0; page < PAGES && st == MOTET_OK; page++)
        st = motet_store_write(store, page, 1, values + page * LINES * COLUMNS);
    if (st == MOTET_OK && strstr(path, "more")) { /* a failed addition can be tried again */
        st = motet_store_add(store, "more", &info, values);
        if (st == MOTET_NO_MEMORY) {
            retried = test_context_failed(context);
            test_context_fail_at(context, 0, 0);
            assert_ok(context, motet_store_add(store, "more", &info, values));
        }
    }
    if (st == MOTET_OK && strstr(path, ".h5"))
        st = motet_store_set_text(store, NULL, "units", "counts");
    if (st == MOTET_OK) st = motet_store_commit(store);
    motet_store_free(store);
    return st;
}

static void assert_holds(const char *path, int first)
{
    double values[VALUES];
    const char *entry = strstr(path, ".npz") ? "data" : strstr(path, ".h5") ? "/data" : NULL;
    assert_ok(context, read_all(path, entry, values));
    for (int i = 0; i < PIXELS; i++) assert_true(values[i] == first + i);
    assert_true(values[PIXELS] == -1);
}

/* 1 if the output holds the former values, 0 if the new ones; it must be whole. */
static int is_former(const char *path)
{
    double values[VALUES];
    const char *entry = strstr(path, ".npz") ? "data" : strstr(path, ".h5") ? "/data" : NULL;
    assert_ok(context, read_all(path, entry, values));
    assert_holds(path, values[0] == 100 ? 100 : 1);
    return values[0] == 100;
}

static void remove_output(const char *path)
{
    char command[2200];
    const int stem = strstr(path, ".mhd") ? (int)strlen(path) - 4 : 0;
    snprintf(command, sizeof command, stem ? "rm -rf '%s' '%.*s.raw' '%.*s'-*.raw" : "rm -rf '%s'",
             path, stem, path, stem, path);
    assert_int_equal(system(command), 0);
}

/* Fails the nth of each kind; answers how often the new output was in its place all the same. */
static int writing(fault_kind kind, const char *path, int overwrite)
{
    if (overwrite) assert_ok(context, write_all(path, 1, 100));
    int nth = 1, late = 0;
    for (; nth < MOST; nth++) {
        const int files = count_files();
        const uint64_t before = blocks();
        retried = 0;
        arm(kind, nth);
        const motet_status st = write_all(path, overwrite, 1);
        const int failed = disarm() || retried;
        if (st != MOTET_OK) assert_explained(kind, st, "/w");
        assert_int_equal(blocks(), before);
        if (!failed || st == MOTET_OK) { /* a call that need not succeed may be passed over */
            assert_int_equal(st, MOTET_OK);
            assert_holds(path, 1);
            if (!failed) break;
        } else {
            assert_int_equal(access(path, F_OK), overwrite ? 0 : -1);
            const int kept = !overwrite || is_former(path);
            /* Of an MHD both raw files stay: a crash may bring the old header back. */
            const int pair = !kept && strstr(path, ".mhd");
            assert_int_equal(count_files(), files + pair);
            if (kept) continue;
            late++;
            if (pair) remove_output(path);
        }
        if (overwrite)
            assert_ok(context, write_all(path, 1, 100)); /* as it was, for the next */
        else
            remove_output(path);
        assert_int_equal(count_files(), files);
    }
    assert_in_range(nth, 4, MOST - 1);
    remove_output(path);
    return late;
}

/* ---- The tests ---- */

static void set_text(char out[1024], const char *text) { snprintf(out, 1024, "%s", text); }

/* Reading each format: a failing call is an I/O error, never bad data or a wrong value; a failing
 * allocation is NO_MEMORY. */
static void reading_survives_every_fault(void **state)
{
    (void)state;
    char path[1024], name[64];
    for (int kind = 0; kind < KINDS; kind++) {
        for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
            snprintf(path, sizeof path, MOTET_SOURCE "/tests/fuzz/corpus/%s", inputs[i][0]);
            const char *file = strrchr(path, '/') + 1; /* a header may lie beside its data */
            snprintf(name, sizeof name, "%.*s", (int)strcspn(file, ".") + 1, file);
            reading((fault_kind)kind, path, inputs[i][1], name);
        }
        set_text(path, test_path("r.pages/"));
        assert_ok(context, write_all(path, 1, 7));
        reading((fault_kind)kind, path, NULL, "pages");
    }
}

/* Writing each format, where nothing was and over an older file: what failed left things as they
 * were. Only the sync of the folder comes after an older file was replaced; then the new one is
 * there, whole. */
static void writing_is_whole_or_nothing(void **state)
{
    (void)state;
    static const char *const outputs[] = {"w.npy", "w.npz", "w.more.npz", "w.mha", "w.mhd",
                                          "w.png", "w.tif", "w.pages/",   "w.h5",  "w.more.h5"};
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        for (int kind = 0; kind < KINDS; kind++)
            for (int overwrite = 0; overwrite < 2; overwrite++) {
                char path[1024];
                set_text(path, test_path(outputs[i]));
                const int late = writing((fault_kind)kind, path, overwrite);
                if (late > (kind == CALL))
                    fail_msg("%s: %d failures after it was in place", path, late);
            }
}

/* Lists of entries and comparisons of paths. */
static void looking_survives_every_fault(void **state)
{
    (void)state;
    static const char *const files[] = {"npz/stored.npz", "hdf5/floats.h5"};
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; i < 4; i++) {
            const char *input =
                i == 2 ? test_folder() : MOTET_SOURCE "/tests/fuzz/corpus/mha/double.mhd";
            const char *output = i == 2 ? MOTET_SOURCE "/docs" : test_path("double.mhd");
            int nth = 1;
            for (; nth < MOST; nth++) {
                char path[1024], *names = NULL;
                const uint64_t before = blocks();
                if (i < 2)
                    snprintf(path, sizeof path, MOTET_SOURCE "/tests/fuzz/corpus/%s", files[i]);
                arm((fault_kind)kind, nth);
                const motet_status st = i < 2 ? motet_store_entries(context, path, &names)
                                              : motet_store_check_distinct(context, input, output);
                const int failed = disarm();
                if (st != MOTET_OK) assert_explained((fault_kind)kind, st, i < 2 ? "." : "");
                assert_int_equal(st == MOTET_OK && i < 2, names != NULL);
                motet_text_free(context, names);
                assert_int_equal(blocks(), before);
                if (!failed) break;
                assert_int_not_equal(st, MOTET_OK);
            }
            if (i != 2 || kind != CALL) assert_in_range(nth, 2, MOST - 1);
        }
}

/* Reads and writes that move a few bytes at once, or are interrupted, give the same files. */
static void parts_and_interruptions_change_nothing(void **state)
{
    (void)state;
    char path[1024];
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        double want[VALUES], got[VALUES];
        snprintf(path, sizeof path, MOTET_SOURCE "/tests/fuzz/corpus/%s", inputs[i][0]);
        assert_ok(context, read_all(path, inputs[i][1], want));
        fault.trickle = 1;
        const motet_status st = read_all(path, inputs[i][1], got);
        fault.trickle = 0;
        assert_ok(context, st);
        assert_memory_equal(want, got, sizeof want);
    }
    static const char *const outputs[] = {"t.npy", "t.npz", "t.mha",    "t.mhd",
                                          "t.png", "t.tif", "t.pages/", "t.h5"};
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        set_text(path, test_path(outputs[i]));
        fault.trickle = 1;
        const motet_status st = write_all(path, 0, 50);
        fault.trickle = 0;
        assert_ok(context, st);
        assert_holds(path, 50);
    }
}

static int begin(void **state)
{
    (void)state;
    context = test_context_failing(0, 0);
    return context ? 0 : 1;
}

static int end(void **state)
{
    (void)state;
    motet_context_free(context);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading_survives_every_fault),
        cmocka_unit_test(writing_is_whole_or_nothing),
        cmocka_unit_test(looking_survives_every_fault),
        cmocka_unit_test(parts_and_interruptions_change_nothing),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
