/* MetaImage: x is first in the file and last here; data files stay in their own folder; heads that
 * contradict themselves or the data are refused. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store_test.h"

static const int64_t shape[3] = {2, 3, 4};

/* Kinds, byte orders, compression and a raw file behind a head of its own. */
static void files_of_others_are_read(void **state)
{
    (void)state;
    assert_counts(corpus("mha/short.mha"), NULL, "mha", MOTET_I32, 3, shape, 1, -5);
    assert_counts(corpus("mha/big.mha"), NULL, "mha", MOTET_F32, 3, shape, 1, 0);
    assert_counts(corpus("mha/zlib.mha"), NULL, "mha", MOTET_U16, 3, shape, 1, 0);
    assert_counts(corpus("mha/double.mhd"), NULL, "mha", MOTET_F64, 3, shape, 1, 0);
}

/* Spacing and origin come in the order of the axes; other keys as texts. */
static void spacing_and_texts_are_told(void **state)
{
    (void)state;
    motet_store *store;
    motet_store_info info;
    char text[32];
    assert_ok(context, motet_store_open(context, corpus("mha/short.mha"), NULL, &store));
    motet_store_describe(store, &info);
    assert_true(info.spacing[0] == 1 && info.spacing[1] == 0.5 && info.spacing[2] == 0.25);
    assert_true(info.origin[0] == 30 && info.origin[1] == 2 && info.origin[2] == -1.5);
    assert_ok(context, motet_store_text(store, "AnatomicalOrientation", text, sizeof text));
    assert_string_equal(text, "RAI");
    assert_status(context, motet_store_text(store, "Modality", text, sizeof text), MOTET_NOT_FOUND);
    assert_status(context, motet_store_text(store, "AnatomicalOrientation", text, 3),
                  MOTET_BAD_ARGUMENT);
    motet_store_free(store);
    assert_ok(context, motet_store_open(context, corpus("mha/zlib.mha"), NULL, &store));
    motet_store_describe(store, &info);
    assert_true(info.spacing[0] == 0);
    motet_store_free(store);
}

/* Every type with 2 to 4 axes comes back from both forms, with spacing and origin. */
static void what_is_written_is_read_back(void **state)
{
    (void)state;
    static const motet_type types[] = {MOTET_F32, MOTET_F64, MOTET_U8,
                                       MOTET_U16, MOTET_I32, MOTET_I64};
    static const size_t bytes_of[] = {4, 8, 1, 2, 4, 8};
    uint64_t random = 1;
    for (int form = 0; form < 2; form++)
        for (size_t t = 0; t < sizeof types / sizeof *types; t++)
            for (int axes = 2; axes <= 4; axes++) {
                const char *path = test_path(form ? "round.mhd" : "round.mha");
                motet_store_info info = {.type = types[t], .axes = axes}, got;
                size_t bytes = bytes_of[t];
                for (int i = 0; i < axes; i++) {
                    info.shape[i] = 5 - i;
                    info.spacing[i] = 0.1 * (i + 1);
                    info.origin[i] = -1e-7 * i;
                    bytes *= (size_t)info.shape[i];
                }
                unsigned char data[5 * 4 * 3 * 2 * 8], back[sizeof data];
                for (size_t i = 0; i < bytes; i++) data[i] = (unsigned char)test_random(&random);
                motet_store *store;
                assert_ok(context, motet_store_create(context, path, NULL, &info, 1, &store));
                assert_ok(context, motet_store_write(store, 0, 5, data));
                assert_ok(context, motet_store_commit(store));
                motet_store_free(store);
                assert_ok(context, motet_store_open(context, path, NULL, &store));
                motet_store_describe(store, &got);
                assert_int_equal(got.type, info.type);
                assert_int_equal(got.axes, axes);
                assert_memory_equal(got.shape, info.shape, sizeof info.shape);
                assert_memory_equal(got.spacing, info.spacing, sizeof info.spacing);
                for (int i = 0; i < axes; i++) assert_true(got.origin[i] == info.origin[i]);
                assert_ok(context, motet_store_read(store, 0, 5, info.type, back));
                assert_memory_equal(back, data, bytes);
                motet_store_free(store);
            }
    assert_true(!access(test_path("round.raw"), F_OK) != !access(test_path("round-1.raw"), F_OK));
}

