/* What is left to do, as boxes in ascending order of their first corners: what devices that were
 * lost left behind, and all of the work where pieces must be taken in order. */
#ifndef MOTET_RT_PIPE_LIST_H
#define MOTET_RT_PIPE_LIST_H

#include "kern/digest.h"
#include "rt/op.h"

typedef struct pipe_task { /* a part of the operation's box */
    int64_t first[RT_AXES], count[RT_AXES];
    int by; /* 0: to be computed; else computed once more and compared, as device `by` - 1 of the
               plan computed it first, */
    digest sums; /* with these sums, where the operation adds */
} pipe_task;

typedef struct pipe_list {
    motet_context *context;
    const char *name; /* of the operation, for messages */
    pipe_task *task;  /* the first one last */
    int64_t count, room;
} pipe_list;

/* Axis 0 slowest: < 0 when a comes before b. */
int pipe_task_compare(const pipe_task *a, const pipe_task *b);

/* Empty ones are left out. NO_MEMORY: the list is as it was. */
motet_status pipe_list_add(pipe_list *list, const pipe_task *task);
const pipe_task *pipe_list_first(const pipe_list *list); /* NULL: there is none */
/* Moves one to the front, which leaves the order to the caller. */
void pipe_list_prefer(pipe_list *list, int64_t number);
/* The first piece of at most so many rows along each axis, which crosses no multiple of them; the
 * list is not empty. NO_MEMORY: the list is as it was. */
motet_status pipe_list_take(pipe_list *list, const int64_t rows[RT_AXES], pipe_task *piece);
/* The first one, uncut. */
void pipe_list_take_whole(pipe_list *list, pipe_task *task);
void pipe_list_free(pipe_list *list);

#endif
