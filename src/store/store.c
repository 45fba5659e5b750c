/* The public face of stores: what all formats have in common. See format.h. */
#include <motet/store.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/threads.h"
#include "store/box.h"
#include "store/file.h"
#include "store/format.h"

int store_ends_in(const char *path, const char *endings)
{
    const size_t length = strlen(path);
    while (*endings) {
        const size_t bytes = strcspn(endings, " ");
        int same = bytes > 0 && bytes < length;
        for (size_t i = 0; same && i < bytes; i++) {
            char letter = path[length - bytes + i];
            if (letter >= 'A' && letter <= 'Z') letter = (char)(letter - 'A' + 'a');
            same = letter == endings[i];
        }
        if (same) return 1;
        endings += bytes + (endings[bytes] == ' ');
    }
    return 0;
}

int store_elements(int axes, const int64_t *shape, size_t bytes, int64_t *out)
{
    /* An empty axis must not hide an overflow of the others. */
    int64_t product = (int64_t)bytes, elements = 1;
    for (int i = 0; i < axes; i++) {
        if (shape[i] < 0) return 0;
        elements *= shape[i] != 0;
        if (shape[i] && __builtin_mul_overflow(product, shape[i], &product)) return 0;
    }
    *out = elements ? product / (int64_t)bytes : 0;
    return 1;
}

motet_status store_check_info(motet_context *c, const char *where, const motet_store_info *info)
{
    if (!type_is_legal(info->type))
        return fail(c, MOTET_BAD_ARGUMENT, "%s: type is %d, expected one of motet_type", where,
                    (int)info->type);
    if (info->axes < 1 || info->axes > MOTET_MAX_AXES)
        return fail(c, MOTET_BAD_ARGUMENT, "%s: has %d axes, expected 1 to %d", where, info->axes,
                    MOTET_MAX_AXES);
    for (int i = 0; i < info->axes; i++)
        if (info->shape[i] < 0)
            return fail(c, MOTET_BAD_ARGUMENT, "%s: axis %d has size %lld, expected at least 0",
                        where, i, (long long)info->shape[i]);
    int64_t elements;
    if (!store_elements(info->axes, info->shape, kind_bytes(kind_of_type(info->type)), &elements))
        return fail(c, MOTET_BAD_ARGUMENT, "%s: the shape takes more than 2^63 - 1 bytes", where);
    return MOTET_OK;
}

/* Reads as much of the head as there is. */
static motet_status read_head(motet_context *c, const char *path, unsigned char *head,
                              size_t *bytes, int *folder)
{
    int descriptor;
    struct stat status;
    do descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    while (descriptor < 0 && errno == EINTR);
    if (descriptor < 0) return fail_errno(c, errno, "%s", path);
    motet_status st = MOTET_OK;
    *bytes = 0;
    *folder = 0;
    if (fstat(descriptor, &status))
        st = fail_errno(c, errno, "%s", path);
    else if (S_ISDIR(status.st_mode))
        *folder = 1;
    else if (!S_ISREG(status.st_mode))
        st = fail(c, MOTET_UNSUPPORTED, "%s: expected a regular file or a folder", path);
    else
        while (*bytes < STORE_HEAD) {
            const ssize_t got =
                pread(descriptor, head + *bytes, STORE_HEAD - *bytes, (off_t)*bytes);
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) st = fail_errno(c, errno, "%s: reading its head", path);
            if (got <= 0) break;
            *bytes += (size_t)got;
        }
    close(descriptor);
    return st;
}

static void list_names(char *out, size_t bytes)
{
    size_t used = 0;
    *out = 0;
    for (const store_format *const *f = store_formats; *f && used < bytes; f++)
        used += (size_t)snprintf(out + used, bytes - used, "%s%s", used ? ", " : "", (*f)->name);
}

static motet_status find_format(motet_context *c, const char *path, const store_format **out)
{
    unsigned char head[STORE_HEAD];
    size_t bytes = 0;
    int folder = 0;
    if (!path || !*path) return fail(c, MOTET_BAD_ARGUMENT, "the path is empty");
    TRY(read_head(c, path, head, &bytes, &folder));
    for (const store_format *const *f = store_formats; *f; f++)
        if ((*f)->probe(folder ? NULL : head, bytes, path)) {
            *out = *f;
            return MOTET_OK;
        }
    if (folder)
        return fail(c, MOTET_UNSUPPORTED, "%s: a folder without pages (.tif, .tiff or .png)", path);
    if (!bytes) return fail(c, MOTET_BAD_DATA, "%s: the file is empty", path);
    for (const store_format *const *f = store_formats; *f; f++)
        if (store_ends_in(path, (*f)->endings))
            return fail(c, MOTET_BAD_DATA, "%s: does not begin like a file of format %s", path,
                        (*f)->name);
    char names[128];
    list_names(names, sizeof names);
    return fail(c, MOTET_UNSUPPORTED, "%s: of no known format, expected one of: %s", path, names);
}

