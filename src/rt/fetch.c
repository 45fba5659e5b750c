/* A queue, a lock and a thread. The lock is not held while a source reads; another one is, as
 * sources and their buffers serve one thread at a time. */
#include "rt/fetch.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/threads.h"

struct rt_fetch {
    motet_context *context;
    pthread_mutex_t lock, reading;
    pthread_cond_t asked, done;
    rt_fetch_list *first, *last; /* being read, and asked for */
    int closing;
    pthread_t thread;
};

static motet_status read_all(const rt_fetch_list *list)
{
    for (int i = 0; i < list->count; i++) {
        const rt_port *p = list->part[i].port;
        const pipe_box *box = &list->part[i].box;
        const rt_view part = pipe_view(p, list->part[i].to, box, box);
        TRY(p->source->read(&part, p->source->user));
    }
    return MOTET_OK;
}

static void *read_on(void *user)
{
    rt_fetch *f = user;
    scope own = {.deadline = INT64_MAX}; /* failures of this thread are its own */
    scope_enter(f->context, &own);
    (void)thread_float_enter();
    pthread_mutex_lock(&f->lock);
    for (;;) {
        while (!f->first && !f->closing) pthread_cond_wait(&f->asked, &f->lock);
        rt_fetch_list *list = f->first;
        if (!list) break;
        pthread_mutex_unlock(&f->lock);
        pthread_mutex_lock(&f->reading);
        list->status = read_all(list);
        pthread_mutex_unlock(&f->reading);
        if (list->status != MOTET_OK) motet_context_error(f->context, &list->error);
        pthread_mutex_lock(&f->lock);
        f->first = list->next;
        list->pending = 0;
        pthread_cond_broadcast(&f->done);
    }
    pthread_mutex_unlock(&f->lock);
    scope_leave(f->context, &own);
    return NULL;
}

static int make_locks(rt_fetch *f)
{
    pthread_condattr_t how;
    if (pthread_condattr_init(&how)) return 0;
    pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
    int made = pthread_cond_init(&f->done, &how) == 0;
    pthread_condattr_destroy(&how);
    if (!made) return 0;
    if (pthread_cond_init(&f->asked, NULL)) goto done;
    if (pthread_mutex_init(&f->lock, NULL)) goto asked;
    if (pthread_mutex_init(&f->reading, NULL) == 0) return 1;
    pthread_mutex_destroy(&f->lock);
asked:
    pthread_cond_destroy(&f->asked);
done:
    pthread_cond_destroy(&f->done);
    return 0;
}

static void destroy_locks(rt_fetch *f)
{
    pthread_mutex_destroy(&f->reading);
    pthread_mutex_destroy(&f->lock);
    pthread_cond_destroy(&f->asked);
    pthread_cond_destroy(&f->done);
}

rt_fetch *rt_fetch_open(motet_context *c)
{
    rt_fetch *f = mem_new(c, rt_fetch);
    if (!f) return NULL;
    f->context = c;
    if (make_locks(f)) {
        sigset_t all, former; /* threads inherit the mask: the caller's signals stay the caller's */
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &former);
        const int error = pthread_create(&f->thread, NULL, read_on, f);
        pthread_sigmask(SIG_SETMASK, &former, NULL);
        if (!error) return f;
        destroy_locks(f);
    }
    mem_free(c, f);
    return NULL;
}

void rt_fetch_close(rt_fetch *f)
{
    if (!f) return;
    pthread_mutex_lock(&f->lock);
    f->closing = 1;
    pthread_cond_signal(&f->asked);
    pthread_mutex_unlock(&f->lock);
    pthread_join(f->thread, NULL);
    destroy_locks(f);
    mem_free(f->context, f);
}

void rt_fetch_hold(rt_fetch *f)
{
    if (f) pthread_mutex_lock(&f->reading);
}

void rt_fetch_release(rt_fetch *f)
{
    if (f) pthread_mutex_unlock(&f->reading);
}

void rt_fetch_ask(rt_fetch *f, rt_fetch_list *list)
{
    pthread_mutex_lock(&f->lock);
    list->pending = 1;
    list->next = NULL;
    if (f->first)
        f->last->next = list;
    else
        f->first = list;
    f->last = list;
    pthread_cond_signal(&f->asked);
    pthread_mutex_unlock(&f->lock);
}

motet_status rt_fetch_poll(rt_fetch *f, rt_fetch_list *list)
{
    pthread_mutex_lock(&f->lock);
    const int pending = list->pending;
    pthread_mutex_unlock(&f->lock);
    if (pending) return MOTET_BUSY;
    const motet_error *e = &list->error;
    if (list->status == MOTET_OK) return MOTET_OK;
    return fail_at(f->context, list->status, e->file, e->line, e->native, "%s", e->message);
}

void rt_fetch_wait(rt_fetch *f, rt_fetch_list *list)
{
    pthread_mutex_lock(&f->lock);
    while (list->pending) pthread_cond_wait(&f->done, &f->lock);
    pthread_mutex_unlock(&f->lock);
}

void rt_fetch_doze(rt_fetch *f, int64_t nanoseconds)
{
    struct timespec until; /* by the system's clock, whatever the context's is: a disk is real */
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += nanoseconds;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&f->lock);
    if (f->first) pthread_cond_timedwait(&f->done, &f->lock, &until);
    pthread_mutex_unlock(&f->lock);
}
