/* Ports on a device that does not reach host memory: whole arrays there, uploaded before the first
 * chunk and downloaded after the last. Whole arrays may be more than the plan says of such a
 * device: it fits or answers NO_MEMORY. */
#ifndef MOTET_RT_STAGE_H
#define MOTET_RT_STAGE_H

#include "rt/op.h"

typedef struct rt_stage {
    dev_memory memory[RT_PORTS];
} rt_stage;

/* Makes room for every port and puts uploads in the stream; what a port only writes is not
 * uploaded. */
motet_status rt_stage_in(rt_stage *stage, dev *device, dev_stream *stream, const rt_op *op);
/* Puts downloads of the written ports in the stream, each to where `to` says. */
motet_status rt_stage_out(const rt_stage *stage, dev *device, dev_stream *stream, const rt_op *op,
                          void *const to[RT_PORTS]);
/* When no command of it is left. */
void rt_stage_end(rt_stage *stage, dev *device);

#endif
