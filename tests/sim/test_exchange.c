/* Entries arrive at the owner of their key, in order, and combine to the same bits for any number
 * of buckets and devices. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/toy_rows.h"

#include "support/pipe.h"

enum { WIDTH = 3, ROWS = 40 };

static motet_context *context_for(uint64_t seed, const char *names)
{
    sim_config config;
    sim_config_init(&config);
    config.seed = seed;
    return sim_context(&config, names);
}

/* Rows of entries whose keys repeat, over all of 64 bits; one row is long. */
static rt_rows *source(motet_context *c, uint64_t random)
{
    int64_t length[ROWS];
    for (int i = 0; i < ROWS; i++) length[i] = i == 11 ? 200 : (int64_t)(test_random(&random) % 9);
    rt_rows *rows = NULL;
    assert_ok(c, rt_rows_create(c, "source", ROWS, length, MOTET_I64, WIDTH, 0, INT64_MAX, &rows));
    int64_t *data = rows->data->data;
    for (int64_t i = 0; i < rt_rows_entries(rows); i++) {
        const uint64_t r = test_random(&random);
        data[i * WIDTH] = (int64_t)((r % 61) * 0x0432187653219871u);
        data[i * WIDTH + 1] = (int64_t)(r >> 20 & 3) - 1;
        data[i * WIDTH + 2] = (int64_t)test_random(&random) / 1024;
    }
    return rows;
}

/* What must come out, by plain means: pick the least key that is left, in order of the source. */
static int64_t naive(const rt_rows *in, k_combine_how how, int64_t *out)
{
    const int64_t n = rt_rows_entries(in), *data = in->data->data;
    char *used = calloc((size_t)n, 1);
    int64_t made = 0;
    for (;;) {
        int64_t least = -1;
        for (int64_t i = 0; i < n; i++)
            if (!used[i] &&
                (least < 0 || (uint64_t)data[i * WIDTH] < (uint64_t)data[least * WIDTH]))
                least = i;
        if (least < 0) break;
        int64_t *to = out + made++ * WIDTH;
        memcpy(to, data + least * WIDTH, WIDTH * sizeof *to);
        used[least] = 1;
        for (int64_t i = 0; i < n && how != K_COMBINE_NONE; i++) {
            const int64_t *other = data + i * WIDTH;
            if (used[i] || other[0] != to[0]) continue;
            used[i] = 1;
            const int lower = other[1] < to[1] || (other[1] == to[1] && other[2] < to[2]);
            if (how == K_COMBINE_SUM)
                to[1] += other[1], to[2] += other[2];
            else if (lower)
                memcpy(to, other, WIDTH * sizeof *to);
        }
    }
    free(used);
    return made;
}

static void assert_combined(const rt_rows *got, const rt_rows *in, k_combine_how how)
{
    int64_t *expected = calloc((size_t)rt_rows_entries(in) * WIDTH, sizeof *expected);
    const int64_t n = naive(in, how, expected);
    assert_int_equal(rt_rows_entries(got), n);
    if (n) assert_memory_equal(got->data->data, expected, (size_t)n * WIDTH * sizeof *expected);
    free(expected);
}

/* For each way of combining, any buckets, devices and cut. */
static void entries_combine_the_same_everywhere(void **state)
{
    (void)state;
    static const int64_t buckets[] = {1, 2, 16, 256};
    for (int how = K_COMBINE_NONE; how <= K_COMBINE_LOWEST; how++)
        for (int k = 0; k < 4; k++)
            for (int set = 0; set < PIPE_SETS + 1; set++) {
                motet_context *c = context_for((uint64_t)set, set ? pipe_sets[set - 1] : "cpu");
                rt_rows *in = source(c, (uint64_t)how), *out = NULL;
                const rt_exchange x = {
                    .name = "test", .buckets = buckets[k], .how = (k_combine_how)how};
                const rt_run_options o = {.cut = {{set % 4}, 0}};
                assert_ok(c, rt_exchange_run(c, &x, in, &o, &out));
                assert_int_equal(out->rows, buckets[k]);
                assert_combined(out, in, (k_combine_how)how);
                const uint64_t *data = out->data->data;
                for (int64_t b = 0; b < out->rows && buckets[k] > 1; b++)
                    for (int64_t i = out->offset[b]; i < out->offset[b + 1]; i++)
                        assert_int_equal(data[i * WIDTH] / (UINT64_MAX / (uint64_t)out->rows + 1),
                                         b);
                assert_clean(c);
                rt_rows_free(in);
                rt_rows_free(out);
                motet_context_free(c);
            }
}

