#include "support/pipe.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rt/journal.h"

/* An operation that fails at its nth chunk or block, and counts how many it was given. */
static struct {
    motet_status (*enqueue)(const rt_chunk *chunk, const rt_queue *queue, const void *user);
    int64_t calls, fails_at;
} given;

static motet_status enqueue(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    if (++given.calls == given.fails_at) return MOTET_BAD_DATA;
    return given.enqueue(chunk, queue, user);
}

static void use(motet_context *c, const int *files, int count, int file)
{
    motet_journal_options o;
    motet_journal_options_init(&o);
    o.files = files;
    o.file_count = count;
    o.file = file;
    assert_ok(c, motet_context_journal(c, &o));
}

typedef struct attempt {
    int which;
    const char *set;
    int64_t rows, fails_at; /* of a chunk; 0: chosen, never */
    int64_t calls;
    motet_status status;
    motet_journal_counts counts;
    char digest[33];
} attempt;

/* In a context of its own, as a fresh process would. */
static void run(attempt *a, const int *files, int count, int file)
{
    motet_context *c = sim_context(NULL, a->set);
    use(c, files, count, file);
    pipe_case p;
    pipe_case_make(c, a->which, 61, 23, &p);
    p.op.fingerprint[0] = 7;
    given.enqueue = p.op.enqueue;
    given.calls = 0;
    given.fails_at = a->fails_at;
    p.op.enqueue = enqueue;
    char before[33];
    assert_ok(c, motet_array_digest(p.out, before));
    const rt_cut cut = {{a->rows}, 0};
    a->status = rt_run_cut(c, &p.op, &cut);
    a->calls = given.calls;
    motet_context_journal_counts(c, &a->counts);
    assert_ok(c, motet_array_digest(p.out, a->digest));
    if (a->status != MOTET_OK) assert_string_equal(a->digest, before);
    assert_clean(c);
    pipe_case_free(&p);
    motet_context_free(c);
}

static int memory_file(void)
{
    const int file = memfd_create("journal", MFD_CLOEXEC);
    assert_true(file >= 0);
    return file;
}

/* A run that failed at any chunk is gone on with by other devices, in chunks of another size: what
 * was finished is not computed again, and the bits are those of one cpu. */
static void a_fresh_run_goes_on_where_one_failed(void **state)
{
    (void)state;
    for (int which = 0; which < PIPE_OPS; which++) {
        char want[33];
        pipe_expected(which, 61, 23, want);
        for (int set = 0; set < PIPE_SETS; set++)
            for (int64_t fails_at = 2; fails_at < 12; fails_at += 3) {
                const int files[3] = {memory_file(), memory_file(), memory_file()};
                attempt first = {
                    .which = which, .set = pipe_sets[set], .rows = 4, .fails_at = fails_at};
                run(&first, NULL, 0, files[0]);
                assert_int_equal(first.status, first.calls < fails_at ? MOTET_OK : MOTET_BAD_DATA);
                assert_int_equal(first.counts.found, 0);
                attempt second = {
                    .which = which, .set = pipe_sets[(set + 1) % PIPE_SETS], .rows = 4 + set % 3};
                run(&second, files, 1, files[1]);
                assert_int_equal(second.status, MOTET_OK);
                assert_string_equal(second.digest, want);
                assert_int_equal(second.counts.found, first.counts.kept);
                attempt third = {
                    .which = which, .set = pipe_sets[(set + 2) % PIPE_SETS], .rows = 4 + set % 3};
                run(&third, files, 2, files[2]);
                assert_int_equal(third.status, MOTET_OK);
                assert_string_equal(third.digest, want);
                assert_int_equal(third.calls, 0); /* all was known */
                for (int i = 0; i < 3; i++) close(files[i]);
            }
    }
}

/* Lost devices and their pieces go into the journal as well. */
static void what_others_took_over_is_kept(void **state)
{
    (void)state;
    for (int which = 0; which < PIPE_OPS; which++) {
        char want[33];
        pipe_expected(which, 61, 23, want);
        for (int64_t at = 1; at < 40; at += 4) {
            char set[80];
            snprintf(set, sizeof set, "sim:0@lose_at_command=%lld,sim:2,sim:5", (long long)at);
            const int files[2] = {memory_file(), memory_file()};
            attempt first = {.which = which, .set = set, .rows = 3};
            run(&first, NULL, 0, files[0]);
            assert_int_equal(first.status, MOTET_OK);
            assert_string_equal(first.digest, want);
            attempt second = {.which = which, .set = "cpu", .rows = 9};
            run(&second, files, 1, files[1]);
            assert_string_equal(second.digest, want);
            assert_int_equal(second.calls, 0);
            close(files[0]);
            close(files[1]);
        }
    }
}

/* Devices are lost while parts are known, with chunks that lie across those: above all what is
 * updated must be neither updated twice nor taken for a result. */
