/* Boxes: whatever part of an array is asked for, of whatever format, is what a reading of the whole
 * has there; what lies outside is refused by the name of its axis. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "store/convert.h"
#include "store_test.h"

static motet_store *opened(const char *path, const char *entry)
{
    motet_store *store = NULL;
    assert_ok(context, motet_store_open(context, path, entry, &store));
    return store;
}

/* Elements of the box, picked from the whole one by one. */
static int64_t pick(const motet_store_info *info, const char *whole, const int64_t *first,
                    const int64_t *count, size_t element, char *out)
{
    int64_t index[MOTET_MAX_AXES] = {0}, picked = 0, elements = 1;
    for (int i = 0; i < info->axes; i++) elements *= count[i];
    for (; picked < elements; picked++) {
        int64_t place = 0;
        for (int i = 0; i < info->axes; i++) place = place * info->shape[i] + first[i] + index[i];
        memcpy(out + (size_t)picked * element, whole + (size_t)place * element, element);
        for (int i = info->axes - 1; i >= 0 && ++index[i] == count[i]; i--) index[i] = 0;
    }
    return picked;
}

/* Random boxes, single elements, whole axes and empty ones, in the store's own type and as
 * floats. */
static void boxes_agree(const char *path, const char *entry, int boxes)
{
    motet_store *s = opened(path, entry);
    motet_store_info info;
    motet_store_describe(s, &info);
    int64_t elements = 1;
    for (int i = 0; i < info.axes; i++) elements *= info.shape[i];
    const motet_type types[3] = {info.type, MOTET_F64, MOTET_F32};
    char *whole = malloc((size_t)elements * 8), *got = malloc((size_t)elements * 8 + 8),
         *want = malloc((size_t)elements * 8 + 8);
    uint64_t random = 7;
    for (int t = 0; t < 3; t++) {
        const size_t element = kind_bytes(kind_of_type(types[t]));
        assert_ok(context, motet_store_read(s, 0, info.shape[0], types[t], whole));
        for (int k = 0; k < boxes; k++) {
            int64_t first[MOTET_MAX_AXES] = {0}, count[MOTET_MAX_AXES];
            for (int i = 0; i < info.axes; i++) {
                const int64_t size = info.shape[i];
                const uint64_t how = test_random(&random) % 8;
                first[i] = how == 0 ? 0 : (int64_t)(test_random(&random) % (uint64_t)size);
                count[i] = how == 0 ? size
                           : how == 1
                               ? 1
                               : 1 + (int64_t)(test_random(&random) % (uint64_t)(size - first[i]));
            }
            if (k % 16 == 15) count[k % info.axes] = 0;
            const int64_t picked = pick(&info, whole, first, count, element, want);
            memset(got, 0x5a, (size_t)elements * 8 + 8);
            memset(want + (size_t)picked * element, 0x5a, 8);
            assert_ok(context, motet_store_read_box(s, first, count, types[t], got));
            /* and not a byte beyond */
            if (memcmp(got, want, (size_t)picked * element + 8)) {
                print_error("%s: box %d of type %d differs\n", path, k, (int)types[t]);
                fail();
            }
        }
    }
    free(whole);
    free(got);
    free(want);
    motet_store_free(s);
}

