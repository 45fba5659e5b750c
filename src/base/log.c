/* Messages go out at once, on the thread that speaks; progress at most every 50 ms, so that engines
 * may report each row. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/call.h"
#include "base/clock.h"
#include "base/context.h"
#include "base/fail.h"
#include "base/report.h"
#include "base/scope.h"

enum { LINE_BYTES = 1024 };
static const int64_t interval = 50000000; /* nanoseconds between two progress calls */

/* Texts carry names and values from files: one printable line, whatever those hold. */
static void one_line(char *text)
{
    for (char *p = text; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f) *p = '?';
}

void log_text(motet_context *c, motet_log_level level, const char *component, const char *format,
              ...)
{
    if (!c->options.log) return;
    char text[LINE_BYTES];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    one_line(text);
    c->options.log(level, component, text, c->options.log_user);
}

void log_warning(motet_context *c, const char *component, const char *format, ...)
{
    char text[LINE_BYTES];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    one_line(text);
    const int first = report_warning(c, text);
    if (first && c->options.log)
        c->options.log(MOTET_LOG_WARNING, component, text, c->options.log_user);
}

log_phase log_phase_begin(motet_context *c, const char *name, int64_t total)
{
    const int64_t now = clock_now(c);
    call *around = call_under_way(c);
    return (log_phase){.context = c,
                       .name = name,
                       .total = total,
                       .start = now,
                       .last = now - interval,
                       .cancelled = around ? around->cancelled : atomic_load(&c->cancelled),
                       .call = around,
                       .scope = context_scope(c)};
}

motet_status log_phase_step(log_phase *phase, int64_t done)
{
    motet_context *c = phase->context;
    phase->done = done;
    const int64_t now = clock_now(c);
    const scope *job = phase->scope;
    motet_progress_fn *progress = job ? job->progress : c->options.progress;
    motet_go go = MOTET_GO_ON;
    const int ended = phase->total > 0 && done >= phase->total;
    if (progress && (ended || now - phase->last >= interval)) {
        phase->last = now;
        const motet_progress p = {phase->name, done, phase->total,
                                  (double)(now - phase->start) * 1e-9};
        go = progress(&p, job ? job->progress_user : c->options.progress_user);
    }
    if (go != MOTET_GO_ON && phase->call) phase->call->stopped = 1;
    if (go != MOTET_GO_ON || (phase->call && phase->call->stopped) ||
        atomic_load(&c->cancelled) != phase->cancelled || (job && atomic_load(&job->cancelled)))
        return fail(c, MOTET_CANCELLED, "%s: cancelled after %lld of %lld", phase->name,
                    (long long)done, (long long)phase->total);
    if (job && now >= job->deadline)
        return fail(c, MOTET_DEADLINE, "%s: the deadline passed after %lld of %lld", phase->name,
                    (long long)done, (long long)phase->total);
    return MOTET_OK;
}

motet_status log_phase_look(log_phase *phase) { return log_phase_step(phase, phase->done); }
