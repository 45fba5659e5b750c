/* Which devices a supervised run leaves out for a while, as they broke the process at work. */
#ifndef MOTET_CLI_SUSPECTS_H
#define MOTET_CLI_SUSPECTS_H

#include <stdint.h>

#include "base/recovery.h"
#include "child.h"

enum { SUSPECTS = 16 };

typedef struct suspect {
    char name[64];
    int blamed;
    recovery health;
} suspect;

typedef struct suspects {
    suspect device[SUSPECTS];
    int count;
    int others; /* there are devices that cannot be left out: the CPU */
} suspects;

/* `names` as in --devices; NULL: not given. */
void suspects_list(suspects *s, const char *names);
/* A process uses the device of that name, which may have been listed by its UUID ("": it has none),
 * or not by itself. */
void suspects_name(suspects *s, const char *name, const char *uuid);
/* Before a process begins: `out` are the names that it leaves out, with commas between them; those
 * that are due again are tried by it. 0, or, where no device is left, nanoseconds until one is due.
 */
int64_t suspects_choose(suspects *s, char out[CHILD_NAMES], int64_t now);
/* The process is gone. `culprit` is the device that broke it, "" any of them, NULL none. Once may
 * be anybody's fault; twice, and a device is left out. */
void suspects_after(suspects *s, const char *culprit, int64_t now);

#endif
