/* Golden digests of projection, back-projection and reconstruction on all kinds of geometry: P1
 * across threads, instruction sets and compilers. With --write the file is written anew: only for
 * an intended change of results. */
#include <stdio.h>
#include <string.h>

#include "support/ct_jobs.h"
#include "support/support.h"

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

static void compute(motet_isa isa, int threads, int64_t chunk, results *out)
{
    motet_context_options options;
    motet_context_options_init(&options);
    options.isa = isa;
    options.threads = threads;
    options.chunk = chunk;
    motet_context *c = NULL;
    assert_int_equal(motet_context_create(&options, &c), MOTET_OK);
    out->count = 0;
    assert_ok(c, ct_jobs_run(c, SIZE, add, out));
    motet_context_free(c);
}

static const char path[] = MOTET_SOURCE "/tests/golden/ct_jobs.txt";

static int write_file(void)
{
    static results all;
    compute(MOTET_ISA_BASE, 1, 0, &all);
    FILE *file = fopen(path, "w");
    if (!file) return 1;
    fprintf(file, "# Digests of jobs of computed tomography: golden.ct_jobs --write\n");
    for (int i = 0; i < all.count; i++) fprintf(file, "%s %s\n", all.name[i], all.digest[i]);
    return fclose(file) != 0;
}

static void every_run_has_the_golden_bits(void **state)
{
    (void)state;
    static results want, got;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char line[256];
    while (want.count < JOBS && fgets(line, sizeof line, file))
        if (line[0] != '#' &&
            sscanf(line, "%63s %32s", want.name[want.count], want.digest[want.count]) == 2)
            want.count++;
    fclose(file);
    static const struct {
        motet_isa isa;
        int threads;
        int64_t chunk;
    } runs[] = {{MOTET_ISA_BASE, 2, 3},
                {MOTET_ISA_V3, 3, 1},
                {MOTET_ISA_V3, 1, 0},
                {MOTET_ISA_V4, 1, 5},
                {MOTET_ISA_V4, 2, 0}};
    for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
        if (!motet_isa_available(runs[k].isa)) continue;
        compute(runs[k].isa, runs[k].threads, runs[k].chunk, &got);
        assert_int_equal(got.count, want.count);
        for (int i = 0; i < got.count; i++)
            if (strcmp(want.name[i], got.name[i]) || strcmp(want.digest[i], got.digest[i]))
                fail_msg("%s on %s, %d threads: %s, golden %s %s", got.name[i],
                         motet_isa_text(runs[k].isa), runs[k].threads, got.digest[i], want.name[i],
                         want.digest[i]);
    }
}

int main(int count, char **words)
{
    if (count > 1 && !strcmp(words[1], "--write")) return write_file();
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_run_has_the_golden_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
