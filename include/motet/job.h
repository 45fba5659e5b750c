/* Jobs: calls that run on a thread of their own. And the report: which operations ran, where, how
 * long, who computed how much. */
#ifndef MOTET_JOB_H
#define MOTET_JOB_H

#include <motet/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A job runs a function of the caller on a thread of its own, which makes ordinary calls of the
 * library with the context; jobs and other threads take turns on the devices.
 * What fails inside is the job's own: its record, its cancellation and its deadline
 * touch no other run. A job always ends: by itself, or because it was cancelled or its deadline
 * passed, which the next 20 ms or the chunks in flight show. */
typedef struct motet_job motet_job;

/* Answers the status that the job ends with. */
typedef motet_status motet_job_fn(motet_context *context, void *user);

typedef struct motet_job_options {
    uint32_t size;   /* sizeof(motet_job_options), set by _init */
    double deadline; /* seconds of the context's clock from now; 0: none. When it has passed, what
                        the job runs answers DEADLINE and leaves its outputs as they were */
    motet_progress_fn *progress; /* called on a thread inside motet_job_wait, with the last that the
                                    job told; MOTET_STOP cancels the job. NULL: none. The context's
                                    own callback hears nothing of jobs */
    void *progress_user;
} motet_job_options;

MOTET_API void motet_job_options_init(motet_job_options *options);

/* Begins at once. NULL options: no deadline, no progress. BAD_ARGUMENT: a `size` that _init did not
 * set, a deadline that is negative or not a number; NO_MEMORY: also when the system gives no
 * thread.
 */
MOTET_API motet_status motet_job_submit(motet_context *context, motet_job_fn *function, void *user,
                                        const motet_job_options *options, motet_job **out);
/* BUSY while it runs, then the status it ended with; DECLINED where the function answered BUSY. */
MOTET_API motet_status motet_job_poll(motet_job *job);
/* The same, but waits for its end: `seconds` of the system's clock at most; INFINITY: as long as it
 * takes. Several threads may wait. INTERNAL: the job waits for itself. */
MOTET_API motet_status motet_job_wait(motet_job *job, double seconds);
/* Asks the job to stop. CANCELLED is then what its runs answer, also those that it begins later; a
 * job that has not begun never does. Legal at any time, from any thread and from a signal handler.
 */
MOTET_API void motet_job_cancel(motet_job *job);
/* Why it failed: status, message and place; status BUSY while it runs, OK if it did not fail. */
MOTET_API void motet_job_error(motet_job *job, motet_error *out);
/* Cancels it and waits for its end; not from inside the job itself. NULL is legal. A context that
 * is freed does so with all jobs that it has still, whose handles are then void, but for those that
 * a job began: it may use and free them to its own end. */
MOTET_API void motet_job_free(motet_job *job);

/* The report so far as one JSON object:
 *   {"devices": [{"name", "description", "isa", "threads", "chunks", "verified", "lost",
 *      "uploaded", "downloaded", "memory": {"planned", "accounted"}, "items_per_thread": [..]}],
 *    "operations": [{"name", "calls", "chunks", "items", "seconds"}],
 *    "plan": {"operations": [..]}, "losses": [{"device", "reason", "losses", "returns", "lost"}],
 *    "memory": {"planned", "accounted_peak", "measured_peak"}, "warnings": [".."]}
 * Operations of one name are added up; `plan` holds the last plan of each, as motet/plan.h tells,
 * with its mode. `verified` chunks were computed there once more. `uploaded` and `downloaded` are
 * bytes that went to a device with memory of its own and came back; its memory is the most that was
 * planned and the most that Motet held at once, null for a host. `memory` is the same for the host,
 * with the arrays, and `measured_peak` the most that the process had resident; `planned` is null
 * before anything ran. `lost` of a device is the reason or null; `losses` tells of those, too, that
 * are back. Non-finite numbers are null. The text belongs to the caller: free it with
 * motet_text_free. */
MOTET_API motet_status motet_context_report(motet_context *context, char **json);
MOTET_API void motet_text_free(motet_context *context, char *text);
/* Forgets operations, plans, warnings and shares; the memory peak and losses stay. */
MOTET_API void motet_context_report_reset(motet_context *context);

#ifdef __cplusplus
}
#endif
#endif
