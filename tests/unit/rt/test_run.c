#include "support/toy.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"

enum { ROWS = 37, COLUMNS = 11, TERMS = 23 };

static motet_context *context_of(int threads, int64_t chunk)
{
    motet_context_options o;
    motet_context_options_init(&o);
    o.threads = threads;
    o.chunk = chunk;
    motet_context *c = NULL;
    assert_int_equal(motet_context_create(&o, &c), MOTET_OK);
    return c;
}

typedef struct digest_text_of {
    char text[33];
} digest_text_of;

static digest_text_of digest_of(motet_context *c, const motet_array *a)
{
    digest_text_of d;
    assert_ok(c, motet_array_digest(a, d.text));
    return d;
}

static void clear(motet_array *a, int byte)
{
    memset(motet_array_data(a), byte, (size_t)motet_array_elements(a) * sizeof(float));
}

/* The three toys by plain loops, without the runtime. */
static void plain_smooth(const float *x, float *y)
{
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            float sum = 0;
            for (int k = i - 2; k <= i + 2; k++)
                if (k >= 0 && k < ROWS) sum += x[k * COLUMNS + j];
            y[i * COLUMNS + j] = sum;
        }
}

static void plain_sum(const float *w, const float *x, float *y)
{
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            float sum = 0;
            for (int k = 0; k < TERMS; k++) sum += w[k * ROWS + i] * x[k * COLUMNS + j];
            y[i * COLUMNS + j] = sum;
        }
}

static void assert_same(const motet_array *a, const float *expected, const char *what)
{
    if (memcmp(motet_array_data(a), expected, (size_t)motet_array_elements(a) * sizeof(float)))
        fail_msg("%s has other bits", what);
}

/* P1: however box and stream are cut, and on however many threads, an operation has the bits of the
 * plain loop, reads inside its views only, and writes what it owns. */
static void no_cut_changes_bits(void **state)
{
    (void)state;
    static const int64_t row_cuts[] = {1, 2, 3, 5, 8, 36, 37, INT64_MAX},
                         column_cuts[] = {1, 4, 11}, stream_cuts[] = {1, 2, 7, 22, 23, INT64_MAX};
    static const int thread_counts[] = {1, 2, 4};
    float smooth[ROWS * COLUMNS], sum[ROWS * COLUMNS];
    for (int t = 0; t < 3; t++) {
        motet_context *c = context_of(thread_counts[t], 0);
        motet_array *x = toy_array(c, ROWS, COLUMNS, 1), *y = toy_array(c, ROWS, COLUMNS, 2);
        motet_array *w = toy_array(c, TERMS, ROWS, 3), *v = toy_array(c, TERMS, COLUMNS, 4);
        plain_smooth(motet_array_data(x), smooth);
        plain_sum(motet_array_data(w), motet_array_data(v), sum);
        const rt_op first = toy_smooth(x, y), second = toy_sum(w, v, y);
        for (int i = 0; i < 8; i++)
            for (int j = 0; j < 3; j++) {
                rt_cut cut = {{row_cuts[i], column_cuts[j], 1}, 1};
                clear(y, 0xff);
                assert_ok(c, rt_run_cut(c, &first, &cut));
                assert_same(y, smooth, "smooth");
                for (int k = 0; k < 6; k++) {
                    cut.stream_rows = stream_cuts[k];
                    clear(y, 0xff);
                    assert_ok(c, rt_run_cut(c, &second, &cut));
                    assert_same(y, sum, "sum");
                }
            }
        assert_int_equal(toy_mistakes(), 0);
        motet_array_free(x);
        motet_array_free(y);
        motet_array_free(w);
        motet_array_free(v);
        motet_context_free(c);
    }
}

