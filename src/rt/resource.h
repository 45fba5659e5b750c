/* Resources: scenes, geometry, tables. What many operations read, built once and replaced as a
 * whole.
 *
 * A resource is a line of versions, each an unchangeable set of arrays. An update builds the next
 * one aside, from the former where it likes, and only a build that succeeded takes its place: a
 * failed one leaves the resource as it was, and nobody ever sees half of one. Who uses a resource
 * pins the version that is the newest then, and sees that one to the end; it is freed when nobody
 * does any more and a newer one is there.
 *
 * The arrays of a version have their home on the host and a copy on each device that reads them
 * (part.h), made before its first use there and again after a loss. Arrays that the next version
 * takes over keep theirs. */
#ifndef MOTET_RT_RESOURCE_H
#define MOTET_RT_RESOURCE_H

#include "rt/array.h"

enum { RT_RESOURCE_ARRAYS = 32 };

typedef struct rt_resource rt_resource;

typedef struct rt_version {
    int64_t number; /* from 1 */
    int count;
    const motet_array *array[RT_RESOURCE_ARRAYS]; /* NULL: none in this place */

    rt_resource *resource;
    int users;
    struct rt_version *next; /* of the older ones that are used still */
} rt_version;

typedef struct rt_build {
    motet_context *context;
    const rt_version *former; /* NULL: there is none */
    /* What the callback leaves here is the version's, also when it answers a failure: arrays made
     * or wrapped by it, which nobody else has and nobody writes, and those of the former version.
     * No array twice. */
    motet_array *array[RT_RESOURCE_ARRAYS];
    int count;
} rt_build;

/* Checks what it was given, and builds; may run operations. */
typedef motet_status rt_build_fn(rt_build *build, void *user);

/* Without a version. `name` is for messages. NO_MEMORY. */
motet_status rt_resource_create(motet_context *context, const char *name, rt_resource **out);
/* What is pinned must be unpinned before. NULL is legal. */
void rt_resource_free(rt_resource *resource);

/* The next version. What the callback answers, with the resource's name before its message; BUSY:
 * another update is going on (this one's callback, for example); NO_MEMORY; INTERNAL. */
motet_status rt_resource_update(rt_resource *resource, rt_build_fn *build, void *user);

/* The newest version, until it is unpinned. Any thread. BAD_ARGUMENT: it was never built. */
motet_status rt_resource_pin(rt_resource *resource, const rt_version **out);
void rt_version_unpin(const rt_version *version); /* NULL is legal */

#endif
