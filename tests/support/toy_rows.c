#include "support/toy_rows.h"

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
        for (int64_t k = 0; k < length && k < span.room; k++)
            for (int w = 0; w < TOY_WIDTH; w++)
                *element(&a->entries, span.first + k, w) = toy_emitted(span.row, k, w);
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
