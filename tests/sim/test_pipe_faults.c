/* Several devices, when things go wrong: the same bits as long as one device is left, else a clean
 * error, untouched arrays and nothing held. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "support/pipe.h"

static const rt_run_options small = {.cut = {{6, 5}, 11}};

/* Findings of all contexts, those made while one is freed included. */
static int64_t findings;
static void found(const char *text, void *user)
{
    (void)user;
    if (!findings++) print_error("%s\n", text);
}

static void config_init(sim_config *config)
{
    sim_config_init(config);
    config->found = found;
}

static void set_fault(sim_config *config, int number, const sim_fault *fault)
{
    config->device[number].fault = *fault;
}

/* Runs one case; checks what must hold however it ends. */
static motet_status attempt(motet_context *c, int which, const char *expected)
{
    pipe_case p;
    pipe_case_make(c, which, 40, 13, &p);
    char before[33], after[33];
    assert_ok(c, motet_array_digest(p.out, before));
    const motet_status st = rt_run_with(c, &p.op, &small);
    assert_ok(c, motet_array_digest(p.out, after));
    assert_string_equal(after, st == MOTET_OK ? expected : before);
    pipe_case_free(&p);
    toy_mistakes(); /* after a loss the kernels' own records are moot */
    return st;
}

/* Nothing is held on any device, or by the runtime, but for what a hung device may touch still. */
static void assert_nothing_held(motet_context *c)
{
    for (int i = 0; i < c->devices->count; i++) {
        const int number = pipe_sim_number(c, i);
        sim_counts counts;
        if (number < 0 || c->devices->set[i].kept) continue;
        motet_context_trim(c);
        sim_count(c, number, &counts);
        assert_int_equal(counts.used, 0);
    }
    assert_clean(c);
}

/* A device is lost at each of its calls or commands. With another one the bits are the same, and
 * the report names the loss; alone it is DEVICE_LOST. */
static void losses_anywhere(void **state)
{
    (void)state;
    for (int which = 0; which < PIPE_OPS; which++) {
        char expected[33];
        pipe_expected(which, 40, 13, expected);
        for (int kind = 0; kind < 2; kind++)
            for (int set = 0; set < 5; set++) {
                static const struct {
                    const char *names;
                    int victim, alone;
                } sets[] = {{"sim:0", 0, 1},
                            {"sim:0,sim:5", 0, 0},
                            {"sim:0,sim:5", 5, 0},
                            {"cpu,sim:2", 2, 0},
                            {"sim:0,sim:1,sim:2,sim:6", 1, 0}};
                int64_t step = 1;
                for (int64_t k = 1, over = 0; !over; k += step) {
                    sim_config config;
                    config_init(&config);
                    config.seed = (uint64_t)k;
                    const sim_fault fault = {.lose_at_call = kind ? 0 : k,
                                             .lose_at_command = kind ? k : 0};
                    set_fault(&config, sets[set].victim, &fault);
                    motet_context *c = sim_context(&config, sets[set].names);
                    const motet_status st = attempt(c, which, expected);
                    sim_counts counts;
                    sim_count(c, sets[set].victim, &counts);
                    over = !counts.losses;
                    assert_int_equal(st, !over && sets[set].alone ? MOTET_DEVICE_LOST : MOTET_OK);
                    char *report = NULL;
                    assert_ok(c, motet_context_report(c, &report));
                    assert_int_equal(strstr(report, "the device is lost") != NULL, !over);
                    motet_text_free(c, report);
                    assert_nothing_held(c);
                    motet_context_free(c);
                    assert_int_equal(findings, 0);
                    assert_true(k < 4000);
                    step = which == 1 && set ? 1 + k / 12 : 1 + k / 40;
                }
            }
    }
}

/* Devices are lost one after the other, until none is left; later runs do not use the lost. */
static void losses_of_all(void **state)
{
    (void)state;
    char expected[33];
    pipe_expected(PIPE_SUM, 40, 13, expected);
    for (int64_t k = 1; k < 60; k += 2)
        for (int spared = 0; spared < 2; spared++) {
            sim_config config;
            config_init(&config);
            config.seed = (uint64_t)k;
            for (int i = 0; i < 3; i++) {
                const sim_fault fault = {.lose_at_command = 1 + (k * (i + 3)) % 17};
                if (i || !spared) set_fault(&config, i, &fault);
            }
            motet_context *c = sim_context(&config, "sim:0,sim:1,sim:2");
            assert_int_equal(attempt(c, PIPE_SUM, expected), spared ? MOTET_OK : MOTET_DEVICE_LOST);
            if (!spared) assert_message(c, "no device is left", NULL);
            for (int i = 0; i < 3; i++)
                assert_int_equal(atomic_load(&c->devices->set[i].lost), i || !spared);
            assert_int_equal(attempt(c, PIPE_SUM, expected), spared ? MOTET_OK : MOTET_DEVICE_LOST);
            assert_nothing_held(c);
            motet_context_free(c);
            assert_int_equal(findings, 0);
        }
}

