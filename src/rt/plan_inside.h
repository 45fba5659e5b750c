/* What the planner's files share. */
#ifndef MOTET_RT_PLAN_INSIDE_H
#define MOTET_RT_PLAN_INSIDE_H

#include "rt/plan.h"

/* Sums and products that stay at INT64_MAX instead of overflowing; operands are not negative. */
static inline int64_t plan_add(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}
static inline int64_t plan_mul(int64_t a, int64_t b)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

/* A positive number of rows, rounded up to the grain and bounded by the extent. */
int64_t plan_round_rows(int64_t rows, int64_t grain, int64_t extent);
static inline int64_t plan_pieces(int64_t extent, int64_t rows)
{
    return extent ? (extent - 1) / rows + 1 : 0;
}
static inline int64_t plan_extent(const rt_op *op, int axis)
{
    return axis < op->axes ? op->extent[axis] : 1;
}

/* Bytes that the workers of a device need for themselves. */
int64_t plan_scratch(const rt_op *op, const rt_plan_device *device);
/* Pieces, chunks, blocks, slots, ring and bytes of a share whose first, rows and cut are set, with
 * at most so many slots and places of the ring. */
void plan_measure(const rt_op *op, const rt_plan_device *device, int slots, int ring,
                  rt_share *share);
/* 1: the stream comes from a source, so that each chunk reads all of it once more, and few chunks
 * are worth more than what they overlap with each other. */
int plan_rereads(const rt_op *op);
/* The part of an axis that is the share's. */
static inline int64_t plan_share_extent(const rt_op *op, const rt_share *share, int axis)
{
    return axis == share->axis ? share->rows : plan_extent(op, axis);
}
/* Bytes that move for one row of an axis. */
int64_t plan_row_bytes(const rt_op *op, int axis);
/* The cut of a share on a device of so many workers (0: unknown) that uses arrays in place. */
void plan_cut_in_place(const rt_op *op, const rt_cut *asked, int64_t workers, rt_share *share);
/* The largest chunks of at most `most` rows of the shared axis that fit share->limit, with staging
 * that fits `staging`. */
motet_status plan_cut_to_fit(motet_context *c, const rt_op *op, const rt_plan_device *device,
                             const rt_plan_options *options, int64_t most, int64_t staging,
                             rt_share *share);

/* First and rows of every share. */
motet_status plan_shares(motet_context *c, const rt_op *op, const rt_plan_device *devices,
                         int count, const rt_plan_options *options, rt_plan *plan);

#endif
