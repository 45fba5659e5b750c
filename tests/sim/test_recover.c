/* Lost devices come back: when they may, one attempt at a time, and only when they compute right.
 * Meanwhile everybody goes on without them. */
#include "rt/recover.h"

#include <pthread.h>
#include <stdio.h>

#include "support/pipe.h"

static const rt_run_options small = {.cut = {{6, 5}, 11}};

/* A context with virtual time and a log that is kept. */
typedef struct world {
    motet_context *c;
    sim_clock clock;
    int findings;
    char info[1000], warnings[4000];
} world;

static void found(const char *text, void *user)
{
    if (!((world *)user)->findings++) print_error("%s\n", text);
}

static void hear(motet_log_level level, const char *component, const char *text, void *user)
{
    world *w = user;
    (void)component;
    char *log = level == MOTET_LOG_INFO ? w->info : level == MOTET_LOG_WARNING ? w->warnings : NULL;
    const size_t room = level == MOTET_LOG_INFO ? sizeof w->info : sizeof w->warnings;
    if (log) snprintf(log + strlen(log), room - strlen(log), "%s\n", text);
}

static void world_on(world *w, motet_context *c, uint64_t seed, const char *names)
{
    memset(w, 0, sizeof *w);
    w->c = c;
    sim_config config;
    sim_config_init(&config);
    config.seed = seed;
    config.found = found;
    config.found_user = w;
    w->c->options.log = hear;
    w->c->options.log_user = w;
    sim_clock_use(w->c, &w->clock);
    assert_ok(w->c, sim_use(w->c, &config, names));
}

static void world_make(world *w, uint64_t seed, const char *names)
{
    world_on(w, test_context(), seed, names);
}

static void world_end(world *w)
{
    motet_context_free(w->c);
    assert_int_equal(w->findings, 0);
    toy_mistakes(); /* after a loss the kernels' own records are moot */
}

static motet_device_state state_of(world *w, int device)
{
    motet_device_state s;
    assert_ok(w->c, motet_context_device_state(w->c, device, &s));
    return s;
}

/* Runs one case and checks what holds however it ends. */
static motet_status attempt(world *w, int which, const char *expected)
{
    pipe_case p;
    pipe_case_make(w->c, which, 40, 13, &p);
    char before[33], after[33];
    assert_ok(w->c, motet_array_digest(p.out, before));
    const motet_status st = rt_run_with(w->c, &p.op, &small);
    assert_ok(w->c, motet_array_digest(p.out, after));
    assert_string_equal(after, st == MOTET_OK ? expected : before);
    pipe_case_free(&p);
    return st;
}

static int64_t chunks_of(world *w, int device)
{
    return atomic_load(&w->c->devices->set[device].chunks);
}

static int64_t opens_of(world *w, int number)
{
    sim_counts counts;
    sim_count(w->c, number, &counts);
    return counts.opens;
}

static const struct {
    const char *names;
    int victim, number;
} sets[] = {{"sim:0", 0, 0}, {"sim:0,sim:5", 0, 0}, {"sim:0,sim:5", 1, 5}, {"cpu,sim:2", 1, 2}};
enum { SETS = sizeof sets / sizeof *sets };

