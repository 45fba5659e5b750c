/* Parts of arrays: what a chunk sees of a port, and moving it between the array and packed memory.
 */
#ifndef MOTET_RT_PIPE_BOX_H
#define MOTET_RT_PIPE_BOX_H

#include "rt/op.h"

/* Along each axis of an array the elements [first, first + count). */
typedef struct pipe_box {
    int64_t first[MOTET_MAX_AXES], count[MOTET_MAX_AXES];
} pipe_box;

pipe_box pipe_box_whole(const motet_array *array);
/* What the chunk sees of the port: its part of the box and the stream, and the halo. */
pipe_box pipe_box_of(const rt_op *op, const rt_port *port, const rt_chunk *chunk);
size_t pipe_box_bytes(const rt_port *port, const pipe_box *box);
/* `part` of a port in memory where `held`, which contains it, lies without gaps. */
rt_view pipe_view(const rt_port *port, void *data, const pipe_box *held, const pipe_box *part);
/* What a chunk touches through a view: rows, where it has one stride beside the elements' own;
 * else all from the first to the last element. */
dev_access pipe_access(const rt_port *port, const rt_view *view);

/* Bytes [offset, offset + bytes) of a box without gaps, which lie at `packed`. */
void pipe_pack(const rt_port *port, const void *array, const pipe_box *box, size_t offset,
               size_t bytes, void *packed);
void pipe_unpack(const rt_port *port, void *array, const pipe_box *box, size_t offset, size_t bytes,
                 const void *packed);

#endif
