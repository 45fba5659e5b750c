/* NPY: one array behind a short text header. */
#include "base/fail.h"
#include "store/file.h"
#include "store/formats.h"
#include "store/npy_header.h"

typedef struct npy_store {
    motet_store base;
    store_file file;
    npy_header header;
    int64_t begin; /* writing: where the data begin */
} npy_store;

static int npy_probe(const unsigned char *head, size_t bytes, const char *path)
{
    (void)path;
    return npy_is_magic(head, bytes);
}

static motet_status npy_open(motet_store *store, const char *entry)
{
    npy_store *s = (npy_store *)store;
    if (entry)
        return fail(store->context, MOTET_NOT_FOUND,
                    "%s: entry %s asked for, an npy file holds one array without a name",
                    store->path, entry);
    TRY(file_open(store->context, store->path, &s->file));
    return npy_begin(store, store->path, (box_source){file_source, &s->file}, s->file.size,
                     &s->header);
}

static motet_status npy_read(motet_store *store, const int64_t *first, const int64_t *count,
                             void *out)
{
    npy_store *s = (npy_store *)store;
    return npy_box(store, &s->header, (box_source){file_source, &s->file}, first, count, out);
}

static motet_status npy_create(motet_store *store, const char *entry)
{
    npy_store *s = (npy_store *)store;
    if (entry)
        return fail(store->context, MOTET_BAD_ARGUMENT,
                    "%s: entry %s asked for, an npy file holds one array without a name",
                    store->path, entry);
    unsigned char header[NPY_WRITTEN];
    const size_t bytes = npy_header_write(&store->info, header);
    TRY(file_begin(store->context, store->path, store->overwrite, &s->file));
    s->begin = (int64_t)bytes;
    return file_write(&s->file, 0, bytes, header);
}

static motet_status npy_write(motet_store *store, int64_t first, int64_t count, const void *rows)
{
    npy_store *s = (npy_store *)store;
    return file_write_little(&s->file, s->begin + first * (int64_t)store->row_bytes,
                             count * store->row_elements, kind_bytes(store->kind), rows);
}

static motet_status npy_write_at(motet_store *store, int64_t first, int64_t count,
                                 const void *values)
{
    npy_store *s = (npy_store *)store;
    const size_t element = kind_bytes(store->kind);
    return file_write_little(&s->file, s->begin + first * (int64_t)element, count, element, values);
}

static motet_status npy_finish(motet_store *store)
{
    return file_sync(&((npy_store *)store)->file);
}

static motet_status npy_place(motet_store *store)
{
    return file_place(&((npy_store *)store)->file);
}

static void npy_close(motet_store *store) { file_close(&((npy_store *)store)->file); }

const store_format store_npy = {
    .name = "npy",
    .endings = ".npy",
    .bytes = sizeof(npy_store),
    .probe = npy_probe,
    .open = npy_open,
    .create = npy_create,
    .read = npy_read,
    .write = npy_write,
    .write_at = npy_write_at,
    .finish = npy_finish,
    .place = npy_place,
    .close = npy_close,
};
