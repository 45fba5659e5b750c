/* Plans on several devices at once: one set of bits, within what was planned, in order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/pipe.h"

static rt_weights random_weights(uint64_t *random, int count)
{
    rt_weights w = {.count = count};
    for (int i = 0; i < count; i++) w.weight[i] = test_uniform(random, 0.2, 2);
    return w;
}

static rt_plan plan_of(motet_context *c, const rt_op *op, const rt_run_options *o)
{
    rt_plan_device devices[RT_DEVICES];
    const int count = rt_plan_devices(c, devices);
    for (int i = 0; i < count && o->budget; i++) devices[i].budget = o->budget[i];
    const rt_plan_options options = {
        .cut = o->cut, .weights = o->weights, .weightings = o->weightings};
    rt_plan plan;
    assert_ok(c, rt_plan_make(c, op, devices, count, &options, &plan));
    return plan;
}

/* Runs it; every device that the plan gives work has done it, within its bytes, in order. */
static void run_and_check(motet_context *c, const pipe_case *p, const rt_run_options *o,
                          const char *expected)
{
    const rt_plan plan = plan_of(c, &p->op, o);
    char got[33];
    motet_context_report_reset(c);
    assert_ok(c, rt_run_with(c, &p->op, o));
    assert_ok(c, motet_array_digest(p->out, got));
    assert_string_equal(got, expected);
    for (int i = 0; i < plan.devices; i++) {
        assert_int_equal(atomic_load(&c->devices->set[i].chunks), plan.share[i].chunks);
        const int number = pipe_sim_number(c, i);
        if (number < 0) continue;
        sim_counts counts;
        motet_context_trim(c);
        sim_count(c, number, &counts);
        assert_true((counts.items > 0) == (plan.share[i].chunks > 0));
        assert_int_equal(counts.used, 0);
        assert_true(counts.used_peak <= (uint64_t)plan.share[i].peak_bytes);
    }
    assert_int_equal(toy_mistakes(), 0);
    assert_clean(c);
}

static motet_context *context_for(uint64_t seed, const char *names)
{
    sim_config config;
    sim_config_init(&config);
    config.seed = seed;
    return sim_context(&config, names);
}

/* Whatever the devices, seed, weights and cut, the bits are the cpu's. */
static void one_set_of_bits(void **state)
{
    (void)state;
    for (int which = 0; which < PIPE_OPS; which++) {
        char expected[33];
        pipe_expected(which, 40, 13, expected);
        for (uint64_t seed = 0; seed < 100; seed++) {
            uint64_t random = 4 * seed + (uint64_t)which;
            motet_context *c = context_for(seed, pipe_sets[seed % PIPE_SETS]);
            pipe_case p;
            pipe_case_make(c, which, 40, 13, &p);
            const rt_weights w = random_weights(&random, c->devices->count);
            rt_run_options o = {.weights = &w, .weightings = 1};
            if (seed % 4)
                for (int i = 0; i < RT_AXES; i++)
                    o.cut.rows[i] = (int64_t)(test_random(&random) % 14);
            if (seed % 3) o.cut.stream_rows = 1 + (int64_t)(test_random(&random) % 40);
            if (seed % 5 == 0) o.test.fixed_stage = 512;
            run_and_check(c, &p, &o, expected);
            pipe_case_free(&p);
            motet_context_free(c);
        }
    }
}

/* Every size of chunk and of block of a small operation. */
static void every_cut(void **state)
{
    (void)state;
    for (int which = 0; which < PIPE_OPS; which++) {
        char expected[33];
        pipe_expected(which, 7, 5, expected);
        for (int64_t a = 1; a <= 7; a++)
            for (int64_t b = 1; b <= 5; b += 2)
                for (int64_t s = 1; s <= 7; s += which == PIPE_SUM ? 1 : 7) {
                    motet_context *c = context_for((uint64_t)(a + b + s), pipe_sets[a % 4]);
                    pipe_case p;
                    pipe_case_make(c, which, 7, 5, &p);
                    const rt_run_options o = {.cut = {{a, b}, s}};
                    run_and_check(c, &p, &o, expected);
                    pipe_case_free(&p);
                    motet_context_free(c);
                }
    }
}

/* The least that the planner says would do, from its refusal. */
static int64_t least_budget(motet_context *c, const rt_op *op, int64_t *budget, int count)
{
    for (int i = 0; i < count; i++) budget[i] = 1;
    const rt_run_options o = {.budget = budget};
    assert_status(c, rt_run_with(c, op, &o), MOTET_OVER_BUDGET);
    motet_error error;
    motet_context_error(c, &error);
    const char *at = strstr(error.message, "takes at least ");
    assert_non_null(at);
    return strtoll(at + strlen("takes at least "), NULL, 10);
}

