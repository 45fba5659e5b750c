/* Jobs: what fails, is cancelled or is late in one touches no other, and every one ends. */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rt/turn.h"
#include "support/toy.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void nap(double seconds)
{
    nanosleep(&(struct timespec){(time_t)seconds, (long)(1e9 * (seconds - floor(seconds)))}, NULL);
}

/* out[i] = i + 1, at two milliseconds a row. */
typedef struct slow_args {
    rt_view out;
    int64_t first;
} slow_args;
static const size_t slow_args_bytes = sizeof(slow_args);

static void slow(const void *user, int64_t begin, int64_t end, void *scratch)
{
    (void)scratch;
    const slow_args *a = user;
    for (int64_t i = begin; i < end; i++) {
        nap(2e-3);
        ((float *)a->out.data)[i] = (float)(a->first + i + 1);
    }
}
TOY_KERNEL(slow, slow_args)

static motet_status enqueue_slow(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    (void)user;
    const slow_args a = {chunk->port[0], chunk->first[0]};
    return rt_launch(queue, &slow_kernel, &a, chunk->count[0]);
}

static rt_op slow_op(const motet_array *out)
{
    return (rt_op){.name = "slow",
                   .axes = 1,
                   .extent = {motet_array_size(out, 0)},
                   .port = {{.name = "out", .array = out, .access = RT_WRITE, .cut = {0}}},
                   .enqueue = enqueue_slow};
}

static motet_context *context_of(int64_t chunk)
{
    motet_context_options o;
    motet_context_options_init(&o);
    o.threads = 1;
    o.chunk = chunk;
    motet_context *c = NULL;
    assert_int_equal(motet_context_create(&o, &c), MOTET_OK);
    return c;
}

/* What a job works on: the whole array is written, or none of it. */
typedef struct work {
    motet_array *out;
    atomic_int begun;
} work;

static work work_of(motet_context *c, int64_t rows)
{
    work w = {.out = NULL};
    assert_ok(c, motet_array_create(c, MOTET_F32, 1, &rows, &w.out));
    return w;
}

static int is_written(const work *w)
{
    const float *value = motet_array_data(w->out);
    const int64_t rows = motet_array_elements(w->out);
    for (int64_t i = 0; i < rows; i++)
        if (value[i] != (value[0] != 0 ? (float)(i + 1) : 0))
            fail_msg("row %d is another's", (int)i);
    return value[0] != 0;
}

static motet_status run_slow(motet_context *c, void *user)
{
    work *w = user;
    const rt_op op = slow_op(w->out);
    atomic_store(&w->begun, 1);
    return rt_run(c, &op);
}

static motet_status finish(motet_job *job) { return motet_job_wait(job, INFINITY); }

static void a_job_gives_what_the_call_gives(void **state)
{
    (void)state;
    motet_context *c = context_of(4);
    work w = work_of(c, 24);
    motet_job *job = NULL;
    assert_ok(c, motet_job_submit(c, run_slow, &w, NULL, &job));
    assert_int_equal(motet_job_wait(job, 0), MOTET_BUSY); /* it takes 48 ms */
    assert_int_equal(motet_job_wait(job, 1e-3), MOTET_BUSY);
    motet_error e;
    motet_job_error(job, &e);
    assert_int_equal(e.status, MOTET_BUSY);
    assert_int_equal(finish(job), MOTET_OK);
    assert_int_equal(motet_job_poll(job), MOTET_OK);
    assert_int_equal(motet_job_wait(job, -1), MOTET_OK);
    motet_job_cancel(job); /* too late to matter */
    assert_int_equal(motet_job_poll(job), MOTET_OK);
    motet_job_error(job, &e);
    assert_int_equal(e.status, MOTET_OK);
    assert_int_equal(e.device, -1);
    assert_int_equal(is_written(&w), 1);
    motet_job_free(job);
    motet_job_free(NULL);
    motet_array_free(w.out);
    motet_context_free(c);
}

static void until_it_began(const work *w)
{
    while (!atomic_load(&w->begun)) nap(1e-4);
}

