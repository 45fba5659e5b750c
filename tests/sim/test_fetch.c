/* Sources that are read ahead, on a thread of the run's own: the same bits for every set of devices
 * and cut, the same failures and losses, and the run goes on while one reads. */
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "support/pipe.h"
#include "support/ports.h"

static void make(motet_context *c, int64_t n, int64_t m, ports_case *p)
{
    ports_case_make(c, PORTS_SOURCE, n, m, p);
    for (int i = 0; i < PORTS_ARRAYS; i++) p->source[i].source.apart = 1;
}

static void same_bits_for_every_set_and_cut(void **state)
{
    (void)state;
    for (int set = 0; set < PIPE_SETS; set++)
        for (int64_t rows = 1; rows < 20; rows += 6)
            for (int64_t block = 1; block < 22; block += 5) {
                const rt_run_options options = {.cut = {{rows, 1 + rows / 2}, block}};
                motet_context *c = sim_context(NULL, pipe_sets[set]);
                ports_case p;
                make(c, 17, 9, &p);
                assert_ok(c, rt_run_with(c, &p.op, &options));
                assert_true(ports_right(&p));
                assert_int_equal(ports_mistakes(), 0);
                ports_case_free(&p);
                assert_clean(c);
                motet_context_free(c);
            }
}

/* Each source fails at each read: its status and message are the run's, on the thread that ran it.
 */
static void failing_sources(void **state)
{
    (void)state;
    static const char *const sets[] = {"cpu", "sim:0", "sim:1,sim:3,cpu"};
    static const motet_status statuses[] = {MOTET_IO, MOTET_DEVICE_LOST, MOTET_NO_MEMORY};
    const rt_run_options options = {.cut = {{5, 4}, 4}};
    for (int set = 0; set < 3; set++)
        for (int port = 0; port < 4; port++)
            for (int64_t k = 1, over = 0; !over; k++) {
                motet_context *c = sim_context(NULL, sets[set]);
                ports_case p;
                make(c, 11, 7, &p);
                p.source[port].fail_at = k;
                p.source[port].status = statuses[k % 3];
                char before[33], after[33];
                assert_ok(c, motet_array_digest(p.out, before));
                const motet_status st = rt_run_with(c, &p.op, &options);
                over = p.source[port].reads < k;
                assert_int_equal(st, over ? MOTET_OK : statuses[k % 3]);
                assert_ok(c, motet_array_digest(p.out, after));
                if (over) {
                    assert_true(ports_right(&p));
                } else {
                    assert_message(c, "the source of an array failed", NULL);
                    assert_string_equal(before, after);
                }
                for (int i = 0; i < c->devices->count; i++)
                    assert_int_equal(atomic_load(&c->devices->set[i].lost), 0);
                ports_case_free(&p);
                motet_context_free(c);
            }
}

static void losses_anywhere(void **state)
{
    (void)state;
    const rt_run_options options = {.cut = {{4, 5}, 4}};
    static const char *const sets[] = {"sim:0,sim:5", "cpu,sim:0"};
    for (int set = 0; set < 2; set++)
        for (int64_t k = 1, over = 0; !over; k += 1 + k / 8) {
            sim_config config;
            sim_config_init(&config);
            config.seed = (uint64_t)k;
            config.device[0].fault.lose_at_command = k;
            motet_context *c = sim_context(&config, sets[set]);
            ports_case p;
            make(c, 23, 9, &p);
            assert_ok(c, rt_run_with(c, &p.op, &options));
            sim_counts counts;
            sim_count(c, 0, &counts);
            over = !counts.losses;
            assert_true(ports_right(&p));
            ports_mistakes();
            ports_case_free(&p);
            assert_clean(c);
            motet_context_free(c);
        }
}

