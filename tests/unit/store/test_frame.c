/* What every store keeps, whatever its format: conversion by value, rows in order, whole or
 * nothing, outputs that are not the input. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/convert.h"
#include "store/file.h"
#include "store_test.h"

/* All 65536 halves have the value that IEEE 754 gives them. */
static void halves_are_converted_exactly(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 65536; bits++) {
        const uint16_t half = (uint16_t)bits;
        const int exponent = (int)(bits >> 10 & 31), fraction = (int)(bits & 1023);
        float got;
        double wide;
        assert_int_equal(convert(KIND_F16, &half, MOTET_F32, &got, 1), -1);
        assert_int_equal(convert(KIND_F16, &half, MOTET_F64, &wide, 1), -1);
        if (exponent == 31 && fraction) {
            assert_true(isnan(got) && isnan(wide));
            continue;
        }
        const double size = exponent == 31 ? (double)INFINITY
                            : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                           : ldexp(fraction, -24);
        const double want = bits >> 15 ? -size : size;
        assert_true((double)got == want && wide == want);
        assert_int_equal(signbit(got) != 0, bits >> 15);
    }
}

/* Each kind into each type: by value where the type can take it, refused elsewhere. */
static void kinds_convert_by_value_or_are_refused(void **state)
{
    (void)state;
    static const struct {
        store_kind kind;
        int64_t low, high; /* extremes of the kind */
        unsigned types;    /* that can take it: bits numbered by motet_type */
    } rows[] = {
        {KIND_U8, 0, UINT8_MAX,
         1u << MOTET_U8 | 1u << MOTET_U16 | 1u << MOTET_I32 | 1u << MOTET_I64},
        {KIND_U16, 0, UINT16_MAX, 1u << MOTET_U16 | 1u << MOTET_I32 | 1u << MOTET_I64},
        {KIND_I8, INT8_MIN, INT8_MAX, 1u << MOTET_I32 | 1u << MOTET_I64},
        {KIND_I16, INT16_MIN, INT16_MAX, 1u << MOTET_I32 | 1u << MOTET_I64},
        {KIND_I32, INT32_MIN, INT32_MAX, 1u << MOTET_I32 | 1u << MOTET_I64},
        {KIND_U32, 0, UINT32_MAX, 1u << MOTET_I64},
        {KIND_I64, INT64_MIN, INT64_MAX, 1u << MOTET_I64},
        {KIND_F32, 0, 0, 0},
        {KIND_F64, 0, 0, 0},
        {KIND_F16, 0, 0, 1u << MOTET_F16},
    };
    const unsigned floats = 1u << MOTET_F32 | 1u << MOTET_F64;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int type = 0; type <= MOTET_I64; type++) {
            const store_kind kind = rows[i].kind;
            const int allowed = kind == (store_kind)type || ((rows[i].types | floats) >> type & 1);
            assert_int_equal(convert_allowed(kind, (motet_type)type), allowed);
            if (!allowed || rows[i].low == rows[i].high) continue;
            int64_t in = 0, out = 0; /* little-endian: an integer begins with its low bytes */
            for (int extreme = 0; extreme < 2; extreme++) {
                const int64_t value = extreme ? rows[i].high : rows[i].low;
                in = value;
                out = 0;
                assert_int_equal(convert(kind, &in, (motet_type)type, &out, 1), -1);
                float narrow;
                double wide;
                memcpy(&narrow, &out, sizeof narrow);
                memcpy(&wide, &out, sizeof wide);
                switch (type) {
                case MOTET_F32: assert_true(narrow == (float)value); break;
                case MOTET_F64: assert_true(wide == (double)value); break;
                case MOTET_U8: assert_int_equal((uint8_t)out, value); break;
                case MOTET_U16: assert_int_equal((uint16_t)out, value); break;
                case MOTET_I32: assert_int_equal((int32_t)out, value); break;
                default: assert_true(out == value); break;
                }
            }
        }
}

