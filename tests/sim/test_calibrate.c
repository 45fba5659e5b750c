/* Calibration: who gets how much. */
#include "sim/calibrate.h"

/* Where transfers cost nothing, weights are the devices' speeds, and a run takes as long as all of
 * them together need. */
static void weights_follow_speed(void **state)
{
    (void)state;
    static const double speed[4] = {4e6, 1e6, 2e6, 1e6};
    world w;
    config_init(&w);
    for (int i = 0; i < 4; i++) w.config.device[i].items_per_second = speed[i];
    begin(&w, "sim:0,sim:1,sim:2,sim:3", PIPE_SMOOTH);
    const double equal = seconds_of_a_run(&w);
    pipe_case_free(&w.p);
    pipe_case_make(w.c, PIPE_SMOOTH, ROWS, COLUMNS, &w.p);
    assert_ok(w.c, motet_array_digest(w.p.out, w.before));
    const rt_calibration r = calibrated(&w, NULL);
    for (int i = 0; i < 4; i++) {
        assert_near(r.device[i].throughput, speed[i] / 2e6, 0.05);
        assert_near(r.device[i].weight, speed[i] / 2e6, 0.05);
        assert_true(r.device[i].former < 0);
    }
    assert_int_equal(r.reference, 0);
    assert_int_equal(r.choice, 0);
    assert_int_equal(r.bounded, 0);
    const double with = seconds_of_a_run(&w);
    assert_near(with, r.device[0].alone / 2, 0.12);
    assert_true(with < 0.7 * equal);
    end(&w);
}

/* A device whose link takes longer than the work itself gets nothing, and a run then takes as long
 * as without it. */
static void transfer_bound_work_stays_on_one_device(void **state)
{
    (void)state;
    world w;
    config_init(&w);
    w.config.device[1].upload = w.config.device[1].download = 1e5; /* 25 times the work */
    w.config.device[1].items_per_second = 1e9;
    begin(&w, "sim:1,sim:0", PIPE_SMOOTH);
    const rt_calibration r = calibrated(&w, NULL);
    assert_int_equal(r.reference, 1);
    assert_true(r.trial[r.choice].share == 0);
    assert_true(r.device[0].weight == 0);
    assert_near(r.device[1].weight, 2, 1e-9);
    const double with = seconds_of_a_run(&w);
    assert_near(with, r.device[1].alone, 0.03);
    sim_counts before, after;
    sim_count(w.c, 1, &before);
    seconds_of_a_run(&w);
    sim_count(w.c, 1, &after);
    assert_int_equal(after.commands, before.commands);
    end(&w);
}

/* Each device needs all of the input: that time does not shrink with its share, so its speed alone
 * says too much. The ladder finds a smaller share that is better. */
static void the_ladder_finds_a_smaller_share(void **state)
{
    (void)state;
    world w;
    config_init(&w);
    w.config.device[1].items_per_second = 2e6;
    const double compute = ROWS * COLUMNS / 2e6;
    w.config.device[1].upload = ROWS * COLUMNS * 4 / compute;
    begin(&w, "sim:0,sim:1", PIPE_SMOOTH);
    const rt_calibration r = calibrated(&w, NULL);
    const double chosen = r.trial[r.choice].share;
    assert_true(chosen < 1 && chosen > 0);
    const double with = seconds_of_a_run(&w);
    assert_true(with < 0.95 * r.trial[0].seconds);
    for (int i = 0; i < RT_LADDER; i++)
        assert_true(r.trial[i].skipped || r.trial[r.choice].seconds <= 1.03 * r.trial[i].seconds);
    end(&w);
}

/* While the trials go on device 1 is thirty times slower, but not any more when the decision
 * that it should idle is looked at again. */
static motet_go slow_for_a_while(const motet_progress *progress, void *user)
{
    world *w = user;
    if (strcmp(progress->phase, "calibrate") != 0) return MOTET_GO_ON;
    const int slow = progress->done >= 8 && progress->done < 27;
    sim_set_fault(w->c, 1, &(sim_fault){.slow_at_command = slow, .slow = 30});
    return MOTET_GO_ON;
}

