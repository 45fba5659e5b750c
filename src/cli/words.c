#include "words.h"

#include <stdio.h>
#include <string.h>

const char *words_shape(const int64_t *shape, int axes, char out[WORDS])
{
    size_t n = 0;
    *out = 0;
    for (int i = 0; i < axes && n + 32 < WORDS; i++)
        n += (size_t)snprintf(out + n, WORDS - n, "%s%lld", i ? " x " : "", (long long)shape[i]);
    return out;
}

const char *words_bytes(uint64_t bytes, char out[WORDS])
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    size_t i = 0;
    while (value >= 1024 && i + 1 < sizeof units / sizeof *units) {
        value /= 1024;
        i++;
    }
    snprintf(out, WORDS, i ? "%.1f %s" : "%.0f %s", value, units[i]);
    return out;
}

const char *words_real(double value, int digits, char out[WORDS])
{
    snprintf(out, WORDS, "%.*g", digits, value);
    return out;
}

static size_t add_times(const json_t *rows, size_t n, char *out, size_t bytes)
{
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        const char *name = json_string_value(json_object_get(row, "name"));
        const double seconds = json_number_value(json_object_get(row, "seconds"));
        if (!name || n + 64 > bytes) continue;
        n += (size_t)snprintf(out + n, bytes - n, "%s%.40s %.3f s", n ? ", " : "", name, seconds);
    }
    return n;
}

const char *words_stages(const run *r, char *out, size_t bytes)
{
    *out = 0;
    add_times(r->stages, 0, out, bytes);
    return out;
}

const char *words_operations(const run *r, char *out, size_t bytes)
{
    *out = 0;
    char *text = NULL;
    if (motet_context_report(r->context, &text) == MOTET_OK) {
        json_t *account = json_loads(text, 0, NULL);
        add_times(json_object_get(account, "operations"), 0, out, bytes);
        json_decref(account);
        motet_text_free(r->context, text);
    }
    return out;
}

int64_t words_verified(const run *r)
{
    char *text = NULL;
    int64_t sum = 0;
    if (motet_context_report(r->context, &text) != MOTET_OK) return 0;
    json_t *account = json_loads(text, 0, NULL), *device;
    size_t i;
    json_array_foreach(json_object_get(account, "devices"), i, device)
    {
        sum += json_integer_value(json_object_get(device, "verified"));
    }
    json_decref(account);
    motet_text_free(r->context, text);
    return sum;
}

int type_of_word(const char *word, motet_type *out)
{
    static const struct {
        const char *word;
        motet_type type;
    } words[] = {{"f32", MOTET_F32}, {"f64", MOTET_F64}, {"u8", MOTET_U8},
                 {"u16", MOTET_U16}, {"i32", MOTET_I32}, {"i64", MOTET_I64}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(words[i].word, word)) {
            *out = words[i].type;
            return 1;
        }
    return 0;
}

json_t *json_shape(const int64_t *shape, int axes)
{
    json_t *out = json_array();
    for (int i = 0; i < axes; i++) json_array_append_new(out, json_integer(shape[i]));
    return out;
}
