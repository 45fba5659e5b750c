#include "support/toy.h"

#include <math.h>
#include <stdatomic.h>

#include "support/toy.k.h"
#include "support/toy_kernels.h"

static atomic_int mistakes;
int toy_mistakes(void) { return atomic_exchange(&mistakes, 0); }
void toy_mistake(void) { atomic_fetch_add(&mistakes, 1); }

static motet_status enqueue(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    const k_kernel *kernel = user;
    const toy_args a = {.in = toy_view_of(&chunk->port[0]),
                        .with = toy_view_of(&chunk->port[1]),
                        .out = toy_view_of(&chunk->port[2]),
                        .first = {chunk->first[0], chunk->first[1]},
                        .count = {chunk->count[0], chunk->count[1]},
                        .rows = chunk->port[3].count[0],
                        .stream_first = chunk->stream_first,
                        .stream_count = chunk->stream_count,
                        .first_block = chunk->first_block};
    return rt_launch(queue, kernel, &a, a.count[0] * a.count[1]);
}

rt_op toy_smooth(const motet_array *x, const motet_array *out)
{
    return (rt_op){
        .name = "toy.smooth",
        .axes = 2,
        .extent = {out->shape[0], out->shape[1]},
        .port = {{.name = "x", .array = x, .access = RT_READ, .cut = {0, 1}, .halo = 2},
                 {0},
                 {.name = "smooth", .array = out, .access = RT_WRITE, .cut = {0, 1}},
                 {.name = "whole x", .array = x, .access = RT_READ, .cut = {RT_WHOLE, RT_WHOLE}}},
        .enqueue = enqueue,
        .user = &K_toy_smooth};
}

rt_op toy_sum(const motet_array *w, const motet_array *x, const motet_array *out)
{
    return (rt_op){
        .name = "toy.sum",
        .axes = 2,
        .extent = {out->shape[0], out->shape[1]},
        .stream_extent = x->shape[0],
        .port = {{.name = "x", .array = x, .access = RT_READ, .cut = {RT_WHOLE, 1}, .streamed = 1},
                 {.name = "w", .array = w, .access = RT_READ, .cut = {1, RT_WHOLE}, .streamed = 1},
                 {.name = "sum", .array = out, .access = RT_WRITE, .cut = {0, 1}}},
        .scratch = {(size_t)x->shape[0] * sizeof(float), (size_t)x->shape[0] * sizeof(float)},
        .enqueue = enqueue,
        .user = &K_toy_sum};
}

rt_op toy_update(const motet_array *x, const motet_array *y)
{
    return (rt_op){.name = "toy.update",
                   .axes = 1,
                   .extent = {y->shape[0]},
                   .port = {{.name = "x", .array = x, .access = RT_READ},
                            {0},
                            {.name = "y", .array = y, .access = RT_UPDATE}},
                   .enqueue = enqueue,
                   .user = &K_toy_update};
}

motet_array *toy_array(motet_context *context, int64_t rows, int64_t columns, uint64_t seed)
{
    motet_array *a = NULL;
    assert_ok(context, motet_array_create(context, MOTET_F32, 2, (int64_t[]){rows, columns}, &a));
    float *data = motet_array_data(a);
    for (int64_t i = 0; i < rows * columns; i++)
        data[i] = ldexpf((float)test_uniform(&seed, -1, 1), (int)(test_random(&seed) % 24));
    return a;
}
