/* Arrays on disk that nobody else sees: plain numbers in a file without a name. */
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "store/box.h"
#include "store/file.h"
#include "store/format.h"

typedef struct scratch_store {
    motet_store base;
    store_file file;
} scratch_store;

static motet_status read_scratch(motet_store *store, const int64_t *first, const int64_t *count,
                                 void *out)
{
    const box_layout layout = {.begin = 0};
    return box_read(store, (box_source){file_source, &((scratch_store *)store)->file}, &layout,
                    first, count, out);
}

static motet_status write_scratch(motet_store *store, int64_t first, int64_t count,
                                  const void *values)
{
    const size_t element = kind_bytes(store->kind);
    return file_write(&((scratch_store *)store)->file, first * (int64_t)element,
                      (size_t)count * element, values);
}

static void close_scratch(motet_store *store) { file_close(&((scratch_store *)store)->file); }

static const store_format format = {
    .name = "scratch",
    .endings = "",
    .bytes = sizeof(scratch_store),
    .read = read_scratch,
    .write_at = write_scratch,
    .close = close_scratch,
};

motet_status store_scratch(motet_context *c, const char *folder, motet_type type, int axes,
                           const int64_t *shape, motet_store **out)
{
    motet_store_info info = {.type = type, .axes = axes};
    for (int i = 0; i < axes && i < MOTET_MAX_AXES; i++) info.shape[i] = shape[i];
    TRY(store_check_info(c, "a scratch array", &info));
    scratch_store *s = mem_new(c, scratch_store);
    if (!s) return fail(c, MOTET_NO_MEMORY, "no memory for a scratch array");
    s->base = (motet_store){.context = c, .format = &format, .info = info};
    s->base.kind = kind_of_type(type);
    memcpy(s->base.info.format, format.name, strlen(format.name) + 1);
    s->base.row_elements = box_elements(axes - 1, shape + 1);
    s->base.row_bytes = (size_t)s->base.row_elements * motet_type_bytes(type);
    motet_status st = MOTET_OK;
    s->base.path = mem_format(c, "scratch in %s", folder ? folder : ".");
    if (!s->base.path) TRY_GOTO(fail(c, MOTET_NO_MEMORY, "no memory for a scratch array"));
    TRY_GOTO(file_scratch(c, folder ? folder : ".", &s->file));
    TRY_GOTO(file_extend(&s->file, box_elements(axes, shape) * (int64_t)motet_type_bytes(type)));
    *out = &s->base;
    return MOTET_OK;
out:
    motet_store_free(&s->base);
    return st;
}
