/* Runs that leave their calibration ask for another one. */
#include "sim/calibrate.h"

/* Runs as they were calibrated do not ask for more; when a device has become slower, they do after
 * three of them. */
static void runs_notice_drift(void **state)
{
    (void)state;
    world w;
    config_init(&w);
    w.config.device[1].items_per_second = 5e5;
    begin(&w, "sim:0,sim:1", PIPE_SMOOTH);
    calibrated(&w, NULL);
    rt_calibration r;
    for (int i = 1; i <= 5; i++) {
        seconds_of_a_run(&w);
        assert_int_equal(rt_calibration_of(w.c, "toy.smooth", &r), 1);
        assert_int_equal(r.runs, i);
        assert_int_equal(r.far, 0);
    }
    sim_set_fault(w.c, 1, &(sim_fault){.slow_at_command = 1, .slow = 2});
    for (int i = 1; i <= 4; i++) {
        seconds_of_a_run(&w);
        assert_int_equal(rt_calibration_of(w.c, "toy.smooth", &r), 1);
        assert_int_equal(r.far, i);
        assert_int_equal(r.drifted, i >= 3);
    }
    char *json;
    assert_ok(w.c, motet_context_calibration(w.c, "toy.smooth", &json));
    assert_non_null(strstr(json, "\"drifted\": true"));
    motet_text_free(w.c, json);
    pipe_case_free(&w.p);
    pipe_case_make(w.c, PIPE_SMOOTH, ROWS, COLUMNS, &w.p);
    assert_ok(w.c, motet_array_digest(w.p.out, w.before));
    calibrated(&w, NULL);
    for (int i = 1; i <= 4; i++) seconds_of_a_run(&w);
    assert_int_equal(rt_calibration_of(w.c, "toy.smooth", &r), 1);
    assert_int_equal(r.drifted || r.far, 0);
    assert_near(r.device[0].weight / r.device[1].weight, 4, 0.1);
    end(&w);
}

/* Times that leave the record by half, three runs in a row, ask for a calibration, once. */
static void drift_asks_for_a_calibration(void **state)
{
    (void)state;
    world w;
    config_init(&w);
    w.config.device[1].items_per_second = 5e5;
    begin(&w, "sim:0,sim:1", PIPE_SMOOTH);
    rt_calibration r = calibrated(&w, NULL);
    const double a = r.device[0].pace, b = r.device[1].pace;
    const int64_t rows[RT_DEVICES] = {160, 80};
    double good[RT_DEVICES] = {a * 2 / 3, b / 3}, slow[RT_DEVICES] = {a * 2 / 3, b / 3 * 1.6};
    double all[RT_DEVICES] = {a * 2, b};
    assert_int_equal(rt_drift_far(&r, 1, good, rows), 0);
    assert_int_equal(rt_drift_far(&r, 1, slow, rows), 1);
    assert_int_equal(rt_drift_far(&r, 1, all, rows), 1);
    assert_int_equal(rt_drift_far(&r, 0, all, rows), 0); /* another box: three times the work */
    slow[1] = b / 3 * 2.5;
    assert_int_equal(rt_drift_far(&r, 0, slow, rows), 1);
    assert_int_equal(rt_drift_far(&r, 0, slow, (int64_t[RT_DEVICES]){160, 0}), 0);
    assert_int_equal(rt_drift_far(&r, 1, slow, (int64_t[RT_DEVICES]){0}), 0);
    assert_int_equal(rt_drift_far(&r, 1, (double[RT_DEVICES]){0}, rows), 0);
    rt_calibration unknown = r; /* a device that was not measured */
    unknown.device[1].pace = 0;
    assert_int_equal(rt_drift_far(&unknown, 1, good, rows), 0);

    static const int far[] = {1, 1, 0, 1, 1, 1, 0, 1};
    for (int i = 0; i < 8; i++) {
        rt_drift_note(w.c, &w.p.op, far[i] ? slow : good, rows);
        assert_int_equal(rt_calibration_of(w.c, "toy.smooth", &r), 1);
        assert_int_equal(r.runs, i + 1);
        assert_int_equal(r.drifted, i >= 5);
    }
    calibrated(&w, NULL);
    assert_int_equal(rt_calibration_of(w.c, "toy.smooth", &r), 1);
    assert_int_equal(r.drifted, 0);
    for (int i = 0; i < 3; i++) { /* of other boxes: compared with each other only */
        rt_op larger = w.p.op;
        if (i) larger.extent[1]++;
        if (i < 2) larger.stream_extent++;
        rt_drift_note(w.c, &larger, all, rows);
        assert_int_equal(rt_calibration_of(w.c, "toy.smooth", &r), 1);
        assert_int_equal(r.far, 0);
    }
    rt_op other = w.p.op;
    other.name = "toy.other";
    rt_drift_note(w.c, &other, slow, rows); /* has no record */
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(runs_notice_drift),
                                       cmocka_unit_test(drift_asks_for_a_calibration)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
