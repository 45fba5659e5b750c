/* P2: what is held where, and that runs which go on at once share one budget. */
#include <pthread.h>
#include <string.h>

#include "rt/hold.h"
#include "support/pipe.h"

static const int first[1] = {0};

static rt_plan_device device_of(motet_context *c)
{
    rt_plan_device all[RT_DEVICES];
    (void)rt_plan_devices(c, all);
    return all[0];
}

/* Other people's memory counts as soon as it is gone: a plan asks what is free now. */
static void a_plan_asks_what_is_free_now(void **state)
{
    (void)state;
    sim_config config;
    sim_config_init(&config);
    config.device[0].memory = 1000000;
    motet_context *c = sim_context(&config, "sim:0");
    dev *d = sim_dev(c, 0);
    assert_int_equal(device_of(c).free, 1000000);
    dev_memory others;
    assert_ok(c, d->table->alloc(d, DEV_DEVICE, 600000, &others));
    assert_int_equal(device_of(c).free, 400000);
    motet_array *in = toy_array(c, 400, 256, 1), *out = toy_array(c, 400, 256, 2);
    const rt_op op = toy_update(in, out); /* arrays of 409,600 bytes */
    assert_ok(c, rt_run(c, &op));
    sim_counts counts;
    sim_count(c, 0, &counts);
    assert_true(counts.used_peak > 600000 && counts.used_peak <= 900000);
    d->table->release(d, &others);
    assert_int_equal(device_of(c).free, 1000000);
    assert_clean(c);
    motet_array_free(in);
    motet_array_free(out);
    motet_context_free(c);
}

/* What one run holds, another one's plan leaves alone; what fits only without the other is told
 * apart from what does not fit at all. */
static void plans_see_what_other_runs_hold(void **state)
{
    (void)state;
    motet_context *c = sim_context(NULL, "sim:0");
    motet_array *in = toy_array(c, 400, 64, 1), *out = toy_array(c, 400, 64, 2);
    const rt_op op = toy_update(in, out); /* 512 bytes a row */
    const rt_plan_options options = {.cut = {{0}, 0}};
    rt_plan_device d = device_of(c);
    rt_plan plan;
    rt_hold one, two;
    memset(&one, 0, sizeof one);
    memset(&two, 0, sizeof two);
    d.budget = 100000;
    assert_ok(c, rt_hold_plan(c, &op, &d, first, 1, &options, &plan, &one));
    assert_int_equal(d.reserved, 0);
    assert_int_equal(one.device[0], plan.share[0].peak_bytes);
    assert_true(one.device[0] > 90000);
    d.budget = 110000;
    assert_ok(c, rt_hold_plan(c, &op, &d, first, 1, &options, &plan, &two));
    assert_int_equal(d.reserved, one.device[0]);
    assert_true(plan.share[0].peak_bytes <= 110000);
    assert_int_equal(two.device[0] + one.device[0], plan.share[0].peak_bytes);
    assert_int_equal(atomic_load(&c->devices->set[0].held), plan.share[0].peak_bytes);
    rt_hold_end(c, &two);
    d.budget = 90000;
    assert_status(c, rt_hold_plan(c, &op, &d, first, 1, &options, &plan, &two), MOTET_OVER_BUDGET);
    assert_true(two.shared);
    d.budget = 100;
    assert_status(c, rt_hold_plan(c, &op, &d, first, 1, &options, &plan, &two), MOTET_OVER_BUDGET);
    assert_false(two.shared);
    assert_message(c, "at least 512 bytes", NULL); /* without the other */
    rt_hold_bytes(&c->devices->set[0], 50000);     /* of resident arrays: they stay */
    rt_hold_end(c, &one);
    d.budget = 50000;
    assert_status(c, rt_hold_plan(c, &op, &d, first, 1, &options, &plan, &two), MOTET_OVER_BUDGET);
    assert_false(two.shared);
    rt_hold_bytes(&c->devices->set[0], -50000);
    assert_int_equal(atomic_load(&c->devices->set[0].held), 0);
    motet_array_free(in);
    motet_array_free(out);
    motet_context_free(c);
}

