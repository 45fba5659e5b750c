/* Several operations in a row: each has the bits of its single call and is told of once, in order,
 * whatever befalls the others; and the devices do not run dry between them. */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "base/fail.h"
#undef fail
#include "support/pipe.h"

#include "rt/pipe_inside.h"
#include "rt/turn.h"

enum { ITEMS = 6, EVENTS = 4000, DONE = 1000 };

/* Chunks dispatched (the item's number) and items told of (DONE + number), in order. */
static int events[EVENTS], event_count;

typedef struct items {
    motet_context *context;
    pipe_case made[ITEMS];
    struct item {
        struct items *all;
        int number, shown;      /* as noted; what was added to it */
        int fail_at, cancel_at; /* of its chunks, from 1; 0: never */
        int chunks;
        char before[33];
    } item[ITEMS];
    rt_op op[ITEMS];
    int told;
    motet_status status[ITEMS];
    char digest[ITEMS][33]; /* when it was told of */
} items;

static void note(int event)
{
    if (event_count < EVENTS) events[event_count++] = event;
}

static motet_status enqueue(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    struct item *one = (struct item *)(uintptr_t)user;
    const rt_op *op = &one->all->made[one->number - one->shown].op;
    if (chunk->first_block) {
        note(one->number);
        one->chunks++;
        if (one->chunks == one->cancel_at) motet_context_cancel(one->all->context);
        if (one->chunks == one->fail_at)
            return fail_at(one->all->context, MOTET_UNSUPPORTED, __FILE__, __LINE__, 0, "item %d",
                           one->number);
    }
    return op->enqueue(chunk, queue, op->user);
}

static void done(int64_t index, motet_status status, void *user)
{
    items *t = user;
    assert_int_equal(index, t->told);
    assert_true(t->told < ITEMS);
    note(DONE + (int)index);
    t->status[t->told] = status;
    assert_ok(t->context, motet_array_digest(t->made[index].out, t->digest[t->told++]));
}

static void make_items(motet_context *c, items *t)
{
    memset(t, 0, sizeof *t);
    t->context = c;
    event_count = 0;
    for (int i = 0; i < ITEMS; i++) {
        pipe_case_make(c, i % PIPE_OPS, 40, 13, &t->made[i]);
        t->op[i] = t->made[i].op;
        t->op[i].enqueue = enqueue;
        t->op[i].user = &t->item[i];
        t->item[i].all = t;
        t->item[i].number = i;
        assert_ok(c, motet_array_digest(t->made[i].out, t->item[i].before));
    }
}

static void free_items(items *t)
{
    for (int i = 0; i < ITEMS; i++) pipe_case_free(&t->made[i]);
    toy_mistakes();
}

static char expected[PIPE_OPS][33];
static int expect(void **state)
{
    (void)state;
    for (int i = 0; i < PIPE_OPS; i++) pipe_expected(i, 40, 13, expected[i]);
    return 0;
}

static const rt_run_options small = {.cut = {{6, 5}, 11}};

static motet_status run(items *t)
{
    return rt_run_batch(t->context, t->op, ITEMS, &small, done, t);
}

/* All were told of; those that are OK have their bits, then and now, the others are untouched. */
static void check_items(items *t)
{
    assert_int_equal(t->told, ITEMS);
    for (int i = 0; i < ITEMS; i++) {
        char now[33];
        assert_ok(t->context, motet_array_digest(t->made[i].out, now));
        const char *right = t->status[i] == MOTET_OK ? expected[i % PIPE_OPS] : t->item[i].before;
        assert_string_equal(now, right);
        assert_string_equal(t->digest[i], right);
    }
    for (int i = 0; i < t->context->devices->count; i++) {
        const int number = pipe_sim_number(t->context, i);
        sim_counts counts;
        assert_int_equal(t->context->devices->set[i].users, 0);
        if (number < 0) continue;
        motet_context_trim(t->context);
        sim_count(t->context, number, &counts);
        assert_int_equal(counts.used, 0);
    }
    assert_int_equal(rt_turns_waiting(t->context), 0);
    rt_turn turn;
    assert_ok(t->context, rt_turn_take(t->context, &turn, NULL));
    rt_turn_give(&turn);
    assert_clean(t->context);
}

static motet_context *context_for(uint64_t seed, const char *names)
{
    sim_config config;
    sim_config_init(&config);
    config.seed = seed;
    return sim_context(&config, names);
}

