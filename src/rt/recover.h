/* Bringing lost devices back.
 *
 * A device is tried when base/recovery.h allows it and nobody uses what is left of it; nobody waits
 * for either. Then it is closed, opened again and must give the health kernel's bits: all of it
 * outside every lock, by one thread, while others go on without the device. What its former epoch
 * held (parts of arrays, pooled memory, memory that a hung command might have touched) is released.
 */
#ifndef MOTET_RT_RECOVER_H
#define MOTET_RT_RECOVER_H

#include "rt/devices.h"

/* Tries the lost devices that may be tried now; for the start of a run. Answers how many devices of
 * the context are usable. A device that does not come back is a warning; one that does is told to
 * the log. Costs nothing when none is lost. */
int rt_recover(motet_context *context);

#endif
