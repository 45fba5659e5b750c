/* A drawing of a scan. */
#ifndef MOTET_CLI_CT_DRAW_H
#define MOTET_CLI_CT_DRAW_H

#include <motet/motet.h>

#include "canvas.h"

/* Left as seen along the axis, right from the side, both at one scale: the volume's box and its
 * outline grey, sources red, detectors blue, the rays of the first view orange, the isocentre and
 * the axis black. What is far away is left out. 0: no memory. */
int ct_draw(const motet_ct_views *views, const motet_ct_check *check, canvas *out);

#endif
