/* TIFF: what other programs wrote, what we write, what must be refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>
#include <unistd.h>

#include "store/convert.h"
#include "store/tiff_write.h"
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

static const char *corpus(const char *name)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/tiff/%s", MOTET_SOURCE, name);
    return path;
}

/* Reads in both directions: whole, and by rows from the last to the first. */
static void check_ramp(const char *file, motet_type type, int axes, int64_t rows, int64_t elements,
                       double start, double step)
{
    motet_store *s;
    assert_ok(c, motet_store_open(c, corpus(file), NULL, &s));
    motet_store_info info;
    motet_store_describe(s, &info);
    assert_string_equal(info.format, "tiff");
    assert_int_equal(info.type, type);
    assert_int_equal(info.axes, axes);
    assert_int_equal(info.shape[0], rows);
    static double values[4096];
    assert_ok(c, motet_store_read(s, 0, rows, MOTET_F64, values));
    for (int64_t i = 0; i < elements; i++) assert_true(values[i] == start + step * (double)i);
    memset(values, 0, sizeof values);
    for (int64_t i = rows - 1; i >= 0; i--)
        assert_ok(c, motet_store_read(s, i, 1, MOTET_F64, values + i * (elements / rows)));
    for (int64_t i = 0; i < elements; i++) assert_true(values[i] == start + step * (double)i);
    motet_store_free(s);
}

/* Every number format, byte order and container that another writer makes. */
static void reads_every_kind_of_number(void **state)
{
    (void)state;
    check_ramp("u8.tif", MOTET_U8, 3, 3, 105, 0, 1);
    check_ramp("u16_be.tif", MOTET_U16, 3, 3, 105, 0, 1);
    check_ramp("u32.tif", MOTET_I64, 3, 3, 105, 0, 1);
    check_ramp("i16_be.tif", MOTET_I32, 3, 3, 105, -50, 1);
    check_ramp("i64_big.tif", MOTET_I64, 3, 3, 105, -50, 1);
    check_ramp("f16.tif", MOTET_F16, 3, 3, 105, 0, 0.5);
    check_ramp("f32_be.tif", MOTET_F32, 3, 3, 105, 0, 0.5);
    check_ramp("f64_big.tif", MOTET_F64, 3, 3, 105, 0, 0.5);
    check_ramp("one.tif", MOTET_U16, 2, 5, 35, 0, 1);
    check_ramp("white.tif", MOTET_U8, 3, 3, 105, 0, 1); /* values as stored */
    check_ramp("reduced.tif", MOTET_U8, 3, 3, 105, 0, 1);
    check_ramp("imagej.tif", MOTET_U16, 3, 3, 105, 0, 1);
}

static void check_packed(const char *file, motet_type type, double step)
{
    const uint16_t packing[] = {COMPRESSION_LZMA, COMPRESSION_ZSTD};
    const char *const names[] = {"lzma", "zstd"};
    for (size_t i = 0; i < 2; i++)
        if (!strncmp(file, names[i], 4) && !TIFFIsCODECConfigured(packing[i])) return;
    check_ramp(file, type, 3, 2, 720, 0, step);
}

/* Strips and tiles, packed in every common way, with predictors. */
static void reads_packed_strips_and_tiles(void **state)
{
    (void)state;
    check_packed("lzw.tif", MOTET_U16, 1);
    check_packed("packbits.tif", MOTET_U16, 1);
    check_packed("zip_tiles.tif", MOTET_U16, 1);
    check_ramp("tiles_be.tif", MOTET_U16, 3, 2, 400, 0, 1);
    check_packed("float_predictor.tif", MOTET_F32, 0.5);
    check_packed("lzma.tif", MOTET_F32, 0.5);
    check_packed("zstd_big.tif", MOTET_F32, 0.5);
    check_ramp("jpeg.tif", MOTET_U8, 3, 2, 512, 7, 0);
}

static void refused(const char *file, motet_status status, const char *word)
{
    motet_store *s = NULL;
    assert_status(c, motet_store_open(c, corpus(file), NULL, &s), status);
    assert_message(c, file, word, NULL);
    assert_null(s);
}

