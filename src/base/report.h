/* The running account behind motet_context_report. */
#ifndef MOTET_BASE_REPORT_H
#define MOTET_BASE_REPORT_H

#include <motet/context.h>

struct report;

motet_status report_create(motet_context *context, struct report **out);
void report_free(motet_context *context, struct report *report);
void report_warning(motet_context *context, const char *text);
/* One run of an operation: adds to the row of that name. items_per_thread may be NULL. */
motet_status report_operation(motet_context *context, const char *name, int device, int64_t chunks,
                              int64_t items, double seconds, const int64_t *items_per_thread,
                              int threads);

#endif
