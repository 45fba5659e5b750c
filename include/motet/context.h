/* A context: everything a computation needs from its surroundings. Memory, time, messages,
 * threads and devices all come through it; the library keeps no state outside.
 *
 * Threads: a context may be used from several threads at once. Callbacks must not call back into
 * the context that calls them. */
#ifndef MOTET_CONTEXT_H
#define MOTET_CONTEXT_H

#include <stddef.h>
#include <stdint.h>

#include <motet/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct motet_context motet_context;

/* Memory. `allocate` returns NULL when it cannot; blocks must be aligned for any C type.
 * `release` gets the size that was asked for. Both may be called from any thread. */
typedef struct motet_allocator {
    void *(*allocate)(size_t bytes, void *user);
    void (*release)(void *block, size_t bytes, void *user);
    void *user;
} motet_allocator;

/* Time in nanoseconds from any fixed origin; must not go backwards. */
typedef struct motet_clock {
    int64_t (*now)(void *user);
    void *user;
} motet_clock;

typedef enum motet_log_level {
    MOTET_LOG_ERROR,
    MOTET_LOG_WARNING,
    MOTET_LOG_INFO,
    MOTET_LOG_DEBUG
} motet_log_level;

/* `component` is the part that speaks ("ct.scan"); `text` one line without a line end. A warning
 * with the same text is given once until motet_context_report_reset. */
typedef void motet_log_fn(motet_log_level level, const char *component, const char *text,
                          void *user);

typedef struct motet_progress {
    const char *phase;   /* what is being done ("reconstruct") */
    int64_t done, total; /* in rows of the phase; total may be 0 when unknown */
    double seconds;      /* since the phase began */
} motet_progress;

typedef enum motet_go { MOTET_GO_ON, MOTET_STOP } motet_go;

/* Called on the thread that waits for the result, at most every 50 ms and at the end of a phase.
 * MOTET_STOP cancels the run: the call then answers MOTET_CANCELLED and its outputs are untouched.
 */
typedef motet_go motet_progress_fn(const motet_progress *progress, void *user);

/* Instruction sets the CPU kernels are compiled for. All give the same bits. */
typedef enum motet_isa { MOTET_ISA_AUTO, MOTET_ISA_BASE, MOTET_ISA_V3, MOTET_ISA_V4 } motet_isa;

typedef struct motet_context_options {
    uint32_t size;             /* sizeof(motet_context_options), set by _init */
    motet_allocator allocator; /* all NULL: malloc and free */
    motet_clock clock;         /* all NULL: the monotonic clock */
    motet_log_fn *log;         /* NULL: silent */
    void *log_user;
    motet_progress_fn *progress; /* NULL: none */
    void *progress_user;
    /* NULL or "cpu"; or names with commas between them: "cpu", "cuda:0" (the first GPU that this
     * process may use: CUDA_VISIBLE_DEVICES is heeded), "GPU-1f2e" (the GPU whose UUID begins so),
     * "cuda" (all GPUs). What stands behind a '/' is a fallback: "cuda:0,cuda:1/cpu" computes on
     * the CPU only what those decline, and goes on there when they are lost. "-cuda:1" takes one
     * out again. "auto" is "cuda/cpu" where there are GPUs, without those that cannot be opened,
     * and "cpu" else. */
    const char *devices;
    int threads;   /* of the CPU device; 0: one for each processor this process may use */
    motet_isa isa; /* AUTO: the best this processor has */
    int64_t chunk; /* rows of the outermost axis in one chunk; 0: chosen. Never changes bits */
    uint64_t host_memory; /* the most bytes the context may hold at once; 0: no bound */
    uint64_t memory;      /* the most bytes that runs may hold at once on each device with memory of
                             its own; 0: three quarters of what is free there. The CPU's is the host's */
    int unpipelined;      /* 1: one chunk for each device where it fits, several else */
    int64_t chunks_per_device; /* of a device with memory of its own, about; 0: 4 */
    double verify_fraction;    /* 0 to 1: the part of the chunks that another device computes once
                                  more; a run whose bits differ answers CHECK_FAILED */
    int lost_ends; /* 1: a run ends with DEVICE_LOST when the last device with memory of its own is
                      lost, in place of going on on the CPU: for who can go on in a fresh process,
                      where GPUs work again */
} motet_context_options;

MOTET_API void motet_context_options_init(motet_context_options *options);

/* NULL options: the defaults. BAD_ARGUMENT: a `size` that _init did not set, half an allocator,
 * threads < 0 or > 4096, chunk < 0, chunks_per_device < 0 or 1, verify_fraction outside of 0 to 1,
 * unknown device; UNSUPPORTED: an ISA this processor lacks;
 * NO_MEMORY: also when the system gives no more threads; DEVICE_ERROR: the device fails its health
 * check. A failure leaves nothing behind; the reason goes to `log` as an ERROR. */
MOTET_API motet_status motet_context_create(const motet_context_options *options,
                                            motet_context **out);
/* Everything made with the context must be freed before it, but for jobs: those that are left are
 * cancelled, waited for and freed. NULL is legal. */
MOTET_API void motet_context_free(motet_context *context);

/* The last failure of the calling thread in this context (inside a job: of that job); if it had
 * none, the last one of any thread that runs no job. What failed, with the values that were wrong.
 */
typedef struct motet_error {
    motet_status status;
    char message[512]; /* one line */
    const char *file;  /* where in Motet's source */
    int line;
    int device;    /* of the context's devices, in their order; -1: none */
    int64_t chunk; /* of the operation that failed, on that device; -1: none */
    int native;    /* errno or the device's own code; 0: none */
} motet_error;

MOTET_API void motet_context_error(const motet_context *context, motet_error *out);

/* Asks every call of this context that is under way to stop, with all that it would still begin;
 * those in jobs, too. A call that begins later is not touched. Safe to call from a signal handler
 * and from any thread. */
MOTET_API void motet_context_cancel(motet_context *context);

typedef struct motet_memory {
    uint64_t now;    /* bytes held */
    uint64_t peak;   /* the most held at once since the context was made */
    uint64_t blocks; /* allocations alive */
} motet_memory;

MOTET_API void motet_context_memory(const motet_context *context, motet_memory *out);

/* Gives back what is kept between runs to be used again: large blocks of memory, on the host and on
 * devices. They count as held, and make room by themselves for a run or an array that needs it. */
MOTET_API void motet_context_trim(motet_context *context);

/* 16 hexadecimal digits, drawn at random when the context was made: what it writes beside outputs
 * is called ".motet-MARK-...", so that whoever looks after a process that died can remove it. */
MOTET_API const char *motet_context_mark(const motet_context *context);

/* Version of the library, "0.1.0". */
MOTET_API const char *motet_version(void);

#ifdef __cplusplus
}
#endif
#endif
