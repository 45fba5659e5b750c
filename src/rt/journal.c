/* The file of a journal: a head, then records one after the other, each a header and a payload.
 *
 * A header has a digest of its own, so that a damaged length leads nowhere, and holds the digest of
 * the payload, which is looked at when it is read. It is written after its payload: whatever stops
 * the writer, the file ends in whole records and perhaps something that is none. Words are in the
 * host's byte order; another host's file holds no record. */
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "rt/journal.h"
#include "rt/journal_inside.h"

static const uint64_t head_words[2] = {0x4c414e52554f4a4d /* "MJOURNAL" */, 1 /* version */};
static const uint64_t record_word = 0x44524f434552544d; /* "MTRECORD" */

typedef struct header {
    uint64_t word;
    digest key;
    int64_t first[RT_AXES], count[RT_AXES];
    int64_t bytes;
    digest payload;
    uint64_t check; /* of all before it */
} header;

static uint64_t check_of(const header *h) { return XXH3_64bits(h, offsetof(header, check)); }

/* All the bytes, or an errno; EIO when the file ends before. */
static int read_all(int file, void *out, size_t bytes, int64_t offset)
{
    for (char *p = out; bytes;) {
        const ssize_t got = pread(file, p, bytes, (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return got ? errno : EIO;
        p += got;
        bytes -= (size_t)got;
        offset += got;
    }
    return 0;
}

static int write_all(int file, const void *data, size_t bytes, int64_t offset)
{
    for (const char *p = data; bytes;) {
        const ssize_t put = pwrite(file, p, bytes, (off_t)offset);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return put ? errno : ENOSPC;
        p += put;
        bytes -= (size_t)put;
        offset += put;
    }
    return 0;
}

/* Looking through the files. */

static int legal(const header *h, int64_t left)
{
    if (h->word != record_word || h->check != check_of(h)) return 0;
    if (h->bytes < 1 || h->bytes > left) return 0;
    for (int i = 0; i < RT_AXES; i++)
        if (h->first[i] < 0 || h->count[i] < 1 || h->first[i] > INT64_MAX - h->count[i]) return 0;
    return 1;
}

static motet_status remember(rt_journal *j, const rt_journal_record *r)
{
    if (j->count == j->room) {
        const int64_t room = 2 * j->room + 64;
        rt_journal_record *grown =
            mem_grow(j->context, j->records, (size_t)room * sizeof *j->records);
        if (!grown)
            return fail(j->context, MOTET_NO_MEMORY,
                        "no memory to list what is in the journal, %lld records so far",
                        (long long)j->count);
        j->records = grown;
        j->room = room;
    }
    j->records[j->count++] = *r;
    return MOTET_OK;
}

/* *end: of the last whole record; 0 when it has not even a head. */
static motet_status scan(rt_journal *j, int number, int64_t *end)
{
    struct stat status;
    uint64_t words[2];
    const int file = j->file[number];
    *end = 0;
    if (fstat(file, &status) || read_all(file, words, sizeof words, 0)) return MOTET_OK;
    if (memcmp(words, head_words, sizeof words) != 0) return MOTET_OK;
    int64_t at = sizeof words;
    header h;
    while (status.st_size - at > (int64_t)sizeof h && j->count < RT_JOURNAL_RECORDS) {
        if (read_all(file, &h, sizeof h, at)) break;
        at += (int64_t)sizeof h;
        if (!legal(&h, status.st_size - at)) {
            at -= (int64_t)sizeof h;
            break;
        }
        rt_journal_record r = {
            .key = h.key, .bytes = h.bytes, .payload = h.payload, .offset = at, .file = number};
        memcpy(r.first, h.first, sizeof r.first);
        memcpy(r.count, h.count, sizeof r.count);
        TRY(remember(j, &r));
        at += h.bytes;
    }
    *end = at;
    return MOTET_OK;
}

static int by_key(digest a, digest b)
{
    if (a.high != b.high) return a.high < b.high ? -1 : 1;
    return a.low == b.low ? 0 : a.low < b.low ? -1 : 1;
}

static int by_place(const void *left, const void *right)
{
    const rt_journal_record *a = left, *b = right;
    const int order = by_key(a->key, b->key);
    if (order) return order;
    for (int i = 0; i < RT_AXES; i++)
        if (a->first[i] != b->first[i]) return a->first[i] < b->first[i] ? -1 : 1;
    if (a->file != b->file) return a->file < b->file ? -1 : 1;
    return a->offset < b->offset ? -1 : 1; /* no two are at one place */
}

/* A heap sort: the C library's may allocate behind the context's back. */
static void sift(rt_journal_record *r, int64_t at, int64_t count)
{
    const rt_journal_record moved = r[at];
    for (int64_t below; (below = 2 * at + 1) < count; at = below) {
        if (below + 1 < count && by_place(&r[below], &r[below + 1]) < 0) below++;
        if (by_place(&moved, &r[below]) >= 0) break;
        r[at] = r[below];
    }
    r[at] = moved;
}

static void sort(rt_journal_record *r, int64_t count)
{
    for (int64_t i = count / 2; i-- > 0;) sift(r, i, count);
    while (count-- > 1) {
        const rt_journal_record last = r[count];
        r[count] = r[0];
        r[0] = last;
        sift(r, 0, count);
    }
}

/* Opening and closing. */

/* The file to be written ends behind its last whole record; an empty one gets a head. */
static motet_status prepare(rt_journal *j, int64_t end)
{
    motet_context *c = j->context;
    const int file = j->file[j->files - 1];
    struct stat status;
    uint64_t words[2] = {0, 0};
    if (fstat(file, &status)) return fail_errno(c, errno, "the journal");
    if (end == 0) {
        const int64_t have = status.st_size < (int64_t)sizeof words ? status.st_size : 16;
        if (!S_ISREG(status.st_mode) || read_all(file, words, (size_t)have, 0) ||
            memcmp(words, head_words, (size_t)have) != 0)
            return fail(c, MOTET_BAD_DATA,
                        "the file to keep a journal in holds something else, expected a journal of "
                        "this version or an empty file");
        const int reason = write_all(file, head_words, sizeof head_words, 0);
        if (reason) return fail_errno(c, reason, "the journal: writing its head");
        end = sizeof head_words;
    }
    if (ftruncate(file, (off_t)end)) return fail_errno(c, errno, "the journal: cutting its tail");
    j->end = end;
    return MOTET_OK;
}

motet_status rt_journal_open(motet_context *c, const int *files, int count, int writes,
                             int64_t most_bytes, rt_journal **out)
{
    if (count < 0 || count > RT_JOURNAL_FILES || most_bytes < 0 || (writes && !count))
        return fail(c, MOTET_BAD_ARGUMENT, "a journal of %d files, expected at most %d", count,
                    RT_JOURNAL_FILES);
    rt_journal *j = mem_new(c, rt_journal);
    if (!j) return fail(c, MOTET_NO_MEMORY, "no memory for a journal");
    motet_status st = MOTET_OK;
    int64_t end = 0;
    j->context = c;
    j->files = count;
    j->writes = writes;
    j->most_bytes = most_bytes;
    j->folder_file = -1;
    if (pthread_mutex_init(&j->lock, NULL)) {
        mem_free(c, j);
        return fail(c, MOTET_NO_MEMORY, "the system gives no lock for a journal");
    }
    j->buffer = mem_alloc(c, RT_JOURNAL_BUFFER);
    if (!j->buffer) TRY_GOTO(fail(c, MOTET_NO_MEMORY, "no memory for the buffer of a journal"));
    for (int i = 0; i < count; i++) {
        j->file[i] = files[i];
        TRY_GOTO(scan(j, i, &end));
    }
    if (writes) TRY_GOTO(prepare(j, end));
    sort(j->records, j->count);
    j->counts.records = j->count;
    *out = j;
    return MOTET_OK;
out:
    rt_journal_close(j);
    return st;
}

void rt_journal_close(rt_journal *j)
{
    if (!j) return;
    if (j->folder_file >= 0) close(j->folder_file);
    pthread_mutex_destroy(&j->lock);
    mem_free(j->context, j->buffer);
    mem_free(j->context, j->records);
    mem_free(j->context, j);
}

/* Using it. */

int64_t rt_journal_find(const rt_journal *j, digest key, const rt_journal_record **out)
{
    int64_t low = 0, high = j->count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (by_key(j->records[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    int64_t end = low;
    while (end < j->count && digest_equal(j->records[end].key, key)) end++;
    *out = end > low ? &j->records[low] : NULL;
    return end - low;
}

static digest digest_of(XXH3_state_t *state)
{
    const XXH128_hash_t h = XXH3_128bits_digest(state);
    return (digest){h.low64, h.high64};
}

static size_t piece_at(const rt_journal_record *r, size_t at)
{
    const size_t left = (size_t)r->bytes - at;
    return left < RT_JOURNAL_BUFFER ? left : RT_JOURNAL_BUFFER;
}

int rt_journal_read(rt_journal *j, const rt_journal_record *r, rt_journal_piece_fn *take,
                    void *user)
{
    XXH3_state_t state;
    memset(&state, 0, sizeof state);
    XXH3_128bits_reset(&state);
    int good = 1;
    pthread_mutex_lock(&j->lock);
    for (size_t at = 0, bytes; at < (size_t)r->bytes; at += bytes) {
        bytes = piece_at(r, at);
        good = !read_all(j->file[r->file], j->buffer, bytes, r->offset + (int64_t)at);
        if (!good) break;
        XXH3_128bits_update(&state, j->buffer, bytes);
        if (take) take(at, bytes, j->buffer, user);
    }
    good = good && digest_equal(digest_of(&state), r->payload);
    if (good && take) {
        j->counts.found++;
        j->counts.found_bytes += r->bytes;
    }
    pthread_mutex_unlock(&j->lock);
    return good;
}

/* errno, or 0. */
static int append(rt_journal *j, const rt_journal_record *r, rt_journal_piece_fn *fill, void *user)
{
    const int file = j->file[j->files - 1];
    header h;
    memset(&h, 0, sizeof h);
    XXH3_state_t state;
    memset(&state, 0, sizeof state);
    XXH3_128bits_reset(&state);
    const int64_t payload = j->end + (int64_t)sizeof h;
    for (size_t at = 0, bytes; at < (size_t)r->bytes; at += bytes) {
        bytes = piece_at(r, at);
        fill(at, bytes, j->buffer, user);
        XXH3_128bits_update(&state, j->buffer, bytes);
        const int reason = write_all(file, j->buffer, bytes, payload + (int64_t)at);
        if (reason) return reason;
    }
    h.word = record_word;
    h.key = r->key;
    memcpy(h.first, r->first, sizeof h.first);
    memcpy(h.count, r->count, sizeof h.count);
    h.bytes = r->bytes;
    h.payload = digest_of(&state);
    h.check = check_of(&h);
    return write_all(file, &h, sizeof h, j->end);
}

int rt_journal_append(rt_journal *j, const rt_journal_record *r, rt_journal_piece_fn *fill,
                      void *user)
{
    if (!j->writes || r->bytes < 1) return 0;
    int kept = 0, reason = 0;
    pthread_mutex_lock(&j->lock);
    const int64_t room = j->most_bytes - j->end - (int64_t)sizeof(header);
    if (!j->counts.full && r->bytes > room) j->counts.full = 1;
    if (!j->counts.full) {
        reason = append(j, r, fill, user);
        kept = !reason;
    }
    if (kept) {
        j->end += (int64_t)sizeof(header) + r->bytes;
        j->counts.kept++;
        j->counts.kept_bytes += r->bytes;
    }
    if (reason) {
        j->counts.full = 1;
        (void)!ftruncate(j->file[j->files - 1], (off_t)j->end); /* the disk may be full */
    }
    pthread_mutex_unlock(&j->lock);
    if (reason)
        log_warning(j->context, "journal",
                    "nothing more is kept for a later run: writing the journal: %s",
                    strerrordesc_np(reason));
    return kept;
}

void rt_journal_count(rt_journal *j, motet_journal_counts *out)
{
    pthread_mutex_lock(&j->lock);
    *out = j->counts;
    pthread_mutex_unlock(&j->lock);
}
