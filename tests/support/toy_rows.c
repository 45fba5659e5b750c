#include "support/toy_rows.h"

#include "kern/random.h"

#include "support/toy.h"

static int64_t *element(const rt_view *v, int64_t row, int64_t column)
{
    const int64_t at[2] = {row - v->first[0], column - v->first[1]};
    if (at[0] < 0 || at[0] >= v->count[0] || at[1] < 0 || (v->stride[1] && at[1] >= v->count[1])) {
        static int64_t nowhere;
        toy_mistake();
        return &nowhere;
    }
    return (int64_t *)v->data + at[0] * v->stride[0] + at[1] * v->stride[1];
}

static rt_span span_of(const rt_view *spans, int64_t i)
{
    return (rt_span){*element(spans, i, 0), *element(spans, i, 1), *element(spans, i, 2)};
}

/* Emitting. */

int64_t toy_emitted(int64_t row, int64_t entry, int word)
{
    uint64_t state = (uint64_t)row * 1000003 + (uint64_t)entry * 31 + (uint64_t)word;
    return (int64_t)test_random(&state);
}

typedef struct emit_args {
    rt_view wanted, lengths, spans, entries;
    int64_t first;
} emit_args;
static const size_t emit_args_bytes = sizeof(emit_args);

static void emit_count(const void *p, int64_t begin, int64_t end, void *scratch)
{
    (void)scratch;
    const emit_args *a = p;
    for (int64_t i = a->first + begin; i < a->first + end; i++)
        *element(&a->lengths, i, 0) = *element(&a->wanted, i, 0);
}

static void emit_fill(const void *p, int64_t begin, int64_t end, void *scratch)
{
    (void)scratch;
    const emit_args *a = p;
    for (int64_t i = a->first + begin; i < a->first + end; i++) {
        const rt_span span = span_of(&a->spans, i);
        const int64_t length = *element(&a->wanted, i, 0);
        for (int64_t k = 0; k < span.room; k++)
            for (int w = 0; w < TOY_WIDTH; w++)
                *element(&a->entries, span.first + k, w) =
                    k < length ? toy_emitted(span.row, k, w) : 0;
        *element(&a->lengths, i, 0) = length;
    }
}

TOY_KERNEL(emit_count, emit_args)
TOY_KERNEL(emit_fill, emit_args)

static motet_status emit(const rt_chunk *chunk, const rt_queue *queue, const k_kernel *kernel)
{
    const emit_args a = {.wanted = chunk->port[0],
                         .lengths = chunk->port[RT_LENGTHS],
                         .spans = chunk->port[RT_SPANS],
                         .entries = chunk->port[RT_ENTRIES],
                         .first = chunk->first[0]};
    return rt_launch(queue, kernel, &a, chunk->count[0]);
}

static motet_status enqueue_count(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    (void)user;
    return emit(chunk, queue, &emit_count_kernel);
}

static motet_status enqueue_fill(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    (void)user;
    return emit(chunk, queue, &emit_fill_kernel);
}

rt_ragged toy_emit(const motet_array *wanted, int64_t capacity)
{
    return (rt_ragged){.op = {.name = "toy.emit",
                              .axes = 1,
                              .extent = {wanted->shape[0]},
                              .port = {{.name = "wanted", .array = wanted, .access = RT_READ}}},
                       .type = MOTET_I64,
                       .width = TOY_WIDTH,
                       .count = enqueue_count,
                       .fill = enqueue_fill,
                       .capacity = capacity};
}

/* Walking. */

typedef struct walk_args {
    rt_view state, lengths, spans, entries;
    int64_t first;
    uint64_t seed;
    uint32_t step;
} walk_args;
static const size_t walk_args_bytes = sizeof(walk_args);

int toy_walk_from(uint64_t seed, uint32_t step, const int64_t place[2], int64_t to[4][2])
{
    const uint64_t key = (uint64_t)place[0];
    const uint32_t x = (uint32_t)(key >> 48), y = (uint32_t)(key >> 32 & 0xffff);
    if (x % 8 == 5 && y % 8 == 3) return 0; /* a hole */
    const k_words w = k_random((k_source){seed, step}, key, 0);
    static const uint32_t across[4] = {1, 0xffff, 0, 0}, along[4] = {0, 0, 1, 0xffff};
    int64_t part[4], rest = place[1];
    int entries = 0;
    for (int d = 0; d < 4; d++) {
        part[d] = place[1] / 4 - (int64_t)(w.w[d] % 8) * (place[1] / 64);
        rest -= part[d];
    }
    part[w.w[0] >> 30] += rest;
    for (int d = 0; d < 4; d++) {
        if (!part[d]) continue;
        const uint64_t u = (x + across[d]) & 0xffff, v = (y + along[d]) & 0xffff;
        to[entries][0] = (int64_t)(u << 48 | v << 32);
        to[entries++][1] = part[d];
    }
    return entries;
}

