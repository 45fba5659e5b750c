#include "store/tiff_write.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/number.h"
#include "store/convert.h"

enum {
    PIXELS = 64,       /* where they begin; a round number */
    MOST_ENTRIES = 14, /* of a directory as we write it */
    SHORT = 3,
    LONG = 4,
    RATIONAL = 5,
    ASCII = 2,
    LONG8 = 16,
};

/* "motet axes=3 spacing=0.5 0.25 0.25 origin=0 0 0" */
void tiff_describe(const motet_store_info *info, char *out, size_t bytes)
{
    int known = 0;
    *out = 0;
    for (int i = 0; i < info->axes; i++) known |= info->spacing[i] != 0;
    if (!known && !(info->axes == 3 && info->shape[0] == 1)) return;
    size_t used = (size_t)snprintf(out, bytes, "motet axes=%d", info->axes);
    if (!known) return;
    for (int origin = 0; origin < 2; origin++)
        for (int i = 0; i < info->axes && used < bytes; i++) {
            char text[NUMBER_TEXT];
            used +=
                (size_t)snprintf(out + used, bytes - used, "%s%s",
                                 i        ? " "
                                 : origin ? " origin="
                                          : " spacing=",
                                 number_text(origin ? info->origin[i] : info->spacing[i], text));
        }
}

static const char *read_numbers(const char *text, const char *name, int axes, double *out)
{
    const char *at = strstr(text, name);
    if (!at) return NULL;
    at += strlen(name);
    for (int i = 0; i < axes; i++) {
        const char *end;
        out[i] = number_prefix(at, &end);
        if (end == at) return NULL;
        at = end + (*end == ' ');
    }
    return at;
}

void tiff_read_description(const char *text, motet_store_info *info)
{
    static const char three[] = "motet axes=3";
    double spacing[MOTET_MAX_AXES] = {0}, origin[MOTET_MAX_AXES] = {0};
    if (strncmp(text, "motet axes=", 11)) return;
    if (!strncmp(text, three, sizeof three - 1) && info->axes == 2) {
        info->axes = 3;
        info->shape[2] = info->shape[1];
        info->shape[1] = info->shape[0];
        info->shape[0] = 1;
    }
    if (text[11] != (char)('0' + info->axes)) return;
    if (!read_numbers(text, " spacing=", info->axes, spacing) ||
        !read_numbers(text, " origin=", info->axes, origin))
        return;
    memcpy(info->spacing, spacing, sizeof spacing);
    memcpy(info->origin, origin, sizeof origin);
}

motet_status tiff_plan_pages(motet_context *c, const char *path, const motet_store_info *info,
                             tiff_plan *out)
{
    if (info->axes != 2 && info->axes != 3)
        return fail(c, MOTET_UNSUPPORTED, "%s: has %d axes, TIFF holds 2 or 3", path, info->axes);
    const int64_t *sizes = info->shape + (info->axes - 2);
    tiff_plan plan = {.type = info->type,
                      .pages = info->axes == 3 ? info->shape[0] : 1,
                      .height = sizes[0],
                      .width = sizes[1]};
    if (plan.pages < 1 || plan.height < 1 || plan.width < 1)
        return fail(c, MOTET_UNSUPPORTED, "%s: %lld pages of %lld x %lld pixels: TIFF holds none",
                    path, (long long)plan.pages, (long long)plan.height, (long long)plan.width);
    /* Most readers take no more than 2^31 - 1. */
    if (plan.height > INT32_MAX || plan.width > INT32_MAX)
        return fail(c, MOTET_UNSUPPORTED,
                    "%s: pages of %lld x %lld pixels, TIFF holds at most 2^31 - 1 each way", path,
                    (long long)plan.height, (long long)plan.width);
    plan.page_bytes = plan.height * plan.width * (int64_t)kind_bytes(kind_of_type(info->type));
    memcpy(plan.spacing, info->spacing + (info->axes - 2), sizeof plan.spacing);
    tiff_describe(info, plan.description, sizeof plan.description);
    const double bytes = (double)plan.pages * ((double)plan.page_bytes + 256) + 1024;
    plan.big = bytes > 4294967295.0;
    *out = plan;
    return MOTET_OK;
}

int64_t tiff_plan_pixels(const tiff_plan *plan)
{
    (void)plan;
    return PIXELS;
}

/* Bytes of a directory that is being put together, in host order. */
typedef struct bytes {
    unsigned char data[8 + MOST_ENTRIES * 20 + 8];
    size_t used;
    int big;
} bytes;

static void put(bytes *b, uint64_t value, size_t width)
{
    for (size_t i = 0; i < width; i++)
        b->data[b->used + i] =
            (unsigned char)(value >> 8 * (STORE_HOST_IS_LITTLE ? i : width - 1 - i));
    b->used += width;
}

static size_t type_bytes(int type)
{
    switch (type) {
    case SHORT: return 2;
    case LONG: return 4;
    case LONG8:
    case RATIONAL: return 8;
    default: return 1;
    }
}

/* A value that fits is padded behind, as TIFF wants it; an offset fills the field. */
static void put_entry(bytes *b, unsigned tag, int type, uint64_t count, uint64_t value)
{
    const size_t field = b->big ? 8 : 4;
    const size_t needed = type_bytes(type) * (size_t)count;
    put(b, tag, 2);
    put(b, (uint64_t)type, 2);
    put(b, count, field);
    const size_t width = needed <= field && type != RATIONAL && type != ASCII ? needed : field;
    put(b, value, width);
    put(b, 0, field - width);
}

