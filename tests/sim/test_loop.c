/* Iterative solvers: the same bits whatever is lost on the way, and whoever begins again. */
#include "rt/loop.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "rt/loop_inside.h"
#include "support/pipe.h"
#include "support/toy_solver.h"

enum { ROWS = 36, COLUMNS = 7, STEPS = 60 };

static int64_t findings;
static void found(const char *text, void *user)
{
    (void)user;
    if (!findings++) print_error("%s\n", text);
}

static void config_init(sim_config *config)
{
    sim_config_init(config);
    config->found = found;
}

typedef struct answer {
    char x[33];
    int64_t steps;
} answer;

static motet_status solve(motet_context *c, int resident, const char *folder, answer *out,
                          rt_loop_result *told)
{
    toy_solver s;
    rt_loop_result result;
    toy_solver_make(c, ROWS, COLUMNS, 7, resident, &s);
    const rt_loop loop = toy_solver_loop(&s, STEPS, folder);
    const motet_status st = rt_loop_run(c, &loop, &result);
    if (st == MOTET_OK) {
        assert_ok(c, motet_array_digest(s.x, out->x));
        out->steps = result.steps;
        if (told) *told = result;
    }
    toy_solver_free(&s);
    return st;
}

static answer expected(void)
{
    answer a;
    motet_context *c = test_context();
    assert_ok(c, solve(c, 0, NULL, &a, NULL));
    motet_context_free(c);
    return a;
}

static void assert_same(const answer *a, const answer *b)
{
    assert_string_equal(a->x, b->x);
    assert_int_equal(a->steps, b->steps);
}

/* It solves: A x is b, but for the rounding of float32. */
static void the_toy_solves(void **state)
{
    (void)state;
    motet_context *c = test_context();
    toy_solver s, t;
    toy_solver_make(c, ROWS, COLUMNS, 7, 0, &s);
    toy_solver_make(c, ROWS, COLUMNS, 7, 0, &t); /* its r is b still */
    const rt_loop loop = toy_solver_loop(&s, STEPS, NULL);
    rt_loop_result told;
    assert_ok(c, rt_loop_run(c, &loop, &told));
    assert_true(told.steps > 10 && told.steps < STEPS && told.taken == told.steps);
    const float *x = motet_array_data(s.x), *b = motet_array_data(t.r);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            double sum = 2.0 * x[i * COLUMNS + j] - b[i * COLUMNS + j];
            if (i) sum -= x[(i - 1) * COLUMNS + j];
            if (i < ROWS - 1) sum -= x[(i + 1) * COLUMNS + j];
            assert_true(sum < 1e-3 && sum > -1e-3);
        }
    toy_solver_free(&s);
    toy_solver_free(&t);
    motet_context_free(c);
}

static void one_set_of_bits(void **state)
{
    (void)state;
    const answer want = expected();
    for (int set = 0; set < PIPE_SETS; set++) {
        sim_config config;
        config_init(&config);
        config.seed = (uint64_t)set;
        motet_context *c = sim_context(&config, pipe_sets[set]);
        answer got;
        assert_ok(c, solve(c, 1, NULL, &got, NULL));
        assert_same(&got, &want);
        assert_clean(c);
        motet_context_free(c);
    }
    assert_int_equal(findings, 0);
}

/* Devices are lost at any command, also one after the other: the same bits as long as one is left,
 * else DEVICE_LOST. */