/* A device is left idle only if that is better when it is looked at once more. */
static void a_disturbance_does_not_idle_a_device(void **state)
{
    (void)state;
    world w;
    config_init(&w);
    for (int i = 0; i < 2; i++) w.config.device[i].items_per_second = 1e4; /* 0.58 s alone */
    begin(&w, "sim:0,sim:1", PIPE_SMOOTH);
    w.c->options.progress = slow_for_a_while;
    w.c->options.progress_user = &w;
    const rt_calibration r = calibrated(&w, NULL);
    const double alone = r.device[r.reference].alone;
    assert_true(r.trial[r.choice].seconds > 1.5 * alone); /* it was measured when it was slow */
    assert_true(r.trial[r.choice].share > 0);
    assert_true(r.device[0].weight > 0 && r.device[1].weight > 0);
    end(&w);
}

/* Operations with every kind of port are calibrated. Sums begin with what is there in each trial:
 * those that just fit in one run do not overflow. Who takes results hears nothing. */
static void every_kind_of_port(void **state)
{
    (void)state;
    for (int which = 0; which < PORTS_CASES; which++) {
        world w;
        config_init(&w);
        begin(&w, "sim:0,sim:1", PIPE_SMOOTH);
        ports_case p;
        ports_case_make(w.c, which, 60, 12, &p);
        if (which == PORTS_COUNT) {
            int64_t *now = p.out->data, *then = p.expected;
            assert_true(then[0] > now[0]);
            now[0] += INT64_MAX - then[0];
            then[0] = INT64_MAX;
        }
        char before[33], after[33];
        assert_ok(w.c, motet_array_digest(p.out, before));
        assert_ok(w.c, rt_calibrate(w.c, &p.op, NULL, NULL));
        assert_ok(w.c, motet_array_digest(p.out, after));
        assert_string_equal(after, before);
        assert_true(p.sink.takes == 0 && p.sink.ends == 0);
        assert_ok(w.c, rt_run(w.c, &p.op));
        assert_true(ports_right(&p));
        ports_case_free(&p);
        end(&w);
    }
    ports_mistakes();
}

/* Finished chunks in a journal are not taken for measured ones, and none is added. */
static void a_journal_is_left_alone(void **state)
{
    (void)state;
    world w;
    config_init(&w);
    begin(&w, "sim:0,sim:1", PIPE_PROJECT);
    motet_journal_options o;
    motet_journal_options_init(&o);
    o.file = memfd_create("journal", 0);
    assert_true(o.file >= 0);
    assert_ok(w.c, motet_context_journal(w.c, &o));
    for (int i = 0; i < 2; i++) {
        motet_journal_counts before, after;
        motet_context_journal_counts(w.c, &before);
        calibrated(&w, NULL);
        motet_context_journal_counts(w.c, &after);
        assert_int_equal(after.found, before.found);
        assert_int_equal(after.kept, before.kept);
        assert_int_equal(before.kept > 0, i > 0);
        assert_ok(w.c, rt_run(w.c, &w.p.op)); /* this one is kept */
        assert_ok(w.c, motet_array_digest(w.p.out, w.before));
    }
    end(&w);
    close(o.file);
}

/* Trials take one copy of what is written, as a run does, and no more. */
static void trials_take_what_runs_take(void **state)
{
    (void)state;
    uint64_t peak[2], bytes = 0;
    for (int calibrates = 0; calibrates < 2; calibrates++) {
        world w;
        config_init(&w);
        begin(&w, "sim:0,sim:1", PIPE_SMOOTH);
        pipe_case_free(&w.p);
        pipe_case_make(w.c, PIPE_SMOOTH, 8000, 64, &w.p);
        assert_ok(w.c, motet_array_digest(w.p.out, w.before));
        const motet_calibrate_options quick = {sizeof quick, 0, 1, 1};
        if (calibrates) calibrated(&w, &quick);
        for (int device = 0; device < 2 && !calibrates; device++) {
            const rt_weights alone = {.count = 2, .weight = {!device, device}};
            const rt_run_options o = {.weights = &alone, .weightings = 1};
            assert_ok(w.c, rt_run_with(w.c, &w.p.op, &o));
        }
        motet_memory memory;
        motet_context_memory(w.c, &memory);
        peak[calibrates] = memory.peak;
        bytes = w.p.out->bytes;
        end(&w);
    }
    assert_true(peak[1] < peak[0] + bytes / 8);
}

