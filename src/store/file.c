#include "store/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "store/convert.h"

/* One call moves at most this much: Linux stops at 2 GiB anyway. */
enum { MOST_BYTES = 1 << 30, MOST_NAMES = 64 };

size_t file_folder_bytes(const char *path)
{
    size_t bytes = strlen(path);
    while (bytes && path[bytes - 1] == '/') bytes--; /* of a folder's own name */
    while (bytes && path[bytes - 1] != '/') bytes--;
    return bytes;
}

motet_status file_open(motet_context *c, const char *path, store_file *out)
{
    store_file file = {.context = c};
    struct stat status;
    do file.descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    while (file.descriptor < 0 && errno == EINTR);
    if (file.descriptor < 0) return fail_errno(c, errno, "%s", path);
    file.is_open = 1;

    motet_status st;
    if (fstat(file.descriptor, &status)) TRY_GOTO(fail_errno(c, errno, "%s", path));
    if (!S_ISREG(status.st_mode))
        TRY_GOTO(fail(c, MOTET_UNSUPPORTED, "%s: expected a regular file", path));
    file.size = status.st_size;
    file.path = mem_text(c, path);
    if (!file.path) TRY_GOTO(fail(c, MOTET_NO_MEMORY, "%s: no memory to open it", path));
    *out = file;
    return MOTET_OK;
out:
    file_close(&file);
    return st;
}

motet_status file_check_target(motet_context *c, const char *path, int folder, int overwrite)
{
    struct stat status;
    if (lstat(path, &status)) return errno == ENOENT ? MOTET_OK : fail_errno(c, errno, "%s", path);
    if (!overwrite) return fail(c, MOTET_EXISTS, "%s: exists already", path);
    if (S_ISLNK(status.st_mode) && stat(path, &status))
        return fail(c, MOTET_EXISTS, "%s: is a symbolic link that leads nowhere", path);
    if (folder ? !S_ISDIR(status.st_mode) : !S_ISREG(status.st_mode))
        return fail(c, MOTET_EXISTS, "%s: is not a %s and will not be overwritten", path,
                    folder ? "folder" : "regular file");
    return MOTET_OK;
}

motet_status file_temporary(motet_context *c, const char *path, const char *ending, char **out)
{
    const int folder = (int)file_folder_bytes(path);
    for (int attempt = 0; attempt < MOST_NAMES; attempt++) {
        uint64_t random;
        if (getrandom(&random, sizeof random, GRND_NONBLOCK) != (ssize_t)sizeof random)
            random = (uint64_t)getpid() << 32 | (uint64_t)attempt;
        char *name = mem_format(c, "%.*s.motet-%s-%016llx%s", folder, path, motet_context_mark(c),
                                (unsigned long long)random, ending);
        if (!name) return fail(c, MOTET_NO_MEMORY, "%s: no memory for a name", path);
        struct stat status;
        if (lstat(name, &status) && errno == ENOENT) {
            *out = name;
            return MOTET_OK;
        }
        const int reason = errno;
        mem_free(c, name);
        if (reason != ENOENT && reason != 0 && reason != EEXIST)
            return fail_errno(c, reason, "%s", path);
    }
    return fail(c, MOTET_IO, "%s: no free name beside it after %d attempts", path, MOST_NAMES);
}

motet_status file_begin(motet_context *c, const char *path, int overwrite, store_file *out)
{
    TRY(file_check_target(c, path, 0, overwrite));
    store_file file = {.context = c, .overwrite = overwrite};
    motet_status st;
    file.path = mem_text(c, path);
    if (!file.path) return fail(c, MOTET_NO_MEMORY, "%s: no memory to begin it", path);
    for (int attempt = 0; !file.is_open && attempt < MOST_NAMES; attempt++) {
        char *temporary;
        TRY_GOTO(file_temporary(c, path, ".part", &temporary));
        do file.descriptor = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        while (file.descriptor < 0 && errno == EINTR);
        const int reason = file.descriptor < 0 ? errno : 0;
        if (!reason) {
            file.is_open = 1;
            file.temporary = temporary;
            break;
        }
        mem_free(c, temporary);
        if (reason != EEXIST) TRY_GOTO(fail_errno(c, reason, "%s", path));
    }
    if (!file.is_open) TRY_GOTO(fail(c, MOTET_IO, "%s: no free name beside it", path));
    struct stat status;
    if (overwrite && !stat(path, &status)) /* what replaces a file keeps its permissions */
        (void)!fchmod(file.descriptor, status.st_mode & 0777);
    *out = file;
    return MOTET_OK;
out:
    file_close(&file);
    return st;
}

