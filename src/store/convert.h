/* Kinds of numbers that files hold, and their conversion.
 *
 * A file may hold kinds that arrays do not have (16-bit signed CT numbers are common); they are
 * presented as the next wider type. All conversions here are exact or correctly rounded. */
#ifndef MOTET_STORE_CONVERT_H
#define MOTET_STORE_CONVERT_H

#include <motet/array.h>

/* X(name, bytes, presented as, text); the first seven are the types, with the same numbers */
#define STORE_KIND_LIST(X)                                                                         \
    X(F32, 4, F32, "float32")                                                                      \
    X(F64, 8, F64, "float64")                                                                      \
    X(F16, 2, F16, "float16")                                                                      \
    X(U8, 1, U8, "uint8")                                                                          \
    X(U16, 2, U16, "uint16")                                                                       \
    X(I32, 4, I32, "int32")                                                                        \
    X(I64, 8, I64, "int64")                                                                        \
    X(I8, 1, I32, "int8")                                                                          \
    X(I16, 2, I32, "int16")                                                                        \
    X(U32, 4, I64, "uint32")

typedef enum store_kind {
#define STORE_KIND_ENUM(name, bytes, type, text) KIND_##name,
    STORE_KIND_LIST(STORE_KIND_ENUM)
#undef STORE_KIND_ENUM
        KIND_COUNT
} store_kind;

size_t kind_bytes(store_kind kind);
const char *kind_text(store_kind kind); /* "float32" */
motet_type kind_type(store_kind kind);
store_kind kind_of_type(motet_type type);
int type_is_legal(motet_type type);

/* 1 if every value of the kind has its place in the range of the type: anything into F32 and F64,
 * integers into integers that are as wide, F16 into itself. */
int convert_allowed(store_kind from, motet_type to);

/* `in` and `out` must not overlap. Answers -1, or the index of the first finite value that is too
 * large for F32; `out` is then partly written. */
int64_t convert(store_kind from, const void *restrict in, motet_type to, void *restrict out,
                int64_t count);

/* Reverses the bytes of each element in place; elements of one byte stay. */
void convert_swap(void *data, int64_t count, size_t element);

#define STORE_HOST_IS_LITTLE (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

#endif