/* A device that was lost is not tried for 30 s; then the next run opens it and uses it. */
static void a_lost_device_comes_back(void **state)
{
    (void)state;
    for (int which = 0; which < PIPE_OPS; which++) {
        char expected[33];
        pipe_expected(which, 40, 13, expected);
        for (int set = 0; set < SETS; set++)
            for (int64_t k = 1; k < 30; k += 4) {
                world w;
                world_make(&w, (uint64_t)k, sets[set].names);
                const int victim = sets[set].victim, number = sets[set].number;
                const motet_status alone = set ? MOTET_OK : MOTET_DEVICE_LOST;
                assert_string_equal(state_of(&w, victim).reason, "");
                const sim_fault fault = {.lose_at_command = k};
                sim_set_fault(w.c, number, &fault);
                const motet_status first = attempt(&w, which, expected);
                const motet_device_state s = state_of(&w, victim);
                assert_int_equal(first, s.lost ? alone : MOTET_OK);
                if (!s.lost) { /* it has not so many commands */
                    world_end(&w);
                    break;
                }
                assert_int_equal(s.losses, 1);
                assert_non_null(strstr(s.reason, "the device is lost"));
                assert_true(s.wait > 29 && s.wait <= 30);
                char without[64]; /* the device is named once */
                snprintf(without, sizeof without, "goes on without sim:%d: the device", number);
                assert_non_null(strstr(w.warnings, set ? without : "the device is lost"));

                sim_clock_pass(&w.clock, s.wait - 0.5);
                const int64_t before = chunks_of(&w, victim);
                assert_int_equal(attempt(&w, which, expected), alone);
                assert_int_equal(opens_of(&w, number), 1);
                assert_int_equal(chunks_of(&w, victim), before);
                motet_device_info info;
                assert_status(w.c, motet_context_device(w.c, victim, &info), MOTET_DEVICE_LOST);
                assert_int_equal(state_of(&w, victim).attempts, 0);
                assert_string_equal(w.info, "");

                sim_clock_pass(&w.clock, 0.5);
                assert_int_equal(attempt(&w, which, expected), MOTET_OK);
                assert_int_equal(opens_of(&w, number), 2);
                assert_true(chunks_of(&w, victim) > before);
                assert_non_null(strstr(w.info, "is back: simulated"));
                assert_ok(w.c, motet_context_device(w.c, victim, &info));
                const motet_device_state back = state_of(&w, victim);
                assert_int_equal(back.lost, 0);
                assert_int_equal(back.returns, 1);
                assert_int_equal(back.attempts, 1);
                assert_string_equal(back.reason, s.reason);
                assert_true(back.wait == 0);
                assert_clean(w.c);
                world_end(&w);
            }
    }
}

/* A device that hung is closed first: then what it might have touched is released, and it is as
 * new. */
static void a_hung_device_comes_back(void **state)
{
    (void)state;
    char expected[33];
    pipe_expected(PIPE_SUM, 40, 13, expected);
    for (int64_t k = 1; k < 40; k += 3) {
        world w;
        world_make(&w, (uint64_t)k, "sim:0,sim:1");
        const sim_fault fault = {.hang_at_command = k};
        sim_set_fault(w.c, 0, &fault);
        assert_int_equal(attempt(&w, PIPE_SUM, expected), MOTET_OK);
        assert_int_equal(state_of(&w, 0).lost, 1);
        assert_non_null(w.c->devices->set[0].kept);
        sim_set_fault(w.c, 0, &(sim_fault){0});
        sim_clock_pass(&w.clock, 30);
        assert_int_equal(rt_recover(w.c), 2);
        assert_null(w.c->devices->set[0].kept);
        sim_counts counts;
        motet_context_trim(w.c);
        sim_count(w.c, 0, &counts);
        assert_int_equal(counts.used, 0);
        assert_int_equal(attempt(&w, PIPE_SUM, expected), MOTET_OK);
        assert_int_equal(state_of(&w, 0).lost, 0);
        world_end(&w);
    }
}

/* While it does not come back, or computes other bits than it should, it is not used; each attempt
 * waits for the cool-down of the one before. The reason stays that of the loss. */
static void an_attempt_that_fails_leaves_it_lost(void **state)
{
    (void)state;
    char expected[33];
    pipe_expected(PIPE_SMOOTH, 40, 13, expected);
    for (int kind = 0; kind < 2; kind++) {
        enum { FAILURES = 4 };
        world w;
        world_make(&w, 1, "sim:0,sim:1");
        const sim_fault fault = {.lose_at_command = 5,
                                 .refused_opens = kind ? 0 : FAILURES,
                                 .wrong_health = kind ? FAILURES : 0};
        sim_set_fault(w.c, 1, &fault);
        assert_int_equal(attempt(&w, PIPE_SMOOTH, expected), MOTET_OK);
        const motet_device_state lost = state_of(&w, 1);
        assert_int_equal(lost.lost, 1);
        const int64_t before = chunks_of(&w, 1);
        for (int i = 0; i < FAILURES; i++) {
            sim_clock_pass(&w.clock, 30);
            for (int twice = 0; twice < 2; twice++) {
                assert_int_equal(attempt(&w, PIPE_SMOOTH, expected), MOTET_OK);
                const motet_device_state s = state_of(&w, 1);
                assert_int_equal(s.lost, 1);
                assert_int_equal(s.attempts, i + 1);
                assert_int_equal(s.losses, 1);
                assert_int_equal(s.returns, 0);
                assert_true(s.wait > 29);
                assert_string_equal(s.reason, lost.reason);
                assert_int_equal(chunks_of(&w, 1), before);
            }
        }
        assert_non_null(strstr(w.warnings, kind ? "sim:1 does not come back: it computes wrongly"
                                                : "sim:1 does not come back: the device"));
        assert_string_equal(w.info, "");
        sim_clock_pass(&w.clock, 30);
        assert_int_equal(attempt(&w, PIPE_SMOOTH, expected), MOTET_OK);
        assert_int_equal(state_of(&w, 1).lost, 0);
        assert_true(chunks_of(&w, 1) > before);
        world_end(&w);
    }
}

