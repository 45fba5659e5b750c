/* Reading ZIP. Nothing in the archive is believed before it is compared with what else is known:
 * every stretch must lie inside the file, and a member before the directory. */
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "store/zip.h"

enum {
    LOCAL = 30,
    CENTRAL = 46,
    END = 22,
    LOCATOR = 20,
    END64 = 56,
    MOST_COMMENT = 65535,
    MOST_DIRECTORY = 1 << 26, /* bytes; a million members */
    STORED = 0,
    DEFLATED = 8
};

static uint32_t le16(const unsigned char *p) { return (uint32_t)p[0] | (uint32_t)p[1] << 8; }
static uint32_t le32(const unsigned char *p) { return le16(p) | le16(p + 2) << 16; }
static uint64_t le64(const unsigned char *p) { return le32(p) | (uint64_t)le32(p + 4) << 32; }

static motet_status bad(const store_file *file, const char *what)
{
    return fail(file->context, MOTET_BAD_DATA, "%s: zip: %s", file->path, what);
}

/* The record at the end of the file, behind which only a comment of the stated length may be. */
static motet_status find_end(store_file *file, unsigned char out[END], int64_t *where)
{
    motet_context *c = file->context;
    const int64_t most = END + MOST_COMMENT;
    const size_t bytes = (size_t)(file->size < most ? file->size : most);
    if (bytes < END) return bad(file, "cut short: no room for the end record");
    unsigned char *tail = mem_alloc(c, bytes);
    if (!tail) return fail(c, MOTET_NO_MEMORY, "%s: no memory to open it", file->path);
    motet_status st;
    TRY_GOTO(file_read(file, file->size - (int64_t)bytes, bytes, tail));
    st = MOTET_BAD_DATA;
    for (size_t at = bytes - END + 1; at-- > 0;)
        if (!memcmp(tail + at, "PK\5\6", 4) && le16(tail + at + 20) == bytes - at - END) {
            memcpy(out, tail + at, END);
            *where = file->size - (int64_t)(bytes - at);
            st = MOTET_OK;
            break;
        }
    if (st != MOTET_OK) st = bad(file, "cut short: no end record");
out:
    mem_free(c, tail);
    return st;
}

typedef struct extent {
    uint64_t count, bytes, begin;
    int64_t end; /* the directory must end here */
} extent;

static motet_status find_directory(store_file *file, extent *out)
{
    unsigned char end[END] = {0}, locator[LOCATOR], end64[END64];
    int64_t where = 0;
    TRY(find_end(file, end, &where));
    *out = (extent){le16(end + 10), le32(end + 12), le32(end + 16), where};
    unsigned parts = le16(end + 4) | le16(end + 6);
    if (le16(end + 8) != out->count) parts = 1;
    if (where >= LOCATOR) {
        TRY(file_read(file, where - LOCATOR, LOCATOR, locator));
        if (!memcmp(locator, "PK\6\7", 4)) {
            const uint64_t at = le64(locator + 8);
            if (at > (uint64_t)(where - LOCATOR) || (uint64_t)(where - LOCATOR) - at < END64)
                return bad(file, "the zip64 end record lies outside the file");
            TRY(file_read(file, (int64_t)at, END64, end64));
            if (memcmp(end64, "PK\6\6", 4)) return bad(file, "no zip64 end record");
            *out = (extent){le64(end64 + 32), le64(end64 + 40), le64(end64 + 48), (int64_t)at};
            parts = le32(end64 + 16) | le32(end64 + 20) | (le32(locator + 16) > 1) |
                    (le64(end64 + 24) != out->count);
        }
    }
    if (parts)
        return fail(file->context, MOTET_UNSUPPORTED, "%s: zip: an archive in several parts",
                    file->path);
    if (out->begin > (uint64_t)out->end || out->bytes != (uint64_t)out->end - out->begin)
        return bad(file, "the directory does not end where the end record begins");
    if (out->bytes > MOST_DIRECTORY)
        return fail(file->context, MOTET_UNSUPPORTED,
                    "%s: zip: the directory has %llu bytes, expected at most %d", file->path,
                    (unsigned long long)out->bytes, MOST_DIRECTORY);
    if (out->count > out->bytes / CENTRAL)
        return bad(file, "more members than the directory holds");
    return MOTET_OK;
}

/* Sizes and offset that do not fit 32 bits stand, in this order, in the extra field 1. */
static int widen(const unsigned char *extra, size_t bytes, uint64_t *values[3])
{
    const unsigned char *field = NULL;
    size_t rest = 0;
    while (bytes >= 4) {
        const size_t length = le16(extra + 2);
        if (length > bytes - 4) break;
        if (le16(extra) == 1 && !field) {
            field = extra + 4;
            rest = length;
        }
        extra += 4 + length;
        bytes -= 4 + length;
    }
    for (int i = 0; i < 3; i++) {
        if (*values[i] != UINT32_MAX) continue;
        if (!field) continue; /* exactly 2^32 - 1 */
        if (rest < 8) return 0;
        *values[i] = le64(field);
        field += 8;
        rest -= 8;
    }
    return 1;
}

