/* The dictionary is read by a parser that knows just the literals NumPy writes: no evaluation, no
 * recursion, any order of the three keys. */
#include "store/npy_header.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

static const unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

int npy_is_magic(const unsigned char *head, size_t bytes)
{
    return bytes >= sizeof magic && !memcmp(head, magic, sizeof magic);
}

motet_status npy_header_length(motet_context *c, const char *where, const unsigned char *first,
                               size_t *bytes)
{
    if (!npy_is_magic(first, NPY_FIRST))
        return fail(c, MOTET_BAD_DATA, "%s: does not begin like an npy array", where);
    const int major = first[6], minor = first[7];
    if (major < 1 || major > 3 || minor)
        return fail(c, MOTET_UNSUPPORTED, "%s: npy version %d.%d, expected 1.0, 2.0 or 3.0", where,
                    major, minor);
    size_t length = first[8] | (size_t)first[9] << 8;
    if (major > 1) length |= (size_t)first[10] << 16 | (size_t)first[11] << 24;
    if (length > NPY_MOST)
        return fail(c, MOTET_UNSUPPORTED, "%s: the npy header has %zu bytes, expected at most %d",
                    where, length, NPY_MOST);
    *bytes = length + (major > 1 ? 12 : 10);
    return MOTET_OK;
}

typedef struct parser {
    motet_context *context;
    const char *where;
    const char *at, *end;
} parser;

static motet_status bad(const parser *p, const char *expected)
{
    const int rest = p->end - p->at > 20 ? 20 : (int)(p->end - p->at);
    return fail(p->context, MOTET_BAD_DATA, "%s: npy header: expected %s at \"%.*s\"", p->where,
                expected, rest, p->at);
}

static void skip(parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r'))
        p->at++;
}

/* Skips spaces, then takes the character if it is next. */
static int take(parser *p, char character)
{
    skip(p);
    if (p->at == p->end || *p->at != character) return 0;
    p->at++;
    return 1;
}

static int take_word(parser *p, const char *word)
{
    const size_t bytes = strlen(word);
    skip(p);
    if ((size_t)(p->end - p->at) < bytes || memcmp(p->at, word, bytes)) return 0;
    p->at += bytes;
    return 1;
}

static motet_status take_text(parser *p, const char **text, int *bytes)
{
    skip(p);
    const char quote = p->at < p->end ? *p->at : 0;
    if (quote != '\'' && quote != '"') return bad(p, "a text in quotes");
    const char *begin = p->at + 1, *stop = memchr(begin, quote, (size_t)(p->end - begin));
    if (!stop || memchr(begin, '\\', (size_t)(stop - begin))) return bad(p, "a plain text");
    *text = begin;
    *bytes = (int)(stop - begin);
    p->at = stop + 1;
    return MOTET_OK;
}

static const struct {
    const char *code;
    store_kind kind;
} codes[] = {{"f4", KIND_F32}, {"f8", KIND_F64}, {"f2", KIND_F16}, {"u1", KIND_U8},
             {"u2", KIND_U16}, {"i4", KIND_I32}, {"i8", KIND_I64}, {"i1", KIND_I8},
             {"i2", KIND_I16}, {"u4", KIND_U32}};
enum { CODES = sizeof codes / sizeof *codes };

static motet_status take_descr(parser *p, npy_header *h)
{
    skip(p);
    if (p->at < p->end && *p->at == '[')
        return fail(p->context, MOTET_UNSUPPORTED,
                    "%s: npy dtype is a record, expected one kind of number", p->where);
    const char *text;
    int bytes;
    TRY(take_text(p, &text, &bytes));
    if (bytes == 3 && strchr("<>=|", text[0]))
        for (size_t i = 0; i < CODES; i++)
            if (!memcmp(text + 1, codes[i].code, 2)) {
                h->kind = codes[i].kind;
                if (text[0] == '|' && kind_bytes(h->kind) > 1) break;
                h->swap = text[0] == (STORE_HOST_IS_LITTLE ? '>' : '<') && kind_bytes(h->kind) > 1;
                return MOTET_OK;
            }
    return fail(p->context, MOTET_UNSUPPORTED,
                "%s: npy dtype '%.*s', expected one of f2 f4 f8 i1 i2 i4 i8 u1 u2 u4", p->where,
                bytes > 40 ? 40 : bytes, text);
}

static motet_status take_size(parser *p, int64_t *out)
{
    int64_t value = 0;
    skip(p);
    const char *begin = p->at;
    for (; p->at < p->end && *p->at >= '0' && *p->at <= '9'; p->at++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *p->at - '0', &value)) {
            p->at = begin;
            return bad(p, "a size below 2^63");
        }
    if (p->at == begin || (*begin == '0' && p->at > begin + 1)) {
        p->at = begin;
        return bad(p, "a size");
    }
    *out = value;
    return MOTET_OK;
}

static motet_status take_shape(parser *p, npy_header *h)
{
    if (!take(p, '(')) return bad(p, "'('");
    h->axes = 0;
    int comma = 1;
    while (!take(p, ')')) {
        int64_t size = 0;
        if (!comma) return bad(p, "',' or ')'");
        TRY(take_size(p, &size));
        if (h->axes == MOTET_MAX_AXES)
            return fail(p->context, MOTET_UNSUPPORTED, "%s: more than %d axes", p->where,
                        MOTET_MAX_AXES);
        h->shape[h->axes++] = size;
        comma = take(p, ',');
    }
    /* In Python (5) is a number; (5,) is a shape. */
    if (h->axes == 1 && !comma) return bad(p, "',' after the only size");
    return MOTET_OK;
}

