/* Which views are neighbours, and which are opposite. */
#include "ct/centre.h"

#include "base/log.h"

/* Weights for the wedge, and a word about holes. */
void centre_weigh_views(finder *f)
{
    directions_sort(f->angles, f->views, CT_HALF_TURN, 0.0, f->order);
    const double step =
        directions_median_gap(f->order, f->views, CT_HALF_TURN, f->phase_re); /* free now */
    double widest = 0.0, before = directions_gap(f->order, f->views, f->views - 1, CT_HALF_TURN);
    for (int64_t i = 0; i < f->views; i++) {
        const double after = directions_gap(f->order, f->views, i, CT_HALF_TURN);
        f->weight[f->order[i].view] = 0.5 * (before + after);
        before = after;
        widest = after > widest ? after : widest;
    }
    if (widest > 5.0 * step && widest > 0.1)
        log_warning(f->context, "ct.centre",
                    "the views leave a gap of %lld degrees: the centre may be off",
                    (long long)(widest / CT_HALF_TURN * 180.0));
}

/* The opposite of every view that has one: a view, or two neighbours to interpolate between. */
void centre_find_mirrors(finder *f)
{
    directions_sort(f->angles, f->views, CT_TURN, 0.0, f->order);
    const double exact = 1e-6,
                 step = directions_median_gap(f->order, f->views, CT_TURN, f->phase_re);
    f->mirror_count = 0;
    for (int64_t k = 0; k < f->views; k++) {
        const double want = direction_modulo(f->angles[k] + CT_HALF_TURN, CT_TURN);
        int64_t from = 0, to = f->views; /* first sorted angle >= want */
        while (from < to) {
            const int64_t middle = from + (to - from) / 2;
            if (f->order[middle].angle < want)
                from = middle + 1;
            else
                to = middle;
        }
        const int64_t high = from % f->views, low = (high + f->views - 1) % f->views;
        const double below = direction_modulo(want - f->order[low].angle, CT_TURN);
        const double above = direction_modulo(f->order[high].angle - want, CT_TURN);
        double part;
        if (above < exact)
            part = 1.0;
        else if (below < exact)
            part = 0.0;
        else if (below + above < 2.0 * step && below + above < 0.5)
            part = below / (below + above);
        else
            continue;
        f->mirrors[f->mirror_count++] = (mirror){k, f->order[low].view, f->order[high].view, part};
    }
}
