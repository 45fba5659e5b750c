/* Every entry of the table of GPUs, with the driver that has none: what dev.h says of it holds, and
 * the caller's own use of CUDA is not disturbed. */
#include <string.h>
#include <time.h>

#include "dev/cuda/cuda.h"
#include "kern/health.k.h"
#include "support/cuda.h"

#define CUDA (&dev_cuda)

enum { DEVICES = 2, MEMORY = 64 << 20, WORDS_BYTES = K_HEALTH_ITEMS * 8 };

static motet_context *with_device(int number, uint64_t seed, dev **d)
{
    fake->reset(DEVICES, MEMORY, seed);
    motet_context *c = test_context();
    assert_ok(c, CUDA->open(c, number, d));
    return c;
}

static void without_device(motet_context *c, dev *d)
{
    CUDA->close(d);
    motet_context_free(c);
    cuda_assert_clean();
}

static void wait_for(motet_context *c, dev *d, dev_event *e)
{
    for (;;) {
        const uint64_t seen = CUDA->progress(d);
        const motet_status st = CUDA->event_poll(e);
        if (st == MOTET_OK) return;
        assert_status(c, st, MOTET_BUSY);
        CUDA->doze(d, seen, 1000000000);
    }
}

static void wait_empty(motet_context *c, dev *d, dev_stream *s)
{
    for (;;) {
        const uint64_t seen = CUDA->progress(d);
        const motet_status st = CUDA->stream_poll(s);
        if (st == MOTET_OK) return;
        assert_status(c, st, MOTET_BUSY);
        CUDA->doze(d, seen, 1000000000);
    }
}

static void the_device_describes_itself(void **state)
{
    (void)state;
    dev *d, *none = NULL;
    motet_context *c = with_device(1, 1, &d);
    motet_device_info info;
    char uuid[48];
    int64_t items[4];
    assert_null(cuda_absence(c));
    assert_int_equal(CUDA->count(c), DEVICES);
    assert_status(c, CUDA->open(c, DEVICES, &none), MOTET_BAD_ARGUMENT);
    assert_message(c, "cuda:2", "2 GPUs", NULL);
    assert_ok(c, CUDA->info(d, &info));
    assert_string_equal(info.name, "cuda:1");
    assert_non_null(strstr(info.description, "Fake GPU 1"));
    assert_non_null(strstr(info.description, "9.0"));
    assert_int_equal(info.memory_total, MEMORY);
    assert_true(info.memory_free > 0 && info.memory_free < MEMORY);
    cuda_uuid(c, 1, uuid);
    assert_string_equal(uuid, "GPU-a1b2c3d4-e5f6-0718-293a-4b5c6d7e8fa0");
    cuda_uuid(c, 2, uuid);
    assert_string_equal(uuid, "");
    assert_int_equal(CUDA->health(d), DEV_HEALTH_OK);
    fake->wrong_health(1, 1);
    assert_int_equal(CUDA->health(d), DEV_HEALTH_LOST);
    assert_int_equal(CUDA->health(d), DEV_HEALTH_OK);
    assert_int_equal(CUDA->share(d, items, 4), 0);
    assert_false(d->host_visible);
    without_device(c, d);
}

static void memory_of_each_kind(void **state)
{
    (void)state;
    static const dev_memory_kind kinds[] = {DEV_DEVICE, DEV_PINNED, DEV_HOST};
    dev *d;
    motet_context *c = with_device(0, 1, &d);
    const fake_cuda_counts before = cuda_counts();
    for (int i = 0; i < 3; i++) {
        dev_memory m, other;
        assert_ok(c, CUDA->alloc(d, kinds[i], 1000, &m));
        assert_int_equal(m.bytes, 1000);
        assert_int_equal(m.epoch, d->epoch);
        assert_int_equal((uintptr_t)m.data % 16, 0);
        if (kinds[i] != DEV_DEVICE) memset(m.data, 1, 1000);
        const fake_cuda_counts now = cuda_counts();
        assert_int_equal(now.allocations - before.allocations, kinds[i] == DEV_DEVICE);
        assert_int_equal(now.host_allocations - before.host_allocations, kinds[i] == DEV_PINNED);
        CUDA->memory_name(d, &m, "a test");
        CUDA->host_access(d, m.data, 1000, 1);
        if (kinds[i] == DEV_DEVICE) {
            assert_status(c, CUDA->alloc(d, kinds[i], MEMORY, &other), MOTET_NO_MEMORY);
            assert_message(c, "cuda:0", "67108864 bytes", NULL);
        }
        CUDA->release(d, &m);
        assert_null(m.data);
        CUDA->release(d, &m);
    }
    assert_int_equal(cuda_counts().used[0], before.used[0]);
    without_device(c, d);
}

/* Three streams: fill and upload, compute, download, ordered by events alone, in the orders of many
 * seeds. */
