/* NPZ: a ZIP archive whose members are NPY arrays; an entry is a member's name, with or without its
 * ".npy". */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "store/formats.h"
#include "store/npy_header.h"
#include "store/zip.h"

typedef struct npz_store {
    motet_store base;
    store_file file;
    zip_stream stream;
    npy_header header;
    /* Writing: the first entry's rows arrive one by one. */
    zip_writer writer;
    int64_t member, data; /* its number; where its rows begin in the file */
    uint32_t sum;
} npz_store;

enum { MOST_NAME = 1000 };

static int npz_probe(const unsigned char *head, size_t bytes, const char *path)
{
    (void)path;
    return bytes >= 4 && (!memcmp(head, "PK\3\4", 4) || !memcmp(head, "PK\5\6", 4));
}

/* Bytes of a member's name without ".npy"; 0 if it is no array. */
static size_t entry_bytes(const zip_member *m)
{
    const size_t n = m->name_bytes;
    return n > 4 && !memcmp(m->name + n - 4, ".npy", 4) ? n - 4 : 0;
}

static int is_named(const zip_member *m, const char *entry)
{
    const size_t bytes = strlen(entry), name = entry_bytes(m);
    return name && ((bytes == name && !memcmp(entry, m->name, bytes)) ||
                    (bytes == m->name_bytes && !memcmp(entry, m->name, bytes)));
}

static motet_status list_entries(motet_context *c, const char *path, const zip_directory *d,
                                 char separator, char **out)
{
    size_t bytes = 1;
    for (int64_t i = 0; i < d->count; i++) bytes += entry_bytes(&d->members[i]) + 1;
    char *list = mem_alloc(c, bytes), *p = list;
    if (!list) return fail(c, MOTET_NO_MEMORY, "%s: no memory for its entries", path);
    for (int64_t i = 0; i < d->count; i++) {
        const size_t name = entry_bytes(&d->members[i]);
        if (!name) continue;
        if (memchr(d->members[i].name, '\n', name) || memchr(d->members[i].name, 0, name)) {
            mem_free(c, list);
            return fail(c, MOTET_BAD_DATA, "%s: an entry's name has a line end in it", path);
        }
        memcpy(p, d->members[i].name, name);
        p += name;
        *p++ = separator;
    }
    *p = 0;
    *out = list;
    return MOTET_OK;
}

static motet_status fail_with_entries(motet_store *s, const zip_directory *d, motet_status status,
                                      const char *entry)
{
    char *list = NULL;
    TRY(list_entries(s->context, s->path, d, ' ', &list));
    const motet_status st =
        entry ? fail(s->context, status, "%s: no entry %s; there are: %s", s->path, entry, list)
              : fail(s->context, status, "%s: several entries, expected a choice of: %s", s->path,
                     list);
    mem_free(s->context, list);
    return st;
}

static motet_status choose(motet_store *s, const zip_directory *d, const char *entry,
                           const zip_member **out)
{
    int64_t found = 0;
    for (int64_t i = 0; i < d->count; i++)
        if (entry ? is_named(&d->members[i], entry) : entry_bytes(&d->members[i]) != 0) {
            *out = &d->members[i];
            found++;
        }
    if (found == 1) return MOTET_OK;
    if (!found && !entry)
        return fail(s->context, MOTET_BAD_DATA, "%s: a zip archive without arrays", s->path);
    if (!found) return fail_with_entries(s, d, MOTET_NOT_FOUND, entry);
    if (entry)
        return fail(s->context, MOTET_BAD_DATA, "%s: %lld entries have the name %s", s->path,
                    (long long)found, entry);
    return fail_with_entries(s, d, MOTET_BAD_ARGUMENT, NULL);
}

static motet_status npz_open(motet_store *store, const char *entry)
{
    npz_store *s = (npz_store *)store;
    motet_context *c = store->context;
    zip_directory d = {0};
    char *where = NULL;
    TRY(file_open(c, store->path, &s->file));
    TRY(zip_directory_read(&s->file, &d));
    motet_status st;
    const zip_member *m = NULL;
    TRY_GOTO(choose(store, &d, entry, &m));
    const int shown = m->name_bytes < 80 ? (int)m->name_bytes : 80;
    where = mem_format(c, "%s/%.*s", store->path, shown, m->name);
    if (!where) TRY_GOTO(fail(c, MOTET_NO_MEMORY, "%s: no memory to open it", store->path));
    TRY_GOTO(zip_stream_open(&s->stream, &s->file, &d, m));
    TRY_GOTO(
        npy_begin(store, where, (box_source){zip_stream_read, &s->stream}, m->size, &s->header));
out:
    mem_free(c, where);
    zip_directory_free(&d);
    return st;
}

static motet_status npz_read(motet_store *store, const int64_t *first, const int64_t *count,
                             void *out)
{
    npz_store *s = (npz_store *)store;
    return npy_box(store, &s->header, (box_source){zip_stream_read, &s->stream}, first, count, out);
}

static motet_status npz_entries(motet_context *c, const char *path, char **names)
{
    store_file file = {0};
    zip_directory d = {0};
    motet_status st;
    TRY_GOTO(file_open(c, path, &file));
    TRY_GOTO(zip_directory_read(&file, &d));
    TRY_GOTO(list_entries(c, path, &d, '\n', names));
out:
    zip_directory_free(&d);
    file_close(&file);
    return st;
}