/* Trials give the same record again, and the same weights in an order of devices of any kind. */
static void records_repeat(void **state)
{
    (void)state;
    char *json[2];
    world w[2];
    for (int i = 0; i < 2; i++) {
        config_init(&w[i]);
        w[i].config.jitter = 1;
        w[i].config.seed = 7;
        w[i].config.device[1].items_per_second = 3e5;
        begin(&w[i], "sim:0,sim:1", PIPE_SUM);
        calibrated(&w[i], NULL);
        assert_ok(w[i].c, motet_context_calibration(w[i].c, "toy.sum", &json[i]));
    }
    assert_string_equal(json[0], json[1]);
    static const char *const words[] = {"\"operation\": \"toy.sum\"",
                                        "\"rows\": 17",
                                        "\"repeats\": 3",
                                        "\"alone_seconds\": ",
                                        "\"former_weight\": null",
                                        "\"reference\": \"sim:0\"",
                                        "\"chosen_share\": ",
                                        "\"drifted\": false",
                                        "\"skipped\": null"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strstr(json[0], words[i])) fail_msg("no %s in %s", words[i], json[0]);
    for (int i = 0; i < 2; i++) {
        motet_text_free(w[i].c, json[i]);
        end(&w[i]);
    }
}

/* Single runs that take up to 16 times as long do not change the picture: the best of three by
 * turns counts. */
static void slow_runs_do_not_matter(void **state)
{
    (void)state;
    int wrong = 0;
    for (uint64_t seed = 0; seed < 24; seed++) {
        world w;
        config_init(&w);
        w.config.seed = seed;
        w.config.jitter = 0.2;
        w.config.device[0].items_per_second = 3e6;
        begin(&w, "sim:0,sim:1", PIPE_SMOOTH);
        const rt_calibration r = calibrated(&w, NULL);
        assert_int_equal(r.reference, 0);
        wrong += !(r.device[0].weight > 1.2 && r.device[0].weight < 1.8); /* 1.5 */
        assert_true(r.device[1].weight > 0);
        end(&w);
    }
    assert_true(wrong <= 2);
}

/* Each operation of CT is calibrated by its own name, on data made up for it. */
static void operations_of_ct_are_calibrated(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {"ct.project"}, {"ct.backproject"}, {"ct.filter"}, {"ct.filter", "ct.backproject"}};
    for (int operation = MOTET_CT_PROJECT; operation <= MOTET_CT_RECON; operation++) {
        world w;
        config_init(&w);
        w.config.device[1].items_per_second = 3e5;
        begin(&w, "sim:0,sim:1", PIPE_PROJECT);
        motet_memory before, after;
        motet_context_memory(w.c, &before);
        assert_ok(w.c, motet_ct_calibrate(w.p.geometry, (motet_ct_operation)operation, NULL));
        assert_untouched(&w);
        rt_weights set[RT_WEIGHTINGS];
        const int count = rt_weights_of(w.c, set, RT_WEIGHTINGS);
        assert_int_equal(count, 1 + (operation == MOTET_CT_RECON));
        for (int i = 0; i < count; i++) {
            assert_string_equal(set[i].operation, names[operation][i]);
            assert_true(set[i].weight[0] > 1.3);
            char *json;
            assert_ok(w.c, motet_context_calibration(w.c, set[i].operation, &json));
            motet_text_free(w.c, json);
        }
        motet_context_report_reset(w.c);
        motet_context_trim(w.c);
        motet_context_memory(w.c, &after);
        assert_true(after.now < before.now + 20000);
        const motet_calibrate_options bad = {sizeof bad, 0, 0, 0};
        assert_status(w.c, motet_ct_calibrate(w.p.geometry, (motet_ct_operation)operation, &bad),
                      MOTET_BAD_ARGUMENT);
        assert_status(w.c, motet_ct_calibrate(w.p.geometry, (motet_ct_operation)17, NULL),
                      MOTET_BAD_ARGUMENT);
        assert_message(w.c, "operation is 17", NULL);
        end(&w);
    }
}