static void losses_and_known_parts_go_together(void **state)
{
    (void)state;
    for (int which = 0; which < PIPE_OPS; which++) {
        char want[33];
        pipe_expected(which, 61, 23, want);
        for (int64_t at = 1; at < 30; at += 3) {
            char set[96];
            const int files[2] = {memory_file(), memory_file()};
            attempt first = {.which = which, .set = "sim:0,cpu", .rows = 7, .fails_at = 2 + at / 4};
            run(&first, NULL, 0, files[0]);
            snprintf(set, sizeof set, "sim:1@lose_at_command=%lld,sim:4@lose_at_command=%lld,sim:6",
                     (long long)at, (long long)at + 5);
            attempt second = {.which = which, .set = set, .rows = 1 + at % 5};
            run(&second, files, 1, files[1]);
            assert_int_equal(second.status, MOTET_OK);
            assert_string_equal(second.digest, want);
            close(files[0]);
            close(files[1]);
        }
    }
}

typedef struct sharer {
    pthread_t thread;
    motet_context *context;
    pipe_case p;
    motet_status status;
} sharer;

static void *share(void *user)
{
    sharer *s = user;
    for (int i = 0; i < 5 && s->status == MOTET_OK; i++) s->status = rt_run(s->context, &s->p.op);
    return NULL;
}

/* Runs of several threads use one journal, and a later process finds what any of them finished. */
static void runs_at_once_share_a_journal(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    const int file = memory_file();
    for (int again = 0; again < 2; again++) {
        motet_context *c = test_context();
        use(c, again ? &file : NULL, again, again ? -1 : file);
        sharer s[THREADS];
        memset(s, 0, sizeof s);
        for (int i = 0; i < THREADS; i++) {
            const int which = i % 2 ? PIPE_PROJECT : PIPE_SMOOTH;
            s[i].context = c;
            pipe_case_make(c, which, 61, 23, &s[i].p);
            s[i].p.op.fingerprint[0] = 7;
        }
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&s[i].thread, NULL, share, &s[i]), 0);
        for (int i = 0; i < THREADS; i++) pthread_join(s[i].thread, NULL);
        for (int i = 0; i < THREADS; i++) {
            char want[33], got[33];
            assert_ok(c, s[i].status);
            pipe_expected(i % 2 ? PIPE_PROJECT : PIPE_SMOOTH, 61, 23, want);
            assert_ok(c, motet_array_digest(s[i].p.out, got));
            assert_string_equal(got, want);
            pipe_case_free(&s[i].p);
        }
        motet_journal_counts counts;
        motet_context_journal_counts(c, &counts);
        assert_true(again ? counts.found > 0 && counts.kept == 0 : counts.kept > 0);
        motet_context_free(c);
    }
    close(file);
}

/* Without a fingerprint nothing is looked up or kept. */
static void operations_without_a_fingerprint_stay_out(void **state)
{
    (void)state;
    motet_context *c = sim_context(NULL, "sim:0");
    const int file = memory_file();
    use(c, NULL, 0, file);
    pipe_case p;
    pipe_case_make(c, PIPE_SMOOTH, 20, 5, &p);
    assert_ok(c, rt_run(c, &p.op));
    motet_journal_counts counts;
    motet_context_journal_counts(c, &counts);
    assert_int_equal(counts.kept, 0);
    pipe_case_free(&p);
    motet_context_free(c);
    close(file);
}

/* A run that fails for want of memory while it looks into the journal leaves all as it was. */
static void no_memory_is_survived(void **state)
{
    (void)state;
    for (int which = 0; which < PIPE_OPS; which++) {
        char want[33];
        pipe_expected(which, 61, 23, want);
        const int file = memory_file();
        attempt first = {.which = which, .set = "cpu", .rows = 5};
        run(&first, NULL, 0, file);
        for (int64_t nth = 1;; nth++) {
            motet_context *c = test_context_failing(0, 0);
            use(c, &file, 1, -1);
            pipe_case p;
            pipe_case_make(c, which, 61, 23, &p);
            p.op.fingerprint[0] = 7;
            char before[33], after[33];
            assert_ok(c, motet_array_digest(p.out, before));
            test_context_fail_at(c, nth, 0);
            const motet_status st = rt_run(c, &p.op);
            const int failed = test_context_failed(c);
            test_context_fail_at(c, 0, 0);
            assert_ok(c, motet_array_digest(p.out, after));
            assert_string_equal(after, st == MOTET_OK ? want : before);
            if (!failed) assert_ok(c, st);
            pipe_case_free(&p);
            motet_context_free(c);
            if (!failed) break;
        }
        close(file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fresh_run_goes_on_where_one_failed),
        cmocka_unit_test(what_others_took_over_is_kept),
        cmocka_unit_test(losses_and_known_parts_go_together),
        cmocka_unit_test(runs_at_once_share_a_journal),
        cmocka_unit_test(operations_without_a_fingerprint_stay_out),
        cmocka_unit_test(no_memory_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
