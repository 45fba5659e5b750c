/* Ports that make no sense are refused, and say why; sums that leave the range and sources that
 * fail end a run with untouched arrays. */
#include <string.h>

#include "support/pipe.h"
#include "support/ports.h"

enum { IN, WITH, BEGIN, END, OUT, FIXED, STREAM }; /* ports of the cases */

typedef struct wrong {
    int which;
    void (*spoil)(ports_case *p);
    motet_status status;
    const char *words[2];
} wrong;

static void list_beyond(ports_case *p) { p->list[3] = p->array[0]->shape[0]; }
static void list_before(ports_case *p) { p->list[5] = -1; }
static void list_short(ports_case *p) { p->op.port[IN].list_count = 5; }
static void list_written(ports_case *p)
{
    p->op.port[OUT].list = p->list;
    p->op.port[OUT].list_count = p->op.extent[0];
}
static void list_uncut(ports_case *p) { p->op.port[IN].cut[0] = RT_WHOLE; }
static void list_of_no_axis(ports_case *p) { p->op.port[IN].cut[0] = 7; }
static void list_halo(ports_case *p) { p->op.port[IN].halo = 1; }
static void offset_falls(ports_case *p) { p->offset[4] = p->offset[3] - 1; }
static void offset_beyond(ports_case *p) { p->offset[p->op.extent[0]]++; }
static void offset_starts_late(ports_case *p) { p->offset[0] = p->offset[1] = p->offset[2] = 1; }
static void offset_ends_early(ports_case *p)
{
    for (int64_t i = p->op.extent[0]; p->offset[i] == p->out->shape[0]; i--) p->offset[i]--;
}
static void offset_uncut(ports_case *p) { p->op.port[IN].cut[0] = RT_WHOLE; }
static void offset_of_no_axis(ports_case *p) { p->op.port[IN].cut[0] = 7; }
static void offset_halo(ports_case *p) { p->op.port[IN].halo = 1; }
static const int64_t none[11];
static void offset_summed(ports_case *p) { p->op.port[OUT].offset = none; }
static void cut_before_the_first(ports_case *p) { p->op.port[OUT].cut[1] = -2; }
static void written_uncut(ports_case *p) { p->op.port[OUT].cut[1] = RT_WHOLE; }
static void halo_before(ports_case *p) { p->op.port[IN].halo = -1; }
static void halo_written(ports_case *p) { p->op.port[OUT].halo = 1; }
static void written_twice(ports_case *p)
{
    p->op.port[FIXED] = p->op.port[OUT];
    p->op.port[FIXED].name = "again";
}
static void offset_and_list(ports_case *p)
{
    p->op.port[IN].list = p->offset;
    p->op.port[IN].list_count = p->op.extent[0];
}
static void sum_of_floats(ports_case *p) { p->out->type = MOTET_F64; }
static void sum_cut_in_a_number(ports_case *p) { p->op.port[OUT].cut[0] = 1; }
static void sum_of_odd_limbs(ports_case *p) { p->op.port[OUT].limbs = 3; }
static void sum_streamed(ports_case *p) { p->op.port[OUT].streamed = 1; }
static void sum_from_less_than_no_limbs(ports_case *p) { p->op.port[OUT].limbs = -1; }
static void limbs_without_sum(ports_case *p) { p->op.port[OUT].limbs = 1; }
static void source_with_memory(ports_case *p) { p->source[0].bare.data = p->array[0]->data; }
static void source_written(ports_case *p) { p->op.port[OUT].source = &p->source[0].source; }
static void source_unread(ports_case *p) { p->source[1].source.read = NULL; }
static const rt_sink no_sink;
static const rt_source no_source;
static void source_listed(ports_case *p) { p->op.port[IN].source = &no_source; }
static void sink_takes_nothing(ports_case *p) { p->sink.sink.take = NULL; }
static void sink_read(ports_case *p) { p->op.port[IN].sink = &no_sink; }
static void made_unstreamed(ports_case *p)
{
    p->op.port[FIXED].transform = p->op.port[STREAM].transform;
}
static void made_of_no_type(ports_case *p) { p->op.port[STREAM].made_type = (motet_type)99; }

