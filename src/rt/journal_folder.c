/* The journal of a context: in files that the caller has open, or in a folder of its own. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/context.h"
#include "base/mem.h"
#include "rt/journal.h"
#include "rt/journal_inside.h"

enum { MOST_FILES = 32, MOST_TRIES = 100 };

void motet_journal_options_init(motet_journal_options *options)
{
    memset(options, 0, sizeof *options);
    options->size = sizeof *options;
    options->file = -1;
}

/* 1: the path leads to another file now, or to none: a process that was done has removed it. */
static int removed(const char *path, int file)
{
    struct stat named, opened;
    return lstat(path, &named) || fstat(file, &opened) || named.st_ino != opened.st_ino ||
           named.st_dev != opened.st_dev;
}

/* Answers an errno. Another process may remove file and folder at any moment, but not for ever. */
static int open_locked(const char *folder, const char *path, int *file)
{
    int reason = 0;
    for (int tries = 0; tries < MOST_TRIES; tries++) {
        if (mkdir(folder, 0777) && errno != EEXIST) return errno;
        do *file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0666);
        while (*file < 0 && errno == EINTR);
        reason = *file < 0 ? errno : 0;
        if (reason == ENOENT) continue;
        if (reason) return reason;
        reason = flock(*file, LOCK_EX | LOCK_NB) ? errno : 0;
        if (!reason && !removed(path, *file)) return 0;
        close(*file);
        *file = -1;
        if (reason) return reason;
        reason = EWOULDBLOCK;
    }
    return reason;
}

/* Only one process at a time writes to it: the lock goes with the descriptor. */
static motet_status open_folder(motet_context *c, const char *folder, int *file)
{
    char *path = mem_format(c, "%s/journal", folder);
    if (!path) return fail(c, MOTET_NO_MEMORY, "%s: no memory for a path", folder);
    const int reason = open_locked(folder, path, file);
    mem_free(c, path);
    if (!reason) return MOTET_OK;
    if (reason == EWOULDBLOCK)
        return fail(c, MOTET_BUSY, "%s/journal: another process writes to it", folder);
    return fail_errno(c, reason, "%s/journal", folder);
}

/* What it has, and half of what is free: outputs are to fit beside it. */
static int64_t most_of_folder(int file)
{
    struct statvfs s;
    struct stat has;
    if (fstatvfs(file, &s) || fstat(file, &has)) return INT64_MAX;
    const uint64_t blocks = s.f_bavail / 2, most = (uint64_t)(INT64_MAX - has.st_size);
    return s.f_frsize && blocks < most / s.f_frsize ? (int64_t)(blocks * s.f_frsize) + has.st_size
                                                    : INT64_MAX;
}

motet_status motet_context_journal(motet_context *c, const motet_journal_options *o)
{
    rt_journal_close(c->journal);
    c->journal = NULL;
    if (!o) return MOTET_OK;
    if (o->size != sizeof *o)
        return fail(c, MOTET_BAD_ARGUMENT, "size is %u, expected that of motet_journal_options",
                    o->size);
    if (o->file_count < 0 || o->file_count > MOST_FILES || (o->file_count && !o->files))
        return fail(c, MOTET_BAD_ARGUMENT, "file_count is %d, expected 0 to %d", o->file_count,
                    MOST_FILES);
    if (o->folder && o->file >= 0)
        return fail(c, MOTET_BAD_ARGUMENT, "folder is \"%s\" and file is %d, expected one of them",
                    o->folder, o->file);
    int files[MOST_FILES + 1], count = o->file_count, own = -1;
    for (int i = 0; i < count; i++) files[i] = o->files[i];
    int64_t most = o->most_bytes && o->most_bytes < INT64_MAX ? (int64_t)o->most_bytes : INT64_MAX;
    if (o->folder) {
        TRY(open_folder(c, o->folder, &own));
        if (!o->most_bytes) most = most_of_folder(own);
    }
    const int writes = own >= 0 || o->file >= 0;
    if (writes) files[count++] = own >= 0 ? own : o->file;
    const motet_status st = rt_journal_open(c, files, count, writes, most, &c->journal);
    if (st == MOTET_OK) {
        c->journal->folder_file = own;
    } else if (own >= 0) {
        close(own);
        fail_prefix(c, "%s/journal", o->folder);
    }
    return st;
}

void motet_context_journal_counts(const motet_context *c, motet_journal_counts *out)
{
    memset(out, 0, sizeof *out);
    if (c->journal) rt_journal_count(c->journal, out);
}
