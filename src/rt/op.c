/* Checks of an operation as its engine declared it, against the arrays that it was given. */
#include "rt/op.h"

/* expected -1: any size. */
static motet_status check_axis(motet_context *c, const rt_op *op, const rt_port *p, int axis,
                               int64_t expected, const char *what)
{
    if (axis < 0 || axis >= p->array->axes)
        return fail(c, MOTET_BAD_SHAPE, "%s: %s has %d axes, the operation needs axis %d", op->name,
                    p->name, p->array->axes, axis);
    if (expected >= 0 && p->array->shape[axis] != expected)
        return fail(c, MOTET_BAD_SHAPE, "%s: axis %d of %s has size %lld, %s has %lld", op->name,
                    axis, p->name, (long long)p->array->shape[axis], what, (long long)expected);
    return MOTET_OK;
}

static motet_status nonsense(motet_context *c, const rt_op *op, const rt_port *p, const char *what)
{
    return fail(c, MOTET_INTERNAL, "%s: %s %s", op->name, p->name, what);
}

static motet_status check_list(motet_context *c, const rt_op *op, const rt_port *p)
{
    if (p->access != RT_READ || p->halo || p->cut[0] == RT_WHOLE)
        return nonsense(c, op, p, "has a row list, so it is read, cut by axis 0, without a halo");
    if (p->list_count != op->extent[0])
        return fail(c, MOTET_BAD_SHAPE,
                    "%s: the row list of %s has %lld entries, the box %lld rows", op->name, p->name,
                    (long long)p->list_count, (long long)op->extent[0]);
    TRY(check_axis(c, op, p, p->cut[0], -1, NULL));
    const int64_t rows = p->array->shape[p->cut[0]];
    for (int64_t i = 0; i < p->list_count; i++)
        if (p->list[i] < 0 || p->list[i] >= rows)
            return fail(c, MOTET_BAD_DATA,
                        "%s: entry %lld of the row list of %s is %lld, expected 0 to %lld",
                        op->name, (long long)i, p->name, (long long)p->list[i],
                        (long long)rows - 1);
    return MOTET_OK;
}

static motet_status check_offset(motet_context *c, const rt_op *op, const rt_port *p)
{
    if (p->access == RT_ADD || p->halo || p->list || p->cut[0] == RT_WHOLE)
        return nonsense(
            c, op, p, "is ragged, so it is cut by axis 0, without halo or list, and not added to");
    TRY(check_axis(c, op, p, p->cut[0], -1, NULL));
    const int64_t size = p->array->shape[p->cut[0]], rows = op->extent[0];
    for (int64_t i = 0; i <= rows; i++) {
        const int64_t least = i ? p->offset[i - 1] : 0;
        if (p->offset[i] < least || p->offset[i] > size)
            return fail(c, MOTET_BAD_DATA, "%s: offset %lld of %s is %lld, expected %lld to %lld",
                        op->name, (long long)i, p->name, (long long)p->offset[i], (long long)least,
                        (long long)size);
    }
    if (p->access == RT_WRITE && (p->offset[0] || p->offset[rows] != size))
        return fail(c, MOTET_BAD_SHAPE,
                    "%s: the rows of %s are elements %lld to %lld, expected all of 0 to %lld",
                    op->name, p->name, (long long)p->offset[0], (long long)p->offset[rows],
                    (long long)size);
    return MOTET_OK;
}

static motet_status check_sum(motet_context *c, const rt_op *op, const rt_port *p)
{
    const int last = p->array->axes - 1;
    if (p->array->type != MOTET_I64 || p->limbs < 0)
        return nonsense(c, op, p, "is added to, so it has integers of int64, in limbs or not");
    for (int i = 0; i < op->axes && p->limbs; i++)
        if (p->cut[i] == last) return nonsense(c, op, p, "is cut between the limbs of a number");
    if (p->limbs && p->array->shape[last] % p->limbs)
        return fail(c, MOTET_BAD_SHAPE,
                    "%s: axis %d of %s has size %lld, expected a multiple of its %d limbs",
                    op->name, last, p->name, (long long)p->array->shape[last], p->limbs);
    return MOTET_OK;
}

/* What the fields of a port ask of each other. */
static motet_status check_kind(motet_context *c, const rt_op *op, const rt_port *p)
{
    if (p->halo < 0 || (p->access != RT_READ && (p->streamed || p->halo)))
        return nonsense(c, op, p, "is written with a halo or streamed");
    if (p->access == RT_ADD) TRY(check_sum(c, op, p));
    if (p->limbs && p->access != RT_ADD) return nonsense(c, op, p, "has limbs and is not added to");
    if (p->list) TRY(check_list(c, op, p));
    if (p->offset) TRY(check_offset(c, op, p));
    const int both = p->access == RT_UPDATE && p->source && p->sink;
    if (p->source && ((p->access != RT_READ && !both) || p->list || !p->source->read))
        return nonsense(c, op, p, "has a source, so it is read by it, without a row list");
    if (p->sink && ((p->access != RT_WRITE && !both) || !p->sink->take))
        return nonsense(c, op, p, "has a sink, so it is written and taken by it");
    if ((p->source || p->sink) && p->array->data)
        return nonsense(c, op, p, "has a source or a sink, and memory as well");
    if (p->transform && (!p->streamed || !motet_type_bytes(p->made_type)))
        return nonsense(c, op, p, "is transformed, so it is streamed, and made into a type");
    return MOTET_OK;
}

static motet_status check_port(motet_context *c, const rt_op *op, const rt_port *p)
{
    for (int i = 0; i < op->axes; i++) {
        if (p->cut[i] == RT_WHOLE) {
            if (p->access != RT_READ && p->access != RT_ADD)
                return fail(c, MOTET_INTERNAL, "%s: %s is written and not cut by axis %d", op->name,
                            p->name, i);
            continue;
        }
        if (i || (!p->list && !p->offset))
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
    return check_kind(c, op, p);
}

/* Beside a sink, what is computed may be given up and computed again: only what has left its slot
 * is updated then. */
int rt_port_buffered(const rt_op *op, const rt_port *p)
{
    if (p->access == RT_UPDATE && rt_op_ordered(op)) return 1;
    return p->access == RT_ADD || p->list || p->source || p->sink || p->apart;
}

int rt_op_buffered(const rt_op *op)
{
    for (int i = 0; i < RT_PORTS; i++) {
        const rt_port *p = &op->port[i];
        if (p->array && (rt_port_buffered(op, p) || p->transform)) return 1;
    }
    return 0;
}

int rt_op_ordered(const rt_op *op)
{
    for (int i = 0; i < RT_PORTS; i++)
        if (op->port[i].array && op->port[i].sink) return 1;
    return 0;
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
    if (!p->array || p->access == RT_READ || p->sink) return 0;
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
        if (p->access != RT_READ && p->array->versions)
            return fail(c, MOTET_BAD_ARGUMENT, "%s: %s is of a resource, which nobody writes",
                        op->name, p->name);
        for (int j = 0; j < i; j++) {
            const rt_port *q = &op->port[j];
            if (q->array && p->access != RT_READ && q->access != RT_READ && rt_ports_overlap(p, q))
                return fail(c, MOTET_BAD_ARGUMENT, "%s: %s and %s are written and share memory",
                            op->name, q->name, p->name);
        }
    }
    return MOTET_OK;
}
