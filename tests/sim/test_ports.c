/* What a port can be, on the cpu and on simulated devices: the same bits, within what was planned,
 * whatever goes wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/pipe.h"
#include "support/ports.h"

static rt_plan plan_of(motet_context *c, const rt_op *op, const rt_run_options *o)
{
    rt_plan_device devices[RT_DEVICES];
    const int count = rt_plan_devices(c, devices);
    for (int i = 0; i < count && o->budget; i++) devices[i].budget = o->budget[i];
    const rt_plan_options options = {
        .cut = o->cut, .weights = o->weights, .weightings = o->weightings};
    rt_plan plan;
    assert_ok(c, rt_plan_make(c, op, devices, count, &options, &plan));
    return plan;
}

/* Runs it; each device has done its part within its bytes, in order, and so has the host. */
static void run_and_check(motet_context *c, const ports_case *p, const rt_run_options *o)
{
    const rt_plan plan = plan_of(c, &p->op, o);
    const uint64_t before = atomic_load(&c->held);
    atomic_store(&c->held_peak, before);
    motet_context_report_reset(c);
    assert_ok(c, rt_run_with(c, &p->op, o));
    if (!ports_right(p)) fail_msg("%s is wrong", p->op.name);
    motet_memory memory;
    motet_context_memory(c, &memory);
    assert_true(memory.peak - before <= (uint64_t)plan.host_bytes + PIPE_BOOKS);
    for (int i = 0; i < plan.devices; i++) {
        /* where results go to a sink, who comes first takes */
        if (plan.share[i].chunks && !rt_op_ordered(&p->op))
            assert_true(atomic_load(&c->devices->set[i].chunks) > 0);
        const int number = pipe_sim_number(c, i);
        if (number < 0) continue;
        sim_counts counts;
        motet_context_trim(c);
        motet_context_trim(c);
        sim_count(c, number, &counts);
        assert_int_equal(counts.used, 0);
        assert_true(counts.used_peak <= (uint64_t)plan.share[i].peak_bytes);
    }
    assert_int_equal(ports_mistakes(), 0);
    assert_clean(c);
}

static const char *set_of(uint64_t number)
{
    return number % (PIPE_SETS + 1) ? pipe_sets[number % (PIPE_SETS + 1) - 1] : "cpu";
}

static motet_context *context_for(uint64_t seed, const char *names)
{
    sim_config config;
    sim_config_init(&config);
    config.seed = seed;
    return sim_context(&config, names);
}

/* Whatever the devices, seed, weights and cut, the bits are those of plain loops. */
static void one_set_of_bits(void **state)
{
    (void)state;
    for (int which = 0; which < PORTS_CASES; which++)
        for (uint64_t seed = 0; seed < 42; seed++) {
            uint64_t random = 4 * seed + (uint64_t)which;
            motet_context *c = context_for(seed, set_of(seed));
            ports_case p;
            ports_case_make(c, which, 40, 13, &p);
            rt_weights w = {.count = c->devices->count};
            for (int i = 0; i < w.count; i++) w.weight[i] = test_uniform(&random, 0.2, 2);
            rt_run_options o = {.weights = &w, .weightings = 1};
            if (seed % 4)
                for (int i = 0; i < RT_AXES; i++)
                    o.cut.rows[i] = (int64_t)(test_random(&random) % 14);
            if (seed % 3) o.cut.stream_rows = 1 + (int64_t)(test_random(&random) % 40);
            if (seed % 5 == 0) o.test.fixed_stage = 512;
            run_and_check(c, &p, &o);
            ports_case_free(&p);
            motet_context_free(c);
        }
}

static int streams(int which) { return which == PORTS_SOURCE || which == PORTS_MADE; }

/* Every size of chunk and of block of a small operation. */
static void every_cut(void **state)
{
    (void)state;
    for (int which = 0; which < PORTS_CASES; which++)
        for (int64_t a = 1; a <= 7; a++)
            for (int64_t b = 1; b <= 5; b += 2)
                for (int64_t s = 1; s <= 7; s += streams(which) ? 3 : 7) {
                    motet_context *c = context_for((uint64_t)(a + b + s), set_of((uint64_t)a));
                    ports_case p;
                    ports_case_make(c, which, 7, 5, &p);
                    const rt_run_options o = {.cut = {{a, b}, s}};
                    run_and_check(c, &p, &o);
                    ports_case_free(&p);
                    motet_context_free(c);
                }
}

/* A transform of what all chunks see whole is called once on each device, else once for each chunk
 * or block. */
