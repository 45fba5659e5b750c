#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/context.h"
#include "base/fail.h"
#include "rt/journal.h"
#include "rt/journal_inside.h"
#include "support/toy.h"

/* The nth system call of the journal fails, once or from then on. */
static struct {
    int64_t calls, nth;
    int forever, failed;
} faults;

static int fails(void)
{
    faults.calls++;
    const int64_t n = faults.nth;
    if (!n || (faults.forever ? faults.calls < n : faults.calls != n)) return 0;
    faults.failed = 1;
    errno = faults.calls % 2 ? ENOSPC : EIO;
    return 1;
}

ssize_t __real_pread(int file, void *out, size_t bytes, off_t offset);
ssize_t __real_pwrite(int file, const void *data, size_t bytes, off_t offset);
int __real_ftruncate(int file, off_t bytes);
ssize_t __wrap_pread(int file, void *out, size_t bytes, off_t offset);
ssize_t __wrap_pwrite(int file, const void *data, size_t bytes, off_t offset);
int __wrap_ftruncate(int file, off_t bytes);

ssize_t __wrap_pread(int file, void *out, size_t bytes, off_t offset)
{
    return fails() ? -1 : __real_pread(file, out, bytes, offset);
}

/* Half of it is written all the same, as a full disk does. */
ssize_t __wrap_pwrite(int file, const void *data, size_t bytes, off_t offset)
{
    if (!fails()) return __real_pwrite(file, data, bytes, offset);
    const int reason = errno;
    (void)!__real_pwrite(file, data, bytes / 2, offset);
    errno = reason;
    return -1;
}

int __wrap_ftruncate(int file, off_t bytes) { return fails() ? -1 : __real_ftruncate(file, bytes); }

static int memory_file(void)
{
    const int file = memfd_create("journal", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_true(file >= 0);
    return file;
}

static int64_t size_of(int file)
{
    struct stat s;
    assert_int_equal(fstat(file, &s), 0);
    return s.st_size;
}

/* Records for tests: the payload of number n is `size` bytes made from n. */
enum { RECORDS = 5 };
static size_t size_of_record(int n)
{
    return n == 3 ? RT_JOURNAL_BUFFER + 1234 : 40u + 7u * (size_t)n;
}
static unsigned char byte_of(int n, size_t at)
{
    return (unsigned char)(31 * (size_t)n + at * 7 + at / 256);
}
static digest key_of(int n) { return (digest){(uint64_t)n % 2 + 5, 77}; }

static void fill(size_t offset, size_t bytes, void *piece, void *user)
{
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)piece)[i] = byte_of(*(int *)user, offset + i);
}

static rt_journal_record record_of(int n)
{
    return (rt_journal_record){.key = key_of(n),
                               .first = {3 * n, 0, 0},
                               .count = {3, 1, 1},
                               .bytes = (int64_t)size_of_record(n)};
}

static int append(rt_journal *j, int n)
{
    const rt_journal_record r = record_of(n);
    return rt_journal_append(j, &r, fill, &n);
}

typedef struct taken {
    int number, wrong;
    size_t bytes;
} taken;

static void take(size_t offset, size_t bytes, void *piece, void *user)
{
    taken *t = user;
    assert_int_equal(offset, t->bytes);
    for (size_t i = 0; i < bytes; i++)
        t->wrong |= ((unsigned char *)piece)[i] != byte_of(t->number, offset + i);
    t->bytes += bytes;
}

/* How many of the records of tests can be read; each is right, or refused. */
static int readable(rt_journal *j)
{
    int good = 0;
    for (int k = 0; k < 2; k++) {
        const rt_journal_record *r;
        const int64_t count = rt_journal_find(j, key_of(k), &r);
        for (int64_t i = 0; i < count; i++) {
            taken t = {.number = (int)(r[i].first[0] / 3)};
            if (!rt_journal_read(j, &r[i], take, &t)) continue;
            assert_int_equal(t.wrong, 0);
            assert_int_equal(t.bytes, size_of_record(t.number));
            good++;
        }
    }
    return good;
}

