/* Reading a box: the file is walked in its own order, run by run, and runs that lie close together
 * are read in one go with the gaps between them. */
#include "store/box.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "store/convert.h"

/* To begin a new reading costs a disk as much as to read through some dozen pages. */
enum { BUFFER = 1 << 20, GAP = 1 << 15 };

/* Axes as the file has them, slowest first; the last one is the run. All counts are of elements. */
typedef struct walk {
    int axes;
    int64_t size[MOTET_MAX_AXES], first[MOTET_MAX_AXES], count[MOTET_MAX_AXES];
    int64_t stride[MOTET_MAX_AXES]; /* in the file */
    int64_t place[MOTET_MAX_AXES];  /* the stride in the box */
    int64_t index[MOTET_MAX_AXES];
    int64_t at, to; /* where the run begins in the file and in the box */
} walk;

int64_t box_elements(int axes, const int64_t *count)
{
    int64_t elements = 1;
    for (int i = 0; i < axes; i++) elements *= count[i];
    return elements;
}

/* Joins the two fastest axes while what they select is one piece in the file and in the box. */
static void join(walk *w)
{
    for (; w->axes > 1; w->axes--) {
        const int fast = w->axes - 1, slow = fast - 1;
        if (w->count[fast] != w->size[fast] || w->place[slow] != w->count[fast] * w->place[fast])
            return;
        w->first[slow] *= w->size[fast];
        w->count[slow] *= w->size[fast];
        w->size[slow] *= w->size[fast];
        w->place[slow] = w->place[fast];
    }
}

static walk begin(const motet_store_info *info, int fortran, const int64_t *first,
                  const int64_t *count)
{
    walk w = {.axes = info->axes};
    int64_t place = 1, stride = 1;
    for (int i = w.axes - 1; i >= 0; i--) {
        const int axis = fortran ? w.axes - 1 - i : i;
        w.size[axis] = info->shape[i];
        w.first[axis] = first[i];
        w.count[axis] = count[i];
        w.place[axis] = place;
        place *= count[i];
    }
    join(&w);
    for (int i = w.axes - 1; i >= 0; i--) {
        w.stride[i] = stride;
        w.at += w.first[i] * stride;
        stride *= w.size[i];
    }
    return w;
}

/* 0 when there is no further run. */
static int next_run(walk *w)
{
    for (int i = w->axes - 2; i >= 0; i--) {
        w->at += w->stride[i];
        w->to += w->place[i];
        if (++w->index[i] < w->count[i]) return 1;
        w->at -= w->stride[i] * w->count[i];
        w->to -= w->place[i] * w->count[i];
        w->index[i] = 0;
    }
    return 0;
}

static void scatter(const char *run, int64_t count, size_t element, int64_t place, char *out)
{
    const size_t step = (size_t)place * element;
#define SCATTER(type)                                                                              \
    for (int64_t i = 0; i < count; i++, out += step)                                               \
    memcpy(out, run + (size_t)i * sizeof(type), sizeof(type))
    if (place == 1)
        memcpy(out, run, (size_t)count * element);
    else
        switch (element) {
        case 1: SCATTER(uint8_t); break;
        case 2: SCATTER(uint16_t); break;
        case 4: SCATTER(uint32_t); break;
        default: SCATTER(uint64_t); break;
        }
#undef SCATTER
}

motet_status box_read(motet_store *s, box_source source, const box_layout *layout,
                      const int64_t *first, const int64_t *count, void *out)
{
    walk w = begin(&s->info, layout->fortran, first, count);
    const size_t element = kind_bytes(s->kind);
    const int64_t bytes = (int64_t)element, most = BUFFER / bytes;
    const int64_t run = w.count[w.axes - 1], place = w.place[w.axes - 1];
    char *buffer = NULL;
    motet_status st = MOTET_OK;
    for (int more = 1; more;) {
        walk from = w; /* runs from here up to `w` are read in one go */
        int64_t end = w.at + run, runs = 1;
        while ((more = next_run(&w)) && w.at + run - from.at <= most &&
               (w.at - end) * bytes <= GAP) {
            end = w.at + run;
            runs++;
        }
        if (runs == 1 && place == 1) {
            TRY_GOTO(source.read(source.from, layout->begin + from.at * bytes,
                                 (size_t)run * element, (char *)out + from.to * bytes));
            continue;
        }
        if (!buffer) {
            const int64_t whole = box_elements(s->info.axes, s->info.shape);
            buffer = mem_alloc(s->context, (size_t)(whole < most ? whole : most) * element);
            if (!buffer)
                TRY_GOTO(fail(s->context, MOTET_NO_MEMORY, "%s: no memory to read a part of it",
                              s->path));
        }
        if (runs == 1) { /* of any length */
            for (int64_t i = 0; i < run; i += most) {
                const int64_t part = run - i < most ? run - i : most;
                TRY_GOTO(source.read(source.from, layout->begin + (from.at + i) * bytes,
                                     (size_t)part * element, buffer));
                scatter(buffer, part, element, place, (char *)out + (from.to + i * place) * bytes);
            }
            continue;
        }
        TRY_GOTO(source.read(source.from, layout->begin + from.at * bytes,
                             (size_t)(end - from.at) * element, buffer));
        const int64_t start = from.at;
        for (; runs; runs--, next_run(&from))
            scatter(buffer + (from.at - start) * bytes, run, element, place,
                    (char *)out + from.to * bytes);
    }
    if (layout->swap) convert_swap(out, box_elements(s->info.axes, count), element);
out:
    mem_free(s->context, buffer);
    return st;
}
