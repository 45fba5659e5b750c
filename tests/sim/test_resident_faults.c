/* Arrays that stay on devices, when devices are lost or hang, memory fails, or an edge is missing.
 */
#include "sim/resident.h"

static int64_t findings;
static void found(const char *text, void *user)
{
    (void)user;
    if (!findings++) print_error("%s\n", text);
}

static motet_context *context_with(const sim_fault *fault, int number, const char *names)
{
    sim_config config;
    sim_config_init(&config);
    config.found = found;
    config.device[number].fault = *fault;
    return sim_context(&config, names);
}

/* All host values, as bytes, after a fetch; 0: they are lost. */
static int save(motet_context *c, motet_array *a, float *to)
{
    const motet_status st = motet_array_fetch(a);
    if (st != MOTET_OK) assert_int_equal(st, MOTET_DEVICE_LOST);
    if (st != MOTET_OK) assert_message(c, "written anew", NULL);
    if (st == MOTET_OK)
        memcpy(to, motet_array_data(a), (size_t)motet_array_elements(a) * sizeof *to);
    return st == MOTET_OK;
}

static void restore(motet_array *a, const float *from)
{
    memcpy(motet_array_data(a), from, (size_t)motet_array_elements(a) * sizeof *from);
    motet_array_changed(a);
}

/* A device is lost at each of its commands. The run that meets it answers DEVICE_LOST and changes
 * nothing; what was there and is lost is known to be lost. With what was saved before the step the
 * work goes on, and has the same bits. */
static void losses_anywhere(void **state)
{
    (void)state;
    char x[33], s[33], got[33];
    steps_expected(x, s);
    static const char *const sets[] = {"sim:0,sim:5", "cpu,sim:0", "sim:0,sim:1,sim:2"};
    for (int set = 0; set < 3; set++)
        for (int64_t k = 1, over = 0; !over; k += 1 + k / 20) {
            const sim_fault fault = {.lose_at_command = k};
            motet_context *c = context_with(&fault, 0, sets[set]);
            steps p;
            steps_make(c, &p);
            steps_reside(&p);
            const rt_run_options o = {.cut = {{0}, 0}};
            static float saved[ROWS * COLUMNS], now[ROWS * COLUMNS];
            assert_true(save(c, p.x, saved));
            for (int n = 0; n < STEPS;) {
                motet_status st = step(c, &p, &o);
                if (st == MOTET_OK) st = save(c, p.x, now) ? MOTET_OK : MOTET_DEVICE_LOST;
                if (st == MOTET_OK) {
                    memcpy(saved, now, sizeof saved);
                    n++;
                    continue;
                }
                assert_int_equal(st, MOTET_DEVICE_LOST);
                restore(p.x, saved);
            }
            assert_ok(c, motet_array_digest(p.x, got));
            assert_string_equal(got, x);
            if (!save(c, p.s, now)) { /* of the last state, which the host has now */
                const rt_op sum = toy_sum(p.w, p.x, p.s);
                assert_ok(c, rt_run_with(c, &sum, &o));
            }
            assert_ok(c, motet_array_digest(p.s, got));
            assert_string_equal(got, s);
            sim_counts counts;
            sim_count(c, 0, &counts);
            over = !counts.losses;
            steps_free(&p);
            toy_mistakes();
            motet_context_free(c);
            assert_int_equal(findings, 0);
            assert_true(k < 4000);
        }
}

