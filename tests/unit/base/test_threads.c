#include "base/threads.h"

#include "support/support.h"

#include <float.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 100000 };

typedef struct tally {
    thread_job job;
    thread_pool *pool;
    atomic_uchar seen[MOST];
    atomic_int wrong, ended;
    int threads;
    int64_t grain_seen;
    int again; /* how often `done` submits it anew */
} tally;

static void count_items(void *user, int worker, int64_t begin, int64_t end)
{
    tally *t = user;
    if (worker < 0 || worker >= t->threads || begin >= end || end > t->job.items) t->wrong++;
    for (int64_t i = begin; i < end; i++) t->seen[i]++;
}

static void count_end(thread_job *job)
{
    tally *t = (tally *)job;
    if (t->again-- > 0)
        thread_pool_submit(t->pool, job);
    else
        atomic_fetch_add(&t->ended, 1);
}

static void wait_until(atomic_int *flag, int value)
{
    const time_t start = time(NULL);
    while (atomic_load(flag) < value) {
        sched_yield();
        if (time(NULL) - start > 30) fail_msg("nothing ended within 30 s");
    }
}

/* Every item of every job is worked once, for any count, grain and number of threads. */
static void every_item_is_worked_once(void **state)
{
    (void)state;
    static const int64_t counts[] = {1, 2, 63, 64, 1000, MOST}, grains[] = {0, 1, 7, 1 << 20};
    motet_context *c = test_context();
    tally *t = calloc(1, sizeof *t);
    for (int threads = 1; threads <= 4; threads++) {
        assert_ok(c, thread_pool_create(c, threads, &t->pool));
        assert_int_equal(thread_pool_threads(t->pool), threads);
        for (size_t n = 0; n < 6; n++)
            for (size_t g = 0; g < 4; g++) {
                t->threads = threads;
                t->job = (thread_job){.work = count_items,
                                      .done = count_end,
                                      .user = t,
                                      .items = counts[n],
                                      .grain = grains[g]};
                for (int64_t i = 0; i < counts[n]; i++) atomic_init(&t->seen[i], 0);
                atomic_init(&t->ended, 0);
                t->again = 2;
                thread_pool_submit(t->pool, &t->job);
                wait_until(&t->ended, 1);
                for (int64_t i = 0; i < counts[n]; i++) assert_int_equal(t->seen[i], 3);
                assert_int_equal(t->wrong, 0);
            }
        thread_pool_free(t->pool);
    }
    free(t);
    motet_context_free(c);
}

typedef struct brief {
    thread_job job;
    atomic_int_fast64_t worked;
    atomic_int *ended;
} brief;
static void small_work(void *user, int worker, int64_t begin, int64_t end)
{
    (void)worker;
    atomic_fetch_add(&((brief *)user)->worked, end - begin);
}
static void small_end(thread_job *job) { atomic_fetch_add(((brief *)job)->ended, 1); }

/* Many jobs in the queue at once: every one is worked whole and ends. */
static void jobs_in_a_queue_all_end(void **state)
{
    (void)state;
    enum { JOBS = 5000 };
    motet_context *c = test_context();
    thread_pool *pool;
    assert_ok(c, thread_pool_create(c, 4, &pool));
    brief *jobs = calloc(JOBS, sizeof *jobs);
    atomic_int ended = 0;
    for (int i = 0; i < JOBS; i++) {
        jobs[i].job = (thread_job){.work = small_work,
                                   .done = small_end,
                                   .user = &jobs[i],
                                   .items = 1 + i % 7,
                                   .grain = 1 + i % 3};
        jobs[i].ended = &ended;
        thread_pool_submit(pool, &jobs[i].job);
    }
    wait_until(&ended, JOBS);
    for (int i = 0; i < JOBS; i++) assert_int_equal(jobs[i].worked, 1 + i % 7);
    thread_pool_free(pool);
    free(jobs);
    motet_context_free(c);
}

/* Counts near 2^63 neither overflow nor hang: the grain grows with them. */
static void nothing(void *user, int worker, int64_t begin, int64_t end)
{
    (void)worker;
    tally *t = user;
    if (begin < 0 || end <= begin) t->wrong++;
}
static void huge_counts_do_not_overflow(void **state)
{
    (void)state;
    motet_context *c = test_context();
    tally *t = calloc(1, sizeof *t);
    assert_ok(c, thread_pool_create(c, 3, &t->pool));
    t->job = (thread_job){.work = nothing, .done = count_end, .user = t, .items = INT64_MAX};
    thread_pool_submit(t->pool, &t->job);
    wait_until(&t->ended, 1);
    assert_int_equal(t->wrong, 0);
    thread_pool_free(t->pool);
    free(t);
    motet_context_free(c);
}

typedef struct gate {
    thread_job job;
    atomic_int begun, open, ended;
    atomic_int_fast64_t worked;
} gate;

static void wait_at_gate(void *user, int worker, int64_t begin, int64_t end)
{
    (void)worker;
    gate *g = user;
    atomic_fetch_add(&g->begun, 1);
    while (!atomic_load(&g->open)) sched_yield();
    atomic_fetch_add(&g->worked, end - begin);
}
static void gate_end(thread_job *job) { atomic_store(&((gate *)job)->ended, 1); }

