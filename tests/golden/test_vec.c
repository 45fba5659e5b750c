/* P1: the lanes of k_vec.h give the bits of the scalar code, on every instruction set that this
 * processor has. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/vec_ops.h"
#include "support/support.h"

enum { ITEMS = 1 << 17 };
static float a_values[ITEMS], b_values[ITEMS], c_values[ITEMS], table_values[256];
static uint32_t results[ITEMS];

typedef struct vec_args {
    int operation;
    const float *a, *b, *c;
    const float *table;
    uint32_t *out;
} vec_args;

typedef void range_fn(const void *args, int64_t begin, int64_t end, void *scratch);
extern range_fn vec_plain_base;
#if defined(__x86_64__)
extern range_fn vec_plain_v3, vec_plain_v4;
#endif

static uint64_t random_state = 77;
/* Any bits, small numbers, numbers at the edges of int32, zeros of both signs and NaNs. */
static float any(int i)
{
    const uint64_t r = test_random(&random_state);
    switch (i % 5) {
    case 0: return k_bits_f32((uint32_t)r);
    case 1: return (float)test_uniform(&random_state, -100, 100);
    case 2: return k_bits_f32((uint32_t)(0x4effffffu + r % 3) | (uint32_t)(r >> 32 & 1u) << 31);
    case 3: return r & 1 ? (r & 2 ? 0.0f : -0.0f) : r & 2 ? k_nanf() : 0.5f;
    default: return (float)((int64_t)(r % 41) - 20) * 0.5f;
    }
}

static uint32_t scalar(int operation, float a, float b, float c)
{
    const float *table = table_values;
    const int32_t at = (int32_t)(k_f32_bits(a) & 255u);
    switch (operation) {
#define X(name, vector, result)                                                                    \
    case VEC_##name: return result;
        VEC_OPS(X)
#undef X
    default: return 0;
    }
}

static int is_nan(uint32_t u) { return (u & 0x7fffffffu) > 0x7f800000u; }

static void check(const char *isa, range_fn *run)
{
    static const char *const names[] = {
#define X(name, vector, result) #name,
        VEC_OPS(X)
#undef X
    };
    int wrong = 0;
    for (int operation = 0; operation < VEC_COUNT; operation++) {
        const vec_args args = {operation, a_values, b_values, c_values, table_values, results};
        memset(results, 0x55, sizeof results);
        run(&args, 0, ITEMS / K_LANES, NULL);
        for (int i = 0; i < ITEMS; i++) {
            const uint32_t want = scalar(operation, a_values[i], b_values[i], c_values[i]);
            if (results[i] == want) continue;
            if (operation <= VEC_rint && is_nan(results[i]) && is_nan(want)) continue; /* k_out's */
            print_error("%s on %s: %a, %a, %a give %08x, scalar %08x\n", names[operation], isa,
                        (double)a_values[i], (double)b_values[i], (double)c_values[i], results[i],
                        want);
            wrong++;
            break;
        }
    }
    assert_int_equal(wrong, 0);
}

static void lanes_equal_scalars(void **state)
{
    (void)state;
    for (int i = 0; i < 256; i++) table_values[i] = any(i);
    for (int i = 0; i < ITEMS; i++) {
        a_values[i] = any(i);
        b_values[i] = i % 7 ? any(i / 5) : a_values[i];
        c_values[i] = any(i / 25);
    }
    check("base", vec_plain_base);
#if defined(__x86_64__)
    if (motet_isa_available(MOTET_ISA_V3)) check("v3", vec_plain_v3);
    if (motet_isa_available(MOTET_ISA_V4)) check("v4", vec_plain_v4);
#endif
}

/* any and all look at every lane. */
static void any_and_all_see_every_lane(void **state)
{
    (void)state;
    for (int bits = 0; bits < 256; bits++) {
        k_vm m = k_vi_set(0);
        for (int i = 0; i < K_LANES; i++) m[i] = bits >> i & 1 ? -1 : 0;
        assert_int_equal(k_vm_any(m), bits != 0);
        assert_int_equal(k_vm_all(m), bits == 255);
    }
    for (int i = 0; i < K_LANES; i++) assert_int_equal(k_vi_lane(k_vi_lanes(), i), i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_equal_scalars),
        cmocka_unit_test(any_and_all_see_every_lane),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
