/* A helix: whether the detector sees all rays that each voxel needs, and whether the path is long
 * enough. */
#ifndef MOTET_CT_PATHS_HELIX_H
#define MOTET_CT_PATHS_HELIX_H

#include "ct/fdk/fdk.h"

typedef struct paths_helix { /* all 0: none */
    double pitch;            /* rise in a turn along the axis, negative against the angles */
    double largest;          /* of the pitches for which the detector sees the Tam window */
    double lead;             /* length of the path before a place and after it that it needs */
    double missing;          /* part of the volume's length along the axis that lacks it */
} paths_helix;

/* 1: the sources of a cone beam lie on a helix. */
int paths_helix_of(const motet_ct_views *views, const orbit *path, paths_helix *out);

#endif
