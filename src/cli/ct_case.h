/* Small CT problems in memory, for motet verify and motet bench: a phantom of whole numbers and
 * evenly spaced angles, so that they are the same everywhere without any function of the system's
 * libraries. */
#ifndef MOTET_CLI_CT_CASE_H
#define MOTET_CLI_CT_CASE_H

#include <motet/motet.h>

/* FILTER and FBP are of slices, the last three of views in space. */
typedef enum ct_step {
    CT_PROJECT,
    CT_BACKPROJECT,
    CT_FILTER,
    CT_FBP,
    CT_FDK,
    CT_CGLS,
    CT_SIRT,
    CT_STEPS
} ct_step;

/* Slices of a parallel beam; views in space with the detector upright (a circular cone), and with
 * it tilted, which takes the general form. */
typedef enum ct_scene { CT_SLICES, CT_CONE, CT_TILTED } ct_scene;

typedef struct ct_case {
    motet_context *context;
    motet_ct_geometry *geometry;
    motet_array *phantom, *sinogram, *filtered, *volume;
    int64_t rows, columns, views;
} ct_case;

motet_status ct_case_create(motet_context *context, int64_t rows, int64_t columns, int64_t views,
                            ct_case *out);
/* A cone beam around a cube of size^3 voxels: the source at 2.5, the detector at 4 times its side,
 * of 2 size columns and 1.5 size rows. */
motet_status ct_case_create_views(motet_context *context, ct_scene scene, int64_t size,
                                  int64_t views, ct_case *out);
/* Voxels that the rays of all views cross: the steps of a projection. 0 for slices. */
double ct_case_crossings(const ct_case *c);
void ct_case_free(ct_case *c);
/* Runs one step; *result is the array it made (owned by the case). project has to come first. */
motet_status ct_case_run(ct_case *c, ct_step step, const motet_array **result);
const char *ct_step_name(ct_step step); /* "project" */

#endif