static rt_journal *open_one(motet_context *c, int file, int writes)
{
    rt_journal *j = NULL;
    assert_ok(c, rt_journal_open(c, &file, 1, writes, INT64_MAX, &j));
    return j;
}

static void write_all_records(motet_context *c, int file)
{
    rt_journal *j = open_one(c, file, 1);
    for (int n = 0; n < RECORDS; n++) assert_int_equal(append(j, n), 1);
    rt_journal_close(j);
}

static void records_come_back_by_key_and_in_order(void **state)
{
    (void)state;
    motet_context *c = test_context();
    const int file = memory_file();
    write_all_records(c, file);
    rt_journal *j = open_one(c, file, 0);
    const rt_journal_record *r;
    assert_int_equal(rt_journal_find(j, key_of(0), &r), 3);
    assert_int_equal(r[0].first[0], 0);
    assert_int_equal(r[1].first[0], 6);
    assert_int_equal(r[2].first[0], 12);
    assert_int_equal(rt_journal_find(j, (digest){6, 78}, &r), 0);
    assert_int_equal(readable(j), RECORDS);
    assert_int_equal(append(j, 1), 0); /* it is not written to */
    rt_journal_close(j);
    close(file);
    motet_context_free(c);
}

/* Wherever the writer was stopped: the whole records are there, what follows is cut off, and the
 * next writer goes on behind them. */
static void a_torn_tail_is_ignored(void **state)
{
    (void)state;
    motet_context *c = test_context();
    const int file = memory_file();
    rt_journal *j = open_one(c, file, 1);
    int64_t ends[4] = {size_of(file)};
    for (int n = 0; n < 3; n++) {
        append(j, n);
        ends[n + 1] = size_of(file);
    }
    rt_journal_close(j);
    char *whole = malloc((size_t)ends[3]);
    assert_int_equal(__real_pread(file, whole, (size_t)ends[3], 0), ends[3]);
    for (int64_t length = 0; length <= ends[3]; length++) {
        assert_int_equal(ftruncate(file, 0), 0);
        assert_int_equal(__real_pwrite(file, whole, (size_t)length, 0), length);
        int have = 0;
        while (have < 3 && ends[have + 1] <= length) have++;
        j = open_one(c, file, 1);
        assert_int_equal(readable(j), have);
        assert_int_equal(append(j, 4), 1);
        rt_journal_close(j);
        assert_true(size_of(file) > ends[have] && size_of(file) < ends[have] + 200);
        j = open_one(c, file, 0);
        assert_int_equal(readable(j), have + 1);
        rt_journal_close(j);
    }
    free(whole);
    close(file);
    motet_context_free(c);
}

/* Whichever byte is damaged: fewer records, never another one. */
static void a_damaged_byte_costs_records_never_bits(void **state)
{
    (void)state;
    motet_context *c = test_context();
    const int file = memory_file();
    rt_journal *j = open_one(c, file, 1);
    for (int n = 0; n < 3; n++) append(j, n);
    rt_journal_close(j);
    const int64_t size = size_of(file);
    for (int64_t at = 0; at < size; at++) {
        unsigned char byte, other;
        __real_pread(file, &byte, 1, at);
        other = (unsigned char)(byte ^ (1u << at % 8));
        __real_pwrite(file, &other, 1, at);
        j = open_one(c, file, 0);
        assert_true(readable(j) < 3);
        rt_journal_close(j);
        __real_pwrite(file, &byte, 1, at);
    }
    j = open_one(c, file, 0);
    assert_int_equal(readable(j), 3);
    rt_journal_close(j);
    close(file);
    motet_context_free(c);
}

