/* HDF5 through the plug-in: what other programs wrote, what we write, what must be refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/convert.h"
#include "support/support.h"

static motet_context *c;

static int set_up(void **state)
{
    (void)state;
    c = test_context();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    motet_context_free(c);
    return 0;
}

static motet_store_info volume_info(motet_type type, int64_t z, int64_t y, int64_t x)
{
    motet_store_info info = {.type = type, .axes = 3, .shape = {z, y, x}};
    return info;
}

static unsigned char *file_bytes(const char *path, size_t *bytes)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    *bytes = (size_t)ftell(f);
    rewind(f);
    unsigned char *data = malloc(*bytes + 1);
    assert_int_equal(fread(data, 1, *bytes, f), *bytes);
    fclose(f);
    return data;
}

/* What is written comes back, bit for bit, for every type, with its texts and its spacing. */
static void round_trip_of_every_type(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int type = MOTET_F32; type <= MOTET_I64; type++) {
        const char *path = test_path("types.h5");
        motet_store_info info = volume_info((motet_type)type, 5, 3, 7);
        info.spacing[0] = 0.5, info.spacing[1] = info.spacing[2] = 0.25, info.origin[0] = -1;
        unsigned char data[5 * 3 * 7 * 8], back[sizeof data];
        const size_t row = 3 * 7 * kind_bytes((store_kind)type);
        for (size_t i = 0; i < sizeof data; i++) data[i] = (unsigned char)test_random(&seed);
        motet_store *s;
        assert_ok(c, motet_store_create(c, path, "/a/b/volume", &info, 1, &s));
        assert_ok(c, motet_store_write(s, 0, 2, data));
        assert_ok(c, motet_store_write(s, 2, 3, data + 2 * row));
        assert_ok(c, motet_store_set_text(s, NULL, "units", "1/mm"));
        assert_ok(c, motet_store_commit(s));
        motet_store_free(s);

        assert_ok(c, motet_store_open(c, path, NULL, &s));
        motet_store_info got;
        motet_store_describe(s, &got);
        assert_string_equal(got.format, "hdf5");
        assert_int_equal(got.type, type);
        assert_int_equal(got.axes, 3);
        assert_memory_equal(got.shape, info.shape, sizeof got.shape);
        assert_memory_equal(got.spacing, info.spacing, sizeof got.spacing);
        assert_memory_equal(got.origin, info.origin, sizeof got.origin);
        char text[8];
        assert_ok(c, motet_store_text(s, "units", text, sizeof text));
        assert_string_equal(text, "1/mm");
        assert_status(c, motet_store_text(s, "units", text, 4), MOTET_BAD_ARGUMENT);
        assert_status(c, motet_store_text(s, "colour", text, sizeof text), MOTET_NOT_FOUND);
        for (int64_t i = 4; i >= 0; i--)
            assert_ok(c, motet_store_read(s, i, 1, (motet_type)type, back + (size_t)i * row));
        assert_memory_equal(back, data, 5 * row);
        motet_store_free(s);
    }
}

/* Files by h5py. Those without sums over their structure are kept from the fuzz corpus: a changed
 * byte there is enough to hang libhdf5. */
static const char *corpus(const char *name)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/hdf5/%s", MOTET_SOURCE, name);
    if (access(path, R_OK))
        snprintf(path, sizeof path, "%s/tests/unit/store/hdf5/%s", MOTET_SOURCE, name);
    return path;
}

