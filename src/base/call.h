/* Calls: what one public function does from its beginning to its end, on one thread. Whoever
 * cancels the context cancels all of it, also the operations that it begins later; what is called
 * after it is not touched. Of calls within each other the outermost counts.
 *
 *     call one;
 *     call_begin(context, &one);
 *     return call_end(&one, work(...));
 *
 * The context lists its calls with their threads, so that nothing is kept per thread. A call also
 * has the default floating-point state, as what computes must. */
#ifndef MOTET_BASE_CALL_H
#define MOTET_BASE_CALL_H

#include <pthread.h>

#include "base/threads.h"

typedef struct call {
    motet_context *context;
    uint_fast64_t cancelled; /* how often the context had been cancelled when it began */
    int stopped;             /* 1: a progress callback said stop */
    int within;              /* 1: another one of this thread is under way, and is listed */
    thread_float_state former;
    pthread_t thread;
    struct call *next;
} call;

/* `one` stays in place until it ends, on the same thread. */
void call_begin(motet_context *context, call *one);
/* Answers `status`. */
motet_status call_end(call *one, motet_status status);
/* The outermost one of the calling thread; NULL: it is in none. */
call *call_under_way(motet_context *context);

#endif
