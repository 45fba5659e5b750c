/* Solvers: the same bits on whatever runs them, whatever is lost on the way, and whoever goes on.
 */
#include <stdio.h>
#include <unistd.h>

#include "base/fail.h"
#include "support/ct_solve.h"
#include "support/pipe.h"

enum { SLICES, RAYS, COLUMNS, CASES, METHODS = 2, ITERATIONS = 4 };

typedef motet_status solve_fn(motet_ct_geometry *, const motet_ct_solve_options *,
                              const motet_array *, motet_array *, motet_ct_solve_result *);
static solve_fn *const methods[METHODS] = {motet_ct_cgls, motet_ct_sirt};

/* A volume with lines that have sums of their own, and rays in lines that are too short for it. */
static ct_scan_case case_of(motet_context *c, int which)
{
    if (which == SLICES) return ct_case_slices(c, 6, 65, 2, CT_CASE_RANDOM);
    return ct_case_cone(c, 5, 8, 7, 6, which == RAYS ? 0.2 : 0.0, CT_CASE_RANDOM);
}

typedef struct answer {
    char volume[33];
    double residual[ITERATIONS + 1];
} answer;

static motet_status hear(const motet_ct_iteration *iteration, void *user)
{
    answer *a = user;
    assert_in_range(iteration->number, 0, ITERATIONS);
    a->residual[iteration->number] = iteration->residual;
    return MOTET_OK;
}

static motet_status solve(motet_context *c, int which, int method, const char *folder, answer *out,
                          motet_ct_solve_result *result)
{
    ct_scan_case s = case_of(c, which);
    motet_ct_solve_options o;
    motet_ct_solve_options_init(&o);
    o.iterations = ITERATIONS;
    o.each = hear, o.user = out;
    o.checkpoint = folder;
    if (method == 1) o.least = 0.1;
    const motet_status st = methods[method](s.geometry, &o, s.sinogram, s.volume, result);
    if (st == MOTET_OK) assert_ok(c, motet_array_digest(s.volume, out->volume));
    ct_case_free(&s);
    return st;
}

static answer expected(int which, int method)
{
    answer a;
    motet_context *c = test_context();
    assert_ok(c, solve(c, which, method, NULL, &a, NULL));
    motet_context_free(c);
    return a;
}

static void assert_same(const answer *a, const answer *b)
{
    assert_string_equal(a->volume, b->volume);
    for (int k = 0; k <= ITERATIONS; k++) assert_true(a->residual[k] == b->residual[k]);
}

/* Any devices, chunks, threads and instruction sets. */
static void one_set_of_bits(void **state)
{
    (void)state;
    for (int which = 0; which < CASES; which++)
        for (int method = 0; method < METHODS; method++) {
            const answer want = expected(which, method);
            answer got;
            for (int set = 0; set < PIPE_SETS; set++) {
                sim_config config;
                sim_config_init(&config);
                config.seed = (uint64_t)set;
                motet_context *c = sim_context(&config, pipe_sets[set]);
                if (set % 2) c->options.chunk = 1 + set;
                assert_ok(c, solve(c, which, method, NULL, &got, NULL));
                assert_same(&got, &want);
                assert_clean(c);
                motet_context_free(c);
            }
            for (int kind = 0; kind < 5; kind++) {
                motet_context_options o;
                motet_context_options_init(&o);
                o.isa = kind == 0 ? MOTET_ISA_BASE : MOTET_ISA_AUTO;
                o.threads = 1 + kind % 3;
                o.chunk = kind;
                motet_context *c = NULL;
                assert_int_equal(motet_context_create(&o, &c), MOTET_OK);
                assert_ok(c, solve(c, which, method, NULL, &got, NULL));
                assert_same(&got, &want);
                motet_context_free(c);
            }
        }
}