static void write_small(const char *path)
{
    const motet_store_info info = volume_info(MOTET_F32, 4, 2, 3),
                           angles = {.type = MOTET_F64, .axes = 1, .shape = {4}};
    float data[24];
    const double theta[4] = {0, 45, 90, 135};
    for (int i = 0; i < 24; i++) data[i] = (float)i;
    motet_store *s;
    assert_ok(c, motet_store_create(c, path, "/exchange/data", &info, 1, &s));
    assert_ok(c, motet_store_add(s, "/exchange/theta", &angles, theta));
    assert_ok(c, motet_store_set_text(s, "/exchange/theta", "units", "degrees"));
    assert_status(c, motet_store_set_text(s, "/exchange/theta", "units", "rad"), MOTET_EXISTS);
    assert_status(c, motet_store_set_text(s, "/exchange/phi", "units", "rad"), MOTET_NOT_FOUND);
    assert_status(c, motet_store_add(s, "/exchange/data", &angles, theta), MOTET_EXISTS);
    assert_status(c, motet_store_add(s, "/exchange//x", &angles, theta), MOTET_BAD_ARGUMENT);
    assert_status(c, motet_store_add(s, "/exchange/data/x", &angles, theta), MOTET_BAD_ARGUMENT);
    assert_ok(c, motet_store_write(s, 0, 4, data));
    assert_ok(c, motet_store_commit(s));
    motet_store_free(s);
}

/* P1: the same results are the same file, whenever they are written. */
static void output_holds_no_time(void **state)
{
    (void)state;
    size_t first_bytes, second_bytes;
    write_small(test_path("first.h5"));
    unsigned char *first = file_bytes(test_path("first.h5"), &first_bytes);
    usleep(1100 * 1000);
    write_small(test_path("second.h5"));
    unsigned char *second = file_bytes(test_path("second.h5"), &second_bytes);
    assert_int_equal(first_bytes, second_bytes);
    assert_memory_equal(first, second, first_bytes);
    free(first);
    free(second);
}

/* A file of several entries lists them, wants one named, and opens each. */
static void several_entries(void **state)
{
    (void)state;
    const char *path = test_path("several.h5");
    write_small(path);
    char *names;
    assert_ok(c, motet_store_entries(c, path, &names));
    assert_string_equal(names, "/exchange/data\n/exchange/theta\n");
    motet_text_free(c, names);
    motet_store *s;
    assert_status(c, motet_store_open(c, path, NULL, &s), MOTET_BAD_ARGUMENT);
    assert_message(c, "/exchange/data", "/exchange/theta", NULL);
    assert_status(c, motet_store_open(c, path, "/exchange", &s), MOTET_BAD_ARGUMENT);
    assert_status(c, motet_store_open(c, path, "/", &s), MOTET_BAD_ARGUMENT);
    assert_status(c, motet_store_open(c, path, "/exchange/none", &s), MOTET_NOT_FOUND);
    assert_message(c, "several.h5", "/exchange/none", NULL);
    assert_status(c, motet_store_open(c, path, "/exchange/data/x", &s), MOTET_NOT_FOUND);
    assert_ok(c, motet_store_open(c, path, "exchange/theta", &s));
    double theta[4];
    char units[16];
    assert_ok(c, motet_store_read(s, 0, 4, MOTET_F64, theta));
    assert_true(theta[1] == 45 && theta[3] == 135);
    assert_ok(c, motet_store_text(s, "units", units, sizeof units));
    assert_string_equal(units, "degrees");
    motet_store_free(s);
}

static void check_ramp(const char *file, const char *entry, motet_type type, int64_t axes,
                       int64_t rows, int64_t elements, double start, double step)
{
    motet_store *s;
    assert_ok(c, motet_store_open(c, corpus(file), entry, &s));
    motet_store_info info;
    motet_store_describe(s, &info);
    assert_int_equal(info.type, type);
    assert_int_equal(info.axes, axes);
    assert_int_equal(info.shape[0], rows);
    double values[256];
    for (int64_t i = rows - 1; i >= 0; i--)
        assert_ok(c, motet_store_read(s, i, 1, MOTET_F64, values + i * (elements / rows)));
    for (int64_t i = 0; i < elements; i++) assert_true(values[i] == start + step * (double)i);
    motet_store_free(s);
}

/* Values written by another program (h5py) in either byte order, packed, by any link in the file.
 */
