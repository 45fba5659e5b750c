/* Runs with a journal: what one that was stopped has finished is not computed again, on whatever
 * devices and in whatever chunks the next one works. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <motet/journal.h>

#include "support/pipe.h"

#include "rt/pipe_inside.h"

enum { ROWS = 40, COLUMNS = 13 };

typedef struct counted {
    motet_context *context;
    pipe_case made;
    rt_op op;
    int64_t elements; /* of the box, enqueued */
    int chunks, cancel_at;
} counted;

static motet_status enqueue(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    counted *t = (counted *)(uintptr_t)user;
    if (chunk->first_block) {
        int64_t size = 1;
        for (int i = 0; i < t->op.axes; i++) size *= chunk->count[i];
        t->elements += size;
        if (++t->chunks == t->cancel_at) motet_context_cancel(t->context);
    }
    return t->made.op.enqueue(chunk, queue, t->made.op.user);
}

static void make(motet_context *c, int which, counted *t)
{
    memset(t, 0, sizeof *t);
    t->context = c;
    pipe_case_make(c, which, ROWS, COLUMNS, &t->made);
    t->op = t->made.op;
    t->op.enqueue = enqueue;
    t->op.user = t;
    if (!t->op.fingerprint[0]) t->op.fingerprint[0] = 1;
}

static int64_t box_size(const rt_op *op)
{
    int64_t size = 1;
    for (int i = 0; i < op->axes; i++) size *= op->extent[i];
    return size;
}

static motet_context *context_for(uint64_t seed, const char *names, const int *files, int count,
                                  int file, int64_t lose)
{
    sim_config config;
    sim_config_init(&config);
    config.seed = seed;
    config.device[0].fault.lose_at_command = lose;
    motet_context *c = sim_context(&config, names);
    motet_journal_options o;
    motet_journal_options_init(&o);
    o.files = files;
    o.file_count = count;
    o.file = file;
    assert_ok(c, motet_context_journal(c, &o));
    return c;
}

static const char *const sets[] = {"cpu", "sim:0", "cpu,sim:3,sim:0"};

/* Stopped at a chunk (cancelled, or its device lost), then run again by others in other chunks. */
static void what_was_finished_is_not_computed_again(void **state)
{
    (void)state;
    for (int which = 0; which < PIPE_OPS; which++) {
        char expected[33], got[33];
        pipe_expected(which, ROWS, COLUMNS, expected);
        int64_t spared = 0;
        for (int at = 1; at < 40; at += 1 + at / 3)
            for (int set = 0; set < 3; set++) {
                const int files[2] = {memfd_create("a", 0), memfd_create("b", 0)};
                const int64_t lose = set == 1 ? 4 * at : 0;
                motet_context *c = context_for((uint64_t)at, sets[set], NULL, 0, files[0], lose);
                counted t;
                make(c, which, &t);
                t.cancel_at = set == 1 ? 0 : at;
                const rt_run_options first = {.cut = {{3, 4}, 11}};
                const motet_status st = rt_run_with(c, &t.op, &first);
                assert_true(st == MOTET_OK || st == MOTET_CANCELLED || st == MOTET_DEVICE_LOST);
                pipe_case_free(&t.made);
                motet_context_free(c);
                toy_mistakes();

                c = context_for((uint64_t)at, sets[(set + 1 + at) % 3], files, 1, files[1], 0);
                make(c, which, &t);
                const rt_run_options second = {.cut = {{at % 2 ? 5 : 0, at % 3 ? 0 : 3}, 0}};
                assert_ok(c, rt_run_with(c, &t.op, &second));
                assert_ok(c, motet_array_digest(t.made.out, got));
                assert_string_equal(got, expected);
                assert_true(t.elements <= box_size(&t.op));
                if (st == MOTET_OK) assert_int_equal(t.elements, 0);
                spared += box_size(&t.op) - t.elements;
                assert_int_equal(toy_mistakes(), 0);
                assert_clean(c);
                pipe_case_free(&t.made);
                motet_context_free(c);

                /* what the second one found and what it did are all there is: a third does nothing
                 */
                c = context_for((uint64_t)at, sets[set], files, 2, -1, 0);
                make(c, which, &t);
                assert_ok(c, rt_run(c, &t.op));
                assert_ok(c, motet_array_digest(t.made.out, got));
                assert_string_equal(got, expected);
                assert_int_equal(t.elements, 0);
                pipe_case_free(&t.made);
                motet_context_free(c);
                close(files[0]);
                close(files[1]);
            }
        assert_true(spared > box_size(&(rt_op){.axes = 1, .extent = {20}}));
    }
}

/* A result that two devices disagree about is not kept. */
static void what_is_wrong_is_not_kept(void **state)
{
    (void)state;
    char expected[33], got[33];
    pipe_expected(PIPE_SMOOTH, ROWS, COLUMNS, expected);
    int found = 0;
    for (int64_t k = 1; k < 60; k++) {
        const int file = memfd_create("a", 0);
        motet_context *c = context_for((uint64_t)k, "sim:1,sim:0", NULL, 0, file, 0);
        const sim_fault fault = {.corrupt_at_command = k};
        sim_set_fault(c, 0, &fault);
        counted t;
        make(c, PIPE_SMOOTH, &t);
        const rt_run_options o = {.verify = 1, .cut = {{6, 5}, 11}};
        found += rt_run_with(c, &t.op, &o) == MOTET_CHECK_FAILED;
        pipe_case_free(&t.made);
        motet_context_free(c);
        c = context_for((uint64_t)k, "cpu", &file, 1, -1, 0);
        make(c, PIPE_SMOOTH, &t);
        assert_ok(c, rt_run(c, &t.op));
        assert_ok(c, motet_array_digest(t.made.out, got));
        assert_string_equal(got, expected);
        pipe_case_free(&t.made);
        motet_context_free(c);
        close(file);
        toy_mistakes();
    }
    assert_true(found > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_was_finished_is_not_computed_again),
                                       cmocka_unit_test(what_is_wrong_is_not_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
