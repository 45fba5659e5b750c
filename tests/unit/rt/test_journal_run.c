#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/context.h"
#include "rt/journal.h"
#include "rt/journal_inside.h"
#include "support/toy.h"

static int memory_file(void)
{
    const int file = memfd_create("journal", MFD_CLOEXEC);
    assert_true(file >= 0);
    return file;
}

static int64_t size_of(int file)
{
    struct stat s;
    assert_int_equal(fstat(file, &s), 0);
    return s.st_size;
}

enum { ROWS = 23, COLUMNS = 13 };

typedef struct toy_run {
    motet_array *x, *y;
    rt_op op;
    float *want;
    char former[ROWS * COLUMNS * 4];
} toy_run;

static void toy_make(motet_context *c, int updates, toy_run *t)
{
    memset(t, 0, sizeof *t);
    t->x = toy_array(c, ROWS, COLUMNS, 1);
    t->y = toy_array(c, ROWS, COLUMNS, 3);
    memcpy(t->former, t->y->data, t->y->bytes);
    t->op = updates ? toy_update(t->x, t->y) : toy_smooth(t->x, t->y);
    assert_ok(c, rt_run(c, &t->op));
    t->want = malloc(t->y->bytes);
    memcpy(t->want, t->y->data, t->y->bytes);
    memcpy(t->y->data, t->former, t->y->bytes);
    t->op.fingerprint[0] = 1;
}

static void toy_free(toy_run *t)
{
    motet_array_free(t->x);
    motet_array_free(t->y);
    free(t->want);
}

/* What a run does, with the results taken from where they are known: chunks of so many rows and
 * columns that are not covered are "computed", up to `most`. Answers how many were. */