/* Files of other writers: byte orders, Fortran order, packing, strips, tiles, pages, members. */
static void boxes_of_every_format(void **state)
{
    (void)state;
    static const char *const files[][2] = {
        {"npy/le_f4.npy", 0},
        {"npy/be_u2.npy", 0},
        {"npy/be_f8.npy", 0},
        {"npy/i1.npy", 0},
        {"npy/le_f2.npy", 0},
        {"npy/fortran.npy", 0},
        {"npy/zero_axes.npy", 0},
        {"npz/stored.npz", "a"},
        {"npz/deflated.npz", "b"},
        {"npz/fortran.npz", 0},
        {"npz/zip64.npz", 0},
        {"mha/big.mha", 0},
        {"mha/double.mhd", 0},
        {"mha/short.mha", 0},
        {"mha/zlib.mha", 0},
        {"png/grey8.png", 0},
        {"png/grey16.png", 0},
        {"tiff/one.tif", 0},
        {"tiff/u8.tif", 0},
        {"tiff/u16_be.tif", 0},
        {"tiff/u32.tif", 0},
        {"tiff/i16_be.tif", 0},
        {"tiff/i64_big.tif", 0},
        {"tiff/f64_big.tif", 0},
        {"tiff/lzw.tif", 0},
        {"tiff/packbits.tif", 0},
        {"tiff/zip_tiles.tif", 0},
        {"tiff/tiles_be.tif", 0},
        {"tiff/imagej.tif", 0},
        {"tiff/jpeg.tif", 0},
        {"tiff/float_predictor.tif", 0},
        {"hdf5/chunked.h5", "/data"},
        {"hdf5/floats.h5", "/f32be"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        boxes_agree(corpus(files[i][0]), files[i][1], 100);
}

static void fill(void *data, size_t bytes)
{
    uint64_t random = bytes;
    for (size_t i = 0; i + 8 <= bytes; i += 8) {
        const uint64_t value = test_random(&random) & 0x3f3f3f3f3f3f3f3fu; /* finite as floats */
        memcpy((char *)data + i, &value, 8);
    }
}

/* Lines longer than the gaps worth reading and parts larger than the buffers, of all that we
 * write. */
static void boxes_larger_than_the_buffers(void **state)
{
    (void)state;
    static const char *const names[] = {"b.npy", "b.npz", "b.mha", "b.mhd", "b.tif", "b.h5", "b/"};
    const motet_store_info info = {.type = MOTET_U16, .axes = 3, .shape = {4, 20, 17500}};
    const size_t bytes = 2 * 4 * 20 * 17500;
    void *data = malloc(bytes);
    fill(data, bytes);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        write_store(test_path(names[i]), &info, data);
        boxes_agree(test_path(names[i]), NULL, 12);
    }
    free(data);
}

/* Columns of a Fortran array far apart, close together, and longer than the buffer. */
static void boxes_of_large_fortran_arrays(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{200000, 2, 3}, {3000, 9, 20}, {20, 90, 300}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const int64_t *n = shapes[i];
        const size_t bytes = 8 * (size_t)(n[0] * n[1] * n[2]);
        char *file = malloc(128 + bytes);
        memset(file, ' ', 128);
        memcpy(file, "\x93NUMPY\1\0\x76\0", 10);
        const int text = snprintf(
            file + 10, 117, "{'descr': '>f8', 'fortran_order': True, 'shape': (%d, %d, %d), }",
            (int)n[0], (int)n[1], (int)n[2]);
        file[10 + text] = ' ';
        file[127] = '\n';
        fill(file + 128, bytes);
        write_bytes(test_path("f.npy"), file, 128 + bytes);
        free(file);
        boxes_agree(test_path("f.npy"), NULL, 10);
    }
}

