/* Results that go to a sink: in ascending order, each exactly once, with the end told once, from
 * any set of devices, also when some are lost on the way. */
#include <pthread.h>
#include <string.h>

#include "base/fail.h"
#undef fail
#include "support/pipe.h"

#include "rt/pipe_inside.h"
#include "rt/turn.h"

enum { ROWS = 40, COLUMNS = 13 };

typedef struct target {
    motet_context *context;
    float data[ROWS * COLUMNS];
    int64_t elements, parts, last[2];
    int refuse_at; /* the part; 0: none */
    int ended;
    motet_status end;
} target;

static motet_status take(const rt_view *part, void *user)
{
    target *t = user;
    assert_int_equal(t->ended, 0);
    if (++t->parts == t->refuse_at)
        return fail_at(t->context, MOTET_DEVICE_LOST, __FILE__, __LINE__, 0, "no room");
    const int64_t *at = part->first;
    assert_true(at[0] > t->last[0] || (at[0] == t->last[0] && at[1] > t->last[1]));
    memcpy(t->last, at, sizeof t->last);
    for (int64_t i = 0; i < part->count[0]; i++)
        for (int64_t j = 0; j < part->count[1]; j++) {
            float *to = &t->data[(at[0] + i) * COLUMNS + at[1] + j];
            assert_true(*to == 0);
            *to = ((const float *)part->data)[i * part->stride[0] + j * part->stride[1]];
        }
    t->elements += part->count[0] * part->count[1];
    return MOTET_OK;
}

static void end(motet_status status, void *user)
{
    target *t = user;
    t->ended++;
    t->end = status;
}

typedef struct ordered {
    target to;
    rt_sink sink;
    motet_array *with, *in, out;
    rt_op op;
} ordered;

/* Two toys whose result goes to a sink. */
static void make(motet_context *c, int which, ordered *o)
{
    memset(o, 0, sizeof *o);
    o->to.context = c;
    o->to.last[0] = -1;
    o->sink = (rt_sink){take, end, &o->to};
    o->out = (motet_array){.context = c,
                           .type = MOTET_F32,
                           .axes = 2,
                           .shape = {ROWS, COLUMNS},
                           .elements = ROWS * COLUMNS,
                           .bytes = ROWS * COLUMNS * sizeof(float)};
    if (which == PIPE_SMOOTH) {
        o->in = toy_array(c, ROWS, COLUMNS, 1);
        o->op = toy_smooth(o->in, &o->out);
    } else {
        o->in = toy_array(c, 17, COLUMNS, 1);
        o->with = toy_array(c, 17, ROWS, 2);
        o->op = toy_sum(o->with, o->in, &o->out);
    }
    o->op.port[2].sink = &o->sink;
}

static void drop(ordered *o)
{
    motet_array_free(o->with);
    motet_array_free(o->in);
}

/* The same results in an array, on one cpu. */
static float expected[2][ROWS * COLUMNS];
static int expect(void **state)
{
    (void)state;
    motet_context *c = test_context();
    for (int which = 0; which < 2; which++) {
        ordered o;
        make(c, which, &o);
        motet_array *out = toy_array(c, ROWS, COLUMNS, 3);
        o.op.port[2] =
            (rt_port){.name = "out", .array = out, .access = RT_WRITE, .cut = {0, 1}, .sink = NULL};
        assert_ok(c, rt_run(c, &o.op));
        memcpy(expected[which], motet_array_data(out), sizeof expected[which]);
        motet_array_free(o.with);
        motet_array_free(o.in);
        motet_array_free(out);
    }
    motet_context_free(c);
    return 0;
}

static void check(motet_context *c, const ordered *o, int which, motet_status status)
{
    assert_int_equal(o->to.ended, 1);
    assert_int_equal(o->to.end, status);
    if (status == MOTET_OK) {
        assert_int_equal(o->to.elements, ROWS * COLUMNS);
        assert_memory_equal(o->to.data, expected[which], sizeof o->to.data);
    }
    motet_context_trim(c);
    for (int i = 0; i < ROWS * COLUMNS; i++) /* what was told of stands */
        assert_true(o->to.data[i] == 0 || o->to.data[i] == expected[which][i]);
    motet_context_trim(c);
    for (int i = 0; i < c->devices->count; i++) {
        const int number = pipe_sim_number(c, i);
        sim_counts counts;
        assert_int_equal(c->devices->set[i].users, 0);
        if (number < 0 || c->devices->set[i].kept) continue;
        sim_count(c, number, &counts);
        assert_int_equal(counts.used, 0);
    }
    toy_mistakes();
    assert_clean(c);
}