static void each_item_is_its_single_call(void **state)
{
    (void)state;
    for (int set = -1; set < PIPE_SETS; set++)
        for (uint64_t seed = 0; seed < 6; seed++) {
            motet_context *c = context_for(seed, set < 0 ? "cpu" : pipe_sets[set]);
            items t;
            make_items(c, &t);
            assert_ok(c, run(&t));
            check_items(&t);
            for (int i = 0; i < ITEMS; i++) assert_int_equal(t.status[i], MOTET_OK);
            free_items(&t);
            motet_context_free(c);
        }
}

/* An item that reads what the one before writes sees its result. */
static void an_item_may_use_the_one_before(void **state)
{
    (void)state;
    char alone[33], got[33];
    for (int batch = 0; batch < 2; batch++) {
        motet_context *c = context_for(7, "sim:0,cpu");
        motet_array *a = toy_array(c, 40, 13, 1), *b = toy_array(c, 40, 13, 2);
        const rt_op ops[3] = {toy_smooth(a, b), toy_smooth(b, a), toy_update(a, b)};
        if (batch) {
            assert_ok(c, rt_run_batch(c, ops, 3, &small, NULL, NULL));
        } else {
            for (int i = 0; i < 3; i++) assert_ok(c, rt_run_with(c, &ops[i], &small));
        }
        assert_ok(c, motet_array_digest(b, batch ? got : alone));
        motet_array_free(a);
        motet_array_free(b);
        motet_context_free(c);
    }
    assert_string_equal(got, alone);
}

/* A shape that is wrong anywhere is refused before anything is done or told. */
static void wrong_shapes_refuse_the_batch(void **state)
{
    (void)state;
    motet_context *c = context_for(1, "sim:0");
    items t;
    make_items(c, &t);
    t.op[4].extent[0]++;
    assert_status(c, run(&t), MOTET_BAD_SHAPE);
    assert_int_equal(t.told, 0);
    assert_int_equal(event_count, 0);
    assert_ok(c, rt_run_batch(c, t.op, 0, NULL, done, &t));
    assert_status(c, rt_run_batch(c, t.op, -1, NULL, done, &t), MOTET_BAD_ARGUMENT);
    assert_int_equal(t.told, 0);
    free_items(&t);
    motet_context_free(c);
}

/* An item that fails, at whichever chunk, fails alone and with its own status. */
static void a_bad_item_fails_alone(void **state)
{
    (void)state;
    static const char *const sets[] = {"cpu", "sim:0", "sim:0,cpu,sim:3"};
    for (int set = 0; set < 3; set++)
        for (int bad = 0; bad < ITEMS; bad++)
            for (int chunk = 1; chunk < 12; chunk += 5) {
                motet_context *c = context_for((uint64_t)bad, sets[set]);
                items t;
                make_items(c, &t);
                t.item[bad].fail_at = chunk;
                t.op[(bad + 2) % ITEMS].scratch.fast = (size_t)1 << 60;
                t.op[(bad + 2) % ITEMS].scratch.plain = (size_t)1 << 60;
                c->options.host_memory = (uint64_t)1 << 40;
                assert_ok(c, run(&t));
                check_items(&t);
                for (int i = 0; i < ITEMS; i++) {
                    if (i == bad && t.item[bad].chunks < chunk) continue; /* too few chunks */
                    assert_int_equal(t.status[i], i == bad                 ? MOTET_UNSUPPORTED
                                                  : i == (bad + 2) % ITEMS ? MOTET_OVER_BUDGET
                                                                           : MOTET_OK);
                }
                free_items(&t);
                motet_context_free(c);
            }
}

/* A loss at any command: with another device all items are done; alone, the first that is not done
 * and all later ones are declined, and the earlier ones stand. */
static void losses_anywhere(void **state)
{
    (void)state;
    for (int alone = 0; alone < 2; alone++)
        for (int64_t k = 1, over = 0; !over; k += 1 + k / 8) {
            sim_config config;
            sim_config_init(&config);
            config.seed = (uint64_t)k;
            config.device[0].fault.lose_at_command = k;
            motet_context *c = sim_context(&config, alone ? "sim:0" : "sim:0,sim:1");
            items t;
            make_items(c, &t);
            const motet_status st = run(&t);
            check_items(&t);
            sim_counts counts;
            sim_count(c, 0, &counts);
            over = !counts.losses;
            assert_int_equal(st, alone && !over ? MOTET_DECLINED : MOTET_OK);
            int last = 0;
            for (int i = 0; i < ITEMS; i++) {
                assert_true(t.status[i] == MOTET_OK || (alone && t.status[i] == MOTET_DECLINED));
                assert_true(!last || t.status[i] != MOTET_OK);
                last = t.status[i] != MOTET_OK;
            }
            if (alone && !over) { /* nobody is left: all are declined at once */
                t.told = 0;
                assert_status(c, run(&t), MOTET_DECLINED);
                assert_int_equal(t.told, ITEMS);
                for (int i = 0; i < ITEMS; i++) assert_int_equal(t.status[i], MOTET_DECLINED);
            }
            free_items(&t);
            motet_context_free(c);
        }
}

