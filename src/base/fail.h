/* Failing: set the context's error record and answer the status, in one expression.
 *
 *     if (n < 1) return fail(c, MOTET_BAD_ARGUMENT, "views is %lld, expected at least 1", n);
 *     TRY(step(c));              returns the status of a step that failed
 *     TRY_GOTO(step(c));         sets `st` and goes to `out`, for functions that own something
 *
 * A message is one line that names the field, its value and what was expected. */
#ifndef MOTET_BASE_FAIL_H
#define MOTET_BASE_FAIL_H

#include <motet/context.h>

#define fail(context, status, ...) fail_at((context), (status), __FILE__, __LINE__, 0, __VA_ARGS__)
/* With errno or a device's own code; its text is appended for errno by the caller if wanted. */
#define fail_native(context, status, native, ...)                                                  \
    fail_at((context), (status), __FILE__, __LINE__, (native), __VA_ARGS__)

motet_status fail_at(motet_context *context, motet_status status, const char *file, int line,
                     int native, const char *format, ...)
    __attribute__((format(printf, 6, 7), cold));

/* "path: what: strerror", with ENOENT → NOT_FOUND, ENOSPC etc. → IO, EEXIST → EXISTS. */
#define fail_errno(context, error_number, ...)                                                     \
    fail_errno_at((context), (error_number), __FILE__, __LINE__, __VA_ARGS__)
motet_status fail_errno_at(motet_context *context, int error_number, const char *file, int line,
                           const char *format, ...) __attribute__((format(printf, 5, 6), cold));

/* Adds "prefix: " in front of the last message, keeping the rest of the record. */
void fail_prefix(motet_context *context, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));

/* Says of the last message, where it is one of this status, which device and chunk it is about;
 * answers the status. */
motet_status fail_where(motet_context *context, motet_status status, int device, int64_t chunk);

#define TRY(call)                                                                                  \
    do {                                                                                           \
        const motet_status try_status_ = (call);                                                   \
        if (try_status_ != MOTET_OK) return try_status_;                                           \
    } while (0)

#define TRY_GOTO(call)                                                                             \
    do {                                                                                           \
        st = (call);                                                                               \
        if (st != MOTET_OK) goto out;                                                              \
    } while (0)

#endif
