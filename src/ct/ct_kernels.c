/* The kernels of computed tomography. */
#include "kern/define.h"

#include "ct/backproject.k.h"
#include "ct/backproject_fast.h"
#include "ct/filter.k.h"
#include "ct/filter_fast.h"
#include "ct/normalise.k.h"
#include "ct/project.k.h"
#include "ct/project_fast.h"

K_DEFINE_FAST(ct_project, ct_project_range)
K_DEFINE_FAST(ct_backproject, ct_backproject_range)
K_DEFINE(ct_normalise)
K_DEFINE_FAST(ct_filter, ct_filter_range)
