/* Rows live in the context's memory; jansson's own memory only while a report is written. */
#include "base/report.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/number.h"

enum { WARNINGS = 100 };

typedef struct operation {
    char *name;
    int64_t calls, chunks, items;
    double seconds;
} operation;

struct report { /* guarded by the context's lock */
    operation *operations;
    int64_t count, room;
    char *warnings[WARNINGS];
    int warning_count;
    int64_t further; /* distinct or not: there was no room to tell */
};

motet_status report_create(motet_context *c, struct report **out)
{
    *out = mem_new(c, struct report);
    return *out ? MOTET_OK : MOTET_NO_MEMORY;
}

static void clear(motet_context *c, struct report *r)
{
    for (int64_t i = 0; i < r->count; i++) mem_free(c, r->operations[i].name);
    for (int i = 0; i < r->warning_count; i++) mem_free(c, r->warnings[i]);
    mem_free(c, r->operations);
    memset(r, 0, sizeof *r);
}

void report_free(motet_context *c, struct report *r)
{
    if (!r) return;
    clear(c, r);
    mem_free(c, r);
}

void report_reset(motet_context *c)
{
    pthread_mutex_lock(&c->lock);
    clear(c, c->report);
    pthread_mutex_unlock(&c->lock);
}

int report_warning(motet_context *c, const char *text)
{
    pthread_mutex_lock(&c->lock);
    struct report *r = c->report;
    int known = 0;
    for (int i = 0; i < r->warning_count && !known; i++) known = !strcmp(r->warnings[i], text);
    if (!known) {
        char *copy = r->warning_count < WARNINGS ? mem_text(c, text) : NULL;
        if (copy)
            r->warnings[r->warning_count++] = copy;
        else
            r->further++;
    }
    pthread_mutex_unlock(&c->lock);
    return !known;
}

static operation *find(struct report *r, const char *name)
{
    for (int64_t i = 0; i < r->count; i++)
        if (!strcmp(r->operations[i].name, name)) return &r->operations[i];
    return NULL;
}

/* A new row with the lock held; NULL when there is no memory. */
static operation *add(motet_context *c, struct report *r, const char *name)
{
    if (r->count == r->room) {
        const int64_t room = r->room ? 2 * r->room : 16;
        operation *grown = mem_grow(c, r->operations, (size_t)room * sizeof *grown);
        if (!grown) return NULL;
        r->operations = grown;
        r->room = room;
    }
    char *copy = mem_text(c, name);
    if (!copy) return NULL;
    operation *o = &r->operations[r->count++];
    *o = (operation){.name = copy};
    return o;
}

motet_status report_operation_begin(motet_context *c, const char *name)
{
    pthread_mutex_lock(&c->lock);
    const int there = find(c->report, name) || add(c, c->report, name);
    pthread_mutex_unlock(&c->lock);
    return there ? MOTET_OK
                 : fail(c, MOTET_NO_MEMORY, "%s: no memory for a row of the report", name);
}

void report_operation_add(motet_context *c, const char *name, int64_t chunks, int64_t items,
                          double seconds)
{
    pthread_mutex_lock(&c->lock);
    operation *o = find(c->report, name);
    if (o) { /* absent only if the report was reset meanwhile: then it belongs to the past */
        o->calls++;
        o->chunks += chunks;
        o->items += items;
        o->seconds += seconds;
    }
    pthread_mutex_unlock(&c->lock);
}

/* The most memory this process ever had resident, bytes; 0 when the system does not tell. */
static int64_t measured_peak(void)
{
    FILE *file = fopen("/proc/self/status", "re");
    if (!file) return 0;
    char line[256];
    uint64_t kib = 0;
    static const char key[] = "VmHWM:";
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, key, sizeof key - 1) != 0) continue;
        const char *value = line + sizeof key - 1;
        if (!number_natural(value + strspn(value, " \t"), &kib)) kib = 0;
        break;
    }
    fclose(file);
    return kib < INT64_MAX / 1024 ? (int64_t)kib * 1024 : 0;
}

static json_t *operations_json(const struct report *r)
{
    json_t *rows = json_array();
    for (int64_t i = 0; rows && i < r->count; i++) {
        const operation *o = &r->operations[i];
        if (!o->calls) continue; /* begun but not finished, or failed */
        json_t *row =
            json_pack("{s:s, s:I, s:I, s:I, s:o}", "name", o->name, "calls", (json_int_t)o->calls,
                      "chunks", (json_int_t)o->chunks, "items", (json_int_t)o->items, "seconds",
                      isfinite(o->seconds) ? json_real(o->seconds) : json_null());
        if (json_array_append_new(rows, row)) {
            json_decref(rows);
            rows = NULL;
        }
    }
    return rows;
}

static json_t *warnings_json(const struct report *r)
{
    json_t *texts = json_array();
    int failed = !texts;
    for (int i = 0; !failed && i < r->warning_count; i++) {
        const char *text = r->warnings[i];
        json_error_t why; /* or there is no memory */
        json_t *value = json_pack_ex(&why, 0, "s", text);
        if (!value && json_error_code(&why) == json_error_invalid_utf8)
            value = json_string("(a warning that is not UTF-8)");
        failed = json_array_append_new(texts, value);
    }
    if (!failed && r->further)
        failed = json_array_append_new(
            texts, json_sprintf("%lld more warnings were not kept", (long long)r->further));
    if (!failed) return texts;
    json_decref(texts);
    return NULL;
}

json_t *report_json(motet_context *c)
{
    motet_memory memory;
    motet_context_memory(c, &memory);
    pthread_mutex_lock(&c->lock);
    json_t *operations = operations_json(c->report);
    json_t *warnings = warnings_json(c->report);
    pthread_mutex_unlock(&c->lock);
    return json_pack("{s:o, s:{s:I, s:I}, s:o}", "operations", operations, "memory",
                     "accounted_peak", (json_int_t)memory.peak, "measured_peak",
                     (json_int_t)measured_peak(), "warnings", warnings);
}

char *report_text(motet_context *c, const json_t *json, size_t flags)
{
    const size_t bytes = json_dumpb(json, NULL, 0, flags);
    char *text = bytes ? mem_alloc(c, bytes + 1) : NULL;
    if (!text) return NULL;
    text[bytes] = '\0';
    if (json_dumpb(json, text, bytes, flags) == bytes) return text;
    mem_free(c, text);
    return NULL;
}
