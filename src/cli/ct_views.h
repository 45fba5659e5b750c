/* The geometry that the flags of SHARED_VIEWS say, with what an input's sizes leave open. */
#ifndef MOTET_CLI_CT_VIEWS_H
#define MOTET_CLI_CT_VIEWS_H

#include "run.h"

/* What is known from an input; 0: it does not say. Flags and files that say otherwise are refused,
 * but for lengths, where they win. */
typedef struct ct_views_known {
    const char *input; /* path of what says so; NULL where nothing is known */
    int64_t views, columns, rows;
    int64_t nx, ny, nz;
    double pitch_u, pitch_v; /* mm */
    double voxel[3];         /* along x, y, z, mm */
    const double *angles; /* radians, one per view, for a path along which none are given; NULL */
} ct_views_known;

/* Takes the geometry; `known` may be NULL. A --geometry file becomes an input of the report.
 * EXIT_OK; then free with motet_ct_views_release(r->context, out). Else an exit code after one line
 * on stderr. */
int ct_views_take(run *r, const ct_views_known *known, motet_ct_views *out);

/* "circular cone, 360 views of 256 x 192 pixels, 128 x 128 x 128 voxels" on standard output where
 * the run talks, and as "geometry" in the report. */
void ct_views_tell(run *r, const motet_ct_views *views);

#endif
