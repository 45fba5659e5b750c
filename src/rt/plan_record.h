/* The plans of what ran, kept for the report: of each operation the last one. */
#ifndef MOTET_RT_PLAN_RECORD_H
#define MOTET_RT_PLAN_RECORD_H

#include <jansson.h>

#include "rt/plan.h"

/* NO_MEMORY: there is none for the record. `index`: of the plan's devices in the context's set;
 * `host`: the most bytes that the host holds meanwhile, arrays included. */
motet_status rt_plan_record(motet_context *context, const rt_op *op, const rt_plan *plan,
                            const int *index, int64_t host);
/* A run has planned more than at first for a device of the context. */
void rt_plan_record_more(motet_context *context, int device, int64_t peak_bytes);
/* A list as "operations" in motet/plan.h; NULL when there is no memory. */
json_t *rt_plan_records(motet_context *context);
/* The most that was planned since the last clearing: on the host, and on a device; 0: nothing. */
int64_t rt_plan_most(motet_context *context, int device);
enum { RT_HOST = -1 };
void rt_plan_records_clear(motet_context *context);

#endif