static motet_store *store_new(motet_context *c, const store_format *format, const char *path)
{
    motet_store *s = mem_zero(c, format->bytes);
    if (!s) return NULL;
    s->context = c;
    s->format = format;
    s->path = mem_text(c, path);
    if (!s->path) {
        mem_free(c, s);
        return NULL;
    }
    snprintf(s->info.format, sizeof s->info.format, "%s", format->name);
    return s;
}

void motet_store_free(motet_store *s)
{
    if (!s) return;
    motet_context *c = s->context;
    s->format->close(s);
    mem_free(c, (char *)(uintptr_t)s->path);
    mem_free(c, s);
}

/* The bytes of a row, once kind and shape are known. */
static motet_status set_row(motet_store *s)
{
    int64_t elements;
    if (!store_elements(s->info.axes, s->info.shape, 8, &elements) ||
        !store_elements(s->info.axes - 1, s->info.shape + 1, kind_bytes(s->kind), &s->row_elements))
        return fail(s->context, s->writing ? MOTET_BAD_ARGUMENT : MOTET_BAD_DATA,
                    "%s: the shape takes more than 2^63 - 1 bytes", s->path);
    s->row_bytes = (size_t)s->row_elements * kind_bytes(s->kind);
    return MOTET_OK;
}

motet_status motet_store_open(motet_context *c, const char *path, const char *entry,
                              motet_store **out)
{
    const store_format *format;
    TRY(find_format(c, path, &format));
    motet_store *s = store_new(c, format, path);
    if (!s) return fail(c, MOTET_NO_MEMORY, "%s: no memory to open it", path);
    motet_status st;
    TRY_GOTO(format->open(s, entry));
    s->info.type = kind_type(s->kind);
    TRY_GOTO(set_row(s));
    *out = s;
    return MOTET_OK;
out:
    motet_store_free(s);
    return st;
}

motet_status motet_store_create(motet_context *c, const char *path, const char *entry,
                                const motet_store_info *info, int overwrite, motet_store **out)
{
    if (!path || !*path) return fail(c, MOTET_BAD_ARGUMENT, "the path is empty");
    TRY(store_check_info(c, path, info));
    const store_format *format = NULL;
    for (const store_format *const *f = store_formats; *f && !format; f++)
        if (store_ends_in(path, (*f)->endings)) format = *f;
    if (!format) {
        char endings[256] = "";
        size_t used = 0;
        for (const store_format *const *f = store_formats; *f && used < sizeof endings; f++)
            if (strcmp((*f)->endings, "/"))
                used +=
                    (size_t)snprintf(endings + used, sizeof endings - used, " %s", (*f)->endings);
        return fail(c, MOTET_UNSUPPORTED,
                    "%s: the ending names no format, expected%s or / for a folder of pages", path,
                    endings);
    }
    motet_store *s = store_new(c, format, path);
    if (!s) return fail(c, MOTET_NO_MEMORY, "%s: no memory to begin it", path);
    motet_status st;
    s->info = *info;
    memset(s->info.format, 0, sizeof s->info.format);
    snprintf(s->info.format, sizeof s->info.format, "%s", format->name);
    s->kind = kind_of_type(info->type);
    s->writing = 1;
    s->overwrite = overwrite != 0;
    TRY_GOTO(set_row(s));
    TRY_GOTO(format->create(s, entry));
    *out = s;
    return MOTET_OK;
out:
    motet_store_free(s);
    return st;
}

void motet_store_describe(const motet_store *store, motet_store_info *out) { *out = store->info; }

static motet_status check_range(const motet_store *s, int axis, int64_t first, int64_t count)
{
    const int64_t size = s->info.shape[axis];
    if (first < 0 || count < 0 || first > size || count > size - first)
        return fail(s->context, MOTET_BAD_ARGUMENT,
                    "%s: %s %lld and %lld more asked for, axis %d has %lld", s->path,
                    axis ? "elements" : "rows", (long long)first, (long long)count, axis,
                    (long long)size);
    return MOTET_OK;
}

