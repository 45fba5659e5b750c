/* GPUs by NVIDIA, through the CUDA driver. */
#ifndef MOTET_DEV_CUDA_CUDA_H
#define MOTET_DEV_CUDA_CUDA_H

#include "dev/dev.h"

/* Why the context has no GPUs, in a clause; NULL if it has some. */
const char *cuda_absence(motet_context *context);
/* The UUID of GPU `index` as nvidia-smi writes it, "GPU-" and 32 digits in five groups; "" where
 * there is none. */
void cuda_uuid(motet_context *context, int index, char text[48]);
/* From now on, devices that are opened launch item functions also where a tuned form exists. For
 * tests. */
void cuda_plain(motet_context *context, int plain);

#endif
