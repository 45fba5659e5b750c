#include "support/toy_cover.h"

#include "kern/accumulate.h"
#include "kern/random.h"
#include "support/toy.h"

enum { GAIN, MAP, HISTOGRAM };

void toy_cover_hit(int64_t index, float gain, int hit, int64_t *cell, float *value)
{
    const k_words w = k_random((k_source){11, 2}, (uint64_t)index, (uint32_t)hit);
    const float scale = k_ldexpf(1, -(int32_t)(w.w[2] % 40));
    *cell = w.w[0] % 3 ? w.w[0] % TOY_CELLS : 5; /* a third of all meet in one cell */
    *value = gain * (2 * k_uniformf(w.w[1]) - 1) * scale;
}

typedef struct cover_args {
    rt_view gain, map, histogram;
    int64_t first, sample; /* row of the box; its sample */
    int32_t bound;
} cover_args;
static const size_t cover_args_bytes = sizeof(cover_args);

static int64_t *element(const rt_view *v, int64_t i, int64_t j)
{
    if (i < v->first[0] || i >= v->first[0] + v->count[0]) {
        static int64_t nowhere;
        toy_mistake();
        return &nowhere;
    }
    return (int64_t *)v->data + (i - v->first[0]) * v->stride[0] + j;
}

static void cover(const void *p, int64_t begin, int64_t end, void *scratch)
{
    (void)scratch;
    const cover_args *a = p;
    const float *gain = (const float *)a->gain.data - a->gain.first[0] * a->gain.stride[0];
    for (int64_t i = begin; i < end; i++)
        for (int hit = 0; hit < TOY_HITS; hit++) {
            int64_t cell, limb[K_LIMBS_BOUNDED] = {0};
            float value;
            toy_cover_hit(a->sample + i, gain[(a->first + i) * a->gain.stride[0]], hit, &cell,
                          &value);
            if (k_limbs_add_bounded(limb, value, a->bound)) continue;
            for (int j = 0; j < K_LIMBS_BOUNDED; j++)
                if (limb[j]) k_add_i64(element(&a->map, cell, j), limb[j]);
            const int64_t bin = (k_f32_bits(value) >> 23 & 255u) % TOY_BINS;
            k_add_i64(element(&a->histogram, bin, 0), 1);
        }
}

TOY_KERNEL(cover, cover_args)

static motet_status enqueue(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    const toy_cover *of = user;
    const cover_args a = {.gain = chunk->port[GAIN],
                          .map = chunk->port[MAP],
                          .histogram = chunk->port[HISTOGRAM],
                          .first = chunk->first[0],
                          .sample = of->first + chunk->first[0],
                          .bound = of->bound};
    return rt_launch(queue, &cover_kernel, &a, chunk->count[0]);
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
