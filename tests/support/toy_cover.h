/* A toy reduction: samples light cells of a map, many of them the same. The map is exact sums in
 * limbs, beside a histogram of plain integers; both are whole to every chunk. */
#ifndef MOTET_TEST_TOY_COVER_H
#define MOTET_TEST_TOY_COVER_H

#include "rt/run.h"
#include "support/support.h"
#include "support/toy_cover.k.h"

typedef struct toy_cover {
    int64_t first;                /* sample of row 0 of the box */
    const motet_array *gain;      /* float32 [samples] of the box */
    const motet_array *map;       /* int64 [TOY_CELLS][K_LIMBS_BOUNDED], unit 2^(bound - 96) */
    const motet_array *histogram; /* int64 [TOY_BINS], of exponents */
    int32_t bound;                /* of values: below 2^bound */
} toy_cover;

/* `cover` must outlive the operation. */
rt_op toy_cover_op(const toy_cover *cover);
/* What sample `index` of this gain adds: a cell and a value, hit by hit. */
void toy_cover_hit(int64_t index, float gain, int hit, int64_t *cell, float *value);

#endif
