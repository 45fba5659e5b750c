/* The operations of k_vec.h and what each lane must equal. X(name, result in lanes, result of the
 * scalar code); a, b, c are the arguments, `at` an index below 256 made of the bits of a. */
#ifndef MOTET_TESTS_GOLDEN_VEC_OPS_H
#define MOTET_TESTS_GOLDEN_VEC_OPS_H

#include "kern/k_vec.h"

#define VEC_OPS(X)                                                                                 \
    X(add, k_vf_bits(a + b), k_f32_bits(a + b))                                                    \
    X(subtract, k_vf_bits(a - b), k_f32_bits(a - b))                                               \
    X(multiply, k_vf_bits(a *b), k_f32_bits(a *b))                                                 \
    X(divide, k_vf_bits(a / b), k_f32_bits(a / b))                                                 \
    X(fma, k_vf_bits(k_vf_fma(a, b, c)), k_f32_bits(k_fmaf(a, b, c)))                              \
    X(sqrt, k_vf_bits(k_vf_sqrt(a)), k_f32_bits(k_sqrtf(a)))                                       \
    X(floor, k_vf_bits(k_vf_floor(a)), k_f32_bits(k_floorf(a)))                                    \
    X(rint, k_vf_bits(k_vf_rint(a)), k_f32_bits(k_rintf(a)))                                       \
    X(abs, k_vf_bits(k_vf_abs(a)), k_f32_bits(k_absf(a)))                                          \
    X(min, k_vf_bits(k_vf_min(a, b)), k_f32_bits(k_minf(a, b)))                                    \
    X(max, k_vf_bits(k_vf_max(a, b)), k_f32_bits(k_maxf(a, b)))                                    \
    X(less, k_vf_less(a, b), a < b ? UINT32_MAX : 0u)                                              \
    X(less_equal, k_vf_less_equal(a, b), a <= b ? UINT32_MAX : 0u)                                 \
    X(equal, k_vf_equal(a, b), a == b ? UINT32_MAX : 0u)                                           \
    X(int_less, k_vi_less(k_vf_bits(a), k_vf_bits(b)),                                             \
      (int32_t)k_f32_bits(a) < (int32_t)k_f32_bits(b) ? UINT32_MAX : 0u)                           \
    X(int_equal, k_vi_equal(at, k_vi_set(7)), at == 7 ? UINT32_MAX : 0u)                           \
    X(select, k_vf_bits(k_vf_select(k_vf_less(a, b), c, a)), k_f32_bits(a < b ? c : a))            \
    X(int_select, k_vi_select(k_vf_less(a, b), at, k_vf_bits(c)),                                  \
      a < b ? (uint32_t)at : k_f32_bits(c))                                                        \
    X(to_i32, k_vf_to_i32(a), (uint32_t)k_to_i32(a))                                               \
    X(to_float, k_vf_bits(k_vi_to_float(k_vf_bits(a))), k_f32_bits((float)(int32_t)k_f32_bits(a))) \
    X(gather, k_vf_bits(k_vf_gather(table, at)), k_f32_bits(table[at]))                            \
    X(int_gather, k_vi_gather((const int32_t *)table, at), k_f32_bits(table[at]))                  \
    X(gather_if, k_vf_bits(k_vf_gather_if(k_vf_less(a, b), table, at, c)),                         \
      k_f32_bits(a < b ? table[at] : c))

enum {
#define X(name, vector, scalar) VEC_##name,
    VEC_OPS(X)
#undef X
        VEC_COUNT
};

#endif
