/* Arrays that stay on devices: the same bits, fewer bytes moved, within what was planned. */
#include "sim/resident.h"

static rt_weights random_weights(uint64_t *random, int count)
{
    rt_weights w = {.count = count};
    for (int i = 0; i < count; i++) w.weight[i] = test_uniform(random, 0.2, 2);
    return w;
}

/* Whatever the devices, the cuts and the weights, which change between the steps, the bits are the
 * cpu's. */
static void one_set_of_bits(void **state)
{
    (void)state;
    char x[33], s[33], got[33];
    steps_expected(x, s);
    for (uint64_t seed = 0; seed < 60; seed++) {
        uint64_t random = seed;
        motet_context *c = context_for(seed, pipe_sets[seed % PIPE_SETS]);
        steps p;
        steps_make(c, &p);
        steps_reside(&p);
        for (int k = 0; k < STEPS; k++) {
            const rt_weights w = random_weights(&random, c->devices->count);
            rt_run_options o = {.weights = &w, .weightings = seed % 2 ? 1 : 0};
            if (seed % 3)
                o.cut = (rt_cut){
                    {1 + (int64_t)(test_random(&random) % 9), (int64_t)(test_random(&random) % 9)},
                    1 + (int64_t)(test_random(&random) % 40)};
            assert_ok(c, step(c, &p, &o));
            if (seed % 4 == 0) assert_ok(c, motet_array_fetch(p.u));
        }
        assert_ok(c, motet_array_digest(p.x, got));
        assert_string_equal(got, x);
        assert_ok(c, motet_array_digest(p.s, got));
        assert_string_equal(got, s);
        assert_int_equal(toy_mistakes(), 0);
        steps_free(&p);
        for (int i = 0; i < c->devices->count; i++)
            assert_int_equal(
                atomic_load(&c->devices->set[i].held) + atomic_load(&c->devices->set[i].taken), 0);
        assert_clean(c);
        motet_context_free(c);
    }
}

/* Bytes up and down since the devices were opened, of all that are simulated. */
typedef struct moved {
    int64_t up, down;
} moved;

static moved moved_of(motet_context *c)
{
    moved m = {0, 0};
    for (int i = 0; i < c->devices->count; i++) {
        sim_counts counts;
        if (pipe_sim_number(c, i) < 0) continue;
        sim_count(c, pipe_sim_number(c, i), &counts);
        m.up += counts.uploaded;
        m.down += counts.downloaded;
    }
    return m;
}

/* Runs it; answers what moved. */
static moved run_moved(motet_context *c, const rt_op *op)
{
    const moved before = moved_of(c);
    assert_ok(c, rt_run(c, op));
    const moved after = moved_of(c);
    return (moved){after.up - before.up, after.down - before.down};
}

enum { F32 = 4, ARRAY = ROWS * COLUMNS * F32, WEIGHTS = ROWS * 17 * F32 };

/* What is read is sent once to each device, what is written does not come back before it is asked
 * for; then only what others computed goes up again. */
static void nothing_moves_twice(void **state)
{
    (void)state;
    motet_context *c = context_for(1, "sim:0,sim:1");
    steps p;
    steps_make(c, &p);
    steps_reside(&p);
    rt_array_reside(p.x, RT_RESIDE_REPLICATED);
    const rt_op sum = toy_sum(p.w, p.x, p.s), update = toy_update(p.u, p.x);
    moved m = run_moved(c, &sum);
    assert_int_equal(m.up, 2 * (ARRAY + WEIGHTS));
    assert_int_equal(m.down, 0);
    m = run_moved(c, &sum);
    assert_int_equal(m.up, 0);
    assert_int_equal(m.down, 0);
    rt_array_reside(p.x, RT_RESIDE_SHARDED);
    m = run_moved(c, &update); /* x is there: it is copied on the device, which counts as down */
    assert_int_equal(m.up, ARRAY);
    assert_int_equal(m.down, ARRAY);
    m = run_moved(c, &update);
    assert_int_equal(m.up, 0);
    assert_int_equal(m.down, ARRAY);
    m = moved_of(c);
    assert_ok(c, motet_array_fetch(p.x));
    assert_int_equal(moved_of(c).down - m.down, ARRAY);
    assert_ok(c, motet_array_fetch(p.x));
    assert_int_equal(moved_of(c).down - m.down, ARRAY);
    m = run_moved(c, &update); /* the parts are as good as before */
    assert_int_equal(m.up, 0);
    steps_free(&p);
    assert_clean(c);
    motet_context_free(c);
}

