/* Runs on GPUs, with the driver that has none: the bits are those of the CPU whatever the devices,
 * chunks and budgets, also when a GPU traps, hangs, computes wrongly or has less memory than it
 * had; nothing is leaked. */
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "support/ct_jobs.h"
#include "support/cuda.h"

enum { JOBS = 64, SIZE = 10, NAME = 64 };

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

static const results *golden(void)
{
    static results all;
    char line[256];
    if (all.count) return &all;
    FILE *file = fopen(MOTET_SOURCE "/tests/golden/ct_jobs.txt", "r");
    assert_non_null(file);
    while (all.count < JOBS && fgets(line, sizeof line, file))
        if (line[0] != '#' &&
            sscanf(line, "%63s %32s", all.name[all.count], all.digest[all.count]) == 2)
            all.count++;
    fclose(file);
    return &all;
}

static void assert_golden(const results *got, const char *how)
{
    const results *want = golden();
    assert_int_equal(got->count, want->count);
    for (int i = 0; i < got->count; i++)
        if (strcmp(want->name[i], got->name[i]) || strcmp(want->digest[i], got->digest[i]))
            fail_msg("%s on %s: %s, golden %s %s", got->name[i], how, got->digest[i], want->name[i],
                     want->digest[i]);
}

/* Every job of the engine has the golden digests, and every GPU did a part of the work. */
static void every_job_has_the_golden_bits(void **state)
{
    (void)state;
    static const struct {
        const char *names;
        int gpus;
        int64_t chunk;
    } sets[] = {{"cuda:0", 1, 0}, {"cuda:0,cuda:1", 2, 3}, {"cpu,cuda:0", 1, 0}};
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
        results got = {0};
        fake->reset(2, (uint64_t)64 << 20, k + 1);
        motet_context *c = cuda_context(sets[k].names);
        c->options.chunk = sets[k].chunk;
        const fake_cuda_counts before = cuda_counts();
        assert_ok(c, ct_jobs_run(c, SIZE, add, &got));
        const fake_cuda_counts after = cuda_counts();
        motet_context_free(c);
        assert_golden(&got, sets[k].names);
        for (int i = 0; i < sets[k].gpus; i++)
            assert_true(after.device_launches[i] > before.device_launches[i]);
        cuda_assert_clean();
    }
}

/* One operation of some chunks, small enough to be done often. */

typedef struct work {
    motet_ct_geometry *geometry;
    motet_array *volume, *sinogram;
    char digest[33];
} work;

static void work_make(work *w, motet_context *c)
{
    enum { VIEWS = 8, COLUMNS = 12, ROWS = 320 };
    double angles[VIEWS];
    motet_ct_parallel o;
    motet_ct_parallel_init(&o);
    for (int i = 0; i < VIEWS; i++) angles[i] = 3.14 * i / VIEWS;
    o.views = VIEWS, o.columns = COLUMNS, o.rows = ROWS, o.angles = angles, o.pitch = 1;
    assert_ok(c, motet_ct_geometry_parallel(c, &o, &w->geometry));
    assert_ok(c,
              motet_array_create(c, MOTET_F32, 3, (int64_t[]){ROWS, COLUMNS, COLUMNS}, &w->volume));
    assert_ok(c,
              motet_array_create(c, MOTET_F32, 3, (int64_t[]){VIEWS, COLUMNS, ROWS}, &w->sinogram));
    float *v = motet_array_data(w->volume);
    uint64_t seed = 5;
    for (int i = 0; i < ROWS * COLUMNS * COLUMNS; i++) v[i] = (float)test_uniform(&seed, -1, 1);
}

static void work_free(work *w)
{
    motet_array_free(w->volume);
    motet_array_free(w->sinogram);
    motet_ct_geometry_free(w->geometry);
}

static motet_status work_do(work *w, motet_context *c)
{
    const motet_status st = motet_ct_project(w->geometry, w->volume, w->sinogram);
    assert_ok(c, motet_array_digest(w->sinogram, w->digest));
    return st;
}

/* What the CPU gives, and what an array holds that nothing was written to. */
static const char *expected(int done)
{
    static char digest[2][33];
    if (!digest[done][0]) {
        motet_context *c = test_context();
        work w;
        work_make(&w, c);
        if (done)
            assert_ok(c, work_do(&w, c));
        else
            assert_ok(c, motet_array_digest(w.sinogram, w.digest));
        memcpy(digest[done], w.digest, sizeof w.digest);
        work_free(&w);
        motet_context_free(c);
    }
    return digest[done];
}