static void write_pair(const char *path, const char *values)
{
    const motet_store_info info = {.type = MOTET_U8, .axes = 2, .shape = {1, 2}};
    motet_store *store;
    assert_ok(context, motet_store_create(context, path, NULL, &info, 1, &store));
    assert_ok(context, motet_store_write(store, 0, 1, values));
    assert_ok(context, motet_store_commit(store));
    motet_store_free(store);
}

static void assert_pair(const char *path, const char *values)
{
    motet_store *store;
    char got[2];
    assert_ok(context, motet_store_open(context, path, NULL, &store));
    assert_ok(context, motet_store_read(store, 0, 1, MOTET_U8, got));
    motet_store_free(store);
    assert_memory_equal(got, values, 2);
}

static int is_there(const char *name) { return !access(test_path(name), F_OK); }

/* A pair that replaces another has a raw file of its own until the header names it; then the old
 * one goes, unless its name says that it may be somebody else's. */
static void a_pair_is_replaced_in_one_step(void **state)
{
    (void)state;
    const char *path = test_path("pair.mhd");
    write_pair(path, "ab");
    assert_true(is_there("pair.raw"));
    const motet_store_info info = {.type = MOTET_U8, .axes = 2, .shape = {1, 2}};
    motet_store *store;
    assert_ok(context, motet_store_create(context, path, NULL, &info, 1, &store));
    assert_ok(context, motet_store_write(store, 0, 1, "cd"));
    assert_pair(path, "ab");
    assert_ok(context, motet_store_commit(store));
    motet_store_free(store);
    assert_pair(path, "cd");
    assert_true(is_there("pair-1.raw") && !is_there("pair.raw"));
    assert_status(context, motet_store_check_distinct(context, test_path("pair-1.raw"), path),
                  MOTET_SAME_FILE);
    write_bytes(test_path("pair.raw"), "theirs", 6);
    write_pair(path, "ef");
    assert_pair(path, "ef");
    assert_true(is_there("pair-2.raw") && !is_there("pair-1.raw") && is_there("pair.raw"));

    static const char others[] = "ObjectType = Image\nNDims = 2\nDimSize = 2 1\n"
                                 "ElementType = MET_UCHAR\nElementDataFile = pair-x.raw\n";
    write_bytes(path, others, sizeof others - 1);
    write_bytes(test_path("pair-x.raw"), "xy", 2);
    write_pair(path, "gh");
    assert_pair(path, "gh");
    assert_true(is_there("pair-x.raw") && is_there("pair-2.raw") && is_there("pair-1.raw"));
}

/* The head is exactly this text. */
static void head_is_plain_text(void **state)
{
    (void)state;
    const char *path = test_path("head.mha");
    const motet_store_info info = {
        .type = MOTET_U8, .axes = 2, .shape = {1, 2}, .spacing = {0.5, 0}, .origin = {3, 0}};
    write_store(path, &info, "xy");
    const char *want = "ObjectType = Image\nNDims = 2\nBinaryData = True\n"
                       "BinaryDataByteOrderMSB = False\nCompressedData = False\nOffset = 0 3\n"
                       "ElementSpacing = 1 0.5\nDimSize = 2 1\nElementType = MET_UCHAR\n"
                       "ElementDataFile = LOCAL\nxy";
    char got[512] = {0};
    FILE *file = fopen(path, "rb");
    fread(got, 1, sizeof got - 1, file);
    fclose(file);
    assert_string_equal(got, want);
}

