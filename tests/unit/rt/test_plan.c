/* The planner on cases whose plan can be written down by hand. */
#include "rt/plan.h"

#include <stdio.h>
#include <string.h>

#include "support/support.h"

enum { MAP_IN, MAP_TABLE, MAP_OUT };

/* An array of sizes only. */
static motet_array sizes(motet_type type, int axes, int64_t a, int64_t b, int64_t c)
{
    motet_array x = {.type = type, .axes = axes, .shape = {a, b, c}};
    int64_t bytes = (int64_t)motet_type_bytes(type);
    for (int i = 0; i < axes; i++)
        if (__builtin_mul_overflow(bytes, x.shape[i], &bytes)) bytes = INT64_MAX;
    x.bytes = (size_t)bytes;
    return x;
}

static motet_array in, table, out;

/* 1000 rows of 256 floats, read and written, and a table of 1000 bytes. */
static rt_op map_of(int64_t rows, int64_t columns)
{
    in = sizes(MOTET_F32, 2, rows, columns, 0);
    out = in;
    table = sizes(MOTET_U8, 1, 1000, 0, 0);
    return (rt_op){
        .name = "toy.map:2",
        .axes = 2,
        .extent = {rows, columns},
        .port = {[MAP_IN] = {.name = "in", .array = &in, .access = RT_READ, .cut = {0, 1}},
                 [MAP_TABLE] = {.name = "table",
                                .array = &table,
                                .access = RT_READ,
                                .cut = {RT_WHOLE, RT_WHOLE}},
                 [MAP_OUT] = {.name = "out", .array = &out, .access = RT_WRITE, .cut = {0, 1}}}};
}

static const rt_plan_device two[2] = {{.name = "sim:0", .free = RT_UNKNOWN},
                                      {.name = "sim:1", .free = RT_UNKNOWN}};
static motet_context *context;

static rt_plan plan_of(const rt_op *op, const rt_plan_device *devices, int count,
                       const rt_plan_options *options)
{
    rt_plan p;
    assert_ok(context, rt_plan_make(context, op, devices, count, options, &p));
    return p;
}

/* Bytes are those of the formula in plan.h: fixed, slots times chunk, ring times block. */
static void bytes_are_those_of_the_ports(void **state)
{
    (void)state;
    const rt_op op = map_of(1000, 256);
    rt_plan_options o = {.cut = {{100, 0, 0}, 0}};
    rt_plan p = plan_of(&op, two, 1, &o);
    const rt_share *s = &p.share[0];
    assert_int_equal(s->chunks, 10);
    assert_int_equal(s->fixed_bytes, 1024); /* 1000, rounded up */
    assert_int_equal(s->chunk_bytes, 2 * 100 * 256 * 4);
    assert_int_equal(s->slots, 3);
    assert_int_equal(s->ring, 0);
    assert_int_equal(s->peak_bytes, 1024 + 3 * 2 * 100 * 256 * 4);
    assert_int_equal(s->staging_bytes, s->peak_bytes);
    assert_int_equal(p.private_bytes, 1000 * 256 * 4);
    assert_int_equal(p.host_bytes, p.private_bytes + s->staging_bytes);
    assert_int_equal(p.row_bytes, 2 * 256 * 4);
    assert_int_equal(p.mode, RT_CHUNKED);
    o.cut.rows[0] = 1000; /* one chunk: one buffer, and nothing is left to be sent twice */
    p = plan_of(&op, two, 1, &o);
    assert_int_equal(p.share[0].slots, 1);
    assert_int_equal(p.share[0].peak_bytes, 1024 + 2 * 1000 * 256 * 4);
    assert_int_equal(rt_share_port(&p.share[0], &op.port[MAP_OUT], op.axes), RT_OF_CHUNK);
    const rt_plan_device busy = {.name = "sim:0", .free = RT_UNKNOWN, .reserved = 5000};
    p = plan_of(&op, &busy, 1, &o);
    assert_int_equal(p.share[0].peak_bytes, 5000 + 1024 + 2 * 1000 * 256 * 4);
}

/* A halo is charged on both sides; a streamed port by ring and block, or once when its whole stays.
 */