/* Each reading of the clock is a hundredth of a second later. */
static int64_t fast_clock(void *user) { return *(int64_t *)user += 10000000; }

/* A device hangs at each of its commands: it counts as lost, and nothing that it may touch is freed
 * before it is closed. */
static void hangs_anywhere(void **state)
{
    (void)state;
    for (int which = 0; which < PIPE_OPS; which++) {
        char expected[33];
        pipe_expected(which, 40, 13, expected);
        for (int set = 0; set < 3; set++) {
            static const char *const sets[] = {"sim:0", "sim:0,sim:5", "cpu,sim:0"};
            for (int64_t k = 1, over = 0; !over; k += 1 + k / 10) {
                sim_config config;
                config_init(&config);
                config.seed = (uint64_t)k;
                const sim_fault fault = {.hang_at_command = k};
                set_fault(&config, 0, &fault);
                int64_t now = 0;
                motet_context *c = test_context();
                c->options.clock = (motet_clock){fast_clock, &now};
                assert_ok(c, sim_use(c, &config, sets[set]));
                const motet_status st = attempt(c, which, expected);
                sim_counts counts;
                sim_count(c, 0, &counts);
                over = counts.commands < k;
                assert_int_equal(st, !over && set == 0 ? MOTET_DEVICE_HUNG : MOTET_OK);
                assert_int_equal(atomic_load(&c->devices->set[set == 2].lost), !over);
                assert_nothing_held(c);
                motet_context_free(c);
                assert_int_equal(findings, 0);
            }
        }
    }
}

/* A device has no memory, once or from some point on: it does with less, or the others do its part;
 * alone it is NO_MEMORY. A refused call is an error of the run. */
static void refusals_anywhere(void **state)
{
    (void)state;
    for (int which = 0; which < PIPE_OPS; which++) {
        char expected[33];
        pipe_expected(which, 40, 13, expected);
        for (int kind = 0; kind < 3; kind++)
            for (int set = 0; set < 2; set++) {
                int failed = 0;
                for (int64_t k = 1, over = 0; !over; k += 1 + k / 20) {
                    sim_config config;
                    config_init(&config);
                    config.seed = (uint64_t)k;
                    const sim_fault fault = {.fail_alloc = kind < 2 ? k : 0,
                                             .fail_alloc_on = kind == 1,
                                             .fail_call = kind == 2 ? k : 0};
                    set_fault(&config, 0, &fault);
                    motet_context *c = sim_context(&config, set ? "sim:0,sim:3" : "sim:0");
                    const motet_status st = attempt(c, which, expected);
                    sim_counts counts;
                    sim_count(c, 0, &counts);
                    over = kind < 2 ? counts.allocs < k : counts.calls < k;
                    failed += st != MOTET_OK;
                    if (kind == 2) assert_int_equal(st, over ? MOTET_OK : MOTET_DEVICE_ERROR);
                    if (kind == 1 && !set) assert_int_equal(st, over ? MOTET_OK : MOTET_NO_MEMORY);
                    if (kind == 0 || (kind == 1 && set)) assert_int_equal(st, MOTET_OK);
                    assert_int_equal(atomic_load(&c->devices->set[0].lost), 0);
                    assert_nothing_held(c);
                    motet_context_free(c);
                    assert_int_equal(findings, 0);
                }
                assert_int_equal(failed > 0, kind == 2 || (kind == 1 && !set));
            }
    }
}

/* Every allocation of the host fails, once or for good: OK with the right bits or NO_MEMORY with
 * untouched arrays, and no leak. */
