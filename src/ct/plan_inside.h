/* What the files that plan operations of CT share. */
#ifndef MOTET_CT_PLAN_INSIDE_H
#define MOTET_CT_PLAN_INSIDE_H

#include <jansson.h>

#include "ct/geometry.h"
#include "rt/plan.h"
#include "rt/weights.h"

typedef struct ct_planning {
    motet_context *context;
    const motet_ct_geometry *sample;   /* as given: its views may stand for more */
    const motet_ct_geometry *geometry; /* of all views, or of one slab of it */
    const motet_ct_filter_options *filter;
    rt_plan_device device[RT_DEVICES];
    rt_weights weights[RT_WEIGHTINGS];
    int devices, own; /* 1: they are the context's */
    rt_plan_options options;
    int64_t held; /* on the host, all the while */
    int64_t host; /* the most */
    int64_t peak[RT_DEVICES];
    json_t *operations;
} ct_planning;

/* The arrays of a geometry, sizes only. */
motet_array ct_volume_sizes(const motet_ct_geometry *geometry);
motet_array ct_sinogram_sizes(const motet_ct_geometry *geometry);

/* The plan of one operation; what has no room elsewhere is the fallback's, as in a run. */
motet_status ct_plan_make(const ct_planning *planning, const rt_op *op, rt_plan *plan);
/* Plans one more operation, with what is held on the host all the while, and on each device while
 * it runs (NULL: nothing). */
motet_status ct_plan_add(ct_planning *planning, const rt_op *op,
                         const int64_t device_held[RT_DEVICES]);

/* One iteration of a solver: solve/plan_solve.c. */
struct ct_method;
motet_status ct_plan_solve(ct_planning *planning, const struct ct_method *method, int checkpoint,
                           unsigned volume_flags);

/* Filtered back-projection of views in space: fdk/plan_fdk.c. */
motet_status ct_plan_fdk(ct_planning *planning, unsigned volume_flags);

#endif
