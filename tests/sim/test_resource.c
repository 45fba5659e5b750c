/* Resources: a version is seen whole, from its pin to its end, on every device; an update that
 * fails changes nothing. */
#include "rt/resource.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "rt/part.h"
#include "rt/recover.h"
#include "support/pipe.h"

enum { N = 40, M = 13 };

/* A "scene": weights that follow from a seed, and values that stay. */
typedef struct scene {
    uint64_t seed;
    int fails; /* 1: after the first array; 2 to 5: answers too many arrays, fewer than none, one
                  twice, another resource's */
    motet_array *foreign;
} scene;

static motet_status build(rt_build *b, void *user)
{
    const scene *s = user;
    b->count = 2;
    const motet_status st =
        motet_array_create(b->context, MOTET_F32, 2, (int64_t[]){N, 17}, &b->array[0]);
    if (st != MOTET_OK) return st;
    float *w = motet_array_data(b->array[0]);
    uint64_t seed = s->seed;
    for (int i = 0; i < N * 17; i++) w[i] = (float)test_uniform(&seed, -1, 1);
    if (s->fails == 1)
        return fail_at(b->context, MOTET_BAD_DATA, __FILE__, __LINE__, 0,
                       "vertex %d is not a number", 17);
    if (s->fails == 2) b->count = RT_RESOURCE_ARRAYS + 1;
    if (s->fails == 3) motet_array_free(b->array[0]);
    if (s->fails == 3) b->count = -1;
    if (s->fails > 3) {
        b->count = RT_RESOURCE_ARRAYS;
        b->array[7] = s->fails == 4 ? b->array[0] : s->foreign;
        return MOTET_OK;
    }
    if (b->former) {
        b->array[1] = (motet_array *)(uintptr_t)b->former->array[1];
        return MOTET_OK;
    }
    return motet_array_create(b->context, MOTET_F32, 2, (int64_t[]){N, M}, &b->array[1]);
}

/* What the version gives: sums of its weights times x. */
static motet_status ask(motet_context *c, const rt_version *v, const motet_array *x,
                        char digest[33])
{
    motet_array *out = toy_array(c, 17, M, 9);
    const rt_op op = toy_sum(v->array[0], x, out);
    const motet_status st = rt_run(c, &op);
    if (st == MOTET_OK) assert_ok(c, motet_array_digest(out, digest));
    motet_array_free(out);
    return st;
}

static void expected(uint64_t seed, char digest[33])
{
    motet_context *c = test_context();
    rt_resource *r = NULL;
    const rt_version *v = NULL;
    assert_ok(c, rt_resource_create(c, "scene", &r));
    assert_ok(c, rt_resource_update(r, build, &(scene){.seed = seed}));
    assert_ok(c, rt_resource_pin(r, &v));
    motet_array *x = toy_array(c, N, M, 1);
    assert_ok(c, ask(c, v, x, digest));
    motet_array_free(x);
    rt_version_unpin(v);
    rt_resource_free(r);
    motet_context_free(c);
}

static int64_t uploaded(motet_context *c)
{
    int64_t bytes = 0;
    for (int i = 0; i < c->devices->count; i++) {
        sim_counts counts;
        if (pipe_sim_number(c, i) < 0) continue;
        sim_count(c, pipe_sim_number(c, i), &counts);
        bytes += counts.uploaded;
    }
    return bytes;
}

static void before_the_first_build_nothing_can_be_asked(void **state)
{
    (void)state;
    motet_context *c = test_context();
    rt_resource *r = NULL;
    const rt_version *v = NULL;
    assert_ok(c, rt_resource_create(c, "city", &r));
    assert_status(c, rt_resource_pin(r, &v), MOTET_BAD_ARGUMENT);
    assert_message(c, "city", "not built", NULL);
    assert_status(c, rt_resource_update(r, build, &(scene){.fails = 1}), MOTET_BAD_DATA);
    assert_message(c, "city", "vertex 17", NULL);
    assert_status(c, rt_resource_pin(r, &v), MOTET_BAD_ARGUMENT);
    rt_resource_free(r);
    rt_resource_free(NULL);
    rt_version_unpin(NULL);
    motet_context_free(c);
}

