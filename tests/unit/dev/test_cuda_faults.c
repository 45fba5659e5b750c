/* What the table of GPUs answers when the driver refuses something, traps, hangs or is not there:
 * the right status, a text that says what, nothing left behind, and the caller's stack of contexts
 * as it was. */
#include <string.h>
#include <time.h>

#include "dev/cuda/cuda.h"
#include "kern/health.k.h"
#include "support/cuda.h"

#define CUDA (&dev_cuda)

enum { MEMORY = 64 << 20, BYTES = K_HEALTH_ITEMS * 8 };

/* The library's calls of dlopen and dlsym come here. */
static const char *library_instead;
static const char *no_symbol;
void *__real_dlopen(const char *file, int mode);
void *__wrap_dlopen(const char *file, int mode);
void *__wrap_dlopen(const char *file, int mode)
{
    return __real_dlopen(library_instead ? library_instead : file, mode);
}
void *__real_dlsym(void *library, const char *name);
void *__wrap_dlsym(void *library, const char *name);
void *__wrap_dlsym(void *library, const char *name)
{
    return no_symbol && !strcmp(name, no_symbol) ? NULL : __real_dlsym(library, name);
}

/* Why there are none, and that opening one says so. */
static void assert_absent(const char *text, const char *other)
{
    motet_context *c = test_context();
    const char *why = cuda_absence(c);
    char uuid[48];
    dev *d = NULL;
    assert_non_null(why);
    if (!strstr(why, text) || !strstr(why, other))
        fail_msg("\"%s\" has not both \"%s\" and \"%s\"", why, text, other);
    assert_int_equal(CUDA->count(c), 0);
    assert_status(c, CUDA->open(c, 0, &d), MOTET_UNSUPPORTED);
    assert_message(c, "cuda:0", why, NULL);
    cuda_uuid(c, 0, uuid);
    assert_string_equal(uuid, "");
    motet_context_free(c);
    cuda_assert_clean();
}

static void what_is_in_the_way_is_said(void **state)
{
    (void)state;
    fake->reset(1, MEMORY, 1);
    library_instead = "libcuda-that-is-not-there.so.1";
    assert_absent("libcuda.so.1", "No such file");
    library_instead = MOTET_SOURCE "/README.md";
    assert_absent("libcuda.so.1", "README.md"); /* a file of that name that is no library */
    library_instead = NULL;
    for (int i = 0; fake->function(i); i++) {
        const char *name = fake->function(i);
        if (!strcmp(name, "cuOccupancyMaxActiveBlocksPerMultiprocessor")) continue; /* not used */
        no_symbol = name;
        assert_absent(name, "too old");
    }
    no_symbol = NULL;
    fake->version(11040);
    assert_absent("11.4", "12.0");
    fake->reset(1, MEMORY, 1);
    fake->refuse("cuInit", 1, 803, 0);
    assert_absent("CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)", "driver");
    fake->refuse("cuInit", 1, 77777, 0);
    assert_absent("(77777)", "driver");
    fake->refuse("cuDriverGetVersion", 1, 999, 0);
    assert_absent("CUDA_ERROR_UNKNOWN (999)", "driver");
    fake->refuse("cuDeviceGetCount", 1, 999, 0);
    assert_absent("CUDA_ERROR_UNKNOWN (999)", "driver");
    fake->refuse("cuGetErrorName", 1, 999, 0);
    fake->refuse("cuInit", 1, 803, 0);
    assert_absent("(803)", "driver");
    fake->reset(0, MEMORY, 1);
    assert_absent("no GPU", "CUDA_VISIBLE_DEVICES");
}

/* All that the table offers, on one device, until something fails. */
typedef struct things {
    dev *d;
    dev_stream *s[2];
    dev_event *e;
    dev_memory m, host;
} things;

static motet_status wait_for(things *t)
{
    for (;;) {
        const uint64_t seen = CUDA->progress(t->d);
        const motet_status st = CUDA->event_poll(t->e);
        if (st != MOTET_BUSY) return st;
        CUDA->doze(t->d, seen, 1000000);
    }
}

static int pop_refused; /* then ours stays on the stack: nobody else can take it off */

#define TRY_IT(call)                                                                               \
    do {                                                                                           \
        const motet_status status_ = (call);                                                       \
        if (!pop_refused) assert_int_equal(fake->depth(), 0);                                      \
        if (status_ != MOTET_OK) return status_;                                                   \
    } while (0)

