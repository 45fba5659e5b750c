/* The order checker on the simulated device. */
#include "dev/sim/inside.h"
#include "sim/pipeline.h"

static sim_config config_of(uint64_t seed)
{
    sim_config config;
    sim_config_init(&config);
    config.seed = seed;
    return config;
}

/* The complete program is clean and right for every seed. */
static void a_correct_program_is_clean(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        const sim_config config = config_of(seed);
        motet_context *c = sim_context(&config, "sim:0");
        pipe p;
        assert_ok(c, pipe_run(&p, sim_dev(c, 0), -1, -1));
        assert_true(pipe_right(&p));
        assert_clean(c);
        motet_context_free(c);
    }
}

/* Without any one edge, at any chunk, the race is told whatever the seed, and names both sides. */
static void each_missing_edge_is_told(void **state)
{
    (void)state;
    static const char *const words[PIPE_EDGES][2] = {
        {"access", "staged input"}, {"twice", "copy"}, {"copy", "twice"},
        {"copy", "twice"},          {"twice", "copy"}, {"access", "staged output"}};
    for (int edge = 0; edge < PIPE_EDGES; edge++)
        for (int chunk = 0; chunk < PIPE_CHUNKS; chunk++)
            for (uint64_t seed = 0; seed < 5; seed++) {
                if (!pipe_has((pipe_edge)edge, chunk)) continue;
                const sim_config config = config_of(seed);
                motet_context *c = sim_context(&config, "sim:0");
                pipe p;
                assert_ok(c, pipe_run(&p, sim_dev(c, 0), edge, chunk));
                if (!sim_findings(c))
                    fail_msg("edge %d of chunk %d is missed and not found", edge, chunk);
                assert_found(c, words[edge][0], words[edge][1]);
                motet_context_free(c);
            }
}

/* The order really varies: without an edge, some seed gives wrong results. */
static void a_missing_edge_spoils_results(void **state)
{
    (void)state;
    for (int edge = 0; edge < PIPE_EDGES; edge++) {
        int wrong = 0;
        for (uint64_t seed = 0; seed < 100; seed++) {
            const sim_config config = config_of(seed);
            motet_context *c = sim_context(&config, "sim:0");
            pipe p;
            assert_ok(c, pipe_run(&p, sim_dev(c, 0), edge, 3));
            wrong += !pipe_right(&p);
            motet_context_free(c);
        }
        if (!wrong) fail_msg("edge %d is missing and all seeds are right", edge);
    }
}

/* Device memory must not be released before the host has seen the end of what uses it. */
static void early_release_is_told(void **state)
{
    (void)state;
    for (int kind = DEV_DEVICE; kind <= DEV_HOST; kind++) {
        motet_context *c = sim_context(NULL, "sim:0");
        dev *d = sim_dev(c, 0);
        const dev_table *t = d->table;
        dev_stream *s;
        dev_memory on, host;
        assert_ok(c, t->stream_create(d, &s));
        assert_ok(c, t->alloc(d, DEV_DEVICE, 100, &on));
        assert_ok(c, t->alloc(d, kind == DEV_HOST ? DEV_HOST : DEV_PINNED, 100, &host));
        memset(host.data, 7, 100);
        assert_ok(c, t->copy(s, on.data, host.data, 100));
        t->release(d, kind == DEV_DEVICE ? &on : &host);
        assert_int_equal(sim_findings(c), 1);
        assert_found(c, "release", "copy");
        assert_ok(c, sim_wait_stream(d, s)); /* the late copy hurts nobody */
        t->release(d, &on);
        t->release(d, &host);
        t->stream_free(s);
        motet_context_free(c);
    }
}

/* Boxes that interleave do not conflict; one column more does. */
static void interleaved_rows_do_not_conflict(void **state)
{
    (void)state;
    for (int more = 0; more < 2; more++) {
        motet_context *c = sim_context(NULL, "sim:0,sim:1");
        unsigned char whole[16 * 32];
        dev_stream *s[2];
        dev_memory m[2];
        memset(whole, 0, sizeof whole);
        for (int i = 0; i < 2; i++) {
            dev *d = sim_dev(c, i);
            assert_ok(c, d->table->stream_create(d, &s[i]));
            assert_ok(c, d->table->alloc(d, DEV_DEVICE, 32 * 17, &m[i]));
            assert_ok(c, d->table->fill(s[i], m[i].data, (unsigned char)(1 + i), 32 * 17));
            const dev_rows rows = {
                whole + 16 * i, m[i].data, i ? 16 : 16 + (size_t)more, 16, 32, 17};
            assert_ok(c, d->table->copy_rows(s[i], &rows));
        }
        for (int i = 0; i < 2; i++) {
            dev *d = sim_dev(c, i);
            assert_ok(c, sim_wait_stream(d, s[i]));
            d->table->stream_free(s[i]);
            d->table->release(d, &m[i]);
        }
        if (more)
            assert_found(c, "sim:0", "sim:1");
        else
            assert_clean(c);
        if (!more)
            for (int i = 0; i < 16 * 32; i++) assert_int_equal(whole[i], i % 32 < 16 ? 1 : 2);
        motet_context_free(c);
    }
}

