/* Any bytes at all, read as a journal: what it says is taken only when its digests are right, and a
 * writer goes on behind it. */
#include "rt/journal.h"
#include "store.h"

#include "rt/journal_inside.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void take(size_t offset, size_t bytes, void *piece, void *user)
{
    size_t *sum = user;
    (void)piece;
    fuzz_check(offset == *sum && bytes > 0, "pieces come in order");
    *sum += bytes;
}

static void fill(size_t offset, size_t bytes, void *piece, void *user)
{
    (void)offset, (void)user;
    memset(piece, 7, bytes);
}

/* Answers how many records are right. */
static int64_t look(motet_context *context, int file, int writes)
{
    rt_journal *j = NULL;
    const motet_status st = rt_journal_open(context, &file, 1, writes, 1 << 20, &j);
    fuzz_check(st == MOTET_OK || (writes && st == MOTET_BAD_DATA),
               "any file can be looked through");
    if (!j) return -1;
    int64_t good = 0;
    for (int64_t i = 0; i < j->count; i++) {
        const rt_journal_record *r = &j->records[i], *found;
        size_t sum = 0;
        if (rt_journal_read(j, r, take, &sum)) {
            fuzz_check(sum == (size_t)r->bytes, "a record is read whole");
            good++;
        }
        fuzz_check(rt_journal_find(j, r->key, &found) > 0, "a record is found by its key");
    }
    if (writes) {
        const rt_journal_record r = {.key = {1, 2}, .count = {1, 1, 1}, .bytes = 100};
        good += rt_journal_append(j, &r, fill, NULL);
    }
    rt_journal_close(j);
    return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static motet_context *context;
    if (!context && motet_context_create(NULL, &context) != MOTET_OK) abort();
    const int file = memfd_create("journal", MFD_CLOEXEC);
    if (file < 0 || write(file, data, bytes) != (ssize_t)bytes) abort();
    motet_memory before, after;
    motet_context_memory(context, &before);
    look(context, file, 0);
    const int64_t good = look(context, file, 1);
    if (good >= 0) fuzz_check(look(context, file, 0) == good, "what was appended is there");
    motet_context_memory(context, &after);
    fuzz_check(after.blocks == before.blocks, "nothing leaks");
    close(file);
    return 0;
}