/* Into a type as wide or wider: the values are read to the end of `out` and converted from there
 * through a small buffer; writing never catches up with reading. */
static motet_status read_widening(motet_store *s, const int64_t *first, const int64_t *count,
                                  motet_type type, void *out)
{
    const size_t narrow = kind_bytes(s->kind), wide = kind_bytes(kind_of_type(type));
    const int64_t elements = box_elements(s->info.axes, count);
    char *to = out, *from = to + (size_t)elements * (wide - narrow);
    TRY(s->format->read(s, first, count, from));
    enum { BLOCK = 4096 };
    _Alignas(8) char buffer[BLOCK];
    const int64_t step = BLOCK / (int64_t)narrow;
    for (int64_t i = 0; i < elements; i += step) {
        const int64_t part = elements - i < step ? elements - i : step;
        memcpy(buffer, from + (size_t)i * narrow, (size_t)part * narrow);
        convert(s->kind, buffer, type, to + (size_t)i * wide, part);
    }
    return MOTET_OK;
}

/* Where in its row the element is that is number `element` of a row of the box. */
static int64_t place_in_row(const motet_store *s, const int64_t *first, const int64_t *count,
                            int64_t element)
{
    int64_t place = 0, stride = 1;
    for (int i = s->info.axes - 1; i > 0; i--) {
        place += (first[i] + element % count[i]) * stride;
        element /= count[i];
        stride *= s->info.shape[i];
    }
    return place;
}

/* Eight bytes into float32: through a buffer of some rows of the box. */
static motet_status read_narrowing(motet_store *s, const int64_t *first, const int64_t *count,
                                   motet_type type, void *out)
{
    enum { BUFFER = 1 << 22 };
    const int64_t elements = box_elements(s->info.axes - 1, count + 1);
    const int64_t row = elements * (int64_t)kind_bytes(s->kind);
    int64_t step = row < BUFFER ? BUFFER / row : 1;
    if (step > count[0]) step = count[0];
    void *buffer = mem_alloc_array(s->context, step, (size_t)row);
    if (!buffer)
        return fail(s->context, MOTET_NO_MEMORY, "%s: no memory to convert %lld rows of %lld bytes",
                    s->path, (long long)step, (long long)row);
    motet_status st = MOTET_OK;
    char *to = out;
    int64_t from[MOTET_MAX_AXES], part[MOTET_MAX_AXES];
    memcpy(from, first, (size_t)s->info.axes * sizeof *from);
    memcpy(part, count, (size_t)s->info.axes * sizeof *part);
    for (int64_t i = 0; i < count[0]; i += step) {
        from[0] = first[0] + i;
        part[0] = count[0] - i < step ? count[0] - i : step;
        TRY_GOTO(s->format->read(s, from, part, buffer));
        const int64_t bad = convert(s->kind, buffer, type, to, part[0] * elements);
        if (bad >= 0)
            TRY_GOTO(fail(s->context, MOTET_BAD_ARGUMENT,
                          "%s: element %lld of row %lld is beyond float32; read it as float64",
                          s->path, (long long)place_in_row(s, first, count, bad % elements),
                          (long long)(from[0] + bad / elements)));
        to += (size_t)(part[0] * elements) * kind_bytes(kind_of_type(type));
    }
out:
    mem_free(s->context, buffer);
    return st;
}

static motet_status read_box(motet_store *s, const int64_t *first, const int64_t *count,
                             motet_type type, void *out)
{
    if (s->writing) return fail(s->context, MOTET_BAD_ARGUMENT, "%s: is being written", s->path);
    if (!type_is_legal(type))
        return fail(s->context, MOTET_BAD_ARGUMENT, "%s: type is %d, expected one of motet_type",
                    s->path, (int)type);
    if (!convert_allowed(s->kind, type))
        return fail(s->context, MOTET_BAD_ARGUMENT, "%s: holds %s, which %s cannot take", s->path,
                    kind_text(s->kind), kind_text(kind_of_type(type)));
    for (int i = 0; i < s->info.axes; i++) TRY(check_range(s, i, first[i], count[i]));
    if (!box_elements(s->info.axes, count)) return MOTET_OK;
    if (s->kind == kind_of_type(type)) return s->format->read(s, first, count, out);
    if (kind_bytes(s->kind) <= kind_bytes(kind_of_type(type)))
        return read_widening(s, first, count, type, out);
    return read_narrowing(s, first, count, type, out);
}