static void halos_and_streams_are_charged(void **state)
{
    (void)state;
    rt_op op = map_of(1000, 256);
    op.port[MAP_IN].halo = 7;
    rt_plan_options o = {.cut = {{100, 0, 0}, 0}};
    rt_plan p = plan_of(&op, two, 1, &o);
    assert_int_equal(p.share[0].chunk_bytes, (100 + 114) * 256 * 4);

    const motet_array terms = sizes(MOTET_F64, 2, 360, 512, 0);
    op = map_of(1000, 256);
    op.port[MAP_TABLE] = (rt_port){.name = "terms",
                                   .array = &terms,
                                   .access = RT_READ,
                                   .cut = {RT_WHOLE, RT_WHOLE},
                                   .streamed = 1,
                                   .stream_axis = 0};
    op.stream_extent = 360;
    op.stream_block = 8;
    o.cut.stream_rows = 30; /* becomes 32 */
    p = plan_of(&op, two, 1, &o);
    assert_int_equal(p.mode, RT_STREAMED);
    assert_int_equal(p.share[0].cut.stream_rows, 32);
    assert_int_equal(p.share[0].blocks, 12);
    assert_int_equal(p.share[0].ring, 3);
    assert_int_equal(p.share[0].block_bytes, 32 * 512 * 8);
    assert_int_equal(rt_share_port(&p.share[0], &op.port[MAP_TABLE], op.axes), RT_OF_BLOCK);
    o.cut.stream_rows = 360;
    p = plan_of(&op, two, 1, &o);
    assert_int_equal(p.share[0].ring, 0);
    assert_int_equal(p.share[0].fixed_bytes, 360 * 512 * 8);
    assert_int_equal(rt_share_port(&p.share[0], &op.port[MAP_TABLE], op.axes), RT_FIXED);
}

/* Blocks grow to about 4 MiB before chunks grow, and beyond only when the chunks are as large as
 * wanted. */
static void blocks_have_a_useful_size(void **state)
{
    (void)state;
    const motet_array terms = sizes(MOTET_F32, 2, 100000, 1024, 0);
    rt_op op = map_of(1000, 1024);
    op.port[MAP_TABLE] = (rt_port){.name = "terms",
                                   .array = &terms,
                                   .access = RT_READ,
                                   .cut = {RT_WHOLE, RT_WHOLE},
                                   .streamed = 1};
    op.stream_extent = 100000;
    op.stream_block = 10;
    rt_plan_device d = {.name = "sim:0", .free = RT_UNKNOWN, .budget = 14000000};
    rt_plan p = plan_of(&op, &d, 1, NULL);
    assert_int_equal(p.mode, RT_STREAMED);
    assert_int_equal(p.share[0].cut.stream_rows, 1020);
    assert_in_range(p.share[0].cut.rows[0], 2, 249);
    d.budget = 10000000; /* three blocks of 1020 rows do not fit */
    p = plan_of(&op, &d, 1, NULL);
    assert_int_equal(p.share[0].cut.rows[0], 1);
    assert_in_range(p.share[0].cut.stream_rows, 700, 1010);
    d.budget = 30000000; /* the chunks that are wanted leave room */
    p = plan_of(&op, &d, 1, NULL);
    assert_int_equal(p.share[0].cut.rows[0], 250);
    assert_in_range(p.share[0].cut.stream_rows, 1030, 2500);
    assert_int_equal(p.share[0].cut.stream_rows % 10, 0);
}

/* P2: the refusal names operation, device, budget, fixed bytes, bytes of a row, chunks in flight,
 * minimum. */
static void refusals_name_everything(void **state)
{
    (void)state;
    rt_op op = map_of(1000, 256);
    op.grain[0] = 4;
    op.grain[1] = 256;
    rt_plan_device d = {.name = "sim:3", .free = RT_UNKNOWN, .budget = 9000};
    rt_plan p;
    memset(&p, 0x55, sizeof p);
    const rt_plan before = p;
    assert_status(context, rt_plan_make(context, &op, &d, 1, NULL, &p), MOTET_OVER_BUDGET);
    assert_memory_equal(&p, &before, sizeof p);
    /* 1024 fixed, a chunk of 4 rows of 2048 bytes */
    assert_message(context, "toy.map:2", "sim:3", "budget is 9000", "1024 are fixed",
                   "a row takes 2048", "1 chunk in flight", "4 rows", "at least 9216 bytes", NULL);
    d.reserved = 300; /* who holds them can give them back */
    assert_status(context, rt_plan_make(context, &op, &d, 1, NULL, &p), MOTET_OVER_BUDGET);
    assert_message(context, "1324 are fixed (300 are held already", "until it ends: wait for that",
                   "at least 9516 bytes", NULL);
    d.reserved = 0;
    d.budget = 9216;
    p = plan_of(&op, &d, 1, NULL);
    assert_int_equal(p.share[0].cut.rows[0], 4);
    assert_int_equal(p.share[0].peak_bytes, 9216);
    d = (rt_plan_device){.name = "sim:3", .free = 10000}; /* three quarters are too few */
    assert_status(context, rt_plan_make(context, &op, &d, 1, NULL, &p), MOTET_OVER_BUDGET);
    assert_message(context, "budget is 7500", "three quarters of the 10000 free", NULL);
    d.budget = 9300;
    (void)plan_of(&op, &d, 1, NULL);
    d.free = 100;
    assert_status(context, rt_plan_make(context, &op, &d, 1, NULL, &p), MOTET_OVER_BUDGET);
    assert_message(context, "budget is 100", "all that is free", NULL);
}

