/* MetaImage: a text head with the numbers behind it (MHA) or in a file of their own (MHD and a raw
 * file). Compressed data are read; written ones are plain and little-endian.
 *
 * A pair that replaces another one takes a raw file of a name that is free (volume.raw, else
 * volume-1.raw and so on); the head's rename then changes from the old numbers to the new ones in
 * one step, and the old raw file goes last. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/box.h"
#include "store/file.h"
#include "store/formats.h"
#include "store/inflate.h"
#include "store/mha_header.h"

typedef struct mha_store {
    motet_store base;
    store_file head, raw; /* raw is closed where the numbers are in the same file */
    mha_header header;
    char *text; /* of the head */
    inflate_stream inflate;
    int64_t begin; /* of the numbers, in their file */
} mha_store;

static store_file *data_file(mha_store *s) { return s->raw.is_open ? &s->raw : &s->head; }

static motet_status read_head(mha_store *s)
{
    motet_store *store = &s->base;
    motet_context *c = store->context;
    const size_t bytes = s->head.size < MHA_MOST ? (size_t)s->head.size : MHA_MOST;
    char *text = mem_alloc(c, bytes + 1);
    if (!text) return fail(c, MOTET_NO_MEMORY, "%s: no memory for its head", store->path);
    motet_status st;
    TRY_GOTO(file_read(&s->head, 0, bytes, text));
    TRY_GOTO(mha_header_parse(c, store->path, text, bytes, &s->header));
    /* Keep the head only. */
    s->text = mem_alloc(c, s->header.bytes + 1);
    if (!s->text) TRY_GOTO(fail(c, MOTET_NO_MEMORY, "%s: no memory for its head", store->path));
    memcpy(s->text, text, s->header.bytes);
    if (s->header.data_file) s->header.data_file = s->text + (s->header.data_file - text);
out:
    mem_free(c, text);
    return st;
}

static char *data_path(const mha_store *s)
{
    const char *path = s->base.path;
    return mem_format(s->base.context, "%.*s%.*s", (int)file_folder_bytes(path), path,
                      (int)s->header.data_file_bytes, s->header.data_file);
}

static motet_status open_raw(mha_store *s)
{
    motet_store *store = &s->base;
    char *path = data_path(s);
    if (!path)
        return fail(store->context, MOTET_NO_MEMORY, "%s: no memory to open it", store->path);
    const motet_status st = file_open(store->context, path, &s->raw);
    if (st != MOTET_OK) fail_prefix(store->context, "%s", store->path);
    mem_free(store->context, path);
    return st;
}

static motet_status place_data(mha_store *s)
{
    motet_context *c = s->base.context;
    const mha_header *h = &s->header;
    store_file *file = data_file(s);
    int64_t elements = 0;
    if (!store_elements(h->axes, h->shape, kind_bytes(h->kind), &elements))
        return fail(c, MOTET_BAD_DATA, "%s: DimSize takes more than 2^63 - 1 bytes", s->base.path);
    const int64_t expected = elements * (int64_t)kind_bytes(h->kind);
    int64_t begin = s->raw.is_open ? 0 : (int64_t)h->bytes, found = file->size - begin;
    const int at_end = h->skip < 0 && !h->compressed;
    if (at_end && found >= expected) {
        begin = file->size - expected;
        found = expected;
    } else if (h->skip > 0) {
        if (h->skip > found)
            return fail(c, MOTET_BAD_DATA, "%s: HeaderSize = %lld, the file has %lld bytes there",
                        file->path, (long long)h->skip, (long long)found);
        begin += h->skip;
        found -= h->skip;
    }
    s->begin = begin;
    if (!h->compressed && found == expected) return MOTET_OK;
    if (!h->compressed)
        return fail(c, MOTET_BAD_DATA, "%s: expected %lld bytes of data, found %lld", file->path,
                    (long long)expected, (long long)found);
    if (h->packed >= 0) {
        if (h->packed > found)
            return fail(c, MOTET_BAD_DATA, "%s: expected %lld bytes of compressed data, found %lld",
                        file->path, (long long)h->packed, (long long)found);
        found = h->packed;
    }
    return inflate_open(&s->inflate, file, begin, found, expected, INFLATE_WRAPPED);
}

static motet_status refuse_entry(motet_store *store, motet_status status, const char *entry)
{
    return fail(store->context, status, "%s: entry %s asked for, the file holds one array",
                store->path, entry);
}

