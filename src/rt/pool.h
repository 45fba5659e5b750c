/* Memory kept from run to run: arenas and staging of devices, private copies. Page-locked memory is
 * dear to make, and large blocks of any kind are. What is idle is given back as soon as somebody
 * needs the bytes: it never makes a plan smaller or an allocation fail. */
#ifndef MOTET_RT_POOL_H
#define MOTET_RT_POOL_H

#include "rt/devices.h"

typedef enum rt_pool_kind { RT_POOL_ARENA, RT_POOL_STAGING, RT_POOL_KINDS } rt_pool_kind;
enum { RT_POOL_BLOCKS = 2 /* of each kind that are kept */ };

motet_status rt_pool_open(motet_context *context);
void rt_pool_close(motet_context *context); /* before the devices are closed */

/* Memory of exactly so many bytes, with undefined contents, for the taker alone. Nothing idle stays
 * on the device where else more than `limit` bytes would be allocated there. What the device
 * answers, after a try without anything idle. The device is in use by the caller. */
motet_status rt_pool_take(motet_context *context, rt_device *one, rt_pool_kind kind, size_t bytes,
                          int64_t limit, dev_memory *out);
/* The same, always fresh. */
motet_status rt_pool_alloc(motet_context *context, rt_device *one, rt_pool_kind kind, size_t bytes,
                           int64_t limit, dev_memory *out);
/* No command uses it any more. Kept, or released: of a lost device or one that uses host memory, or
 * the oldest when there are too many. `memory` is cleared. */
void rt_pool_give(motet_context *context, rt_device *one, rt_pool_kind kind, dev_memory *memory);

/* The same for memory of the host; `zero`: all bytes are 0. NULL: there is none. */
void *rt_pool_take_host(motet_context *context, size_t bytes, int zero);
void rt_pool_give_host(motet_context *context, void *block, size_t bytes); /* NULL is legal */

/* Releases what is idle: all, of a device that the caller uses, staging alone. Answers how many
 * blocks. */
int rt_pool_flush(motet_context *context);
/* What devices keep of their own for the next operation is given back: scratch for one operation is
 * in the way of others. 1: there was some. */
int rt_pool_trim_devices(motet_context *context);
int rt_pool_flush_device(motet_context *context, rt_device *one);
int rt_pool_flush_staging(motet_context *context);

/* Idle bytes of device memory, of page-locked memory of all devices. */
int64_t rt_pool_idle(motet_context *context, const rt_device *one);
int64_t rt_pool_idle_staging(motet_context *context);

#endif
