/* A job: a thread, a scope (base/scope.h) and a letter box for the progress that it tells, which
 * the thread that waits reads. All that makes it end is in what its calls do already: they look at
 * their scope every few milliseconds. */
#include "rt/job.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/context.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/threads.h"

static const long look = 1000000; /* nanoseconds between two looks at jobs that are to end */

struct motet_job {
    motet_context *context;
    motet_job *next; /* of the context */
    motet_job_fn *function;
    void *user;
    motet_progress_fn *progress;
    void *progress_user;
    pthread_t thread;
    scope scope;

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed;
    int done, told; /* 1: `last` was not passed on yet */
    motet_status status;
    motet_error error;
    motet_progress last;
    char phase[64]; /* its text */
};

void motet_job_options_init(motet_job_options *options)
{
    memset(options, 0, sizeof *options);
    options->size = sizeof *options;
}

/* On the job's thread. */
static motet_go tell(const motet_progress *progress, void *user)
{
    motet_job *job = user;
    pthread_mutex_lock(&job->lock);
    job->last = *progress;
    snprintf(job->phase, sizeof job->phase, "%s", progress->phase);
    job->last.phase = job->phase;
    job->told = 1;
    pthread_cond_broadcast(&job->changed);
    pthread_mutex_unlock(&job->lock);
    return MOTET_GO_ON;
}

/* The scope's record, if it is about this failure; the function may have answered a status of its
 * own. */
static motet_error reason(const scope *of, motet_status status)
{
    motet_error e = {.status = status, .device = -1, .chunk = -1};
    if (status != MOTET_OK && of->error.status == status) return of->error;
    if (status != MOTET_OK) snprintf(e.message, sizeof e.message, "%s", motet_status_text(status));
    return e;
}

static void *job_main(void *user)
{
    motet_job *job = user;
    motet_context *c = job->context;
    const thread_float_state former = thread_float_enter();
    scope_enter(c, &job->scope);
    const motet_status st = atomic_load(&job->scope.cancelled)
                                ? fail(c, MOTET_CANCELLED, "the job was cancelled before it began")
                                : job->function(c, job->user);
    scope_leave(c, &job->scope);
    thread_float_leave(former);
    pthread_mutex_lock(&job->lock);
    job->error = reason(&job->scope, st);
    job->status = st == MOTET_BUSY ? MOTET_DECLINED : st; /* BUSY would say that it still runs */
    job->error.status = job->status;
    job->done = 1;
    pthread_cond_broadcast(&job->changed);
    pthread_mutex_unlock(&job->lock);
    return NULL;
}

static void list(motet_job *job)
{
    motet_context *c = job->context;
    pthread_mutex_lock(&c->lock);
    if (c->jobs_end) motet_job_cancel(job);
    job->next = c->jobs;
    c->jobs = job;
    pthread_mutex_unlock(&c->lock);
}

static void unlist(motet_job *job)
{
    motet_context *c = job->context;
    pthread_mutex_lock(&c->lock);
    motet_job **at = &c->jobs;
    while (*at != job) at = &(*at)->next;
    *at = job->next;
    pthread_mutex_unlock(&c->lock);
}

static int make_locks(motet_job *job)
{
    pthread_condattr_t how;
    int error = pthread_condattr_init(&how);
    if (error) return error;
    pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
    error = pthread_cond_init(&job->changed, &how);
    pthread_condattr_destroy(&how);
    if (error) return error;
    error = pthread_mutex_init(&job->lock, NULL);
    if (error) pthread_cond_destroy(&job->changed);
    return error;
}

static void release(motet_job *job)
{
    pthread_mutex_destroy(&job->lock);
    pthread_cond_destroy(&job->changed);
    mem_free(job->context, job);
}

static int64_t deadline_of(const motet_context *c, double seconds)
{
    const int64_t now = clock_now(c);
    if (!(seconds > 0) || seconds > 1e-9 * (double)(INT64_MAX - now) - 1) return INT64_MAX;
    return now + (int64_t)(seconds * 1e9);
}

