#include "base/threads.h"
#include "dev/dev.h"
#include "support/support.h"

#include <float.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CPU (&dev_cpu)

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A context and a device of its own with some threads. */
static motet_context *with_device(int threads, dev **device)
{
    motet_context_options o;
    motet_context_options_init(&o);
    o.threads = threads;
    motet_context *c = NULL;
    assert_int_equal(motet_context_create(&o, &c), MOTET_OK);
    assert_ok(c, CPU->open(c, 0, device));
    return c;
}

static void without_device(motet_context *c, dev *device)
{
    CPU->close(device);
    motet_context_free(c);
}

/* Waits as the runtime does. */
static void wait_for(dev *device, dev_event *event)
{
    for (;;) {
        const uint64_t seen = CPU->progress(device);
        if (CPU->event_poll(event) == MOTET_OK) return;
        CPU->doze(device, seen, 1000000000);
    }
}

static void wait_empty(dev *device, dev_stream *stream)
{
    for (;;) {
        const uint64_t seen = CPU->progress(device);
        if (CPU->stream_poll(stream) == MOTET_OK) return;
        CPU->doze(device, seen, 1000000000);
    }
}

/* Kernels of this test: the same function for every instruction set. */
typedef struct args {
    atomic_int_fast64_t *counter;
    int64_t expected;
    atomic_int *wrong, *open, *begun;
    atomic_int_fast64_t *sum;
} args;
static const size_t args_bytes = sizeof(args);
#if defined(__x86_64__)
#define KERNEL(f) static const k_kernel f##_kernel = {#f, &args_bytes, {f, f, f}, {f, f, f}};
#else
#define KERNEL(f) static const k_kernel f##_kernel = {#f, &args_bytes, {f}, {f}};
#endif

static void tick(const void *p, int64_t begin, int64_t end, void *scratch)
{
    (void)begin;
    (void)end;
    (void)scratch;
    const args *a = p;
    if (atomic_fetch_add(a->counter, 1) != a->expected) atomic_fetch_add(a->wrong, 1);
}
KERNEL(tick)

static void gate(const void *p, int64_t begin, int64_t end, void *scratch)
{
    (void)scratch;
    const args *a = p;
    atomic_fetch_add(a->begun, 1);
    while (!atomic_load(a->open)) sched_yield();
    atomic_fetch_add(a->sum, end - begin);
}
KERNEL(gate)

static motet_status launch(dev_stream *s, const k_kernel *kernel, const args *a, int64_t items,
                           size_t scratch)
{
    const dev_launch l = {
        .kernel = kernel, .args = a, .items = items, .grain = 1, .scratch = {.fast = scratch}};
    return CPU->launch(s, &l);
}

static void wait_count(atomic_int *count, int value)
{
    while (atomic_load(count) < value) sched_yield();
}

/* A stream executes its commands in order. */
static void a_stream_keeps_its_order(void **state)
{
    (void)state;
    dev *d;
    motet_context *c = with_device(3, &d);
    dev_stream *s;
    dev_event *e;
    assert_ok(c, CPU->stream_create(d, &s));
    assert_ok(c, CPU->event_create(d, &e));
    atomic_int_fast64_t counter = 0;
    atomic_int wrong = 0;
    for (int64_t i = 0; i < 2000; i++) {
        const args a = {.counter = &counter, .expected = i, .wrong = &wrong};
        assert_ok(c, launch(s, &tick_kernel, &a, 1, 0));
    }
    assert_ok(c, CPU->event_record(s, e));
    wait_for(d, e);
    assert_int_equal(counter, 2000);
    assert_int_equal(wrong, 0);
    CPU->event_free(e);
    CPU->stream_free(s);
    without_device(c, d);
}

