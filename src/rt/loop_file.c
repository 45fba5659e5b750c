/* The checkpoint of a loop: a head of words, the numbers, the states; each with a digest. It is
 * written beside the former one, synced and renamed, so a file that is there was whole; what became
 * of it later the digests tell. Values are in the host's order, which the first word shows. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/context.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/mem.h"
#include "kern/digest.h"
#include "rt/disk.h"
#include "rt/loop_inside.h"
#include "store/file.h"

static const uint64_t first_word = 0x31504f4f4c54454du; /* "METLOOP1", read as little-endian */

/* What tells one computation from another comes first. */
enum {
    SAME = 9 + RT_LOOP_STATES * (2 + MOTET_MAX_AXES),
    STEP = SAME,
    DIGESTS,
    HEAD = DIGESTS + 2 + 2 * RT_LOOP_STATES + 2
};

static void set_digest(uint64_t *word, digest d)
{
    word[0] = d.low;
    word[1] = d.high;
}

static int has_digest(const uint64_t *word, digest d)
{
    return word[0] == d.low && word[1] == d.high;
}

static void set_head(const rt_loop *l, uint64_t head[HEAD])
{
    memset(head, 0, HEAD * sizeof *head);
    uint64_t *word = head;
    *word++ = first_word;
    set_digest(word, digest_bytes(motet_version(), strlen(motet_version())));
    set_digest(word + 2, digest_bytes(l->name, strlen(l->name)));
    word += 4;
    *word++ = l->fingerprint[0];
    *word++ = l->fingerprint[1];
    *word++ = (uint64_t)l->states;
    *word++ = (uint64_t)l->numbers_bytes;
    for (int i = 0; i < l->states; i++) {
        const motet_array *a = l->state[i];
        *word++ = (uint64_t)a->type;
        *word++ = (uint64_t)a->axes;
        for (int j = 0; j < MOTET_MAX_AXES; j++) *word++ = j < a->axes ? (uint64_t)a->shape[j] : 0;
    }
}

static digest of_head(const uint64_t head[HEAD])
{
    return digest_bytes(head, (HEAD - 2) * sizeof *head);
}

static int64_t place_of(const rt_loop *l, int state)
{
    size_t at = HEAD * sizeof(uint64_t) + LOOP_NUMBERS;
    for (int i = 0; i < state; i++) at += (l->state[i]->bytes + 63) / 64 * 64;
    return (int64_t)at;
}

/* Rows of a state, as they move between the file and the snapshot, or the disk. Its digest is that
 * of the digests of such pieces, so it is the same wherever the state is. */
typedef enum direction { CHECK, TAKE, WRITE } direction;

static motet_status move_rows(store_file *f, const motet_array *a, int64_t at, int64_t first,
                              int64_t count, char *rows, direction way)
{
    const size_t row = a->bytes / (size_t)a->shape[0], bytes = (size_t)count * row;
    if (way == WRITE) {
        if (a->disk) TRY(rt_disk_read_rows(a, first, count, rows));
        return file_write(f, at, bytes, rows);
    }
    TRY(file_read(f, at, bytes, rows));
    return way == TAKE && a->disk ? rt_disk_write_rows(a, first, count, rows) : MOTET_OK;
}

static motet_status move_state(store_file *f, const rt_loop *l, int state, const loop_snapshot *s,
                               log_phase *phase, direction way, digest *out)
{
    const motet_array *a = l->state[state];
    const int64_t most = rt_disk_rows(a);
    motet_status st = MOTET_OK;
    digest pair[2] = {{0, 0}, {0, 0}};
    *out = pair[0];
    if (!a->bytes) return MOTET_OK;
    const size_t row = a->bytes / (size_t)a->shape[0];
    char *buffer = a->disk ? mem_alloc_array(f->context, most, row) : NULL;
    if (a->disk && !buffer)
        return fail(f->context, MOTET_NO_MEMORY, "%s: no memory to move its arrays", f->path);
    for (int64_t first = 0; first < a->shape[0]; first += most) {
        const int64_t left = a->shape[0] - first, count = left < most ? left : most;
        if (phase) TRY_GOTO(log_phase_look(phase));
        char *rows = buffer ? buffer : s->state + loop_place(l, state) + (size_t)first * row;
        TRY_GOTO(
            move_rows(f, a, place_of(l, state) + first * (int64_t)row, first, count, rows, way));
        pair[1] = digest_bytes(rows, (size_t)count * row);
        pair[0] = digest_bytes(pair, sizeof pair);
    }
    *out = pair[0];
out:
    mem_free(f->context, buffer);
    return st;
}

static motet_status path_of(motet_context *c, const char *folder, const char *name, char **out)
{
    *out = mem_format(c, "%s/%s.loop", folder, name);
    return *out ? MOTET_OK : fail(c, MOTET_NO_MEMORY, "%s: no memory for a path", folder);
}

/* Reading. */

static motet_status damaged(motet_context *c, const char *path, const char *what)
{
    return fail(c, MOTET_BAD_DATA, "%s: %s", path, what);
}

