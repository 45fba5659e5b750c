/* Whether a child lives: it says so, computes, or reads and writes. */
#ifndef MOTET_CLI_WATCH_H
#define MOTET_CLI_WATCH_H

#include <stdint.h>
#include <sys/types.h>

typedef struct watch {
    pid_t pid;
    double beat, longest; /* of the last sign of life; the longest time between two of them */
    double active;        /* when it last said, computed, read or wrote anything */
    double looked;
    uint64_t work; /* what it had done then, in any unit */
    double limit;  /* seconds */
} watch;

void watch_begin(watch *w, pid_t pid);
void watch_beat(watch *w);
/* Call it often. Seconds of silence when that is too long: nothing at all for 10 seconds, or no
 * word for two minutes while it computes; or 20 times as long as it was ever silent before. Else 0.
 */
double watch_silent(watch *w);

uint64_t watch_memory_available(void); /* bytes of the host */

#endif
