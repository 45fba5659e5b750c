/* Rows of unknown length: the same entries however they are counted, cut and shared out; caps that
 * hold; failures that leave nothing behind. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/toy_rows.h"

#include "support/pipe.h"

enum { ROWS = 60 };

typedef enum lengths {
    NONE,  /* no rows */
    EMPTY, /* rows without entries */
    MIXED, /* many short ones, some empty, one huge */
    EVEN,
    LENGTHS
} lengths;

static motet_array *wanted_of(motet_context *c, lengths which)
{
    motet_array *a = NULL;
    assert_ok(c, motet_array_create(c, MOTET_I64, 1, (int64_t[]){which == NONE ? 0 : ROWS}, &a));
    int64_t *n = motet_array_data(a);
    for (int64_t i = 0; i < a->elements; i++)
        n[i] = which == EMPTY ? 0 : which == EVEN ? 4 : i == 17 ? 300 : i * i % 7;
    return a;
}

static void assert_rows(const rt_rows *rows, const motet_array *wanted)
{
    const int64_t *n = wanted->data, *data = rows->data->data;
    assert_int_equal(rows->rows, wanted->elements);
    assert_int_equal(rows->offset[0], 0);
    assert_int_equal(rows->data->shape[0], rt_rows_entries(rows));
    for (int64_t i = 0; i < rows->rows; i++) {
        assert_int_equal(rows->offset[i + 1] - rows->offset[i], n[i]);
        for (int64_t k = 0; k < n[i]; k++)
            for (int w = 0; w < TOY_WIDTH; w++)
                assert_int_equal(data[(rows->offset[i] + k) * TOY_WIDTH + w], toy_emitted(i, k, w));
    }
}

static motet_context *context_for(uint64_t seed, const char *names)
{
    sim_config config;
    sim_config_init(&config);
    config.seed = seed;
    return sim_context(&config, names);
}

/* Counted or within any capacity, on any devices, in any cut: each row holds its own entries. */
static void every_row_holds_its_entries(void **state)
{
    (void)state;
    static const int64_t capacities[] = {0, 1, 4, 6, 400};
    for (int which = 0; which < LENGTHS; which++)
        for (int k = 0; k < 5; k++)
            for (int set = 0; set < PIPE_SETS + 1; set++)
                for (int64_t cut = 0; cut < 20; cut += 1 + cut / 2) {
                    motet_context *c =
                        context_for((uint64_t)(set + cut), set ? pipe_sets[set - 1] : "cpu");
                    motet_array *wanted = wanted_of(c, (lengths)which);
                    const rt_ragged r = toy_emit(wanted, capacities[k]);
                    const rt_run_options o = {.cut = {{cut}, 0}};
                    rt_rows *rows = NULL;
                    assert_ok(c, rt_ragged_run(c, &r, &o, &rows));
                    assert_rows(rows, wanted);
                    assert_int_equal(toy_mistakes(), 0);
                    assert_clean(c);
                    rt_rows_free(rows);
                    motet_array_free(wanted);
                    motet_context_free(c);
                }
}

/* What the refusal says would do. */
static int64_t said_to_take(motet_context *c)
{
    motet_error error;
    motet_context_error(c, &error);
    const char *at = strstr(error.message, " take ");
    assert_non_null(at);
    return strtoll(at + strlen(" take "), NULL, 10);
}

/* A cap is kept to the byte: what it refuses names the bytes, with which it is done; and never is
 * more held than the cap. */
static void caps_are_kept(void **state)
{
    (void)state;
    static const int64_t capacities[] = {0, 4, 400};
    for (int which = EMPTY; which < LENGTHS; which++)
        for (int k = 0; k < 3; k++) {
            motet_context *c = test_context();
            motet_array *wanted = wanted_of(c, (lengths)which);
            rt_ragged r = toy_emit(wanted, capacities[k]);
            rt_rows *rows = NULL;
            assert_ok(c, rt_ragged_run(c, &r, NULL, &rows)); /* warm: the pool, the report */
            rt_rows_free(rows);
            rows = NULL;
            r.most_bytes = 1;
            motet_memory memory;
            motet_context_memory(c, &memory);
            const uint64_t before = memory.now;
            int steps = 0;
            for (motet_status st = MOTET_OVER_BUDGET; st != MOTET_OK; steps++) {
                atomic_store(&c->held_peak, before);
                st = rt_ragged_run(c, &r, NULL, &rows);
                motet_context_memory(c, &memory);
                assert_true(memory.peak - before <= r.most_bytes + PIPE_BOOKS);
                if (st == MOTET_OK) break;
                assert_int_equal(st, MOTET_OVER_BUDGET);
                assert_null(rows);
                assert_message(c, "toy.emit", "rows with", "entries take", "are allowed", NULL);
                assert_int_equal(memory.now, before);
                const uint64_t least = (uint64_t)said_to_take(c);
                assert_true(least > r.most_bytes);
                r.most_bytes = least;
                assert_true(steps < 5);
            }
            assert_rows(rows, wanted);
            rt_rows_free(rows);
            motet_array_free(wanted);
            motet_context_free(c);
        }
}