/* One that runs and one that waits for its turn; the third is not touched. */
static void cancelling_one_touches_no_other(void **state)
{
    (void)state;
    motet_context *c = context_of(4);
    work first = work_of(c, 100), second = work_of(c, 8), third = work_of(c, 8);
    motet_job *one = NULL, *two = NULL, *three = NULL;
    assert_ok(c, motet_job_submit(c, run_slow, &first, NULL, &one));
    until_it_began(&first);
    assert_ok(c, motet_job_submit(c, run_slow, &second, NULL, &two));
    until_it_began(&second);
    motet_job_cancel(two);
    assert_int_equal(finish(two), MOTET_CANCELLED);
    motet_error e;
    motet_job_error(two, &e);
    assert_non_null(strstr(e.message, "slow: cancelled after 0 of 8"));
    assert_int_equal(motet_job_poll(one), MOTET_BUSY);
    assert_ok(c, motet_job_submit(c, run_slow, &third, NULL, &three));
    const double start = now();
    motet_job_cancel(one);
    assert_int_equal(finish(one), MOTET_CANCELLED);
    print_message("a running job ended %.1f ms after it was cancelled\n", 1e3 * (now() - start));
    assert_int_equal(finish(three), MOTET_OK);
    assert_int_equal(is_written(&first), 0);
    assert_int_equal(is_written(&second), 0);
    assert_int_equal(is_written(&third), 1);
    motet_job_free(one);
    motet_job_free(two);
    motet_job_free(three);
    motet_array_free(first.out);
    motet_array_free(second.out);
    motet_array_free(third.out);
    motet_context_free(c);
}

/* The job as a whole: a second call does not begin anew, as it does after a cancelled context. */
static motet_status run_twice(motet_context *c, void *user)
{
    const motet_status st = run_slow(c, user);
    return st == MOTET_CANCELLED ? run_slow(c, user) : st;
}

static void a_cancelled_job_begins_nothing_more(void **state)
{
    (void)state;
    motet_context *c = context_of(1);
    work w = work_of(c, 40);
    motet_job *job = NULL;
    for (int whole = 0; whole < 2; whole++) {
        atomic_store(&w.begun, 0);
        assert_ok(c, motet_job_submit(c, run_twice, &w, NULL, &job));
        until_it_began(&w);
        nap(10e-3);
        if (whole)
            motet_context_cancel(c);
        else
            motet_job_cancel(job);
        assert_int_equal(finish(job), whole ? MOTET_OK : MOTET_CANCELLED);
        assert_int_equal(is_written(&w), whole);
        motet_job_free(job);
    }
    for (int i = 0; i < 30; i++) { /* before it has begun, perhaps */
        assert_ok(c, motet_job_submit(c, run_slow, &w, NULL, &job));
        motet_job_cancel(job);
        assert_int_equal(finish(job), MOTET_CANCELLED);
        motet_job_free(job);
    }
    motet_array_free(w.out);
    motet_context_free(c);
}

static motet_job *signalled;
static void on_signal(int number)
{
    (void)number;
    motet_job_cancel(signalled);
}

static void a_signal_handler_may_cancel(void **state)
{
    (void)state;
    motet_context *c = context_of(1);
    work w = work_of(c, 500);
    struct sigaction action = {.sa_handler = on_signal}, former;
    assert_int_equal(sigaction(SIGUSR1, &action, &former), 0);
    assert_ok(c, motet_job_submit(c, run_slow, &w, NULL, &signalled));
    until_it_began(&w);
    raise(SIGUSR1);
    assert_int_equal(finish(signalled), MOTET_CANCELLED);
    sigaction(SIGUSR1, &former, NULL);
    motet_job_free(signalled);
    motet_array_free(w.out);
    motet_context_free(c);
}

static void a_deadline_ends_it_and_touches_nothing(void **state)
{
    (void)state;
    motet_context *c = context_of(2);
    work running = work_of(c, 500), waiting = work_of(c, 4), early = work_of(c, 4);
    motet_job_options o;
    motet_job_options_init(&o);
    motet_job *one = NULL, *two = NULL;
    o.deadline = 0.2;
    assert_ok(c, motet_job_submit(c, run_slow, &running, &o, &one));
    until_it_began(&running);
    o.deadline = 1e-9; /* passes while it waits for its turn at the latest */
    assert_ok(c, motet_job_submit(c, run_slow, &waiting, &o, &two));
    assert_int_equal(finish(two), MOTET_DEADLINE);
    assert_int_equal(finish(one), MOTET_DEADLINE);
    motet_error e;
    motet_job_error(one, &e);
    assert_non_null(strstr(e.message, "slow: the deadline passed after"));
    assert_int_equal(motet_status_class_of(e.status), MOTET_CLASS_CANCELLED);
    assert_int_equal(is_written(&running) + is_written(&waiting), 0);
    motet_job_free(one);
    motet_job_free(two);
    o.deadline = 1e300;
    assert_ok(c, motet_job_submit(c, run_slow, &early, &o, &one));
    assert_int_equal(finish(one), MOTET_OK);
    assert_int_equal(is_written(&early), 1);
    motet_job_free(one);
    motet_array_free(running.out);
    motet_array_free(waiting.out);
    motet_array_free(early.out);
    motet_context_free(c);
}