static motet_status use(motet_context *c, things *t)
{
    motet_device_info info;
    TRY_IT(CUDA->open(c, 0, &t->d));
    TRY_IT(CUDA->info(t->d, &info));
    if (CUDA->health(t->d) != DEV_HEALTH_OK) return MOTET_CHECK_FAILED;
    TRY_IT(CUDA->alloc(t->d, DEV_DEVICE, BYTES, &t->m));
    TRY_IT(CUDA->alloc(t->d, DEV_PINNED, BYTES, &t->host));
    for (int i = 0; i < 2; i++) TRY_IT(CUDA->stream_create(t->d, &t->s[i]));
    TRY_IT(CUDA->event_create(t->d, &t->e));
    const k_health_args args = {t->m.data};
    const dev_launch l = {
        .kernel = &K_k_health, .args = &args, .items = K_HEALTH_ITEMS, .scratch = {64, 64}};
    const dev_rows rows = {t->host.data, t->m.data, 8, 4, 8, 16};
    TRY_IT(CUDA->fill(t->s[0], t->m.data, 0, BYTES));
    TRY_IT(CUDA->launch(t->s[0], &l));
    TRY_IT(CUDA->event_record(t->s[0], t->e));
    TRY_IT(CUDA->stream_wait(t->s[1], t->e));
    TRY_IT(CUDA->copy_rows(t->s[1], &rows));
    TRY_IT(CUDA->copy(t->s[1], t->host.data, t->m.data, BYTES));
    TRY_IT(CUDA->event_record(t->s[1], t->e));
    TRY_IT(wait_for(t));
    return CUDA->stream_poll(t->s[1]);
}

/* As the runtime ends: nothing runs any more, or the device is lost. */
static void put_back(things *t)
{
    if (!t->d) return;
    for (int i = 0; i < 2; i++) {
        while (t->s[i] && CUDA->stream_poll(t->s[i]) == MOTET_BUSY) CUDA->doze(t->d, 0, 10000);
        CUDA->stream_free(t->s[i]);
    }
    CUDA->event_free(t->e);
    CUDA->release(t->d, &t->m);
    CUDA->release(t->d, &t->host);
    CUDA->close(t->d);
}

/* Where a refusal itself says that something stays, or is not looked at. */
static int cleans_up(const char *name)
{
    static const char *const names[] = {"cuMemFree_v2",
                                        "cuMemFreeHost",
                                        "cuStreamDestroy_v2",
                                        "cuEventDestroy_v2",
                                        "cuModuleUnload",
                                        "cuCtxPopCurrent_v2",
                                        "cuDevicePrimaryCtxRelease_v2",
                                        "cuStreamQuery",
                                        "cuCtxPushCurrent_v2"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i])) return 1;
    return 0;
}

/* The nth call of one function is refused. 0: there are not so many. */
static int refuse_one(const char *name, int64_t nth, int result, motet_status wanted)
{
    char call[64];
    things t = {0};
    motet_error error = {0};
    fake->reset(1, MEMORY, (uint64_t)nth);
    motet_context *c = test_context();
    assert_null(cuda_absence(c)); /* the driver has started */
    const int64_t before = fake->calls(name);
    fake->refuse(name, nth, result, 0);
    pop_refused = !strcmp(name, "cuCtxPopCurrent_v2");
    const motet_status st = use(c, &t);
    motet_context_error(c, &error);
    const int reached = fake->calls(name) - before >= nth;
    snprintf(call, sizeof call, "%.*s", (int)(strlen(name) - (strstr(name, "_v2") ? 3 : 0)), name);
    if (!reached) assert_ok(c, st);
    if (st != MOTET_OK) {
        /* health tells that it failed, not why */
        if (st != MOTET_CHECK_FAILED && st != wanted)
            fail_msg("%s refused by %d in call %d: %s, %s", name, result, (int)nth,
                     motet_status_name(st), error.message);
        if (!strstr(error.message, call) && result != 2)
            fail_msg("%s refused by %d in call %d: %s", name, result, (int)nth, error.message);
        assert_non_null(strstr(error.message, "cuda:0"));
    }
    put_back(&t);
    motet_error after;
    motet_context_error(c, &after);
    motet_context_free(c);
    const int ended = fake->calls(name) - before >= nth;
    cuda_assert_no_finding();
    if (!pop_refused) assert_int_equal(fake->depth(), 0);
    pop_refused = 0;
    if (!ended || (!cleans_up(name) && wanted != MOTET_DEVICE_LOST)) cuda_assert_clean();
    return ended;
}

