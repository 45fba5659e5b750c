/* A pool of threads that work through ranges of items.
 *
 * A job is a count of items and a function for a range of them. Jobs begin in the order of
 * submission; the workers take ranges of the first job that has any left from a shared counter.
 * Which worker takes which range is not fixed, so the work must write each item's result in its
 * own place. Nobody waits here: the last worker to leave a job calls its `done`. Every worker runs
 * with the default floating-point state (round to nearest, no flush to zero), whatever it
 * inherited, and with all signals blocked. */
#ifndef MOTET_BASE_THREADS_H
#define MOTET_BASE_THREADS_H

#include <stdatomic.h>

#include <motet/context.h>

typedef struct thread_pool thread_pool;
typedef struct thread_job thread_job;

typedef void thread_work_fn(void *user, int worker, int64_t begin, int64_t end);

struct thread_job { /* the owner's; must stay in place until `done` is called */
    thread_work_fn *work;
    void (*done)(thread_job *job); /* on a worker; may free the job and submit others */
    void *user;
    int64_t items; /* > 0 */
    int64_t grain; /* items in a range; 0: chosen, */
    int64_t batch; /* as a multiple of this; 0: 1 */

    /* the pool's */
    int64_t ranges;
    atomic_int_fast64_t next; /* first range not taken */
    int inside;               /* workers at it */
    thread_job *following;
};

/* NO_MEMORY when there is no memory or the system gives no more threads. */
motet_status thread_pool_create(motet_context *context, int threads, thread_pool **out);
/* Waits for the jobs submitted and ends the threads. */
void thread_pool_free(thread_pool *pool);
int thread_pool_threads(const thread_pool *pool);
void thread_pool_submit(thread_pool *pool, thread_job *job);
/* No range is begun any more; those begun end. The job still ends with `done`. */
void thread_job_stop(thread_job *job);

int thread_processors(void); /* that this process may run on: affinity and cgroup quota; >= 1 */

/* Sets the default floating-point state and answers the former one, to be restored. Every public
 * function that computes does so: the caller's thread may round otherwise or flush small numbers.
 */
typedef struct thread_float_state {
    uint64_t control; /* MXCSR, FPCR */
} thread_float_state;
thread_float_state thread_float_enter(void);
void thread_float_leave(thread_float_state former);

#endif
