/* Whole jobs of computed tomography, one line each: geometry, job and digest of the result. Built
 * twice, with the kernels of the CPU (jobs_host.c) and with kernels that run on a GPU
 * (jobs_device.cu); the lines must be the same. `jobs large` takes real sizes.
 *
 * The runtime is the CPU's in both: it cuts the work and calls ranges of items. What is compared is
 * the arithmetic of every kernel where the real operations use it. */
#include "jobs.h"

#include <stdio.h>
#include <string.h>

#include "support/ct_jobs.h"

static void tell(const char *geometry, const char *job, const char *digest, void *user)
{
    (void)user;
    printf("%s.%s %s\n", geometry, job, digest);
    fflush(stdout);
}

int main(int count, char **words)
{
    motet_context *context;
    motet_context_options o;
    motet_context_options_init(&o);
    o.allocator = jobs_allocator;
    if (motet_context_create(&o, &context) != MOTET_OK) return 2;
    const int64_t size = count > 1 && !strcmp(words[1], "large") ? 48 : 20;
    const motet_status st = ct_jobs_run(context, size, tell, NULL);
    motet_error error;
    motet_context_error(context, &error);
    if (st != MOTET_OK) fprintf(stderr, "%s\n", error.message);
    motet_context_free(context);
    return st != MOTET_OK;
}
