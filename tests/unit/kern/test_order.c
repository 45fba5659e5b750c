#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kern/accumulate.h"
#include "kern/reduce.h"
#include "kern/scan.h"
#include "kern/sort.h"
#include "support/support.h"

static const int64_t sizes[] = {0, 1, 2, 3, 255, 256, 257, 1000, 4097, 1000000};
enum { SIZES = sizeof sizes / sizeof *sizes };
static uint64_t random_state = 21;

/* A scan gives what adding one by one gives, also in place. */
static void scan_adds_what_came_before(void **state)
{
    (void)state;
    for (int s = 0; s < SIZES; s++) {
        const int64_t n = sizes[s];
        int64_t *in = malloc((size_t)n * 8 + 8), *out = malloc((size_t)n * 8 + 8), total = -1;
        assert_true(in && out);
        for (int64_t i = 0; i < n; i++) in[i] = (int64_t)(test_random(&random_state) % 1000);
        assert_int_equal(scan_exclusive(in, n, out, &total), 0);
        int64_t sum = 0;
        for (int64_t i = 0; i < n; i++) {
            assert_int_equal(out[i], sum);
            sum += in[i];
        }
        assert_int_equal(total, sum);
        assert_int_equal(scan_exclusive(in, n, in, &total), 0);
        assert_memory_equal(in, out, (size_t)n * 8);
        free(in);
        free(out);
    }
}

/* Counts that are negative or too large are refused, and nothing is written. */
static void scan_refuses_overflow(void **state)
{
    (void)state;
    const int64_t over[] = {INT64_MAX, 1}, negative[] = {3, -1};
    int64_t out[2] = {7, 7}, total = 7;
    assert_int_equal(scan_exclusive(over, 2, out, &total), 1);
    assert_int_equal(scan_exclusive(negative, 2, out, &total), 1);
    assert_true(out[0] == 7 && out[1] == 7 && total == 7);
    assert_int_equal(scan_exclusive(over, 1, out, &total), 0);
    assert_true(total == INT64_MAX);
}

typedef struct item {
    uint64_t key;
    int64_t payload;
} item;

static int by_key_then_payload(const void *a, const void *b)
{
    const item *x = a, *y = b;
    return x->key != y->key ? (x->key < y->key ? -1 : 1)
                            : (x->payload > y->payload) - (x->payload < y->payload);
}

/* The sort is sorted and stable: equal to a comparison sort that breaks ties by place. Keys of full
 * width, of few values (ties), and that differ in one digit. */
static void sort_is_stable(void **state)
{
    (void)state;
    for (int s = 0; s < SIZES; s++)
        for (int kind = 0; kind < 3; kind++) {
            const int64_t n = sizes[s];
            const size_t bytes = (size_t)n * 8 + 8;
            uint64_t *keys = malloc(bytes), *keys2 = malloc(bytes);
            int64_t *payload = malloc(bytes), *payload2 = malloc(bytes);
            uint32_t *small = malloc(bytes), *small2 = malloc(bytes);
            item *want = malloc((size_t)n * sizeof *want + 1);
            assert_true(keys && keys2 && payload && payload2 && small && small2 && want);
            for (int width = 0; width < 2; width++) {
                for (int64_t i = 0; i < n; i++) {
                    uint64_t key = test_random(&random_state);
                    if (kind == 1) key %= 5;
                    if (kind == 2) key = (key & 255u) << 16 | 0x12000034u;
                    if (width) key &= UINT32_MAX;
                    keys[i] = key;
                    small[i] = (uint32_t)key;
                    payload[i] = i;
                    want[i] = (item){key, i};
                }
                qsort(want, (size_t)n, sizeof *want, by_key_then_payload);
                if (width)
                    sort_u32(small, payload, n, small2, payload2);
                else
                    sort_u64(keys, payload, n, keys2, payload2);
                for (int64_t i = 0; i < n; i++) {
                    assert_true((width ? small[i] : keys[i]) == want[i].key);
                    assert_int_equal(payload[i], want[i].payload);
                }
                if (!width) sort_u64(keys, NULL, n, keys2, NULL);
            }
            free(keys), free(keys2), free(payload), free(payload2), free(small), free(small2),
                free(want);
        }
}

/* Float keys sort as floats do, and come back. */
static void float_keys_keep_the_order(void **state)
{
    (void)state;
    static const float rising[] = {-INFINITY, -1e30f,    -1.0f, -0x1p-149f, -0.0f,
                                   0.0f,      0x1p-149f, 1.0f,  1e30f,      INFINITY};
    for (size_t i = 0; i < sizeof rising / sizeof *rising; i++) {
        if (i) assert_true(sort_key_f32(rising[i - 1]) < sort_key_f32(rising[i]));
        const float back = sort_key_to_f32(sort_key_f32(rising[i]));
        assert_memory_equal(&back, &rising[i], 4);
    }
}

/* Dot products are near the exact sum, and rows may be computed apart and added in order. */
static void dot_of_rows_is_the_sum_of_rows(void **state)
{
    (void)state;
    enum { ROWS = 7, COLUMNS = 9001 };
    static float a[ROWS * COLUMNS], b[ROWS * COLUMNS];
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        a[i] = (float)test_uniform(&random_state, -1, 1);
        b[i] = (float)test_uniform(&random_state, -1, 1);
    }
    double sums[ROWS * 3];
    int64_t blocks = 0;
    for (int r = 0; r < ROWS; r++)
        for (int i = 0; i < COLUMNS; i += K_BLOCK)
            sums[blocks++] = k_dot_block(a + r * COLUMNS + i, b + r * COLUMNS + i,
                                         k_min_i64(K_BLOCK, COLUMNS - i));
    assert_int_equal(blocks, ROWS * k_row_blocks(COLUMNS));
    const double got = reduce_dot(a, b, ROWS, COLUMNS);
    assert_true(got == k_add_blocks(0.0, sums, blocks));
    long double exact = 0.0L;
    for (int i = 0; i < ROWS * COLUMNS; i++) exact += (long double)a[i] * (long double)b[i];
    assert_true(fabsl((long double)got - exact) < 1e-11L);
    assert_true(fabs(reduce_sum(a, ROWS, COLUMNS) - reduce_sum(a, 1, (int64_t)ROWS * COLUMNS)) <
                1e-11);
    assert_true(reduce_dot(a, b, 0, 5) == 0.0 && reduce_dot(a, b, 5, 0) == 0.0);
}

/* NaNs are passed over; zeros have one sign; nothing at all gives NaN. */
static void range_passes_over_nan(void **state)
{
    (void)state;
    float low, high;
    reduce_range((const float[]){NAN, 2.0f, -3.0f, NAN}, 4, &low, &high);
    assert_true(low == -3.0f && high == 2.0f);
    reduce_range((const float[]){-0.0f, 0.0f}, 2, &low, &high);
    assert_true(!signbit(low) && !signbit(high) && low == 0.0f);
    reduce_range((const float[]){NAN}, 1, &low, &high);
    assert_true(isnan(low) && isnan(high));
    reduce_range((const float[]){INFINITY}, 1, &low, &high);
    assert_true(low == INFINITY && high == INFINITY);
    reduce_range((const float[]){-INFINITY, NAN}, 2, &low, &high);
    assert_true(low == -INFINITY && high == -INFINITY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scan_adds_what_came_before),
        cmocka_unit_test(scan_refuses_overflow),
        cmocka_unit_test(sort_is_stable),
        cmocka_unit_test(float_keys_keep_the_order),
        cmocka_unit_test(dot_of_rows_is_the_sum_of_rows),
        cmocka_unit_test(range_passes_over_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