/* The same on the host: what is planned and not allocated yet is taken already. */
static void plans_see_what_other_runs_will_allocate_on_the_host(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_array *in = toy_array(c, 400, 64, 1), *out = toy_array(c, 400, 64, 2);
    const rt_op op = toy_update(in, out); /* a private copy of 102,400 bytes */
    rt_plan_options options = {.host_memory = 150000};
    rt_plan_device d = device_of(c);
    rt_plan plan;
    rt_hold one, two;
    memset(&one, 0, sizeof one);
    memset(&two, 0, sizeof two);
    assert_ok(c, rt_hold_plan(c, &op, &d, first, 1, &options, &plan, &one));
    assert_int_equal(one.promised, 102400);
    assert_status(c, rt_hold_plan(c, &op, &d, first, 1, &options, &plan, &two), MOTET_OVER_BUDGET);
    assert_true(two.shared);
    rt_hold_drawn(c, &one, 102400);
    assert_int_equal(one.promised, 0);
    options.host_held = 102400; /* as the account says now */
    assert_status(c, rt_hold_plan(c, &op, &d, first, 1, &options, &plan, &two), MOTET_OVER_BUDGET);
    assert_true(two.shared);
    rt_hold_end(c, &one); /* somebody else's bytes now */
    assert_status(c, rt_hold_plan(c, &op, &d, first, 1, &options, &plan, &two), MOTET_OVER_BUDGET);
    assert_false(two.shared);
    assert_int_equal(c->devices->promised + c->devices->drawn, 0);
    motet_array_free(in);
    motet_array_free(out);
    motet_context_free(c);
}

typedef struct waiting {
    motet_context *context;
    rt_hold hold;
    uint64_t seen;
    atomic_int begun;
    motet_status status;
} waiting;

static void *wait_on(void *user)
{
    waiting *w = user;
    log_phase phase = log_phase_begin(w->context, "waiting", 1);
    atomic_store(&w->begun, 1);
    w->status = rt_hold_wait(w->context, &w->hold, w->seen, &phase);
    return NULL;
}

static void waiting_ends_when_something_is_given_or_cancelled(void **state)
{
    (void)state;
    motet_context *c = sim_context(NULL, "sim:0");
    rt_hold hold;
    memset(&hold, 0, sizeof hold);
    for (int cancel = 0; cancel < 2; cancel++) {
        waiting w = {.context = c, .seen = rt_hold_given(c)};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, wait_on, &w), 0);
        while (!atomic_load(&w.begun)) continue;
        if (cancel)
            motet_context_cancel(c);
        else
            rt_hold_end(c, &hold);
        pthread_join(thread, NULL);
        assert_int_equal(w.status, cancel ? MOTET_CANCELLED : MOTET_OK);
        assert_true((c->devices->waiting == &w.hold) == !cancel);
        rt_hold_end(c, &w.hold);
        assert_null(c->devices->waiting);
    }
    motet_context_free(c);
}

typedef struct comer {
    motet_context *context;
    rt_op op;
    int64_t big; /* rows that must be there at once */
    atomic_int *begun, number, over;
    motet_status status;
} comer;

static motet_status begin(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    comer *m = (comer *)(uintptr_t)user;
    if (!m->number) m->number = atomic_fetch_add(m->begun, 1) + 1;
    rt_op toy = toy_update(m->op.port[0].array, m->op.port[2].array);
    return toy.enqueue(chunk, queue, toy.user);
}

static void *come(void *user)
{
    comer *m = user;
    rt_op op = m->op;
    op.enqueue = begin;
    op.user = m;
    op.grain[0] = m->big;
    m->status = rt_run(m->context, &op);
    atomic_store(&m->over, 1);
    return NULL;
}

static int in_queue(motet_context *c)
{
    int count = 0;
    pthread_mutex_lock(&c->devices->planning);
    for (const rt_hold *h = c->devices->waiting; h; h = h->next) count++;
    pthread_mutex_unlock(&c->devices->planning);
    return count;
}

