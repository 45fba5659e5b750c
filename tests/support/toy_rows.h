/* Toys whose rows have lengths of their own: one that emits as many entries as it is told, and a
 * random walk of many walkers on a plane, held as a sparse sum, whose places are exchanged. */
#ifndef MOTET_TEST_TOY_ROWS_H
#define MOTET_TEST_TOY_ROWS_H

#include "rt/exchange.h"
#include "rt/ragged.h"
#include "support/support.h"
#include "support/toy_rows.k.h"

/* Row i has wanted[i] entries (an array of int64 [rows]) of three int64 that depend on the row and
 * the entry's place in it. capacity 0: counted. */
rt_ragged toy_emit(const motet_array *wanted, int64_t capacity);
/* Word w of that entry. */
int64_t toy_emitted(int64_t row, int64_t entry, int word);

/* TOY_WALKERS begin at one place (entry: key of the place, how many are there) and go to its
 * neighbours in each step, in shares that chance decides by place and step. Some places are holes.
 * Places where walkers meet add them up. */
typedef struct toy_walk {
    uint32_t steps;
    int64_t buckets, capacity; /* of the exchange; of the ragged operation */
} toy_walk;
enum { TOY_WALKERS = 1000000 };
motet_status toy_walk_run(motet_context *context, const toy_walk *walk,
                          const rt_run_options *options, rt_rows **out);
/* Where those of one place go; answers how many entries that is. */
int toy_walk_from(uint64_t seed, uint32_t step, const int64_t place[2], int64_t to[4][2]);

#endif