static void nonsense_is_refused(void **state)
{
    (void)state;
    static const wrong wrongs[] = {
        {PORTS_LISTED, list_beyond, MOTET_BAD_DATA, {"entry 3", "in is 13"}},
        {PORTS_LISTED, list_before, MOTET_BAD_DATA, {"entry 5", "-1"}},
        {PORTS_LISTED, list_short, MOTET_BAD_SHAPE, {"5 entries", "10 rows"}},
        {PORTS_LISTED, list_written, MOTET_INTERNAL, {"out", "row list"}},
        {PORTS_LISTED, list_halo, MOTET_INTERNAL, {"in", "row list"}},
        {PORTS_LISTED, list_uncut, MOTET_INTERNAL, {"in", "row list"}},
        {PORTS_LISTED, list_of_no_axis, MOTET_BAD_SHAPE, {"in has 2 axes", "axis 7"}},
        {PORTS_LISTED, cut_before_the_first, MOTET_BAD_SHAPE, {"out has 2 axes", "axis -2"}},
        {PORTS_LISTED, written_uncut, MOTET_INTERNAL, {"out", "not cut by axis 1"}},
        {PORTS_LISTED, written_twice, MOTET_BAD_ARGUMENT, {"again", "share memory"}},
        {PORTS_LISTED, halo_before, MOTET_INTERNAL, {"in", "halo"}},
        {PORTS_LISTED, halo_written, MOTET_INTERNAL, {"out", "halo"}},
        {PORTS_ROWS, offset_ends_early, MOTET_BAD_SHAPE, {"out are elements 0", "expected all"}},
        {PORTS_SUMS, offset_uncut, MOTET_INTERNAL, {"in", "ragged"}},
        {PORTS_SUMS, offset_of_no_axis, MOTET_BAD_SHAPE, {"in has 2 axes", "axis 7"}},
        {PORTS_SUMS, offset_halo, MOTET_INTERNAL, {"in", "ragged"}},
        {PORTS_COUNT, offset_summed, MOTET_INTERNAL, {"out", "not added to"}},
        {PORTS_LISTED, source_listed, MOTET_INTERNAL, {"in", "source"}},
        {PORTS_SINK, sink_takes_nothing, MOTET_INTERNAL, {"out", "sink"}},
        {PORTS_ROWS, offset_falls, MOTET_BAD_DATA, {"offset 4 of out", "expected"}},
        {PORTS_ROWS, offset_beyond, MOTET_BAD_DATA, {"offset 10 of out", "expected"}},
        {PORTS_ROWS, offset_starts_late, MOTET_BAD_SHAPE, {"out are elements 1", "expected all"}},
        {PORTS_SUMS, offset_and_list, MOTET_INTERNAL, {"in", "ragged"}},
        {PORTS_COUNT, sum_of_floats, MOTET_INTERNAL, {"out", "int64"}},
        {PORTS_LIMBS, sum_cut_in_a_number, MOTET_INTERNAL, {"out", "between the limbs"}},
        {PORTS_LIMBS, sum_of_odd_limbs, MOTET_BAD_SHAPE, {"out", "3 limbs"}},
        {PORTS_COUNT, sum_streamed, MOTET_BAD_SHAPE, {"out", "the stream"}},
        {PORTS_COUNT, sum_from_less_than_no_limbs, MOTET_INTERNAL, {"out", "int64"}},
        {PORTS_LISTED, limbs_without_sum, MOTET_INTERNAL, {"out", "limbs"}},
        {PORTS_SOURCE, source_with_memory, MOTET_INTERNAL, {"in", "memory as well"}},
        {PORTS_SOURCE, source_written, MOTET_INTERNAL, {"out", "source"}},
        {PORTS_SOURCE, source_unread, MOTET_INTERNAL, {"with", "source"}},
        {PORTS_LISTED, sink_read, MOTET_INTERNAL, {"in", "sink"}},
        {PORTS_MADE, made_unstreamed, MOTET_INTERNAL, {"y", "streamed"}},
        {PORTS_MADE, made_of_no_type, MOTET_INTERNAL, {"x", "type"}}};
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        motet_context *c = test_context();
        ports_case p;
        ports_case_make(c, wrongs[i].which, 10, 6, &p);
        assert_ok(c, rt_op_check(c, &p.op));
        wrongs[i].spoil(&p);
        assert_status(c, rt_op_check(c, &p.op), wrongs[i].status);
        assert_message(c, p.op.name, wrongs[i].words[0], wrongs[i].words[1], NULL);
        p.out->type = MOTET_F32;
        ports_case_free(&p);
        motet_context_free(c);
    }
}

