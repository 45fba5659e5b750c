/* What tests say to the CUDA driver that has no GPU, and ask it: the symbol `fake_cuda` of that
 * libcuda.so.1. Counts begin with 1; 0: never. Numbers are those of the driver.
 *
 * For programs that are driven from outside, the environment says the same, once a process:
 * FAKE_CUDA_DEVICES (1), FAKE_CUDA_MEMORY (256M, of each), FAKE_CUDA_SEED, FAKE_CUDA_VERSION
 * (13000), FAKE_CUDA_TRAP and FAKE_CUDA_HANG (the nth launch), FAKE_CUDA_FAIL (function:nth
 * call:result). */
#ifndef MOTET_TEST_FAKE_CUDA_H
#define MOTET_TEST_FAKE_CUDA_H

#include <stddef.h>
#include <stdint.h>

typedef void fake_cuda_range(const void *args, int64_t begin, int64_t end, void *scratch);

typedef struct fake_cuda_counts {
    int64_t allocations, host_allocations; /* that are there now, on all devices */
    int64_t streams, events, modules, retained;
    int64_t launches, copies;       /* executed since the reset, launches of no items left out */
    int hung;                       /* streams that hang */
    uint64_t used[8], used_peak[8]; /* bytes of each device */
    int64_t device_launches[8];     /* executed on each */
    int findings;                   /* what a real driver would have punished otherwise */
} fake_cuda_counts;

typedef struct fake_cuda_control {
    /* Everything is as in a fresh process, with so many devices of so many bytes. Waits for what
     * runs. */
    void (*reset)(int devices, uint64_t memory, uint64_t seed);
    void (*count)(fake_cuda_counts *out);
    const char *(*finding)(int index);      /* "" beyond the last; the first 16 are kept */
    int64_t (*calls)(const char *function); /* since the reset; -1: there is no such function */
    const char *(*function)(int index);     /* the functions there are; NULL ends them */

    /* From now on the nth call of the function answers `result`, and so many calls after it. */
    int (*refuse)(const char *function, int64_t nth, int result, int64_t more);
    /* The nth launch that is executed from now on ends like a kernel that traps: every later call
     * of the process answers `result`. */
    void (*trap)(int64_t nth, int result);
    /* It never ends; whatever would wait for it is a finding, and does not wait. */
    void (*hang)(int64_t nth);
    /* So many health kernels of the device give wrong bits (-1: all). */
    void (*wrong_health)(int device, int times);
    /* The nth copy executed from now on has a wrong bit. */
    void (*corrupt)(int64_t nth);
    /* Somebody else has taken so many bytes of the device. */
    void (*taken)(int device, uint64_t bytes);
    void (*version)(int version);
    /* Nothing is executed meanwhile. */
    void (*hold)(int held);
    /* A kernel that is in no image but of a test: the entry `name`_entry. */
    void (*kernel)(const char *name, size_t args_bytes, fake_cuda_range *range);

    /* The calling thread's context stack. */
    int (*depth)(void);
    const void *(*current)(void);
} fake_cuda_control;

#endif
