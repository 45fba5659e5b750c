/* An operation to calibrate on simulated devices, in virtual time. */
#ifndef MOTET_TEST_SIM_CALIBRATE_H
#define MOTET_TEST_SIM_CALIBRATE_H

#include "rt/calibrate.h"

#include <math.h>
#include <motet/journal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/pipe.h"
#include "support/ports.h"

typedef struct world {
    motet_context *c;
    sim_clock clock;
    sim_config config;
    pipe_case p;
    char before[33]; /* the output */
} world;

static inline void config_init(world *w)
{
    memset(w, 0, sizeof *w);
    sim_config_init(&w->config);
    w->config.jitter = 0;
    w->config.watch_bytes = 0;
    for (int i = 0; i < SIM_DEVICES; i++) {
        sim_device_config *d = &w->config.device[i];
        d->memory = 1 << 28;
        d->items_per_second = 1e6;
        d->upload = d->download = 1e12;
        d->latency = 100;
    }
}

enum { ROWS = 240, COLUMNS = 24 };

static inline void begin_on(world *w, motet_context *c, const char *names, int which)
{
    w->c = c;
    sim_clock_use(w->c, &w->clock);
    assert_ok(w->c, sim_use(w->c, &w->config, names));
    pipe_case_make(w->c, which, ROWS, COLUMNS, &w->p);
    assert_ok(w->c, motet_array_digest(w->p.out, w->before));
}

static inline void begin(world *w, const char *names, int which)
{
    begin_on(w, test_context(), names, which);
}

static inline void end(world *w)
{
    pipe_case_free(&w->p);
    assert_clean(w->c);
    motet_context_free(w->c);
    toy_mistakes();
}

static inline void assert_untouched(world *w)
{
    char after[33];
    assert_ok(w->c, motet_array_digest(w->p.out, after));
    assert_string_equal(after, w->before);
}

/* Virtual seconds of the operation with the context's weights. */
static inline double seconds_of_a_run(world *w)
{
    const int64_t start = sim_now(w->c);
    assert_ok(w->c, rt_run(w->c, &w->p.op));
    return (double)(sim_now(w->c) - start) * 1e-9;
}

static inline rt_calibration calibrated(world *w, const motet_calibrate_options *o)
{
    rt_calibration r;
    assert_ok(w->c, rt_calibrate(w->c, &w->p.op, o, &r));
    assert_untouched(w);
    double sum = 0;
    for (int i = 0; i < r.devices; i++) sum += r.device[i].weight;
    assert_true(fabs(sum - r.devices) < 1e-9);
    return r;
}

static inline void assert_near(double got, double wanted, double part)
{
    if (!(fabs(got - wanted) <= part * wanted)) fail_msg("%g, expected %g", got, wanted);
}

#endif
