/* Directions of views: sorted around a circle, the gaps between them, and what can only be degrees.
 */
#ifndef MOTET_CT_DIRECTIONS_H
#define MOTET_CT_DIRECTIONS_H

#include <stdint.h>

#define CT_TURN      0x1.921fb54442d18p+2
#define CT_HALF_TURN 0x1.921fb54442d18p+1

typedef struct direction {
    double angle; /* in [0, period) */
    int64_t view;
} direction;

/* The angle in [0, period). */
double direction_modulo(double angle, double period);
/* Angles modulo the period, ascending, equal ones in the order of views. What lies within `fold`
 * below the period counts as 0, so that views at both ends of a turn meet. */
void directions_sort(const double *angles, int64_t views, double period, double fold,
                     direction *out);
/* The gap from direction i to the next, around the period. */
double directions_gap(const direction *sorted, int64_t count, int64_t i, double period);
/* The median gap; those of views measured twice say nothing about the step and are left out.
 * `room` holds `count` values. */
double directions_median_gap(const direction *sorted, int64_t count, double period, double *room);

/* 1 if angles, read as radians, make more than three turns: no scan does, so they are degrees.
 * Tells the least and the greatest. */
int directions_look_like_degrees(const double *angles, int64_t views, double *least, double *most);

#endif
