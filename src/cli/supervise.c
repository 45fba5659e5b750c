/* The parent of a supervised run. It computes nothing, opens no device and never waits where a
 * child in the kernel's hands could keep it: it polls three descriptors, of signals, of the child's
 * messages and of its end. */
#include "supervise.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "device_list.h"
#include "run.h"
#include "suspects.h"
#include "sweep.h"
#include "watch.h"

enum { RETURNS = 6 };
static const double hour = 3600, patience = 30 /* for a child that was told to stop */;

typedef struct supervisor {
    const args *args;
    int signals; /* descriptor */
    sigset_t former;
    int files[CHILD_FILES], count; /* journals, the last child's last */
    uint64_t journal_bytes;
    int uses_files;           /* 0: the journal is a folder's */
    double returned[RETURNS]; /* when, the latest last */
    int64_t returns;
    suspects devices;
    sweep outputs;
    double stopping; /* when it was told to stop; 0: it was not */
} supervisor;

typedef struct child_process {
    pid_t pid;
    int end, socket; /* descriptors; end -1: the kernel has none */
    watch alive;
    int ended, status, over, code;
    char culprit[64], reason[1024]; /* reason "": it ended by itself */
} child_process;

/* Whether there is a driver of GPUs: a process of its own looks, so that nothing of it is in this
 * one. Of GPUs without a driver nothing can be used; a driver without GPUs costs a process. */
static int finds_driver(void)
{
    int status = 1;
    fflush(NULL);
    const pid_t pid = fork();
    if (!pid) _exit(dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL) ? 0 : 1);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int supervise_wanted(const args *a)
{
    if (child_is()) return 0;
    const flag *f;
    int i = 0;
    while ((f = command_flag(a->command, i)) && strcmp(f->name, "supervise") != 0) i++;
    if (!f) return 0;
    const char *word = args_text(a, "supervise"), *devices = args_text(a, "devices");
    if (word && strcmp(word, "auto") != 0) return !strcmp(word, "yes");
    if (!devices || device_list_auto(devices)) return finds_driver();
    return device_list_gpus(devices); /* a device that can break its process */
}

static int64_t nanoseconds(void) { return (int64_t)(run_now() * 1e9); }

__attribute__((format(printf, 2, 3))) static void tell(const supervisor *s, const char *format, ...)
{
    char text[1200];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    complain(s->args->command, 0, "%s", text);
}

/* Starting a child. */

static int journal_file(supervisor *s)
{
    if (s->count == CHILD_FILES) { /* the oldest is forgotten: that costs time */
        close(s->files[0]);
        memmove(s->files, s->files + 1, (size_t)--s->count * sizeof *s->files);
    }
    const int file = memfd_create("motet-journal", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file >= 0) s->files[s->count++] = file;
    return file >= 0;
}

static void describe(const supervisor *s, int socket, const char *out, char *text, size_t room)
{
    int used = snprintf(text, room, "%s=%ld:%d:%d:%llu:", CHILD_VARIABLE, (long)getpid(), socket,
                        s->returns > 0, (unsigned long long)s->journal_bytes);
    for (int i = 0; i < s->count && used < (int)room; i++)
        used += snprintf(text + used, room - (size_t)used, "%s%d", i ? "," : "", s->files[i]);
    if (used < (int)room) snprintf(text + used, room - (size_t)used, ":%s", out);
}

/* Between fork and exec: calls that are safe there only. */
static void become(const supervisor *s, int socket, char *variable)
{
    fcntl(socket, F_SETFD, 0);
    for (int i = 0; i < s->count; i++) fcntl(s->files[i], F_SETFD, 0);
    sigprocmask(SIG_SETMASK, &s->former, NULL);
    putenv(variable);
    execv("/proc/self/exe", s->args->argv);
    _exit(127);
}

