/* The kernels of src/kern itself. */
#include "kern/define.h"
#include "kern/health.k.h"

K_DEFINE(k_health)
