/* NPZ: members of NumPy's archives are read whatever their packing, ours are read by NumPy and
 * identical from run to run; archives that contradict themselves are refused. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/zip.h"
#include "store_test.h"

static const int64_t shape[3] = {2, 3, 4};

/* Stored, deflated, zip64, and in Fortran order behind deflate. */
static void archives_of_numpy_are_read(void **state)
{
    (void)state;
    const char *const names[] = {"npz/stored.npz", "npz/deflated.npz"};
    for (size_t i = 0; i < 2; i++) {
        const char *path = corpus(names[i]);
        assert_counts(path, "a", "npz", MOTET_F32, 3, shape, 1, 0);
        assert_counts(path, "a.npy", "npz", MOTET_F32, 3, shape, 1, 0);
        assert_counts(path, "b", "npz", MOTET_I64, 1, (int64_t[]){5}, 1, 0);
    }
    assert_counts(corpus("npz/zip64.npz"), NULL, "npz", MOTET_F32, 3, shape, 1, 0);
    assert_counts(corpus("npz/fortran.npz"), NULL, "npz", MOTET_U16, 2, (int64_t[]){40, 5}, 1, 0);
}

/* Entries are listed by name without ".npy"; what is no array is left out. */
static void entries_are_listed_and_chosen(void **state)
{
    (void)state;
    char *names = NULL;
    motet_store *store = NULL;
    const char *path = corpus("npz/stored.npz");
    assert_ok(context, motet_store_entries(context, path, &names));
    assert_string_equal(names, "a\nb\n");
    motet_text_free(context, names);
    assert_ok(context, motet_store_entries(context, corpus("npz/zip64.npz"), &names));
    assert_string_equal(names, "a\n");
    motet_text_free(context, names);
    assert_status(context, motet_store_open(context, path, NULL, &store), MOTET_BAD_ARGUMENT);
    assert_message(context, "a b", NULL);
    assert_status(context, motet_store_open(context, path, "c", &store), MOTET_NOT_FOUND);
    assert_message(context, "no entry c", "a b", NULL);
    assert_status(context, motet_store_open(context, corpus("npz/zip64.npz"), "notes.txt", &store),
                  MOTET_NOT_FOUND);
    assert_null(store);
}

static void write_three(const char *path)
{
    const motet_store_info info = {.type = MOTET_F32, .axes = 2, .shape = {2, 3}},
                           empty = {.type = MOTET_U8, .axes = 2, .shape = {0, 3}},
                           angles = {.type = MOTET_F64, .axes = 1, .shape = {2}};
    motet_store *store;
    assert_ok(context, motet_store_create(context, path, NULL, &info, 0, &store));
    assert_ok(context, motet_store_write(store, 0, 1, (float[]){0, 1, 2}));
    assert_ok(context, motet_store_add(store, "/exchange/theta", &angles, (double[]){0, 1}));
    assert_status(context, motet_store_add(store, "exchange/theta.npy", &angles, NULL),
                  MOTET_BAD_ARGUMENT);
    assert_ok(context, motet_store_write(store, 1, 1, (float[]){3, 4, 5}));
    assert_ok(context, motet_store_add(store, "empty", &empty, NULL));
    assert_ok(context, motet_store_commit(store));
    motet_store_free(store);
}

/* Entries added between rows keep to their places; the same contents are the same bytes. */
static void archives_are_written_and_read_back(void **state)
{
    (void)state;
    const char *path = test_path("three.npz"), *again = test_path("again.npz");
    write_three(path);
    write_three(again);
    assert_counts(path, "data", "npz", MOTET_F32, 2, (int64_t[]){2, 3}, 1, 0);
    assert_counts(path, "exchange/theta", "npz", MOTET_F64, 1, (int64_t[]){2}, 1, 0);
    assert_counts(path, "empty", "npz", MOTET_U8, 2, (int64_t[]){0, 3}, 1, 0);
    unsigned char a[4096], b[4096];
    FILE *one = fopen(path, "rb"), *two = fopen(again, "rb");
    const size_t bytes = fread(a, 1, sizeof a, one);
    assert_int_equal(fread(b, 1, sizeof b, two), bytes);
    assert_memory_equal(a, b, bytes);
    fclose(one);
    fclose(two);
}

