/* Toys whose rows have lengths of their own: one that emits as many entries as it is told, and a
 * random walk of many walkers on a plane, held as a sparse sum, whose places are exchanged. */
#ifndef MOTET_TEST_TOY_ROWS_H
#define MOTET_TEST_TOY_ROWS_H

#include "rt/ragged.h"
#include "support/support.h"

enum { TOY_WIDTH = 3 };

/* Row i has wanted[i] entries (an array of int64 [rows]) of three int64 that depend on the row and
 * the entry's place in it. capacity 0: counted. */
rt_ragged toy_emit(const motet_array *wanted, int64_t capacity);
/* Word w of that entry. */
int64_t toy_emitted(int64_t row, int64_t entry, int word);

#endif