/* Two streams that hand an event back and forth take turns, with nobody waiting in between. */
static void events_order_streams(void **state)
{
    (void)state;
    dev *d;
    motet_context *c = with_device(2, &d);
    dev_stream *s[2];
    dev_event *e[2];
    for (int i = 0; i < 2; i++) {
        assert_ok(c, CPU->stream_create(d, &s[i]));
        assert_ok(c, CPU->event_create(d, &e[i]));
    }
    atomic_int_fast64_t counter = 0;
    atomic_int wrong = 0;
    for (int64_t i = 0; i < 1000; i++) {
        const int self = (int)(i % 2);
        const args a = {.counter = &counter, .expected = i, .wrong = &wrong};
        assert_ok(c, CPU->stream_wait(s[self], e[!self])); /* never recorded at first: no wait */
        assert_ok(c, launch(s[self], &tick_kernel, &a, 1, 0));
        assert_ok(c, CPU->event_record(s[self], e[self]));
    }
    wait_for(d, e[0]);
    wait_for(d, e[1]);
    assert_int_equal(counter, 1000);
    assert_int_equal(wrong, 0);
    for (int i = 0; i < 2; i++) {
        CPU->event_free(e[i]);
        CPU->stream_free(s[i]);
    }
    without_device(c, d);
}

/* A stream that waits for an event begins nothing while the other stream is held up, though a
 * thread is idle; what comes after the wait runs when the event is reached. */
static void waiting_holds_a_stream_back(void **state)
{
    (void)state;
    dev *d;
    motet_context *c = with_device(2, &d);
    dev_stream *held, *waiting;
    dev_event *e, *end;
    assert_ok(c, CPU->stream_create(d, &held));
    assert_ok(c, CPU->stream_create(d, &waiting));
    assert_ok(c, CPU->event_create(d, &e));
    assert_ok(c, CPU->event_create(d, &end));
    atomic_int open = 0, begun = 0, wrong = 0;
    atomic_int_fast64_t sum = 0, counter = 0;
    const args gate_args = {.open = &open, .begun = &begun, .sum = &sum};
    const args tick_args = {.counter = &counter, .expected = 0, .wrong = &wrong};
    assert_ok(c, launch(held, &gate_kernel, &gate_args, 1, 0));
    assert_ok(c, CPU->event_record(held, e));
    assert_ok(c, CPU->stream_wait(waiting, e));
    assert_ok(c, launch(waiting, &tick_kernel, &tick_args, 1, 0));
    assert_ok(c, CPU->event_record(waiting, end));
    wait_count(&begun, 1);
    CPU->doze(d, CPU->progress(d), 50000000);
    assert_int_equal(counter, 0);
    assert_int_equal(CPU->event_poll(end), MOTET_BUSY);
    atomic_store(&open, 1);
    wait_for(d, end);
    assert_int_equal(counter, 1);
    assert_int_equal(CPU->event_poll(e), MOTET_OK);
    CPU->event_free(e);
    CPU->event_free(end);
    CPU->stream_free(held);
    CPU->stream_free(waiting);
    without_device(c, d);
}

/* Polling says BUSY while the commands before the record run, and answers at once. */
static void polling_tells_and_never_waits(void **state)
{
    (void)state;
    dev *d;
    motet_context *c = with_device(1, &d);
    dev_stream *s;
    dev_event *e;
    assert_ok(c, CPU->stream_create(d, &s));
    assert_ok(c, CPU->event_create(d, &e));
    assert_ok(c, CPU->event_poll(e));
    atomic_int open = 0, begun = 0;
    atomic_int_fast64_t sum = 0;
    const args a = {.open = &open, .begun = &begun, .sum = &sum};
    assert_ok(c, launch(s, &gate_kernel, &a, 1, 0));
    assert_ok(c, CPU->event_record(s, e));
    assert_int_equal(CPU->event_poll(e), MOTET_BUSY);
    assert_int_equal(CPU->stream_poll(s), MOTET_BUSY);
    const double start = seconds();
    CPU->doze(d, CPU->progress(d), 20000000);
    assert_true(seconds() - start >= 0.0199);
    assert_int_equal(CPU->event_poll(e), MOTET_BUSY);
    const uint64_t seen = CPU->progress(d);
    atomic_store(&open, 1);
    CPU->doze(d, seen, 60000000000); /* an hour of sleep would be noticed */
    assert_true(seconds() - start < 30);
    wait_for(d, e);
    CPU->doze(d, seen, 60000000000); /* what has happened already is not slept through */
    assert_true(seconds() - start < 30);
    assert_int_equal(sum, 1);
    CPU->event_free(e);
    CPU->stream_free(s);
    without_device(c, d);
}

