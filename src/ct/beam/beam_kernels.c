/* The kernels of the pair on views in space. */
#include "kern/define.h"

#include "ct/beam/columns_backproject.k.h"
#include "ct/beam/columns_backproject_fast.h"
#include "ct/beam/columns_lay.k.h"
#include "ct/beam/columns_lay_fast.h"
#include "ct/beam/columns_project.k.h"
#include "ct/beam/columns_project_cuda.h"
#include "ct/beam/columns_project_fast.h"
#include "ct/beam/columns_scale.k.h"
#include "ct/beam/columns_scale_fast.h"
#include "ct/beam/rays_backproject_fast.h"
#include "ct/beam/rays_project_fast.h"

K_DEFINE_FAST(ct_columns_lay, ct_columns_lay_range)
K_DEFINE_FAST(ct_columns_project, ct_columns_project_range)
K_DEFINE_FAST(ct_columns_scale, ct_columns_scale_range)
K_DEFINE_FAST(ct_columns_backproject, ct_columns_backproject_range)
K_DEFINE_FAST(ct_rays_project, ct_rays_project_range)
K_DEFINE_FAST(ct_rays_backproject, ct_rays_backproject_range)

#ifdef __CUDACC__
K_DEFINE_BLOCKS(ct_columns_project, ct_columns_project_block, CT_GPU_THREADS, CT_GPU_ITEMS,
                CT_GPU_SHARED, 2)
#endif
