/* A fixed mix of exact arithmetic. Its bits are known; a device whose kernels or units go wrong
 * gives others. Each item walks its own seed through division, square root, fused multiply-add and
 * integer steps in both precisions, subnormals included. */
#ifndef MOTET_KERN_HEALTH_K_H
#define MOTET_KERN_HEALTH_K_H

#include "kern/k.h"

#define K_HEALTH_ITEMS    512
#define K_HEALTH_EXPECTED 0x69f7acc58b1a0a2eull

typedef struct k_health_args {
    uint64_t *words; /* K_HEALTH_ITEMS */
} k_health_args;

/* The finaliser of splitmix64 (Steele, Lea and Flood 2014, OOPSLA). */
K_FN uint64_t k_health_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

K_FN void k_health_item(const k_health_args *args, int64_t i, void *scratch)
{
    (void)scratch;
    union {
        double value;
        uint64_t bits;
    } d;
    union {
        float value;
        uint32_t bits;
    } f;
    uint64_t word = k_health_mix((uint64_t)i + 0x9e3779b97f4a7c15u);
    for (int step = 0; step < 24; step++) {
        const double a = (double)(int64_t)(word >> 12) * 0x1p-50 + 0.25;
        const double b = (double)(int64_t)(word & 0xffffff) + 3.0;
        d.value = k_fma(a, k_sqrt(b), a / b);
        word = k_health_mix(word ^ d.bits);
        const float x = (float)(int32_t)(word >> 40) * 0x1p-20f + 0.125f;
        const float y = (float)(int32_t)(word & 0xffff) + 1.5f;
        f.value = k_fmaf(x, k_sqrtf(y), x / y) * (step & 1 ? 1.0f : 0x1p-130f);
        word = k_health_mix(word + f.bits);
    }
    args->words[i] = word;
}

K_FN uint64_t k_health_digest(const uint64_t *words)
{
    uint64_t sum = 0;
    for (int i = 0; i < K_HEALTH_ITEMS; i++) sum = k_health_mix(sum + words[i]);
    return sum;
}

#endif