static motet_status read_members(store_file *file, zip_directory *d, size_t bytes)
{
    const unsigned char *p = d->bytes, *const end = p + bytes;
    for (int64_t i = 0; i < d->count; i++) {
        if (end - p < CENTRAL || memcmp(p, "PK\1\2", 4))
            return bad(file, "the directory holds fewer members than it says");
        const size_t name = le16(p + 28), extra = le16(p + 30), comment = le16(p + 32);
        if ((size_t)(end - p) < CENTRAL + name + extra + comment)
            return bad(file, "a member's name ends outside the directory");
        uint64_t packed = le32(p + 20), size = le32(p + 24), offset = le32(p + 42);
        if (!widen(p + CENTRAL + name, extra, (uint64_t *[]){&size, &packed, &offset}))
            return bad(file, "a zip64 field is too short");
        if (offset > (uint64_t)d->begin || packed > (uint64_t)d->begin || size > INT64_MAX)
            return bad(file, "a member lies outside the file");
        d->members[i] = (zip_member){
            (const char *)p + CENTRAL, name,          le16(p + 10),   le16(p + 8), le32(p + 16),
            (int64_t)packed,           (int64_t)size, (int64_t)offset};
        p += CENTRAL + name + extra + comment;
    }
    return p == end ? MOTET_OK : bad(file, "the directory holds more than its members");
}

motet_status zip_directory_read(store_file *file, zip_directory *out)
{
    motet_context *c = file->context;
    extent where = {0};
    TRY(find_directory(file, &where));
    zip_directory d = {.context = c, .count = (int64_t)where.count, .begin = (int64_t)where.begin};
    motet_status st = MOTET_OK;
    d.bytes = mem_alloc(c, (size_t)where.bytes + 1);
    d.members = mem_array(c, zip_member, d.count + 1);
    if (!d.bytes || !d.members)
        TRY_GOTO(fail(c, MOTET_NO_MEMORY, "%s: no memory for its directory", file->path));
    TRY_GOTO(file_read(file, d.begin, (size_t)where.bytes, d.bytes));
    TRY_GOTO(read_members(file, &d, (size_t)where.bytes));
    *out = d;
    return MOTET_OK;
out:
    zip_directory_free(&d);
    return st;
}

void zip_directory_free(zip_directory *d)
{
    mem_free(d->context, d->bytes);
    mem_free(d->context, d->members);
    *d = (zip_directory){0};
}

motet_status zip_stream_open(zip_stream *s, store_file *file, const zip_directory *d,
                             const zip_member *m)
{
    motet_context *c = file->context;
    const int shown = m->name_bytes < 80 ? (int)m->name_bytes : 80;
    if (m->flags & 1)
        return fail(c, MOTET_UNSUPPORTED, "%s: zip: %.*s is encrypted", file->path, shown, m->name);
    if (m->method != STORED && m->method != DEFLATED)
        return fail(c, MOTET_UNSUPPORTED,
                    "%s: zip: %.*s is packed by method %u, expected 0 (stored) or 8 (deflated)",
                    file->path, shown, m->name, m->method);
    if (m->method == STORED && m->packed != m->size)
        return bad(file, "a stored member's two sizes differ");
    unsigned char local[LOCAL];
    if (d->begin - m->offset < LOCAL) return bad(file, "a member lies outside the file");
    TRY(file_read(file, m->offset, LOCAL, local));
    const int64_t begin = m->offset + LOCAL + le16(local + 26) + le16(local + 28);
    if (memcmp(local, "PK\3\4", 4) || le16(local + 26) != m->name_bytes ||
        le16(local + 8) != m->method)
        return bad(file, "a member's local header contradicts the directory");
    if (begin > d->begin || m->packed > d->begin - begin)
        return bad(file, "a member runs into the directory");
    s->file = file;
    s->begin = begin;
    s->size = m->size;
    s->deflated = m->method == DEFLATED;
    s->expected_sum = m->sum;
    s->sum = 0;
    if (!s->deflated) return MOTET_OK;
    s->inflate.check = 1;
    s->inflate.expected_sum = m->sum;
    return inflate_open(&s->inflate, file, begin, m->packed, m->size, INFLATE_RAW);
}

motet_status zip_stream_read(void *from, int64_t offset, size_t bytes, void *out)
{
    zip_stream *s = from;
    if (offset > s->size || (int64_t)bytes > s->size - offset)
        return bad(s->file, "cut short: a member ends before its array");
    if (s->deflated) return inflate_read(&s->inflate, offset, bytes, out);
    TRY(file_read(s->file, s->begin + offset, bytes, out));
    const int64_t end = offset + (int64_t)bytes;
    if (offset <= s->summed && end > s->summed) {
        const unsigned char *p = (const unsigned char *)out + (s->summed - offset);
        s->sum = (uint32_t)crc32_z(s->sum, p, (size_t)(end - s->summed));
        s->summed = end;
        if (end == s->size && s->sum != s->expected_sum) {
            s->summed = 0; /* a second look answers the same */
            s->sum = 0;
            return bad(s->file, "a member has a wrong checksum");
        }
    }
    return MOTET_OK;
}

void zip_stream_close(zip_stream *s)
{
    inflate_close(&s->inflate);
    *s = (zip_stream){0};
}
