/* Supervision: a parent that computes nothing runs the command in a child, this program executed
 * again with the same arguments, and starts a fresh child when one is killed, crashes or falls
 * silent. What the children share is a journal of finished chunks, so a fresh one skips what is
 * done. A device that breaks a process therefore costs its process, not the command. */
#ifndef MOTET_CLI_SUPERVISE_H
#define MOTET_CLI_SUPERVISE_H

#include <motet/motet.h>

#include "args.h"

/* ---- The parent: supervise.c ---- */

int supervise_wanted(const args *a);
/* Runs the command; answers its exit code, or EXIT_DEVICE when fresh children did not help. */
int supervise(const args *a);

/* ---- The child: child.c. All but child_begin do nothing elsewhere. ---- */

/* Before anything else. 0: the parent is gone already. */
int child_begin(void);
int child_is(void);
int child_is_fresh(void); /* 1: it goes on where another one ended */
/* The journal that this child shares with those before and after it; not with a folder's. */
motet_status child_journal(motet_context *context);
/* The devices named, with those taken out again that are left out for now; `room` bytes. */
const char *child_devices(const char *names, char *out, size_t room);
/* For a signal's handler: its parent is gone, so it ends soon, one way or another. */
void child_orphaned(void);
void child_uses(const char *device, const char *uuid); /* "": it has none */
void child_beat(void);                                 /* it lives; as often as wanted */
void child_marked(const char *mark);  /* so it calls what it writes beside outputs */
void child_output(const char *path);  /* it will be written, beside it first */
void child_placing(const char *path); /* what is beside it is about to take its place */
void child_over(int code);            /* everything is written and said */
/* 1: the parent is told which device ended the run, and answers by a fresh child: say nothing. */
int child_lost(const char *device, const char *reason);

#endif
