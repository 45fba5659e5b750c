/* One answer, whenever a device is lost, for every form of operation. */
#include "sim/forms.h"

/* The device that has most to do is lost at its commands, and at its calls, one after the other;
 * then another run goes well, too. Of many, some are left out, but for MOTET_TEST_LONG. */
static void lost_anywhere(void **state)
{
    (void)state;
    const int all = getenv("MOTET_TEST_LONG") != NULL;
    for (int which = 0; which < TOY_FORMS; which++)
        for (int kind = 0; kind < 2; kind++)
            for (int set = 1; set < SETS; set++) {
                const int victim = strstr(sets[set], "sim:")[4] - '0';
                for (int64_t k = 1, over = 0; !over; k += all ? 1 : 1 + k / (set == 1 ? 40 : 5)) {
                    sim_config config;
                    unlike(&config, (uint64_t)k);
                    sim_fault *fault = &config.device[victim].fault;
                    *(kind ? &fault->lose_at_command : &fault->lose_at_call) = k;
                    motet_context *c = sim_context(&config, sets[set]);
                    const rt_run_options o = {.cut = {{6, 5}, 11}};
                    assert_ok(c, attempt(c, (toy_which)which, 0, &o));
                    sim_counts counts;
                    sim_count(c, victim, &counts);
                    over = !counts.losses;
                    if (k % 4 == 0) assert_ok(c, attempt(c, (toy_which)which, 0, &o));
                    toy_mistakes(); /* kernels that a loss cuts short see memory that is gone */
                    motet_context_free(c);
                    assert_true(k < 5000);
                }
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lost_anywhere)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
