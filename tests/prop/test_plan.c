/* Laws of plans for thousands of random operations, device sets, weights and budgets. */
#include "rt/plan.h"

#include <stdlib.h>
#include <string.h>

#include "support/support.h"

typedef struct problem {
    rt_op op;
    motet_array array[RT_PORTS];
    rt_plan_device device[RT_DEVICES];
    int devices;
    rt_weights weights;
    rt_plan_options options;
} problem;

static motet_context *context;

static int64_t whole(uint64_t *seed, int64_t low, int64_t high)
{
    return low + (int64_t)(test_random(seed) % (uint64_t)(high - low + 1));
}

static void random_port(problem *p, int number, int access, int64_t whole_axis, uint64_t *seed)
{
    rt_op *op = &p->op;
    rt_port *port = &op->port[number];
    motet_array *a = &p->array[number];
    static const motet_type types[] = {MOTET_F32, MOTET_F64, MOTET_U8, MOTET_U16};
    *a = (motet_array){.type = types[whole(seed, 0, 3)]};
    *port = (rt_port){.name = "port", .array = a, .access = (rt_access)access};
    const int streams = access == RT_READ && op->stream_extent && whole(seed, 0, 1);
    for (int i = 0; i < op->axes; i++) {
        port->cut[i] = RT_WHOLE;
        if (access == RT_READ && whole(seed, 0, 2) == 0) continue;
        port->cut[i] = a->axes;
        a->shape[a->axes++] = op->extent[i];
    }
    if (streams) {
        port->streamed = 1;
        port->stream_axis = a->axes;
        a->shape[a->axes++] = op->stream_extent;
    }
    if (a->axes == 0 || whole(seed, 0, 1)) a->shape[a->axes++] = whole_axis;
    if (access == RT_READ && port->cut[0] != RT_WHOLE && whole(seed, 0, 2) == 0)
        port->halo = whole(seed, 1, 5);
    int64_t bytes = (int64_t)motet_type_bytes(a->type);
    for (int i = 0; i < a->axes; i++) bytes *= a->shape[i];
    a->bytes = (size_t)bytes;
    if (access == RT_WRITE && whole(seed, 0, 1)) a->flags = MOTET_WRITE_DIRECT;
}

/* `p` stays where it is: its operation points into it. */
static void random_problem(problem *p, uint64_t *seed)
{
    memset(p, 0, sizeof *p);
    rt_op *op = &p->op;
    op->name = "toy.random";
    op->axes = (int)whole(seed, 1, 3);
    for (int i = 0; i < op->axes; i++) {
        op->extent[i] = whole(seed, 1, whole(seed, 0, 3) ? 40 : 3);
        op->grain[i] = whole(seed, 0, whole(seed, 0, 2) ? 2 : 17);
    }
    if (whole(seed, 0, 1)) {
        op->stream_extent = whole(seed, 1, 60);
        op->stream_block = whole(seed, 0, 9);
    }
    const int reads = (int)whole(seed, 0, 4), writes = (int)whole(seed, 1, 2);
    for (int i = 0; i < reads + writes; i++)
        random_port(p, i,
                    i < reads           ? RT_READ
                    : whole(seed, 0, 1) ? RT_WRITE
                                        : RT_UPDATE,
                    whole(seed, 1, 500), seed);
    p->devices = (int)whole(seed, 1, 5);
    p->weights.count = p->devices;
    for (int i = 0; i < p->devices; i++) {
        p->device[i] =
            (rt_plan_device){.name = "sim", .free = RT_UNKNOWN, .reserved = whole(seed, 0, 100)};
        p->weights.weight[i] = whole(seed, 0, 3) ? test_uniform(seed, 0, 8) : 0;
    }
    p->weights.weight[whole(seed, 0, p->devices - 1)] = 1;
    p->options.weights = &p->weights;
    p->options.weightings = 1;
    p->options.unpipelined = (int)whole(seed, 0, 1);
    if (whole(seed, 0, 3) == 0) p->options.cut.rows[0] = whole(seed, 1, 50);
    if (whole(seed, 0, 5) == 0) p->options.cut.stream_rows = whole(seed, 1, 70);
    if (whole(seed, 0, 3) == 0) p->options.chunks_per_device = whole(seed, 2, 9);
}

static motet_status plan(const problem *p, rt_plan *out)
{
    return rt_plan_make(context, &p->op, p->device, p->devices, &p->options, out);
}

