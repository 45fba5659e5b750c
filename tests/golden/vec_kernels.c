/* Every operation of k_vec.h over arrays, compiled once per instruction set; also as CUDA, for the
 * gate. */
#include "kern/define.h"

#include "golden/vec_ops.h"

/* One item is one group of lanes of one operation. */
typedef struct vec_args {
    int operation;
    const float *a, *b, *c;
    const float *table; /* 256 entries */
    uint32_t *out;
} vec_args;

K_FN void vec_item(const vec_args *args, int64_t i, void *scratch)
{
    (void)scratch;
    const k_vf a = k_vf_load(args->a + i * K_LANES), b = k_vf_load(args->b + i * K_LANES);
    const k_vf c = k_vf_load(args->c + i * K_LANES);
    const k_vi at = k_vf_bits(a) & k_vi_set(255);
    const float *table = args->table;
    k_vi r = k_vi_set(0);
    (void)at, (void)table;
    switch (args->operation) {
#define X(name, vector, scalar)                                                                    \
    case VEC_##name: r = vector; break;
        VEC_OPS(X)
#undef X
    default: break;
    }
    k_vi_store((int32_t *)args->out + i * K_LANES, r);
}
K_DEFINE(vec)
