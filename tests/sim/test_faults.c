/* What can go wrong with a device, at will. */
#include <stdlib.h>

#include "sim/pipeline.h"

static sim_config config_of(uint64_t seed, sim_fault fault)
{
    sim_config config;
    sim_config_init(&config);
    config.seed = seed;
    config.device[0].fault = fault;
    return config;
}

static int64_t calls_of_program(void)
{
    motet_context *c = sim_context(NULL, "sim:0");
    pipe p;
    sim_counts before, after;
    sim_count(c, 0, &before);
    assert_ok(c, pipe_run(&p, sim_dev(c, 0), -1, -1));
    sim_count(c, 0, &after);
    motet_context_free(c);
    return after.calls - before.calls;
}

/* Lost at any call: that call and all later ones say so, and everything can still be given back. */
static void loss_at_every_call(void **state)
{
    (void)state;
    const int64_t calls = calls_of_program();
    assert_true(calls > 50);
    for (int64_t k = 1; k <= calls; k++) {
        const sim_config config = config_of((uint64_t)k, (sim_fault){.lose_at_call = k});
        motet_context *c = sim_context(&config, "sim:0");
        dev *d = sim_dev(c, 0);
        pipe p;
        assert_status(c, pipe_run(&p, d, -1, -1), MOTET_DEVICE_LOST);
        dev_stream *s;
        dev_memory m;
        motet_device_info info;
        assert_status(c, d->table->stream_create(d, &s), MOTET_DEVICE_LOST);
        assert_status(c, d->table->alloc(d, DEV_DEVICE, 1, &m), MOTET_DEVICE_LOST);
        assert_status(c, d->table->info(d, &info), MOTET_DEVICE_LOST);
        assert_int_equal(d->table->health(d), DEV_HEALTH_LOST);
        assert_clean(c);
        motet_context_free(c);
    }
    const sim_config config = config_of(1, (sim_fault){.lose_at_call = calls + 1});
    motet_context *c = sim_context(&config, "sim:0");
    pipe p;
    assert_ok(c, pipe_run(&p, sim_dev(c, 0), -1, -1));
    motet_context_free(c);
}

/* Lost while a command runs: found by a poll, what was done before is right or unread. */
static void loss_at_every_command(void **state)
{
    (void)state;
    enum { COMMANDS = 3 * PIPE_CHUNKS };
    for (int64_t k = 1; k <= COMMANDS; k++)
        for (uint64_t seed = 0; seed < 4; seed++) {
            const sim_config config = config_of(seed, (sim_fault){.lose_at_command = k});
            motet_context *c = sim_context(&config, "sim:0");
            pipe p;
            assert_status(c, pipe_run(&p, sim_dev(c, 0), -1, -1), MOTET_DEVICE_LOST);
            for (int i = 0; i < PIPE_CHUNKS; i++)
                if (p.result[i][0] != 0)
                    for (int j = 0; j < PIPE_N; j++)
                        assert_true(p.result[i][j] == 2 * pipe_input(i, j) + 1);
            sim_counts counts;
            sim_count(c, 0, &counts);
            assert_int_equal(counts.losses, 1);
            assert_clean(c);
            motet_context_free(c);
        }
}

/* A copy that a loss cuts short has written part of its target; what the device held is gone. */
static void a_loss_cuts_short(void **state)
{
    (void)state;
    sim_config config = config_of(3, (sim_fault){.lose_at_command = 2});
    config.trap = 0; /* we look into the device's memory */
    motet_context *c = sim_context(&config, "sim:0");
    dev *d = sim_dev(c, 0);
    dev_stream *s;
    dev_memory m;
    unsigned char host[100];
    memset(host, 0, sizeof host);
    assert_ok(c, d->table->stream_create(d, &s));
    assert_ok(c, d->table->alloc(d, DEV_DEVICE, 100, &m));
    assert_ok(c, d->table->fill(s, m.data, 9, 100));
    assert_ok(c, d->table->copy(s, host, m.data, 100));
    assert_status(c, sim_wait_stream(d, s), MOTET_DEVICE_LOST);
    for (int i = 0; i < 100; i++) assert_int_equal(host[i], i < 50 ? 9 : 0);
    for (int i = 0; i < 100; i++) assert_int_equal(((unsigned char *)m.data)[i], 0xff);
    d->table->release(d, &m);
    d->table->stream_free(s);
    assert_clean(c);
    motet_context_free(c);
}

