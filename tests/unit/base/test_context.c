#include "base/fail.h"
#undef fail /* cmocka's word, too */
#include "base/log.h"
#include "support/support.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define refuse(context, status, ...) fail_at((context), (status), "here.c", 12, 0, __VA_ARGS__)

/* Options that cannot be are refused, before anything is made. */
static void bad_options_are_refused(void **state)
{
    (void)state;
    motet_context *c = NULL;
    motet_context_options o;
#define REFUSED(field, value, status)                                                              \
    motet_context_options_init(&o);                                                                \
    o.field = value;                                                                               \
    assert_int_equal(motet_context_create(&o, &c), status);                                        \
    assert_null(c);
    REFUSED(size, 4, MOTET_BAD_ARGUMENT)
    REFUSED(threads, -1, MOTET_BAD_ARGUMENT)
    REFUSED(threads, 4097, MOTET_BAD_ARGUMENT)
    REFUSED(chunk, -1, MOTET_BAD_ARGUMENT)
    REFUSED(chunks_per_device, -1, MOTET_BAD_ARGUMENT)
    REFUSED(chunks_per_device, 1, MOTET_BAD_ARGUMENT)
    REFUSED(verify_fraction, -0.1, MOTET_BAD_ARGUMENT)
    REFUSED(verify_fraction, 1.5, MOTET_BAD_ARGUMENT)
    REFUSED(verify_fraction, NAN, MOTET_BAD_ARGUMENT)
    REFUSED(devices, "cuda:0", MOTET_BAD_ARGUMENT)
    REFUSED(devices, "", MOTET_BAD_ARGUMENT)
    REFUSED(isa, (motet_isa)9, MOTET_UNSUPPORTED)
    REFUSED(host_memory, 100, MOTET_NO_MEMORY)
    REFUSED(allocator.allocate, (void *(*)(size_t, void *))(uintptr_t)1, MOTET_BAD_ARGUMENT)
#undef REFUSED
    motet_context_free(NULL);
}

static void keep_text(motet_log_level level, const char *component, const char *text, void *user)
{
    if (level == MOTET_LOG_ERROR) snprintf(user, 512, "%s: %s", component, text);
}

static void keep_warning(motet_log_level level, const char *component, const char *text, void *user)
{
    (void)component;
    if (level == MOTET_LOG_WARNING) snprintf(user, 512, "%s", text);
}

/* Names and values from files reach the log as one line that steers no terminal. */
static void messages_are_one_printable_line(void **state)
{
    (void)state;
    char text[512] = "";
    motet_context *c = NULL;
    motet_context_options o;
    motet_context_options_init(&o);
    o.log = keep_warning;
    o.log_user = text;
    assert_int_equal(motet_context_create(&o, &c), MOTET_OK);
    log_warning(c, "test", "unit \"%s\"", "\x1b[2Jm\nm\x7f\xc2\xb5");
    assert_string_equal(text, "unit \"?[2Jm?m?\xc2\xb5\"");
    motet_context_free(c);
}

/* A context that cannot be made says why through the log: there is no record to ask. */
static void a_failed_creation_is_explained(void **state)
{
    (void)state;
    char text[512] = "";
    motet_context *c = NULL;
    motet_context_options o;
    motet_context_options_init(&o);
    o.devices = "tpu";
    o.log = keep_text;
    o.log_user = text;
    assert_int_equal(motet_context_create(&o, &c), MOTET_BAD_ARGUMENT);
    assert_non_null(strstr(text, "\"tpu\""));
    assert_non_null(strstr(text, "cpu"));
    o.devices = NULL;
    o.threads = -3;
    assert_int_equal(motet_context_create(&o, &c), MOTET_BAD_ARGUMENT);
    assert_non_null(strstr(text, "threads is -3, expected 0 to 4096"));
    o.threads = 0;
    o.chunk = -7;
    assert_int_equal(motet_context_create(&o, &c), MOTET_BAD_ARGUMENT);
    assert_non_null(strstr(text, "chunk is -7"));
}

/* The record holds the last failure, in one printable line, with place and code. */
static void the_last_failure_is_recorded(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_error e;
    motet_context_error(c, &e);
    assert_int_equal(e.status, MOTET_OK);
    assert_int_equal(refuse(c, MOTET_BAD_DATA, "name is \"a\nb\x1b\", expected %d", 3),
                     MOTET_BAD_DATA);
    motet_context_error(c, &e);
    assert_int_equal(e.status, MOTET_BAD_DATA);
    assert_string_equal(e.message, "name is \"a?b?\", expected 3");
    assert_string_equal(e.file, "here.c");
    assert_int_equal(e.line, 12);
    assert_int_equal(e.device, -1);
    fail_prefix(c, "%s", "scan.npy");
    motet_context_error(c, &e);
    assert_string_equal(e.message, "scan.npy: name is \"a?b?\", expected 3");
    assert_int_equal(e.status, MOTET_BAD_DATA);
    char large[2000];
    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = 0;
    refuse(c, MOTET_IO, "%s", large);
    fail_prefix(c, "%s", large);
    motet_context_error(c, &e);
    assert_int_equal(strlen(e.message), sizeof e.message - 1);
    motet_context_free(c);
}

