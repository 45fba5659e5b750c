/* Parts: boxes of an array that lie in the memory of a device.
 *
 * Host memory is the home of an array. A part holds the newest values of its box, always: what is
 * overtaken is dropped at once. Where the part is the `owner`, the home is behind. A device that is
 * lost takes its parts with it; if one was an owner, the array is broken until it is written anew.
 */
#ifndef MOTET_RT_PART_H
#define MOTET_RT_PART_H

#include "rt/devices.h"
#include "rt/pipe_box.h"

typedef struct rt_part {
    rt_kept kept; /* memory[0]; first, so that a device that hangs can keep all of it */
    struct rt_part *next;
    int device; /* in the context's set */
    pipe_box box;
    int owner;    /* the home is behind in this box */
    int64_t held; /* bytes that the array holds on the device, and no run does */
    int users;    /* runs at work with it */
    int dropped;  /* out of its array; released by its last user */
} rt_part;

int rt_box_within(const pipe_box *inner, const pipe_box *outer, int axes);
/* 0: they have nothing in common, and *out is undefined. */
int rt_box_common(const pipe_box *a, const pipe_box *b, int axes, pipe_box *out);

/* Without memory, used once, of no array yet. NULL: no memory. */
rt_part *rt_part_new(motet_context *context, int device, const pipe_box *box);
motet_status rt_part_alloc(motet_context *context, rt_part *part, size_t bytes, int64_t limit,
                           const char *name);
/* The last user's release of what is not, or no more, an array's. NULL is legal. */
void rt_part_unuse(motet_context *context, rt_part *part);

/* A part of the device that holds all of the box; with `use`, one user more. */
rt_part *rt_part_find(const motet_array *array, int device, const pipe_box *box, int use);
/* The part is the array's from now on, in place of those of the device that lie within it. */
void rt_part_add(motet_array *array, rt_part *part);
/* Out of the array; they are released when nobody uses them. */
void rt_parts_drop_all(motet_array *array);

/* Drops the parts of lost devices, which may break the array. */
void rt_array_drop_lost(const motet_array *array);
motet_status rt_array_whole(const motet_array *array); /* DEVICE_LOST when it is broken */
/* Brings the home up to date in the box. Waits. DEVICE_LOST, DEVICE_HUNG, NO_MEMORY. */
motet_status rt_array_pull(const motet_array *array, const pipe_box *box);

/* Gives back parts that nobody uses and whose values are at home. Answers how many. */
int rt_parts_spill(motet_context *context);
/* Drops what lies on a device, before it is closed: the newest values there break their arrays. */
void rt_parts_drop(motet_context *context, int device);

#endif