/* What is no stack of gray pages is refused with the page and what is wrong with it. */
static void refuses_what_is_no_stack(void **state)
{
    (void)state;
    refused("rgb.tif", MOTET_UNSUPPORTED, "3 samples");
    refused("palette.tif", MOTET_UNSUPPORTED, "palette");
    refused("bits12.tif", MOTET_UNSUPPORTED, "12-bit");
    refused("differ.tif", MOTET_BAD_DATA, "page 2 has 4 x 7");
    refused("types.tif", MOTET_BAD_DATA, "page 2 has");
    refused("circle.tif", MOTET_BAD_DATA, "circle");
    refused("imagej_short.tif", MOTET_BAD_DATA, "3 pages");
    motet_store *s;
    assert_status(c, motet_store_open(c, corpus("one.tif"), "/data", &s), MOTET_BAD_ARGUMENT);
}

static void fill(unsigned char *data, size_t bytes, uint64_t seed)
{
    for (size_t i = 0; i < bytes; i++) data[i] = (unsigned char)test_random(&seed);
}

/* What we write comes back bit for bit, for every type, with its spacing; libtiff agrees. */
static void round_trip_of_every_type(void **state)
{
    (void)state;
    for (int type = MOTET_F32; type <= MOTET_I64; type++)
        for (int axes = 2; axes <= 3; axes++) {
            const char *path = test_path("types.tif");
            motet_store_info info = {.type = (motet_type)type, .axes = axes, .shape = {5, 3, 7}};
            for (int i = 0; i < axes; i++)
                info.spacing[i] = 0.1 * (i + 1), info.origin[i] = -i / 3.0;
            unsigned char data[5 * 3 * 7 * 8], back[sizeof data];
            const size_t element = kind_bytes((store_kind)type);
            const size_t row = (axes == 3 ? 21 : 3) * element;
            fill(data, sizeof data, (uint64_t)type);
            motet_store *s;
            assert_ok(c, motet_store_create(c, path, NULL, &info, 1, &s));
            assert_ok(c, motet_store_write(s, 0, 2, data));
            assert_ok(c, motet_store_write(s, 2, 3, data + 2 * row));
            assert_ok(c, motet_store_commit(s));
            motet_store_free(s);

            motet_store_info got;
            assert_ok(c, motet_store_open(c, path, NULL, &s));
            motet_store_describe(s, &got);
            assert_int_equal(got.type, type);
            assert_int_equal(got.axes, axes);
            assert_memory_equal(got.shape, info.shape, (size_t)axes * sizeof *got.shape);
            assert_memory_equal(got.spacing, info.spacing, sizeof got.spacing);
            assert_memory_equal(got.origin, info.origin, sizeof got.origin);
            assert_ok(c, motet_store_read(s, 0, 5, (motet_type)type, back));
            assert_memory_equal(back, data, 5 * row);
            motet_store_free(s);

            TIFF *t = TIFFOpen(path, "r");
            assert_non_null(t);
            uint16_t bits = 0;
            float resolution = 0;
            assert_int_equal(TIFFGetField(t, TIFFTAG_BITSPERSAMPLE, &bits), 1);
            assert_int_equal(bits, 8 * element);
            assert_int_equal(TIFFGetField(t, TIFFTAG_XRESOLUTION, &resolution), 1);
            assert_true(resolution > 9.999f / (0.1f * (float)axes) &&
                        resolution < 10.001f / (0.1f * (float)axes));
            assert_int_equal(TIFFNumberOfDirectories(t), axes == 3 ? 5 : 1);
            for (int page = 0; page < (axes == 3 ? 5 : 1); page++) {
                assert_int_equal(TIFFSetDirectory(t, (tdir_t)page), 1);
                const tmsize_t bytes = TIFFReadEncodedStrip(t, 0, back, sizeof back);
                assert_int_equal(bytes, axes == 3 ? row : 5 * row);
                assert_memory_equal(back, data + (size_t)page * row, (size_t)bytes);
            }
            TIFFClose(t);
        }
}