/* What the format cannot hold is refused before anything is written. */
static void what_does_not_fit_the_format_is_refused(void **state)
{
    (void)state;
    const motet_store_info infos[] = {
        {.type = MOTET_F16, .axes = 2, .shape = {1, 1}},
        {.type = MOTET_F32, .axes = 1, .shape = {1}},
        {.type = MOTET_F32, .axes = 5, .shape = {1, 1, 1, 1, 1}},
        {.type = MOTET_F32, .axes = 2, .shape = {0, 1}},
    };
    motet_store *store = NULL;
    for (size_t i = 0; i < sizeof infos / sizeof *infos; i++)
        assert_status(context,
                      motet_store_create(context, test_path("not.mha"), NULL, &infos[i], 0, &store),
                      MOTET_UNSUPPORTED);
    motet_store_info info = {.type = MOTET_F32, .axes = 2, .shape = {1, 1}, .spacing = {-1, 1}};
    assert_status(context,
                  motet_store_create(context, test_path("not.mha"), NULL, &info, 0, &store),
                  MOTET_BAD_ARGUMENT);
    assert_null(store);
}

#define HEAD "ObjectType = Image\nNDims = 2\nDimSize = 2 1\nElementType = MET_UCHAR\n"

/* Contradictions, missing lines and paths out of the folder, each named. */
static void hostile_heads_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        motet_status status;
        const char *word;
    } rows[] = {
        {HEAD "ElementDataFile = LOCAL\nxy", MOTET_OK, NULL},
        {HEAD "ElementDataFile = LOCAL\r\nxy", MOTET_OK, NULL},
        {HEAD "ElementDataFile = LOCAL\nx", MOTET_BAD_DATA, "expected 2 bytes of data, found 1"},
        {HEAD "ElementDataFile = LOCAL\nxyz", MOTET_BAD_DATA, "found 3"},
        {HEAD "ElementDataFile = LOCAL", MOTET_BAD_DATA, "ElementDataFile"},
        {HEAD "ElementDataFile = ../x.raw\n", MOTET_BAD_DATA, "same folder"},
        {HEAD "ElementDataFile = /etc/passwd\n", MOTET_BAD_DATA, "same folder"},
        {HEAD "ElementDataFile = ..\n", MOTET_BAD_DATA, "same folder"},
        {HEAD "ElementDataFile = \n", MOTET_BAD_DATA, "same folder"},
        {HEAD "ElementDataFile = LIST\n", MOTET_UNSUPPORTED, "several"},
        {HEAD "ElementDataFile = s%03d.raw 0 9 1\n", MOTET_UNSUPPORTED, "several"},
        {HEAD "ElementDataFile = absent.raw\n", MOTET_NOT_FOUND, "absent.raw"},
        {HEAD "NDims = 2\nElementDataFile = LOCAL\nxy", MOTET_BAD_DATA, "once"},
        {HEAD "HeaderSize = 9\nElementDataFile = LOCAL\nxy", MOTET_BAD_DATA, "HeaderSize"},
        {HEAD "HeaderSize = 1\nElementDataFile = LOCAL\nwxy", MOTET_OK, NULL},
        {HEAD "HeaderSize = -1\nElementDataFile = LOCAL\nvwxy", MOTET_OK, NULL},
        {HEAD "BinaryData = False\nElementDataFile = LOCAL\nxy", MOTET_UNSUPPORTED, "BinaryData"},
        {HEAD "BinaryData = Maybe\nElementDataFile = LOCAL\nxy", MOTET_BAD_DATA, "Maybe"},
        {HEAD "ElementNumberOfChannels = 3\nElementDataFile = LOCAL\nxy", MOTET_UNSUPPORTED, "3"},
        {HEAD "ElementSpacing = 1 0\nElementDataFile = LOCAL\nxy", MOTET_BAD_DATA, "above 0"},
        {HEAD "ElementSpacing = 1 nan\nElementDataFile = LOCAL\nxy", MOTET_BAD_DATA, "finite"},
        {HEAD "ElementSpacing = 1 1 1\nElementDataFile = LOCAL\nxy", MOTET_BAD_DATA, "2 finite"},
        {HEAD "Offset = 1,5 2\nElementDataFile = LOCAL\nxy", MOTET_BAD_DATA, "1,5"},
        {HEAD "CompressedData = True\nElementDataFile = LOCAL\nxy", MOTET_OK, NULL}, /* see below */
        {HEAD "CompressedData = True\nCompressedDataSize = 3\nElementDataFile = LOCAL\nxy",
         MOTET_BAD_DATA, "expected 3 bytes of compressed data"},
        {"NDims = 2\nDimSize = 2 1\nElementDataFile = LOCAL\nxy", MOTET_BAD_DATA, "ElementType"},
        {"NDims = 2\nElementType = MET_UCHAR\nElementDataFile = LOCAL\nxy", MOTET_BAD_DATA,
         "DimSize"},
        {"DimSize = 2 1\nNDims = 2\nElementType = MET_UCHAR\nElementDataFile = LOCAL\nxy",
         MOTET_BAD_DATA, "NDims before"},
        {"NDims = 1\nDimSize = 2\nElementType = MET_UCHAR\nElementDataFile = LOCAL\nxy",
         MOTET_UNSUPPORTED, "NDims"},
        {"NDims = 2\nDimSize = 2 -1\nElementType = MET_UCHAR\nElementDataFile = LOCAL\nxy",
         MOTET_BAD_DATA, "2 -1"},
        {"NDims = 2\nDimSize = 2 1 1\nElementType = MET_UCHAR\nElementDataFile = LOCAL\nxy",
         MOTET_BAD_DATA, "2 1 1"},
        {"NDims = 2\nDimSize = 4294967296 4294967296\nElementType = MET_UCHAR\n"
         "ElementDataFile = LOCAL\nxy",
         MOTET_BAD_DATA, "2^63"},
        {"NDims = 2\nDimSize = 2 1\nElementType = MET_STRING\nElementDataFile = LOCAL\nxy",
         MOTET_UNSUPPORTED, "MET_STRING"},
        {"ObjectType = Tube\nNDims = 2\nDimSize = 2 1\nElementDataFile = LOCAL\nxy",
         MOTET_UNSUPPORTED, "Tube"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *path = test_path("hostile.mha");
        write_bytes(path, rows[i].text, strlen(rows[i].text));
        motet_store *store = NULL;
        unsigned char values[2];
        assert_status(context, motet_store_open(context, path, NULL, &store), rows[i].status);
        if (!store) {
            assert_message(context, rows[i].word, NULL);
            continue;
        }
        if (strstr(rows[i].text, "Compressed"))
            assert_status(context, motet_store_read(store, 0, 1, MOTET_U8, values), MOTET_BAD_DATA);
        else {
            assert_ok(context, motet_store_read(store, 0, 1, MOTET_U8, values));
            assert_memory_equal(values, "xy", 2);
        }
        motet_store_free(store);
    }
}

/* A few bytes that claim to inflate to a terabyte are refused at once. */
static void a_compression_bomb_is_refused(void **state)
{
    (void)state;
    const char *text = "NDims = 2\nDimSize = 1048576 1048576\nElementType = MET_UCHAR\n"
                       "CompressedData = True\nElementDataFile = LOCAL\nxxxxxxxx";
    const char *path = test_path("bomb.mha");
    write_bytes(path, text, strlen(text));
    motet_store *store = NULL;
    assert_status(context, motet_store_open(context, path, NULL, &store), MOTET_BAD_DATA);
    assert_message(context, "cannot hold", NULL);
    assert_null(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_others_are_read),
        cmocka_unit_test(spacing_and_texts_are_told),
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(a_pair_is_replaced_in_one_step),
        cmocka_unit_test(head_is_plain_text),
        cmocka_unit_test(what_does_not_fit_the_format_is_refused),
        cmocka_unit_test(hostile_heads_are_refused),
        cmocka_unit_test(a_compression_bomb_is_refused),
    };
    return cmocka_run_group_tests(tests, store_begin, store_end);
}
