/* Time through the context's clock. */
#ifndef MOTET_BASE_CLOCK_H
#define MOTET_BASE_CLOCK_H

#include <motet/context.h>

int64_t clock_now(const motet_context *context); /* nanoseconds */
double clock_seconds_since(const motet_context *context, int64_t start);

#endif