static void it_stays_within_its_bytes(void **state)
{
    (void)state;
    motet_context *c = test_context();
    for (int64_t most = 0; most < 700; most += 13) {
        const int file = memory_file();
        rt_journal *j = NULL;
        assert_ok(c, rt_journal_open(c, &file, 1, 1, most, &j));
        int kept = 0;
        for (int n = 0; n < 3; n++) kept += append(j, n);
        assert_true(size_of(file) <= (most < 16 ? 16 : most));
        motet_journal_counts counts;
        rt_journal_count(j, &counts);
        assert_int_equal(counts.kept, kept);
        assert_int_equal(counts.full, kept < 3);
        rt_journal_close(j);
        j = open_one(c, file, 0);
        assert_int_equal(readable(j), kept);
        rt_journal_close(j);
        close(file);
    }
    motet_context_free(c);
}

/* What cannot be meant is refused, or kept by nobody. */
static void nonsense_is_refused(void **state)
{
    (void)state;
    motet_context *c = test_context();
    const int file = memory_file();
    rt_journal *j = NULL;
    assert_status(c, rt_journal_open(c, &file, -1, 0, 100, &j), MOTET_BAD_ARGUMENT);
    assert_status(c, rt_journal_open(c, &file, RT_JOURNAL_FILES + 1, 0, 100, &j),
                  MOTET_BAD_ARGUMENT);
    assert_status(c, rt_journal_open(c, &file, 1, 1, -1, &j), MOTET_BAD_ARGUMENT);
    assert_status(c, rt_journal_open(c, &file, 0, 1, 100, &j), MOTET_BAD_ARGUMENT);
    assert_null(j);
    rt_journal_close(j);
    write_all_records(c, file);
    j = open_one(c, file, 0);
    assert_int_equal(append(j, 1), 0); /* it is not written to */
    rt_journal_close(j);
    j = open_one(c, file, 1);
    int n = 1;
    rt_journal_record empty = record_of(n);
    empty.bytes = 0;
    assert_int_equal(rt_journal_append(j, &empty, fill, &n), 0);
    assert_int_equal(readable(j), RECORDS);
    rt_journal_close(j);
    const int folder = open("/", O_RDONLY | O_CLOEXEC);
    assert_status(c, rt_journal_open(c, &folder, 1, 1, 100, &j), MOTET_BAD_DATA);
    close(folder);
    close(file);
    motet_context_free(c);
}

/* A header may have the right digest and say what cannot be: nothing behind it is believed. */
static void impossible_headers_end_the_file(void **state)
{
    (void)state;
    enum { WORDS = 13, CHECK = 12 };
    static const struct {
        int word;
        int64_t value;
    } wrong[] = {{3, -1}, {4, INT64_MAX}, {6, 0}, {8, -5}, {9, 0}, {9, 1 << 20}, {9, -1}, {0, 7}};
    motet_context *c = test_context();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const int file = memory_file();
        write_all_records(c, file);
        int64_t head[WORDS];
        assert_int_equal(__real_pread(file, head, sizeof head, 16), sizeof head);
        assert_int_equal((int64_t)XXH3_64bits(head, CHECK * 8), head[CHECK]);
        head[wrong[i].word] = wrong[i].value;
        head[CHECK] = (int64_t)XXH3_64bits(head, CHECK * 8);
        assert_int_equal(__real_pwrite(file, head, sizeof head, 16), sizeof head);
        rt_journal *j = open_one(c, file, 0);
        assert_int_equal(readable(j), 0);
        rt_journal_close(j);
        close(file);
    }
    motet_context_free(c);
}

/* Former files are only read; they may be sealed. */
static void former_files_are_read_only(void **state)
{
    (void)state;
    motet_context *c = test_context();
    const int files[2] = {memory_file(), memory_file()};
    write_all_records(c, files[0]);
    assert_int_equal(fcntl(files[0], F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK), 0);
    rt_journal *j = NULL;
    assert_ok(c, rt_journal_open(c, files, 2, 1, INT64_MAX, &j));
    assert_int_equal(readable(j), RECORDS);
    assert_int_equal(append(j, 2), 1);
    rt_journal_close(j);
    j = open_one(c, files[1], 0);
    assert_int_equal(readable(j), 1);
    rt_journal_close(j);
    assert_ok(c, rt_journal_open(c, files, 1, 1, INT64_MAX, &j));
    assert_int_equal(append(j, 2), 0); /* which is warned about */
    rt_journal_close(j);
    close(files[0]);
    close(files[1]);
    motet_context_free(c);
}

