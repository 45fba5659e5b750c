/* The chords of a ray across a block of slabs [begin, end) of s, in ascending order along s.
 *
 * A merge of the ray's crossings with planes of s and of f, so that every column with a chord
 * comes, with the chord that ct_column_clip gives, and no other. */
#ifndef MOTET_CT_COLUMNS_TRACE_K_H
#define MOTET_CT_COLUMNS_TRACE_K_H

#include "ct/beam/columns.k.h"

typedef struct ct_trace {
    ct_ray ray;
    int axis_s, axis_f;
    int64_t s, end, f, size, step; /* column at hand; f in [0, size) goes by `step` */
    ct_real first, last;
    ct_real a, b, p, q; /* t where the ray enters and leaves the slabs s and f */
} ct_trace;

/* A whole number at or below a, within [low, high]. */
K_FN int64_t ct_below(double a, int64_t low, int64_t high)
{
    return (int64_t)k_min(k_max(k_floor(a), (double)low), (double)high);
}

K_FN ct_trace ct_trace_of(const ct_space *space, const ct_pose *pose, int64_t u, int64_t begin,
                          int64_t end)
{
    ct_trace w;
    w.ray = ct_ray_of(space, pose, u, 0);
    w.axis_s = (int)space->s;
    w.axis_f = (int)space->f;
    w.size = space->n[space->f];
    w.end = end;
    w.step = w.ray.inverse[w.axis_f] < 0.0 ? -1 : 1;
    w.first = (ct_real)w.ray.first;
    w.last = (ct_real)w.ray.last;
    /* Start where the ray is when it is within the segment, the block and f's range at last, and a
     * cell before, so that rounding misses none: the merge skips what has no chord. */
    const double enter_f = ct_cross(&w.ray, w.axis_f, w.step > 0 ? 0 : w.size);
    double t = k_max(k_max(w.ray.first, enter_f), ct_cross(&w.ray, w.axis_s, begin));
    t = k_min(t, w.ray.last);
    w.s = ct_below(k_fma(t, w.ray.d[w.axis_s], w.ray.o[w.axis_s]) - 1.0, begin, end);
    w.f = ct_below(k_fma(t, w.ray.d[w.axis_f], w.ray.o[w.axis_f]) - (double)w.step, 0, w.size - 1);
    w.a = (ct_real)ct_cross(&w.ray, w.axis_s, w.s);
    w.b = (ct_real)ct_cross(&w.ray, w.axis_s, w.s + 1);
    w.p = (ct_real)ct_cross(&w.ray, w.axis_f, w.step > 0 ? w.f : w.f + 1);
    w.q = (ct_real)ct_cross(&w.ray, w.axis_f, w.step > 0 ? w.f + 1 : w.f);
    return w;
}

/* 0: there are no more. */
K_FN int ct_trace_next(ct_trace *w, int64_t *s, int64_t *f, ct_piece *chord)
{
    while (w->s < w->end && w->f >= 0 && w->f < w->size && w->a < w->last) {
        *s = w->s;
        *f = w->f;
        chord->t0 = ct_most(ct_most(w->a, w->p), w->first);
        chord->t1 = ct_least(ct_least(w->b, w->q), w->last);
        if (w->q < w->b) {
            w->f += w->step;
            w->p = w->q;
            w->q = (ct_real)ct_cross(&w->ray, w->axis_f, w->step > 0 ? w->f + 1 : w->f);
        } else {
            w->s++;
            w->a = w->b;
            w->b = (ct_real)ct_cross(&w->ray, w->axis_s, w->s + 1);
        }
        if (chord->t1 > chord->t0) return 1;
    }
    return 0;
}

#endif