/* A device that computes wrongly for good is never used again, and costs six attempts an hour. */
static void a_wrong_device_is_never_used(void **state)
{
    (void)state;
    char expected[33];
    pipe_expected(PIPE_UPDATE, 40, 13, expected);
    world w;
    world_make(&w, 1, "sim:0,cpu");
    sim_set_fault(w.c, 0, &(sim_fault){.lose_at_command = 4, .wrong_health = -1});
    assert_int_equal(attempt(&w, PIPE_UPDATE, expected), MOTET_OK);
    const int64_t before = chunks_of(&w, 0);
    for (int hour = 1; hour <= 3; hour++) {
        for (int i = 0; i < 360; i++) {
            sim_clock_pass(&w.clock, 10);
            assert_int_equal(rt_recover(w.c), 1);
        }
        assert_int_equal(state_of(&w, 0).attempts, 6 * hour);
        assert_int_equal(opens_of(&w, 0), 1 + 6 * hour);
        assert_int_equal(attempt(&w, PIPE_UPDATE, expected), MOTET_OK);
        assert_int_equal(chunks_of(&w, 0), before);
    }
    assert_clean(w.c);
    world_end(&w);
}

/* A device that is lost again and again is brought back again and again, but not more than six
 * times an hour; nothing is wrong in between. */
static void a_failing_device_is_left_alone_mostly(void **state)
{
    (void)state;
    char expected[33];
    pipe_expected(PIPE_SUM, 40, 13, expected);
    for (int alone = 0; alone < 2; alone++) {
        world w;
        world_make(&w, 3, alone ? "sim:0" : "sim:0,cpu");
        sim_set_fault(w.c, 0, &(sim_fault){.lose_at_command = 9, .lose_again = 1});
        for (int i = 0; i < 300; i++) {
            const motet_status st = attempt(&w, PIPE_SUM, expected);
            assert_int_equal(st, alone ? MOTET_DEVICE_LOST : MOTET_OK);
            sim_clock_pass(&w.clock, 20);
        }
        const motet_device_state s = state_of(&w, 0);
        assert_true(s.attempts == 11 || s.attempts == 12); /* in 6000 s */
        assert_int_equal(s.returns, s.attempts);
        assert_int_equal(s.losses, s.returns + 1);
        assert_clean(w.c);
        world_end(&w);
    }
}

/* As long as somebody uses what is left of the device it is not closed, and no attempt is spent. */
static void a_device_in_use_is_not_closed(void **state)
{
    (void)state;
    world w;
    world_make(&w, 1, "sim:0,sim:1");
    rt_device *one = &w.c->devices->set[1];
    dev *device = rt_device_use(w.c, one);
    assert_ptr_equal(device, one->device);
    assert_non_null(rt_device_hold(w.c, one));
    rt_device_lose(w.c, one, "the test says so");
    assert_null(rt_device_use(w.c, one));
    sim_clock_pass(&w.clock, 100);
    for (int users = 2; users > 0; users--) {
        assert_int_equal(rt_recover(w.c), 1);
        assert_int_equal(state_of(&w, 1).attempts, 0);
        assert_int_equal(opens_of(&w, 1), 1);
        rt_device_leave(w.c, one);
    }
    assert_int_equal(rt_recover(w.c), 2);
    assert_ptr_not_equal(one->device, device);
    assert_int_equal(one->device->index, 1);
    assert_string_equal(state_of(&w, 1).reason, "the test says so");
    rt_device_lose(w.c, one, "for another reason");
    assert_string_equal(state_of(&w, 1).reason, "for another reason");
    rt_device_lose(w.c, one, "a second run saw it, too");
    assert_string_equal(state_of(&w, 1).reason, "for another reason");
    assert_clean(w.c);
    world_end(&w);
}

