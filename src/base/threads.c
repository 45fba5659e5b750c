/* The pool: one lock for the queue of jobs, one atomic counter per job for its ranges. A worker
 * takes the lock twice per job (entering and leaving), never per range. */
#include "base/threads.h"

#include <pthread.h>
#include <signal.h>

#include "base/fail.h"
#include "base/mem.h"

typedef struct worker {
    thread_pool *pool;
    pthread_t thread;
    int index;
} worker;

struct thread_pool {
    motet_context *context;
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t work;
    thread_job *first, *last; /* jobs that may have ranges left, oldest first */
    int idle, closing;
    int threads; /* running ones */
    worker *workers;
};

thread_float_state thread_float_enter(void)
{
#if defined(__x86_64__)
    const uint32_t former = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(0x1f80); /* all exceptions masked, nearest, denormals kept */
    return (thread_float_state){former};
#elif defined(__aarch64__)
    uint64_t former;
    __asm__ volatile("mrs %0, fpcr" : "=r"(former));
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)0));
    return (thread_float_state){former};
#else
    return (thread_float_state){0};
#endif
}

void thread_float_leave(thread_float_state former)
{
#if defined(__x86_64__)
    __builtin_ia32_ldmxcsr((uint32_t)former.control);
#elif defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0" : : "r"(former.control));
#else
    (void)former;
#endif
}

static void work_through(thread_job *job, int index)
{
    (void)thread_float_enter(); /* per job: a callback of another job may have left it changed */
    for (;;) {
        const int64_t range = atomic_fetch_add(&job->next, 1);
        if (range >= job->ranges) return;
        const int64_t begin = range * job->grain;
        const int64_t end = job->items - begin < job->grain ? job->items : begin + job->grain;
        job->work(job->user, index, begin, end);
    }
}

static void *worker_main(void *argument)
{
    worker *self = argument;
    thread_pool *pool = self->pool;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->first && !pool->closing) {
            pool->idle++;
            pthread_cond_wait(&pool->work, &pool->lock);
            pool->idle--;
        }
        thread_job *job = pool->first;
        if (!job) break;
        job->inside++;
        pthread_mutex_unlock(&pool->lock);
        work_through(job, self->index);
        pthread_mutex_lock(&pool->lock);
        /* Workers enter the first job only, so one that is used up is either first or gone. */
        if (pool->first == job) pool->first = job->following;
        if (--job->inside == 0) {
            pthread_mutex_unlock(&pool->lock);
            job->done(job);
            pthread_mutex_lock(&pool->lock);
        }
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

motet_status thread_pool_create(motet_context *c, int threads, thread_pool **out)
{
    if (threads < 1)
        return fail(c, MOTET_BAD_ARGUMENT, "threads is %d, expected at least 1", threads);
    thread_pool *pool = mem_new(c, thread_pool);
    if (!pool) return fail(c, MOTET_NO_MEMORY, "no memory for a pool of %d threads", threads);
    pool->context = c;
    pool->workers = mem_array(c, worker, threads);
    if (!pool->workers) {
        mem_free(c, pool);
        return fail(c, MOTET_NO_MEMORY, "no memory for a pool of %d threads", threads);
    }
    pthread_mutex_init(&pool->lock, NULL); /* cannot fail with default attributes */
    pthread_cond_init(&pool->work, NULL);

    sigset_t all, former; /* threads inherit the mask: the caller's signals stay the caller's */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &former);
    int error = 0;
    while (pool->threads < threads) {
        worker *w = &pool->workers[pool->threads];
        *w = (worker){.pool = pool, .index = pool->threads};
        error = pthread_create(&w->thread, NULL, worker_main, w);
        if (error) break;
        pool->threads++;
    }
    pthread_sigmask(SIG_SETMASK, &former, NULL);
    if (error) {
        const int begun = pool->threads;
        thread_pool_free(pool);
        return fail_native(c, MOTET_NO_MEMORY, error, "the system gave %d of %d threads", begun,
                           threads);
    }
    *out = pool;
    return MOTET_OK;
}

void thread_pool_free(thread_pool *pool)
{
    if (!pool) return;
    pthread_mutex_lock(&pool->lock);
    pool->closing = 1;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->threads; i++) pthread_join(pool->workers[i].thread, NULL);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
    mem_free(pool->context, pool->workers);
    mem_free(pool->context, pool);
}

int thread_pool_threads(const thread_pool *pool) { return pool->threads; }

/* About 16 ranges for each worker even out unequal items; a multiple of 64 keeps vector loops whole
 * and the workers' results on cache lines of their own. */
static int64_t choose_grain(int64_t items, int threads, int64_t batch)
{
    const int64_t grain = items / ((int64_t)threads * 16);
    if (batch > 1) return grain < batch ? batch : grain / batch * batch;
    return grain < 1 ? 1 : grain < 64 ? grain : grain / 64 * 64;
}

void thread_pool_submit(thread_pool *pool, thread_job *job)
{
    if (job->grain < 1) job->grain = choose_grain(job->items, pool->threads, job->batch);
    job->ranges = (job->items - 1) / job->grain + 1;
    atomic_init(&job->next, 0);
    job->inside = 0;
    job->following = NULL;
    pthread_mutex_lock(&pool->lock);
    if (pool->first)
        pool->last->following = job;
    else
        pool->first = job;
    pool->last = job;
    if (job->ranges < pool->idle) {
        for (int64_t i = 0; i < job->ranges; i++) pthread_cond_signal(&pool->work);
    } else if (pool->idle) {
        pthread_cond_broadcast(&pool->work);
    }
    pthread_mutex_unlock(&pool->lock);
}

void thread_job_stop(thread_job *job) { atomic_store(&job->next, job->ranges); }