/* Bounds may be anything ascending: empty buckets, all in one, none at all. */
static void bounds_cut_the_keys(void **state)
{
    (void)state;
    motet_context *c = context_for(1, "sim:0,sim:1");
    rt_rows *in = source(c, 3);
    for (uint64_t seed = 0; seed < 30; seed++) {
        uint64_t bound[8], random = seed;
        const int64_t buckets = 1 + (int64_t)(seed % 8);
        for (int64_t b = 0; b < 8; b++)
            bound[b] = (b ? bound[b - 1] : 0) + test_random(&random) / (seed % 3 ? 4 : 1024);
        for (int64_t b = 1; b < 8; b++)
            if (bound[b] < bound[b - 1]) bound[b] = UINT64_MAX;
        const rt_exchange x = {
            .name = "test", .buckets = buckets, .bound = bound, .how = K_COMBINE_SUM};
        rt_rows *out = NULL;
        assert_ok(c, rt_exchange_run(c, &x, in, NULL, &out));
        assert_combined(out, in, K_COMBINE_SUM);
        const uint64_t *data = out->data->data;
        for (int64_t b = 0; b < buckets; b++)
            for (int64_t i = out->offset[b]; i < out->offset[b + 1]; i++) {
                assert_true(b == 0 || data[i * WIDTH] >= bound[b - 1]);
                assert_true(b == buckets - 1 || data[i * WIDTH] < bound[b]);
            }
        rt_rows_free(out);
    }
    rt_rows_free(in);
    assert_clean(c);
    motet_context_free(c);
}

/* No entries, and no rows, are an exchange like others. */
static void nothing_may_be_exchanged(void **state)
{
    (void)state;
    for (int64_t rows = 0; rows < 3; rows++) {
        motet_context *c = context_for(1, "sim:0,cpu");
        const int64_t length[2] = {0, 0};
        rt_rows *in = NULL, *out = NULL;
        assert_ok(c, rt_rows_create(c, "source", rows, length, MOTET_I64, 2, 0, INT64_MAX, &in));
        const rt_exchange x = {.name = "test", .buckets = 8};
        assert_ok(c, rt_exchange_run(c, &x, in, NULL, &out));
        assert_int_equal(out->rows, 8);
        assert_int_equal(rt_rows_entries(out), 0);
        rt_rows_free(in);
        rt_rows_free(out);
        assert_clean(c);
        motet_context_free(c);
    }
}

/* A sum that leaves int64 is an error that names its key; one whose parts do on the way is not. */
static void sums_are_exact_or_refused(void **state)
{
    (void)state;
    static const int64_t fine[4] = {INT64_MAX, INT64_MAX, -INT64_MAX, -5};
    for (int turn = 0; turn < 4; turn++)
        for (int over = 0; over < 2; over++) {
            motet_context *c = context_for(1, "sim:0,cpu");
            const int64_t length[2] = {5, 0};
            rt_rows *in = NULL, *out = NULL;
            assert_ok(c, rt_rows_create(c, "source", 2, length, MOTET_I64, 2, 0, INT64_MAX, &in));
            int64_t *data = in->data->data;
            for (int i = 0; i < 4; i++) data[2 * i] = 99, data[2 * i + 1] = fine[(i + turn) % 4];
            data[8] = over ? 99 : 7;
            data[9] = 6;
            const rt_exchange x = {.name = "test", .buckets = 4, .how = K_COMBINE_SUM};
            const motet_status st = rt_exchange_run(c, &x, in, NULL, &out);
            assert_int_equal(st, over ? MOTET_BAD_DATA : MOTET_OK);
            if (over)
                assert_message(c, "test", "key 99", "int64", NULL);
            else
                assert_int_equal(((int64_t *)out->data->data)[3], INT64_MAX - 5);
            assert_true((out == NULL) == over);
            rt_rows_free(in);
            rt_rows_free(out);
            assert_clean(c);
            motet_context_free(c);
        }
}

