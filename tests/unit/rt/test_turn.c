/* Turns: first come, first served, two chunks each, and no way to wait for ever. */
#include "rt/turn.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "base/context.h"
#include "support/support.h"

enum { WAITERS = 6 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void until_so_many_wait(motet_context *c, int count)
{
    while (rt_turns_waiting(c) != count) nanosleep(&(struct timespec){0, 100000}, NULL);
}

static void alone_a_turn_is_kept(void **state)
{
    (void)state;
    motet_context *c = test_context();
    rt_turn turn = {0};
    rt_turn_give(&turn); /* legal before it is taken */
    assert_ok(c, rt_turn_take(c, &turn, NULL));
    assert_int_equal(turn.ticket, 1);
    for (int i = 0; i < 9; i++) {
        assert_int_equal(rt_turn_over(&turn, 0), 0);
        assert_true(turn.chunks[0] < RT_TURN_CHUNKS);
    }
    assert_int_equal(rt_turn_wanted(&turn), 0);
    rt_turn_give(&turn);
    rt_turn_give(&turn);
    assert_int_equal(rt_turn_wanted(&turn), 0);
    assert_ok(c, rt_turn_take(c, &turn, NULL));
    assert_int_equal(turn.ticket, 2);
    assert_int_equal(turn.chunks[0], 0);
    rt_turn_give(&turn);
    motet_context_free(c);
}

typedef struct waiter {
    motet_context *context;
    pthread_t thread;
    rt_turn turn;
    atomic_int *served; /* how many before it */
    int place, with_phase;
    motet_status status;
    double seconds;
} waiter;

static void *take_and_give(void *user)
{
    waiter *w = user;
    log_phase phase = log_phase_begin(w->context, "wait", 5);
    const double start = now();
    w->status = rt_turn_take(w->context, &w->turn, w->with_phase ? &phase : NULL);
    w->seconds = now() - start;
    if (w->status != MOTET_OK) return NULL; /* nothing is left to give */
    w->place = atomic_fetch_add(w->served, 1);
    rt_turn_give(&w->turn);
    return NULL;
}

static void begin(waiter *w, motet_context *c, atomic_int *served, int with_phase)
{
    *w = (waiter){.context = c, .served = served, .place = -1, .with_phase = with_phase};
    assert_int_equal(pthread_create(&w->thread, NULL, take_and_give, w), 0);
}

static void two_chunks_on_each_device_when_somebody_waits(void **state)
{
    (void)state;
    motet_context *c = test_context();
    atomic_int served = 0;
    rt_turn turn = {0};
    assert_ok(c, rt_turn_take(c, &turn, NULL));
    assert_int_equal(rt_turn_over(&turn, 0), 0); /* before anybody came */
    waiter w;
    begin(&w, c, &served, 0);
    until_so_many_wait(c, 1);
    assert_int_equal(rt_turn_wanted(&turn), 1);
    assert_int_equal(rt_turn_over(&turn, 0), 1);
    assert_int_equal(rt_turn_over(&turn, 1), 0);
    assert_int_equal(rt_turn_over(&turn, 1), 1);
    assert_int_equal(rt_turn_over(&turn, 1), 1);
    assert_int_equal(atomic_load(&served), 0);
    rt_turn_give(&turn);
    assert_ok(c, rt_turn_take(c, &turn, NULL)); /* rejoins at the tail */
    assert_int_equal(atomic_load(&served), 1);
    assert_int_equal(turn.ticket, 3);
    rt_turn_give(&turn);
    pthread_join(w.thread, NULL);
    assert_int_equal(w.status, MOTET_OK);
    motet_context_free(c);
}

static void tickets_are_served_in_the_order_drawn(void **state)
{
    (void)state;
    motet_context *c = test_context();
    atomic_int served = 0;
    rt_turn turn = {0};
    assert_ok(c, rt_turn_take(c, &turn, NULL));
    waiter w[WAITERS];
    for (int i = 0; i < WAITERS; i++) {
        begin(&w[i], c, &served, i % 2);
        until_so_many_wait(c, i + 1);
    }
    rt_turn_give(&turn);
    for (int i = 0; i < WAITERS; i++) {
        pthread_join(w[i].thread, NULL);
        assert_int_equal(w[i].status, MOTET_OK);
        assert_int_equal(w[i].place, i);
        assert_int_equal(w[i].turn.ticket, i + 2);
    }
    motet_context_free(c);
}

/* Not at its next look, which is 10 ms after it began to wait. */
static void the_next_one_is_woken_at_once(void **state)
{
    (void)state;
    motet_context *c = test_context();
    double best = 1;
    for (int i = 0; i < 20; i++) {
        atomic_int served = 0;
        rt_turn turn = {0};
        assert_ok(c, rt_turn_take(c, &turn, NULL));
        waiter w;
        begin(&w, c, &served, 1);
        until_so_many_wait(c, 1);
        nanosleep(&(struct timespec){0, 1000000}, NULL);
        rt_turn_give(&turn);
        pthread_join(w.thread, NULL);
        if (w.seconds < best) best = w.seconds;
    }
    print_message("woken %.2f ms after it began to wait\n", 1e3 * best);
    assert_true(best < 5e-3);
    motet_context_free(c);
}

/* Every second one hears of it; the others are served in their order all the same. */
static void a_cancelled_ticket_leaves_the_queue(void **state)
{
    (void)state;
    motet_context *c = test_context();
    atomic_int served = 0;
    rt_turn turn = {0};
    assert_ok(c, rt_turn_take(c, &turn, NULL));
    waiter w[WAITERS];
    for (int i = 0; i < WAITERS; i++) {
        begin(&w[i], c, &served, i % 2);
        until_so_many_wait(c, i + 1);
    }
    const double start = now();
    motet_context_cancel(c);
    for (int i = 1; i < WAITERS; i += 2) {
        pthread_join(w[i].thread, NULL);
        assert_int_equal(w[i].status, MOTET_CANCELLED);
        assert_int_equal(w[i].place, -1);
    }
    print_message("cancelled after %.1f ms\n", 1e3 * (now() - start));
    assert_true(now() - start < 1); /* 20 ms where the machine is free */
    assert_message(c, "wait: cancelled after 0 of 5", NULL);
    assert_int_equal(rt_turns_waiting(c), WAITERS / 2);
    rt_turn_give(&turn);
    for (int i = 0; i < WAITERS; i += 2) {
        pthread_join(w[i].thread, NULL);
        assert_int_equal(w[i].place, i / 2);
    }
    assert_ok(c, rt_turn_take(c, &turn, NULL));
    rt_turn_give(&turn);
    motet_context_free(c);
}

static void taking_it_again_is_refused_not_waited_for(void **state)
{
    (void)state;
    motet_context *c = test_context();
    rt_turn turn = {0}, inner = {0};
    assert_ok(c, rt_turn_take(c, &turn, NULL));
    assert_status(c, rt_turn_take(c, &inner, NULL), MOTET_INTERNAL);
    assert_message(c, "callbacks must not run operations", NULL);
    assert_status(c, rt_turn_take(c, &turn, NULL), MOTET_INTERNAL);
    rt_turn_give(&inner);
    assert_int_equal(turn.ticket, 1);
    motet_context *other = test_context(); /* has devices of its own */
    assert_ok(other, rt_turn_take(other, &inner, NULL));
    rt_turn_give(&inner);
    motet_context_free(other);
    rt_turn_give(&turn);
    assert_ok(c, rt_turn_take(c, &turn, NULL));
    rt_turn_give(&turn);
    motet_context_free(c);
}

typedef struct caller {
    motet_context *context;
    motet_status status;
    atomic_int calls;
} caller;

/* Called while its thread waits: a run begun here would wait behind the one that called. */
static motet_go run_from_within(const motet_progress *progress, void *user)
{
    caller *one = user;
    rt_turn turn = {0};
    assert_int_equal(progress->done, 0);
    one->status = rt_turn_take(one->context, &turn, NULL);
    atomic_fetch_add(&one->calls, 1);
    return MOTET_STOP;
}

static void the_callback_is_heard_while_waiting(void **state)
{
    (void)state;
    caller one = {.status = MOTET_OK};
    motet_context_options options;
    motet_context_options_init(&options);
    options.progress = run_from_within;
    options.progress_user = &one;
    motet_context *c = NULL;
    assert_int_equal(motet_context_create(&options, &c), MOTET_OK);
    one.context = c;
    atomic_int served = 0;
    rt_turn turn = {0};
    assert_ok(c, rt_turn_take(c, &turn, NULL));
    waiter w;
    begin(&w, c, &served, 1);
    pthread_join(w.thread, NULL);
    assert_int_equal(w.status, MOTET_CANCELLED);
    assert_int_equal(atomic_load(&one.calls), 1);
    assert_int_equal(one.status, MOTET_INTERNAL);
    assert_int_equal(rt_turns_waiting(c), 0);
    rt_turn_give(&turn);
    motet_context_free(c);
}

/* Unguarded but for the turn: the thread sanitizer looks, too. */
static int64_t inside, sum;

static void *take_often(void *user)
{
    motet_context *c = user;
    rt_turn turn = {0};
    for (int i = 0; i < 300; i++) {
        log_phase phase = log_phase_begin(c, "often", 1);
        if (rt_turn_take(c, &turn, &phase) != MOTET_OK) return NULL;
        inside++;
        if (inside == 1) sum++;
        inside--;
        rt_turn_give(&turn);
    }
    return NULL;
}

static void one_at_a_time(void **state)
{
    (void)state;
    motet_context *c = test_context();
    pthread_t thread[WAITERS];
    inside = sum = 0;
    for (int i = 0; i < WAITERS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, take_often, c), 0);
    for (int i = 0; i < WAITERS; i++) pthread_join(thread[i], NULL);
    assert_int_equal(sum, 300 * WAITERS);
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone_a_turn_is_kept),
        cmocka_unit_test(two_chunks_on_each_device_when_somebody_waits),
        cmocka_unit_test(tickets_are_served_in_the_order_drawn),
        cmocka_unit_test(the_next_one_is_woken_at_once),
        cmocka_unit_test(a_cancelled_ticket_leaves_the_queue),
        cmocka_unit_test(taking_it_again_is_refused_not_waited_for),
        cmocka_unit_test(the_callback_is_heard_while_waiting),
        cmocka_unit_test(one_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