/* Names that could lead out of a folder when unpacked, or that no list can show, are refused. */
static void entry_names_are_checked(void **state)
{
    (void)state;
    static const char *const names[] = {"../x", "a/../b", "a//b", ".", "a/.", "a\nb", "a\\b", "a/"};
    const motet_store_info info = {.type = MOTET_U8, .axes = 1, .shape = {1}};
    motet_store *store = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_status(context,
                      motet_store_create(context, test_path("n.npz"), names[i], &info, 0, &store),
                      MOTET_BAD_ARGUMENT);
    assert_null(store);
    assert_ok(context,
              motet_store_create(context, test_path("n.npz"), ".a/..b/c..", &info, 0, &store));
    assert_ok(context, motet_store_write(store, 0, 1, "x"));
    assert_ok(context, motet_store_commit(store));
    motet_store_free(store);
    assert_ok(context, motet_store_open(context, test_path("n.npz"), ".a/..b/c..", &store));
    motet_store_free(store);
}

/* A changed byte of the numbers is found by the checksum; wherever the change is, the archive is
 * either refused or read as it was. */
static void damage_is_found(void **state)
{
    (void)state;
    const char *const names[] = {"npz/stored.npz", "npz/deflated.npz", "npz/zip64.npz"};
    for (size_t n = 0; n < 3; n++) {
        unsigned char file[2048];
        FILE *in = fopen(corpus(names[n]), "rb");
        assert_non_null(in);
        const size_t bytes = fread(file, 1, sizeof file, in);
        fclose(in);
        const char *path = test_path("damaged.npz");
        int refused = 0;
        for (size_t at = 0; at < bytes; at++) {
            file[at] ^= 0x10;
            write_bytes(path, file, bytes);
            file[at] ^= 0x10;
            motet_store *store = NULL;
            float values[24];
            motet_status st = motet_store_open(context, path, "a", &store);
            if (st == MOTET_OK) {
                motet_store_info info;
                motet_store_describe(store, &info);
                if (info.axes == 3 && info.type == MOTET_F32)
                    st = motet_store_read(store, 0, 2, MOTET_F32, values);
                else
                    st = MOTET_BAD_DATA; /* the sum of what was not read */
            }
            motet_store_free(store);
            if (st == MOTET_OK)
                for (int i = 0; i < 24; i++) assert_true(values[i] == (float)i);
            else
                refused++;
        }
        assert_true(refused > 24);
    }
}

/* An archive cut anywhere is refused. */
static void an_archive_cut_anywhere_is_refused(void **state)
{
    (void)state;
    unsigned char file[2048];
    FILE *in = fopen(corpus("npz/stored.npz"), "rb");
    assert_non_null(in);
    const size_t bytes = fread(file, 1, sizeof file, in);
    fclose(in);
    for (size_t cut = 0; cut < bytes; cut++) {
        const char *path = test_path("cut.npz");
        write_bytes(path, file, cut);
        motet_store *store = NULL;
        assert_status(context, motet_store_open(context, path, "a", &store), MOTET_BAD_DATA);
        assert_null(store);
    }
}

