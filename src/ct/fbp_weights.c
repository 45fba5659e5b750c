/* The angle that each view of a scan stands for. */
#include "ct/geometry.h"

#include "base/fail.h"
#include "base/mem.h"
#include "ct/directions.h"

static const double same_direction = 1e-6;            /* radians */
static const double least_wedge = 0.5235987755982988; /* 30 degrees */
static const double wedge_gaps = 8.0;                 /* and as many median gaps */

/* Directions in ascending order; number[i]: the group that direction i belongs to, group[] the
 * first of each. Answers the number of groups. */
static int64_t find_groups(const direction *sorted, int64_t views, int64_t *number,
                           direction *group)
{
    int64_t groups = 0;
    for (int64_t i = 0; i < views; i++) {
        if (i == 0 || sorted[i].angle - group[groups - 1].angle > same_direction)
            group[groups++] = sorted[i];
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
    direction *group = mem_array(context, direction, views);
    double *gap = mem_array(context, double, views); /* from each group to the next */
    double *room = mem_array(context, double, views);
    if (!sorted || !number || !members || !group || !gap || !room) {
        st = fail(context, MOTET_NO_MEMORY, "no memory for the weights of %lld views",
                  (long long)views);
        goto out;
    }
    directions_sort(angles, views, CT_HALF_TURN, same_direction, sorted);
    const int64_t groups = find_groups(sorted, views, number, group);
    for (int64_t k = 0; k < views; k++) members[number[k]]++;

    for (int64_t i = 0; i < groups; i++) gap[i] = directions_gap(group, groups, i, CT_HALF_TURN);
    const double median = directions_median_gap(group, groups, CT_HALF_TURN, room);
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
    mem_free(context, group);
    mem_free(context, gap);
    mem_free(context, room);
    return st;
}
