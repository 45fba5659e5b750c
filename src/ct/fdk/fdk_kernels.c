/* The kernels of filtered back-projection of views in space. */
#include "kern/define.h"

#include <string.h>

#include "ct/fdk/backproject.k.h"
#include "ct/fdk/backproject_fast.h"
#include "ct/fdk/filter.k.h"
#include "ct/fdk/filter_fast.h"

K_DEFINE_FAST(ct_fdk, ct_fdk_range)
K_DEFINE_FAST(ct_fdk_filter, ct_fdk_filter_range)