/* A range outside is refused by its axis and touches nothing; an empty one inside is none. */
static void ranges_outside_are_refused(void **state)
{
    (void)state;
    const motet_store_info info = {.type = MOTET_U8, .axes = 3, .shape = {2, 3, 4}};
    unsigned char data[24] = {0}, out[24] = {9};
    write_store(test_path("edge.npy"), &info, data);
    motet_store *s = opened(test_path("edge.npy"), NULL);
    for (int axis = 0; axis < 3; axis++) {
        const int64_t size = info.shape[axis];
        const int64_t bad[][2] = {{-1, 1},   {0, -1},        {0, size + 1}, {size, 1},
                                  {1, size}, {INT64_MAX, 1}, {1, INT64_MAX}};
        for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
            int64_t first[3] = {0}, count[3] = {1, 1, 1};
            first[axis] = bad[k][0], count[axis] = bad[k][1];
            assert_status(context, motet_store_read_box(s, first, count, MOTET_U8, out),
                          MOTET_BAD_ARGUMENT);
            char name[8], has[16];
            snprintf(name, sizeof name, "axis %d", axis);
            snprintf(has, sizeof has, "has %d", (int)size);
            assert_message(context, "edge.npy", name, has, NULL);
        }
        int64_t first[3] = {0}, count[3] = {1, 1, 1};
        first[axis] = size, count[axis] = 0;
        assert_ok(context, motet_store_read_box(s, first, count, MOTET_U8, out));
    }
    assert_int_equal(out[0], 9);
    const int64_t none[3] = {0}, one[3] = {1, 1, 1};
    assert_status(context, motet_store_read_box(s, none, one, (motet_type)99, out),
                  MOTET_BAD_ARGUMENT);
    motet_store_free(s);
    assert_ok(context, motet_store_create(context, test_path("w.npy"), NULL, &info, 0, &s));
    assert_status(context, motet_store_read_box(s, none, one, MOTET_U8, out), MOTET_BAD_ARGUMENT);
    motet_store_free(s);
}

/* A value beyond float32 is named by its place in the array, not in the box. */
static void values_beyond_are_named_by_their_place(void **state)
{
    (void)state;
    const motet_store_info info = {.type = MOTET_F64, .axes = 3, .shape = {3, 4, 5}};
    double data[60] = {0};
    float out[60];
    data[2 * 20 + 3 * 5 + 1] = 1e300;
    write_store(test_path("wide.npy"), &info, data);
    motet_store *s = opened(test_path("wide.npy"), NULL);
    const int64_t first[3] = {1, 2, 1}, count[3] = {2, 2, 3}, spared[3] = {2, 1, 3};
    assert_status(context, motet_store_read_box(s, first, count, MOTET_F32, out),
                  MOTET_BAD_ARGUMENT);
    assert_message(context, "element 16 of row 2", "float32", NULL);
    assert_ok(context, motet_store_read_box(s, first, spared, MOTET_F32, out));
    motet_store_free(s);
}

/* Bytes that this process has asked the system for; -1 where it does not say. */
static int64_t bytes_read(void)
{
    FILE *file = fopen("/proc/self/io", "r");
    long long bytes = -1;
    if (!file) return -1;
    if (fscanf(file, "rchar: %lld", &bytes) != 1) bytes = -1;
    fclose(file);
    return bytes;
}

/* Of each frame little more is read than the lines asked for. */
static void a_band_of_lines_reads_little_more(void **state)
{
    (void)state;
    static const char *const names[] = {"r.npy", "r.npz", "r.mha", "r.mhd", "r.tif", "r.h5", "r/"};
    const motet_store_info info = {.type = MOTET_U16, .axes = 3, .shape = {16, 128, 512}};
    const size_t bytes = 2 * 16 * 128 * 512;
    void *data = malloc(bytes);
    fill(data, bytes);
    if (bytes_read() < 0) skip();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        write_store(test_path(names[i]), &info, data);
        motet_store *s = opened(test_path(names[i]), NULL);
        const int64_t first[3] = {0, 40, 0}, count[3] = {16, 16, 512}, before = bytes_read();
        assert_ok(context, motet_store_read_box(s, first, count, MOTET_U16, data));
        const int64_t read = bytes_read() - before;
        motet_store_free(s);
        if (read > (int64_t)bytes / 8 * 3 / 2) {
            print_error("%s: %d bytes read for %d\n", names[i], (int)read, (int)bytes / 8);
            fail();
        }
    }
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_of_every_format),
        cmocka_unit_test(boxes_larger_than_the_buffers),
        cmocka_unit_test(boxes_of_large_fortran_arrays),
        cmocka_unit_test(ranges_outside_are_refused),
        cmocka_unit_test(values_beyond_are_named_by_their_place),
        cmocka_unit_test(a_band_of_lines_reads_little_more),
    };
    return cmocka_run_group_tests(tests, store_begin, store_end);
}
