/* What the simulated device says about wrong uses of memory. */
#include <stdio.h>

#include "base/context.h"
#include "sim/pipeline.h"

typedef struct poke_args {
    char *to;
    int64_t offset;
    const char *unused;
} poke_args;

static void poke(const void *p, int64_t begin, int64_t end, void *scratch)
{
    (void)begin;
    (void)end;
    (void)scratch;
    const poke_args *a = p;
    a->to[a->offset] = 1;
}
SIM_KERNEL(poke, poke_args)

typedef struct bench {
    motet_context *c;
    dev *d, *second;
    dev_stream *s;
    dev_memory a, b, pinned;
} bench;

/* Without traps, which would end the program at the wrong access. */
static bench make(void)
{
    bench x;
    sim_config config;
    sim_config_init(&config);
    config.trap = 0;
    config.watch_host = 1;
    x.c = sim_context(&config, "sim:0,sim:1");
    x.d = sim_dev(x.c, 0);
    x.second = sim_dev(x.c, 1);
    assert_ok(x.c, dev_sim.stream_create(x.d, &x.s));
    assert_ok(x.c, dev_sim.alloc(x.d, DEV_DEVICE, 100, &x.a));
    assert_ok(x.c, dev_sim.alloc(x.d, DEV_DEVICE, 100, &x.b));
    assert_ok(x.c, dev_sim.alloc(x.d, DEV_PINNED, 100, &x.pinned));
    dev_sim.memory_name(x.d, &x.a, "apple");
    dev_sim.memory_name(x.d, &x.b, "berry");
    return x;
}

static void unmake(bench *x)
{
    sim_wait_stream(x->d, x->s);
    dev_sim.stream_free(x->s);
    dev_sim.release(x->d, &x->a);
    dev_sim.release(x->d, &x->b);
    dev_sim.release(x->d, &x->pinned);
    motet_context_free(x->c);
}

/* Launches poke with one declared range. */
static motet_status poke_at(bench *x, char *to, int64_t offset, dev_access access)
{
    const poke_args args = {to, offset, NULL};
    const dev_launch l = {
        .kernel = &poke_kernel, .args = &args, .items = 1, .access = &access, .accesses = 1};
    return dev_sim.launch(x->s, &l);
}

/* Fresh and released memory holds NaNs. */
static void memory_begins_and_ends_as_nan(void **state)
{
    (void)state;
    bench x = make();
    unsigned char host[100];
    memset(host, 0, sizeof host);
    for (int i = 0; i < 100; i++) assert_int_equal(((unsigned char *)x.pinned.data)[i], 0xff);
    assert_ok(x.c, dev_sim.copy(x.s, host, x.a.data, 100));
    assert_ok(x.c, sim_wait_stream(x.d, x.s));
    for (int i = 0; i < 100; i++) assert_int_equal(host[i], 0xff);
    assert_ok(x.c, dev_sim.fill(x.s, x.a.data, 7, 100));
    assert_ok(x.c, sim_wait_stream(x.d, x.s));
    const unsigned char *was = x.a.data;
    dev_sim.release(x.d, &x.a);
    assert_null(x.a.data);
    for (int i = 0; i < 100; i++) assert_int_equal(was[i], 0xff);
    assert_clean(x.c);
    unmake(&x);
}

/* Writes just before or behind a block are told with the kernel, the block and the place. */
static void red_zones_are_watched(void **state)
{
    (void)state;
    static const int places[] = {-256, -1, 100, 355};
    for (int i = 0; i < 4; i++) {
        bench x = make();
        assert_ok(x.c, poke_at(&x, x.a.data, places[i],
                               (dev_access){.data = x.a.data, .bytes = 100, .writes = 1}));
        assert_ok(x.c, sim_wait_stream(x.d, x.s));
        assert_int_equal(sim_findings(x.c), 1);
        assert_found(x.c, "apple", "poke");
        char text[20];
        snprintf(text, sizeof text, "at %d,", places[i]);
        assert_found(x.c, text, "100 bytes");
        unmake(&x);
    }
    bench x = make();
    ((char *)x.pinned.data)[100] = 1; /* by the host, seen at the release */
    dev_sim.release(x.d, &x.pinned);
    assert_found(x.c, "host memory", "release");
    unmake(&x);
}