static void events_order_streams(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        dev *d;
        motet_context *c = with_device(0, seed, &d);
        dev_stream *s[3];
        dev_event *e[3];
        dev_memory words, other, host;
        for (int i = 0; i < 3; i++) {
            assert_ok(c, CUDA->stream_create(d, &s[i]));
            assert_ok(c, CUDA->event_create(d, &e[i]));
        }
        assert_ok(c, CUDA->alloc(d, DEV_DEVICE, WORDS_BYTES, &words));
        assert_ok(c, CUDA->alloc(d, DEV_DEVICE, WORDS_BYTES, &other));
        assert_ok(c, CUDA->alloc(d, DEV_PINNED, WORDS_BYTES, &host));
        memset(host.data, 3, WORDS_BYTES);
        for (int round = 0; round < 3; round++) {
            const k_health_args args = {words.data};
            const dev_launch launch = {
                .kernel = &K_k_health, .args = &args, .items = K_HEALTH_ITEMS};
            if (round) assert_ok(c, CUDA->stream_wait(s[0], e[2]));
            assert_ok(c, CUDA->fill(s[0], words.data, 9, WORDS_BYTES));
            assert_ok(c, CUDA->event_record(s[0], e[0]));
            assert_ok(c, CUDA->stream_wait(s[1], e[0]));
            assert_ok(c, CUDA->launch(s[1], &launch));
            assert_ok(c, CUDA->copy(s[1], other.data, words.data, WORDS_BYTES));
            assert_ok(c, CUDA->event_record(s[1], e[1]));
            assert_ok(c, CUDA->stream_wait(s[2], e[1]));
            assert_ok(c, CUDA->copy(s[2], host.data, other.data, WORDS_BYTES));
            assert_ok(c, CUDA->event_record(s[2], e[2]));
            wait_for(c, d, e[2]);
            assert_int_equal(k_health_digest(host.data), K_HEALTH_EXPECTED);
        }
        for (int i = 0; i < 3; i++) {
            CUDA->stream_drop(s[i]);
            wait_empty(c, d, s[i]);
            CUDA->stream_free(s[i]);
            CUDA->event_free(e[i]);
        }
        CUDA->stream_free(NULL);
        CUDA->event_free(NULL);
        CUDA->release(d, &words);
        CUDA->release(d, &other);
        CUDA->release(d, &host);
        without_device(c, d);
    }
}

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Polls tell and never wait; who dozes sleeps as long as told, or until something ends. */
static void polling_never_waits(void **state)
{
    (void)state;
    dev *d;
    motet_context *c = with_device(0, 4, &d);
    dev_stream *s;
    dev_event *e;
    dev_memory m;
    assert_ok(c, CUDA->stream_create(d, &s));
    assert_ok(c, CUDA->event_create(d, &e));
    assert_ok(c, CUDA->alloc(d, DEV_DEVICE, 1000, &m));
    assert_ok(c, CUDA->event_poll(e)); /* never recorded */
    assert_ok(c, CUDA->stream_poll(s));
    fake->hold(1);
    assert_ok(c, CUDA->fill(s, m.data, 1, 1000));
    assert_ok(c, CUDA->event_record(s, e));
    const uint64_t seen = CUDA->progress(d);
    assert_int_equal(CUDA->event_poll(e), MOTET_BUSY);
    assert_int_equal(CUDA->stream_poll(s), MOTET_BUSY);
    const int64_t begin = now();
    CUDA->doze(d, seen, 3000000);
    assert_true(now() - begin >= 3000000);
    assert_int_equal(CUDA->progress(d), seen);
    fake->hold(0);
    CUDA->doze(d, seen, 60000000000); /* far beyond this test's patience */
    assert_true(CUDA->progress(d) > seen);
    assert_ok(c, CUDA->event_poll(e));
    wait_empty(c, d, s);
    CUDA->event_free(e);
    CUDA->stream_free(s);
    CUDA->release(d, &m);
    without_device(c, d);
}

