/* Operations as an engine's author writes the first ones: a map, a reduction, and rows whose length
 * is found on the way. ARCHITECTURE.md, "Writing an operation", walks through them. */
#include <string.h>

#include "kern/accumulate.h"
#include "kern/k.h"
#include "rt/ragged.h"
#include "support/toy.h"

#include "support/pipe.h"

enum { ROWS = 23, COLUMNS = 9, BINS = 5 };

/* ---- A map: scaled[i][j] = gain[i] * x[i][j] ---- */

/* Pointers to the first elements of the chunk's parts; kernel files know no views. */
typedef struct scale_args {
    const float *x, *gain;
    float *scaled;
    int64_t x_stride, scaled_stride, columns;
} scale_args;
static const size_t scale_args_bytes = sizeof(scale_args);

K_FN void scale_item(const scale_args *a, int64_t item, void *scratch)
{
    (void)scratch;
    const int64_t i = item / a->columns, j = item % a->columns; /* within the chunk */
    a->scaled[i * a->scaled_stride + j] = a->gain[i] * a->x[i * a->x_stride + j];
}

/* What K_DEFINE makes of an item function in an engine. */
#define RANGE(name)                                                                                \
    static void name(const void *args, int64_t begin, int64_t end, void *scratch)                  \
    {                                                                                              \
        for (int64_t i = begin; i < end; i++) name##_item(args, i, scratch);                       \
    }                                                                                              \
    TOY_KERNEL(name, name##_args)
RANGE(scale)

enum { X, GAIN, SCALED };

static motet_status enqueue_scale(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    (void)user;
    const rt_view *x = &chunk->port[X], *scaled = &chunk->port[SCALED];
    const scale_args a = {.x = x->data,
                          .gain = chunk->port[GAIN].data,
                          .scaled = scaled->data,
                          .x_stride = x->stride[0],
                          .scaled_stride = scaled->stride[0],
                          .columns = chunk->count[1]};
    return rt_launch(queue, &scale_kernel, &a, chunk->count[0] * chunk->count[1]);
}

static rt_op scale_op(const motet_array *x, const motet_array *gain, const motet_array *scaled)
{
    return (rt_op){
        .name = "example.scale",
        .axes = 2,
        .extent = {scaled->shape[0], scaled->shape[1]},
        .port = {[X] = {.name = "x", .array = x, .access = RT_READ, .cut = {0, 1}},
                 [GAIN] = {.name = "gain", .array = gain, .access = RT_READ, .cut = {0, RT_WHOLE}},
                 [SCALED] = {.name = "scaled", .array = scaled, .access = RT_WRITE, .cut = {0, 1}}},
        .enqueue = enqueue_scale};
}

/* ---- A reduction: bin[b] += how many x have the integer part b ---- */

typedef struct bin_args {
    rt_view x, bins;
} bin_args;
static const size_t bin_args_bytes = sizeof(bin_args);

K_FN void bin_item(const bin_args *a, int64_t item, void *scratch)
{
    (void)scratch;
    const float *row = (const float *)a->x.data + item * a->x.stride[0];
    for (int64_t j = 0; j < a->x.count[1]; j++)
        k_add_i64((int64_t *)a->bins.data + (int64_t)row[j] * a->bins.stride[0], 1);
}
RANGE(bin)

static motet_status enqueue_bin(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    (void)user;
    const bin_args a = {.x = chunk->port[0], .bins = chunk->port[1]};
    return rt_launch(queue, &bin_kernel, &a, chunk->count[0]);
}

static rt_op bin_op(const motet_array *x, const motet_array *bins)
{
    return (rt_op){.name = "example.bin",
                   .axes = 1,
                   .extent = {x->shape[0]},
                   .port = {{.name = "x", .array = x, .access = RT_READ, .cut = {0}},
                            {.name = "bins", .array = bins, .access = RT_ADD, .cut = {RT_WHOLE}}},
                   .enqueue = enqueue_bin};
}

/* ---- Ragged: of each row of x the columns whose value is above a bound ---- */

typedef struct above_args {
    rt_view x, lengths, spans, entries;
    float bound;
} above_args;
static const size_t above_count_args_bytes = sizeof(above_args);
static const size_t above_fill_args_bytes = sizeof(above_args);

/* Item k is row k of the chunk in every view that the box cuts. */
K_FN void above_count_item(const above_args *a, int64_t item, void *scratch)
{
    (void)scratch;
    const float *row = (const float *)a->x.data + item * a->x.stride[0];
    int64_t length = 0;
    for (int64_t j = 0; j < a->x.count[1]; j++) length += row[j] > a->bound;
    ((int64_t *)a->lengths.data)[item * a->lengths.stride[0]] = length;
}

K_FN void above_fill_item(const above_args *a, int64_t item, void *scratch)
{
    (void)scratch;
    const float *row = (const float *)a->x.data + item * a->x.stride[0];
    const int64_t *span = (const int64_t *)a->spans.data + item * a->spans.stride[0];
    int64_t *entry = (int64_t *)a->entries.data +
                     (span[1] - a->entries.first[0]) * a->entries.stride[0]; /* span.first */
    int64_t length = 0;
    for (int64_t j = 0; j < a->x.count[1]; j++) {
        if (!(row[j] > a->bound)) continue;
        if (length < span[2]) entry[length * a->entries.stride[0]] = j; /* span.room */
        length++;
    }
    for (int64_t k = length; k < span[2]; k++) entry[k * a->entries.stride[0]] = 0;
    ((int64_t *)a->lengths.data)[item * a->lengths.stride[0]] = length;
}
typedef above_args above_count_args, above_fill_args;
RANGE(above_count)
RANGE(above_fill)

static above_args above(const rt_chunk *chunk, const void *user)
{
    return (above_args){.x = chunk->port[0],
                        .lengths = chunk->port[RT_LENGTHS],
                        .spans = chunk->port[RT_SPANS],
                        .entries = chunk->port[RT_ENTRIES],
                        .bound = *(const float *)user};
}

static motet_status count_above(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    const above_args a = above(chunk, user);
    return rt_launch(queue, &above_count_kernel, &a, chunk->count[0]);
}

static motet_status fill_above(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    const above_args a = above(chunk, user);
    return rt_launch(queue, &above_fill_kernel, &a, chunk->count[0]);
}

static rt_ragged above_rows(const motet_array *x, const float *bound, int64_t capacity)
{
    return (rt_ragged){.op = {.name = "example.above",
                              .axes = 1,
                              .extent = {x->shape[0]},
                              .port = {{.name = "x", .array = x, .access = RT_READ, .cut = {0}}},
                              .user = bound},
                       .type = MOTET_I64,
                       .width = 1,
                       .count = capacity ? NULL : count_above,
                       .fill = fill_above,
                       .capacity = capacity};
}

/* ---- Run on every set of devices, in every cut, against what a loop says ---- */

static float value_of(int64_t i, int64_t j) { return (float)((i * 7 + j * j * 3) % 47) / 10; }
static float gain_of(int64_t i) { return 0.1f + (float)i / 3; }

typedef void check(motet_context *c, const motet_array *x, const rt_run_options *o);

static void everywhere(check *one)
{
    for (int set = 0; set < PIPE_SETS + 1; set++)
        for (int64_t cut = 0; cut < 9; cut++) {
            sim_config config;
            sim_config_init(&config);
            config.seed = (uint64_t)(set * 9 + cut);
            motet_context *c = sim_context(&config, set ? pipe_sets[set - 1] : "cpu");
            motet_array *x = NULL;
            assert_ok(c, motet_array_create(c, MOTET_F32, 2, (int64_t[]){ROWS, COLUMNS}, &x));
            for (int64_t i = 0; i < ROWS * COLUMNS; i++)
                ((float *)x->data)[i] = value_of(i / COLUMNS, i % COLUMNS);
            const rt_run_options o = {.cut = {{cut, cut / 2}, 0}};
            one(c, x, &o);
            assert_clean(c);
            motet_array_free(x);
            motet_context_free(c);
        }
}

static void check_map(motet_context *c, const motet_array *x, const rt_run_options *o)
{
    motet_array *gain = NULL, *scaled = NULL;
    assert_ok(c, motet_array_create(c, MOTET_F32, 1, (int64_t[]){ROWS}, &gain));
    assert_ok(c, motet_array_create(c, MOTET_F32, 2, x->shape, &scaled));
    for (int64_t i = 0; i < ROWS; i++) ((float *)gain->data)[i] = gain_of(i);
    const rt_op op = scale_op(x, gain, scaled);
    assert_ok(c, rt_run_with(c, &op, o));
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < COLUMNS; j++) {
            const float expected = gain_of(i) * value_of(i, j);
            assert_memory_equal((float *)scaled->data + i * COLUMNS + j, &expected, 4);
        }
    motet_array_free(scaled);
    motet_array_free(gain);
}