/* The number after "at least" of the last message. */
static int64_t minimum(void)
{
    motet_error e;
    motet_context_error(context, &e);
    const char *at = strstr(e.message, "at least"), *next;
    assert_non_null(at);
    while ((next = strstr(at + 1, "at least"))) at = next;
    return strtoll(at + 8, NULL, 10);
}

static void same_plan(const rt_plan *a, const rt_plan *b) { assert_memory_equal(a, b, sizeof *a); }

/* Chunks of all devices cover each element of the box exactly once, at multiples of the grain,
 * inside their device's share; launches deal them round robin and each once. */
static void chunks_cover_the_box_once(void **state)
{
    (void)state;
    uint64_t seed = 1;
    static unsigned char seen[40 * 40 * 40];
    for (int round = 0; round < 4000; round++) {
        problem p;
        random_problem(&p, &seed);
        for (int i = 0; i < p.devices; i++) p.device[i].host_visible = whole(&seed, 0, 3) == 0;
        rt_plan q;
        assert_ok(context, plan(&p, &q));
        const int64_t e[3] = {p.op.extent[0], p.op.axes > 1 ? p.op.extent[1] : 1,
                              p.op.axes > 2 ? p.op.extent[2] : 1};
        memset(seen, 0, sizeof seen);
        int64_t done[RT_DEVICES] = {0};
        for (int64_t n = 0; n < q.chunks; n++) {
            int64_t local, first[RT_AXES], count[RT_AXES];
            const int d = rt_plan_chunk(&q, n, &local);
            assert_int_equal(local, done[d]++);
            for (int i = 0; i < p.devices; i++) /* none is behind by more than a round */
                assert_true(done[i] >= local || done[i] == q.share[i].chunks);
            rt_share_chunk(&q.share[d], &p.op, local, first, count);
            for (int i = 0; i < RT_AXES; i++) {
                const int64_t grain = i < p.op.axes && p.op.grain[i] ? p.op.grain[i] : 1;
                assert_true(first[i] % grain == 0 && count[i] > 0 && first[i] + count[i] <= e[i]);
            }
            const int axis = q.share[d].axis;
            assert_true(first[axis] >= q.share[d].first &&
                        first[axis] + count[axis] <= q.share[d].first + q.share[d].rows);
            for (int64_t i = first[0]; i < first[0] + count[0]; i++)
                for (int64_t j = first[1]; j < first[1] + count[1]; j++)
                    for (int64_t k = first[2]; k < first[2] + count[2]; k++)
                        seen[(i * 40 + j) * 40 + k]++;
        }
        for (int64_t i = 0; i < e[0]; i++)
            for (int64_t j = 0; j < e[1]; j++)
                for (int64_t k = 0; k < e[2]; k++) assert_int_equal(seen[(i * 40 + j) * 40 + k], 1);
        for (int i = 0; i < p.devices; i++) {
            assert_int_equal(done[i], q.share[i].chunks);
            if (!(p.weights.weight[i] > 0)) assert_int_equal(done[i], 0);
        }
    }
}

/* Every buffer that the share needs, counted by hand from the chunks themselves, fits what was
 * planned. */
static void check_bytes(const problem *p, const rt_share *s)
{
    int64_t fixed = 0, chunk = 0, block = 0;
    for (int i = 0; i < RT_PORTS; i++) {
        const rt_port *port = &p->op.port[i];
        if (!port->array) continue;
        int64_t largest = 0;
        for (int64_t n = 0; n < s->chunks; n++) {
            int64_t first[RT_AXES], count[RT_AXES], size[MOTET_MAX_AXES];
            rt_share_chunk(s, &p->op, n, first, count);
            memcpy(size, port->array->shape, sizeof size);
            for (int j = 0; j < p->op.axes; j++) {
                if (port->cut[j] == RT_WHOLE) continue;
                int64_t low = first[j], high = first[j] + count[j];
                if (j == 0) low -= port->halo, high += port->halo;
                if (low < 0) low = 0;
                if (high > p->op.extent[j]) high = p->op.extent[j];
                size[port->cut[j]] = high - low;
            }
            if (port->streamed && s->cut.stream_rows < size[port->stream_axis])
                size[port->stream_axis] = s->cut.stream_rows;
            int64_t bytes = (int64_t)motet_type_bytes(port->array->type);
            for (int j = 0; j < port->array->axes; j++) bytes *= size[j];
            if (bytes > largest) largest = bytes;
        }
        assert_true(largest <= rt_share_port_bytes(s, &p->op, port));
        const rt_port_kind kind = rt_share_port(s, port, p->op.axes);
        *(kind == RT_FIXED ? &fixed : kind == RT_OF_CHUNK ? &chunk : &block) += largest;
    }
    assert_true(s->slots >= 1 && s->slots <= 3 && s->slots <= s->chunks);
    if (block) assert_true(s->ring >= 1 && s->ring <= 3 && s->ring <= s->chunks * s->blocks);
    assert_true(fixed <= s->fixed_bytes && chunk <= s->chunk_bytes && block <= s->block_bytes);
    assert_true(s->fixed_bytes + s->slots * s->chunk_bytes + s->ring * s->block_bytes <=
                s->peak_bytes);
}