/* The test above can fail: the toy sum does depend on its order. */
static void the_toy_sum_depends_on_order(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_array *w = toy_array(c, TERMS, ROWS, 3), *v = toy_array(c, TERMS, COLUMNS, 4);
    const float *ws = motet_array_data(w), *vs = motet_array_data(v);
    int differ = 0;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            float up = 0, down = 0;
            for (int k = 0; k < TERMS; k++) up += ws[k * ROWS + i] * vs[k * COLUMNS + j];
            for (int k = TERMS - 1; k >= 0; k--) down += ws[k * ROWS + i] * vs[k * COLUMNS + j];
            differ += up != down;
        }
    assert_true(differ > ROWS * COLUMNS / 4);
    motet_array_free(w);
    motet_array_free(v);
    motet_context_free(c);
}

/* P1: the context's chunk option never changes bits, with grains, for chunks beyond the extent,
 * too. */
static void the_chunk_option_never_changes_bits(void **state)
{
    (void)state;
    static const int64_t chunks[] = {0, 1, 2, 3, 7, 16, 36, 37, 38, INT64_MAX};
    digest_text_of first[3];
    for (int n = 0; n < 10; n++)
        for (int threads = 1; threads <= 4; threads *= 2) {
            motet_context *c = context_of(threads, chunks[n]);
            motet_array *x = toy_array(c, ROWS, COLUMNS, 1), *y = toy_array(c, ROWS, COLUMNS, 2);
            motet_array *w = toy_array(c, TERMS, ROWS, 3), *v = toy_array(c, TERMS, COLUMNS, 4);
            rt_op ops[3] = {toy_update(x, y), toy_smooth(x, y), toy_sum(w, v, y)};
            for (int k = 0; k < 3; k++) {
                ops[k].grain[0] = 1 + k;
                ops[k].stream_block = 4;
                assert_ok(c, rt_run(c, &ops[k]));
                const digest_text_of d = digest_of(c, y);
                if (n == 0 && threads == 1) first[k] = d;
                assert_string_equal(d.text, first[k].text);
            }
            assert_int_equal(toy_mistakes(), 0);
            motet_array_free(x);
            motet_array_free(y);
            motet_array_free(w);
            motet_array_free(v);
            motet_context_free(c);
        }
}

/* Cuts are multiples of the grain, at least 1, never beyond the extent; a large operation is cut in
 * about 32 chunks, a small one not at all. */
static void cuts_are_whole_grains(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_array *x = toy_array(c, 1000, 300, 1), *y = toy_array(c, 1000, 300, 2);
    rt_op op = toy_smooth(x, y);
    for (int64_t grain = 1; grain < 1200; grain = grain * 2 + 1)
        for (int64_t chunk = 0; chunk < 1200; chunk = chunk * 3 + 1) {
            op.grain[0] = grain;
            const rt_cut cut = rt_cut_choose(&op, chunk);
            assert_true(cut.rows[0] >= 1 && cut.rows[0] <= 1000);
            assert_true(cut.rows[0] % grain == 0 || cut.rows[0] == 1000);
            if (chunk) assert_true(cut.rows[0] >= (chunk < 1000 ? chunk : 1000));
            if (chunk) assert_true(cut.rows[0] < chunk + grain);
        }
    op.grain[0] = 1;
    rt_cut cut = rt_cut_choose(&op, 0);
    assert_int_equal((1000 + cut.rows[0] - 1) / cut.rows[0], 32);
    assert_int_equal(cut.rows[1], 300);
    op = toy_smooth(x, y);
    op.extent[0] = 4; /* too few rows: the second axis is cut, too */
    op.extent[1] = 75000;
    cut = rt_cut_choose(&op, 0);
    assert_int_equal(cut.rows[0], 1);
    assert_int_equal((75000 + cut.rows[1] - 1) / cut.rows[1], 8);
    motet_array_free(x);
    motet_array_free(y);
    x = toy_array(c, 16, 16, 1);
    op = toy_update(x, x);
    assert_int_equal(rt_cut_choose(&op, 0).rows[0], 16);
    motet_array_free(x);
    motet_context_free(c);
}

/* An array that is read and written in one operation is read as it was before, even when it asks
 * for direct writes; a direct array of its own is written in place. */