/* A stopped job begins no further range, ends those begun, and still tells its end. */
static void stopping_lets_begun_ranges_end(void **state)
{
    (void)state;
    motet_context *c = test_context();
    thread_pool *pool;
    assert_ok(c, thread_pool_create(c, 2, &pool));
    gate g = {
        .job = {.work = wait_at_gate, .done = gate_end, .user = &g, .items = 1000, .grain = 10}};
    thread_pool_submit(pool, &g.job);
    wait_until(&g.begun, 2);
    thread_job_stop(&g.job);
    atomic_store(&g.open, 1);
    wait_until(&g.ended, 1);
    assert_int_equal(g.worked, 20);
    thread_pool_free(pool);
    motet_context_free(c);
}

/* A job that ends late, after others behind it, ends alone: the others are not begun again. */
static void a_late_job_ends_alone(void **state)
{
    (void)state;
    motet_context *c = test_context();
    thread_pool *pool;
    assert_ok(c, thread_pool_create(c, 2, &pool));
    gate g = {.job = {.work = wait_at_gate, .done = gate_end, .user = &g, .items = 1}};
    brief behind[3];
    atomic_int ended = 0;
    thread_pool_submit(pool, &g.job);
    wait_until(&g.begun, 1);
    for (int i = 0; i < 3; i++) {
        behind[i] =
            (brief){.job = {.work = small_work, .done = small_end, .user = &behind[i], .items = 5},
                    .ended = &ended};
        thread_pool_submit(pool, &behind[i].job);
    }
    wait_until(&ended, 3);
    atomic_store(&g.open, 1);
    wait_until(&g.ended, 1);
    thread_pool_free(pool);
    assert_int_equal(ended, 3);
    for (int i = 0; i < 3; i++) assert_int_equal(behind[i].worked, 5);
    motet_context_free(c);
}

typedef struct probe {
    thread_job job;
    atomic_int ended, wrong;
} probe;

static void probe_state(void *user, int worker, int64_t begin, int64_t end)
{
    (void)worker;
    (void)begin;
    (void)end;
    probe *p = user;
    volatile float small = FLT_MIN;
    small = small * 0.5f; /* subnormal: 0 when they are flushed */
    volatile double third = 1.0;
    third = third / 3.0; /* ends in ...5 only when rounded to nearest */
    if (small == 0.0f || third != 0x1.5555555555555p-2) p->wrong++;
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    if (!sigismember(&mask, SIGINT) || !sigismember(&mask, SIGUSR1)) p->wrong++;
}
static void probe_end(thread_job *job) { atomic_store(&((probe *)job)->ended, 1); }

/* Workers compute with subnormals and rounding to nearest, even if whoever made them does not, and
 * leave signals to the caller. */
static void workers_have_the_default_float_state(void **state)
{
    (void)state;
    motet_context *c = test_context();
#if defined(__x86_64__)
    const unsigned former = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(0x1f80 | 0x8040 | 0x4000); /* flush, denormals are zero, round up */
#endif
    thread_pool *pool;
    const motet_status st = thread_pool_create(c, 2, &pool);
#if defined(__x86_64__)
    volatile float small = FLT_MIN;
    small = small * 0.5f;
    const int flushed = small == 0.0f;
    const thread_float_state kept = thread_float_enter();
    volatile float same = FLT_MIN;
    same = same * 0.5f;
    thread_float_leave(kept);
    const unsigned after = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(former);
    assert_true(flushed);
    assert_true(same > 0);
    assert_int_equal(after & 0xffc0, 0x1f80 | 0x8040 | 0x4000);
#endif
    assert_ok(c, st);
    probe p = {
        .job = {.work = probe_state, .done = probe_end, .user = &p, .items = 64, .grain = 1}};
    thread_pool_submit(pool, &p.job);
    wait_until(&p.ended, 1);
    assert_int_equal(p.wrong, 0);
    thread_pool_free(pool);
    motet_context_free(c);
}

/* The affinity mask bounds the processors counted. */
static void affinity_bounds_the_processors(void **state)
{
    (void)state;
    const int all = thread_processors();
    assert_true(all >= 1 && all <= sysconf(_SC_NPROCESSORS_CONF));
    cpu_set_t former, one;
    assert_int_equal(sched_getaffinity(0, sizeof former, &former), 0);
    CPU_ZERO(&one);
    for (size_t i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &former)) {
            CPU_SET(i, &one);
            break;
        }
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    const int bound = thread_processors();
    sched_setaffinity(0, sizeof former, &former);
    assert_int_equal(bound, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_item_is_worked_once),
                                       cmocka_unit_test(jobs_in_a_queue_all_end),
                                       cmocka_unit_test(huge_counts_do_not_overflow),
                                       cmocka_unit_test(stopping_lets_begun_ranges_end),
                                       cmocka_unit_test(a_late_job_ends_alone),
                                       cmocka_unit_test(workers_have_the_default_float_state),
                                       cmocka_unit_test(affinity_bounds_the_processors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