/* P2: under any budget the plan fits it, or is refused with a minimum that is enough, and one byte
 * less than which is not; more memory never gives smaller chunks. */
static void budgets_are_kept_and_minima_are_exact(void **state)
{
    (void)state;
    uint64_t seed = 2;
    int refused = 0, planned = 0;
    for (int round = 0; round < 3000; round++) {
        problem p;
        random_problem(&p, &seed);
        p.devices = 1;
        p.weights.count = 1;
        p.weights.weight[0] = 1;
        rt_plan q, last;
        p.device[0].budget = 1;
        assert_status(context, plan(&p, &q), MOTET_OVER_BUDGET);
        const int64_t least = minimum();
        assert_true(least > 1);
        p.device[0].budget = least - 1;
        assert_status(context, plan(&p, &q), MOTET_OVER_BUDGET);
        assert_int_equal(minimum(), least);
        p.device[0].budget = least;
        assert_ok(context, plan(&p, &last));
        assert_int_equal(last.share[0].peak_bytes, least);
        for (int step = 0; step < 24; step++) {
            const int64_t budget = p.device[0].budget;
            p.device[0].budget =
                step % 2 ? budget + whole(&seed, 1, 40) : budget + budget / whole(&seed, 2, 40) + 1;
            assert_ok(context, plan(&p, &q));
            const rt_share *s = &q.share[0], *t = &last.share[0];
            assert_true(s->peak_bytes <= p.device[0].budget);
            for (int i = 0; i < RT_AXES; i++) assert_true(s->cut.rows[i] >= t->cut.rows[i]);
            assert_true(s->cut.stream_rows >= t->cut.stream_rows);
            assert_true(s->chunks <= t->chunks);
            if (s->chunks == t->chunks) assert_true(s->slots >= t->slots);
            if (step % 8 == 0 && s->chunks < 500) check_bytes(&p, s);
            last = q;
            planned++;
        }
        refused++;
    }
    assert_true(refused == 3000 && planned > 0);
}

/* The chunk is the largest that fits with all slots: asking for each larger one in turn is refused.
 */
static void no_larger_chunk_would_fit(void **state)
{
    (void)state;
    uint64_t seed = 7;
    int smaller = 0;
    for (int round = 0; round < 4000; round++) {
        problem p;
        random_problem(&p, &seed);
        p.devices = p.weights.count = 1;
        p.weights.weight[0] = 1;
        p.options.cut = (rt_cut){.stream_rows = p.op.stream_extent ? 1 : 0};
        p.options.unpipelined = round % 2;
        p.options.chunks_per_device = 2; /* chunks of up to half the rows */
        p.device[0].budget = 1;
        rt_plan q, other;
        assert_status(context, plan(&p, &q), MOTET_OVER_BUDGET);
        const int64_t least = minimum();
        p.device[0].budget = least + whole(&seed, 0, (round % 20) * least);
        assert_ok(context, plan(&p, &q));
        const rt_cut found = q.share[0].cut;
        if (p.op.axes > 1 && found.rows[1] < p.op.extent[1]) continue;
        if (p.op.axes > 2 && found.rows[2] < p.op.extent[2]) continue;
        const int64_t half = (p.op.extent[0] + 1) / 2, grain = p.op.grain[0] ? p.op.grain[0] : 1;
        const int64_t most = round % 2 ? p.op.extent[0] : (half + grain - 1) / grain * grain;
        smaller += found.rows[0] < most;
        for (int64_t rows = 1; rows <= p.op.extent[0]; rows++) {
            p.options.cut.rows[0] = rows;
            const motet_status st = plan(&p, &other);
            const rt_share *s = &other.share[0];
            const int full = st == MOTET_OK && s->slots == (s->chunks < 3 ? s->chunks : 3) &&
                             (!s->block_bytes || s->ring == 3 || s->ring == s->chunks * s->blocks);
            if (full && s->cut.rows[0] <= most)
                assert_true(other.share[0].cut.rows[0] <= found.rows[0]);
            if (rows == found.rows[0]) assert_int_equal(st, MOTET_OK);
        }
    }
    assert_true(smaller > 100);
}

