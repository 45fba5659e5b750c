/* Calibration that cannot be done changes nothing. */
#include "sim/calibrate.h"

typedef struct kept {
    rt_weights weights[RT_WEIGHTINGS];
    int weightings;
    int there;
    rt_calibration record;
} kept;

static void keep(world *w, const char *operation, kept *k)
{
    memset(k, 0, sizeof *k);
    k->weightings = rt_weights_of(w->c, k->weights, RT_WEIGHTINGS);
    k->there = rt_calibration_of(w->c, operation, &k->record);
}

static void assert_as_kept(world *w, const char *operation, const kept *k)
{
    kept now;
    keep(w, operation, &now);
    assert_memory_equal(&now, k, sizeof now);
    assert_untouched(w);
}

/* A device that is lost or hangs at any time of the trials ends them; nothing is changed. */
static void a_loss_changes_nothing(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++)
        for (int64_t k = 1, over = 0; !over; k += 1 + k / 6) {
            world w;
            config_init(&w);
            begin(&w, "sim:0,sim:1", PIPE_UPDATE);
            assert_ok(w.c, motet_context_weights(w.c, NULL, 2, (double[]){1, 3}));
            const motet_calibrate_options quick = {sizeof quick, 0, 1, 1};
            calibrated(&w, &quick);
            kept before;
            keep(&w, "toy.update", &before);
            const sim_fault fault = {.lose_at_command = kind ? 0 : k,
                                     .hang_at_command = kind ? k : 0};
            sim_set_fault(w.c, 1, &fault);
            const motet_status st = rt_calibrate(w.c, &w.p.op, NULL, NULL);
            over = !atomic_load(&w.c->devices->set[1].lost);
            assert_int_equal(st, over ? MOTET_OK : MOTET_DEVICE_LOST);
            if (!over) {
                assert_message(w.c, "toy.update", "sim:1 was lost meanwhile", NULL);
                assert_as_kept(&w, "toy.update", &before);
            } else {
                assert_true(k > 50);
            }
            end(&w);
        }
}

typedef struct stopper {
    int calls, at;
} stopper;

static motet_go stop_at(const motet_progress *progress, void *user)
{
    stopper *s = user;
    (void)progress;
    return ++s->calls == s->at ? MOTET_STOP : MOTET_GO_ON;
}

/* Neither does a cancellation at any call of progress. */
static void a_cancellation_changes_nothing(void **state)
{
    (void)state;
    for (int k = 1, over = 0; !over; k += 1 + k / 8) {
        world w;
        config_init(&w);
        begin(&w, "sim:0,sim:1", PIPE_SMOOTH);
        stopper s = {0, k};
        w.c->options.progress = stop_at;
        w.c->options.progress_user = &s;
        kept before;
        keep(&w, "toy.smooth", &before);
        const motet_status st = rt_calibrate(w.c, &w.p.op, NULL, NULL);
        over = s.calls < k;
        assert_int_equal(st, over ? MOTET_OK : MOTET_CANCELLED);
        if (!over) assert_as_kept(&w, "toy.smooth", &before);
        assert_true(!over || k > 20);
        end(&w);
    }
}

/* Nor an allocation that fails, once or for good; nothing leaks. */
static void failing_allocations_change_nothing(void **state)
{
    (void)state;
    for (int forever = 0; forever < 2; forever++)
        for (int64_t nth = 1, over = 0; !over; nth += 1 + nth / 8) {
            world w;
            config_init(&w);
            begin_on(&w, test_context_failing(0, 0), "sim:0,sim:1", PIPE_UPDATE);
            const motet_calibrate_options quick = {sizeof quick, 0, 1, 0};
            kept before;
            keep(&w, "toy.update", &before);
            motet_memory held, after;
            motet_context_memory(w.c, &held);
            test_context_fail_at(w.c, nth, forever);
            const motet_status st = rt_calibrate(w.c, &w.p.op, &quick, NULL);
            over = !test_context_failed(w.c);
            test_context_fail_at(w.c, 0, 0);
            if (over) assert_int_equal(st, MOTET_OK);
            if (st != MOTET_OK) {
                assert_int_equal(st, MOTET_NO_MEMORY);
                assert_as_kept(&w, "toy.update", &before);
                motet_context_report_reset(w.c);
                motet_context_trim(w.c);
                motet_context_memory(w.c, &after);
                assert_true(after.blocks <= held.blocks);
            }
            char *json = NULL;
            test_context_fail_at(w.c, 1, 0);
            assert_int_not_equal(motet_context_calibration(w.c, "toy.update", &json), MOTET_OK);
            assert_null(json);
            test_context_fail_at(w.c, 0, 0);
            end(&w);
        }
}

