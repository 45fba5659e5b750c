/* Calls: a cancellation concerns what was under way, whole, and nothing that comes later. */
#include "base/call.h"

#include <pthread.h>

#include "base/log.h"
#include "support/support.h"

static motet_status look(motet_context *c)
{
    log_phase phase = log_phase_begin(c, "step", 1);
    return log_phase_step(&phase, 0);
}

/* Between two of its operations, and in one that is a call of its own. */
static void a_cancelled_call_begins_nothing_more(void **state)
{
    (void)state;
    motet_context *c = test_context();
    call outer, inner;
    call_begin(c, &outer);
    assert_ok(c, look(c));
    motet_context_cancel(c);
    assert_status(c, look(c), MOTET_CANCELLED);
    call_begin(c, &inner);
    assert_status(c, look(c), MOTET_CANCELLED);
    assert_int_equal(call_end(&inner, MOTET_OK), MOTET_OK);
    assert_status(c, look(c), MOTET_CANCELLED);
    assert_int_equal(call_end(&outer, MOTET_CANCELLED), MOTET_CANCELLED);
    assert_ok(c, look(c));
    call_begin(c, &outer);
    assert_ok(c, look(c));
    call_end(&outer, MOTET_OK);
    assert_null(call_under_way(c));
    motet_context_free(c);
}

static motet_go stop(const motet_progress *progress, void *user)
{
    (void)progress;
    return (*(int *)user)-- > 0 ? MOTET_STOP : MOTET_GO_ON;
}

/* A callback need not say stop twice. */
static void a_stop_is_heard_once_for_all(void **state)
{
    (void)state;
    int stops = 1;
    motet_context_options o;
    motet_context_options_init(&o);
    o.progress = stop;
    o.progress_user = &stops;
    motet_context *c = NULL;
    assert_int_equal(motet_context_create(&o, &c), MOTET_OK);
    call one;
    call_begin(c, &one);
    assert_status(c, look(c), MOTET_CANCELLED);
    assert_status(c, look(c), MOTET_CANCELLED);
    call_end(&one, MOTET_CANCELLED);
    assert_ok(c, look(c));
    motet_context_free(c);
}

typedef struct other {
    motet_context *context;
    motet_status before, after;
    call *seen;
} other;

static void *on_another_thread(void *user)
{
    other *o = user;
    o->seen = call_under_way(o->context);
    o->before = look(o->context);
    call one;
    call_begin(o->context, &one);
    o->after = look(o->context);
    call_end(&one, MOTET_OK);
    return NULL;
}

/* What another thread begins after a cancellation is its own affair. */
static void threads_have_calls_of_their_own(void **state)
{
    (void)state;
    motet_context *c = test_context();
    call one;
    other o = {.context = c};
    pthread_t thread;
    call_begin(c, &one);
    motet_context_cancel(c);
    assert_int_equal(pthread_create(&thread, NULL, on_another_thread, &o), 0);
    pthread_join(thread, NULL);
    assert_null(o.seen);
    assert_int_equal(o.before, MOTET_OK);
    assert_int_equal(o.after, MOTET_OK);
    assert_status(c, look(c), MOTET_CANCELLED);
    call_end(&one, MOTET_CANCELLED);
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_cancelled_call_begins_nothing_more),
                                       cmocka_unit_test(a_stop_is_heard_once_for_all),
                                       cmocka_unit_test(threads_have_calls_of_their_own)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
