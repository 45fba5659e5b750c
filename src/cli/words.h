/* Words for people: shapes, times, numbers. Each answers `out`. */
#ifndef MOTET_CLI_WORDS_H
#define MOTET_CLI_WORDS_H

#include <stddef.h>

#include "run.h"

enum { WORDS = 256 };

const char *words_shape(const int64_t *shape, int axes, char out[WORDS]); /* "2 x 640 x 640" */
const char *words_bytes(uint64_t bytes, char out[WORDS]);                 /* "1.5 GiB" */
const char *words_real(double value, int digits, char out[WORDS]);
/* "open 0.1 s, write 0.2 s": the run's stages; and the operations of its context's report. */
const char *words_stages(const run *r, char *out, size_t bytes);
const char *words_operations(const run *r, char *out, size_t bytes);
/* Chunks that were computed once more, as the report counts them. */
int64_t words_verified(const run *r);

/* The type that a word of --dtype ("u16") means; 1 if there is one. */
int type_of_word(const char *word, motet_type *out);
json_t *json_shape(const int64_t *shape, int axes);

#endif
