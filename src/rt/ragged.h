/* Operations whose rows have a length that is known only when they are computed: count, scan, fill.
 *
 * A first operation counts the entries of each row, the host makes places of the counts
 * (kern/scan.h), a second one fills them. Or, where counting costs as much as filling: each row
 * gets room for `capacity` entries, and those that hold more are run again, alone, with the room
 * that they said they need; that takes room for rows * capacity entries besides the result's.
 *
 * Nothing depends on how rows are cut, and nothing is allocated beyond the bytes allowed. */
#ifndef MOTET_RT_RAGGED_H
#define MOTET_RT_RAGGED_H

#include "rt/rows.h"
#include "rt/run.h"

/* The ports that are added to those that the engine reads. */
enum {
    RT_LENGTHS = RT_PORTS - 3, /* written: int64 [rows], entries of each row */
    RT_SPANS,  /* read: rt_span of each row, as int64 [rows][3]; not when counting */
    RT_ENTRIES /* written: [entries][width]; not when counting */
};

/* Where fill finds a row's place: entry k of it is element span.first + k along axis 0 of the
 * entries' view, whose own `first` is to be taken off as ever. */
typedef struct rt_span {
    int64_t row; /* the row's number, which is not its place in the box when rows run again */
    int64_t first, room; /* entries */
} rt_span;

typedef struct rt_ragged {
    /* What is read: a box of one axis, nothing streamed, no written ports, none from RT_LENGTHS on.
     * `enqueue` is not used. Ports that the box cuts may be given by row lists: item i of a launch
     * is row chunk->first[0] + i of all views; span.row tells which row that is. */
    rt_op op;
    motet_type type;
    int64_t width; /* elements of an entry */
    /* Puts kernels on the queue that write each row's length; a negative one says that the row is
     * bad. NULL: `capacity` is used. */
    motet_status (*count)(const rt_chunk *chunk, const rt_queue *queue, const void *user);
    /* Writes min(length, room) entries of each row, zeros in what is left of its room, and its
     * length. */
    motet_status (*fill)(const rt_chunk *chunk, const rt_queue *queue, const void *user);
    int64_t capacity;    /* entries of a row at first; 0: rows are counted */
    uint64_t most_bytes; /* of the host that may be held for it at once, result included, beside
                            what each run's plan says; 0: what the context allows */
} rt_ragged;

/* *out is written on success only. OVER_BUDGET names rows, entries, bytes and the bytes allowed;
 * nothing beyond those was allocated then. BAD_DATA: a row's length is negative; INTERNAL: the
 * declaration makes no sense, or filling finds another length than counting; else as rt_run. */
motet_status rt_ragged_run(motet_context *context, const rt_ragged *ragged,
                           const rt_run_options *options, rt_rows **out);

#endif
