/* Each key is a row of a table: its name and the function that reads its value. Keys that do not
 * bear on where and how the numbers lie are skipped. */
#include "store/mha_header.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/number.h"

typedef struct line {
    motet_context *context;
    const char *where;
    const char *key, *value;
    size_t key_bytes, value_bytes;
} line;

static int is_space(char character) { return character == ' ' || character == '\t'; }

/* The line at *at, split and trimmed; 0 at the end of the text. A line without '=' has no key. */
static int next_line(const char *text, size_t bytes, size_t *at, line *out)
{
    if (*at >= bytes) return 0;
    const char *begin = text + *at, *end = memchr(begin, '\n', bytes - *at);
    if (!end) return 0; /* every line of a head has its end */
    *at += (size_t)(end - begin) + 1;
    if (end > begin && end[-1] == '\r') end--;
    const char *equals = memchr(begin, '=', (size_t)(end - begin));
    const char *key_end = equals ? equals : begin;
    while (begin < key_end && is_space(*begin)) begin++;
    while (begin < key_end && is_space(key_end[-1])) key_end--;
    const char *value = equals ? equals + 1 : end;
    while (value < end && is_space(*value)) value++;
    while (value < end && is_space(end[-1])) end--;
    out->key = begin;
    out->key_bytes = (size_t)(key_end - begin);
    out->value = value;
    out->value_bytes = (size_t)(end - value);
    return 1;
}

static int is_key(const line *l, const char *key)
{
    return strlen(key) == l->key_bytes && !memcmp(key, l->key, l->key_bytes);
}

static int is_value(const line *l, const char *value)
{
    return strlen(value) == l->value_bytes && !memcmp(value, l->value, l->value_bytes);
}

static motet_status bad(const line *l, const char *expected)
{
    return fail(l->context, MOTET_BAD_DATA, "%s: %.*s = %.*s, expected %s", l->where,
                l->key_bytes < 60 ? (int)l->key_bytes : 60, l->key,
                l->value_bytes < 60 ? (int)l->value_bytes : 60, l->value, expected);
}

/* Takes the next word of the value into a buffer; 0 if there is none or it is too long. */
enum { WORD = 64 };
static int take_word(line *l, char out[WORD])
{
    size_t bytes = 0;
    while (l->value_bytes && is_space(*l->value)) l->value++, l->value_bytes--;
    while (bytes < l->value_bytes && !is_space(l->value[bytes])) bytes++;
    if (!bytes || bytes >= WORD) return 0;
    memcpy(out, l->value, bytes);
    out[bytes] = 0;
    l->value += bytes;
    l->value_bytes -= bytes;
    return 1;
}

static motet_status take_whole(const line *l, int64_t least, int64_t most, int64_t *out)
{
    line rest = *l;
    char word[WORD];
    int64_t value;
    if (!take_word(&rest, word) || rest.value_bytes || !number_whole(word, &value) ||
        value < least || value > most) {
        char expected[96];
        snprintf(expected, sizeof expected, "a whole number from %lld to %lld", (long long)least,
                 (long long)most);
        return bad(l, expected);
    }
    *out = value;
    return MOTET_OK;
}

/* `count` finite numbers. */
static motet_status take_reals(const line *l, int count, double *out)
{
    line rest = *l;
    char word[WORD], expected[WORD];
    for (int i = 0; i < count; i++)
        if (!take_word(&rest, word) || !number_real(word, &out[i]) || !isfinite(out[i])) {
            snprintf(expected, sizeof expected, "%d finite numbers", count);
            return bad(l, expected);
        }
    if (!rest.value_bytes) return MOTET_OK;
    snprintf(expected, sizeof expected, "%d finite numbers and no more", count);
    return bad(l, expected);
}

static motet_status take_truth(const line *l, int *out)
{
    if (is_value(l, "True") || is_value(l, "true") || is_value(l, "1"))
        *out = 1;
    else if (is_value(l, "False") || is_value(l, "false") || is_value(l, "0"))
        *out = 0;
    else
        return bad(l, "True or False");
    return MOTET_OK;
}