/* Who needs much memory and waits for it is served before those who come later and need little: a
 * row of them cannot keep it waiting for ever. */
static void memory_is_given_in_the_order_of_asking(void **state)
{
    (void)state;
    motet_context *c = sim_context(NULL, "sim:0");
    c->options.memory = 205000;
    motet_array *in = toy_array(c, 400, 64, 1), *out[3];
    for (int i = 0; i < 3; i++) out[i] = toy_array(c, 400, 64, 2);
    const rt_op op = toy_update(in, out[2]);
    const rt_plan_options options = {.cut = {{0}, 0}};
    rt_plan_device d = device_of(c);
    rt_plan plan;
    rt_hold held;
    memset(&held, 0, sizeof held);
    d.budget = 100000; /* beside it there is no room for all at once, 204,800 bytes */
    assert_ok(c, rt_hold_plan(c, &op, &d, first, 1, &options, &plan, &held));
    comer come_in[2];
    pthread_t thread[2];
    atomic_int begun;
    atomic_init(&begun, 0);
    for (int i = 0; i < 2; i++) {
        come_in[i] = (comer){.context = c, .op = toy_update(in, out[i]), .begun = &begun};
        come_in[i].big = i ? 1 : 400;
        assert_int_equal(pthread_create(&thread[i], NULL, come, &come_in[i]), 0);
        while (in_queue(c) != i + 1 && !atomic_load(&come_in[i].over)) continue;
    }
    rt_hold_end(c, &held);
    for (int i = 0; i < 2; i++) {
        pthread_join(thread[i], NULL);
        assert_ok(c, come_in[i].status);
        assert_int_equal(come_in[i].number, i + 1);
    }
    assert_null(c->devices->waiting);
    assert_int_equal(atomic_load(&c->devices->set[0].held), 0);
    assert_clean(c);
    for (int i = 0; i < 3; i++) motet_array_free(out[i]);
    motet_array_free(in);
    motet_context_free(c);
}

enum { THREADS = 4, RUNS = 5 };

typedef struct runner {
    motet_context *context;
    motet_array *in, *out;
    motet_status status;
} runner;

static void *runs(void *user)
{
    runner *r = user;
    const rt_op op = toy_update(r->in, r->out);
    for (int i = 0; i < RUNS && r->status == MOTET_OK; i++) r->status = rt_run(r->context, &op);
    return NULL;
}

/* A budget in which one run fits well and two barely: none is refused, and the device never holds
 * more. */
static void runs_at_once_share_one_budget(void **state)
{
    (void)state;
    motet_context *c = sim_context(NULL, "sim:0");
    c->options.memory = 60000;
    runner r[THREADS];
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        r[i] = (runner){c, toy_array(c, 400, 64, 1), toy_array(c, 400, 64, 2), MOTET_OK};
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, runs, &r[i]), 0);
    char digest[THREADS][33];
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        assert_ok(c, r[i].status);
        assert_ok(c, motet_array_digest(r[i].out, digest[i]));
        assert_string_equal(digest[i], digest[0]);
    }
    sim_counts counts;
    motet_context_trim(c);
    sim_count(c, 0, &counts);
    assert_true(counts.used_peak <= 60000);
    assert_int_equal(atomic_load(&c->devices->set[0].held), 0);
    assert_int_equal(atomic_load(&c->devices->set[0].taken), 0);
    assert_clean(c);
    for (int i = 0; i < THREADS; i++) {
        motet_array_free(r[i].in);
        motet_array_free(r[i].out);
    }
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_asks_what_is_free_now),
        cmocka_unit_test(plans_see_what_other_runs_hold),
        cmocka_unit_test(plans_see_what_other_runs_will_allocate_on_the_host),
        cmocka_unit_test(waiting_ends_when_something_is_given_or_cancelled),
        cmocka_unit_test(memory_is_given_in_the_order_of_asking),
        cmocka_unit_test(runs_at_once_share_one_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
