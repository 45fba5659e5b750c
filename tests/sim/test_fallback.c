/* Fallbacks: devices that compute what all others decline, and all when no other is left. */
#include <stdio.h>
#include <string.h>

#include "support/pipe.h"

static const rt_run_options small = {.cut = {{6, 5}, 11}};
enum { ROWS = 40, COLUMNS = 13 };

typedef struct heard {
    int findings;
    char warnings[4000];
} heard;

static void hear(motet_log_level level, const char *component, const char *text, void *user)
{
    heard *h = user;
    (void)component;
    const size_t n = strlen(h->warnings);
    if (level == MOTET_LOG_WARNING) snprintf(h->warnings + n, sizeof h->warnings - n, "%s\n", text);
}

static motet_context *begin(heard *h, const sim_config *config, const char *names)
{
    *h = (heard){.findings = 0};
    motet_context *c = test_context();
    c->options.log = hear;
    c->options.log_user = h;
    assert_ok(c, sim_use(c, config, names));
    return c;
}

/* Runs one case; answers the status, and asserts bits and arrays. */
static motet_status run(motet_context *c, int which, const rt_run_options *o, const char *expected)
{
    pipe_case p;
    pipe_case_make(c, which, ROWS, COLUMNS, &p);
    char before[33], after[33];
    assert_ok(c, motet_array_digest(p.out, before));
    const motet_status st = rt_run_with(c, &p.op, o);
    assert_ok(c, motet_array_digest(p.out, after));
    assert_string_equal(after, st == MOTET_OK ? expected : before);
    pipe_case_free(&p);
    return st;
}

static int64_t chunks_of(motet_context *c, int device)
{
    return atomic_load(&c->devices->set[device].chunks);
}

static void end(motet_context *c)
{
    assert_clean(c);
    motet_context_free(c);
    toy_mistakes();
}

/* While another device is there a fallback does nothing; when the last one is lost it finishes the
 * run, and does all of those that follow. */
static void it_works_when_no_other_is_left(void **state)
{
    (void)state;
    for (int which = 0; which < PIPE_OPS; which++) {
        char expected[33];
        pipe_expected(which, ROWS, COLUMNS, expected);
        for (int lost = 0; lost < 3; lost++) {
            heard h;
            sim_config config;
            sim_config_init(&config);
            for (int i = 0; i < lost; i++) config.device[i].fault.lose_at_command = 4 + 3 * i;
            motet_context *c = begin(&h, &config, "sim:0,sim:1/cpu");
            assert_ok(c, run(c, which, &small, expected));
            assert_int_equal(chunks_of(c, 2) > 0, lost == 2);
            const int64_t before = chunks_of(c, 2), others = chunks_of(c, 0) + chunks_of(c, 1);
            assert_ok(c, run(c, which, &small, expected));
            assert_int_equal(chunks_of(c, 2) > before, lost == 2);
            assert_int_equal(chunks_of(c, 0) + chunks_of(c, 1) > others, lost < 2);
            end(c);
        }
    }
}

/* Weights that are asked for are heeded, of one operation or of all. */
static void weights_win(void **state)
{
    (void)state;
    char expected[33];
    pipe_expected(PIPE_SMOOTH, ROWS, COLUMNS, expected);
    static const double weights[] = {1, 1};
    static const char *const names[] = {NULL, "toy.smooth", "toy.sum"};
    for (int i = 0; i < 3; i++) {
        heard h;
        motet_context *c = begin(&h, NULL, "sim:0/cpu");
        assert_ok(c, motet_context_weights(c, names[i], 2, weights));
        assert_ok(c, run(c, PIPE_SMOOTH, &small, expected));
        assert_int_equal(chunks_of(c, 1) > 0, i < 2);
        assert_ok(c, motet_context_weights(c, names[i], 2, NULL));
        const int64_t before = chunks_of(c, 1);
        assert_ok(c, run(c, PIPE_SMOOTH, &small, expected));
        assert_int_equal(chunks_of(c, 1), before);
        end(c);
    }
}

/* What has no room on the others is the fallback's, with a warning that says why; without a
 * fallback it is refused. */
static void it_takes_what_others_decline(void **state)
{
    (void)state;
    char expected[33];
    const rt_run_options whole = {.cut = {{0}, 0}};
    pipe_expected(PIPE_SMOOTH, ROWS, COLUMNS, expected);
    for (int alone = 0; alone < 2; alone++) {
        heard h;
        sim_config config;
        sim_config_init(&config);
        config.device[0].memory = 600;
        motet_context *c = begin(&h, &config, alone ? "sim:0" : "sim:0/cpu");
        const motet_status st = run(c, PIPE_SMOOTH, &whole, expected);
        assert_int_equal(st, alone ? MOTET_OVER_BUDGET : MOTET_OK);
        assert_int_equal(chunks_of(c, 0), 0);
        if (!alone) {
            assert_true(chunks_of(c, 1) > 0);
            assert_non_null(
                strstr(h.warnings, "toy.smooth is left to the fallback: toy.smooth on sim:0"));
            assert_int_equal(atomic_load(&c->devices->set[0].lost), 0);
        }
        end(c);
    }
}

/* Who can begin again where devices work is told of the loss, in that run and in later ones; the
 * loss of one of several costs its chunks only. */
static void losses_may_end_runs(void **state)
{
    (void)state;
    static const char *const sets[] = {"sim:0/cpu", "sim:0,cpu", "sim:0,sim:1/cpu", "sim:0"};
    for (int which = 0; which < PIPE_OPS; which++) {
        char expected[33];
        pipe_expected(which, ROWS, COLUMNS, expected);
        for (int set = 0; set < 4; set++)
            for (int ends = 0; ends < 2; ends++) {
                heard h;
                sim_config config;
                sim_config_init(&config);
                config.device[0].fault.lose_at_command = 3;
                motet_context *c = begin(&h, &config, sets[set]);
                c->options.lost_ends = ends;
                const motet_status want =
                    set == 3 || (ends && set < 2) ? MOTET_DEVICE_LOST : MOTET_OK;
                assert_int_equal(run(c, which, &small, expected), want);
                if (want != MOTET_OK) assert_message(c, "the device is lost", NULL);
                assert_int_equal(run(c, which, &small, expected), want);
                end(c);
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_works_when_no_other_is_left),
        cmocka_unit_test(weights_win),
        cmocka_unit_test(it_takes_what_others_decline),
        cmocka_unit_test(losses_may_end_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
