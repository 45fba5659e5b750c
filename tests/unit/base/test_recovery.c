/* When a lost device may be tried again. */
#include "base/recovery.h"

#include <string.h>

#include "support/support.h"

static const int64_t second = 1000000000;
static const int64_t origins[] = {0, 12345, -7200 * INT64_C(1000000000), INT64_MIN,
                                  INT64_MAX - 9000 * INT64_C(1000000000)};
enum { ORIGINS = sizeof origins / sizeof *origins };

/* The first attempt is allowed 30 s after the loss, not a nanosecond before. */
static void an_attempt_waits_for_the_cool_down(void **state)
{
    (void)state;
    for (int i = 0; i < ORIGINS; i++) {
        const int64_t lost = origins[i];
        recovery r = {0};
        assert_int_equal(recovery_begin(&r, lost), RECOVERY_USABLE);
        assert_int_equal(recovery_wait(&r, lost), 0);
        recovery_lose(&r, lost);
        assert_int_equal(recovery_begin(&r, lost), RECOVERY_COOLING);
        assert_int_equal(recovery_wait(&r, lost), 30 * second);
        assert_int_equal(recovery_begin(&r, lost + 30 * second - 1), RECOVERY_COOLING);
        assert_int_equal(recovery_wait(&r, lost + 30 * second - 1), 1);
        assert_int_equal(r.attempts, 0); /* asking spends nothing */
        assert_int_equal(recovery_wait(&r, lost + 30 * second), 0);
        assert_int_equal(recovery_begin(&r, lost + 30 * second), RECOVERY_BEGUN);
        recovery_end(&r, 1);
        assert_int_equal(recovery_begin(&r, lost + 30 * second), RECOVERY_USABLE);
        assert_int_equal(r.attempts, 1);
    }
}

/* The cool-down after an attempt runs from its start, however long it took; one at a time. */
static void an_attempt_counts_from_its_start(void **state)
{
    (void)state;
    recovery r = {0};
    recovery_lose(&r, 0);
    assert_int_equal(recovery_begin(&r, 40 * second), RECOVERY_BEGUN);
    assert_int_equal(recovery_begin(&r, 90 * second), RECOVERY_ELSEWHERE);
    assert_int_equal(r.attempts, 1);
    recovery_end(&r, 0);
    assert_int_equal(r.lost, 1);
    assert_int_equal(recovery_ask(&r, 70 * second - 1), RECOVERY_COOLING);
    assert_int_equal(recovery_begin(&r, 70 * second), RECOVERY_BEGUN);
    recovery_end(&r, 0);
    assert_int_equal(recovery_begin(&r, 99 * second), RECOVERY_COOLING);
}

/* Six attempts in an hour, from the first of them; a device that comes back and is lost again does
 * not get more. */
static void six_attempts_an_hour(void **state)
{
    (void)state;
    for (int works = 0; works < 2; works++) {
        recovery r = {0};
        int64_t now = 0;
        for (int i = 0; i < RECOVERY_ATTEMPTS; i++) {
            recovery_lose(&r, now);
            now += 60 * second;
            assert_int_equal(recovery_begin(&r, now), RECOVERY_BEGUN);
            recovery_end(&r, works);
        }
        recovery_lose(&r, now);
        const int64_t again = 60 * second + RECOVERY_HOUR;
        assert_int_equal(recovery_begin(&r, now + 60 * second), RECOVERY_SPENT);
        assert_int_equal(recovery_wait(&r, now + 60 * second), again - now - 60 * second);
        assert_int_equal(recovery_begin(&r, again - 1), RECOVERY_SPENT);
        assert_int_equal(recovery_begin(&r, again), RECOVERY_BEGUN);
        recovery_end(&r, 0);
        assert_int_equal(recovery_begin(&r, again + 59 * second), RECOVERY_SPENT);
        assert_int_equal(recovery_begin(&r, again + 60 * second), RECOVERY_BEGUN);
    }
}