/* System errors map to the statuses that callers tell apart, and keep their number. */
static void system_errors_are_mapped(void **state)
{
    (void)state;
    motet_context *c = test_context();
    static const struct {
        int number;
        motet_status status;
    } cases[] = {{ENOENT, MOTET_NOT_FOUND},
                 {EEXIST, MOTET_EXISTS},
                 {ENOMEM, MOTET_NO_MEMORY},
                 {ENOSPC, MOTET_IO},
                 {EACCES, MOTET_IO}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(fail_errno_at(c, cases[i].number, "here.c", 1, "a/b: opening"),
                         cases[i].status);
        motet_error e;
        motet_context_error(c, &e);
        assert_int_equal(e.native, cases[i].number);
        assert_memory_equal(e.message, "a/b: opening: ", 14);
        assert_true(strlen(e.message) > 14);
    }
    motet_context_free(c);
}

typedef struct watched {
    int64_t now;
    int calls, stop_at;
    motet_progress last;
} watched;

static int64_t watched_now(void *user) { return ((watched *)user)->now; }

static motet_go watched_progress(const motet_progress *p, void *user)
{
    watched *w = user;
    w->last = *p;
    return ++w->calls == w->stop_at ? MOTET_STOP : MOTET_GO_ON;
}

static motet_context *watched_context(watched *w)
{
    motet_context_options o;
    motet_context_options_init(&o);
    o.clock = (motet_clock){watched_now, w};
    o.progress = watched_progress;
    o.progress_user = w;
    motet_context *c = NULL;
    assert_int_equal(motet_context_create(&o, &c), MOTET_OK);
    return c;
}

/* However often a phase steps, the callback comes every 50 ms of the context's clock, and at the
 * end. */
static void progress_is_rate_limited(void **state)
{
    (void)state;
    watched w = {.now = 1000};
    motet_context *c = watched_context(&w);
    log_phase phase = log_phase_begin(c, "walk", 1000);
    for (int64_t i = 0; i < 1000; i++) { /* 1 ms each */
        assert_ok(c, log_phase_step(&phase, i));
        w.now += 1000000;
    }
    assert_int_equal(w.calls, 20);
    assert_ok(c, log_phase_step(&phase, 1000));
    assert_int_equal(w.last.done, 1000);
    assert_int_equal(w.last.total, 1000);
    assert_string_equal(w.last.phase, "walk");
    assert_true(w.last.seconds > 0.999 && w.last.seconds < 1.001);
    w.calls = 0;
    phase = log_phase_begin(c, "unknown length", 0);
    for (int64_t i = 0; i < 100; i++) assert_ok(c, log_phase_step(&phase, i));
    assert_int_equal(w.calls, 1);
    motet_context_free(c);
}

/* A callback that says stop, and a cancel from anywhere, end the phase; the next one is not
 * touched. */
static void stopping_ends_the_phase_alone(void **state)
{
    (void)state;
    watched w = {.stop_at = 3};
    motet_context *c = watched_context(&w);
    log_phase phase = log_phase_begin(c, "walk", 10);
    motet_status st = MOTET_OK;
    int64_t steps = 0;
    while (st == MOTET_OK && steps < 10) {
        w.now += 60000000;
        st = log_phase_step(&phase, steps++);
    }
    assert_int_equal(st, MOTET_CANCELLED);
    assert_int_equal(steps, 3);
    assert_message(c, "walk", "2 of 10", NULL);
    phase = log_phase_begin(c, "next", 10);
    assert_ok(c, log_phase_step(&phase, 1));
    motet_context_cancel(c);
    assert_status(c, log_phase_step(&phase, 2), MOTET_CANCELLED);
    assert_status(c, log_phase_step(&phase, 2), MOTET_CANCELLED);
    phase = log_phase_begin(c, "third", 10);
    assert_ok(c, log_phase_step(&phase, 1));
    motet_context_free(c);
}

static motet_context *signalled;
static void on_signal(int number)
{
    (void)number;
    motet_context_cancel(signalled);
}

/* Cancelling from a signal handler is legal and seen. */
static void a_signal_handler_may_cancel(void **state)
{
    (void)state;
    motet_context *c = signalled = test_context();
    struct sigaction action = {.sa_handler = on_signal}, former;
    assert_int_equal(sigaction(SIGUSR1, &action, &former), 0);
    log_phase phase = log_phase_begin(c, "walk", 10);
    assert_ok(c, log_phase_step(&phase, 1));
    raise(SIGUSR1);
    assert_status(c, log_phase_step(&phase, 2), MOTET_CANCELLED);
    sigaction(SIGUSR1, &former, NULL);
    motet_context_free(c);
}

static void *fail_often(void *context)
{
    for (int i = 0; i < 2000; i++) refuse(context, MOTET_IO, "number %d of %d", i, 2000);
    return NULL;
}

/* Failures on several threads at once leave a whole record, never a mixture. */
static void records_are_whole_across_threads(void **state)
{
    (void)state;
    motet_context *c = test_context();
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, fail_often, c), 0);
    for (int i = 0; i < 2000; i++) {
        motet_error e;
        motet_context_error(c, &e);
        assert_true(e.status == MOTET_OK ||
                    (e.status == MOTET_IO && strstr(e.message, " of 2000")));
    }
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bad_options_are_refused),
                                       cmocka_unit_test(messages_are_one_printable_line),
                                       cmocka_unit_test(a_failed_creation_is_explained),
                                       cmocka_unit_test(the_last_failure_is_recorded),
                                       cmocka_unit_test(system_errors_are_mapped),
                                       cmocka_unit_test(progress_is_rate_limited),
                                       cmocka_unit_test(stopping_ends_the_phase_alone),
                                       cmocka_unit_test(a_signal_handler_may_cancel),
                                       cmocka_unit_test(records_are_whole_across_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
