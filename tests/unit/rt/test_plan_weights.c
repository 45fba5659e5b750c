/* Weights and memory that a context is told: what is refused, and that runs heed them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rt/weights.h"
#include "support/pipe.h"

static void wrong_weights_are_refused_by_name(void **state)
{
    (void)state;
    motet_context *c = sim_context(NULL, "sim:0,sim:1");
    const double good[2] = {1, 3}, negative[2] = {1, -2}, infinite[2] = {INFINITY, 1},
                 not_a_number[2] = {1, NAN}, none[2] = {0, 0}, three[3] = {1, 2, 3};
    char name[70] = "";
    memset(name, 'x', 64);
    assert_status(c, motet_context_weights(c, "ct.filter", 3, three), MOTET_BAD_ARGUMENT);
    assert_message(c, "ct.filter", "1, 2, 3", "expected 2", NULL);
    assert_status(c, motet_context_weights(c, NULL, 2, negative), MOTET_BAD_ARGUMENT);
    assert_message(c, "all operations", "1, -2", NULL);
    assert_status(c, motet_context_weights(c, NULL, 2, infinite), MOTET_BAD_ARGUMENT);
    assert_status(c, motet_context_weights(c, NULL, 2, not_a_number), MOTET_BAD_ARGUMENT);
    assert_status(c, motet_context_weights(c, NULL, 2, none), MOTET_BAD_ARGUMENT);
    assert_message(c, "0, 0", NULL);
    assert_status(c, motet_context_weights(c, NULL, -1, good), MOTET_BAD_ARGUMENT);
    assert_status(c, motet_context_weights(c, "", 2, good), MOTET_BAD_ARGUMENT);
    assert_status(c, motet_context_weights(c, " ", 2, good), MOTET_BAD_ARGUMENT);
    assert_message(c, "\" \"", "expected a name", NULL);
    assert_status(c, motet_context_weights(c, "rub\x7f", 2, good), MOTET_BAD_ARGUMENT);
    const double many[RT_DEVICES + 1] = {1, 1};
    assert_status(c, motet_context_weights(c, NULL, RT_DEVICES + 1, many), MOTET_BAD_ARGUMENT);
    assert_status(c, motet_context_weights(c, name, 2, good), MOTET_BAD_ARGUMENT);
    rt_weights got[RT_WEIGHTINGS];
    assert_int_equal(rt_weights_of(c, got, RT_WEIGHTINGS), 0);
    name[63] = 0;
    assert_ok(c, motet_context_weights(c, name, 2, good));
    motet_context_free(c);
}

static void weights_are_kept_replaced_and_forgotten(void **state)
{
    (void)state;
    motet_context *c = sim_context(NULL, "sim:0,sim:1");
    rt_weights got[RT_WEIGHTINGS];
    assert_ok(c, motet_context_weights(c, NULL, 2, (const double[]){1, 3}));
    assert_ok(c, motet_context_weights(c, "toy", 2, (const double[]){1, 0}));
    assert_ok(c, motet_context_weights(c, "toy", 2, (const double[]){2, 5}));
    assert_int_equal(rt_weights_of(c, got, RT_WEIGHTINGS), 2);
    assert_null(got[0].operation);
    assert_string_equal(got[1].operation, "toy");
    assert_true(got[0].weight[1] == 3 && got[1].weight[0] == 2 && got[1].weight[1] == 5);
    assert_int_equal(rt_weights_of(c, got, 1), 1);
    assert_ok(c, motet_context_weights(c, NULL, 0, NULL));
    assert_int_equal(rt_weights_of(c, got, RT_WEIGHTINGS), 1);
    assert_string_equal(got[0].operation, "toy");
    char name[16];
    for (int i = 2; i < RT_WEIGHTINGS - 1; i++) { /* the last is for what is usual */
        snprintf(name, sizeof name, "op%d", i);
        assert_ok(c, motet_context_weights(c, name, 2, (const double[]){1, 3}));
    }
    assert_status(c, motet_context_weights(c, "more", 2, (const double[]){1, 3}),
                  MOTET_BAD_ARGUMENT);
    assert_message(c, "more", "32", NULL);
    motet_context_free(c);
}

static void chunks_of(motet_context *c, int64_t chunks[2])
{
    for (int i = 0; i < 2; i++) chunks[i] = atomic_load(&c->devices->set[i].chunks);
}

/* The longest name that means the operation wins, and 0 idles a device. */
static void runs_heed_the_weights_of_their_operation(void **state)
{
    (void)state;
    motet_context *c = sim_context(NULL, "sim:0,sim:1");
    const motet_array *in = toy_array(c, 400, 64, 1), *out = toy_array(c, 400, 64, 2);
    const rt_op op = toy_smooth(in, out);
    char expected[33], got[33];
    int64_t chunks[2];
    assert_ok(c, rt_run(c, &op));
    assert_ok(c, motet_array_digest(out, expected));
    chunks_of(c, chunks);
    assert_true(chunks[0] > 0 && chunks[1] > 0);
    assert_ok(c, motet_context_weights(c, "other", 2, (const double[]){0, 1}));
    motet_context_report_reset(c);
    assert_ok(c, rt_run(c, &op));
    chunks_of(c, chunks);
    assert_true(chunks[0] > 0 && chunks[1] > 0);
    assert_ok(c, motet_context_weights(c, NULL, 2, (const double[]){0, 1}));
    motet_context_report_reset(c);
    assert_ok(c, rt_run(c, &op));
    chunks_of(c, chunks);
    assert_true(chunks[0] == 0 && chunks[1] > 0);
    assert_ok(c, motet_context_weights(c, op.name, 2, (const double[]){1, 0}));
    motet_context_report_reset(c);
    assert_ok(c, rt_run(c, &op));
    chunks_of(c, chunks);
    assert_true(chunks[0] > 0 && chunks[1] == 0);
    assert_ok(c, motet_array_digest(out, got));
    assert_string_equal(got, expected);
    motet_array_free((motet_array *)(uintptr_t)in);
    motet_array_free((motet_array *)(uintptr_t)out);
    motet_context_free(c);
}

/* The option bounds each device with memory of its own; what does not fit is refused. */
static void runs_stay_within_the_memory_that_the_context_is_told(void **state)
{
    (void)state;
    motet_context *c = sim_context(NULL, "sim:0");
    motet_array *in = toy_array(c, 400, 64, 1), *out = toy_array(c, 400, 64, 2);
    const rt_op op = toy_smooth(in, out);
    sim_counts counts;
    c->options.memory = 120000; /* two arrays of 102,400 bytes */
    assert_ok(c, rt_run(c, &op));
    sim_count(c, 0, &counts);
    assert_true(counts.used_peak > 0 && counts.used_peak <= 120000);
    c->options.memory = 1000;
    assert_status(c, rt_run(c, &op), MOTET_OVER_BUDGET);
    assert_message(c, "the budget is 1000 bytes", NULL);
    motet_array_free(in);
    motet_array_free(out);
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_weights_are_refused_by_name),
        cmocka_unit_test(weights_are_kept_replaced_and_forgotten),
        cmocka_unit_test(runs_heed_the_weights_of_their_operation),
        cmocka_unit_test(runs_stay_within_the_memory_that_the_context_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