/* A reader that is ordered does not hide the writer from one that is not. */
static void every_reader_needs_its_edge(void **state)
{
    (void)state;
    for (int edges = 0; edges < 4; edges++) {
        motet_context *c = sim_context(NULL, "sim:0");
        dev *d = sim_dev(c, 0);
        dev_stream *s[3];
        dev_event *e;
        dev_memory m;
        unsigned char host[2][64];
        for (int i = 0; i < 3; i++) assert_ok(c, dev_sim.stream_create(d, &s[i]));
        assert_ok(c, dev_sim.event_create(d, &e));
        assert_ok(c, dev_sim.alloc(d, DEV_DEVICE, 64, &m));
        assert_ok(c, dev_sim.fill(s[0], m.data, 1, 64));
        assert_ok(c, dev_sim.event_record(s[0], e));
        for (int i = 0; i < 2; i++) {
            if (edges & 1 << i) assert_ok(c, dev_sim.stream_wait(s[1 + i], e));
            assert_ok(c, dev_sim.copy(s[1 + i], host[i], m.data, 64));
        }
        assert_int_equal(sim_findings(c), !(edges & 1) + !(edges & 2));
        for (int i = 0; i < 3; i++) {
            assert_ok(c, sim_wait_stream(d, s[i]));
            dev_sim.stream_free(s[i]);
        }
        dev_sim.event_free(e);
        dev_sim.release(d, &m);
        motet_context_free(c);
    }
}

/* Overlap of rows agrees with looking at every byte. */
static void overlap_agrees_with_bytes(void **state)
{
    (void)state;
    uint64_t random = 5;
    int both[2] = {0, 0};
    for (int round = 0; round < 20000; round++) {
        sim_range r[2];
        unsigned char hit[2][400];
        memset(hit, 0, sizeof hit);
        for (int i = 0; i < 2; i++) {
            r[i] = (sim_range){.at = 1000 + test_random(&random) % 60,
                               .bytes = test_random(&random) % 9,
                               .rows = 1 + test_random(&random) % 6};
            r[i].pitch = r[i].bytes + test_random(&random) % 30;
            for (size_t j = 0; j < r[i].rows; j++)
                for (size_t k = 0; k < r[i].bytes; k++)
                    hit[i][r[i].at - 1000 + j * r[i].pitch + k] = 1;
        }
        int expected = 0;
        for (int i = 0; i < 400; i++) expected |= hit[0][i] && hit[1][i];
        both[expected]++;
        if (sim_overlap(&r[0], &r[1]) != expected) fail_msg("round %d", round);
        if (sim_overlap(&r[1], &r[0]) != expected) fail_msg("round %d", round);
    }
    assert_true(both[0] > 1000 && both[1] > 1000);
}

/* Actors are used again without confusing the new stream with the old one. */
static void many_streams_come_and_go(void **state)
{
    (void)state;
    motet_context *c = sim_context(NULL, "sim:0");
    dev *d = sim_dev(c, 0);
    dev_memory m;
    assert_ok(c, d->table->alloc(d, DEV_DEVICE, 64, &m));
    for (int i = 0; i < 1000; i++) {
        dev_stream *s;
        assert_ok(c, d->table->stream_create(d, &s));
        assert_ok(c, d->table->fill(s, m.data, 1, 64));
        assert_ok(c, sim_wait_stream(d, s));
        d->table->stream_free(s);
    }
    assert_clean(c);
    dev_stream *s[2]; /* the second one takes the place of the first, unseen by the host */
    for (int i = 0; i < 2; i++) {
        assert_ok(c, d->table->stream_create(d, &s[i]));
        assert_ok(c, d->table->fill(s[i], m.data, 1, 64));
        if (!i) d->table->stream_free(s[i]);
    }
    assert_found(c, "fill", "no event");
    assert_ok(c, sim_wait_stream(d, s[1]));
    d->table->stream_free(s[1]);
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_correct_program_is_clean),
                                       cmocka_unit_test(each_missing_edge_is_told),
                                       cmocka_unit_test(a_missing_edge_spoils_results),
                                       cmocka_unit_test(early_release_is_told),
                                       cmocka_unit_test(interleaved_rows_do_not_conflict),
                                       cmocka_unit_test(every_reader_needs_its_edge),
                                       cmocka_unit_test(overlap_agrees_with_bytes),
                                       cmocka_unit_test(many_streams_come_and_go)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
