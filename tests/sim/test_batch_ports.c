/* Operations in a row of which some have nothing to do, or ports of every kind: each has the result
 * of its single call. */
#include "support/pipe.h"
#include "support/ports.h"

static const rt_run_options small = {.cut = {{6, 5}, 11}};
static const char *const sets[] = {"cpu", "sim:0", "sim:0,cpu,sim:3"};

typedef struct told {
    int64_t count;
    motet_status status; /* of one that failed */
} told;

static void done(int64_t index, motet_status status, void *user)
{
    told *t = user;
    assert_int_equal(index, t->count++);
    if (status != MOTET_OK) t->status = status;
}

static motet_context *context_for(uint64_t seed, const char *names)
{
    sim_config config;
    sim_config_init(&config);
    config.seed = seed;
    return sim_context(&config, names);
}

/* The case of each place in a row: `bits` says which are empty. */
static void make_items(motet_context *c, int bits, pipe_case *made, rt_op *op, int count)
{
    for (int i = 0; i < count; i++) {
        pipe_case_make(c, i % PIPE_PROJECT, bits >> i & 1 ? 0 : 40, 13, &made[i]);
        op[i] = made[i].op;
    }
}

/* Empty operations anywhere in a row are told of in their turn. */
static void empty_items_are_items(void **state)
{
    (void)state;
    enum { ITEMS = 4 };
    char full[PIPE_PROJECT][33], empty[PIPE_PROJECT][33], got[33];
    for (int i = 0; i < PIPE_PROJECT; i++) {
        pipe_expected(i, 40, 13, full[i]);
        pipe_expected(i, 0, 13, empty[i]);
    }
    for (int set = 0; set < 3; set++)
        for (int bits = 0; bits < 1 << ITEMS; bits++) {
            motet_context *c = context_for((uint64_t)bits, sets[set]);
            pipe_case made[ITEMS];
            rt_op op[ITEMS];
            make_items(c, bits, made, op, ITEMS);
            told t = {.status = MOTET_OK};
            assert_ok(c, rt_run_batch(c, op, ITEMS, &small, done, &t));
            assert_int_equal(t.count, ITEMS);
            assert_int_equal(t.status, MOTET_OK);
            for (int i = 0; i < ITEMS; i++) {
                const int which = i % PIPE_PROJECT;
                assert_ok(c, motet_array_digest(made[i].out, got));
                assert_string_equal(got, bits >> i & 1 ? empty[which] : full[which]);
                pipe_case_free(&made[i]);
            }
            assert_clean(c);
            motet_context_free(c);
        }
    assert_int_equal(toy_mistakes(), 0);
}

/* Two after each other of every pair of kinds, and one more of the first. */
static void ports_of_every_kind_in_a_row(void **state)
{
    (void)state;
    for (int set = 0; set < 3; set++)
        for (int pair = 0; pair < PORTS_CASES * PORTS_CASES; pair++) {
            motet_context *c = context_for((uint64_t)pair, sets[set]);
            ports_case p[3];
            rt_op op[3];
            for (int i = 0; i < 3; i++) {
                const int which = i == 1 ? pair % PORTS_CASES : pair / PORTS_CASES;
                ports_case_make(c, which, 20, 8, &p[i]);
                op[i] = p[i].op;
            }
            told t = {.status = MOTET_OK};
            assert_ok(c, rt_run_batch(c, op, 3, &small, done, &t));
            assert_int_equal(t.count, 3);
            assert_int_equal(t.status, MOTET_OK);
            for (int i = 0; i < 3; i++) {
                assert_true(ports_right(&p[i]));
                ports_case_free(&p[i]);
            }
            assert_clean(c);
            motet_context_free(c);
        }
    assert_int_equal(ports_mistakes(), 0);
}

/* Each allocation fails, once or from then on: a row with an empty operation and sums, sources and
 * sinks is OK or NO_MEMORY item by item, right or untouched. */
static void failing_host_allocations(void **state)
{
    (void)state;
    static const int kinds[] = {PORTS_SUMS, PORTS_SOURCE, PORTS_COUNT, PORTS_LIMBS};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    for (int forever = 0; forever < 2; forever++)
        for (int64_t k = 1, over = 0; !over; k += 1 + k / 24) {
            motet_context *c = test_context_failing(0, 0);
            assert_ok(c, sim_use(c, NULL, "sim:0,cpu,sim:3"));
            ports_case p[KINDS];
            pipe_case none;
            rt_op op[KINDS + 1];
            char before[KINDS][33], after[33];
            for (int i = 0; i < KINDS; i++) {
                ports_case_make(c, kinds[i], 20, 8, &p[i]);
                op[i < 2 ? i : i + 1] = p[i].op;
                assert_ok(c, motet_array_digest(p[i].out, before[i]));
            }
            pipe_case_make(c, PIPE_UPDATE, 0, 13, &none);
            op[2] = none.op;
            told t = {.status = MOTET_OK};
            test_context_fail_at(c, k, forever);
            const motet_status st = rt_run_batch(c, op, KINDS + 1, &small, done, &t);
            over = !test_context_failed(c);
            test_context_fail_at(c, 0, 0);
            assert_int_equal(t.count, KINDS + 1);
            assert_true(t.status == MOTET_OK || (t.status == MOTET_NO_MEMORY && !over));
            assert_true(st == MOTET_OK);
            for (int i = 0; i < KINDS; i++) {
                assert_ok(c, motet_array_digest(p[i].out, after));
                if (strcmp(after, before[i]) != 0 || over) assert_true(ports_right(&p[i]));
                ports_case_free(&p[i]);
            }
            pipe_case_free(&none);
            assert_clean(c);
            motet_context_free(c);
            assert_true(k < 100000);
        }
    ports_mistakes();
}

