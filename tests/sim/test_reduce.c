/* Exact sums of many samples: the same bits in any order, on any devices, in ranges or at once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/toy_cover.h"

#include "kern/accumulate.h"
#include "support/pipe.h"
#include "support/toy.h"

enum { SAMPLES = 500 };

typedef struct scene {
    toy_cover cover;
    motet_array *gain, *map, *histogram;
} scene;

static scene scene_of(motet_context *c, int64_t first, int64_t samples)
{
    scene s = {.cover = {.first = first}};
    assert_ok(c, motet_array_create(c, MOTET_F32, 1, &samples, &s.gain));
    float *gain = motet_array_data(s.gain);
    for (int64_t i = 0; i < samples; i++) gain[i] = 1 / (1 + (float)((first + i) % 13));
    assert_ok(c,
              motet_array_create(c, MOTET_I64, 2, (int64_t[]){TOY_CELLS, K_LIMBS_BOUNDED}, &s.map));
    assert_ok(c, motet_array_create(c, MOTET_I64, 1, (int64_t[]){TOY_BINS}, &s.histogram));
    s.cover.gain = s.gain, s.cover.map = s.map, s.cover.histogram = s.histogram;
    return s;
}

static void scene_free(scene *s)
{
    motet_array_free(s->gain);
    motet_array_free(s->map);
    motet_array_free(s->histogram);
}

static motet_status run(motet_context *c, const scene *s, const rt_run_options *options)
{
    const toy_cover cover = s->cover;
    const rt_op op = toy_cover_op(&cover);
    return rt_run_with(c, &op, options);
}

/* All samples in one loop, backwards. */
static void expected(int64_t map[TOY_CELLS * K_LIMBS_BOUNDED], int64_t histogram[TOY_BINS])
{
    memset(map, 0, TOY_CELLS * K_LIMBS_BOUNDED * sizeof *map);
    memset(histogram, 0, TOY_BINS * sizeof *histogram);
    for (int64_t i = SAMPLES; i-- > 0;)
        for (int hit = TOY_HITS; hit-- > 0;) {
            int64_t cell;
            float value;
            toy_cover_hit(i, 1 / (1 + (float)(i % 13)), hit, &cell, &value);
            assert_int_equal(k_limbs_add_bounded(map + cell * K_LIMBS_BOUNDED, value, 0), 0);
            histogram[(k_f32_bits(value) >> 23 & 255u) % TOY_BINS]++;
        }
    for (int i = 0; i < TOY_CELLS; i++)
        assert_int_equal(k_limbs_normalise(map + i * K_LIMBS_BOUNDED, K_LIMBS_BOUNDED), 0);
}

static void assert_right(const scene *s)
{
    int64_t map[TOY_CELLS * K_LIMBS_BOUNDED], histogram[TOY_BINS];
    expected(map, histogram);
    assert_memory_equal(motet_array_data(s->map), map, sizeof map);
    assert_memory_equal(motet_array_data(s->histogram), histogram, sizeof histogram);
}

static motet_context *context_for(uint64_t seed, const char *names)
{
    sim_config config;
    sim_config_init(&config);
    config.seed = seed;
    return sim_context(&config, names);
}

/* Whatever the devices, seeds, weights and cuts; and the sums are those of a plain loop. */
static void sums_are_the_same_everywhere(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 120; seed++) {
        uint64_t random = seed;
        motet_context *c = context_for(seed, seed % 7 ? pipe_sets[seed % PIPE_SETS] : "cpu");
        rt_weights w = {.count = c->devices->count};
        for (int i = 0; i < w.count; i++) w.weight[i] = test_uniform(&random, 0.2, 2);
        const rt_run_options o = {
            .weights = &w, .weightings = 1, .cut = {{(int64_t)(test_random(&random) % 90)}, 0}};
        scene s = scene_of(c, 0, SAMPLES);
        assert_ok(c, run(c, &s, &o));
        assert_right(&s);
        assert_int_equal(toy_mistakes(), 0);
        assert_clean(c);
        scene_free(&s);
        motet_context_free(c);
    }
}