/* Copies and fills move exactly the bytes asked for, across the borders of the workers' ranges. */
static void copies_and_fills_are_exact(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 4095, 1 << 20, (1 << 20) + 1, (5 << 20) - 3};
    dev *d;
    motet_context *c = with_device(2, &d);
    dev_stream *s;
    dev_event *e;
    assert_ok(c, CPU->stream_create(d, &s));
    assert_ok(c, CPU->event_create(d, &e));
    dev_memory from, to;
    const size_t room = (5 << 20) + 64;
    assert_ok(c, CPU->alloc(d, DEV_DEVICE, room, &from));
    assert_ok(c, CPU->alloc(d, DEV_PINNED, room, &to));
    unsigned char *x = from.data, *y = to.data;
    uint64_t seed = 5;
    for (size_t i = 0; i < room; i++) x[i] = (unsigned char)test_random(&seed);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const size_t n = sizes[i];
        assert_ok(c, CPU->fill(s, y, 0xee, room));
        assert_ok(c, CPU->copy(s, y + 7, x + 3, n));
        assert_ok(c, CPU->fill(s, y, 0x11, n / 2));
        assert_ok(c, CPU->event_record(s, e));
        wait_for(d, e);
        for (size_t k = 0; k < room; k++) {
            const unsigned char expected = k < n / 2 ? 0x11 : k < 7 || k >= n + 7 ? 0xee : x[k - 4];
            if (y[k] != expected) fail_msg("byte %zu of %zu", k, n);
        }
    }
    CPU->release(d, &from);
    CPU->release(d, &to);
    CPU->event_free(e);
    CPU->stream_free(s);
    without_device(c, d);
}

/* Boxes move row by row, whatever the pitches, and what lies between the rows stays. */
static void rows_are_copied_exactly(void **state)
{
    (void)state;
    enum { ROWS = 3000, PITCH = 900 };
    dev *d;
    motet_context *c = with_device(3, &d);
    dev_stream *s;
    assert_ok(c, CPU->stream_create(d, &s));
    unsigned char *x = malloc(ROWS * PITCH), *y = malloc(ROWS * PITCH);
    for (size_t i = 0; i < ROWS * PITCH; i++) x[i] = (unsigned char)(i * 31 + i / PITCH);
    static const size_t widths[] = {0, 1, 7, 500, PITCH};
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        memset(y, 0xee, ROWS * PITCH);
        const size_t from_pitch = widths[w] < 600 ? 600 : PITCH;
        assert_ok(c, CPU->copy_rows(s, &(dev_rows){y, x, widths[w], ROWS, PITCH, from_pitch}));
        wait_empty(d, s);
        for (size_t i = 0; i < ROWS; i++)
            for (size_t j = 0; j < PITCH; j++)
                if (y[i * PITCH + j] != (j < widths[w] ? x[i * from_pitch + j] : 0xee))
                    fail_msg("row %zu, byte %zu of rows of %zu", i, j, widths[w]);
    }
    free(x);
    free(y);
    CPU->stream_free(s);
    without_device(c, d);
}

/* One cpu device: its own peer and nobody else's; it sees the host's memory. */
static void the_cpu_needs_no_peer(void **state)
{
    (void)state;
    dev *d, *other;
    motet_context *c = with_device(1, &d);
    assert_ok(c, CPU->open(c, 0, &other));
    assert_ok(c, CPU->peer(d, d));
    assert_status(c, CPU->peer(d, other), MOTET_DECLINED);
    assert_true(d->host_visible);
    CPU->close(other);
    without_device(c, d);
}

typedef struct scratch_args {
    size_t bytes;
    atomic_int *wrong;
} scratch_args;
static const size_t scratch_args_bytes = sizeof(scratch_args);

/* Fills its scratch, lets others run, and looks whether somebody else wrote into it. */
static void use_scratch(const void *p, int64_t begin, int64_t end, void *scratch)
{
    (void)end;
    const scratch_args *a = p;
    unsigned char *bytes = scratch;
    if ((uintptr_t)scratch % 64) atomic_fetch_add(a->wrong, 1);
    memset(bytes, (int)(begin % 251), a->bytes);
    sched_yield();
    for (size_t i = 0; i < a->bytes; i++)
        if (bytes[i] != begin % 251) atomic_fetch_add(a->wrong, 1);
}
#if defined(__x86_64__)
static const k_kernel scratch_kernel = {"use_scratch",
                                        &scratch_args_bytes,
                                        {use_scratch, use_scratch, use_scratch},
                                        {use_scratch, use_scratch, use_scratch}};
