#include "support/sim.h"

#include "dev/sim/inside.h"

/* A name sets up its device and no other. */
static void a_name_may_say_what_its_device_is_like(void **state)
{
    (void)state;
    motet_context *c = sim_context(
        NULL, "sim:1@lose_at_command=7@seed=3@memory=3M@slow=2.5@refused_opens=-1,sim:2,cpu");
    const sim_config *w = &c->sim->config;
    sim_config usual;
    sim_config_init(&usual);
    assert_int_equal(w->seed, 3);
    assert_int_equal(w->device[1].memory, 3 << 20);
    assert_int_equal(c->sim->slot[1].fault.lose_at_command, 7);
    assert_int_equal(c->sim->slot[1].fault.refused_opens, -1);
    assert_true(c->sim->slot[1].fault.slow > 2.4 && c->sim->slot[1].fault.slow < 2.6);
    assert_int_equal(w->device[2].memory, usual.device[2].memory);
    assert_int_equal(c->sim->slot[2].fault.lose_at_command, 0);
    assert_string_equal(c->devices->set[0].info.name, "sim:1");
    motet_context_free(c);
}

static void what_is_not_an_option_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "sim:0@",
        "sim:0@lose",
        "sim:0@lose_at_command=",
        "sim:0@nothing=1",
        "sim:0@latency=-1",
        "sim:0@slow=nan",
        "sim:0@lose_at_command=x",
        "cpu@seed=3",
        "sim:9@seed=1",
        "sim:0@seed=1@@",
        "sim:0@slow=0",
        "@seed=1",
        "sim:0@seed=1=2",
        "sim:0@lose_again=x",
    };
    motet_context *c = test_context();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const motet_status st = sim_use(c, NULL, bad[i]);
        if (st != MOTET_BAD_ARGUMENT) fail_msg("%s: %s", bad[i], motet_status_name(st));
    }
    motet_context_free(c);
}

/* A world may be absurd; its clock stays a clock. */
static void absurd_speeds_are_only_slow(void **state)
{
    (void)state;
    static const char *const names[] = {
        "sim:0@latency=9223372036854775807", "sim:0@latency=9223372036854775808",
        "sim:0@jitter=1e299@items_per_second=1e-299", "sim:0@upload=5e-324@download=5e-324",
        "sim:0@slow_at_command=1@slow=1e299"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        motet_context *c = sim_context(NULL, names[i]);
        dev *d = sim_dev(c, 0);
        dev_memory m;
        dev_stream *s = NULL;
        assert_ok(c, d->table->alloc(d, DEV_DEVICE, 64, &m));
        assert_ok(c, d->table->stream_create(d, &s));
        for (int64_t k = 0, before = sim_now(c); k < 20; k++, before = sim_now(c)) {
            assert_ok(c, d->table->fill(s, m.data, 0, 64));
            for (int look = 0; look < 20 && d->table->stream_poll(s) == MOTET_BUSY; look++)
                d->table->doze(d, d->table->progress(d), INT64_MAX);
            assert_int_equal(d->table->stream_poll(s), MOTET_OK);
            assert_true(sim_now(c) >= before);
        }
        d->table->stream_drop(s);
        d->table->release(d, &m);
        motet_context_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_may_say_what_its_device_is_like),
        cmocka_unit_test(what_is_not_an_option_is_refused),
        cmocka_unit_test(absurd_speeds_are_only_slow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