/* What is only read and has its values at home costs nobody the run. */
static void inputs_have_a_home(void **state)
{
    (void)state;
    char expected[33], got[33];
    pipe_expected(PIPE_SUM, 40, 13, expected);
    for (int64_t k = 1, over = 0; !over; k++) {
        const sim_fault fault = {.lose_at_command = k};
        motet_context *c = context_with(&fault, 0, k % 2 ? "sim:0,sim:5" : "cpu,sim:0");
        pipe_case p;
        pipe_case_make(c, PIPE_SUM, 40, 13, &p);
        rt_array_reside(p.in, RT_RESIDE_REPLICATED);
        rt_array_reside(p.with, RT_RESIDE_SHARDED);
        const rt_run_options o = {.cut = {{6, 5}, 11}};
        for (int n = 0; n < 2; n++) {
            assert_ok(c, rt_run_with(c, &p.op, &o));
            assert_ok(c, motet_array_digest(p.out, got));
            assert_string_equal(got, expected);
        }
        sim_counts counts;
        sim_count(c, 0, &counts);
        over = !counts.losses;
        pipe_case_free(&p);
        toy_mistakes();
        motet_context_free(c);
        assert_int_equal(findings, 0);
    }
}

/* An operation that writes all of a broken array makes it whole. */
static void writing_heals(void **state)
{
    (void)state;
    motet_context *c = context_for(1, "sim:0,sim:1");
    steps p;
    steps_make(c, &p);
    steps_reside(&p);
    const rt_op smooth = toy_smooth(p.x, p.u), update = toy_update(p.u, p.x);
    assert_ok(c, rt_run(c, &smooth));
    rt_device_lose(c, &c->devices->set[1], "for the test");
    assert_status(c, motet_array_fetch(p.u), MOTET_DEVICE_LOST);
    assert_message(c, "sim:1", NULL);
    assert_status(c, rt_run(c, &update), MOTET_DEVICE_LOST);
    assert_ok(c, rt_run(c, &smooth));
    assert_ok(c, rt_run(c, &update));
    assert_ok(c, motet_array_fetch(p.u));
    steps_free(&p);
    assert_clean(c);
    motet_context_free(c);
}

/* A device that comes back has lost what it had. */
static void a_new_epoch_has_nothing(void **state)
{
    (void)state;
    motet_context *c = context_for(1, "sim:0,sim:1");
    steps p;
    steps_make(c, &p);
    steps_reside(&p);
    const rt_op sum = toy_sum(p.w, p.x, p.s);
    assert_ok(c, rt_run(c, &sum));
    const sim_fault lose = {.lose_at_call = 1}, none = {0};
    sim_set_fault(c, 1, &lose);
    assert_status(c, motet_array_fetch(p.s), MOTET_DEVICE_LOST);
    sim_set_fault(c, 1, &none);
    rt_parts_drop(c, 1);
    assert_null(rt_part_find(p.x, 1, &(pipe_box){.count = {1, 1}}, 0));
    assert_non_null(rt_part_find(p.x, 0, &(pipe_box){.count = {1, 1}}, 0));
    assert_ok(c, rt_run(c, &sum));
    steps_free(&p);
    assert_clean(c);
    motet_context_free(c);
}

/* Whichever allocation of a device fails, the work is done with less, or nothing has changed. */
static void device_memory_may_fail(void **state)
{
    (void)state;
    char x[33], s[33], got[33];
    steps_expected(x, s);
    for (int64_t k = 1, over = 0; !over; k++) {
        const sim_fault fault = {.fail_alloc = k};
        motet_context *c = context_with(&fault, 0, "sim:0,sim:1");
        steps p;
        steps_make(c, &p);
        steps_reside(&p);
        const rt_run_options o = {.cut = {{0}, 0}};
        for (int n = 0; n < STEPS; n++) {
            const rt_op ops[3] = {toy_smooth(p.x, p.u), toy_update(p.u, p.x),
                                  toy_sum(p.w, p.x, p.s)};
            for (int i = 0; i < 3; i++) {
                const motet_status st = rt_run_with(c, &ops[i], &o);
                assert_true(st == MOTET_OK || st == MOTET_NO_MEMORY);
                if (st != MOTET_OK) assert_ok(c, rt_run_with(c, &ops[i], &o));
            }
        }
        motet_status st = motet_array_fetch(p.s);
        if (st != MOTET_OK) assert_int_equal(st, MOTET_NO_MEMORY);
        assert_ok(c, motet_array_digest(p.s, got));
        assert_string_equal(got, s);
        st = motet_array_fetch(p.x);
        if (st != MOTET_OK) assert_int_equal(st, MOTET_NO_MEMORY);
        assert_ok(c, motet_array_digest(p.x, got));
        assert_string_equal(got, x);
        sim_counts counts;
        sim_count(c, 0, &counts);
        over = counts.allocs < k;
        steps_free(&p);
        assert_int_equal(used(c, 0) + used(c, 1), 0);
        motet_context_free(c);
        assert_int_equal(findings, 0);
    }
}