static motet_status everything(motet_context *c, const int files[2], int *good)
{
    rt_journal *j;
    TRY(rt_journal_open(c, files, 2, 1, INT64_MAX, &j));
    for (int n = 0; n < RECORDS; n++) append(j, n);
    *good = readable(j);
    rt_journal_close(j);
    return MOTET_OK;
}

/* Whichever system call fails, once or from then on: a status with a reason or fewer records,
 * nothing leaked, and what the file holds afterwards is right. */
static void every_failing_call_is_survived(void **state)
{
    (void)state;
    motet_context *c = test_context();
    int files[2] = {memory_file(), 0};
    write_all_records(c, files[0]);
    for (int forever = 0; forever < 2; forever++)
        for (int64_t nth = 1;; nth++) {
            motet_memory before, after;
            files[1] = memory_file();
            motet_context_report_reset(c);
            motet_context_memory(c, &before);
            memset(&faults, 0, sizeof faults);
            faults.nth = nth;
            faults.forever = forever;
            int good = 0;
            const motet_status st = everything(c, files, &good);
            const int failed = faults.failed;
            memset(&faults, 0, sizeof faults);
            assert_true(st == MOTET_OK || st == MOTET_IO || (st == MOTET_BAD_DATA && failed));
            if (!failed) {
                assert_int_equal(st, MOTET_OK);
                assert_int_equal(good, RECORDS);
                assert_true(nth > 15);
            }
            motet_context_report_reset(c);
            motet_context_memory(c, &after);
            assert_int_equal(after.blocks, before.blocks);
            rt_journal *j = open_one(c, files[1], 0);
            readable(j);
            rt_journal_close(j);
            close(files[1]);
            if (!failed) break;
        }
    close(files[0]);
    motet_context_free(c);
}

static void every_failing_allocation_is_survived(void **state)
{
    (void)state;
    for (int64_t nth = 1;; nth++) {
        motet_context *c = test_context_failing(0, 0);
        int files[2] = {memory_file(), memory_file()}, good = 0;
        write_all_records(c, files[0]);
        motet_memory before, after;
        motet_context_memory(c, &before);
        test_context_fail_at(c, nth, 0);
        const motet_status st = everything(c, files, &good);
        const int failed = test_context_failed(c);
        test_context_fail_at(c, 0, 0);
        if (failed)
            assert_status(c, st, MOTET_NO_MEMORY);
        else
            assert_ok(c, st);
        motet_context_memory(c, &after);
        assert_int_equal(after.blocks, before.blocks);
        close(files[0]);
        close(files[1]);
        motet_context_free(c);
        if (!failed) break;
    }
}

static void another_file_is_refused_and_left_alone(void **state)
{
    (void)state;
    motet_context *c = test_context();
    static const char text[] = "these are somebody's notes, not a journal";
    for (size_t length = 1; length < sizeof text; length++) {
        const int file = memory_file();
        assert_int_equal(__real_pwrite(file, text, length, 0), length);
        rt_journal *j = NULL;
        assert_status(c, rt_journal_open(c, &file, 1, 1, INT64_MAX, &j), MOTET_BAD_DATA);
        assert_message(c, "journal", NULL);
        assert_int_equal(size_of(file), length);
        assert_ok(c, rt_journal_open(c, &file, 1, 0, INT64_MAX, &j));
        assert_int_equal(readable(j), 0);
        rt_journal_close(j);
        close(file);
    }
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_come_back_by_key_and_in_order),
        cmocka_unit_test(a_torn_tail_is_ignored),
        cmocka_unit_test(a_damaged_byte_costs_records_never_bits),
        cmocka_unit_test(it_stays_within_its_bytes),
        cmocka_unit_test(former_files_are_read_only),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(impossible_headers_end_the_file),
        cmocka_unit_test(every_failing_call_is_survived),
        cmocka_unit_test(every_failing_allocation_is_survived),
        cmocka_unit_test(another_file_is_refused_and_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
