/* The inside of an array. */
#ifndef MOTET_RT_ARRAY_H
#define MOTET_RT_ARRAY_H

#include <motet/array.h>

struct motet_array {
    motet_context *context;
    void *data;
    motet_type type;
    int axes;
    int64_t shape[MOTET_MAX_AXES];
    int64_t elements;
    size_t bytes;
    unsigned flags;
    int owned;
};

#endif