/* Runs it on these devices with something set before; `wanted` of it, and whole or nothing. */
static void attempt(motet_context *c, motet_status wanted)
{
    work w;
    work_make(&w, c);
    assert_status(c, work_do(&w, c), wanted);
    assert_string_equal(w.digest, expected(wanted == MOTET_OK));
    work_free(&w);
    assert_int_equal(fake->depth(), 0);
}

static void a_trap_costs_all_gpus_and_no_bit(void **state)
{
    (void)state;
    int traps = 0;
    static const char *const sets[] = {"cpu,cuda:0", "cuda:0,cpu,cuda:1", "cuda:0",
                                       "cuda:0,cuda:1"};
    for (int set = 0; set < 4; set++)
        for (int64_t nth = 1; nth < 6; nth++) {
            fake->reset(2, (uint64_t)64 << 20, (uint64_t)nth);
            motet_context *c = cuda_context(sets[set]);
            c->options.chunk = 2;
            const int64_t before = cuda_counts().launches;
            fake->trap(nth, 719);
            work w;
            work_make(&w, c);
            const motet_status st = work_do(&w, c);
            const int trapped = cuda_counts().launches - before >= nth;
            assert_int_equal(st, trapped && set >= 2 ? MOTET_DEVICE_LOST : MOTET_OK);
            assert_string_equal(w.digest, expected(st == MOTET_OK));
            if (st != MOTET_OK) assert_message(c, "cuda:", "CUDA_ERROR_LAUNCH_FAILED (719)", NULL);
            assert_true(trapped || set < 2); /* else the CPU may do all of it */
            traps += trapped;
            work_free(&w);
            motet_context_free(c);
            cuda_assert_no_finding();
            assert_int_equal(fake->depth(), 0);
        }
    assert_true(traps > 10);
}

/* Whatever the driver refuses in a run, its outputs are whole or untouched; a device that is lost
 * by it costs no bit where another is left. */
static void every_call_refused_in_a_run(void **state)
{
    (void)state;
    for (int i = 0; fake->function(i); i++)
        for (int lost = 0; lost < 2; lost++)
            for (int64_t nth = 1, reached = 1; reached; nth *= 3) {
                fake->reset(1, (uint64_t)64 << 20, (uint64_t)nth);
                motet_context *c = cuda_context(lost ? "cpu,cuda:0" : "cuda:0");
                const int64_t before = fake->calls(fake->function(i));
                fake->refuse(fake->function(i), nth, lost ? 719 : 1, 0);
                work w;
                work_make(&w, c);
                const motet_status st = work_do(&w, c);
                reached = fake->calls(fake->function(i)) - before >= nth;
                if (lost || !reached)
                    assert_ok(c, st);
                else if (st != MOTET_OK)
                    assert_int_equal(st, MOTET_DEVICE_ERROR);
                assert_string_equal(w.digest, expected(st == MOTET_OK));
                work_free(&w);
                motet_context_free(c);
                cuda_assert_no_finding();
                if (strcmp(fake->function(i), "cuCtxPopCurrent_v2") != 0)
                    assert_int_equal(fake->depth(), 0);
            }
}

/* A clock that runs ahead while a stream hangs, so that deadlines pass soon. */
static int64_t hurry(void *user)
{
    (void)user;
    static atomic_int_fast64_t ahead;
    struct timespec t;
    if (cuda_counts().hung) atomic_fetch_add(&ahead, 50000000);
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000 + t.tv_nsec + atomic_load(&ahead);
}

/* What the hung command may touch stays until the driver ends with the process: freeing would wait
 * for ever. */
static void a_hang_is_left_behind(void **state)
{
    (void)state;
    for (int set = 0; set < 2; set++)
        for (int64_t nth = 1; nth < 6; nth += 2) {
            fake->reset(2, (uint64_t)64 << 20, (uint64_t)nth);
            motet_context *c = cuda_context(set ? "cpu,cuda:0" : "cuda:0");
            c->options.chunk = 2;
            c->options.clock = (motet_clock){hurry, NULL};
            fake->hang(nth);
            work w;
            work_make(&w, c);
            const motet_status st = work_do(&w, c);
            const int hung = cuda_counts().hung;
            assert_int_equal(st, hung && !set ? MOTET_DEVICE_HUNG : MOTET_OK);
            assert_string_equal(w.digest, expected(st == MOTET_OK));
            assert_true(hung || nth > 1);
            cuda_assert_no_finding();
            work_free(&w);
            motet_context_free(c);
            if (hung) {
                cuda_assert_no_finding();
                assert_true(cuda_counts().allocations > 0 && cuda_counts().host_allocations > 0);
                assert_int_equal(fake->depth(), 0);
            } else {
                cuda_assert_clean();
            }
        }
}

