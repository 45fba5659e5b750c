/* What the commands on views in space do before and after their own work: they read line integrals
 * or a volume, take the geometry, say what memory the run takes, and write the result. */
#ifndef MOTET_CLI_CT_TASK_H
#define MOTET_CLI_CT_TASK_H

#include <motet/plan.h>

#include "ct_output.h"
#include "ct_views.h"

typedef struct ct_task {
    run *r;
    motet_ct_scan *scan;
    motet_store *store; /* of the volume that is projected; from disk: of the input */
    int from_disk;      /* arrays stay in their files */
    motet_ct_views views;
    motet_ct_geometry *geometry;
    motet_array *volume, *sinogram, *memory[2]; /* the former two lie in the latter */
    motet_plan_options plan_options;            /* of the work: for `choose` to set */
    uint64_t opened;                            /* bytes that files and geometry take */
    uint64_t bound;                             /* most bytes on the host */
    json_t *plan;                               /* of the work, as motet_ct_plan tells it */
    ct_output output;
} ct_task;

typedef struct ct_task_kind {
    motet_ct_operation operation; /* what is planned */
    int projects;                 /* a volume becomes line integrals; else the other way round */
    int journal;                  /* --resume keeps finished chunks; else it is the work's own */
    const char *stage;            /* "reconstruct" */
    /* Reads flags, before anything is opened; checks the geometry, before anything is made; the
     * arrays are filled. All may be NULL and answer exit codes. */
    int (*choose)(ct_task *task, void *user);
    int (*check)(ct_task *task, void *user);
    int (*ready)(ct_task *task, void *user);
    motet_status (*work)(ct_task *task, void *user);
    motet_status (*work_on_disk)(ct_task *task, void *user); /* from `store` to the output's */
    void (*tell)(ct_task *task, void *user); /* of it, before the rest of the summary; NULL */
} ct_task_kind;

/* All of it, between run_begin and run_end. An exit code. */
int ct_task_run(run *r, const ct_task_kind *kind, void *user);

#endif
