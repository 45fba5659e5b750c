/* Filtered back-projection of views in space, as tables and an operation. */
#ifndef MOTET_CT_FDK_H
#define MOTET_CT_FDK_H

#include "ct/fdk/orbit.h"
#include "ct/fdk/view.k.h"
#include "ct/geometry.h"
#include "rt/op.h"

#include <motet/ct_reconstruct.h>

/* What the kernels read of the views, and of how they are filtered. */
typedef struct fdk_tables {
    motet_array *views;    /* (view, bytes of a ct_fdk_view) */
    motet_array *shares;   /* (view, column) */
    motet_array *response; /* of filter.h, then 2 reach + 1 weights of neighbouring rows */
    int32_t bits;
    int64_t pad, reach;
    int beyond; /* -1, 1: filtered views go on below, above the detector's columns; 0: they do not
                 */
} fdk_tables;

/* Checks the options, looks at the path, warns of what it lacks if `warns`. */
motet_status fdk_tables_make(const motet_ct_geometry *geometry, const motet_ct_fdk_options *options,
                             int warns, fdk_tables *out);
void fdk_tables_free(fdk_tables *tables);

void fdk_views(const motet_ct_views *views, const orbit *path, ct_fdk_view *out);

/* The part of each ray (view, column) that counts: parts of rays that are measured twice add up to
 * 1. `chosen` is what the scheme AUTO stood for. */
typedef struct fdk_extent {
    double low, high; /* of the detector, as distances of its rays from the centre; mean of views */
    double overlap;   /* an offset detector: of both sides, else 0 */
    int offset;       /* 1: its middle is off the axis, so that it may be taken for one */
    int right;        /* 1: it reaches farther on the side of `high` */
    int beyond;       /* -1, 1: its nearer edge is that of the first, the last column; else 0 */
    motet_ct_weights chosen;
} fdk_extent;
fdk_extent fdk_extent_of(const motet_ct_views *views, const orbit *path, motet_ct_weights scheme);
void fdk_shares(const motet_ct_views *views, const orbit *path, const fdk_extent *extent,
                float *out);

/* What the path and the detector lack: a word is said of it by motet_ct_fdk and by
 * motet_ct_geometry_check alike. */
typedef struct fdk_lacks {
    double covered, needed; /* radians of the turn */
    double step;            /* between neighbours; 0: there are too few to tell */
    double rise, height;    /* of the path along the axis; of the detector, as seen at the axis */
    int short_arc;          /* less is covered than needed */
    int whole_turn;         /* needed, as one side of the detector sees less than the volume */
    int one_side;           /* the detector sees one side of the axis only */
    int rises;              /* more than the detector is high: no place is in all views */
} fdk_lacks;
fdk_lacks fdk_lacks_of(const motet_ct_views *views, const orbit *path, const fdk_extent *extent);
/* The greatest distance of the volume's outline, the ellipses in its box, from the axis. */
double fdk_reach(const motet_ct_views *views, const orbit *path);

/* The operation; `user` is the tables and the geometry. Box: z, y, x; the sinogram is streamed
 * along its views, weighted and filtered on the way, unless `filtered`: then it is already. Arrays
 * need sizes only. */
typedef struct fdk_job {
    const motet_ct_geometry *geometry;
    fdk_tables tables;
} fdk_job;
/* 1: views are filtered on the way, as often as chunks need them, as what is left on the host has
 * no room for all of them filtered; else first. */
int fdk_filters_on_the_way(const fdk_job *job, const motet_array *sinogram, int64_t left);
rt_op ct_fdk_op(const fdk_job *job, const motet_array *sinogram, const motet_array *volume);
rt_op ct_fdk_filtered_op(const fdk_job *job, const motet_array *filtered, const motet_array *beyond,
                         const motet_array *volume);
/* Weights and filters without back-projecting. Box: views. `beyond`: the columns beyond the
 * detector. */
rt_op ct_fdk_filter_op(const fdk_job *job, int beyond, const motet_array *sinogram,
                       const motet_array *filtered);

#endif
