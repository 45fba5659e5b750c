/* What a call can answer. One list gives code, class and text; nothing else spells them out.
 *
 * A class says who can act on it: the caller (a wrong argument), the resource (memory, disk), the
 * device, the data (a file that is not what it claims), a cancellation, or us (internal). */
#ifndef MOTET_STATUS_H
#define MOTET_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define MOTET_API __attribute__((visibility("default")))
#else
#define MOTET_API
#endif

/* X(name, number, class, may succeed if simply tried again, text) */
#define MOTET_STATUS_LIST(X)                                                                       \
    X(OK, 0, NONE, 0, "ok")                                                                        \
    X(BAD_ARGUMENT, 1, CALLER, 0, "an argument is out of range")                                   \
    X(BAD_SHAPE, 2, CALLER, 0, "shapes disagree")                                                  \
    X(EXISTS, 3, CALLER, 0, "the output exists already")                                           \
    X(SAME_FILE, 4, CALLER, 0, "input and output are the same file")                               \
    X(UNSUPPORTED, 5, CALLER, 0, "not supported by this build or format")                          \
    X(DECLINED, 6, DEVICE, 0, "not possible on the devices allowed; nothing was touched")          \
    X(BAD_DATA, 10, DATA, 0, "the data are not what they claim to be")                             \
    X(NOT_FOUND, 20, RESOURCE, 0, "no such file or entry")                                         \
    X(IO, 21, RESOURCE, 1, "reading or writing failed")                                            \
    X(NO_MEMORY, 22, RESOURCE, 1, "out of memory")                                                 \
    X(OVER_BUDGET, 23, RESOURCE, 0, "does not fit the memory allowed")                             \
    X(DEVICE_LOST, 30, DEVICE, 1, "a device was lost")                                             \
    X(DEVICE_HUNG, 31, DEVICE, 1, "a device missed its deadline")                                  \
    X(DEVICE_ERROR, 32, DEVICE, 0, "a device refused an operation")                                \
    X(BUSY, 33, NONE, 1, "not finished yet")                                                       \
    X(CANCELLED, 40, CANCELLED, 0, "cancelled")                                                    \
    X(DEADLINE, 41, CANCELLED, 1, "the deadline passed")                                           \
    X(CHECK_FAILED, 50, INTERNAL, 0, "a check failed")                                             \
    X(INTERNAL, 51, INTERNAL, 0, "a defect in Motet")

typedef enum motet_status {
#define MOTET_STATUS_ENUM(name, number, class_, retry, text) MOTET_##name = number,
    MOTET_STATUS_LIST(MOTET_STATUS_ENUM)
#undef MOTET_STATUS_ENUM
} motet_status;

typedef enum motet_status_class {
    MOTET_CLASS_NONE,
    MOTET_CLASS_CALLER,
    MOTET_CLASS_RESOURCE,
    MOTET_CLASS_DEVICE,
    MOTET_CLASS_DATA,
    MOTET_CLASS_CANCELLED,
    MOTET_CLASS_INTERNAL
} motet_status_class;

/* The name without prefix ("BAD_SHAPE") and the text; "UNKNOWN" for a number not in the list. */
MOTET_API const char *motet_status_name(motet_status status);
MOTET_API const char *motet_status_text(motet_status status);
MOTET_API motet_status_class motet_status_class_of(motet_status status);
/* 1 if the same call may succeed later without any change by the caller. */
MOTET_API int motet_status_retryable(motet_status status);

#ifdef __cplusplus
}
#endif
#endif