/* Memory that begins where other memory ends is not shared with it. */
static void neighbours_share_nothing(void **state)
{
    (void)state;
    float data[12] = {0};
    motet_array a = {.data = data, .bytes = 6 * sizeof *data}, b = a;
    const rt_port x = {.array = &a}, y = {.array = &b};
    for (int64_t at = 0; at <= 6; at++) {
        b.data = data + at;
        assert_int_equal(rt_ports_overlap(&x, &y), at < 6);
        assert_int_equal(rt_ports_overlap(&y, &x), at < 6);
    }
}

static motet_status launch_less_than_none(const rt_chunk *chunk, const rt_queue *queue,
                                          const void *user)
{
    (void)chunk;
    return rt_launch(queue, user, NULL, -1);
}

/* An engine's mistake ends the run, and says whose it was. */
static void less_than_no_items(void **state)
{
    (void)state;
    static const k_kernel kernel = {.name = "toy.none"};
    motet_context *c = test_context();
    pipe_case p;
    pipe_case_make(c, PIPE_SMOOTH, 40, 13, &p);
    p.op.enqueue = launch_less_than_none;
    p.op.user = &kernel;
    assert_status(c, rt_run(c, &p.op), MOTET_INTERNAL);
    assert_message(c, "toy.none", "-1 items", NULL);
    pipe_case_free(&p);
    motet_context_free(c);
}

/* A sum of integers, or of numbers in limbs, that leaves its range is bad data; the message names
 * the element; nothing was touched. */
static void sums_beyond_the_range(void **state)
{
    (void)state;
    static const char *const sets[] = {"cpu", "sim:0", "cpu,sim:2"};
    for (int limbs = 0; limbs < 2; limbs++)
        for (int set = 0; set < 3; set++) {
            motet_context *c = sim_context(NULL, sets[set]);
            ports_case p;
            ports_case_make(c, limbs ? PORTS_LIMBS : PORTS_COUNT, 30, 9, &p);
            int64_t *out = p.out->data;
            const int64_t at = limbs ? 2 * p.out->shape[1] + p.out->shape[1] - 1 : 5;
            out[at] = limbs ? ((int64_t)1 << 62) - 1 : INT64_MAX - 100;
            if (limbs) out[at - 1] = INT64_MAX; /* carries into it */
            char before[33], after[33];
            assert_ok(c, motet_array_digest(p.out, before));
            assert_status(c, rt_run(c, &p.op), MOTET_BAD_DATA);
            assert_message(c, p.op.name, "out", limbs ? "(2, 0)" : "(5)", "leaves the range", NULL);
            assert_ok(c, motet_array_digest(p.out, after));
            assert_string_equal(before, after);
            ports_case_free(&p);
            assert_clean(c);
            motet_context_free(c);
        }
}

/* Numbers that were not normalised come out so, and right. */
static void former_limbs_are_normalised(void **state)
{
    (void)state;
    motet_context *c = sim_context(NULL, "sim:0,cpu");
    ports_case p;
    ports_case_make(c, PORTS_LIMBS, 30, 9, &p);
    int64_t *out = p.out->data, *expected = p.expected;
    out[0] += (int64_t)7 << 32;
    for (int64_t i = 1, carry = 7; carry; i++) {
        expected[i] += carry;
        carry = expected[i] >> 32;
        expected[i] &= 0xffffffff;
    }
    assert_ok(c, rt_run(c, &p.op));
    assert_true(ports_right(&p));
    ports_case_free(&p);
    motet_context_free(c);
}

/* Whatever a source answers, at whichever read, is the run's answer; also what would be a loss if a
 * device said it. */
