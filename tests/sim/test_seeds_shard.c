/* Another 500 of the 10,000 seeds: those of MOTET_TEST_SHARD (0 to 19), else of the day. So every
 * seed has its turn within three weeks without anybody waiting for all. */
#include <time.h>

#include "sim/seeds.h"

static void one_digest_or_a_clean_error(void **state)
{
    (void)state;
    const char *named = getenv("MOTET_TEST_SHARD");
    const uint64_t shard = named ? strtoull(named, NULL, 10) : (uint64_t)time(NULL) / 86400;
    printf("shard %llu of 20\n", (unsigned long long)(shard % 20));
    seed_try_all(500 * (shard % 20), 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_digest_or_a_clean_error)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
