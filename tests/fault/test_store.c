/* Every nth failing allocation while reading or writing a file: NO_MEMORY, nothing leaked, no file
 * left, and the same store or call works afterwards where it promises to. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/support.h"

enum { MOST = 200 }; /* allocations of one job; there are far fewer */

static int count_files(void)
{
    int count = 0;
    DIR *folder = opendir(test_folder());
    assert_non_null(folder);
    while (readdir(folder)) count++;
    closedir(folder);
    return count;
}

static motet_context *context; /* one for all jobs */

static uint64_t blocks(void)
{
    motet_memory memory;
    motet_context_report_reset(context);
    motet_context_memory(context, &memory);
    return memory.blocks;
}

typedef motet_status job(const char *path, const char *entry);

static motet_status read_all(const char *path, const char *entry)
{
    motet_store *store = NULL;
    motet_store_info info;
    double wide[1024];
    float narrow[1024];
    motet_status st = motet_store_open(context, path, entry, &store);
    if (st != MOTET_OK) {
        assert_null(store);
        return st;
    }
    motet_store_describe(store, &info);
    st = motet_store_read(store, info.shape[0] - 1, 1, MOTET_F64, wide);
    if (st == MOTET_OK) st = motet_store_read(store, 0, info.shape[0], MOTET_F32, narrow);
    if (st == MOTET_NO_MEMORY) { /* a failed read can be tried again */
        test_context_fail_at(context, 0, 0);
        assert_ok(context, motet_store_read(store, 0, info.shape[0], MOTET_F32, narrow));
        st = MOTET_NO_MEMORY;
    }
    motet_store_free(store);
    return st;
}

/* A box that cuts every axis, as it is and narrowed. */
static motet_status read_box(const char *path, const char *entry)
{
    motet_store *store = NULL;
    motet_store_info info;
    double wide[1024], again[1024];
    int64_t first[MOTET_MAX_AXES], count[MOTET_MAX_AXES];
    motet_status st = motet_store_open(context, path, entry, &store);
    if (st != MOTET_OK) return st;
    motet_store_describe(store, &info);
    for (int i = 0; i < info.axes; i++) {
        first[i] = info.shape[i] > 2;
        count[i] = info.shape[i] > 2 ? info.shape[i] - 2 : 1;
    }
    st = motet_store_read_box(store, first, count, MOTET_F64, wide);
    if (st == MOTET_OK) st = motet_store_read_box(store, first, count, MOTET_F32, again);
    if (st == MOTET_NO_MEMORY) {
        test_context_fail_at(context, 0, 0);
        assert_ok(context, motet_store_read_box(store, first, count, MOTET_F64, wide));
        assert_ok(context, motet_store_read_box(store, first, count, MOTET_F64, again));
        assert_true(wide[0] == again[0]);
        st = MOTET_NO_MEMORY;
    }
    motet_store_free(store);
    return st;
}

static motet_status list(const char *path, const char *entry)
{
    (void)entry;
    char *names = NULL;
    const motet_status st = motet_store_entries(context, path, &names);
    if (st == MOTET_OK)
        motet_text_free(context, names);
    else
        assert_null(names);
    return st;
}

static motet_status compare(const char *path, const char *entry)
{
    (void)entry;
    return motet_store_check_distinct(context, test_folder(), path);
}

static motet_status write_all(const char *path, const char *entry)
{
    static const unsigned char rows[12];
    const motet_store_info info = {.type = MOTET_U8, .axes = 2, .shape = {3, 4}};
    motet_store *store = NULL;
    motet_status st = motet_store_create(context, path, NULL, &info, 0, &store);
    if (st != MOTET_OK) {
        assert_null(store);
        return st;
    }
    st = motet_store_write(store, 0, 3, rows);
    if (st == MOTET_OK && entry) {
        st = motet_store_add(store, entry, &info, rows);
        if (st == MOTET_NO_MEMORY) { /* a failed addition can be tried again */
            test_context_fail_at(context, 0, 0);
            assert_ok(context, motet_store_add(store, entry, &info, rows));
            st = MOTET_NO_MEMORY;
        }
    }
    if (st == MOTET_OK) st = motet_store_commit(store);
    motet_store_free(store);
    return st;
}

static void fail_each(job *run, const char *path, const char *entry, int writes)
{
    const int files = count_files();
    for (int forever = 0; forever < 2; forever++) {
        int nth = 1;
        for (; nth <= MOST; nth++) {
            const uint64_t before = blocks();
            test_context_fail_at(context, nth, forever);
            const motet_status st = run(path, entry);
            test_context_fail_at(context, 0, 0);
            assert_int_equal(blocks(), before);
            if (st == MOTET_NO_MEMORY) assert_int_equal(count_files(), files);
            if (st == MOTET_OK) break;
            assert_int_equal(st, MOTET_NO_MEMORY);
        }
        assert_in_range(nth, 2, MOST);
        if (writes) {
            assert_true(count_files() > files);
            unlink(path);
            char raw[4096];
            snprintf(raw, sizeof raw, "%.*s.raw", (int)strlen(path) - 4, path);
            unlink(raw);
        }
    }
}

static const char *corpus(const char *name)
{
    static char path[1024];
    snprintf(path, sizeof path, MOTET_SOURCE "/tests/fuzz/corpus/%s", name);
    return path;
}

/* Reading each format, with narrowing and going back. */
static void reading_survives_failing_allocations(void **state)
{
    (void)state;
    static const char *const files[][2] = {
        {"npy/le_f8.npy", NULL},   {"npy/fortran.npy", NULL}, {"npz/stored.npz", "a"},
        {"npz/deflated.npz", "b"}, {"npz/fortran.npz", NULL}, {"mha/short.mha", NULL},
        {"mha/zlib.mha", NULL},    {"mha/double.mhd", NULL},  {"png/grey16.png", NULL},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        fail_each(read_all, corpus(files[i][0]), files[i][1], 0);
}

/* Reading a box of each format; strips and tiles of TIFF as well. */
static void boxes_survive_failing_allocations(void **state)
{
    (void)state;
    static const char *const files[][2] = {
        {"npy/be_f8.npy", NULL},   {"npy/fortran.npy", NULL},    {"npz/stored.npz", "a"},
        {"npz/deflated.npz", "b"}, {"mha/zlib.mha", NULL},       {"mha/double.mhd", NULL},
        {"png/grey16.png", NULL},  {"tiff/u16_be.tif", NULL},    {"tiff/lzw.tif", NULL},
        {"tiff/one.tif", NULL},    {"tiff/zip_tiles.tif", NULL}, {"hdf5/chunked.h5", "/data"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        fail_each(read_box, corpus(files[i][0]), files[i][1], 0);
}

/* Writing each format; what failed leaves no file. */
static void writing_survives_failing_allocations(void **state)
{
    (void)state;
    static const char *const names[] = {"w.npy", "w.npz", "w.mha", "w.mhd", "w.png"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        fail_each(write_all, test_path(names[i]), NULL, 1);
    fail_each(write_all, test_path("added.npz"), "more", 1);
}

/* Lists of entries and comparisons of paths. */
static void looking_survives_failing_allocations(void **state)
{
    (void)state;
    fail_each(list, corpus("npz/stored.npz"), NULL, 0);
    fail_each(compare, MOTET_SOURCE "/tests", NULL, 0);
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
        cmocka_unit_test(reading_survives_failing_allocations),
        cmocka_unit_test(boxes_survive_failing_allocations),
        cmocka_unit_test(writing_survives_failing_allocations),
        cmocka_unit_test(looking_survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