/* A loss that is told again is the same loss: it does not begin the cool-down anew. */
static void one_loss_has_one_cool_down(void **state)
{
    (void)state;
    recovery r = {0};
    recovery_lose(&r, 0);
    recovery_lose(&r, 29 * second);
    assert_int_equal(recovery_begin(&r, 30 * second), RECOVERY_BEGUN);
    recovery_lose(&r, 31 * second);
    recovery_end(&r, 1);
    assert_int_equal(recovery_ask(&r, 32 * second), RECOVERY_USABLE);
    recovery_lose(&r, 33 * second);
    assert_int_equal(recovery_ask(&r, 62 * second), RECOVERY_COOLING);
    assert_int_equal(recovery_ask(&r, 63 * second), RECOVERY_BEGUN);
}

/* Whatever happens when: attempts keep their distance, number and loneliness, and are allowed as
 * soon as they may be. The list of all starts is the oracle. */
static void any_history_keeps_the_rules(void **state)
{
    (void)state;
    enum { EVENTS = 400, HISTORIES = 2000 };
    int64_t begun = 0, refused[5] = {0};
    for (uint64_t seed = 1; seed <= HISTORIES; seed++) {
        uint64_t random = seed;
        int64_t now = origins[seed % ORIGINS] == INT64_MIN ? INT64_MIN : (int64_t)seed, lost_at = 0;
        int64_t start[EVENTS];
        int count = 0, lost = 0, trying = 0;
        recovery r = {0};
        for (int i = 0; i < EVENTS; i++) {
            now += (int64_t)(test_random(&random) % (1 + (uint64_t)second * (seed % 120)));
            const uint64_t event = test_random(&random) % 8;
            if (event < 2) {
                if (!lost) lost_at = now;
                lost = 1;
                recovery_lose(&r, now);
            } else if (event == 2 && trying) {
                const int works = test_random(&random) % 2;
                recovery_end(&r, works);
                trying = 0;
                if (works) lost = 0;
            } else {
                int recent = 0, close = now - lost_at < 30 * second;
                for (int k = 0; k < count; k++) {
                    recent += now - start[k] < 3600 * second;
                    close |= now - start[k] < 30 * second && start[k] >= lost_at;
                }
                const recovery_answer wanted = !lost        ? RECOVERY_USABLE
                                               : trying     ? RECOVERY_ELSEWHERE
                                               : recent > 5 ? RECOVERY_SPENT
                                               : close      ? RECOVERY_COOLING
                                                            : RECOVERY_BEGUN;
                const int64_t wait = recovery_wait(&r, now);
                assert_int_equal(recovery_ask(&r, now), wanted);
                if (lost && !trying) assert_int_equal(wait == 0, wanted == RECOVERY_BEGUN);
                if (wait) {
                    recovery later = r;
                    later.trying = 0;
                    assert_int_not_equal(recovery_ask(&later, now + wait - 1), RECOVERY_BEGUN);
                    assert_int_equal(recovery_ask(&later, now + wait), RECOVERY_BEGUN);
                }
                assert_int_equal(recovery_begin(&r, now), wanted);
                refused[wanted]++;
                if (wanted != RECOVERY_BEGUN) continue;
                begun++;
                start[count++] = now;
                trying = 1;
            }
        }
        assert_int_equal(r.attempts, count);
    }
    assert_true(begun > HISTORIES);
    for (int i = 0; i < 5; i++) assert_true(refused[i] > 100);
}

static void answers_have_texts(void **state)
{
    (void)state;
    for (int i = RECOVERY_USABLE; i <= RECOVERY_SPENT; i++)
        assert_true(strlen(recovery_text((recovery_answer)i)) > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(an_attempt_waits_for_the_cool_down),
                                       cmocka_unit_test(an_attempt_counts_from_its_start),
                                       cmocka_unit_test(six_attempts_an_hour),
                                       cmocka_unit_test(one_loss_has_one_cool_down),
                                       cmocka_unit_test(any_history_keeps_the_rules),
                                       cmocka_unit_test(answers_have_texts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
