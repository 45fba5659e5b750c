/* The entry of a view in the table that the kernels read (geometry.k.h). */
#include "ct/geometry.h"

#include <math.h>
#include <string.h>

/* Slope of a chord per column where rays run along an axis: finite, so that a ray in a face that
 * two voxels share, or within 2^-17 columns of it, is shared by both. */
static const double steepest = 65536.0;

ct_view ct_view_of(double cosine, double sine, double pitch, double voxel)
{
    const double ratio = voxel / pitch, c = fabs(cosine), s = fabs(sine);
    const double most = c > s ? c : s, least = c > s ? s : c;
    const double slope = ratio * least * steepest > 1.0 ? 1.0 / (ratio * least) : steepest;
    const double half = ratio * most / 2, width = half + 0.5 / slope;
    const double margin = 0x1p-11 * (ratio > 1.0 ? ratio : 1.0); /* above float32's errors */
    ct_view view;
    memset(&view, 0, sizeof view);
    view.along_x = cosine * ratio;
    view.along_y = sine * ratio;
    view.step = (float)view.along_x;
    view.half = (float)half;
    view.slope = (float)slope;
    view.chord = (float)(voxel / most);
    view.reach = (float)(width + margin - 0.5);
    view.taps = (int32_t)ceil(2 * (width + margin));
    return view;
}
