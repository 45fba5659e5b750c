/* Every nth failing call to the system, once and from then on, while a solver keeps its checkpoint
 * and a run its journal: never other bits, nothing left open, nothing leaked, and what can go on
 * without the file does. Calls that are interrupted or move only a part change nothing at all.
 *
 * The linker sends the calls of the runtime through the functions below (tests/CMakeLists.txt). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/context.h"
#include "base/fail.h"
#include "rt/loop.h"
#include "support/toy.h"
#include "support/toy_solver.h"

enum { MOST = 400 /* calls of one job; there are far fewer */ };

static struct {
    int64_t calls, nth; /* 0: none fails */
    int forever, failed;
    int trickle; /* reads and writes move a few bytes at once, and calls are interrupted */
    int full;    /* a write that fails writes nothing and says so, without a reason */
} fault;

static int fails(int reason)
{
    const int64_t n = fault.nth;
    fault.calls++;
    if (!n || (fault.forever ? fault.calls < n : fault.calls != n)) return 0;
    fault.failed = 1;
    errno = reason;
    return 1;
}

static int interrupted(void)
{
    if (!fault.trickle || fault.calls % 3) return 0;
    errno = EINTR;
    return 1;
}

static size_t some(size_t bytes)
{
    const size_t most = 1 + (size_t)(fault.calls % 1009);
    return fault.trickle && bytes > most ? most : bytes;
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
    va_end(list);
    if (fails(EIO)) return -1;
    return strstr(path, "/journal") && interrupted() ? -1 : __real_open(path, flags, mode);
}

ssize_t __real_pread(int file, void *out, size_t bytes, off_t offset);
ssize_t __wrap_pread(int file, void *out, size_t bytes, off_t offset);
ssize_t __wrap_pread(int file, void *out, size_t bytes, off_t offset)
{
    if (fails(EIO) || interrupted()) return -1;
    return __real_pread(file, out, some(bytes), offset);
}

ssize_t __real_pwrite(int file, const void *data, size_t bytes, off_t offset);
ssize_t __wrap_pwrite(int file, const void *data, size_t bytes, off_t offset);
ssize_t __wrap_pwrite(int file, const void *data, size_t bytes, off_t offset)
{
    if (fails(EIO)) return fault.full ? 0 : -1;
    return interrupted() ? -1 : __real_pwrite(file, data, some(bytes), offset);
}

#define WRAP(call, reason, parameters, ...)                                                        \
    int __real_##call parameters;                                                                  \
    int __wrap_##call parameters;                                                                  \
    int __wrap_##call parameters { return fails(reason) ? -1 : __real_##call(__VA_ARGS__); }
WRAP(fsync, EIO, (int file), file)
WRAP(ftruncate, EIO, (int file, off_t bytes), file, bytes)
WRAP(fstat, EIO, (int file, struct stat *out), file, out)
WRAP(fstatvfs, EIO, (int file, struct statvfs *out), file, out)
WRAP(flock, ENOLCK, (int file, int operation), file, operation)
WRAP(mkdir, EACCES, (const char *path, mode_t mode), path, mode)
WRAP(rename, EIO, (const char *from, const char *to), from, to)

static void arm(int64_t nth, int forever)
{
    fault.nth = nth;
    fault.calls = 0;
    fault.failed = 0;
    fault.forever = forever;
}

/* 1 if it came to the failure. */
static int disarm(void)
{
    fault.nth = 0;
    return fault.failed;
}

static int open_files(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder)) count++;
    closedir(folder);
    return count;
}

static void quiet(motet_log_level level, const char *component, const char *text, void *user)
{
    (void)level, (void)component, (void)text, (void)user;
}

static motet_context *quiet_context(void)
{
    motet_context *c = test_context();
    c->options.log = quiet;
    return c;
}

/* ---- A solver with a checkpoint ---- */

static motet_status stop(int64_t k, toy_solver *s)
{
    return k == 6 ? fail_at(s->context, MOTET_CANCELLED, __FILE__, __LINE__, 0, "stopped")
                  : MOTET_OK;
}

/* From the checkpoint, if there is one; the digest of x only where it succeeds. */
static motet_status solve(const char *folder, int stops, char digest[33])
{
    motet_context *c = quiet_context();
    toy_solver s;
    toy_solver_make(c, 12, 5, 7, 0, &s);
    if (stops) s.after = stop;
    rt_loop loop = toy_solver_loop(&s, 30, folder);
    loop.share = 1;
    const motet_status st = rt_loop_run(c, &loop, NULL);
    motet_error e;
    motet_context_error(c, &e);
    if (st != MOTET_OK) assert_true(e.status == st && *e.message);
    if (st == MOTET_OK) assert_ok(c, motet_array_digest(s.x, digest));
    toy_solver_free(&s);
    motet_context_free(c);
    return st;
}

