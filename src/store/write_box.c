/* Writing a box: run by run, in the order in which the values lie in the file. */
#include <string.h>

#include "base/fail.h"
#include "store/box.h"
#include "store/format.h"

int store_takes_boxes(const motet_store *s) { return s->format->write_at != NULL; }

/* Elements of a run: from axis *axis on the box is one piece of the file. */
static int64_t run_of(const motet_store *s, const int64_t *count, int *axis)
{
    int64_t run = 1;
    *axis = s->info.axes - 1;
    for (; *axis > 0 && count[*axis] == s->info.shape[*axis]; --*axis) run *= count[*axis];
    return run * count[*axis];
}

/* The number of the element at `first` + `index`. */
static int64_t place_of(const motet_store *s, const int64_t *first, const int64_t *index)
{
    int64_t place = 0;
    for (int i = 0; i < s->info.axes; i++) place = place * s->info.shape[i] + first[i] + index[i];
    return place;
}

static motet_status check(const motet_store *s, const int64_t *first, const int64_t *count)
{
    motet_context *c = s->context;
    if (!s->format->write_at || s->committed || s->prepared || s->next)
        return fail(c, MOTET_INTERNAL, "%s: takes no boxes", s->path);
    for (int i = 0; i < s->info.axes; i++)
        if (first[i] < 0 || count[i] < 0 || count[i] > s->info.shape[i] - first[i])
            return fail(c, MOTET_BAD_ARGUMENT,
                        "%s: elements %lld and %lld more of axis %d written, it has %lld", s->path,
                        (long long)first[i], (long long)count[i], i, (long long)s->info.shape[i]);
    return MOTET_OK;
}

motet_status store_write_box(motet_store *s, const int64_t *first, const int64_t *count,
                             const void *values)
{
    TRY(check(s, first, count));
    const int64_t elements = box_elements(s->info.axes, count);
    if (!elements) return MOTET_OK;
    int64_t index[MOTET_MAX_AXES] = {0};
    int outer;
    const int64_t run = run_of(s, count, &outer);
    const size_t bytes = (size_t)run * kind_bytes(s->kind);
    const char *from = values;
    for (int64_t done = 0; done < elements; done += run, from += bytes) {
        TRY(s->format->write_at(s, place_of(s, first, index), run, from));
        for (int i = outer - 1; i >= 0; i--) {
            if (++index[i] < count[i]) break;
            index[i] = 0;
        }
    }
    s->written += elements;
    return MOTET_OK;
}
