/* Failures: the record that says what was wrong. */
#include "base/fail.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "base/scope.h"

enum { MESSAGE_BYTES = sizeof((motet_error *)0)->message };

void motet_context_error(const motet_context *context, motet_error *out)
{
    motet_context *c = (motet_context *)(uintptr_t)context; /* the lock is not part of the value */
    pthread_mutex_lock(&c->lock);
    const motet_error *e = scope_record(c, 0);
    if (!e) { /* this thread saw none: the newest of the others */
        const context_record *newest = &c->record[0];
        for (int i = 1; i < CONTEXT_RECORDS; i++)
            if (c->record[i].age > newest->age) newest = &c->record[i];
        e = &newest->error;
    }
    *out = *e;
    pthread_mutex_unlock(&c->lock);
}

static void record(motet_context *c, motet_status status, const char *file, int line, int native,
                   const char *message)
{
    pthread_mutex_lock(&c->lock);
    motet_error *e = scope_record(c, 1);
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
    char message[MESSAGE_BYTES];
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
    char message[MESSAGE_BYTES], reason[128];
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
    char prefix[MESSAGE_BYTES], joined[2 * sizeof prefix + 2];
    va_list list;
    va_start(list, format);
    vsnprintf(prefix, sizeof prefix, format, list);
    va_end(list);
    pthread_mutex_lock(&c->lock);
    motet_error *e = scope_record(c, 1);
    snprintf(joined, sizeof joined, "%s: %s", prefix, e->message);
    snprintf(e->message, sizeof e->message, "%.511s", joined);
    pthread_mutex_unlock(&c->lock);
}

motet_status fail_where(motet_context *c, motet_status status, int device, int64_t chunk)
{
    pthread_mutex_lock(&c->lock);
    motet_error *e = scope_record(c, 0);
    if (e && e->status == status) {
        e->device = device;
        e->chunk = chunk;
    }
    pthread_mutex_unlock(&c->lock);
    return status;
}
