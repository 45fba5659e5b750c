/* Jobs on devices that are lost: each ends with the one set of bits, or as it was told to, with its
 * output as it was. */
#include <math.h>

#include "support/pipe.h"

enum { JOBS = 3, WHOLE, CANCELS, IS_LATE };

static atomic_int_fast64_t time_now;
static int64_t told_now(void *user)
{
    (void)user;
    return atomic_load(&time_now);
}

typedef struct request {
    motet_job *_Atomic job;
    pipe_case made;
    rt_op op; /* of `made`, with its enqueue counted */
    int chunks, stop_at, how;
    char before[33];
} request;

static motet_status enqueue(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    request *r = (request *)(uintptr_t)user;
    if (chunk->first_block && ++r->chunks == r->stop_at) {
        motet_job *job;
        while (!(job = atomic_load(&r->job))) {
        } /* its own handle, which the caller is about to set */
        if (r->how == CANCELS) motet_job_cancel(job);
        if (r->how == IS_LATE) atomic_fetch_add(&time_now, 2000000000);
    }
    return r->made.op.enqueue(chunk, queue, r->made.op.user);
}

static motet_status run_request(motet_context *c, void *user)
{
    request *r = user;
    const rt_run_options options = {.cut = {{2, 5}, 11}};
    return rt_run_with(c, &r->op, &options);
}

static void begin(motet_context *c, int which, int how, int stop_at, request *r)
{
    memset(r, 0, sizeof *r);
    pipe_case_make(c, which, 40, 13, &r->made);
    assert_ok(c, motet_array_digest(r->made.out, r->before));
    r->op = r->made.op;
    r->op.enqueue = enqueue;
    r->op.user = r;
    r->stop_at = stop_at;
    r->how = how;
    motet_job_options o;
    motet_job_options_init(&o);
    o.deadline = how == IS_LATE ? 1 : 0;
    motet_job *job = NULL;
    assert_ok(c, motet_job_submit(c, run_request, r, &o, &job));
    atomic_store(&r->job, job);
}

static void end(motet_context *c, request *r, const char *expected)
{
    const motet_status st = motet_job_wait(r->job, INFINITY);
    motet_error e;
    motet_job_error(r->job, &e);
    if (st == MOTET_CANCELLED)
        assert_int_equal(r->how, CANCELS);
    else if (st == MOTET_DEADLINE)
        assert_int_equal(r->how, IS_LATE);
    else if (st != MOTET_OK)
        fail_msg("%s: %s", motet_status_name(st), e.message);
    assert_int_equal(e.status, st);
    char got[33];
    assert_ok(c, motet_array_digest(r->made.out, got));
    assert_string_equal(got, st == MOTET_OK ? expected : r->before);
    motet_job_free(r->job);
    pipe_case_free(&r->made);
}

static motet_context *make_context(const char *set, int lose, int64_t at, uint64_t seed)
{
    motet_context_options o;
    motet_context_options_init(&o);
    o.clock.now = told_now;
    motet_context *c = NULL;
    assert_int_equal(motet_context_create(&o, &c), MOTET_OK);
    sim_config config;
    sim_config_init(&config);
    config.seed = seed;
    config.device[lose].fault.lose_at_command = at;
    assert_ok(c, sim_use(c, &config, set));
    return c;
}

static void each_job_ends_as_it_should(void **state)
{
    (void)state;
    static const char *const sets[] = {"sim:0,sim:2", "cpu,sim:2", "sim:2,cpu,sim:0"};
    uint64_t seed = 5;
    int stopped = 0;
    for (int which = 0; which < PIPE_OPS; which++) {
        char expected[33];
        pipe_expected(which, 40, 13, expected);
        for (int set = 0; set < 3; set++)
            for (int64_t at = 0; at < 60; at += 1 + at / 3) {
                motet_context *c = make_context(sets[set], 2, at, seed);
                request r[JOBS];
                const int victim = (int)(test_random(&seed) % JOBS);
                const int how = WHOLE + (int)(test_random(&seed) % 3);
                const int when = 1 + (int)(test_random(&seed) % 12);
                for (int i = 0; i < JOBS; i++)
                    begin(c, which, i == victim ? how : WHOLE, when, &r[i]);
                for (int i = 0; i < JOBS; i++) {
                    stopped += i == victim && how != WHOLE &&
                               motet_job_wait(r[i].job, INFINITY) != MOTET_OK;
                    end(c, &r[i], expected);
                }
                assert_clean(c);
                assert_int_equal(toy_mistakes(), 0);
                motet_context_free(c);
            }
    }
    print_message("%d jobs stopped on the way\n", stopped);
    assert_true(stopped > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_job_ends_as_it_should)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
