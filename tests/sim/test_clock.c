/* Virtual time and chance on the simulated device. */
#include <pthread.h>

#include "sim/pipeline.h"

enum { SEEDS = 40 };

static uint64_t trace_of(uint64_t seed, pipe *p, int64_t *now)
{
    sim_config config;
    sim_config_init(&config);
    config.seed = seed;
    motet_context *c = sim_context(&config, "sim:0,sim:1");
    assert_ok(c, pipe_run(p, sim_dev(c, 0), -1, -1));
    const uint64_t trace = sim_trace(c);
    *now = sim_now(c);
    assert_clean(c);
    motet_context_free(c);
    return trace;
}

/* A seed repeats exactly; others differ in order and time, never in results. */
static void a_seed_repeats_and_seeds_differ(void **state)
{
    (void)state;
    uint64_t traces[SEEDS];
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        pipe one, two;
        int64_t now, again;
        traces[seed] = trace_of(seed, &one, &now);
        assert_true(traces[seed] == trace_of(seed, &two, &again));
        assert_int_equal(now, again);
        assert_true(pipe_right(&one));
        for (uint64_t other = 0; other < seed; other++) assert_true(traces[seed] != traces[other]);
    }
}

typedef struct log_args {
    int *order;
    int64_t *count;
    int id;
} log_args;
static void note(const void *p, int64_t begin, int64_t end, void *scratch)
{
    (void)begin;
    (void)end;
    (void)scratch;
    const log_args *a = p;
    a->order[(*a->count)++] = a->id;
}
SIM_KERNEL(note, log_args)

/* Every order of independent commands comes up; within a stream there is one. */
static void all_orders_come_up(void **state)
{
    (void)state;
    int seen[6] = {0};
    for (uint64_t seed = 0; seed < 100; seed++) {
        sim_config config;
        sim_config_init(&config);
        config.seed = seed;
        motet_context *c = sim_context(&config, "sim:0");
        dev *d = sim_dev(c, 0);
        dev_stream *s[3];
        int order[6];
        int64_t count = 0;
        for (int i = 0; i < 3; i++) assert_ok(c, dev_sim.stream_create(d, &s[i]));
        for (int round = 0; round < 2; round++)
            for (int i = 0; i < 3; i++) {
                const log_args args = {order, &count, 10 * round + i};
                const dev_launch l = {.kernel = &note_kernel, .args = &args, .items = 1};
                assert_ok(c, dev_sim.launch(s[i], &l));
            }
        assert_int_equal(count, 0); /* nothing happens in the background */
        for (int i = 0; i < 3; i++) assert_ok(c, sim_wait_stream(d, s[i]));
        assert_int_equal(count, 6);
        int first[3], n = 0;
        for (int i = 0; i < 6; i++) {
            if (order[i] < 3)
                first[n++] = order[i];
            else
                for (int j = i; j < 6; j++) assert_int_not_equal(order[j], order[i] - 10);
        }
        seen[first[0] * 2 + (first[1] > first[2])]++;
        for (int i = 0; i < 3; i++) dev_sim.stream_free(s[i]);
        assert_clean(c);
        motet_context_free(c);
    }
    for (int i = 0; i < 6; i++) assert_true(seen[i] > 0);
}

/* Costs follow from items, bytes and the device's speed. */
static void unlike_devices_have_unlike_speeds(void **state)
{
    (void)state;
    sim_config config;
    sim_config_init(&config);
    config.jitter = 0;
    for (int i = 0; i < 2; i++)
        config.device[i] = (sim_device_config){.memory = 1 << 20,
                                               .items_per_second = i ? 1e6 : 4e6,
                                               .upload = i ? 1e9 : 2e9,
                                               .download = i ? 5e8 : 1e9,
                                               .latency = 1000};
    for (int i = 0; i < 2; i++) {
        motet_context *c = sim_context(&config, "sim:0,sim:1");
        dev *d = sim_dev(c, i);
        dev_stream *s;
        dev_memory on, host;
        assert_ok(c, dev_sim.stream_create(d, &s));
        assert_ok(c, dev_sim.alloc(d, DEV_DEVICE, 100000, &on));
        assert_ok(c, dev_sim.alloc(d, DEV_PINNED, 100000, &host));
        int64_t took[3];
        for (int kind = 0; kind < 3; kind++) {
            int order[2];
            int64_t count = 0;
            const log_args args = {order, &count, 1};
            const dev_launch l = {.kernel = &note_kernel, .args = &args, .items = 1};
            const int64_t start = sim_now(c);
            if (kind == 0)
                for (int j = 0; j < 100; j++) {
                    count = 0;
                    assert_ok(c, dev_sim.launch(s, &l));
                }
            if (kind == 1) assert_ok(c, dev_sim.copy(s, on.data, host.data, 100000));
            if (kind == 2) assert_ok(c, dev_sim.copy(s, host.data, on.data, 100000));
            for (int j = 0; dev_sim.stream_poll(s) == MOTET_BUSY; j++) {
                count = 0;
                dev_sim.doze(d, dev_sim.progress(d), 1000);
                assert_true(j < 10000);
            }
            took[kind] = sim_now(c) - start;
        }
        const int64_t expected[3] = {i ? 200000 : 125000, i ? 101000 : 51000, i ? 201000 : 101000};
        for (int kind = 0; kind < 3; kind++)
            if (took[kind] < expected[kind] || took[kind] > expected[kind] + 3000)
                fail_msg("device %d, kind %d: %lld", i, kind, (long long)took[kind]);
        sim_counts counts;
        sim_count(c, i, &counts);
        assert_int_equal(counts.commands, 102);
        assert_int_equal(counts.items, 100);
        assert_int_equal(counts.uploaded, 100000);
        assert_int_equal(counts.downloaded, 100000);
        dev_sim.release(d, &on);
        dev_sim.release(d, &host);
        dev_sim.stream_free(s);
        motet_context_free(c);
    }
}

