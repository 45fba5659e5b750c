/* PNG: grey pictures of 8 or 16 bits, read and written; RGB of 8 bits written (three axes, the last
 * of size 3). libspng does the format; rows pass one by one, so a picture need not fit in memory,
 * and going back means decoding from the beginning again. */
#include <spng.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "store/file.h"
#include "store/formats.h"
#include "store/inflate.h"

enum {
    MOST_PIXELS = 1 << 24, /* along one axis when reading: libspng buffers rows */
    MOST_CHUNK = 1 << 20,  /* bytes of one chunk beside the picture */
    MOST_CHUNKS = 1 << 22  /* bytes of all of them */
};

typedef struct png_store {
    motet_store base;
    store_file file;
    spng_ctx *spng;
    int64_t at;      /* in the file */
    int64_t row;     /* the one that comes next */
    motet_status st; /* of the last callback; libspng's own codes say less */
    int broken;      /* writing: a failure in the middle of a stream cannot be mended */
} png_store;

static int png_probe(const unsigned char *head, size_t bytes, const char *path)
{
    (void)path;
    return bytes >= 8 && !memcmp(head, "\x89PNG\r\n\x1a\n", 8);
}

static motet_status bad(png_store *s, int code)
{
    motet_context *c = s->base.context;
    if (s->st != MOTET_OK) return s->st; /* the callback has said it already */
    if (code == SPNG_EMEM) return fail(c, MOTET_NO_MEMORY, "%s: no memory for PNG", s->base.path);
    if (code == SPNG_IO_EOF || code == SPNG_EIDAT_TOO_SHORT)
        return fail(c, MOTET_BAD_DATA, "%s: cut short: the PNG ends after %lld of %lld rows",
                    s->base.path, (long long)s->row, (long long)s->base.info.shape[0]);
    return fail(c, MOTET_BAD_DATA, "%s: PNG: %s", s->base.path, spng_strerror(code));
}

static int read_some(spng_ctx *spng, void *user, void *out, size_t bytes)
{
    png_store *s = user;
    (void)spng;
    if ((int64_t)bytes > s->file.size - s->at) return SPNG_IO_EOF;
    s->st = file_read(&s->file, s->at, bytes, out);
    s->at += (int64_t)bytes;
    return s->st == MOTET_OK ? 0 : SPNG_IO_ERROR;
}

/* A decoder at the file's beginning, up to the head. */
static motet_status restart(png_store *s, struct spng_ihdr *head)
{
    spng_ctx_free(s->spng);
    s->at = 0;
    s->row = 0;
    s->st = MOTET_OK;
    s->spng = spng_ctx_new(0);
    if (!s->spng) return bad(s, SPNG_EMEM);
    int code = spng_set_image_limits(s->spng, MOST_PIXELS, MOST_PIXELS);
    if (!code) code = spng_set_chunk_limits(s->spng, MOST_CHUNK, MOST_CHUNKS);
    if (!code) code = spng_set_png_stream(s->spng, read_some, s);
    if (!code) code = spng_get_ihdr(s->spng, head);
    return code ? bad(s, code) : MOTET_OK;
}

static motet_status begin_rows(png_store *s)
{
    const int code = spng_decode_image(s->spng, NULL, 0, SPNG_FMT_PNG, SPNG_DECODE_PROGRESSIVE);
    return code ? bad(s, code) : MOTET_OK;
}

static motet_status refuse_entry(motet_store *store, motet_status status, const char *entry)
{
    return fail(store->context, status, "%s: entry %s asked for, the file holds one picture",
                store->path, entry);
}

static motet_status png_open(motet_store *store, const char *entry)
{
    png_store *s = (png_store *)store;
    motet_context *c = store->context;
    if (entry) return refuse_entry(store, MOTET_NOT_FOUND, entry);
    TRY(file_open(c, store->path, &s->file));
    struct spng_ihdr head = {0};
    TRY(restart(s, &head));
    static const char *const colours[] = {
        "grey", "", "RGB", "a palette", "grey with alpha", "", "RGB with alpha"};
    if (head.color_type != SPNG_COLOR_TYPE_GRAYSCALE || head.bit_depth < 8)
        return fail(c, MOTET_UNSUPPORTED, "%s: PNG of %d bits, %s; expected 8 or 16 bits, grey",
                    store->path, head.bit_depth, colours[head.color_type % 7]);
    if (head.interlace_method)
        return fail(c, MOTET_UNSUPPORTED, "%s: the PNG is interlaced, expected plain rows",
                    store->path);
    store->kind = head.bit_depth == 8 ? KIND_U8 : KIND_U16;
    store->info.axes = 2;
    store->info.shape[0] = head.height;
    store->info.shape[1] = head.width;
    const int64_t row = (int64_t)head.width * head.bit_depth / 8 + 1;
    if (!inflate_can_hold(s->file.size, row * head.height))
        return fail(c, MOTET_BAD_DATA, "%s: %lld bytes cannot hold the %u x %u pixels promised",
                    store->path, (long long)s->file.size, head.width, head.height);
    return begin_rows(s);
}