static motet_status take_ndims(const line *l, mha_header *h)
{
    int64_t axes = 0;
    TRY(take_whole(l, 1, 10, &axes));
    if (axes < MHA_LEAST_AXES || axes > MHA_MOST_AXES)
        return fail(l->context, MOTET_UNSUPPORTED, "%s: NDims = %lld, expected %d to %d", l->where,
                    (long long)axes, MHA_LEAST_AXES, MHA_MOST_AXES);
    h->axes = (int)axes;
    return MOTET_OK;
}

static motet_status take_size(const line *l, mha_header *h)
{
    line rest = *l;
    char word[WORD];
    for (int i = h->axes - 1; i >= 0; i--)
        if (!take_word(&rest, word) || !number_whole(word, &h->shape[i]) || h->shape[i] < 1)
            return bad(l, "a size of at least 1 for each of NDims axes");
    return rest.value_bytes ? bad(l, "one size for each of NDims axes") : MOTET_OK;
}

static motet_status take_spacing(const line *l, mha_header *h)
{
    double value[MHA_MOST_AXES];
    TRY(take_reals(l, h->axes, value));
    for (int i = 0; i < h->axes; i++) {
        if (!(value[i] > 0)) return bad(l, "distances above 0");
        h->spacing[h->axes - 1 - i] = value[i];
    }
    return MOTET_OK;
}

static motet_status take_origin(const line *l, mha_header *h)
{
    double value[MHA_MOST_AXES];
    TRY(take_reals(l, h->axes, value));
    for (int i = 0; i < h->axes; i++) h->origin[h->axes - 1 - i] = value[i];
    return MOTET_OK;
}

static motet_status take_matrix(const line *l, mha_header *h)
{
    double value[MHA_MOST_AXES * MHA_MOST_AXES];
    TRY(take_reals(l, h->axes * h->axes, value));
    for (int i = 0; i < h->axes * h->axes; i++)
        h->turned |= value[i] != (i % (h->axes + 1) ? 0 : 1);
    return MOTET_OK;
}

static const struct {
    const char *name;
    store_kind kind;
} kinds[] = {
    {"MET_FLOAT", KIND_F32}, {"MET_DOUBLE", KIND_F64}, {"MET_UCHAR", KIND_U8},
    {"MET_CHAR", KIND_I8},   {"MET_USHORT", KIND_U16}, {"MET_SHORT", KIND_I16},
    {"MET_INT", KIND_I32},   {"MET_UINT", KIND_U32},   {"MET_LONG_LONG", KIND_I64},
    {"MET_LONG", KIND_I32},  {"MET_ULONG", KIND_U32}, /* four bytes in this format */
};

static motet_status take_type(const line *l, mha_header *h)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (is_value(l, kinds[i].name)) {
            h->kind = kinds[i].kind;
            return MOTET_OK;
        }
    return fail(l->context, MOTET_UNSUPPORTED,
                "%s: ElementType = %.*s, expected one kind of number", l->where,
                l->value_bytes < 60 ? (int)l->value_bytes : 60, l->value);
}

static motet_status take_order(const line *l, mha_header *h)
{
    int big = 0;
    TRY(take_truth(l, &big));
    h->swap = big == STORE_HOST_IS_LITTLE;
    return MOTET_OK;
}

static motet_status take_binary(const line *l, mha_header *h)
{
    int binary = 0;
    (void)h;
    TRY(take_truth(l, &binary));
    if (binary) return MOTET_OK;
    return fail(l->context, MOTET_UNSUPPORTED, "%s: BinaryData = False, expected True", l->where);
}

static motet_status take_channels(const line *l, mha_header *h)
{
    int64_t channels = 0;
    (void)h;
    TRY(take_whole(l, 1, INT32_MAX, &channels));
    if (channels == 1) return MOTET_OK;
    return fail(l->context, MOTET_UNSUPPORTED, "%s: ElementNumberOfChannels = %lld, expected 1",
                l->where, (long long)channels);
}

static motet_status take_object(const line *l, mha_header *h)
{
    (void)h;
    if (is_value(l, "Image")) return MOTET_OK;
    return fail(l->context, MOTET_UNSUPPORTED, "%s: ObjectType = %.*s, expected Image", l->where,
                l->value_bytes < 60 ? (int)l->value_bytes : 60, l->value);
}

