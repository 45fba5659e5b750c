/* Three steps of a solver's kind on arrays that stay on devices. */
#ifndef MOTET_TEST_SIM_RESIDENT_H
#define MOTET_TEST_SIM_RESIDENT_H

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "rt/hold.h"
#include "rt/part.h"
#include "rt/turn.h"
#include "support/pipe.h"
#include "support/ports.h"

enum { ROWS = 40, COLUMNS = 13 };

static inline motet_context *context_for(uint64_t seed, const char *names)
{
    sim_config config;
    sim_config_init(&config);
    config.seed = seed;
    return sim_context(&config, names);
}

/* Three steps of a solver's kind: u = smooth(x); x += a u; s = sum of w x. */
typedef struct steps {
    motet_array *x, *u, *w, *s;
} steps;

static inline void steps_make(motet_context *c, steps *p)
{
    p->x = toy_array(c, ROWS, COLUMNS, 1);
    p->u = toy_array(c, ROWS, COLUMNS, 2);
    p->w = toy_array(c, ROWS, 17, 3);
    p->s = toy_array(c, 17, COLUMNS, 4);
}

static inline void steps_free(steps *p)
{
    motet_array_free(p->x);
    motet_array_free(p->u);
    motet_array_free(p->w);
    motet_array_free(p->s);
}

static inline motet_status step(motet_context *c, const steps *p, const rt_run_options *o)
{
    const rt_op smooth = toy_smooth(p->x, p->u), update = toy_update(p->u, p->x),
                sum = toy_sum(p->w, p->x, p->s);
    motet_status st = rt_run_with(c, &smooth, o);
    if (st == MOTET_OK) st = rt_run_with(c, &update, o);
    if (st == MOTET_OK) st = rt_run_with(c, &sum, o);
    return st;
}

static inline void steps_reside(const steps *p)
{
    rt_array_reside(p->x, RT_RESIDE_SHARDED);
    rt_array_reside(p->u, RT_RESIDE_SHARDED);
    rt_array_reside(p->w, RT_RESIDE_REPLICATED);
    rt_array_reside(p->s, RT_RESIDE_SHARDED);
}

enum { STEPS = 3 };

static inline void steps_expected(char x[33], char s[33])
{
    motet_context *c = test_context();
    steps p;
    steps_make(c, &p);
    const rt_run_options o = {.cut = {{0}, 0}};
    for (int k = 0; k < STEPS; k++) assert_ok(c, step(c, &p, &o));
    assert_ok(c, motet_array_digest(p.x, x));
    assert_ok(c, motet_array_digest(p.s, s));
    steps_free(&p);
    motet_context_free(c);
}

static inline int64_t used(motet_context *c, int device)
{
    const int number = pipe_sim_number(c, device);
    sim_counts counts;
    if (number < 0) return 0; /* the cpu has the host's memory */
    sim_count(c, number, &counts);
    return (int64_t)counts.used;
}

#endif
