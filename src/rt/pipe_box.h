/* Parts of arrays: what a chunk sees of a port, and where it lies. */
#ifndef MOTET_RT_PIPE_BOX_H
#define MOTET_RT_PIPE_BOX_H

#include "rt/op.h"

/* Along each axis of an array the elements [first, first + count). A port with a row list has rows
 * of the box in place of rows of the array along its axis cut[0]. */
typedef struct pipe_box {
    int64_t first[MOTET_MAX_AXES], count[MOTET_MAX_AXES];
} pipe_box;

pipe_box pipe_box_whole(const motet_array *array);
/* What the chunk sees of the port: its part of the box and the stream, and the halo. */
pipe_box pipe_box_of(const rt_op *op, const rt_port *port, const rt_chunk *chunk);
int64_t pipe_box_elements(const rt_port *port, const pipe_box *box);
size_t pipe_box_bytes(const rt_port *port, const pipe_box *box);
/* The largest part of `box` that is a box, begins at element `from` of it, lies without gaps where
 * `box` does, and has at most `most` elements. Answers how many it has: at least one, unless
 * nothing is left. */
int64_t pipe_box_piece(const rt_port *port, const pipe_box *box, int64_t from, int64_t most,
                       pipe_box *piece);
/* `part` of a port in memory where `held`, which contains it, lies without gaps. */
rt_view pipe_view(const rt_port *port, void *data, const pipe_box *held, const pipe_box *part);
/* The same of what the port's transform makes. */
rt_view pipe_view_made(const rt_port *port, void *data, const pipe_box *held, const pipe_box *part);
/* What a chunk touches through a view of elements of `type`: rows, where it has one stride beside
 * the elements' own; else all from the first to the last element. */
dev_access pipe_access(const rt_port *port, motet_type type, const rt_view *view);

#endif