/* A device is lost at any command: the other one goes on to the same bits. */
static void losses_anywhere(void **state)
{
    (void)state;
    for (int method = 0; method < METHODS; method++) {
        for (int64_t k = 1; k < 700; k += 1 + k / 2) {
            const int which = k % 3 ? COLUMNS : RAYS;
            const answer want = expected(which, method);
            sim_config config;
            sim_config_init(&config);
            config.seed = (uint64_t)k;
            config.device[0].fault.lose_at_command = k;
            motet_context *c = sim_context(&config, k % 2 ? "sim:0,sim:1" : "sim:0,cpu");
            answer got;
            assert_ok(c, solve(c, which, method, NULL, &got, NULL));
            assert_same(&got, &want);
            motet_context_free(c);
        }
    }
}

static motet_status apply_pair(motet_context *c, int which)
{
    ct_scan_case s = case_of(c, which);
    motet_status st = motet_ct_project(s.geometry, s.volume, s.sinogram);
    if (st == MOTET_OK) st = motet_ct_backproject(s.geometry, s.sinogram, s.volume);
    ct_case_free(&s);
    return st;
}

/* The least bytes of the device with which the pair by itself works. */
static int64_t least_memory(int which)
{
    int64_t least = 1;
    for (int i = 0; i < 100; i++) {
        motet_context *c = sim_context(NULL, "sim:0");
        c->options.memory = (uint64_t)least;
        const motet_status st = apply_pair(c, which);
        motet_error error;
        motet_context_error(c, &error);
        motet_context_free(c);
        if (st == MOTET_OK) return least;
        assert_int_equal(st, MOTET_OVER_BUDGET);
        const char *at = strstr(error.message, "takes at least ");
        assert_non_null(at);
        const int64_t said = strtoll(at + strlen("takes at least "), NULL, 10);
        assert_true(said > least);
        least = said;
    }
    fail_msg("no budget was enough");
    return 0;
}

/* From the least that the pair takes by itself to room for everything: the same bits, and no more
 * memory than that. */
static void any_budget_from_the_least(void **state)
{
    (void)state;
    for (int which = RAYS; which < CASES; which++)
        for (int method = 0; method < METHODS; method++) {
            const answer want = expected(which, method);
            const int64_t least = least_memory(which) * 7 / 4; /* three arrays at once */
            for (int k = 0; k < 8; k++) {
                motet_context *c = sim_context(NULL, "sim:0");
                c->options.memory = (uint64_t)(least + least * k / 3);
                answer got;
                assert_ok(c, solve(c, which, method, NULL, &got, NULL));
                assert_same(&got, &want);
                sim_counts counts;
                sim_count(c, 0, &counts);
                assert_true(counts.used_peak <= c->options.memory);
                assert_clean(c);
                motet_context_free(c);
            }
        }
}

static int64_t moved(int which, int method, int64_t iterations)
{
    motet_context *c = sim_context(NULL, "sim:0");
    ct_scan_case s = case_of(c, which);
    motet_ct_solve_options o;
    motet_ct_solve_options_init(&o);
    o.iterations = iterations;
    sim_counts before, after;
    sim_count(c, 0, &before);
    assert_ok(c, methods[method](s.geometry, &o, s.sinogram, s.volume, NULL));
    sim_count(c, 0, &after);
    ct_case_free(&s);
    assert_clean(c);
    motet_context_free(c);
    return after.uploaded - before.uploaded;
}

/* Between iterations neither volumes nor rays are sent: no more than the views, for each use of the
 * pair, and a few numbers. */
static void state_stays_on_devices(void **state)
{
    (void)state;
    for (int which = RAYS; which < CASES; which++)
        for (int method = 0; method < METHODS; method++) {
            const int64_t one = moved(which, method, 2), other = moved(which, method, 10);
            const int64_t most = 2 * 5 * 256;
            if (other - one > 8 * most)
                fail_msg("case %d: %lld bytes are sent in an iteration, expected at most %lld",
                         which, (long long)(other - one) / 8, (long long)most);
        }
}