/* An explicit chunk is used: rounded up to the grain, at most the share, never shrunk for a budget.
 */
static void explicit_chunks_are_kept(void **state)
{
    (void)state;
    rt_op op = map_of(1000, 256);
    op.grain[0] = 16;
    rt_plan_options o = {.cut = {{17, 0, 0}, 0}};
    assert_int_equal(plan_of(&op, two, 1, &o).share[0].cut.rows[0], 32);
    o.cut.rows[0] = 5000;
    assert_int_equal(plan_of(&op, two, 1, &o).share[0].cut.rows[0], 1000);
    o.cut.rows[0] = 100;
    const int64_t needed = 1024 + 112 * 2048;
    rt_plan_device d = {.name = "sim:0", .free = RT_UNKNOWN, .budget = needed};
    assert_int_equal(plan_of(&op, &d, 1, &o).share[0].cut.rows[0], 112);
    d.budget--;
    rt_plan p;
    assert_status(context, rt_plan_make(context, &op, &d, 1, &o, &p), MOTET_OVER_BUDGET);
    assert_message(context, "112 rows, as asked for", "at least 230400 bytes", NULL);
    assert_int_equal(needed, 230400);
}

/* What does not fit with one row of axis 0 is cut along axis 1, then along axis 2. */
static void the_next_axis_is_cut_when_one_row_is_too_much(void **state)
{
    (void)state;
    motet_array cube = sizes(MOTET_F32, 3, 64, 64, 64);
    const rt_op op = {
        .name = "toy.cube",
        .axes = 3,
        .extent = {64, 64, 64},
        .port = {{.name = "cube", .array = &cube, .access = RT_WRITE, .cut = {0, 1, 2}}}};
    rt_plan_device d = {.name = "sim:0", .free = RT_UNKNOWN, .budget = 3 * 4 * 64 * 64 * 5};
    rt_plan p = plan_of(&op, &d, 1, NULL);
    assert_int_equal(p.share[0].cut.rows[0], 5);
    assert_int_equal(p.share[0].cut.rows[1], 64);
    d.budget = 3 * 4 * 64 * 20;
    p = plan_of(&op, &d, 1, NULL);
    assert_int_equal(p.share[0].cut.rows[0], 1);
    assert_int_equal(p.share[0].cut.rows[1], 20);
    assert_int_equal(p.share[0].cut.rows[2], 64);
    d.budget = 3 * 256;
    p = plan_of(&op, &d, 1, NULL);
    assert_int_equal(p.share[0].cut.rows[1], 1);
    assert_int_equal(p.share[0].cut.rows[2], 64); /* 64 floats are 256 bytes, the smallest buffer */
    assert_int_equal(p.share[0].slots, 3);
    d.budget = 256 - 1;
    assert_status(context, rt_plan_make(context, &op, &d, 1, NULL, &p), MOTET_OVER_BUDGET);
}

/* Before an operation is refused, fewer chunks are in flight: first two of the smallest, then one,
 * and as many blocks of the stream. */