/* The next row; after the last one, what follows it is checked as well. */
static motet_status next_row(png_store *s, void *out)
{
    int code = spng_decode_row(s->spng, out, s->base.row_bytes);
    if (code && code != SPNG_EOI) return bad(s, code);
    s->row++;
    if ((code == SPNG_EOI) != (s->row == s->base.info.shape[0])) return bad(s, SPNG_EINTERNAL);
    if (code == SPNG_EOI && (code = spng_decode_chunks(s->spng))) return bad(s, code);
    return MOTET_OK;
}

static motet_status png_read(motet_store *store, const int64_t *from, const int64_t *count,
                             void *out)
{
    png_store *s = (png_store *)store;
    const int64_t first = from[0], width = store->info.shape[1];
    const size_t element = kind_bytes(store->kind), part = (size_t)count[1] * element;
    motet_status st = MOTET_OK;
    char *line = NULL; /* for what was not asked for */
    if (first < s->row) {
        struct spng_ihdr head;
        TRY_GOTO(restart(s, &head));
        TRY_GOTO(begin_rows(s));
    }
    if (s->row < first || count[1] < width) {
        line = mem_alloc(store->context, store->row_bytes);
        if (!line)
            TRY_GOTO(
                fail(store->context, MOTET_NO_MEMORY, "%s: no memory to skip rows", store->path));
    }
    while (s->row < first) TRY_GOTO(next_row(s, line));
    for (int64_t i = 0; i < count[0]; i++) {
        char *to = (char *)out + (size_t)i * part;
        TRY_GOTO(next_row(s, count[1] < width ? line : to));
        if (count[1] < width) memcpy(to, line + (size_t)from[1] * element, part);
    }
out:
    mem_free(store->context, line);
    if (st != MOTET_OK) s->row = INT64_MAX; /* the next read starts afresh */
    return st;
}

static int write_some(spng_ctx *spng, void *user, void *data, size_t bytes)
{
    png_store *s = user;
    (void)spng;
    s->st = file_write(&s->file, s->at, bytes, data);
    s->at += (int64_t)bytes;
    return s->st == MOTET_OK ? 0 : SPNG_IO_ERROR;
}

static motet_status png_create(motet_store *store, const char *entry)
{
    png_store *s = (png_store *)store;
    motet_context *c = store->context;
    const motet_store_info *info = &store->info;
    if (entry) return refuse_entry(store, MOTET_BAD_ARGUMENT, entry);
    const int grey = info->axes == 2 && (info->type == MOTET_U8 || info->type == MOTET_U16);
    const int rgb = info->axes == 3 && info->shape[2] == 3 && info->type == MOTET_U8;
    if (!grey && !rgb)
        return fail(c, MOTET_UNSUPPORTED,
                    "%s: %s with %d axes; PNG takes uint8 or uint16 with 2 axes, or uint8 with 3 "
                    "axes, the last of size 3",
                    store->path, kind_text(store->kind), info->axes);
    for (int i = 0; i < 2; i++)
        if (info->shape[i] < 1 || info->shape[i] > INT32_MAX)
            return fail(c, MOTET_UNSUPPORTED, "%s: axis %d has size %lld, PNG takes 1 to 2^31 - 1",
                        store->path, i, (long long)info->shape[i]);
    TRY(file_begin(c, store->path, store->overwrite, &s->file));
    struct spng_ihdr head = {
        .width = (uint32_t)info->shape[1],
        .height = (uint32_t)info->shape[0],
        .bit_depth = info->type == MOTET_U8 ? 8 : 16,
        .color_type = grey ? SPNG_COLOR_TYPE_GRAYSCALE : SPNG_COLOR_TYPE_TRUECOLOR,
    };
    s->spng = spng_ctx_new(SPNG_CTX_ENCODER);
    if (!s->spng) return bad(s, SPNG_EMEM);
    int code = spng_set_ihdr(s->spng, &head);
    if (!code) code = spng_set_png_stream(s->spng, write_some, s);
    if (!code)
        code = spng_encode_image(s->spng, NULL, 0, SPNG_FMT_PNG,
                                 SPNG_ENCODE_PROGRESSIVE | SPNG_ENCODE_FINALIZE);
    return code ? bad(s, code) : MOTET_OK;
}

static motet_status png_write(motet_store *store, int64_t first, int64_t count, const void *rows)
{
    png_store *s = (png_store *)store;
    (void)first;
    for (int64_t i = 0; i < count; i++) {
        if (s->broken)
            return fail(store->context, MOTET_IO, "%s: an earlier write has failed", store->path);
        const int code = spng_encode_row(s->spng, (const char *)rows + (size_t)i * store->row_bytes,
                                         store->row_bytes);
        s->row++;
        if ((code && code != SPNG_EOI) || (code == SPNG_EOI) != (s->row == store->info.shape[0])) {
            s->broken = 1;
            return bad(s, code);
        }
    }
    return MOTET_OK;
}

static motet_status png_finish(motet_store *store)
{
    return file_sync(&((png_store *)store)->file);
}

static motet_status png_place(motet_store *store)
{
    return file_place(&((png_store *)store)->file);
}

static void png_close(motet_store *store)
{
    png_store *s = (png_store *)store;
    spng_ctx_free(s->spng);
    file_close(&s->file);
}

const store_format store_png = {
    .name = "png",
    .endings = ".png",
    .bytes = sizeof(png_store),
    .probe = png_probe,
    .open = png_open,
    .create = png_create,
    .read = png_read,
    .write = png_write,
    .finish = png_finish,
    .place = png_place,
    .close = png_close,
};
