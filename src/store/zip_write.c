/* Writing ZIP: sizes are known beforehand, sums are patched in when the contents are there. */
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
    DATE = 0x21, /* 1980-01-01 */
    PLAIN = 20,
    ZIP64 = 45,         /* versions needed to read */
    EXTRA_LOCAL = 20,   /* zip64: head and two sizes */
    EXTRA_CENTRAL = 28, /* and the offset */
    UTF8 = 1 << 11,
    MOST_MEMBERS = 65535, /* from here on the count takes zip64 */
    SUM_AT = 14           /* in the local header */
};

static unsigned char *put(unsigned char *p, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) *p++ = (unsigned char)(value >> 8 * i);
    return p;
}

void zip_writer_begin(zip_writer *w, store_file *file)
{
    *w = (zip_writer){.file = file, .limit = UINT32_MAX};
}

void zip_writer_free(zip_writer *w)
{
    for (int64_t i = 0; i < w->count; i++) mem_free(w->file->context, w->members[i].name);
    if (w->members) mem_free(w->file->context, w->members);
    *w = (zip_writer){0};
}

int zip_writer_has(const zip_writer *w, const char *name)
{
    for (int64_t i = 0; i < w->count; i++)
        if (!strcmp(w->members[i].name, name)) return 1;
    return 0;
}

static int is_wide(const zip_writer *w, int64_t value) { return (uint64_t)value >= w->limit; }

static unsigned flags_of(const char *name)
{
    for (; *name; name++)
        if ((unsigned char)*name > 126) return UTF8;
    return 0;
}

motet_status zip_writer_add(zip_writer *w, const char *name, int64_t size, int64_t *member,
                            int64_t *offset)
{
    motet_context *c = w->file->context;
    const size_t name_bytes = strlen(name);
    const int wide = is_wide(w, size);
    unsigned char head[LOCAL + EXTRA_LOCAL], *p = head;
    int64_t end;
    const int64_t begin = w->end + LOCAL + (int64_t)name_bytes + (wide ? EXTRA_LOCAL : 0);
    if (__builtin_add_overflow(begin, size, &end))
        return fail(c, MOTET_BAD_ARGUMENT, "%s: more than 2^63 - 1 bytes", w->file->path);

    if (w->count == w->room) {
        const int64_t room = w->room ? 2 * w->room : 8;
        zip_written *members = mem_grow(c, w->members, (size_t)room * sizeof *members);
        if (!members) return fail(c, MOTET_NO_MEMORY, "%s: no memory for entries", w->file->path);
        w->members = members;
        w->room = room;
    }
    char *copy = mem_text(c, name);
    if (!copy) return fail(c, MOTET_NO_MEMORY, "%s: no memory for entries", w->file->path);

    p = put(p, 0x04034b50, 4);
    p = put(p, wide ? ZIP64 : PLAIN, 2);
    p = put(p, flags_of(name), 2);
    p = put(p, 0, 4); /* stored; midnight */
    p = put(p, DATE, 2);
    p = put(p, 0, 4); /* the sum follows */
    p = put(p, wide ? UINT32_MAX : (uint64_t)size, 4);
    p = put(p, wide ? UINT32_MAX : (uint64_t)size, 4);
    p = put(p, name_bytes, 2);
    p = put(p, wide ? EXTRA_LOCAL : 0, 2);
    unsigned char *extra = p;
    if (wide) {
        p = put(p, 1, 2);
        p = put(p, EXTRA_LOCAL - 4, 2);
        p = put(p, (uint64_t)size, 8);
        p = put(p, (uint64_t)size, 8);
    }
    motet_status st;
    TRY_GOTO(file_write(w->file, w->end, LOCAL, head));
    TRY_GOTO(file_write(w->file, w->end + LOCAL, name_bytes, name));
    TRY_GOTO(file_write(w->file, w->end + LOCAL + (int64_t)name_bytes, (size_t)(p - extra), extra));
    w->members[w->count] = (zip_written){copy, w->end, size, 0};
    *member = w->count++;
    *offset = begin;
    w->end = end;
    return MOTET_OK;
out:
    mem_free(c, copy);
    return st;
}