static void fewer_chunks_are_in_flight_when_memory_is_tight(void **state)
{
    (void)state;
    rt_op op = map_of(1000, 256);
    op.grain[0] = 4;
    op.grain[1] = 256;
    rt_plan_device d = {.name = "sim:0", .free = RT_UNKNOWN};
    for (int slots = 1; slots <= 3; slots++) {
        const int64_t least = 1024 + slots * 4 * 2048;
        for (int more = 0; more < 2; more++) {
            d.budget = more ? least + 4 * 2048 - 1 : least;
            const rt_plan p = plan_of(&op, &d, 1, NULL);
            assert_int_equal(p.share[0].slots, slots);
            assert_int_equal(p.share[0].cut.rows[0], 4);
            assert_int_equal(p.share[0].peak_bytes, least);
            assert_int_equal(p.share[0].staging_bytes, least);
        }
    }
    const motet_array terms = sizes(MOTET_F64, 2, 360, 512, 0);
    op.port[MAP_TABLE] = (rt_port){.name = "terms",
                                   .array = &terms,
                                   .access = RT_READ,
                                   .cut = {RT_WHOLE, RT_WHOLE},
                                   .streamed = 1};
    op.stream_extent = 360;
    d.budget = 4 * 2048 + 512 * 8;
    assert_int_equal(plan_of(&op, &d, 1, NULL).share[0].ring, 1);
    d.budget *= 2;
    assert_int_equal(plan_of(&op, &d, 1, NULL).share[0].ring, 2);
}

/* A device that sees host memory uses arrays in place: nothing but the private copies is counted.
 */
static void arrays_are_used_in_place_on_the_cpu(void **state)
{
    (void)state;
    rt_op op = map_of(1000, 256);
    const rt_plan_device cpu = {.name = "cpu", .host_visible = 1, .free = 10};
    rt_plan p = plan_of(&op, &cpu, 1, NULL);
    assert_int_equal(p.mode, RT_SINGLE);
    assert_int_equal(p.share[0].peak_bytes, 0);
    assert_int_equal(p.share[0].staging_bytes, 0);
    assert_int_equal(p.host_bytes, 1000 * 256 * 4);
    assert_int_equal(p.share[0].cut.rows[0], rt_cut_choose(&op, 0).rows[0]);
    out.flags = MOTET_WRITE_DIRECT;
    assert_int_equal(plan_of(&op, &cpu, 1, NULL).host_bytes, 0);
    op.port[MAP_IN].array = &out; /* read, too: as it was before */
    assert_int_equal(plan_of(&op, &cpu, 1, NULL).host_bytes, 1000 * 256 * 4);
    const rt_plan_options o = {.host_memory = 1024000 - 1};
    assert_status(context, rt_plan_make(context, &op, &cpu, 1, &o, &p), MOTET_OVER_BUDGET);
    assert_message(context, "toy.map:2", "host", "1023999", "at least 1024000 bytes", NULL);
}

/* P2: a run whose private copies would pass the context's bound is refused before anything begins.
 */
static void runs_are_refused_before_they_begin(void **state)
{
    (void)state;
    motet_context_options o;
    motet_context_options_init(&o);
    o.host_memory = 1024000;
    motet_context *c = NULL;
    assert_int_equal(motet_context_create(&o, &c), MOTET_OK);
    const rt_op op = map_of(1000, 256); /* without data or kernel: touching them would crash */
    motet_memory before, after;
    motet_context_memory(c, &before);
    assert_status(c, rt_run(c, &op), MOTET_OVER_BUDGET);
    assert_message(c, "toy.map:2 on the host", "bound is 1024000", "private copies take 1024000",
                   "a row takes 2048", "with 1 chunk in flight", NULL);
    motet_context_memory(c, &after);
    assert_int_equal(after.peak, before.peak);
    motet_context_free(c);
}

/* The bound on the host holds for staging, too; the minimum that the refusal tells is enough. */
static void staging_fits_the_host(void **state)
{
    (void)state;
    const rt_op op = map_of(1000, 256);
    rt_plan_options o = {.host_memory = 2000000, .host_held = 1000};
    const rt_plan p = plan_of(&op, two, 2, &o);
    assert_true(p.host_bytes + 1000 <= 2000000);
    assert_true(p.share[0].cut.rows[0] < 125 && p.share[0].cut.rows[0] > 60);
    o.host_memory = 1025000; /* nothing is left */
    rt_plan q;
    assert_status(context, rt_plan_make(context, &op, two, 2, &o, &q), MOTET_OVER_BUDGET);
    /* each device: 1024 of the table, a chunk of two buffers of 256 */
    const int64_t least = 1024000 + 1000 + 2 * (1024 + 512);
    char text[64];
    snprintf(text, sizeof text, "at least %lld bytes", (long long)least);
    assert_message(context, "on the host", "1000 are held", text, NULL);
    o.host_memory = least;
    (void)plan_of(&op, two, 2, &o);
    o.host_memory = least - 1;
    assert_status(context, rt_plan_make(context, &op, two, 2, &o, &q), MOTET_OVER_BUDGET);
}