typedef struct rational {
    uint32_t above, below;
} rational;

/* Pixels per centimetre, the spacing being in millimetres. */
static rational resolution(double spacing)
{
    const double value = 10 / spacing;
    uint32_t below = 1;
    while (below < 1000000 && value * 10 * below < 4294967295.0) below *= 10;
    return (rational){(uint32_t)(value * below + 0.5), below};
}

static int has_resolution(const tiff_plan *plan)
{
    for (int i = 0; i < 2; i++)
        if (!(plan->spacing[i] > 1e-8 && plan->spacing[i] < 1e6)) return 0;
    return 1;
}

/* Pixels, then the values that do not fit in entries, then the directories. */
typedef struct places {
    uint64_t texts, resolutions, directories;
} places;

static void put_directory(const tiff_plan *plan, const places *at, int64_t page, uint64_t next,
                          bytes *b)
{
    const int offset = plan->big ? LONG8 : LONG;
    const int text = page == 0 && *plan->description, sized = has_resolution(plan);
    const int is_float =
        plan->type == MOTET_F16 || plan->type == MOTET_F32 || plan->type == MOTET_F64;
    const int is_signed = plan->type == MOTET_I32 || plan->type == MOTET_I64;
    b->used = 0;
    b->big = plan->big;
    put(b, (uint64_t)(10 + text + 3 * sized), plan->big ? 8 : 2);
    put_entry(b, 256, LONG, 1, (uint64_t)plan->width);
    put_entry(b, 257, LONG, 1, (uint64_t)plan->height);
    put_entry(b, 258, SHORT, 1, 8 * kind_bytes(kind_of_type(plan->type)));
    put_entry(b, 259, SHORT, 1, 1); /* not compressed */
    put_entry(b, 262, SHORT, 1, 1); /* 0 is black */
    if (text) put_entry(b, 270, ASCII, strlen(plan->description) + 1, at->texts);
    put_entry(b, 273, offset, 1, PIXELS + (uint64_t)page * (uint64_t)plan->page_bytes);
    put_entry(b, 277, SHORT, 1, 1);
    put_entry(b, 278, LONG, 1, (uint64_t)plan->height);
    put_entry(b, 279, offset, 1, (uint64_t)plan->page_bytes);
    if (sized) {
        /* BigTIFF keeps a fraction in the entry itself. */
        rational r[2];
        uint64_t field[2];
        for (int i = 0; i < 2; i++) {
            r[i] = resolution(plan->spacing[1 - i]); /* columns first */
            memcpy(&field[i], &r[i], 8);
        }
        put_entry(b, 282, RATIONAL, 1, plan->big ? field[0] : at->resolutions);
        put_entry(b, 283, RATIONAL, 1, plan->big ? field[1] : at->resolutions + 8);
        put_entry(b, 296, SHORT, 1, 3); /* per centimetre */
    }
    put_entry(b, 339, SHORT, 1, is_float ? 3 : is_signed ? 2 : 1);
    put(b, next, plan->big ? 8 : 4);
}

motet_status tiff_write_frame(const tiff_plan *plan, store_file *file)
{
    const uint64_t end = PIXELS + (uint64_t)plan->pages * (uint64_t)plan->page_bytes;
    places at = {.texts = (end + 7) / 8 * 8};
    at.resolutions = at.texts + sizeof plan->description;
    at.directories = at.resolutions + 16;
    char values[sizeof plan->description + 16] = "";
    memcpy(values, plan->description, sizeof plan->description);
    if (has_resolution(plan))
        for (int i = 0; i < 2; i++) {
            const rational r = resolution(plan->spacing[1 - i]);
            memcpy(values + sizeof plan->description + 8 * i, &r, 8);
        }
    TRY(file_write(file, (int64_t)at.texts, sizeof values, values));

    bytes head = {.used = 0};
    put(&head, STORE_HOST_IS_LITTLE ? 0x4949 : 0x4d4d, 2);
    put(&head, plan->big ? 43 : 42, 2);
    if (plan->big) {
        put(&head, 8, 2); /* bytes of an offset */
        put(&head, 0, 2);
    }
    put(&head, at.directories, plan->big ? 8 : 4);
    unsigned char first[PIXELS] = {0};
    memcpy(first, head.data, head.used);
    TRY(file_write(file, 0, sizeof first, first));

    /* Directories one after another, written by the block. */
    enum { BLOCK = 1 << 16 };
    unsigned char *block = mem_alloc(file->context, BLOCK);
    if (!block)
        return fail(file->context, MOTET_NO_MEMORY, "%s: no memory to write its directories",
                    file->path);
    motet_status st = MOTET_OK;
    uint64_t offset = at.directories, written = offset;
    size_t used = 0;
    for (int64_t page = 0; page < plan->pages; page++) {
        bytes b;
        put_directory(plan, &at, page, 0, &b);
        const uint64_t next = offset + (b.used + 7) / 8 * 8;
        put_directory(plan, &at, page, page + 1 < plan->pages ? next : 0, &b);
        if (used + (size_t)(next - offset) > BLOCK) {
            TRY_GOTO(file_write(file, (int64_t)written, used, block));
            written += used;
            used = 0;
        }
        memset(block + used, 0, (size_t)(next - offset));
        memcpy(block + used, b.data, b.used);
        used += (size_t)(next - offset);
        offset = next;
    }
    st = file_write(file, (int64_t)written, used, block);
out:
    mem_free(file->context, block);
    return st;
}
