/* Solvers whose memory fails, at any allocation. */
#include "base/context.h"
#include "support/ct_solve.h"

typedef motet_status solve_fn(motet_ct_geometry *, const motet_ct_solve_options *,
                              const motet_array *, motet_array *, motet_ct_solve_result *);

/* Whichever allocation fails, the answer is NO_MEMORY, the volume and the result are as they were,
 * nothing is leaked, and the next call is none the worse. A checkpoint that cannot be written is no
 * failure. */
static void any_allocation_may_fail(void **state)
{
    (void)state;
    solve_fn *const solve[] = {motet_ct_cgls, motet_ct_sirt};
    for (int i = 0; i < 4; i++) {
        motet_context *c = test_context_failing(0, 0);
        ct_scan_case s = ct_case_cone(c, 3, 5, 4, 3, i % 2 ? 0.1 : 0.2, 0);
        motet_ct_solve_options o;
        motet_ct_solve_options_init(&o);
        o.iterations = 2;
        o.warm_start = i > 1;
        o.checkpoint = i > 1 ? test_path("memory") : NULL;
        assert_ok(c, solve[i % 2](s.geometry, &o, s.sinogram, s.volume, NULL)); /* scratch stays */
        ct_case_fill(s.volume, 8, 0, 1);
        char before[33], after[33];
        assert_ok(c, motet_array_digest(s.volume, before));
        int64_t refused = 0;
        for (int64_t nth = 1;; nth++) {
            motet_ct_solve_result result = {.iterations = 77};
            motet_memory held, left;
            motet_context_report_reset(c);
            motet_context_trim(c);
            motet_context_memory(c, &held);
            test_context_fail_at(c, nth, 0);
            const motet_status st = solve[i % 2](s.geometry, &o, s.sinogram, s.volume, &result);
            const int failed = test_context_failed(c);
            test_context_fail_at(c, 0, 0);
            motet_context_report_reset(c);
            motet_context_trim(c);
            motet_context_memory(c, &left);
            assert_int_equal(left.blocks, held.blocks);
            assert_int_equal(left.now, held.now);
            if (st == MOTET_OK) {
                assert_int_equal(result.iterations, 2);
                ct_case_fill(s.volume, 8, 0, 1);
                if (failed) continue;
                break;
            }
            assert_true(failed);
            assert_int_equal(st, MOTET_NO_MEMORY);
            assert_int_equal(result.iterations, 77);
            assert_ok(c, motet_array_digest(s.volume, after));
            assert_string_equal(before, after);
            refused++;
        }
        assert_true(refused > 15);
        ct_case_free(&s);
        motet_context_free(c);
    }
}

/* What does not fit the host's bound is refused before anything is computed. */
static void a_bound_is_kept(void **state)
{
    (void)state;
    motet_context *c = test_context();
    ct_scan_case s = ct_case_slices(c, 9, 40, 4, 0);
    motet_memory held;
    motet_context_memory(c, &held);
    c->options.host_memory = held.now + 3 * s.volume->bytes;
    assert_status(c, motet_ct_cgls(s.geometry, NULL, s.sinogram, s.volume, NULL),
                  MOTET_OVER_BUDGET);
    assert_message(c, "ct.cgls", "bytes", NULL);
    c->options.host_memory = 0;
    ct_case_free(&s);
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_allocation_may_fail),
                                       cmocka_unit_test(a_bound_is_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