#else
static const k_kernel scratch_kernel = {
    "use_scratch", &scratch_args_bytes, {use_scratch}, {use_scratch}};
#endif

/* Scratch is private to a worker and aligned, for launches of any sizes in flight at once, and kept
 * for the next. */
static void scratch_is_private(void **state)
{
    (void)state;
    dev *d;
    motet_context *c = with_device(4, &d);
    dev_stream *s[2];
    dev_event *e;
    for (int i = 0; i < 2; i++) assert_ok(c, CPU->stream_create(d, &s[i]));
    assert_ok(c, CPU->event_create(d, &e));
    atomic_int wrong = 0;
    for (int i = 0; i < 40; i++) {
        const scratch_args a = {(size_t)(1 + i * 37), &wrong};
        const dev_launch l = {.kernel = &scratch_kernel,
                              .args = &a,
                              .items = 20,
                              .grain = 1,
                              .scratch = {.fast = a.bytes}};
        assert_ok(c, CPU->launch(s[i % 2], &l));
    }
    for (int i = 0; i < 2; i++) {
        assert_ok(c, CPU->event_record(s[i], e));
        wait_for(d, e);
    }
    assert_int_equal(wrong, 0);
    motet_memory before, after;
    motet_context_memory(c, &before);
    const scratch_args a = {8, &wrong};
    const dev_launch l = {
        .kernel = &scratch_kernel, .args = &a, .items = 20, .grain = 1, .scratch = {.fast = 8}};
    assert_ok(c, CPU->launch(s[0], &l));
    assert_ok(c, CPU->event_record(s[0], e));
    wait_for(d, e);
    motet_context_memory(c, &after);
    assert_int_equal(after.now, before.now);
    const dev_launch impossible = {
        .kernel = &scratch_kernel, .args = &a, .items = 1, .scratch = {.fast = SIZE_MAX / 2}};
    assert_status(c, CPU->launch(s[0], &impossible), MOTET_NO_MEMORY);
    assert_message(c, "use_scratch", "scratch", NULL);
    for (int i = 0; i < 2; i++) CPU->stream_free(s[i]);
    CPU->event_free(e);
    without_device(c, d);
}

/* Dropping a stream cuts the running launch short, forgets the others, and makes its events ready
 * once nothing runs any more. */
static void dropping_forgets_what_has_not_begun(void **state)
{
    (void)state;
    dev *d;
    motet_context *c = with_device(2, &d);
    dev_stream *s;
    dev_event *e;
    assert_ok(c, CPU->stream_create(d, &s));
    assert_ok(c, CPU->event_create(d, &e));
    for (int freed = 0; freed < 2; freed++) {
        atomic_int open = 0, begun = 0;
        atomic_int_fast64_t sum = 0;
        const args a = {.open = &open, .begun = &begun, .sum = &sum};
        for (int i = 0; i < 3; i++) assert_ok(c, launch(s, &gate_kernel, &a, 1000, 0));
        assert_ok(c, CPU->event_record(s, e));
        wait_count(&begun, 2);
        if (freed)
            CPU->stream_free(s);
        else
            CPU->stream_drop(s);
        assert_int_equal(CPU->event_poll(e), MOTET_BUSY);
        if (!freed) assert_int_equal(CPU->stream_poll(s), MOTET_BUSY);
        atomic_store(&open, 1);
        wait_for(d, e);
        assert_int_equal(sum, 2);
        if (!freed) wait_empty(d, s);
    }
    CPU->event_free(e);
    without_device(c, d);
}

