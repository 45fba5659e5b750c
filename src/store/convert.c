#include "store/convert.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static const struct {
    size_t bytes;
    motet_type type;
    const char *text;
} kinds[] = {
#define ROW(name, bytes, type, text) {bytes, MOTET_##type, text},
    STORE_KIND_LIST(ROW)
#undef ROW
};

#define SAME_NUMBER(name, number, bytes, text)                                                     \
    _Static_assert((int)KIND_##name == (number), "kinds begin with the types");
MOTET_TYPE_LIST(SAME_NUMBER)

size_t kind_bytes(store_kind kind) { return kinds[kind].bytes; }
const char *kind_text(store_kind kind) { return kinds[kind].text; }
motet_type kind_type(store_kind kind) { return kinds[kind].type; }
store_kind kind_of_type(motet_type type) { return (store_kind)type; }
int type_is_legal(motet_type type) { return (unsigned)type <= MOTET_I64; }

int convert_allowed(store_kind from, motet_type to)
{
    if (from == kind_of_type(to) || to == MOTET_F32 || to == MOTET_F64) return 1;
    switch (from) {
    case KIND_U8: return to == MOTET_U16 || to == MOTET_I32 || to == MOTET_I64;
    case KIND_U16:
    case KIND_I8:
    case KIND_I16: return to == MOTET_I32 || to == MOTET_I64;
    case KIND_I32:
    case KIND_U32: return to == MOTET_I64;
    default: return 0;
    }
}

/* IEEE 754 binary16 to binary32: every half is a float, so only the fields move. In integers,
 * unlike k_from_f16, since rows are read in whatever floating-point state the caller has. */
static float half_value(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000u) << 16, exponent = (half >> 10) & 31u;
    uint32_t fraction = half & 0x3ffu, bits;
    if (exponent == 31)
        bits = 0x7f800000u | fraction << 13;
    else if (exponent)
        bits = (exponent + 112) << 23 | fraction << 13;
    else if (!fraction)
        bits = 0;
    else { /* subnormal: shift the leading one into its hidden place */
        uint32_t shift = 0;
        for (; !(fraction & 0x400u); shift++) fraction <<= 1;
        bits = (113 - shift) << 23 | (fraction & 0x3ffu) << 13;
    }
    bits |= sign;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#define LOOP(from_type, to_type, expression)                                                       \
    do {                                                                                           \
        const from_type *restrict x = in;                                                          \
        to_type *restrict y = out;                                                                 \
        for (int64_t i = 0; i < count; i++) y[i] = (to_type)(expression);                          \
        return -1;                                                                                 \
    } while (0)

#define TO(to_type)                                                                                \
    switch (from) {                                                                                \
    case KIND_U8: LOOP(uint8_t, to_type, x[i]);                                                    \
    case KIND_U16: LOOP(uint16_t, to_type, x[i]);                                                  \
    case KIND_I8: LOOP(int8_t, to_type, x[i]);                                                     \
    case KIND_I16: LOOP(int16_t, to_type, x[i]);                                                   \
    case KIND_I32: LOOP(int32_t, to_type, x[i]);                                                   \
    case KIND_U32: LOOP(uint32_t, to_type, x[i]);                                                  \
    case KIND_I64: LOOP(int64_t, to_type, x[i]);                                                   \
    default: break;                                                                                \
    }

static int64_t to_f32(store_kind from, const void *restrict in, void *restrict out, int64_t count)
{
    if (from == KIND_F16) LOOP(uint16_t, float, half_value(x[i]));
    if (from == KIND_F64) {
        const double *restrict x = in;
        float *restrict y = out;
        for (int64_t i = 0; i < count; i++) {
            y[i] = (float)x[i];
            if (isinf(y[i]) && !isinf(x[i])) return i;
        }
        return -1;
    }
    TO(float)
    return 0;
}

static int64_t to_f64(store_kind from, const void *restrict in, void *restrict out, int64_t count)
{
    if (from == KIND_F16) LOOP(uint16_t, double, half_value(x[i]));
    if (from == KIND_F32) LOOP(float, double, x[i]);
    TO(double)
    return 0;
}

int64_t convert(store_kind from, const void *restrict in, motet_type to, void *restrict out,
                int64_t count)
{
    if (from == kind_of_type(to)) {
        memcpy(out, in, (size_t)count * kind_bytes(from));
        return -1;
    }
    switch (to) {
    case MOTET_F32: return to_f32(from, in, out, count);
    case MOTET_F64: return to_f64(from, in, out, count);
    case MOTET_U16: LOOP(uint8_t, uint16_t, x[i]);
    case MOTET_I32:
        if (from == KIND_U8) LOOP(uint8_t, int32_t, x[i]);
        if (from == KIND_U16) LOOP(uint16_t, int32_t, x[i]);
        if (from == KIND_I8) LOOP(int8_t, int32_t, x[i]);
        if (from == KIND_I16) LOOP(int16_t, int32_t, x[i]);
        return 0;
    case MOTET_I64: TO(int64_t) return 0;
    default: return 0; /* not allowed, see convert_allowed */
    }
}

void convert_swap(void *data, int64_t count, size_t element)
{
    unsigned char *p = data;
    switch (element) {
    case 2:
        for (int64_t i = 0; i < count; i++, p += 2) {
            uint16_t v;
            memcpy(&v, p, 2);
            v = __builtin_bswap16(v);
            memcpy(p, &v, 2);
        }
        break;
    case 4:
        for (int64_t i = 0; i < count; i++, p += 4) {
            uint32_t v;
            memcpy(&v, p, 4);
            v = __builtin_bswap32(v);
            memcpy(p, &v, 4);
        }
        break;
    case 8:
        for (int64_t i = 0; i < count; i++, p += 8) {
            uint64_t v;
            memcpy(&v, p, 8);
            v = __builtin_bswap64(v);
            memcpy(p, &v, 8);
        }
        break;
    default: break;
    }
}
