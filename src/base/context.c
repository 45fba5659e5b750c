/* Contexts, their error record and their account of memory. */
#include "base/context.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "base/number.h"
#include "base/report.h"

static void *system_allocate(size_t bytes, void *user)
{
    (void)user;
    return malloc(bytes);
}

static void system_release(void *block, size_t bytes, void *user)
{
    (void)bytes;
    (void)user;
    free(block);
}

static int64_t system_now(void *user)
{
    (void)user;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void motet_context_options_init(motet_context_options *options)
{
    memset(options, 0, sizeof *options);
    options->size = sizeof *options;
}

/* There is no context yet that could hold the reason: the log is told. */
__attribute__((format(printf, 3, 4))) static motet_status
refuse(const motet_context_options *o, motet_status status, const char *format, ...)
{
    char text[200];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (o->log) o->log(MOTET_LOG_ERROR, "context", text, o->log_user);
    return status;
}

motet_status context_begin(const motet_context_options *given, motet_context **out)
{
    motet_context_options options;
    motet_context_options_init(&options);
    if (given) {
        if (given->size != sizeof options) return MOTET_BAD_ARGUMENT; /* and `log` is elsewhere */
        options = *given;
    }
    if (!options.allocator.allocate != !options.allocator.release)
        return refuse(&options, MOTET_BAD_ARGUMENT,
                      "allocator: %s is NULL, expected both or neither",
                      options.allocator.allocate ? "release" : "allocate");
    if (!options.allocator.allocate)
        options.allocator = (motet_allocator){system_allocate, system_release, NULL};
    if (!options.clock.now) options.clock = (motet_clock){system_now, NULL};
    if (options.threads < 0 || options.threads > 4096)
        return refuse(&options, MOTET_BAD_ARGUMENT, "threads is %d, expected 0 to 4096",
                      options.threads);
    if (options.chunk < 0)
        return refuse(&options, MOTET_BAD_ARGUMENT, "chunk is %lld, expected at least 0",
                      (long long)options.chunk);
    if (options.chunks_per_device < 0 || options.chunks_per_device == 1)
        return refuse(&options, MOTET_BAD_ARGUMENT,
                      "chunks_per_device is %lld, expected at least 2, or 0; unpipelined runs have "
                      "one",
                      (long long)options.chunks_per_device);
    char text[NUMBER_TEXT];
    if (!(options.verify_fraction >= 0 && options.verify_fraction <= 1))
        return refuse(&options, MOTET_BAD_ARGUMENT, "verify_fraction is %s, expected 0 to 1",
                      number_text(options.verify_fraction, text));

    motet_context *c = options.allocator.allocate(sizeof *c, options.allocator.user);
    if (!c) return refuse(&options, MOTET_NO_MEMORY, "no memory for a context");
    memset(c, 0, sizeof *c);
    c->options = options;
    c->options.devices = NULL; /* the caller's text may not live as long */
    c->error.device = -1;
    c->error.chunk = -1;
    if (pthread_mutex_init(&c->lock, NULL)) {
        options.allocator.release(c, sizeof *c, options.allocator.user);
        return refuse(&options, MOTET_NO_MEMORY, "the system gives no lock");
    }
    const motet_status st = report_create(c, &c->report);
    if (st != MOTET_OK) {
        context_end(c);
        return refuse(&options, st, "no memory for the report");
    }
    *out = c;
    return MOTET_OK;
}

void context_end(motet_context *c)
{
    report_free(c, c->report);
    pthread_mutex_destroy(&c->lock);
    c->options.allocator.release(c, sizeof *c, c->options.allocator.user);
}

void motet_context_cancel(motet_context *context) { atomic_fetch_add(&context->cancelled, 1); }

void motet_context_memory(const motet_context *context, motet_memory *out)
{
    *out = (motet_memory){atomic_load(&context->held), atomic_load(&context->held_peak),
                          atomic_load(&context->blocks)};
}

void motet_context_error(const motet_context *context, motet_error *out)
{
    motet_context *c = (motet_context *)(uintptr_t)context; /* the lock is not part of the value */
    pthread_mutex_lock(&c->lock);
    *out = c->error;
    pthread_mutex_unlock(&c->lock);
}

static void record(motet_context *c, motet_status status, const char *file, int line, int native,
                   const char *message)
{
    pthread_mutex_lock(&c->lock);
    motet_error *e = &c->error;
    e->status = status;
    e->file = file;
    e->line = line;
    e->device = -1;
    e->chunk = -1;
    e->native = native;
    snprintf(e->message, sizeof e->message, "%s", message);
    for (char *p = e->message; *p; p++) /* names come from files: keep it one printable line */
        if ((unsigned char)*p < ' ' || *p == 0x7f) *p = '?';
    pthread_mutex_unlock(&c->lock);
}

motet_status fail_at(motet_context *c, motet_status status, const char *file, int line, int native,
                     const char *format, ...)
{
    char message[sizeof c->error.message];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    record(c, status, file, line, native, message);
    return status;
}

motet_status fail_errno_at(motet_context *c, int number, const char *file, int line,
                           const char *format, ...)
{
    char message[sizeof c->error.message], reason[128];
    va_list list;
    va_start(list, format);
    const int length = vsnprintf(message, sizeof message, format, list);
    va_end(list);
    const char *text = strerror_r(number, reason, sizeof reason);
    if (length >= 0 && (size_t)length < sizeof message)
        snprintf(message + length, sizeof message - (size_t)length, ": %s", text);
    const motet_status status = number == ENOENT   ? MOTET_NOT_FOUND
                                : number == EEXIST ? MOTET_EXISTS
                                : number == ENOMEM ? MOTET_NO_MEMORY
                                                   : MOTET_IO;
    record(c, status, file, line, number, message);
    return status;
}

void fail_prefix(motet_context *c, const char *format, ...)
{
    char prefix[sizeof c->error.message], joined[2 * sizeof prefix + 2];
    va_list list;
    va_start(list, format);
    vsnprintf(prefix, sizeof prefix, format, list);
    va_end(list);
    pthread_mutex_lock(&c->lock);
    snprintf(joined, sizeof joined, "%s: %s", prefix, c->error.message);
    snprintf(c->error.message, sizeof c->error.message, "%.511s", joined);
    pthread_mutex_unlock(&c->lock);
}

motet_status fail_where(motet_context *c, motet_status status, int device, int64_t chunk)
{
    pthread_mutex_lock(&c->lock);
    if (c->error.status == status) {
        c->error.device = device;
        c->error.chunk = chunk;
    }
    pthread_mutex_unlock(&c->lock);
    return status;
}

const char *motet_version(void) { return MOTET_VERSION; }
