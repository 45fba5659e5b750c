/* What the tests of stores share: one context for the program, whose memory must be as before at
 * the end, and files written in one go. */
#ifndef MOTET_STORE_TEST_H
#define MOTET_STORE_TEST_H

#include <dirent.h>
#include <stdio.h>

#include "support/support.h"

static motet_context *context;
static motet_memory store_before;

static int store_begin(void **state)
{
    (void)state;
    context = test_context();
    motet_context_memory(context, &store_before);
    return 0;
}

static int store_end(void **state)
{
    (void)state;
    motet_memory memory;
    motet_context_memory(context, &memory);
    motet_context_free(context);
    if (memory.blocks == store_before.blocks) return 0;
    print_error("%d blocks leaked\n", (int)(memory.blocks - store_before.blocks));
    return 1;
}

static inline void write_bytes(const char *path, const void *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    fclose(file);
}

static inline void write_store(const char *path, const motet_store_info *info, const void *data)
{
    motet_store *store;
    assert_ok(context, motet_store_create(context, path, NULL, info, 0, &store));
    assert_ok(context, motet_store_write(store, 0, info->shape[0], data));
    assert_ok(context, motet_store_commit(store));
    motet_store_free(store);
}

/* Files in the scratch folder, hidden ones too. */
static inline int count_files(void)
{
    int count = 0;
    DIR *folder = opendir(test_folder());
    assert_non_null(folder);
    while (readdir(folder)) count++;
    closedir(folder);
    return count;
}

/* A file of the corpus, which is also the reference: written by NumPy or by hand. */
static inline const char *corpus(const char *name)
{
    static char paths[4][1024];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], MOTET_SOURCE "/tests/fuzz/corpus/%s", name);
    return path;
}

/* The store holds the numbers scale * k + shift, k counting its elements in C order. */
static inline void assert_counts(const char *path, const char *entry, const char *format,
                                 motet_type type, int axes, const int64_t *shape, double scale,
                                 double shift)
{
    motet_store *store;
    motet_store_info info;
    double values[1024];
    assert_ok(context, motet_store_open(context, path, entry, &store));
    motet_store_describe(store, &info);
    assert_string_equal(info.format, format);
    assert_int_equal(info.type, type);
    assert_int_equal(info.axes, axes);
    int64_t row = 1;
    for (int i = 0; i < axes; i++) {
        assert_int_equal(info.shape[i], shape[i]);
        if (i) row *= shape[i];
    }
    assert_true(row * shape[0] <= 1024);
    for (int64_t step = shape[0]; step > 0;
         step--) /* every size of block, from the end backwards */
        for (int64_t first = shape[0] - step; first >= 0; first -= step) {
            assert_ok(context, motet_store_read(store, first, step, MOTET_F64, values));
            for (int64_t k = 0; k < step * row; k++)
                assert_true(values[k] == scale * (double)(first * row + k) + shift);
        }
    motet_store_free(store);
}

#endif
