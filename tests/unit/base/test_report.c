#include "base/report.h"

#include "base/log.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static json_t *report_of(motet_context *c)
{
    char *text = NULL;
    assert_ok(c, motet_context_report(c, &text));
    json_t *report = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(report);
    motet_text_free(c, text);
    return report;
}

static double number_at(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

/* Operations of one name are one row; infinite seconds are null; a reset forgets them. */
static void operations_add_up_by_name(void **state)
{
    (void)state;
    motet_context *c = test_context();
    for (int i = 0; i < 40; i++) {
        char name[16];
        snprintf(name, sizeof name, "op.%d", i % 20);
        assert_ok(c, report_operation_begin(c, name));
        report_operation_add(c, name, 2, 100 + i, 0.25);
    }
    assert_ok(c, report_operation_begin(c, "endless"));
    report_operation_add(c, "endless", 1, 1, INFINITY);
    assert_ok(c, report_operation_begin(c, "failed"));
    json_t *report = report_of(c), *rows = json_object_get(report, "operations");
    assert_int_equal(json_array_size(rows), 21);
    json_t *third = json_array_get(rows, 3);
    assert_string_equal(json_string_value(json_object_get(third, "name")), "op.3");
    assert_true(number_at(third, "calls") == 2 && number_at(third, "chunks") == 4);
    assert_true(number_at(third, "items") == 226 && number_at(third, "seconds") == 0.5);
    assert_true(json_is_null(json_object_get(json_array_get(rows, 20), "seconds")));
    json_decref(report);
    motet_context_report_reset(c);
    report_operation_add(c, "op.3", 1, 1, 1); /* begun before the reset: it does not count */
    report = report_of(c);
    assert_int_equal(json_array_size(json_object_get(report, "operations")), 0);
    json_decref(report);
    motet_context_free(c);
}

static void count_lines(motet_log_level level, const char *component, const char *text, void *user)
{
    (void)component, (void)text;
    *(int *)user += level == MOTET_LOG_WARNING;
}

/* A warning that every slab of a run gives is logged the first time only; a reset begins anew. */
static void warnings_are_logged_once(void **state)
{
    (void)state;
    int lines = 0;
    motet_context_options o;
    motet_context_options_init(&o);
    o.log = count_lines;
    o.log_user = &lines;
    motet_context *c = NULL;
    assert_int_equal(motet_context_create(&o, &c), MOTET_OK);
    for (int i = 0; i < 5; i++) log_warning(c, "test", "a wedge of %d degrees", 30);
    assert_int_equal(lines, 1);
    log_warning(c, "test", "a wedge of %d degrees", 40);
    assert_int_equal(lines, 2);
    motet_context_report_reset(c);
    log_warning(c, "test", "a wedge of %d degrees", 30);
    assert_int_equal(lines, 3);
    motet_context_free(c);
}

/* A warning is kept once however often it is said; their number is bounded and the rest counted. */
static void warnings_are_bounded(void **state)
{
    (void)state;
    motet_context *c = test_context();
    for (int i = 0; i < 1000; i++) log_warning(c, "test", "again and again");
    json_t *report = report_of(c);
    assert_int_equal(json_array_size(json_object_get(report, "warnings")), 1);
    json_decref(report);
    for (int i = 0; i < 1000; i++) log_warning(c, "test", "number %d", i);
    log_warning(c, "test", "not UTF-8: \xff");
    report = report_of(c);
    const json_t *texts = json_object_get(report, "warnings");
    assert_int_equal(json_array_size(texts), 101);
    assert_string_equal(json_string_value(json_array_get(texts, 1)), "number 0");
    assert_non_null(strstr(json_string_value(json_array_get(texts, 100)), "902 more"));
    json_decref(report);
    motet_context_report_reset(c);
    log_warning(c, "test", "bad byte \xff");
    report = report_of(c);
    assert_int_equal(json_array_size(json_object_get(report, "warnings")), 1);
    json_decref(report);
    motet_context_free(c);
}

/* Accounted and measured memory: the second is the process's, so at least the first. */
static void memory_is_accounted_and_measured(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_array *a;
    const int64_t bytes = 8 << 20;
    assert_ok(c, motet_array_create(c, MOTET_U8, 1, &bytes, &a));
    motet_array_free(a);
    json_t *report = report_of(c), *memory = json_object_get(report, "memory");
    assert_true(number_at(memory, "accounted_peak") >= (double)bytes);
    assert_true(number_at(memory, "measured_peak") >= (double)bytes);
    json_decref(report);
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_add_up_by_name), cmocka_unit_test(warnings_are_logged_once),
        cmocka_unit_test(warnings_are_bounded), cmocka_unit_test(memory_is_accounted_and_measured)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