/* Engines work side by side: copies both ways and a kernel take the time of the longest. */
static void engines_overlap(void **state)
{
    (void)state;
    sim_config config;
    sim_config_init(&config);
    config.jitter = 0;
    config.device[0] = (sim_device_config){
        .memory = 1 << 20, .items_per_second = 1e9, .upload = 1e9, .download = 1e9};
    motet_context *c = sim_context(&config, "sim:0");
    dev *d = sim_dev(c, 0);
    dev_stream *s[2];
    dev_memory on[2], host[2];
    for (int i = 0; i < 2; i++) {
        assert_ok(c, dev_sim.stream_create(d, &s[i]));
        assert_ok(c, dev_sim.alloc(d, DEV_DEVICE, 100000, &on[i]));
        assert_ok(c, dev_sim.alloc(d, DEV_PINNED, 100000, &host[i]));
    }
    assert_ok(c, dev_sim.copy(s[0], on[0].data, host[0].data, 100000));
    assert_ok(c, dev_sim.copy(s[1], host[1].data, on[1].data, 100000));
    for (int i = 0; i < 2; i++) assert_ok(c, sim_wait_stream(d, s[i]));
    assert_true(sim_now(c) >= 100000 && sim_now(c) < 120000);
    for (int i = 0; i < 2; i++) {
        dev_sim.stream_free(s[i]);
        dev_sim.release(d, &on[i]);
        dev_sim.release(d, &host[i]);
    }
    assert_clean(c);
    motet_context_free(c);
}

/* Sleeping ends with progress, after its time, or at once if something happened since. */
static void dozing_keeps_its_rules(void **state)
{
    (void)state;
    motet_context *c = sim_context(NULL, "sim:0");
    dev *d = sim_dev(c, 0);
    uint64_t seen = dev_sim.progress(d);
    int64_t now = sim_now(c);
    dev_sim.doze(d, seen, 5000000);
    assert_int_equal(sim_now(c), now + 5000000);
    dev_sim.doze(d, seen + 1, 5000000);
    dev_sim.doze(d, seen, 0);
    dev_sim.doze(d, seen, -1);
    assert_int_equal(sim_now(c), now + 5000000);
    dev_stream *s;
    dev_event *e;
    dev_memory m;
    assert_ok(c, dev_sim.stream_create(d, &s));
    assert_ok(c, dev_sim.event_create(d, &e));
    assert_ok(c, dev_sim.event_poll(e)); /* never recorded */
    assert_ok(c, dev_sim.alloc(d, DEV_DEVICE, 64, &m));
    assert_ok(c, dev_sim.fill(s, m.data, 1, 64));
    assert_ok(c, dev_sim.event_record(s, e));
    now = sim_now(c);
    dev_sim.doze(d, seen, INT64_MAX);
    assert_true(dev_sim.progress(d) != seen);
    assert_true(sim_now(c) - now < 1000000);
    assert_ok(c, dev_sim.event_poll(e));
    dev_sim.event_free(e);
    dev_sim.stream_free(s);
    dev_sim.release(d, &m);
    motet_context_free(c);
}

