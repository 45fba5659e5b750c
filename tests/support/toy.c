#include "support/toy.h"

#include <math.h>
#include <stdatomic.h>

typedef struct toy_args {
    rt_view in, with, out;
    int64_t first[2], count[2], rows;
    int64_t stream_first, stream_count;
    int first_block;
} toy_args;
static const size_t toy_args_bytes = sizeof(toy_args);

static atomic_int mistakes;
int toy_mistakes(void) { return atomic_exchange(&mistakes, 0); }
void toy_mistake(void) { atomic_fetch_add(&mistakes, 1); }

static float *at(const rt_view *v, int64_t i, int64_t j)
{
    const int64_t index[2] = {i, j};
    int64_t offset = 0;
    for (int axis = 0; axis < 2; axis++) {
        const int64_t k = index[axis] - v->first[axis];
        if (k < 0 || k >= v->count[axis]) {
            static float nowhere;
            toy_mistake();
            return &nowhere;
        }
        offset += k * v->stride[axis];
    }
    return (float *)v->data + offset;
}

static void smooth(const void *p, int64_t begin, int64_t end, void *scratch)
{
    (void)scratch;
    const toy_args *a = p;
    for (int64_t item = begin; item < end; item++) {
        const int64_t i = a->first[0] + item / a->count[1], j = a->first[1] + item % a->count[1];
        float sum = 0;
        for (int64_t k = i - 2; k <= i + 2; k++)
            if (k >= 0 && k < a->rows) sum += *at(&a->in, k, j);
        *at(&a->out, i, j) = sum;
    }
}

static void sum(const void *p, int64_t begin, int64_t end, void *scratch)
{
    const toy_args *a = p;
    float *product = scratch; /* of each term of the block */
    for (int64_t item = begin; item < end; item++) {
        const int64_t i = a->first[0] + item / a->count[1], j = a->first[1] + item % a->count[1];
        const int64_t first = a->stream_first;
        for (int64_t k = 0; k < a->stream_count; k++)
            product[k] = *at(&a->with, first + k, i) * *at(&a->in, first + k, j);
        float total = a->first_block ? 0 : *at(&a->out, i, j);
        for (int64_t k = 0; k < a->stream_count; k++) total += product[k];
        *at(&a->out, i, j) = total;
    }
}

static void update(const void *p, int64_t begin, int64_t end, void *scratch)
{
    (void)scratch;
    const toy_args *a = p;
    for (int64_t i = a->first[0] + begin; i < a->first[0] + end; i++)
        for (int64_t j = 0; j < a->out.count[1]; j++)
            *at(&a->out, i, j) += (1 + (float)i * 0.125f) * *at(&a->in, i, j);
}

TOY_KERNEL(smooth, toy_args)
TOY_KERNEL(sum, toy_args)
TOY_KERNEL(update, toy_args)

static motet_status enqueue(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    const k_kernel *kernel = user;
    const toy_args a = {.in = chunk->port[0],
                        .with = chunk->port[1],
                        .out = chunk->port[2],
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
        .user = &smooth_kernel};
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
        .scratch = {.fast = (size_t)x->shape[0] * sizeof(float)},
        .enqueue = enqueue,
        .user = &sum_kernel};
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
                   .user = &update_kernel};
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