/* What resided on a device is gone with it, and nothing of it is held when it is back. */
static void what_resided_there_is_gone(void **state)
{
    (void)state;
    for (int owner = 0; owner < 2; owner++) {
        world w;
        world_make(&w, 1, "sim:0,sim:1");
        pipe_case p;
        pipe_case_make(w.c, PIPE_UPDATE, 40, 13, &p);
        motet_array *resident = owner ? p.out : p.in;
        assert_ok(w.c, rt_array_reside(resident, RT_RESIDE_SHARDED));
        assert_ok(w.c, rt_run_with(w.c, &p.op, &small));
        sim_counts counts;
        sim_count(w.c, 1, &counts);
        assert_true(counts.used > 0);
        rt_device_lose(w.c, &w.c->devices->set[1], "the test says so");
        sim_clock_pass(&w.clock, 30);
        assert_int_equal(rt_recover(w.c), 2);
        sim_count(w.c, 1, &counts);
        assert_int_equal(counts.used, 0);
        assert_null(w.c->devices->set[1].kept);
        assert_int_equal(atomic_load(&w.c->devices->set[1].held), 0);
        assert_int_equal(atomic_load(&w.c->devices->set[1].taken), 0);
        assert_int_equal(motet_array_fetch(resident), owner ? MOTET_DEVICE_LOST : MOTET_OK);
        pipe_case_free(&p);
        assert_clean(w.c);
        world_end(&w);
    }
}

/* A run that has let a lost device go does not keep it from coming back before the run ends. */
typedef struct in_run {
    world *w;
    int calls, returned;
} in_run;

static motet_go recover_meanwhile(const motet_progress *progress, void *user)
{
    in_run *r = user;
    (void)progress;
    r->calls++;
    if (!state_of(r->w, 1).lost) return MOTET_GO_ON;
    sim_clock_pass(&r->w->clock, 31);
    if (rt_recover(r->w->c) == 2) r->returned++;
    return MOTET_GO_ON;
}

static void it_comes_back_while_a_run_goes_on(void **state)
{
    (void)state;
    char expected[33];
    pipe_expected(PIPE_SUM, 40, 13, expected);
    world w;
    world_make(&w, 1, "sim:0,sim:1");
    in_run r = {&w, 0, 0};
    w.c->options.progress = recover_meanwhile;
    w.c->options.progress_user = &r;
    sim_set_fault(w.c, 1, &(sim_fault){.lose_at_command = 3});
    assert_int_equal(attempt(&w, PIPE_SUM, expected), MOTET_OK);
    assert_int_equal(r.returned, 1);
    assert_int_equal(state_of(&w, 1).returns, 1);
    assert_int_equal(attempt(&w, PIPE_SUM, expected), MOTET_OK);
    assert_clean(w.c);
    world_end(&w);
}

/* The table of a back end whose open waits until it is told. */
typedef struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int inside, may;
} gate;
static gate slow_gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};

static motet_status slow_open(motet_context *c, int number, dev **out)
{
    pthread_mutex_lock(&slow_gate.lock);
    slow_gate.inside++;
    pthread_cond_broadcast(&slow_gate.changed);
    while (!slow_gate.may) pthread_cond_wait(&slow_gate.changed, &slow_gate.lock);
    pthread_mutex_unlock(&slow_gate.lock);
    return dev_sim.open(c, number, out);
}

static void *recover_thread(void *user) { return (void *)(intptr_t)rt_recover(user); }