/* A stack of one page stays a stack. */
static void one_page_of_a_volume_keeps_its_axis(void **state)
{
    (void)state;
    const motet_store_info info = {.type = MOTET_U8, .axes = 3, .shape = {1, 2, 3}};
    const unsigned char data[6] = {1, 2, 3, 4, 5, 6};
    motet_store *s;
    assert_ok(c, motet_store_create(c, test_path("single.tif"), NULL, &info, 0, &s));
    assert_ok(c, motet_store_write(s, 0, 1, data));
    assert_ok(c, motet_store_commit(s));
    motet_store_free(s);
    motet_store_info got;
    unsigned char back[6];
    assert_ok(c, motet_store_open(c, test_path("single.tif"), NULL, &s));
    motet_store_describe(s, &got);
    assert_int_equal(got.axes, 3);
    assert_memory_equal(got.shape, info.shape, sizeof got.shape);
    assert_ok(c, motet_store_read(s, 0, 1, MOTET_U8, back));
    assert_memory_equal(back, data, 6);
    motet_store_free(s);
}

static void check_last_byte(const char *path, int axes, int64_t rows, int64_t row_bytes)
{
    motet_store *s;
    motet_store_info info;
    unsigned char *row = malloc((size_t)row_bytes);
    assert_ok(c, motet_store_open(c, path, NULL, &s));
    motet_store_describe(s, &info);
    assert_int_equal(info.axes, axes);
    assert_int_equal(info.shape[0], rows);
    assert_ok(c, motet_store_read(s, rows - 1, 1, MOTET_U8, row));
    assert_int_equal(row[0], 0);
    assert_int_equal(row[row_bytes - 1], 77);
    motet_store_free(s);
    free(row);
}

/* Past 4 GiB a file is a BigTIFF, ours and others', and its last byte comes back. The pixels before
 * are holes, which a file system need not keep. */
static void large_files_are_bigtiff(void **state)
{
    (void)state;
    const unsigned char last = 77;
    store_file file;
    tiff_plan plan;
    motet_store_info info = {.type = MOTET_U8, .axes = 3, .shape = {5000, 1000, 1000}};
    assert_ok(c, tiff_plan_pages(c, "plan", &info, &plan));
    assert_true(plan.big);
    assert_ok(c, file_begin(c, test_path("large.tif"), 0, &file));
    assert_ok(c, file_write(&file, tiff_plan_pixels(&plan) + 4999999999, 1, &last));
    assert_ok(c, tiff_write_frame(&plan, &file));
    assert_ok(c, file_sync(&file));
    assert_ok(c, file_place(&file));
    file_close(&file);
    check_last_byte(test_path("large.tif"), 3, 5000, 1000000);
    unlink(test_path("large.tif"));

    info.shape[0] = 4000;
    assert_ok(c, tiff_plan_pages(c, "plan", &info, &plan));
    assert_false(plan.big);

    const uint64_t entries[9][3] = {{256, 4, 50000}, {257, 4, 100000}, {258, 3, 8},
                                    {259, 3, 1},     {262, 3, 1},      {273, 16, 4096},
                                    {277, 3, 1},     {278, 4, 100000}, {279, 16, 5000000000}};
    const uint64_t directory = 16, count = 9, one = 1, none = 0;
    FILE *f = fopen(test_path("tall.tif"), "wb");
    assert_non_null(f);
    fwrite("II+\0\b\0\0", 1, 8, f);
    fwrite(&directory, 8, 1, f);
    fwrite(&count, 8, 1, f);
    for (int i = 0; i < 9; i++) {
        fwrite(&entries[i][0], 2, 1, f);
        fwrite(&entries[i][1], 2, 1, f);
        fwrite(&one, 8, 1, f);
        fwrite(&entries[i][2], 8, 1, f);
    }
    fwrite(&none, 8, 1, f);
    assert_int_equal(fseeko(f, 4096 + (off_t)4999999999, SEEK_SET), 0);
    assert_int_equal(fputc(last, f), last);
    fclose(f);
    check_last_byte(test_path("tall.tif"), 2, 100000, 50000);
    unlink(test_path("tall.tif"));
}