/* A device refuses each of its calls, or has no memory once or from then on, while operations
 * follow each other: each is right, or untouched and has failed. */
static void refusals_anywhere(void **state)
{
    (void)state;
    enum { ITEMS = 4 };
    char expected[PIPE_OPS][33], before[33], after[33];
    for (int i = 0; i < PIPE_OPS; i++) pipe_expected(i, 40, 13, expected[i]);
    for (int kind = 0; kind < 4; kind++)
        for (int64_t k = 1, over = 0; !over; k += 1 + k / 16) {
            sim_config config;
            sim_config_init(&config);
            config.seed = (uint64_t)k;
            config.device[0].fault = (sim_fault){.fail_call = kind < 2 ? k : 0,
                                                 .fail_call_on = kind == 1,
                                                 .fail_alloc = kind < 2 ? 0 : k,
                                                 .fail_alloc_on = kind == 3};
            motet_context *c = sim_context(&config, k % 2 ? "sim:0" : "sim:0,sim:3");
            pipe_case made[ITEMS];
            rt_op op[ITEMS];
            for (int i = 0; i < ITEMS; i++) {
                pipe_case_make(c, i % PIPE_OPS, 40, 13, &made[i]);
                op[i] = made[i].op;
            }
            told t = {.status = MOTET_OK};
            (void)rt_run_batch(c, op, ITEMS, &small, done, &t);
            sim_counts counts;
            sim_count(c, 0, &counts);
            over = (kind < 2 ? counts.calls : counts.allocs) < k;
            assert_int_equal(t.count, ITEMS);
            const motet_status failure = kind < 2 ? MOTET_DEVICE_ERROR : MOTET_NO_MEMORY;
            assert_true(t.status == MOTET_OK || (t.status == failure && !over));
            for (int i = 0; i < ITEMS; i++) {
                assert_ok(c, motet_array_digest(made[i].out, after));
                if (strcmp(after, expected[i % PIPE_OPS]) != 0) {
                    pipe_case fresh;
                    pipe_case_make(c, i % PIPE_OPS, 40, 13, &fresh);
                    assert_ok(c, motet_array_digest(fresh.out, before));
                    assert_string_equal(after, before);
                    assert_int_equal(t.status, failure);
                    pipe_case_free(&fresh);
                }
                pipe_case_free(&made[i]);
            }
            assert_clean(c);
            motet_context_free(c);
            assert_true(k < 100000);
        }
    toy_mistakes();
}

/* One device is lost while the others take over what it left, and each allocation fails: pieces of
 * boxes of one to three axes are done once or the run is refused. */
static void failing_host_allocations_after_a_loss(void **state)
{
    (void)state;
    char expected[33], before[33], after[33];
    for (int which = 0; which < PIPE_OPS; which++) {
        pipe_expected(which, 40, 13, expected);
        for (int forever = 0; forever < 2; forever++)
            for (int64_t k = 1, over = 0; !over; k += 1 + k / 8) {
                motet_context *c = test_context_failing(0, 0);
                sim_config config;
                sim_config_init(&config);
                config.seed = (uint64_t)k;
                config.device[0].fault.lose_at_command = 4 + k % 9;
                assert_ok(c, sim_use(c, &config, "sim:0,sim:3"));
                pipe_case p;
                pipe_case_make(c, which, 40, 13, &p);
                assert_ok(c, motet_array_digest(p.out, before));
                test_context_fail_at(c, k, forever);
                const motet_status st = rt_run_with(c, &p.op, &small);
                over = !test_context_failed(c);
                test_context_fail_at(c, 0, 0);
                assert_ok(c, motet_array_digest(p.out, after));
                /* lost: the other one had left for want of memory */
                const int fails = st == MOTET_NO_MEMORY || st == MOTET_DEVICE_LOST;
                assert_true(st == MOTET_OK || (fails && !over));
                assert_string_equal(after, st == MOTET_OK ? expected : before);
                pipe_case_free(&p);
                assert_clean(c);
                motet_context_free(c);
                assert_true(k < 100000);
            }
    }
    toy_mistakes();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_items_are_items), cmocka_unit_test(ports_of_every_kind_in_a_row),
        cmocka_unit_test(failing_host_allocations), cmocka_unit_test(refusals_anywhere),
        cmocka_unit_test(failing_host_allocations_after_a_loss)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