/* With the limit lowered, every field takes its zip64 form; we read that like the plain one. */
static void zip64_archives_are_written(void **state)
{
    (void)state;
    static const uint32_t limits[] = {0, 1, 140, 170, UINT32_MAX};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const char *path = test_path("wide.zip");
        store_file file = {0};
        zip_writer writer = {0};
        zip_directory directory = {0};
        int64_t member, offset;
        assert_ok(context, file_begin(context, path, 1, &file));
        zip_writer_begin(&writer, &file);
        writer.limit = limits[i];
        for (int k = 0; k < 3; k++) {
            const char name[2] = {(char)('a' + k), 0};
            assert_ok(context, zip_writer_add(&writer, name, 50, &member, &offset));
            assert_int_equal(member, k);
            char contents[50];
            memset(contents, *name, sizeof contents);
            assert_ok(context, file_write(&file, offset, sizeof contents, contents));
            assert_ok(context, zip_writer_sum(&writer, member,
                                              (uint32_t)crc32_z(0, (unsigned char *)contents, 50)));
        }
        assert_ok(context, zip_writer_end(&writer));
        assert_ok(context, file_sync(&file));
        assert_ok(context, file_place(&file));
        zip_writer_free(&writer);
        file_close(&file);

        assert_ok(context, file_open(context, path, &file));
        assert_ok(context, zip_directory_read(&file, &directory));
        assert_int_equal(directory.count, 3);
        for (int k = 0; k < 3; k++) {
            zip_stream stream = {0};
            char contents[50];
            assert_int_equal(directory.members[k].size, 50);
            assert_int_equal(directory.members[k].name[0], 'a' + k);
            assert_ok(context, zip_stream_open(&stream, &file, &directory, &directory.members[k]));
            assert_ok(context, zip_stream_read(&stream, 0, 50, contents));
            for (int j = 0; j < 50; j++) assert_int_equal(contents[j], 'a' + k);
            zip_stream_close(&stream);
        }
        zip_directory_free(&directory);
        file_close(&file);
    }
}

/* Members of more than 4 GiB, in a file that is mostly a hole. */
static void members_past_4_gib_are_found(void **state)
{
    (void)state;
    const char *path = test_path("huge.zip");
    const int64_t size = (int64_t)5 << 30;
    store_file file = {0};
    zip_writer writer = {0};
    zip_directory directory = {0};
    zip_stream stream = {0};
    int64_t member, offset;
    char last[4];
    assert_ok(context, file_begin(context, path, 1, &file));
    zip_writer_begin(&writer, &file);
    assert_ok(context, zip_writer_add(&writer, "huge", size, &member, &offset));
    assert_ok(context, file_write(&file, offset + size - 4, 4, "last"));
    assert_ok(context, zip_writer_add(&writer, "small", 4, &member, &offset));
    assert_ok(context, file_write(&file, offset, 4, "tiny"));
    assert_ok(context, zip_writer_sum(&writer, member,
                                      (uint32_t)crc32_z(0, (const unsigned char *)"tiny", 4)));
    assert_ok(context, zip_writer_end(&writer));
    assert_ok(context, file_place(&file));
    zip_writer_free(&writer);
    file_close(&file);

    assert_ok(context, file_open(context, path, &file));
    assert_ok(context, zip_directory_read(&file, &directory));
    assert_ok(context, zip_stream_open(&stream, &file, &directory, &directory.members[0]));
    assert_ok(context, zip_stream_read(&stream, size - 4, 4, last));
    assert_memory_equal(last, "last", 4);
    zip_stream_close(&stream);
    assert_ok(context, zip_stream_open(&stream, &file, &directory, &directory.members[1]));
    assert_ok(context, zip_stream_read(&stream, 0, 4, last));
    assert_memory_equal(last, "tiny", 4);
    zip_stream_close(&stream);
    zip_directory_free(&directory);
    file_close(&file);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(archives_of_numpy_are_read),
        cmocka_unit_test(entries_are_listed_and_chosen),
        cmocka_unit_test(archives_are_written_and_read_back),
        cmocka_unit_test(entry_names_are_checked),
        cmocka_unit_test(damage_is_found),
        cmocka_unit_test(an_archive_cut_anywhere_is_refused),
        cmocka_unit_test(zip64_archives_are_written),
        cmocka_unit_test(members_past_4_gib_are_found),
    };
    return cmocka_run_group_tests(tests, store_begin, store_end);
}
