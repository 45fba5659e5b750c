/* One list in the order of tickets; its head holds the turn. So to give, to be cancelled and to be
 * served are the same step: a ticket leaves the list. */
#include "rt/turn.h"

#include <string.h>
#include <time.h>

#include "base/context.h"
#include "base/fail.h"
#include "base/mem.h"

struct rt_turns {
    pthread_mutex_t lock; /* nothing is called while it is held */
    pthread_cond_t moved; /* the head of the list is another one */
    rt_turn *head, *tail;
    uint64_t tickets;
};

static const int64_t look = 10000000; /* nanoseconds between two looks at the phase */

motet_status rt_turns_create(motet_context *c)
{
    rt_turns *q = mem_new(c, rt_turns);
    if (!q) return fail(c, MOTET_NO_MEMORY, "no memory for the queue of turns");
    pthread_condattr_t how;
    int failed = pthread_condattr_init(&how);
    if (!failed) {
        pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
        failed = pthread_cond_init(&q->moved, &how);
        pthread_condattr_destroy(&how);
    }
    if (!failed && pthread_mutex_init(&q->lock, NULL)) {
        pthread_cond_destroy(&q->moved);
        failed = 1;
    }
    if (failed) {
        mem_free(c, q);
        return fail(c, MOTET_NO_MEMORY, "the system gives no lock for the queue of turns");
    }
    c->turns = q;
    return MOTET_OK;
}

void rt_turns_free(motet_context *c)
{
    rt_turns *q = c->turns;
    if (!q) return;
    pthread_mutex_destroy(&q->lock);
    pthread_cond_destroy(&q->moved);
    mem_free(c, q);
    c->turns = NULL;
}

static void leave(rt_turns *q, rt_turn *turn)
{
    rt_turn **at = &q->head, *before = NULL;
    while (*at != turn) {
        before = *at;
        at = &before->next;
    }
    *at = turn->next;
    if (q->tail == turn) q->tail = before;
    if (!before && q->head) pthread_cond_broadcast(&q->moved);
    turn->context = NULL;
}

static int this_thread_is_in(const rt_turns *q)
{
    for (const rt_turn *t = q->head; t; t = t->next)
        if (pthread_equal(t->thread, pthread_self())) return 1;
    return 0;
}

static void sleep_a_little(rt_turns *q)
{
    struct timespec until; /* by the system's clock, whatever the context's is: so others run */
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += look;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&q->moved, &q->lock, &until);
}

/* With the lock held: draws a ticket. */
static void join(motet_context *c, rt_turn *turn)
{
    rt_turns *q = c->turns;
    *turn = (rt_turn){.context = c, .thread = pthread_self(), .ticket = ++q->tickets};
    if (q->tail)
        q->tail->next = turn;
    else
        q->head = turn;
    q->tail = turn;
}

/* With the lock held, which is free while the phase is asked. */
static motet_status wait_for(rt_turns *q, rt_turn *turn, log_phase *phase)
{
    while (q->head != turn) {
        sleep_a_little(q);
        if (q->head == turn || !phase) continue;
        pthread_mutex_unlock(&q->lock);
        const motet_status st = log_phase_look(phase);
        pthread_mutex_lock(&q->lock);
        if (st == MOTET_OK) continue;
        leave(q, turn);
        return st;
    }
    return MOTET_OK;
}

motet_status rt_turn_take(motet_context *c, rt_turn *turn, log_phase *phase)
{
    rt_turns *q = c->turns;
    pthread_mutex_lock(&q->lock);
    if (this_thread_is_in(q)) {
        pthread_mutex_unlock(&q->lock);
        return fail(c, MOTET_INTERNAL,
                    "an operation was begun on a thread that is inside another one of the same "
                    "context, and would wait for itself: callbacks must not run operations");
    }
    join(c, turn);
    const motet_status st = wait_for(q, turn, phase);
    pthread_mutex_unlock(&q->lock);
    return st;
}

motet_status rt_turn_pass(rt_turn *turn, log_phase *phase)
{
    motet_context *c = turn->context;
    rt_turns *q = c->turns;
    pthread_mutex_lock(&q->lock);
    leave(q, turn);
    join(c, turn);
    const motet_status st = wait_for(q, turn, phase);
    pthread_mutex_unlock(&q->lock);
    return st;
}

int rt_turn_wanted(const rt_turn *turn)
{
    if (!turn->context) return 0;
    rt_turns *q = turn->context->turns;
    pthread_mutex_lock(&q->lock);
    const int wanted = turn->next != NULL;
    pthread_mutex_unlock(&q->lock);
    return wanted;
}

int rt_turn_over(rt_turn *turn, int device)
{
    if (++turn->chunks[device] < RT_TURN_CHUNKS) return 0;
    if (rt_turn_wanted(turn)) return 1;
    turn->chunks[device] = 0;
    return 0;
}

void rt_turn_give(rt_turn *turn)
{
    if (!turn->context) return;
    rt_turns *q = turn->context->turns;
    pthread_mutex_lock(&q->lock);
    leave(q, turn);
    pthread_mutex_unlock(&q->lock);
}

int rt_turns_waiting(motet_context *c)
{
    rt_turns *q = c->turns;
    int waiting = 0;
    pthread_mutex_lock(&q->lock);
    for (const rt_turn *t = q->head; t && t->next; t = t->next) waiting++;
    pthread_mutex_unlock(&q->lock);
    return waiting;
}
