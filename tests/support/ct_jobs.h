/* Whole jobs of computed tomography and their digests. */
#ifndef MOTET_TEST_CT_JOBS_H
#define MOTET_TEST_CT_JOBS_H

#include <motet/motet.h>

typedef void ct_job_fn(const char *geometry, const char *job, const char *digest, void *user);

/* Volumes of about size^3 voxels, size even; project, back-project, filter, FDK, CGLS, SIRT on
 * slices of a parallel beam and on six paths in space. */
motet_status ct_jobs_run(motet_context *context, int64_t size, ct_job_fn *each, void *user);

#endif
