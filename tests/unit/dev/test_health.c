#include "kern/health.k.h"
#include "kern/kernel.h"
#include "support/support.h"

static uint64_t digest_by(k_range_fn *range, int64_t step)
{
    uint64_t words[K_HEALTH_ITEMS] = {0};
    const k_health_args args = {words};
    for (int64_t i = 0; i < K_HEALTH_ITEMS; i += step)
        range(&args, i, i + step < K_HEALTH_ITEMS ? i + step : K_HEALTH_ITEMS, NULL);
    return k_health_digest(words);
}

/* Every instruction set this processor runs, in any ranges, and the compiler of this test, give the
 * health kernel's known bits. */
static void health_has_known_bits_everywhere(void **state)
{
    (void)state;
    for (int isa = 0; isa < K_ISAS; isa++) {
        if (!motet_isa_available((motet_isa)(isa + 1))) continue;
        for (int64_t step = 1; step <= K_HEALTH_ITEMS; step = step * 3 + 1) {
            assert_int_equal(digest_by(K_k_health.plain[isa], step), K_HEALTH_EXPECTED);
            assert_int_equal(digest_by(K_k_health.fast[isa], step), K_HEALTH_EXPECTED);
        }
    }
}

/* One wrong bit in one word is seen. */
static void one_wrong_bit_is_seen(void **state)
{
    (void)state;
    uint64_t words[K_HEALTH_ITEMS];
    const k_health_args args = {words};
    K_k_health.plain[K_BASE](&args, 0, K_HEALTH_ITEMS, NULL);
    for (int bit = 0; bit < 64; bit++) {
        words[bit * 7] ^= (uint64_t)1 << bit;
        assert_int_not_equal(k_health_digest(words), K_HEALTH_EXPECTED);
        words[bit * 7] ^= (uint64_t)1 << bit;
    }
    assert_int_equal(k_health_digest(words), K_HEALTH_EXPECTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(health_has_known_bits_everywhere),
                                       cmocka_unit_test(one_wrong_bit_is_seen)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
