/* Integers from real values: LO becomes 0, HI the highest integer of the type, what lies outside is
 * clipped and counted. */
#ifndef MOTET_CLI_QUANTISE_H
#define MOTET_CLI_QUANTISE_H

#include <motet/motet.h>

typedef struct quantiser {
    motet_type type;
    double low, high;
    double highest;   /* integer */
    double unit;      /* in which values are measured */
    double per_value; /* integers per unit */
    int64_t clipped;  /* values outside; a NaN counts and becomes 0 */
} quantiser;

/* 1 if the type is an integer one that can be scaled to. */
int quantise_knows(motet_type type);
void quantise_begin(quantiser *q, motet_type type, double low, double high);
/* value = offset + step * integer */
double quantise_step(const quantiser *q);
void quantise_f32(quantiser *q, const float *values, int64_t count, void *out);
void quantise_f64(quantiser *q, const double *values, int64_t count, void *out);

/* The smallest and largest finite values seen; NaN while there were none. */
typedef struct extent {
    double low, high;
} extent;
void extent_begin(extent *e);
void extent_add_f32(extent *e, const float *values, int64_t count);
void extent_add_f64(extent *e, const double *values, int64_t count);

#endif