static void losses_anywhere(void **state)
{
    (void)state;
    const answer want = expected();
    int64_t restored = 0, refused = 0;
    for (int64_t k = 1; k < 900; k += 1 + k / 3)
        for (int kind = 0; kind < 3; kind++) {
            static const char *const sets[] = {"sim:0,sim:1", "sim:0,cpu,sim:1", "sim:0,sim:1"};
            sim_config config;
            config_init(&config);
            config.seed = (uint64_t)k;
            config.device[0].fault.lose_at_command = k;
            if (kind) config.device[1].fault.lose_at_command = 2 * k;
            motet_context *c = sim_context(&config, sets[kind]);
            answer got;
            rt_loop_result told;
            const motet_status st = solve(c, 1, NULL, &got, &told);
            int losses = 0;
            for (int i = 0; i < 2; i++) {
                sim_counts counts;
                sim_count(c, i, &counts);
                losses += (int)counts.losses;
            }
            if (kind == 2 && losses == 2) {
                assert_int_equal(st, MOTET_DEVICE_LOST);
                refused++;
            } else {
                assert_ok(c, st);
                assert_same(&got, &want);
                assert_true(told.restored <= losses && told.taken >= told.steps);
                restored += told.restored;
            }
            motet_context_free(c);
            assert_int_equal(findings, 0);
        }
    assert_true(restored > 10 && refused > 3);
}

/* Snapshots take a twentieth of the time, and the last one of it more; a loss costs what was done
 * since. */
static void snapshots_cost_little(void **state)
{
    (void)state;
    sim_config config;
    config_init(&config);
    sim_clock clock;
    motet_context *c = test_context();
    sim_clock_use(c, &clock);
    assert_ok(c, sim_use(c, &config, "sim:0,sim:1"));
    toy_solver s;
    rt_loop_result told;
    toy_solver_make(c, ROWS, COLUMNS, 7, 1, &s);
    s.enough = 0;
    const rt_loop loop = toy_solver_loop(&s, 100, NULL);
    assert_ok(c, rt_loop_run(c, &loop, &told));
    const double each = told.snapshot_seconds / (double)told.snapshots;
    assert_true(told.snapshots > 2);
    assert_true(told.snapshot_seconds < 0.05 * told.seconds + 3 * each);
    toy_solver_free(&s);
    motet_context_free(c);
}

/* What no solver can mean is refused before anything begins; no states and no numbers are legal. */
static motet_status no_step(int64_t k, int *done, void *user)
{
    (void)user;
    *done = k == 2;
    return MOTET_OK;
}

static void impossible_loops_are_refused(void **state)
{
    (void)state;
    motet_context *c = test_context();
    const rt_loop good = {.name = "nothing", .steps = 5, .step = no_step};
    rt_loop_result told;
    for (int kind = 0; kind < 6; kind++) {
        rt_loop bad = good;
        if (kind == 0) bad.states = -1;
        if (kind == 1) bad.states = RT_LOOP_STATES + 1;
        if (kind == 2) bad.numbers_bytes = LOOP_NUMBERS + 1;
        if (kind == 3) bad.steps = -1;
        if (kind == 4) bad.share = -0.1;
        if (kind == 5) bad.share = 1.1;
        assert_status(c, rt_loop_run(c, &bad, &told), MOTET_INTERNAL);
        assert_message(c, "nothing", "share", NULL);
    }
    assert_ok(c, rt_loop_run(c, &good, &told));
    assert_int_equal(told.steps, 3);
    assert_ok(c, rt_loop_run(c, &good, NULL));
    motet_array *empty = NULL;
    assert_ok(c, motet_array_create(c, MOTET_F32, 2, (int64_t[]){0, 7}, &empty));
    rt_loop hollow = good;
    hollow.state[hollow.states++] = empty;
    hollow.folder = test_path("hollow");
    hollow.share = 1;
    assert_ok(c, rt_loop_run(c, &hollow, &told));
    motet_array_free(empty);
    motet_context_free(c);
}

/* The copy counts, and a bound that it does not fit is told of before anything begins. */
static void snapshots_are_within_the_bound(void **state)
{
    (void)state;
    motet_context *c = sim_context(NULL, "sim:0");
    toy_solver s;
    toy_solver_make(c, ROWS, COLUMNS, 7, 0, &s);
    const rt_loop loop = toy_solver_loop(&s, STEPS, NULL);
    motet_memory memory;
    motet_context_memory(c, &memory);
    c->options.host_memory = memory.now + (uint64_t)rt_loop_bytes(c, &loop) - 1;
    assert_status(c, rt_loop_run(c, &loop, NULL), MOTET_OVER_BUDGET);
    assert_message(c, "toy.solver", "bytes", NULL);
    c->options.host_memory = 0;
    toy_solver_free(&s);
    motet_context_free(c);
}