static void reads_what_h5py_wrote(void **state)
{
    (void)state;
    check_ramp("floats.h5", "f32be", MOTET_F32, 3, 2, 24, 0, 0.5);
    check_ramp("floats.h5", "f64be", MOTET_F64, 3, 2, 24, 0, 0.5);
    check_ramp("floats.h5", "f16be", MOTET_F16, 3, 2, 24, 0, 0.5);
    check_ramp("floats.h5", "f16", MOTET_F16, 3, 2, 24, 0, 0.5);
    check_ramp("floats.h5", "scalar", MOTET_F64, 1, 1, 1, 2.5, 0);
    check_ramp("integers.h5", "u1", MOTET_U8, 3, 2, 24, 0, 1);
    check_ramp("integers.h5", "u2", MOTET_U16, 3, 2, 24, 0, 1);
    check_ramp("integers.h5", "u4", MOTET_I64, 3, 2, 24, 0, 1);
    check_ramp("integers.h5", "i1", MOTET_I32, 3, 2, 24, -12, 1);
    check_ramp("integers.h5", "i2", MOTET_I32, 3, 2, 24, -12, 1);
    check_ramp("integers.h5", "i4", MOTET_I32, 3, 2, 24, -12, 1);
    check_ramp("integers.h5", "i8", MOTET_I64, 3, 2, 24, -12, 1);
    check_ramp("chunked.h5", NULL, MOTET_U16, 3, 7, 210, 0, 1);
    check_ramp("links.h5", NULL, MOTET_I32, 1, 5, 5, 0, 1);
    check_ramp("links.h5", "/soft", MOTET_I32, 1, 5, 5, 0, 1);
    check_ramp("links.h5", "/g/up/g/self/data", MOTET_I32, 1, 5, 5, 0, 1);
}

static void refused(const char *file, const char *entry, motet_status status, const char *word)
{
    motet_store *s = NULL;
    assert_status(c, motet_store_open(c, corpus(file), entry, &s), status);
    assert_message(c, file, word, NULL);
    assert_null(s);
}

/* A file can not make us open another one, nor read what it calls numbers and is none. */
static void refuses_what_leads_out_of_the_file(void **state)
{
    (void)state;
    refused("links.h5", "outside", MOTET_UNSUPPORTED, "external link");
    refused("links.h5", "around", MOTET_UNSUPPORTED, "external link");
    refused("links.h5", "dangling", MOTET_NOT_FOUND, "dangling");
    refused("outside.h5", "external", MOTET_UNSUPPORTED, "other files");
    refused("outside.h5", "virtual", MOTET_UNSUPPORTED, "other datasets");
    refused("outside.h5", "growing", MOTET_UNSUPPORTED, "other datasets");
    refused("integers.h5", "u8", MOTET_UNSUPPORTED, "u8");
    refused("integers.h5", "bool", MOTET_UNSUPPORTED, "bool");
    refused("integers.h5", "title", MOTET_UNSUPPORTED, "title");
    refused("texts.h5", "null", MOTET_UNSUPPORTED, "null");
}

/* Attributes of fixed and of variable length are read alike. */
static void texts_of_all_forms(void **state)
{
    (void)state;
    motet_store *s;
    char text[16];
    assert_ok(c, motet_store_open(c, corpus("texts.h5"), "data", &s));
    const char *const pairs[][2] = {
        {"variable", "degrees"}, {"fixed", "mm"}, {"padded", "cm"}, {"empty", ""}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        assert_ok(c, motet_store_text(s, pairs[i][0], text, sizeof text));
        assert_string_equal(text, pairs[i][1]);
    }
    assert_status(c, motet_store_text(s, "number", text, sizeof text), MOTET_UNSUPPORTED);
    assert_status(c, motet_store_text(s, "two", text, sizeof text), MOTET_UNSUPPORTED);
    motet_store_free(s);
    assert_ok(c, motet_store_open(c, corpus("texts.h5"), "empty", &s));
    motet_store_info info;
    motet_store_describe(s, &info);
    assert_int_equal(info.shape[0], 0);
    assert_int_equal(info.shape[1], 4);
    motet_store_free(s);
}

