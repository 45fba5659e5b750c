/* The texts that tell of a context, when memory runs out while they are made: the whole text, or a
 * refusal that leaves nothing behind. JSON values are jansson's own memory, the text is ours. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rt/calibrate.h"
#include "support/pipe.h"

/* Of jansson, for the whole program. */
static struct {
    int64_t calls, nth, blocks;
    int forever;
} values;

static void *values_allocate(size_t bytes)
{
    values.calls++;
    if (values.calls == values.nth || (values.forever && values.calls > values.nth)) return NULL;
    values.blocks++;
    return malloc(bytes);
}

static void values_release(void *block)
{
    if (block) values.blocks--;
    free(block);
}

typedef motet_status tell(motet_context *c, char **text);

static motet_status report(motet_context *c, char **text) { return motet_context_report(c, text); }
static motet_status calibration(motet_context *c, char **text)
{
    return motet_context_calibration(c, "toy.smooth", text);
}

static motet_status keep(motet_context *c)
{
    const rt_calibration r = {
        .operation = "toy.smooth",
        .extent = {40, 13},
        .rows = 40,
        .repeats = 1,
        .devices = 3,
        .device = {{.name = "sim:0", .part = 1, .alone = 2, .weight = 2},
                   {.name = "cpu", .part = 1, .former = 1, .weight = 1},
                   {.name = "sim:3", .former = -1}},
        .trials = 2,
        .trial = {{.share = 1, .seconds = 1, .weight = {2, 1}, .rows = {27, 13}},
                  {.share = 0, .weight = {3}, .rows = {40}, .skipped = "so"}}};
    return rt_calibration_keep(c, &r);
}

/* Two plans, a loss, a calibration. */
static motet_context *eventful(void)
{
    motet_context *c = test_context_failing(0, 0);
    sim_config config;
    sim_config_init(&config);
    config.device[0].fault.lose_at_command = 3;
    assert_ok(c, sim_use(c, &config, "sim:0,cpu,sim:3"));
    for (int which = PIPE_SMOOTH; which <= PIPE_SUM; which++) {
        pipe_case p;
        pipe_case_make(c, which, 40, 13, &p);
        assert_ok(c, rt_run(c, &p.op));
        pipe_case_free(&p);
    }
    assert_int_equal(atomic_load(&c->devices->set[0].lost), 1);
    assert_ok(c, keep(c));
    toy_mistakes();
    return c;
}

/* Up to the process's own memory, which may grow meanwhile. */
static void assert_same_text(const char *a, const char *b)
{
    static const char measured[] = "\"measured_peak\": ";
    const char *x = strstr(a, measured), *y = strstr(b, measured);
    assert_int_equal(x == NULL, y == NULL);
    if (x) {
        assert_int_equal(x - a, y - b);
        assert_memory_equal(a, b, (size_t)(x - a));
        a = x + strlen(measured), b = y + strlen(measured);
        a += strspn(a, "0123456789"), b += strspn(b, "0123456789");
    }
    assert_string_equal(a, b);
}

/* Whichever allocation of a value fails, or of ours, once or from then on. */
static void a_text_is_whole_or_refused(void **state)
{
    (void)state;
    static tell *const texts[] = {report, calibration};
    motet_context *c = eventful();
    for (size_t n = 0; n < sizeof texts / sizeof *texts; n++) {
        char *whole = NULL;
        assert_ok(c, texts[n](c, &whole));
        for (int kind = 0; kind < 4; kind++) {
            const int ours = kind / 2, forever = kind % 2;
            int64_t failures = 0;
            for (int64_t k = 1, over = 0; !over; k++) {
                char *text = NULL;
                values.blocks = 0;
                values.nth = ours ? 0 : values.calls + k;
                values.forever = !ours && forever;
                if (ours) test_context_fail_at(c, k, forever);
                const motet_status st = texts[n](c, &text);
                over = ours ? !test_context_failed(c) : values.calls < values.nth;
                test_context_fail_at(c, 0, 0);
                values.nth = values.forever = 0;
                failures += !over;
                assert_status(c, st, over ? MOTET_OK : MOTET_NO_MEMORY);
                assert_int_equal(text != NULL, over);
                if (text) assert_same_text(text, whole);
                motet_text_free(c, text);
                assert_int_equal(values.blocks, 0);
            }
            assert_true(failures > (ours ? 0 : 40));
        }
        motet_text_free(c, whole);
    }
    motet_context_free(c);
}

