/* The inputs of the commands on views in space: volumes, and line integrals or raw views. */
#ifndef MOTET_CLI_CT_INPUT_H
#define MOTET_CLI_CT_INPUT_H

#include "ct_views.h"

/* Opens a volume (z, y, x) and tells its sizes. Exit codes, as of the others. */
int ct_input_volume(run *r, const char *path, ct_views_known *known, motet_store **out);
/* Opens the scan that is the first argument, by the flags of SHARED_SCAN. */
int ct_input_scan(run *r, ct_views_known *known, motet_ct_scan **out);
/* Reads all of a store into an array of the same shape. */
int ct_input_fill(run *r, motet_store *store, motet_array *array);

#endif