/* A device that cannot hold the operation gets no part of it. */
static void what_does_not_fit_is_no_error(void **state)
{
    (void)state;
    world w;
    config_init(&w);
    w.config.device[1].memory = 24 << 10; /* three quarters of it: less than the whole input */
    begin(&w, "sim:0,sim:1", PIPE_SMOOTH);
    const rt_calibration r = calibrated(&w, NULL);
    assert_true(r.device[0].alone > 0);
    assert_true(r.device[1].alone == 0);
    assert_true(r.device[1].weight == 0); /* not even a part: each needs all of the input */
    assert_ok(w.c, rt_run(w.c, &w.p.op));
    end(&w);
    config_init(&w);
    w.config.device[0].memory = 24 << 10;
    begin(&w, "sim:0", PIPE_SMOOTH);
    kept before;
    keep(&w, "toy.smooth", &before);
    assert_status(w.c, rt_calibrate(w.c, &w.p.op, NULL, NULL), MOTET_OVER_BUDGET);
    assert_as_kept(&w, "toy.smooth", &before);
    end(&w);
}

/* A device that is lost already keeps its weight; the others are measured. */
static void lost_devices_keep_their_weight(void **state)
{
    (void)state;
    world w;
    config_init(&w);
    w.config.device[2].items_per_second = 3e6;
    begin(&w, "sim:0,sim:1,sim:2", PIPE_SMOOTH);
    assert_ok(w.c, motet_context_weights(w.c, "toy.smooth", 3, (double[]){2, 3, 1}));
    rt_device_lose(w.c, &w.c->devices->set[1], "the test says so");
    const rt_calibration r = calibrated(&w, NULL);
    assert_int_equal(r.device[1].part, 0);
    assert_near(r.device[1].weight, 1.5, 1e-9);
    assert_near(r.device[2].weight / r.device[0].weight, 3, 0.06);
    end(&w);

    config_init(&w); /* without weights it keeps its equal part; where it had all, all are anew */
    begin(&w, "sim:0,sim:1,sim:2", PIPE_SMOOTH);
    rt_device_lose(w.c, &w.c->devices->set[1], "the test says so");
    assert_near(calibrated(&w, NULL).device[1].weight, 1, 1e-9);
    assert_ok(w.c, motet_context_weights(w.c, "toy.smooth", 3, (double[]){0, 1, 0}));
    assert_true(calibrated(&w, NULL).device[0].weight > 0);
    kept before;
    keep(&w, "toy.smooth", &before);
    rt_device_lose(w.c, &w.c->devices->set[0], "the test says so");
    rt_device_lose(w.c, &w.c->devices->set[2], "the test says so");
    assert_status(w.c, rt_calibrate(w.c, &w.p.op, NULL, NULL), MOTET_DEVICE_LOST);
    assert_message(w.c, "no device is left", NULL);
    assert_as_kept(&w, "toy.smooth", &before);
    end(&w);
}

