#include "support/toy.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"

/* An allocator that fails at the nth call, once or from then on, and counts what it gave. */
typedef struct failing {
    int64_t calls, nth;
    int forever;
    int64_t blocks, bytes;
} failing;

static void *failing_allocate(size_t bytes, void *user)
{
    failing *f = user;
    f->calls++;
    if (f->calls == f->nth || (f->forever && f->nth && f->calls > f->nth)) return NULL;
    f->blocks++;
    f->bytes += (int64_t)bytes;
    return malloc(bytes);
}

static void failing_release(void *block, size_t bytes, void *user)
{
    failing *f = user;
    f->blocks--;
    f->bytes -= (int64_t)bytes;
    free(block);
}

static motet_status make(failing *f, motet_context **c)
{
    motet_context_options o;
    motet_context_options_init(&o);
    o.allocator = (motet_allocator){failing_allocate, failing_release, f};
    o.threads = 2;
    o.chunk = 3;
    return motet_context_create(&o, c);
}

/* Whichever allocation fails, making a context answers NO_MEMORY, writes nothing and leaks nothing.
 */
static void making_a_context_survives_every_failure(void **state)
{
    (void)state;
    for (int forever = 0; forever < 2; forever++)
        for (int64_t nth = 1;; nth++) {
            failing f = {.nth = nth, .forever = forever};
            motet_context *c = NULL;
            const motet_status st = make(&f, &c);
            if (f.calls < nth) {
                assert_int_equal(st, MOTET_OK);
                motet_context_free(c);
                assert_true(nth > 4);
            } else {
                assert_int_equal(st, MOTET_NO_MEMORY);
                assert_null(c);
            }
            assert_int_equal(f.blocks, 0);
            assert_int_equal(f.bytes, 0);
            if (st == MOTET_OK) break;
        }
}

typedef motet_status scenario(motet_context *c, motet_array *x, motet_array *w, motet_array *y);

static motet_status run_smooth(motet_context *c, motet_array *x, motet_array *w, motet_array *y)
{
    (void)w;
    const rt_op op = toy_smooth(x, y);
    return rt_run(c, &op);
}

static motet_status run_sum(motet_context *c, motet_array *x, motet_array *w, motet_array *y)
{
    const rt_op op = toy_sum(w, x, y);
    return rt_run(c, &op);
}

static motet_status run_update(motet_context *c, motet_array *x, motet_array *w, motet_array *y)
{
    (void)w;
    const rt_op op = toy_update(x, y);
    return rt_run(c, &op);
}

static motet_status report(motet_context *c, motet_array *x, motet_array *w, motet_array *y)
{
    (void)x, (void)w, (void)y;
    char *text = NULL;
    const motet_status st = motet_context_report(c, &text);
    assert_true((st == MOTET_OK) == (text != NULL));
    motet_text_free(c, text);
    return st;
}

static motet_status arrays(motet_context *c, motet_array *x, motet_array *w, motet_array *y)
{
    (void)w, (void)y;
    motet_array *a = NULL;
    motet_status st = motet_array_create(c, MOTET_F32, 2, x->shape, &a);
    assert_true((st == MOTET_OK) == (a != NULL));
    if (st == MOTET_OK)
        st = motet_array_wrap(c, motet_array_data(x), MOTET_F32, 2, x->shape, 0, &w);
    if (st == MOTET_OK) motet_array_free(w);
    motet_array_free(a);
    return st;
}

/* Whichever allocation fails, once or from then on: NO_MEMORY with a message, the outputs and the
 * account as before; and the same call succeeds as soon as there is memory. */
static void operations_survive_every_failure(void **state)
{
    (void)state;
    static scenario *const scenarios[] = {run_smooth, run_sum, run_update, report, arrays};
    for (size_t n = 0; n < sizeof scenarios / sizeof *scenarios; n++)
        for (int forever = 0; forever < 2; forever++) {
            int64_t failures = 0;
            for (int64_t nth = 1;; nth++) {
                failing f = {.nth = 0};
                motet_context *c = NULL;
                assert_int_equal(make(&f, &c), MOTET_OK);
                motet_array *x = toy_array(c, 17, 17, 1), *w = toy_array(c, 17, 17, 2);
                motet_array *y = toy_array(c, 17, 17, 3);
                char before[33], after[33];
                assert_ok(c, motet_array_digest(y, before));
                f.nth = f.calls + nth;
                f.forever = forever;
                const int64_t blocks = f.blocks;
                motet_status st = scenarios[n](c, x, w, y);
                const int failed = f.calls >= f.nth;
                f.nth = 0;
                if (failed) {
                    failures++;
                    assert_status(c, st, MOTET_NO_MEMORY);
                    motet_error e;
                    motet_context_error(c, &e);
                    assert_int_equal(e.status, MOTET_NO_MEMORY);
                    assert_true(strlen(e.message) > 0);
                    assert_ok(c, motet_array_digest(y, after));
                    assert_string_equal(after, before);
                    /* The report may have got its row with a name, the plan with another in its
                     * list, the device its scratch, the pool a private copy. */
                    assert_true(f.blocks <= blocks + 7);
                    assert_ok(c, scenarios[n](c, x, w, y));
                } else {
                    assert_ok(c, st);
                }
                assert_int_equal(toy_mistakes(), 0);
                motet_array_free(x);
                motet_array_free(w);
                motet_array_free(y);
                motet_context_free(c);
                assert_int_equal(f.blocks, 0);
                assert_int_equal(f.bytes, 0);
                if (!failed) break;
            }
            assert_true(failures > 1);
        }
}

/* A warning that finds no memory is counted instead, and nothing fails. */
static void warnings_survive_every_failure(void **state)
{
    (void)state;
    failing f = {.nth = 0};
    motet_context *c = NULL;
    assert_int_equal(make(&f, &c), MOTET_OK);
    f.nth = f.calls + 1;
    log_warning(c, "test", "first");
    f.nth = 0;
    log_warning(c, "test", "second");
    char *text = NULL;
    assert_ok(c, motet_context_report(c, &text));
    assert_null(strstr(text, "first"));
    assert_non_null(strstr(text, "second"));
    assert_non_null(strstr(text, "1 more"));
    motet_text_free(c, text);
    motet_context_free(c);
    assert_int_equal(f.blocks, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(making_a_context_survives_every_failure),
                                       cmocka_unit_test(operations_survive_every_failure),
                                       cmocka_unit_test(warnings_survive_every_failure)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