static void check_reduction(motet_context *c, const motet_array *x, const rt_run_options *o)
{
    motet_array *bins = NULL;
    assert_ok(c, motet_array_create(c, MOTET_I64, 1, (int64_t[]){BINS}, &bins));
    int64_t expected[BINS] = {100, 0, 0, 0, 0}; /* former contents count */
    memcpy(bins->data, expected, sizeof expected);
    const rt_op op = bin_op(x, bins);
    assert_ok(c, rt_run_with(c, &op, o));
    for (int64_t i = 0; i < ROWS * COLUMNS; i++)
        expected[(int64_t)value_of(i / COLUMNS, i % COLUMNS)]++;
    assert_memory_equal(bins->data, expected, sizeof expected);
    motet_array_free(bins);
}

static void check_ragged(motet_context *c, const motet_array *x, const rt_run_options *o)
{
    const float bound = 3.5f;
    for (int64_t capacity = 0; capacity < 5; capacity += 2) {
        const rt_ragged ragged = above_rows(x, &bound, capacity);
        rt_rows *rows = NULL;
        assert_ok(c, rt_ragged_run(c, &ragged, o, &rows));
        int64_t at = 0;
        for (int64_t i = 0; i < ROWS; i++) {
            assert_int_equal(rows->offset[i], at);
            for (int64_t j = 0; j < COLUMNS; j++)
                if (value_of(i, j) > bound)
                    assert_int_equal(((int64_t *)rows->data->data)[at++], j);
        }
        assert_int_equal(rt_rows_entries(rows), at);
        rt_rows_free(rows);
    }
}

static void a_map_gives_its_values_on_any_devices(void **state)
{
    (void)state;
    everywhere(check_map);
}

static void a_reduction_adds_up_on_any_devices(void **state)
{
    (void)state;
    everywhere(check_reduction);
}

static void ragged_rows_hold_their_entries_on_any_devices(void **state)
{
    (void)state;
    everywhere(check_ragged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_map_gives_its_values_on_any_devices),
        cmocka_unit_test(a_reduction_adds_up_on_any_devices),
        cmocka_unit_test(ragged_rows_hold_their_entries_on_any_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
