/* PNG: grey pictures of 8 and 16 bits come back bit for bit; colour, damage and bombs are refused.
 */
#include <string.h>
#include <unistd.h>

#include "store_test.h"

/* Made by hand after the PNG specification, not by the library that reads them. */
static void pictures_of_others_are_read(void **state)
{
    (void)state;
    assert_counts(corpus("png/grey8.png"), NULL, "png", MOTET_U8, 2, (int64_t[]){3, 4}, 1, 0);
    assert_counts(corpus("png/grey16.png"), NULL, "png", MOTET_U16, 2, (int64_t[]){3, 4}, 1000, 0);
}

/* Rows are found in any order, and in blocks. */
static void what_is_written_is_read_back(void **state)
{
    (void)state;
    enum { ROWS = 37, COLUMNS = 53 };
    static uint16_t data[ROWS][COLUMNS], back[ROWS][COLUMNS];
    static uint8_t bytes[ROWS][COLUMNS], bytes_back[ROWS][COLUMNS];
    uint64_t random = 1;
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < COLUMNS; k++) {
            data[i][k] = (uint16_t)test_random(&random);
            bytes[i][k] = (uint8_t)(i + k);
        }
    motet_store_info info = {.type = MOTET_U16, .axes = 2, .shape = {ROWS, COLUMNS}};
    motet_store *store;
    const char *path = test_path("grey16.png");
    assert_ok(context, motet_store_create(context, path, NULL, &info, 0, &store));
    for (int i = 0; i < ROWS; i += 10)
        assert_ok(context, motet_store_write(store, i, ROWS - i < 10 ? ROWS - i : 10, data[i]));
    assert_ok(context, motet_store_commit(store));
    motet_store_free(store);
    assert_ok(context, motet_store_open(context, path, NULL, &store));
    assert_ok(context, motet_store_read(store, 30, 7, MOTET_U16, back[30]));
    assert_ok(context, motet_store_read(store, 0, 30, MOTET_U16, back[0]));
    assert_memory_equal(back, data, sizeof data);
    motet_store_free(store);

    info.type = MOTET_U8;
    path = test_path("grey8.png");
    write_store(path, &info, bytes);
    assert_ok(context, motet_store_open(context, path, NULL, &store));
    assert_ok(context, motet_store_read(store, 0, ROWS, MOTET_U8, bytes_back));
    assert_memory_equal(bytes_back, bytes, sizeof bytes);
    motet_store_free(store);
}

/* A colour picture is written, and refused as an array of numbers. */
static void colour_is_written_and_not_read(void **state)
{
    (void)state;
    const motet_store_info info = {.type = MOTET_U8, .axes = 3, .shape = {1, 2, 3}};
    const char *path = test_path("rgb.png");
    write_store(path, &info, "abcdef");
    unsigned char head[26];
    FILE *file = fopen(path, "rb");
    assert_int_equal(fread(head, 1, sizeof head, file), sizeof head);
    fclose(file);
    assert_memory_equal(head + 16, "\0\0\0\2\0\0\0\1\10\2", 10); /* 2 x 1, 8 bits, RGB */
    motet_store *store = NULL;
    assert_status(context, motet_store_open(context, path, NULL, &store), MOTET_UNSUPPORTED);
    assert_message(context, "RGB", "grey", NULL);
    assert_status(context, motet_store_open(context, corpus("png/bit1.png"), NULL, &store),
                  MOTET_UNSUPPORTED);
    assert_message(context, "1 bits", NULL);
    assert_status(context, motet_store_open(context, corpus("png/bomb.png"), NULL, &store),
                  MOTET_BAD_DATA);
    assert_message(context, "60000 x 60000", NULL);
    assert_null(store);
}

/* Types and shapes that a picture cannot have. */
static void what_is_no_picture_is_refused(void **state)
{
    (void)state;
    const motet_store_info infos[] = {
        {.type = MOTET_F32, .axes = 2, .shape = {1, 1}},
        {.type = MOTET_U8, .axes = 1, .shape = {1}},
        {.type = MOTET_U8, .axes = 3, .shape = {1, 1, 4}},
        {.type = MOTET_U16, .axes = 3, .shape = {1, 1, 3}},
        {.type = MOTET_U8, .axes = 2, .shape = {0, 1}},
        {.type = MOTET_U8, .axes = 2, .shape = {1, (int64_t)1 << 31}},
    };
    motet_store *store = NULL;
    for (size_t i = 0; i < sizeof infos / sizeof *infos; i++)
        assert_status(context,
                      motet_store_create(context, test_path("no.png"), NULL, &infos[i], 0, &store),
                      MOTET_UNSUPPORTED);
    assert_null(store);
}

/* Cut anywhere or with any byte changed, a picture is refused or read as it was. */
static void damage_is_found(void **state)
{
    (void)state;
    unsigned char file[512];
    FILE *in = fopen(corpus("png/grey8.png"), "rb");
    assert_non_null(in);
    const size_t bytes = fread(file, 1, sizeof file, in);
    fclose(in);
    const char *path = test_path("damaged.png");
    for (size_t at = 0; at < 2 * bytes; at++) {
        motet_store *store = NULL;
        unsigned char values[12];
        if (at < bytes)
            write_bytes(path, file, at);
        else {
            file[at - bytes] ^= 0x10;
            write_bytes(path, file, bytes);
            file[at - bytes] ^= 0x10;
        }
        motet_status st = motet_store_open(context, path, NULL, &store);
        if (st == MOTET_OK) st = motet_store_read(store, 0, 3, MOTET_U8, values);
        motet_store_free(store);
        if (st == MOTET_OK) {
            for (int i = 0; i < 12; i++) assert_int_equal(values[i], i);
            assert_true(at % bytes >= bytes - 12); /* the end mark, which says nothing */
        } else
            assert_true(st == MOTET_BAD_DATA || st == MOTET_UNSUPPORTED);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_of_others_are_read),
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(colour_is_written_and_not_read),
        cmocka_unit_test(what_is_no_picture_is_refused),
        cmocka_unit_test(damage_is_found),
    };
    return cmocka_run_group_tests(tests, store_begin, store_end);
}