/* A cancellation at any chunk: the first item that is not done and all later ones. */
static void cancelled_anywhere(void **state)
{
    (void)state;
    static const char *const sets[] = {"cpu", "sim:0", "sim:0,sim:2"};
    for (int set = 0; set < 3; set++)
        for (int at = 0; at < ITEMS; at++)
            for (int chunk = 1; chunk < 14; chunk += 3) {
                motet_context *c = context_for((uint64_t)chunk, sets[set]);
                items t;
                make_items(c, &t);
                t.item[at].cancel_at = chunk;
                const motet_status st = run(&t);
                check_items(&t);
                const int seen = t.item[at].chunks >= chunk;
                assert_int_equal(st, seen ? MOTET_CANCELLED : MOTET_OK);
                for (int i = 0; i < ITEMS; i++)
                    assert_int_equal(t.status[i], seen && (i > at || t.status[i] != MOTET_OK)
                                                      ? MOTET_CANCELLED
                                                      : MOTET_OK);
                if (seen) assert_int_equal(t.status[at], MOTET_CANCELLED);
                free_items(&t);
                motet_context_free(c);
            }
}

static void lose_when_told(int64_t index, motet_status status, void *user)
{
    motet_context *c = ((items *)user)->context;
    done(index, status, user);
    for (int i = 0; i < c->devices->count && index == 1; i++)
        rt_device_lose(c, &c->devices->set[i], "the test says so");
}

/* The last device is lost between two items, when the second has begun: nothing of it is there. */
static void lost_between_items(void **state)
{
    (void)state;
    static const char *const sets[] = {"sim:0", "sim:0,sim:2"};
    for (int set = 0; set < 2; set++) {
        motet_context *c = context_for(1, sets[set]);
        items t;
        make_items(c, &t);
        assert_status(c, rt_run_batch(c, t.op, ITEMS, &small, lose_when_told, &t), MOTET_DECLINED);
        assert_true(t.item[2].chunks > 0);
        check_items(&t);
        for (int i = 0; i < ITEMS; i++)
            assert_int_equal(t.status[i], i < 2 ? MOTET_OK : MOTET_DECLINED);
        free_items(&t);
        motet_context_free(c);
    }
}

static void cancel_when_told(int64_t index, motet_status status, void *user)
{
    done(index, status, user);
    if (index == 1) motet_context_cancel(((items *)user)->context);
}

/* ... also one between two items. */
static void cancelled_between_items(void **state)
{
    (void)state;
    motet_context *c = context_for(1, "sim:0");
    items t;
    make_items(c, &t);
    assert_status(c, rt_run_batch(c, t.op, ITEMS, &small, cancel_when_told, &t), MOTET_CANCELLED);
    check_items(&t);
    for (int i = 0; i < ITEMS; i++)
        assert_int_equal(t.status[i], i < 2 ? MOTET_OK : MOTET_CANCELLED);
    free_items(&t);
    motet_context_free(c);
}

/* When an item is told of, chunks of the next one have been dispatched. */
static void the_queue_stays_fed(void **state)
{
    (void)state;
    static const char *const sets[] = {"cpu", "sim:0", "sim:0,sim:2"};
    for (int set = 0; set < 3; set++) {
        motet_context *c = context_for(4, sets[set]);
        items t;
        make_items(c, &t);
        assert_ok(c, run(&t));
        int begun = -1;
        for (int i = 0; i < event_count; i++)
            if (events[i] < DONE) {
                begun = events[i] > begun ? events[i] : begun;
            } else {
                const int told = events[i] - DONE;
                assert_int_equal(begun, told + 1 < ITEMS ? told + 1 : told);
            }
        free_items(&t);
        motet_context_free(c);
    }
}

/* Two items at a time keep the budget that one has, down to the least for one, where they go one
 * after the other. */