/* A double beyond float32 is named, infinities and rounding are not errors. */
static void doubles_beyond_float32_are_refused(void **state)
{
    (void)state;
    const double values[2][3] = {{1, INFINITY, 0.1}, {-3.5e38, 2, 1e300}};
    const char *path = test_path("doubles.npy");
    const motet_store_info info = {.type = MOTET_F64, .axes = 2, .shape = {2, 3}};
    write_store(path, &info, values);
    motet_store *store;
    float got[6];
    assert_ok(context, motet_store_open(context, path, NULL, &store));
    assert_ok(context, motet_store_read(store, 0, 1, MOTET_F32, got));
    assert_true(got[0] == 1 && isinf(got[1]) && got[2] == 0.1f);
    assert_status(context, motet_store_read(store, 0, 2, MOTET_F32, got), MOTET_BAD_ARGUMENT);
    assert_message(context, "element 0 of row 1", "float64", NULL);
    motet_store_free(store);
}

/* Reading in a wider type, in place and through the buffer, gives the value of every element. */
static void long_rows_are_converted_whole(void **state)
{
    (void)state;
    enum { ROWS = 3, COLUMNS = 10007 };
    static uint16_t data[ROWS][COLUMNS];
    static float got[ROWS][COLUMNS];
    static double wide[ROWS][COLUMNS];
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < COLUMNS; k++) data[i][k] = (uint16_t)(i * 20011 + 3 * k);
    const char *path = test_path("long.npy");
    const motet_store_info info = {.type = MOTET_U16, .axes = 2, .shape = {ROWS, COLUMNS}};
    write_store(path, &info, data);
    motet_store *store;
    assert_ok(context, motet_store_open(context, path, NULL, &store));
    assert_ok(context, motet_store_read(store, 0, ROWS, MOTET_F32, got));
    assert_ok(context, motet_store_read(store, 0, ROWS, MOTET_F64, wide));
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < COLUMNS; k++) {
            assert_true(got[i][k] == (float)data[i][k]);
            assert_true(wide[i][k] == (double)data[i][k]);
        }
    motet_store_free(store);
}

/* Rows are written in ascending order, each once, all of them; then the file is finished. */
static void rows_are_written_in_order_and_all(void **state)
{
    (void)state;
    const char *path = test_path("order.npy");
    const motet_store_info info = {.type = MOTET_U8, .axes = 2, .shape = {4, 2}};
    const unsigned char rows[8] = {0};
    motet_store *store;
    assert_ok(context, motet_store_create(context, path, NULL, &info, 0, &store));
    assert_status(context, motet_store_write(store, 1, 1, rows), MOTET_BAD_ARGUMENT);
    assert_message(context, "row 0 expected", NULL);
    assert_ok(context, motet_store_write(store, 0, 3, rows));
    assert_status(context, motet_store_write(store, 2, 1, rows), MOTET_BAD_ARGUMENT);
    assert_status(context, motet_store_write(store, 3, 2, rows), MOTET_BAD_ARGUMENT);
    assert_status(context, motet_store_read(store, 0, 1, MOTET_U8, &(char){0}), MOTET_BAD_ARGUMENT);
    assert_status(context, motet_store_add(store, "x", &info, rows), MOTET_UNSUPPORTED);
    assert_status(context, motet_store_commit(store), MOTET_BAD_ARGUMENT);
    assert_message(context, "3 rows", "expected 4", NULL);
    assert_int_equal(access(path, F_OK), -1);
    assert_ok(context, motet_store_write(store, 3, 1, rows));
    assert_ok(context, motet_store_commit(store));
    assert_status(context, motet_store_commit(store), MOTET_BAD_ARGUMENT);
    assert_status(context, motet_store_write(store, 3, 1, rows), MOTET_BAD_ARGUMENT);
    motet_store_free(store);
    assert_ok(context, motet_store_open(context, path, NULL, &store));
    assert_status(context, motet_store_write(store, 0, 1, rows), MOTET_BAD_ARGUMENT);
    assert_status(context, motet_store_read(store, -1, 1, MOTET_U8, &(char){0}),
                  MOTET_BAD_ARGUMENT);
    assert_status(context, motet_store_read(store, INT64_MAX, INT64_MAX, MOTET_U8, &(char){0}),
                  MOTET_BAD_ARGUMENT);
    assert_status(context, motet_store_read(store, 0, 1, MOTET_F16, &(char){0}),
                  MOTET_BAD_ARGUMENT);
    assert_message(context, "uint8", "float16", NULL);
    assert_ok(context, motet_store_read(store, 4, 0, MOTET_U8, NULL));
    motet_store_free(store);
}