/* Smoothing with a halo of two rows, where nothing needs all of x. */
static rt_op smooth_rows(const steps *p)
{
    rt_op op = toy_smooth(p->x, p->u);
    op.port[3].array = p->w;
    return op;
}

/* Between operations neighbours exchange the rows of their halos, and no others. */
static void only_halos_move(void **state)
{
    (void)state;
    motet_context *c = context_for(1, "sim:0,sim:1");
    steps p;
    steps_make(c, &p);
    steps_reside(&p);
    const rt_op smooth = smooth_rows(&p), update = toy_update(p.u, p.x);
    assert_ok(c, rt_run(c, &smooth));
    assert_ok(c, rt_run(c, &update));
    const int64_t halo = 2 * COLUMNS * F32;
    for (int k = 0; k < 3; k++) {
        moved m = run_moved(c, &smooth);
        assert_int_equal(m.up, 2 * halo);
        assert_int_equal(m.down, 2 * halo + ARRAY); /* and a copy on each device */
        m = run_moved(c, &update);
        assert_int_equal(m.up, 0);
    }
    steps_free(&p);
    assert_clean(c);
    motet_context_free(c);
}

/* Another run reads the array while it comes home, and keeps larger parts of it on a device. */
typedef struct reader {
    motet_context *context;
    const rt_op *op;
    motet_clock former;
    int ran;
} reader;

static int64_t read_meanwhile(void *user)
{
    reader *r = user;
    if (!r->ran && r->context->devices->set[1].users) { /* something is on its way */
        const rt_weights uneven = {.count = 2, .weight = {1, 3}};
        const rt_run_options o = {.weights = &uneven, .weightings = 1};
        r->ran = 1;
        assert_ok(r->context, rt_run_with(r->context, r->op, &o));
    }
    return r->former.now(r->former.user);
}

static void reading_does_not_disturb_a_fetch(void **state)
{
    (void)state;
    char expected[33], got[33];
    for (int sim = 0; sim < 2; sim++) {
        motet_context *c = sim ? context_for(1, "sim:0,sim:1") : test_context();
        steps p;
        steps_make(c, &p);
        if (sim) steps_reside(&p);
        const rt_op update = toy_update(p.u, p.x), smooth = smooth_rows(&p);
        assert_ok(c, rt_run(c, &update));
        reader r = {.context = c, .op = &smooth, .former = c->options.clock};
        if (sim) c->options.clock = (motet_clock){read_meanwhile, &r};
        assert_ok(c, motet_array_fetch(p.x));
        c->options.clock = r.former;
        assert_int_equal(r.ran, sim);
        assert_ok(c, motet_array_digest(p.x, sim ? got : expected));
        steps_free(&p);
        for (int i = 0; sim && i < 2; i++)
            assert_int_equal(
                atomic_load(&c->devices->set[i].held) + atomic_load(&c->devices->set[i].taken), 0);
        if (sim) assert_clean(c);
        motet_context_free(c);
    }
    assert_string_equal(got, expected);
}

/* What the caller wrote and told of is what counts; a result that was not asked for is forgotten.
 */
static void the_caller_may_write(void **state)
{
    (void)state;
    char expected[33], got[33];
    for (int sim = 0; sim < 2; sim++) {
        motet_context *c = sim ? context_for(2, "sim:0,cpu,sim:3") : test_context();
        steps p;
        steps_make(c, &p);
        if (sim) steps_reside(&p);
        const rt_op update = toy_update(p.u, p.x);
        assert_ok(c, rt_run(c, &update));
        float *x = motet_array_data(p.x), *u = motet_array_data(p.u);
        for (int i = 0; i < ROWS * COLUMNS; i++) x[i] = (float)i;
        motet_array_changed(p.x);
        u[5] = 17;
        motet_array_changed(p.u);
        assert_ok(c, rt_run(c, &update));
        assert_ok(c, motet_array_digest(p.x, sim ? got : expected));
        steps_free(&p);
        if (sim) assert_clean(c);
        motet_context_free(c);
    }
    assert_string_equal(got, expected);
}

