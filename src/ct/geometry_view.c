/* Entries of the table of views that the kernels read (geometry.k.h). */
#include "ct/geometry.h"

#include <string.h>

#include "kern/convert.h"

/* Slope of a chord per column where rays run along an axis: finite, so that a ray in the face of
 * two voxels, or within 2^-17 columns of it, is shared by both. */
static const double steepest = 65536.0;

/* A trapezoid of given middle and slope on the places of a view. */
static ct_view entry(double cosine, double sine, double ratio, double half, double slope,
                     double height, double margin)
{
    const double width = half + 0.5 / slope;
    ct_view view;
    memset(&view, 0, sizeof view);
    view.along_x = cosine * ratio;
    view.along_y = sine * ratio;
    view.step = (float)view.along_x;
    view.step_low = (float)(view.along_x - (double)view.step);
    view.half = (float)half;
    view.slope = (float)slope;
    view.middle = (float)(0.5 + (half - (double)view.half) * slope);
    view.chord = (float)height;
    view.reach = (float)(width + margin - 0.5);
    view.taps = -k_to_i32_f64(k_floor(-2 * (width + margin)));
    return view;
}

ct_view ct_view_of(double cosine, double sine, double pitch, double voxel)
{
    const double ratio = voxel / pitch, c = k_abs(cosine), s = k_abs(sine);
    const double most = c > s ? c : s, least = c > s ? s : c;
    const double slope = ratio * least * steepest > 1.0 ? 1.0 / (ratio * least) : steepest;
    const double margin = 0x1p-11 * (ratio > 1.0 ? ratio : 1.0); /* above float32's errors */
    return entry(cosine, sine, ratio, ratio * most / 2, slope, voxel / most, margin);
}

ct_view ct_mean_of(double cosine, double sine, double pitch, double voxel)
{
    const double ratio = voxel / pitch, box = ratio > 1.0 ? ratio : 1.0;
    return entry(cosine, sine, ratio, box / 2, 1.0, 1.0 / box, 0.0);
}