/* An existing file is kept without `overwrite`, and until the commit with it. */
static void an_existing_file_is_kept_until_the_commit(void **state)
{
    (void)state;
    const char *const names[] = {"kept.npy", "kept.npz", "kept.mha", "kept.mhd", "kept.png"};
    const motet_store_info info = {.type = MOTET_U8, .axes = 2, .shape = {1, 2}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *path = test_path(names[i]);
        const unsigned char old[2] = {1, 2}, new[2] = {3, 4};
        unsigned char got[2];
        write_store(path, &info, old);
        assert_int_equal(chmod(path, 0640), 0);
        const int files = count_files();
        motet_store *store = NULL;
        assert_status(context, motet_store_create(context, path, NULL, &info, 0, &store),
                      MOTET_EXISTS);
        assert_null(store);
        assert_message(context, names[i], NULL);
        for (int commit = 0; commit < 2; commit++) {
            assert_ok(context, motet_store_create(context, path, NULL, &info, 1, &store));
            assert_ok(context, motet_store_write(store, 0, 1, new));
            if (commit) assert_ok(context, motet_store_commit(store));
            motet_store_free(store);
            assert_int_equal(count_files(), files);
            assert_ok(context, motet_store_open(context, path, NULL, &store));
            assert_ok(context, motet_store_read(store, 0, 1, MOTET_U8, got));
            motet_store_free(store);
            assert_memory_equal(got, commit ? new : old, 2);
        }
        struct stat status;
        assert_int_equal(stat(path, &status), 0);
        assert_int_equal(status.st_mode & 0777, 0640);
    }
}

/* A file that appears while ours is being written is not overwritten, and ours leaves nothing. */
static void a_file_that_appears_meanwhile_is_kept(void **state)
{
    (void)state;
    const char *const names[] = {"race.npy", "race.npz", "race.mha", "race.mhd", "race.png"};
    const motet_store_info info = {.type = MOTET_U8, .axes = 2, .shape = {1, 2}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *path = test_path(names[i]);
        const int files = count_files();
        motet_store *store;
        assert_ok(context, motet_store_create(context, path, NULL, &info, 0, &store));
        assert_ok(context, motet_store_write(store, 0, 1, "ab"));
        write_bytes(path, "theirs", 6);
        assert_status(context, motet_store_commit(store), MOTET_EXISTS);
        motet_store_free(store);
        assert_int_equal(count_files(), files + 1);
        struct stat status;
        assert_int_equal(stat(path, &status), 0);
        assert_int_equal(status.st_size, 6);
    }
}

/* Of two files that are prepared before either is committed, one whose path was taken leaves
 * neither. */
