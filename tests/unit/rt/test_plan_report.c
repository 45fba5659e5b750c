/* P7: the report tells plans, bytes moved, memory planned and accounted, and losses. */
#include <jansson.h>
#include <string.h>

#include "support/pipe.h"

static json_t *report_of(motet_context *c)
{
    char *text = NULL;
    assert_ok(c, motet_context_report(c, &text));
    json_t *report = json_loads(text, 0, NULL);
    assert_non_null(report);
    motet_text_free(c, text);
    return report;
}

static int64_t number(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

static const json_t *device(const json_t *report, size_t index)
{
    return json_array_get(json_object_get(report, "devices"), index);
}

static const json_t *plan(const json_t *report, const char *name)
{
    size_t i;
    const json_t *one, *list = json_object_get(json_object_get(report, "plan"), "operations");
    json_array_foreach(list, i, one)
    {
        if (!strcmp(json_string_value(json_object_get(one, "name")), name)) return one;
    }
    fail_msg("no plan of %s", name);
    return NULL;
}

static void plans_and_bytes_are_told(void **state)
{
    (void)state;
    motet_context *c = sim_context(NULL, "sim:0,cpu");
    motet_array *in = toy_array(c, 400, 64, 1), *out = toy_array(c, 400, 64, 2);
    const rt_op op = toy_smooth(in, out), other = toy_update(in, out);
    json_t *r = report_of(c);
    assert_int_equal(json_array_size(json_object_get(json_object_get(r, "plan"), "operations")), 0);
    assert_true(json_is_null(json_object_get(json_object_get(r, "memory"), "planned")));
    assert_int_equal(json_array_size(json_object_get(r, "losses")), 0);
    json_decref(r);
    assert_ok(c, rt_run(c, &op));
    assert_ok(c, rt_run(c, &other));
    c->options.memory = 120000;
    assert_ok(c, rt_run(c, &op));
    r = report_of(c);
    const json_t *p = plan(r, "toy.smooth"), *shares = json_object_get(p, "devices");
    assert_string_equal(json_string_value(json_object_get(p, "mode")), "chunked"); /* the last */
    assert_string_equal(json_string_value(json_object_get(plan(r, "toy.update"), "mode")),
                        "pipelined");
    assert_int_equal(json_array_size(shares), 2);
    const json_t *share = json_array_get(shares, 0);
    assert_string_equal(json_string_value(json_object_get(share, "name")), "sim:0");
    assert_int_equal(number(share, "limit"), 120000);
    assert_true(number(share, "peak_bytes") <= 120000 && number(share, "chunks") > 1);
    sim_counts counts;
    sim_count(c, 0, &counts);
    const json_t *memory = json_object_get(device(r, 0), "memory");
    assert_int_equal(number(device(r, 0), "uploaded"), counts.uploaded);
    assert_int_equal(number(device(r, 0), "downloaded"), counts.downloaded);
    assert_int_equal(number(memory, "accounted"), counts.used_peak);
    assert_true(number(memory, "planned") >= (int64_t)counts.used_peak);
    assert_int_equal(number(device(r, 1), "uploaded"), 0);
    assert_true(json_is_null(json_object_get(device(r, 1), "memory")));
    memory = json_object_get(r, "memory");
    assert_true(number(memory, "planned") >= number(memory, "accounted_peak"));
    json_decref(r);

    motet_context_report_reset(c);
    r = report_of(c);
    assert_int_equal(json_array_size(json_object_get(json_object_get(r, "plan"), "operations")), 0);
    assert_int_equal(number(device(r, 0), "uploaded"), 0);
    assert_int_equal(number(json_object_get(device(r, 0), "memory"), "planned"), 0);
    json_decref(r);
    motet_array_free(in);
    motet_array_free(out);
    motet_context_free(c);
}

/* P2: what a device takes by being open is held there in every plan and account. */
static void what_opening_takes_is_counted(void **state)
{
    (void)state;
    motet_context *c = sim_context(NULL, "sim:0@memory=1M@context=200K");
    motet_device_info info;
    assert_ok(c, motet_context_device(c, 0, &info));
    assert_int_equal(info.memory_context, 200 << 10);
    assert_int_equal(info.memory_free, (1 << 20) - (200 << 10));
    motet_array *in = toy_array(c, 400, 64, 1), *out = toy_array(c, 400, 64, 2);
    const rt_op op = toy_smooth(in, out);
    assert_ok(c, rt_run(c, &op));
    json_t *r = report_of(c);
    const json_t *share = json_array_get(json_object_get(plan(r, "toy.smooth"), "devices"), 0);
    const json_t *memory = json_object_get(device(r, 0), "memory");
    sim_counts counts;
    sim_count(c, 0, &counts);
    assert_int_equal(number(share, "reserved_bytes"), 200 << 10);
    assert_int_equal(number(share, "limit"), 3 << 18); /* three quarters of what is free, with it */
    assert_true(number(share, "peak_bytes") <= 3 << 18);
    assert_true(number(share, "peak_bytes") > (200 << 10) + number(share, "chunk_bytes"));
    assert_int_equal(number(memory, "context"), 200 << 10);
    assert_int_equal(number(memory, "accounted"), (200 << 10) + (int64_t)counts.used_peak);
    assert_true(number(memory, "planned") >= number(memory, "accounted"));
    json_decref(r);
    c->options.memory = 200 << 10; /* nothing is left of it */
    assert_status(c, rt_run(c, &op), MOTET_OVER_BUDGET);
    assert_message(c, "toy.smooth on sim:0: the budget is 204800 bytes", NULL);
    motet_array_free(in);
    motet_array_free(out);
    motet_context_free(c);
}

static void losses_are_told_with_their_reasons(void **state)
{
    (void)state;
    sim_config config;
    sim_config_init(&config);
    config.device[1].fault.lose_at_command = 5;
    motet_context *c = sim_context(&config, "sim:0,sim:1");
    motet_array *in = toy_array(c, 400, 64, 1), *out = toy_array(c, 400, 64, 2);
    const rt_op op = toy_smooth(in, out);
    assert_ok(c, rt_run(c, &op));
    json_t *r = report_of(c);
    const json_t *losses = json_object_get(r, "losses"), *one = json_array_get(losses, 0);
    assert_int_equal(json_array_size(losses), 1);
    assert_string_equal(json_string_value(json_object_get(one, "device")), "sim:1");
    assert_true(strlen(json_string_value(json_object_get(one, "reason"))) > 0);
    assert_int_equal(number(one, "losses"), 1);
    assert_true(json_is_true(json_object_get(one, "lost")));
    assert_true(json_is_null(json_object_get(device(r, 0), "lost")));
    assert_string_equal(json_string_value(json_object_get(device(r, 1), "lost")),
                        json_string_value(json_object_get(one, "reason")));
    json_decref(r);
    motet_array_free(in);
    motet_array_free(out);
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_and_bytes_are_told),
        cmocka_unit_test(what_opening_takes_is_counted),
        cmocka_unit_test(losses_are_told_with_their_reasons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