/* A checkpoint that cannot be written is done without; one that cannot be read ends the loop, and
 * is there for the next. */
static void a_solver_survives_every_failing_call(void **state)
{
    (void)state;
    const char *folder = test_path("loop");
    char want[33], got[33];
    assert_int_equal(solve(NULL, 0, want), MOTET_OK);
    for (int stops = 0; stops < 2; stops++)
        for (int kind = 0; kind < 3; kind++)
            for (int64_t nth = 1, failed = 1; failed; nth++) {
                const int files = open_files();
                if (!stops) assert_int_equal(solve(folder, 1, got), MOTET_CANCELLED);
                fault.full = kind == 2;
                arm(nth, kind == 1);
                const motet_status st = solve(folder, stops, got);
                failed = disarm();
                if (stops) assert_true(st == MOTET_CANCELLED || (failed && st == MOTET_IO));
                if (!stops) assert_true(st == MOTET_OK || (failed && st == MOTET_IO));
                if (st == MOTET_OK) assert_string_equal(got, want);
                assert_int_equal(solve(folder, 0, got), MOTET_OK);
                assert_string_equal(got, want);
                assert_int_equal(open_files(), files);
                assert_true(nth < MOST);
                rmdir(folder); /* the next one makes it */
            }
    fault.full = 0;
}

/* ---- A run with a journal ---- */

typedef struct kept {
    motet_status opened;
    int full;
    int64_t found;
} kept;

/* Whatever becomes of the journal, the run succeeds. */
static kept run_with_journal(const char *folder, char digest[33])
{
    motet_context *c = quiet_context();
    motet_array *x = toy_array(c, 23, 13, 1), *y = toy_array(c, 23, 13, 3);
    rt_op op = toy_smooth(x, y);
    op.fingerprint[0] = 1;
    motet_journal_options o;
    motet_journal_options_init(&o);
    o.folder = folder;
    kept k = {0};
    if (folder) k.opened = motet_context_journal(c, &o);
    const rt_run_options small = {.cut = {{4, 5}, 0}};
    assert_ok(c, rt_run_with(c, &op, &small));
    assert_ok(c, motet_array_digest(y, digest));
    motet_journal_counts counts;
    motet_context_journal_counts(c, &counts);
    k.full = counts.full;
    k.found = counts.found;
    motet_array_free(x);
    motet_array_free(y);
    motet_context_free(c);
    return k;
}

static void a_journal_survives_every_failing_call(void **state)
{
    (void)state;
    char want[33], got[33], name[64];
    run_with_journal(NULL, want);
    for (int again = 0; again < 2; again++)
        for (int kind = 0; kind < 3; kind++)
            for (int64_t nth = 1, failed = 1; failed; nth++) {
                snprintf(name, sizeof name, "journal%d.%d.%d", again, kind, (int)nth);
                const char *folder = test_path(name);
                const int files = open_files();
                if (again) assert_int_equal(run_with_journal(folder, got).opened, MOTET_OK);
                fault.full = kind == 2;
                arm(nth, kind == 1);
                const kept k = run_with_journal(folder, got);
                failed = disarm();
                assert_string_equal(got, want);
                if (!failed) assert_true(k.opened == MOTET_OK && !k.full);
                const kept next = run_with_journal(folder, got);
                assert_string_equal(got, want);
                assert_int_equal(next.opened, MOTET_OK);
                if (!failed) assert_true(next.found > 0);
                assert_int_equal(open_files(), files);
                assert_true(nth < MOST);
            }
    fault.full = 0;
}

/* Both, while reads and writes move a few bytes at once and every third call is interrupted. */
static void interruptions_change_nothing(void **state)
{
    (void)state;
    char want[33], got[33];
    assert_int_equal(solve(NULL, 0, want), MOTET_OK);
    fault.trickle = 1;
    assert_int_equal(solve(test_path("slowly"), 1, got), MOTET_CANCELLED);
    assert_int_equal(solve(test_path("slowly"), 0, got), MOTET_OK);
    assert_string_equal(got, want);
    run_with_journal(NULL, want);
    for (int i = 0; i < 6; i++) {
        const kept k = run_with_journal(test_path("piecemeal"), got);
        assert_string_equal(got, want);
        assert_int_equal(k.opened, MOTET_OK);
        assert_int_equal(k.full, 0);
        assert_int_equal(k.found > 0, i > 0);
    }
    fault.trickle = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_solver_survives_every_failing_call),
                                       cmocka_unit_test(a_journal_survives_every_failing_call),
                                       cmocka_unit_test(interruptions_change_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