/* Runs it within its plan, and keeps on each device what is accounted for. */
static void run_planned(motet_context *c, const rt_op *op, int64_t *budget, int64_t most[2])
{
    rt_plan_device devices[RT_DEVICES];
    const int count = rt_plan_devices(c, devices);
    for (int i = 0; i < count && budget; i++) devices[i].budget = budget[i];
    rt_plan plan;
    const motet_status st = rt_plan_make(c, op, devices, count, NULL, &plan);
    if (st == MOTET_OVER_BUDGET) /* the run drops what need not stay, and plans again */
        for (int i = 0; i < count; i++) plan.share[i].peak_bytes = budget[i];
    const rt_run_options o = {.budget = budget};
    assert_ok(c, rt_run_with(c, op, &o));
    for (int i = 0; i < count; i++) {
        sim_counts counts;
        sim_count(c, pipe_sim_number(c, i), &counts);
        if (plan.share[i].peak_bytes > most[i]) most[i] = plan.share[i].peak_bytes;
        assert_true((int64_t)counts.used_peak <= most[i]);
        motet_context_trim(c);
        sim_count(c, pipe_sim_number(c, i), &counts);
        assert_int_equal(counts.used, atomic_load(&c->devices->set[i].held));
        assert_int_equal(counts.used, atomic_load(&c->devices->set[i].taken));
    }
}

/* What stays is counted, old and new parts alike; under a budget that is too small for what is read
 * to stay, it comes from the host as if it did not. */
static void budgets_hold_what_stays(void **state)
{
    (void)state;
    char x[33], s[33], got[33];
    steps_expected(x, s);
    for (int tight = 0; tight < 3; tight++) {
        motet_context *c = context_for(3, "sim:0,sim:1");
        steps p;
        steps_make(c, &p);
        steps_reside(&p);
        int64_t most[2] = {0, 0}, budget[2] = {9000, 9000};
        if (tight == 2) budget[0] = budget[1] = 7500;
        for (int k = 0; k < STEPS; k++) {
            const rt_op smooth = toy_smooth(p.x, p.u), update = toy_update(p.u, p.x),
                        sum = toy_sum(p.w, p.x, p.s);
            run_planned(c, &smooth, tight ? budget : NULL, most);
            run_planned(c, &update, tight ? budget : NULL, most);
            run_planned(c, &sum, tight ? budget : NULL, most);
        }
        assert_true(!tight || (most[0] <= budget[0] && most[1] <= budget[1]));
        assert_ok(c, motet_array_digest(p.x, got));
        assert_string_equal(got, x);
        assert_ok(c, motet_array_digest(p.s, got));
        assert_string_equal(got, s);
        steps_free(&p);
        assert_int_equal(used(c, 0) + used(c, 1), 0);
        assert_clean(c);
        motet_context_free(c);
    }
}

typedef struct waiter {
    motet_context *context;
    rt_op op;
    motet_status status;
} waiter;

static void *wait_and_run(void *user)
{
    waiter *w = user;
    w->status = rt_run(w->context, &w->op);
    return NULL;
}

/* A run is planned with a part that is there, and waits for its turn; meanwhile others need the
 * part's bytes, and take them. The run is planned anew: the budget holds. */
static void a_part_may_go_before_the_turn(void **state)
{
    (void)state;
    enum { MEMORY = 24000 };
    motet_context *c = context_for(1, "sim:0");
    c->options.memory = MEMORY;
    motet_array *in = toy_array(c, 100, 25, 1), *out = toy_array(c, 100, 25, 2);
    rt_array_reside(in, RT_RESIDE_REPLICATED); /* 10,000 bytes */
    waiter w = {.context = c, .op = toy_smooth(in, out)};
    assert_ok(c, rt_run(c, &w.op));
    rt_device *one = &c->devices->set[0];
    assert_true(atomic_load(&one->held) >= 10000);
    rt_turn turn;
    pthread_t thread;
    assert_ok(c, rt_turn_take(c, &turn, NULL));
    assert_int_equal(pthread_create(&thread, NULL, wait_and_run, &w), 0);
    while (rt_turns_waiting(c) != 1) sched_yield();
    const int64_t planned = atomic_load(&one->held);
    assert_true(rt_parts_spill(c) > 0);
    const int64_t gone = planned - atomic_load(&one->held);
    assert_true(gone >= 10000);
    motet_context_trim(c);
    dev_memory others;
    assert_ok(c, one->table->alloc(one->device, DEV_DEVICE, (size_t)gone, &others));
    rt_hold_bytes(one, gone);
    rt_hold_taken(one, gone);
    rt_turn_give(&turn);
    pthread_join(thread, NULL);
    assert_ok(c, w.status);
    sim_counts counts;
    sim_count(c, 0, &counts);
    assert_true(counts.used_peak <= MEMORY);
    one->table->release(one->device, &others);
    rt_hold_bytes(one, -gone);
    rt_hold_taken(one, -gone);
    motet_array_free(in);
    motet_array_free(out);
    assert_clean(c);
    motet_context_free(c);
}

