/* Every nth failing allocation and every nth failing call to a device, once and from then on, while
 * devices are opened, while arrays stay on them, while weights are measured and
 * printed, and while a journal is opened: the right status, what was there as it was, no leak. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <motet/journal.h>

#include "rt/calibrate.h"
#include "rt/part.h"
#include "support/pipe.h"

static int64_t findings;
static void found(const char *text, void *user)
{
    (void)user;
    if (!findings++) print_error("%s\n", text);
}

static void quiet(motet_log_level level, const char *component, const char *text, void *user)
{
    (void)level, (void)component, (void)text, (void)user;
}

static motet_context *context_with(const sim_fault *fault, const char *names)
{
    sim_config config;
    sim_config_init(&config);
    config.found = found;
    motet_context *c = sim_context(&config, names);
    c->options.log = quiet;
    sim_set_fault(c, 0, fault);
    return c;
}

/* ---- Devices ---- */

static void opening_survives_every_failing_allocation(void **state)
{
    (void)state;
    for (int forever = 0; forever < 2; forever++)
        for (int64_t nth = 1, failed = 1; failed; nth++) {
            motet_context *c = test_context_failing(0, 0);
            sim_config config;
            sim_config_init(&config);
            rt_devices_close(c);
            assert_ok(c, sim_configure(c, &config));
            test_context_fail_at(c, nth, forever);
            const motet_status st = rt_devices_open(c, "cpu,sim:0,sim:1");
            failed = test_context_failed(c);
            test_context_fail_at(c, 0, 0);
            assert_int_equal(st, failed ? MOTET_NO_MEMORY : MOTET_OK);
            if (failed) assert_null(c->devices);
            if (failed) assert_ok(c, rt_devices_open(c, "sim:0,cpu"));
            assert_int_equal(c->devices->count, failed ? 2 : 3);
            motet_context_free(c);
        }
}

static void states_and_numbers_are_checked(void **state)
{
    (void)state;
    motet_context *c = sim_context(NULL, "sim:0,cpu");
    motet_device_info info;
    motet_device_state told;
    for (int i = 0; i < 2; i++) {
        const int number = i ? 2 : -1;
        assert_status(c, motet_context_device(c, number, &info), MOTET_BAD_ARGUMENT);
        assert_message(c, "has 2", NULL);
        assert_status(c, motet_context_device_state(c, number, &told), MOTET_BAD_ARGUMENT);
        assert_message(c, "has 2", NULL);
    }
    rt_devices_close(c);
    static const char *const wrong[] = {
        "cpu:1", "cuda:0", "cuda:", "sim:0,sim:0", "cpu@x", "sim:0,"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_status(c, rt_devices_open(c, wrong[i]), MOTET_BAD_ARGUMENT);
        assert_null(c->devices);
    }
    assert_ok(c, rt_devices_open(c, "auto"));
    motet_context_free(c);
}

/* ---- Arrays that stay ---- */

enum { ROWS = 40, COLUMNS = 13 };

/* y += a x on x, y that stay, then home; *st: of the run. */
static motet_status update_away(motet_context *c, pipe_case *p, motet_status *fetched)
{
    motet_status st = rt_array_reside(p->in, RT_RESIDE_SHARDED);
    if (st == MOTET_OK) st = rt_array_reside(p->out, RT_RESIDE_SHARDED);
    const rt_run_options small = {.cut = {{6, 5}, 11}};
    if (st == MOTET_OK) st = rt_run_with(c, &p->op, &small);
    *fetched = motet_array_fetch(p->out);
    return st;
}

/* Each call fails: the run is whole or has changed nothing; values that could not be brought home
 * stay where they are, or are known to be lost. */