/* Each reading of the clock is a microsecond later, so that what is due does not depend on how fast
 * the machine is. */
static int64_t count_up(void *user) { return *(int64_t *)user += 1000; }

static motet_go stop(const motet_progress *progress, void *user)
{
    int64_t *left = user;
    return progress->done == progress->total && --*left <= 0 ? MOTET_STOP : MOTET_GO_ON;
}

/* Cancelled in the middle of any operation and called again on other devices, it goes on from where
 * it was, to the same bits; then the folder is empty. */
static void a_cancelled_solver_goes_on(void **state)
{
    (void)state;
    int64_t now = 0, resumed = 0;
    for (int method = 0; method < METHODS; method++) {
        const answer want = expected(RAYS, method);
        for (int64_t k = 3; k < 22; k += 4) {
            const char *folder = test_path("cancelled");
            int64_t left = k;
            answer got = want;
            motet_context *c = sim_context(NULL, "sim:0,sim:1");
            c->options.clock = (motet_clock){count_up, &now};
            c->options.progress = stop;
            c->options.progress_user = &left;
            assert_status(c, solve(c, RAYS, method, folder, &got, NULL), MOTET_CANCELLED);
            motet_context_free(c);
            motet_ct_solve_result result;
            c = sim_context(NULL, "cpu,sim:2");
            assert_ok(c, solve(c, RAYS, method, folder, &got, &result));
            assert_same(&got, &want);
            assert_int_equal(result.iterations, ITERATIONS);
            assert_in_range(result.resumed, 0, ITERATIONS);
            resumed += result.resumed > 0;
            motet_context_free(c);
            assert_int_equal(rmdir(folder), 0);
        }
    }
    assert_true(resumed > 4);
}

typedef struct told {
    int64_t times;
    motet_ct_iteration last;
} told;

static motet_status count(const motet_ct_iteration *iteration, void *user)
{
    told *t = user;
    t->times++;
    t->last = *iteration;
    return MOTET_OK;
}

/* In a context of its own, as of another process. */
static void solve_and_keep(const char *devices, int which, int method, motet_ct_solve_options o,
                           char digest[33], told *heard, motet_ct_solve_result *result)
{
    motet_context *c = sim_context(NULL, devices);
    ct_scan_case s = case_of(c, which);
    *heard = (told){.times = 0};
    o.each = count, o.user = heard;
    assert_ok(c, methods[method](s.geometry, &o, s.sinogram, s.volume, result));
    assert_ok(c, motet_array_digest(s.volume, digest));
    ct_case_free(&s);
    motet_context_free(c);
}

static motet_status forget(int method, const char *folder)
{
    motet_context *c = test_context();
    const motet_status st =
        method ? motet_ct_sirt_forget(c, folder) : motet_ct_cgls_forget(c, folder);
    motet_context_free(c);
    return st;
}

/* A kept checkpoint gives the result again, whatever ended the iterations, and is told of one
 * iteration, the last; with other rules it goes on, to the bits of one that never stopped. */
