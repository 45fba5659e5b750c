/* What sim.forms and its parts share: sets of devices, and a run that is judged. */
#ifndef MOTET_TEST_FORMS_H
#define MOTET_TEST_FORMS_H

#include "support/toy_form.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/sim.h"
#include "support/toy.h"

static const char *const sets[] = {"sim:0",           "cpu,sim:3",         "sim:5,sim:0",
                                   "sim:1,sim:6,cpu", "sim:2,sim:0,sim:7", "sim:0,cpu,sim:4,sim:6"};
enum { SETS = 6 };

/* Devices of which some are a hundred times as fast as others, with more or less memory. */
static inline void unlike(sim_config *config, uint64_t seed)
{
    sim_config_init(config);
    config->seed = seed;
    for (int i = 0; i < SIM_DEVICES; i++) {
        sim_device_config *d = &config->device[i];
        const uint64_t kind = test_random(&seed);
        d->memory = (uint64_t)1 << (18 + kind % 8);
        d->items_per_second = 1e6 * (double)(1 + (kind >> 8) % 100);
        d->upload = 1e8 * (double)(1 + (kind >> 16) % 100);
        d->download = 1e8 * (double)(1 + (kind >> 24) % 100);
    }
}

static inline motet_context *context_for(uint64_t seed, const char *names)
{
    sim_config config;
    unlike(&config, seed);
    return sim_context(&config, names);
}

static inline rt_weights random_weights(uint64_t seed, int count)
{
    rt_weights w = {.count = count};
    for (int i = 0; i < count; i++) w.weight[i] = test_uniform(&seed, 0.4, 2);
    return w;
}

static inline motet_status attempt(motet_context *c, toy_which which, int size,
                                   const rt_run_options *o)
{
    toy_form *f = toy_form_make(c, which, size);
    const motet_status st = toy_form_run(f, o);
    const char *wrong = toy_form_wrong(f, st);
    if (wrong)
        fail_msg("%s of size %d answers %s: %s", toy_form_name(which), size, motet_status_name(st),
                 wrong);
    toy_form_free(f);
    assert_clean(c);
    return st;
}

#endif