/* Rows of any pitch, also those that the driver does not take. */
static void rows_are_copied_exactly(void **state)
{
    (void)state;
    enum { BYTES = 4096 };
    static const struct {
        size_t bytes, rows, to, from;
    } cases[] = {{5, 7, 16, 9}, {16, 4, 16, 16}, {8, 3, 100, 8}, {40, 1, 0, 0},
                 {8, 5, 8, 3},  {8, 5, 24, 0},   {0, 5, 8, 8},   {8, 0, 8, 8}};
    dev *d;
    motet_context *c = with_device(0, 5, &d);
    dev_stream *s;
    dev_memory device, host;
    assert_ok(c, CUDA->stream_create(d, &s));
    assert_ok(c, CUDA->alloc(d, DEV_DEVICE, BYTES, &device));
    assert_ok(c, CUDA->alloc(d, DEV_PINNED, 2 * BYTES, &host));
    unsigned char *in = host.data, *out = in + BYTES, want[BYTES];
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        for (int i = 0; i < BYTES; i++) in[i] = (unsigned char)(7 * i + (int)k);
        memset(want, 0xee, BYTES);
        for (size_t i = 0; i < cases[k].rows; i++)
            memcpy(want + i * cases[k].to, in + i * cases[k].from, cases[k].bytes);
        const dev_rows rows = {device.data,   in,          cases[k].bytes,
                               cases[k].rows, cases[k].to, cases[k].from};
        assert_ok(c, CUDA->fill(s, device.data, 0xee, BYTES));
        assert_ok(c, CUDA->copy_rows(s, &rows));
        assert_ok(c, CUDA->copy(s, out, device.data, BYTES));
        wait_empty(c, d, s);
        assert_memory_equal(out, want, BYTES);
    }
    assert_ok(c, CUDA->copy(s, out, device.data, 0));
    assert_ok(c, CUDA->fill(s, device.data, 0, 0));
    CUDA->stream_free(s);
    CUDA->release(d, &device);
    CUDA->release(d, &host);
    without_device(c, d);
}

/* A stream that outgrows its scratch keeps it while commands of it use it: another stream gets some
 * of its own. What no stream uses any more is used again. */
static void scratch_belongs_to_one_stream(void **state)
{
    (void)state;
    dev *d;
    motet_context *c = with_device(0, 6, &d);
    dev_stream *s[2];
    dev_memory words;
    for (int i = 0; i < 2; i++) assert_ok(c, CUDA->stream_create(d, &s[i]));
    assert_ok(c, CUDA->alloc(d, DEV_DEVICE, WORDS_BYTES, &words));
    const k_health_args args = {words.data};
    dev_launch l = {.kernel = &K_k_health, .args = &args, .items = K_HEALTH_ITEMS};
    fake->hold(1);
    static const struct {
        int stream;
        size_t bytes;
        int fresh;
    } steps[] = {{0, 100, 1}, {0, 1000, 1}, {0, 500, 0}, {1, 100, 1}, {1, 128, 0}, {0, 1000, 0}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const int64_t before = cuda_counts().allocations;
        l.scratch.plain = steps[i].bytes;
        assert_ok(c, CUDA->launch(s[steps[i].stream], &l));
        assert_int_equal(cuda_counts().allocations - before, steps[i].fresh);
    }
    fake->hold(0);
    for (int i = 0; i < 2; i++) {
        wait_empty(c, d, s[i]);
        CUDA->stream_free(s[i]);
    }
    const int64_t before = cuda_counts().allocations;
    assert_ok(c, CUDA->stream_create(d, &s[0]));
    assert_ok(c, CUDA->launch(s[0], &l));
    assert_int_equal(cuda_counts().allocations, before);
    assert_true(CUDA->trim(d) > 0); /* what no stream has; the other goes with its stream */
    assert_int_equal(CUDA->trim(d), 0);
    wait_empty(c, d, s[0]);
    CUDA->stream_free(s[0]);
    assert_true(CUDA->trim(d) > 0);
    assert_int_equal(CUDA->trim(d), 0);
    CUDA->release(d, &words);
    without_device(c, d);
}

/* A kernel that the image lacks is refused, and launches of nothing do nothing. */
static void unknown_kernels_are_refused(void **state)
{
    (void)state;
    dev *d;
    motet_context *c = with_device(0, 7, &d);
    dev_stream *s;
    assert_ok(c, CUDA->stream_create(d, &s));
    static const size_t bytes = 8;
    static const k_kernel kernel = {.name = "no_such_kernel", .args_bytes = &bytes};
    const uint64_t args = 0;
    dev_launch l = {.kernel = &kernel, .args = &args, .items = 1};
    assert_status(c, CUDA->launch(s, &l), MOTET_INTERNAL);
    assert_message(c, "no_such_kernel", NULL);
    l.kernel = &K_k_health;
    l.items = 0;
    const int64_t before = fake->calls("cuLaunchKernel");
    assert_ok(c, CUDA->launch(s, &l));
    assert_int_equal(fake->calls("cuLaunchKernel"), before);
    CUDA->stream_free(s);
    without_device(c, d);
}

