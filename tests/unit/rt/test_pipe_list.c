/* The list of what is left to do: every cell of its boxes is taken once, in order, whatever the
 * pieces; and memory that is refused loses none. */
#include "rt/pipe_list.h"

#include <string.h>

#include "support/support.h"

enum { SIDE = 12, CELLS = SIDE * SIDE * SIDE };

static pipe_task box(int64_t a, int64_t b, int64_t d, int64_t rows, int64_t more, int64_t most)
{
    return (pipe_task){.first = {a, b, d}, .count = {rows, more, most}};
}

/* Adds `by` for each cell of the box. */
static void mark(int *cell, const pipe_task *t, int by)
{
    for (int64_t i = t->first[0]; i < t->first[0] + t->count[0]; i++)
        for (int64_t j = t->first[1]; j < t->first[1] + t->count[1]; j++)
            for (int64_t k = t->first[2]; k < t->first[2] + t->count[2]; k++)
                cell[(i * SIDE + j) * SIDE + k] += by;
}

static int64_t marked(const int *cell)
{
    int64_t sum = 0;
    for (int i = 0; i < CELLS; i++) {
        assert_true(cell[i] == 0 || cell[i] == 1);
        sum += cell[i];
    }
    return sum;
}

/* Eight boxes, none of which meets another, in a random order, and empty ones between them. */
static void add_boxes(pipe_list *l, uint64_t *seed, int *cell)
{
    const int from = (int)(test_random(seed) % 8);
    for (int n = 0; n < 8; n++) {
        const int which = (n + from) % 8;
        pipe_task t = box(which / 4 * 6, which / 2 % 2 * 6, which % 2 * 6, 1, 1, 1);
        for (int i = 0; i < RT_AXES; i++) t.count[i] = 1 + (int64_t)(test_random(seed) % 6);
        assert_ok(l->context, pipe_list_add(l, &t));
        mark(cell, &t, 1);
        t.count[n % RT_AXES] = -(n % 2);
        assert_ok(l->context, pipe_list_add(l, &t));
    }
    assert_int_equal(l->count, 8);
    for (int64_t i = 0; i < l->count; i++)
        assert_int_equal(pipe_task_compare(&l->task[i], &l->task[i]), 0);
    for (int64_t i = 1; i < l->count; i++)
        assert_true(pipe_task_compare(&l->task[i - 1], &l->task[i]) > 0);
}

static void assert_piece(const pipe_list *l, const int64_t rows[RT_AXES], const pipe_task *piece)
{
    for (int i = 0; i < RT_AXES; i++) {
        const int64_t last = piece->first[i] + piece->count[i] - 1;
        assert_true(piece->count[i] >= 1);
        assert_int_equal(piece->first[i] / rows[i], last / rows[i]);
    }
    if (pipe_list_first(l)) assert_true(pipe_task_compare(piece, pipe_list_first(l)) < 0);
}

/* In any pieces, also of another size each time, or when another box is preferred. */
static void every_cell_is_taken_once(void **state)
{
    (void)state;
    motet_context *c = test_context();
    for (uint64_t seed = 1, world = 0; world < 400; world++) {
        int cell[CELLS] = {0};
        pipe_list l = {.context = c, .name = "toy"};
        assert_null(pipe_list_first(&l));
        add_boxes(&l, &seed, cell);
        int64_t left = marked(cell), rows[RT_AXES];
        for (int i = 0; i < RT_AXES; i++) rows[i] = 1 + (int64_t)(test_random(&seed) % 8);
        while (pipe_list_first(&l)) {
            if (world % 3 == 1) rows[world % RT_AXES] = 1 + (int64_t)(test_random(&seed) % 8);
            if (world % 3 == 2)
                pipe_list_prefer(&l, (int64_t)(test_random(&seed) % (uint64_t)l.count));
            pipe_task piece;
            if (world % 5 == 4)
                pipe_list_take_whole(&l, &piece);
            else
                assert_ok(c, pipe_list_take(&l, rows, &piece));
            if (world % 3 == 0 && world % 5 != 4) assert_piece(&l, rows, &piece);
            mark(cell, &piece, -1);
            left -= piece.count[0] * piece.count[1] * piece.count[2];
            assert_int_equal(marked(cell), left);
        }
        assert_int_equal(left, 0);
        pipe_list_free(&l);
    }
    motet_context_free(c);
}

/* Whichever allocation fails: the list is as it was, and goes on with the same call. */
static void refused_memory_loses_nothing(void **state)
{
    (void)state;
    for (int forever = 0; forever < 2; forever++)
        for (int64_t nth = 1, over = 0; !over; nth++) {
            motet_context *c = test_context_failing(0, 0);
            int cell[CELLS] = {0}, failures = 0;
            pipe_list l = {.context = c, .name = "toy"};
            test_context_fail_at(c, nth, forever);
            for (int i = 0; i < SIDE; i++) {
                const pipe_task t = box(i, 0, 0, 1, SIDE, SIDE);
                const motet_status st = pipe_list_add(&l, &t);
                mark(cell, &t, 1);
                if (st == MOTET_OK) continue;
                assert_int_equal(st, MOTET_NO_MEMORY);
                assert_int_equal(l.count, i);
                test_context_fail_at(c, 0, 0);
                failures++;
                assert_ok(c, pipe_list_add(&l, &t));
            }
            for (int64_t left = CELLS; left > 0;) {
                const int64_t count = l.count;
                /* the last rows first: each piece leaves a rest behind */
                const int64_t rows[RT_AXES] = {1, left > CELLS / 2 ? 5 : SIDE, 5};
                if (left > CELLS / 2) pipe_list_prefer(&l, left % count);
                pipe_task piece;
                const motet_status st = pipe_list_take(&l, rows, &piece);
                if (st != MOTET_OK) {
                    assert_int_equal(st, MOTET_NO_MEMORY);
                    assert_message(c, "toy", "left to do", NULL);
                    assert_int_equal(l.count, count);
                    test_context_fail_at(c, 0, 0);
                    failures++;
                    continue;
                }
                mark(cell, &piece, -1);
                left -= piece.count[0] * piece.count[1] * piece.count[2];
                assert_int_equal(marked(cell), left);
            }
            assert_null(pipe_list_first(&l));
            assert_true(failures <= 1);
            over = !failures;
            assert_true(!over || nth > 2);
            pipe_list_free(&l);
            motet_context_free(c);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_cell_is_taken_once),
                                       cmocka_unit_test(refused_memory_loses_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
