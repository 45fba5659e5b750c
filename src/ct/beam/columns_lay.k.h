/* Lays a block of the volume as the column form reads it: (s, f, w), w adjacent. One item is one
 * column of voxels. */
#ifndef MOTET_CT_COLUMNS_LAY_K_H
#define MOTET_CT_COLUMNS_LAY_K_H

#include "kern/k.h"

typedef struct ct_columns_lay_args {
    const float *from;
    int64_t from_s, from_f, from_w; /* strides */
    float *to;                      /* without gaps */
    int64_t slabs, lines, cells;    /* along s, f, w */
} ct_columns_lay_args;

K_FN void ct_columns_lay_item(const ct_columns_lay_args *a, int64_t item, void *scratch)
{
    (void)scratch;
    const float *from = a->from + item / a->lines * a->from_s + item % a->lines * a->from_f;
    float *to = a->to + item * a->cells;
    for (int64_t i = 0; i < a->cells; i++) to[i] = from[i * a->from_w];
}

#endif