/* Whatever the weights, the bits are those of the cpu. */
static void bits_stay_the_same(void **state)
{
    (void)state;
    for (int which = 0; which < PIPE_OPS; which++)
        for (int set = 0; set < 4; set++) {
            char expected[33], got[33];
            pipe_expected(which, ROWS, COLUMNS, expected);
            world w;
            config_init(&w);
            w.config.seed = (uint64_t)set;
            w.config.jitter = 1;
            for (int i = 0; i < SIM_DEVICES; i++) {
                w.config.device[i].items_per_second = 1e5 * (1 + (i * 5 + set) % 7);
                w.config.device[i].upload = 1e7 * (1 + (i * 3 + set) % 5);
            }
            begin(&w, pipe_sets[set + (set == 3)], which);
            calibrated(&w, NULL);
            assert_ok(w.c, rt_run(w.c, &w.p.op));
            assert_ok(w.c, motet_array_digest(w.p.out, got));
            assert_string_equal(got, expected);
            end(&w);
        }
}

/* A weight that was set before is changed by a factor of four at most; calibrating again gets
 * there. */
static void steps_are_bounded(void **state)
{
    (void)state;
    world w;
    config_init(&w);
    begin(&w, "sim:0,sim:1", PIPE_SMOOTH);
    assert_ok(w.c, motet_context_weights(w.c, "toy.smooth", 2, (double[]){1, 199}));
    double former = 0.01;
    int bounded = 0;
    for (int i = 0; i < 5; i++) {
        const rt_calibration r = calibrated(&w, NULL);
        assert_near(r.device[0].former, former, 1e-9);
        assert_true(r.device[0].weight <= 4.001 * former);
        bounded += r.bounded;
        former = r.device[0].weight;
        rt_weights set[RT_WEIGHTINGS];
        assert_int_equal(rt_weights_of(w.c, set, RT_WEIGHTINGS), 1);
        assert_string_equal(set[0].operation, "toy.smooth");
        for (int d = 0; d < 2; d++) assert_true(set[0].weight[d] == r.device[d].weight);
    }
    assert_true(bounded >= 2);
    assert_near(former, 1, 0.05);
    end(&w);
}

/* Weightings that give the same rows are measured once. */
static void duplicates_are_skipped(void **state)
{
    (void)state;
    world w;
    config_init(&w);
    begin(&w, "sim:0,sim:1", PIPE_SMOOTH);
    pipe_case_free(&w.p);
    pipe_case_make(w.c, PIPE_SMOOTH, 3, 2, &w.p);
    assert_ok(w.c, motet_array_digest(w.p.out, w.before));
    sim_counts counts;
    sim_count(w.c, 0, &counts);
    const rt_calibration r = calibrated(&w, NULL);
    int measured = 0;
    for (int i = 0; i < RT_LADDER; i++) {
        measured += !r.trial[i].skipped;
        assert_int_equal(!r.trial[i].skipped, r.trial[i].seconds > 0);
        assert_int_equal(r.trial[i].rows[0] + r.trial[i].rows[1], 3);
        for (int j = 0; j < i; j++)
            if (!r.trial[i].skipped && !r.trial[j].skipped)
                assert_int_not_equal(r.trial[i].rows[0], r.trial[j].rows[0]);
    }
    assert_true(measured >= 2 && measured <= 3);
    end(&w);
}

/* An operation that says that a small share is not worth it is measured with such shares all the
 * same, and keeps its say in runs. */
static void trials_ignore_the_smallest_share(void **state)
{
    (void)state;
    world w;
    config_init(&w);
    begin(&w, "sim:0,sim:1", PIPE_SMOOTH);
    w.p.op.shard_rows = 1 << 20;
    const rt_calibration r = calibrated(&w, NULL);
    for (int i = 0; i < RT_LADDER - 1; i++) assert_true(r.trial[i].rows[1] > 0);
    assert_int_equal(w.p.op.shard_rows, 1 << 20);
    sim_counts before, after;
    sim_count(w.c, 1, &before);
    seconds_of_a_run(&w);
    sim_count(w.c, 1, &after);
    assert_int_equal(after.items, before.items);
    end(&w);
}