motet_status file_scratch(motet_context *c, const char *folder, store_file *out)
{
    const size_t length = strlen(folder);
    char *path =
        mem_format(c, "%s%sscratch", folder, length && folder[length - 1] != '/' ? "/" : "");
    if (!path) return fail(c, MOTET_NO_MEMORY, "%s: no memory for a scratch file", folder);
    const motet_status st = file_begin(c, path, 1, out);
    mem_free(c, path);
    if (st != MOTET_OK) return st;
    unlink(out->temporary);
    mem_free(c, out->temporary);
    out->temporary = NULL;
    return MOTET_OK;
}

motet_status file_extend(store_file *file, int64_t bytes)
{
    int answer;
    do answer = ftruncate(file->descriptor, (off_t)bytes);
    while (answer && errno == EINTR);
    if (answer)
        return fail_errno(file->context, errno, "%s: making it %lld bytes long", file->path,
                          (long long)bytes);
    file->size = bytes;
    return MOTET_OK;
}

motet_status file_read(store_file *file, int64_t offset, size_t bytes, void *out)
{
    char *p = out;
    for (size_t done = 0; done < bytes;) {
        const size_t part = bytes - done < MOST_BYTES ? bytes - done : MOST_BYTES;
        const ssize_t got = pread(file->descriptor, p + done, part, offset + (int64_t)done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return fail_errno(file->context, errno, "%s: reading %zu bytes at %lld", file->path,
                              bytes, (long long)offset);
        if (got == 0)
            return fail(file->context, MOTET_BAD_DATA,
                        "%s: cut short: expected %zu bytes at %lld, the file ends after %lld",
                        file->path, bytes, (long long)offset, (long long)offset + (long long)done);
        done += (size_t)got;
    }
    return MOTET_OK;
}

motet_status file_source(void *file, int64_t offset, size_t bytes, void *out)
{
    return file_read(file, offset, bytes, out);
}

motet_status file_write(store_file *file, int64_t offset, size_t bytes, const void *data)
{
    const char *p = data;
    for (size_t done = 0; done < bytes;) {
        const size_t part = bytes - done < MOST_BYTES ? bytes - done : MOST_BYTES;
        const ssize_t put = pwrite(file->descriptor, p + done, part, offset + (int64_t)done);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0)
            return fail_errno(file->context, put ? errno : ENOSPC, "%s: writing %zu bytes at %lld",
                              file->path, bytes, (long long)offset);
        done += (size_t)put;
    }
    if (offset + (int64_t)bytes > file->size) file->size = offset + (int64_t)bytes;
    return MOTET_OK;
}

motet_status file_write_little(store_file *file, int64_t offset, int64_t count, size_t element,
                               const void *data)
{
    if (STORE_HOST_IS_LITTLE || element == 1)
        return file_write(file, offset, (size_t)count * element, data);
    enum { BLOCK = 4096 };
    char buffer[BLOCK];
    const int64_t step = BLOCK / (int64_t)element;
    for (int64_t i = 0; i < count; i += step) {
        const int64_t part = count - i < step ? count - i : step;
        const size_t bytes = (size_t)part * element;
        memcpy(buffer, (const char *)data + (size_t)i * element, bytes);
        convert_swap(buffer, part, element);
        TRY(file_write(file, offset + i * (int64_t)element, bytes, buffer));
    }
    return MOTET_OK;
}

/* Some file systems cannot sync; that is not a failure of the data. */
static int sync_descriptor(int descriptor)
{
    int answer;
    do answer = fsync(descriptor);
    while (answer && errno == EINTR);
    return answer && errno != EINVAL && errno != ENOSYS ? errno : 0;
}

