/* The kernel of toy_cover.h. */
#ifndef MOTET_TEST_TOY_COVER_K_H
#define MOTET_TEST_TOY_COVER_K_H

#include "kern/accumulate.h"
#include "kern/random.h"
#include "support/toy_view.h"

enum { TOY_CELLS = 37, TOY_HITS = 4, TOY_BINS = 9 };

typedef struct toy_cover_args {
    toy_view gain, map, histogram;
    int64_t first, sample; /* row of the box; its sample */
    int32_t bound;
} toy_cover_args;

K_FN void toy_cover_hits(int64_t index, float gain, int hit, int64_t *cell, float *value)
{
    const k_source source = {11, 2};
    const k_words w = k_random(source, (uint64_t)index, (uint32_t)hit);
    const float scale = k_ldexpf(1, -(int32_t)(w.w[2] % 40));
    *cell = w.w[0] % 3 ? w.w[0] % TOY_CELLS : 5; /* a third of all meet in one cell */
    *value = gain * (2 * k_uniformf(w.w[1]) - 1) * scale;
}

K_FN void toy_cover_item(const toy_cover_args *a, int64_t i, void *scratch)
{
    (void)scratch;
    for (int hit = 0; hit < TOY_HITS; hit++) {
        int64_t cell, limb[K_LIMBS_BOUNDED] = {0};
        float value;
        toy_cover_hits(a->sample + i, *toy_f32(&a->gain, a->first + i, 0), hit, &cell, &value);
        if (k_limbs_add_bounded(limb, value, a->bound)) continue;
        for (int j = 0; j < K_LIMBS_BOUNDED; j++)
            if (limb[j]) k_add_i64(toy_i64(&a->map, cell, j), limb[j]);
        const int64_t bin = (k_f32_bits(value) >> 23 & 255u) % TOY_BINS;
        k_add_i64(toy_i64(&a->histogram, bin, 0), 1);
    }
}

#endif