/* A calibration is kept whole or not at all, and with it its weights. */
static void a_calibration_is_kept_or_not(void **state)
{
    (void)state;
    for (int forever = 0; forever < 2; forever++)
        for (int64_t k = 1, over = 0; !over; k++) {
            motet_context *c = test_context_failing(0, 0);
            assert_ok(c, sim_use(c, NULL, "sim:0,cpu,sim:3"));
            test_context_fail_at(c, k, forever);
            const motet_status st = keep(c);
            over = !test_context_failed(c);
            test_context_fail_at(c, 0, 0);
            assert_int_equal(st, over ? MOTET_OK : MOTET_NO_MEMORY);
            rt_calibration r;
            assert_int_equal(rt_calibration_of(c, "toy.smooth", &r), over);
            char *text = NULL;
            assert_int_equal(calibration(c, &text), over ? MOTET_OK : MOTET_NOT_FOUND);
            motet_text_free(c, text);
            assert_true(!over || k > 1);
            motet_context_free(c);
        }
}

/* Where no more operations can have weights, the record is refused with them. */
static void a_calibration_without_weights_is_not_kept(void **state)
{
    (void)state;
    motet_context *c = sim_context(NULL, "sim:0,cpu,sim:3");
    for (int i = 0; i < RT_WEIGHTINGS - 1; i++) {
        char name[32];
        snprintf(name, sizeof name, "toy.%d", i);
        assert_ok(c, motet_context_weights(c, name, 3, (double[]){1, 1, 1}));
    }
    assert_int_equal(keep(c), MOTET_BAD_ARGUMENT);
    rt_calibration r;
    assert_int_equal(rt_calibration_of(c, "toy.smooth", &r), 0);
    motet_context_free(c);
}

/* A device that comes back is in the plans that are told from then on; whichever allocation fails
 * then, the plan that was told stays. */
static void plans_of_more_devices_are_told(void **state)
{
    (void)state;
    for (int64_t k = 1, over = 0; !over; k++) {
        motet_context *c = test_context_failing(0, 0);
        assert_ok(c, sim_use(c, NULL, "sim:0,cpu"));
        pipe_case p;
        pipe_case_make(c, PIPE_SMOOTH, 40, 13, &p);
        atomic_store(&c->devices->set[0].lost, 1);
        assert_ok(c, rt_run(c, &p.op));
        atomic_store(&c->devices->set[0].lost, 0);
        test_context_fail_at(c, k, 0);
        const motet_status st = rt_run(c, &p.op);
        over = !test_context_failed(c);
        test_context_fail_at(c, 0, 0);
        assert_true(st == MOTET_OK || !over);
        char *text = NULL;
        assert_ok(c, motet_context_report(c, &text));
        const char *plan = strstr(text, "\"plan\"");
        assert_non_null(plan);
        assert_non_null(strstr(plan, "\"cpu\""));
        if (st == MOTET_OK) assert_non_null(strstr(plan, "\"sim:0\""));
        motet_text_free(c, text);
        pipe_case_free(&p);
        motet_context_free(c);
        toy_mistakes();
    }
}

int main(void)
{
    json_set_alloc_funcs(values_allocate, values_release);
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_text_is_whole_or_refused),
                                       cmocka_unit_test(a_calibration_is_kept_or_not),
                                       cmocka_unit_test(a_calibration_without_weights_is_not_kept),
                                       cmocka_unit_test(plans_of_more_devices_are_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