/* The same for sets of devices: each within its own budget; the device that is named is the one
 * that has too little. */
static void every_device_keeps_its_budget(void **state)
{
    (void)state;
    uint64_t seed = 3;
    int refused = 0, planned = 0;
    for (int round = 0; round < 4000; round++) {
        problem p;
        random_problem(&p, &seed);
        static const char *const names[] = {"sim:0", "sim:1", "sim:2", "sim:3", "sim:4"};
        const int64_t scale = whole(&seed, 1, 200000);
        for (int i = 0; i < p.devices; i++) {
            p.device[i].name = names[i];
            p.device[i].budget = whole(&seed, 1, scale);
        }
        rt_plan q;
        for (int tries = 0;; tries++) {
            assert_true(tries <= p.devices);
            const motet_status st = plan(&p, &q);
            if (st == MOTET_OK) break;
            assert_int_equal(st, MOTET_OVER_BUDGET);
            motet_error e;
            motet_context_error(context, &e);
            int named = -1;
            for (int i = 0; i < p.devices; i++)
                if (strstr(e.message, names[i])) named = i;
            assert_true(named >= 0 && p.device[named].budget < minimum());
            p.device[named].budget = minimum();
            refused++;
        }
        for (int i = 0; i < p.devices; i++) {
            if (!q.share[i].chunks) continue;
            assert_true(q.share[i].peak_bytes <= p.device[i].budget);
            planned++;
        }
    }
    assert_true(refused > 1000 && planned > 4000);
}

/* The host's bound holds as exactly: staging and private copies fit, or the minimum told is enough.
 */
static void the_host_keeps_its_bound(void **state)
{
    (void)state;
    uint64_t seed = 4;
    for (int round = 0; round < 3000; round++) {
        problem p;
        random_problem(&p, &seed);
        p.options.host_held = whole(&seed, 0, 1000);
        p.options.host_memory = 1;
        rt_plan q;
        motet_status st = plan(&p, &q);
        if (st == MOTET_OK) continue; /* nothing to stage, nothing to copy */
        assert_status(context, st, MOTET_OVER_BUDGET);
        const int64_t least = minimum();
        p.options.host_memory = least;
        assert_ok(context, plan(&p, &q));
        assert_true(q.host_bytes + p.options.host_held <= least);
        p.options.host_memory = least - 1;
        if (least > 1) assert_status(context, plan(&p, &q), MOTET_OVER_BUDGET);
        p.options.host_memory = least + whole(&seed, 0, 100000);
        assert_ok(context, plan(&p, &q));
        assert_true(q.host_bytes + p.options.host_held <= p.options.host_memory);
    }
}

/* The split depends on the ratios of weights only, and a plan on nothing but what it is given. */
static void plans_are_pure_and_weights_have_no_scale(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int round = 0; round < 4000; round++) {
        problem p;
        random_problem(&p, &seed);
        rt_plan a, b;
        assert_ok(context, plan(&p, &a));
        assert_ok(context, plan(&p, &b));
        same_plan(&a, &b);
        const double scale = round % 3 ? test_uniform(&seed, 1e-3, 1e3) : 1e-290;
        for (int i = 0; i < p.devices; i++) p.weights.weight[i] *= scale;
        assert_ok(context, plan(&p, &b));
        same_plan(&a, &b);
        for (int i = 0; i < p.devices; i++) p.weights.weight[i] = (double)whole(&seed, 0, 9);
        p.weights.weight[0] = 3;
        p.options.shard_rows = 1;
        p.options.cut.rows[0] = 1;
        p.op.grain[0] = 1;
        for (int i = 1; i < p.op.axes; i++) p.op.grain[i] = 40; /* axis 0 is shared out */
        assert_ok(context, plan(&p, &a));
        int64_t sum = 0, before = 0;
        for (int i = 0; i < p.devices; i++) sum += (int64_t)p.weights.weight[i];
        for (int i = 0; i < p.devices; i++) {
            assert_int_equal(a.share[i].first, p.op.extent[0] * before / sum);
            before += (int64_t)p.weights.weight[i];
            assert_int_equal(a.share[i].first + a.share[i].rows, p.op.extent[0] * before / sum);
        }
    }
}

