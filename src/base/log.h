/* Messages and progress through the context's callbacks. */
#ifndef MOTET_BASE_LOG_H
#define MOTET_BASE_LOG_H

#include <motet/context.h>

void log_text(motet_context *context, motet_log_level level, const char *component,
              const char *format, ...) __attribute__((format(printf, 4, 5)));
/* A warning is kept for the report, and logged the first time: a run may come by many times. */
void log_warning(motet_context *context, const char *component, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Progress of one phase, called on the waiting thread only; rate-limited inside. */
typedef struct log_phase {
    motet_context *context;
    const char *name;
    int64_t total, start, last, done;
    uint_fast64_t cancelled; /* the context's count when the call that it is part of began */
    struct call *call;       /* that; NULL: none, and it is when the phase began */
    struct scope *scope;     /* of the thread that began it */
} log_phase;

log_phase log_phase_begin(motet_context *context, const char *name, int64_t total);
/* With the error set: CANCELLED if the callback said stop, now or earlier in the same call,
 * motet_context_cancel was called since that call (base/call.h) began, or the job was cancelled;
 * DEADLINE if that of the job has passed. */
motet_status log_phase_step(log_phase *phase, int64_t done);
motet_status log_phase_look(log_phase *phase); /* the same with nothing more done */

#endif