/* Entries that nobody can count are refused, also where no bound is set. */
static void more_entries_than_can_be_counted_are_refused(void **state)
{
    (void)state;
    static const int64_t capacities[] = {0, 4, INT64_MAX / 2};
    for (int k = 0; k < 3; k++) {
        motet_context *c = test_context();
        motet_array *wanted = NULL;
        assert_ok(c, motet_array_create(c, MOTET_I64, 1, (int64_t[]){4}, &wanted));
        for (int i = 0; i < 4; i++)
            ((int64_t *)motet_array_data(wanted))[i] = k < 2 ? INT64_MAX / 2 : 1;
        const rt_ragged r = toy_emit(wanted, capacities[k]);
        rt_rows *rows = NULL;
        assert_status(c, rt_ragged_run(c, &r, NULL, &rows), MOTET_OVER_BUDGET);
        assert_message(c, "toy.emit", "4 rows with", NULL);
        assert_null(rows);
        motet_array_free(wanted);
        motet_context_free(c);
    }
}

/* A row that no device has room for is named; the budget holds otherwise. */
static void a_row_too_long_is_named(void **state)
{
    (void)state;
    motet_context *c = context_for(1, "sim:0");
    motet_array *wanted = wanted_of(c, MIXED);
    const rt_ragged r = toy_emit(wanted, 0);
    int64_t budget[1] = {4096};
    const rt_run_options o = {.budget = budget};
    rt_rows *rows = NULL;
    assert_status(c, rt_ragged_run(c, &r, &o, &rows), MOTET_OVER_BUDGET);
    assert_message(c, "toy.emit:fill on sim:0", "4096", NULL);
    budget[0] = 16384;
    assert_ok(c, rt_ragged_run(c, &r, &o, &rows));
    assert_rows(rows, wanted);
    sim_counts counts;
    sim_count(c, 0, &counts);
    assert_true(counts.used_peak <= 16384);
    rt_rows_free(rows);
    motet_array_free(wanted);
    assert_clean(c);
    motet_context_free(c);
}

/* A device is lost at each of its commands, alone or not. */
static void losses_anywhere(void **state)
{
    (void)state;
    for (int64_t capacity = 0; capacity < 8; capacity += 5)
        for (int alone = 0; alone < 2; alone++)
            for (int64_t k = 1, over = 0; !over; k++) {
                sim_config config;
                sim_config_init(&config);
                config.seed = (uint64_t)k;
                config.device[0].fault.lose_at_command = k;
                motet_context *c = sim_context(&config, alone ? "sim:0" : "sim:0,sim:2");
                motet_array *wanted = wanted_of(c, MIXED);
                const rt_ragged r = toy_emit(wanted, capacity);
                const rt_run_options o = {.cut = {{7}, 0}};
                rt_rows *rows = NULL;
                const motet_status st = rt_ragged_run(c, &r, &o, &rows);
                sim_counts counts;
                sim_count(c, 0, &counts);
                over = !counts.losses;
                assert_int_equal(st, alone && !over ? MOTET_DEVICE_LOST : MOTET_OK);
                assert_true((st == MOTET_OK) == (rows != NULL));
                if (rows) assert_rows(rows, wanted);
                rt_rows_free(rows);
                motet_array_free(wanted);
                toy_mistakes();
                assert_clean(c);
                motet_context_free(c);
            }
}

/* Each allocation of the host fails, once or from then on: a clean refusal and nothing held. */
static void failing_host_allocations(void **state)
{
    (void)state;
    for (int64_t capacity = 0; capacity < 8; capacity += 5)
        for (int forever = 0; forever < 2; forever++)
            for (int64_t k = 1, over = 0; !over; k++) {
                motet_context *c = test_context_failing(0, 0);
                assert_ok(c, sim_use(c, NULL, "sim:0"));
                motet_array *wanted = wanted_of(c, MIXED);
                const rt_ragged r = toy_emit(wanted, capacity);
                rt_rows *rows = NULL;
                test_context_fail_at(c, k, forever);
                const motet_status st = rt_ragged_run(c, &r, NULL, &rows);
                over = !test_context_failed(c);
                test_context_fail_at(c, 0, 0);
                assert_true(st == MOTET_OK || (st == MOTET_NO_MEMORY && !over));
                assert_true((st == MOTET_OK) == (rows != NULL));
                if (rows) assert_rows(rows, wanted);
                rt_rows_free(rows);
                motet_array_free(wanted);
                assert_clean(c);
                motet_context_free(c);
                assert_true(k < 2000);
            }
}

