/* A small CT problem in memory, for motet verify and motet bench: a phantom of whole numbers and
 * evenly spaced angles, so that it is the same everywhere without any library function. */
#ifndef MOTET_CLI_CT_CASE_H
#define MOTET_CLI_CT_CASE_H

#include <motet/motet.h>

typedef enum ct_step { CT_PROJECT, CT_BACKPROJECT, CT_FILTER, CT_FBP, CT_STEPS } ct_step;

typedef struct ct_case {
    motet_context *context;
    motet_ct_geometry *geometry;
    motet_array *phantom, *sinogram, *filtered, *volume;
    int64_t rows, columns, views;
} ct_case;

motet_status ct_case_create(motet_context *context, int64_t rows, int64_t columns, int64_t views,
                            ct_case *out);
void ct_case_free(ct_case *c);
/* Runs one step; *result is the array it made (owned by the case). project has to come first. */
motet_status ct_case_run(ct_case *c, ct_step step, const motet_array **result);
const char *ct_step_name(ct_step step); /* "project" */

#endif
