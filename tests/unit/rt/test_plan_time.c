/* Planning costs next to nothing. Times are of this thread's processor, the best of several. */
#include <time.h>

#include "rt/plan.h"
#include "support/patience.h"
#include "support/support.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static motet_array in, out;

static rt_op map_of(int64_t rows)
{
    in =
        (motet_array){.type = MOTET_F32, .axes = 2, .shape = {rows, 8}, .bytes = (size_t)rows * 32};
    out = in;
    return (rt_op){
        .name = "toy.map",
        .axes = 2,
        .extent = {rows, 8},
        .port = {{.name = "in", .array = &in, .access = RT_READ, .cut = {0, 1}, .halo = 1},
                 {.name = "out", .array = &out, .access = RT_WRITE, .cut = {0, 1}}}};
}

/* Planning and addressing 10^6 chunks on four devices takes at most 50 ms: there is no list. */
static void a_million_chunks_are_planned_at_once(void **state)
{
    (void)state;
    motet_context *c = test_context();
    const rt_op op = map_of(1000000);
    rt_plan_device four[4];
    for (int i = 0; i < 4; i++)
        four[i] = (rt_plan_device){.name = "sim", .free = RT_UNKNOWN, .budget = 4000};
    const rt_weights w = {NULL, 4, {1, 2, 3, 4}};
    const rt_plan_options o = {.weights = &w, .weightings = 1, .cut = {{1, 0, 0}, 0}};
    double best = 1e9;
    for (int round = 0; round < 5; round++) {
        const double start = now();
        rt_plan p;
        assert_ok(c, rt_plan_make(c, &op, four, 4, &o, &p));
        assert_int_equal(p.chunks, 1000000);
        int64_t sum = 0;
        for (int64_t n = 0; n < p.chunks; n++) {
            int64_t local, first[RT_AXES], count[RT_AXES];
            const int d = rt_plan_chunk(&p, n, &local);
            rt_share_chunk(&p.share[d], &op, local, first, count);
            sum += first[0];
        }
        const double seconds = now() - start;
        assert_true(sum == (int64_t)999999 * 1000000 / 2);
        if (seconds < best) best = seconds;
    }
    print_message("10^6 chunks: %.1f ms\n", best * 1e3);
    assert_true(best < 0.05 * patience);
    motet_context_free(c);
}

/* A plan takes less than 20 microseconds for the CPU, less than 100 for four bounded devices. */
static void one_plan_takes_microseconds(void **state)
{
    (void)state;
    motet_context *c = test_context();
    const rt_op op = map_of(123457);
    rt_plan_device four[4];
    for (int i = 0; i < 4; i++)
        four[i] = (rt_plan_device){.name = "sim", .free = RT_UNKNOWN, .budget = 100000 + i};
    const rt_plan_device cpu = {.name = "cpu", .host_visible = 1, .free = RT_UNKNOWN};
    double best[2] = {1e9, 1e9};
    for (int round = 0; round < 20; round++)
        for (int k = 0; k < 2; k++) {
            const double start = now();
            for (int i = 0; i < 100; i++) {
                rt_plan p;
                assert_ok(c, rt_plan_make(c, &op, k ? four : &cpu, k ? 4 : 1, NULL, &p));
            }
            const double seconds = (now() - start) / 100;
            if (seconds < best[k]) best[k] = seconds;
        }
    print_message("a plan: %.2f us for the CPU, %.2f us for four devices\n", best[0] * 1e6,
                  best[1] * 1e6);
    assert_true(best[0] < 20e-6 * patience);
    assert_true(best[1] < 100e-6 * patience);
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_million_chunks_are_planned_at_once),
        cmocka_unit_test(one_plan_takes_microseconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