static void failing_sources(void **state)
{
    (void)state;
    static const motet_status statuses[] = {MOTET_IO, MOTET_DEVICE_LOST, MOTET_NO_MEMORY};
    static const char *const sets[] = {"cpu", "sim:0", "sim:1,sim:3"};
    const rt_run_options small = {.cut = {{7, 5}, 6}};
    for (int port = 0; port < 4; port++)
        for (int set = 0; set < 3; set++)
            for (int64_t k = 1, over = 0; !over; k += 1 + k / 3) {
                motet_context *c = sim_context(NULL, sets[set]);
                ports_case p;
                ports_case_make(c, PORTS_SOURCE, 20, 8, &p);
                ports_source *s = &p.source[port];
                s->fail_at = k;
                s->status = statuses[k % 3];
                char before[33], after[33];
                assert_ok(c, motet_array_digest(p.out, before));
                const motet_status st = rt_run_with(c, &p.op, &small);
                over = s->reads < k;
                assert_int_equal(st, over ? MOTET_OK : s->status);
                if (!over) assert_message(c, "the source of an array failed", NULL);
                assert_ok(c, motet_array_digest(p.out, after));
                if (st == MOTET_OK)
                    assert_true(ports_right(&p));
                else
                    assert_string_equal(before, after);
                for (int i = 0; i < c->devices->count; i++)
                    assert_int_equal(atomic_load(&c->devices->set[i].lost), 0);
                ports_case_free(&p);
                assert_clean(c);
                motet_context_free(c);
            }
    assert_int_equal(ports_mistakes(), 0);
}

/* A single ragged row that does not fit is refused by name. */
static void a_row_that_does_not_fit(void **state)
{
    (void)state;
    for (int which = PORTS_ROWS; which <= PORTS_SUMS; which++) {
        motet_context *c = sim_context(NULL, "sim:0");
        ports_case p;
        ports_case_make(c, which, 300, 4, &p); /* row 100 has 900 elements */
        const int64_t budget[RT_DEVICES] = {4096};
        const rt_run_options o = {.budget = budget};
        assert_status(c, rt_run_with(c, &p.op, &o), MOTET_OVER_BUDGET);
        assert_message(c, p.op.name, "sim:0", "row 100 of", "900 elements", NULL);
        ports_case_free(&p);
        motet_context_free(c);
    }
}

/* Each kind of order, left out, is found to be missing by the kinds of ports that need it. */
static void each_edge_is_needed(void **state)
{
    (void)state;
    static const struct {
        pipe_edge edge;
        int which;
    } needs[] = {{PIPE_NO_FIXED_REFILL, PORTS_SOURCE}, {PIPE_NO_CHUNK, PORTS_LISTED},
                 {PIPE_NO_CHUNK, PORTS_ROWS},          {PIPE_NO_CHUNK, PORTS_SUMS},
                 {PIPE_NO_CHUNK, PORTS_LIMBS},         {PIPE_NO_BLOCK, PORTS_SOURCE},
                 {PIPE_NO_BLOCK, PORTS_MADE},          {PIPE_NO_BLOCK_REUSE, PORTS_SOURCE},
                 {PIPE_NO_BLOCK_REUSE, PORTS_MADE},    {PIPE_NO_BLOCK_REFILL, PORTS_SOURCE},
                 {PIPE_NO_BLOCK_REFILL, PORTS_MADE},   {PIPE_NO_RESULT, PORTS_ROWS},
                 {PIPE_NO_RESULT, PORTS_COUNT},        {PIPE_NO_RESULT, PORTS_SINK},
                 {PIPE_NO_GATHER, PORTS_ROWS},         {PIPE_NO_GATHER, PORTS_COUNT},
                 {PIPE_NO_GATHER, PORTS_LIMBS},        {PIPE_NO_GATHER, PORTS_SINK}};
    for (size_t i = 0; i < 2 * sizeof needs / sizeof *needs; i++) {
        const int without = i % 2; /* first the whole program */
        motet_context *c = sim_context(NULL, "sim:0,sim:1");
        ports_case p;
        ports_case_make(c, needs[i / 2].which, 40, 13, &p);
        const rt_run_options o = {
            .cut = {{3, 5}, 4},
            .test = {.without = without ? needs[i / 2].edge : PIPE_ALL_EDGES, .fixed_stage = 256}};
        (void)rt_run_with(c, &p.op, &o);
        if (!without) assert_clean(c);
        if (without && !sim_findings(c))
            fail_msg("edge %d is not missed by %s", (int)needs[i / 2].edge, p.op.name);
        ports_case_free(&p);
        motet_context_free(c);
    }
    ports_mistakes();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nonsense_is_refused),         cmocka_unit_test(neighbours_share_nothing),
        cmocka_unit_test(less_than_no_items),          cmocka_unit_test(sums_beyond_the_range),
        cmocka_unit_test(former_limbs_are_normalised), cmocka_unit_test(failing_sources),
        cmocka_unit_test(a_row_that_does_not_fit),     cmocka_unit_test(each_edge_is_needed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