motet_status file_sync_path(motet_context *c, const char *path)
{
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return fail_errno(c, errno, "%s: opening it to sync", path);
    const int reason = sync_descriptor(descriptor);
    close(descriptor);
    return reason ? fail_errno(c, reason, "%s: syncing", path) : MOTET_OK;
}

/* Renames unless something is at `path`: the kernel's own way, or a claim of the path that only
 * one can win, then a rename over the claim. errno, or 0. */
static int rename_exclusive(const char *from, const char *path)
{
    if (!renameat2(AT_FDCWD, from, AT_FDCWD, path, RENAME_NOREPLACE)) return 0;
    if (errno != EINVAL && errno != ENOSYS) return errno;
    struct stat status;
    if (lstat(from, &status)) return errno;
    if (S_ISDIR(status.st_mode)) {
        if (mkdir(path, 0777)) return errno;
    } else {
        if (!link(from, path)) return unlink(from) ? errno : 0;
        if (errno == EEXIST) return errno;
        const int claim = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (claim < 0) return errno;
        close(claim);
    }
    if (!rename(from, path)) return 0;
    const int reason = errno;
    remove(path);
    return reason;
}

/* The folder that `path` lies in, to be synced; -1 in *descriptor where it may be written but not
 * read: its sync is then left out. */
static motet_status open_folder(motet_context *c, const char *path, int *descriptor)
{
    const size_t bytes = file_folder_bytes(path);
    char *folder = bytes ? mem_format(c, "%.*s", (int)bytes, path) : mem_text(c, ".");
    if (!folder) return fail(c, MOTET_NO_MEMORY, "%s: no memory to commit it", path);
    *descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    mem_free(c, folder);
    return MOTET_OK;
}

/* Syncs and closes. errno, or 0. */
static int sync_folder(int descriptor)
{
    if (descriptor < 0) return 0;
    const int reason = sync_descriptor(descriptor);
    close(descriptor);
    return reason;
}

motet_status file_exchange(motet_context *c, const char *temporary, const char *path)
{
    int descriptor;
    TRY(open_folder(c, path, &descriptor));
    if (renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_EXCHANGE)) {
        const int reason = errno;
        if (descriptor >= 0) close(descriptor);
        return fail_errno(c, reason, "%s: changing places with the new folder", path);
    }
    const int reason = sync_folder(descriptor);
    if (!reason) return MOTET_OK;
    (void)!renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_EXCHANGE); /* and back */
    return fail_errno(c, reason, "%s: syncing its folder", path);
}

motet_status file_rename(motet_context *c, const char *temporary, const char *path, int overwrite)
{
    /* Everything that may fail without having done anything comes before the rename. */
    int descriptor;
    TRY(open_folder(c, path, &descriptor));
    struct stat status;
    int reason = 0;
    if (overwrite && !lstat(temporary, &status) && !S_ISDIR(status.st_mode))
        reason = rename(temporary, path) ? errno : 0;
    else
        reason = rename_exclusive(temporary, path);
    motet_status st = MOTET_OK;
    if (reason == EEXIST)
        st = fail(c, MOTET_EXISTS, "%s: exists already; it appeared during the work", path);
    else if (reason)
        st = fail_errno(c, reason, "%s: renaming into place", path);
    if (!reason && (reason = sync_folder(descriptor))) {
        st = fail_errno(c, reason, "%s: syncing its folder", path);
        if (!overwrite) (void)!rename(path, temporary); /* back: as if it never was */
    } else if (reason && descriptor >= 0) {
        close(descriptor);
    }
    return st;
}

motet_status file_sync(store_file *file)
{
    const int reason = sync_descriptor(file->descriptor);
    return reason ? fail_errno(file->context, reason, "%s: syncing", file->path) : MOTET_OK;
}

motet_status file_place(store_file *file)
{
    TRY(file_rename(file->context, file->temporary, file->path, file->overwrite));
    mem_free(file->context, file->temporary);
    file->temporary = NULL;
    return MOTET_OK;
}

void file_withdraw(store_file *file) { unlink(file->path); }

void file_close(store_file *file)
{
    if (file->is_open) close(file->descriptor);
    if (file->temporary) unlink(file->temporary);
    mem_free(file->context, file->temporary);
    mem_free(file->context, file->path);
    *file = (store_file){0};
}