enum { ITEMS = 6 };
typedef struct items {
    motet_array *out[ITEMS];
    motet_status status[ITEMS];
    int told;
} items;

static void told(int64_t item, motet_status status, void *user)
{
    items *b = user;
    b->status[item] = status;
    b->told++;
}

static motet_status run_batch(motet_context *c, void *user)
{
    items *b = user;
    rt_op ops[ITEMS];
    for (int i = 0; i < ITEMS; i++) ops[i] = slow_op(b->out[i]);
    return rt_run_batch(c, ops, ITEMS, NULL, told, b);
}

static void a_deadline_ends_a_batch_at_the_item_that_it_meets(void **state)
{
    (void)state;
    motet_context *c = context_of(2);
    items b = {.told = 0};
    for (int i = 0; i < ITEMS; i++)
        assert_ok(c, motet_array_create(c, MOTET_F32, 1, (int64_t[]){i < 2 ? 2 : 200}, &b.out[i]));
    motet_job_options o;
    motet_job_options_init(&o);
    o.deadline = 0.2;
    motet_job *job = NULL;
    assert_ok(c, motet_job_submit(c, run_batch, &b, &o, &job));
    assert_int_equal(finish(job), MOTET_DEADLINE);
    assert_int_equal(b.told, ITEMS);
    for (int i = 0, over = 0; i < ITEMS; i++) {
        over |= b.status[i] != MOTET_OK;
        assert_int_equal(b.status[i], over ? MOTET_DEADLINE : MOTET_OK);
        const work w = {.out = b.out[i]};
        assert_int_equal(is_written(&w), !over);
        motet_array_free(b.out[i]);
    }
    motet_job_free(job);
    motet_context_free(c);
}

typedef struct seen {
    pthread_t thread;
    int calls, elsewhere, stop;
    int64_t done, total;
} seen;

static motet_go see(const motet_progress *progress, void *user)
{
    seen *s = user;
    s->calls++;
    s->elsewhere += !pthread_equal(s->thread, pthread_self());
    s->elsewhere += strcmp(progress->phase, "slow") != 0 || progress->done < s->done;
    s->done = progress->done;
    s->total = progress->total;
    return s->stop ? MOTET_STOP : MOTET_GO_ON;
}

static void progress_is_told_on_the_thread_that_waits(void **state)
{
    (void)state;
    motet_context *c = context_of(2);
    work w = work_of(c, 80);
    seen s = {.thread = pthread_self()};
    motet_job_options o;
    motet_job_options_init(&o);
    o.progress = see;
    o.progress_user = &s;
    motet_job *job = NULL;
    assert_ok(c, motet_job_submit(c, run_slow, &w, &o, &job));
    assert_int_equal(finish(job), MOTET_OK);
    assert_true(s.calls > 1);
    assert_int_equal(s.elsewhere, 0);
    assert_int_equal(s.done, 80);
    assert_int_equal(s.total, 80);
    motet_job_free(job);
    s.stop = 1;
    s.done = 0;
    assert_ok(c, motet_job_submit(c, run_slow, &w, &o, &job));
    assert_int_equal(finish(job), MOTET_CANCELLED);
    motet_job_free(job);
    motet_array_free(w.out);
    motet_context_free(c);
}

/* A job knows its own handle when the caller has put it there. */
typedef struct own {
    _Atomic(motet_job *) job;
} own;

static motet_status wait_for_itself(motet_context *c, void *user)
{
    (void)c;
    own *o = user;
    motet_job *job;
    while (!(job = atomic_load(&o->job))) nap(1e-4);
    return motet_job_wait(job, INFINITY);
}

static void a_job_does_not_wait_for_itself(void **state)
{
    (void)state;
    motet_context *c = context_of(0);
    own o = {NULL};
    motet_job *job = NULL;
    assert_ok(c, motet_job_submit(c, wait_for_itself, &o, NULL, &job));
    atomic_store(&o.job, job);
    assert_int_equal(finish(job), MOTET_INTERNAL);
    motet_error e;
    motet_job_error(job, &e);
    assert_non_null(strstr(e.message, "its own end"));
    motet_job_free(job);
    motet_context_free(c);
}

