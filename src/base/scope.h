/* Scopes: whom a failure, a cancellation and a deadline concern. A job is a scope, of the thread
 * that runs it; threads of the caller have none, and share the context.
 *
 * The context lists its scopes with their threads, so that nothing is kept per thread. */
#ifndef MOTET_BASE_SCOPE_H
#define MOTET_BASE_SCOPE_H

#include <pthread.h>
#include <stdatomic.h>

#include <motet/context.h>

typedef struct scope {
    atomic_int cancelled;        /* 1: all that runs in it ends, and what begins later, too */
    int64_t deadline;            /* of the context's clock, nanoseconds; INT64_MAX: none */
    motet_progress_fn *progress; /* in place of the context's; NULL: none */
    void *progress_user;

    motet_error error; /* the last failure in it; guarded by the context's lock */
    pthread_t thread;
    struct scope *next;
} scope;

/* From now on the calling thread works in this scope, until it leaves. Nothing of it needs to be
 * set but `deadline`. */
void scope_enter(motet_context *context, scope *one);
void scope_leave(motet_context *context, scope *one);
/* That of the calling thread; NULL: it has none. */
scope *context_scope(motet_context *context);

/* The record of the calling thread's failures: its scope's; else one of the few that the context
 * keeps for threads, where the thread that failed least recently gives up its own. With `make` 0:
 * NULL if it has none. The context's lock must be held. */
motet_error *scope_record(motet_context *context, int make);

#endif