void zip_writer_drop(zip_writer *w)
{
    w->count--;
    w->end = w->members[w->count].offset;
    mem_free(w->file->context, w->members[w->count].name);
}

motet_status zip_writer_sum(zip_writer *w, int64_t member, uint32_t sum)
{
    unsigned char bytes[4];
    put(bytes, sum, 4);
    TRY(file_write(w->file, w->members[member].offset + SUM_AT, 4, bytes));
    w->members[member].sum = sum;
    return MOTET_OK;
}

static motet_status write_central(zip_writer *w, const zip_written *m, int64_t *at)
{
    unsigned char head[CENTRAL + EXTRA_CENTRAL], *p = head;
    const int wide = is_wide(w, m->size) || is_wide(w, m->offset);
    const size_t name_bytes = strlen(m->name);
    p = put(p, 0x02014b50, 4);
    p = put(p, 3 << 8 | (wide ? ZIP64 : PLAIN), 2); /* made on Unix, for the mode below */
    p = put(p, wide ? ZIP64 : PLAIN, 2);
    p = put(p, flags_of(m->name), 2);
    p = put(p, 0, 4);
    p = put(p, DATE, 2);
    p = put(p, m->sum, 4);
    p = put(p, wide ? UINT32_MAX : (uint64_t)m->size, 4);
    p = put(p, wide ? UINT32_MAX : (uint64_t)m->size, 4);
    p = put(p, name_bytes, 2);
    p = put(p, wide ? EXTRA_CENTRAL : 0, 2);
    p = put(p, 0, 6);                       /* no comment; part 0; binary */
    p = put(p, (uint64_t)0100644 << 16, 4); /* a regular file, rw-r--r-- */
    p = put(p, wide ? UINT32_MAX : (uint64_t)m->offset, 4);
    unsigned char *extra = p;
    if (wide) {
        p = put(p, 1, 2);
        p = put(p, EXTRA_CENTRAL - 4, 2);
        p = put(p, (uint64_t)m->size, 8);
        p = put(p, (uint64_t)m->size, 8);
        p = put(p, (uint64_t)m->offset, 8);
    }
    TRY(file_write(w->file, *at, CENTRAL, head));
    TRY(file_write(w->file, *at + CENTRAL, name_bytes, m->name));
    TRY(file_write(w->file, *at + CENTRAL + (int64_t)name_bytes, (size_t)(p - extra), extra));
    *at += CENTRAL + (int64_t)name_bytes + (p - extra);
    return MOTET_OK;
}

motet_status zip_writer_end(zip_writer *w)
{
    int64_t at = w->end;
    for (int64_t i = 0; i < w->count; i++) TRY(write_central(w, &w->members[i], &at));
    const int64_t bytes = at - w->end;
    const int wide = is_wide(w, w->end) || is_wide(w, bytes) || w->count >= MOST_MEMBERS;
    unsigned char tail[END64 + LOCATOR + END], *p = tail;
    if (wide) {
        p = put(p, 0x06064b50, 4);
        p = put(p, END64 - 12, 8);
        p = put(p, 3 << 8 | ZIP64, 2);
        p = put(p, ZIP64, 2);
        p = put(p, 0, 8); /* part 0 of part 0 */
        p = put(p, (uint64_t)w->count, 8);
        p = put(p, (uint64_t)w->count, 8);
        p = put(p, (uint64_t)bytes, 8);
        p = put(p, (uint64_t)w->end, 8);
        p = put(p, 0x07064b50, 4);
        p = put(p, 0, 4);
        p = put(p, (uint64_t)at, 8);
        p = put(p, 1, 4);
    }
    const uint64_t count = wide ? UINT16_MAX : (uint64_t)w->count;
    p = put(p, 0x06054b50, 4);
    p = put(p, 0, 4);
    p = put(p, count, 2);
    p = put(p, count, 2);
    p = put(p, wide ? UINT32_MAX : (uint64_t)bytes, 4);
    p = put(p, wide ? UINT32_MAX : (uint64_t)w->end, 4);
    p = put(p, 0, 2);
    return file_write(w->file, at, (size_t)(p - tail), tail);
}
