/* Exclusive scan on the host: from counts to places. Exact integers, so nothing can change the
 * result. */
#ifndef MOTET_KERN_SCAN_H
#define MOTET_KERN_SCAN_H

#include <stddef.h>
#include <stdint.h>

/* out[i] = in[0] + ... + in[i - 1], and the sum of all in *total. in == out is legal. 1, nothing
 * written, if an entry is negative or the sum passes INT64_MAX; else 0. */
int scan_exclusive(const int64_t *in, int64_t n, int64_t *out, int64_t *total);

#endif
