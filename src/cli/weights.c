#include "weights.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"

/* 1 if the name is a whole word of WEIGHTS_OPERATIONS. */
static int is_operation(const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = WEIGHTS_OPERATIONS; at; at = strchr(at, ' ')) {
        at += *at == ' ';
        if (!strncmp(at, name, length) && (at[length] == ',' || !at[length])) return 1;
    }
    return 0;
}

static int read_name(const char *text, size_t length, char out[WEIGHTS_NAME])
{
    if (length == 0 || length >= WEIGHTS_NAME) return 0;
    for (size_t i = 0; i < length; i++)
        if (text[i] <= ' ' || text[i] >= 0x7f) return 0;
    memcpy(out, text, length);
    out[length] = 0;
    return is_operation(out);
}

int weights_next(const char **at, weights *out)
{
    const char *text = *at;
    if (!*text) return 0;
    const char *end = text + strcspn(text, ";"), *equals = memchr(text, '=', (size_t)(end - text));
    *out = (weights){.count = 0};
    if (equals && !read_name(text, (size_t)(equals - text), out->operation)) return -1;
    if (equals) text = equals + 1;
    for (;;) {
        char one[64];
        const size_t length = strcspn(text, ",;");
        if (out->count == WEIGHTS || length >= sizeof one) return -1;
        memcpy(one, text, length);
        one[length] = 0;
        double *weight = &out->weight[out->count++];
        if (!number_real(one, weight) || !(*weight >= 0 && *weight <= 1e300)) return -1;
        text += length;
        if (text == end) break;
        text++;
    }
    if (*end && !end[1]) return -1; /* nothing behind a ';' */
    *at = *end ? end + 1 : end;
    return 1;
}
