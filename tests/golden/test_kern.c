/* Golden digests of every exact function: P1 across instruction sets, compilers and, through
 * tests/gpu, GPUs. With --write the file is written anew: only for an intended change of results.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kern/digest.h"
#include "support/support.h"

enum { ITEMS = 1 << 15 };

typedef struct exact_args {
    int function;
    uint64_t *out;
} exact_args;

typedef void range_fn(const void *args, int64_t begin, int64_t end, void *scratch);
extern range_fn exact_plain_base;
#if defined(__x86_64__)
extern range_fn exact_plain_v3, exact_plain_v4;
#endif

static const struct {
    motet_isa isa;
    const char *name;
    range_fn *run;
} isas[] = {
    {MOTET_ISA_BASE, "base", exact_plain_base},
#if defined(__x86_64__)
    {MOTET_ISA_V3, "v3", exact_plain_v3},
    {MOTET_ISA_V4, "v4", exact_plain_v4},
#endif
};

static const char *const names[] = {
#define X(name, kind, result) #name,
#include "golden/exact_list.h"
#undef X
};
enum { COUNT = sizeof names / sizeof *names };

static int isa_available(motet_isa isa)
{
#if defined(__x86_64__)
    if (isa == MOTET_ISA_V3)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
               __builtin_cpu_supports("bmi2");
    if (isa == MOTET_ISA_V4)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#endif
    return isa == MOTET_ISA_BASE;
}

static uint64_t results[ITEMS];

static void compute(size_t isa, int function, char text[33])
{
    const exact_args args = {function, results};
    memset(results, 0, sizeof results);
    isas[isa].run(&args, 0, ITEMS, NULL);
    const int64_t shape = ITEMS;
    digest_rows s;
    digest_rows_begin(&s, MOTET_I64, 1, &shape);
    digest_rows_add(&s, results, ITEMS, sizeof results[0], sizeof results[0]);
    digest_text(digest_rows_end(&s), text);
}

static const char path[] = MOTET_SOURCE "/tests/golden/kern.txt";

static int write_file(void)
{
    FILE *file = fopen(path, "w");
    if (!file) return 1;
    fprintf(file, "# Digests of %d items of each function of exact_list.h: golden.kern --write\n",
            ITEMS);
    for (int f = 0; f < COUNT; f++) {
        char text[33];
        compute(0, f, text);
        fprintf(file, "%s %s\n", names[f], text);
    }
    return fclose(file) != 0;
}

/* P1: every function has the golden bits on every instruction set that this processor has. */
static void every_isa_has_the_golden_bits(void **state)
{
    (void)state;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    int seen[COUNT] = {0}, wrong = 0;
    char line[256];
    while (fgets(line, sizeof line, file)) {
        char name[64], want[64];
        if (line[0] == '#' || sscanf(line, "%63s %63s", name, want) != 2) continue;
        int f = 0;
        while (f < COUNT && strcmp(names[f], name)) f++;
        if (f == COUNT) {
            print_error("%s is in kern.txt, not in the list\n", name);
            wrong++;
            continue;
        }
        seen[f] = 1;
        for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
            if (!isa_available(isas[i].isa)) continue;
            char got[33];
            compute(i, f, got);
            if (!strcmp(got, want)) continue;
            print_error("%s on %s: %s, golden %s\n", name, isas[i].name, got, want);
            wrong++;
        }
    }
    fclose(file);
    for (int f = 0; f < COUNT; f++)
        if (!seen[f]) {
            print_error("%s has no golden digest\n", names[f]);
            wrong++;
        }
    assert_int_equal(wrong, 0);
}

/* The digest sees a single changed bit of a single item, so that the test above can fail. */
static void one_bit_changes_the_digest(void **state)
{
    (void)state;
    char whole[33], changed[33];
    compute(0, 0, whole);
    const int64_t shape = ITEMS;
    results[ITEMS - 1] ^= 1;
    digest_rows s;
    digest_rows_begin(&s, MOTET_I64, 1, &shape);
    digest_rows_add(&s, results, ITEMS, sizeof results[0], sizeof results[0]);
    digest_text(digest_rows_end(&s), changed);
    assert_string_not_equal(whole, changed);
}

int main(int count, char **words)
{
    if (count > 1 && !strcmp(words[1], "--write")) return write_file();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_isa_has_the_golden_bits),
        cmocka_unit_test(one_bit_changes_the_digest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
