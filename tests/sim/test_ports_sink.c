/* Results that go to a sink: in ascending order, each once, whatever devices, losses, turns and
 * cancellations; the sink is told how it ended. */
#include <pthread.h>
#include <string.h>

#include "support/pipe.h"
#include "support/ports.h"

enum { ALSO = 1 }; /* the array that is written beside the sink */

static const rt_run_options small = {.cut = {{3, 5}, 0}};

/* What a run left behind: all of it, or nothing. */
static void assert_all_or_nothing(motet_context *c, const ports_case *p, motet_status st,
                                  const char *before)
{
    char after[33];
    assert_int_equal(p->sink.wrong, 0);
    assert_int_equal(p->sink.ends, 1);
    assert_int_equal(p->sink.status, st);
    assert_ok(c, motet_array_digest(p->array[ALSO], after));
    if (st == MOTET_OK)
        assert_true(ports_right(p));
    else
        assert_string_equal(before, after);
}

static void end_context(motet_context *c)
{
    motet_context_trim(c);
    for (int i = 0; i < c->devices->count; i++) {
        const int number = pipe_sim_number(c, i);
        sim_counts counts;
        if (number < 0 || c->devices->set[i].kept) continue;
        motet_context_trim(c);
        sim_count(c, number, &counts);
        assert_int_equal(counts.used, 0);
    }
    assert_clean(c);
    motet_context_free(c);
    ports_mistakes(); /* after a loss the kernels' own records are moot */
}

/* Every device of a set does its part: none waits until another has done all of its own. */
static void devices_work_side_by_side(void **state)
{
    (void)state;
    for (int set = 1; set < PIPE_SETS; set++) {
        motet_context *c = sim_context(NULL, pipe_sets[set]);
        ports_case p;
        ports_case_make(c, PORTS_SINK, 120, 20, &p);
        motet_context_report_reset(c);
        assert_ok(c, rt_run_with(c, &p.op, &small));
        assert_true(ports_right(&p));
        for (int i = 0; i < c->devices->count; i++)
            assert_true(atomic_load(&c->devices->set[i].chunks) > 0);
        ports_case_free(&p);
        end_context(c);
    }
}

/* Two equal devices take little more than half the time of one, although results are ordered. */
static void two_devices_are_faster_than_one(void **state)
{
    (void)state;
    int64_t took[2];
    for (int two = 0; two < 2; two++) {
        sim_config config;
        sim_config_init(&config);
        config.jitter = 0;
        config.device[1] = config.device[0];
        for (int i = 0; i < 2; i++) config.device[i].items_per_second = 1e5;
        motet_context *c = sim_context(&config, two ? "sim:0,sim:1" : "sim:0");
        ports_case p;
        ports_case_make(c, PORTS_SINK, 120, 20, &p);
        assert_ok(c, rt_run_with(c, &p.op, &small));
        took[two] = sim_now(c);
        ports_case_free(&p);
        end_context(c);
    }
    assert_true(took[1] * 10 < took[0] * 6);
}

/* A device is lost at each of its commands, hangs there, or has no memory for it. */
static void losses_anywhere(void **state)
{
    (void)state;
    static const struct {
        const char *names;
        int victim, alone;
    } sets[] = {{"sim:0", 0, 1},
                {"sim:0,sim:5", 0, 0},
                {"cpu,sim:2", 2, 0},
                {"sim:0,sim:1,sim:2,sim:6", 0, 0},
                {"sim:0,sim:1,sim:2,sim:6", 1, 0}};
    for (int set = 0; set < 5; set++)
        for (int64_t k = 1, over = 0; !over; k += 1 + k / 20) {
            sim_config config;
            sim_config_init(&config);
            config.seed = (uint64_t)k;
            config.device[sets[set].victim].fault.lose_at_command = k;
            motet_context *c = sim_context(&config, sets[set].names);
            ports_case p;
            ports_case_make(c, PORTS_SINK, 40, 13, &p);
            char before[33];
            assert_ok(c, motet_array_digest(p.array[ALSO], before));
            const motet_status st = rt_run_with(c, &p.op, &small);
            sim_counts counts;
            sim_count(c, sets[set].victim, &counts);
            over = !counts.losses;
            assert_int_equal(st, over || !sets[set].alone ? MOTET_OK : MOTET_DEVICE_LOST);
            assert_all_or_nothing(c, &p, st, before);
            ports_case_free(&p);
            end_context(c);
        }
}

/* A sink fails at each part: the run ends with its status, also one that would be a loss if a
 * device said it. */