/* Each device has its copy, sent once; an update brings only what changed; a failed one nothing. */
static void updates_reach_every_replica(void **state)
{
    (void)state;
    char want[3][33], got[33];
    for (int i = 0; i < 3; i++) expected((uint64_t)i + 1, want[i]);
    motet_context *c = sim_context(NULL, "sim:0,cpu,sim:2");
    rt_resource *r = NULL;
    const rt_version *v = NULL, *first = NULL;
    motet_array *x = toy_array(c, N, M, 1);
    rt_array_reside(x, RT_RESIDE_REPLICATED);
    assert_ok(c, rt_resource_create(c, "scene", &r));
    assert_ok(c, rt_resource_update(r, build, &(scene){.seed = 1}));
    assert_ok(c, rt_resource_pin(r, &first));
    assert_int_equal(first->number, 1);
    assert_ok(c, ask(c, first, x, got));
    assert_string_equal(got, want[0]);
    const int64_t before = uploaded(c);
    assert_ok(c, ask(c, first, x, got));
    assert_int_equal(uploaded(c), before);
    assert_ok(c, rt_resource_update(r, build, &(scene){.seed = 2}));
    assert_status(c, rt_resource_update(r, build, &(scene){.seed = 3, .fails = 1}), MOTET_BAD_DATA);
    assert_status(c, rt_resource_update(r, build, &(scene){.seed = 3, .fails = 2}), MOTET_INTERNAL);
    assert_ok(c, rt_resource_pin(r, &v));
    assert_int_equal(v->number, 2);
    assert_ptr_equal(v->array[1], first->array[1]); /* taken over */
    assert_ok(c, ask(c, v, x, got));
    assert_string_equal(got, want[1]);
    assert_int_equal(uploaded(c), before + 2 * N * 17 * 4);
    assert_ok(c, ask(c, first, x, got)); /* pinned, it is as it was */
    assert_string_equal(got, want[0]);
    assert_int_equal(uploaded(c), before + 2 * N * 17 * 4);
    rt_version_unpin(v);
    rt_version_unpin(first);
    rt_resource_free(r);
    motet_array_free(x);
    for (int i = 0; i < c->devices->count; i++)
        assert_int_equal(atomic_load(&c->devices->set[i].held), 0);
    assert_clean(c);
    motet_context_free(c);
}

/* What a callback must not leave is refused, and what it made is freed: the former goes on. */
static void wrong_builds_are_refused(void **state)
{
    (void)state;
    char want[33], got[33];
    expected(1, want);
    motet_context *c = test_context();
    rt_resource *r = NULL, *other = NULL;
    const rt_version *v = NULL, *others = NULL;
    motet_array *x = toy_array(c, N, M, 1);
    assert_ok(c, rt_resource_create(c, "scene", &r));
    assert_ok(c, rt_resource_create(c, "city", &other));
    assert_ok(c, rt_resource_update(r, build, &(scene){.seed = 1}));
    assert_ok(c, rt_resource_update(other, build, &(scene){.seed = 2}));
    assert_ok(c, rt_resource_pin(other, &others));
    motet_memory before, after;
    motet_context_memory(c, &before);
    static const char *const text[] = {"33 arrays", "-1 arrays", "arrays 0 and 7 are the same",
                                       "array 7 is that of another resource"};
    for (int i = 0; i < 4; i++) {
        const scene s = {3, 2 + i, (motet_array *)(uintptr_t)others->array[0]};
        assert_status(c, rt_resource_update(r, build, (void *)(uintptr_t)&s), MOTET_INTERNAL);
        assert_message(c, "scene", text[i], NULL);
        motet_context_memory(c, &after);
        assert_int_equal(after.blocks, before.blocks);
    }
    assert_ok(c, rt_resource_pin(r, &v));
    assert_int_equal(v->number, 1);
    assert_ok(c, ask(c, v, x, got));
    assert_string_equal(got, want);
    rt_version_unpin(v);
    rt_version_unpin(others);
    rt_resource_free(r);
    rt_resource_free(other);
    motet_array_free(x);
    motet_context_free(c);
}