static motet_context *context_for(uint64_t seed, const char *names, int victim, int64_t command)
{
    sim_config config;
    sim_config_init(&config);
    config.seed = seed;
    if (victim >= 0) config.device[victim].fault.lose_at_command = command;
    return sim_context(&config, names);
}

static const char *const sets[] = {"cpu", "sim:0", "sim:0,sim:5", "cpu,sim:2,sim:0"};

/* Whatever the devices, weights and cut. */
static void parts_arrive_in_order(void **state)
{
    (void)state;
    for (int which = 0; which < 2; which++)
        for (uint64_t seed = 0; seed < 120; seed++) {
            uint64_t random = seed;
            motet_context *c = context_for(seed, sets[seed % 4], -1, 0);
            ordered o;
            make(c, which, &o);
            rt_run_options options = {.cut = {{0}, 0}};
            for (int i = 0; i < 2 && seed % 5; i++)
                options.cut.rows[i] = (int64_t)(test_random(&random) % 14);
            assert_ok(c, rt_run_with(c, &o.op, &options));
            check(c, &o, which, MOTET_OK);
            for (int i = 0; i < c->devices->count && seed % 5 == 0; i++)
                assert_true(atomic_load(&c->devices->set[i].chunks) > 0);
            drop(&o);
            motet_context_free(c);
        }
}

/* No device holds more than planned, although it may have to do any part. */
static void plans_are_kept(void **state)
{
    (void)state;
    for (int which = 0; which < 2; which++)
        for (int set = 1; set < 4; set++)
            for (uint64_t memory = 6000; memory < 100000; memory *= 2) {
                motet_context *c = context_for(3, sets[set], -1, 0);
                c->options.memory = memory;
                ordered o;
                make(c, which, &o);
                rt_plan_device devices[RT_DEVICES];
                const int count = rt_plan_devices(c, devices);
                rt_plan plan;
                assert_ok(c, rt_plan_make(c, &o.op, devices, count, NULL, &plan));
                assert_ok(c, rt_run(c, &o.op));
                check(c, &o, which, MOTET_OK);
                for (int i = 0; i < count; i++) {
                    const int number = pipe_sim_number(c, i);
                    if (number < 0) continue;
                    sim_counts counts;
                    sim_count(c, number, &counts);
                    assert_true(counts.used_peak <= (uint64_t)plan.share[i].peak_bytes);
                    assert_true(counts.used_peak <= memory);
                }
                drop(&o);
                motet_context_free(c);
            }
}

/* A device is lost at each of its commands: what it leaves comes before what others hold, which
 * they give up where they must. */
static void losses_keep_the_order(void **state)
{
    (void)state;
    static const struct {
        const char *names;
        int victim;
    } lossy[] = {{"sim:0", 0}, {"sim:0,sim:5", 0}, {"sim:0,sim:5", 5}, {"cpu,sim:2,sim:0", 2}};
    for (int which = 0; which < 2; which++)
        for (int set = 0; set < 4; set++)
            for (int64_t k = 1, over = 0; !over; k += 1 + k / 30) {
                motet_context *c = context_for((uint64_t)k, lossy[set].names, lossy[set].victim, k);
                ordered o;
                make(c, which, &o);
                const rt_run_options options = {.cut = {{2, set == 2 ? 5 : 0}, 7}};
                const motet_status st = rt_run_with(c, &o.op, &options);
                sim_counts counts;
                sim_count(c, lossy[set].victim, &counts);
                over = !counts.losses;
                assert_int_equal(st, over || set ? MOTET_OK : MOTET_DEVICE_LOST);
                check(c, &o, which, st);
                drop(&o);
                motet_context_free(c);
            }
}

typedef struct both_args {
    rt_view out, also;
    int64_t count[2];
} both_args;
static const size_t both_args_bytes = sizeof(both_args);

/* out = also = also + 1: each element by its chunk alone. */
static void both(const void *p, int64_t begin, int64_t end, void *scratch)
{
    (void)scratch;
    const both_args *a = p;
    for (int64_t k = begin; k < end; k++) {
        const int64_t i = k / a->count[1], j = k % a->count[1];
        float *also = (float *)a->also.data + i * a->also.stride[0] + j * a->also.stride[1];
        *also += 1;
        ((float *)a->out.data)[i * a->out.stride[0] + j * a->out.stride[1]] = *also;
    }
}
TOY_KERNEL(both, both_args)

static motet_status enqueue_both(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    (void)user;
    const both_args a = {chunk->port[2], chunk->port[3], {chunk->count[0], chunk->count[1]}};
    return rt_launch(queue, &both_kernel, &a, chunk->count[0] * chunk->count[1]);
}

/* What was computed and is given up after a loss, as an earlier part must leave before it, is
 * computed again from the former values: nothing is added twice. */
