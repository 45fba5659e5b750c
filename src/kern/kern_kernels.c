/* The kernels of src/kern itself. */
#include "kern/combine.k.h"
#include "kern/define.h"
#include "kern/health.k.h"

K_DEFINE(k_health)
K_DEFINE(k_combine)
