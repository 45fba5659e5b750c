/* Removing what a process that is gone left behind: files and folders that it was writing beside
 * their place, and outputs that it had put in place before it could say that all was done. */
#ifndef MOTET_CLI_SWEEP_H
#define MOTET_CLI_SWEEP_H

#include <stdint.h>

enum { SWEEP_OUTPUTS = 8, SWEEP_FILES = 32 };

typedef struct sweep {
    char mark[17]; /* "": nothing was written yet */
    char *output[SWEEP_OUTPUTS];
    int outputs;
    struct {
        uint64_t device, inode;
    } file[SWEEP_FILES];
    int files;
} sweep;

/* What the names of its temporary files hold. */
void sweep_mark(sweep *s, const char *mark);
void sweep_output(sweep *s, const char *path);
/* A file or folder that is about to take the place of an output. */
void sweep_file(sweep *s, uint64_t device, uint64_t inode);
/* The process has ended. `keeps`: outputs in place stay (they replaced what was there). */
void sweep_after(sweep *s, int keeps);
void sweep_free(sweep *s);

#endif
