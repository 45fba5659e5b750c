/* The operations of CT as data: what runs, and what is planned without running. The arrays need
 * sizes only; `user` is for whoever runs them to set. */
#ifndef MOTET_CT_OPERATIONS_H
#define MOTET_CT_OPERATIONS_H

#include "ct/geometry.h"
#include "rt/op.h"

rt_op ct_project_op(const motet_ct_geometry *geometry, const motet_array *volume,
                    const motet_array *sinogram);
rt_op ct_backproject_op(const motet_ct_geometry *geometry, const ct_table *table,
                        const motet_array *sinogram, const motet_array *volume);
/* `scale` may be NULL; `bits` as for ct_filter_table. */
rt_op ct_filter_op(const motet_ct_geometry *geometry, int32_t bits, const motet_array *response,
                   const motet_array *scale, const motet_array *sinogram,
                   const motet_array *filtered);

/* Rows that a reconstruction takes at once, when so many bytes are left of a bound on the host.
 * OVER_BUDGET when one row is too much. */
typedef struct ct_slab_size {
    int64_t views, columns, rows, nx, ny;
} ct_slab_size;
motet_status ct_slab_rows(motet_context *context, const ct_slab_size *size, int64_t left,
                          int64_t bound, int64_t *rows);

#endif
