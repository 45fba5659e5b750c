#include "quantise.h"

#include <math.h>

int quantise_knows(motet_type type)
{
    return type == MOTET_U8 || type == MOTET_U16 || type == MOTET_I32;
}

void quantise_begin(quantiser *q, motet_type type, double low, double high)
{
    const double highest = type == MOTET_U8 ? 255 : type == MOTET_U16 ? 65535 : 2147483647;
    /* A power of two that keeps the range and its inverse within double. */
    const double unit = high * 0.5 - low * 0.5 > 0x1p1022 ? 0.5
                        : high - low < 0x1p-900           ? 0x1p600
                                                          : 1;
    const double span = high * unit - low * unit;
    *q = (quantiser){.type = type, .low = low, .high = high, .highest = highest, .unit = unit};
    q->per_value = span > 0 ? highest / span : 0;
}

double quantise_step(const quantiser *q)
{
    return (q->high * q->unit - q->low * q->unit) / q->highest / q->unit;
}

static int64_t integer_of(quantiser *q, double value)
{
    if (!(value >= q->low)) {
        q->clipped++;
        return 0;
    }
    if (value > q->high) {
        q->clipped++;
        return (int64_t)q->highest;
    }
    const double t = (value * q->unit - q->low * q->unit) * q->per_value + 0.5;
    return (int64_t)(t < q->highest ? t : q->highest);
}

static void put(quantiser *q, double value, int64_t i, void *out)
{
    const int64_t integer = integer_of(q, value);
    if (q->type == MOTET_U8)
        ((uint8_t *)out)[i] = (uint8_t)integer;
    else if (q->type == MOTET_U16)
        ((uint16_t *)out)[i] = (uint16_t)integer;
    else
        ((int32_t *)out)[i] = (int32_t)integer;
}

void quantise_f32(quantiser *q, const float *values, int64_t count, void *out)
{
    for (int64_t i = 0; i < count; i++) put(q, (double)values[i], i, out);
}

void quantise_f64(quantiser *q, const double *values, int64_t count, void *out)
{
    for (int64_t i = 0; i < count; i++) put(q, values[i], i, out);
}

void extent_begin(extent *e) { *e = (extent){(double)NAN, (double)NAN}; }

static void add(extent *e, double value)
{
    if (!isfinite(value)) return;
    if (!(e->low <= value)) e->low = value;
    if (!(e->high >= value)) e->high = value;
}

void extent_add_f32(extent *e, const float *values, int64_t count)
{
    for (int64_t i = 0; i < count; i++) add(e, (double)values[i]);
}

void extent_add_f64(extent *e, const double *values, int64_t count)
{
    for (int64_t i = 0; i < count; i++) add(e, values[i]);
}