static int play(motet_context *c, toy_run *t, int64_t rows, int64_t columns, int most)
{
    float *private = malloc(t->y->bytes);
    memcpy(private, t->former, t->y->bytes);
    void *data[RT_PORTS] = {0};
    for (int i = 0; i < RT_PORTS; i++)
        if (t->op.port[i].array)
            data[i] = t->op.port[i].array == t->y ? (void *)private : t->op.port[i].array->data;
    rt_journal_run *run = NULL;
    assert_ok(c, rt_journal_begin(c, &t->op, data, &run));
    int computed = 0;
    for (int64_t i = 0; i < ROWS; i += rows)
        for (int64_t j = 0; j < t->op.extent[1] || (j == 0 && t->op.axes < 2); j += columns) {
            const int64_t width = t->op.axes < 2          ? COLUMNS
                                  : COLUMNS - j < columns ? COLUMNS - j
                                                          : columns;
            const int64_t first[RT_AXES] = {i, j, 0};
            const int64_t count[RT_AXES] = {ROWS - i < rows ? ROWS - i : rows, width, 1};
            if (rt_journal_covers(run, first, count)) continue;
            if (computed == most) continue;
            for (int64_t k = i * COLUMNS + j; k < (i + count[0]) * COLUMNS; k++) {
                if (k % COLUMNS < j || k % COLUMNS >= j + width) continue;
                const float a = 1 + (float)(k / COLUMNS) * 0.125f;
                if (t->op.axes < 2) /* the update, as it is */
                private[k] += a * ((const float *)t->x->data)[k];
                else private[k] = t->want[k];
            }
            rt_journal_add(run, first, count);
            computed++;
        }
    rt_journal_end(run);
    if (most < 0) assert_memory_equal(private, t->want, t->y->bytes);
    free(private);
    return computed;
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

/* A run that was stopped after some chunks is gone on with, in chunks of any other size. */
static void what_is_found_is_not_computed(void **state)
{
    (void)state;
    motet_context *c = test_context();
    for (int updates = 0; updates < 2; updates++)
        for (int64_t rows = 1; rows <= 8; rows += 3)
            for (int64_t again = 1; again <= 9; again += 2) {
                toy_run t;
                toy_make(c, updates, &t);
                const int files[2] = {memory_file(), memory_file()};
                const int64_t columns = updates ? COLUMNS : 5;
                use(c, NULL, 0, files[0]);
                assert_int_equal(play(c, &t, rows, columns, 3), 3);
                use(c, files, 1, files[1]);
                const int64_t done = updates ? 3 * rows : rows, bands = (ROWS + again - 1) / again;
                const int64_t left = (bands - done / again) * (updates ? 1 : 3);
                assert_int_equal(play(c, &t, again, columns, -1), left);
                use(c, files, 2, -1);
                assert_int_equal(play(c, &t, ROWS, COLUMNS, -1), 0);
                assert_ok(c, motet_context_journal(c, NULL));
                close(files[0]);
                close(files[1]);
                toy_free(&t);
            }
    motet_context_free(c);
}

/* Damage at any byte of the journal of an update: the same result all the same. */
static void damage_never_reaches_a_result(void **state)
{
    (void)state;
    motet_context *c = test_context();
    toy_run t;
    toy_make(c, 1, &t);
    const int file = memory_file();
    use(c, NULL, 0, file);
    play(c, &t, 5, COLUMNS, -1);
    const int64_t size = size_of(file);
    for (int64_t at = 0; at < size; at += 3) {
        unsigned char byte, other;
        (void)!pread(file, &byte, 1, at);
        other = (unsigned char)(byte + 1);
        (void)!pwrite(file, &other, 1, at);
        use(c, &file, 1, -1);
        assert_true(play(c, &t, 5, COLUMNS, -1) > 0);
        (void)!pwrite(file, &byte, 1, at);
    }
    use(c, &file, 1, -1);
    assert_int_equal(play(c, &t, 5, COLUMNS, -1), 0);
    assert_ok(c, motet_context_journal(c, NULL));
    close(file);
    toy_free(&t);
    motet_context_free(c);
}

static motet_go stop(const motet_progress *progress, void *user)
{
    (void)progress, (void)user;
    return MOTET_STOP;
}

/* While it looks, a run can be cancelled. */
static void looking_can_be_cancelled(void **state)
{
    (void)state;
    motet_context *c = test_context();
    toy_run t;
    toy_make(c, 1, &t);
    const int file = memory_file();
    use(c, NULL, 0, file);
    play(c, &t, 2, COLUMNS, -1);
    use(c, &file, 1, -1);
    void *data[RT_PORTS] = {0};
    for (int i = 0; i < RT_PORTS; i++)
        if (t.op.port[i].array) data[i] = t.op.port[i].array->data;
    log_phase phase = log_phase_begin(c, "toy", 1);
    motet_context_cancel(c);
    digest key;
    assert_status(c, rt_journal_key_of(&t.op, data, &phase, &key), MOTET_CANCELLED);
    c->options.progress = stop;
    rt_journal_run *run = NULL;
    assert_status(c, rt_journal_begin(c, &t.op, data, &run), MOTET_CANCELLED);
    assert_null(run);
    assert_memory_equal(t.y->data, t.former, t.y->bytes);
    c->options.progress = NULL;
    assert_ok(c, motet_context_journal(c, NULL));
    close(file);
    toy_free(&t);
    motet_context_free(c);
}

/* The key is that of everything the result depends on, and of nothing else. */
static void keys_tell_runs_apart(void **state)
{
    (void)state;
    motet_context *c = test_context();
    toy_run t;
    toy_make(c, 1, &t);
    void *data[RT_PORTS] = {0};
    for (int i = 0; i < RT_PORTS; i++)
        if (t.op.port[i].array) data[i] = t.op.port[i].array->data;
    const digest key = rt_journal_key(&t.op, data);
    for (size_t at = 0; at < t.x->bytes; at += 101) { /* what is read, and what is updated */
        for (int i = 0; i < RT_PORTS; i++) {
            if (!data[i]) continue;
            ((char *)data[i])[at] ^= 1;
            assert_false(digest_equal(rt_journal_key(&t.op, data), key));
            ((char *)data[i])[at] ^= 1;
        }
    }
    rt_op op = t.op;
    op.name = "toy.other";
    assert_false(digest_equal(rt_journal_key(&op, data), key));
    op = t.op;
    op.fingerprint[1] = 1;
    assert_false(digest_equal(rt_journal_key(&op, data), key));
    op = t.op;
    op.extent[0]--;
    assert_false(digest_equal(rt_journal_key(&op, data), key));
    op = t.op;
    op.grain[0] = 4, op.shard_rows = 9, op.batch = 3;
    assert_true(digest_equal(rt_journal_key(&op, data), key));
    op = toy_smooth(t.x, t.y); /* what is only written does not count */
    op.fingerprint[0] = 1;
    data[3] = t.x->data; /* it sees the whole of x, too */
    const digest written = rt_journal_key(&op, data);
    memset(t.y->data, 5, t.y->bytes);
    assert_true(digest_equal(rt_journal_key(&op, data), written));

    op = t.op;
    assert_true(rt_journal_takes(&op));
    op.fingerprint[0] = 0;
    assert_false(rt_journal_takes(&op));
    toy_free(&t);
    motet_context_free(c);
}

static void zeroes(size_t offset, size_t bytes, void *piece, void *user)
{
    (void)offset, (void)user;
    memset(piece, 0, bytes);
}

/* A journal of another run is never hit, nor one that holds too large boxes. */
static void foreign_records_are_not_taken(void **state)
{
    (void)state;
    motet_context *c = test_context();
    toy_run t;
    toy_make(c, 0, &t);
    void *data[RT_PORTS] = {0};
    for (int i = 0; i < RT_PORTS; i++)
        if (t.op.port[i].array) data[i] = t.op.port[i].array->data;
    const int file = memory_file();
    rt_journal *j = NULL;
    assert_ok(c, rt_journal_open(c, &file, 1, 1, INT64_MAX, &j));
    static const int64_t boxes[][2 * RT_AXES] = {
        {0, 0, 0, ROWS + 1, 1, 1}, {ROWS, 0, 0, 1, 1, 1}, {0, 0, 1, 1, 1, 1},
        {0, 0, 0, 1, 1, 2},        {0, 0, 0, 2, 2, 1},    {INT64_MAX - 1, 0, 0, 1, 1, 1}};
    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++) {
        rt_journal_record r = {.key = rt_journal_key(&t.op, data), .bytes = 12};
        memcpy(r.first, boxes[i], sizeof r.first);
        memcpy(r.count, boxes[i] + RT_AXES, sizeof r.count);
        assert_int_equal(rt_journal_append(j, &r, zeroes, NULL), 1);
    }
    rt_journal_close(j);
    use(c, &file, 1, -1);
    assert_int_equal(play(c, &t, 4, COLUMNS, -1), 6);
    motet_journal_counts counts;
    motet_context_journal_counts(c, &counts);
    assert_int_equal(counts.found, 0);
    assert_int_equal(counts.records, 6);
    assert_ok(c, motet_context_journal(c, NULL));
    motet_context_journal_counts(c, &counts);
    assert_int_equal(counts.records, 0);
    close(file);
    toy_free(&t);
    motet_context_free(c);
}