static void arrays_that_stay_survive_every_failing_call(void **state)
{
    (void)state;
    static const char *const sets[] = {"sim:0", "sim:0,sim:5", "cpu,sim:0"};
    for (int set = 0; set < 3; set++)
        for (int kind = 0; kind < 3; kind++)
            for (int64_t k = 1, over = 0; !over; k += 1 + k / 40) {
                const sim_fault fault = {.fail_call = kind < 2 ? k : 0,
                                         .fail_call_on = kind,
                                         .lose_at_call = kind == 2 ? k : 0},
                                none = {0};
                char want[33], before[33], got[33];
                pipe_expected(PIPE_UPDATE, ROWS, COLUMNS, want);
                motet_context *c = context_with(&none, sets[set]);
                pipe_case p;
                pipe_case_make(c, PIPE_UPDATE, ROWS, COLUMNS, &p);
                assert_ok(c, motet_array_digest(p.out, before));
                sim_counts counts;
                sim_set_fault(c, 0, &fault);
                motet_status fetched;
                const motet_status st = update_away(c, &p, &fetched);
                sim_count(c, 0, &counts);
                over = counts.calls < k;
                sim_set_fault(c, 0, &none);
                if (over) assert_true(st == MOTET_OK && fetched == MOTET_OK);
                const motet_status home = motet_array_digest(p.out, got);
                if (home == MOTET_OK)
                    assert_string_equal(got, st == MOTET_OK ? want : before);
                else
                    assert_int_equal(home, MOTET_DEVICE_LOST);
                assert_true(k < 4000);
                pipe_case_free(&p);
                toy_mistakes();
                motet_context_free(c);
                assert_int_equal(findings, 0);
            }
}

static void arrays_that_stay_survive_every_failing_allocation(void **state)
{
    (void)state;
    char want[33], before[33], got[33];
    pipe_expected(PIPE_UPDATE, ROWS, COLUMNS, want);
    for (int forever = 0; forever < 2; forever++)
        for (int64_t nth = 1, failed = 1; failed; nth++) {
            motet_context *c = test_context_failing(0, 0);
            c->options.log = quiet;
            sim_config config;
            sim_config_init(&config);
            config.found = found;
            assert_ok(c, sim_use(c, &config, "sim:0,sim:5"));
            pipe_case p;
            pipe_case_make(c, PIPE_UPDATE, ROWS, COLUMNS, &p);
            assert_ok(c, motet_array_digest(p.out, before));
            test_context_fail_at(c, nth, forever);
            motet_status fetched;
            const motet_status st = update_away(c, &p, &fetched);
            failed = test_context_failed(c);
            test_context_fail_at(c, 0, 0);
            assert_true(st == MOTET_OK || (failed && st == MOTET_NO_MEMORY));
            assert_true(fetched == MOTET_OK || (failed && fetched == MOTET_NO_MEMORY));
            assert_ok(c, motet_array_digest(p.out, got));
            assert_string_equal(got, st == MOTET_OK ? want : before);
            assert_ok(c, rt_array_reside(p.out, RT_RESIDE_HOME)); /* stays no more */
            assert_null(p.out->parts);
            assert_ok(c, rt_run(c, &p.op));
            pipe_case_free(&p);
            toy_mistakes();
            motet_context_free(c);
            assert_int_equal(findings, 0);
        }
}

/* ---- Calibrations ---- */

/* The same for the trials: weights and records are as they were, and the outputs, too. */
static void trials_survive_every_failing_call(void **state)
{
    (void)state;
    const motet_calibrate_options quick = {sizeof quick, 0, 1, 0};
    for (int kind = 0; kind < 3; kind++)
        for (int64_t k = 1, over = 0; !over; k += 1 + k / 6) {
            const sim_fault fault = {.fail_call = kind < 2 ? k : 0,
                                     .fail_call_on = kind,
                                     .lose_at_call = kind == 2 ? k : 0},
                            none = {0};
            motet_context *c = context_with(&none, "sim:0,sim:1");
            sim_clock clock;
            sim_clock_use(c, &clock);
            pipe_case p;
            pipe_case_make(c, PIPE_UPDATE, ROWS, COLUMNS, &p);
            char before[33], after[33];
            assert_ok(c, motet_array_digest(p.out, before));
            sim_counts counts;
            sim_set_fault(c, 0, &fault);
            const motet_status st = rt_calibrate(c, &p.op, &quick, NULL);
            sim_count(c, 0, &counts);
            over = counts.calls < k;
            if (over) assert_ok(c, st);
            rt_calibration record;
            assert_int_equal(rt_calibration_of(c, "toy.update", &record), st == MOTET_OK);
            assert_ok(c, motet_array_digest(p.out, after));
            assert_string_equal(after, before);
            pipe_case_free(&p);
            toy_mistakes();
            motet_context_free(c);
            assert_int_equal(findings, 0);
        }
}

static struct {
    int64_t calls, nth, blocks;
    int forever;
} text;

static void *text_allocate(size_t bytes)
{
    text.calls++;
    if (text.nth && (text.forever ? text.calls >= text.nth : text.calls == text.nth)) return NULL;
    text.blocks++;
    return malloc(bytes);
}