/* One thread tries, as long as it takes; the others do not wait for it, whatever they do. */
static void others_go_on_during_an_attempt(void **state)
{
    (void)state;
    char expected[33];
    pipe_expected(PIPE_PROJECT, 40, 13, expected);
    world w;
    world_make(&w, 1, "sim:0,sim:1");
    dev_table slow = dev_sim;
    slow.open = slow_open;
    rt_device *one = &w.c->devices->set[1];
    one->table = &slow;
    sim_set_fault(w.c, 1, &(sim_fault){.lose_at_command = 2});
    assert_int_equal(attempt(&w, PIPE_PROJECT, expected), MOTET_OK);
    sim_clock_pass(&w.clock, 30);

    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, recover_thread, w.c), 0);
    pthread_mutex_lock(&slow_gate.lock);
    while (!slow_gate.inside) pthread_cond_wait(&slow_gate.changed, &slow_gate.lock);
    pthread_mutex_unlock(&slow_gate.lock);

    const int64_t before = chunks_of(&w, 1);
    for (int i = 0; i < 3; i++) {
        sim_clock_pass(&w.clock, 100);
        assert_int_equal(rt_recover(w.c), 1);
        assert_int_equal(attempt(&w, PIPE_PROJECT, expected), MOTET_OK);
    }
    assert_int_equal(chunks_of(&w, 1), before);
    motet_device_info info;
    assert_status(w.c, motet_context_device(w.c, 1, &info), MOTET_DEVICE_LOST);
    assert_null(rt_device_hold(w.c, one));
    char *report = NULL;
    assert_ok(w.c, motet_context_report(w.c, &report));
    motet_text_free(w.c, report);
    motet_context_report_reset(w.c);
    assert_int_equal(state_of(&w, 1).attempts, 1);

    pthread_mutex_lock(&slow_gate.lock);
    slow_gate.may = 1;
    pthread_cond_broadcast(&slow_gate.changed);
    pthread_mutex_unlock(&slow_gate.lock);
    void *usable = NULL;
    pthread_join(thread, &usable);
    assert_int_equal((intptr_t)usable, 2);
    assert_int_equal(slow_gate.inside, 1);
    assert_int_equal(attempt(&w, PIPE_PROJECT, expected), MOTET_OK);
    assert_int_equal(state_of(&w, 1).lost, 0);
    world_end(&w);
}

/* Whichever allocation of an attempt fails: still lost, nothing leaks, the next one succeeds. */
static void an_attempt_without_memory(void **state)
{
    (void)state;
    int failures = 0;
    for (int forever = 0; forever < 2; forever++)
        for (int64_t nth = 1, over = 0; !over; nth++) {
            world w;
            world_on(&w, test_context_failing(0, 0), 1, "sim:0,sim:1");
            rt_device_lose(w.c, &w.c->devices->set[0], "the test says so");
            sim_clock_pass(&w.clock, 30);
            motet_memory before, after;
            motet_context_memory(w.c, &before);
            test_context_fail_at(w.c, nth, forever);
            const int usable = rt_recover(w.c);
            over = !test_context_failed(w.c);
            failures += usable == 1;
            test_context_fail_at(w.c, 0, 0);
            if (over) assert_int_equal(usable, 2);
            assert_int_equal(state_of(&w, 0).lost, usable == 1);
            motet_context_report_reset(w.c); /* the warning */
            motet_context_memory(w.c, &after);
            assert_int_equal(after.blocks, before.blocks);
            sim_clock_pass(&w.clock, 30);
            assert_int_equal(rt_recover(w.c), 2);
            world_end(&w);
        }
    assert_true(failures >= 2);
}

typedef struct at_once {
    world *w;
    int which;
    char expected[33];
    atomic_int *stop;
    int64_t done;
} at_once;

static void *run_again_and_again(void *user)
{
    at_once *a = user;
    pipe_case p;
    for (int i = 0; i < 40; i++) {
        char got[33];
        pipe_case_make(a->w->c, a->which, 40, 13, &p);
        const motet_status st = rt_run_with(a->w->c, &p.op, &small);
        if (st == MOTET_OK && motet_array_digest(p.out, got) == MOTET_OK)
            a->done += !strcmp(got, a->expected);
        pipe_case_free(&p);
        sim_clock_pass(&a->w->clock, 7);
    }
    return NULL;
}

