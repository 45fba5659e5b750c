#include "store/tiff_pages.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

enum { ENTRIES = 64, MOST_ENTRIES = 2048 }; /* read at once; of one directory */

/* The two layouts differ in the width of counts and offsets only. */
typedef struct layout {
    int big, little;
    size_t count_bytes, entry_bytes, offset_bytes;
} layout;

/* What must be the same on every page. */
typedef struct page_shape {
    uint64_t width, height, bits, samples, format;
} page_shape;

static uint64_t number(const layout *l, const unsigned char *p, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++) value = value << 8 | p[l->little ? bytes - 1 - i : i];
    return value;
}

int tiff_begins(const unsigned char *head, size_t bytes)
{
    return bytes >= 8 && (!memcmp(head, "II*\0", 4) || !memcmp(head, "MM\0*", 4) ||
                          !memcmp(head, "II+\0\b\0\0\0", 8) || !memcmp(head, "MM\0+\0\b\0\0", 8));
}

/* An unsigned number that lies in the entry itself; `otherwise` if it does not. */
static uint64_t inline_value(const layout *l, const unsigned char *entry, uint64_t otherwise)
{
    const unsigned char *value = entry + 4 + l->offset_bytes;
    switch (number(l, entry + 2, 2)) {
    case 1: return *value;
    case 3: return number(l, value, 2);
    case 4: return number(l, value, 4);
    case 16: return l->big ? number(l, value, 8) : otherwise;
    default: return otherwise;
    }
}

static void note_entry(const layout *l, const unsigned char *entry, page_shape *shape,
                       uint64_t *role)
{
    uint64_t *field = NULL;
    switch (number(l, entry, 2)) {
    case 254: field = role; break;
    case 256: field = &shape->width; break;
    case 257: field = &shape->height; break;
    case 258: field = &shape->bits; break;
    case 277: field = &shape->samples; break;
    case 339: field = &shape->format; break;
    default: return;
    }
    *field = inline_value(l, entry, *field);
}

/* One directory: its shape, its role (254), the offset of the next one. */
static motet_status read_directory(store_file *file, const layout *l, uint64_t offset, int64_t page,
                                   page_shape *shape, uint64_t *role, uint64_t *next)
{
    motet_context *c = file->context;
    const uint64_t size = (uint64_t)file->size;
    unsigned char buffer[ENTRIES * 20];
    if (offset < 8 || offset > size || size - offset < l->count_bytes)
        return fail(
            c, MOTET_BAD_DATA, "%s: the directory of page %lld is at %llu, the file has %llu bytes",
            file->path, (long long)page, (unsigned long long)offset, (unsigned long long)size);
    TRY(file_read(file, (int64_t)offset, l->count_bytes, buffer));
    const uint64_t count = number(l, buffer, l->count_bytes);
    uint64_t at = offset + l->count_bytes;
    if (count == 0 || count > MOST_ENTRIES || size - at < count * l->entry_bytes + l->offset_bytes)
        return fail(c, MOTET_BAD_DATA,
                    "%s: the directory of page %lld has %llu entries, which do not fit the file",
                    file->path, (long long)page, (unsigned long long)count);
    for (uint64_t done = 0; done < count; done += ENTRIES) {
        const uint64_t part = count - done < ENTRIES ? count - done : ENTRIES;
        TRY(file_read(file, (int64_t)at, part * l->entry_bytes, buffer));
        for (uint64_t i = 0; i < part; i++) note_entry(l, buffer + i * l->entry_bytes, shape, role);
        at += part * l->entry_bytes;
    }
    TRY(file_read(file, (int64_t)at, l->offset_bytes, buffer));
    *next = number(l, buffer, l->offset_bytes);
    return MOTET_OK;
}

static motet_status keep(store_file *file, tiff_pages *pages, int64_t *space, uint64_t offset)
{
    if (pages->count == *space) {
        const int64_t more = *space ? 2 * *space : 64;
        uint64_t *grown =
            mem_grow(file->context, pages->offsets, (size_t)more * sizeof *pages->offsets);
        if (!grown)
            return fail(file->context, MOTET_NO_MEMORY, "%s: no memory for %lld pages", file->path,
                        (long long)more);
        pages->offsets = grown;
        *space = more;
    }
    pages->offsets[pages->count++] = offset;
    return MOTET_OK;
}

motet_status tiff_find_pages(store_file *file, tiff_pages *out)
{
    motet_context *c = file->context;
    unsigned char head[16] = {0};
    TRY(file_read(file, 0, 8, head));
    if (!tiff_begins(head, 8))
        return fail(c, MOTET_BAD_DATA, "%s: does not begin like a TIFF file", file->path);
    layout l = {.little = head[0] == 'I'};
    l.big = head[l.little ? 2 : 3] == '+';
    l.count_bytes = l.big ? 8 : 2;
    l.entry_bytes = l.big ? 20 : 12;
    l.offset_bytes = l.big ? 8 : 4;
    if (l.big) TRY(file_read(file, 8, 8, head + 8));
    uint64_t offset = number(&l, head + (l.big ? 8 : 4), l.offset_bytes);

    tiff_pages pages = {0};
    page_shape first = {0};
    int64_t space = 0;
    /* Brent 1980: a circle is noticed when the walk meets the offset remembered last. */
    uint64_t remembered = 0, steps = 0, until = 1;
    motet_status st = MOTET_OK;
    for (int64_t page = 0; offset; page++) {
        page_shape shape = {.bits = 1, .samples = 1, .format = 1};
        uint64_t role = 0, next = 0;
        if (offset == remembered)
            TRY_GOTO(fail(c, MOTET_BAD_DATA, "%s: its pages form a circle", file->path));
        if (steps++ == until) {
            remembered = offset;
            until *= 2;
            steps = 0;
        }
        TRY_GOTO(read_directory(file, &l, offset, page, &shape, &role, &next));
        if (!(role & 5)) { /* 1: a reduced copy, 4: a mask */
            if (!pages.count) first = shape;
            if (memcmp(&shape, &first, sizeof shape))
                TRY_GOTO(fail(c, MOTET_BAD_DATA,
                              "%s: page %lld has %llu x %llu pixels of %llu bits, the first page "
                              "%llu x %llu of %llu; all must be of one size and number format",
                              file->path, (long long)page, (unsigned long long)shape.height,
                              (unsigned long long)shape.width, (unsigned long long)shape.bits,
                              (unsigned long long)first.height, (unsigned long long)first.width,
                              (unsigned long long)first.bits));
            TRY_GOTO(keep(file, &pages, &space, offset));
        }
        offset = next;
    }
    if (!pages.count) TRY_GOTO(fail(c, MOTET_BAD_DATA, "%s: holds no page", file->path));
    *out = pages;
    return MOTET_OK;
out:
    mem_free(c, pages.offsets);
    return st;
}
