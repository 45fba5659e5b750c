#include "rt/device_names.h"

#include <stdio.h>
#include <string.h>

#include "support/sim.h"

/* What a list means, as "sim:0 sim:1 / cpu:0". */
static motet_status read_list(motet_context *c, const char *names, char out[256])
{
    rt_named named[RT_DEVICES];
    int count = 0, fallbacks = 0;
    const motet_status st = rt_device_names(c, names, named, &count);
    *out = 0;
    for (int i = 0; st == MOTET_OK && i < count; i++) {
        const size_t n = strlen(out);
        snprintf(out + n, 256 - n, "%s%s%s:%d", i ? " " : "",
                 named[i].fallback && !fallbacks ? "/ " : "", named[i].table->name,
                 named[i].number);
        fallbacks |= named[i].fallback;
    }
    return st;
}

static void lists_are_read(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"cpu", "cpu:0"},
        {"sim:1,cpu,sim:0", "sim:1 cpu:0 sim:0"},
        {"sim:0/cpu", "sim:0 / cpu:0"},
        {"sim:0,sim:3/cpu,sim:1", "sim:0 sim:3 / cpu:0 sim:1"},
        {"sim:0@seed=3/cpu", "sim:0 / cpu:0"},
        {"sim:0,sim:1/cpu,-sim:1", "sim:0 / cpu:0"},
        {"-sim:0,sim:0,cpu", "cpu:0"},
        {"sim:0,-sim:0/cpu", "/ cpu:0"},
        {"sim:0/cpu,-cpu", "sim:0"},
        {"sim:0,-sim:7", "sim:0"},
    };
    motet_context *c = test_context();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char got[256];
        assert_ok(c, read_list(c, rows[i][0], got));
        assert_string_equal(got, rows[i][1]);
    }
    motet_context_free(c);
}

/* What is no list says so, with the list or the name in question. */
static void what_is_no_list_is_refused(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"", "devices is \"\", expected cpu, auto, cuda"},
        {"cpu,", "devices is \"cpu,\", expected"},
        {",cpu", "expected"},
        {"cpu/", "expected"},
        {"/cpu", "expected"},
        {"sim:0/cpu/sim:1", "expected"},
        {"sim:0,-", "expected"},
        {"sim:0,-tpu", "expected"},
        {"sim:0,auto", "expected"},
        {"GPU-", "expected"},
        {"cuda:", "expected"},
        {"cuda:x", "expected"},
        {"cpu@seed=1", "expected"},
        {"sim:0,cpu,sim:0", "devices names sim:0 twice"},
        {"cpu/cpu", "devices names cpu twice"},
        {"sim:0,-sim:0", "devices is \"sim:0,-sim:0\", which leaves no device"},
    };
    motet_context *c = test_context();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char got[256];
        assert_status(c, read_list(c, rows[i][0], got), MOTET_BAD_ARGUMENT);
        assert_message(c, rows[i][1], NULL);
    }
    motet_context_free(c);
}

/* Where a GPU is named and there is none, the message says which name, why, and what does without.
 */
static void a_gpu_that_is_not_there_is_refused_with_the_reason(void **state)
{
    (void)state;
    static const char *const names[] = {"cuda:0", "cuda:12", "cuda", "GPU-1f2e", "cpu,cuda:1"};
    motet_context *c = test_context();
    char absence[160] = "?";
    if (motet_context_gpus(c, absence)) {
        print_message("skipped: there are GPUs\n");
        motet_context_free(c);
        skip();
    }
    assert_true(strlen(absence) > 10);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char got[256];
        const char *gpu = strncmp(names[i], "cpu,", 4) ? names[i] : names[i] + 4;
        char expected[64];
        snprintf(expected, sizeof expected, "devices names %s, but there is no GPU to use: ", gpu);
        assert_status(c, read_list(c, names[i], got), MOTET_BAD_ARGUMENT);
        assert_message(c, expected, absence, "; cpu and auto do without", NULL);
    }
    char got[256];
    assert_ok(c, read_list(c, "auto", got));
    assert_string_equal(got, "cpu:0");
    assert_ok(c, read_list(c, "auto,-cuda:1,-cuda", got)); /* they need not be there */
    assert_string_equal(got, "cpu:0");
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_read),
        cmocka_unit_test(what_is_no_list_is_refused),
        cmocka_unit_test(a_gpu_that_is_not_there_is_refused_with_the_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