/* Closing and opening begins a new epoch that works; handles of the old one are errors, and can be
 * freed before or after. */
static void a_new_epoch_works_and_the_old_is_refused(void **state)
{
    (void)state;
    for (int lost = 0; lost < 2; lost++) {
        sim_fault fault = {0};
        if (lost) fault = (sim_fault){.lose_at_call = 8, .refused_opens = 2};
        const sim_config config = config_of(1, fault);
        motet_context *c = sim_context(&config, "cpu");
        dev *old, *now;
        assert_ok(c, dev_sim.open(c, 0, &old));
        assert_status(c, dev_sim.open(c, 0, &now), MOTET_BAD_ARGUMENT);
        dev_stream *s, *fresh;
        dev_event *e;
        dev_memory on, host;
        assert_ok(c, dev_sim.stream_create(old, &s));
        assert_ok(c, dev_sim.event_create(old, &e));
        assert_ok(c, dev_sim.alloc(old, DEV_DEVICE, 64, &on));
        assert_ok(c, dev_sim.alloc(old, DEV_PINNED, 64, &host));
        memset(host.data, 3, 64);
        assert_ok(c, dev_sim.copy(s, on.data, host.data, 64));
        assert_ok(c, dev_sim.event_record(s, e));
        assert_ok(c, sim_wait_event(old, e));
        assert_ok(c, dev_sim.fill(s, on.data, 0, 1));
        if (lost) assert_status(c, dev_sim.fill(s, on.data, 0, 1), MOTET_DEVICE_LOST);
        dev_sim.close(old);
        for (int i = 0; i < fault.refused_opens; i++)
            assert_status(c, dev_sim.open(c, 0, &now), MOTET_DEVICE_LOST);
        assert_clean(c);
        assert_ok(c, dev_sim.open(c, 0, &now));
        assert_int_equal(now->epoch, 2);
        pipe p;
        assert_ok(c, pipe_run(&p, now, -1, -1));
        assert_true(pipe_right(&p));
        assert_clean(c);

        int64_t found = 0;
        assert_status(c, dev_sim.fill(s, on.data, 0, 1), MOTET_DEVICE_LOST);
        assert_int_equal(sim_findings(c), ++found);
        assert_status(c, dev_sim.stream_poll(s), MOTET_DEVICE_LOST);
        assert_int_equal(sim_findings(c), ++found);
        assert_status(c, dev_sim.event_poll(e), MOTET_DEVICE_LOST);
        assert_int_equal(sim_findings(c), ++found);
        assert_status(c, dev_sim.alloc(old, DEV_DEVICE, 1, &on), MOTET_DEVICE_LOST);
        assert_int_equal(sim_findings(c), ++found);
        assert_ok(c, dev_sim.stream_create(now, &fresh));
        assert_status(c, dev_sim.fill(fresh, on.data, 0, 64), MOTET_INTERNAL);
        assert_int_equal(sim_findings(c), ++found);
        assert_found(c, "fill", "former epoch");
        assert_status(c, dev_sim.event_record(fresh, e), MOTET_INTERNAL);
        assert_int_equal(sim_findings(c), ++found);
        assert_status(c, dev_sim.stream_wait(fresh, e), MOTET_INTERNAL);
        assert_int_equal(sim_findings(c), ++found);

        dev_sim.release(old, &on);
        dev_sim.release(old, &host);
        dev_sim.event_free(e);
        dev_sim.stream_free(s);
        dev_sim.stream_free(fresh);
        assert_int_equal(sim_findings(c), found);
        dev_sim.close(now);
        motet_context_free(c);
    }
}