static void failing_host_allocations(void **state)
{
    (void)state;
    for (int which = 0; which < PIPE_OPS; which++) {
        char expected[33];
        pipe_expected(which, 40, 13, expected);
        for (int forever = 0; forever < 2; forever++)
            for (int64_t k = 1, over = 0; !over; k += 1 + k / 16) {
                motet_context *c = test_context_failing(0, 0);
                assert_non_null(c);
                sim_config config;
                config_init(&config);
                assert_ok(c, sim_use(c, &config, "sim:0,cpu,sim:3"));
                pipe_case p;
                pipe_case_make(c, which, 40, 13, &p);
                char before[33], after[33];
                assert_ok(c, motet_array_digest(p.out, before));
                test_context_fail_at(c, k, forever);
                const motet_status st = rt_run_with(c, &p.op, &small);
                over = !test_context_failed(c);
                test_context_fail_at(c, 0, 0);
                assert_ok(c, motet_array_digest(p.out, after));
                assert_true(st == MOTET_OK || (st == MOTET_NO_MEMORY && !over));
                assert_string_equal(after, st == MOTET_OK ? expected : before);
                assert_nothing_held(c);
                pipe_case_free(&p);
                motet_context_report_reset(c);
                motet_context_free(c);
                assert_int_equal(findings, 0);
                assert_true(k < 100000);
            }
    }
    toy_mistakes();
}

typedef struct stopper {
    int64_t now, calls, at;
} stopper;

static int64_t stopper_now(void *user) { return ((stopper *)user)->now += 60000000; }

static motet_go stop_at(const motet_progress *progress, void *user)
{
    stopper *s = user;
    assert_true(progress->done >= 0 && progress->done <= progress->total);
    return ++s->calls == s->at ? MOTET_STOP : MOTET_GO_ON;
}

/* Progress may stop the run at each of its calls; nothing was touched then. */
static void cancelled_anywhere(void **state)
{
    (void)state;
    for (int which = 0; which < PIPE_OPS; which++) {
        char expected[33];
        pipe_expected(which, 40, 13, expected);
        for (int set = 1; set < 5; set += 2)
            for (int64_t k = 1, over = 0; !over; k += 1 + k / 8) {
                stopper s = {.at = k};
                motet_context *c = test_context();
                c->options.clock = (motet_clock){stopper_now, &s};
                c->options.progress = stop_at;
                c->options.progress_user = &s;
                sim_config config;
                config_init(&config);
                config.seed = (uint64_t)k;
                assert_ok(c, sim_use(c, &config, pipe_sets[set]));
                s.calls = 0;
                const motet_status st = attempt(c, which, expected);
                over = s.calls < k;
                assert_int_equal(st, over ? MOTET_OK : MOTET_CANCELLED);
                assert_nothing_held(c);
                motet_context_free(c);
                assert_int_equal(findings, 0);
            }
    }
}

typedef struct at_once {
    motet_context *context;
    int which;
    pipe_case made;
    motet_status status;
} at_once;

static void *run_one(void *user)
{
    at_once *a = user;
    a->status = rt_run_with(a->context, &a->made.op, &small);
    return NULL;
}

/* Several runs of one context at once, while one of its devices is lost: each has its own bits. */
static void runs_at_once(void **state)
{
    (void)state;
    char expected[PIPE_OPS][33], got[33];
    for (int i = 0; i < PIPE_OPS; i++) pipe_expected(i, 40, 13, expected[i]);
    for (int64_t k = 0; k < 40; k++) {
        sim_config config;
        config_init(&config);
        config.seed = (uint64_t)k;
        const sim_fault fault = {.lose_at_command = 5 * k};
        set_fault(&config, 1, &fault);
        motet_context *c = sim_context(&config, "sim:0,cpu,sim:1");
        at_once runs[PIPE_OPS];
        pthread_t thread[PIPE_OPS];
        for (int i = 0; i < PIPE_OPS; i++) {
            runs[i] = (at_once){.context = c, .which = i};
            pipe_case_make(c, i, 40, 13, &runs[i].made);
        }
        for (int i = 0; i < PIPE_OPS; i++)
            assert_int_equal(pthread_create(&thread[i], NULL, run_one, &runs[i]), 0);
        for (int i = 0; i < PIPE_OPS; i++) pthread_join(thread[i], NULL);
        for (int i = 0; i < PIPE_OPS; i++) {
            assert_ok(c, runs[i].status);
            assert_ok(c, motet_array_digest(runs[i].made.out, got));
            assert_string_equal(got, expected[i]);
            pipe_case_free(&runs[i].made);
        }
        assert_nothing_held(c);
        motet_context_free(c);
        assert_int_equal(findings, 0);
    }
    toy_mistakes();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(losses_anywhere),
                                       cmocka_unit_test(losses_of_all),
                                       cmocka_unit_test(hangs_anywhere),
                                       cmocka_unit_test(refusals_anywhere),
                                       cmocka_unit_test(failing_host_allocations),
                                       cmocka_unit_test(cancelled_anywhere),
                                       cmocka_unit_test(runs_at_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
