/* Views in space: any parallel, fan or cone geometry, one entry per view.
 *
 * The world is (x, y, z), in any one length unit (millimetres on the command line); results are per
 * that unit. The volume is a box of nx * ny * nz voxels around `centre`; voxel i of an axis has its
 * middle at centre + (i - (n - 1) / 2) * voxel. Column i and row j of the detector have their
 * middle at detector + (i - (columns - 1) / 2) * pitch_u * u + (j - (rows - 1) / 2) * pitch_v * v.
 *
 * Cone: a ray runs from the source to the middle of a pixel and sees nothing before or behind; both
 * may lie inside the volume. Fan: the same with one row and one slice. Parallel: a ray is the whole
 * line through the middle of a pixel along the view's direction.
 *
 * Arrays: volume (z, y, x); sinogram (view, u, v) with v fastest. float32. */
#ifndef MOTET_CT_GEOMETRY_H
#define MOTET_CT_GEOMETRY_H

#include <motet/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct motet_ct_geometry motet_ct_geometry;

/* X(name, number, text) */
#define MOTET_CT_BEAM_LIST(X)                                                                      \
    X(PARALLEL, 0, "parallel")                                                                     \
    X(CONE, 1, "cone")

typedef enum motet_ct_beam {
#define MOTET_CT_BEAM_ENUM(name, number, text) MOTET_CT_BEAM_##name = number,
    MOTET_CT_BEAM_LIST(MOTET_CT_BEAM_ENUM)
#undef MOTET_CT_BEAM_ENUM
} motet_ct_beam;

typedef struct motet_ct_view {
    double source[3];   /* cone: where it is; parallel: where the rays go, a vector of any length */
    double detector[3]; /* middle of the detector */
    double u[3], v[3];  /* unit vectors along which columns and rows count up, at right angles */
} motet_ct_view;

typedef struct motet_ct_views {
    uint32_t size;
    motet_ct_beam beam;
    int64_t views, columns, rows;
    const motet_ct_view *view; /* copied */
    double pitch_u, pitch_v;   /* from one column, one row to the next */
    int64_t nx, ny, nz;
    double voxel[3];  /* along x, y, z */
    double centre[3]; /* of the volume */
} motet_ct_views;

MOTET_API void motet_ct_views_init(motet_ct_views *views);
/* BAD_ARGUMENT names the field (of a view: its number, too), its value and what was expected: sizes
 * < 1 or > 2^30; lengths that are not positive and finite; axes that are not unit vectors at right
 * angles (tolerance 1e-4; they are then made so exactly); a source in the detector's plane, or rays
 * along it; the nearer of source and detector more than 10^6 voxels from the volume's middle, or
 * one more than 10^15. */
MOTET_API motet_status motet_ct_geometry_create(motet_context *context, const motet_ct_views *views,
                                                motet_ct_geometry **out);
MOTET_API void motet_ct_geometry_free(motet_ct_geometry *geometry);

/* What it was made of; `view` lives as long as the geometry. UNSUPPORTED: it was made by
 * motet_ct_geometry_parallel. */
MOTET_API motet_status motet_ct_geometry_describe(const motet_ct_geometry *geometry,
                                                  motet_ct_views *out);

#ifdef __cplusplus
}
#endif
#endif
