/* Uploads and downloads of whole arrays; the order is the stream's. */
#include "rt/stage.h"

motet_status rt_stage_in(rt_stage *stage, dev *device, dev_stream *stream, const rt_op *op)
{
    const dev_table *t = device->table;
    for (int i = 0; i < RT_PORTS; i++) {
        const rt_port *p = &op->port[i];
        if (!p->array) continue;
        TRY(t->alloc(device, DEV_DEVICE, p->array->bytes, &stage->memory[i]));
        t->memory_name(device, &stage->memory[i], p->name);
        if (p->access == RT_WRITE) continue;
        t->host_access(device, p->array->data, p->array->bytes, 0);
        TRY(t->copy(stream, stage->memory[i].data, p->array->data, p->array->bytes));
    }
    return MOTET_OK;
}

motet_status rt_stage_out(const rt_stage *stage, dev *device, dev_stream *stream, const rt_op *op,
                          void *const to[RT_PORTS])
{
    for (int i = 0; i < RT_PORTS; i++) {
        const rt_port *p = &op->port[i];
        if (p->array && p->access != RT_READ)
            TRY(device->table->copy(stream, to[i], stage->memory[i].data, p->array->bytes));
    }
    return MOTET_OK;
}

void rt_stage_end(rt_stage *stage, dev *device)
{
    for (int i = 0; i < RT_PORTS; i++)
        if (stage->memory[i].data) device->table->release(device, &stage->memory[i]);
}