/* Where nothing can be lost but the process, nothing is copied. */
static void the_cpu_alone_takes_no_snapshots(void **state)
{
    (void)state;
    motet_context *c = test_context();
    const answer want = expected();
    answer got;
    rt_loop_result told;
    assert_ok(c, solve(c, 1, NULL, &got, &told));
    assert_same(&got, &want);
    assert_int_equal(told.snapshots, 0);
    const char *folder = test_path("alone");
    assert_ok(c, solve(c, 1, folder, &got, &told));
    assert_same(&got, &want);
    assert_true(told.snapshots > 0);
    motet_context_free(c);
}

/* The checkpoint. */

/* Each reading of the clock is a microsecond later, so that what is due does not depend on how fast
 * the machine is. */
static int64_t count_up(void *user) { return *(int64_t *)user += 1000; }

static void use_counted_time(motet_context *c)
{
    static int64_t now;
    c->options.clock = (motet_clock){count_up, &now};
}

static const char *folder_of(const char *name) { return test_path(name); }

static const char *file_of(const char *folder)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/toy.solver.loop", folder);
    return path;
}

static int is_there(const char *path)
{
    struct stat s;
    return !lstat(path, &s);
}

static motet_status stop_at(int64_t k, toy_solver *s)
{
    return k == *(const int64_t *)s->user
               ? fail_at(s->context, MOTET_CANCELLED, __FILE__, __LINE__, 0, "stopped")
               : MOTET_OK;
}

static motet_status solve_stopped(motet_context *c, int64_t step, const char *folder)
{
    toy_solver s;
    use_counted_time(c);
    toy_solver_make(c, ROWS, COLUMNS, 7, 1, &s);
    s.after = stop_at;
    s.user = &step;
    rt_loop loop = toy_solver_loop(&s, STEPS, folder);
    loop.share = 1;
    const motet_status st = rt_loop_run(c, &loop, NULL);
    toy_solver_free(&s);
    return st;
}

/* Stopped at any step and begun again, on other devices, it comes to the same bits; then the folder
 * is empty. */
static void a_stopped_solver_goes_on(void **state)
{
    (void)state;
    const answer want = expected();
    int64_t resumed = 0;
    for (int64_t k = 0; k < want.steps; k += 9) {
        char name[32];
        snprintf(name, sizeof name, "stopped%lld", (long long)k);
        const char *folder = folder_of(name);
        motet_context *c = sim_context(NULL, pipe_sets[k % PIPE_SETS]);
        assert_status(c, solve_stopped(c, k, folder), MOTET_CANCELLED);
        assert_message(c, "stopped", NULL);
        motet_context_free(c);
        assert_true(is_there(file_of(folder)));
        c = sim_context(NULL, pipe_sets[(k + 1) % PIPE_SETS]);
        answer got;
        rt_loop_result told;
        assert_ok(c, solve(c, 1, folder, &got, &told));
        assert_same(&got, &want);
        assert_true(told.resumed <= k && told.taken == told.steps - told.resumed);
        resumed += told.resumed > 0;
        assert_false(is_there(file_of(folder)));
        assert_int_equal(rmdir(folder), 0);
        motet_context_free(c);
    }
    assert_true(resumed > 1);
}

static motet_go stop(const motet_progress *progress, void *user)
{
    int64_t *left = user;
    return progress->done == progress->total && --*left <= 0 ? MOTET_STOP : MOTET_GO_ON;
}

