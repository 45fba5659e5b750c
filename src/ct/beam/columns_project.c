#include "ct/beam/beam.h"

rt_op ct_columns_project_op(const motet_ct_geometry *g, const motet_array *volume,
                            const motet_array *sinogram)
{
    (void)g;
    (void)volume;
    (void)sinogram;
    return (rt_op){.name = "ct.columns_project"};
}
