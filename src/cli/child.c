/* What a supervised child says to its parent: short messages, each in a packet of its own.
 *
 *     b            a sign of life           o PATH       an output
 *     l NAME TEXT  a device ended the run   i DEV INODE  of a file about to take an output's place
 *     d CODE       the command is over      m MARK       of the names of its temporary files
 *     n NAME UUID  a device that it uses
 *
 * All that a child knows of the supervision comes through one variable of the environment:
 * "PARENT:SOCKET:RETURNS:BYTES:FILE,FILE,...:NAME,..." with how many there were before it, the
 * descriptors of the journals, the last of which is its own, of so many bytes, and the names of
 * devices to leave out. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "child.h"
#include "supervise.h"

static struct {
    int is, socket, returns, lost;
    pid_t parent;
    uint64_t bytes;
    char out[CHILD_NAMES];
    int files[CHILD_FILES], count;
    char mark[20];
    double beat;
} child = {.socket = -1};

int child_is(void) { return child.is; }
int child_is_fresh(void) { return child.is && child.returns > 0; }

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void say(const char *text, int waits)
{
    if (!child.is) return;
    const int flags = MSG_NOSIGNAL | (waits ? 0 : MSG_DONTWAIT);
    while (send(child.socket, text, strlen(text), flags) < 0 && errno == EINTR) {
    }
}

static int read_variable(const char *text)
{
    long parent;
    int socket, returns, at = 0;
    unsigned long long bytes;
    if (sscanf(text, "%ld:%d:%d:%llu:%n", &parent, &socket, &returns, &bytes, &at) < 4 || !at)
        return 0;
    for (text += at; child.count < CHILD_FILES; text++) {
        char *end;
        const long file = strtol(text, &end, 10);
        if (end == text) break;
        child.files[child.count++] = (int)file;
        text = end;
        if (*text != ',') break;
    }
    if (*text != ':') return 0;
    snprintf(child.out, sizeof child.out, "%s", text + 1);
    child.parent = (pid_t)parent;
    child.socket = socket;
    child.returns = returns;
    child.bytes = bytes;
    return 1;
}

int child_begin(void)
{
    const char *text = getenv(CHILD_VARIABLE);
    if (!text) return 1;
    const int good = read_variable(text);
    unsetenv(CHILD_VARIABLE);
    if (!good) return 1;
    /* It ends with its parent, which may have ended before it could ask for that. */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != child.parent) return 0;
    fcntl(child.socket, F_SETFD, FD_CLOEXEC);
    for (int i = 0; i < child.count; i++) fcntl(child.files[i], F_SETFD, FD_CLOEXEC);
    child.is = 1;
    setvbuf(stdout, NULL, _IOFBF, 1 << 16); /* said at the end alone: a fresh one says it again */
    return 1;
}

motet_status child_journal(motet_context *context)
{
    if (!child.is || !child.count) return MOTET_OK;
    motet_journal_options o;
    motet_journal_options_init(&o);
    o.files = child.files;
    o.file_count = child.count - 1;
    o.file = child.files[child.count - 1];
    o.most_bytes = child.bytes;
    return motet_context_journal(context, &o);
}

void child_orphaned(void)
{
    if (child.is && getppid() != child.parent) alarm(15); /* a device that hangs takes 10 */
}

const char *child_devices(const char *names, char *out, size_t room)
{
    if (!child.is || !*child.out) return names;
    size_t used = (size_t)snprintf(out, room, "%s", names);
    for (const char *at = child.out; *at && used < room; at += *at == ',') {
        const size_t n = strcspn(at, ",");
        used += (size_t)snprintf(out + used, room - used, ",-%.*s", (int)n, at);
        at += n;
    }
    return used < room ? out : names;
}

void child_uses(const char *device, const char *uuid)
{
    char text[160];
    snprintf(text, sizeof text, "n %.60s %.60s", device, *uuid ? uuid : "-");
    say(text, 1);
}

void child_beat(void)
{
    if (!child.is) return;
    const double now = seconds();
    if (now - child.beat < 0.2) return;
    child.beat = now;
    say("b", 0);
}

void child_marked(const char *mark)
{
    char text[32];
    snprintf(child.mark, sizeof child.mark, "%s", mark);
    snprintf(text, sizeof text, "m %.16s", mark);
    say(text, 1);
}

void child_output(const char *path)
{
    char text[CHILD_MESSAGE];
    if (!path || snprintf(text, sizeof text, "o %s", path) >= (int)sizeof text) return;
    say(text, 1);
}

void child_placing(const char *path)
{
    char folder[CHILD_MESSAGE], name[32];
    if (!child.is || !path) return;
    child_folder(path, folder);
    child_name(child.mark, name);
    DIR *d = opendir(folder);
    if (!d) return;
    for (struct dirent *e; (e = readdir(d));) {
        struct stat s;
        if (e->d_name[0] != '.' || !strstr(e->d_name, name)) continue;
        if (fstatat(dirfd(d), e->d_name, &s, AT_SYMLINK_NOFOLLOW)) continue;
        char text[80];
        snprintf(text, sizeof text, "i %llu %llu", (unsigned long long)s.st_dev,
                 (unsigned long long)s.st_ino);
        say(text, 1);
    }
    closedir(d);
}

void child_over(int code)
{
    char text[16];
    if (child.lost) return; /* a fresh one goes on */
    snprintf(text, sizeof text, "d %d", code);
    say(text, 1);
}

int child_lost(const char *device, const char *reason)
{
    if (!child.is) return 0;
    char text[CHILD_MESSAGE];
    snprintf(text, sizeof text, "l %.60s %.600s", device, reason);
    say(text, 1);
    return child.lost = 1;
}

void child_folder(const char *path, char folder[CHILD_MESSAGE])
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') n--; /* of a folder's own name */
    while (n && path[n - 1] != '/') n--;
    if (n >= CHILD_MESSAGE) n = 0;
    memcpy(folder, path, n);
    strcpy(folder + n, n ? "" : ".");
}

void child_name(const char *mark, char name[32]) { snprintf(name, 32, "motet-%.16s-", mark); }
