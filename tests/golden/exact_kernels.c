/* The functions of exact_list.h over ranges of items, compiled once per instruction set like any
 * kernel file; also as CUDA, for the gate. */
#include "kern/define.h"

#include "golden/exact_eval.h"

typedef struct exact_args {
    int function;
    uint64_t *out; /* out[i]: the result of item i */
} exact_args;

K_FN void exact_item(const exact_args *a, int64_t i, void *scratch)
{
    (void)scratch;
    switch (a->function) {
#define X(name, kind, result)                                                                      \
    case EVAL_##name:                                                                              \
        a->out[i] = eval_item_##name((uint64_t)i);                                                 \
        break;
#include "golden/exact_list.h"
#undef X
    default: break;
    }
}
K_DEFINE(exact)