/* Events order streams of two devices, and peers copy directly. */
static void devices_wait_for_each_other(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        for (int edge = 1; edge >= 0; edge--) {
            sim_config config;
            sim_config_init(&config);
            config.seed = seed;
            motet_context *c = sim_context(&config, "sim:0,sim:1");
            dev *d[2] = {sim_dev(c, 0), sim_dev(c, 1)};
            dev_stream *s[2];
            dev_memory m[2];
            dev_event *e;
            unsigned char host[64];
            assert_ok(c, dev_sim.event_create(d[0], &e));
            for (int i = 0; i < 2; i++) {
                assert_ok(c, dev_sim.stream_create(d[i], &s[i]));
                assert_ok(c, dev_sim.alloc(d[i], DEV_DEVICE, 64, &m[i]));
            }
            assert_ok(c, dev_sim.peer(d[1], d[0]));
            assert_ok(c, dev_sim.fill(s[0], m[0].data, 5, 64));
            assert_ok(c, dev_sim.event_record(s[0], e));
            if (edge) assert_ok(c, dev_sim.stream_wait(s[1], e));
            assert_ok(c, dev_sim.copy(s[1], m[1].data, m[0].data, 64));
            assert_ok(c, dev_sim.copy(s[1], host, m[1].data, 64));
            assert_ok(c, sim_wait_stream(d[1], s[1]));
            if (edge)
                assert_clean(c);
            else
                assert_found(c, "fill", "copy");
            if (edge)
                for (int i = 0; i < 64; i++) assert_int_equal(host[i], 5);
            sim_wait_stream(d[0], s[0]);
            for (int i = 0; i < 2; i++) {
                dev_sim.stream_free(s[i]);
                dev_sim.release(d[i], &m[i]);
            }
            dev_sim.event_free(e);
            motet_context_free(c);
        }
    }
}

/* Dropping forgets what has not begun and makes the events ready. */
static void dropping_forgets(void **state)
{
    (void)state;
    motet_context *c = sim_context(NULL, "sim:0");
    dev *d = sim_dev(c, 0);
    dev_stream *s;
    dev_event *e;
    assert_ok(c, dev_sim.stream_create(d, &s));
    assert_ok(c, dev_sim.event_create(d, &e));
    int order[8];
    int64_t count = 0;
    for (int i = 0; i < 8; i++) {
        const log_args args = {order, &count, i};
        const dev_launch l = {.kernel = &note_kernel, .args = &args, .items = 1};
        assert_ok(c, dev_sim.launch(s, &l));
    }
    assert_ok(c, dev_sim.event_record(s, e));
    assert_int_equal(dev_sim.event_poll(e), MOTET_BUSY); /* the first has begun */
    dev_sim.stream_drop(s);
    assert_ok(c, sim_wait_event(d, e));
    assert_ok(c, sim_wait_stream(d, s));
    assert_true(count <= 1);
    dev_sim.stream_free(s);
    dev_sim.event_free(e);
    assert_clean(c);
    motet_context_free(c);
}

static void *work(void *user)
{
    dev *d = user;
    pipe p;
    const motet_status st = pipe_run(&p, d, -1, -1);
    return st == MOTET_OK && pipe_right(&p) ? user : NULL;
}

/* Several threads may use the devices of a context at once. */
static void threads_share_the_world(void **state)
{
    (void)state;
    motet_context *c = sim_context(NULL, "sim:0,sim:1");
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, sim_dev(c, i % 2)), 0);
    for (int i = 0; i < 3; i++) {
        void *answer = NULL;
        pthread_join(threads[i], &answer);
        assert_non_null(answer);
    }
    assert_clean(c);
    motet_context_free(c);
}

/* The public list takes simulated devices by name, beside the cpu, and refuses others. */
static void devices_are_named(void **state)
{
    (void)state;
    motet_context_options o;
    motet_context_options_init(&o);
    o.devices = "cpu,sim:7,sim";
    motet_context *c = NULL;
    assert_int_equal(motet_context_create(&o, &c), MOTET_OK);
    assert_int_equal(motet_context_devices(c), 3);
    static const char *const names[] = {"cpu", "sim:7", "sim:0"};
    uint64_t memory[3];
    for (int i = 0; i < 3; i++) {
        motet_device_info info;
        assert_ok(c, motet_context_device(c, i, &info));
        assert_string_equal(info.name, names[i]);
        memory[i] = info.memory_total;
        assert_int_equal(sim_dev(c, i)->host_visible, i == 0);
    }
    assert_true(memory[1] < memory[2]);
    sim_config config;
    sim_config_init(&config);
    assert_status(c, sim_configure(c, &config), MOTET_BAD_ARGUMENT);
    char *report = NULL;
    assert_ok(c, motet_context_report(c, &report));
    assert_non_null(strstr(report, "sim:7"));
    motet_text_free(c, report);
    motet_context_free(c);
    static const char *const wrong[] = {
        "sim:8", "sim:-1", "sim:", "sim:0,sim:0", "sim,sim:0", "simx"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        o.devices = wrong[i];
        c = NULL;
        if (motet_context_create(&o, &c) != MOTET_BAD_ARGUMENT) fail_msg("%s", wrong[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_seed_repeats_and_seeds_differ),
                                       cmocka_unit_test(all_orders_come_up),
                                       cmocka_unit_test(unlike_devices_have_unlike_speeds),
                                       cmocka_unit_test(engines_overlap),
                                       cmocka_unit_test(dozing_keeps_its_rules),
                                       cmocka_unit_test(devices_wait_for_each_other),
                                       cmocka_unit_test(dropping_forgets),
                                       cmocka_unit_test(threads_share_the_world),
                                       cmocka_unit_test(devices_are_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
