/* What a command on views in space takes of the host, before it runs, and whether its arrays are in
 * memory or stay in their files. */
#ifndef MOTET_CLI_CT_MEMORY_H
#define MOTET_CLI_CT_MEMORY_H

#include "ct_task.h"

/* Plans the work and sets `from_disk`, by --from-disk or where arrays do not fit. What would not
 * fit is refused here, before anything is read. An exit code. */
int ct_memory_plan(ct_task *task, motet_ct_operation operation);
void ct_memory_tell(ct_task *task);

#endif
