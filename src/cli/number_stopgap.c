/* Stands in until base/number.c is complete; weak, so that the real functions win. */
#include "base/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WEAK __attribute__((weak))

WEAK int number_real(const char *text, double *out)
{
    char *end;
    if (!*text || strpbrk(text, " \t\nxXpP")) return 0;
    *out = strtod(text, &end);
    return !*end;
}

WEAK int number_whole(const char *text, int64_t *out)
{
    char *end;
    if (!*text || text[strspn(text, "+-0123456789")] || strlen(text) > 18) return 0;
    *out = strtoll(text, &end, 10);
    return !*end;
}

WEAK int number_bytes(const char *text, uint64_t *out)
{
    static const char units[] = "KMGT";
    char copy[24];
    const size_t n = strlen(text);
    if (!n || n > 12) return 0;
    strcpy(copy, text);
    const char *unit = strchr(units, copy[n - 1]);
    if (unit) copy[n - 1] = 0;
    int64_t whole;
    if (!number_whole(copy, &whole) || whole < 0) return 0;
    *out = (uint64_t)whole << (unit ? 10 * (unit - units + 1) : 0);
    return 1;
}

WEAK const char *number_text(double value, char out[NUMBER_TEXT])
{
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(out, NUMBER_TEXT, "%.*g", digits, value);
        if (strtod(out, NULL) == value) break;
    }
    return out;
}