/* A kernel that writes what its launch did not name, or named as read only, is told. */
static void undeclared_writes_are_told(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        bench x = make();
        const dev_access some = {
            .data = x.a.data, .bytes = kind == 1 ? 50 : 100, .writes = kind != 0};
        char *to = kind == 2 ? x.b.data : kind == 3 ? x.pinned.data : x.a.data;
        assert_ok(x.c, poke_at(&x, to - 100000, 100060, some)); /* an address of nothing */
        assert_ok(x.c, sim_wait_stream(x.d, x.s));
        assert_int_equal(sim_findings(x.c), 1);
        assert_found(x.c, "poke", kind == 2 ? "berry" : kind == 3 ? "host memory" : "apple");
        assert_found(x.c, "+60", "did not say so");
        unmake(&x);
    }
}

/* Addresses among the arguments give away what the launch does not name. */
static void arguments_are_looked_at(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        bench x = make();
        static char callers[64];
        assert_ok(x.c, dev_sim.copy(x.s, x.b.data, callers, 64));
        assert_ok(x.c, sim_wait_stream(x.d, x.s));
        const char *const other = kind == 0   ? x.b.data
                                  : kind == 1 ? x.pinned.data
                                  : kind == 2 ? callers + 63
                                              : NULL;
        const poke_args args = {x.a.data, 5, other};
        const dev_access access = {.data = x.a.data, .bytes = 100, .writes = 1};
        const dev_launch l = {
            .kernel = &poke_kernel, .args = &args, .items = 1, .access = &access, .accesses = 1};
        assert_ok(x.c, dev_sim.launch(x.s, &l));
        assert_int_equal(sim_findings(x.c), kind < 3);
        if (kind < 3)
            assert_found(x.c, "argument 2 of poke",
                         kind == 0   ? "berry"
                         : kind == 1 ? "host memory"
                                     : "caller");
        unmake(&x);
    }
}

/* Ranges on the wrong side, beyond the end or released are refused, with a finding. */
static void wrong_ranges_are_refused(void **state)
{
    (void)state;
    bench x = make();
    char host[300];
    dev_memory far;
    assert_ok(x.c, dev_sim.alloc(x.second, DEV_DEVICE, 100, &far));
    int64_t found = 0;
#define REFUSED(call, text)                                                                        \
    do {                                                                                           \
        assert_status(x.c, call, MOTET_INTERNAL);                                                  \
        assert_true(sim_findings(x.c) == ++found);                                                 \
        if (!strstr(sim_finding(x.c, found - 1), text))                                            \
            fail_msg("\"%s\" is not in: %s", text, sim_finding(x.c, found - 1));                   \
    } while (0)
    char *a = x.a.data;
    REFUSED(dev_sim.copy(x.s, a, host, 101), "which has 100");
    REFUSED(dev_sim.copy(x.s, a + 1, host, 100), "which has 100");
    REFUSED(dev_sim.copy(x.s, a - 1, host, 100), "apple");
    REFUSED(dev_sim.copy(x.s, host, a + 100, 1), "apple");
    REFUSED(dev_sim.copy(x.s, host, a - 300, 400), "begins outside of apple");
    REFUSED(dev_sim.copy(x.s, host, host + 100, 100), "neither");
    REFUSED(dev_sim.copy(x.s, host, x.pinned.data, 100), "neither");
    REFUSED(dev_sim.copy(x.s, a, far.data, 100), "no peer");
    REFUSED(dev_sim.copy(x.s, host, far.data, 100), "no peer");
    REFUSED(dev_sim.fill(x.s, host, 0, 100), "writes the host's memory");
    REFUSED(dev_sim.fill(x.s, x.pinned.data, 0, 100), "writes the host's memory");
    REFUSED(poke_at(&x, a, 0, (dev_access){.data = host, .bytes = 10}), "touches host memory");
    REFUSED(poke_at(&x, a, 0, (dev_access){.data = x.pinned.data, .bytes = 10}),
            "touches host memory");
    REFUSED(poke_at(&x, a, 0, (dev_access){.data = a, .bytes = 10, .rows = 10, .pitch = 11}),
            "names 109 bytes");
    assert_ok(x.c,
              poke_at(&x, a, 0,
                      (dev_access){.data = a, .bytes = 10, .rows = 10, .pitch = 10, .writes = 1}));
    REFUSED(dev_sim.copy_rows(x.s, &(dev_rows){a, host, 10, 10, 11, 10}), "names 109 bytes");
    assert_ok(x.c, sim_wait_stream(x.d, x.s));

    assert_ok(x.c, dev_sim.peer(x.d, x.second));
    assert_ok(x.c, dev_sim.copy(x.s, a, far.data, 100));
    REFUSED(dev_sim.copy(x.s, host, far.data, 100), "neither");
    REFUSED(poke_at(&x, a, 0, (dev_access){.data = far.data, .bytes = 10}), "another device");
    assert_ok(x.c, sim_wait_stream(x.d, x.s));
    dev_sim.release(x.second, &far);

    dev_memory twice_freed = x.b;
    dev_sim.release(x.d, &x.b);
    REFUSED(dev_sim.copy(x.s, twice_freed.data, host, 10), "was released");
    dev_sim.release(x.d, &twice_freed);
    assert_int_equal(sim_findings(x.c), ++found);
    dev_sim.host_access(x.d, a, 4, 0);
    assert_int_equal(sim_findings(x.c), ++found);
    assert_found(x.c, "(host) touches", "apple");
    unmake(&x);
}

