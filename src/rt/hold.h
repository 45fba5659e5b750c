/* What runs hold on the devices and on the host, so that those that go on at once share one budget.
 *
 * `held` of a device are the bytes that runs and resident arrays were promised there, `taken` those
 * of them that are allocated. A plan sees what is free now and what is held already; its own peak
 * is held as soon as it is made, so two runs never plan with the same bytes. */
#ifndef MOTET_RT_HOLD_H
#define MOTET_RT_HOLD_H

#include "base/log.h"
#include "rt/plan.h"

typedef struct rt_hold {        /* all 0: nothing */
    int64_t device[RT_DEVICES]; /* of each in the context's set */
    int64_t promised, drawn;    /* of the host: planned and not allocated yet; allocated */
    int64_t left; /* of the host when host_held of the options was asked for; 0: that is as it is */
    int shared;   /* the plan was refused for what other runs hold: it fits when they are done */
    int behind;   /* the plan was refused as others wait for memory, and come first */
    int planned, waits;   /* something was held; it is in the queue for memory */
    struct rt_hold *next; /* in that queue */
} rt_hold;

/* rt_plan_make for the devices index[..] of the context, whose free and reserved bytes are asked
 * anew; host_held of the options are the bytes that are allocated. Holds what the plan takes. What
 * the hold had of these devices, and of the host, is given first. While somebody else waits for
 * memory, a hold that was never planned is refused: who needs much is not kept waiting by those
 * who need little. */
motet_status rt_hold_plan(motet_context *context, const rt_op *op, rt_plan_device *devices,
                          const int *index, int count, const rt_plan_options *options,
                          rt_plan *plan, rt_hold *hold);
/* So many of the host's bytes are allocated now, or will not be. INT64_MAX: all. */
void rt_hold_drawn(motet_context *context, rt_hold *hold, int64_t bytes);
/* Bytes of the host that all runs will allocate. */
int64_t rt_hold_promised(motet_context *context);
void rt_hold_end(motet_context *context, rt_hold *hold);

/* How often something was given. Waiting until it is more often than `seen`, and no other hold has
 * waited longer; the hold stays in its place of the queue until it is planned or ended. CANCELLED,
 * or what else the phase answers: it is out of the queue. */
uint64_t rt_hold_given(motet_context *context);
motet_status rt_hold_wait(motet_context *context, rt_hold *hold, uint64_t seen, log_phase *phase);

/* More bytes (or fewer) of a device are held, or allocated. */
void rt_hold_bytes(rt_device *one, int64_t bytes);
void rt_hold_taken(rt_device *one, int64_t bytes);

#endif