/* The member's name for an entry: relative, ending in ".npy". */
static motet_status member_name(motet_store *s, const char *entry, char out[MOST_NAME + 5])
{
    while (*entry == '/') entry++;
    const size_t bytes = strlen(entry);
    int bad = !bytes || bytes > MOST_NAME || entry[bytes - 1] == '/';
    for (const char *p = entry; *p; p++) {
        bad |= (unsigned char)*p < ' ' || *p == '\\' || *p == 0x7f;
        if (p == entry || p[-1] == '/') /* "..", ".", "" as a part of the path */
            bad |= *p == '/' ||
                   (*p == '.' && (!p[1] || p[1] == '/' || (p[1] == '.' && (!p[2] || p[2] == '/'))));
    }
    if (bad)
        return fail(s->context, MOTET_BAD_ARGUMENT,
                    "%s: entry \"%.80s\", expected a relative path of at most %d printable bytes",
                    s->path, entry, MOST_NAME);
    const int has_ending = bytes > 4 && !strcmp(entry + bytes - 4, ".npy");
    snprintf(out, MOST_NAME + 5, "%s%s", entry, has_ending ? "" : ".npy");
    return MOTET_OK;
}

/* Adds a member and writes its NPY header; the sum so far is that of the header. */
static motet_status begin_member(npz_store *s, const char *entry, const motet_store_info *info,
                                 int64_t *member, int64_t *data, uint32_t *sum)
{
    motet_store *store = &s->base;
    char name[MOST_NAME + 5];
    unsigned char header[NPY_WRITTEN];
    int64_t elements, size, offset = 0;
    TRY(member_name(store, entry, name));
    if (zip_writer_has(&s->writer, name))
        return fail(store->context, MOTET_BAD_ARGUMENT, "%s: entry %s is there already",
                    store->path, name);
    const size_t bytes = npy_header_write(info, header),
                 element = kind_bytes(kind_of_type(info->type));
    if (!store_elements(info->axes, info->shape, element, &elements) ||
        __builtin_add_overflow(elements * (int64_t)element, (int64_t)bytes, &size))
        return fail(store->context, MOTET_BAD_ARGUMENT, "%s: more than 2^63 - 1 bytes",
                    store->path);
    TRY(zip_writer_add(&s->writer, name, size, member, &offset));
    const motet_status st = file_write(&s->file, offset, bytes, header);
    if (st != MOTET_OK) {
        zip_writer_drop(&s->writer);
        return st;
    }
    *data = offset + (int64_t)bytes;
    *sum = (uint32_t)crc32_z(0, header, bytes);
    return MOTET_OK;
}

/* Sums what file_write_little writes. */
static uint32_t sum_little(uint32_t sum, int64_t count, size_t element, const void *data)
{
    if (STORE_HOST_IS_LITTLE || element == 1)
        return (uint32_t)crc32_z(sum, data, (size_t)count * element);
    for (int64_t i = 0; i < count; i++) {
        unsigned char value[8];
        memcpy(value, (const char *)data + (size_t)i * element, element);
        convert_swap(value, 1, element);
        sum = (uint32_t)crc32_z(sum, value, element);
    }
    return sum;
}

static motet_status npz_create(motet_store *store, const char *entry)
{
    npz_store *s = (npz_store *)store;
    TRY(file_begin(store->context, store->path, store->overwrite, &s->file));
    zip_writer_begin(&s->writer, &s->file);
    return begin_member(s, entry ? entry : "data", &store->info, &s->member, &s->data, &s->sum);
}

static motet_status npz_write(motet_store *store, int64_t first, int64_t count, const void *rows)
{
    npz_store *s = (npz_store *)store;
    const int64_t elements = count * store->row_elements;
    const size_t element = kind_bytes(store->kind);
    TRY(file_write_little(&s->file, s->data + first * (int64_t)store->row_bytes, elements, element,
                          rows));
    s->sum = sum_little(s->sum, elements, element, rows);
    return MOTET_OK;
}

static motet_status npz_add(motet_store *store, const char *entry, const motet_store_info *info,
                            const void *data)
{
    npz_store *s = (npz_store *)store;
    int64_t member = 0, offset = 0, elements = 0;
    uint32_t sum = 0;
    const size_t element = kind_bytes(kind_of_type(info->type));
    TRY(begin_member(s, entry, info, &member, &offset, &sum));
    store_elements(info->axes, info->shape, element, &elements);
    motet_status st = MOTET_OK;
    if (elements) {
        TRY_GOTO(file_write_little(&s->file, offset, elements, element, data));
        sum = sum_little(sum, elements, element, data);
    }
    TRY_GOTO(zip_writer_sum(&s->writer, member, sum));
    return MOTET_OK;
out:
    zip_writer_drop(&s->writer);
    return st;
}

static motet_status npz_finish(motet_store *store)
{
    npz_store *s = (npz_store *)store;
    TRY(zip_writer_sum(&s->writer, s->member, s->sum));
    TRY(zip_writer_end(&s->writer));
    return file_sync(&s->file);
}

static motet_status npz_place(motet_store *store)
{
    return file_place(&((npz_store *)store)->file);
}

static void npz_close(motet_store *store)
{
    npz_store *s = (npz_store *)store;
    zip_writer_free(&s->writer);
    zip_stream_close(&s->stream);
    file_close(&s->file);
}

const store_format store_npz = {
    .name = "npz",
    .endings = ".npz",
    .bytes = sizeof(npz_store),
    .probe = npz_probe,
    .open = npz_open,
    .create = npz_create,
    .read = npz_read,
    .write = npz_write,
    .finish = npz_finish,
    .place = npz_place,
    .close = npz_close,
    .add = npz_add,
    .entries = npz_entries,
};
