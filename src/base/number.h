/* Numbers as text, whatever the locale: the C library's strtod and printf follow LC_NUMERIC. */
#ifndef MOTET_BASE_NUMBER_H
#define MOTET_BASE_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/* Parse the whole text (no spaces around, no trailing bytes). 1 on success. Real: decimal notation,
 * "inf", "nan"; correctly rounded. Whole: decimal, sign allowed. Bytes: whole with K M G T or
 * KiB MiB GiB TiB (powers of 1024). */
int number_real(const char *text, double *out);
int number_whole(const char *text, int64_t *out);
int number_bytes(const char *text, uint64_t *out);
/* Digits up to the first other character, whose place is the answer; NULL if there are none or the
 * value passes 2^64 - 1. */
const char *number_natural(const char *text, uint64_t *out);
/* Like strtod: the longest prefix; *end as there. */
double number_prefix(const char *text, const char **end);

/* Shortest decimal that reads back to the same value ("0.1", "1e-07", "nan"). */
enum { NUMBER_TEXT = 32 };
const char *number_text(double value, char out[NUMBER_TEXT]);
const char *number_text_f32(float value, char out[NUMBER_TEXT]);

#endif
