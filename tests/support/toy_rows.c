#include "support/toy_rows.h"

#include "support/toy_kernels.h"

/* Emitting. */

int64_t toy_emitted(int64_t row, int64_t entry, int word)
{
    return toy_emitted_word(row, entry, word);
}

static toy_rows_args args_of(const rt_chunk *chunk)
{
    return (toy_rows_args){.in = toy_view_of(&chunk->port[0]),
                           .lengths = toy_view_of(&chunk->port[RT_LENGTHS]),
                           .spans = toy_view_of(&chunk->port[RT_SPANS]),
                           .entries = toy_view_of(&chunk->port[RT_ENTRIES]),
                           .first = chunk->first[0]};
}

static motet_status emit(const rt_chunk *chunk, const rt_queue *queue, const k_kernel *kernel)
{
    const toy_rows_args a = args_of(chunk);
    return rt_launch(queue, kernel, &a, chunk->count[0]);
}

static motet_status enqueue_count(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    (void)user;
    return emit(chunk, queue, &K_toy_emit_count);
}

static motet_status enqueue_fill(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    (void)user;
    return emit(chunk, queue, &K_toy_emit_fill);
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

int toy_walk_from(uint64_t seed, uint32_t step, const int64_t place[2], int64_t to[4][2])
{
    return toy_walk_step(seed, step, place, to);
}

typedef struct walk {
    uint64_t seed;
    uint32_t step;
} walk;

static motet_status enqueue_walk(const rt_chunk *chunk, const rt_queue *queue, const void *user,
                                 const k_kernel *kernel)
{
    const walk *w = user;
    toy_rows_args a = args_of(chunk);
    a.seed = w->seed;
    a.step = w->step;
    return rt_launch(queue, kernel, &a, chunk->count[0]);
}

static motet_status enqueue_walk_count(const rt_chunk *chunk, const rt_queue *queue,
                                       const void *user)
{
    return enqueue_walk(chunk, queue, user, &K_toy_walk_count);
}

static motet_status enqueue_walk_fill(const rt_chunk *chunk, const rt_queue *queue,
                                      const void *user)
{
    return enqueue_walk(chunk, queue, user, &K_toy_walk_fill);
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