/* Thousands of pages are found, and read in any order, without a search for each. */
static void thousands_of_pages(void **state)
{
    (void)state;
    enum { PAGES = 20000 };
    const char *path = test_path("many.tif");
    const motet_store_info info = {.type = MOTET_I32, .axes = 3, .shape = {PAGES, 2, 2}};
    int32_t *values = malloc(PAGES * 16);
    for (int i = 0; i < PAGES * 4; i++) values[i] = i;
    motet_store *s;
    assert_ok(c, motet_store_create(c, path, NULL, &info, 0, &s));
    assert_ok(c, motet_store_write(s, 0, PAGES, values));
    assert_ok(c, motet_store_commit(s));
    motet_store_free(s);
    assert_ok(c, motet_store_open(c, path, NULL, &s));
    int32_t page[4];
    for (int i = PAGES - 1; i >= 0; i -= 7) {
        assert_ok(c, motet_store_read(s, i, 1, MOTET_I32, page));
        assert_memory_equal(page, values + 4 * i, sizeof page);
    }
    motet_store_free(s);
    free(values);
}

static void write_bytes(const char *path, const unsigned char *data, size_t bytes)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, bytes, f), bytes);
    fclose(f);
}

/* Every cut of a file is refused, or the cut took nothing that is read; nothing leaks. */
static void cut_files_are_refused(void **state)
{
    (void)state;
    const char *const files[] = {"u16_be.tif", "zip_tiles.tif", "f64_big.tif", "lzw.tif"};
    static unsigned char data[1 << 16];
    static double values[4096];
    motet_memory before, after;
    motet_context_memory(c, &before);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        FILE *f = fopen(corpus(files[i]), "rb");
        assert_non_null(f);
        const size_t bytes = fread(data, 1, sizeof data, f);
        fclose(f);
        for (size_t length = 0; length + 2 < bytes; length += 11) {
            write_bytes(test_path("cut.tif"), data, length);
            motet_store *s = NULL;
            motet_store_info info;
            motet_status st = motet_store_open(c, test_path("cut.tif"), NULL, &s);
            if (st == MOTET_OK) {
                motet_store_describe(s, &info);
                st = motet_store_read(s, 0, info.shape[0], MOTET_F64, values);
            }
            motet_store_free(s);
            assert_int_not_equal(st, MOTET_OK);
        }
    }
    motet_context_memory(c, &after);
    assert_int_equal(before.blocks, after.blocks);
}

/* P3: what was begun and not committed leaves nothing; shapes that TIFF cannot hold are refused. */
static void begun_and_dropped_leaves_nothing(void **state)
{
    (void)state;
    motet_store_info info = {.type = MOTET_F32, .axes = 3, .shape = {4, 2, 3}};
    motet_store *s;
    assert_ok(c, motet_store_create(c, test_path("dropped.tif"), NULL, &info, 0, &s));
    motet_store_free(s);
    assert_int_equal(access(test_path("dropped.tif"), F_OK), -1);
    info.axes = 4;
    info.shape[3] = 2;
    assert_status(c, motet_store_create(c, test_path("four.tif"), NULL, &info, 0, &s),
                  MOTET_UNSUPPORTED);
    info.axes = 3;
    info.shape[0] = 0;
    assert_status(c, motet_store_create(c, test_path("none.tif"), NULL, &info, 0, &s),
                  MOTET_UNSUPPORTED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(reads_every_kind_of_number),
        TEST(reads_packed_strips_and_tiles),
        TEST(refuses_what_is_no_stack),
        TEST(round_trip_of_every_type),
        TEST(one_page_of_a_volume_keeps_its_axis),
        TEST(large_files_are_bigtiff),
        TEST(thousands_of_pages),
        TEST(cut_files_are_refused),
        TEST(begun_and_dropped_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
