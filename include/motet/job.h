/* What the runs of a context did: which operations, where, how long, who computed how much. */
#ifndef MOTET_JOB_H
#define MOTET_JOB_H

#include <motet/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The report so far as one JSON object:
 *   {"devices": [{"name", "description", "isa", "threads", "chunks", "lost", "items_per_thread":
 * [..]}], "operations": [{"name", "calls", "chunks", "items", "seconds"}], "memory":
 * {"accounted_peak", "measured_peak"}, "warnings": [".."]} Operations of one name are added up.
 * Non-finite numbers are null. The text belongs to the caller: free it with motet_text_free. */
MOTET_API motet_status motet_context_report(motet_context *context, char **json);
MOTET_API void motet_text_free(motet_context *context, char *text);
/* Forgets operations, warnings and shares; the memory peak stays. */
MOTET_API void motet_context_report_reset(motet_context *context);

#ifdef __cplusplus
}
#endif
#endif
