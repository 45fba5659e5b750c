/* P2: what a run is said to take before it starts is what it takes: never more, and of large runs
 * not much less. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/pipe.h"

enum { MIB = 1 << 20 };

typedef struct peaks {
    int64_t planned, accounted, measured;           /* of the host, with the arrays */
    int64_t device_planned, device_accounted, used; /* of all others */
} peaks;

static int64_t number(const json_t *object, const char *name)
{
    return json_integer_value(json_object_get(object, name));
}

static peaks peaks_of(motet_context *c)
{
    char *text = NULL;
    assert_ok(c, motet_context_report(c, &text));
    json_t *report = json_loads(text, 0, NULL);
    const json_t *memory = json_object_get(report, "memory");
    peaks p = {.planned = number(memory, "planned"),
               .accounted = number(memory, "accounted_peak"),
               .measured = number(memory, "measured_peak")};
    for (int i = 0; i < c->devices->count; i++) {
        memory = json_object_get(json_array_get(json_object_get(report, "devices"), (size_t)i),
                                 "memory");
        p.device_planned += number(memory, "planned");
        p.device_accounted += number(memory, "accounted");
        const int sim = pipe_sim_number(c, i);
        if (sim < 0) continue;
        sim_counts counts;
        sim_count(c, sim, &counts);
        assert_true((int64_t)counts.used_peak == number(memory, "accounted"));
        assert_true(number(memory, "accounted") <= number(memory, "planned"));
        p.used += (int64_t)counts.used_peak;
    }
    json_decref(report);
    motet_text_free(c, text);
    assert_true(p.accounted <= p.planned);
    return p;
}

/* Every operation, set of devices and budget. */
static void no_run_takes_more_than_planned(void **state)
{
    (void)state;
    for (int which = 0; which < PIPE_OPS; which++)
        for (int set = 0; set < PIPE_SETS; set++)
            for (int tight = 0; tight < 3; tight++) {
                motet_context *c = sim_context(NULL, pipe_sets[set]);
                pipe_case p;
                pipe_case_make(c, which, 120, 40, &p);
                atomic_store(&c->held_peak, atomic_load(&c->held));
                if (tight) c->options.memory = tight == 1 ? 60000 : 40000;
                if (tight == 2) c->options.unpipelined = 1;
                const motet_status st = rt_run(c, &p.op);
                if (st != MOTET_OVER_BUDGET || !tight) assert_ok(c, st);
                if (st == MOTET_OK) (void)peaks_of(c);
                pipe_case_free(&p);
                motet_context_free(c);
            }
}

/* Runs of 64 MiB and more; toy_update of so many rows of 256 bytes. */
static peaks large_run(const char *devices, int64_t rows)
{
    sim_config config;
    sim_config_init(&config);
    for (int i = 0; i < SIM_DEVICES; i++) config.device[i].memory = (uint64_t)1 << 30;
    config.watch_bytes = 0;
    motet_context *c = sim_context(&config, devices);
    motet_array *in = toy_array(c, rows, 64, 1), *out = toy_array(c, rows, 64, 2);
    const rt_op op = toy_update(in, out);
    atomic_store(&c->held_peak, atomic_load(&c->held));
    assert_ok(c, rt_run(c, &op));
    const peaks p = peaks_of(c);
    motet_array_free(in);
    motet_array_free(out);
    motet_context_free(c);
    return p;
}

static void large_plans_are_at_most_a_quarter_too_large(void **state)
{
    (void)state;
    static const char *const sets[] = {"cpu", "sim:0", "sim:0,cpu"};
    for (int i = 0; i < 3; i++) {
        const peaks p = large_run(sets[i], 120000);
        assert_true(p.accounted > 64 * MIB);
        assert_true(4 * p.planned <= 5 * p.accounted);
        assert_true(4 * p.device_planned <= 5 * p.device_accounted);
    }
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SHADOWS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define SHADOWS 1
#endif
#endif

/* The memory of simulated devices is the process's own, too, and stays for a while when it is
 * released. */
static void the_process_takes_little_more(void **state)
{
    (void)state;
#ifdef SHADOWS
    printf("skipped: a sanitizer takes memory of its own\n");
    return;
#endif
    static const char *const sets[] = {"cpu", "sim:0"};
    for (int i = 0; i < 2; i++) {
        int64_t answer[2] = {0, 0};
        int channel[2];
        assert_int_equal(pipe(channel), 0);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) { /* a process of its own, whose peak is this run's */
            const peaks p = large_run(sets[i], 240000);
            answer[0] = p.planned + p.device_planned;
            answer[1] = p.measured;
            _exit(write(channel[1], answer, sizeof answer) == sizeof answer ? 0 : 1);
        }
        int status = 1;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        assert_int_equal(read(channel[0], answer, sizeof answer), sizeof answer);
        close(channel[0]);
        close(channel[1]);
        printf("%s: planned %lld MiB, the process had %lld\n", sets[i],
               (long long)(answer[0] / MIB), (long long)(answer[1] / MIB));
        assert_true(answer[1] > 64 * MIB);
        assert_true(answer[1] <= answer[0] + 64 * MIB);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_process_takes_little_more), /* first: before there are threads */
        cmocka_unit_test(no_run_takes_more_than_planned),
        cmocka_unit_test(large_plans_are_at_most_a_quarter_too_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
