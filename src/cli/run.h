/* What every run of a command shares: the context and its flags, Ctrl-C, progress, warnings, exit
 * codes, the JSON report. */
#ifndef MOTET_CLI_RUN_H
#define MOTET_CLI_RUN_H

#include <jansson.h>
#include <motet/motet.h>

#include "args.h"
#include "outfile.h"

enum { RUN_HINT = 192, RUN_DEVICES = 16 };

typedef struct run {
    const args *args;
    motet_context *context; /* made from the common flags */
    int talks;              /* a summary on stdout is wanted */
    int progress;           /* progress is wanted */
    int alone;              /* of the command itself only, not of the library's operations */
    outfile json_file;
    json_t *inputs, *outputs; /* of paths */
    json_t *result, *stages;
    double begun;                 /* seconds */
    char devices[2048];           /* as asked for, when some are left out */
    int devices_used;             /* how many the context has, */
    char device[RUN_DEVICES][32]; /* and their names */
    uint64_t host_memory;         /* most bytes on the host; 0: no bound */
} run;

/* Installs the handlers, makes the context, begins the JSON file. EXIT_OK, or a code after one line
 * on stderr; then nothing needs run_end. */
int run_begin(run *r, const args *a);
/* Writes the JSON report if all went well, frees everything; answers the exit code. */
int run_end(run *r, int code);

/* The library speaks of fields of its structs; this is what a user of the command can do about it:
 * "; --angles ...", or of another command when this one has no such flag. "" where there is nothing
 * to add. */
const char *run_hint(const run *r, motet_status status, const char *message, char out[RUN_HINT]);
/* Tells the context's last error (or the status's text) and answers the exit code. */
int run_fail(const run *r, const motet_context *context, motet_status status);
int run_exit_code(motet_status status);

/* 1 after Ctrl-C. */
int run_stopped(void);
/* "cancelled" on stderr, EXIT_CANCELLED. */
int run_cancelled(const run *r);
int cancelled(const args *a); /* the same, where there is no run */

/* Options of a context as the flags say, with callbacks. */
void run_options(run *r, motet_context_options *options);
/* A context that Ctrl-C reaches; one at a time, the run's own again after run_context_free. */
motet_status run_context(run *r, const motet_context_options *options, motet_context **out);
/* Tells why there is none; answers the exit code. */
int run_context_failed(const run *r, motet_status status);
/* From now on it is the run's own. */
void run_context_use(run *r, motet_context *context);
/* --weights, for a context with all the devices of --devices. */
motet_status run_weights(const run *r, motet_context *context);
void run_context_free(run *r, motet_context *context);

/* Named in the report; their bytes and digests are taken at the end. NULL paths are skipped. */
void run_input(run *r, const char *path);
void run_output(run *r, const char *path);
/* Refuses outputs (as named so far, and --json) that are an input or each other. */
int run_check_distinct(run *r);

/* Progress from the command itself. */
void run_progress(run *r, const char *phase, int64_t done, int64_t total);
void run_progress_end(run *r);

double run_now(void); /* seconds from any origin */
/* Time spent under a name; the same name adds up. */
void run_stage(run *r, const char *name, double seconds);
double run_stage_seconds(const run *r, const char *name);

json_t *json_finite(double value); /* null when not finite */

#endif