/* Freeing handles while commands name them is legal, and nothing leaks. */
static void handles_may_be_freed_early(void **state)
{
    (void)state;
    dev *d;
    motet_context *c = with_device(2, &d);
    motet_memory before, after;
    motet_context_memory(c, &before);
    for (int round = 0; round < 200; round++) {
        dev_stream *s, *other;
        dev_event *e, *end;
        assert_ok(c, CPU->stream_create(d, &s));
        assert_ok(c, CPU->stream_create(d, &other));
        assert_ok(c, CPU->event_create(d, &e));
        assert_ok(c, CPU->event_create(d, &end));
        atomic_int_fast64_t counter = 0;
        atomic_int wrong = 0;
        const args a = {.counter = &counter, .expected = 0, .wrong = &wrong};
        assert_ok(c, launch(s, &tick_kernel, &a, 1, 0));
        assert_ok(c, CPU->event_record(s, e));
        assert_ok(c, CPU->stream_wait(other, e));
        assert_ok(c, CPU->event_record(other, end));
        CPU->event_free(e);
        if (round % 2) wait_for(d, end);
        CPU->stream_free(other);
        CPU->stream_free(s);
        wait_for(d, end);
        CPU->event_free(end);
        /* The tick may still run in round 0, 2, ..: its counter lives until the stream has gone. */
        dev_stream *last;
        assert_ok(c, CPU->stream_create(d, &last));
        while (round % 2 == 0 && CPU->stream_poll(last) == MOTET_OK) {
            motet_context_memory(c, &after);
            if (after.blocks == before.blocks + 1) break;
            sched_yield();
        }
        CPU->stream_free(last);
    }
    CPU->stream_free(NULL);
    CPU->event_free(NULL);
    motet_context_memory(c, &after);
    assert_int_equal(after.blocks, before.blocks);
    assert_int_equal(after.now, before.now);
    without_device(c, d);
}

/* Items that end only when as many threads are at it as the context was promised, each counting
 * what it did. A device that ignored `threads` would never get there. */
typedef struct meeting {
    atomic_int *arrived;
    int expected;
    atomic_int *late;
} meeting;
static const size_t meeting_bytes = sizeof(meeting);
static void meet(const void *p, int64_t begin, int64_t end, void *scratch)
{
    (void)begin;
    (void)end;
    (void)scratch;
    const meeting *m = p;
    atomic_fetch_add(m->arrived, 1);
    const double start = seconds();
    while (atomic_load(m->arrived) < m->expected) {
        sched_yield();
        if (seconds() - start > 20) {
            atomic_fetch_add(m->late, 1);
            return;
        }
    }
}
#if defined(__x86_64__)
static const k_kernel meet_kernel = {
    "meet", &meeting_bytes, {meet, meet, meet}, {meet, meet, meet}};
#else
static const k_kernel meet_kernel = {"meet", &meeting_bytes, {meet}, {meet}};
#endif

static void every_thread_takes_part(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 5; threads++) {
        dev *d;
        motet_context *c = with_device(threads, &d);
        motet_device_info info;
        assert_ok(c, CPU->info(d, &info));
        assert_int_equal(info.threads, threads);
        dev_stream *s;
        dev_event *e;
        assert_ok(c, CPU->stream_create(d, &s));
        assert_ok(c, CPU->event_create(d, &e));
        atomic_int arrived = 0, late = 0;
        const meeting m = {&arrived, threads, &late};
        const dev_launch l = {.kernel = &meet_kernel, .args = &m, .items = threads, .grain = 1};
        assert_ok(c, CPU->launch(s, &l));
        assert_ok(c, CPU->event_record(s, e));
        wait_for(d, e);
        assert_int_equal(late, 0);
        int64_t items[6] = {-1, -1, -1, -1, -1, -1};
        assert_int_equal(CPU->share(d, items, 6), threads);
        for (int i = 0; i < 6; i++) assert_int_equal(items[i], i < threads ? 1 : -1);
        CPU->event_free(e);
        CPU->stream_free(s);
        without_device(c, d);
    }
}

/* The device tells what it is, is healthy, and there is one of it. */
static void the_device_describes_itself(void **state)
{
    (void)state;
    dev *d;
    motet_context *c = with_device(2, &d);
    assert_int_equal(CPU->count(c), 1);
    dev *second = NULL;
    assert_status(c, CPU->open(c, 1, &second), MOTET_BAD_ARGUMENT);
    motet_device_info info;
    assert_ok(c, CPU->info(d, &info));
    assert_string_equal(info.name, "cpu");
    assert_non_null(strstr(info.description, "2 threads"));
    assert_non_null(strstr(info.description, motet_isa_text(info.isa)));
    assert_true(info.memory_total > 0 && info.memory_free > 0 &&
                info.memory_free <= info.memory_total);
    assert_int_equal(CPU->health(d), DEV_HEALTH_OK);
    without_device(c, d);
}