static void peers_reach_each_other(void **state)
{
    (void)state;
    dev *d[2];
    motet_context *c = with_device(0, 8, &d[0]);
    dev_stream *s;
    dev_memory m[2], host;
    assert_ok(c, CUDA->open(c, 1, &d[1]));
    assert_ok(c, CUDA->peer(d[0], d[0]));
    for (int i = 0; i < 2; i++) {
        assert_ok(c, CUDA->peer(d[0], d[1])); /* also when they do already */
        assert_ok(c, CUDA->alloc(d[i], DEV_DEVICE, 1000, &m[i]));
    }
    assert_ok(c, CUDA->alloc(d[0], DEV_PINNED, 1000, &host));
    assert_ok(c, CUDA->stream_create(d[0], &s));
    memset(host.data, 5, 1000);
    assert_ok(c, CUDA->copy(s, m[1].data, host.data, 1000));
    assert_ok(c, CUDA->copy(s, m[0].data, m[1].data, 1000));
    assert_ok(c, CUDA->fill(s, m[1].data, 6, 500));
    assert_ok(c, CUDA->copy(s, host.data, m[0].data, 1000));
    wait_empty(c, d[0], s);
    for (int i = 0; i < 1000; i++) assert_int_equal(((char *)host.data)[i], 5);
    CUDA->stream_free(s);
    for (int i = 0; i < 2; i++) CUDA->release(d[i], &m[i]);
    CUDA->release(d[0], &host);
    CUDA->close(d[1]);
    without_device(c, d[0]);
}

/* Another user of CUDA in the process: what is current on the thread stays so over every entry, and
 * its share of the device's context outlives ours. */
static void the_callers_context_stays(void **state)
{
    (void)state;
    dev *d;
    void *primary, *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    int (*init)(unsigned), (*retain)(void **, int), (*release)(int), (*push)(void *),
        (*pop)(void **);
    const struct {
        void *to;
        const char *name;
    } all[] = {{&init, "cuInit"},
               {&retain, "cuDevicePrimaryCtxRetain"},
               {&release, "cuDevicePrimaryCtxRelease_v2"},
               {&push, "cuCtxPushCurrent_v2"},
               {&pop, "cuCtxPopCurrent_v2"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        void *at = dlsym(library, all[i].name);
        memcpy(all[i].to, &at, sizeof at);
    }
    fake->reset(DEVICES, MEMORY, 9);
    assert_int_equal(init(0) | retain(&primary, 1) | push(primary), 0);
    motet_context *c = test_context();
    dev_stream *s;
    dev_event *e;
    dev_memory m, host;
    motet_device_info info;
#define STAYS(call)                                                                                \
    do {                                                                                           \
        assert_ok(c, call);                                                                        \
        assert_ptr_equal(fake->current(), primary);                                                \
        assert_int_equal(fake->depth(), 1);                                                        \
    } while (0)
    STAYS(CUDA->open(c, 0, &d));
    STAYS(CUDA->info(d, &info));
    STAYS(CUDA->alloc(d, DEV_DEVICE, WORDS_BYTES, &m));
    STAYS(CUDA->alloc(d, DEV_PINNED, WORDS_BYTES, &host));
    STAYS(CUDA->stream_create(d, &s));
    STAYS(CUDA->event_create(d, &e));
    const k_health_args args = {m.data};
    const dev_launch l = {
        .kernel = &K_k_health, .args = &args, .items = K_HEALTH_ITEMS, .scratch = {64, 64}};
    const dev_rows rows = {host.data, m.data, 8, 4, 8, 16};
    STAYS(CUDA->launch(s, &l));
    STAYS(CUDA->fill(s, m.data, 0, 8));
    STAYS(CUDA->copy_rows(s, &rows));
    STAYS(CUDA->copy(s, host.data, m.data, 8));
    STAYS(CUDA->event_record(s, e));
    STAYS(CUDA->stream_wait(s, e));
    STAYS((wait_for(c, d, e), MOTET_OK));
    STAYS((wait_empty(c, d, s), MOTET_OK));
    STAYS((CUDA->health(d) == DEV_HEALTH_OK ? MOTET_OK : MOTET_DEVICE_ERROR));
    STAYS((CUDA->stream_free(s), CUDA->event_free(e), MOTET_OK));
    STAYS((CUDA->release(d, &m), CUDA->release(d, &host), MOTET_OK));
    STAYS((CUDA->close(d), MOTET_OK));
#undef STAYS
    motet_context_free(c);
    assert_ptr_equal(fake->current(), primary);
    assert_int_equal(cuda_counts().retained, 1);
    assert_int_equal(pop(&primary) | release(1), 0);
    cuda_assert_clean();
    dlclose(library);
}

int main(void)
{
    cuda_begin();
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_device_describes_itself),
                                       cmocka_unit_test(memory_of_each_kind),
                                       cmocka_unit_test(events_order_streams),
                                       cmocka_unit_test(polling_never_waits),
                                       cmocka_unit_test(rows_are_copied_exactly),
                                       cmocka_unit_test(scratch_belongs_to_one_stream),
                                       cmocka_unit_test(unknown_kernels_are_refused),
                                       cmocka_unit_test(peers_reach_each_other),
                                       cmocka_unit_test(the_callers_context_stays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
