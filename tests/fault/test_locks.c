/* A system that gives no lock, condition or thread: the right status, and nothing is left behind.
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>

#include "base/context.h"
#include "rt/turn.h"
#include "support/ports.h"
#include "support/support.h"

/* The linker gives us the calls of the library's own code. */
static int countdown, failed; /* 0: none fails */

static int fails(void)
{
    if (countdown == 0 || --countdown > 0) return 0;
    failed = 1;
    return 1;
}

int __real_pthread_condattr_init(pthread_condattr_t *how);
int __real_pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *how);
int __real_pthread_mutex_init(pthread_mutex_t *lock, const pthread_mutexattr_t *how);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *),
                          void *user);
int __wrap_pthread_condattr_init(pthread_condattr_t *how);
int __wrap_pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *how);
int __wrap_pthread_mutex_init(pthread_mutex_t *lock, const pthread_mutexattr_t *how);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *),
                          void *user);

int __wrap_pthread_condattr_init(pthread_condattr_t *how)
{
    return fails() ? ENOMEM : __real_pthread_condattr_init(how);
}

int __wrap_pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *how)
{
    return fails() ? EAGAIN : __real_pthread_cond_init(condition, how);
}

int __wrap_pthread_mutex_init(pthread_mutex_t *lock, const pthread_mutexattr_t *how)
{
    return fails() ? EAGAIN : __real_pthread_mutex_init(lock, how);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *),
                          void *user)
{
    return fails() ? EAGAIN : __real_pthread_create(thread, how, run, user);
}

static motet_status do_nothing(motet_context *c, void *user)
{
    (void)c;
    (void)user;
    return MOTET_OK;
}

static void a_job_begins_whole_or_not_at_all(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_memory before, after;
    motet_context_memory(c, &before);
    int nth = 0;
    do {
        motet_job *job = NULL;
        countdown = ++nth;
        failed = 0;
        const motet_status st = motet_job_submit(c, do_nothing, NULL, NULL, &job);
        countdown = 0;
        assert_int_equal(st, failed ? MOTET_NO_MEMORY : MOTET_OK);
        if (failed) {
            assert_null(job);
            assert_message(c, "the system gives no", NULL);
        } else {
            assert_int_equal(motet_job_wait(job, INFINITY), MOTET_OK);
            motet_job_free(job);
        }
        motet_context_memory(c, &after);
        assert_int_equal(after.blocks, before.blocks);
        assert_null(c->jobs);
    } while (failed);
    assert_int_equal(nth, 5); /* attribute, condition, lock, thread; then all are given */
    motet_context_free(c);
}

static void the_queue_of_turns_is_made_whole_or_not_at_all(void **state)
{
    (void)state;
    motet_context *c = test_context();
    rt_turns_free(c);
    rt_turns_free(c); /* legal without one */
    motet_memory before, after;
    motet_context_memory(c, &before);
    int nth = 0;
    for (;;) {
        countdown = ++nth;
        failed = 0;
        const motet_status st = rt_turns_create(c);
        countdown = 0;
        assert_int_equal(st, failed ? MOTET_NO_MEMORY : MOTET_OK);
        if (!failed) break;
        motet_context_memory(c, &after);
        assert_int_equal(after.blocks, before.blocks);
        assert_null(c->turns);
    }
    assert_int_equal(nth, 4);
    motet_context_free(c);
}

static void a_run_without_a_thread_to_read_ahead_reads_by_itself(void **state)
{
    (void)state;
    motet_context *c = test_context();
    int nth = 0;
    do {
        ports_case p;
        ports_case_make(c, PORTS_SOURCE, 11, 9, &p);
        for (int i = 0; i < PORTS_ARRAYS; i++) p.source[i].source.apart = 1;
        countdown = ++nth;
        failed = 0;
        const motet_status st = rt_run(c, &p.op);
        countdown = 0;
        assert_ok(c, st);
        assert_true(ports_right(&p));
        ports_case_free(&p);
    } while (failed);
    assert_int_equal(nth, 7); /* attribute, two conditions, two locks, thread; then all is given */
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_begins_whole_or_not_at_all),
        cmocka_unit_test(a_run_without_a_thread_to_read_ahead_reads_by_itself),
        cmocka_unit_test(the_queue_of_turns_is_made_whole_or_not_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