static void failing_sinks(void **state)
{
    (void)state;
    static const motet_status statuses[] = {MOTET_IO, MOTET_DEVICE_LOST, MOTET_NO_MEMORY};
    static const char *const sets[] = {"cpu", "sim:0", "sim:1,sim:3,cpu"};
    for (int set = 0; set < 3; set++)
        for (int64_t k = 1, over = 0; !over; k++) {
            motet_context *c = sim_context(NULL, sets[set]);
            ports_case p;
            ports_case_make(c, PORTS_SINK, 20, 8, &p);
            const motet_status expected = p.sink.status = statuses[k % 3];
            p.sink.fail_at = k;
            char before[33];
            assert_ok(c, motet_array_digest(p.array[ALSO], before));
            const motet_status st = rt_run_with(c, &p.op, &small);
            over = p.sink.takes < k;
            assert_int_equal(st, over ? MOTET_OK : expected);
            if (!over) assert_message(c, "the sink is full", NULL);
            assert_all_or_nothing(c, &p, st, before);
            for (int i = 0; i < c->devices->count; i++)
                assert_int_equal(atomic_load(&c->devices->set[i].lost), 0);
            ports_case_free(&p);
            end_context(c);
        }
}

typedef struct stopper {
    int64_t now, calls, at;
} stopper;

static int64_t stopper_now(void *user) { return ((stopper *)user)->now += 60000000; }

static motet_go stop_at(const motet_progress *progress, void *user)
{
    (void)progress;
    stopper *s = user;
    return ++s->calls == s->at ? MOTET_STOP : MOTET_GO_ON;
}

/* Cancelled at each call of progress, refused, or empty: the sink is told, once. */
static void every_end_is_told(void **state)
{
    (void)state;
    for (int64_t k = 1, over = 0; !over; k += 1 + k / 8) {
        stopper s = {.at = k};
        motet_context *c = test_context();
        c->options.clock = (motet_clock){stopper_now, &s};
        c->options.progress = stop_at;
        c->options.progress_user = &s;
        assert_ok(c, sim_use(c, NULL, "sim:0,cpu"));
        ports_case p;
        ports_case_make(c, PORTS_SINK, 40, 13, &p);
        char before[33];
        assert_ok(c, motet_array_digest(p.array[ALSO], before));
        s.calls = 0;
        const motet_status st = rt_run_with(c, &p.op, &small);
        over = s.calls < k;
        assert_int_equal(st, over ? MOTET_OK : MOTET_CANCELLED);
        assert_all_or_nothing(c, &p, st, before);
        ports_case_free(&p);
        end_context(c);
    }
    motet_context *c = sim_context(NULL, "sim:0");
    ports_case p;
    ports_case_make(c, PORTS_SINK, 40, 13, &p);
    const int64_t budget[RT_DEVICES] = {1};
    const rt_run_options none = {.budget = budget};
    assert_status(c, rt_run_with(c, &p.op, &none), MOTET_OVER_BUDGET);
    assert_int_equal(p.sink.ends, 1);
    assert_int_equal(p.sink.status, MOTET_OVER_BUDGET);
    ports_case_free(&p);
    ports_case_make(c, PORTS_SINK, 0, 13, &p);
    assert_ok(c, rt_run(c, &p.op));
    assert_int_equal(p.sink.ends, 1);
    ports_case_free(&p);
    end_context(c);
}

typedef struct at_once {
    motet_context *context;
    ports_case made;
    motet_status status;
} at_once;

static void *run_one(void *user)
{
    at_once *a = user;
    a->status = rt_run_with(a->context, &a->made.op, &small);
    return NULL;
}

/* Several threads take turns, while a device is lost. */
static void turns_and_losses(void **state)
{
    (void)state;
    enum { RUNS = 3 };
    for (int64_t k = 0; k < 30; k++) {
        sim_config config;
        sim_config_init(&config);
        config.seed = (uint64_t)k;
        config.device[k % 2].fault.lose_at_command = 7 * k;
        motet_context *c = sim_context(&config, k % 3 ? "sim:0,cpu,sim:1" : "sim:0,sim:1,sim:2");
        at_once runs[RUNS];
        pthread_t thread[RUNS];
        for (int i = 0; i < RUNS; i++) {
            runs[i].context = c;
            ports_case_make(c, PORTS_SINK, 40, 13, &runs[i].made);
        }
        for (int i = 0; i < RUNS; i++)
            assert_int_equal(pthread_create(&thread[i], NULL, run_one, &runs[i]), 0);
        for (int i = 0; i < RUNS; i++) pthread_join(thread[i], NULL);
        for (int i = 0; i < RUNS; i++) {
            assert_ok(c, runs[i].status);
            assert_true(ports_right(&runs[i].made));
            ports_case_free(&runs[i].made);
        }
        end_context(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(devices_work_side_by_side),
                                       cmocka_unit_test(two_devices_are_faster_than_one),
                                       cmocka_unit_test(losses_anywhere),
                                       cmocka_unit_test(failing_sinks),
                                       cmocka_unit_test(every_end_is_told),
                                       cmocka_unit_test(turns_and_losses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