static motet_status run_and_free(motet_context *c, void *user)
{
    work *w = user;
    const motet_status st = run_slow(c, w);
    motet_array_free(w->out);
    return st;
}

static void a_context_ends_the_jobs_that_are_left(void **state)
{
    (void)state;
    motet_context *c = context_of(1);
    float out[2][400];
    memset(out, 0, sizeof out);
    work w[2];
    for (int i = 0; i < 2; i++) {
        motet_job *job = NULL; /* forgotten */
        w[i] = (work){.out = NULL};
        assert_ok(c, motet_array_wrap(c, out[i], MOTET_F32, 1, (int64_t[]){400}, 0, &w[i].out));
        assert_ok(c, motet_job_submit(c, run_and_free, &w[i], NULL, &job));
        until_it_began(&w[i]); /* one that has not never does, and would not free its array */
    }
    const double start = now();
    motet_context_free(c);
    assert_true(now() - start < 0.7); /* one alone takes 0.8 s */
    assert_true(out[0][0] == 0 && out[1][0] == 0);
}

/* A job that begins one of its own, again and again, and frees it. */
typedef struct family {
    work child;
    int children;
} family;

static motet_status run_family(motet_context *c, void *user)
{
    family *f = user;
    for (int i = 0; i < 2; i++) { /* the second is begun while the context ends */
        motet_job *child = NULL;
        assert_ok(c, motet_job_submit(c, run_slow, &f->child, NULL, &child));
        (void)motet_job_wait(child, INFINITY);
        nap(20e-3);
        motet_job_free(child);
        f->children++;
    }
    motet_array_free(f->child.out);
    return MOTET_OK;
}

static void a_context_leaves_jobs_their_children(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        motet_context *c = context_of(1);
        family f = {.child = work_of(c, 500)};
        motet_job *job = NULL;
        assert_ok(c, motet_job_submit(c, run_family, &f, NULL, &job));
        until_it_began(&f.child);
        const double start = now();
        motet_context_free(c);
        assert_true(now() - start < 0.8); /* one child alone takes a second */
        assert_int_equal(f.children, 2);
    }
}

static motet_status answer_busy(motet_context *c, void *user)
{
    (void)user;
    return fail_at(c, MOTET_BUSY, __FILE__, __LINE__, 0, "somebody else has it");
}

/* Or who polls would never see its end. */
static void an_end_is_never_busy(void **state)
{
    (void)state;
    motet_context *c = context_of(0);
    motet_job *job = NULL;
    motet_error e;
    assert_ok(c, motet_job_submit(c, answer_busy, NULL, NULL, &job));
    assert_int_equal(finish(job), MOTET_DECLINED);
    assert_int_equal(motet_job_poll(job), MOTET_DECLINED);
    motet_job_error(job, &e);
    assert_int_equal(e.status, MOTET_DECLINED);
    assert_string_equal(e.message, "somebody else has it");
    motet_job_free(job);
    motet_context_free(c);
}

static motet_go see_slowly(const motet_progress *progress, void *user)
{
    (void)progress;
    ++*(int *)user;
    nap(0.12); /* more often than that it is told */
    return MOTET_GO_ON;
}

static void a_slow_callback_makes_no_wait_endless(void **state)
{
    (void)state;
    motet_context *c = context_of(1);
    work w = work_of(c, 700);
    int calls = 0;
    motet_job_options o;
    motet_job_options_init(&o);
    o.progress = see_slowly;
    o.progress_user = &calls;
    motet_job *job = NULL;
    assert_ok(c, motet_job_submit(c, run_slow, &w, &o, &job));
    assert_int_equal(motet_job_wait(job, 0.2), MOTET_BUSY);
    assert_int_equal(motet_job_poll(job), MOTET_BUSY); /* it takes 1.4 s */
    assert_true(calls > 0);
    motet_job_free(job);
    motet_array_free(w.out);
    motet_context_free(c);
}

