/* Reading ahead: a thread of a run that reads from sources while others compute and send. The run
 * asks for parts, goes on with what else there is to do, and looks whether they are there. */
#ifndef MOTET_RT_FETCH_H
#define MOTET_RT_FETCH_H

#include "rt/pipe_box.h"

typedef struct rt_fetch rt_fetch;

/* Parts that are asked for together; the asker's, in its place until they are there. */
typedef struct rt_fetch_list {
    int count;
    struct {
        const rt_port *port; /* with a source that may be read on another thread */
        pipe_box box;
        void *to;
    } part[RT_PORTS];

    /* The thread's, until it is done. */
    motet_status status;
    motet_error error;
    int pending;
    struct rt_fetch_list *next;
} rt_fetch_list;

/* NULL: there is no memory or no thread for it; then one reads by oneself. */
rt_fetch *rt_fetch_open(motet_context *context);
void rt_fetch_close(rt_fetch *fetch); /* nothing is pending; NULL is legal */

/* Between them nothing is read ahead: for what the run reads itself. Waits for the parts that are
 * being read; NULL is legal. */
void rt_fetch_hold(rt_fetch *fetch);
void rt_fetch_release(rt_fetch *fetch);

void rt_fetch_ask(rt_fetch *fetch, rt_fetch_list *list);
/* BUSY, or what the source answered, with its message. */
motet_status rt_fetch_poll(rt_fetch *fetch, rt_fetch_list *list);
/* Its memory is left alone from now on. */
void rt_fetch_wait(rt_fetch *fetch, rt_fetch_list *list);
/* Sleeps until something asked for is there, but no longer than that. */
void rt_fetch_doze(rt_fetch *fetch, int64_t nanoseconds);

#endif
