/* The functions of exact_list.h as item functions over a fixed, endless set of inputs: item i of
 * function f is the same everywhere. C11 and CUDA C. */
#ifndef MOTET_TESTS_GOLDEN_EXACT_EVAL_H
#define MOTET_TESTS_GOLDEN_EXACT_EVAL_H

#include "kern/exact.h"
#include "kern/random.h"

typedef struct eval_pair {
    float a, b;
} eval_pair;

K_FN uint64_t eval_OF(float a) { return k_f32_bits(k_out(a)); }
K_FN uint64_t eval_OD(double a) { return k_f64_bits(k_out_f64(a)); }
K_FN uint64_t eval_pair_bits(eval_pair p) { return eval_OF(p.a) | eval_OF(p.b) << 32; }
K_FN eval_pair eval_sincosf(float a)
{
    eval_pair p;
    k_sincosf(a, &p.a, &p.b);
    return p;
}
K_FN eval_pair eval_sincospif(float a)
{
    eval_pair p;
    k_sincospif(a, &p.a, &p.b);
    return p;
}
K_FN eval_pair eval_normalf(uint64_t a)
{
    eval_pair p;
    k_normalf((uint32_t)a, (uint32_t)(a >> 32), &p.a, &p.b);
    return p;
}
K_FN k_words eval_words(uint64_t a, uint64_t b)
{
    k_source s;
    s.seed = b;
    s.stream = (uint32_t)(b >> 7);
    return k_random(s, a, (uint32_t)b & 7u);
}
K_FN uint64_t eval_philox(uint64_t a, uint64_t b)
{
    const k_words w = eval_words(a, b);
    return ((uint64_t)w.w[0] << 32 | w.w[1]) ^ (((uint64_t)w.w[2] << 32 | w.w[3]) * 3u);
}
K_FN uint64_t eval_pcg3d(uint64_t a, uint64_t b)
{
    uint32_t x = (uint32_t)a, y = (uint32_t)(a >> 32), z = (uint32_t)b;
    k_pcg3d(&x, &y, &z);
    return ((uint64_t)x << 32 | y) ^ (uint64_t)z * 0x100000001u;
}
K_FN uint64_t eval_normal(uint64_t a, uint64_t b)
{
    double x, y;
    k_normal(eval_words(a, b), &x, &y);
    return eval_OD(x) ^ (eval_OD(y) * 3u);
}
K_FN double eval_poisson(uint64_t a, uint64_t b)
{
    k_source s;
    s.seed = 1;
    s.stream = 2;
    return k_poisson((double)(a % 100000u) * (b & 1u ? 0.5 : 0.0001), s, b, 0);
}

/* Input word of item i, argument `which`. */
K_FN uint64_t eval_word(uint64_t i, uint32_t which)
{
    k_source s;
    s.seed = 0x6d6f746574u;
    s.stream = which;
    const k_words w = k_random(s, i, 0);
    return (uint64_t)w.w[0] << 32 | w.w[1];
}

/* Eight kinds of items in turn: any bits; small numbers; numbers of moderate exponent; integers and
 * halves; near 1; next to special values; denormals; in [-1, 1]. */
K_FN float eval_float(uint64_t word, uint64_t i)
{
    const uint32_t u = (uint32_t)(word >> 32), v = (uint32_t)word;
    const float unit = (float)(int32_t)(u >> 8) * 0x1p-24f, sign = v & 1u ? -1.0f : 1.0f;
    switch (i % 8u) {
    case 0: return k_bits_f32(u);
    case 1: return sign * unit * 12.0f;
    case 2: return sign * (1.0f + unit) * k_power2f((int32_t)(v >> 1 & 31u) - 12);
    case 3: return sign * (float)(int32_t)(u & 0xfffu) * 0.5f;
    case 4: return 1.0f + sign * unit * 0.0625f;
    case 5: {
        const uint32_t base = v >> 8 & 3u;
        const uint32_t at = base == 0   ? 0u
                            : base == 1 ? 0x7f800000u
                            : base == 2 ? 0x3f800000u
                                        : 0x4f000000u;
        return k_bits_f32(((at + (u & 7u) - 4u) & 0x7fffffffu) | (v & 1u) << 31);
    }
    case 6: return k_bits_f32((u & 0x007fffffu) | (v & 1u) << 31);
    default: return sign * unit;
    }
}
K_FN double eval_double(uint64_t word, uint64_t i)
{
    const uint64_t u = word * 0x9e3779b97f4a7c15u;
    const uint32_t v = (uint32_t)word;
    const double unit = (double)(int64_t)(u >> 11) * 0x1p-53, sign = v & 1u ? -1.0 : 1.0;
    switch (i % 8u) {
    case 0: return k_bits_f64(u);
    case 1: return sign * unit * 12.0;
    case 2: return sign * (1.0 + unit) * k_power2((int64_t)(v >> 1 & 63u) - 36);
    case 3: return sign * (double)(int64_t)(u & 0xffffu) * 0.5;
    case 4: return 1.0 + sign * unit * 0.0625;
    case 5: {
        const uint32_t base = v >> 8 & 3u;
        const uint64_t at = base == 0   ? 0u
                            : base == 1 ? 0x7ff0000000000000u
                            : base == 2 ? 0x3ff0000000000000u
                                        : 0x43e0000000000000u;
        return k_bits_f64(((at + (u & 7u) - 4u) & 0x7fffffffffffffffu) | (uint64_t)(v & 1u) << 63);
    }
    case 6: return k_bits_f64((u & 0x000fffffffffffffu) | (uint64_t)(v & 1u) << 63);
    default: return sign * unit;
    }
}
K_FN uint64_t eval_uint(uint64_t word, uint64_t i)
{
    (void)i;
    return word;
}

#define OF(x)         eval_OF(x)
#define OD(x)         eval_OD(x)
#define pair(x)       eval_pair_bits(eval_##x)
#define philox(a, b)  eval_philox(a, b)
#define pcg3d(a, b)   eval_pcg3d(a, b)
#define normal(a, b)  eval_normal(a, b)
#define poisson(a, b) eval_poisson(a, b)
#define EVAL_ARGS_F   const float a = eval_float(x, i), b = eval_float(y, i / 8u);
#define EVAL_ARGS_D   const double a = eval_double(x, i), b = eval_double(y, i / 8u);
#define EVAL_ARGS_U   const uint64_t a = eval_uint(x, i), b = eval_uint(y, i);
/* eval_item_<name>(i): the result for item i. */
#define X(name, kind, result)                                                                      \
    K_FN uint64_t eval_item_##name(uint64_t i)                                                     \
    {                                                                                              \
        const uint64_t x = eval_word(i, 0), y = eval_word(i, 1);                                   \
        EVAL_ARGS_##kind(void) a;                                                                  \
        (void)b;                                                                                   \
        return result;                                                                             \
    }
#include "golden/exact_list.h"
#undef X
#undef OF
#undef OD
#undef pair
#undef philox
#undef pcg3d
#undef normal
#undef poisson

enum {
#define X(name, kind, result) EVAL_##name,
#include "golden/exact_list.h"
#undef X
    EVAL_COUNT
};

#endif