static void prepared_files_are_placed_together(void **state)
{
    (void)state;
    const char *const names[] = {"both.npy", "both.npz",   "both.mha", "both.mhd",
                                 "both.tif", "both.png2/", "both.h5"};
    const motet_store_info info = {.type = MOTET_U8, .axes = 2, .shape = {1, 2}},
                           pages = {.type = MOTET_U8, .axes = 3, .shape = {1, 1, 2}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const int files = count_files();
        motet_store *volume, *picture;
        const motet_store_info *of = strchr(names[i], '/') ? &pages : &info;
        assert_ok(context, motet_store_create(context, test_path(names[i]), NULL, of, 0, &volume));
        assert_ok(context,
                  motet_store_create(context, test_path("both.png"), NULL, &info, 0, &picture));
        assert_status(context, motet_store_prepare(volume), MOTET_BAD_ARGUMENT); /* no rows yet */
        assert_ok(context, motet_store_write(volume, 0, 1, "ab"));
        assert_ok(context, motet_store_write(picture, 0, 1, "cd"));
        assert_ok(context, motet_store_prepare(volume));
        assert_ok(context, motet_store_prepare(volume));
        assert_status(context, motet_store_write(volume, 1, 0, "ab"), MOTET_BAD_ARGUMENT);
        write_bytes(test_path("both.png"), "theirs", 6);
        assert_status(context, motet_store_prepare(picture), MOTET_EXISTS);
        assert_status(context, motet_store_commit(picture), MOTET_EXISTS);
        motet_store_free(picture);
        if (i % 2) {
            assert_ok(context, motet_store_commit(volume));
            assert_status(context, motet_store_prepare(volume), MOTET_BAD_ARGUMENT);
        }
        motet_store_free(volume);
        assert_int_equal(access(test_path(names[i]), F_OK), i % 2 ? 0 : -1);
        if (i % 2 == 0) assert_int_equal(count_files(), files + 1);
        assert_int_equal(remove(test_path("both.png")), 0);
    }
}

/* A raw file may be replaced only together with its MHD. */
static void a_raw_file_of_others_is_not_replaced(void **state)
{
    (void)state;
    const motet_store_info info = {.type = MOTET_U8, .axes = 2, .shape = {1, 2}};
    write_bytes(test_path("alone.raw"), "theirs", 6);
    motet_store *store = NULL;
    assert_status(context,
                  motet_store_create(context, test_path("alone.mhd"), NULL, &info, 1, &store),
                  MOTET_EXISTS);
    assert_message(context, "alone.raw", NULL);
}

/* What is no regular file is neither read nor replaced. */
static void only_regular_files_are_touched(void **state)
{
    (void)state;
    const motet_store_info info = {.type = MOTET_U8, .axes = 1, .shape = {1}};
    motet_store *store = NULL;
    const char *pipe = test_path("pipe.npy"), *dangling = test_path("dangling.npy"),
               *folder = test_path("folder.npy");
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_int_equal(symlink("nowhere", dangling), 0);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_status(context, motet_store_open(context, pipe, NULL, &store), MOTET_UNSUPPORTED);
    assert_status(context, motet_store_open(context, "/dev/null", NULL, &store), MOTET_UNSUPPORTED);
    const char *const paths[] = {pipe, dangling, folder};
    for (size_t i = 0; i < 3; i++)
        assert_status(context, motet_store_create(context, paths[i], NULL, &info, 1, &store),
                      MOTET_EXISTS);
    assert_null(store);
}