/* Bounds are floor(total * cumulative / sum), moved to the nearest grain; a weight of 0 idles. */
static void shares_follow_weights(void **state)
{
    (void)state;
    static const struct {
        int64_t rows, grain;
        double weight[3];
        int64_t share[3];
    } cases[] = {
        {100, 1, {1, 1, 1}, {33, 33, 34}},
        {100, 1, {0.1, 0.1, 0.1}, {33, 33, 34}},
        {4, 1, {1, 3, 0}, {1, 3, 0}},
        {4, 1, {0.1, 0.3, 0}, {1, 3, 0}},
        {100, 1, {0, 1, 0}, {0, 100, 0}},
        {100, 1, {2, 0, 2}, {50, 0, 50}},
        {100, 32, {1, 1, 1}, {32, 32, 36}},
        {10, 32, {1, 1, 1}, {0, 0, 10}},
        {1, 1, {5, 5, 5}, {0, 0, 1}},
        {96, 32, {1, 1, 1}, {32, 32, 32}},
        {1000000, 1, {1e-300, 3e-300, 0}, {250000, 750000, 0}},
        {48, 32, {1, 2, 0}, {32, 16, 0}},
        {9, 1, {0.3, 0.3, 0.3}, {3, 3, 3}},
        {1000, 1, {1e-20, 1, 0}, {0, 1000, 0}},
        {(int64_t)1 << 59, 1, {0, 1, 0}, {0, (int64_t)1 << 59, 0}},
    };
    const rt_plan_device three[3] = {two[0], two[1], {.name = "sim:2", .free = RT_UNKNOWN}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rt_op op = map_of(cases[i].rows, 8);
        op.grain[0] = cases[i].grain;
        op.grain[1] = 8; /* nothing to share out there */
        rt_weights w = {NULL, 3, {cases[i].weight[0], cases[i].weight[1], cases[i].weight[2]}};
        const rt_plan_options o = {.weights = &w, .weightings = 1};
        const rt_plan p = plan_of(&op, three, 3, &o);
        int64_t first = 0;
        for (int k = 0; k < 3; k++) {
            if (p.share[k].rows != cases[i].share[k])
                fail_msg("case %zu: device %d has %lld rows, expected %lld", i, k,
                         (long long)p.share[k].rows, (long long)cases[i].share[k]);
            assert_int_equal(p.share[k].first, first);
            assert_int_equal(p.share[k].chunks > 0, p.share[k].rows > 0);
            first += p.share[k].rows;
        }
    }
}

/* A box that is flat along axis 0 is shared out along the next axis that has a grain for everyone.
 */
static void flat_boxes_are_shared_along_another_axis(void **state)
{
    (void)state;
    rt_op op = map_of(6, 256);
    op.grain[0] = 32;
    op.grain[1] = 8;
    rt_plan p = plan_of(&op, two, 2, NULL);
    assert_int_equal(p.share[1].axis, 1);
    assert_int_equal(p.share[1].first, 128);
    assert_int_equal(p.share[1].rows, 128);
    assert_int_equal(p.share[1].cut.rows[0], 6);
    assert_int_equal(p.share[1].cut.rows[1], 32);
    assert_int_equal(p.row_bytes, 2 * 6 * 4);
    op.grain[0] = 3; /* enough for two */
    p = plan_of(&op, two, 2, NULL);
    assert_int_equal(p.share[1].axis, 0);
    assert_int_equal(p.share[1].first, 3);
    const rt_weights one = {NULL, 2, {0, 1}};
    const rt_plan_options o = {.weights = &one, .weightings = 1};
    op.grain[0] = 32;
    p = plan_of(&op, two, 2, &o);
    assert_int_equal(p.share[1].axis, 0);
    assert_int_equal(p.share[1].rows, 6);
}