static void what_is_read_is_what_was_before(void **state)
{
    (void)state;
    float expected[ROWS * COLUMNS], data[ROWS * COLUMNS];
    motet_context *c = context_of(2, 1);
    motet_array *x = toy_array(c, ROWS, COLUMNS, 1);
    plain_smooth(motet_array_data(x), expected);
    memcpy(data, motet_array_data(x), sizeof data);
    rt_op op = toy_smooth(x, x);
    assert_ok(c, rt_run(c, &op));
    assert_same(x, expected, "smooth in place");
    motet_array *direct;
    assert_ok(c, motet_array_wrap(c, data, MOTET_F32, 2, (int64_t[]){ROWS, COLUMNS},
                                  MOTET_WRITE_DIRECT, &direct));
    op = toy_smooth(direct, direct);
    assert_ok(c, rt_run(c, &op));
    assert_same(direct, expected, "smooth in place, direct");
    motet_array_free(direct);
    motet_array_free(x);
    motet_context_free(c);
}

/* The private copy costs the array's bytes while it runs; a direct array saves them. */
static void direct_arrays_need_no_second_copy(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_array *x = toy_array(c, 1000, 1000, 1), *y = toy_array(c, 1000, 1000, 2), *direct;
    assert_ok(c, motet_array_wrap(c, motet_array_data(y), MOTET_F32, 2, (int64_t[]){1000, 1000},
                                  MOTET_WRITE_DIRECT, &direct));
    motet_memory before, after;
    motet_context_memory(c, &before);
    rt_op op = toy_update(x, direct);
    assert_ok(c, rt_run(c, &op));
    motet_context_memory(c, &after);
    assert_true(after.peak < before.now + 100000);
    op = toy_update(x, y);
    assert_ok(c, rt_run(c, &op));
    motet_context_memory(c, &after);
    assert_true(after.peak >= before.now + 4000000 && after.peak < before.now + 4100000);
    motet_array_free(x);
    motet_array_free(y);
    motet_array_free(direct);
    motet_context_free(c);
}

/* Empty boxes are done at once; an empty stream still gives each chunk its one block. */
static void empty_is_fine(void **state)
{
    (void)state;
    motet_context *c = context_of(2, 0);
    motet_array *x = toy_array(c, 0, COLUMNS, 1), *y = toy_array(c, 0, COLUMNS, 2);
    rt_op op = toy_smooth(x, y);
    assert_ok(c, rt_run(c, &op));
    op = toy_update(x, y);
    assert_ok(c, rt_run(c, &op));
    motet_array_free(x);
    motet_array_free(y);
    x = toy_array(c, ROWS, 0, 1);
    y = toy_array(c, ROWS, 0, 2);
    op = toy_smooth(x, y);
    assert_ok(c, rt_run(c, &op));
    op = toy_update(x, y);
    assert_ok(c, rt_run(c, &op));
    motet_array_free(x);
    motet_array_free(y);
    motet_array *w = toy_array(c, 0, ROWS, 3), *v = toy_array(c, 0, COLUMNS, 4);
    y = toy_array(c, ROWS, COLUMNS, 2);
    op = toy_sum(w, v, y);
    assert_ok(c, rt_run(c, &op));
    const float *data = motet_array_data(y);
    for (int i = 0; i < ROWS * COLUMNS; i++) assert_true(data[i] == 0);
    assert_int_equal(toy_mistakes(), 0);
    motet_array_free(w);
    motet_array_free(v);
    motet_array_free(y);
    motet_context_free(c);
}