/* A write through an old address into released memory is seen. */
static void late_writes_are_seen(void **state)
{
    (void)state;
    bench x = make();
    char *old = x.a.data;
    dev_sim.release(x.d, &x.a);
    assert_clean(x.c);
    old[42] = 0;
    sim_check(x.c);
    assert_int_equal(sim_findings(x.c), 1);
    assert_found(x.c, "apple", "+42 was written after its release");
    unmake(&x);
}

static void collect(const char *text, void *user)
{
    char *all = user;
    snprintf(all + strlen(all), 2000 - strlen(all), "%s\n", text);
}

/* What is left over when the context goes is told to the callback. */
static void leftovers_are_told_at_the_end(void **state)
{
    (void)state;
    char all[2000] = "";
    sim_config config;
    sim_config_init(&config);
    config.found = collect;
    config.found_user = all;
    motet_context *c = sim_context(&config, "sim:0");
    dev *d = sim_dev(c, 0);
    dev_stream *s;
    dev_event *e;
    dev_memory m, host;
    assert_ok(c, dev_sim.stream_create(d, &s));
    assert_ok(c, dev_sim.event_create(d, &e));
    assert_ok(c, dev_sim.alloc(d, DEV_DEVICE, 10, &m));
    assert_ok(c, dev_sim.alloc(d, DEV_PINNED, 10, &host));
    assert_ok(c, dev_sim.fill(s, m.data, 0, 10));
    assert_ok(c, dev_sim.event_record(s, e));
    motet_context_free(c);
    assert_non_null(strstr(all, "stream 0 of sim:0 was never freed"));
    assert_non_null(strstr(all, "event of sim:0 was never freed"));
    assert_non_null(strstr(all, "memory (block"));
    assert_non_null(strstr(all, "host memory (block"));
}

/* Much memory comes and goes without being kept, and addresses are not confused. */
static void released_memory_goes_in_the_end(void **state)
{
    (void)state;
    motet_context *c = sim_context(NULL, "sim:0");
    dev *d = sim_dev(c, 0);
    dev_stream *s;
    assert_ok(c, dev_sim.stream_create(d, &s));
    for (int i = 0; i < 30; i++) {
        dev_memory m;
        assert_ok(c, dev_sim.alloc(d, DEV_DEVICE, 4 << 20, &m));
        assert_ok(c, dev_sim.fill(s, m.data, 1, 4 << 20));
        assert_ok(c, sim_wait_stream(d, s));
        dev_sim.release(d, &m);
    }
    dev_sim.stream_free(s);
    assert_clean(c);
    motet_context_free(c);
}