/* Hostile sizes, grains, halos, budgets: a plan that keeps its budget, or a refusal; never a trap.
 */
static void hostile_numbers_are_survived(void **state)
{
    (void)state;
    uint64_t seed = 6;
    for (int round = 0; round < 20000; round++) {
        problem p;
        random_problem(&p, &seed);
        for (int i = 0; i < p.op.axes; i++) {
            p.op.extent[i] = (int64_t)(test_random(&seed) >> whole(&seed, 1, 63));
            p.op.grain[i] = (int64_t)(test_random(&seed) >> whole(&seed, 1, 63));
        }
        p.op.stream_extent = (int64_t)(test_random(&seed) >> whole(&seed, 1, 63));
        p.op.stream_block = (int64_t)(test_random(&seed) >> whole(&seed, 1, 63));
        for (int i = 0; i < RT_PORTS; i++) {
            rt_port *port = &p.op.port[i];
            if (!port->array) continue;
            for (int j = 0; j < p.op.axes; j++)
                if (port->cut[j] != RT_WHOLE) p.array[i].shape[port->cut[j]] = p.op.extent[j];
            if (port->streamed) p.array[i].shape[port->stream_axis] = p.op.stream_extent;
            if (port->halo) port->halo = (int64_t)(test_random(&seed) >> whole(&seed, 1, 63));
            p.array[i].bytes = test_random(&seed) >> whole(&seed, 0, 63);
        }
        if (p.options.cut.rows[0])
            p.options.cut.rows[0] = 1 + (int64_t)(test_random(&seed) >> whole(&seed, 2, 63));
        for (int i = 0; i < p.devices; i++) {
            p.device[i].host_visible = whole(&seed, 0, 3) == 0;
            p.device[i].free = whole(&seed, 0, 1)
                                   ? RT_UNKNOWN
                                   : (int64_t)(test_random(&seed) >> whole(&seed, 1, 63));
            p.device[i].budget =
                whole(&seed, 0, 1) ? 0 : (int64_t)(test_random(&seed) >> whole(&seed, 1, 63));
            p.device[i].wanted_rows =
                whole(&seed, 0, 1) ? 0 : (int64_t)(test_random(&seed) >> whole(&seed, 1, 63));
        }
        p.options.host_memory =
            whole(&seed, 0, 1) ? 0 : (int64_t)(test_random(&seed) >> whole(&seed, 1, 63));
        rt_plan q;
        const motet_status st = plan(&p, &q);
        if (st != MOTET_OK) {
            assert_true(st == MOTET_OVER_BUDGET || st == MOTET_BAD_ARGUMENT);
            continue;
        }
        int64_t rows = 0;
        for (int i = 0; i < p.devices; i++) {
            const rt_share *s = &q.share[i];
            rows += s->rows;
            if (!s->rows || p.device[i].host_visible) continue;
            assert_true(s->peak_bytes < INT64_MAX && s->peak_bytes <= s->limit);
            if (p.device[i].budget) assert_true(s->peak_bytes <= p.device[i].budget);
            if (p.device[i].free >= 0) assert_true(s->peak_bytes <= p.device[i].free);
        }
        if (p.options.host_memory) assert_true(q.host_bytes <= p.options.host_memory);
        if (q.chunks) assert_int_equal(rows, p.op.extent[q.share[0].axis]);
        for (int n = 0; n < 4 && q.chunks; n++) {
            int64_t local, first[RT_AXES], count[RT_AXES];
            const int d = rt_plan_chunk(
                &q, n == 3 ? q.chunks - 1 : (int64_t)(test_random(&seed) >> 1) % q.chunks, &local);
            assert_true(local >= 0 && local < q.share[d].chunks);
            rt_share_chunk(&q.share[d], &p.op, local, first, count);
            for (int i = 0; i < p.op.axes; i++)
                assert_true(first[i] >= 0 && count[i] > 0 && first[i] <= p.op.extent[i] - count[i]);
        }
    }
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
        cmocka_unit_test(chunks_cover_the_box_once),
        cmocka_unit_test(budgets_are_kept_and_minima_are_exact),
        cmocka_unit_test(no_larger_chunk_would_fit),
        cmocka_unit_test(every_device_keeps_its_budget),
        cmocka_unit_test(the_host_keeps_its_bound),
        cmocka_unit_test(plans_are_pure_and_weights_have_no_scale),
        cmocka_unit_test(hostile_numbers_are_survived),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