/* Whichever allocation fails, there is none; versions that are pinned still go with it. */
static void making_and_freeing(void **state)
{
    (void)state;
    for (int64_t nth = 1, failed = 1; failed; nth++) {
        motet_context *c = test_context_failing(0, 0);
        rt_resource *r = NULL;
        const rt_version *v = NULL;
        motet_memory before, after;
        motet_context_memory(c, &before);
        test_context_fail_at(c, nth, 0);
        const motet_status st = rt_resource_create(c, "scene", &r);
        failed = test_context_failed(c);
        test_context_fail_at(c, 0, 0);
        assert_int_equal(st, failed ? MOTET_NO_MEMORY : MOTET_OK);
        if (failed) {
            assert_null(r);
        } else {
            assert_ok(c, rt_resource_update(r, build, &(scene){.seed = 1}));
            assert_ok(c, rt_resource_pin(r, &v));
            assert_ok(c, rt_resource_update(r, build, &(scene){.seed = 2}));
            rt_resource_free(r);
        }
        motet_context_memory(c, &after);
        assert_int_equal(after.blocks, before.blocks);
        motet_context_free(c);
    }
}

/* An operation that would write a version's array is refused. */
static void versions_are_not_written(void **state)
{
    (void)state;
    motet_context *c = test_context();
    rt_resource *r = NULL;
    const rt_version *v = NULL;
    assert_ok(c, rt_resource_create(c, "scene", &r));
    assert_ok(c, rt_resource_update(r, build, &(scene){.seed = 1}));
    assert_ok(c, rt_resource_pin(r, &v));
    motet_array *x = toy_array(c, N, M, 1);
    const rt_op op = toy_update(x, v->array[1]);
    assert_status(c, rt_run(c, &op), MOTET_BAD_ARGUMENT);
    assert_message(c, "resource", NULL);
    motet_array_free(x);
    rt_version_unpin(v);
    rt_resource_free(r);
    motet_context_free(c);
}

static motet_status build_within(rt_build *b, void *user)
{
    (void)b;
    return rt_resource_update(user, build, &(scene){.seed = 5});
}

static void one_update_at_a_time(void **state)
{
    (void)state;
    motet_context *c = test_context();
    rt_resource *r = NULL;
    assert_ok(c, rt_resource_create(c, "scene", &r));
    assert_status(c, rt_resource_update(r, build_within, r), MOTET_BUSY);
    assert_ok(c, rt_resource_update(r, build, &(scene){.seed = 1}));
    rt_resource_free(r);
    motet_context_free(c);
}

/* A device is lost while it computes: the others have replicas of their own; when it is back it
 * gets a new one from the host. */
static void a_lost_replica_is_made_again(void **state)
{
    (void)state;
    char want[33], got[33];
    expected(1, want);
    for (int64_t k = 1; k < 12; k++) {
        sim_clock clock;
        motet_context *c = test_context();
        sim_config config;
        sim_config_init(&config);
        config.device[1].fault = (sim_fault){.lose_at_command = k};
        sim_clock_use(c, &clock);
        assert_ok(c, sim_use(c, &config, "sim:0,sim:1"));
        rt_resource *r = NULL;
        const rt_version *v = NULL;
        motet_array *x = toy_array(c, N, M, 1);
        assert_ok(c, rt_resource_create(c, "scene", &r));
        assert_ok(c, rt_resource_update(r, build, &(scene){.seed = 1}));
        assert_ok(c, rt_resource_pin(r, &v));
        for (int n = 0; n < 3; n++) {
            assert_ok(c, ask(c, v, x, got));
            assert_string_equal(got, want);
        }
        const int lost = atomic_load(&c->devices->set[1].lost);
        sim_clock_pass(&clock, 60);
        assert_int_equal(rt_recover(c), 2);
        const pipe_box some = {.count = {1, 1}};
        if (lost) assert_null(rt_part_find(v->array[0], 1, &some, 0));
        assert_ok(c, ask(c, v, x, got));
        assert_string_equal(got, want);
        assert_non_null(rt_part_find(v->array[0], 1, &some, 0));
        rt_version_unpin(v);
        rt_resource_free(r);
        motet_array_free(x);
        assert_clean(c);
        motet_context_free(c);
        toy_mistakes();
    }
}

