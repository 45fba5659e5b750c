/* Versions of resources. All that changes in one is guarded by the context's lock; nothing is built
 * or freed while that is held. */
#include "rt/resource.h"

#include <string.h>

#include "base/context.h"
#include "base/fail.h"
#include "base/mem.h"

struct rt_resource {
    motet_context *context;
    char *name;
    rt_version *newest; /* NULL: never built */
    rt_version *older;  /* pinned still */
    int64_t built;      /* versions */
    int building;
};

static motet_array *mutable(const motet_array *array) { return (motet_array *)(uintptr_t)array; }

motet_status rt_resource_create(motet_context *c, const char *name, rt_resource **out)
{
    rt_resource *r = mem_new(c, rt_resource);
    if (r) r->name = mem_text(c, name);
    if (!r || !r->name) {
        mem_free(c, r);
        return fail(c, MOTET_NO_MEMORY, "%s: no memory for its account", name);
    }
    r->context = c;
    *out = r;
    return MOTET_OK;
}

/* The arrays that no other version has are freed with it. */
static void version_free(motet_context *c, rt_version *v)
{
    for (int i = 0; v && i < v->count; i++) {
        motet_array *a = mutable(v->array[i]);
        if (!a) continue;
        pthread_mutex_lock(&c->lock);
        const int last = --a->versions == 0;
        pthread_mutex_unlock(&c->lock);
        if (last) motet_array_free(a);
    }
    mem_free(c, v);
}

void rt_resource_free(rt_resource *r)
{
    if (!r) return;
    motet_context *c = r->context;
    version_free(c, r->newest);
    for (rt_version *v = r->older, *next; v; v = next) {
        next = v->next;
        version_free(c, v);
    }
    mem_free(c, r->name);
    mem_free(c, r);
}

/* Building. */

static int is_taken(motet_context *c, const motet_array *array)
{
    pthread_mutex_lock(&c->lock);
    const int taken = array->versions > 0;
    pthread_mutex_unlock(&c->lock);
    return taken;
}

static int has(const rt_version *v, const motet_array *array)
{
    for (int i = 0; v && i < v->count; i++)
        if (v->array[i] == array) return 1;
    return 0;
}

static motet_status check(const rt_resource *r, const rt_build *b)
{
    motet_context *c = r->context;
    if (b->count < 0 || b->count > RT_RESOURCE_ARRAYS)
        return fail(c, MOTET_INTERNAL, "%d arrays, expected at most %d", b->count,
                    RT_RESOURCE_ARRAYS);
    for (int i = 0; i < b->count; i++) {
        for (int j = 0; b->array[i] && j < i; j++)
            if (b->array[i] == b->array[j])
                return fail(c, MOTET_INTERNAL, "arrays %d and %d are the same", j, i);
        if (b->array[i] && is_taken(c, b->array[i]) && !has(b->former, b->array[i]))
            return fail(c, MOTET_INTERNAL, "array %d is that of another resource", i);
    }
    return MOTET_OK;
}

/* What a failed build made. */
static void discard(rt_build *b)
{
    const int count = b->count < 0                    ? 0
                      : b->count < RT_RESOURCE_ARRAYS ? b->count
                                                      : RT_RESOURCE_ARRAYS;
    for (int i = 0; i < count; i++) {
        motet_array *a = b->array[i];
        for (int j = i + 1; j < count; j++)
            if (b->array[j] == a) b->array[j] = NULL;
        if (a && !is_taken(b->context, a)) motet_array_free(a);
    }
}

static motet_status build_version(rt_resource *r, rt_build *b, rt_build_fn *build, void *user,
                                  rt_version **out)
{
    motet_context *c = r->context;
    motet_status st = build(b, user);
    if (st == MOTET_OK) st = check(r, b);
    for (int i = 0; st == MOTET_OK && i < b->count; i++)
        if (b->array[i] && b->array[i]->residence != RT_RESIDE_REPLICATED)
            st = rt_array_reside(b->array[i], RT_RESIDE_REPLICATED);
    rt_version *v = st == MOTET_OK ? mem_new(c, rt_version) : NULL;
    if (st == MOTET_OK && !v) st = fail(c, MOTET_NO_MEMORY, "no memory for a version");
    if (st != MOTET_OK) {
        motet_error error;
        motet_context_error(c, &error);
        discard(b);
        return fail(c, st, "%s: %s", r->name, error.message);
    }
    v->resource = r;
    v->count = b->count;
    for (int i = 0; i < b->count; i++) v->array[i] = b->array[i];
    *out = v;
    return MOTET_OK;
}

/* Takes a version that nobody uses out of the older ones, or answers NULL. The lock is held. */
static rt_version *take_unused(rt_resource *r)
{
    for (rt_version **at = &r->older; *at; at = &(*at)->next) {
        rt_version *v = *at;
        if (v->users) continue;
        *at = v->next;
        return v;
    }
    return NULL;
}

static void free_unused(rt_resource *r)
{
    for (;;) {
        pthread_mutex_lock(&r->context->lock);
        rt_version *v = take_unused(r);
        pthread_mutex_unlock(&r->context->lock);
        if (!v) return;
        version_free(r->context, v);
    }
}

static void swap(rt_resource *r, rt_version *v)
{
    pthread_mutex_lock(&r->context->lock);
    for (int i = 0; i < v->count; i++)
        if (v->array[i]) mutable(v->array[i])->versions++;
    v->number = ++r->built;
    if (r->newest) {
        r->newest->next = r->older;
        r->older = r->newest;
    }
    r->newest = v;
    pthread_mutex_unlock(&r->context->lock);
    free_unused(r);
}

motet_status rt_resource_update(rt_resource *r, rt_build_fn *build, void *user)
{
    motet_context *c = r->context;
    pthread_mutex_lock(&c->lock);
    const int busy = r->building;
    r->building = 1;
    pthread_mutex_unlock(&c->lock);
    if (busy) return fail(c, MOTET_BUSY, "%s: another update is going on", r->name);
    rt_build b = {.context = c, .former = r->newest}; /* only an update replaces it */
    rt_version *v = NULL;
    const motet_status st = build_version(r, &b, build, user, &v);
    if (st == MOTET_OK) swap(r, v);
    pthread_mutex_lock(&c->lock);
    r->building = 0;
    pthread_mutex_unlock(&c->lock);
    return st;
}

/* Using. */

motet_status rt_resource_pin(rt_resource *r, const rt_version **out)
{
    motet_context *c = r->context;
    pthread_mutex_lock(&c->lock);
    rt_version *v = r->newest;
    if (v) v->users++;
    pthread_mutex_unlock(&c->lock);
    if (!v) return fail(c, MOTET_BAD_ARGUMENT, "%s was not built yet", r->name);
    *out = v;
    return MOTET_OK;
}

void rt_version_unpin(const rt_version *version)
{
    if (!version) return;
    rt_version *v = (rt_version *)(uintptr_t)version;
    rt_resource *r = v->resource;
    pthread_mutex_lock(&r->context->lock);
    v->users--;
    pthread_mutex_unlock(&r->context->lock);
    free_unused(r);
}
