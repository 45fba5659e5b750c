/* Chunks that another device computes once more: right results pass, a wrong bit anywhere is found
 * before anything is committed. */
#include <string.h>

#include "support/pipe.h"
#include "support/ports.h"

#include "rt/pipe_inside.h"
#include "rt/plan_record.h"

enum { ROWS = 40, COLUMNS = 13, TABLE = 4096 };

/* Which devices computed which element of the box. */
typedef struct seen {
    pipe_case made;
    rt_op op;
    int devices[TABLE]; /* a bit for each */
    int times[TABLE];
} seen;

static motet_status enqueue(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    seen *s = (seen *)(uintptr_t)user;
    const int64_t width = s->op.axes > 1 ? s->op.extent[1] : 1;
    const int64_t columns = s->op.axes > 1 ? chunk->count[1] : 1;
    for (int64_t i = 0; i < chunk->count[0] && chunk->first_block; i++)
        for (int64_t j = 0; j < columns; j++) {
            const int64_t at = (chunk->first[0] + i) * width + chunk->first[1] + j;
            if (at >= TABLE) continue;
            s->devices[at] |= 1 << queue->device->index;
            s->times[at]++;
        }
    return s->made.op.enqueue(chunk, queue, s->made.op.user);
}

static void make(motet_context *c, int which, seen *s)
{
    memset(s, 0, sizeof *s);
    pipe_case_make(c, which, ROWS, COLUMNS, &s->made);
    s->op = s->made.op;
    s->op.enqueue = enqueue;
    s->op.user = s;
}

static int64_t box_size(const rt_op *op)
{
    int64_t size = 1;
    for (int i = 0; i < op->axes; i++) size *= op->extent[i];
    return size;
}

static int64_t verified(motet_context *c)
{
    int64_t sum = 0;
    for (int i = 0; i < c->devices->count; i++) sum += atomic_load(&c->devices->set[i].verified);
    return sum;
}

static void assert_nothing_held(motet_context *c)
{
    motet_context_trim(c);
    for (int i = 0; i < c->devices->count; i++) {
        const int number = pipe_sim_number(c, i);
        sim_counts counts;
        if (number < 0 || c->devices->set[i].kept) continue;
        sim_count(c, number, &counts);
        assert_int_equal(counts.used, 0);
        assert_true(counts.used_peak <= (uint64_t)rt_plan_most(c, i));
    }
    assert_clean(c);
}

static motet_context *context_for(uint64_t seed, const char *names)
{
    sim_config config;
    sim_config_init(&config);
    config.seed = seed;
    return sim_context(&config, names);
}

/* All chunks, once more: on two devices each, or twice on the only one; the same bits, within what
 * was planned. */
static void all_is_computed_twice(void **state)
{
    (void)state;
    for (int which = 0; which < PIPE_OPS; which++) {
        char expected[33], got[33];
        pipe_expected(which, ROWS, COLUMNS, expected);
        for (int set = -1; set < PIPE_SETS; set++)
            for (uint64_t seed = 0; seed < 5; seed++) {
                motet_context *c = context_for(seed, set < 0 ? "cpu" : pipe_sets[set]);
                seen s;
                make(c, which, &s);
                rt_run_options o = {.verify = 1, .cut = {{(int64_t)seed * 3, 5 * (seed % 2)}, 11}};
                assert_ok(c, rt_run_with(c, &s.op, &o));
                assert_ok(c, motet_array_digest(s.made.out, got));
                assert_string_equal(got, expected);
                for (int64_t i = 0; i < box_size(&s.op); i++) {
                    assert_int_equal(s.times[i], 2);
                    assert_int_equal(__builtin_popcount((unsigned)s.devices[i]),
                                     c->devices->count > 1 ? 2 : 1);
                }
                assert_true(verified(c) > 0);
                assert_int_equal(toy_mistakes(), 0);
                assert_nothing_held(c);
                pipe_case_free(&s.made);
                motet_context_free(c);
            }
    }
}

/* Which chunks they are depends on name and box alone: the same each time, about as many as asked
 * for, and more of them with a larger fraction. The context's option is the default. */
