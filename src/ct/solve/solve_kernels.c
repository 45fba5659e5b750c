/* The kernels of solvers. */
#include "kern/define.h"

#include "ct/solve/vectors.k.h"

K_DEFINE(ct_combine)
K_DEFINE(ct_square)
K_DEFINE(ct_misfit)
K_DEFINE(ct_correct)
K_DEFINE(ct_invert)
