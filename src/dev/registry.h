/* The back ends that this build has, by name. */
#ifndef MOTET_DEV_REGISTRY_H
#define MOTET_DEV_REGISTRY_H

#include "dev/dev.h"

extern const dev_table *const dev_tables[]; /* ends with NULL */

/* The back end of "cpu", "sim:1" (`length` bytes of text) and the number there; NULL if there is
 * none. */
const dev_table *dev_find(const char *name, size_t length, int *index);
/* The back end that has GPUs, "cuda"; NULL: this build has none. */
const dev_table *dev_gpus(void);
/* When all devices of the context are closed. */
void dev_end(motet_context *context);

#endif