/* Arrays that do not fit the operation are refused by name, axis and both sizes. */
static void shapes_are_checked(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_array *x = toy_array(c, ROWS, COLUMNS, 1), *y = toy_array(c, ROWS + 1, COLUMNS, 2);
    motet_array *w = toy_array(c, TERMS, ROWS, 3), *v = toy_array(c, TERMS + 2, COLUMNS, 4);
    rt_op op = toy_smooth(x, y);
    assert_status(c, rt_run(c, &op), MOTET_BAD_SHAPE);
    assert_message(c, "toy.smooth", "axis 0 of x", "37", "38", NULL);
    op = toy_sum(w, v, x);
    assert_status(c, rt_run(c, &op), MOTET_BAD_SHAPE);
    assert_message(c, "axis 0 of w", "23", "25", NULL);
    op = toy_smooth(x, x);
    op.port[0].cut[1] = 2;
    assert_status(c, rt_run(c, &op), MOTET_BAD_SHAPE);
    assert_message(c, "x has 2 axes", NULL);
    /* Defects of an engine are told as such. */
    op = toy_smooth(x, x);
    op.port[2].cut[0] = RT_WHOLE;
    assert_status(c, rt_run(c, &op), MOTET_INTERNAL);
    op = toy_smooth(x, x);
    op.port[2].halo = 1;
    assert_status(c, rt_run(c, &op), MOTET_INTERNAL);
    op = toy_smooth(x, x);
    op.port[1] = op.port[2];
    op.port[1].name = "again";
    assert_status(c, rt_run(c, &op), MOTET_BAD_ARGUMENT);
    assert_message(c, "again", "smooth", NULL);
    motet_array_free(x);
    motet_array_free(y);
    motet_array_free(w);
    motet_array_free(v);
    motet_context_free(c);
}

/* Kernels that end only when they are let. */
typedef struct gate {
    atomic_int begun, open;
} gate;
static const size_t gate_bytes = sizeof(gate *);
static void wait_at_gate(const void *p, int64_t begin, int64_t end, void *scratch)
{
    (void)begin, (void)end, (void)scratch;
    gate *const *g = p;
    atomic_fetch_add(&(*g)->begun, 1);
    const time_t start = time(NULL);
    while (!atomic_load(&(*g)->open) && time(NULL) - start < 20) sched_yield();
}
#if defined(__x86_64__)
static const k_kernel gate_kernel = {"gate",
                                     &gate_bytes,
                                     {wait_at_gate, wait_at_gate, wait_at_gate},
                                     {wait_at_gate, wait_at_gate, wait_at_gate}};
#else
static const k_kernel gate_kernel = {"gate", &gate_bytes, {wait_at_gate}, {wait_at_gate}};
#endif

static motet_status enqueue_gate(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    gate *g = (gate *)(uintptr_t)user;
    return rt_launch(queue, &gate_kernel, &g, chunk->count[0]);
}

typedef struct canceller {
    motet_context *context;
    gate *gate;
} canceller;
static void *cancel_then_open(void *user)
{
    canceller *x = user;
    while (!atomic_load(&x->gate->begun)) sched_yield();
    motet_context_cancel(x->context);
    atomic_store(&x->gate->open, 1);
    return NULL;
}

/* P3: a cancel from another thread ends the run, with the array and the account as before; the next
 * run is not touched. */
static void cancelling_leaves_arrays_untouched(void **state)
{
    (void)state;
    motet_context *c = context_of(2, 1);
    motet_array *x = toy_array(c, ROWS, COLUMNS, 1), *y = toy_array(c, ROWS, COLUMNS, 2);
    rt_op op = toy_smooth(x, y);
    assert_ok(c, rt_run(c, &op)); /* the report has its row */
    const digest_text_of before = digest_of(c, y);
    motet_memory held, after;
    for (int round = 0; round < 50; round++) {
        gate g = {0, 0};
        rt_op blocked = op;
        blocked.enqueue = enqueue_gate;
        blocked.user = &g;
        motet_context_trim(c);
        motet_context_memory(c, &held);
        canceller who = {c, &g};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, cancel_then_open, &who), 0);
        const motet_status st = rt_run(c, &blocked);
        pthread_join(thread, NULL);
        assert_status(c, st, MOTET_CANCELLED);
        assert_message(c, "toy.smooth", "cancelled", NULL);
        assert_string_equal(digest_of(c, y).text, before.text);
        motet_context_trim(c);
        motet_context_memory(c, &after);
        assert_int_equal(after.blocks, held.blocks);
        assert_int_equal(after.now, held.now);
    }
    assert_ok(c, rt_run(c, &op));
    motet_array_free(x);
    motet_array_free(y);
    motet_context_free(c);
}

