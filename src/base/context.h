/* The context's inside. Only base, dev and rt look in here; the rest uses fail.h, mem.h, log.h. */
#ifndef MOTET_BASE_CONTEXT_H
#define MOTET_BASE_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>

#include <motet/context.h>

/* The last failure of a thread that is in no scope. */
enum { CONTEXT_RECORDS = 8 };
typedef struct context_record {
    pthread_t thread;
    uint64_t age; /* which failure of the context it was; 0: none yet */
    motet_error error;
} context_record;

struct motet_context {
    char mark[17];                 /* of the names of temporary files */
    motet_context_options options; /* with the hooks filled in; `devices` is not kept */

    pthread_mutex_t lock; /* guards records, scopes, calls and report */
    context_record record[CONTEXT_RECORDS];
    uint64_t failures;
    struct scope *scopes;  /* of threads that run a job, see scope.h */
    atomic_int scoped;     /* how many */
    struct call *calls;    /* under way, one for each thread, see call.h */
    struct report *report; /* see report.h */

    atomic_uint_fast64_t held, held_peak, blocks; /* bytes, bytes, count */
    atomic_uint_fast64_t idle;                    /* bytes of those held that reclaim gives back */
    int (*reclaim)(motet_context *context); /* answers how many blocks; NULL: nothing is idle */
    atomic_uint_fast64_t cancelled;         /* how often cancel was asked for */

    /* Records of calibrations, see rt/calibrate.h; guarded by the lock. */
    struct rt_calibrations *calibrations;

    struct rt_devices *devices;       /* opened by rt, see rt/devices.h */
    struct motet_array *resident;     /* arrays with parts on devices; guarded by the lock */
    struct rt_weights_store *weights; /* see rt/weights.h */
    struct motet_job *jobs;           /* not freed yet, see rt/job.c; guarded by the lock */
    int jobs_end;                     /* the context is being freed: no job begins any more */
    struct rt_plan_records *plans;    /* for the report, see rt/plan_record.h; NULL: none */
    struct rt_pool *pool;             /* memory kept from run to run, see rt/pool.h */
    struct rt_turns *turns;           /* whose turn it is on the devices, see rt/turn.h */
    struct rt_journal *journal;       /* of finished chunks; NULL: none */
    struct cuda_world *cuda;          /* of GPUs, see dev/cuda; NULL: nobody asked for one yet */
    struct sim_world *sim;            /* of the simulated devices; NULL: there are none */
};

/* Parts of motet_context_create that need no devices; rt adds those. */
motet_status context_begin(const motet_context_options *options, motet_context **out);
void context_end(motet_context *context);

#endif