/* Whichever allocation fails, the record and the weights are as they were. */
static void records_survive_every_failing_allocation(void **state)
{
    (void)state;
    for (int there = 0; there < 2; there++)
        for (int64_t nth = 1, failed = 1; failed; nth++) {
            world w;
            config_init(&w);
            begin_on(&w, test_context_failing(0, 0), "sim:0,sim:1", PIPE_UPDATE);
            const motet_calibrate_options quick = {sizeof quick, 0, 1, 0};
            rt_calibration record = calibrated(&w, &quick);
            if (!there) snprintf(record.operation, sizeof record.operation, "toy.other");
            kept before;
            keep(&w, "toy.other", &before);
            test_context_fail_at(w.c, nth, 0);
            const motet_status st = rt_calibration_keep(w.c, &record);
            failed = test_context_failed(w.c);
            test_context_fail_at(w.c, 0, 0);
            assert_int_equal(st, failed ? MOTET_NO_MEMORY : MOTET_OK);
            if (failed) assert_as_kept(&w, "toy.other", &before);
            end(&w);
        }
}

/* What is asked for wrongly is refused by name; nothing is calibrated before it is. */
static void wrong_questions_are_refused(void **state)
{
    (void)state;
    world w;
    config_init(&w);
    begin(&w, "sim:0,sim:1", PIPE_SMOOTH);
    char *json = NULL;
    assert_status(w.c, motet_context_calibration(w.c, "toy.smooth", &json), MOTET_NOT_FOUND);
    assert_message(w.c, "toy.smooth", "not calibrated", NULL);
    static const struct {
        motet_calibrate_options o;
        const char *text;
    } bad[] = {{{0, 1, 3, 0}, "size is 0"},
               {{sizeof(motet_calibrate_options), -1, 3, 0}, "warm_up is -1"},
               {{sizeof(motet_calibrate_options), 1, 0, 0}, "repeats is 0"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_status(w.c, rt_calibrate(w.c, &w.p.op, &bad[i].o, NULL), MOTET_BAD_ARGUMENT);
        assert_message(w.c, bad[i].text, "expected", NULL);
    }
    rt_op op = w.p.op;
    op.name = "";
    assert_status(w.c, rt_calibrate(w.c, &op, NULL, NULL), MOTET_BAD_ARGUMENT);
    assert_message(w.c, "name is \"\"", NULL);
    char name[RT_WEIGHTS_NAME + 1];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    op.name = name;
    assert_status(w.c, rt_calibrate(w.c, &op, NULL, NULL), MOTET_BAD_ARGUMENT);
    op = w.p.op;
    op.axes = 0;
    assert_int_not_equal(rt_calibrate(w.c, &op, NULL, NULL), MOTET_OK);
    pipe_case empty;
    pipe_case_make(w.c, PIPE_SMOOTH, 0, 4, &empty);
    assert_status(w.c, rt_calibrate(w.c, &empty.op, NULL, NULL), MOTET_BAD_ARGUMENT);
    assert_message(w.c, "0 rows along axis 0", NULL);
    pipe_case_free(&empty);
    assert_status(w.c, motet_context_calibration(w.c, "toy.smooth", &json), MOTET_NOT_FOUND);
    end(&w);
}

static int64_t no_clock(void *user)
{
    (void)user;
    return 5;
}

/* A clock that stands still measures nothing. */
static void no_measured_time_is_an_error(void **state)
{
    (void)state;
    world w;
    config_init(&w);
    begin(&w, "sim:0,sim:1", PIPE_SMOOTH);
    w.c->options.clock = (motet_clock){no_clock, NULL};
    kept before;
    keep(&w, "toy.smooth", &before);
    assert_status(w.c, rt_calibrate(w.c, &w.p.op, NULL, NULL), MOTET_BAD_ARGUMENT);
    assert_message(w.c, "the clock measured no time", NULL);
    assert_as_kept(&w, "toy.smooth", &before);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_loss_changes_nothing),
                                       cmocka_unit_test(a_cancellation_changes_nothing),
                                       cmocka_unit_test(failing_allocations_change_nothing),
                                       cmocka_unit_test(what_does_not_fit_is_no_error),
                                       cmocka_unit_test(lost_devices_keep_their_weight),
                                       cmocka_unit_test(records_survive_every_failing_allocation),
                                       cmocka_unit_test(wrong_questions_are_refused),
                                       cmocka_unit_test(no_measured_time_is_an_error)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