motet_status motet_job_submit(motet_context *c, motet_job_fn *function, void *user,
                              const motet_job_options *given, motet_job **out)
{
    motet_job_options options;
    motet_job_options_init(&options);
    if (given) {
        if (given->size != sizeof options)
            return fail(c, MOTET_BAD_ARGUMENT, "options: size is %u, expected %zu", given->size,
                        sizeof options);
        options = *given;
    }
    if (!(options.deadline >= 0))
        return fail(c, MOTET_BAD_ARGUMENT, "deadline is %g seconds, expected at least 0",
                    options.deadline);
    motet_job *job = mem_new(c, motet_job);
    if (!job) return fail(c, MOTET_NO_MEMORY, "no memory for a job");
    job->context = c;
    job->function = function;
    job->user = user;
    job->progress = options.progress;
    job->progress_user = options.progress_user;
    job->scope.deadline = deadline_of(c, options.deadline);
    if (options.progress) {
        job->scope.progress = tell;
        job->scope.progress_user = job;
    }
    int error = make_locks(job);
    if (error) {
        mem_free(c, job);
        return fail_native(c, MOTET_NO_MEMORY, error, "the system gives no lock for a job");
    }
    list(job);
    sigset_t all, former; /* threads inherit the mask: the caller's signals stay the caller's */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &former);
    error = pthread_create(&job->thread, NULL, job_main, job);
    pthread_sigmask(SIG_SETMASK, &former, NULL);
    if (error) {
        unlist(job);
        release(job);
        return fail_native(c, MOTET_NO_MEMORY, error, "the system gives no thread for a job");
    }
    *out = job;
    return MOTET_OK;
}

motet_status motet_job_poll(motet_job *job)
{
    pthread_mutex_lock(&job->lock);
    const motet_status st = job->done ? job->status : MOTET_BUSY;
    pthread_mutex_unlock(&job->lock);
    return st;
}

/* With the lock held, which is free while the callback runs. */
static void pass_on(motet_job *job)
{
    char phase[sizeof job->phase];
    memcpy(phase, job->phase, sizeof phase);
    motet_progress progress = job->last;
    progress.phase = phase;
    job->told = 0;
    pthread_mutex_unlock(&job->lock);
    if (job->progress(&progress, job->progress_user) != MOTET_GO_ON) motet_job_cancel(job);
    pthread_mutex_lock(&job->lock);
}

static struct timespec moment_after(double seconds)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    if (!(seconds > 0)) return t;
    if (seconds > 1e9) seconds = 1e9; /* 30 years */
    const double whole = floor(seconds);
    t.tv_sec += (time_t)whole;
    t.tv_nsec += (long)((seconds - whole) * 1e9);
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static int is_past(struct timespec moment)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec > moment.tv_sec || (t.tv_sec == moment.tv_sec && t.tv_nsec >= moment.tv_nsec);
}

motet_status motet_job_wait(motet_job *job, double seconds)
{
    if (context_scope(job->context) == &job->scope)
        return fail(job->context, MOTET_INTERNAL, "a job cannot wait for its own end");
    const struct timespec until = moment_after(seconds);
    int late = 0;
    pthread_mutex_lock(&job->lock);
    for (;;) {
        if (job->told) {
            pass_on(job);
            late = is_past(until); /* a callback may be slower than what it is told */
        } else if (!job->done && !late) {
            late = pthread_cond_timedwait(&job->changed, &job->lock, &until) == ETIMEDOUT;
        }
        if (late || (job->done && !job->told)) break;
    }
    const motet_status st = job->done ? job->status : MOTET_BUSY;
    pthread_mutex_unlock(&job->lock);
    return st;
}

void motet_job_cancel(motet_job *job) { atomic_store(&job->scope.cancelled, 1); }

void motet_job_error(motet_job *job, motet_error *out)
{
    pthread_mutex_lock(&job->lock);
    *out = job->done ? job->error : (motet_error){.status = MOTET_BUSY, .device = -1, .chunk = -1};
    pthread_mutex_unlock(&job->lock);
}

void motet_job_free(motet_job *job)
{
    if (!job) return;
    motet_job_cancel(job);
    pthread_join(job->thread, NULL);
    unlist(job);
    release(job);
}

/* Cancels all, also those that others begin meanwhile. Answers how many are not over. */
static int cancel_all(motet_context *c)
{
    int running = 0;
    pthread_mutex_lock(&c->lock);
    c->jobs_end = 1;
    for (motet_job *job = c->jobs; job; job = job->next) {
        motet_job_cancel(job);
        running += motet_job_poll(job) == MOTET_BUSY;
    }
    pthread_mutex_unlock(&c->lock);
    return running;
}

/* A job may free those that it began until it is over itself, so none is freed before. */
void rt_jobs_end(motet_context *c)
{
    while (cancel_all(c)) nanosleep(&(struct timespec){0, look}, NULL);
    while (c->jobs) motet_job_free(c->jobs);
}