static motet_status mha_open(motet_store *store, const char *entry)
{
    mha_store *s = (mha_store *)store;
    if (entry) return refuse_entry(store, MOTET_NOT_FOUND, entry);
    TRY(file_open(store->context, store->path, &s->head));
    TRY(read_head(s));
    if (s->header.data_file) TRY(open_raw(s));
    TRY(place_data(s));
    if (s->header.turned)
        log_warning(store->context, "store",
                    "%s: TransformMatrix is not the identity; the volume is read as it lies",
                    store->path);
    store->kind = s->header.kind;
    store->info.axes = s->header.axes;
    memcpy(store->info.shape, s->header.shape, sizeof s->header.shape);
    memcpy(store->info.spacing, s->header.spacing, sizeof s->header.spacing);
    memcpy(store->info.origin, s->header.origin, sizeof s->header.origin);
    return MOTET_OK;
}

static motet_status mha_read(motet_store *store, const int64_t *first, const int64_t *count,
                             void *out)
{
    mha_store *s = (mha_store *)store;
    const int packed = s->header.compressed;
    const box_source source =
        packed ? (box_source){inflate_read, &s->inflate} : (box_source){file_source, data_file(s)};
    const box_layout layout = {.begin = packed ? 0 : s->begin, .swap = s->header.swap};
    return box_read(store, source, &layout, first, count, out);
}

static motet_status mha_text(motet_store *store, const char *name, char *out, size_t bytes)
{
    mha_store *s = (mha_store *)store;
    size_t length = 0;
    const char *value = mha_header_find(s->text, s->header.bytes, name, &length);
    if (!value)
        return fail(store->context, MOTET_NOT_FOUND, "%s: has no text %s", store->path, name);
    if (length >= bytes)
        return fail(store->context, MOTET_BAD_ARGUMENT,
                    "%s: text %s takes %zu bytes, there is room for %zu", store->path, name,
                    length + 1, bytes);
    memcpy(out, value, length);
    out[length] = 0;
    return MOTET_OK;
}

enum { MOST_RAWS = 1000 };

/* The name that a raw file written for `path` may have, number 0 first. */
static char *raw_name(motet_context *c, const char *path, int number)
{
    const int stem = (int)strlen(path) - 4;
    return number ? mem_format(c, "%.*s-%d.raw", stem, path, number)
                  : mem_format(c, "%.*s.raw", stem, path);
}

/* 1 if raw_name could have made it. */
static int is_raw_name(const char *path, const char *raw)
{
    const size_t stem = strlen(path) - 4;
    if (strncmp(path, raw, stem)) return 0;
    const char *rest = raw + stem;
    if (*rest == '-') {
        const size_t digits = strspn(rest + 1, "0123456789");
        if (!digits) return 0;
        rest += 1 + digits;
    }
    return !strcmp(rest, ".raw");
}

motet_status mha_companion(motet_context *c, const char *path, int written, char **out)
{
    mha_store s = {.base = {.context = c, .path = path}};
    struct stat status;
    motet_status st = MOTET_OK;
    *out = NULL;
    if (written) {
        if (store_ends_in(path, ".mhd") && !(*out = raw_name(c, path, 0)))
            st = fail(c, MOTET_NO_MEMORY, "%s: no memory for a name", path);
        return st;
    }
    /* What is no MHD has no companion. */
    if (stat(path, &status) || !S_ISREG(status.st_mode)) return MOTET_OK;
    st = file_open(c, path, &s.head);
    if (st == MOTET_OK) st = read_head(&s);
    if (st == MOTET_OK && s.header.data_file) {
        *out = data_path(&s);
        if (!*out) st = fail(c, MOTET_NO_MEMORY, "%s: no memory for a name", path);
    }
    mem_free(c, s.text);
    file_close(&s.head);
    return st == MOTET_NO_MEMORY || st == MOTET_IO ? st : MOTET_OK;
}

/* The raw file of the MHD that is about to be replaced, to be removed after that; NULL: none, or
 * one that may belong to something else. */
static motet_status former_raw(mha_store *s, char **out)
{
    const motet_store *store = &s->base;
    struct stat status;
    *out = NULL;
    if (!store->overwrite || lstat(store->path, &status) || !S_ISREG(status.st_mode))
        return MOTET_OK;
    TRY(mha_companion(store->context, store->path, 0, out));
    if (*out && is_raw_name(store->path, *out) && !lstat(*out, &status) && S_ISREG(status.st_mode))
        return MOTET_OK;
    mem_free(store->context, *out);
    *out = NULL;
    return MOTET_OK;
}

/* The raw file beside an MHD never replaces another file. Where the MHD replaces one, a name is
 * chosen that is free; elsewhere volume.raw would belong to something else. */