motet_status motet_store_read_box(motet_store *s, const int64_t *first, const int64_t *count,
                                  motet_type type, void *out)
{
    const thread_float_state former = thread_float_enter();
    const motet_status st = read_box(s, first, count, type, out);
    thread_float_leave(former);
    return st;
}

motet_status motet_store_read(motet_store *s, int64_t first, int64_t count, motet_type type,
                              void *out)
{
    int64_t from[MOTET_MAX_AXES] = {first}, part[MOTET_MAX_AXES];
    memcpy(part, s->info.shape, sizeof part);
    part[0] = count;
    return motet_store_read_box(s, from, part, type, out);
}

motet_status motet_store_text(motet_store *s, const char *name, char *out, size_t bytes)
{
    if (!s->format->text || s->writing)
        return fail(s->context, MOTET_NOT_FOUND, "%s: has no text %s", s->path, name);
    return s->format->text(s, name, out, bytes);
}

static motet_status check_begun(const motet_store *s)
{
    if (!s->writing)
        return fail(s->context, MOTET_BAD_ARGUMENT, "%s: was opened for reading", s->path);
    if (s->committed)
        return fail(s->context, MOTET_BAD_ARGUMENT, "%s: was committed already", s->path);
    if (s->prepared)
        return fail(s->context, MOTET_BAD_ARGUMENT, "%s: was prepared to be committed", s->path);
    return MOTET_OK;
}

motet_status motet_store_write(motet_store *s, int64_t first, int64_t count, const void *rows)
{
    TRY(check_begun(s));
    TRY(check_range(s, 0, first, count));
    if (!count) return MOTET_OK;
    if (first != s->next || s->written)
        return fail(s->context, MOTET_BAD_ARGUMENT, "%s: row %lld written, row %lld expected next",
                    s->path, (long long)first, (long long)s->next);
    if (s->row_bytes) TRY(s->format->write(s, first, count, rows));
    s->next += count;
    return MOTET_OK;
}

motet_status motet_store_add(motet_store *s, const char *entry, const motet_store_info *info,
                             const void *data)
{
    TRY(check_begun(s));
    if (!s->format->add)
        return fail(s->context, MOTET_UNSUPPORTED, "%s: a file of format %s holds one array",
                    s->path, s->format->name);
    if (!entry || !*entry)
        return fail(s->context, MOTET_BAD_ARGUMENT, "%s: the entry has no name", s->path);
    TRY(store_check_info(s->context, entry, info));
    return s->format->add(s, entry, info, data);
}

motet_status motet_store_set_text(motet_store *s, const char *entry, const char *name,
                                  const char *text)
{
    TRY(check_begun(s));
    if (!name || !*name || !text || (entry && !*entry))
        return fail(s->context, MOTET_BAD_ARGUMENT, "%s: a text needs a name and a value", s->path);
    if (!s->format->set_text)
        return fail(s->context, MOTET_UNSUPPORTED, "%s: a file of format %s holds no texts",
                    s->path, s->format->name);
    return s->format->set_text(s, entry, name, text);
}

motet_status motet_store_prepare(motet_store *s)
{
    if (s->prepared && !s->committed) return MOTET_OK;
    TRY(check_begun(s));
    if (s->written == s->row_elements * s->info.shape[0]) s->next = s->info.shape[0]; /* by boxes */
    /* Rows of no bytes need not be written. */
    if (s->next != s->info.shape[0] && s->row_bytes)
        return fail(s->context, MOTET_BAD_ARGUMENT, "%s: %lld rows were written, expected %lld",
                    s->path, (long long)s->next, (long long)s->info.shape[0]);
    TRY(s->format->finish(s));
    if (s->path[strlen(s->path) - 1] != '/')
        TRY(file_check_target(s->context, s->path, 0, s->overwrite));
    s->prepared = 1;
    return MOTET_OK;
}

motet_status motet_store_commit(motet_store *s)
{
    TRY(motet_store_prepare(s));
    TRY(s->format->place(s));
    s->committed = 1;
    return MOTET_OK;
}

motet_status motet_store_entries(motet_context *c, const char *path, char **names)
{
    const store_format *format;
    TRY(find_format(c, path, &format));
    if (!format->entries)
        return fail(c, MOTET_UNSUPPORTED, "%s: a file of format %s holds one array without a name",
                    path, format->name);
    return format->entries(c, path, names);
}
