#include "support/support.h"

#include <string.h>

/* The command's own file: it is in no library. */
#include "cli/device_list.c"

static void lists_are_well_formed_or_not(void **state)
{
    (void)state;
    static const char *const good[] = {
        "auto",
        "auto,-cuda:1,-GPU-1f",
        "cpu",
        "cuda",
        "cuda:0",
        "cuda:999",
        "cpu,cuda:0,cuda:1",
        "cuda/cpu",
        "cuda:0,-cuda:1/cpu,sim:1",
        "GPU-1",
        "GPU-1f2e3d4c-0011-2233-4455-66778899aabb",
        "MIG-1F2E/cpu",
        "sim:0@seed=3@lose_at_command=7,cpu",
        "-cuda:1,cuda",
    };
    static const char *const bad[] = {
        "",           "gpu",    "cpu,",      ",cpu",
        "cpu,,cpu",   "/cpu",   "cpu/",      "cpu/sim:0/sim:1",
        "cuda:",      "cuda:x", "cuda:0000", "cuda:0=80G",
        "cpu@seed=1", "GPU-",   "GPU-x",     "GPU-1f2e3d4c-0011-2233-4455-66778899aabb0",
        "cpu,auto",   "auto2",  "-auto",     "-",
        "cpu,-",      "--cpu",  "-cpu",      "sim",
        "sim:0=1",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!device_list_good(good[i])) fail_msg("\"%s\"", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (device_list_good(bad[i])) fail_msg("\"%s\"", bad[i]);
}

/* Whose list it is: of the CPU, of GPUs, or for the library to say. */
static void lists_tell_what_they_are_about(void **state)
{
    (void)state;
    static const struct {
        const char *list;
        int automatic, cpu, gpus;
    } rows[] = {
        {"auto", 1, 0, 0},
        {"auto,-cuda:1", 1, 0, 0},
        {"cpu", 0, 1, 0},
        {"sim:0", 0, 0, 0},
        {"sim:0/cpu", 0, 0, 0},
        {"cuda", 0, 0, 1},
        {"cuda:0,cpu", 0, 1, 1},
        {"cuda:0/cpu", 0, 0, 1},
        {"cpu,-cpu,cuda:3", 0, 0, 1},
        {"cpu,-cuda:0", 0, 1, 0},
        {"GPU-1f/cpu", 0, 0, 1},
        {"sim:0/MIG-2,cpu", 0, 0, 1},
        {"sim:0@seed=1,cpu", 0, 1, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(device_list_auto(rows[i].list), rows[i].automatic);
        assert_int_equal(device_list_cpu(rows[i].list), rows[i].cpu);
        assert_int_equal(device_list_gpus(rows[i].list), rows[i].gpus);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists_are_well_formed_or_not),
                                       cmocka_unit_test(lists_tell_what_they_are_about)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
