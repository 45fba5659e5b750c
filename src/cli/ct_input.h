/* The inputs of the commands on views in space: volumes, and line integrals or raw views. */
#ifndef MOTET_CLI_CT_INPUT_H
#define MOTET_CLI_CT_INPUT_H

#include "ct_views.h"

/* Opens a volume (z, y, x) and tells its sizes. Exit codes, as of the others. */
int ct_input_volume(run *r, const char *path, ct_views_known *known, motet_store **out);
/* Opens the scan that is the first argument, by the flags of SHARED_SCAN. */
int ct_input_scan(run *r, ct_views_known *known, motet_ct_scan **out);
/* Values that are not finite, or beyond 1e30: how many, and the first. All 0: none yet. */
typedef struct ct_input_broken {
    int64_t count, at[3];
    float value;
} ct_input_broken;
/* Looks at values of a slice, rows of `columns` from `row` on. */
void ct_input_look(ct_input_broken *broken, const float *values, int64_t count, int64_t slice,
                   int64_t row, int64_t columns);
/* Says what was found, and what takes it. An exit code. */
int ct_input_refuse(const run *r, const char *path, const ct_input_broken *broken);
/* Reads all of the store at a path into an array of the same shape. Values that are none are
 * refused, or 0 with --nan-as-zero. */
int ct_input_fill(run *r, const char *path, motet_store *store, motet_array *array);

#endif
