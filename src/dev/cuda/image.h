/* The kernels compiled for GPUs, in the form that the driver loads ("fatbin"): machine code for the
 * architectures that the build named, and code that a driver translates for newer ones. */
#ifndef MOTET_DEV_CUDA_IMAGE_H
#define MOTET_DEV_CUDA_IMAGE_H

#include <stddef.h>

extern const unsigned char cuda_image[];
extern const size_t cuda_image_bytes; /* 0: the build had no nvcc */

#endif
