/* Memory kept from run to run: used again for exactly its bytes, never by two, counted, and given
 * back as soon as it is in the way. */
#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "rt/hold.h"
#include "rt/pool.h"
#include "support/pipe.h"

typedef struct toys {
    motet_array *in, *out;
    rt_op op;
} toys;

static toys make_toys(motet_context *c, int64_t rows)
{
    toys t = {toy_array(c, rows, 64, 1), toy_array(c, rows, 64, 2), {0}};
    t.op = toy_update(t.in, t.out);
    return t;
}

static void free_toys(const toys *t)
{
    motet_array_free(t->in);
    motet_array_free(t->out);
}

static sim_counts counts_of(motet_context *c, int number)
{
    sim_counts counts;
    sim_count(c, number, &counts);
    return counts;
}

static void runs_of_one_kind_allocate_once(void **state)
{
    (void)state;
    char expected[33], got[33];
    pipe_expected(PIPE_UPDATE, 400, 64, expected);
    motet_context *c = sim_context(NULL, "sim:0,sim:2");
    int64_t allocs[2] = {0, 0};
    for (int run = 0; run < 5; run++) {
        pipe_case p;
        pipe_case_make(c, PIPE_UPDATE, 400, 64, &p);
        assert_ok(c, rt_run(c, &p.op));
        assert_ok(c, motet_array_digest(p.out, got));
        assert_string_equal(got, expected);
        pipe_case_free(&p);
        for (int i = 0; i < 2; i++) {
            const sim_counts counts = counts_of(c, 2 * i);
            rt_device *one = &c->devices->set[i];
            if (!run) allocs[i] = counts.allocs;
            assert_int_equal(counts.allocs, allocs[i]);
            assert_int_equal(counts.used, rt_pool_idle(c, one));
            assert_int_equal(counts.used, atomic_load(&one->taken));
            assert_int_equal(atomic_load(&one->held), 0);
        }
    }
    assert_true(rt_pool_idle_staging(c) > 0);
    motet_memory before, after;
    motet_context_memory(c, &before);
    motet_context_trim(c);
    motet_context_memory(c, &after);
    assert_true(after.now + 102400 <= before.now); /* the private copy */
    assert_int_equal(counts_of(c, 0).used + counts_of(c, 2).used, 0);
    assert_int_equal(rt_pool_idle_staging(c), 0);
    assert_clean(c);
    motet_context_free(c);
}

/* A block that is used again holds nothing that a kernel could take for data. */
static void a_block_that_is_used_again_is_fresh(void **state)
{
    (void)state;
    motet_context *c = sim_context(NULL, "sim:0");
    rt_device *one = &c->devices->set[0];
    dev_memory a, b;
    assert_ok(c, rt_pool_take(c, one, RT_POOL_STAGING, 4096, INT64_MAX, &a));
    void *const place = a.data;
    memset(a.data, 0, 4096);
    rt_pool_give(c, one, RT_POOL_STAGING, &a);
    assert_null(a.data);
    assert_ok(c, rt_pool_take(c, one, RT_POOL_STAGING, 4095, INT64_MAX, &b));
    assert_true(b.data != place); /* other bytes */
    assert_ok(c, rt_pool_take(c, one, RT_POOL_STAGING, 4096, INT64_MAX, &a));
    assert_true(a.data == place);
    one->table->memory_name(one->device, &a, "again");
    for (int i = 0; i < 4096; i++) assert_int_equal(((unsigned char *)a.data)[i], 0xff);
    ((char *)a.data)[4096] = 1; /* in its red zone */
    rt_pool_give(c, one, RT_POOL_STAGING, &a);
    rt_pool_give(c, one, RT_POOL_STAGING, &b);
    assert_ok(c, rt_pool_take(c, one, RT_POOL_STAGING, 4096, INT64_MAX, &a));
    one->table->memory_name(one->device, &a, "again");
    assert_found(c, "again", "was written at 4096");
    rt_pool_give(c, one, RT_POOL_STAGING, &a);
    motet_context_free(c);
}

static void zeroed_memory_of_the_host_is_zero_whatever_it_held(void **state)
{
    (void)state;
    motet_context *c = test_context();
    for (int zero = 0; zero < 2; zero++)
        for (int run = 0; run < 3; run++) {
            unsigned char *block = rt_pool_take_host(c, 1000, zero);
            assert_non_null(block);
            for (int i = 0; i < 1000 && zero; i++) assert_int_equal(block[i], 0);
            memset(block, 0xa5, 1000);
            rt_pool_give_host(c, block, 1000);
        }
    unsigned char *one = rt_pool_take_host(c, 1000, 1), *two = rt_pool_take_host(c, 1000, 1);
    assert_true(one != two);
    one[5] = 1;
    assert_int_equal(two[5], 0);
    rt_pool_give_host(c, one, 1000);
    rt_pool_give_host(c, two, 1000);
    rt_pool_give_host(c, NULL, 1000);
    assert_int_equal(atomic_load(&c->idle), 2000);
    rt_pool_give_host(c, rt_pool_take_host(c, 50, 0), 50); /* two are kept: the oldest goes */
    assert_int_equal(atomic_load(&c->idle), 1050);
    motet_context_free(c);
}

/* Idle memory counts as held on the device, and goes when a run needs the bytes: none is refused,
 * none passes its budget. */
