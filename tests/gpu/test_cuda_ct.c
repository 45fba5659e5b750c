/* P1 on GPUs: whole jobs of computed tomography (project, back-project, filter, FDK, CGLS, SIRT on
 * seven geometries) have the digests of the CPU, on every set of devices, with tuned kernels and
 * without, however they are cut. */
#include "gpu/gpu.h"
#include "support/ct_jobs.h"

enum { JOBS = 64, NAME = 64 };

static int gpus;
static int64_t sizes[] = {20, 48};

typedef struct results {
    int count;
    char name[JOBS][NAME], digest[JOBS][33];
} results;

static void add(const char *geometry, const char *job, const char *digest, void *user)
{
    results *r = user;
    assert_in_range(r->count, 0, JOBS - 1);
    snprintf(r->name[r->count], NAME, "%.30s.%.30s", geometry, job);
    snprintf(r->digest[r->count++], sizeof r->digest[0], "%.32s", digest);
}

static const results *expected(int64_t size)
{
    static results small, large;
    results *r = size == sizes[0] ? &small : &large;
    if (r->count) return r;
    motet_context *c = test_context();
    assert_ok(c, ct_jobs_run(c, size, add, r));
    motet_context_free(c);
    return r;
}

static void compare(motet_context *c, int64_t size, const char *how)
{
    static results got;
    const results *want = expected(size);
    got.count = 0;
    assert_ok(c, ct_jobs_run(c, size, add, &got));
    assert_int_equal(got.count, want->count);
    int wrong = 0;
    for (int i = 0; i < got.count; i++)
        if (strcmp(want->digest[i], got.digest[i])) {
            print_error("%s: %s has %s, the CPU %s\n", how, got.name[i], got.digest[i],
                        want->digest[i]);
            wrong++;
        }
    if (wrong) fail_msg("%s: %d of %d jobs have other bits", how, wrong, got.count);
}

static const char *const sets[] = {"cuda:0", "cpu,cuda:0", "cuda:0,cuda:1", "cuda:1,cpu,cuda:0"};

static void every_set_of_devices(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        for (int k = 0; k < 2; k++) {
            if (gpu_lacks(sets[i], gpus)) continue;
            motet_context *c = gpu_context(sets[i]);
            compare(c, sizes[k], sets[i]);
            gpu_assert_worked(c, k);
            motet_context_free(c);
        }
}

/* The plain form of a kernel is the oracle of its tuned one. */
static void item_by_item(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        motet_context *c = gpu_context_with(NULL, "cuda:0", 1);
        compare(c, sizes[k], "item by item");
        gpu_assert_worked(c, 1);
        motet_context_free(c);
    }
}

static void however_it_is_cut(void **state)
{
    (void)state;
    for (int plain = 0; plain < 2; plain++)
        for (int64_t chunk = 1; chunk <= 7; chunk += 2) {
            motet_context_options o;
            motet_context_options_init(&o);
            o.chunk = chunk;
            motet_context *c = gpu_context_with(&o, "cuda:0", plain);
            compare(c, sizes[0], "in chunks");
            gpu_assert_worked(c, 1);
            motet_context_free(c);
        }
}

static void weighted(void **state)
{
    (void)state;
    static const double weights[][2] = {{1, 0}, {0, 1}, {1, 5}, {3, 1}};
    for (size_t i = 0; i < sizeof weights / sizeof *weights; i++) {
        motet_context *c = gpu_context("cpu,cuda:0");
        assert_ok(c, motet_context_weights(c, NULL, 2, weights[i]));
        compare(c, sizes[0], "weighted");
        if (weights[i][1] > 0) gpu_assert_worked(c, 0);
        motet_context_free(c);
    }
}

int main(void)
{
    gpus = gpu_need();
    if (gpu_quick()) sizes[0] = 8, sizes[1] = 16;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_set_of_devices), cmocka_unit_test(item_by_item),
        cmocka_unit_test(however_it_is_cut), cmocka_unit_test(weighted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