static void what_stays_the_same_is_made_once(void **state)
{
    (void)state;
    static const struct {
        const char *names;
        rt_cut cut;
        int makes;
    } cases[] = {{"cpu", {{5, 13}, 23}, 1},         {"sim:0", {{5, 13}, 23}, 1},
                 {"sim:0,sim:1", {{5, 13}, 23}, 2}, {"cpu,sim:0,sim:1", {{5, 13}, 23}, 3},
                 {"cpu", {{5, 7}, 23}, 8 * 2},      {"sim:0", {{5, 7}, 23}, 8 * 2},
                 {"cpu", {{5, 13}, 12}, 8 * 2},     {"sim:0", {{40, 13}, 8}, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        motet_context *c = context_for(i, cases[i].names);
        ports_case p;
        ports_case_make(c, PORTS_MADE, 40, 13, &p);
        const rt_run_options o = {.cut = cases[i].cut};
        ports_makes();
        run_and_check(c, &p, &o);
        assert_int_equal(ports_makes(), cases[i].makes);
        ports_case_free(&p);
        motet_context_free(c);
    }
}

/* What is added in two runs, each of some of the rows, is what one run adds. */
static void ranges_add_up_exactly(void **state)
{
    (void)state;
    enum { ROWS = 40 };
    int64_t rows[ROWS];
    for (int64_t i = 0; i < ROWS; i++) rows[i] = i;
    for (int64_t first = 0; first <= ROWS; first += 8) {
        motet_context *c = context_for(1, set_of((uint64_t)first));
        ports_case p;
        ports_case_make(c, PORTS_LIMBS, ROWS, 13, &p);
        for (int half = 0; half < 2; half++) {
            rt_op op = p.op;
            op.extent[0] = half ? ROWS - first : first;
            op.port[0].list = half ? rows + first : rows;
            op.port[0].list_count = op.extent[0];
            assert_ok(c, rt_run(c, &op));
        }
        assert_true(ports_right(&p));
        ports_case_free(&p);
        assert_clean(c);
        motet_context_free(c);
    }
}

/* Empty boxes and ragged rows without any element. */
static void nothing_at_all(void **state)
{
    (void)state;
    for (int which = 0; which < PORTS_CASES; which++)
        for (uint64_t set = 0; set < 3; set++) {
            motet_context *c = context_for(1, set_of(set));
            ports_case p;
            ports_case_make(c, which, 0, 3, &p);
            assert_ok(c, rt_run(c, &p.op));
            ports_case_free(&p);
            assert_clean(c);
            motet_context_free(c);
        }
}

static int64_t least_after(const motet_context *c, const char *text)
{
    motet_error error;
    motet_context_error(c, &error);
    const char *at = strstr(error.message, text);
    assert_non_null(at);
    return strtoll(at + strlen(text), NULL, 10);
}

/* With budgets from a lot down to the least that is stated: the same bits, within the plan. One
 * byte less is refused before anything begins. */
static void budgets_are_kept(void **state)
{
    (void)state;
    for (int which = 0; which < PORTS_CASES; which++) {
        motet_context *c = context_for(1, "sim:0");
        ports_case p;
        ports_case_make(c, which, 16, 5, &p);
        int64_t budget[RT_DEVICES] = {1};
        const rt_run_options less = {.budget = budget};
        assert_status(c, rt_run_with(c, &p.op, &less), MOTET_OVER_BUDGET);
        const int64_t least = least_after(c, "takes at least ");
        budget[0] = least - 1;
        assert_status(c, rt_run_with(c, &p.op, &less), MOTET_OVER_BUDGET);
        ports_case_free(&p);
        motet_context_free(c);
        for (int k = 0; k < 6; k += 2)
            for (int set = 0; set < 3; set++) {
                c = context_for((uint64_t)k, pipe_sets[set]);
                ports_case_make(c, which, 16, 5, &p);
                for (int i = 0; i < RT_DEVICES; i++) budget[i] = least + least * k * k / 4;
                const rt_run_options o = {.budget = budget};
                run_and_check(c, &p, &o);
                ports_case_free(&p);
                motet_context_free(c);
            }
    }
}

/* A bound on the host is kept by smaller buffers, down to what the refusal says would do; by the
 * cpu as well, where it needs some. */
static void host_bounds_are_kept(void **state)
{
    (void)state;
    for (int which = 0; which < PORTS_CASES; which++)
        for (int set = 0; set < 3; set++) {
            static const char *const sets[] = {"cpu", "sim:0,sim:3", "cpu,sim:1"};
            motet_context *c = context_for(3, sets[set]);
            ports_case p;
            ports_case_make(c, which, 30, 8, &p);
            if (set == 0 && !rt_op_buffered(&p.op)) {
                ports_case_free(&p); /* in place: there is nothing to make smaller */
                motet_context_free(c);
                continue;
            }
            c->options.host_memory = atomic_load(&c->held) + 1;
            assert_status(c, rt_run(c, &p.op), MOTET_OVER_BUDGET);
            const uint64_t least = (uint64_t)least_after(c, ": at least ");
            c->options.host_memory = least - 1;
            assert_status(c, rt_run(c, &p.op), MOTET_OVER_BUDGET);
            for (uint64_t k = 0; k < 3; k++) {
                c->options.host_memory = 0;
                ports_case_free(&p); /* what is added to begins anew */
                ports_case_make(c, which, 30, 8, &p);
                c->options.host_memory = least + (k << 16);
                assert_ok(c, rt_run(c, &p.op));
                assert_true(ports_right(&p));
            }
            c->options.host_memory = 0;
            ports_case_free(&p);
            assert_clean(c);
            motet_context_free(c);
        }
}

/* A device is lost at each of its calls or commands: what it had not brought back is computed by
 * others, once. */
static void losses_anywhere(void **state)
{
    (void)state;
    static const char *const sets[] = {"sim:0", "sim:0,sim:5", "cpu,sim:0"};
    const rt_run_options small = {.cut = {{6, 5}, 11}};
    for (int which = 0; which < PORTS_CASES; which++)
        for (int kind = 0; kind < 2; kind++)
            for (int set = 0; set < 3; set++)
                for (int64_t k = 1, over = 0; !over; k += 1 + k / 4) {
                    sim_config config;
                    sim_config_init(&config);
                    config.seed = (uint64_t)k;
                    config.device[0].fault.lose_at_call = kind ? 0 : k;
                    config.device[0].fault.lose_at_command = kind ? k : 0;
                    motet_context *c = sim_context(&config, sets[set]);
                    ports_case p;
                    ports_case_make(c, which, 40, 13, &p);
                    char before[33], after[33];
                    assert_ok(c, motet_array_digest(p.out, before));
                    const motet_status st = rt_run_with(c, &p.op, &small);
                    sim_counts counts;
                    sim_count(c, 0, &counts);
                    over = !counts.losses;
                    assert_int_equal(st, over || set ? MOTET_OK : MOTET_DEVICE_LOST);
                    assert_ok(c, motet_array_digest(p.out, after));
                    if (st != MOTET_OK) assert_string_equal(before, after);
                    if (st == MOTET_OK) assert_true(ports_right(&p));
                    ports_case_free(&p);
                    assert_clean(c);
                    motet_context_free(c);
                    assert_true(k < 4000);
                }
    ports_mistakes(); /* after a loss the kernels' own records are moot */
}

/* Every allocation of the host fails, once or for good: the right bits, or NO_MEMORY with untouched
 * arrays, and no leak. */
static void failing_host_allocations(void **state)
{
    (void)state;
    const rt_run_options small = {.cut = {{6, 5}, 11}};
    for (int which = 0; which < PORTS_CASES; which++)
        for (int forever = 0; forever < 2; forever++)
            for (int64_t k = 1, over = 0; !over; k += 1 + k / 8) {
                motet_context *c = test_context_failing(0, 0);
                assert_non_null(c);
                sim_config config;
                sim_config_init(&config);
                assert_ok(c, sim_use(c, &config, "sim:0,cpu"));
                ports_case p;
                ports_case_make(c, which, 40, 13, &p);
                char before[33], after[33];
                assert_ok(c, motet_array_digest(p.out, before));
                test_context_fail_at(c, k, forever);
                const motet_status st = rt_run_with(c, &p.op, &small);
                over = !test_context_failed(c);
                test_context_fail_at(c, 0, 0);
                assert_ok(c, motet_array_digest(p.out, after));
                assert_true(st == MOTET_OK || (st == MOTET_NO_MEMORY && !over));
                if (st != MOTET_OK) assert_string_equal(before, after);
                if (st == MOTET_OK) assert_true(ports_right(&p));
                ports_case_free(&p);
                motet_context_report_reset(c);
                assert_clean(c);
                motet_context_free(c);
            }
    ports_mistakes();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_set_of_bits),
                                       cmocka_unit_test(every_cut),
                                       cmocka_unit_test(what_stays_the_same_is_made_once),
                                       cmocka_unit_test(ranges_add_up_exactly),
                                       cmocka_unit_test(nothing_at_all),
                                       cmocka_unit_test(budgets_are_kept),
                                       cmocka_unit_test(host_bounds_are_kept),
                                       cmocka_unit_test(losses_anywhere),
                                       cmocka_unit_test(failing_host_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