/* A device may die in every epoch, or never come back. */
static void losses_repeat_or_are_final(void **state)
{
    (void)state;
    const sim_fault faults[] = {{.lose_at_call = 3, .lose_again = 1},
                                {.lose_at_call = 3, .refused_opens = -1}};
    for (int f = 0; f < 2; f++) {
        const sim_config config = config_of(1, faults[f]);
        motet_context *c = sim_context(&config, "cpu");
        dev *d;
        for (int i = 0; i < 4; i++) {
            const motet_status st = dev_sim.open(c, 0, &d);
            assert_int_equal(st, f && i ? MOTET_DEVICE_LOST : MOTET_OK);
            if (st != MOTET_OK) continue;
            assert_int_equal(dev_sim.health(d), DEV_HEALTH_OK);
            pipe p;
            assert_status(c, pipe_run(&p, d, -1, -1), MOTET_DEVICE_LOST);
            assert_int_equal(dev_sim.health(d), f ? DEV_HEALTH_GONE : DEV_HEALTH_LOST);
            dev_sim.close(d);
        }
        assert_clean(c);
        motet_context_free(c);
    }
}

/* Each call that can fail does, once and from then on; nothing is left behind and no rule is
 * broken. */
static void every_call_can_fail(void **state)
{
    (void)state;
    const int64_t calls = calls_of_program();
    for (int on = 0; on < 2; on++)
        for (int64_t k = 1; k <= calls + 1; k++) {
            const sim_config config =
                config_of((uint64_t)k, (sim_fault){.fail_call = k, .fail_call_on = on});
            motet_context *c = sim_context(&config, "sim:0");
            pipe p;
            assert_status(c, pipe_run(&p, sim_dev(c, 0), -1, -1),
                          k <= calls ? MOTET_DEVICE_ERROR : MOTET_OK);
            assert_clean(c);
            motet_context_free(c);
        }
}

/* The same for allocations of the device. */
static void every_allocation_can_fail(void **state)
{
    (void)state;
    enum { ALLOCS = 4 * PIPE_SLOTS };
    for (int on = 0; on < 2; on++)
        for (int64_t k = 1; k <= ALLOCS + 1; k++) {
            const sim_config config =
                config_of(1, (sim_fault){.fail_alloc = k, .fail_alloc_on = on});
            motet_context *c = sim_context(&config, "sim:0");
            dev *d = sim_dev(c, 0);
            pipe p;
            assert_status(c, pipe_run(&p, d, -1, -1), k <= ALLOCS ? MOTET_NO_MEMORY : MOTET_OK);
            dev_memory m;
            if (k <= ALLOCS && !on) {
                assert_ok(c, d->table->alloc(d, DEV_DEVICE, 1, &m));
                d->table->release(d, &m);
            }
            if (on) assert_status(c, d->table->alloc(d, DEV_DEVICE, 1, &m), MOTET_NO_MEMORY);
            assert_clean(c);
            motet_context_free(c);
        }
}

/* And for the host's: the simulator's own books fail as cleanly as anything. */
static void every_host_allocation_can_fail(void **state)
{
    (void)state;
    for (int forever = 0; forever < 2; forever++) {
        int passed = 0;
        for (int64_t nth = 1; !passed; nth++) {
            motet_context *c = test_context_failing(0, 0);
            test_context_fail_at(c, nth, forever);
            sim_config config = config_of(1, (sim_fault){0});
            motet_status st = sim_use(c, &config, "sim:0,sim:1");
            pipe p;
            if (st == MOTET_OK) st = pipe_run(&p, sim_dev(c, 0), -1, -1);
            passed = !test_context_failed(c);
            /* A launch that there is no memory to watch goes unwatched. */
            if (st != MOTET_OK)
                assert_int_equal(st, MOTET_NO_MEMORY);
            else
                assert_true(pipe_right(&p));
            if (passed) assert_int_equal(st, MOTET_OK);
            assert_clean(c);
            test_context_fail_at(c, 0, 0);
            motet_context_free(c);
            assert_true(nth < 1000);
        }
    }
}