/* The newest values of an array are on devices, and its home has others, but for what the cpu has
 * there. */
static void send_away(motet_context *c, motet_array *a)
{
    motet_array *zeros = NULL;
    assert_ok(c, motet_array_create(c, MOTET_F32, 2, a->shape, &zeros));
    rt_array_reside(a, RT_RESIDE_SHARDED);
    const rt_op op = toy_update(zeros, a);
    assert_ok(c, rt_run(c, &op));
    int host = 0;
    for (int i = 0; i < c->devices->count; i++) host |= c->devices->set[i].host_visible;
    if (!host) memset(a->data, 0xff, a->bytes);
    motet_array_free(zeros);
}

/* Every kind of port finds the newest values, and what it writes is found. */
static void every_port_finds_them(void **state)
{
    (void)state;
    for (int which = 0; which < PORTS_CASES; which++)
        for (int set = 0; set < 3; set++) {
            static const char *const sets[] = {"sim:0", "sim:0,sim:3", "sim:4,sim:0,sim:1"};
            motet_context *c = context_for((uint64_t)set, sets[set]);
            ports_case p;
            ports_case_make(c, which, 24, 13, &p);
            int sent = 0;
            for (int i = 0; i < RT_PORTS; i++) {
                motet_array *a = (motet_array *)(uintptr_t)p.op.port[i].array;
                if (!a || !a->data || a->residence) continue;
                if (a->type == MOTET_F32 && a->axes == 2)
                    send_away(c, a), sent++;
                else
                    rt_array_reside(a, RT_RESIDE_SHARDED);
            }
            assert_true(sent || which >= PORTS_COUNT);
            const rt_run_options o = {.cut = {{5, 4}, 3}};
            assert_ok(c, rt_run_with(c, &p.op, &o));
            if (p.out->data) assert_ok(c, motet_array_fetch(p.out));
            if (!ports_right(&p)) fail_msg("case %d on %s", which, sets[set]);
            ports_case_free(&p);
            assert_clean(c);
            motet_context_free(c);
        }
    assert_int_equal(ports_mistakes(), 0);
}

/* What is computed once more elsewhere sees the same, also of an input of which each device has its
 * own rows only. */
static void a_second_look_finds_them(void **state)
{
    (void)state;
    static const int kinds[] = {PIPE_SUM, PIPE_UPDATE};
    for (int k = 0; k < 2; k++) {
        char expected[33], got[33];
        pipe_expected(kinds[k], 40, 13, expected);
        for (uint64_t seed = 0; seed < 10; seed++) {
            motet_context *c = context_for(seed, seed % 2 ? "sim:0,sim:1" : "cpu,sim:0,sim:2");
            pipe_case p;
            pipe_case_make(c, kinds[k], 40, 13, &p);
            send_away(c, p.in);
            if (p.with) send_away(c, p.with);
            const rt_run_options o = {.cut = {{5, 4}, 3}, .verify = 1};
            assert_ok(c, rt_run_with(c, &p.op, &o));
            assert_ok(c, motet_array_digest(p.out, got));
            assert_string_equal(got, expected);
            pipe_case_free(&p);
            assert_clean(c);
            motet_context_free(c);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_set_of_bits),
                                       cmocka_unit_test(nothing_moves_twice),
                                       cmocka_unit_test(only_halos_move),
                                       cmocka_unit_test(the_caller_may_write),
                                       cmocka_unit_test(budgets_hold_what_stays),
                                       cmocka_unit_test(a_part_may_go_before_the_turn),
                                       cmocka_unit_test(every_port_finds_them),
                                       cmocka_unit_test(a_second_look_finds_them),
                                       cmocka_unit_test(reading_does_not_disturb_a_fetch)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
