#include "base/clock.h"

#include "base/context.h"

int64_t clock_now(const motet_context *c) { return c->options.clock.now(c->options.clock.user); }

double clock_seconds_since(const motet_context *c, int64_t start)
{
    return (double)(clock_now(c) - start) * 1e-9;
}
