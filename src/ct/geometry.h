/* The inside of a geometry: its sizes and a table with one entry per view. */
#ifndef MOTET_CT_GEOMETRY_INSIDE_H
#define MOTET_CT_GEOMETRY_INSIDE_H

#include <motet/ct.h>

#include "ct/geometry.k.h"

/* A table of views as an operand. */
typedef struct ct_table {
    motet_array *views; /* of ct_view, as bytes */
    int32_t most_taps;  /* of any view */
} ct_table;

struct ct_beam;

struct motet_ct_geometry {
    motet_context *context;
    struct ct_beam
        *beam; /* of views in space (ct/beam); NULL: parallel, slice by slice. The rest is
                  of the latter, but for views, rows, columns and pitch (of columns) */
    ct_grid grid;
    int64_t views, rows;
    double pitch, voxel;
    double *angles; /* radians, as given */
    ct_table chords;
};

void ct_beam_free(motet_context *context, struct ct_beam *beam); /* NULL is legal */

/* Cosine and sine, with multiples of a right angle made exact: the double nearest to pi/2 has the
 * cosine 6e-17, and such rays should count as parallel to an axis. */
void ct_direction(double angle, double *cosine, double *sine);
/* The entry of a view: Siddon's chords. */
ct_view ct_view_of(double cosine, double sine, double pitch, double voxel);
/* The same place with weights that add up to 1 wherever it falls: linear between two columns, or
 * the mean over the voxel's size where that is more than a column. */
ct_view ct_mean_of(double cosine, double sine, double pitch, double voxel);

typedef ct_view ct_entry_fn(double cosine, double sine, double pitch, double voxel);
motet_status ct_table_create(const motet_ct_geometry *geometry, ct_entry_fn *entry, ct_table *out);

/* motet_ct_backproject by the weights of a table. */
motet_status ct_backproject_by(motet_ct_geometry *geometry, const ct_table *table,
                               const motet_array *sinogram, motet_array *volume);

/* motet_ct_fbp of a geometry without views in space; `filtered` is like the sinogram. */
motet_status ct_fbp_by_way_of(motet_ct_geometry *geometry, const motet_ct_filter_options *options,
                              const motet_array *sinogram, motet_array *filtered,
                              motet_array *volume);

/* The angle each view stands for, radians: half the distance to its neighbours modulo pi. Views of
 * one direction (within 1e-6) share what it stands for. Where a wedge is missing (a gap of more
 * than 30 degrees and of 8 median gaps), the views beside it stand for half a median gap on that
 * side; *wedge is the largest such gap, or 0. One direction stands for pi. NO_MEMORY. */
motet_status ct_view_weights(motet_context *context, const double *angles, int64_t views,
                             double *weights, double *wedge);

/* BAD_SHAPE or BAD_ARGUMENT unless the array is float32 (views, columns, rows), called `name`. */
motet_status ct_check_sinogram(const motet_ct_geometry *geometry, const motet_array *array,
                               const char *name);
/* The same for (rows, ny, nx), or (nz, ny, nx). */
motet_status ct_check_volume(const motet_ct_geometry *geometry, const motet_array *array,
                             const char *name);

#endif