/* ---- The context's ---- */

static void a_folder_belongs_to_one_process_at_a_time(void **state)
{
    (void)state;
    motet_context *a = test_context(), *b = test_context();
    motet_journal_options o;
    motet_journal_options_init(&o);
    o.folder = test_path("checkpoint");
    assert_ok(a, motet_context_journal(a, &o));
    assert_status(b, motet_context_journal(b, &o), MOTET_BUSY);
    assert_message(b, "checkpoint", "another process", NULL);
    toy_run t;
    toy_make(a, 0, &t);
    assert_int_equal(play(a, &t, 4, COLUMNS, 2), 2);
    assert_ok(a, motet_context_journal(a, NULL));
    assert_ok(b, motet_context_journal(b, &o));
    assert_int_equal(play(b, &t, 4, COLUMNS, -1), 4);
    motet_journal_counts counts;
    motet_context_journal_counts(b, &counts);
    assert_int_equal(counts.found, 2);
    assert_int_equal(counts.kept, 4);
    toy_free(&t);
    motet_context_free(a);
    motet_context_free(b);
}

/* Between open and lock another process, which is done, removes the file and the folder. */
static int leaving; /* so often */
int __real_flock(int file, int operation);
int __wrap_flock(int file, int operation);
int __wrap_flock(int file, int operation)
{
    if (leaving > 0) {
        leaving--;
        assert_int_equal(unlink(test_path("shared/journal")), 0);
        assert_int_equal(rmdir(test_path("shared")), 0);
    }
    return __real_flock(file, operation);
}

static void what_another_process_removes_is_not_written_to(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_journal_options o;
    motet_journal_options_init(&o);
    o.folder = test_path("shared");
    struct stat named, opened;
    leaving = 3;
    assert_ok(c, motet_context_journal(c, &o));
    assert_int_equal(leaving, 0);
    assert_int_equal(stat(test_path("shared/journal"), &named), 0);
    assert_int_equal(fstat(c->journal->folder_file, &opened), 0);
    assert_int_equal(named.st_ino, opened.st_ino);
    leaving = 1 << 20; /* again and again */
    assert_status(c, motet_context_journal(c, &o), MOTET_BUSY);
    leaving = 0;
    motet_context_free(c);
}