static void every_failing_allocation(void **state)
{
    (void)state;
    const rt_run_options options = {.cut = {{6, 9}, 6}};
    for (int64_t nth = 1, failed = 1; failed; nth++) {
        motet_context *c = test_context_failing(0, 0);
        ports_case p;
        make(c, 11, 9, &p);
        motet_memory before, after;
        assert_ok(c, rt_run_with(c, &p.op, &options)); /* its first one */
        motet_context_trim(c);
        motet_context_memory(c, &before);
        test_context_fail_at(c, nth, 0);
        const motet_status st = rt_run_with(c, &p.op, &options);
        failed = test_context_failed(c);
        test_context_fail_at(c, 0, 0);
        if (st != MOTET_OK) assert_int_equal(st, MOTET_NO_MEMORY);
        if (st == MOTET_OK) assert_true(ports_right(&p));
        motet_context_trim(c);
        motet_context_memory(c, &after);
        assert_true(after.blocks <= before.blocks + 2); /* what the report keeps */
        ports_case_free(&p);
        motet_context_free(c);
    }
}

/* The run looks at its clock while a source reads. */
typedef struct watch {
    rt_source former;
    atomic_int_fast64_t looks;
    atomic_int stuck, reads;
} watch;

static int64_t look(void *user)
{
    watch *w = user;
    atomic_fetch_add(&w->looks, 1);
    return 0;
}

static motet_status slowly(const rt_view *part, void *user)
{
    watch *w = user;
    const int64_t seen = atomic_load(&w->looks);
    atomic_fetch_add(&w->reads, 1);
    for (int i = 0; atomic_load(&w->looks) < seen + 3 && i < 2000; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        if (i == 1999) atomic_store(&w->stuck, 1);
    }
    return w->former.read(part, w->former.user);
}

static void the_run_goes_on_while_a_source_reads(void **state)
{
    (void)state;
    const rt_run_options options = {.cut = {{6, 9}, 4}};
    motet_context *c = test_context();
    watch w = {.looks = 0};
    ports_case p;
    make(c, 11, 9, &p);
    ports_source *s = &p.source[3]; /* the stream */
    w.former = s->source;
    s->source = (rt_source){slowly, &w, 1};
    c->options.clock = (motet_clock){look, &w};
    assert_ok(c, rt_run_with(c, &p.op, &options));
    assert_true(ports_right(&p));
    assert_true(atomic_load(&w.reads) > 2);
    assert_int_equal(atomic_load(&w.stuck), 0);
    ports_case_free(&p);
    motet_context_free(c);
}

/* All sources of a case, and how many are being read. */
typedef struct crowd {
    atomic_int *inside, *most;
    rt_source former;
} crowd;

static motet_status alone(const rt_view *part, void *user)
{
    crowd *w = user;
    const int others = atomic_fetch_add(w->inside, 1);
    if (others) atomic_store(w->most, others + 1);
    nanosleep(&(struct timespec){.tv_nsec = 300000}, NULL);
    const motet_status st = w->former.read(part, w->former.user);
    atomic_fetch_sub(w->inside, 1);
    return st;
}

/* One device may be sent what stays there, by the thread that runs all, while blocks of another one
 * are read ahead: a source and its buffers serve one of them at a time. */
static void sources_are_read_one_at_a_time(void **state)
{
    (void)state;
    static const char *const sets[] = {"cpu,sim:1", "sim:0,sim:3", "sim:1,sim:3,cpu"};
    for (int set = 0; set < 3; set++) {
        const rt_run_options options = {.cut = {{3, 4}, 4}};
        motet_context *c = sim_context(NULL, sets[set]);
        atomic_int inside = 0, most = 0;
        crowd w[PORTS_ARRAYS];
        ports_case p;
        make(c, 23, 11, &p);
        for (int i = 0; i < PORTS_ARRAYS; i++) {
            w[i] = (crowd){&inside, &most, p.source[i].source};
            p.source[i].source = (rt_source){alone, &w[i], 1};
        }
        assert_ok(c, rt_run_with(c, &p.op, &options));
        assert_true(ports_right(&p));
        assert_int_equal(atomic_load(&most), 0);
        ports_case_free(&p);
        motet_context_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits_for_every_set_and_cut),
        cmocka_unit_test(failing_sources),
        cmocka_unit_test(losses_anywhere),
        cmocka_unit_test(every_failing_allocation),
        cmocka_unit_test(the_run_goes_on_while_a_source_reads),
        cmocka_unit_test(sources_are_read_one_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
