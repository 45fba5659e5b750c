#include "outfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

/* Length of the folder part of a path, its last '/' included. A '/' at the end belongs to the name.
 */
static int folder_length(const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') n--;
    while (n && path[n - 1] != '/') n--;
    return (int)n;
}

static char mark[17] = "0";

void outfile_mark(const char *text) { snprintf(mark, sizeof mark, "%s", text); }

static char *beside_of(const char *path)
{
    char *name = NULL;
    const int folder = folder_length(path);
    const int length = (int)strcspn(path + folder, "/");
    if (asprintf(&name, "%.*s.%.*s.motet-%s-XXXXXX", folder, path, length, path + folder, mark) < 0)
        return NULL;
    return name;
}

int outfile_begin(outfile *f, const char *path, int overwrite)
{
    *f = (outfile){path, NULL, -1, overwrite, 0};
    struct stat status;
    if (!strcmp(path, "-")) {
        f->descriptor = STDOUT_FILENO;
        f->begun = 1;
        return 0;
    }
    const int exists = !stat(path, &status);
    if (exists && S_ISDIR(status.st_mode)) return EISDIR;
    if (exists && !S_ISREG(status.st_mode)) {
        f->descriptor = open(path, O_WRONLY | O_CLOEXEC);
        if (f->descriptor < 0) return errno;
        f->begun = 1;
        return 0;
    }
    if (exists && !overwrite) return EEXIST;
    f->beside = beside_of(path);
    if (!f->beside) return ENOMEM;
    f->descriptor = mkostemp(f->beside, O_CLOEXEC);
    if (f->descriptor < 0) {
        const int reason = errno;
        free(f->beside);
        f->beside = NULL;
        return reason;
    }
    const mode_t mask = umask(0);
    umask(mask);
    fchmod(f->descriptor, 0666 & ~mask);
    f->begun = 1;
    return 0;
}

int write_whole(int descriptor, const void *data, size_t bytes)
{
    const char *at = data;
    while (bytes) {
        const ssize_t n = write(descriptor, at, bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        if (n == 0) return EIO;
        at += n;
        bytes -= (size_t)n;
    }
    return 0;
}

/* link refuses a name that exists, which rename would replace; some file systems have no links. */
static int take_place(outfile *f)
{
    if (!f->overwrite) {
        if (!link(f->beside, f->path)) return 0;
        if (errno != EPERM && errno != EOPNOTSUPP) return errno;
    }
    if (rename(f->beside, f->path)) return errno;
    *f->beside = 0;
    return 0;
}

int outfile_commit(outfile *f, const char *text, size_t bytes)
{
    int reason = write_whole(f->descriptor, text, bytes);
    if (f->beside) {
        if (!reason && fsync(f->descriptor)) reason = errno;
        if (!reason) reason = take_place(f);
    }
    outfile_drop(f);
    return reason;
}

void outfile_drop(outfile *f)
{
    if (!f->begun) return;
    if (f->descriptor != STDOUT_FILENO) close(f->descriptor);
    if (f->beside && *f->beside) unlink(f->beside);
    free(f->beside);
    *f = (outfile){.descriptor = -1};
}

static void digest_text(XXH128_hash_t hash, char out[33])
{
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, hash);
    for (int i = 0; i < 16; i++) snprintf(out + 2 * i, 3, "%02x", canonical.digest[i]);
}

static int digest_stream(int descriptor, char *block, size_t block_bytes, XXH3_state_t *state,
                         int64_t *bytes)
{
    XXH3_128bits_reset(state);
    for (;;) {
        const ssize_t n = read(descriptor, block, block_bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        if (n == 0) return 0;
        XXH3_128bits_update(state, block, (size_t)n);
        *bytes += n;
    }
}

static int digest_regular(const char *path, char digest[33], int64_t *bytes)
{
    enum { BLOCK = 1 << 20 };
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return errno;
    char *block = malloc(BLOCK);
    XXH3_state_t *state = XXH3_createState();
    int reason = block && state ? digest_stream(descriptor, block, BLOCK, state, bytes) : ENOMEM;
    if (!reason) digest_text(XXH3_128bits_digest(state), digest);
    XXH3_freeState(state);
    free(block);
    close(descriptor);
    return reason;
}

static int digest_folder(const char *path, char digest[33], int64_t *bytes)
{
    struct dirent **entries;
    const int n = scandir(path, &entries, NULL, alphasort);
    if (n < 0) return errno;
    XXH3_state_t *state = XXH3_createState();
    int reason = state ? 0 : ENOMEM;
    if (state) XXH3_128bits_reset(state);
    for (int i = 0; i < n; i++) {
        char below[4096], one[33];
        struct stat status;
        const int length = snprintf(below, sizeof below, "%s/%s", path, entries[i]->d_name);
        if (!reason && length < (int)sizeof below && !stat(below, &status) &&
            S_ISREG(status.st_mode)) {
            reason = digest_regular(below, one, bytes);
            if (!reason) XXH3_128bits_update(state, one, 32);
        }
        free(entries[i]);
    }
    free(entries);
    if (!reason) digest_text(XXH3_128bits_digest(state), digest);
    XXH3_freeState(state);
    return reason;
}

int file_digest(const char *path, char digest[33], int64_t *bytes)
{
    struct stat status;
    *bytes = 0;
    if (stat(path, &status)) return errno;
    if (S_ISDIR(status.st_mode)) return digest_folder(path, digest, bytes);
    if (!S_ISREG(status.st_mode)) return EINVAL;
    return digest_regular(path, digest, bytes);
}

int spool_open(const char *path)
{
    char *folder = NULL;
    const int length = folder_length(path);
    if (asprintf(&folder, "%.*s", length, length ? path : "") < 0) return -1;
    int descriptor = open(length ? folder : ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    free(folder);
    if (descriptor >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT))
        return descriptor;
    char *name = beside_of(path); /* file systems without O_TMPFILE */
    if (!name) return -1;
    descriptor = mkostemp(name, O_CLOEXEC);
    if (descriptor >= 0) unlink(name);
    free(name);
    return descriptor;
}
