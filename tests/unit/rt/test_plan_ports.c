/* Bytes of ports that are more than a part of an array: what plans say of them. */
#include <stdlib.h>
#include <string.h>

#include "rt/plan.h"
#include "support/support.h"

enum { PORT = 3 };

static motet_array array_of(motet_type type, int axes, int64_t a, int64_t b)
{
    motet_array x = {.type = type, .axes = axes, .shape = {a, b}, .elements = axes > 1 ? a * b : a};
    x.bytes = (size_t)x.elements * motet_type_bytes(type);
    return x;
}

/* One device, of memory of its own or the host's, and one port beside a result of 100 x 10. */
typedef struct setting {
    motet_array port, out;
    rt_op op;
} setting;

static void set(setting *s, const rt_port *port)
{
    s->out = array_of(MOTET_F32, 2, 100, 10);
    s->op = (rt_op){.name = "bytes",
                    .axes = 2,
                    .extent = {100, 10},
                    .stream_extent = 30,
                    .port = {{.name = "out", .array = &s->out, .access = RT_WRITE, .cut = {0, 1}}}};
    s->op.port[PORT] = *port;
    s->op.port[PORT].name = "port";
    s->op.port[PORT].array = &s->port;
}

static rt_share share_of(const setting *s, int host_visible, const rt_cut *cut)
{
    motet_context *c = test_context();
    const rt_plan_device d = {
        .name = "device", .host_visible = host_visible, .free = RT_UNKNOWN, .workers = 1};
    const rt_plan_options o = {.cut = *cut};
    rt_plan plan;
    assert_ok(c, rt_plan_make(c, &s->op, &d, 1, &o, &plan));
    motet_context_free(c);
    return plan.share[0];
}

static int64_t up(int64_t bytes) { return (bytes + RT_ALIGN - 1) / RT_ALIGN * RT_ALIGN; }

static const rt_cut cut = {{20, 10}, 6}; /* 5 chunks, 5 blocks */

/* In each of three slots: the result, 20 x 10 float32, and the port's. */
static void assert_chunk(const setting *s, int64_t bytes)
{
    const rt_share far = share_of(s, 0, &cut), near = share_of(s, 1, &cut);
    assert_int_equal(far.slots, 3);
    assert_int_equal(far.chunk_bytes, up(800) + bytes);
    assert_int_equal(far.peak_bytes, 3 * far.chunk_bytes);
    assert_int_equal(far.staging_bytes, 3 * far.chunk_bytes);
    assert_int_equal(near.chunk_bytes, bytes); /* the result is computed in place */
    assert_int_equal(near.peak_bytes, 0);
    assert_int_equal(near.staging_bytes, 3 * bytes);
}

static void sums_have_a_part_for_each_chunk(void **state)
{
    (void)state;
    setting s = {.port = array_of(MOTET_I64, 2, 100, 7)};
    set(&s, &(rt_port){.access = RT_ADD, .cut = {RT_WHOLE, RT_WHOLE}});
    assert_chunk(&s, up(100 * 7 * 8));
    s.op.port[PORT].cut[0] = 0;
    assert_chunk(&s, up(20 * 7 * 8));
    motet_context *c = test_context();
    const rt_plan_device d = {.name = "d", .free = RT_UNKNOWN};
    rt_plan plan;
    assert_ok(c, rt_plan_make(c, &s.op, &d, 1, NULL, &plan));
    assert_int_equal(plan.private_bytes, 4000 + 5600); /* both are written whole or not at all */
    motet_context_free(c);
}

static void listed_rows_are_those_of_the_chunk(void **state)
{
    (void)state;
    int64_t list[100] = {0};
    setting s = {.port = array_of(MOTET_F32, 2, 5000, 11)};
    set(&s, &(rt_port){.access = RT_READ, .cut = {0, RT_WHOLE}, .list = list, .list_count = 100});
    assert_chunk(&s, up(20 * 11 * 4));
    const rt_cut whole = {{100, 10}, 0};
    const rt_share one = share_of(&s, 0, &whole);
    assert_int_equal(one.fixed_bytes, up(100 * 11 * 4)); /* not the 5000 rows */
}

