/* Requests of several threads share the devices of a context: turns of two chunks on each device,
 * in the order of tickets, with the bits that each has alone. */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "support/pipe.h"

#include "rt/pipe_inside.h"
#include "rt/turn.h"

enum { REQUESTS = 3, DISPATCHED = 4000 };

/* What was dispatched, in order. A run holds its turn while it dispatches. */
static struct {
    int request, device;
} dispatched[DISPATCHED];
static int dispatches;

typedef struct request {
    motet_context *context;
    int number;
    pipe_case made;
    rt_op op; /* of `made`, with its enqueue noted */
    rt_run_options options;
    motet_status status;
    pthread_t thread;
    int cancel_at; /* of its own chunks; 0: never */
    int chunks;
} request;

static motet_status enqueue(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    request *r = (request *)(uintptr_t)user;
    if (chunk->first_block && dispatches < DISPATCHED) {
        dispatched[dispatches].request = r->number;
        dispatched[dispatches++].device = queue->device->index;
        if (++r->chunks == r->cancel_at) motet_context_cancel(r->context);
    }
    return r->made.op.enqueue(chunk, queue, r->made.op.user);
}

static void make_request(motet_context *c, int which, int number, request *r)
{
    memset(r, 0, sizeof *r);
    r->context = c;
    r->number = number;
    r->options.cut = (rt_cut){{2, 5}, 11};
    pipe_case_make(c, which, 40, 13, &r->made);
    r->op = r->made.op;
    r->op.enqueue = enqueue;
    r->op.user = r;
}

static void *run_request(void *user)
{
    request *r = user;
    r->status = rt_run_with(r->context, &r->op, &r->options);
    return NULL;
}

/* Starts them so that their tickets are drawn in this order, while the test itself has the turn. */
static void start(motet_context *c, request *r, int count)
{
    rt_turn turn;
    assert_ok(c, rt_turn_take(c, &turn, NULL));
    for (int i = 0; i < count; i++) {
        assert_int_equal(pthread_create(&r[i].thread, NULL, run_request, &r[i]), 0);
        while (rt_turns_waiting(c) != i + 1) sched_yield();
    }
    dispatches = 0;
    rt_turn_give(&turn);
}

static void finish(motet_context *c, request *r, int count, const char *expected)
{
    char got[33];
    for (int i = 0; i < count; i++) pthread_join(r[i].thread, NULL);
    for (int i = 0; i < count; i++) {
        assert_ok(c, r[i].status);
        assert_ok(c, motet_array_digest(r[i].made.out, got));
        assert_string_equal(got, expected);
        pipe_case_free(&r[i].made);
    }
    assert_int_equal(toy_mistakes(), 0);
}

/* Turns follow each other in the order of tickets, each of at most two chunks on each device, as
 * long as somebody waits. Answers how many turns there were while all took part. */
static int check_turns(int devices)
{
    int left[REQUESTS] = {0}, turns = 0;
    for (int i = 0; i < dispatches; i++) left[dispatched[i].request]++;
    for (int i = 0; i < dispatches;) {
        const int who = dispatched[i].request;
        int each[RT_DEVICES] = {0}, waiting = 0;
        for (int j = 0; j < REQUESTS; j++) waiting += j != who && left[j] > 0;
        if (waiting == REQUESTS - 1) assert_int_equal(who, turns++ % REQUESTS);
        for (; i < dispatches && dispatched[i].request == who; i++) {
            each[dispatched[i].device]++;
            left[who]--;
        }
        for (int j = 0; j < devices && waiting; j++) assert_true(each[j] <= RT_TURN_CHUNKS);
    }
    return turns;
}

/* Three requests from three threads: two chunks each, in turn, on one device and on several, with
 * the bits that they have alone. */
static void requests_take_turns_in_the_order_of_tickets(void **state)
{
    (void)state;
    static const char *const sets[] = {"cpu", "sim:0", "sim:0,sim:2", "sim:1,cpu,sim:0"};
    for (int which = 0; which < PIPE_OPS; which++) {
        char expected[33];
        pipe_expected(which, 40, 13, expected);
        for (int set = 0; set < 4; set++) {
            sim_config config;
            sim_config_init(&config);
            config.seed = (uint64_t)(which + set);
            motet_context *c = sim_context(&config, sets[set]);
            request r[REQUESTS];
            for (int i = 0; i < REQUESTS; i++) make_request(c, which, i, &r[i]);
            start(c, r, REQUESTS);
            finish(c, r, REQUESTS, expected);
            const int turns = check_turns(c->devices->count);
            assert_true(turns >= (which == PIPE_PROJECT ? 1 : REQUESTS));
            assert_clean(c);
            motet_context_free(c);
        }
    }
}