/* Without the ladder: the weights are those of the devices alone. One device has all of it. */
static void throughput_only(void **state)
{
    (void)state;
    for (int devices = 1; devices <= 2; devices++) {
        world w;
        config_init(&w);
        w.config.device[1].upload = 1e5;
        begin(&w, devices == 1 ? "sim:0" : "sim:0,sim:1", PIPE_SMOOTH);
        motet_calibrate_options o;
        motet_calibrate_options_init(&o);
        assert_int_equal(o.warm_up, 1);
        assert_int_equal(o.repeats, 3);
        o.throughput_only = devices == 2;
        const rt_calibration r = calibrated(&w, &o);
        assert_int_equal(r.trials, 0);
        assert_int_equal(r.choice, -1);
        if (devices == 1)
            assert_true(r.device[0].weight == 1);
        else
            assert_near(r.device[0].weight / r.device[1].weight,
                        r.device[1].alone / r.device[0].alone, 1e-6);
        char *json;
        assert_ok(w.c, motet_context_calibration(w.c, "toy.smooth", &json));
        assert_non_null(strstr(json, "\"chosen_share\": null"));
        motet_text_free(w.c, json);
        end(&w);
    }
}

/* The choice is the largest share within 3 % of the fastest, whatever was skipped. */
static void the_largest_share_near_the_best_wins(void **state)
{
    (void)state;
    static const double seconds[RT_LADDER] = {1.02, 1, 1, 0, 5};
    rt_trial t[RT_LADDER];
    memset(t, 0, sizeof t);
    for (int i = 0; i < RT_LADDER; i++) t[i].seconds = seconds[i];
    assert_int_equal(rt_ladder_choose(t, RT_LADDER), 0);
    t[0].seconds = 1.04;
    assert_int_equal(rt_ladder_choose(t, RT_LADDER), 1);
    t[1].seconds = t[2].seconds = 0;
    assert_int_equal(rt_ladder_choose(t, RT_LADDER), 0);
    t[4].seconds = 1;
    assert_int_equal(rt_ladder_choose(t, RT_LADDER), 4);
    t[0].seconds = t[4].seconds = 0;
    assert_int_equal(rt_ladder_choose(t, RT_LADDER), -1);

    double weights[3] = {0, 8, 1};
    assert_int_equal(rt_weights_bound(weights, (double[]){7, 1, 1}, 3), 1);
    assert_near(weights[0], 4, 1e-9);
    assert_near(weights[1], 4, 1e-9);
    assert_near(weights[2], 1, 1e-9);
    assert_int_equal(rt_weights_bound(weights, (double[]){8, 0, 1}, 3), 0);
    double small[2] = {0.1, 1.9};
    assert_int_equal(rt_weights_bound(small, (double[]){1, 1}, 2), 1);
    assert_near(small[0], 0.25, 1e-9);
    assert_near(small[1], 1.75, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(weights_follow_speed),
                                       cmocka_unit_test(transfer_bound_work_stays_on_one_device),
                                       cmocka_unit_test(the_ladder_finds_a_smaller_share),
                                       cmocka_unit_test(a_disturbance_does_not_idle_a_device),
                                       cmocka_unit_test(every_kind_of_port),
                                       cmocka_unit_test(a_journal_is_left_alone),
                                       cmocka_unit_test(trials_take_what_runs_take),
                                       cmocka_unit_test(records_repeat),
                                       cmocka_unit_test(slow_runs_do_not_matter),
                                       cmocka_unit_test(operations_of_ct_are_calibrated),
                                       cmocka_unit_test(bits_stay_the_same),
                                       cmocka_unit_test(steps_are_bounded),
                                       cmocka_unit_test(duplicates_are_skipped),
                                       cmocka_unit_test(trials_ignore_the_smallest_share),
                                       cmocka_unit_test(throughput_only),
                                       cmocka_unit_test(the_largest_share_near_the_best_wins)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