static motet_status read_states(store_file *f, const rt_loop *l, const uint64_t head[HEAD],
                                loop_snapshot *s)
{
    motet_context *c = f->context;
    TRY(file_read(f, HEAD * sizeof *head, LOOP_NUMBERS, s->numbers));
    if (!has_digest(&head[DIGESTS], digest_bytes(s->numbers, LOOP_NUMBERS)))
        return damaged(c, f->path, "its numbers are damaged");
    digest d;
    log_phase phase = log_phase_begin(c, "checkpoint", 0);
    for (int i = 0; i < l->states; i++) {
        TRY(move_state(f, l, i, s, &phase, CHECK, &d));
        if (!has_digest(&head[DIGESTS + 2 + 2 * i], d))
            return damaged(c, f->path, "its arrays are damaged");
    }
    for (int i = 0; i < l->states; i++)
        if (l->state[i]->disk) TRY(move_state(f, l, i, s, &phase, TAKE, &d));
    return MOTET_OK;
}

static motet_status read_all(store_file *f, const rt_loop *l, loop_snapshot *s)
{
    uint64_t head[HEAD], expected[HEAD];
    set_head(l, expected);
    TRY(file_read(f, 0, sizeof head, head));
    if (head[0] != first_word || !has_digest(&head[HEAD - 2], of_head(head)))
        return damaged(f->context, f->path, "it is not a checkpoint, or is damaged");
    if (memcmp(head, expected, SAME * sizeof *head) != 0)
        return fail(f->context, MOTET_BAD_ARGUMENT,
                    "%s is a checkpoint of another computation, or another version's: name another "
                    "folder, or remove it",
                    f->path);
    if (head[STEP] > (uint64_t)l->steps)
        return fail(f->context, MOTET_BAD_ARGUMENT,
                    "%s is a checkpoint after step %lld, expected one of the first %lld", f->path,
                    (long long)head[STEP], (long long)l->steps);
    TRY(read_states(f, l, head, s));
    s->step = (int64_t)head[STEP];
    return MOTET_OK;
}

motet_status loop_file_read(motet_context *c, const rt_loop *l, loop_snapshot *s, int *found)
{
    *found = 0;
    if (mkdir(l->folder, 0777) && errno != EEXIST) return fail_errno(c, errno, "%s", l->folder);
    char *path;
    TRY(path_of(c, l->folder, l->name, &path));
    store_file f = {0};
    motet_status st = file_open(c, path, &f);
    if (st == MOTET_OK) st = read_all(&f, l, s);
    file_close(&f);
    mem_free(c, path);
    if (st == MOTET_NOT_FOUND) return MOTET_OK;
    if (st == MOTET_BAD_DATA) {
        motet_error error;
        motet_context_error(c, &error);
        log_warning(c, "loop", "%s: beginning anew: %s", l->name, error.message);
        return MOTET_OK;
    }
    *found = st == MOTET_OK;
    return st;
}

/* Writing. */

static motet_status write_all(store_file *f, const rt_loop *l, const loop_snapshot *s)
{
    uint64_t head[HEAD];
    set_head(l, head);
    head[STEP] = (uint64_t)s->step;
    set_digest(&head[DIGESTS], digest_bytes(s->numbers, LOOP_NUMBERS));
    log_phase phase = log_phase_begin(f->context, "checkpoint", 0);
    for (int i = 0; i < l->states; i++) {
        digest d;
        TRY(move_state(f, l, i, s, loop_on_disk(l) ? &phase : NULL, WRITE, &d));
        set_digest(&head[DIGESTS + 2 + 2 * i], d);
    }
    set_digest(&head[HEAD - 2], of_head(head));
    TRY(file_write(f, 0, sizeof head, head));
    TRY(file_write(f, sizeof head, LOOP_NUMBERS, s->numbers));
    TRY(file_sync(f));
    return file_place(f);
}

motet_status loop_file_write(motet_context *c, const rt_loop *l, const loop_snapshot *s)
{
    char *path;
    TRY(path_of(c, l->folder, l->name, &path));
    store_file f = {0};
    motet_status st = file_begin(c, path, 1, &f);
    if (st == MOTET_OK) st = write_all(&f, l, s);
    file_close(&f);
    mem_free(c, path);
    return st;
}

motet_status rt_loop_forget(motet_context *c, const char *folder, const char *name)
{
    char *path;
    TRY(path_of(c, folder, name, &path));
    const int reason = unlink(path) ? errno : 0;
    const int none = reason == ENOENT || reason == ENOTDIR || reason == EISDIR;
    const motet_status st = reason && !none ? fail_errno(c, reason, "%s", path) : MOTET_OK;
    mem_free(c, path);
    return st;
}

void rt_loop_tidy(motet_context *c, const char *folder, const char *name)
{
    motet_error error;
    if (rt_loop_forget(c, folder, name) == MOTET_OK) return;
    motet_context_error(c, &error);
    log_warning(c, "loop", "%s: the checkpoint stays: %s", name, error.message);
}
