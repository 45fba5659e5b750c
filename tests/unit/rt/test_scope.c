/* Scopes: everybody reads the reasons of his own failures, threads and jobs alike. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#undef fail /* cmocka's word, too */
#include "base/log.h"
#include "base/scope.h"
#include "support/support.h"

#define refuse(context, status, ...) fail_at((context), (status), "here.c", 12, 0, __VA_ARGS__)

/* Many failures at once, on jobs and on threads: everybody reads his own. */

enum { FAILING = 5, TIMES = 200 };

typedef struct failing {
    motet_context *context;
    int number, mixed;
} failing;

static motet_status fail_again_and_again(motet_context *c, void *user)
{
    failing *f = user;
    char expected[80];
    for (int i = 0; i < TIMES; i++) {
        refuse(c, MOTET_BAD_DATA, "number %d, time %d", f->number, i);
        fail_prefix(c, "file %d", f->number);
        fail_where(c, MOTET_BAD_DATA, f->number, i);
        motet_error e;
        motet_context_error(c, &e);
        snprintf(expected, sizeof expected, "file %d: number %d, time %d", f->number, f->number, i);
        if (strcmp(e.message, expected) || e.device != f->number || e.chunk != i) f->mixed++;
    }
    return MOTET_BAD_DATA;
}

static void *fail_on_a_thread(void *user)
{
    failing *f = user;
    fail_again_and_again(f->context, f);
    return NULL;
}

static void reasons_do_not_mix(void **state)
{
    (void)state;
    motet_context *c = test_context();
    refuse(c, MOTET_EXISTS, "mine");
    failing in_job[FAILING], in_thread[FAILING];
    motet_job *job[FAILING];
    pthread_t thread[FAILING];
    for (int i = 0; i < FAILING; i++) {
        in_job[i] = (failing){c, i, 0};
        in_thread[i] = (failing){c, 100 + i, 0};
        assert_ok(c, motet_job_submit(c, fail_again_and_again, &in_job[i], NULL, &job[i]));
        assert_int_equal(pthread_create(&thread[i], NULL, fail_on_a_thread, &in_thread[i]), 0);
    }
    for (int i = 0; i < FAILING; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(motet_job_wait(job[i], INFINITY), MOTET_BAD_DATA);
        motet_error e;
        motet_job_error(job[i], &e);
        char expected[80];
        snprintf(expected, sizeof expected, "file %d: number %d, time %d", i, i, TIMES - 1);
        assert_string_equal(e.message, expected);
        assert_int_equal(e.status, MOTET_BAD_DATA);
        assert_int_equal(in_job[i].mixed + in_thread[i].mixed, 0);
        motet_job_free(job[i]);
    }
    assert_message(c, "mine", NULL);
    motet_context_free(c);
}

/* Who failed nowhere reads the newest failure of other threads, but none of a job's. */
static void a_thread_without_failures_reads_the_newest(void **state)
{
    (void)state;
    motet_context *c = test_context();
    failing f = {c, 7, 0};
    motet_error e;
    motet_job *job = NULL;
    assert_ok(c, motet_job_submit(c, fail_again_and_again, &f, NULL, &job));
    assert_int_equal(motet_job_wait(job, INFINITY), MOTET_BAD_DATA);
    motet_job_free(job);
    motet_context_error(c, &e);
    assert_int_equal(e.status, MOTET_OK);
    pthread_t thread;
    for (int i = 0; i < 20; i++) { /* more threads than the context keeps records for */
        f.number = i;
        assert_int_equal(pthread_create(&thread, NULL, fail_on_a_thread, &f), 0);
        pthread_join(thread, NULL);
        assert_int_equal(f.mixed, 0);
    }
    assert_message(c, "file 19: number 19", NULL);
    motet_context_free(c);
}

static motet_status answer_io(motet_context *c, void *user)
{
    (void)user;
    refuse(c, MOTET_NOT_FOUND, "mended meanwhile");
    return MOTET_IO;
}

static void a_status_of_the_callers_own_is_explained(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_job *job = NULL;
    motet_error e;
    assert_ok(c, motet_job_submit(c, answer_io, NULL, NULL, &job));
    assert_int_equal(motet_job_wait(job, INFINITY), MOTET_IO);
    motet_job_error(job, &e);
    assert_int_equal(e.status, MOTET_IO);
    assert_string_equal(e.message, motet_status_text(MOTET_IO));
    motet_job_free(job);
    motet_context_free(c);
}

/* A clock that stands unless it is told. */
static int64_t told_now(void *user) { return *(int64_t *)user; }

/* What a scope says concerns its thread alone, and is over with it. */
static void cancellation_and_deadline_are_the_scopes(void **state)
{
    (void)state;
    int64_t time = 1000;
    motet_context_options o;
    motet_context_options_init(&o);
    o.clock = (motet_clock){told_now, &time};
    motet_context *c = NULL;
    assert_int_equal(motet_context_create(&o, &c), MOTET_OK);
    log_phase outside = log_phase_begin(c, "outside", 3);
    scope one = {.deadline = 2000};
    scope_enter(c, &one);
    assert_ptr_equal(context_scope(c), &one);
    log_phase inside = log_phase_begin(c, "inside", 3);
    time = 1999;
    assert_ok(c, log_phase_step(&inside, 1));
    time = 2000;
    assert_status(c, log_phase_step(&inside, 2), MOTET_DEADLINE);
    assert_message(c, "inside: the deadline passed after 2 of 3", NULL);
    one.deadline = INT64_MAX;
    assert_ok(c, log_phase_look(&inside));
    atomic_store(&one.cancelled, 1);
    assert_status(c, log_phase_look(&inside), MOTET_CANCELLED);
    inside = log_phase_begin(c, "later", 3);
    assert_status(c, log_phase_look(&inside), MOTET_CANCELLED);
    scope_leave(c, &one);
    assert_null(context_scope(c));
    assert_ok(c, log_phase_step(&outside, 1));
    motet_error e;
    motet_context_error(c, &e);
    assert_int_equal(e.status, MOTET_OK); /* what failed was the scope's */
    assert_int_equal(one.error.status, MOTET_CANCELLED);
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reasons_do_not_mix),
        cmocka_unit_test(a_thread_without_failures_reads_the_newest),
        cmocka_unit_test(a_status_of_the_callers_own_is_explained),
        cmocka_unit_test(cancellation_and_deadline_are_the_scopes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
