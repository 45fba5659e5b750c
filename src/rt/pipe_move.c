/* Parts of arrays are moved run by run: a run is what lies without gaps in the array, too. */
#include "rt/pipe_move.h"

#include <stdio.h>
#include <string.h>

#include "kern/accumulate.h"

/* The runs of a box, in the order in which they lie in packed memory. */
typedef struct runs {
    const rt_port *port;
    const pipe_box *box;
    int outer;      /* axes before it pick the run */
    int64_t length; /* elements of each */
    int64_t count;
} runs;

/* Rows of a list need not be neighbours, so a run has only one of them. */
static runs runs_of(const rt_port *p, const pipe_box *b)
{
    const motet_array *a = p->array;
    const int listed = p->list ? p->cut[0] : -1;
    runs r = {.port = p, .box = b, .outer = a->axes, .length = 1, .count = 1};
    while (r.outer > 0 && r.outer - 1 != listed) {
        r.length *= b->count[--r.outer];
        if (b->count[r.outer] != a->shape[r.outer]) break;
    }
    for (int i = 0; i < r.outer; i++) r.count *= b->count[i];
    if (!r.length) r.count = 0;
    return r;
}

/* Where run `number` begins in the array, in elements. */
static int64_t run_at(const runs *r, int64_t number)
{
    const rt_port *p = r->port;
    int64_t stride = 1, at = 0;
    for (int i = p->array->axes - 1; i >= 0; i--) {
        int64_t index = r->box->first[i];
        if (i < r->outer) {
            index += number % r->box->count[i];
            number /= r->box->count[i];
        }
        if (p->list && i == p->cut[0]) index = p->list[index];
        at += index * stride;
        stride *= p->array->shape[i];
    }
    return at;
}

/* Where byte `offset` of the box is in the array; what follows it there is *size bytes, at most
 * `bytes`. */
static size_t place_of(const runs *r, size_t offset, size_t bytes, size_t *size)
{
    const size_t element = motet_type_bytes(r->port->array->type);
    const size_t run = (size_t)r->length * element, within = offset % run;
    *size = run - within < bytes ? run - within : bytes;
    return (size_t)run_at(r, (int64_t)(offset / run)) * element + within;
}

size_t pipe_run(const rt_port *p, const pipe_box *b, size_t offset, size_t bytes, size_t *size)
{
    const runs r = runs_of(p, b);
    return place_of(&r, offset, bytes, size);
}

static void move(const rt_port *p, char *array, const pipe_box *b, size_t offset, size_t bytes,
                 char *packed, int into_array)
{
    const runs r = runs_of(p, b);
    while (bytes) {
        size_t part;
        char *place = array + place_of(&r, offset, bytes, &part);
        if (into_array)
            memcpy(place, packed, part);
        else
            memcpy(packed, place, part);
        offset += part;
        packed += part;
        bytes -= part;
    }
}

void pipe_pack(const rt_port *p, const void *array, const pipe_box *b, size_t offset, size_t bytes,
               void *packed)
{
    move(p, (char *)(uintptr_t)array, b, offset, bytes, packed, 0);
}

void pipe_unpack(const rt_port *p, void *array, const pipe_box *b, size_t offset, size_t bytes,
                 const void *packed)
{
    move(p, array, b, offset, bytes, (char *)(uintptr_t)packed, 1);
}

motet_status pipe_gather(const rt_port *p, const void *array, const pipe_box *box, void *packed)
{
    if (p->source) {
        const rt_view part = pipe_view(p, packed, box, box);
        return p->source->read(&part, p->source->user);
    }
    pipe_pack(p, array, box, 0, pipe_box_bytes(p, box), packed);
    return MOTET_OK;
}

void pipe_place(const rt_port *p, int64_t at, char text[PIPE_PLACE])
{
    int64_t index[MOTET_MAX_AXES];
    for (int i = p->array->axes - 1; i >= 0; i--) {
        index[i] = at % p->array->shape[i];
        at /= p->array->shape[i];
    }
    *text = 0;
    for (int i = 0; i < p->array->axes; i++)
        snprintf(text + strlen(text), PIPE_PLACE - strlen(text), "%s%lld", i ? ", " : "",
                 (long long)index[i]);
}

int64_t pipe_differs(const rt_port *p, const void *array, const pipe_box *box, const void *packed)
{
    const runs r = runs_of(p, box);
    const size_t element = motet_type_bytes(p->array->type), bytes = (size_t)r.length * element;
    for (int64_t i = 0; i < r.count; i++) {
        const int64_t at = run_at(&r, i);
        const char *a = (const char *)array + (size_t)at * element;
        const char *b = (const char *)packed + (size_t)i * bytes;
        if (!memcmp(a, b, bytes)) continue;
        int64_t k = 0;
        while (!memcmp(a + (size_t)k * element, b + (size_t)k * element, element)) k++;
        return at + k;
    }
    return -1;
}

/* Sums. */

static motet_status leaves_range(motet_context *c, const rt_op *op, const rt_port *p, int64_t at)
{
    char where[PIPE_PLACE];
    pipe_place(p, at, where);
    return fail(c, MOTET_BAD_DATA, "%s: the sum in element (%s) of %s leaves the range of %s",
                op->name, where, p->name, p->limbs ? "its limbs" : "int64");
}

/* Adds `count` elements and answers how many of them went well: `count` is all. */
static int64_t add_run(int64_t *to, int64_t *from, int64_t count, int limbs)
{
    int64_t i = 0;
    if (!limbs)
        while (i < count && !__builtin_add_overflow(to[i], from[i], &to[i])) i++;
    for (; limbs && i < count; i += limbs) {
        const int out = k_limbs_normalise(to + i, limbs) | k_limbs_normalise(from + i, limbs);
        if (out || k_limbs_merge(to + i, from + i, limbs)) break;
    }
    return i;
}

static motet_status add(motet_context *c, const rt_op *op, const rt_port *p, int64_t *array,
                        const pipe_box *box, int64_t *packed)
{
    const runs r = runs_of(p, box);
    for (int64_t i = 0; i < r.count; i++) {
        const int64_t at = run_at(&r, i);
        const int64_t added = add_run(array + at, packed + i * r.length, r.length, p->limbs);
        if (added < r.length) return leaves_range(c, op, p, at + added);
    }
    return MOTET_OK;
}

motet_status pipe_scatter(motet_context *c, const rt_op *op, const rt_port *p, void *array,
                          const pipe_box *box, void *packed)
{
    if (!pipe_box_elements(p, box)) return MOTET_OK;
    if (p->sink) {
        const rt_view part = pipe_view(p, packed, box, box);
        return p->sink->take(&part, p->sink->user);
    }
    if (p->access == RT_ADD) return add(c, op, p, array, box, packed);
    pipe_unpack(p, array, box, 0, pipe_box_bytes(p, box), packed);
    return MOTET_OK;
}