static int start(supervisor *s, const char *out, child_process *c)
{
    int sockets[2];
    char variable[CHILD_NAMES + 512];
    memset(c, 0, sizeof *c);
    c->end = c->socket = -1;
    if (s->uses_files && !journal_file(s)) return errno;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets)) return errno;
    describe(s, sockets[1], out, variable, sizeof variable);
    fflush(NULL);
    c->pid = fork();
    if (!c->pid) become(s, sockets[1], variable);
    const int reason = c->pid < 0 ? errno : 0;
    close(sockets[1]);
    if (reason) {
        close(sockets[0]);
        return reason;
    }
    c->socket = sockets[0];
    c->end = (int)syscall(SYS_pidfd_open, c->pid, 0);
    if (c->end >= 0) fcntl(c->end, F_SETFD, FD_CLOEXEC);
    watch_begin(&c->alive, c->pid);
    return 0;
}

/* Looking after it. */

static void hear(supervisor *s, child_process *c)
{
    char text[CHILD_MESSAGE];
    for (;;) {
        const ssize_t n = recv(c->socket, text, sizeof text - 1, MSG_DONTWAIT);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return;
        text[n] = 0;
        watch_beat(&c->alive);
        unsigned long long device, inode;
        char used[64], uuid[64];
        if (!strncmp(text, "m ", 2)) sweep_mark(&s->outputs, text + 2);
        if (!strncmp(text, "o ", 2)) sweep_output(&s->outputs, text + 2);
        if (sscanf(text, "i %llu %llu", &device, &inode) == 2)
            sweep_file(&s->outputs, device, inode);
        if (sscanf(text, "n %63s %63s", used, uuid) == 2)
            suspects_name(&s->devices, used, strcmp(uuid, "-") ? uuid : "");
        if (sscanf(text, "d %d", &c->code) == 1) c->over = 1;
        if (!strncmp(text, "l ", 2)) {
            const size_t name = strcspn(text + 2, " ");
            const int known = strncmp(text + 2, "- ", 2) != 0;
            snprintf(c->culprit, sizeof c->culprit, "%.*s", known ? (int)name : 0, text + 2);
            snprintf(c->reason, sizeof c->reason, "%s", text + 2 + name + (text[2 + name] == ' '));
        }
    }
}

