/* What the fuzz targets of stores share: the input becomes a file in memory, is opened as the
 * format under test, and read in the ways a caller may choose. Whatever it holds, nothing may leak,
 * no answer may be INTERNAL, and two readings must agree. */
#ifndef MOTET_FUZZ_STORE_H
#define MOTET_FUZZ_STORE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <motet/motet.h>

#include "store/format.h"

enum { FUZZ_BYTES = 1 << 20 }; /* of rows read at once */

static inline void fuzz_check(int holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "broken promise: %s\n", what);
    abort();
}

/* A box that cuts every axis, of the first `rows` rows, which `whole` holds if they could be read:
 * then the box must be what they have there. */
static inline void fuzz_box(motet_store *store, const motet_store_info *info, int64_t rows,
                            size_t element, const unsigned char *whole)
{
    int64_t first[MOTET_MAX_AXES], count[MOTET_MAX_AXES], elements = 1;
    int64_t index[MOTET_MAX_AXES] = {0};
    for (int i = 0; i < info->axes; i++) {
        const int64_t size = i ? info->shape[i] : rows;
        first[i] = size / 3;
        count[i] = (size - first[i] + 1) / 2;
        elements *= count[i];
    }
    unsigned char *box = calloc((size_t)elements + 1, 8);
    if (!box) abort();
    motet_store_read_box(store, first, count, MOTET_F64, box);
    const motet_status st = motet_store_read_box(store, first, count, info->type, box);
    fuzz_check(st != MOTET_INTERNAL && st != MOTET_IO, "the file is to blame for a box");
    if (whole) fuzz_check(st == MOTET_OK, "a part of what is readable is readable");
    for (int64_t k = 0; whole && k < elements; k++) {
        int64_t place = 0;
        for (int i = 0; i < info->axes; i++) place = place * info->shape[i] + first[i] + index[i];
        fuzz_check(!memcmp(box + (size_t)k * element, whole + (size_t)place * element, element),
                   "a box is a part of the whole");
        for (int i = info->axes - 1; i >= 0 && ++index[i] == count[i]; i--) index[i] = 0;
    }
    free(box);
}

static inline void fuzz_rows(motet_store *store)
{
    motet_store_info info;
    motet_store_describe(store, &info);
    fuzz_check(info.axes >= 1 && info.axes <= MOTET_MAX_AXES, "axes are legal");
    for (int i = 0; i < info.axes; i++) fuzz_check(info.shape[i] >= 0, "sizes are legal");
    if (store->row_elements > FUZZ_BYTES / 8 || !store->row_elements) return;
    const size_t row = (size_t)store->row_elements * 8;
    int64_t rows = (int64_t)(FUZZ_BYTES / row);
    if (rows > info.shape[0]) rows = info.shape[0];
    unsigned char *once = calloc((size_t)rows + 1, row), *again = calloc((size_t)rows + 1, row);
    if (!once || !again) abort();
    const int64_t last = info.shape[0] - rows; /* the end first, so that readers must go back */
    motet_store_read(store, last, rows, MOTET_F64, once);
    motet_store_read(store, last, rows, MOTET_F32, once);
    const motet_status st = motet_store_read(store, 0, rows, info.type, once);
    motet_status by_row = MOTET_OK;
    const size_t element = kind_bytes(kind_of_type(info.type)), bytes = row / 8 * element;
    for (int64_t i = 0; i < rows && by_row == MOTET_OK; i++)
        by_row = motet_store_read(store, i, 1, info.type, again + (size_t)i * bytes);
    fuzz_check(st == by_row, "rows one by one answer like rows at once");
    if (st == MOTET_OK)
        fuzz_check(!memcmp(once, again, (size_t)rows * bytes), "two readings agree");
    fuzz_box(store, &info, rows, element, st == MOTET_OK ? once : NULL);
    free(once);
    free(again);
}

static inline int fuzz_store(const store_format *format, const uint8_t *data, size_t bytes,
                             const char *entry)
{
    const int file = memfd_create("input", MFD_CLOEXEC);
    if (file < 0 || write(file, data, bytes) != (ssize_t)bytes) abort();
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    static motet_context *context; /* one for all inputs: making it costs more than most of them */
    if (!context) {
        motet_context_options options;
        motet_context_options_init(&options);
        options.host_memory = 64 << 20;
        if (motet_context_create(&options, &context) != MOTET_OK) abort();
    }
    motet_memory before;
    motet_context_memory(context, &before);
    if (format->probe(data, bytes < STORE_HEAD ? bytes : STORE_HEAD, path)) {
        motet_store *store = NULL;
        char *names = NULL, text[64];
        motet_status st = motet_store_open(context, path, NULL, &store);
        if (st != MOTET_OK && entry) st = motet_store_open(context, path, entry, &store);
        fuzz_check((st == MOTET_OK) == (store != NULL), "a store comes with OK only");
        fuzz_check(st != MOTET_INTERNAL && st != MOTET_IO, "the file is to blame, not we");
        if (store) {
            motet_store_text(store, "Comment", text, sizeof text);
            fuzz_rows(store);
        }
        motet_store_free(store);
        if (motet_store_entries(context, path, &names) == MOTET_OK) motet_text_free(context, names);
    }
    motet_memory memory;
    motet_context_report_reset(context); /* forgets warnings */
    motet_context_memory(context, &memory);
    fuzz_check(memory.blocks == before.blocks, "nothing leaks");
    close(file);
    return 0;
}

#endif
