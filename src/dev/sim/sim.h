/* The simulated device: the real kernels on memory of its own, on a virtual clock, with faults at
 * will.
 *
 * There is no thread behind it. Commands execute while somebody polls or dozes, in an order and
 * with durations that follow from the seed, so a run repeats exactly. All simulated devices of a
 * context share one clock and one seed. What a program does wrong (an access without an event edge,
 * memory of another side, of a former epoch, released too early, beyond its end) is found whatever
 * the order happens to be, and told as a finding: one line that names both commands and the memory.
 *
 * "sim:0" to "sim:7" name the devices; higher ones are slower and smaller. It is for tests: a
 * context gets one only when it asks by name. A name may go on with what options.c lists, for tests
 * of the command: "sim:0@lose_at_command=7@memory=64M@seed=3". */
#ifndef MOTET_DEV_SIM_SIM_H
#define MOTET_DEV_SIM_SIM_H

#include "dev/dev.h"

enum { SIM_DEVICES = 8, SIM_FINDINGS = 32 /* texts kept; all are counted */ };

/* What goes wrong. Counts begin with 1; 0: never.
 *
 * A call is one that may fail: alloc, stream_create, event_create, event_record, stream_wait, copy,
 * copy_rows, fill, launch, peer; so its number does not depend on the seed. A command is a copy,
 * fill or launch that has begun, in the order of beginning. */
typedef struct sim_fault {
    int64_t lose_at_call;    /* that call, and all later ones, answer DEVICE_LOST */
    int64_t lose_at_command; /* it stops halfway, and the device is lost */
    int lose_again;          /* in later epochs, too, each counted anew */
    int refused_opens;  /* after a loss: so many opens answer DEVICE_LOST; -1: all, the device is
                           gone */
    int64_t fail_alloc; /* that one answers NO_MEMORY */
    int fail_alloc_on;  /* and all later ones */
    int64_t fail_call;  /* that one answers DEVICE_ERROR and does nothing */
    int fail_call_on;
    int64_t hang_at_command;    /* it never ends */
    int64_t corrupt_at_command; /* a bit of what it writes is wrong */
    int64_t crash_at_command;   /* the process does, by a bad instruction */
    int64_t slow_at_command;    /* from it on, commands take `slow` times as long */
    double slow;
    int wrong_health;           /* so many health checks find wrong bits; -1: all */
    uint64_t shrink_per_second; /* bytes of memory that somebody else takes, of virtual time */
} sim_fault;

typedef struct sim_device_config {
    uint64_t memory;         /* bytes; of them */
    uint64_t context;        /* so many are taken as soon as the device is open */
    double items_per_second; /* of any kernel */
    double upload, download; /* bytes per second; downloads count for copies between devices, too */
    int64_t latency;         /* nanoseconds that each command takes at least */
    sim_fault fault;
} sim_device_config;

typedef struct sim_config {
    uint64_t seed;
    double jitter;      /* durations are up to (1 + jitter) times longer; some are 8 times that */
    size_t watch_bytes; /* launches are compared byte for byte outside what they say they write,
                           while no more memory than this is in use */
    int watch_host;     /* pinned memory, too: only where one thread uses the context */
    int trap;           /* in AddressSanitizer builds: device memory that a command did not name is
                           poisoned, so that host and kernels trap at the access itself */
    void (*found)(const char *finding,
                  void *user); /* must not call back; NULL: the log, as errors */
    void *found_user;
    sim_device_config device[SIM_DEVICES];
} sim_config;

void sim_config_init(sim_config *config);

/* Before a device is opened; else the first one brings the defaults. BAD_ARGUMENT: one is open. */
motet_status sim_configure(motet_context *context, const sim_config *config);
/* Changes what goes wrong, also while the device is open; its counts begin anew. */
void sim_set_fault(motet_context *context, int number, const sim_fault *fault);

int64_t sim_findings(const motet_context *context); /* how many */
/* Text of the first SIM_FINDINGS; "" beyond. */
const char *sim_finding(const motet_context *context, int64_t index);
/* Looks at once for what is else looked for at the end: damaged red zones, writes to released
 * memory. */
void sim_check(motet_context *context);

int64_t sim_now(const motet_context *context);    /* virtual nanoseconds */
uint64_t sim_trace(const motet_context *context); /* depends on every command, its order and time */

typedef struct sim_counts {
    int64_t calls, commands, allocs; /* as sim_fault counts them */
    int64_t opens, losses;
    uint64_t used, used_peak;                  /* bytes of device memory; released at a close */
    int64_t items, uploaded, downloaded, busy; /* busy: nanoseconds of launches */
} sim_counts;
void sim_count(const motet_context *context, int number, sim_counts *out);

#endif