/* Budgets are kept as the driver counts, and what does not fit is refused before anything runs. */
static void memory_bounds_what_is_held(void **state)
{
    (void)state;
    int refused = 0, done = 0;
    for (uint64_t bytes = 16 << 10; bytes <= 512 << 10; bytes += 32 << 10) {
        fake->reset(1, (uint64_t)64 << 20, bytes);
        motet_context *c = cuda_context("cuda:0");
        const fake_cuda_counts before = cuda_counts();
        c->options.memory = bytes;
        work w;
        work_make(&w, c);
        const motet_status st = work_do(&w, c);
        const fake_cuda_counts after = cuda_counts();
        if (st != MOTET_OK) assert_int_equal(st, MOTET_OVER_BUDGET);
        assert_string_equal(w.digest, expected(st == MOTET_OK));
        assert_true(after.used_peak[0] - before.used[0] <= bytes);
        refused += st != MOTET_OK;
        done += st == MOTET_OK;
        work_free(&w);
        motet_context_free(c);
        cuda_assert_clean();
    }
    assert_true(refused > 0 && done > 3);
}

/* Somebody else takes memory of the GPU, before a run or while it begins. */
static void less_memory_than_there_was(void **state)
{
    (void)state;
    for (int set = 0; set < 2; set++) {
        fake->reset(1, (uint64_t)1 << 20, 3);
        motet_context *c = cuda_context(set ? "cpu,cuda:0" : "cuda:0");
        attempt(c, MOTET_OK);
        motet_context_trim(c);
        fake->taken(0, ((uint64_t)1 << 20) - cuda_counts().used[0] - (200 << 10));
        attempt(c, MOTET_OK); /* smaller chunks */
        motet_context_trim(c);
        fake->taken(0, (uint64_t)1 << 20);
        attempt(c, MOTET_OVER_BUDGET);
        fake->taken(0, 0);
        fake->refuse("cuMemAlloc_v2", 1, 2, 0);
        attempt(c, MOTET_OK); /* planned again, for less */
        motet_context_trim(c);
        fake->refuse("cuMemAlloc_v2", 1, 2, 1000);
        attempt(c, set ? MOTET_OK : MOTET_NO_MEMORY);
        fake->refuse("cuMemAlloc_v2", 0, 2, 0);
        attempt(c, MOTET_OK); /* it was for that run alone */
        motet_context_free(c);
        cuda_assert_clean();
    }
}

/* A GPU that computes wrongly is not opened; one whose copies do is found by the chunks that are
 * computed once more. */
static void wrong_bits_are_found(void **state)
{
    (void)state;
    fake->reset(1, (uint64_t)64 << 20, 3);
    motet_context *c = test_context();
    fake->wrong_health(0, -1);
    assert_status(c, cuda_use(c, "cuda:0"), MOTET_DEVICE_ERROR);
    assert_message(c, "cuda:0", "computes wrongly", NULL);
    motet_context_free(c);
    cuda_assert_clean();

    int found = 0;
    for (int64_t nth = 1; nth < 12; nth++) {
        fake->reset(1, (uint64_t)64 << 20, (uint64_t)nth);
        c = cuda_context("cuda:0,cpu");
        c->options.verify_fraction = 1;
        c->options.chunk = 5;
        fake->corrupt(nth);
        work w;
        work_make(&w, c);
        const motet_status st = work_do(&w, c);
        if (st != MOTET_OK) assert_int_equal(st, MOTET_CHECK_FAILED);
        assert_string_equal(w.digest, expected(st == MOTET_OK));
        found += st != MOTET_OK;
        work_free(&w);
        motet_context_free(c);
        cuda_assert_clean();
    }
    assert_true(found > 0);
}

int main(void)
{
    cuda_begin();
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_job_has_the_golden_bits),
                                       cmocka_unit_test(a_trap_costs_all_gpus_and_no_bit),
                                       cmocka_unit_test(every_call_refused_in_a_run),
                                       cmocka_unit_test(a_hang_is_left_behind),
                                       cmocka_unit_test(memory_bounds_what_is_held),
                                       cmocka_unit_test(less_memory_than_there_was),
                                       cmocka_unit_test(wrong_bits_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