/* Each instruction set that this processor has can be asked for, and is the one that is used. */
static atomic_int used_isa;
static void use_base(const void *p, int64_t b, int64_t e, void *s)
{
    (void)p, (void)b, (void)e, (void)s;
    atomic_store(&used_isa, MOTET_ISA_BASE);
}
#if defined(__x86_64__)
static void use_v3(const void *p, int64_t b, int64_t e, void *s)
{
    (void)p, (void)b, (void)e, (void)s;
    atomic_store(&used_isa, MOTET_ISA_V3);
}
static void use_v4(const void *p, int64_t b, int64_t e, void *s)
{
    (void)p, (void)b, (void)e, (void)s;
    atomic_store(&used_isa, MOTET_ISA_V4);
}
static const k_kernel isa_kernel = {
    "isa", &args_bytes, {use_base, use_v3, use_v4}, {use_base, use_v3, use_v4}};
#else
static const k_kernel isa_kernel = {"isa", &args_bytes, {use_base}, {use_base}};
#endif

static void the_instruction_set_is_obeyed(void **state)
{
    (void)state;
    motet_isa best = MOTET_ISA_BASE;
    for (motet_isa isa = MOTET_ISA_AUTO; isa <= MOTET_ISA_V4; isa++) {
        motet_context_options o;
        motet_context_options_init(&o);
        o.threads = 1;
        o.isa = isa;
        motet_context *c = NULL;
        const motet_status st = motet_context_create(&o, &c);
        assert_int_equal(st, motet_isa_available(isa) ? MOTET_OK : MOTET_UNSUPPORTED);
        if (st != MOTET_OK) continue;
        if (isa > best) best = isa;
        dev *d;
        assert_ok(c, CPU->open(c, 0, &d));
        dev_stream *s;
        assert_ok(c, CPU->stream_create(d, &s));
        const args a = {.expected = 0};
        atomic_store(&used_isa, -1);
        assert_ok(c, launch(s, &isa_kernel, &a, 1, 0));
        wait_empty(d, s);
        motet_device_info info;
        assert_ok(c, CPU->info(d, &info));
        assert_int_equal(used_isa, info.isa);
        if (isa != MOTET_ISA_AUTO) assert_int_equal(info.isa, isa);
        assert_int_equal(CPU->health(d), DEV_HEALTH_OK);
        CPU->stream_free(s);
        without_device(c, d);
    }
    motet_context *c = test_context();
    motet_device_info info;
    assert_ok(c, motet_context_device(c, 0, &info));
    assert_int_equal(info.isa, best);
    motet_context_free(c);
    assert_string_equal(motet_isa_text(MOTET_ISA_V3), "v3");
    assert_string_equal(motet_isa_text((motet_isa)77), "unknown");
    assert_false(motet_isa_available((motet_isa)77));
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
    /* The compiler's run-time library asks the processor in its own way. */
    assert_int_equal(motet_isa_available(MOTET_ISA_V3), !!__builtin_cpu_supports("x86-64-v3"));
    assert_int_equal(motet_isa_available(MOTET_ISA_V4), !!__builtin_cpu_supports("x86-64-v4"));
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_stream_keeps_its_order),
                                       cmocka_unit_test(events_order_streams),
                                       cmocka_unit_test(waiting_holds_a_stream_back),
                                       cmocka_unit_test(polling_tells_and_never_waits),
                                       cmocka_unit_test(copies_and_fills_are_exact),
                                       cmocka_unit_test(rows_are_copied_exactly),
                                       cmocka_unit_test(the_cpu_needs_no_peer),
                                       cmocka_unit_test(scratch_is_private),
                                       cmocka_unit_test(dropping_forgets_what_has_not_begun),
                                       cmocka_unit_test(handles_may_be_freed_early),
                                       cmocka_unit_test(every_thread_takes_part),
                                       cmocka_unit_test(the_device_describes_itself),
                                       cmocka_unit_test(the_instruction_set_is_obeyed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