/* What is kept already does not count against the free space. */
static void a_large_journal_goes_on(void **state)
{
    (void)state;
    const int64_t large = (int64_t)1 << 40; /* a hole: more than may be free */
    motet_context *c = test_context();
    motet_journal_options o;
    motet_journal_options_init(&o);
    o.folder = test_path("large");
    assert_ok(c, motet_context_journal(c, &o));
    assert_ok(c, motet_context_journal(c, NULL));
    if (truncate(test_path("large/journal"), large)) return motet_context_free(c);
    assert_ok(c, motet_context_journal(c, &o));
    assert_true(c->journal->most_bytes > large);
    motet_context_free(c);
}

static void options_are_checked(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_journal_options o;
    motet_journal_options_init(&o);
    o.folder = test_path("missing/below");
    assert_status(c, motet_context_journal(c, &o), MOTET_NOT_FOUND);
    o.file = 0;
    assert_status(c, motet_context_journal(c, &o), MOTET_BAD_ARGUMENT);
    assert_message(c, "folder", "file is 0", NULL);
    o.file = -1, o.file_count = 33;
    assert_status(c, motet_context_journal(c, &o), MOTET_BAD_ARGUMENT);
    assert_message(c, "33", NULL);
    o.file_count = -1;
    assert_status(c, motet_context_journal(c, &o), MOTET_BAD_ARGUMENT);
    o.file_count = 1;
    assert_status(c, motet_context_journal(c, &o), MOTET_BAD_ARGUMENT); /* no files */
    o.size = 3;
    assert_status(c, motet_context_journal(c, &o), MOTET_BAD_ARGUMENT);
    const char *folder = test_path("taken");
    assert_int_equal(mkdir(folder, 0777), 0);
    assert_int_equal(symlink("/etc/passwd", test_path("taken/journal")), 0);
    motet_journal_options_init(&o);
    o.folder = test_path("taken");
    assert_status(c, motet_context_journal(c, &o), MOTET_IO);
    motet_context_free(c);
}

/* What is written to a folder stays within the bytes that were allowed. */
static void a_folder_may_be_bounded(void **state)
{
    (void)state;
    static const uint64_t most[] = {1, 700, UINT64_MAX, 0};
    motet_context *c = test_context();
    for (int i = 0; i < 4; i++) {
        motet_journal_options o;
        motet_journal_options_init(&o);
        o.folder = test_path("bounded");
        o.most_bytes = most[i];
        assert_ok(c, motet_context_journal(c, &o));
        toy_run t;
        toy_make(c, 0, &t);
        t.op.fingerprint[1] = (uint64_t)i;
        play(c, &t, 4, COLUMNS, -1);
        motet_journal_counts counts;
        motet_context_journal_counts(c, &counts);
        assert_int_equal(counts.full, i < 2);
        assert_true(i < 2 ? (uint64_t)counts.kept_bytes <= most[i] : counts.kept == 6);
        toy_free(&t);
    }
    motet_context_free(c);
}

/* Only what depends on nothing but what it reads, and is written to arrays at home, is kept. */
static void what_cannot_be_kept_is_left_out(void **state)
{
    (void)state;
    motet_context *c = test_context();
    for (int kind = 0; kind < 8; kind++) {
        toy_run t;
        toy_make(c, 1, &t);
        rt_op op = t.op;
        int written = 0;
        for (int i = 0; i < RT_PORTS; i++)
            if (op.port[i].array == t.y) written = i;
        motet_array other = *t.y;
        const rt_source source = {0};
        const rt_sink sink = {0};
        rt_port *p = &op.port[written];
        p->array = &other;
        if (kind == 1) op.fingerprint[0] = 0;
        if (kind == 2) other.data = NULL;
        if (kind == 3) other.residence = RT_RESIDE_SHARDED;
        if (kind == 4) other.flags = MOTET_WRITE_DIRECT; /* what was there before is gone */
        if (kind == 5) p->access = RT_ADD;
        if (kind == 6) p->source = &source;
        if (kind == 7) p->sink = &sink;
        assert_int_equal(rt_journal_takes(&op), kind == 0);
        op.fingerprint[0] = 0, op.fingerprint[1] = kind != 1;
        assert_int_equal(rt_journal_takes(&op), kind == 0);
        toy_free(&t);
    }
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_found_is_not_computed),
        cmocka_unit_test(damage_never_reaches_a_result),
        cmocka_unit_test(looking_can_be_cancelled),
        cmocka_unit_test(keys_tell_runs_apart),
        cmocka_unit_test(foreign_records_are_not_taken),
        cmocka_unit_test(a_folder_belongs_to_one_process_at_a_time),
        cmocka_unit_test(what_another_process_removes_is_not_written_to),
        cmocka_unit_test(a_large_journal_goes_on),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(a_folder_may_be_bounded),
        cmocka_unit_test(what_cannot_be_kept_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