/* Some ask while one updates, each on a thread of its own: every answer is that of one version. */

enum { ASKERS = 3, ASKS = 12, UPDATES = 8 };

typedef struct crowd {
    motet_context *c;
    rt_resource *r;
    char want[UPDATES + 1][33];
} crowd;

static void *ask_often(void *p)
{
    crowd *w = p;
    motet_array *x = toy_array(w->c, N, M, 1);
    for (int i = 0; i < ASKS; i++) {
        const rt_version *v = NULL;
        char got[33];
        assert_int_equal(rt_resource_pin(w->r, &v), MOTET_OK);
        assert_int_equal(ask(w->c, v, x, got), MOTET_OK);
        assert_string_equal(got, w->want[v->number]);
        rt_version_unpin(v);
    }
    motet_array_free(x);
    return NULL;
}

static void nobody_sees_half_an_update(void **state)
{
    (void)state;
    crowd w;
    for (int i = 1; i <= UPDATES; i++) expected((uint64_t)i, w.want[i]);
    w.c = sim_context(NULL, "sim:0,sim:1");
    assert_ok(w.c, rt_resource_create(w.c, "scene", &w.r));
    assert_ok(w.c, rt_resource_update(w.r, build, &(scene){.seed = 1}));
    pthread_t thread[ASKERS];
    for (int i = 0; i < ASKERS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, ask_often, &w), 0);
    for (int i = 2; i <= UPDATES; i++)
        assert_ok(w.c, rt_resource_update(w.r, build, &(scene){.seed = (uint64_t)i}));
    for (int i = 0; i < ASKERS; i++) pthread_join(thread[i], NULL);
    rt_resource_free(w.r);
    for (int i = 0; i < w.c->devices->count; i++)
        assert_int_equal(atomic_load(&w.c->devices->set[i].held), 0);
    assert_clean(w.c);
    motet_context_free(w.c);
}

/* Whichever allocation fails while the next version is built, the former one goes on. */
static void memory_may_fail(void **state)
{
    (void)state;
    char want[33], got[33];
    expected(1, want);
    for (int64_t nth = 1, failed = 1; failed; nth++) {
        motet_context *c = test_context_failing(0, 0);
        rt_resource *r = NULL;
        const rt_version *v = NULL;
        motet_array *x = toy_array(c, N, M, 1);
        assert_ok(c, rt_resource_create(c, "scene", &r));
        assert_ok(c, rt_resource_update(r, build, &(scene){.seed = 1}));
        test_context_fail_at(c, nth, 0);
        const motet_status st = rt_resource_update(r, build, &(scene){.seed = 2});
        failed = test_context_failed(c);
        test_context_fail_at(c, 0, 0);
        assert_int_equal(st, failed ? MOTET_NO_MEMORY : MOTET_OK);
        assert_ok(c, rt_resource_pin(r, &v));
        assert_int_equal(v->number, failed ? 1 : 2);
        assert_ok(c, ask(c, v, x, got));
        assert_int_equal(strcmp(got, want) == 0, failed);
        rt_version_unpin(v);
        rt_resource_free(r);
        motet_array_free(x);
        motet_context_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_the_first_build_nothing_can_be_asked),
        cmocka_unit_test(updates_reach_every_replica),
        cmocka_unit_test(wrong_builds_are_refused),
        cmocka_unit_test(making_and_freeing),
        cmocka_unit_test(versions_are_not_written),
        cmocka_unit_test(one_update_at_a_time),
        cmocka_unit_test(a_lost_replica_is_made_again),
        cmocka_unit_test(nobody_sees_half_an_update),
        cmocka_unit_test(memory_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
