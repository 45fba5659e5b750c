/* Checks of an operation as its engine declared it, against the arrays that it was given. */
#include "rt/op.h"

static motet_status check_axis(motet_context *c, const rt_op *op, const rt_port *p, int axis,
                               int64_t expected, const char *what)
{
    if (axis < 0 || axis >= p->array->axes)
        return fail(c, MOTET_BAD_SHAPE, "%s: %s has %d axes, the operation needs axis %d", op->name,
                    p->name, p->array->axes, axis);
    if (p->array->shape[axis] != expected)
        return fail(c, MOTET_BAD_SHAPE, "%s: axis %d of %s has size %lld, %s has %lld", op->name,
                    axis, p->name, (long long)p->array->shape[axis], what, (long long)expected);
    return MOTET_OK;
}

/* What the pipeline cannot do yet. */
static motet_status check_possible(motet_context *c, const rt_op *op, const rt_port *p)
{
    const char *what = p->access == RT_ADD ? "is added to"
                       : p->limbs          ? "has limbs"
                       : p->list           ? "has a row list"
                       : p->offset         ? "is ragged"
                       : p->source         ? "has a source"
                       : p->sink           ? "has a sink"
                       : p->transform      ? "is transformed"
                                           : NULL;
    if (!what) return MOTET_OK;
    return fail(c, MOTET_UNSUPPORTED, "%s: %s %s, which the runtime cannot do yet", op->name,
                p->name, what);
}

static motet_status check_port(motet_context *c, const rt_op *op, const rt_port *p)
{
    for (int i = 0; i < op->axes; i++) {
        if (p->cut[i] == RT_WHOLE) {
            if (p->access != RT_READ)
                return fail(c, MOTET_INTERNAL, "%s: %s is written and not cut by axis %d", op->name,
                            p->name, i);
            continue;
        }
        TRY(check_axis(c, op, p, p->cut[i], op->extent[i], "the box"));
        for (int j = 0; j < i; j++)
            if (p->cut[i] == p->cut[j])
                return fail(c, MOTET_INTERNAL, "%s: axis %d of %s is cut twice", op->name,
                            p->cut[i], p->name);
        if (p->streamed && p->cut[i] == p->stream_axis)
            return fail(c, MOTET_INTERNAL, "%s: axis %d of %s is cut and streamed", op->name,
                        p->cut[i], p->name);
    }
    if (p->streamed) TRY(check_axis(c, op, p, p->stream_axis, op->stream_extent, "the stream"));
    if (p->halo < 0 || (p->access != RT_READ && (p->streamed || p->halo)))
        return fail(c, MOTET_INTERNAL, "%s: %s is written with a halo or streamed", op->name,
                    p->name);
    return check_possible(c, op, p);
}

int rt_ports_overlap(const rt_port *a, const rt_port *b)
{
    if (a->array == b->array) return a->array->bytes > 0;
    if (!a->array->data || !b->array->data) return 0; /* sizes only, as plans have them */
    const uintptr_t x = (uintptr_t)a->array->data, y = (uintptr_t)b->array->data;
    return x < y + b->array->bytes && y < x + a->array->bytes;
}

int rt_port_private(const rt_op *op, int port)
{
    const rt_port *p = &op->port[port];
    if (!p->array || p->access == RT_READ) return 0;
    if (!(p->array->flags & MOTET_WRITE_DIRECT)) return 1;
    for (int j = 0; j < RT_PORTS; j++)
        if (j != port && op->port[j].array && rt_ports_overlap(p, &op->port[j])) return 1;
    return 0;
}

motet_status rt_op_check(motet_context *c, const rt_op *op)
{
    if (op->axes < 1 || op->axes > RT_AXES || op->stream_extent < 0 || op->stream_block < 0)
        return fail(c, MOTET_INTERNAL, "%s: a box of %d axes", op->name, op->axes);
    for (int i = 0; i < op->axes; i++)
        if (op->extent[i] < 0 || op->grain[i] < 0)
            return fail(c, MOTET_INTERNAL, "%s: axis %d of the box is negative", op->name, i);
    for (int i = 0; i < RT_PORTS; i++) {
        const rt_port *p = &op->port[i];
        if (!p->array) continue;
        TRY(check_port(c, op, p));
        for (int j = 0; j < i; j++) {
            const rt_port *q = &op->port[j];
            if (q->array && p->access != RT_READ && q->access != RT_READ && rt_ports_overlap(p, q))
                return fail(c, MOTET_BAD_ARGUMENT, "%s: %s and %s are written and share memory",
                            op->name, q->name, p->name);
        }
    }
    return MOTET_OK;
}
