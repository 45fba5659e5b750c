/* A pool of threads that work through ranges of items.
 *
 * Workers take ranges in order from a shared counter; which worker takes which is not fixed, so the work must
 * write each item's result in its own place. Every worker runs with the default floating-point
 * state (round to nearest, no flush to zero), whatever it inherited. */
#ifndef MOTET_BASE_THREADS_H
#define MOTET_BASE_THREADS_H

#include <motet/context.h>

typedef struct thread_pool thread_pool;

typedef struct thread_job thread_job;
typedef void thread_work_fn(void *user, int worker, int64_t begin, int64_t end);

motet_status thread_pool_create(motet_context *context, int threads, thread_pool **out);
void thread_pool_free(thread_pool *pool);
int thread_pool_threads(const thread_pool *pool);

int thread_processors(void); /* that this process may run on: affinity and cgroup quota */

/* Sets the default floating-point state and restores the former one. */
typedef struct thread_float_state { uint32_t control; uint64_t wide; } thread_float_state;
thread_float_state thread_float_enter(void);
void thread_float_leave(thread_float_state former);

#endif