static void text_release(void *block)
{
    text.blocks -= block != NULL;
    free(block);
}

/* The print takes memory of its library's and of the context's: whichever fails, there is none. */
static void printing_survives_every_failing_allocation(void **state)
{
    (void)state;
    const motet_calibrate_options quick = {sizeof quick, 0, 1, 0};
    motet_context *c = test_context_failing(0, 0);
    sim_clock clock;
    sim_clock_use(c, &clock);
    assert_ok(c, sim_use(c, NULL, "sim:0,sim:1"));
    pipe_case p;
    pipe_case_make(c, PIPE_SMOOTH, ROWS, COLUMNS, &p);
    assert_ok(c, rt_calibrate(c, &p.op, &quick, NULL));
    char *want = NULL;
    assert_ok(c, motet_context_calibration(c, "toy.smooth", &want));
    for (int ours = 0; ours < 2; ours++)
        for (int forever = 0; forever < 2; forever++)
            for (int64_t nth = 1, failed = 1; failed; nth++) {
                motet_memory before, after;
                motet_context_memory(c, &before);
                json_set_alloc_funcs(text_allocate, text_release);
                text.calls = text.blocks = 0;
                text.forever = forever;
                text.nth = ours ? 0 : nth;
                test_context_fail_at(c, ours ? nth : 0, forever);
                char *json = NULL;
                const motet_status st = motet_context_calibration(c, "toy.smooth", &json);
                failed = ours ? test_context_failed(c) : text.calls >= nth;
                test_context_fail_at(c, 0, 0);
                text.nth = 0;
                json_set_alloc_funcs(malloc, free);
                assert_int_equal(text.blocks, 0);
                assert_int_equal(st, failed ? MOTET_NO_MEMORY : MOTET_OK);
                if (st == MOTET_OK) assert_string_equal(json, want);
                assert_int_equal(json != NULL, st == MOTET_OK);
                motet_text_free(c, json);
                motet_context_memory(c, &after);
                assert_int_equal(after.blocks, before.blocks);
                assert_true(nth < 2000);
            }
    motet_text_free(c, want);
    pipe_case_free(&p);
    toy_mistakes();
    motet_context_free(c);
}

/* ---- The journal ---- */

static void a_journal_survives_every_failing_allocation(void **state)
{
    (void)state;
    char want[33], got[33], before[33];
    for (int forever = 0; forever < 2; forever++)
        for (int64_t nth = 1, failed = 1; failed; nth++) {
            motet_context *c = test_context_failing(0, 0);
            c->options.log = quiet;
            pipe_case p;
            pipe_case_make(c, PIPE_SMOOTH, ROWS, COLUMNS, &p);
            assert_ok(c, motet_array_digest(p.out, before));
            p.op.fingerprint[1] = 3;
            motet_journal_options o;
            motet_journal_options_init(&o);
            o.folder = test_path("journal");
            test_context_fail_at(c, nth, forever);
            const motet_status opened = motet_context_journal(c, &o);
            const motet_status st = rt_run(c, &p.op);
            failed = test_context_failed(c);
            test_context_fail_at(c, 0, 0);
            assert_true(opened == MOTET_OK || (failed && opened == MOTET_NO_MEMORY));
            assert_true(st == MOTET_OK || (failed && st == MOTET_NO_MEMORY));
            pipe_expected(PIPE_SMOOTH, ROWS, COLUMNS, want);
            assert_ok(c, motet_array_digest(p.out, got));
            assert_string_equal(got, st == MOTET_OK ? want : before);
            assert_ok(c, motet_context_journal(c, &o)); /* its lock is free */
            assert_ok(c, rt_run(c, &p.op));
            assert_ok(c, motet_array_digest(p.out, got));
            assert_string_equal(got, want);
            pipe_case_free(&p);
            motet_context_free(c);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opening_survives_every_failing_allocation),
        cmocka_unit_test(states_and_numbers_are_checked),
        cmocka_unit_test(arrays_that_stay_survive_every_failing_call),
        cmocka_unit_test(arrays_that_stay_survive_every_failing_allocation),
        cmocka_unit_test(trials_survive_every_failing_call),
        cmocka_unit_test(printing_survives_every_failing_allocation),
        cmocka_unit_test(a_journal_survives_every_failing_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