/* A walk of many steps, against the same walk by plain means; for any buckets and devices. */
static void a_walk_is_the_same_everywhere(void **state)
{
    (void)state;
    enum { STEPS = 12 };
    motet_context *c = test_context();
    rt_rows *walked = NULL;
    const toy_walk plain = {.steps = STEPS, .buckets = 1};
    assert_ok(c, toy_walk_run(c, &plain, NULL, &walked));
    static int64_t here[256][256], next[256][256]; /* places within 128 of the start */
    memset(here, 0, sizeof here);
    here[0][0] = TOY_WALKERS;
    for (uint32_t step = 0; step < STEPS; step++) {
        memset(next, 0, sizeof next);
        for (uint64_t i = 0; i < 256; i++)
            for (uint64_t j = 0; j < 256; j++) {
                const uint64_t x = i < 128 ? i : i + 0xff00, y = j < 128 ? j : j + 0xff00;
                const int64_t place[2] = {(int64_t)(x << 48 | y << 32), here[i][j]};
                int64_t to[4][2];
                const int n = here[i][j] ? toy_walk_from(7, step, place, to) : 0;
                for (int k = 0; k < n; k++)
                    next[(uint64_t)to[k][0] >> 48 & 255][(uint64_t)to[k][0] >> 32 & 255] +=
                        to[k][1];
            }
        memcpy(here, next, sizeof here);
    }
    const int64_t *data = walked->data->data;
    int64_t there = 0, places = 0;
    for (int64_t i = 0; i < rt_rows_entries(walked); i++) {
        const uint64_t key = (uint64_t)data[2 * i];
        assert_int_equal(here[key >> 48 & 255][key >> 32 & 255], data[2 * i + 1]);
        there += data[2 * i + 1];
    }
    for (int i = 0; i < 256 * 256; i++) places += here[i / 256][i % 256] != 0;
    assert_true(there > 0 && there < TOY_WALKERS && places > 50);

    for (int set = 0; set < PIPE_SETS; set++) {
        motet_context *other = context_for((uint64_t)set, pipe_sets[set]);
        const toy_walk of = {
            .steps = STEPS, .buckets = 1 << 2 * set, .capacity = set % 3 ? set % 3 : 0};
        const rt_run_options o = {.cut = {{11 * set}, 0}};
        rt_rows *again = NULL;
        assert_ok(other, toy_walk_run(other, &of, &o, &again));
        assert_int_equal(rt_rows_entries(again), rt_rows_entries(walked));
        assert_memory_equal(again->data->data, data, walked->data->bytes);
        rt_rows_free(again);
        assert_int_equal(toy_mistakes(), 0);
        assert_clean(other);
        motet_context_free(other);
    }
    rt_rows_free(walked);
    motet_context_free(c);
}

/* Caps, buckets and types that do not do are refused; each failing allocation is; nothing stays. */
static void failures_leave_nothing(void **state)
{
    (void)state;
    motet_context *c = test_context();
    rt_rows *in = source(c, 1), *out = NULL;
    rt_exchange x = {.name = "test", .buckets = 3, .how = K_COMBINE_SUM};
    assert_status(c, rt_exchange_run(c, &x, in, NULL, &out), MOTET_BAD_ARGUMENT);
    x.buckets = 0;
    assert_status(c, rt_exchange_run(c, &x, in, NULL, &out), MOTET_BAD_ARGUMENT);
    x.buckets = 3;
    x.bound = (const uint64_t[]){5, 4};
    assert_status(c, rt_exchange_run(c, &x, in, NULL, &out), MOTET_BAD_ARGUMENT);
    x = (rt_exchange){.name = "test", .buckets = 4, .how = K_COMBINE_SUM, .most_bytes = 5000};
    assert_status(c, rt_exchange_run(c, &x, in, NULL, &out), MOTET_OVER_BUDGET);
    assert_message(c, "test", "4 rows", "5000 are allowed", NULL);
    rt_rows_free(in);
    const int64_t length = 3;
    assert_ok(c, rt_rows_create(c, "floats", 1, &length, MOTET_F32, 2, 0, INT64_MAX, &in));
    assert_status(c, rt_exchange_run(c, &x, in, NULL, &out), MOTET_BAD_SHAPE);
    rt_rows_free(in);
    motet_context_free(c);
    for (int64_t k = 1, over = 0; !over; k++) {
        c = test_context_failing(0, 0);
        assert_ok(c, sim_use(c, NULL, "sim:0"));
        in = source(c, 1);
        x.most_bytes = 0;
        test_context_fail_at(c, k, 0);
        const motet_status st = rt_exchange_run(c, &x, in, NULL, &out);
        over = !test_context_failed(c);
        test_context_fail_at(c, 0, 0);
        assert_true(st == MOTET_OK || (st == MOTET_NO_MEMORY && !over));
        assert_true((st == MOTET_OK) == (out != NULL));
        if (out) assert_combined(out, in, K_COMBINE_SUM);
        rt_rows_free(out);
        rt_rows_free(in);
        out = NULL;
        assert_clean(c);
        motet_context_free(c);
        assert_true(k < 2000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(entries_combine_the_same_everywhere),
                                       cmocka_unit_test(bounds_cut_the_keys),
                                       cmocka_unit_test(nothing_may_be_exchanged),
                                       cmocka_unit_test(sums_are_exact_or_refused),
                                       cmocka_unit_test(a_walk_is_the_same_everywhere),
                                       cmocka_unit_test(failures_leave_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
