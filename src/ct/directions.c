/* Views around a circle: the centre finder asks for neighbours and opposites, the weights of
 * filtered back-projection for gaps; both see the same order. */
#include "ct/directions.h"

#include <stdlib.h>

#include "kern/convert.h"

static const double same_view = 1e-9;           /* radians: measured twice */
static const double most_radians = 3 * CT_TURN; /* of a scan */

double direction_modulo(double angle, double period)
{
    double rest = angle - k_floor(angle / period) * period;
    if (rest < 0.0) rest += period;
    if (rest >= period) rest -= period;
    return rest;
}

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

void directions_sort(const double *angles, int64_t views, double period, double fold,
                     direction *out)
{
    for (int64_t k = 0; k < views; k++) {
        const double angle = direction_modulo(angles[k], period);
        out[k] = (direction){angle >= period - fold ? 0.0 : angle, k};
    }
    qsort(out, (size_t)views, sizeof *out, ascending);
}

double directions_gap(const direction *sorted, int64_t count, int64_t i, double period)
{
    return i + 1 < count ? sorted[i + 1].angle - sorted[i].angle
                         : sorted[0].angle + period - sorted[i].angle;
}

double directions_median_gap(const direction *sorted, int64_t count, double period, double *room)
{
    for (int64_t i = 0; i < count; i++) room[i] = directions_gap(sorted, count, i, period);
    qsort(room, (size_t)count, sizeof *room, ascending_real);
    int64_t zero = 0;
    while (zero < count - 1 && room[zero] < same_view) zero++;
    return room[zero + (count - zero) / 2];
}

int directions_look_like_degrees(const double *angles, int64_t views, double *least, double *most)
{
    *least = *most = views > 0 ? angles[0] : 0.0;
    for (int64_t k = 1; k < views; k++) {
        *least = angles[k] < *least ? angles[k] : *least;
        *most = angles[k] > *most ? angles[k] : *most;
    }
    return *most - *least > most_radians;
}
