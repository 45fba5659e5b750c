/* Views around a circle: their order, the gaps between them, and angles that can only be degrees.
 */
#include "ct/directions.h"

#include <math.h>

#include "support/support.h"

enum { VIEWS = 200 };

static const double degree = M_PI / 180;

/* Every view once, ascending, equal ones by number; the gaps go once around. */
static void order_and_gaps_go_once_around(void **state)
{
    (void)state;
    static const double periods[] = {CT_HALF_TURN, CT_TURN};
    uint64_t seed = 5;
    for (int trial = 0; trial < 20; trial++)
        for (int64_t views = 1; views <= VIEWS; views += 1 + views / 2) {
            const double period = periods[trial % 2];
            double angles[VIEWS], sum = 0.0;
            direction sorted[VIEWS];
            int seen[VIEWS] = {0};
            for (int k = 0; k < views; k++)
                angles[k] = k % 3 == 2 ? angles[k - 1] : test_uniform(&seed, -20.0, 20.0);
            directions_sort(angles, views, period, 0.0, sorted);
            for (int64_t i = 0; i < views; i++) {
                assert_int_equal(seen[sorted[i].view]++, 0);
                assert_true(sorted[i].angle >= 0.0 && sorted[i].angle < period);
                const double turns = (angles[sorted[i].view] - sorted[i].angle) / period;
                assert_true(fabs(turns - round(turns)) < 1e-12);
                if (i) assert_true(sorted[i].angle >= sorted[i - 1].angle);
                if (i && sorted[i].angle == sorted[i - 1].angle)
                    assert_true(sorted[i].view > sorted[i - 1].view);
                sum += directions_gap(sorted, views, i, period);
            }
            assert_true(fabs(sum - period) < 1e-12);
        }
}

/* Ends of a half turn meet where they are folded, and only there. */
static void ends_of_a_turn_meet_when_folded(void **state)
{
    (void)state;
    const double angles[] = {CT_HALF_TURN - 1e-7, 1.0, CT_HALF_TURN, -1e-7};
    direction sorted[4];
    directions_sort(angles, 4, CT_HALF_TURN, 1e-6, sorted);
    assert_true(sorted[0].angle == 0.0 && sorted[1].angle == 0.0 && sorted[2].angle == 0.0);
    assert_true(sorted[0].view == 0 && sorted[1].view == 2 && sorted[2].view == 3);
    directions_sort(angles, 4, CT_HALF_TURN, 0.0, sorted);
    assert_int_equal(sorted[0].view, 2);
    assert_true(sorted[3].angle > 3.14);
}

/* Views measured twice do not make the step smaller. */
static void median_gap_is_the_step(void **state)
{
    (void)state;
    double angles[VIEWS], room[VIEWS];
    direction sorted[VIEWS];
    for (int k = 0; k < VIEWS; k++) angles[k] = 2 * degree * (k % 90);
    directions_sort(angles, VIEWS, CT_HALF_TURN, 0.0, sorted);
    assert_true(fabs(directions_median_gap(sorted, VIEWS, CT_HALF_TURN, room) - 2 * degree) < 1e-9);
    directions_sort(angles, 1, CT_HALF_TURN, 0.0, sorted);
    assert_true(directions_median_gap(sorted, 1, CT_HALF_TURN, room) == CT_HALF_TURN);
}

/* Three turns are the limit, whatever the order and the start. */
static void more_than_three_turns_are_degrees(void **state)
{
    (void)state;
    double least, most;
    const double turns[] = {7.0, 6 * M_PI + 6.9, 8.0}, more[] = {6 * M_PI + 7.1, 7.0, 8.0};
    assert_false(directions_look_like_degrees(turns, 3, &least, &most));
    assert_true(least == 7.0 && most == turns[1]);
    assert_true(directions_look_like_degrees(more, 3, &least, &most));
    assert_false(directions_look_like_degrees(more, 0, &least, &most));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_and_gaps_go_once_around),
        cmocka_unit_test(ends_of_a_turn_meet_when_folded),
        cmocka_unit_test(median_gap_is_the_step),
        cmocka_unit_test(more_than_three_turns_are_degrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
