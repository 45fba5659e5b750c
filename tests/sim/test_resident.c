/* Arrays that stay on devices: the same bits, fewer bytes moved, within what was planned. */
#include <stdio.h>
#include <string.h>

#include "rt/part.h"
#include "support/pipe.h"

enum { ROWS = 40, COLUMNS = 13 };

static motet_context *context_for(uint64_t seed, const char *names)
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

static void steps_make(motet_context *c, steps *p)
{
    p->x = toy_array(c, ROWS, COLUMNS, 1);
    p->u = toy_array(c, ROWS, COLUMNS, 2);
    p->w = toy_array(c, ROWS, 17, 3);
    p->s = toy_array(c, 17, COLUMNS, 4);
}

static void steps_free(steps *p)
{
    motet_array_free(p->x);
    motet_array_free(p->u);
    motet_array_free(p->w);
    motet_array_free(p->s);
}

static motet_status step(motet_context *c, const steps *p, const rt_run_options *o)
{
    const rt_op smooth = toy_smooth(p->x, p->u), update = toy_update(p->u, p->x),
                sum = toy_sum(p->w, p->x, p->s);
    motet_status st = rt_run_with(c, &smooth, o);
    if (st == MOTET_OK) st = rt_run_with(c, &update, o);
    if (st == MOTET_OK) st = rt_run_with(c, &sum, o);
    return st;
}

static void steps_reside(const steps *p)
{
    rt_array_reside(p->x, RT_RESIDE_SHARDED);
    rt_array_reside(p->u, RT_RESIDE_SHARDED);
    rt_array_reside(p->w, RT_RESIDE_REPLICATED);
    rt_array_reside(p->s, RT_RESIDE_SHARDED);
}

enum { STEPS = 3 };

static void steps_expected(char x[33], char s[33])
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

static rt_weights random_weights(uint64_t *random, int count)
{
    rt_weights w = {.count = count};
    for (int i = 0; i < count; i++) w.weight[i] = test_uniform(random, 0.2, 2);
    return w;
}

/* Whatever the devices, the cuts and the weights, which change between the steps, the bits are the
 * cpu's. */
static void one_set_of_bits(void **state)
{
    (void)state;
    char x[33], s[33], got[33];
    steps_expected(x, s);
    for (uint64_t seed = 0; seed < 60; seed++) {
        uint64_t random = seed;
        motet_context *c = context_for(seed, pipe_sets[seed % PIPE_SETS]);
        steps p;
        steps_make(c, &p);
        steps_reside(&p);
        for (int k = 0; k < STEPS; k++) {
            const rt_weights w = random_weights(&random, c->devices->count);
            rt_run_options o = {.weights = &w, .weightings = seed % 2 ? 1 : 0};
            if (seed % 3)
                o.cut = (rt_cut){
                    {1 + (int64_t)(test_random(&random) % 9), (int64_t)(test_random(&random) % 9)},
                    1 + (int64_t)(test_random(&random) % 40)};
            assert_ok(c, step(c, &p, &o));
            if (seed % 4 == 0) assert_ok(c, motet_array_fetch(p.u));
        }
        assert_ok(c, motet_array_digest(p.x, got));
        assert_string_equal(got, x);
        assert_ok(c, motet_array_digest(p.s, got));
        assert_string_equal(got, s);
        assert_int_equal(toy_mistakes(), 0);
        steps_free(&p);
        for (int i = 0; i < c->devices->count; i++)
            assert_int_equal(
                atomic_load(&c->devices->set[i].held) + atomic_load(&c->devices->set[i].taken), 0);
        assert_clean(c);
        motet_context_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_set_of_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