/* A cancellation, in the middle of any operation, keeps it, too. */
static void a_cancelled_solver_goes_on(void **state)
{
    (void)state;
    const answer want = expected();
    for (int64_t k = 1; k < 120; k += 37) {
        const char *folder = folder_of("cancelled");
        motet_context *c = sim_context(NULL, "sim:0,sim:1");
        int64_t left = k;
        c->options.progress = stop;
        c->options.progress_user = &left;
        answer got;
        assert_status(c, solve(c, 1, folder, &got, NULL), MOTET_CANCELLED);
        c->options.progress = NULL;
        assert_true(is_there(file_of(folder)));
        assert_ok(c, solve(c, 1, folder, &got, NULL));
        assert_same(&got, &want);
        motet_context_free(c);
    }
}

static motet_status die_at(int64_t k, toy_solver *s)
{
    if (k == *(const int64_t *)s->user) raise(SIGKILL);
    return MOTET_OK;
}

/* Killed at some step, in a process of its own: what is there is a whole checkpoint. */
static void a_killed_solver_goes_on(void **state)
{
    (void)state;
    const answer want = expected();
    const char *folder = folder_of("killed");
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        motet_context *c = sim_context(NULL, "sim:0,sim:1");
        toy_solver s;
        int64_t step = 17;
        use_counted_time(c);
        toy_solver_make(c, ROWS, COLUMNS, 7, 1, &s);
        s.after = die_at;
        s.user = &step;
        rt_loop loop = toy_solver_loop(&s, STEPS, folder);
        loop.share = 1;
        rt_loop_run(c, &loop, NULL);
        _exit(1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    motet_context *c = sim_context(NULL, "cpu,sim:0");
    answer got;
    rt_loop_result told;
    assert_ok(c, solve(c, 1, folder, &got, &told));
    assert_same(&got, &want);
    assert_true(told.resumed > 0);
    motet_context_free(c);
}

/* Another computation's checkpoint is refused and stays. */
static void a_foreign_checkpoint_is_refused(void **state)
{
    (void)state;
    const char *folder = folder_of("foreign");
    motet_context *c = test_context();
    assert_status(c, solve_stopped(c, 9, folder), MOTET_CANCELLED);
    for (int kind = 0; kind < 3; kind++) {
        toy_solver s;
        toy_solver_make(c, ROWS + (kind == 0), COLUMNS, 7, 0, &s);
        rt_loop loop = toy_solver_loop(&s, kind == 2 ? 2 : STEPS, folder);
        if (kind == 1) loop.fingerprint[1]++;
        assert_status(c, rt_loop_run(c, &loop, NULL), MOTET_BAD_ARGUMENT);
        assert_message(c, "toy.solver.loop", "checkpoint", NULL);
        toy_solver_free(&s);
        assert_true(is_there(file_of(folder)));
    }
    motet_context_free(c);
}

static char warned[600];
static void hear(motet_log_level level, const char *component, const char *text, void *user)
{
    (void)component, (void)user;
    if (level == MOTET_LOG_WARNING) snprintf(warned, sizeof warned, "%s", text);
}

/* A damaged one, whichever byte it is, or a cut one, is told of and not used. */
static void a_damaged_checkpoint_is_not_used(void **state)
{
    (void)state;
    const answer want = expected();
    const char *folder = folder_of("damaged");
    motet_context *c = test_context();
    assert_status(c, solve_stopped(c, 9, folder), MOTET_CANCELLED);
    static char good[1 << 16];
    FILE *f = fopen(file_of(folder), "rb");
    assert_non_null(f);
    const size_t bytes = fread(good, 1, sizeof good, f);
    fclose(f);
    assert_true(bytes > 2000 && bytes < sizeof good);
    c->options.log = hear;
    for (size_t at = 0; at < bytes + 300; at += 499) {
        f = fopen(file_of(folder), "wb");
        assert_non_null(f);
        if (at < bytes) good[at] ^= 4;
        assert_int_equal(fwrite(good, 1, at < bytes ? bytes : (at - bytes) * 7, f),
                         at < bytes ? bytes : (at - bytes) * 7);
        if (at < bytes) good[at] ^= 4;
        fclose(f);
        answer got;
        rt_loop_result told;
        *warned = 0;
        motet_context_report_reset(c); /* so that the warning is given again */
        assert_ok(c, solve(c, 0, folder, &got, &told));
        assert_same(&got, &want);
        /* padding is nobody's: it may be damaged */
        assert_true((told.resumed == 0 && strstr(warned, "anew")) || told.resumed > 0);
    }
    motet_context_free(c);
}

static motet_status block_at(int64_t k, toy_solver *s)
{
    char path[600];
    snprintf(path, sizeof path, "%s/x", file_of(s->user));
    if (k == 3) {
        unlink(file_of(s->user));
        mkdir(file_of(s->user), 0777);
        mkdir(path, 0777);
    }
    return MOTET_OK;
}

/* A checkpoint that cannot be written is a warning: the work goes on. */
static void a_full_disk_stops_nobody(void **state)
{
    (void)state;
    const char *folder = folder_of("blocked");
    motet_context *c = test_context();
    c->options.log = hear;
    *warned = 0;
    toy_solver s;
    use_counted_time(c);
    toy_solver_make(c, ROWS, COLUMNS, 7, 0, &s);
    s.after = block_at;
    s.user = (void *)(uintptr_t)folder;
    rt_loop loop = toy_solver_loop(&s, STEPS, folder);
    loop.share = 1;
    assert_ok(c, rt_loop_run(c, &loop, NULL));
    assert_non_null(strstr(warned, "no checkpoint"));
    toy_solver_free(&s);
    motet_context_free(c);
}

/* Whichever allocation fails: NO_MEMORY, nothing is held, and it goes on from the checkpoint. */
static void memory_may_fail(void **state)
{
    (void)state;
    const answer want = expected();
    const char *folder = folder_of("memory");
    for (int forever = 0; forever < 2; forever++)
        for (int64_t nth = 1, failed = 1; failed; nth += 1 + nth / 4) {
            motet_context *c = test_context_failing(0, 0);
            toy_solver s;
            toy_solver_make(c, ROWS, COLUMNS, 7, 0, &s);
            rt_loop loop = toy_solver_loop(&s, STEPS, folder);
            loop.share = 1;
            motet_memory before, after;
            test_context_fail_at(c, nth, forever);
            motet_context_memory(c, &before);
            const motet_status st = rt_loop_run(c, &loop, NULL);
            motet_context_memory(c, &after);
            failed = test_context_failed(c);
            test_context_fail_at(c, 0, 0);
            assert_true(st == MOTET_OK || (failed && st == MOTET_NO_MEMORY));
            toy_solver_free(&s);
            if (st == MOTET_OK) {
                motet_context_free(c);
                continue;
            }
            answer got;
            assert_ok(c, solve(c, 0, folder, &got, NULL));
            assert_same(&got, &want);
            motet_context_free(c);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_toy_solves),
                                       cmocka_unit_test(one_set_of_bits),
                                       cmocka_unit_test(losses_anywhere),
                                       cmocka_unit_test(snapshots_cost_little),
                                       cmocka_unit_test(impossible_loops_are_refused),
                                       cmocka_unit_test(snapshots_are_within_the_bound),
                                       cmocka_unit_test(the_cpu_alone_takes_no_snapshots),
                                       cmocka_unit_test(a_stopped_solver_goes_on),
                                       cmocka_unit_test(a_cancelled_solver_goes_on),
                                       cmocka_unit_test(a_killed_solver_goes_on),
                                       cmocka_unit_test(a_foreign_checkpoint_is_refused),
                                       cmocka_unit_test(a_damaged_checkpoint_is_not_used),
                                       cmocka_unit_test(a_full_disk_stops_nobody),
                                       cmocka_unit_test(memory_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