/* Every cut of a file is a refusal or the same values, and leaks nothing. */
static void cut_files_are_refused(void **state)
{
    (void)state;
    size_t bytes;
    unsigned char *data = file_bytes(corpus("chunked.h5"), &bytes);
    const char *path = test_path("cut.h5");
    motet_memory before, after;
    motet_context_memory(c, &before);
    for (size_t length = 0; length < bytes; length += 13) {
        FILE *f = fopen(path, "wb");
        assert_int_equal(fwrite(data, 1, length, f), length);
        fclose(f);
        motet_store *s = NULL;
        uint16_t values[210];
        motet_status st = motet_store_open(c, path, NULL, &s);
        if (st == MOTET_OK) st = motet_store_read(s, 0, 7, MOTET_U16, values);
        motet_store_free(s);
        assert_int_not_equal(st, MOTET_OK);
        assert_int_not_equal(st, MOTET_INTERNAL);
    }
    motet_context_memory(c, &after);
    assert_int_equal(before.blocks, after.blocks);
    free(data);
}

/* P3: what was begun and not committed leaves nothing, a full disk included. */
static void begun_and_dropped_leaves_nothing(void **state)
{
    (void)state;
    const char *path = test_path("dropped.h5");
    const motet_store_info info = volume_info(MOTET_F32, 4, 2, 3);
    motet_store *s;
    float row[6] = {0};
    assert_ok(c, motet_store_create(c, path, NULL, &info, 0, &s));
    assert_ok(c, motet_store_write(s, 0, 1, row));
    assert_status(c, motet_store_commit(s), MOTET_BAD_ARGUMENT);
    motet_store_free(s);
    assert_int_equal(access(path, F_OK), -1);
}

/* A file of two kilobytes does not make us ask for gigabytes; what was never written is small and
 * reads as the fill value. */
static void claims_beyond_the_file_are_refused(void **state)
{
    (void)state;
    refused("claims.h5", "vast", MOTET_BAD_DATA, "14400000000 bytes");
    refused("claims.h5", "late", MOTET_BAD_DATA, "1099511627776 bytes");
    motet_store *s;
    uint8_t row[100 * 100];
    assert_ok(c, motet_store_open(c, corpus("claims.h5"), "unwritten", &s));
    assert_ok(c, motet_store_read(s, 99, 1, MOTET_U8, row));
    assert_int_equal(row[0], 7);
    assert_int_equal(row[sizeof row - 1], 7);
    motet_store_free(s);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif

/* libhdf5 dies where it gets no memory to open a file: that is found out before it tries. */
static void no_memory_to_open_is_an_error(void **state)
{
    (void)state;
#ifdef SANITIZED
    skip(); /* they need the whole address space */
#else
    const char *path = test_path("small.h5");
    motet_store *s = NULL;
    write_small(path); /* the plug-in is loaded from here on */
    unsigned long pages = 0;
    FILE *sizes = fopen("/proc/self/statm", "r");
    assert_non_null(sizes);
    assert_int_equal(fscanf(sizes, "%lu", &pages), 1);
    fclose(sizes);
    struct rlimit former, limit;
    assert_int_equal(getrlimit(RLIMIT_AS, &former), 0);
    limit = former;
    limit.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (1 << 20);
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
    const motet_status opened = motet_store_open(c, path, "/data", &s);
    const motet_store_info info = {.type = MOTET_U8, .axes = 1, .shape = {1}};
    const motet_status begun = motet_store_create(c, test_path("new.h5"), NULL, &info, 0, &s);
    assert_int_equal(setrlimit(RLIMIT_AS, &former), 0);
    assert_int_equal(opened, MOTET_NO_MEMORY);
    assert_int_equal(begun, MOTET_NO_MEMORY);
    assert_null(s);
#endif
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(round_trip_of_every_type),
        TEST(output_holds_no_time),
        TEST(several_entries),
        TEST(reads_what_h5py_wrote),
        TEST(refuses_what_leads_out_of_the_file),
        TEST(texts_of_all_forms),
        TEST(cut_files_are_refused),
        TEST(claims_beyond_the_file_are_refused),
        TEST(no_memory_to_open_is_an_error),
        TEST(begun_and_dropped_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
