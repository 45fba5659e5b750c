/* NPY files: what is written is read back, by us and by NumPy; what contradicts itself is refused.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store_test.h"

/* A version 1.0 file with this dictionary, padded, and these data. */
static const char *made(const char *dictionary, const void *data, size_t bytes)
{
    static char file[4096];
    const size_t text = strlen(dictionary), padded = (10 + text + 1 + 63) / 64 * 64;
    assert_true(padded + bytes <= sizeof file);
    memset(file, ' ', padded);
    memcpy(file, "\x93NUMPY\1\0", 8);
    file[8] = (char)(unsigned char)((padded - 10) & 0xff);
    file[9] = (char)(unsigned char)((padded - 10) >> 8);
    memcpy(file + 10, dictionary, text);
    file[padded - 1] = '\n';
    if (bytes) memcpy(file + padded, data, bytes);
    const char *path = test_path("made.npy");
    write_bytes(path, file, padded + bytes);
    return path;
}

/* Every type and number of axes comes back bit for bit, written and read in uneven blocks. */
static void what_is_written_is_read_back(void **state)
{
    (void)state;
    static const size_t bytes_of[] = {4, 8, 2, 1, 2, 4, 8};
    uint64_t random = 1;
    for (int type = 0; type < 7; type++)
        for (int axes = 1; axes <= MOTET_MAX_AXES; axes++) {
            motet_store_info info = {.type = (motet_type)type, .axes = axes};
            size_t elements = 1;
            for (int i = 0; i < axes; i++) {
                info.shape[i] = i ? 2 + i % 2 : 7;
                elements *= (size_t)info.shape[i];
            }
            const size_t bytes = elements * bytes_of[type], row = bytes / 7;
            unsigned char *data = malloc(bytes), *back = malloc(bytes);
            for (size_t i = 0; i < bytes; i++) data[i] = (unsigned char)test_random(&random);
            const char *path = test_path("round.npy");
            motet_store *store;
            assert_ok(context, motet_store_create(context, path, NULL, &info, 1, &store));
            assert_ok(context, motet_store_write(store, 0, 3, data));
            assert_ok(context, motet_store_write(store, 3, 0, NULL));
            assert_ok(context, motet_store_write(store, 3, 4, data + 3 * row));
            assert_ok(context, motet_store_commit(store));
            motet_store_free(store);
            assert_ok(context, motet_store_open(context, path, NULL, &store));
            motet_store_info got;
            motet_store_describe(store, &got);
            assert_string_equal(got.format, "npy");
            assert_int_equal(got.type, type);
            assert_int_equal(got.axes, axes);
            assert_memory_equal(got.shape, info.shape, sizeof info.shape);
            assert_ok(context, motet_store_read(store, 5, 2, info.type, back + 5 * row));
            assert_ok(context, motet_store_read(store, 0, 5, info.type, back));
            assert_memory_equal(back, data, bytes);
            motet_store_free(store);
            free(data);
            free(back);
        }
}

/* The header is the very bytes that NumPy 1.24 writes for the same array. */
static void header_is_that_of_numpy(void **state)
{
    (void)state;
    const char *path = test_path("header.npy");
    const motet_store_info info = {.type = MOTET_F32, .axes = 2, .shape = {1, 2}};
    motet_store *store;
    assert_ok(context, motet_store_create(context, path, NULL, &info, 1, &store));
    assert_ok(context, motet_store_write(store, 0, 1, (float[]){1, -2}));
    assert_ok(context, motet_store_commit(store));
    motet_store_free(store);
    char want[136];
    memset(want, ' ', sizeof want);
    memcpy(want, "\x93NUMPY\1\0\x76\0", 10);
    const char *dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }";
    memcpy(want + 10, dictionary, strlen(dictionary));
    want[127] = '\n';
    memcpy(want + 128, "\0\0\x80\x3f\0\0\0\xc0", 8);
    char got[137];
    FILE *file = fopen(path, "rb");
    assert_int_equal(fread(got, 1, sizeof got, file), sizeof want);
    fclose(file);
    assert_memory_equal(got, want, sizeof want);
}

/* Fortran order and foreign byte order are presented in C order, whatever block is asked for. */
static void fortran_order_is_presented_in_c_order(void **state)
{
    (void)state;
    enum { A = 5, B = 3, C = 4 };
    unsigned char data[2 * A * B * C];
    for (int a = 0; a < A; a++)
        for (int b = 0; b < B; b++)
            for (int c = 0; c < C; c++) {
                const int place = a + A * (b + B * c), value = 1000 + 100 * a + 10 * b + c;
                data[2 * place] = (unsigned char)(value >> 8);
                data[2 * place + 1] = (unsigned char)value;
            }
    const char *path =
        made("{\"shape\":(5,3,4),'fortran_order':True,'descr':'>u2'}", data, sizeof data);
    motet_store *store;
    assert_ok(context, motet_store_open(context, path, NULL, &store));
    for (int first = 0; first < A; first++)
        for (int count = 1; first + count <= A; count++) {
            uint16_t rows[A][B][C];
            assert_ok(context, motet_store_read(store, first, count, MOTET_U16, rows));
            for (int a = 0; a < count; a++)
                for (int b = 0; b < B; b++)
                    for (int c = 0; c < C; c++)
                        assert_int_equal(rows[a][b][c], 1000 + 100 * (first + a) + 10 * b + c);
        }
    motet_store_free(store);
}

