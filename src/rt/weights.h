/* The weights of a context: who gets how much of which operation. */
#ifndef MOTET_RT_WEIGHTS_H
#define MOTET_RT_WEIGHTS_H

#include "rt/plan.h"

enum { RT_WEIGHTINGS = 33, RT_WEIGHTS_NAME = 64 };

typedef struct rt_weights_store rt_weights_store;

motet_status rt_weights_open(motet_context *context);
void rt_weights_close(motet_context *context);

/* Copies what is set, at most `room` of them; answers how many. The names live as long as the
 * context. Where nothing is set for all operations, fallbacks have none of the work. */
int rt_weights_of(motet_context *context, rt_weights *out, int room);

/* Of what the other devices decline. 0: there are no fallbacks, or nothing else. */
int rt_weights_fallback(motet_context *context, rt_weights *out);

/* BAD_ARGUMENT, naming the weights: not `devices` of them, negative, not finite, or all 0. */
motet_status rt_weights_check(motet_context *context, const rt_weights *weights, int devices);

#endif
