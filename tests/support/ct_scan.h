/* Parallel-beam geometries and arrays for tests of the public interface. */
#ifndef MOTET_TEST_CT_SCAN_H
#define MOTET_TEST_CT_SCAN_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

static inline motet_array *ct_array(motet_context *c, int64_t a, int64_t b, int64_t d)
{
    const int64_t shape[] = {a, b, d};
    motet_array *array = NULL;
    assert_ok(c, motet_array_create(c, MOTET_F32, 3, shape, &array));
    return array;
}

static inline float *ct_values(const motet_array *array) { return motet_array_data(array); }

/* Evenly spaced over `arc` radians from `first`, the end excluded; free it. */
static inline double *ct_angles(int64_t views, double first, double arc)
{
    double *angles = malloc(sizeof(double) * (size_t)views);
    for (int64_t k = 0; k < views; k++) angles[k] = first + arc * (double)k / (double)views;
    return angles;
}

static inline motet_ct_parallel ct_parallel(int64_t views, const double *angles, int64_t columns,
                                            int64_t rows)
{
    motet_ct_parallel p;
    motet_ct_parallel_init(&p);
    p.views = views;
    p.angles = angles;
    p.columns = columns;
    p.rows = rows;
    return p;
}

#endif
