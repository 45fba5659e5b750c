/* One answer: every form of operation gives one digest, on one to four devices unlike in speed and
 * memory, for all weights, sizes of chunks, budgets and modes. */
#include "sim/forms.h"

/* Chunks that each device did, as the report of the context tells. */
static void chunks_of(motet_context *c, int64_t chunks[RT_DEVICES])
{
    char *text = NULL;
    assert_ok(c, motet_context_report(c, &text));
    json_t *report = json_loads(text, 0, NULL), *devices = json_object_get(report, "devices");
    assert_int_equal(json_array_size(devices), c->devices->count);
    for (int i = 0; i < c->devices->count; i++)
        chunks[i] =
            json_integer_value(json_object_get(json_array_get(devices, (size_t)i), "chunks"));
    json_decref(report);
    motet_text_free(c, text);
}

/* Every device works, if there are rows for all, and the digest is the one. */
static void all_devices_work_and_agree(void **state)
{
    (void)state;
    for (int which = 0; which < TOY_FORMS; which++)
        for (uint64_t seed = 0; seed < 3 * SETS; seed++) {
            motet_context *c = context_for(seed, sets[seed % SETS]);
            const rt_weights w = random_weights(seed, c->devices->count);
            const rt_run_options o = {.weights = &w, .weightings = 1};
            assert_ok(c, attempt(c, (toy_which)which, seed % 2 ? 2 : 0, &o));
            assert_int_equal(toy_mistakes(), 0);
            int64_t chunks[RT_DEVICES];
            chunks_of(c, chunks);
            for (int i = 0; i < c->devices->count; i++)
                assert_true(chunks[i] > 0 || which == TOY_PROJECT); /* of few grains */
            motet_context_free(c);
        }
}

/* Every size of chunk and of block of the stream. */
static void every_size_of_chunk(void **state)
{
    (void)state;
    for (int which = 0; which < TOY_FORMS; which++)
        for (int64_t rows = 1; rows <= 7; rows++)
            for (int64_t columns = 1; columns <= 5; columns++) {
                const uint64_t seed = (uint64_t)(rows * 5 + columns);
                motet_context *c = context_for(seed, sets[seed % SETS]);
                const rt_weights w = random_weights(seed, c->devices->count);
                const rt_run_options o = {.cut = {{rows, columns}, 1 + (rows + columns) % 7},
                                          .weights = &w,
                                          .weightings = 1};
                assert_ok(c, attempt(c, (toy_which)which, 1, &o));
                assert_int_equal(toy_mistakes(), 0);
                motet_context_free(c);
            }
}

/* The least budget for each device alone, by what refusals say. */
static int64_t least_budget(toy_which which)
{
    int64_t least = 1;
    for (int i = 0;; i++) {
        motet_context *c = context_for(1, "sim:0");
        const int64_t budget[1] = {least};
        const rt_run_options o = {.budget = budget};
        const motet_status st = attempt(c, which, 0, &o);
        motet_error error;
        motet_context_error(c, &error);
        motet_context_free(c);
        if (st == MOTET_OK) return least;
        assert_int_equal(st, MOTET_OVER_BUDGET);
        const char *at = strstr(error.message, "takes at least ");
        assert_non_null(at);
        const int64_t said = strtoll(at + strlen("takes at least "), NULL, 10);
        assert_true(said > least && i < 100);
        least = said;
    }
}

/* Six budgets, from the least to plenty: never more than that is held. */
static void six_budgets(void **state)
{
    (void)state;
    for (int which = 0; which < TOY_FORMS; which++) {
        const int64_t least = least_budget((toy_which)which);
        for (int k = 0; k < 6; k++)
            for (int set = k % 2; set < SETS; set += 2) {
                sim_config config;
                sim_config_init(&config);
                config.seed = (uint64_t)(k + set);
                motet_context *c = sim_context(&config, sets[set]);
                int64_t budget[RT_DEVICES];
                for (int i = 0; i < RT_DEVICES; i++) budget[i] = least + least * (k + i) * k / 4;
                const rt_run_options o = {.budget = budget};
                assert_ok(c, attempt(c, (toy_which)which, 0, &o));
                for (int i = 0; i < c->devices->count; i++) {
                    const char *name = c->devices->set[i].info.name;
                    sim_counts counts;
                    if (strncmp(name, "sim:", 4)) continue;
                    sim_count(c, name[4] - '0', &counts);
                    assert_true(counts.used_peak <= (uint64_t)budget[i]);
                }
                motet_context_free(c);
            }
    }
}

/* One device, a chunk for each, several for each, rows asked for, a stream in blocks. */
static void every_mode(void **state)
{
    (void)state;
    for (int which = 0; which < TOY_FORMS; which++)
        for (int mode = 0; mode < 5; mode++)
            for (int set = 0; set < SETS; set++) {
                motet_context *c = context_for((uint64_t)(mode + set), sets[set]);
                rt_run_options o = {.shard_rows = mode == RT_SINGLE ? 1000000 : 0};
                c->options.unpipelined = mode == RT_SHARDED;
                c->options.chunks_per_device = mode == RT_PIPELINED ? 7 : 0;
                if (mode == RT_CHUNKED) o.cut.rows[0] = 9;
                if (mode == RT_STREAMED) o.cut.stream_rows = 3;
                assert_ok(c, attempt(c, (toy_which)which, set % 2 ? 2 : 0, &o));
                assert_int_equal(toy_mistakes(), 0);
                motet_context_free(c);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_devices_work_and_agree),
                                       cmocka_unit_test(every_size_of_chunk),
                                       cmocka_unit_test(six_budgets), cmocka_unit_test(every_mode)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
