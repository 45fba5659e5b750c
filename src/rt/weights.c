/* A table in the context: names are never moved or changed, so that a plan may hold them while
 * somebody sets other weights. */
#include "rt/weights.h"

#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "base/mem.h"
#include "base/number.h"

typedef struct entry {
    char name[RT_WEIGHTS_NAME]; /* "": all operations */
    rt_weights weights;         /* none: forgotten */
} entry;

struct rt_weights_store { /* guarded by the context's lock */
    int count;
    entry entry[RT_WEIGHTINGS - 1]; /* beside what is usual */
};

motet_status rt_weights_open(motet_context *c)
{
    c->weights = mem_new(c, rt_weights_store);
    return c->weights ? MOTET_OK : fail(c, MOTET_NO_MEMORY, "no memory for the weights");
}

void rt_weights_close(motet_context *c)
{
    mem_free(c, c->weights);
    c->weights = NULL;
}

/* Weights of those that are fallbacks, or of the others, all the same. 0: there are not both. */
static int alike(const motet_context *c, int fallback, rt_weights *out)
{
    int fallbacks = 0;
    *out = (rt_weights){.count = c->devices->count};
    for (int i = 0; i < out->count; i++) {
        fallbacks += c->devices->set[i].fallback;
        out->weight[i] = c->devices->set[i].fallback == fallback;
    }
    return fallbacks && fallbacks < out->count;
}

int rt_weights_fallback(motet_context *c, rt_weights *out) { return alike(c, 1, out); }

int rt_weights_of(motet_context *c, rt_weights *out, int room)
{
    int count = 0, all = 0;
    pthread_mutex_lock(&c->lock);
    for (int i = 0; i < c->weights->count && count < room; i++) {
        if (!c->weights->entry[i].weights.count) continue;
        out[count] = c->weights->entry[i].weights;
        all |= !out[count++].operation;
    }
    pthread_mutex_unlock(&c->lock);
    if (!all && count < room) count += alike(c, 0, &out[count]);
    return count;
}

motet_status rt_weights_check(motet_context *c, const rt_weights *w, int devices)
{
    char list[RT_DEVICES * (NUMBER_TEXT + 2)] = "", text[NUMBER_TEXT];
    const int shown = w->count < 0 ? 0 : w->count < RT_DEVICES ? w->count : RT_DEVICES;
    int bad = w->count != devices, positive = 0;
    for (int i = 0; i < shown; i++) {
        const double x = w->weight[i];
        bad |= !(x >= 0 && x <= 1e300);
        positive |= x > 0;
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "",
                 number_text(x, text));
    }
    if (w->operation && !*w->operation)
        return fail(c, MOTET_BAD_ARGUMENT,
                    "weights %s are for an operation without a name, expected one", list);
    if (bad || !positive)
        return fail(c, MOTET_BAD_ARGUMENT,
                    "weights for %.64s are %s, expected %d, one for each device, finite and of at "
                    "least 0, not all 0",
                    w->operation ? w->operation : "all operations", list, devices);
    return MOTET_OK;
}

static motet_status check_name(motet_context *c, const char *name)
{
    if (!name) return MOTET_OK;
    const size_t length = strlen(name);
    size_t good = 0;
    while (good < length && name[good] > ' ' && name[good] < 0x7f) good++;
    if (length >= 1 && length < RT_WEIGHTS_NAME && good == length) return MOTET_OK;
    return fail(c, MOTET_BAD_ARGUMENT,
                "weights: operation is \"%.80s\", expected a name of 1 to %d printable characters "
                "without spaces",
                name, RT_WEIGHTS_NAME - 1);
}

/* With the lock held: the entry of a name, perhaps a new one; NULL when the table is full. */
static entry *entry_of(rt_weights_store *s, const char *name)
{
    for (int i = 0; i < s->count; i++)
        if (!strcmp(s->entry[i].name, name)) return &s->entry[i];
    if (s->count == RT_WEIGHTINGS - 1) return NULL;
    entry *e = &s->entry[s->count++];
    snprintf(e->name, sizeof e->name, "%s", name);
    return e;
}

motet_status motet_context_weights(motet_context *c, const char *operation, int count,
                                   const double *weights)
{
    TRY(check_name(c, operation));
    rt_weights given = {.operation = operation, .count = count};
    if (weights && count > 0)
        memcpy(given.weight, weights,
               (size_t)(count < RT_DEVICES ? count : RT_DEVICES) * sizeof *weights);
    if (weights) TRY(rt_weights_check(c, &given, c->devices->count));
    if (!weights) given.count = 0;
    pthread_mutex_lock(&c->lock);
    entry *e = entry_of(c->weights, operation ? operation : "");
    if (e) {
        given.operation = operation ? e->name : NULL;
        e->weights = given;
    }
    pthread_mutex_unlock(&c->lock);
    if (e) return MOTET_OK;
    return fail(c, MOTET_BAD_ARGUMENT, "weights for %s: %d operations have some already", operation,
                RT_WEIGHTINGS - 1);
}