static void pass_signals_on(supervisor *s, const child_process *c)
{
    struct signalfd_siginfo info;
    while (read(s->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        if (s->stopping <= 0) s->stopping = run_now();
        if (c && !c->ended) kill(c->pid, (int)info.ssi_signo);
    }
}

static void look_for_end(child_process *c)
{
    int status;
    const pid_t got = waitpid(c->pid, &status, WNOHANG);
    if (got != c->pid && !(got < 0 && errno == ECHILD)) return;
    c->ended = 1;
    c->status = got == c->pid ? status : 0;
}

/* Waits for its end for so long, and hears what it says. */
static void poll_child(supervisor *s, child_process *c, double most)
{
    const double until = run_now() + most;
    do {
        struct pollfd on[3] = {
            {s->signals, POLLIN, 0}, {c->socket, POLLIN, 0}, {c->end, POLLIN, 0}};
        const double left = until - run_now();
        const double longest = c->end >= 0 ? 0.5 : 0.02;
        const double nap = left < longest ? left : longest;
        poll(on, c->end >= 0 ? 3 : 2, nap > 0 ? (int)(nap * 1e3) + 1 : 0);
        pass_signals_on(s, c);
        look_for_end(c);
        hear(s, c);
        if (on[1].revents & POLLHUP && !c->ended) usleep(2000); /* it says no more, and ends */
    } while (!c->ended && run_now() < until);
}

static void kill_it(supervisor *s, child_process *c)
{
    kill(c->pid, SIGKILL);
    poll_child(s, c, 5);
}

static void end(child_process *c)
{
    if (c->socket >= 0) close(c->socket);
    if (c->end >= 0) close(c->end);
    c->socket = c->end = -1;
}

/* Until it has ended, or must be given up. */
static void attend(supervisor *s, child_process *c)
{
    while (!c->ended) {
        poll_child(s, c, 0.5);
        if (c->ended) break;
        if (s->stopping > 0 && run_now() - s->stopping > patience) {
            kill_it(s, c);
            break;
        }
        const double silent = watch_silent(&c->alive);
        if (silent > 0) {
            kill_it(s, c);
            if (!*c->reason)
                snprintf(c->reason, sizeof c->reason, "it was silent for %.3g seconds", silent);
            break;
        }
    }
    if (!c->ended && !*c->reason)
        snprintf(c->reason, sizeof c->reason, "it did not end when it was killed");
    if (*c->reason || (c->ended && WIFEXITED(c->status)) || c->over) return;
    if (WIFSIGNALED(c->status))
        snprintf(c->reason, sizeof c->reason, "it was ended by signal %d (%s)", WTERMSIG(c->status),
                 strsignal(WTERMSIG(c->status)));
}

/* 0 when there were too many returns within the hour. */
static int may_return(supervisor *s)
{
    const double now = run_now();
    if (s->returns >= RETURNS && now - s->returned[s->returns % RETURNS] < hour) return 0;
    s->returned[s->returns++ % RETURNS] = now;
    return 1;
}

static void after(supervisor *s, child_process *c)
{
    const int killed = WIFSIGNALED(c->status) && WTERMSIG(c->status) == SIGKILL;
    const int silent = !strncmp(c->reason, "it was silent", 13);
    const int fault = *c->culprit || silent || !killed; /* kill -9 is nobody's */
    suspects_after(&s->devices, fault ? c->culprit : NULL, nanoseconds());
    if (s->count)
        fcntl(s->files[s->count - 1], F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK);
    sweep_after(&s->outputs, args_given(s->args, "overwrite"));
}

/* Sleeps until a device may be tried again; 0: told to stop. */
static int rest(supervisor *s, int64_t time)
{
    const double until = run_now() + (double)time * 1e-9;
    tell(s, "no device is left, trying again in %.0f seconds", (double)time * 1e-9);
    while (run_now() < until && s->stopping <= 0) {
        struct pollfd on = {s->signals, POLLIN, 0};
        poll(&on, 1, 200);
        pass_signals_on(s, NULL);
    }
    return s->stopping <= 0;
}

static int generations(supervisor *s)
{
    for (;;) {
        char out[CHILD_NAMES];
        child_process c;
        const int64_t wait = suspects_choose(&s->devices, out, nanoseconds());
        if (wait && !rest(s, wait)) return cancelled(s->args);
        if (wait) continue;
        const int reason = start(s, out, &c);
        if (reason)
            return complain(s->args->command, EXIT_DEVICE, "starting a process: %s",
                            strerror(reason));
        attend(s, &c);
        end(&c);
        if (c.over) return c.code;
        if (!*c.reason) {
            const int code = WEXITSTATUS(c.status);
            sweep_after(&s->outputs, 1);
            return code == 127 ? complain(s->args->command, EXIT_DEVICE, "cannot execute itself")
                               : code;
        }
        after(s, &c);
        if (s->stopping > 0) return cancelled(s->args);
        if (!may_return(s))
            return complain(s->args->command, EXIT_DEVICE,
                            "gave up after %d fresh processes within an hour; of the last: %s",
                            RETURNS, c.reason);
        tell(s, "warning: the process at work is gone: %s; a fresh one goes on", c.reason);
    }
}

int supervise(const args *a)
{
    supervisor *s = calloc(1, sizeof *s);
    if (!s) return complain(a->command, EXIT_DEVICE, "out of memory");
    sigset_t stops;
    struct sigaction former;
    s->args = a;
    s->uses_files = !args_given(a, "resume");
    s->journal_bytes = watch_memory_available() / 4;
    suspects_list(&s->devices, args_text(a, "devices"));
    sigemptyset(&stops);
    sigaddset(&stops, SIGINT);
    sigaddset(&stops, SIGTERM);
    if (sigaction(SIGHUP, NULL, &former) || former.sa_handler != SIG_IGN) sigaddset(&stops, SIGHUP);
    signal(SIGCHLD, SIG_DFL); /* else the ends of children go unheard */
    signal(SIGPIPE, SIG_IGN);
    sigprocmask(SIG_BLOCK, &stops, &s->former);
    s->signals = signalfd(-1, &stops, SFD_CLOEXEC | SFD_NONBLOCK);
    const int code = s->signals >= 0 ? generations(s)
                                     : complain(a->command, EXIT_DEVICE,
                                                "listening for signals: %s", strerror(errno));
    for (int i = 0; i < s->count; i++) close(s->files[i]);
    if (s->signals >= 0) close(s->signals);
    sweep_free(&s->outputs);
    free(s);
    return code;
}