static motet_status take_compressed(const line *l, mha_header *h)
{
    return take_truth(l, &h->compressed);
}
static motet_status take_packed(const line *l, mha_header *h)
{
    return take_whole(l, 0, INT64_MAX, &h->packed);
}
static motet_status take_skip(const line *l, mha_header *h)
{
    return take_whole(l, -1, INT64_MAX, &h->skip);
}

/* Only a plain name: what lies in another folder is none of this file's business. */
static motet_status take_file(const line *l, mha_header *h)
{
    if (is_value(l, "LOCAL") || is_value(l, "Local") || is_value(l, "local")) return MOTET_OK;
    if (is_value(l, "LIST") || memchr(l->value, '%', l->value_bytes))
        return fail(l->context, MOTET_UNSUPPORTED,
                    "%s: ElementDataFile names several files, expected one", l->where);
    if (!l->value_bytes || l->value_bytes > 255 || memchr(l->value, '/', l->value_bytes) ||
        memchr(l->value, '\\', l->value_bytes) || memchr(l->value, 0, l->value_bytes) ||
        is_value(l, ".") || is_value(l, ".."))
        return bad(l, "LOCAL or the name of a file in the same folder");
    h->data_file = l->value;
    h->data_file_bytes = l->value_bytes;
    return MOTET_OK;
}

/* Keys of one group say the same thing. `needs_axes`: only after NDims. */
static const struct {
    const char *key;
    motet_status (*take)(const line *l, mha_header *h);
    unsigned group;
    int needs_axes;
} keys[] = {
    {"ObjectType", take_object, 0, 0},
    {"NDims", take_ndims, 1, 0},
    {"BinaryData", take_binary, 2, 0},
    {"BinaryDataByteOrderMSB", take_order, 3, 0},
    {"ElementByteOrderMSB", take_order, 3, 0},
    {"CompressedData", take_compressed, 4, 0},
    {"CompressedDataSize", take_packed, 5, 0},
    {"TransformMatrix", take_matrix, 6, 1},
    {"Rotation", take_matrix, 6, 1},
    {"Orientation", take_matrix, 6, 1},
    {"Offset", take_origin, 7, 1},
    {"Position", take_origin, 7, 1},
    {"Origin", take_origin, 7, 1},
    {"DimSize", take_size, 8, 1},
    {"HeaderSize", take_skip, 9, 0},
    {"ElementNumberOfChannels", take_channels, 10, 0},
    {"ElementSpacing", take_spacing, 11, 1},
    {"ElementSize", take_spacing, 12, 1},
    {"ElementType", take_type, 13, 0},
    {"ElementDataFile", take_file, 14, 0},
};
enum {
    KEYS = sizeof keys / sizeof *keys,
    NDIMS = 1,
    DIMSIZE = 8,
    SPACING = 11,
    TYPE = 13,
    LAST = 14
};

motet_status mha_header_parse(motet_context *c, const char *where, const char *text, size_t bytes,
                              mha_header *out)
{
    mha_header h = {.packed = -1, .swap = !STORE_HOST_IS_LITTLE};
    line l = {.context = c, .where = where};
    unsigned seen = 0;
    size_t at = 0;
    while (!(seen & 1u << LAST) && next_line(text, bytes, &at, &l)) {
        size_t i = 0;
        while (i < KEYS && !is_key(&l, keys[i].key)) i++;
        if (i == KEYS) continue;
        const unsigned bit = 1u << keys[i].group;
        if (seen & bit) return bad(&l, "this to be said once");
        if (keys[i].needs_axes && !(seen & 1u << NDIMS)) return bad(&l, "NDims before it");
        seen |= bit;
        /* ElementSize, the extent of an element, counts only where the distance is not given. */
        if (keys[i].take == take_spacing && keys[i].group != SPACING && seen & 1u << SPACING)
            continue;
        TRY(keys[i].take(&l, &h));
    }
    if (!(seen & 1u << LAST))
        return fail(c, MOTET_BAD_DATA, "%s: no line ElementDataFile in the first %zu bytes", where,
                    bytes);
    if (!(seen & 1u << DIMSIZE) || !(seen & 1u << TYPE))
        return fail(c, MOTET_BAD_DATA, "%s: no line %s", where,
                    seen & 1u << TYPE ? "DimSize" : "ElementType");
    h.bytes = at;
    *out = h;
    return MOTET_OK;
}