/* The exact operation wins over its family, the family over the general weights. */
static void the_longest_name_of_weights_wins(void **state)
{
    (void)state;
    rt_op op = map_of(100, 8);
    const rt_weights all[] = {{NULL, 2, {1, 0}},
                              {"toy.map", 2, {1, 9}},
                              {"toy.map:2", 2, {3, 7}},
                              {"toy.ma", 2, {5, 5}},
                              {"toy", 2, {2, 8}}};
    const rt_plan_options o = {.weights = all, .weightings = 5};
    static const struct {
        const char *name;
        int64_t first;
    } cases[] = {{"toy.map:2", 30}, {"toy.map:3", 10}, {"toy.map", 10},   {"toy.map_all", 10},
                 {"toy.maps", 20},  {"toy.ma", 50},    {"toys.map", 100}, {"other", 100}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        op.name = cases[i].name;
        assert_int_equal(plan_of(&op, two, 2, &o).share[0].rows, cases[i].first);
    }
}

/* Mistakes in options are refused, naming option and values; the plan is untouched. */
static void bad_options_are_refused(void **state)
{
    (void)state;
    const rt_op op = map_of(100, 8);
    static const rt_weights bad[] = {{"toy", 1, {1}},   {NULL, 2, {-1, 2}},
                                     {NULL, 2, {0, 0}}, {NULL, 2, {1e308 * 10, 1}},
                                     {"", 2, {1, 1}},   {NULL, 17, {1, 1, 1, 1, 1, 1, 1, 1}}};
    static const char *const words[] = {"toy",    "-1, 2", "0, 0",
                                        "inf, 1", "name",  "1, 1, 1, 1, 1, 1, 1, 1"};
    rt_plan p;
    for (int i = 0; i < 6; i++) {
        const rt_plan_options o = {.weights = &bad[i], .weightings = 1};
        assert_status(context, rt_plan_make(context, &op, two, 2, &o, &p), MOTET_BAD_ARGUMENT);
        assert_message(context, "weights", words[i], NULL);
    }
    rt_plan_options o = {.chunks_per_device = 1};
    assert_status(context, rt_plan_make(context, &op, two, 2, &o, &p), MOTET_BAD_ARGUMENT);
    assert_message(context, "chunks_per_device is 1", "unpipelined", NULL);
    o = (rt_plan_options){.cut = {{-3, 0, 0}, 0}};
    assert_status(context, rt_plan_make(context, &op, two, 2, &o, &p), MOTET_BAD_ARGUMENT);
    assert_message(context, "-3 rows of axis 0", NULL);
    o = (rt_plan_options){.cut = {.stream_rows = -4}};
    assert_status(context, rt_plan_make(context, &op, two, 2, &o, &p), MOTET_BAD_ARGUMENT);
    assert_message(context, "-4 rows of the stream", NULL);
    const rt_plan_options negative[] = {{.host_memory = -1},
                                        {.host_held = -1},
                                        {.shard_rows = -1},
                                        {.weightings = -1},
                                        {.chunks_per_device = -1}};
    for (int i = 0; i < 5; i++) {
        assert_status(context, rt_plan_make(context, &op, two, 2, &negative[i], &p),
                      MOTET_BAD_ARGUMENT);
        assert_message(context, "-1", NULL);
    }
    assert_status(context, rt_plan_make(context, &op, two, 0, NULL, &p), MOTET_BAD_ARGUMENT);
    assert_status(context, rt_plan_make(context, &op, two, RT_DEVICES + 1, NULL, &p),
                  MOTET_BAD_ARGUMENT);
    const rt_plan_device d = {.name = "sim:0", .budget = -5};
    assert_status(context, rt_plan_make(context, &op, &d, 1, NULL, &p), MOTET_BAD_ARGUMENT);
    assert_message(context, "sim:0", "-5", NULL);
    const rt_plan_device e = {.name = "sim:0", .reserved = -5},
                         f = {.name = "sim:0", .wanted_rows = -5};
    assert_status(context, rt_plan_make(context, &op, &e, 1, NULL, &p), MOTET_BAD_ARGUMENT);
    assert_status(context, rt_plan_make(context, &op, &f, 1, NULL, &p), MOTET_BAD_ARGUMENT);
}