static void idle_memory_makes_room_on_a_device(void **state)
{
    (void)state;
    motet_context *c = sim_context(NULL, "sim:0");
    c->options.memory = 60000;
    for (int64_t rows = 60; rows < 400; rows += 17) {
        const toys t = make_toys(c, rows);
        assert_ok(c, rt_run(c, &t.op));
        free_toys(&t);
        assert_true(counts_of(c, 0).used_peak <= 60000);
        assert_int_equal(counts_of(c, 0).used, rt_pool_idle(c, &c->devices->set[0]));
    }
    assert_true(rt_pool_idle(c, &c->devices->set[0]) > 0);
    assert_clean(c);
    motet_context_free(c);
}

/* The same on the host: for private copies, staging, arrays and anything else. */
/* What opening the device took counts, too. */
static void idle_memory_makes_room_beside_the_context(void **state)
{
    (void)state;
    sim_config config;
    sim_config_init(&config);
    config.device[0].context = 3000;
    motet_context *c = sim_context(&config, "sim:0");
    rt_device *one = &c->devices->set[0];
    dev_memory a, b;
    assert_ok(c, rt_pool_take(c, one, RT_POOL_ARENA, 4096, 10000, &a));
    rt_pool_give(c, one, RT_POOL_ARENA, &a);
    assert_ok(c, rt_pool_take(c, one, RT_POOL_ARENA, 2000, 10000, &b));
    assert_int_equal(atomic_load(&one->taken), 4096 + 2000); /* there was room */
    rt_pool_give(c, one, RT_POOL_ARENA, &b);
    assert_ok(c, rt_pool_take(c, one, RT_POOL_ARENA, 3000, 10000, &a));
    assert_int_equal(atomic_load(&one->taken), 3000);
    rt_pool_give(c, one, RT_POOL_ARENA, &a);
    motet_context_free(c);
}

static void idle_memory_makes_room_on_the_host(void **state)
{
    (void)state;
    motet_context *c = sim_context(NULL, "sim:0");
    const toys big = make_toys(c, 1000), small = make_toys(c, 700);
    c->options.host_memory = atomic_load(&c->held) + 700000;
    const int64_t all = mem_left(c);
    for (int i = 0; i < 3; i++) {
        assert_ok(c, rt_run(c, &big.op)); /* a private copy of 256,000 bytes, and staging */
        assert_ok(c, rt_run(c, &small.op));
    }
    const int64_t idle = rt_pool_idle_staging(c);
    assert_true(idle > 0 && atomic_load(&c->idle) > 0);
    assert_true(mem_left(c) + idle > all - PIPE_BOOKS);
    void *block = mem_alloc(c, (size_t)(mem_left(c) - 1000));
    assert_non_null(block);
    assert_int_equal(atomic_load(&c->idle), 0);
    mem_free(c, block);
    assert_ok(c, rt_run(c, &big.op));
    motet_array *array = NULL;
    const int64_t most = (all - PIPE_BOOKS) / 4;
    assert_ok(c, motet_array_create(c, MOTET_F32, 1, &most, &array));
    assert_int_equal(rt_pool_idle_staging(c), 0);
    motet_array_free(array);
    free_toys(&big);
    free_toys(&small);
    assert_clean(c);
    motet_context_free(c);
}

/* A device that is lost gives back what was idle; what comes back later starts anew. */
static void nothing_is_kept_of_a_lost_device(void **state)
{
    (void)state;
    sim_config config;
    sim_config_init(&config);
    motet_context *c = sim_context(&config, "sim:0,sim:1");
    const toys t = make_toys(c, 400);
    assert_ok(c, rt_run(c, &t.op));
    assert_true(rt_pool_idle(c, &c->devices->set[1]) > 0);
    const sim_fault fault = {.lose_at_command = 3};
    sim_set_fault(c, 1, &fault);
    assert_ok(c, rt_run(c, &t.op));
    assert_true(atomic_load(&c->devices->set[1].lost));
    assert_int_equal(rt_pool_idle(c, &c->devices->set[1]), 0);
    assert_int_equal(atomic_load(&c->devices->set[1].taken), 0);
    assert_clean(c);
    free_toys(&t);
    motet_context_free(c);
}

enum { THREADS = 4, RUNS = 20 };

typedef struct runner {
    motet_context *context;
    toys t;
    motet_status status;
} runner;

static void *runs(void *user)
{
    runner *r = user;
    for (int i = 0; i < RUNS && r->status == MOTET_OK; i++) {
        r->status = rt_run(r->context, &r->t.op);
        if (i % 7 == 3) motet_context_trim(r->context);
    }
    return NULL;
}

static void no_block_is_shared_by_runs_at_once(void **state)
{
    (void)state;
    motet_context *c = sim_context(NULL, "sim:0,cpu");
    runner r[THREADS];
    pthread_t thread[THREADS];
    char digest[THREADS][33];
    for (int i = 0; i < THREADS; i++) r[i] = (runner){c, make_toys(c, 100), MOTET_OK};
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, runs, &r[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        assert_ok(c, r[i].status);
        assert_ok(c, motet_array_digest(r[i].t.out, digest[i]));
        assert_string_equal(digest[i], digest[0]);
        free_toys(&r[i].t);
    }
    assert_clean(c);
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_of_one_kind_allocate_once),
        cmocka_unit_test(a_block_that_is_used_again_is_fresh),
        cmocka_unit_test(zeroed_memory_of_the_host_is_zero_whatever_it_held),
        cmocka_unit_test(idle_memory_makes_room_on_a_device),
        cmocka_unit_test(idle_memory_makes_room_beside_the_context),
        cmocka_unit_test(idle_memory_makes_room_on_the_host),
        cmocka_unit_test(nothing_is_kept_of_a_lost_device),
        cmocka_unit_test(no_block_is_shared_by_runs_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
