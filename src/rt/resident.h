/* A run's use of arrays that stay on devices: which parts its kernels see, what has to come home
 * before it begins, and what is swapped in when it has succeeded. */
#ifndef MOTET_RT_RESIDENT_H
#define MOTET_RT_RESIDENT_H

#include "rt/part.h"
#include "rt/plan.h"

/* What a port of a device sees. Its first bytes up to `low` and those from `high` on come from the
 * home, the ones between from another part of the device, `own`. */
typedef struct rt_use {
    rt_part *part;
    rt_part *own; /* NULL: low and high are 0 */
    size_t low, high, own_offset;
    int fill;  /* 0: nothing has to be brought there */
    int fresh; /* made by this run, no array's yet */
} rt_use;

typedef struct rt_resident {
    motet_context *context;
    const rt_op *op;
    const rt_plan *plan;
    const int *index;                 /* of each device of the plan in the context's set */
    rt_use use[RT_DEVICES][RT_PORTS]; /* by number in the context's set */
} rt_resident;

/* Ports (a bit each) that may use parts on a device with memory of its own. */
unsigned rt_resident_ports(const rt_op *op);
/* What the port holds on a device with the share: of ports that read one array, the same. */
pipe_box rt_resident_box(const rt_op *op, int port, const rt_share *share);
/* Bytes of new parts that the ports in share->resident need on the device, and of those, what may
 * have to be sent. `place` as in rt_plan_device. */
void rt_resident_bytes(const rt_op *op, const rt_share *share, int place, int64_t *bytes,
                       int64_t *fill);

/* Before the run: what it reads at home is there when this returns. *out is NULL when no array of
 * the operation stays anywhere. DEVICE_LOST: an array is broken; BUSY: parts that the plan counts
 * on have gone since, as others needed their bytes: it must be planned anew. Waits. */
motet_status rt_resident_begin(motet_context *context, const rt_op *op, const rt_plan *plan,
                               const int *index, rt_resident **out);
/* Memory for the new parts of a device. In what follows NULL is legal: nothing stays anywhere. */
motet_status rt_resident_take(rt_resident *r, int device, int64_t limit);
/* Bytes that have to be sent for them, rounded up to RT_ALIGN. */
size_t rt_resident_fill(const rt_resident *r, int device);
/* A device went out of the run, with this status and a reason in the record. Answers the status
 * that ends the run, if it had chunks to do and results stay on any device: nobody takes over. */
motet_status rt_resident_lost(rt_resident *r, int device, motet_status status);
/* The device, idle, uses no parts in this run any more: its next plan is one `from_home`, where all
 * that is read is when this returns. Waits. DEVICE_LOST: an array is broken. */
motet_status rt_resident_home(rt_resident *r, int device);
/* What was written is the arrays' from now on, and what a host computed of it, in `private` (NULL:
 * in place), is at home. */
void rt_resident_commit(rt_resident *r, void *const private[RT_PORTS]);
/* Always, last. */
void rt_resident_end(rt_resident *r);

#endif