/* Memory is bounded, and may shrink while time goes by. */
static void memory_is_bounded_and_shrinks(void **state)
{
    (void)state;
    sim_config config = config_of(1, (sim_fault){.shrink_per_second = 1000000});
    config.device[0].memory = 10000;
    motet_context *c = sim_context(&config, "sim:0");
    dev *d = sim_dev(c, 0);
    dev_memory m, more;
    motet_device_info info;
    assert_ok(c, d->table->alloc(d, DEV_DEVICE, 6000, &m));
    assert_status(c, d->table->alloc(d, DEV_DEVICE, 4001, &more), MOTET_NO_MEMORY);
    assert_message(c, "sim:0", "4001", "4000", NULL);
    assert_ok(c, d->table->alloc(d, DEV_PINNED, 40000, &more)); /* the host's */
    d->table->release(d, &more);
    assert_ok(c, d->table->alloc(d, DEV_DEVICE, 4000, &more));
    d->table->release(d, &more);
    d->table->doze(d, d->table->progress(d), 3000000);
    assert_ok(c, motet_context_device(c, 0, &info));
    assert_int_equal(info.memory_total, 10000);
    assert_int_equal(info.memory_free, 1000);
    assert_status(c, d->table->alloc(d, DEV_DEVICE, 1001, &more), MOTET_NO_MEMORY);
    d->table->doze(d, d->table->progress(d), 3000000);
    assert_ok(c, motet_context_device(c, 0, &info));
    assert_int_equal(info.memory_free, 0);
    d->table->release(d, &m);
    sim_counts counts;
    sim_count(c, 0, &counts);
    assert_int_equal(counts.used, 0);
    assert_int_equal(counts.used_peak, 10000);
    assert_clean(c);
    motet_context_free(c);
}

/* A command that hangs never ends, nor does what is behind it; others do; a close gets rid of it.
 */
static void a_hang_is_for_ever(void **state)
{
    (void)state;
    const sim_config config = config_of(1, (sim_fault){.hang_at_command = 2});
    motet_context *c = sim_context(&config, "sim:0,sim:1");
    dev *d = sim_dev(c, 0);
    const dev_table *t = d->table;
    dev_stream *s, *other;
    dev_event *before, *behind;
    dev_memory on, host;
    assert_ok(c, t->stream_create(d, &s));
    assert_ok(c, t->stream_create(d, &other));
    assert_ok(c, t->event_create(d, &before));
    assert_ok(c, t->event_create(d, &behind));
    assert_ok(c, t->alloc(d, DEV_DEVICE, 64, &on));
    assert_ok(c, t->alloc(d, DEV_PINNED, 64, &host));
    assert_ok(c, t->fill(s, on.data, 1, 32));
    assert_ok(c, t->event_record(s, before));
    assert_ok(c, sim_wait_event(d, before));
    assert_ok(c, t->copy(s, host.data, on.data, 32));
    assert_ok(c, t->event_record(s, behind));
    const int64_t now = sim_now(c);
    assert_status(c, sim_wait_event(d, behind), MOTET_DEVICE_HUNG);
    assert_true(sim_now(c) - now > 1000000000);
    assert_ok(c, t->fill(other, (char *)on.data + 32, 2, 32));
    assert_ok(c, sim_wait_stream(d, other));
    pipe p;
    assert_ok(c, pipe_run(&p, sim_dev(c, 1), -1, -1)); /* the other device is well */
    assert_true(pipe_right(&p));
    t->stream_drop(s);
    assert_int_equal(t->stream_poll(s), MOTET_BUSY);
    assert_clean(c);
    t->release(d, &host); /* it may still be written */
    assert_int_equal(sim_findings(c), 1);
    assert_found(c, "release", "copy");
    t->stream_free(s);
    t->stream_free(other);
    t->event_free(before);
    t->event_free(behind);
    t->release(d, &on); /* read by the hanging copy */
    assert_int_equal(sim_findings(c), 2);
    motet_context_free(c);
}

