/* The devices of this machine and what runs did on them. */
#ifndef MOTET_DEVICE_H
#define MOTET_DEVICE_H

#include <motet/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct motet_device_info {
    char name[32];         /* as in --devices: "cpu", "cuda:0" */
    char description[128]; /* "AMD EPYC, 2 threads, v4" */
    int threads;           /* CPU: worker threads */
    int workers;           /* items that run at once where each needs scratch memory of its own */
    motet_isa isa;         /* CPU: the kernels in use */
    uint64_t memory_total, memory_free; /* bytes */
    uint64_t memory_context; /* GPU: bytes of it that opening the device and its kernels took */
    char uuid[48];           /* GPU: as nvidia-smi prints it, "GPU-1f2e..."; "": it has none */
} motet_device_info;

/* Devices of the context. DEVICE_LOST: it is lost; asking never brings it back. */
MOTET_API int motet_context_devices(const motet_context *context);
MOTET_API motet_status motet_context_device(const motet_context *context, int index,
                                            motet_device_info *out);

/* How many GPUs this process may use, whether the context has them or not. `absence`, unless NULL:
 * where there is none, why, in a line; else "". */
MOTET_API int motet_context_gpus(motet_context *context, char absence[160]);

/* How the work is shared out: device i gets weight[i] / sum of it, in whole rows; 0: none. For the
 * operations whose name is `operation` or begins with it up to a '.', ':' or '_' ("ct" is
 * "ct.filter", too; the longest name wins), or all (NULL). One for each device of the context.
 * NULL weights: as if none had been set: all the same, but 0 for fallbacks. Holds for runs that
 * begin later, and never changes bits. BAD_ARGUMENT: another number of weights, negative ones, not
 * finite ones, all 0; a name that is empty, has spaces or more than 63 bytes; more than 32 names.
 */
MOTET_API motet_status motet_context_weights(motet_context *context, const char *operation,
                                             int count, const double *weights);

/* A device that fails during a run is lost: others do its work, and runs go on without it. It is
 * tried again when a run begins, 30 s after the loss and after each attempt at the earliest, at
 * most 6 times an hour, and it is used only when it computes known bits. */
typedef struct motet_device_state {
    char name[32]; /* as in motet_device_info, also of a lost one */
    int lost;
    int64_t losses, returns, attempts;
    double wait;      /* seconds until it may be tried; 0: now, or it is not lost */
    char reason[160]; /* of the last loss, also when it is back; "": it was never lost */
} motet_device_state;

MOTET_API motet_status motet_context_device_state(const motet_context *context, int index,
                                                  motet_device_state *out);
/* Tries now what a run would try when it begins; answers how many devices are usable. */
MOTET_API int motet_context_recover(motet_context *context);

/* "base", "v3", "v4", "auto"; and whether this processor can run it. */
MOTET_API const char *motet_isa_text(motet_isa isa);
MOTET_API int motet_isa_available(motet_isa isa);

#ifdef __cplusplus
}
#endif
#endif