/* Whichever of the host's allocations fails: NO_MEMORY, and the same call succeeds afterwards. */
static void host_memory_may_fail(void **state)
{
    (void)state;
    char x[33], s[33], got[33];
    steps_expected(x, s);
    sim_config config;
    sim_config_init(&config);
    for (int64_t n2 = 2, failed = 1; failed || n2 % 2; n2++) {
        const int64_t nth = n2 / 2;
        motet_context *c = test_context_failing(0, 0);
        assert_ok(c, sim_use(c, &config, n2 % 2 ? "sim:0,sim:1" : "cpu,sim:0"));
        steps p;
        steps_make(c, &p);
        test_context_fail_at(c, nth, 0);
        steps_reside(&p);
        failed = 0;
        for (int n = 0; n < STEPS; n++) {
            const rt_op ops[3] = {toy_smooth(p.x, p.u), toy_update(p.u, p.x),
                                  toy_sum(p.w, p.x, p.s)};
            for (int i = 0; i < 3; i++) {
                const motet_status st = rt_run(c, &ops[i]);
                if (st == MOTET_OK) continue;
                assert_int_equal(st, MOTET_NO_MEMORY);
                assert_ok(c, rt_run(c, &ops[i]));
            }
        }
        if (motet_array_fetch(p.x) != MOTET_OK) assert_ok(c, motet_array_fetch(p.x));
        failed = test_context_failed(c);
        test_context_fail_at(c, 0, 0);
        assert_ok(c, motet_array_digest(p.x, got));
        assert_string_equal(got, x);
        steps_free(&p);
        assert_int_equal(used(c, 0) + used(c, 1), 0);
        assert_clean(c);
        motet_context_free(c);
        assert_true(nth < 4000);
    }
}

/* Each reading of the clock is a hundredth of a second later. */
static int64_t fast_clock(void *user) { return *(int64_t *)user += 10000000; }

/* A device hangs at each of its commands: it counts as lost, and nothing that it may touch is freed
 * before it is closed. */
static void hangs_anywhere(void **state)
{
    (void)state;
    for (int64_t k = 1, over = 0; !over; k += 1 + k / 10) {
        sim_config config;
        sim_config_init(&config);
        config.found = found;
        config.device[0].fault = (sim_fault){.hang_at_command = k};
        int64_t now = 0;
        motet_context *c = test_context();
        c->options.clock = (motet_clock){fast_clock, &now};
        assert_ok(c, sim_use(c, &config, "sim:0,sim:1"));
        steps p;
        steps_make(c, &p);
        steps_reside(&p);
        const rt_run_options o = {.cut = {{0}, 0}};
        motet_status st = MOTET_OK;
        for (int n = 0; n < STEPS && st == MOTET_OK; n++) st = step(c, &p, &o);
        if (st == MOTET_OK) st = motet_array_fetch(p.x);
        sim_counts counts;
        sim_count(c, 0, &counts);
        over = counts.commands < k;
        assert_int_equal(st, over ? MOTET_OK : MOTET_DEVICE_LOST);
        assert_int_equal(atomic_load(&c->devices->set[0].lost), !over);
        steps_free(&p);
        motet_context_free(c);
        assert_int_equal(findings, 0);
    }
}

/* A device that another thread finds lost while its values are brought home. */
typedef struct other_thread {
    motet_context *context;
    motet_array *array;
    int64_t now, at;
} other_thread;