/* While nobody waits a request keeps its turn: no ticket is drawn beside its first. */
static void a_turn_is_kept_while_nobody_waits(void **state)
{
    (void)state;
    char expected[33];
    pipe_expected(PIPE_SUM, 40, 13, expected);
    motet_context *c = sim_context(NULL, "sim:0,sim:1");
    rt_turn before, after;
    assert_ok(c, rt_turn_take(c, &before, NULL));
    rt_turn_give(&before);
    request r;
    make_request(c, PIPE_SUM, 0, &r);
    run_request(&r);
    assert_ok(c, r.status);
    assert_true(r.chunks > 2 * 2 * RT_TURN_CHUNKS);
    assert_ok(c, rt_turn_take(c, &after, NULL));
    assert_int_equal(after.ticket, before.ticket + 2);
    rt_turn_give(&after);
    pipe_case_free(&r.made);
    motet_context_free(c);
}

/* A cancellation stops all requests of the context, those that wait included, at once: each
 * dispatches no more than its turn; arrays stay as they were, and no ticket is left. */
static void cancelling_takes_at_most_a_turn(void **state)
{
    (void)state;
    static const char *const sets[] = {"cpu", "sim:0,sim:2"};
    for (int at = 1; at < 8; at++)
        for (int set = 0; set < 2; set++) {
            motet_context *c = sim_context(NULL, sets[set]);
            request r[REQUESTS];
            char before[33], after[33];
            for (int i = 0; i < REQUESTS; i++) make_request(c, PIPE_SMOOTH, i, &r[i]);
            assert_ok(c, motet_array_digest(r[0].made.out, before));
            r[1].cancel_at = at;
            start(c, r, REQUESTS);
            for (int i = 0; i < REQUESTS; i++) pthread_join(r[i].thread, NULL);
            for (int i = 0; i < REQUESTS; i++) {
                assert_int_equal(r[i].status, MOTET_CANCELLED);
                assert_ok(c, motet_array_digest(r[i].made.out, after));
                assert_string_equal(after, before);
                pipe_case_free(&r[i].made);
            }
            int further = 0, seen = 0;
            for (int i = 0, own = 0; i < dispatches; i++) {
                own += dispatched[i].request == 1;
                seen |= own == at;
                further += seen;
            }
            assert_true(further <= RT_TURN_CHUNKS * c->devices->count);
            assert_int_equal(rt_turns_waiting(c), 0);
            rt_turn turn;
            assert_ok(c, rt_turn_take(c, &turn, NULL));
            rt_turn_give(&turn);
            assert_clean(c);
            motet_context_free(c);
        }
}

/* What one request loses is lost for those that wait: they go on without it, and get their bits. */
static void who_waits_sees_a_loss(void **state)
{
    (void)state;
    for (int which = 0; which < PIPE_OPS; which++) {
        char expected[33];
        pipe_expected(which, 40, 13, expected);
        for (int64_t k = 1; k < 60; k += 1 + k / 4) {
            sim_config config;
            sim_config_init(&config);
            config.seed = (uint64_t)k;
            config.device[1].fault.lose_at_command = k;
            motet_context *c = sim_context(&config, "sim:0,sim:1");
            request r[REQUESTS];
            for (int i = 0; i < REQUESTS; i++) make_request(c, which, i, &r[i]);
            start(c, r, REQUESTS);
            for (int i = 0; i < REQUESTS; i++) pthread_join(r[i].thread, NULL);
            const int lost = atomic_load(&c->devices->set[1].lost);
            for (int i = 0; i < REQUESTS; i++) {
                char got[33];
                assert_ok(c, r[i].status);
                assert_ok(c, motet_array_digest(r[i].made.out, got));
                assert_string_equal(got, expected);
                pipe_case_free(&r[i].made);
            }
            assert_true(lost || k > 20);
            assert_int_equal(c->devices->set[1].users, 0);
            assert_clean(c);
            motet_context_free(c);
        }
    }
    toy_mistakes();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_take_turns_in_the_order_of_tickets),
        cmocka_unit_test(a_turn_is_kept_while_nobody_waits),
        cmocka_unit_test(cancelling_takes_at_most_a_turn), cmocka_unit_test(who_waits_sees_a_loss)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