static void a_kept_checkpoint_answers_again(void **state)
{
    (void)state;
    const char *folder = test_path("again");
    for (int which = 0; which < CASES; which++)
        for (int method = 0; method < METHODS; method++)
            for (int rule = 0; rule < 3; rule++) {
                motet_ct_solve_options o;
                motet_ct_solve_result first, second, whole;
                char once[33], again[33], long_one[33];
                told heard;
                motet_ct_solve_options_init(&o);
                o.iterations = rule ? 40 : ITERATIONS;
                o.stall = rule == 1 ? 0.2 : 0;
                o.tolerance = rule == 2 ? 0.9 : 0;
                o.checkpoint = folder, o.keep_checkpoint = 1;
                solve_and_keep("cpu", which, method, o, once, &heard, &first);
                assert_int_equal(heard.times, first.iterations + 1);
                assert_int_equal(first.stop, rule == 0   ? MOTET_CT_STOP_ITERATIONS
                                             : rule == 1 ? MOTET_CT_STOP_STALLED
                                                         : MOTET_CT_STOP_TOLERANCE);
                for (int i = 0; i < 2; i++) {
                    solve_and_keep(i ? "sim:0,cpu" : "cpu", which, method, o, again, &heard,
                                   &second);
                    assert_string_equal(again, once);
                    assert_int_equal(heard.times, 1);
                    assert_int_equal(heard.last.number, first.iterations);
                    assert_int_equal(second.resumed, first.iterations);
                    assert_int_equal(second.iterations, first.iterations);
                    assert_int_equal(second.stop, first.stop);
                    assert_true(second.residual == first.residual);
                    assert_true(second.relative == first.relative);
                }
                o.iterations = first.iterations + 3;
                o.stall = o.tolerance = 0;
                solve_and_keep("cpu", which, method, o, again, &heard, &second);
                assert_in_range(heard.times, 3, 4);
                assert_int_equal(second.resumed, first.iterations);
                o.checkpoint = NULL;
                solve_and_keep("cpu", which, method, o, long_one, &heard, &whole);
                assert_string_equal(again, long_one);
                assert_true(second.residual == whole.residual);
                assert_int_equal(second.iterations, whole.iterations);
                assert_int_equal(rmdir(folder), -1);
                assert_int_equal(forget(method, folder), MOTET_OK);
                assert_int_equal(rmdir(folder), 0);
                assert_int_equal(forget(method, folder), MOTET_OK); /* there is none */
            }
}

/* Another method, geometry, sinogram, start or bound does not go on from it. */
static void a_foreign_checkpoint_is_refused(void **state)
{
    (void)state;
    const char *folder = test_path("foreign");
    int64_t now = 0, left = 18;
    answer got;
    motet_context *c = test_context();
    c->options.clock = (motet_clock){count_up, &now};
    c->options.progress = stop;
    c->options.progress_user = &left;
    assert_status(c, solve(c, RAYS, 1, folder, &got, NULL), MOTET_CANCELLED);
    c->options.progress = NULL;
    for (int kind = 1; kind < 6; kind++) {
        ct_scan_case s =
            kind == 1 ? ct_case_cone(c, 5, 8, 7, 6, 0.21, CT_CASE_RANDOM) : case_of(c, RAYS);
        if (kind == 1) { /* the same data of another geometry */
            ct_scan_case first = case_of(c, RAYS);
            memcpy(s.sinogram->data, first.sinogram->data, s.sinogram->bytes);
            ct_case_free(&first);
        }
        if (kind == 2) ((float *)s.sinogram->data)[7] += 1.0f;
        motet_ct_solve_options o;
        motet_ct_solve_options_init(&o);
        o.iterations = ITERATIONS;
        o.checkpoint = folder;
        o.least = kind == 3 ? 0.2 : 0.1;
        o.warm_start = kind == 4;
        if (kind == 5) o.relaxation = 0.9;
        assert_status(c, motet_ct_sirt(s.geometry, &o, s.sinogram, s.volume, NULL),
                      MOTET_BAD_ARGUMENT);
        assert_message(c, "another computation", NULL);
        ct_case_free(&s);
    }
    motet_ct_solve_result result;
    assert_ok(c, solve(c, RAYS, 1, folder, &got, &result)); /* it is as good as it was */
    assert_true(result.resumed > 0);
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_set_of_bits),
                                       cmocka_unit_test(losses_anywhere),
                                       cmocka_unit_test(any_budget_from_the_least),
                                       cmocka_unit_test(state_stays_on_devices),
                                       cmocka_unit_test(a_cancelled_solver_goes_on),
                                       cmocka_unit_test(a_kept_checkpoint_answers_again),
                                       cmocka_unit_test(a_foreign_checkpoint_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