/* Ranges of samples, one run after the other in any order, give the sums of one run over all. */
static void ranges_add_up_exactly(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 30; seed++) {
        uint64_t random = seed + 100;
        motet_context *c = context_for(seed, pipe_sets[seed % PIPE_SETS]);
        scene total = scene_of(c, 0, 0);
        int64_t cut[5] = {0, 0, 0, 0, SAMPLES};
        for (int i = 1; i < 4; i++)
            cut[i] = cut[i - 1] + (int64_t)(test_random(&random) % (SAMPLES / 4));
        for (int k = 0; k < 4; k++) {
            const int part = (k * 3 + (int)seed) % 4;
            scene s = scene_of(c, cut[part], cut[part + 1] - cut[part]);
            s.cover.map = total.map, s.cover.histogram = total.histogram;
            const rt_run_options o = {.cut = {{seed % 2 ? 20 : 0}, 0}};
            assert_ok(c, run(c, &s, &o));
            scene_free(&s);
        }
        assert_right(&total);
        scene_free(&total);
        assert_clean(c);
        motet_context_free(c);
    }
}

/* A device is lost at each of its commands: what it had added is neither lost nor added twice. */
static void losses_count_nothing_twice(void **state)
{
    (void)state;
    for (int alone = 0; alone < 2; alone++)
        for (int64_t k = 1, over = 0; !over; k++) {
            sim_config config;
            sim_config_init(&config);
            config.seed = (uint64_t)k;
            config.device[0].fault.lose_at_command = k;
            motet_context *c = sim_context(&config, alone ? "sim:0" : "sim:0,sim:2,cpu");
            scene s = scene_of(c, 0, SAMPLES);
            const rt_run_options o = {.cut = {{40}, 0}};
            const motet_status st = run(c, &s, &o);
            sim_counts counts;
            sim_count(c, 0, &counts);
            over = !counts.losses;
            assert_int_equal(st, alone && !over ? MOTET_DEVICE_LOST : MOTET_OK);
            const int64_t *map = motet_array_data(s.map);
            if (st == MOTET_OK) assert_right(&s);
            for (int64_t i = 0; i < s.map->elements && st != MOTET_OK; i++)
                assert_int_equal(map[i], 0);
            toy_mistakes();
            assert_clean(c);
            scene_free(&s);
            motet_context_free(c);
        }
}

/* A sum that leaves its range is refused by name, and nothing was added. */
static void a_sum_out_of_range_is_refused(void **state)
{
    (void)state;
    for (int set = 0; set < PIPE_SETS; set++)
        for (int limbs = 0; limbs < 2; limbs++) {
            motet_context *c = context_for((uint64_t)set, pipe_sets[set]);
            scene s = scene_of(c, 0, SAMPLES);
            int64_t *at = motet_array_data(limbs ? s.map : s.histogram);
            const int64_t last = limbs ? s.map->elements - 1 : TOY_BINS - 1;
            at[last] = limbs ? ((int64_t)1 << 62) : INT64_MAX;
            const int64_t before = at[last];
            const rt_run_options o = {.cut = {{40}, 0}};
            assert_status(c, run(c, &s, &o), MOTET_BAD_DATA);
            assert_message(c, "toy.cover", limbs ? "map" : "histogram", NULL);
            for (int64_t i = 0; i < last; i++) assert_int_equal(at[i], 0);
            assert_int_equal(at[last], before);
            scene_free(&s);
            assert_clean(c);
            motet_context_free(c);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_are_the_same_everywhere),
                                       cmocka_unit_test(ranges_add_up_exactly),
                                       cmocka_unit_test(losses_count_nothing_twice),
                                       cmocka_unit_test(a_sum_out_of_range_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
