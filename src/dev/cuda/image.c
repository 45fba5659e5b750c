/* Embeds the file that cmake/cuda.cmake had nvcc make. */
#include "dev/cuda/image.h"

#ifdef CUDA_IMAGE_FILE
__asm__(".section .rodata\n"
        ".balign 64\n"
        ".globl cuda_image\n"
        ".hidden cuda_image\n"
        "cuda_image:\n"
        ".incbin \"" CUDA_IMAGE_FILE "\"\n"
        "cuda_image_end:\n"
        ".balign 8\n"
        ".globl cuda_image_bytes\n"
        ".hidden cuda_image_bytes\n"
        "cuda_image_bytes:\n"
        ".quad cuda_image_end - cuda_image\n"
        ".previous\n");
#else
const unsigned char cuda_image[] = {0};
const size_t cuda_image_bytes = 0;
#endif
