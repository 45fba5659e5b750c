/* Filtered back-projection: f = sum over views of (angle the view stands for) x (filtered view at
 * the voxel). The chords of the rays that happen to cross a voxel do not add up to its area (near
 * the axis they are 12 % too long on average), so the view is not back-projected by chords: it is
 * interpolated linearly, or averaged over voxels that are larger than columns (ct_mean_of). The
 * angles go into the filter. */
#include <motet/ct_reconstruct.h>

#include "base/call.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/mem.h"
#include "ct/filter.h"
#include "ct/geometry.h"
#include "rt/array.h"

static motet_status scale_of(motet_ct_geometry *g, motet_array **out)
{
    motet_status st = MOTET_OK;
    motet_array *scale = NULL;
    double wedge = 0.0, *weights = mem_array(g->context, double, g->views);
    if (!weights)
        return fail(g->context, MOTET_NO_MEMORY, "no memory for the weights of %lld views",
                    (long long)g->views);
    TRY_GOTO(ct_view_weights(g->context, g->angles, g->views, weights, &wedge));
    if (wedge > 0.0)
        log_warning(g->context, "ct.fbp",
                    "no view in %d of 180 degrees: the slices will be distorted along the missing "
                    "directions",
                    (int)(wedge * 57.29577951308232 + 0.5));
    TRY_GOTO(motet_array_create(g->context, MOTET_F32, 1, &g->views, &scale));
    float *factor = motet_array_data(scale);
    for (int64_t k = 0; k < g->views; k++) factor[k] = (float)weights[k];
    *out = scale;
out:
    mem_free(g->context, weights);
    return st;
}

motet_status ct_fbp_by_way_of(motet_ct_geometry *g, const motet_ct_filter_options *options,
                              const motet_array *sinogram, motet_array *filtered,
                              motet_array *volume)
{
    motet_status st = MOTET_OK;
    motet_array *scale = NULL;
    ct_table means = {NULL, 0};
    TRY_GOTO(scale_of(g, &scale));
    TRY_GOTO(ct_filter_scaled(g, options, scale, sinogram, filtered));
    TRY_GOTO(ct_table_create(g, ct_mean_of, &means));
    TRY_GOTO(ct_backproject_by(g, &means, filtered, volume));
out:
    motet_array_free(means.views);
    motet_array_free(scale);
    return st;
}

static motet_status fbp(motet_ct_geometry *g, const motet_ct_filter_options *options,
                        const motet_array *sinogram, motet_array *volume)
{
    motet_array *filtered = NULL;
    if (g->beam) {
        motet_ct_fdk_options fdk;
        motet_ct_fdk_options_init(&fdk);
        if (options) fdk.filter = *options;
        return motet_ct_fdk(g, &fdk, sinogram, volume);
    }
    TRY(ct_check_sinogram(g, sinogram, "sinogram"));
    TRY(ct_check_volume(g, volume, "volume"));
    TRY(motet_array_create(g->context, MOTET_F32, 3, sinogram->shape, &filtered));
    filtered->flags |= MOTET_WRITE_DIRECT; /* nobody else sees it */
    const motet_status st = ct_fbp_by_way_of(g, options, sinogram, filtered, volume);
    motet_array_free(filtered);
    return st;
}

motet_status motet_ct_fbp(motet_ct_geometry *geometry, const motet_ct_filter_options *options,
                          const motet_array *sinogram, motet_array *volume)
{
    call one;
    call_begin(geometry->context, &one);
    return call_end(&one, fbp(geometry, options, sinogram, volume));
}