typedef struct release {
    int calls;
    gate *gate;
    int64_t now;
} release;
static int64_t release_clock(void *user) { return ((release *)user)->now += 51000000; }
static motet_go stop_and_open(const motet_progress *p, void *user)
{
    (void)p;
    release *r = user;
    if (++r->calls < 3) return MOTET_GO_ON;
    atomic_store(&r->gate->open, 1);
    return MOTET_STOP;
}

/* P5: a cancel is seen while a chunk runs, not only between chunks: here the only chunk ends
 * because the callback, called meanwhile, lets it. */
static void cancelling_is_seen_within_a_chunk(void **state)
{
    (void)state;
    gate g = {0, 0};
    release r = {.gate = &g};
    motet_context_options o;
    motet_context_options_init(&o);
    o.threads = 2;
    o.progress = stop_and_open;
    o.progress_user = &r;
    o.clock = (motet_clock){release_clock, &r};
    motet_context *c = NULL;
    assert_int_equal(motet_context_create(&o, &c), MOTET_OK);
    const rt_op op = {
        .name = "toy.gate", .axes = 1, .extent = {1000}, .enqueue = enqueue_gate, .user = &g};
    const rt_cut whole = {{1000, 1, 1}, 1};
    assert_status(c, rt_run_cut(c, &op, &whole), MOTET_CANCELLED);
    assert_int_equal(r.calls, 3);
    motet_context_free(c);
}

typedef struct stop {
    int calls, at;
    int64_t last, total;
    int64_t now;
} stop;
static motet_go stop_at(const motet_progress *p, void *user)
{
    stop *s = user;
    if (p->done < s->last) s->at = -1; /* backwards: the test below sees it */
    s->last = p->done;
    s->total = p->total;
    return ++s->calls == s->at ? MOTET_STOP : MOTET_GO_ON;
}
static int64_t fast_clock(void *user) { return ((stop *)user)->now += 51000000; }

/* P3: MOTET_STOP from the progress callback, whichever call answers it, cancels and changes
 * nothing; the progress reported never goes back and ends at the total. */
static void progress_may_stop_at_any_call(void **state)
{
    (void)state;
    stop s = {.at = 0};
    motet_context_options o;
    motet_context_options_init(&o);
    o.threads = 2;
    o.chunk = 1;
    o.progress = stop_at;
    o.progress_user = &s;
    o.clock = (motet_clock){fast_clock, &s};
    motet_context *c = NULL;
    assert_int_equal(motet_context_create(&o, &c), MOTET_OK);
    motet_array *x = toy_array(c, ROWS, COLUMNS, 1), *y = toy_array(c, ROWS, COLUMNS, 2);
    const digest_text_of before = digest_of(c, y);
    rt_op op = toy_smooth(x, y);
    int stopped = 0;
    motet_status st;
    do {
        s = (stop){.at = ++stopped, .now = s.now};
        st = rt_run(c, &op);
        assert_int_not_equal(s.at, -1);
        assert_int_equal(s.total, ROWS);
        if (st == MOTET_OK) break;
        assert_status(c, st, MOTET_CANCELLED);
        assert_string_equal(digest_of(c, y).text, before.text);
    } while (stopped < 10000);
    assert_int_equal(st, MOTET_OK);
    assert_int_equal(s.last, ROWS);
    assert_true(stopped > ROWS); /* each chunk was a place to stop */
    motet_array_free(x);
    motet_array_free(y);
    motet_context_free(c);
}