static motet_status begin_raw(mha_store *s)
{
    motet_store *store = &s->base;
    motet_context *c = store->context;
    struct stat status;
    const int replaces = store->overwrite && !stat(store->path, &status);
    motet_status st = MOTET_OK;
    for (int number = 0; !s->raw.is_open; number++) {
        if (number == MOST_RAWS)
            return fail(c, MOTET_EXISTS, "%s: no free name for its raw file after %d attempts",
                        store->path, MOST_RAWS);
        char *path = raw_name(c, store->path, number);
        if (!path) return fail(c, MOTET_NO_MEMORY, "%s: no memory to begin it", store->path);
        if (!replaces || lstat(path, &status)) st = file_begin(c, path, 0, &s->raw);
        mem_free(c, path);
        if (st != MOTET_OK) return st;
    }
    char *former;
    TRY(former_raw(s, &former));
    if (former && !stat(former, &status)) /* what replaces a file keeps its permissions */
        (void)!fchmod(s->raw.descriptor, status.st_mode & 0777);
    mem_free(c, former);
    return MOTET_OK;
}

static motet_status mha_create(motet_store *store, const char *entry)
{
    mha_store *s = (mha_store *)store;
    char head[MHA_WRITTEN];
    if (entry) return refuse_entry(store, MOTET_BAD_ARGUMENT, entry);
    TRY(mha_header_write(store->context, store->path, &store->info, head));
    TRY(file_begin(store->context, store->path, store->overwrite, &s->head));
    if (store_ends_in(store->path, ".mhd")) TRY(begin_raw(s));
    const char *name = "LOCAL";
    if (s->raw.is_open) {
        name = s->raw.path + file_folder_bytes(s->raw.path);
        if (strchr(name, '%') || strchr(name, '\\') || strchr(name, '\n') || *name == ' ')
            return fail(store->context, MOTET_UNSUPPORTED,
                        "%s: a name with %%, \\, a line end or a space at its beginning cannot "
                        "stand in an mhd file",
                        store->path);
    }
    const size_t bytes = strlen(head), name_bytes = strlen(name);
    TRY(file_write(&s->head, 0, bytes, head));
    TRY(file_write(&s->head, (int64_t)bytes, name_bytes, name));
    TRY(file_write(&s->head, (int64_t)(bytes + name_bytes), 1, "\n"));
    s->begin = s->raw.is_open ? 0 : s->head.size;
    return MOTET_OK;
}

static motet_status mha_write(motet_store *store, int64_t first, int64_t count, const void *rows)
{
    mha_store *s = (mha_store *)store;
    return file_write_little(data_file(s), s->begin + first * (int64_t)store->row_bytes,
                             count * store->row_elements, kind_bytes(store->kind), rows);
}

static motet_status mha_write_at(motet_store *store, int64_t first, int64_t count,
                                 const void *values)
{
    mha_store *s = (mha_store *)store;
    const size_t element = kind_bytes(store->kind);
    return file_write_little(data_file(s), s->begin + first * (int64_t)element, count, element,
                             values);
}

static motet_status mha_finish(motet_store *store)
{
    mha_store *s = (mha_store *)store;
    if (s->raw.is_open) TRY(file_sync(&s->raw));
    return file_sync(&s->head);
}

static motet_status mha_place(motet_store *store)
{
    mha_store *s = (mha_store *)store;
    if (!s->raw.is_open) return file_place(&s->head);
    TRY(file_check_target(store->context, store->path, 0, store->overwrite));
    char *former;
    TRY(former_raw(s, &former));
    motet_status st = file_place(&s->raw);
    if (st == MOTET_OK) {
        st = file_place(&s->head);
        /* A head that is in place although its folder could not be synced needs both raw files: a
         * crash may bring the old head back. */
        if (st != MOTET_OK && !access(s->head.temporary, F_OK)) file_withdraw(&s->raw);
    }
    if (st == MOTET_OK && former && unlink(former))
        log_warning(store->context, "store", "%s: it is no longer used and cannot be removed",
                    former);
    mem_free(store->context, former);
    return st;
}

static void mha_close(motet_store *store)
{
    mha_store *s = (mha_store *)store;
    inflate_close(&s->inflate);
    mem_free(store->context, s->text);
    file_close(&s->raw);
    file_close(&s->head);
}

const store_format store_mha = {
    .name = "mha",
    .endings = ".mha .mhd",
    .bytes = sizeof(mha_store),
    .probe = mha_probe,
    .open = mha_open,
    .create = mha_create,
    .read = mha_read,
    .write = mha_write,
    .write_at = mha_write_at,
    .finish = mha_finish,
    .place = mha_place,
    .close = mha_close,
    .text = mha_text,
};