static void budgets_hold_for_both(void **state)
{
    (void)state;
    for (uint64_t memory = 3000; memory < 200000; memory = memory * 5 / 4) {
        motet_context *c = context_for(memory, "sim:0");
        c->options.memory = memory;
        items t;
        make_items(c, &t);
        assert_ok(c, rt_run_batch(c, t.op, ITEMS, NULL, done, &t));
        check_items(&t);
        sim_counts counts;
        sim_count(c, 0, &counts);
        assert_true(counts.used_peak <= memory);
        for (int i = 0; i < ITEMS; i++) {
            char now[33];
            pipe_case p;
            pipe_case_make(c, i % PIPE_OPS, 40, 13, &p);
            assert_int_equal(rt_run(c, &p.op), t.status[i]); /* as alone */
            assert_ok(c, motet_array_digest(p.out, now));
            pipe_case_free(&p);
        }
        free_items(&t);
        motet_context_free(c);
    }
}

static void run_inside(int64_t index, motet_status status, void *user)
{
    items *t = user;
    done(index, status, user);
    if (index == 0) assert_status(t->context, rt_run(t->context, &t->made[5].op), MOTET_INTERNAL);
}

static void *run_other(void *user)
{
    items *t = user;
    (void)rt_run_batch(t->context, t->op, ITEMS, &small, done, t);
    return NULL;
}

/* Two batches on two threads: each gives way to the other after two chunks, also where one item
 * ends and the next begins, and what was finished by then has been told of. */
static void a_batch_takes_turns(void **state)
{
    (void)state;
    motet_context *c = context_for(3, "sim:0");
    static items t[2];
    pthread_t thread[2];
    rt_turn turn;
    for (int i = 0; i < 2; i++) make_items(c, &t[i]);
    for (int i = 0; i < ITEMS; i++) t[1].item[i].number += ITEMS, t[1].item[i].shown = ITEMS;
    assert_ok(c, rt_turn_take(c, &turn, NULL));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&thread[i], NULL, run_other, &t[i]), 0);
        while (rt_turns_waiting(c) != i + 1) sched_yield();
    }
    rt_turn_give(&turn);
    for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
    int row = 0, last = -1, both = 0, told = 0;
    for (int i = 0; i < event_count; i++) {
        told += events[i] >= DONE;
        if (events[i] >= DONE) continue;
        const int who = events[i] >= ITEMS;
        row = who == last ? row + 1 : 1;
        last = who;
        if (told < ITEMS) assert_true(row <= RT_TURN_CHUNKS); /* both are at it */
        both |= 1 << who;
    }
    assert_int_equal(both, 3);
    for (int i = 0; i < 2; i++) {
        check_items(&t[i]);
        for (int j = 0; j < ITEMS; j++) assert_int_equal(t[i].status[j], MOTET_OK);
        free_items(&t[i]);
    }
    motet_context_free(c);
}

static void callbacks_may_not_run_operations(void **state)
{
    (void)state;
    motet_context *c = context_for(1, "cpu");
    items t;
    make_items(c, &t);
    assert_ok(c, rt_run_batch(c, t.op, ITEMS, &small, run_inside, &t));
    check_items(&t);
    free_items(&t);
    motet_context_free(c);
}

/* Every allocation of the host fails, once or for good: items are right or untouched. */
static void failing_host_allocations(void **state)
{
    (void)state;
    for (int forever = 0; forever < 2; forever++)
        for (int64_t k = 1, over = 0; !over; k += 1 + k / 12) {
            motet_context *c = test_context_failing(0, 0);
            sim_config config;
            sim_config_init(&config);
            assert_ok(c, sim_use(c, &config, "sim:0,cpu"));
            items t;
            make_items(c, &t);
            test_context_fail_at(c, k, forever);
            (void)run(&t);
            over = !test_context_failed(c);
            test_context_fail_at(c, 0, 0);
            check_items(&t);
            for (int i = 0; i < ITEMS; i++)
                assert_true(t.status[i] == MOTET_OK || t.status[i] == MOTET_NO_MEMORY);
            free_items(&t);
            motet_context_report_reset(c);
            motet_context_free(c);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_item_is_its_single_call),
                                       cmocka_unit_test(an_item_may_use_the_one_before),
                                       cmocka_unit_test(wrong_shapes_refuse_the_batch),
                                       cmocka_unit_test(a_bad_item_fails_alone),
                                       cmocka_unit_test(losses_anywhere),
                                       cmocka_unit_test(lost_between_items),
                                       cmocka_unit_test(cancelled_anywhere),
                                       cmocka_unit_test(cancelled_between_items),
                                       cmocka_unit_test(the_queue_stays_fed),
                                       cmocka_unit_test(budgets_hold_for_both),
                                       cmocka_unit_test(a_batch_takes_turns),
                                       cmocka_unit_test(callbacks_may_not_run_operations),
                                       cmocka_unit_test(failing_host_allocations)};
    return cmocka_run_group_tests(tests, expect, NULL);
}