static void what_is_updated_beside_a_sink_is_updated_once(void **state)
{
    (void)state;
    for (int64_t k = 1, over = 0; !over; k += 1 + k / 30) {
        motet_context *c = context_for((uint64_t)k, "cpu,sim:2,sim:0", 2, k);
        ordered o;
        make(c, PIPE_SMOOTH, &o);
        motet_array *also = toy_array(c, ROWS, COLUMNS, 1);
        float *values = motet_array_data(also);
        for (int64_t i = 0; i < ROWS * COLUMNS; i++) values[i] = 0;
        o.op.enqueue = enqueue_both;
        o.op.port[0].array = NULL;
        o.op.port[3] = (rt_port){.name = "also", .array = also, .access = RT_UPDATE, .cut = {0, 1}};
        const rt_run_options options = {.cut = {{2, 0}, 0}};
        assert_ok(c, rt_run_with(c, &o.op, &options));
        sim_counts counts;
        sim_count(c, 2, &counts);
        over = !counts.losses;
        assert_int_equal(o.to.elements, ROWS * COLUMNS);
        for (int64_t i = 0; i < ROWS * COLUMNS; i++) {
            assert_true(values[i] == 1);
            assert_true(o.to.data[i] == 1);
        }
        assert_clean(c);
        motet_array_free(also);
        drop(&o);
        motet_context_free(c);
    }
}

/* A sink that refuses a part ends the run with its own status, whatever that is: no device is
 * blamed, nothing more is told. */
static void a_sink_may_refuse(void **state)
{
    (void)state;
    for (int set = 0; set < 4; set++)
        for (int at = 1; at < 8; at++) {
            motet_context *c = context_for((uint64_t)at, sets[set], -1, 0);
            ordered o;
            make(c, PIPE_SMOOTH, &o);
            o.to.refuse_at = at;
            const rt_run_options options = {.cut = {{3, 0}, 7}};
            assert_status(c, rt_run_with(c, &o.op, &options), MOTET_DEVICE_LOST);
            assert_message(c, "no room", NULL);
            assert_int_equal(o.to.parts, at);
            check(c, &o, PIPE_SMOOTH, MOTET_DEVICE_LOST);
            for (int i = 0; i < c->devices->count; i++)
                assert_int_equal(atomic_load(&c->devices->set[i].lost), 0);
            drop(&o);
            motet_context_free(c);
        }
}

/* The end is told also when nothing began. */
static void refused_runs_are_told(void **state)
{
    (void)state;
    motet_context *c = context_for(1, "sim:0", -1, 0);
    ordered o;
    make(c, PIPE_SMOOTH, &o);
    c->options.memory = 100;
    assert_status(c, rt_run(c, &o.op), MOTET_OVER_BUDGET);
    check(c, &o, PIPE_SMOOTH, MOTET_OVER_BUDGET);
    drop(&o);
    motet_context_free(c);
}

enum { REQUESTS = 3 };
typedef struct request {
    motet_context *context;
    ordered made;
    motet_status status;
    pthread_t thread;
} request;

static void *run_request(void *user)
{
    request *r = user;
    const rt_run_options options = {.cut = {{2, 5}, 7}};
    r->status = rt_run_with(r->context, &r->made.op, &options);
    return NULL;
}

/* Requests of several threads, while a device is lost: each sink has its order. */
static void turns_keep_the_order(void **state)
{
    (void)state;
    for (int64_t k = 0; k < 80; k += 1 + k / 8) {
        motet_context *c = context_for((uint64_t)k, "sim:0,sim:1,cpu", 1, k);
        request r[REQUESTS];
        for (int i = 0; i < REQUESTS; i++) {
            r[i].context = c;
            make(c, i % 2, &r[i].made);
        }
        for (int i = 0; i < REQUESTS; i++)
            assert_int_equal(pthread_create(&r[i].thread, NULL, run_request, &r[i]), 0);
        for (int i = 0; i < REQUESTS; i++) pthread_join(r[i].thread, NULL);
        for (int i = 0; i < REQUESTS; i++) {
            assert_ok(c, r[i].status);
            check(c, &r[i].made, i % 2, MOTET_OK);
            drop(&r[i].made);
        }
        motet_context_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_arrive_in_order),
        cmocka_unit_test(plans_are_kept),
        cmocka_unit_test(losses_keep_the_order),
        cmocka_unit_test(what_is_updated_beside_a_sink_is_updated_once),
        cmocka_unit_test(a_sink_may_refuse),
        cmocka_unit_test(refused_runs_are_told),
        cmocka_unit_test(turns_keep_the_order)};
    return cmocka_run_group_tests(tests, expect, NULL);
}