static void the_share_is_picked_by_box(void **state)
{
    (void)state;
    int former[TABLE] = {0};
    for (int tenths = 0; tenths <= 10; tenths++)
        for (int again = 0; again < 2; again++) {
            motet_context *c = context_for((uint64_t)again, again ? "sim:0,sim:1" : "sim:0,cpu");
            c->options.verify_fraction = again ? tenths / 10.0 : 0;
            seen s;
            make(c, PIPE_SMOOTH, &s);
            const rt_run_options o = {.verify = again ? 0 : tenths / 10.0, .cut = {{1, 1}, 0}};
            assert_ok(c, rt_run_with(c, &s.op, &o));
            int64_t twice = 0;
            for (int64_t i = 0; i < ROWS * COLUMNS; i++) {
                assert_true(s.times[i] >= former[i] || again);
                if (again) assert_int_equal(s.times[i], former[i]);
                former[i] = s.times[i];
                twice += s.times[i] == 2;
            }
            assert_int_equal(verified(c), twice);
            assert_true(twice >= ROWS * COLUMNS * (tenths - 1) / 10);
            assert_true(twice <= ROWS * COLUMNS * (tenths + 1) / 10);
            assert_int_equal(tenths == 0, twice == 0);
            assert_int_equal(tenths == 10, twice == ROWS * COLUMNS);
            char *report = NULL;
            assert_ok(c, motet_context_report(c, &report));
            assert_non_null(strstr(report, "\"verified\""));
            motet_text_free(c, report);
            pipe_case_free(&s.made);
            motet_context_free(c);
        }
}

/* A bit is wrong in what any command writes: the run has the right bits all the same, or says which
 * two devices disagree about what, and commits nothing. */
static void a_wrong_bit_is_found(void **state)
{
    (void)state;
    static const char *const sets[] = {"sim:0", "sim:0,sim:3", "cpu,sim:0"};
    for (int which = 0; which < PIPE_OPS; which++) {
        char expected[33], before[33], after[33];
        pipe_expected(which, ROWS, COLUMNS, expected);
        for (int set = 0; set < 3; set++) {
            int found = 0;
            for (int64_t k = 1, over = 0; !over; k += 1 + k / 20) {
                sim_config config;
                sim_config_init(&config);
                config.seed = (uint64_t)k;
                config.device[0].fault.corrupt_at_command = k;
                motet_context *c = sim_context(&config, sets[set]);
                seen s;
                make(c, which, &s);
                assert_ok(c, motet_array_digest(s.made.out, before));
                const rt_run_options o = {.verify = 1, .cut = {{6, 5}, 11}};
                const motet_status st = rt_run_with(c, &s.op, &o);
                sim_counts counts;
                sim_count(c, 0, &counts);
                over = counts.commands < k;
                assert_ok(c, motet_array_digest(s.made.out, after));
                if (st == MOTET_OK) {
                    assert_string_equal(after, expected);
                } else {
                    assert_int_equal(st, MOTET_CHECK_FAILED);
                    assert_string_equal(after, before);
                    assert_message(c, s.op.name, "sim:0", set == 1 ? "sim:3" : "other bits", "rows",
                                   NULL);
                    found++;
                }
                assert_int_equal(atomic_load(&c->devices->set[0].lost), 0);
                toy_mistakes();
                assert_nothing_held(c);
                pipe_case_free(&s.made);
                motet_context_free(c);
            }
            assert_true(found > 5);
        }
    }
}

/* Devices that are lost meanwhile do not keep the rest from being compared. */
static void losses_do_not_matter(void **state)
{
    (void)state;
    for (int which = 0; which < PIPE_OPS; which++) {
        char expected[33], got[33];
        pipe_expected(which, ROWS, COLUMNS, expected);
        for (int64_t k = 1, over = 0; !over; k += 1 + k / 10) {
            sim_config config;
            sim_config_init(&config);
            config.seed = (uint64_t)k;
            config.device[1].fault.lose_at_command = k;
            motet_context *c = sim_context(&config, k % 2 ? "sim:0,sim:1" : "cpu,sim:1,sim:0");
            seen s;
            make(c, which, &s);
            const rt_run_options o = {.verify = 1, .cut = {{6, 5}, 11}};
            assert_ok(c, rt_run_with(c, &s.op, &o));
            assert_ok(c, motet_array_digest(s.made.out, got));
            assert_string_equal(got, expected);
            for (int64_t i = 0; i < box_size(&s.op); i++) assert_true(s.times[i] >= 2);
            sim_counts counts;
            sim_count(c, 1, &counts);
            over = !counts.losses;
            toy_mistakes();
            assert_nothing_held(c);
            pipe_case_free(&s.made);
            motet_context_free(c);
        }
    }
}

/* A device of weight 0 is not asked either. */
static void a_device_without_weight_does_not_verify(void **state)
{
    (void)state;
    motet_context *c = context_for(1, "sim:0,sim:1,sim:2");
    seen s;
    make(c, PIPE_SUM, &s);
    const rt_weights w = {.count = 3, .weight = {1, 0, 1}};
    const rt_run_options o = {.verify = 1, .weights = &w, .weightings = 1, .cut = {{6, 5}, 11}};
    assert_ok(c, rt_run_with(c, &s.op, &o));
    for (int64_t i = 0; i < box_size(&s.op); i++) assert_int_equal(s.devices[i], 5);
    pipe_case_free(&s.made);
    motet_context_free(c);
}

