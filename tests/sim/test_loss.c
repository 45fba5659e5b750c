/* What becomes of work when devices are lost: the others take it over at once, in the proportion of
 * their weights, and a device without weight does nothing unless it is the only one left. */
#include <string.h>

#include "support/pipe.h"

#include "rt/pipe_inside.h"

enum { ROWS = 60, COLUMNS = 13, EVENTS = 4000 };

typedef struct event {
    int device;
    int64_t first, rows, time;
} event;

typedef struct logged {
    motet_context *context;
    pipe_case made;
    rt_op op;
    event events[EVENTS];
    int count;
} logged;

static motet_status enqueue(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    logged *t = (logged *)(uintptr_t)user;
    if (t->count < EVENTS)
        t->events[t->count++] = (event){.device = queue->device->index,
                                        .first = chunk->first[0],
                                        .rows = chunk->count[0],
                                        .time = sim_now(t->context)};
    return t->made.op.enqueue(chunk, queue, t->made.op.user);
}

static void make(motet_context *c, logged *t)
{
    memset(t, 0, sizeof *t);
    t->context = c;
    pipe_case_make(c, PIPE_UPDATE, ROWS, COLUMNS, &t->made);
    t->op = t->made.op;
    t->op.enqueue = enqueue;
    t->op.user = t;
}

/* Rows that a device enqueued. */
static int64_t rows_of(const logged *t, int device)
{
    int64_t rows = 0;
    for (int i = 0; i < t->count; i++)
        if (t->events[i].device == device) rows += t->events[i].rows;
    return rows;
}

static const rt_run_options fine = {.cut = {{2}, 0}};

static motet_status run(logged *t, const double *weights, int count)
{
    rt_weights w = {.count = count};
    rt_run_options o = fine;
    for (int i = 0; i < count; i++) w.weight[i] = weights[i];
    if (count) o.weights = &w, o.weightings = 1;
    return rt_run_with(t->context, &t->op, &o);
}

static void done(logged *t, const char *expected)
{
    char got[33];
    assert_ok(t->context, motet_array_digest(t->made.out, got));
    assert_string_equal(got, expected);
    assert_clean(t->context);
    pipe_case_free(&t->made);
    motet_context_free(t->context);
    toy_mistakes();
}

static void expected_digest(char expected[33])
{
    motet_context *c = test_context();
    logged t;
    make(c, &t);
    assert_ok(c, rt_run(c, &t.op));
    assert_ok(c, motet_array_digest(t.made.out, expected));
    pipe_case_free(&t.made);
    motet_context_free(c);
}

/* The fast device takes over what was lost while the slow one is still at its own share, and not
 * after it. */
static void the_rest_is_taken_over_at_once(void **state)
{
    (void)state;
    char expected[33];
    expected_digest(expected);
    sim_config config;
    sim_config_init(&config);
    config.jitter = 0;
    config.device[0].items_per_second = 1e6;
    config.device[1].items_per_second = 1e6;
    config.device[2].items_per_second = 1e3;
    config.device[1].fault.lose_at_command = 6;
    motet_context *c = sim_context(&config, "sim:0,sim:1,sim:2");
    logged t;
    make(c, &t);
    assert_ok(c, run(&t, NULL, 0));
    int64_t taken_over = -1, slow = -1;
    for (int i = 0; i < t.count; i++) {
        const event *e = &t.events[i];
        if (e->device == 0 && e->first >= 20 && e->first < 40) taken_over = i;
        if (e->device == 2) slow = i;
        if (e->device == 2) assert_true(e->first >= 40); /* it has enough to do */
    }
    assert_true(taken_over >= 0 && slow > taken_over);
    assert_int_equal(atomic_load(&c->devices->set[1].lost), 1);
    done(&t, expected);
}

/* A device that is lost before a run leaves the weights of the others as they are. */
static void weights_stay_with_those_that_remain(void **state)
{
    (void)state;
    char expected[33];
    expected_digest(expected);
    sim_config config;
    sim_config_init(&config);
    config.device[1].fault.lose_at_command = 1;
    config.device[1].fault.refused_opens = -1;
    motet_context *c = sim_context(&config, "sim:0,sim:1,sim:2,sim:3");
    logged t;
    make(c, &t);
    static const double weights[4] = {1, 5, 2, 0};
    assert_ok(c, run(&t, weights, 4));
    assert_int_equal(atomic_load(&c->devices->set[1].lost), 1);
    pipe_case_free(&t.made);
    make(c, &t);
    assert_ok(c, run(&t, weights, 4));
    assert_int_equal(rows_of(&t, 0), ROWS / 3);
    assert_int_equal(rows_of(&t, 1), 0);
    assert_int_equal(rows_of(&t, 2), ROWS * 2 / 3);
    assert_int_equal(rows_of(&t, 3), 0);
    static const double wrong[3] = {1, 1, 1};
    assert_status(c, run(&t, wrong, 3), MOTET_BAD_ARGUMENT); /* of all that there are */
    done(&t, expected);
}

/* Weight 0: nothing, also of what is taken over; but all, when there is nobody else. */
static void a_device_without_weight_is_the_last_resort(void **state)
{
    (void)state;
    char expected[33];
    expected_digest(expected);
    for (int lost = 0; lost < 3; lost++) {
        sim_config config;
        sim_config_init(&config);
        for (int i = 0; i < lost; i++) config.device[i].fault.lose_at_command = 5 + 8 * i;
        motet_context *c = sim_context(&config, "sim:0,sim:1,sim:2");
        logged t;
        make(c, &t);
        static const double weights[3] = {1, 1, 0};
        assert_ok(c, run(&t, weights, 3));
        assert_int_equal(rows_of(&t, 2) > 0, lost == 2);
        if (lost == 2) { /* and in the next run, too */
            pipe_case_free(&t.made);
            make(c, &t);
            assert_ok(c, run(&t, weights, 3));
            assert_int_equal(rows_of(&t, 2), ROWS);
        }
        done(&t, expected);
    }
}

/* How long each device was at its rows, by the context's clock. */
static void runs_tell_their_times(void **state)
{
    (void)state;
    char expected[33];
    expected_digest(expected);
    sim_config config;
    sim_config_init(&config);
    config.jitter = 0;
    config.device[0].items_per_second = 1e5;
    config.device[1].items_per_second = 5e4;
    config.device[0].latency = config.device[1].latency = 100;
    motet_context *c = sim_context(&config, "sim:0,sim:1");
    sim_clock clock;
    sim_clock_use(c, &clock);
    logged t;
    make(c, &t);
    rt_run_times times;
    rt_run_options o = fine;
    o.times = &times;
    assert_ok(c, rt_run_with(c, &t.op, &o));
    for (int i = 0; i < 2; i++) {
        assert_true(times.rows[i] == ROWS / 2);
        const double kernels = ROWS / 2 / (i ? 5e4 : 1e5); /* an item is a row */
        assert_true(times.seconds[i] > kernels && times.seconds[i] < 1.3 * kernels);
    }
    for (int i = 2; i < RT_DEVICES; i++) assert_true(times.rows[i] == 0 && times.seconds[i] == 0);
    done(&t, expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_rest_is_taken_over_at_once),
                                       cmocka_unit_test(weights_stay_with_those_that_remain),
                                       cmocka_unit_test(a_device_without_weight_is_the_last_resort),
                                       cmocka_unit_test(runs_tell_their_times)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
