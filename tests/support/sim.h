/* Contexts with simulated devices, and waiting for them as the runtime does. */
#ifndef MOTET_TEST_SIM_H
#define MOTET_TEST_SIM_H

#include <stdatomic.h>
#include <string.h>

#include "base/context.h"
#include "dev/sim/sim.h"
#include "rt/devices.h"
#include "support/support.h"

/* Gives the context other devices: `names` as in the options, configured as told (NULL: defaults).
 */
static inline motet_status sim_use(motet_context *c, const sim_config *config, const char *names)
{
    rt_devices_close(c);
    motet_status st = MOTET_OK;
    if (config) st = sim_configure(c, config);
    if (st == MOTET_OK) st = rt_devices_open(c, names);
    return st;
}

static inline motet_context *sim_context(const sim_config *config, const char *names)
{
    motet_context *c = test_context();
    assert_ok(c, sim_use(c, config, names));
    return c;
}

static inline dev *sim_dev(motet_context *c, int index) { return c->devices->set[index].device; }

/* The simulator's clock as the context's, so that all times are virtual and repeat; a test may set
 * it ahead. Must live as long as the context. */
typedef struct sim_clock {
    motet_context *context;
    atomic_int_fast64_t ahead; /* nanoseconds */
} sim_clock;

static inline int64_t sim_clock_now(void *user)
{
    sim_clock *clock = user;
    return sim_now(clock->context) + atomic_load(&clock->ahead);
}

static inline void sim_clock_use(motet_context *c, sim_clock *clock)
{
    clock->context = c;
    atomic_init(&clock->ahead, 5000000000000); /* not the 0 that memory may hold by itself */
    c->options.clock = (motet_clock){sim_clock_now, clock};
}

static inline void sim_clock_pass(sim_clock *clock, double seconds)
{
    atomic_fetch_add(&clock->ahead, (int_fast64_t)(seconds * 1e9));
}

/* What was found so far is exactly nothing. */
static inline void assert_clean(motet_context *c)
{
    sim_check(c);
    if (sim_findings(c))
        fail_msg("%lld findings, the first: %s", (long long)sim_findings(c), sim_finding(c, 0));
}

/* Some finding holds both texts. */
static inline void assert_found(motet_context *c, const char *text, const char *other)
{
    for (int64_t i = 0; i < sim_findings(c) && i < SIM_FINDINGS; i++)
        if (strstr(sim_finding(c, i), text) && strstr(sim_finding(c, i), other)) return;
    fail_msg("%lld findings, none has \"%s\" and \"%s\"; the first: %s", (long long)sim_findings(c),
             text, other, sim_finding(c, 0));
}

static inline motet_status sim_wait_event(dev *d, dev_event *e)
{
    for (int i = 0; i < 1000; i++) {
        const uint64_t seen = d->table->progress(d);
        const motet_status st = d->table->event_poll(e);
        if (st != MOTET_BUSY) return st;
        d->table->doze(d, seen, 10000000);
    }
    return MOTET_DEVICE_HUNG;
}

static inline motet_status sim_wait_stream(dev *d, dev_stream *s)
{
    for (int i = 0; i < 1000; i++) {
        const uint64_t seen = d->table->progress(d);
        const motet_status st = d->table->stream_poll(s);
        if (st != MOTET_BUSY) return st;
        d->table->doze(d, seen, 10000000);
    }
    return MOTET_DEVICE_HUNG;
}

/* A kernel of a test: one function for every instruction set. */
#if defined(__x86_64__)
#define SIM_KERNEL(f, type)                                                                        \
    static const size_t f##_bytes = sizeof(type);                                                  \
    static const k_kernel f##_kernel = {#f, &f##_bytes, {f, f, f}, {f, f, f}};
#else
#define SIM_KERNEL(f, type)                                                                        \
    static const size_t f##_bytes = sizeof(type);                                                  \
    static const k_kernel f##_kernel = {#f, &f##_bytes, {f}, {f}};
#endif

#endif
