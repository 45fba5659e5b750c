/* Iterative solvers that go on when a device is lost.
 *
 * A solver's state is a few arrays that stay on devices from step to step (rt/array.h), and a few
 * numbers on the host. Every so often it is copied to host memory: a snapshot. When a device is
 * lost with part of the state, the last snapshot is put back and the loop goes on from its step
 * with the devices that remain; steps are functions of the state alone, so the bits are the same. A
 * snapshot is taken when the time since the last one, on the context's clock, makes its cost no
 * more than a twentieth; none, where all devices work in host memory and there is no folder.
 *
 * With a folder, snapshots go to a file there by the same rule, and what was begun by another
 * process goes on from it, to the same bits. The file is there until the loop has succeeded; with
 * `keep` it is then of the loop's end, until rt_loop_forget: whatever becomes of the result,
 * nothing is computed again.
 *
 * Where a state is on disk (rt/disk.h) no device has a part of it, and there are no snapshots of
 * it: the loop ends with the loss that ends a step. Its checkpoints are copied from disk to disk
 * after a step, by the same rule; none is written when a step fails or the copy is cancelled. */
#ifndef MOTET_RT_LOOP_H
#define MOTET_RT_LOOP_H

#include "rt/array.h"

enum { RT_LOOP_STATES = 16 };

typedef struct rt_loop {
    const char *name; /* "ct.cgls": of the checkpoint's file, too */
    /* All that a step needs from the one before. What else it uses and writes it writes as a whole
     * before it reads it. */
    motet_array *state[RT_LOOP_STATES];
    int states;
    void *numbers; /* on the host; `numbers_bytes` of them, at most 4096 */
    size_t numbers_bytes;
    int64_t steps; /* at most */
    /* Step k, from 0: runs operations, changes the state. *done = 1: there is no further one, which
     * must not depend on time. Called again for the same k after a loss. */
    motet_status (*step)(int64_t k, int *done, void *user);
    /* Before the first step, where a checkpoint was found; NULL: nothing. *step is the next one,
     * and may become a lower one; *done = 1: there is none, as the last one said that was taken. */
    motet_status (*resume)(int64_t *step, int *done, void *user);
    void *user;
    double share;            /* of the time that snapshots may take, and checkpoints; 0: 0.05 */
    const char *folder;      /* of the checkpoint, made if it is not there; NULL: none */
    int keep;                /* 1: it stays after a success */
    uint64_t fingerprint[2]; /* of all that the steps depend on beside the state: a checkpoint is
                                taken only where it is the same */
} rt_loop;

typedef struct rt_loop_result {
    int64_t steps;   /* of the solver: those of an earlier process included */
    int64_t resumed; /* of those; 0: it began anew */
    int64_t taken;   /* steps that were computed here, those that were lost included */
    int64_t snapshots, restored, written;
    double seconds, snapshot_seconds, written_seconds;
} rt_loop_result;

/* 1 if it takes snapshots; of the loop only the folder counts. */
int rt_loop_keeps(motet_context *context, const rt_loop *loop);
/* Bytes of host memory that it takes beside the arrays: for plans. */
int64_t rt_loop_bytes(motet_context *context, const rt_loop *loop);

/* Until the last step is done; the state is then in host memory, and `out` (NULL is legal) tells
 * about it. What a step answers: after DEVICE_LOST it goes on, as long as a device is left. After a
 * failure the state is undefined and the checkpoint holds the last snapshot. OVER_BUDGET: the
 * snapshot does not fit the context's bound; BAD_ARGUMENT: the folder has a checkpoint of another
 * computation; IO: the folder cannot be read. A checkpoint that cannot be written is warned about,
 * and the former one stays; a damaged one, too, and is not used. */
motet_status rt_loop_run(motet_context *context, const rt_loop *loop, rt_loop_result *out);
/* Removes the checkpoint of a loop of that name, if there is one; the folder stays. IO. */
motet_status rt_loop_forget(motet_context *context, const char *folder, const char *name);
/* The same, of what is done whether or not this fails: then it is warned about. */
void rt_loop_tidy(motet_context *context, const char *folder, const char *name);

#endif
