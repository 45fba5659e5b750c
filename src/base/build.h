/* Which build of Motet this is. */
#ifndef MOTET_BASE_BUILD_H
#define MOTET_BASE_BUILD_H

#include <stdint.h>

/* Differs between two builds whose machine code differs (the linker's build id), so that what one
 * build computed is never taken for another's. All 0 where the linker gave none. */
void build_id(uint64_t id[2]);

#endif