/* Statuses of files that cannot be opened or begun, each with the path in its message. */
static void unusable_paths_are_named(void **state)
{
    (void)state;
    const motet_store_info info = {.type = MOTET_U8, .axes = 1, .shape = {1}};
    motet_store *store = NULL;
    char *names = NULL;
    const char *text = test_path("text.xyz"), *empty = test_path("empty.npy"),
               *claim = test_path("claim.npy");
    write_bytes(text, "what is this", 12);
    write_bytes(empty, "", 0);
    write_bytes(claim, "what is this", 12);
    assert_status(context, motet_store_open(context, test_path("absent.npy"), NULL, &store),
                  MOTET_NOT_FOUND);
    assert_message(context, "absent.npy", NULL);
    assert_status(context, motet_store_open(context, text, NULL, &store), MOTET_UNSUPPORTED);
    assert_message(context, "text.xyz", "npy, npz", "mha", NULL);
    assert_status(context, motet_store_open(context, empty, NULL, &store), MOTET_BAD_DATA);
    assert_status(context, motet_store_open(context, claim, NULL, &store), MOTET_BAD_DATA);
    assert_message(context, "format npy", NULL);
    assert_status(context, motet_store_open(context, "", NULL, &store), MOTET_BAD_ARGUMENT);
    assert_status(context, motet_store_create(context, test_path("x.xyz"), NULL, &info, 0, &store),
                  MOTET_UNSUPPORTED);
    assert_message(context, ".npy", ".mha", NULL);
    assert_status(context,
                  motet_store_create(context, test_path("no/such.npy"), NULL, &info, 0, &store),
                  MOTET_NOT_FOUND);
    assert_status(context, motet_store_entries(context, test_path("absent.npz"), &names),
                  MOTET_NOT_FOUND);
    motet_store_info wrong = info;
    wrong.axes = 7;
    assert_status(context, motet_store_create(context, test_path("w.npy"), NULL, &wrong, 0, &store),
                  MOTET_BAD_ARGUMENT);
    wrong = (motet_store_info){.type = MOTET_F64, .axes = 2, .shape = {INT64_MAX / 8, 2}};
    assert_status(context, motet_store_create(context, test_path("w.npy"), NULL, &wrong, 0, &store),
                  MOTET_BAD_ARGUMENT);
    wrong.shape[0] = -1;
    assert_status(context, motet_store_create(context, test_path("w.npy"), NULL, &wrong, 0, &store),
                  MOTET_BAD_ARGUMENT);
    assert_message(context, "axis 0", "-1", NULL);
    assert_null(store);
}

/* A full disk (here: a limit on the size of files) is IO and leaves nothing behind. */
static void a_full_disk_leaves_nothing_behind(void **state)
{
    (void)state;
    const char *const names[] = {"full.npy", "full.npz", "full.mha", "full.mhd", "full.png"};
    enum { ROWS = 64, COLUMNS = 4096 };
    static unsigned char data[ROWS][COLUMNS];
    uint64_t random = 1;
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < COLUMNS; k++) data[i][k] = (unsigned char)test_random(&random);
    const motet_store_info info = {.type = MOTET_U8, .axes = 2, .shape = {ROWS, COLUMNS}};
    struct rlimit former;
    getrlimit(RLIMIT_FSIZE, &former);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *path = test_path(names[i]);
        const int files = count_files();
        motet_store *store = NULL;
        const struct rlimit limit = {100000, former.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limit);
        motet_status st = motet_store_create(context, path, NULL, &info, 0, &store);
        for (int row = 0; row < ROWS && st == MOTET_OK; row++)
            st = motet_store_write(store, row, 1, data[row]);
        if (st == MOTET_OK) st = motet_store_commit(store);
        const motet_status again = motet_store_write(store, 0, ROWS, data);
        setrlimit(RLIMIT_FSIZE, &former);
        assert_int_equal(st, MOTET_IO);
        assert_int_not_equal(again, MOTET_OK);
        motet_store_free(store);
        assert_int_equal(count_files(), files);
    }
    signal(SIGXFSZ, handler);
}

