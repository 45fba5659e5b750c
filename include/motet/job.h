/* What the runs of a context did: which operations, where, how long, who computed how much. */
#ifndef MOTET_JOB_H
#define MOTET_JOB_H

#include <motet/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The report so far as one JSON object:
 *   {"devices": [{"name", "description", "isa", "threads", "chunks", "lost", "uploaded",
 *      "downloaded", "memory": {"planned", "accounted"}, "items_per_thread": [..]}],
 *    "operations": [{"name", "calls", "chunks", "items", "seconds"}],
 *    "plan": {"operations": [..]}, "losses": [{"device", "reason", "losses", "returns", "lost"}],
 *    "memory": {"planned", "accounted_peak", "measured_peak"}, "warnings": [".."]}
 * Operations of one name are added up; `plan` holds the last plan of each, as motet/plan.h tells,
 * with its mode. `uploaded` and `downloaded` are bytes that went to a device with memory of its own
 * and came back; its memory is the most that was planned and the most that Motet held at once, null
 * for a host. `memory` is the same for the host, with the arrays, and `measured_peak` the most that
 * the process had resident; `planned` is null before anything ran. `lost` of a device is the reason
 * or null; `losses` tells of those, too, that are back. Non-finite numbers are null. The text
 * belongs to the caller: free it with motet_text_free. */
MOTET_API motet_status motet_context_report(motet_context *context, char **json);
MOTET_API void motet_text_free(motet_context *context, char *text);
/* Forgets operations, plans, warnings and shares; the memory peak and losses stay. */
MOTET_API void motet_context_report_reset(motet_context *context);

#ifdef __cplusplus
}
#endif
#endif
