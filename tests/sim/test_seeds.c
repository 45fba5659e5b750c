/* The first 500 seeds, always the same; with MOTET_TEST_LONG all 10,000. */
#include "sim/seeds.h"

static void one_digest_or_a_clean_error(void **state)
{
    (void)state;
    seed_try_all(0, getenv("MOTET_TEST_LONG") ? 10000 : 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_digest_or_a_clean_error)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
