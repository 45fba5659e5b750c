/* Plans for people and programs. */
#ifndef MOTET_RT_PLAN_JSON_H
#define MOTET_RT_PLAN_JSON_H

#include <jansson.h>

#include "rt/plan.h"

/* One of "operations" in motet/plan.h; NULL when there is no memory. */
json_t *rt_plan_json(const rt_plan *plan, const rt_op *op, const rt_plan_device *devices);

#endif
