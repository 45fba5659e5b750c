/* Exchange: entries move to new owners by key, and those of equal keys become one.
 *
 * An entry is a key (uint64, in the first word) and a payload of int64 words. Owners are buckets:
 * ranges of keys, in ascending order, so the entries of all buckets together are sorted by key, and
 * are the same for any number of buckets. Entries of one key come in the order of their source: by
 * row, then by place in the row.
 *
 * The moving is the host's; sorting and combining is an operation over buckets, on all devices. */
#ifndef MOTET_RT_EXCHANGE_H
#define MOTET_RT_EXCHANGE_H

#include "kern/combine.k.h"
#include "rt/rows.h"
#include "rt/run.h"

typedef struct rt_exchange {
    const char *name; /* "pauli.layer": the operation is "pauli.layer:combine" */
    int64_t buckets;
    /* buckets - 1 keys, ascending: bucket b owns the keys from bound[b - 1] on, below bound[b].
     * NULL: the key's top bits tell, and `buckets` is a power of two. */
    const uint64_t *bound;
    k_combine_how how;
    uint64_t most_bytes; /* as in rt_ragged */
} rt_exchange;

/* `in` has rows of any kind; row b of *out, which is written on success only, is bucket b.
 * BAD_ARGUMENT: buckets or bounds; BAD_SHAPE: entries are not int64; BAD_DATA: a sum leaves int64
 * (the key is named); OVER_BUDGET as rt_ragged_run; else as rt_run. */
motet_status rt_exchange_run(motet_context *context, const rt_exchange *exchange, const rt_rows *in,
                             const rt_run_options *options, rt_rows **out);

#endif
