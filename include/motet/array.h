/* Arrays: dense, row-major (last axis fastest), in host memory.
 *
 * An array made by Motet owns zeroed memory; a wrapped one lends the caller's. An operation writes
 * its output whole or not at all: it works on a private copy and commits at the end, unless the
 * array says MOTET_WRITE_DIRECT, which saves the copy and may leave a half-written array behind a
 * failure. */
#ifndef MOTET_ARRAY_H
#define MOTET_ARRAY_H

#include <motet/context.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MOTET_MAX_AXES 6

typedef struct motet_array motet_array;

/* X(name, number, bytes, text) */
#define MOTET_TYPE_LIST(X)                                                                         \
    X(F32, 0, 4, "float32")                                                                        \
    X(F64, 1, 8, "float64")                                                                        \
    X(F16, 2, 2, "float16")                                                                        \
    X(U8, 3, 1, "uint8")                                                                           \
    X(U16, 4, 2, "uint16")                                                                         \
    X(I32, 5, 4, "int32")                                                                          \
    X(I64, 6, 8, "int64")

typedef enum motet_type {
#define MOTET_TYPE_ENUM(name, number, bytes, text) MOTET_##name = number,
    MOTET_TYPE_LIST(MOTET_TYPE_ENUM)
#undef MOTET_TYPE_ENUM
} motet_type;

MOTET_API size_t motet_type_bytes(motet_type type);
MOTET_API const char *motet_type_text(motet_type type);

enum { MOTET_WRITE_DIRECT = 1 };

/* Sizes may be 0. BAD_ARGUMENT: axes < 1 or > MOTET_MAX_AXES, a negative size, a byte count past
 * 2^63; NO_MEMORY. */
MOTET_API motet_status motet_array_create(motet_context *context, motet_type type, int axes,
                                          const int64_t *shape, motet_array **out);
/* `data` must be aligned to the type and outlive the array. Flags: 0 or MOTET_WRITE_DIRECT. */
MOTET_API motet_status motet_array_wrap(motet_context *context, void *data, motet_type type,
                                        int axes, const int64_t *shape, unsigned flags,
                                        motet_array **out);
MOTET_API void motet_array_free(motet_array *array);

MOTET_API void *motet_array_data(const motet_array *array);
MOTET_API motet_type motet_array_type(const motet_array *array);
MOTET_API int motet_array_axes(const motet_array *array);
/* Size of one axis; 0 if the array has no such axis. */
MOTET_API int64_t motet_array_size(const motet_array *array, int axis);
MOTET_API int64_t motet_array_elements(const motet_array *array);

/* The newest values of some arrays stay on the devices that computed them. This brings them to host
 * memory; where they are there already it does nothing. What reads an array by its data pointer
 * calls it first; operations and digests do so themselves. DEVICE_LOST: the device that had them is
 * lost with them; the array can be used again when all of it was written anew, by an operation or
 * by the caller. NO_MEMORY. */
MOTET_API motet_status motet_array_fetch(motet_array *array);
/* Says that the caller wrote host memory, all of it or after a fetch: from now on that counts. */
MOTET_API void motet_array_changed(motet_array *array);

/* Digest of type, shape and values (XXH3-128 over the digests of the rows of axis 0, values
 * little-endian): 32 hexadecimal digits and a zero. Equal digests mean equal bits. CANCELLED. */
MOTET_API motet_status motet_array_digest(const motet_array *array, char out[33]);

#ifdef __cplusplus
}
#endif
#endif