static int64_t losing_clock(void *user)
{
    other_thread *o = user;
    if (++o->now == o->at) {
        rt_device_lose(o->context, &o->context->devices->set[0], "for the test");
        rt_array_drop_lost(o->array);
    }
    return o->now * 1000;
}

/* Whenever that is: the values are right or known to be lost, and what held them is given back. */
static void a_loss_while_values_come_home(void **state)
{
    (void)state;
    char want[33], got[33];
    int64_t lost = 0;
    pipe_expected(PIPE_SMOOTH, ROWS, COLUMNS, want);
    for (int64_t at = 1, over = 0; !over; at++) {
        motet_context *c = test_context();
        motet_memory before, after;
        motet_context_memory(c, &before);
        sim_config config;
        sim_config_init(&config);
        config.found = found;
        config.seed = (uint64_t)at;
        other_thread other = {.context = c};
        c->options.clock = (motet_clock){losing_clock, &other};
        assert_ok(c, sim_use(c, &config, "sim:0,sim:1"));
        pipe_case p;
        pipe_case_make(c, PIPE_SMOOTH, ROWS, COLUMNS, &p);
        assert_ok(c, rt_array_reside(p.out, RT_RESIDE_SHARDED));
        assert_ok(c, rt_run(c, &p.op));
        other.array = p.out;
        other.at = other.now + at;
        const motet_status st = motet_array_digest(p.out, got);
        over = other.now < other.at;
        other.at = 0;
        lost += st != MOTET_OK;
        if (over) assert_ok(c, st);
        if (st == MOTET_OK) assert_string_equal(got, want);
        if (st != MOTET_OK) assert_status(c, st, MOTET_DEVICE_LOST);
        pipe_case_free(&p);
        motet_context_report_reset(c);
        rt_devices_close(c);
        assert_ok(c, rt_devices_open(c, "cpu"));
        motet_context_memory(c, &after);
        assert_true(after.blocks <= before.blocks + 8); /* accounts, none for each device */
        motet_context_free(c);
        assert_int_equal(findings, 0);
    }
    assert_true(lost > 0);
}

/* Each kind of order, left out, is found to be missing, or shows in the bits: kernels wait for what
 * is brought to a part; a run ends when its results are there. */
static void each_edge_is_needed(void **state)
{
    (void)state;
    static const pipe_edge edges[] = {PIPE_ALL_EDGES, PIPE_NO_CHUNK, PIPE_NO_FIXED_REFILL,
                                      PIPE_NO_GATHER};
    char x[2][33];
    for (int i = 0; i < 4; i++) {
        motet_context *c = context_for(5, "sim:0,sim:1");
        steps p;
        steps_make(c, &p);
        steps_reside(&p);
        const rt_op smooth = toy_smooth(p.x, p.u), update = toy_update(p.u, p.x);
        assert_ok(c, rt_run(c, &smooth));
        assert_ok(c, rt_run(c, &update));
        const rt_run_options o = {.cut = {{3, 5}, 4},
                                  .test = {.without = edges[i], .fixed_stage = 256}};
        (void)rt_run_with(c, &smooth, &o);
        (void)rt_run_with(c, &update, &o);
        assert_ok(c, motet_array_digest(p.x, x[i > 0]));
        const int missed = sim_findings(c) > 0 || strcmp(x[0], x[i > 0]) != 0;
        if (missed != (i > 0)) fail_msg("edge %d", (int)edges[i]);
        steps_free(&p);
        motet_context_free(c);
    }
    toy_mistakes();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(losses_anywhere),        cmocka_unit_test(inputs_have_a_home),
        cmocka_unit_test(writing_heals),          cmocka_unit_test(a_new_epoch_has_nothing),
        cmocka_unit_test(device_memory_may_fail), cmocka_unit_test(host_memory_may_fail),
        cmocka_unit_test(hangs_anywhere),         cmocka_unit_test(a_loss_while_values_come_home),
        cmocka_unit_test(each_edge_is_needed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