/* With budgets from a lot down to the least that the planner states: the same bits, and never more
 * bytes than planned. One byte less is refused before anything begins. */
static void budgets_are_kept(void **state)
{
    (void)state;
    for (int which = 0; which < PIPE_OPS; which++) {
        char expected[33];
        pipe_expected(which, 64, 24, expected);
        motet_context *c = context_for(1, "sim:0");
        pipe_case p;
        pipe_case_make(c, which, 64, 24, &p);
        int64_t budget[RT_DEVICES];
        const int64_t least = least_budget(c, &p.op, budget, 1);
        budget[0] = least - 1;
        const rt_run_options less = {.budget = budget};
        assert_status(c, rt_run_with(c, &p.op, &less), MOTET_OVER_BUDGET);
        pipe_case_free(&p);
        motet_context_free(c);
        for (int k = 0; k < 6; k++)
            for (int set = 0; set < 3; set++) {
                c = context_for((uint64_t)k, pipe_sets[set]);
                pipe_case_make(c, which, 64, 24, &p);
                for (int i = 0; i < RT_DEVICES; i++) budget[i] = least + least * k * k / 4;
                const rt_run_options o = {.budget = budget};
                run_and_check(c, &p, &o, expected);
                pipe_case_free(&p);
                motet_context_free(c);
            }
    }
}

/* The host holds no more than planned, but for the run's own books. */
static void host_bytes_are_kept(void **state)
{
    (void)state;
    for (int which = 0; which < PIPE_OPS; which++) {
        motet_context *c = context_for(3, "sim:0,sim:3");
        pipe_case p;
        pipe_case_make(c, which, 300, 64, &p);
        const rt_run_options o = {.cut = {{0}, 0}};
        const rt_plan plan = plan_of(c, &p.op, &o);
        const uint64_t before = atomic_load(&c->held);
        atomic_store(&c->held_peak, before);
        assert_ok(c, rt_run_with(c, &p.op, &o));
        motet_memory memory;
        motet_context_memory(c, &memory);
        assert_true(memory.peak - before <= (uint64_t)plan.host_bytes + PIPE_BOOKS);
        assert_true(memory.peak - before >= (uint64_t)plan.private_bytes);
        pipe_case_free(&p);
        motet_context_free(c);
    }
}

/* A bound on the host is kept by smaller staging, down to what the refusal says would do. */
static void host_bounds_are_kept(void **state)
{
    (void)state;
    for (int which = 0; which < PIPE_OPS; which++) {
        char expected[33], got[33];
        pipe_expected(which, 300, 64, expected);
        motet_context *c = context_for(3, "sim:0,sim:3");
        pipe_case p;
        pipe_case_make(c, which, 300, 64, &p);
        c->options.host_memory = atomic_load(&c->held) + 1;
        assert_status(c, rt_run(c, &p.op), MOTET_OVER_BUDGET);
        motet_error error;
        motet_context_error(c, &error);
        const char *at = strstr(error.message, ": at least ");
        assert_non_null(at);
        const uint64_t least = strtoull(at + strlen(": at least "), NULL, 10);
        c->options.host_memory = least - 1;
        assert_status(c, rt_run(c, &p.op), MOTET_OVER_BUDGET);
        for (int k = 0; k < 3; k++) {
            c->options.host_memory = least + ((uint64_t)k << 16);
            pipe_case_free(&p); /* an update begins anew */
            pipe_case_make(c, which, 300, 64, &p);
            assert_ok(c, rt_run(c, &p.op));
            assert_ok(c, motet_array_digest(p.out, got));
            assert_string_equal(got, expected);
        }
        c->options.host_memory = 0;
        pipe_case_free(&p);
        assert_clean(c);
        motet_context_free(c);
    }
}

/* Uploads, kernels and downloads overlap: with equal times of all three, a run takes little more
 * than one of them. */
static void transfers_overlap_kernels(void **state)
{
    (void)state;
    enum { CHUNKS = 24, ROWS = 10, COLUMNS = 64 };
    const double part = 1e-4; /* seconds of each transfer and kernel of a chunk */
    sim_config config;
    sim_config_init(&config);
    config.jitter = 0;
    config.device[0].upload = 2 * ROWS * COLUMNS * 4 / part;
    config.device[0].download = ROWS * COLUMNS * 4 / part;
    config.device[0].items_per_second = ROWS / part;
    motet_context *c = sim_context(&config, "sim:0");
    pipe_case p;
    pipe_case_make(c, PIPE_UPDATE, CHUNKS * ROWS, COLUMNS, &p);
    const rt_run_options o = {.cut = {{ROWS}, 0}};
    assert_ok(c, rt_run_with(c, &p.op, &o));
    const double seconds = (double)sim_now(c) * 1e-9;
    assert_true(seconds > CHUNKS * part && seconds < 1.5 * CHUNKS * part);
    pipe_case_free(&p);
    assert_clean(c);
    motet_context_free(c);
}

