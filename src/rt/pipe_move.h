/* Moving parts between the arrays of an operation, or what stands for them, and memory where they
 * lie without gaps. */
#ifndef MOTET_RT_PIPE_MOVE_H
#define MOTET_RT_PIPE_MOVE_H

#include "rt/pipe_box.h"

/* Fills `packed` with the part of the port: from its source, or from `array` by its row list. */
motet_status pipe_gather(const rt_port *port, const void *array, const pipe_box *box, void *packed);
/* Takes the part out: to the sink, or into `array`, or adds it there. BAD_DATA: a sum leaves the
 * range; the array is then partly changed. What is added from may be changed, too. */
motet_status pipe_scatter(motet_context *context, const rt_op *op, const rt_port *port, void *array,
                          const pipe_box *box, void *packed);

/* The first element of the box, as it lies in the array, that differs from what is packed; -1: none
 * does. */
int64_t pipe_differs(const rt_port *port, const void *array, const pipe_box *box,
                     const void *packed);
/* "0, 3, 17": where an element of the array is. */
enum { PIPE_PLACE = 24 * MOTET_MAX_AXES };
void pipe_place(const rt_port *port, int64_t element, char text[PIPE_PLACE]);

/* Bytes [offset, offset + bytes) of a box without gaps, which lie at `packed`, from and to the
 * array itself. */
void pipe_pack(const rt_port *port, const void *array, const pipe_box *box, size_t offset,
               size_t bytes, void *packed);
void pipe_unpack(const rt_port *port, void *array, const pipe_box *box, size_t offset, size_t bytes,
                 const void *packed);
/* The run that begins with byte `offset` of a box which is not empty: answers where it is in the
 * array, in bytes; *size: how long it is, at most `bytes`. */
size_t pipe_run(const rt_port *port, const pipe_box *box, size_t offset, size_t bytes,
                size_t *size);

#endif
