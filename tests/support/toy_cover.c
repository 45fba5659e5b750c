#include "support/toy_cover.h"

#include "support/toy_kernels.h"

enum { GAIN, MAP, HISTOGRAM };

void toy_cover_hit(int64_t index, float gain, int hit, int64_t *cell, float *value)
{
    toy_cover_hits(index, gain, hit, cell, value);
}

static motet_status enqueue(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    const toy_cover *of = user;
    const toy_cover_args a = {.gain = toy_view_of(&chunk->port[GAIN]),
                              .map = toy_view_of(&chunk->port[MAP]),
                              .histogram = toy_view_of(&chunk->port[HISTOGRAM]),
                              .first = chunk->first[0],
                              .sample = of->first + chunk->first[0],
                              .bound = of->bound};
    return rt_launch(queue, &K_toy_cover, &a, chunk->count[0]);
}

rt_op toy_cover_op(const toy_cover *of)
{
    return (rt_op){.name = "toy.cover",
                   .axes = 1,
                   .extent = {of->gain->shape[0]},
                   .port = {[GAIN] = {.name = "gain", .array = of->gain, .access = RT_READ},
                            [MAP] = {.name = "map",
                                     .array = of->map,
                                     .access = RT_ADD,
                                     .cut = {RT_WHOLE},
                                     .limbs = K_LIMBS_BOUNDED},
                            [HISTOGRAM] = {.name = "histogram",
                                           .array = of->histogram,
                                           .access = RT_ADD,
                                           .cut = {RT_WHOLE}}},
                   .enqueue = enqueue,
                   .user = of};
}