static void every_call_refused(void **state)
{
    (void)state;
    static const struct {
        int result;
        motet_status status;
    } refusals[] = {{1, MOTET_DEVICE_ERROR}, {2, MOTET_NO_MEMORY}, {719, MOTET_DEVICE_LOST}};
    int64_t refused = 0;
    for (int i = 0; fake->function(i); i++)
        for (int k = 0; k < 3; k++)
            /* every one of the first calls, then some: the kernels are found one by one */
            for (int64_t nth = 1;
                 refuse_one(fake->function(i), nth, refusals[k].result, refusals[k].status);
                 nth += nth < 8 ? 1 : 7)
                refused++;
    assert_true(refused > 200);
}

static void every_code_has_its_status(void **state)
{
    (void)state;
    static const int lost[] = {4,   46,  201, 214, 220, 700, 702, 709,
                               710, 714, 715, 716, 717, 718, 719, 999};
    static const int wrong[] = {1, 3, 101, 200, 400, 401, 500, 701, 704, 801, 77777};
    dev_memory m;
    for (int lose = 0; lose < 2; lose++)
        for (size_t i = 0; i < (lose ? sizeof lost : sizeof wrong) / sizeof(int); i++) {
            const int code = lose ? lost[i] : wrong[i];
            char number[16];
            things t = {0};
            fake->reset(1, MEMORY, 1);
            motet_context *c = test_context();
            assert_ok(c, CUDA->open(c, 0, &t.d));
            fake->refuse("cuMemAlloc_v2", 1, code, 0);
            snprintf(number, sizeof number, "(%d)", code);
            assert_status(c, CUDA->alloc(t.d, DEV_DEVICE, 8, &m),
                          lose ? MOTET_DEVICE_LOST : MOTET_DEVICE_ERROR);
            assert_message(c, "cuda:0", "cuMemAlloc", number, NULL);
            if (!lose) assert_ok(c, CUDA->alloc(t.d, DEV_DEVICE, 8, &t.m));
            if (lose) assert_status(c, CUDA->alloc(t.d, DEV_DEVICE, 8, &m), MOTET_DEVICE_LOST);
            put_back(&t);
            motet_context_free(c);
            cuda_assert_no_finding();
            if (!lose) cuda_assert_clean();
        }
}

/* A kernel that traps takes all GPUs of the process along; what asks finds out, one device each. */
static void a_trap_is_seen_everywhere(void **state)
{
    (void)state;
    things t = {0};
    dev *other, *third = NULL;
    dev_memory m;
    motet_device_info info;
    fake->reset(2, MEMORY, 1);
    motet_context *c = test_context();
    assert_ok(c, CUDA->open(c, 1, &other));
    assert_ok(c, use(c, &t));
    fake->trap(1, 719);
    const k_health_args args = {t.m.data};
    const dev_launch l = {.kernel = &K_k_health, .args = &args, .items = K_HEALTH_ITEMS};
    assert_ok(c, CUDA->launch(t.s[0], &l));
    motet_status st;
    while ((st = CUDA->stream_poll(t.s[0])) == MOTET_BUSY) CUDA->doze(t.d, 0, 100000);
    assert_status(c, st, MOTET_DEVICE_LOST);
    assert_message(c, "cuda:0", "CUDA_ERROR_LAUNCH_FAILED (719)", NULL);
    assert_status(c, CUDA->alloc(other, DEV_DEVICE, 8, &m), MOTET_DEVICE_LOST);
    assert_message(c, "cuda:1", "CUDA_ERROR_LAUNCH_FAILED (719)", NULL);
    for (int i = 0; i < 2; i++) {
        dev *d = i ? other : t.d;
        assert_status(c, CUDA->info(d, &info), MOTET_DEVICE_LOST);
        assert_int_equal(CUDA->health(d), DEV_HEALTH_GONE);
        CUDA->doze(d, CUDA->progress(d), 1000000000);
    }
    assert_status(c, CUDA->event_poll(t.e), MOTET_DEVICE_LOST);
    assert_status(c, CUDA->event_record(t.s[0], t.e), MOTET_DEVICE_LOST);
    assert_status(c, CUDA->stream_wait(t.s[0], t.e), MOTET_DEVICE_LOST);
    assert_status(c, CUDA->launch(t.s[0], &l), MOTET_DEVICE_LOST);
    assert_status(c, CUDA->copy(t.s[0], t.host.data, t.m.data, 8), MOTET_DEVICE_LOST);
    assert_status(c, CUDA->fill(t.s[0], t.m.data, 0, 8), MOTET_DEVICE_LOST);
    assert_status(c, CUDA->open(c, 1, &third), MOTET_DEVICE_LOST);
    assert_message(c, "cuda:1", "CUDA_ERROR_LAUNCH_FAILED (719)", NULL);
    put_back(&t);
    CUDA->close(other);
    motet_context_free(c);
    cuda_assert_no_finding();
    assert_int_equal(fake->depth(), 0);
}

