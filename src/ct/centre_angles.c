/* Which views are neighbours, and which are opposite. */
#include "ct/centre.h"

#include <stdlib.h>

#include "base/log.h"
#include "kern/convert.h"

double centre_modulo(double a, double period)
{
    double rest = a - k_floor(a / period) * period;
    if (rest < 0.0) rest += period;
    if (rest >= period) rest -= period;
    return rest;
}

static int compare_angles(const void *a, const void *b)
{
    const sorted_angle *x = a, *y = b;
    if (x->angle != y->angle) return x->angle < y->angle ? -1 : 1;
    return x->view < y->view ? -1 : x->view > y->view;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

void centre_sort_angles(finder *f, double period)
{
    for (int64_t k = 0; k < f->views; k++)
        f->order[k] = (sorted_angle){centre_modulo(f->angles[k], period), k};
    qsort(f->order, (size_t)f->views, sizeof *f->order, compare_angles);
}

/* Gap from sorted angle i to the next, around the period. */
static double gap_after(const finder *f, int64_t i, double period)
{
    return i + 1 < f->views ? f->order[i + 1].angle - f->order[i].angle
                            : f->order[0].angle + period - f->order[i].angle;
}

static double median_gap(finder *f, double period)
{
    double *gaps = f->phase_re; /* free at this time */
    for (int64_t i = 0; i < f->views; i++) gaps[i] = gap_after(f, i, period);
    qsort(gaps, (size_t)f->views, sizeof *gaps, compare_doubles);
    /* Views measured twice leave gaps of zero, which say nothing about the step. */
    int64_t zero = 0;
    while (zero < f->views - 1 && gaps[zero] < 1e-9) zero++;
    return gaps[zero + (f->views - zero) / 2];
}

/* Weights for the wedge, and a word about holes. */
void centre_weigh_views(finder *f)
{
    centre_sort_angles(f, CENTRE_HALF_TURN);
    const double step = median_gap(f, CENTRE_HALF_TURN);
    double widest = 0.0, before = gap_after(f, f->views - 1, CENTRE_HALF_TURN);
    for (int64_t i = 0; i < f->views; i++) {
        const double after = gap_after(f, i, CENTRE_HALF_TURN);
        f->weight[f->order[i].view] = 0.5 * (before + after);
        before = after;
        widest = after > widest ? after : widest;
    }
    if (widest > 5.0 * step && widest > 0.1)
        log_warning(f->context, "ct.centre",
                    "the views leave a gap of %lld degrees: the centre may be off",
                    (long long)(widest / CENTRE_HALF_TURN * 180.0));
}

/* The opposite of every view that has one: a view, or two neighbours to interpolate between. */
void centre_find_mirrors(finder *f)
{
    centre_sort_angles(f, CENTRE_TURN);
    const double step = median_gap(f, CENTRE_TURN), exact = 1e-6;
    f->mirror_count = 0;
    for (int64_t k = 0; k < f->views; k++) {
        const double want = centre_modulo(f->angles[k] + CENTRE_HALF_TURN, CENTRE_TURN);
        int64_t from = 0, to = f->views; /* first sorted angle >= want */
        while (from < to) {
            const int64_t middle = from + (to - from) / 2;
            if (f->order[middle].angle < want)
                from = middle + 1;
            else
                to = middle;
        }
        const int64_t high = from % f->views, low = (high + f->views - 1) % f->views;
        const double below = centre_modulo(want - f->order[low].angle, CENTRE_TURN);
        const double above = centre_modulo(f->order[high].angle - want, CENTRE_TURN);
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
