/* P1 on GPUs for every form of operation (maps with halos, streams, lists, sources, sinks; ragged
 * rows; sums; exchanges; a solver whose state stays there): the digest of the CPU, for all sets of
 * devices, weights, sizes of chunks, budgets and modes. The kernels are those of the toys, in an
 * image of their own (form_table.c). */
#include <dlfcn.h>

#include "gpu/gpu.h"
#include "support/fake_cuda/fake_cuda.h"
#include "support/toy.h"
#include "support/toy_form.h"
#include "support/toy_kernels.h"

static int gpus;
static const char *const sets[] = {"cuda:0", "cpu,cuda:0", "cuda:0,cuda:1", "cuda:1,cpu,cuda:0"};
enum { SETS = sizeof sets / sizeof *sets };

static motet_status attempt(motet_context *c, int which, int size, const rt_run_options *o)
{
    toy_form *f = toy_form_make(c, (toy_which)which, size);
    const motet_status st = toy_form_run(f, o);
    const char *wrong = toy_form_wrong(f, st);
    if (wrong)
        fail_msg("%s of size %d answers %s: %s", toy_form_name((toy_which)which), size,
                 motet_status_name(st), wrong);
    toy_form_free(f);
    assert_int_equal(toy_mistakes(), 0);
    return st;
}

static rt_weights random_weights(uint64_t seed, int count)
{
    rt_weights w = {.count = count};
    for (int i = 0; i < count; i++) w.weight[i] = test_uniform(&seed, 0.4, 2);
    return w;
}

/* Every device works, if there are rows for all, and the digest is the one. */
static void all_devices_work_and_agree(void **state)
{
    (void)state;
    for (int set = 0; set < SETS; set++) {
        if (gpu_lacks(sets[set], gpus)) continue;
        motet_context *c = gpu_context(sets[set]);
        for (int which = 0; which < TOY_FORMS; which++)
            for (uint64_t seed = 0; seed < 6; seed++) {
                const rt_weights w = random_weights(seed, c->devices->count);
                const rt_run_options o = {.weights = &w, .weightings = 1};
                motet_context_report_reset(c);
                assert_ok(c, attempt(c, which, seed % 2 ? 2 : 0, &o));
                gpu_assert_worked(c, which != TOY_PROJECT); /* of few grains */
            }
        motet_context_free(c);
    }
}

static void every_size_of_chunk(void **state)
{
    (void)state;
    for (int set = 0; set < SETS; set++) {
        if (gpu_lacks(sets[set], gpus)) continue;
        motet_context *c = gpu_context(sets[set]);
        for (int which = 0; which < TOY_FORMS; which++)
            for (int64_t rows = 1; rows <= 7; rows += gpu_quick() ? 3 : 1)
                for (int64_t columns = 1; columns <= 5; columns += gpu_quick() ? 2 : 1) {
                    const rt_weights w =
                        random_weights((uint64_t)(rows * 5 + columns), c->devices->count);
                    const rt_run_options o = {.cut = {{rows, columns}, 1 + (rows + columns) % 7},
                                              .weights = &w,
                                              .weightings = 1};
                    assert_ok(c, attempt(c, which, 1, &o));
                }
        gpu_assert_worked(c, 1);
        motet_context_free(c);
    }
}

/* The least budget of a GPU alone, by what refusals say. */
static int64_t least_budget(motet_context *c, int which)
{
    int64_t least = 1;
    for (int i = 0;; i++) {
        const rt_run_options o = {.budget = &least};
        const motet_status st = attempt(c, which, 0, &o);
        motet_error error;
        motet_context_error(c, &error);
        if (st == MOTET_OK) return least;
        assert_int_equal(st, MOTET_OVER_BUDGET);
        const char *at = strstr(error.message, "takes at least ");
        assert_non_null(at);
        const int64_t said = strtoll(at + strlen("takes at least "), NULL, 10);
        assert_true(said > least && i < 100);
        least = said;
    }
}

/* Budgets from the least to plenty, each in a context of its own: never more than that is taken. */
static void four_budgets(void **state)
{
    (void)state;
    motet_context *c = gpu_context("cuda:0");
    int64_t least[TOY_FORMS];
    for (int which = 0; which < TOY_FORMS; which++) least[which] = least_budget(c, which);
    motet_context_free(c);
    for (int which = 0; which < TOY_FORMS; which++)
        for (int k = 0; k < 4; k++) {
            const int set = (which + k) % SETS;
            if (gpu_lacks(sets[set], gpus)) continue;
            c = gpu_context(sets[set]);
            int64_t budget[RT_DEVICES];
            for (int i = 0; i < RT_DEVICES; i++)
                budget[i] = least[which] + least[which] * (k + i) * k / 2;
            const rt_run_options o = {.budget = budget};
            assert_ok(c, attempt(c, which, 0, &o));
            for (int i = 0; i < c->devices->count; i++) {
                const int64_t taken = atomic_load(&c->devices->set[i].taken_most);
                if (!c->devices->set[i].host_visible && taken > budget[i])
                    fail_msg("%s on %s: device %d took %lld bytes of %lld",
                             toy_form_name((toy_which)which), sets[set], i, (long long)taken,
                             (long long)budget[i]);
            }
            motet_context_free(c);
        }
}

/* One device, a chunk for each, several for each, rows asked for, a stream in blocks. */
static void every_mode(void **state)
{
    (void)state;
    for (int set = 0; set < SETS; set++)
        for (int mode = 0; mode < 5; mode++) {
            if (gpu_lacks(sets[set], gpus)) continue;
            motet_context *c = gpu_context(sets[set]);
            rt_run_options o = {.shard_rows = mode == RT_SINGLE ? 1000000 : 0};
            c->options.unpipelined = mode == RT_SHARDED;
            c->options.chunks_per_device = mode == RT_PIPELINED ? 7 : 0;
            if (mode == RT_CHUNKED) o.cut.rows[0] = 9;
            if (mode == RT_STREAMED) o.cut.stream_rows = 3;
            for (int which = 0; which < TOY_FORMS; which++)
                assert_ok(c, attempt(c, which, set % 2 ? 2 : 0, &o));
            if (mode != RT_SINGLE) gpu_assert_worked(c, 0);
            motet_context_free(c);
        }
}

/* What a GPU computed is what the CPU computes once more, chunk by chunk, and the other way round.
 */
static void each_checks_the_other(void **state)
{
    (void)state;
    motet_context *c = gpu_context("cpu,cuda:0");
    for (int which = 0; which < TOY_FORMS; which++) {
        const rt_run_options o = {.verify = 1};
        assert_ok(c, attempt(c, which, 2, &o));
    }
    gpu_assert_worked(c, 1);
    motet_context_free(c);
}

/* The driver without a GPU takes kernels from the CPU. */
static void tell_fake_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    const fake_cuda_control *fake = library ? dlsym(library, "fake_cuda") : NULL;
    if (!fake) return;
#define K_KERNEL(name) fake->kernel(#name, *K_##name.args_bytes, K_##name.plain[0]);
#include "support/toy_list.h"
#undef K_KERNEL
}

int main(void)
{
    gpus = gpu_need();
    tell_fake_driver();
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_devices_work_and_agree),
                                       cmocka_unit_test(every_size_of_chunk),
                                       cmocka_unit_test(four_budgets), cmocka_unit_test(every_mode),
                                       cmocka_unit_test(each_checks_the_other)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