/* Nothing waits for a stream that hangs, in whatever order things are given back. */
static void a_hang_is_not_waited_for(void **state)
{
    (void)state;
    for (int order = 0; order < 3; order++) {
        things t = {0};
        fake->reset(1, MEMORY, 1);
        motet_context *c = test_context();
        assert_ok(c, use(c, &t));
        fake->hang(1);
        const k_health_args args = {t.m.data};
        const dev_launch l = {
            .kernel = &K_k_health, .args = &args, .items = K_HEALTH_ITEMS, .scratch = {64, 64}};
        assert_ok(c, CUDA->launch(t.s[0], &l));
        while (!cuda_counts().hung) CUDA->doze(t.d, CUDA->progress(t.d), 100000);
        assert_int_equal(CUDA->stream_poll(t.s[0]), MOTET_BUSY);
        if (order) CUDA->stream_free(t.s[0]);
        CUDA->stream_free(t.s[1]);
        if (order == 2) CUDA->event_free(t.e);
        CUDA->close(t.d);
        CUDA->release(t.d, &t.m); /* what it may touch is given back after the close */
        CUDA->release(t.d, &t.host);
        if (!order) CUDA->stream_free(t.s[0]);
        if (order < 2) CUDA->event_free(t.e);
        motet_context_free(c);
        cuda_assert_no_finding();
        assert_true(cuda_counts().allocations >= 2 && cuda_counts().host_allocations >= 1);
        assert_int_equal(fake->depth(), 0);
    }
}

/* What a stream was left with ended after all: everything is given back. */
static void a_slow_stream_is_given_back(void **state)
{
    (void)state;
    things t = {0};
    fake->reset(1, MEMORY, 1);
    motet_context *c = test_context();
    assert_ok(c, use(c, &t));
    const fake_cuda_counts before = cuda_counts();
    fake->hold(1);
    const k_health_args args = {t.m.data};
    const dev_launch l = {
        .kernel = &K_k_health, .args = &args, .items = K_HEALTH_ITEMS, .scratch = {64, 64}};
    assert_ok(c, CUDA->launch(t.s[0], &l));
    CUDA->stream_free(t.s[0]);
    assert_int_equal(cuda_counts().streams, before.streams);
    fake->hold(0);
    while (cuda_counts().launches == before.launches) CUDA->doze(t.d, CUDA->progress(t.d), 100000);
    t.s[0] = NULL;
    put_back(&t);
    motet_context_free(c);
    cuda_assert_clean();
}

/* Every allocation of the host that fails while a device is opened and used. */
static void host_memory_runs_out(void **state)
{
    (void)state;
    int failed = 1;
    for (int64_t nth = 1; failed; nth++) {
        things t = {0};
        fake->reset(1, MEMORY, 1);
        motet_context *c = test_context_failing(0, 0);
        test_context_fail_at(c, nth, 0);
        const motet_status st = use(c, &t);
        failed = test_context_failed(c);
        test_context_fail_at(c, 0, 0);
        assert_int_equal(st, failed ? MOTET_NO_MEMORY : MOTET_OK);
        put_back(&t);
        motet_context_free(c);
        cuda_assert_clean();
        assert_true(nth < 100);
    }
}

int main(void)
{
    cuda_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_in_the_way_is_said), cmocka_unit_test(every_call_refused),
        cmocka_unit_test(every_code_has_its_status),  cmocka_unit_test(a_trap_is_seen_everywhere),
        cmocka_unit_test(a_hang_is_not_waited_for),   cmocka_unit_test(a_slow_stream_is_given_back),
        cmocka_unit_test(host_memory_runs_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
