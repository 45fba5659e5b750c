/* Jobs, for the context that ends with some left. */
#ifndef MOTET_RT_JOB_H
#define MOTET_RT_JOB_H

#include <motet/job.h>

/* Cancels, waits for and frees all that are left. */
void rt_jobs_end(motet_context *context);

#endif
