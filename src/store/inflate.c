#include "store/inflate.h"

#include <limits.h>

#include "base/fail.h"
#include "base/mem.h"

enum { INPUT = 1 << 16, SKIP = 1 << 14, MOST = 1 << 30 };

static void *allocate(void *context, unsigned items, unsigned size)
{
    /* zlib may read, without using them, bytes of its window that it has not written. */
    return mem_zero_array(context, items, size);
}

static void release(void *context, void *block) { mem_free(context, block); }

int inflate_can_hold(int64_t packed, int64_t size)
{
    return size / 1032 <= packed; /* the quotient rounds down: some slack for the head */
}

motet_status inflate_open(inflate_stream *s, store_file *file, int64_t begin, int64_t packed,
                          int64_t size, int window)
{
    motet_context *c = file->context;
    if (!inflate_can_hold(packed, size))
        return fail(c, MOTET_BAD_DATA, "%s: %lld packed bytes cannot hold the %lld expected",
                    file->path, (long long)packed, (long long)size);
    s->file = file;
    s->begin = begin;
    s->packed = packed;
    s->size = size;
    s->input = mem_alloc(c, INPUT);
    if (!s->input) return fail(c, MOTET_NO_MEMORY, "%s: no memory to inflate it", file->path);
    s->z.zalloc = allocate;
    s->z.zfree = release;
    s->z.opaque = c;
    if (inflateInit2(&s->z, window) != Z_OK)
        return fail(c, MOTET_NO_MEMORY, "%s: no memory to inflate it", file->path);
    s->begun = 1;
    return MOTET_OK;
}

void inflate_close(inflate_stream *s)
{
    if (s->begun) inflateEnd(&s->z);
    if (s->input) mem_free(s->file->context, s->input);
    *s = (inflate_stream){0};
}

static motet_status damaged(const inflate_stream *s, const char *what)
{
    return fail(s->file->context, MOTET_BAD_DATA,
                "%s: compressed data: %s after %lld of %lld bytes", s->file->path, what,
                (long long)s->given, (long long)s->size);
}

/* Refills the input if it is used up; at the stretch's end it stays empty. */
static motet_status refill(inflate_stream *s)
{
    if (s->z.avail_in || s->taken == s->packed) return MOTET_OK;
    const int64_t rest = s->packed - s->taken;
    const size_t bytes = rest < INPUT ? (size_t)rest : INPUT;
    TRY(file_read(s->file, s->begin + s->taken, bytes, s->input));
    s->z.next_in = s->input;
    s->z.avail_in = (unsigned)bytes;
    s->taken += (int64_t)bytes;
    return MOTET_OK;
}

/* The last byte has been given: the stream must end here, and its sum be right. */
static motet_status finish(inflate_stream *s)
{
    for (int code = Z_OK; code != Z_STREAM_END;) {
        unsigned char more;
        TRY(refill(s));
        s->z.next_out = &more;
        s->z.avail_out = 1;
        code = inflate(&s->z, Z_NO_FLUSH);
        if (code == Z_MEM_ERROR)
            return fail(s->file->context, MOTET_NO_MEMORY, "%s: no memory to inflate it",
                        s->file->path);
        if (!s->z.avail_out) return damaged(s, "more data");
        if (code != Z_OK && code != Z_STREAM_END)
            return damaged(s, code == Z_BUF_ERROR ? "no end" : "an error");
    }
    if (s->check && s->sum != s->expected_sum) return damaged(s, "a wrong checksum");
    s->checked = 1;
    return MOTET_OK;
}

static motet_status give(inflate_stream *s, size_t bytes, unsigned char *out)
{
    while (bytes) {
        const unsigned part = bytes < MOST ? (unsigned)bytes : MOST;
        TRY(refill(s));
        s->z.next_out = out;
        s->z.avail_out = part;
        const int code = inflate(&s->z, Z_NO_FLUSH);
        const unsigned got = part - s->z.avail_out;
        if (s->check) s->sum = (uint32_t)crc32(s->sum, out, got);
        s->given += got;
        out += got;
        bytes -= got;
        if (code == Z_MEM_ERROR)
            return fail(s->file->context, MOTET_NO_MEMORY, "%s: no memory to inflate it",
                        s->file->path);
        if (code == Z_STREAM_END && !bytes && s->given == s->size) {
            if (s->check && s->sum != s->expected_sum) return damaged(s, "a wrong checksum");
            s->checked = 1;
            return MOTET_OK;
        }
        if (code == Z_STREAM_END) return damaged(s, "the end");
        if (code == Z_BUF_ERROR) return damaged(s, "cut short");
        if (code != Z_OK) return damaged(s, s->z.msg ? s->z.msg : "an error");
    }
    return s->given == s->size && !s->checked ? finish(s) : MOTET_OK;
}

motet_status inflate_read(void *stream, int64_t offset, size_t bytes, void *out)
{
    inflate_stream *s = stream;
    if (offset < s->given) {
        inflateReset(&s->z);
        s->z.avail_in = 0;
        s->taken = 0;
        s->given = 0;
        s->sum = 0;
        s->checked = 0;
    }
    motet_status st = MOTET_OK;
    while (s->given < offset) {
        unsigned char skipped[SKIP];
        const int64_t rest = offset - s->given;
        TRY_GOTO(give(s, rest < SKIP ? (size_t)rest : SKIP, skipped));
    }
    TRY_GOTO(give(s, bytes, out));
out:
    if (st != MOTET_OK) s->given = INT64_MAX; /* the next read starts afresh */
    return st;
}
