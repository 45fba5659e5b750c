/* Vectors of space, for host code. */
#ifndef MOTET_CT_VECTOR_H
#define MOTET_CT_VECTOR_H

#include "kern/bits.h"

static inline double vector_dot(const double a[3], const double b[3])
{
    return k_fma(a[0], b[0], k_fma(a[1], b[1], a[2] * b[2]));
}

static inline void vector_cross(const double a[3], const double b[3], double out[3])
{
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        out[i] = a[j] * b[k] - a[k] * b[j];
    }
}

#endif