static const char *const port_sets[] = {"cpu", "sim:0", "sim:1,sim:0", "cpu,sim:0,sim:5"};

/* Whatever ports are: what is right passes; results for a sink are not kept, so not compared. */
static void every_kind_of_port_passes(void **state)
{
    (void)state;
    for (int which = 0; which < PORTS_CASES; which++)
        for (int set = 0; set < 4; set++)
            for (int64_t rows = 0; rows < 12; rows += 3) {
                motet_context *c = context_for((uint64_t)rows, port_sets[set]);
                ports_case p;
                ports_case_make(c, which, ROWS, COLUMNS, &p);
                const rt_run_options o = {.verify = 1, .cut = {{rows}, 0}};
                assert_ok(c, rt_run_with(c, &p.op, &o));
                assert_true(ports_right(&p));
                assert_int_equal(verified(c) > 0, !rt_op_ordered(&p.op));
                assert_int_equal(ports_mistakes(), 0);
                assert_nothing_held(c);
                ports_case_free(&p);
                motet_context_free(c);
            }
}

/* A wrong bit in what is added is found as well. */
static void wrong_sums_are_found(void **state)
{
    (void)state;
    for (int which = PORTS_COUNT; which <= PORTS_LIMBS; which++)
        for (int set = 1; set < 4; set++) {
            int found = 0;
            for (int64_t k = 1, over = 0; !over; k += 1 + k / 20) {
                sim_config config;
                sim_config_init(&config);
                config.seed = (uint64_t)k;
                config.device[0].fault.corrupt_at_command = k;
                motet_context *c = sim_context(&config, port_sets[set]);
                ports_case p;
                ports_case_make(c, which, ROWS, COLUMNS, &p);
                const rt_run_options o = {.verify = 1, .cut = {{4}, 0}};
                const motet_status st = rt_run_with(c, &p.op, &o);
                sim_counts counts;
                sim_count(c, 0, &counts);
                over = counts.commands < k;
                /* a large number out of its range may be told first */
                assert_true(st == MOTET_OK || st == MOTET_CHECK_FAILED || st == MOTET_BAD_DATA);
                if (st == MOTET_OK) assert_true(ports_right(&p));
                found += st != MOTET_OK;
                ports_mistakes();
                assert_nothing_held(c);
                ports_case_free(&p);
                motet_context_free(c);
            }
            assert_true(found > 3);
        }
}

/* Every allocation of the host fails, once or for good. */
static void failing_host_allocations(void **state)
{
    (void)state;
    char expected[33];
    pipe_expected(PIPE_SUM, ROWS, COLUMNS, expected);
    for (int forever = 0; forever < 2; forever++)
        for (int64_t k = 1, over = 0; !over; k += 1 + k / 12) {
            motet_context *c = test_context_failing(0, 0);
            sim_config config;
            sim_config_init(&config);
            assert_ok(c, sim_use(c, &config, "sim:0,cpu"));
            seen s;
            make(c, PIPE_SUM, &s);
            char before[33], after[33];
            assert_ok(c, motet_array_digest(s.made.out, before));
            test_context_fail_at(c, k, forever);
            const rt_run_options o = {.verify = 1, .cut = {{6, 5}, 11}};
            const motet_status st = rt_run_with(c, &s.op, &o);
            over = !test_context_failed(c);
            test_context_fail_at(c, 0, 0);
            assert_ok(c, motet_array_digest(s.made.out, after));
            assert_true(st == MOTET_OK || (st == MOTET_NO_MEMORY && !over));
            assert_string_equal(after, st == MOTET_OK ? expected : before);
            toy_mistakes();
            motet_context_trim(c);
            assert_clean(c);
            pipe_case_free(&s.made);
            motet_context_report_reset(c);
            motet_context_free(c);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_is_computed_twice),
                                       cmocka_unit_test(the_share_is_picked_by_box),
                                       cmocka_unit_test(a_wrong_bit_is_found),
                                       cmocka_unit_test(every_kind_of_port_passes),
                                       cmocka_unit_test(wrong_sums_are_found),
                                       cmocka_unit_test(failing_host_allocations),
                                       cmocka_unit_test(losses_do_not_matter),
                                       cmocka_unit_test(a_device_without_weight_does_not_verify)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
