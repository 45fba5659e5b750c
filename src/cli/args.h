/* A command line, parsed and checked against the command's table. */
#ifndef MOTET_CLI_ARGS_H
#define MOTET_CLI_ARGS_H

#include "command.h"

typedef struct flag_value {
    int given;
    int automatic;    /* the word "auto" */
    const char *text; /* as typed; NULL when absent or bare */
    double real[3];
    int64_t whole[3];
    int count; /* numbers given, of REALS and SIZES; a single one is repeated in the others */
    uint64_t bytes;
    int choice; /* index of the word; -1 when absent */
} flag_value;

enum { MAX_FLAGS = 64 };

typedef struct args {
    const command *command;
    const char *positional[POSITIONALS]; /* NULL when absent */
    flag_value values[MAX_FLAGS];        /* in the order of command_flag */
    int argc;
    char **argv;
} args;

/* Parses argv[first..]. EXIT_OK, or EXIT_USAGE after one line on stderr. `help` becomes 1 when
 * --help or -h was met: then nothing else is checked. */
int args_parse(const command *c, int argc, char **argv, int first, args *out, int *help);

/* The value of a flag of this command. */
const flag_value *args_value(const args *a, const char *name);
int args_given(const args *a, const char *name);
double args_real(const args *a, const char *name, double otherwise);
int64_t args_whole(const args *a, const char *name, int64_t otherwise);
const char *args_text(const args *a, const char *name); /* NULL when absent */

/* One line on stderr, "motet ct recon: ...", with control characters replaced; answers `code`. */
int complain(const command *c, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

/* Index of `word` among "a|b|c"; -1: none. */
int choice_index(const char *choices, const char *word);
/* Choice number `index`: its length in *length, its start returned; NULL past the end. */
const char *choice_at(const char *choices, int index, int *length);

/* The candidate closest to a mistyped word, NULL if none is close; candidates end with NULL. */
const char *suggest(const char *word, const char *const *candidates);

#endif