/* Each kind of order, left out, is found to be missing. */
static void each_edge_is_needed(void **state)
{
    (void)state;
    for (int edge = PIPE_ALL_EDGES; edge < PIPE_EDGES; edge++) {
        motet_context *c = context_for(5, "sim:0,sim:1");
        const int which = edge == PIPE_NO_FIXED_REFILL ? PIPE_PROJECT
                          : edge == PIPE_NO_CHUNK      ? PIPE_SMOOTH
                                                       : PIPE_SUM;
        pipe_case p;
        pipe_case_make(c, which, 40, 13, &p);
        const rt_run_options o = {.cut = {{3, 5}, 4},
                                  .test = {.without = (pipe_edge)edge, .fixed_stage = 512}};
        (void)rt_run_with(c, &p.op, &o);
        if (edge == PIPE_ALL_EDGES)
            assert_int_equal(sim_findings(c), 0);
        else if (!sim_findings(c))
            fail_msg("edge %d is not missed", edge);
        pipe_case_free(&p);
        motet_context_free(c);
    }
    toy_mistakes();
}

static motet_status keep(int64_t first, int64_t rows, const float *slices, void *user)
{
    memcpy((float *)user + first * 24 * 24, slices, (size_t)rows * 24 * 24 * sizeof(float));
    return MOTET_OK;
}

/* A scan becomes the same picture on several devices, for all sizes of chunks. */
static void a_reconstruction_has_the_same_bits(void **state)
{
    (void)state;
    enum { ROWS = 20, VALUES = ROWS * 24 * 24 };
    float *first = calloc(VALUES, sizeof *first), *other = calloc(VALUES, sizeof *other);
    for (int i = 0; i < 1 + PIPE_SETS; i++) {
        motet_context *c = context_for((uint64_t)i, i ? pipe_sets[i - 1] : "cpu");
        c->options.chunk = i % 3 == 1 ? 3 : 0;
        motet_ct_simulate_options o;
        motet_ct_simulate_options_init(&o);
        o.views = 30, o.rows = ROWS, o.columns = 24;
        assert_ok(c, motet_ct_simulate(c, &o, test_path("scan.h5"), 1));
        motet_ct_scan *scan = NULL;
        assert_ok(c, motet_ct_scan_open(c, test_path("scan.h5"), NULL, &scan));
        motet_ct_recon_options r;
        motet_ct_recon_options_init(&r);
        motet_ct_recon_result result;
        assert_ok(c, motet_ct_recon(scan, &r, keep, i ? other : first, &result));
        if (i) assert_memory_equal(first, other, VALUES * sizeof(float));
        for (int j = 0; i && j < c->devices->count; j++)
            assert_true(atomic_load(&c->devices->set[j].chunks) > 0);
        motet_ct_scan_free(scan);
        assert_clean(c);
        motet_context_free(c);
    }
    free(first);
    free(other);
}

/* Rows that hold nothing are computed all the same, in no memory at all. */
static void rows_may_be_empty(void **state)
{
    (void)state;
    static const int64_t sizes[][2] = {{1, 0}, {5, 0}, {0, 5}, {0, 0}, {1, 1}};
    for (int which = 0; which < PIPE_PROJECT; which++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (int set = 0; set < PIPE_SETS; set++) {
                char expected[33], got[33];
                pipe_expected(which, sizes[i][0], sizes[i][1], expected);
                motet_context *c = sim_context(NULL, pipe_sets[set]);
                pipe_case p;
                pipe_case_make(c, which, sizes[i][0], sizes[i][1], &p);
                assert_ok(c, rt_run(c, &p.op));
                assert_ok(c, motet_array_digest(p.out, got));
                assert_string_equal(got, expected);
                assert_clean(c);
                pipe_case_free(&p);
                motet_context_free(c);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_set_of_bits),
                                       cmocka_unit_test(every_cut),
                                       cmocka_unit_test(rows_may_be_empty),
                                       cmocka_unit_test(budgets_are_kept),
                                       cmocka_unit_test(host_bytes_are_kept),
                                       cmocka_unit_test(host_bounds_are_kept),
                                       cmocka_unit_test(transfers_overlap_kernels),
                                       cmocka_unit_test(each_edge_is_needed),
                                       cmocka_unit_test(a_reconstruction_has_the_same_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
