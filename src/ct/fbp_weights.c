/* The angle that each view of a scan stands for. */
#include "ct/geometry.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/mem.h"
#include "kern/exact.h"

static const double pi = 3.14159265358979323846;
static const double same_direction = 1e-6;            /* radians */
static const double least_wedge = 0.5235987755982988; /* 30 degrees */
static const double wedge_gaps = 8.0;                 /* and as many median gaps */

typedef struct direction {
    double angle; /* modulo pi */
    int64_t view;
} direction;

static int ascending(const void *a, const void *b)
{
    const direction *x = a, *y = b;
    if (x->angle != y->angle) return x->angle < y->angle ? -1 : 1;
    return (x->view > y->view) - (x->view < y->view);
}

static int ascending_real(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* [0, pi); what is as good as pi is 0, so that the views at both ends of a half turn meet. */
static double modulo_pi(double angle)
{
    double r = angle - pi * k_floor(angle / pi);
    if (r < 0.0) r += pi;
    return r >= pi - same_direction ? 0.0 : r;
}

/* Directions in ascending order; number[i]: the group that direction i belongs to, its angle that
 * of the first. Answers the number of groups. */
static int64_t group(const direction *sorted, int64_t views, int64_t *number, double *angle)
{
    int64_t groups = 0;
    for (int64_t i = 0; i < views; i++) {
        if (i == 0 || sorted[i].angle - angle[groups - 1] > same_direction)
            angle[groups++] = sorted[i].angle;
        number[i] = groups - 1;
    }
    return groups;
}

motet_status ct_view_weights(motet_context *context, const double *angles, int64_t views,
                             double *weights, double *wedge)
{
    motet_status st = MOTET_OK;
    direction *sorted = mem_array(context, direction, views);
    int64_t *number = mem_array(context, int64_t, views);
    int64_t *members = mem_array(context, int64_t, views);
    double *angle = mem_array(context, double, views);
    double *gap = mem_array(context, double, views); /* from each group to the next */
    double *ordered = mem_array(context, double, views);
    if (!sorted || !number || !members || !angle || !gap || !ordered) {
        st = fail(context, MOTET_NO_MEMORY, "no memory for the weights of %lld views",
                  (long long)views);
        goto out;
    }
    for (int64_t k = 0; k < views; k++) sorted[k] = (direction){modulo_pi(angles[k]), k};
    qsort(sorted, (size_t)views, sizeof *sorted, ascending);
    const int64_t groups = group(sorted, views, number, angle);
    for (int64_t k = 0; k < views; k++) members[number[k]]++;

    for (int64_t i = 0; i < groups; i++) {
        gap[i] = i + 1 < groups ? angle[i + 1] - angle[i] : angle[0] + pi - angle[i];
        ordered[i] = gap[i];
    }
    qsort(ordered, (size_t)groups, sizeof *ordered, ascending_real);
    const double median = ordered[groups / 2];
    *wedge = 0.0;
    for (int64_t i = 0; i < groups; i++)
        if (gap[i] > least_wedge && gap[i] > wedge_gaps * median) {
            *wedge = gap[i] > *wedge ? gap[i] : *wedge;
            gap[i] = median;
        }
    for (int64_t k = 0; k < views; k++) {
        const int64_t i = number[k];
        const double before = gap[i ? i - 1 : groups - 1];
        weights[sorted[k].view] = 0.5 * (before + gap[i]) / (double)members[i];
    }
out:
    mem_free(context, sorted);
    mem_free(context, number);
    mem_free(context, members);
    mem_free(context, angle);
    mem_free(context, gap);
    mem_free(context, ordered);
    return st;
}
