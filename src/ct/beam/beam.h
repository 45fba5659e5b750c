/* The inside of a geometry of views in space, and the pair on it as data. */
#ifndef MOTET_CT_BEAM_H
#define MOTET_CT_BEAM_H

#include "ct/beam/beam.k.h"
#include "ct/geometry.h"
#include "rt/op.h"

/* Which form runs follows from the geometry alone. */
typedef enum ct_form {
    CT_FORM_COLUMNS, /* v along one axis of the volume in all views, chords at most a cell high */
    CT_FORM_RAYS     /* any */
} ct_form;

struct ct_beam {
    motet_ct_views given; /* `view` is owned; axes made orthonormal */
    ct_space space;
    ct_form form;
    double steepest; /* rise of a ray, in cells, over the cells it advances across columns, at most;
                        0: v follows no axis */
    motet_array *poses; /* (view, bytes of a ct_pose) */
};

/* The axis of a volume (z, y, x) that counts along an axis of space. */
static inline int ct_volume_axis(int64_t space_axis) { return 2 - (int)space_axis; }

/* Takes the general form whatever the geometry is: for tests, before the first operation. */
void ct_beam_use_rays(struct ct_beam *beam);

/* `user` is the geometry; arrays need sizes only. Box of a projection: views, columns, rows; the
 * volume is streamed along the axis space.s. Of a back-projection: z, y, x; the sinogram is
 * streamed along its views. */
rt_op ct_beam_project_op(const motet_ct_geometry *geometry, const motet_array *volume,
                         const motet_array *sinogram);
rt_op ct_beam_backproject_op(const motet_ct_geometry *geometry, const motet_array *sinogram,
                             const motet_array *volume);

rt_op ct_columns_project_op(const motet_ct_geometry *geometry, const motet_array *volume,
                            const motet_array *sinogram);
rt_op ct_columns_backproject_op(const motet_ct_geometry *geometry, const motet_array *sinogram,
                                const motet_array *volume);
rt_op ct_rays_project_op(const motet_ct_geometry *geometry, const motet_array *volume,
                         const motet_array *sinogram);
rt_op ct_rays_backproject_op(const motet_ct_geometry *geometry, const motet_array *sinogram,
                             const motet_array *volume);

#endif
