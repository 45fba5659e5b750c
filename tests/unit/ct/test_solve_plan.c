/* What a solver takes is said before it runs, and is what it takes. */
#include "base/fail.h"

#include <jansson.h>

#include "support/ct_solve.h"
#include "support/sim.h"

typedef motet_status solve_fn(motet_ct_geometry *, const motet_ct_solve_options *,
                              const motet_array *, motet_array *, motet_ct_solve_result *);
static solve_fn *const solve[] = {motet_ct_cgls, motet_ct_sirt};
static const motet_ct_operation operation[] = {MOTET_CT_CGLS, MOTET_CT_SIRT};

static json_t *plan_of(ct_scan_case *s, int method, const motet_plan_options *o)
{
    char *text = NULL;
    assert_ok(s->context, motet_ct_plan(s->geometry, operation[method], o, &text));
    json_t *plan = json_loads(text, 0, NULL);
    assert_non_null(plan);
    motet_text_free(s->context, text);
    return plan;
}

static int64_t whole(json_t *o, const char *name)
{
    assert_true(json_is_integer(json_object_get(o, name)));
    return json_integer_value(json_object_get(o, name));
}

static ct_scan_case case_of(motet_context *c, int which)
{
    return which ? ct_case_cone(c, 20, 24, 20, 17, which == 2 ? 0.2 : 0, 0)
                 : ct_case_slices(c, 20, 24, 16, 0);
}

/* Host bytes: never more than was said, scratch of kernels included, and all of the arrays. */
static void host_bytes_are_those_of_the_plan(void **state)
{
    (void)state;
    for (int k = 0; k < 12; k++) {
        const int method = k % 2, which = k / 2 % 3, keeps = k / 6;
        motet_context *c = test_context();
        ct_scan_case s = case_of(c, which);
        motet_plan_options o;
        motet_plan_options_init(&o);
        o.checkpoint = keeps;
        json_t *plan = plan_of(&s, method, &o);
        motet_ct_solve_options options;
        motet_ct_solve_options_init(&options);
        options.iterations = 3;
        options.checkpoint = keeps ? test_path("plan") : NULL;
        motet_memory before, after;
        motet_context_trim(c);
        motet_context_memory(c, &before);
        assert_ok(c, solve[method](s.geometry, &options, s.sinogram, s.volume, NULL));
        motet_context_memory(c, &after);
        const int64_t said = whole(plan, "host_bytes");
        const int64_t took = (int64_t)(after.peak - before.now);
        if (took > said + 32768 || took < whole(plan, "held_bytes") * 9 / 10)
            fail_msg("case %d took %lld bytes, %lld were planned", k, (long long)took,
                     (long long)said);
        assert_true(json_array_size(json_object_get(plan, "operations")) == (method ? 4 : 7));
        json_decref(plan);
        ct_case_free(&s);
        motet_context_free(c);
    }
}

/* Bytes of a device: with no more than was said all arrays may stay there, and do. */
static void device_bytes_are_within_the_plan(void **state)
{
    (void)state;
    for (int k = 0; k < 6; k++) {
        const int method = k % 2, which = k / 2;
        motet_context *c = sim_context(NULL, "sim:0");
        ct_scan_case s = case_of(c, which);
        motet_context_trim(c);
        json_t *plan = plan_of(&s, method, NULL);
        json_t *device = json_array_get(json_object_get(plan, "devices"), 0);
        const int64_t said = whole(device, "peak_bytes");
        c->options.memory = (uint64_t)said; /* idle memory makes room */
        motet_ct_solve_options options;
        motet_ct_solve_options_init(&options);
        options.iterations = 3;
        assert_ok(c, solve[method](s.geometry, &options, s.sinogram, s.volume, NULL));
        sim_counts counts;
        sim_count(c, 0, &counts);
        const int64_t took = (int64_t)counts.used_peak;
        if (took > said || took < said / 2)
            fail_msg("case %d took %lld bytes, %lld were planned", k, (long long)took,
                     (long long)said);
        assert_clean(c);
        json_decref(plan);
        ct_case_free(&s);
        motet_context_free(c);
    }
}

/* Down to the least: what is planned runs within that, and what is refused would not run. */
static void what_fits_by_the_plan_runs(void **state)
{
    (void)state;
    for (int method = 0; method < 2; method++) {
        int fit = 0, refused = 0;
        for (int64_t memory = 80000; memory > 900; memory /= 2) {
            motet_context *c = sim_context(NULL, "sim:0");
            ct_scan_case s = ct_case_cone(c, 10, 12, 10, 9, 0, CT_CASE_RANDOM);
            c->options.memory = (uint64_t)memory;
            char *text = NULL;
            const motet_status planned = motet_ct_plan(s.geometry, operation[method], NULL, &text);
            motet_text_free(c, text);
            motet_ct_solve_options o;
            motet_ct_solve_options_init(&o);
            o.iterations = 2;
            const motet_status st = solve[method](s.geometry, &o, s.sinogram, s.volume, NULL);
            assert_int_equal(st, planned);
            sim_counts counts;
            sim_count(c, 0, &counts);
            assert_true(counts.used_peak <= (uint64_t)memory);
            fit += st == MOTET_OK;
            refused += st == MOTET_OVER_BUDGET;
            ct_case_free(&s);
            motet_context_free(c);
        }
        assert_true(fit > 3 && refused > 0);
    }
}

/* A bound that is too small is told of by the plan as by the run. */
static void a_small_bound_is_refused(void **state)
{
    (void)state;
    motet_context *c = test_context();
    ct_scan_case s = case_of(c, 1);
    motet_plan_options o;
    motet_plan_options_init(&o);
    o.host_memory = s.volume->bytes;
    char *text = NULL;
    assert_status(c, motet_ct_plan(s.geometry, MOTET_CT_CGLS, &o, &text), MOTET_OVER_BUDGET);
    assert_null(text);
    ct_case_free(&s);
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(host_bytes_are_those_of_the_plan),
                                       cmocka_unit_test(device_bytes_are_within_the_plan),
                                       cmocka_unit_test(what_fits_by_the_plan_runs),
                                       cmocka_unit_test(a_small_bound_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
