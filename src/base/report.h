/* The running account behind motet_context_report: operations by name, and warnings. What the
 * devices did is theirs to tell (rt/report.c joins the two). */
#ifndef MOTET_BASE_REPORT_H
#define MOTET_BASE_REPORT_H

#include <jansson.h>

#include <motet/context.h>

struct report;

motet_status report_create(motet_context *context, struct report **out);
void report_free(motet_context *context, struct report *report);
/* Kept once, however often it is said, and up to a bound; the rest is counted. Answers 1 when it
 * was not kept before. */
int report_warning(motet_context *context, const char *text);
/* Makes the row of an operation, so that adding to it cannot fail once the work is done. */
motet_status report_operation_begin(motet_context *context, const char *name);
void report_operation_add(motet_context *context, const char *name, int64_t chunks, int64_t items,
                          double seconds);
void report_reset(motet_context *context);
/* {"operations", "memory", "warnings"}; NULL when there is no memory. */
json_t *report_json(motet_context *context);
/* JSON as text in the context's memory, written with jansson's flags; NULL when there is no memory.
 * Not by json_dumps, which leaves out what its buffer cannot grow for. */
char *report_text(motet_context *context, const json_t *json, size_t flags);

#endif
