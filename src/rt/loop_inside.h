/* What the loop's files share. loop.c: steps, snapshots, losses; loop_file.c: the checkpoint. */
#ifndef MOTET_RT_LOOP_INSIDE_H
#define MOTET_RT_LOOP_INSIDE_H

#include "rt/loop.h"

enum { LOOP_NUMBERS = 4096 };

typedef struct loop_snapshot {
    int64_t step; /* the next one to be taken */
    char *state;  /* one after the other, each rounded up to 64 bytes */
    char numbers[LOOP_NUMBERS];
} loop_snapshot;

/* Where a state lies in snapshot->state; those on disk take no room there. */
size_t loop_place(const rt_loop *loop, int state);
int loop_on_disk(const rt_loop *loop); /* some state is */

/* The folder is there when it returns. Reading is cancelled as a phase is; writing where a state is
 * on disk: what is in memory is written however the loop ended. *found: the snapshot was read, and
 * states on disk are as in it; else these are as they were. BAD_ARGUMENT: it is another
 * computation's; IO, NO_MEMORY, CANCELLED. A damaged one is not found; the snapshot is undefined
 * then. */
motet_status loop_file_read(motet_context *context, const rt_loop *loop, loop_snapshot *snapshot,
                            int *found);
/* States on disk are those of the snapshot now. */
motet_status loop_file_write(motet_context *context, const rt_loop *loop,
                             const loop_snapshot *snapshot);

#endif
