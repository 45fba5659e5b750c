#include "support/support.h"

/* The command's own files: they are in no library. */
#include "cli/device_list.c"
#include "cli/suspects.c"

static const int64_t second = 1000000000;

/* Asserts what is left out and how long to wait. */
static void assert_choice(suspects *s, double at, const char *names, double wait)
{
    char out[CHILD_NAMES];
    const int64_t now = (int64_t)(at * 1e9);
    assert_int_equal(suspects_choose(s, out, now), (int64_t)(wait * 1e9));
    assert_string_equal(out, names);
}

static void after(suspects *s, double at, const char *culprit)
{
    suspects_after(s, culprit, (int64_t)(at * 1e9));
}

static void twice_is_too_often(void **state)
{
    (void)state;
    suspects s;
    suspects_list(&s, "sim:0@crash_at_command=9,cpu,cuda:1");
    assert_int_equal(s.count, 2);
    assert_choice(&s, 0, "", 0);
    after(&s, 1, "sim:0");
    assert_choice(&s, 1, "", 0);
    after(&s, 2, "sim:0");
    assert_choice(&s, 2, "sim:0", 0);
    after(&s, 3, NULL); /* killed by somebody */
    assert_choice(&s, 31.9, "sim:0", 0);
    assert_choice(&s, 32, "", 0); /* it is tried again */
    after(&s, 33, "sim:0");
    assert_choice(&s, 33, "sim:0", 0);
}

/* A device that is tried again is not left out for ever when something else ends that process. */
static void others_do_not_end_an_attempt(void **state)
{
    (void)state;
    static const char *const culprits[] = {NULL, "cuda:1"};
    for (int i = 0; i < 2; i++) {
        suspects s;
        suspects_list(&s, "sim:0,cuda:1,cpu");
        after(&s, 0, "sim:0");
        after(&s, 0, "sim:0");
        assert_choice(&s, 30, "", 0);
        after(&s, 40, culprits[i]);
        assert_choice(&s, 40, "sim:0", 0);
        assert_choice(&s, 60, "", 0);
    }
}

static void without_a_device_one_waits(void **state)
{
    (void)state;
    suspects s;
    suspects_list(&s, "sim:0,sim:1");
    after(&s, 0, "sim:0");
    after(&s, 0, "sim:0");
    after(&s, 10, ""); /* nobody knows which */
    assert_choice(&s, 10, "sim:0", 0);
    after(&s, 10, "");
    assert_choice(&s, 10, "sim:0,sim:1", 20);
    assert_choice(&s, 30, "sim:1", 0);
    suspects_list(&s, NULL);
    after(&s, 0, "");
    assert_choice(&s, 0, "", 0);
}

/* What "cuda", "auto" and UUIDs mean is known when a process has told; what is known of a device
 * under one name holds under the other. */
static void names_are_told_by_the_process(void **state)
{
    (void)state;
    suspects s;
    suspects_list(&s, "cuda");
    assert_choice(&s, 0, "", 0);
    suspects_name(&s, "cuda:0", "GPU-1f2e-00");
    suspects_name(&s, "cuda:1", "GPU-1f2e-01");
    suspects_name(&s, "cuda:0", "GPU-1f2e-00"); /* the next process does, too */
    assert_int_equal(s.count, 2);
    after(&s, 0, "cuda:1");
    after(&s, 0, "cuda:1");
    assert_choice(&s, 0, "cuda:1", 0);
    after(&s, 0, "");
    after(&s, 0, "");
    assert_choice(&s, 0, "cuda:0,cuda:1", 30);

    suspects_list(&s, "GPU-1F2E-01,MIG-2,cuda:5/cpu");
    after(&s, 0, "");
    suspects_name(&s, "cuda:1", "GPU-1f2e-01");
    suspects_name(&s, "cuda:3", "GPU-2f");
    suspects_name(&s, "cuda:5", "");
    assert_int_equal(s.count, 3);
    after(&s, 0, "cuda:1");
    assert_choice(&s, 0, "cuda:1", 0);
    after(&s, 0, "");
    assert_choice(&s, 0, "cuda:1,cuda:3,cuda:5", 0); /* the CPU is left */

    suspects_list(&s, "auto,-cuda:1");
    assert_int_equal(s.count, 0);
    assert_int_equal(s.others, 1);
}

/* As many names, as long, as there may be. */
static void all_names_fit(void **state)
{
    (void)state;
    char names[SUSPECTS * 64 + 1] = "", out[CHILD_NAMES];
    for (int i = 0; i < SUSPECTS; i++) {
        if (i) strcat(names, ",");
        for (int k = 0; k < 63; k++) strcat(names, k ? "x" : (char[]){(char)('a' + i), 0});
    }
    suspects s;
    suspects_list(&s, names);
    after(&s, 0, "");
    after(&s, 0, "");
    assert_int_equal(suspects_choose(&s, out, 0), 30 * second);
    assert_string_equal(out, names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(twice_is_too_often), cmocka_unit_test(others_do_not_end_an_attempt),
        cmocka_unit_test(without_a_device_one_waits),
        cmocka_unit_test(names_are_told_by_the_process), cmocka_unit_test(all_names_fit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