static void bad_options_are_refused(void **state)
{
    (void)state;
    motet_context *c = context_of(0);
    work w = work_of(c, 1);
    motet_job *job = NULL;
    motet_job_options o;
    motet_job_options_init(&o);
    o.deadline = -1;
    assert_status(c, motet_job_submit(c, run_slow, &w, &o, &job), MOTET_BAD_ARGUMENT);
    assert_message(c, "deadline is -1", NULL);
    o.deadline = NAN;
    assert_status(c, motet_job_submit(c, run_slow, &w, &o, &job), MOTET_BAD_ARGUMENT);
    o.deadline = 0;
    o.size = 1;
    assert_status(c, motet_job_submit(c, run_slow, &w, &o, &job), MOTET_BAD_ARGUMENT);
    assert_null(job);
    assert_int_equal(atomic_load(&w.begun), 0);
    motet_array_free(w.out);
    motet_context_free(c);
}

static void no_memory_is_no_job(void **state)
{
    (void)state;
    for (int64_t nth = 1;; nth++) {
        motet_context *c = test_context_failing(0, 0);
        assert_non_null(c);
        work w = work_of(c, 3);
        work warm = work_of(c, 3); /* what runs leave behind for others is there already */
        assert_ok(c, run_slow(c, &warm));
        motet_memory before, after;
        motet_context_report_reset(c);
        motet_context_memory(c, &before);
        test_context_fail_at(c, nth, 0);
        motet_job *job = NULL;
        motet_status st = motet_job_submit(c, run_slow, &w, NULL, &job);
        if (st == MOTET_OK) {
            st = finish(job);
            motet_job_free(job);
        } else {
            assert_null(job);
        }
        const int failed = test_context_failed(c);
        test_context_fail_at(c, 0, 0);
        assert_int_equal(st, failed ? MOTET_NO_MEMORY : MOTET_OK);
        assert_int_equal(is_written(&w), !failed);
        motet_context_report_reset(c);
        motet_context_memory(c, &after);
        assert_int_equal(after.blocks, before.blocks);
        motet_array_free(warm.out);
        motet_array_free(w.out);
        motet_context_free(c);
        if (!failed) break;
    }
}

/* Some are cancelled, some late, some freed at once; threads run beside them. All end, and each
 * output is whole or untouched. */
static void every_job_ends(void **state)
{
    (void)state;
    enum { JOBS = 8, ROUNDS = 5 };
    motet_context *c = context_of(1);
    uint64_t seed = 11;
    for (int round = 0; round < ROUNDS; round++) {
        motet_job *job[JOBS];
        work w[JOBS];
        for (int i = 0; i < JOBS; i++) {
            w[i] = work_of(c, 1 + (int64_t)(test_random(&seed) % 6));
            motet_job_options o;
            motet_job_options_init(&o);
            if (test_random(&seed) % 3 == 0) o.deadline = test_uniform(&seed, 1e-4, 0.06);
            assert_ok(c, motet_job_submit(c, run_slow, &w[i], &o, &job[i]));
        }
        work mine = work_of(c, 2);
        assert_ok(c, run_slow(c, &mine));
        for (int i = 0; i < JOBS; i++)
            if (test_random(&seed) % 3 == 0) motet_job_cancel(job[i]);
        for (int i = 0; i < JOBS; i++) {
            if (test_random(&seed) % 4 == 0) {
                motet_job_free(job[i]);
                (void)is_written(&w[i]);
            } else {
                const motet_status st = finish(job[i]);
                assert_true(st == MOTET_OK || st == MOTET_CANCELLED || st == MOTET_DEADLINE);
                assert_int_equal(is_written(&w[i]), st == MOTET_OK);
                motet_job_free(job[i]);
            }
            motet_array_free(w[i].out);
        }
        assert_int_equal(is_written(&mine), 1);
        motet_array_free(mine.out);
        assert_int_equal(rt_turns_waiting(c), 0);
    }
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_gives_what_the_call_gives),
        cmocka_unit_test(cancelling_one_touches_no_other),
        cmocka_unit_test(a_cancelled_job_begins_nothing_more),
        cmocka_unit_test(a_signal_handler_may_cancel),
        cmocka_unit_test(a_deadline_ends_it_and_touches_nothing),
        cmocka_unit_test(a_deadline_ends_a_batch_at_the_item_that_it_meets),
        cmocka_unit_test(progress_is_told_on_the_thread_that_waits),
        cmocka_unit_test(a_job_does_not_wait_for_itself),
        cmocka_unit_test(a_context_ends_the_jobs_that_are_left),
        cmocka_unit_test(a_context_leaves_jobs_their_children),
        cmocka_unit_test(an_end_is_never_busy),
        cmocka_unit_test(a_slow_callback_makes_no_wait_endless),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(no_memory_is_no_job),
        cmocka_unit_test(every_job_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