/* A device that goes wrong is told by its health, or by other bits. */
static void wrong_health_and_wrong_bits(void **state)
{
    (void)state;
    sim_config config = config_of(1, (sim_fault){.wrong_health = 2});
    motet_context *c = test_context();
    assert_status(c, sim_use(c, &config, "sim:0"), MOTET_DEVICE_ERROR);
    assert_message(c, "sim:0", "computes wrongly", NULL);
    assert_null(c->devices);
    assert_ok(c, sim_use(c, &config, "cpu"));
    dev *d;
    assert_ok(c, dev_sim.open(c, 0, &d));
    for (int i = 0; i < 3; i++)
        assert_int_equal(dev_sim.health(d), i < 2 ? DEV_HEALTH_LOST : DEV_HEALTH_OK);
    dev_sim.close(d);
    motet_context_free(c);
    for (int64_t k = 1; k <= 3 * PIPE_CHUNKS; k++) {
        config = config_of(1, (sim_fault){.corrupt_at_command = k});
        c = sim_context(&config, "sim:0");
        pipe p;
        assert_ok(c, pipe_run(&p, sim_dev(c, 0), -1, -1));
        assert_false(pipe_right(&p));
        assert_clean(c);
        motet_context_free(c);
    }
}

/* Slow from a command on. */
static void a_device_can_become_slow(void **state)
{
    (void)state;
    int64_t took[3];
    for (int i = 0; i < 3; i++) {
        sim_config config =
            config_of(1, (sim_fault){.slow_at_command = i == 1 ? 1 : 10, .slow = i ? 50 : 1});
        config.jitter = 0;
        motet_context *c = sim_context(&config, "sim:0");
        pipe p;
        assert_ok(c, pipe_run(&p, sim_dev(c, 0), -1, -1));
        assert_true(pipe_right(&p));
        took[i] = sim_now(c);
        motet_context_free(c);
    }
    assert_true(took[1] > 20 * took[0] && took[2] > 5 * took[0] && took[2] < took[1]);
}

/* A fault can be set later, and counts from there. */
static void faults_can_be_set_later(void **state)
{
    (void)state;
    motet_context *c = sim_context(NULL, "sim:0");
    pipe p;
    assert_ok(c, pipe_run(&p, sim_dev(c, 0), -1, -1));
    const sim_fault fault = {.fail_call = 1};
    sim_set_fault(c, 0, &fault);
    assert_status(c, pipe_run(&p, sim_dev(c, 0), -1, -1), MOTET_DEVICE_ERROR);
    assert_ok(c, pipe_run(&p, sim_dev(c, 0), -1, -1));
    assert_true(pipe_right(&p));
    assert_clean(c);
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(loss_at_every_call),
                                       cmocka_unit_test(loss_at_every_command),
                                       cmocka_unit_test(a_loss_cuts_short),
                                       cmocka_unit_test(a_new_epoch_works_and_the_old_is_refused),
                                       cmocka_unit_test(losses_repeat_or_are_final),
                                       cmocka_unit_test(every_call_can_fail),
                                       cmocka_unit_test(every_allocation_can_fail),
                                       cmocka_unit_test(every_host_allocation_can_fail),
                                       cmocka_unit_test(memory_is_bounded_and_shrinks),
                                       cmocka_unit_test(a_hang_is_for_ever),
                                       cmocka_unit_test(wrong_health_and_wrong_bits),
                                       cmocka_unit_test(a_device_can_become_slow),
                                       cmocka_unit_test(faults_can_be_set_later)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
