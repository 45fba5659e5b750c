/* Turns: which of the runs of a context may use its devices. One run at a time holds the whole
 * device set; the others wait in the order of their tickets. A turn dispatches at most
 * RT_TURN_CHUNKS chunks on each device; then, if somebody waits, the run drains what is in flight,
 * gives the turn, and takes another, at the tail.
 *
 *     TRY(rt_turn_take(c, &turn, &phase));
 *     ... dispatch a chunk on device i; if (rt_turn_over(&turn, i)) no more on it in this turn ...
 *     ... drain; TRY(rt_turn_pass(&turn, &phase)); ... rt_turn_give(&turn);
 *
 * Waiting holds no lock, and every exit must give: that is the whole protocol
 * (tests/model/turn.pml). */
#ifndef MOTET_RT_TURN_H
#define MOTET_RT_TURN_H

#include <pthread.h>

#include "base/log.h"
#include "rt/devices.h"

enum { RT_TURN_CHUNKS = 2 };

typedef struct rt_turns rt_turns; /* the queue, in the context */

typedef struct rt_turn { /* the run's; all 0: not held. It must stay in place while it is held */
    motet_context *context;
    struct rt_turn *next; /* who drew the next ticket */
    pthread_t thread;
    uint64_t ticket;        /* from 1, in the order drawn; kept after giving */
    int chunks[RT_DEVICES]; /* dispatched in this turn on each device of the context */
} rt_turn;

/* Of a new context. NO_MEMORY. */
motet_status rt_turns_create(motet_context *context);
void rt_turns_free(motet_context *context); /* nobody may hold or wait */

/* Draws a ticket and waits until all earlier ones are given back. Meanwhile the phase (NULL: none)
 * makes its progress calls and is asked whether to stop, every 10 ms. CANCELLED, or what else the
 * phase answers: the ticket is given back. INTERNAL: this thread holds a turn of the context or
 * waits for one, so that it would wait for itself: a callback must not run operations. */
motet_status rt_turn_take(motet_context *context, rt_turn *turn, log_phase *phase);
/* One more chunk is dispatched on the device (its index in the context's set). 1: that was its last
 * in this turn, as somebody waits. While nobody does, its count restarts. */
int rt_turn_over(rt_turn *turn, int device);
/* 1: somebody waits for this turn to be given. */
int rt_turn_wanted(const rt_turn *turn);
/* Gives it and draws the next ticket in one step, so that nobody who comes later is served before;
 * waits as rt_turn_take does. */
motet_status rt_turn_pass(rt_turn *turn, log_phase *phase);
/* The next ticket's turn begins. Legal when it is not held. */
void rt_turn_give(rt_turn *turn);

/* How many wait now, for tests. */
int rt_turns_waiting(motet_context *context);

#endif
