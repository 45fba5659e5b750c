#include "ct/beam/beam.h"

rt_op ct_rays_backproject_op(const motet_ct_geometry *g, const motet_array *sinogram,
                             const motet_array *volume)
{
    (void)g;
    (void)sinogram;
    (void)volume;
    return (rt_op){.name = "ct.rays_backproject"};
}
