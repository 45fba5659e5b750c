/* Every form of operation, cancelled anywhere: nothing is touched, and the next run has the one
 * digest. */
#include "sim/forms.h"

typedef struct stopper {
    motet_context *context;
    int64_t reads, at;
} stopper;

static int64_t stopper_now(void *user)
{
    stopper *s = user;
    const int64_t reads = __atomic_add_fetch(&s->reads, 1, __ATOMIC_RELAXED);
    if (reads == s->at && s->context) motet_context_cancel(s->context);
    return 1000 * reads;
}

/* Cancelled at any look at the clock: nothing is touched, and a new run gives the digest. */
static void cancelled_and_run_again(void **state)
{
    (void)state;
    for (int which = 0; which < TOY_FORMS; which++)
        for (int set = 0; set < SETS; set++)
            for (int64_t k = 1, over = 0; !over; k += 1 + k / 3) {
                stopper s = {.at = k};
                motet_context *c = test_context();
                c->options.clock = (motet_clock){stopper_now, &s};
                sim_config config;
                unlike(&config, (uint64_t)k);
                assert_ok(c, sim_use(c, &config, sets[set]));
                s.reads = 0;
                s.context = c;
                const rt_run_options o = {.cut = {{6, 5}, 11}};
                const motet_status st = attempt(c, (toy_which)which, 0, &o);
                over = s.reads < k;
                if (over) assert_int_equal(st, MOTET_OK);
                assert_true(st == MOTET_OK || st == MOTET_CANCELLED);
                s.at = 0;
                assert_ok(c, attempt(c, (toy_which)which, 0, &o));
                assert_int_equal(toy_mistakes(), 0);
                s.context = NULL;
                motet_context_free(c);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cancelled_and_run_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
