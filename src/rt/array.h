/* The inside of an array. */
#ifndef MOTET_RT_ARRAY_H
#define MOTET_RT_ARRAY_H

#include <motet/array.h>

/* Where the newest values of an array may stay between operations. */
typedef enum rt_residence {
    RT_RESIDE_HOME,      /* in host memory alone */
    RT_RESIDE_SHARDED,   /* on each device the part that its share of an operation needs */
    RT_RESIDE_REPLICATED /* on each device that reads it all of it */
} rt_residence;

struct rt_part; /* rt/part.h */
struct rt_disk; /* rt/disk.h */

struct motet_array {
    motet_context *context;
    void *data; /* the home: host memory, which may be behind where a part is the owner */
    motet_type type;
    int axes;
    int64_t shape[MOTET_MAX_AXES];
    int64_t elements;
    size_t bytes;
    unsigned flags;
    int owned;
    struct rt_disk *disk; /* the home is a file, and `data` NULL; NULL: it is host memory */

    /* Guarded by the context's lock. */
    int versions; /* of resources that have it: nobody writes it (rt/resource.h) */
    rt_residence residence;
    struct rt_part *parts;
    char broken[32];                  /* the device that took the newest values with it; "": none */
    struct motet_array *next, **self; /* of the context's arrays that reside somewhere */
};

/* From now on what operations write of it stays on their devices until somebody needs it elsewhere,
 * and what they read is not sent again while it has not changed. The array's memory must not be
 * reached by way of another array, and no run may use it while another one writes it.
 * RT_RESIDE_HOME fetches it and gives all parts back. What is on disk stays there. DEVICE_LOST as
 * of motet_array_fetch. */
motet_status rt_array_reside(motet_array *array, rt_residence residence);

/* Sizes without memory; free with motet_array_free. As motet_array_create. */
motet_status rt_array_bare(motet_context *context, motet_type type, int axes, const int64_t *shape,
                           motet_array **out);

#endif