const char *mha_header_find(const char *text, size_t bytes, const char *key, size_t *value_bytes)
{
    line l = {0};
    size_t at = 0;
    while (next_line(text, bytes, &at, &l))
        if (l.key_bytes && is_key(&l, key)) {
            *value_bytes = l.value_bytes;
            return l.value;
        }
    return NULL;
}

/* There is no magic: the first line is "Key = value", and NDims comes early. */
int mha_probe(const unsigned char *head, size_t bytes, const char *path)
{
    (void)path;
    line l = {0};
    size_t at = 0, value;
    if (!bytes || !next_line((const char *)head, bytes, &at, &l) || !l.key_bytes) return 0;
    for (size_t i = 0; i < l.key_bytes; i++) {
        const char x = l.key[i];
        if (!((x >= 'A' && x <= 'Z') || (x >= 'a' && x <= 'z') || (x >= '0' && x <= '9') ||
              x == '_'))
            return 0;
    }
    return mha_header_find((const char *)head, bytes, "NDims", &value) != NULL;
}

static int put_reals(char *out, size_t room, const char *key, const double *values, int axes,
                     int positive)
{
    int used = snprintf(out, room, "%s =", key);
    for (int i = axes - 1; i >= 0; i--) {
        char number[NUMBER_TEXT];
        const double value = positive && !(values[i] > 0) ? 1 : values[i];
        used += snprintf(out + used, room - (size_t)used, " %s", number_text(value, number));
    }
    return used + snprintf(out + used, room - (size_t)used, "\n");
}

motet_status mha_header_write(motet_context *c, const char *where, const motet_store_info *info,
                              char out[MHA_WRITTEN])
{
    const char *type = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !type; i++)
        if (kinds[i].kind == kind_of_type(info->type)) type = kinds[i].name;
    if (!type)
        return fail(c, MOTET_UNSUPPORTED, "%s: the format has no %s", where,
                    kind_text(kind_of_type(info->type)));
    if (info->axes < MHA_LEAST_AXES || info->axes > MHA_MOST_AXES)
        return fail(c, MOTET_UNSUPPORTED, "%s: has %d axes, expected %d to %d", where, info->axes,
                    MHA_LEAST_AXES, MHA_MOST_AXES);
    int spaced = 0;
    for (int i = 0; i < info->axes; i++) {
        if (info->shape[i] < 1)
            return fail(c, MOTET_UNSUPPORTED, "%s: axis %d is empty, expected at least 1", where,
                        i);
        if (!isfinite(info->spacing[i]) || info->spacing[i] < 0 || !isfinite(info->origin[i]))
            return fail(c, MOTET_BAD_ARGUMENT,
                        "%s: spacing and origin of axis %d must be finite, spacing not below 0",
                        where, i);
        spaced |= info->spacing[i] > 0;
    }
    const size_t room = MHA_WRITTEN;
    size_t used = (size_t)snprintf(out, room,
                                   "ObjectType = Image\nNDims = %d\nBinaryData = True\n"
                                   "BinaryDataByteOrderMSB = False\nCompressedData = False\n",
                                   info->axes);
    if (spaced) {
        used += (size_t)put_reals(out + used, room - used, "Offset", info->origin, info->axes, 0);
        used += (size_t)put_reals(out + used, room - used, "ElementSpacing", info->spacing,
                                  info->axes, 1);
    }
    used += (size_t)snprintf(out + used, room - used, "DimSize =");
    for (int i = info->axes - 1; i >= 0; i--)
        used += (size_t)snprintf(out + used, room - used, " %lld", (long long)info->shape[i]);
    snprintf(out + used, room - used, "\nElementType = %s\nElementDataFile = ", type);
    return MOTET_OK;
}