/* Whoever sees that a device is lost finds the reason and the cool-down. */
static void *watch(void *user)
{
    at_once *a = user;
    while (!atomic_load(a->stop)) {
        for (int i = 0; i < a->w->c->devices->count; i++) {
            const rt_device *one = &a->w->c->devices->set[i];
            motet_device_state s;
            const int seen = atomic_load(&one->lost);
            if (motet_context_device_state(a->w->c, i, &s) != MOTET_OK) return user;
            if (seen && (!*s.reason || !s.losses)) return user;
        }
        sched_yield();
    }
    return NULL;
}

/* Several threads run while devices are lost, tried and back: every run has its own bits. */
static void runs_at_once_while_devices_come_and_go(void **state)
{
    (void)state;
    int64_t returns = 0;
    for (uint64_t seed = 0; seed < 3; seed++) {
        world w;
        world_make(&w, seed, "sim:0,cpu,sim:1");
        sim_set_fault(w.c, 0, &(sim_fault){.lose_at_command = 40, .lose_again = 1});
        sim_set_fault(w.c, 2, &(sim_fault){.lose_at_command = 70, .lose_again = 1});
        atomic_int stop = 0;
        at_once runs[PIPE_OPS + 1];
        pthread_t thread[PIPE_OPS + 1];
        for (int i = 0; i <= PIPE_OPS; i++) {
            runs[i] = (at_once){.w = &w, .which = i, .stop = &stop};
            if (i < PIPE_OPS) pipe_expected(i, 40, 13, runs[i].expected);
        }
        for (int i = 0; i <= PIPE_OPS; i++)
            assert_int_equal(pthread_create(&thread[i], NULL,
                                            i < PIPE_OPS ? run_again_and_again : watch, &runs[i]),
                             0);
        for (int i = 0; i < PIPE_OPS; i++) {
            pthread_join(thread[i], NULL);
            assert_int_equal(runs[i].done, 40);
        }
        atomic_store(&stop, 1);
        void *wrong;
        pthread_join(thread[PIPE_OPS], &wrong);
        assert_null(wrong);
        for (int i = 0; i < 3; i += 2) {
            const motet_device_state s = state_of(&w, i);
            assert_true(s.losses >= s.returns && s.losses <= s.returns + 1);
            returns += s.returns;
        }
        assert_clean(w.c);
        world_end(&w);
    }
    assert_true(returns >= 6);
}

/* Asking for a state is checked, and does nothing. */
static void states_are_asked_by_number(void **state)
{
    (void)state;
    world w;
    world_make(&w, 1, "sim:0,cpu");
    motet_device_state s;
    assert_status(w.c, motet_context_device_state(w.c, 2, &s), MOTET_BAD_ARGUMENT);
    assert_message(w.c, "device 2", "has 2", NULL);
    assert_status(w.c, motet_context_device_state(w.c, -1, &s), MOTET_BAD_ARGUMENT);
    rt_device_lose(w.c, &w.c->devices->set[0], "the test says so");
    sim_clock_pass(&w.clock, 50);
    motet_device_info info;
    for (int i = 0; i < 3; i++) {
        assert_status(w.c, motet_context_device(w.c, 0, &info), MOTET_DEVICE_LOST);
        assert_message(w.c, "sim:0", "is lost", NULL);
        s = state_of(&w, 0);
        assert_int_equal(s.lost, 1);
        assert_int_equal(s.attempts, 0);
    }
    assert_int_equal(motet_context_recover(w.c), 2);
    assert_int_equal(state_of(&w, 0).lost, 0);
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_lost_device_comes_back),
                                       cmocka_unit_test(a_hung_device_comes_back),
                                       cmocka_unit_test(an_attempt_that_fails_leaves_it_lost),
                                       cmocka_unit_test(a_wrong_device_is_never_used),
                                       cmocka_unit_test(a_failing_device_is_left_alone_mostly),
                                       cmocka_unit_test(a_device_in_use_is_not_closed),
                                       cmocka_unit_test(what_resided_there_is_gone),
                                       cmocka_unit_test(it_comes_back_while_a_run_goes_on),
                                       cmocka_unit_test(others_go_on_during_an_attempt),
                                       cmocka_unit_test(an_attempt_without_memory),
                                       cmocka_unit_test(runs_at_once_while_devices_come_and_go),
                                       cmocka_unit_test(states_are_asked_by_number)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