/* The scratch of a launch is aligned and as large as asked for. */
typedef struct scratch_args {
    int64_t *sums;
    int64_t bytes;
} scratch_args;
static void scratchy(const void *p, int64_t begin, int64_t end, void *scratch)
{
    const scratch_args *a = p;
    unsigned char *bytes = scratch;
    for (int64_t i = begin; i < end; i++) {
        memset(bytes, (int)i, (size_t)a->bytes);
        a->sums[i] = (uintptr_t)bytes % 64 ? -1 : bytes[0] + bytes[a->bytes - 1];
    }
}
SIM_KERNEL(scratchy, scratch_args)
static void scratch_is_given(void **state)
{
    (void)state;
    motet_context *c = sim_context(NULL, "sim:0");
    dev *d = sim_dev(c, 0);
    dev_stream *s;
    dev_memory m;
    int64_t host[20];
    assert_ok(c, dev_sim.stream_create(d, &s));
    assert_ok(c, dev_sim.alloc(d, DEV_DEVICE, sizeof host, &m));
    const scratch_args args = {m.data, 1000};
    const dev_access access = {.data = m.data, .bytes = sizeof host, .writes = 1};
    dev_launch l = {.kernel = &scratchy_kernel,
                    .args = &args,
                    .items = 20,
                    .scratch = {.fast = 1000},
                    .access = &access,
                    .accesses = 1};
    assert_ok(c, dev_sim.launch(s, &l));
    assert_ok(c, dev_sim.copy(s, host, m.data, sizeof host));
    l.scratch.fast = SIZE_MAX - 10;
    assert_status(c, dev_sim.launch(s, &l), MOTET_NO_MEMORY);
    assert_ok(c, sim_wait_stream(d, s));
    for (int i = 0; i < 20; i++) assert_int_equal(host[i], 2 * i);
    int64_t items = 0;
    assert_int_equal(dev_sim.share(d, &items, 1), 1);
    assert_int_equal(items, 20);
    dev_sim.release(d, &m);
    dev_sim.stream_free(s);
    assert_clean(c);
    motet_context_free(c);
}

/* Where AddressSanitizer is at work, exactly the ranges that a launch names can be touched, and
 * only by it. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TRAPS 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define TRAPS 1
#endif
#ifdef TRAPS
#include <sanitizer/asan_interface.h>
typedef struct look_args {
    const char *named, *other;
    int *poisoned;
} look_args;
static void look(const void *p, int64_t begin, int64_t end, void *scratch)
{
    (void)begin;
    (void)end;
    (void)scratch;
    const look_args *a = p;
    for (int i = 0; i < 100; i++) a->poisoned[i] = __asan_address_is_poisoned(a->named + i);
    a->poisoned[100] = __asan_address_is_poisoned(a->other);
}
SIM_KERNEL(look, look_args)
#endif
static void device_memory_is_trapped(void **state)
{
    (void)state;
#ifdef TRAPS
    motet_context *c = sim_context(NULL, "sim:0");
    dev *d = sim_dev(c, 0);
    dev_stream *s;
    dev_memory a, b;
    int poisoned[101];
    assert_ok(c, dev_sim.stream_create(d, &s));
    assert_ok(c, dev_sim.alloc(d, DEV_DEVICE, 100, &a));
    assert_ok(c, dev_sim.alloc(d, DEV_DEVICE, 100, &b));
    for (int i = -1; i < 101; i++) assert_true(__asan_address_is_poisoned((char *)a.data + i));
    const look_args args = {a.data, b.data, poisoned};
    const dev_access access[] = {{.data = a.data, .bytes = 40}, {.data = b.data, .bytes = 0}};
    const dev_launch l = {
        .kernel = &look_kernel, .args = &args, .items = 1, .access = access, .accesses = 2};
    assert_ok(c, dev_sim.launch(s, &l));
    assert_ok(c, sim_wait_stream(d, s));
    for (int i = 0; i < 101; i++) assert_int_equal(poisoned[i], i >= 40);
    for (int i = -1; i < 101; i++) assert_true(__asan_address_is_poisoned((char *)a.data + i));
    dev_sim.release(d, &a);
    dev_sim.release(d, &b);
    dev_sim.stream_free(s);
    motet_context_free(c);
#else
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory_begins_and_ends_as_nan),
                                       cmocka_unit_test(red_zones_are_watched),
                                       cmocka_unit_test(undeclared_writes_are_told),
                                       cmocka_unit_test(arguments_are_looked_at),
                                       cmocka_unit_test(wrong_ranges_are_refused),
                                       cmocka_unit_test(late_writes_are_seen),
                                       cmocka_unit_test(leftovers_are_told_at_the_end),
                                       cmocka_unit_test(released_memory_goes_in_the_end),
                                       cmocka_unit_test(scratch_is_given),
                                       cmocka_unit_test(device_memory_is_trapped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