static void sources_and_sinks_take_what_arrays_would(void **state)
{
    (void)state;
    const rt_source source = {.read = (motet_status(*)(const rt_view *, void *))1};
    const rt_sink sink = {.take = (motet_status(*)(const rt_view *, void *))1};
    setting s = {.port = array_of(MOTET_F64, 2, 100, 10)};
    set(&s, &(rt_port){.access = RT_READ, .cut = {0, 1}, .source = &source});
    assert_chunk(&s, up(20 * 10 * 8));
    set(&s, &(rt_port){.access = RT_WRITE, .cut = {0, 1}, .sink = &sink});
    assert_chunk(&s, up(20 * 10 * 8));
    motet_context *c = test_context();
    const rt_plan_device d = {.name = "d", .free = RT_UNKNOWN};
    rt_plan plan;
    assert_ok(c, rt_plan_make(c, &s.op, &d, 1, NULL, &plan));
    assert_int_equal(plan.private_bytes, 4000); /* none for what goes to the sink */
    motet_context_free(c);
}

static motet_status make(const rt_chunk *chunk, const rt_view *raw, const rt_view *made,
                         const rt_queue *queue, const void *user)
{
    (void)chunk, (void)raw, (void)made, (void)queue, (void)user;
    return MOTET_OK;
}

/* What a transform makes lies once where one stream computes, twice where two do. */
static void made_blocks_have_places(void **state)
{
    (void)state;
    setting s = {.port = array_of(MOTET_F32, 2, 30, 10)};
    set(&s, &(rt_port){.access = RT_READ,
                       .cut = {RT_WHOLE, 1},
                       .streamed = 1,
                       .transform = make,
                       .made_type = MOTET_F64});
    const rt_share far = share_of(&s, 0, &cut), near = share_of(&s, 1, &cut);
    assert_int_equal(far.block_bytes, up(6 * 10 * 4));
    assert_int_equal(far.made_bytes, up(6 * 10 * 8));
    assert_int_equal(far.peak_bytes, 3 * up(800) + 3 * far.block_bytes + far.made_bytes);
    assert_int_equal(near.block_bytes, 0);
    assert_int_equal(near.made_bytes, 2 * up(6 * 10 * 8));
    assert_int_equal(near.staging_bytes, near.made_bytes);
}

/* A ragged port's buffer holds any so many rows, is little more than they need, grows with their
 * number, and is exact for one row and for all. */
static void ragged_buffers_hold_any_rows(void **state)
{
    (void)state;
    enum { ROWS = 700 };
    int64_t offset[ROWS + 1] = {0};
    for (uint64_t seed = 0; seed < 6; seed++) {
        uint64_t random = seed;
        for (int64_t i = 0; i < ROWS; i++) {
            const int huge = test_random(&random) % 200 == 0;
            offset[i + 1] = offset[i] + (int64_t)(test_random(&random) % (huge ? 5000 : 300));
        }
        setting s = {.port = array_of(MOTET_U8, 1, offset[ROWS], 0)};
        s.op = (rt_op){.name = "ragged", .axes = 1, .extent = {ROWS}};
        s.op.port[PORT] = (rt_port){.array = &s.port, .access = RT_READ, .offset = offset};
        int64_t former = 0;
        for (int64_t rows = 1; rows <= ROWS; rows++) {
            rt_share share = {.rows = ROWS, .cut = {{rows, 1, 1}, 1}};
            const int64_t bytes = rt_share_port_bytes(&share, &s.op, &s.op.port[PORT]);
            int64_t most = 0, beyond = 0; /* of so many rows; of a sixteenth more */
            const int64_t longer = rows + rows / 16 < ROWS ? rows + rows / 16 : ROWS;
            for (int64_t i = 0; i + rows <= ROWS; i++)
                if (offset[i + rows] - offset[i] > most) most = offset[i + rows] - offset[i];
            for (int64_t i = 0; i + longer <= ROWS; i++)
                if (offset[i + longer] - offset[i] > beyond)
                    beyond = offset[i + longer] - offset[i];
            assert_true(bytes >= up(most) && bytes <= up(beyond) && bytes >= former);
            if (rows < 32 || rows == ROWS) assert_int_equal(bytes, up(most));
            former = bytes;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_have_a_part_for_each_chunk),
                                       cmocka_unit_test(listed_rows_are_those_of_the_chunk),
                                       cmocka_unit_test(sources_and_sinks_take_what_arrays_would),
                                       cmocka_unit_test(made_blocks_have_places),
                                       cmocka_unit_test(ragged_buffers_hold_any_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