typedef struct breaking {
    motet_context *context;
    rt_op op;
    int64_t left;
} breaking;
static motet_status enqueue_breaking(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    breaking *b = (breaking *)(uintptr_t)user;
    if (b->left-- == 0) return fail_at(b->context, MOTET_DECLINED, __FILE__, __LINE__, 0, "no");
    return b->op.enqueue(chunk, queue, b->op.user);
}

/* P3: an engine that fails at any chunk: its status comes through, the record says which chunk of
 * which device it was, the array is as before. */
static void a_failing_chunk_leaves_arrays_untouched(void **state)
{
    (void)state;
    motet_context *c = context_of(2, 1);
    motet_array *x = toy_array(c, ROWS, COLUMNS, 1), *y = toy_array(c, ROWS, COLUMNS, 2);
    const digest_text_of before = digest_of(c, y);
    breaking b = {.context = c, .op = toy_smooth(x, y)};
    rt_op op = b.op;
    op.enqueue = enqueue_breaking;
    op.user = &b;
    motet_memory held, after;
    for (int64_t n = 0; n < ROWS; n++) {
        b.left = n;
        motet_context_trim(c);
        motet_context_memory(c, &held);
        assert_int_equal(rt_run(c, &op), MOTET_DECLINED);
        motet_error error;
        motet_context_error(c, &error);
        assert_int_equal(error.device, 0);
        assert_int_equal(error.chunk, n);
        assert_string_equal(digest_of(c, y).text, before.text);
        motet_context_trim(c);
        motet_context_memory(c, &after);
        if (n) assert_int_equal(after.now, held.now);
    }
    b.left = ROWS;
    assert_ok(c, rt_run(c, &op));
    assert_string_not_equal(digest_of(c, y).text, before.text);
    motet_array_free(x);
    motet_array_free(y);
    motet_context_free(c);
}

typedef struct neighbour {
    motet_context *context;
    motet_array *x, *y;
    motet_status status;
} neighbour;
static void *run_often(void *user)
{
    neighbour *n = user;
    for (int i = 0; i < 50 && n->status == MOTET_OK; i++) {
        const rt_op op = toy_smooth(n->x, n->y);
        n->status = rt_run(n->context, &op);
    }
    return NULL;
}

/* A context may be used from several threads at once: each run has its own bits. */
static void runs_at_once_do_not_mix(void **state)
{
    (void)state;
    enum { COUNT = 4 };
    motet_context *c = context_of(2, 3);
    neighbour n[COUNT];
    pthread_t thread[COUNT];
    for (uint64_t i = 0; i < COUNT; i++)
        n[i] = (neighbour){c, toy_array(c, ROWS, COLUMNS, i), toy_array(c, ROWS, COLUMNS, 9),
                           MOTET_OK};
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, run_often, &n[i]), 0);
    for (int i = 0; i < COUNT; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < COUNT; i++) {
        float expected[ROWS * COLUMNS];
        plain_smooth(motet_array_data(n[i].x), expected);
        assert_int_equal(n[i].status, MOTET_OK);
        assert_same(n[i].y, expected, "a run beside others");
        motet_array_free(n[i].x);
        motet_array_free(n[i].y);
    }
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_cut_changes_bits),
                                       cmocka_unit_test(the_toy_sum_depends_on_order),
                                       cmocka_unit_test(the_chunk_option_never_changes_bits),
                                       cmocka_unit_test(cuts_are_whole_grains),
                                       cmocka_unit_test(what_is_read_is_what_was_before),
                                       cmocka_unit_test(direct_arrays_need_no_second_copy),
                                       cmocka_unit_test(empty_is_fine),
                                       cmocka_unit_test(shapes_are_checked),
                                       cmocka_unit_test(cancelling_leaves_arrays_untouched),
                                       cmocka_unit_test(cancelling_is_seen_within_a_chunk),
                                       cmocka_unit_test(progress_may_stop_at_any_call),
                                       cmocka_unit_test(a_failing_chunk_leaves_arrays_untouched),
                                       cmocka_unit_test(runs_at_once_do_not_mix)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