static motet_status take_dictionary(parser *p, npy_header *h)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    unsigned seen = 0;
    if (!take(p, '{')) return bad(p, "'{'");
    int comma = 1;
    while (!take(p, '}')) {
        if (!comma) return bad(p, "',' or '}'");
        const parser before = *p;
        const char *text;
        int bytes, key = 0;
        TRY(take_text(p, &text, &bytes));
        while (key < 3 &&
               !(strlen(keys[key]) == (size_t)bytes && !memcmp(keys[key], text, (size_t)bytes)))
            key++;
        if (key == 3 || seen & 1u << key)
            return bad(&before, "descr, fortran_order and shape, each once,");
        seen |= 1u << key;
        if (!take(p, ':')) return bad(p, "':'");
        if (key == 0)
            TRY(take_descr(p, h));
        else if (key == 2)
            TRY(take_shape(p, h));
        else if (take_word(p, "True"))
            h->fortran = 1;
        else if (!take_word(p, "False"))
            return bad(p, "True or False");
        comma = take(p, ',');
    }
    if (seen != 7) return bad(p, "descr, fortran_order and shape before the '}'");
    skip(p);
    return p->at == p->end ? MOTET_OK : bad(p, "nothing more");
}

motet_status npy_header_parse(motet_context *c, const char *where, const unsigned char *header,
                              size_t bytes, npy_header *out)
{
    const size_t begin = header[6] > 1 ? 12 : 10;
    parser p = {c, where, (const char *)header + begin, (const char *)header + bytes};
    npy_header h = {.bytes = bytes};
    TRY(take_dictionary(&p, &h));
    if (h.axes < 2) h.fortran = 0;
    if (!h.axes) h.shape[h.axes++] = 1;
    if (!store_elements(h.axes, h.shape, kind_bytes(h.kind), &h.elements))
        return fail(c, MOTET_BAD_DATA, "%s: the shape takes more than 2^63 - 1 bytes", where);
    *out = h;
    return MOTET_OK;
}

size_t npy_header_write(const motet_store_info *info, unsigned char out[NPY_WRITTEN])
{
    enum { BEGIN = 10, ALIGNMENT = 64 };
    const char *code = "f4";
    for (size_t i = 0; i < CODES; i++)
        if (codes[i].kind == kind_of_type(info->type)) code = codes[i].code;
    memset(out, ' ', NPY_WRITTEN);
    char text[NPY_WRITTEN];
    int used = snprintf(text, sizeof text, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                        info->type == MOTET_U8 ? '|' : '<', code);
    for (int i = 0; i < info->axes; i++)
        used +=
            snprintf(text + used, sizeof text - (size_t)used, "%lld%s", (long long)info->shape[i],
                     i + 1 < info->axes ? ", "
                     : info->axes == 1  ? ","
                                        : "");
    used += snprintf(text + used, sizeof text - (size_t)used, "), }");
    const size_t bytes = (BEGIN + (size_t)used + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    memcpy(out, magic, sizeof magic);
    out[6] = 1;
    out[7] = 0;
    out[8] = (unsigned char)((bytes - BEGIN) & 0xff);
    out[9] = (unsigned char)((bytes - BEGIN) >> 8);
    memcpy(out + BEGIN, text, (size_t)used);
    out[bytes - 1] = '\n';
    return bytes;
}

motet_status npy_begin(motet_store *s, const char *where, box_source source, int64_t length,
                       npy_header *out)
{
    motet_context *c = s->context;
    unsigned char first[NPY_FIRST];
    size_t bytes = 0;
    if (length < NPY_FIRST)
        return fail(c, MOTET_BAD_DATA, "%s: cut short: %lld bytes, expected an npy header", where,
                    (long long)length);
    TRY(source.read(source.from, 0, sizeof first, first));
    TRY(npy_header_length(c, where, first, &bytes));
    if ((int64_t)bytes > length)
        return fail(c, MOTET_BAD_DATA, "%s: cut short: expected a header of %zu bytes, found %lld",
                    where, bytes, (long long)length);
    unsigned char *header = mem_alloc(c, bytes);
    if (!header) return fail(c, MOTET_NO_MEMORY, "%s: no memory for its header", where);
    motet_status st;
    npy_header h;
    TRY_GOTO(source.read(source.from, 0, bytes, header));
    TRY_GOTO(npy_header_parse(c, where, header, bytes, &h));
    const int64_t expected = h.elements * (int64_t)kind_bytes(h.kind),
                  found = length - (int64_t)bytes;
    if (expected != found)
        TRY_GOTO(fail(c, MOTET_BAD_DATA, "%s: expected %lld bytes of data, found %lld", where,
                      (long long)expected, (long long)found));
    s->kind = h.kind;
    s->info.axes = h.axes;
    memcpy(s->info.shape, h.shape, sizeof h.shape);
    *out = h;
out:
    mem_free(c, header);
    return st;
}

motet_status npy_box(motet_store *s, const npy_header *h, box_source source, const int64_t *first,
                     const int64_t *count, void *out)
{
    const box_layout layout = {(int64_t)h->bytes, h->fortran, h->swap};
    return box_read(s, source, &layout, first, count, out);
}
