#include "support/toy.h"

#include <jansson.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static json_t *report_of(motet_context *c)
{
    char *text = NULL;
    assert_ok(c, motet_context_report(c, &text));
    json_t *report = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(report);
    motet_text_free(c, text);
    return report;
}

static int64_t whole_at(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

static int64_t seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

/* An item ends when `expected` items are in hand at once: a thread each. */
typedef struct meeting {
    atomic_int *arrived, *late;
    int expected;
} meeting;
static const size_t meeting_bytes = sizeof(meeting);
static void meet(const void *p, int64_t begin, int64_t end, void *scratch)
{
    (void)begin, (void)end, (void)scratch;
    const meeting *m = p;
    const int64_t start = seconds();
    for (atomic_fetch_add(m->arrived, 1); atomic_load(m->arrived) < m->expected; sched_yield())
        if (seconds() - start > 20) {
            atomic_fetch_add(m->late, 1);
            return;
        }
}
#if defined(__x86_64__)
static const k_kernel meet_kernel = {
    "meet", &meeting_bytes, {meet, meet, meet}, {meet, meet, meet}};
#else
static const k_kernel meet_kernel = {"meet", &meeting_bytes, {meet}, {meet}};
#endif
static motet_status enqueue_meeting(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    return rt_launch(queue, &meet_kernel, user, chunk->count[0]);
}

/* The `threads` option is obeyed exactly: as many threads meet in one launch, and the report lists
 * what each of them did. With one thread fewer the meeting never happens; with one more, the list
 * is longer. */
static void the_report_shows_every_thread(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 4; threads++) {
        motet_context_options o;
        motet_context_options_init(&o);
        o.threads = threads;
        motet_context *c = NULL;
        assert_int_equal(motet_context_create(&o, &c), MOTET_OK);
        atomic_int arrived = 0, late = 0;
        const meeting m = {&arrived, &late, threads};
        const rt_op op = {.name = "toy.meet",
                          .axes = 1,
                          .extent = {threads},
                          .enqueue = enqueue_meeting,
                          .user = &m};
        const rt_cut cut = {{threads, 1, 1}, 1};
        assert_ok(c, rt_run_cut(c, &op, &cut));
        assert_int_equal(late, 0);
        json_t *report = report_of(c);
        const json_t *device = json_array_get(json_object_get(report, "devices"), 0);
        assert_string_equal(json_string_value(json_object_get(device, "name")), "cpu");
        assert_int_equal(whole_at(device, "threads"), threads);
        assert_int_equal(whole_at(device, "chunks"), 1);
        const json_t *items = json_object_get(device, "items_per_thread");
        assert_int_equal(json_array_size(items), threads);
        for (size_t i = 0; i < json_array_size(items); i++)
            assert_int_equal(json_integer_value(json_array_get(items, i)), 1);
        json_decref(report);
        motet_context_free(c);
    }
}

/* Operations appear by name with what they did; a reset begins anew, devices included. */
static void operations_and_reset(void **state)
{
    (void)state;
    motet_context_options o;
    motet_context_options_init(&o);
    o.threads = 2;
    o.chunk = 2;
    motet_context *c = NULL;
    assert_int_equal(motet_context_create(&o, &c), MOTET_OK);
    motet_array *x = toy_array(c, 9, 4, 1), *y = toy_array(c, 9, 4, 2);
    const rt_op op = toy_smooth(x, y);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 3; i++) assert_ok(c, rt_run(c, &op));
        json_t *report = report_of(c);
        const json_t *rows = json_object_get(report, "operations"), *row = json_array_get(rows, 0);
        assert_int_equal(json_array_size(rows), 1);
        assert_string_equal(json_string_value(json_object_get(row, "name")), "toy.smooth");
        assert_int_equal(whole_at(row, "calls"), 3);
        assert_int_equal(whole_at(row, "chunks"), 15);
        assert_int_equal(whole_at(row, "items"), 108);
        assert_true(json_real_value(json_object_get(row, "seconds")) > 0);
        const json_t *device = json_array_get(json_object_get(report, "devices"), 0);
        const json_t *items = json_object_get(device, "items_per_thread");
        int64_t sum = 0;
        for (size_t i = 0; i < 2; i++) sum += json_integer_value(json_array_get(items, i));
        assert_int_equal(sum, 108);
        assert_int_equal(whole_at(device, "chunks"), 15);
        json_decref(report);
        motet_context_report_reset(c);
    }
    motet_array_free(x);
    motet_array_free(y);
    motet_context_free(c);
}

/* The device list says what there is; asking beyond it is refused. */
static void devices_are_listed(void **state)
{
    (void)state;
    static const char *const names[] = {NULL, "cpu", "auto"};
    for (int i = 0; i < 3; i++) {
        motet_context_options o;
        motet_context_options_init(&o);
        o.devices = names[i];
        o.threads = 3;
        motet_context *c = NULL;
        assert_int_equal(motet_context_create(&o, &c), MOTET_OK);
        assert_int_equal(motet_context_devices(c), 1);
        motet_device_info info;
        assert_ok(c, motet_context_device(c, 0, &info));
        assert_int_equal(info.threads, 3);
        assert_status(c, motet_context_device(c, 1, &info), MOTET_BAD_ARGUMENT);
        assert_status(c, motet_context_device(c, -1, &info), MOTET_BAD_ARGUMENT);
        motet_context_free(c);
    }
}

/* Device lists that name nothing, too much or one twice are refused, and leave nothing open. */
static void wrong_device_lists_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"",        "tpu",      "cpu,",           ",cpu",
                                        "cpu,cpu", "cpu:1",    "cpu:x",          "cpux",
                                        "cpu:",    "cpu,auto", "cpu:99999999999"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        motet_context_options o;
        motet_context_options_init(&o);
        o.devices = names[i];
        motet_context *c = NULL;
        if (motet_context_create(&o, &c) != MOTET_BAD_ARGUMENT) fail_msg("\"%s\"", names[i]);
        assert_null(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_report_shows_every_thread), cmocka_unit_test(operations_and_reset),
        cmocka_unit_test(devices_are_listed), cmocka_unit_test(wrong_device_lists_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
