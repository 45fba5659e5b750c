/* The runtime on a simulated device. */
#include <stdlib.h>
#include <string.h>

#include "support/toy.h"

#include "support/sim.h"

typedef struct toys {
    motet_array *x, *y, *w, *smooth, *sum;
} toys;

static toys make_toys(motet_context *c)
{
    toys t;
    t.x = toy_array(c, 40, 13, 1);
    t.y = toy_array(c, 40, 13, 2);
    t.smooth = toy_array(c, 40, 13, 3);
    t.w = toy_array(c, 40, 9, 4);
    t.sum = toy_array(c, 9, 13, 5);
    return t;
}

static void free_toys(toys *t)
{
    motet_array_free(t->x);
    motet_array_free(t->y);
    motet_array_free(t->w);
    motet_array_free(t->smooth);
    motet_array_free(t->sum);
}

static rt_op toy_of(const toys *t, int which)
{
    return which == 0   ? toy_smooth(t->x, t->smooth)
           : which == 1 ? toy_sum(t->w, t->x, t->sum)
                        : toy_update(t->x, t->y);
}

static const motet_array *output_of(const toys *t, int which)
{
    return which == 0 ? t->smooth : which == 1 ? t->sum : t->y;
}

/* Every toy has the cpu's bits on every simulated device, for every seed and cut, without a
 * finding. */
static void the_bits_are_the_cpus(void **state)
{
    (void)state;
    char expected[3][33], got[33];
    motet_context *c = test_context();
    toys t = make_toys(c);
    for (int i = 0; i < 3; i++) {
        const rt_op op = toy_of(&t, i);
        assert_ok(c, rt_run(c, &op));
        assert_ok(c, motet_array_digest(output_of(&t, i), expected[i]));
    }
    free_toys(&t);
    motet_context_free(c);
    for (uint64_t seed = 0; seed < 60; seed++) {
        sim_config config;
        sim_config_init(&config);
        config.seed = seed;
        static const char *const names[] = {"sim:0", "sim:3", "sim:7"};
        c = sim_context(&config, names[seed % 3]);
        t = make_toys(c);
        for (int i = 0; i < 3; i++) {
            const rt_op op = toy_of(&t, i);
            uint64_t random = 10 * seed + (uint64_t)i;
            rt_cut cut = {{0}, 1 + (int64_t)(test_random(&random) % 40)};
            for (int k = 0; k < RT_AXES; k++)
                cut.rows[k] = 1 + (int64_t)(test_random(&random) % 40);
            assert_ok(c, rt_run_cut(c, &op, &cut));
            assert_ok(c, motet_array_digest(output_of(&t, i), got));
            assert_string_equal(got, expected[i]);
        }
        sim_counts counts;
        motet_context_trim(c);
        sim_count(c, seed % 3 == 0 ? 0 : seed % 3 == 1 ? 3 : 7, &counts);
        assert_true(counts.items > 0 && counts.uploaded > 0 && counts.downloaded > 0);
        assert_int_equal(counts.used, 0);
        assert_int_equal(toy_mistakes(), 0);
        assert_clean(c);
        free_toys(&t);
        motet_context_free(c);
    }
}

/* Whatever call or allocation fails or loses the device: a clean status, the chunk where there is
 * one, untouched arrays, nothing left. */
static void failures_leave_arrays_untouched(void **state)
{
    (void)state;
    static const motet_status expected[] = {MOTET_DEVICE_LOST, MOTET_DEVICE_LOST,
                                            MOTET_DEVICE_ERROR, MOTET_NO_MEMORY};
    int located[4] = {0};
    for (int kind = 0; kind < 4; kind++)
        for (int toy = 0; toy < 3; toy++) {
            int passed = 0;
            for (int64_t k = 1; !passed; k++) {
                const sim_fault fault = {.lose_at_call = kind == 0 ? k : 0,
                                         .lose_at_command = kind == 1 ? k : 0,
                                         .fail_call = kind == 2 ? k : 0,
                                         .fail_alloc = kind == 3 ? k : 0};
                sim_config config;
                sim_config_init(&config);
                config.seed = (uint64_t)k;
                config.device[0].fault = fault;
                motet_context *c = sim_context(&config, "sim:0");
                toys t = make_toys(c);
                const rt_op op = toy_of(&t, toy);
                char before[33], after[33];
                assert_ok(c, motet_array_digest(output_of(&t, toy), before));
                const rt_cut cut = {{6, 5, 1}, 11};
                const motet_status st = rt_run_cut(c, &op, &cut);
                assert_ok(c, motet_array_digest(output_of(&t, toy), after));
                passed = st == MOTET_OK;
                if (!passed) assert_int_equal(st, expected[kind]);
                motet_error error;
                motet_context_error(c, &error);
                if (error.chunk >= 0) located[kind]++;
                assert_int_equal(error.device, error.chunk >= 0 ? 0 : -1);
                assert_int_equal(strcmp(before, after) == 0, !passed);
                sim_counts counts;
                motet_context_trim(c);
                sim_count(c, 0, &counts);
                assert_int_equal(counts.used, 0);
                assert_clean(c);
                free_toys(&t);
                motet_context_free(c);
                assert_true(k < 2000);
            }
        }
    /* What befalls the device while it computes is told with its chunk; allocations come before. */
    assert_true(located[0] && located[1] && located[2] && !located[3]);
    toy_mistakes(); /* after a loss the kernels' own records are moot */
}

static motet_status keep(int64_t first, int64_t rows, const float *slices, void *user)
{
    memcpy((float *)user + first * 24 * 24, slices, (size_t)rows * 24 * 24 * sizeof(float));
    return MOTET_OK;
}

/* A scan becomes the same picture on a simulated device as on the cpu. */
static void a_reconstruction_has_the_same_bits(void **state)
{
    (void)state;
    float *volume[4];
    static const char *const names[] = {"cpu", "sim:0", "sim:1", "sim:6"};
    for (int i = 0; i < 4; i++) {
        motet_context *c = sim_context(NULL, names[i]);
        motet_ct_simulate_options o;
        motet_ct_simulate_options_init(&o);
        o.views = 30, o.rows = 3, o.columns = 24;
        assert_ok(c, motet_ct_simulate(c, &o, test_path("scan.h5"), 1));
        motet_ct_scan *scan = NULL;
        assert_ok(c, motet_ct_scan_open(c, test_path("scan.h5"), NULL, &scan));
        motet_ct_recon_options r;
        motet_ct_recon_options_init(&r);
        motet_ct_recon_result result;
        volume[i] = calloc(3 * 24 * 24, sizeof(float));
        assert_ok(c, motet_ct_recon(scan, &r, keep, volume[i], &result));
        assert_memory_equal(volume[i], volume[0], 3 * 24 * 24 * sizeof(float));
        motet_ct_scan_free(scan);
        assert_clean(c);
        motet_context_free(c);
    }
    for (int i = 0; i < 4; i++) free(volume[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_bits_are_the_cpus),
                                       cmocka_unit_test(failures_leave_arrays_untouched),
                                       cmocka_unit_test(a_reconstruction_has_the_same_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
