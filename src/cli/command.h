/* What a command is, as data: its name, its words of help, its arguments and flags, one worked
 * example and the function that runs it. Parsing, help, completion and docs/cli.md all come from
 * this one table. */
#ifndef MOTET_CLI_COMMAND_H
#define MOTET_CLI_COMMAND_H

#include <stdint.h>

enum exit_code {
    EXIT_OK,
    EXIT_USAGE,     /* the command line itself is wrong */
    EXIT_REFUSED,   /* an input or a value was refused */
    EXIT_FILES,     /* reading or writing failed */
    EXIT_DEVICE,    /* a device or memory was not there */
    EXIT_CANCELLED, /* Ctrl-C */
    EXIT_CHECK      /* a check failed, or Motet has a defect */
};

typedef enum flag_kind {
    FLAG_SWITCH,
    FLAG_TEXT,
    FLAG_FILE,
    FLAG_DEVICES, /* auto, or a list: device_list.h */
    FLAG_WEIGHTS, /* 1,2.5 or 1,2;ct.filter=0,1 */
    FLAG_REAL,
    FLAG_WHOLE,
    FLAG_BYTES,    /* 4G */
    FLAG_CHOICE,   /* `value` lists the words: "f32|u16" */
    FLAG_SPAN,     /* A:B, whole, A < B: A is in, B is not */
    FLAG_INTERVAL, /* LO:HI, real, LO < HI */
    FLAG_SIZE,     /* N or NxM */
    FLAG_SIZES,    /* N or NxMxL, whole */
    FLAG_REALS     /* X, XxY or XxYxZ, real; with a comma in place of x, too */
} flag_kind;

enum {
    MAY_BE_AUTO = 1,
    MAY_BE_BARE = 2 /* --mask as well as --mask=R */,
    NEEDED = 4,
    NOT_ZERO = 8
};

typedef struct flag {
    const char *name; /* "center" */
    char letter;      /* 'o' for -o; 0: none */
    flag_kind kind;
    unsigned rules;
    double low, high;     /* of REAL, WHOLE and SIZE, both included; both 0: no bound */
    const char *value;    /* what stands for the value in help: "X|auto" */
    const char *expected; /* ends the sentence '--center is "abc", expected ...' */
    const char *initial;  /* default, as help tells it; NULL: none worth telling */
    const char *help;
} flag;

typedef struct positional {
    const char *name; /* "SCAN"; NULL ends the list */
    const char *help;
    int optional;
    const char *choices; /* "bash|zsh|fish" for completion; NULL: a file */
} positional;

enum { POSITIONALS = 3 };

struct args;

/* Groups of flags that many commands share, in the order help shows them. */
enum {
    SHARED_VIEWS = 1, /* geometry of views in space: ct_views.h reads them */
    SHARED_SCAN = 2,  /* how a file of raw views is read */
    SHARED_RUN = 4,
    SHARED_TALK = 8,
    SHARED_JSON = 16,
    SHARED_OVERWRITE = 32,
    SHARED_GROUPS = 6
};

typedef struct command {
    const char *name; /* "ct recon"; a name that begins others ("ct") is a group and has no `run` */
    const char *help; /* one line */
    const char *about; /* a paragraph more; NULL: none */
    positional positionals[POSITIONALS + 1];
    const flag *flags; /* its own; ends with a name of NULL; NULL: none */
    unsigned shared;   /* SHARED_ bits */
    const char *example, *example_help;
    int (*run)(const struct args *args); /* answers an exit code */
} command;

extern const command commands[]; /* ends with a name of NULL */

typedef struct shared_group {
    const flag *flags;
    const char *title; /* "geometry": neighbours of the same title stand together in help */
} shared_group;

extern const shared_group shared_groups[SHARED_GROUPS];

const command *command_find(const char *name); /* NULL: none */
int command_is_group(const command *c);
/* 1 if `c` is shown in the listing of `group` ("" is the top): directly below it. */
int command_is_below(const command *c, const char *group);
const char *command_word(const command *c); /* the last word of its name */

/* All flags of a command, its own first, as one walk: for (i = 0; (f = command_flag(c, i)); i++).
 */
const flag *command_flag(const command *c, int index);
/* The title of the group that a flag is shown in; "" of the command's own. */
const char *command_flag_title(const command *c, int index);
int command_own_flags(const command *c);

/* Runs of the commands. */
int run_help(const struct args *args);
int run_version(const struct args *args);
int run_completion(const struct args *args);
int run_devices(const struct args *args);
int run_plan(const struct args *args);
int run_verify(const struct args *args);
int run_bench(const struct args *args);
int run_ct_info(const struct args *args);
int run_ct_convert(const struct args *args);
int run_ct_simulate(const struct args *args);
int run_ct_recon(const struct args *args);
int run_ct_phantom(const struct args *args);
int run_ct_project(const struct args *args);
int run_ct_backproject(const struct args *args);
int run_ct_fdk(const struct args *args);
int run_ct_fbp(const struct args *args);
int run_ct_cgls(const struct args *args);
int run_ct_sirt(const struct args *args);
int run_ct_check_geometry(const struct args *args);

#endif