/* One file under another name, through links of both sorts or a folder, is the same file. */
static void outputs_that_are_the_input_are_found(void **state)
{
    (void)state;
    const char *input = test_path("input.npy"), *hard = test_path("hard.npy"),
               *soft = test_path("soft.npy"), *stack = test_path("stack"),
               *around = test_path("around"), *page = test_path("stack/1.png");
    char longer[PATH_MAX];
    write_bytes(input, "x", 1);
    assert_int_equal(link(input, hard), 0);
    assert_int_equal(symlink("input.npy", soft), 0);
    assert_int_equal(mkdir(stack, 0700), 0);
    assert_int_equal(symlink("stack", around), 0);
    write_bytes(page, "x", 1);
    const char *mhd = test_path("pair.mhd"), *renamed = test_path("renamed.mhd");
    const motet_store_info square = {.type = MOTET_U8, .axes = 2, .shape = {1, 1}};
    write_store(mhd, &square, "x");
    static const char head[] = "ObjectType = Image\nNDims = 2\nDimSize = 1 1\n"
                               "ElementType = MET_UCHAR\nElementDataFile = pair.raw\n";
    write_bytes(renamed, head, sizeof head - 1);
    snprintf(longer, sizeof longer, "%s/./stack/../input.npy", test_folder());
    const struct {
        const char *input, *output;
        motet_status status;
    } rows[] = {
        {input, input, MOTET_SAME_FILE},
        {input, hard, MOTET_SAME_FILE},
        {input, soft, MOTET_SAME_FILE},
        {soft, input, MOTET_SAME_FILE},
        {input, longer, MOTET_SAME_FILE},
        {stack, around, MOTET_SAME_FILE},
        {stack, page, MOTET_SAME_FILE},
        {stack, test_path("around/new.png"), MOTET_SAME_FILE},
        {stack, test_path("stack/"), MOTET_SAME_FILE},
        {page, stack, MOTET_SAME_FILE},
        {page, test_path("stack/"), MOTET_SAME_FILE},
        {input, page, MOTET_OK},
        {input, stack, MOTET_OK},
        {stack, input, MOTET_OK},
        {input, test_path("new.npy"), MOTET_OK},
        {stack, test_path("stack2/"), MOTET_OK},
        {test_path("absent.npy"), input, MOTET_OK},
        {input, "", MOTET_BAD_ARGUMENT},
        /* The numbers of an MHD are part of it, in a file that may have any name. */
        {mhd, test_path("pair.raw"), MOTET_SAME_FILE},
        {mhd, test_path("other.mhd"), MOTET_OK},
        {renamed, test_path("pair.mhd"), MOTET_SAME_FILE},
        {renamed, test_path("renamed.raw"), MOTET_OK},
        {test_path("pair.raw"), mhd, MOTET_SAME_FILE},
        /* Two outputs, neither of which is there yet. */
        {test_path("new.npy"), test_path("./new.npy"), MOTET_SAME_FILE},
        {test_path("new.npy"), test_path("stack/../new.npy"), MOTET_SAME_FILE},
        {test_path("new"), test_path("new/"), MOTET_SAME_FILE},
        {test_path("new.npy"), test_path("stack/new.npy"), MOTET_OK},
        {test_path("new.mhd"), test_path("new.raw"), MOTET_SAME_FILE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_status(context, motet_store_check_distinct(context, rows[i].input, rows[i].output),
                      rows[i].status);
    assert_int_equal(chdir(test_folder()), 0);
    assert_status(context, motet_store_check_distinct(context, "input.npy", input),
                  MOTET_SAME_FILE);
    assert_status(context, motet_store_check_distinct(context, "stack", "stack/x/"),
                  MOTET_SAME_FILE);
    /* Relative paths without a folder part are written beside and renamed too. */
    const motet_store_info info = {.type = MOTET_U8, .axes = 1, .shape = {1}};
    write_store("relative.npy", &info, "x");
    assert_int_equal(access(test_path("relative.npy"), F_OK), 0);
    assert_int_equal(chdir(MOTET_BINARY), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves_are_converted_exactly),
        cmocka_unit_test(kinds_convert_by_value_or_are_refused),
        cmocka_unit_test(doubles_beyond_float32_are_refused),
        cmocka_unit_test(long_rows_are_converted_whole),
        cmocka_unit_test(rows_are_written_in_order_and_all),
        cmocka_unit_test(an_existing_file_is_kept_until_the_commit),
        cmocka_unit_test(a_file_that_appears_meanwhile_is_kept),
        cmocka_unit_test(prepared_files_are_placed_together),
        cmocka_unit_test(a_raw_file_of_others_is_not_replaced),
        cmocka_unit_test(only_regular_files_are_touched),
        cmocka_unit_test(unusable_paths_are_named),
        cmocka_unit_test(a_full_disk_leaves_nothing_behind),
        cmocka_unit_test(outputs_that_are_the_input_are_found),
    };
    return cmocka_run_group_tests(tests, store_begin, store_end);
}