/* An operation that makes no sense is a defect of its engine, found before anything is planned. */
static void senseless_operations_are_defects(void **state)
{
    (void)state;
    rt_plan p;
    for (int i = 0; i < 10; i++) {
        rt_op op = map_of(100, 8);
        rt_port *read = &op.port[MAP_IN], *write = &op.port[MAP_OUT];
        motet_status expected = MOTET_INTERNAL;
        switch (i) {
        case 0: op.axes = 0; break;
        case 1: op.axes = RT_AXES + 1; break;
        case 2: op.extent[1] = -8; break;
        case 3: op.grain[0] = -1; break;
        case 4: op.stream_extent = -1; break;
        case 5: op.stream_block = -1; break;
        case 6:
            out.shape[1] = 100;
            op.extent[1] = in.shape[1] = 100;
            write->cut[1] = 0;
            break;
        case 7:
            read->streamed = 1;
            read->stream_axis = 1;
            op.stream_extent = 8;
            break;
        case 8: read->halo = -1; break;
        default: read->cut[0] = -2; expected = MOTET_BAD_SHAPE;
        }
        assert_status(context, rt_plan_make(context, &op, two, 2, NULL, &p), expected);
        assert_message(context, "toy.map:2", NULL);
    }
}

/* Rows or a budget asked for: chunked; too few rows for another device: single; then by the switch.
 */
static void modes_have_their_precedence(void **state)
{
    (void)state;
    rt_op op = map_of(1000, 8); /* rows of 64 bytes as they move */
    rt_plan_options o = {0};
    rt_plan p = plan_of(&op, two, 2, &o);
    assert_int_equal(p.mode, RT_PIPELINED);
    assert_int_equal(p.share[0].chunks, 4);
    assert_int_equal(p.share[1].chunks, 4);
    o.chunks_per_device = 10;
    assert_int_equal(plan_of(&op, two, 2, &o).chunks, 20);
    o.unpipelined = 1;
    p = plan_of(&op, two, 2, &o);
    assert_int_equal(p.mode, RT_SHARDED);
    assert_int_equal(p.chunks, 2);
    op.shard_rows = 500; /* narrow rows do not lower the floor */
    assert_int_equal(plan_of(&op, two, 2, &o).mode, RT_SHARDED);
    op.shard_rows = 501;
    p = plan_of(&op, two, 2, &o);
    assert_int_equal(p.mode, RT_SINGLE);
    assert_int_equal(p.share[0].rows, 1000);
    assert_int_equal(p.share[1].chunks, 0);
    o.cut.rows[0] = 10;
    p = plan_of(&op, two, 2, &o);
    assert_int_equal(p.mode, RT_CHUNKED);
    assert_int_equal(p.share[1].chunks, 50);
    o.cut.rows[0] = 0;
    const rt_plan_device bounded[2] = {two[0],
                                       {.name = "sim:1", .free = RT_UNKNOWN, .budget = 1 << 20}};
    assert_int_equal(plan_of(&op, bounded, 2, &o).mode, RT_CHUNKED);
    op = map_of(1000, 25); /* 200 bytes: twice as many rows */
    op.shard_rows = 250;
    assert_int_equal(plan_of(&op, two, 2, &o).mode, RT_SHARDED);
    op.shard_rows = 251;
    assert_int_equal(plan_of(&op, two, 2, &o).mode, RT_SINGLE);
    o.shard_rows = 1; /* calibration wants to see every split */
    assert_int_equal(plan_of(&op, two, 2, &o).mode, RT_SHARDED);
    const rt_weights first_only = {NULL, 2, {1, 0}};
    o.weights = &first_only;
    o.weightings = 1;
    assert_int_equal(plan_of(&op, two, 2, &o).mode, RT_SINGLE);
}

/* A turn's worth of rows bounds a chunk without being an explicit limit. */
static void a_turn_bounds_chunks(void **state)
{
    (void)state;
    const rt_op op = map_of(1000, 8);
    rt_plan_device d = two[0];
    d.wanted_rows = 30;
    const rt_plan p = plan_of(&op, &d, 1, NULL);
    assert_int_equal(p.mode, RT_SINGLE);
    assert_int_equal(p.share[0].cut.rows[0], 30);
}