static int walk_item(const walk_args *a, int64_t i, int64_t to[4][2])
{
    const int64_t place[2] = {*element(&a->state, i, 0), *element(&a->state, i, 1)};
    return toy_walk_from(a->seed, a->step, place, to);
}

static void walk_count(const void *p, int64_t begin, int64_t end, void *scratch)
{
    (void)scratch;
    const walk_args *a = p;
    int64_t to[4][2];
    for (int64_t i = a->first + begin; i < a->first + end; i++)
        *element(&a->lengths, i, 0) = walk_item(a, i, to);
}

static void walk_fill(const void *p, int64_t begin, int64_t end, void *scratch)
{
    (void)scratch;
    const walk_args *a = p;
    int64_t to[4][2];
    for (int64_t i = a->first + begin; i < a->first + end; i++) {
        const rt_span span = span_of(&a->spans, i);
        const int length = walk_item(a, i, to);
        for (int64_t k = 0; k < span.room; k++)
            for (int w = 0; w < 2; w++)
                *element(&a->entries, span.first + k, w) = k < length ? to[k][w] : 0;
        *element(&a->lengths, i, 0) = length;
    }
}

TOY_KERNEL(walk_count, walk_args)
TOY_KERNEL(walk_fill, walk_args)

typedef struct walk {
    uint64_t seed;
    uint32_t step;
} walk;

static motet_status enqueue_walk(const rt_chunk *chunk, const rt_queue *queue, const void *user,
                                 const k_kernel *kernel)
{
    const walk *w = user;
    const walk_args a = {.state = chunk->port[0],
                         .lengths = chunk->port[RT_LENGTHS],
                         .spans = chunk->port[RT_SPANS],
                         .entries = chunk->port[RT_ENTRIES],
                         .first = chunk->first[0],
                         .seed = w->seed,
                         .step = w->step};
    return rt_launch(queue, kernel, &a, chunk->count[0]);
}

static motet_status enqueue_walk_count(const rt_chunk *chunk, const rt_queue *queue,
                                       const void *user)
{
    return enqueue_walk(chunk, queue, user, &walk_count_kernel);
}

static motet_status enqueue_walk_fill(const rt_chunk *chunk, const rt_queue *queue,
                                      const void *user)
{
    return enqueue_walk(chunk, queue, user, &walk_fill_kernel);
}

static motet_status one_step(motet_context *c, const toy_walk *of, walk *w,
                             const rt_run_options *options, rt_rows **state)
{
    rt_rows *moved = NULL, *next = NULL;
    const rt_ragged r = {
        .op = {.name = "toy.walk",
               .axes = 1,
               .extent = {rt_rows_entries(*state)},
               .port = {{.name = "state", .array = (*state)->data, .access = RT_READ}},
               .user = w,
               .fingerprint = {w->seed, w->step + 1}},
        .type = MOTET_I64,
        .width = 2,
        .count = enqueue_walk_count,
        .fill = enqueue_walk_fill,
        .capacity = of->capacity};
    const rt_exchange x = {.name = "toy.walk", .buckets = of->buckets, .how = K_COMBINE_SUM};
    motet_status st = rt_ragged_run(c, &r, options, &moved);
    if (st == MOTET_OK) st = rt_exchange_run(c, &x, moved, options, &next);
    rt_rows_free(moved);
    if (st != MOTET_OK) return st;
    rt_rows_free(*state);
    *state = next;
    return MOTET_OK;
}

motet_status toy_walk_run(motet_context *c, const toy_walk *of, const rt_run_options *options,
                          rt_rows **out)
{
    const int64_t one = 1;
    rt_rows *state = NULL;
    TRY(rt_rows_create(c, "toy.walk", 1, &one, MOTET_I64, 2, 0, INT64_MAX, &state));
    ((int64_t *)state->data->data)[1] = TOY_WALKERS;
    walk w = {.seed = 7};
    motet_status st = MOTET_OK;
    for (; st == MOTET_OK && w.step < of->steps; w.step++)
        st = one_step(c, of, &w, options, &state);
    if (st == MOTET_OK)
        *out = state;
    else
        rt_rows_free(state);
    return st;
}