static void two_axes(rt_ragged *r) { r->op.axes = 2; }
static void a_stream(rt_ragged *r) { r->op.stream_extent = 3; }
static void no_width(rt_ragged *r) { r->width = 0; }
static void less_than_no_room(rt_ragged *r) { r->capacity = -1; }
static void no_fill(rt_ragged *r) { r->fill = NULL; }
static void neither_count_nor_room(rt_ragged *r) { r->count = NULL, r->capacity = 0; }
static void an_update(rt_ragged *r) { r->op.port[0].access = RT_UPDATE; }
static void a_late_port(rt_ragged *r) { r->op.port[RT_LENGTHS] = r->op.port[0]; }
static void a_halo(rt_ragged *r) { r->op.port[0].halo = 1; }
static const int64_t numbers[ROWS + 1];
static void a_list(rt_ragged *r) { r->op.port[0].list = numbers; }
static void an_offset(rt_ragged *r) { r->op.port[0].offset = numbers; }
static const rt_source no_source;
static void a_source(rt_ragged *r) { r->op.port[0].source = &no_source; }

/* Declarations and data that make no sense are refused. */
static void nonsense_is_refused(void **state)
{
    (void)state;
    static void (*const spoil[])(rt_ragged *) = {two_axes,  a_stream,
                                                 no_width,  less_than_no_room,
                                                 no_fill,   neither_count_nor_room,
                                                 an_update, a_late_port,
                                                 a_halo,    a_list,
                                                 an_offset, a_source};
    motet_context *c = test_context();
    motet_array *wanted = wanted_of(c, MIXED);
    rt_rows *rows = NULL;
    rt_ragged r;
    for (size_t i = 0; i < sizeof spoil / sizeof *spoil; i++) {
        r = toy_emit(wanted, 3);
        spoil[i](&r);
        assert_status(c, rt_ragged_run(c, &r, NULL, &rows), MOTET_INTERNAL);
        assert_message(c, "toy.emit", "a ragged operation", NULL);
    }
    ((int64_t *)wanted->data)[5] = -1;
    for (int64_t capacity = 0; capacity < 8; capacity += 5) {
        r = toy_emit(wanted, capacity);
        assert_status(c, rt_ragged_run(c, &r, NULL, &rows), MOTET_BAD_DATA);
        assert_message(c, "toy.emit", "row 5", "-1", NULL);
    }
    assert_null(rows);
    motet_array_free(wanted);
    toy_mistakes();
    motet_context_free(c);
}

/* Counted with one array, filled with another. */
static motet_status fill_more(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    rt_chunk other = *chunk;
    other.port[0] = chunk->port[1];
    return toy_emit(user, 0).fill(&other, queue, NULL);
}

/* A way to fill that finds other lengths than the way to count is a mistake, told with the row. */
static void counting_and_filling_agree(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_array *wanted = wanted_of(c, MIXED), *other = wanted_of(c, MIXED);
    rt_rows *rows = NULL;
    rt_ragged r = toy_emit(wanted, 0);
    r.op.port[1] = (rt_port){.name = "other", .array = other, .access = RT_READ};
    r.op.user = wanted;
    r.fill = fill_more;
    assert_ok(c, rt_ragged_run(c, &r, NULL, &rows));
    assert_rows(rows, wanted);
    rt_rows_free(rows);
    rows = NULL;
    ((int64_t *)other->data)[9]--;
    assert_status(c, rt_ragged_run(c, &r, NULL, &rows), MOTET_INTERNAL);
    assert_message(c, "toy.emit", "row 9", NULL);
    assert_null(rows);
    motet_array_free(wanted);
    motet_array_free(other);
    assert_int_equal(toy_mistakes(), 0);
    motet_context_free(c);
}

/* Rows that run again for want of room see a port that is not cut as they did before; and who
 * gives room need not count. */
static void whole_ports_are_whole_again(void **state)
{
    (void)state;
    motet_context *c = context_for(3, "sim:0,cpu");
    motet_array *wanted = wanted_of(c, MIXED), *other = wanted_of(c, EVEN);
    rt_ragged r = toy_emit(wanted, 3);
    r.count = NULL;
    r.op.port[1] = (rt_port){.name = "other", .array = other, .access = RT_READ, .cut = {RT_WHOLE}};
    rt_rows *rows = NULL;
    assert_ok(c, rt_ragged_run(c, &r, NULL, &rows));
    assert_rows(rows, wanted);
    rt_rows_free(rows);
    motet_array_free(wanted);
    motet_array_free(other);
    assert_int_equal(toy_mistakes(), 0);
    assert_clean(c);
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_holds_its_entries),
        cmocka_unit_test(caps_are_kept),
        cmocka_unit_test(more_entries_than_can_be_counted_are_refused),
        cmocka_unit_test(a_row_too_long_is_named),
        cmocka_unit_test(losses_anywhere),
        cmocka_unit_test(failing_host_allocations),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(counting_and_filling_agree),
        cmocka_unit_test(whole_ports_are_whole_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