/* Round robin: no device gets its second chunk before each has its first, whatever their counts. */
static void chunks_are_dealt_round_robin(void **state)
{
    (void)state;
    const rt_op op = map_of(60, 8);
    const rt_plan_device three[3] = {two[0], two[1], {.name = "sim:2", .free = RT_UNKNOWN}};
    const rt_weights w = {NULL, 3, {3, 1, 2}};
    const rt_plan_options o = {.weights = &w, .weightings = 1, .cut = {{5, 0, 0}, 0}};
    const rt_plan p = plan_of(&op, three, 3, &o);
    static const int expected[] = {0, 1, 2, 0, 1, 2, 0, 2, 0, 2, 0, 0};
    assert_int_equal(p.chunks, 12);
    int64_t done[3] = {0};
    for (int64_t n = 0; n < 12; n++) {
        int64_t local = -1;
        assert_int_equal(rt_plan_chunk(&p, n, &local), expected[n]);
        assert_int_equal(local, done[expected[n]]++);
    }
}

/* Empty boxes and streams plan nothing, or one block. */
static void empty_boxes_have_no_chunks(void **state)
{
    (void)state;
    rt_op op = map_of(0, 8);
    assert_int_equal(plan_of(&op, two, 2, NULL).chunks, 0);
    op = map_of(8, 0);
    const rt_plan p = plan_of(&op, two, 2, NULL);
    assert_int_equal(p.chunks, 0);
    assert_int_equal(p.share[0].peak_bytes, 0);
}

/* Sizes near 2^62 neither overflow nor hang; what has more than 2^63 bytes is refused. */
static void hostile_sizes_are_safe(void **state)
{
    (void)state;
    const int64_t huge = (int64_t)1 << 62;
    rt_op op = map_of(huge, 1);
    rt_plan p;
    /* on unbounded memory, chunks of a quarter of 2^64 bytes: nothing holds them, smaller ones fit
     */
    p = plan_of(&op, two, 2, NULL);
    assert_true(p.share[0].peak_bytes < INT64_MAX && p.share[0].peak_bytes > 0);
    assert_int_equal(p.share[0].rows + p.share[1].rows, huge);
    op = map_of(huge, huge);
    rt_plan_options o = {.cut = {{1, 1, 0}, 0}};
    assert_status(context, rt_plan_make(context, &op, two, 2, &o, &p), MOTET_BAD_ARGUMENT);
    assert_message(context, "2^63 chunks", NULL);
    o.cut.rows[0] = huge;
    o.cut.rows[1] = huge;
    assert_status(context, rt_plan_make(context, &op, two, 2, &o, &p), MOTET_OVER_BUDGET);
    assert_message(context, "the most that can be counted", NULL);
    op.port[MAP_IN].halo = INT64_MAX;
    op.grain[0] = huge - 1;
    op.grain[1] = INT64_MAX;
    assert_status(context, rt_plan_make(context, &op, two, 2, NULL, &p), MOTET_OVER_BUDGET);
    op = map_of(huge, 1);
    op.grain[0] = huge / 2 + 1;
    const rt_plan_device small = {.name = "sim:0", .free = 1 << 30};
    assert_status(context, rt_plan_make(context, &op, &small, 1, NULL, &p), MOTET_OVER_BUDGET);
    op.grain[0] = 1;
    p = plan_of(&op, &small, 1, NULL);
    assert_true(p.share[0].peak_bytes <= (1 << 30) / 4 * 3);
}

static int begin(void **state)
{
    (void)state;
    context = test_context();
    return 0;
}

static int end(void **state)
{
    (void)state;
    motet_context_free(context);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_those_of_the_ports),
        cmocka_unit_test(halos_and_streams_are_charged),
        cmocka_unit_test(blocks_have_a_useful_size),
        cmocka_unit_test(refusals_name_everything),
        cmocka_unit_test(explicit_chunks_are_kept),
        cmocka_unit_test(the_next_axis_is_cut_when_one_row_is_too_much),
        cmocka_unit_test(fewer_chunks_are_in_flight_when_memory_is_tight),
        cmocka_unit_test(arrays_are_used_in_place_on_the_cpu),
        cmocka_unit_test(runs_are_refused_before_they_begin),
        cmocka_unit_test(staging_fits_the_host),
        cmocka_unit_test(shares_follow_weights),
        cmocka_unit_test(flat_boxes_are_shared_along_another_axis),
        cmocka_unit_test(the_longest_name_of_weights_wins),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(senseless_operations_are_defects),
        cmocka_unit_test(modes_have_their_precedence),
        cmocka_unit_test(a_turn_bounds_chunks),
        cmocka_unit_test(chunks_are_dealt_round_robin),
        cmocka_unit_test(empty_boxes_have_no_chunks),
        cmocka_unit_test(hostile_sizes_are_safe),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