/* Files written by NumPy 1.24, of every type, byte order, version and order of axes. */
static void files_of_numpy_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        motet_type type;
    } rows[] = {
        {"le_f4", MOTET_F32},    {"be_f4", MOTET_F32},   {"le_f8", MOTET_F64},
        {"be_f8", MOTET_F64},    {"le_f2", MOTET_F16},   {"be_f2", MOTET_F16},
        {"u1", MOTET_U8},        {"le_u2", MOTET_U16},   {"be_u2", MOTET_U16},
        {"le_i4", MOTET_I32},    {"be_i4", MOTET_I32},   {"le_i8", MOTET_I64},
        {"be_i8", MOTET_I64},    {"i1", MOTET_I32},      {"le_i2", MOTET_I32},
        {"le_u4", MOTET_I64},    {"fortran", MOTET_U16}, {"version2", MOTET_F32},
        {"version3", MOTET_F32},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char name[64];
        snprintf(name, sizeof name, "npy/%s.npy", rows[i].name);
        assert_counts(corpus(name), NULL, "npy", rows[i].type, 3, (int64_t[]){2, 3, 4}, 1, 0);
    }
}

/* Columns far apart are read one by one, with the same result. */
static void long_fortran_columns_are_read(void **state)
{
    (void)state;
    enum { ROWS = 50000, COLUMNS = 3 };
    static uint16_t data[COLUMNS][ROWS], rows[7][COLUMNS];
    for (int k = 0; k < COLUMNS; k++)
        for (int i = 0; i < ROWS; i++) data[k][i] = (uint16_t)(3 * i + k);
    const char *dictionary = "{'descr': '<u2', 'fortran_order': True, 'shape': (50000, 3), }";
    const char *path = made(dictionary, NULL, 0);
    FILE *file = fopen(path, "ab");
    assert_int_equal(fwrite(data, 1, sizeof data, file), sizeof data);
    fclose(file);
    motet_store *store;
    assert_ok(context, motet_store_open(context, path, NULL, &store));
    for (int first = 0; first + 7 <= ROWS; first += 9999) {
        assert_ok(context, motet_store_read(store, first, 7, MOTET_U16, rows));
        for (int i = 0; i < 7; i++)
            for (int k = 0; k < COLUMNS; k++)
                assert_int_equal(rows[i][k], (uint16_t)(3 * (first + i) + k));
    }
    motet_store_free(store);
}

typedef struct refusal {
    const char *dictionary;
    size_t bytes; /* of data */
    motet_status status;
    const char *word;
} refusal;

/* A header or size that cannot be is refused with what was expected. */
static void hostile_headers_are_refused(void **state)
{
    (void)state;
    static const refusal refusals[] = {
        {"{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", 2, MOTET_UNSUPPORTED, "|b1"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (2,), }", 16, MOTET_UNSUPPORTED, "<c8"},
        {"{'descr': '<u8', 'fortran_order': False, 'shape': (2,), }", 16, MOTET_UNSUPPORTED, "<u8"},
        {"{'descr': '|f4', 'fortran_order': False, 'shape': (2,), }", 8, MOTET_UNSUPPORTED, "|f4"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", 8, MOTET_UNSUPPORTED, "|O"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", 8, MOTET_UNSUPPORTED,
         "record"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1), }", 4,
         MOTET_UNSUPPORTED, "axes"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", 8, MOTET_BAD_DATA, "-2"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2L,), }", 8, MOTET_BAD_DATA, "L,"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (02,), }", 8, MOTET_BAD_DATA, "02"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2), }", 8, MOTET_BAD_DATA, "','"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2 3), }", 24, MOTET_BAD_DATA, "','"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (,), }", 4, MOTET_BAD_DATA, "size"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': 2, }", 8, MOTET_BAD_DATA, "'('"},
        {"{'descr': '<f4', 'fortran_order': 1, 'shape': (2,), }", 8, MOTET_BAD_DATA, "True"},
        {"{'descr': '<f4', 'shape': (2,), }", 8, MOTET_BAD_DATA, "fortran_order"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 8,
         MOTET_BAD_DATA, "once"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': 1}", 8, MOTET_BAD_DATA,
         "once"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), } x", 8, MOTET_BAD_DATA,
         "nothing more"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)", 8, MOTET_BAD_DATA, "'}'"},
        {"{'descr': '<f4, 'fortran_order': False, 'shape': (2,)}", 8, MOTET_UNSUPPORTED, "<f4, "},
        {"", 8, MOTET_BAD_DATA, "'{'"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", 8,
         MOTET_BAD_DATA, "2^63"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", 8,
         MOTET_BAD_DATA, "2^63"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 4294967296, 4294967296), }", 0,
         MOTET_BAD_DATA, "2^63"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", 8, MOTET_BAD_DATA,
         "expected 12 bytes of data, found 8"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", 16, MOTET_BAD_DATA,
         "expected 12 bytes of data, found 16"},
    };
    static const char data[64];
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const refusal *r = &refusals[i];
        const char *path = made(r->dictionary, data, r->bytes);
        motet_store *store = NULL;
        assert_status(context, motet_store_open(context, path, NULL, &store), r->status);
        assert_null(store);
        assert_message(context, "made.npy", r->word, NULL);
    }
}

