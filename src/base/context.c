/* Contexts and their account of memory. */
#include "base/context.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

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

static void draw_mark(motet_context *c)
{
    uint64_t random;
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) != (ssize_t)sizeof random)
        random = (uint64_t)getpid() << 32 ^ (uint64_t)system_now(NULL);
    snprintf(c->mark, sizeof c->mark, "%016llx", (unsigned long long)random);
}

const char *motet_context_mark(const motet_context *context) { return context->mark; }

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
    draw_mark(c);
    c->options.devices = NULL; /* the caller's text may not live as long */
    for (int i = 0; i < CONTEXT_RECORDS; i++)
        c->record[i].error = (motet_error){.device = -1, .chunk = -1};
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

const char *motet_version(void) { return MOTET_VERSION; }
