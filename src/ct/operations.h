/* The operations of CT as data: what runs, and what is planned without running. The arrays need
 * sizes only; `user` is for whoever runs them to set. */
#ifndef MOTET_CT_OPERATIONS_H
#define MOTET_CT_OPERATIONS_H

#include <motet/calibrate.h>

#include "ct/geometry.h"
#include "rt/op.h"

/* What results depend on beside arrays and sizes: the grid, or the space
 * and the form of views in space (their poses are an array). Filtering has none: it costs no more
 * than keeping what it gives. */
void ct_fingerprint(const motet_ct_geometry *geometry, uint64_t out[2]);

rt_op ct_project_op(const motet_ct_geometry *geometry, const motet_array *volume,
                    const motet_array *sinogram);
rt_op ct_backproject_op(const motet_ct_geometry *geometry, const ct_table *table,
                        const motet_array *sinogram, const motet_array *volume);
/* `scale` may be NULL; `bits` as for ct_filter_table. */
rt_op ct_filter_op(const motet_ct_geometry *geometry, int32_t bits, const motet_array *response,
                   const motet_array *scale, const motet_array *sinogram,
                   const motet_array *filtered);

/* Of any geometry. */
rt_op ct_project_any_op(const motet_ct_geometry *geometry, const motet_array *volume,
                        const motet_array *sinogram);
rt_op ct_backproject_any_op(const motet_ct_geometry *geometry, const motet_array *sinogram,
                            const motet_array *volume);

/* The pair on arrays of the right shapes, never taken from a journal: for steps of solvers, which
 * have checkpoints. */
motet_status ct_project_anew(const motet_ct_geometry *geometry, const motet_array *volume,
                             motet_array *sinogram);
motet_status ct_backproject_anew(const motet_ct_geometry *geometry, const motet_array *sinogram,
                                 motet_array *volume);

/* A float32 array that is sizes only. Bytes stay at their largest where they would pass it, and the
 * planner then refuses. */
motet_array ct_array_sizes(motet_context *context, int axes, const int64_t *shape);

/* Calibrate them; outputs need sizes only. */
motet_status ct_backproject_calibrate(motet_ct_geometry *geometry, const ct_table *table,
                                      const motet_array *sinogram, const motet_array *volume,
                                      const motet_calibrate_options *options);
motet_status ct_filter_calibrate(motet_ct_geometry *geometry, const motet_array *sinogram,
                                 const motet_array *filtered,
                                 const motet_calibrate_options *options);

/* Rows that a reconstruction takes at once, when so many bytes are left of a bound on the host.
 * OVER_BUDGET when one row is too much. */
typedef struct ct_slab_size {
    int64_t views, columns, rows, nx, ny;
} ct_slab_size;
motet_status ct_slab_rows(motet_context *context, const ct_slab_size *size, int64_t left,
                          int64_t bound, int64_t *rows);

#endif