/* A file cut anywhere is refused, never misread. */
static void a_file_cut_anywhere_is_refused(void **state)
{
    (void)state;
    const char *path =
        made("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", (float[]){1, 2}, 8);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    for (off_t bytes = status.st_size - 1; bytes >= 0; bytes--) {
        assert_int_equal(truncate(path, bytes), 0);
        motet_store *store = NULL;
        assert_status(context, motet_store_open(context, path, NULL, &store), MOTET_BAD_DATA);
        assert_null(store);
    }
}

/* A file that shrinks after it was opened is BAD_DATA, not a signal. */
static void a_file_that_shrinks_is_reported(void **state)
{
    (void)state;
    const char *path =
        made("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", (float[]){1, 2}, 8);
    motet_store *store;
    assert_ok(context, motet_store_open(context, path, NULL, &store));
    assert_int_equal(truncate(path, 132), 0);
    float rows[2];
    assert_ok(context, motet_store_read(store, 0, 1, MOTET_F32, rows));
    assert_status(context, motet_store_read(store, 0, 2, MOTET_F32, rows), MOTET_BAD_DATA);
    assert_message(context, "cut short", NULL);
    motet_store_free(store);
}

/* Arrays without axes are one element; empty ones have their shape and no rows to read. */
static void small_and_empty_arrays_are_read(void **state)
{
    (void)state;
    motet_store *store;
    motet_store_info info;
    double value;
    assert_ok(context, motet_store_open(context,
                                        made("{'descr': '<f8', 'fortran_order': True, 'shape': ()}",
                                             (double[]){7}, 8),
                                        NULL, &store));
    motet_store_describe(store, &info);
    assert_int_equal(info.axes, 1);
    assert_int_equal(info.shape[0], 1);
    assert_ok(context, motet_store_read(store, 0, 1, MOTET_F64, &value));
    assert_true(value == 7);
    motet_store_free(store);
    static const char *const empty[] = {
        "{'descr': '<f8', 'fortran_order': False, 'shape': (0,)}",
        "{'descr': '<f8', 'fortran_order': True, 'shape': (0, 3)}",
        "{'descr': '<f8', 'fortran_order': True, 'shape': (1, 0, 3)}",
    };
    for (size_t i = 0; i < 3; i++) {
        assert_ok(context, motet_store_open(context, made(empty[i], NULL, 0), NULL, &store));
        motet_store_describe(store, &info);
        assert_ok(context, motet_store_read(store, 0, info.shape[0], MOTET_F64, &value));
        motet_store_free(store);
    }
    for (int64_t rows = 0; rows < 2; rows++) {
        const char *path = test_path("empty.npy");
        info = (motet_store_info){.type = MOTET_U8, .axes = 2, .shape = {rows, 0}};
        assert_ok(context, motet_store_create(context, path, NULL, &info, 1, &store));
        assert_ok(context, motet_store_commit(store));
        motet_store_free(store);
        assert_ok(context, motet_store_open(context, path, NULL, &store));
        motet_store_free(store);
    }
}

/* More than 2^31 elements: the last row of a sparse file of 3 GiB is where it belongs. */
static void rows_past_two_to_the_31_are_found(void **state)
{
    (void)state;
    const char *path =
        made("{'descr': '|u1', 'fortran_order': False, 'shape': (3145728, 1024)}", NULL, 0);
    const off_t bytes = 128 + (off_t)3145728 * 1024;
    assert_int_equal(truncate(path, bytes), 0);
    const int file = open(path, O_WRONLY);
    assert_int_equal(pwrite(file, "\x2a", 1, bytes - 1), 1);
    close(file);
    motet_store *store;
    assert_ok(context, motet_store_open(context, path, NULL, &store));
    unsigned char row[1024];
    assert_ok(context, motet_store_read(store, 3145727, 1, MOTET_U8, row));
    assert_int_equal(row[1023], 42);
    assert_status(context, motet_store_read(store, 3145727, 2, MOTET_U8, row), MOTET_BAD_ARGUMENT);
    motet_store_free(store);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(header_is_that_of_numpy),
        cmocka_unit_test(fortran_order_is_presented_in_c_order),
        cmocka_unit_test(files_of_numpy_are_read),
        cmocka_unit_test(long_fortran_columns_are_read),
        cmocka_unit_test(hostile_headers_are_refused),
        cmocka_unit_test(a_file_cut_anywhere_is_refused),
        cmocka_unit_test(a_file_that_shrinks_is_reported),
        cmocka_unit_test(small_and_empty_arrays_are_read),
        cmocka_unit_test(rows_past_two_to_the_31_are_found),
    };
    return cmocka_run_group_tests(tests, store_begin, store_end);
}
