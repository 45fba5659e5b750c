/* Boxes of arrays, and views of them. */
#include "rt/pipe_box.h"

#include <string.h>

pipe_box pipe_box_whole(const motet_array *a)
{
    pipe_box b;
    memset(&b, 0, sizeof b);
    for (int i = 0; i < a->axes; i++) b.count[i] = a->shape[i];
    return b;
}

static void cut_axis(pipe_box *b, int axis, int64_t first, int64_t count, int64_t halo)
{
    const int64_t size = b->count[axis]; /* whole so far */
    const int64_t before = first < halo ? first : halo;
    const int64_t behind = size - first - count < halo ? size - first - count : halo;
    b->first[axis] = first - before;
    b->count[axis] = before + count + behind;
}

pipe_box pipe_box_of(const rt_op *op, const rt_port *p, const rt_chunk *chunk)
{
    pipe_box b = pipe_box_whole(p->array);
    if (p->list) b.count[p->cut[0]] = p->list_count;
    for (int i = 0; i < op->axes; i++) {
        if (p->cut[i] == RT_WHOLE) continue;
        int64_t first = chunk->first[i], count = chunk->count[i];
        if (i == 0 && p->offset) {
            count = p->offset[first + count] - p->offset[first];
            first = p->offset[first];
        }
        cut_axis(&b, p->cut[i], first, count, i == 0 ? p->halo : 0);
    }
    if (p->streamed) cut_axis(&b, p->stream_axis, chunk->stream_first, chunk->stream_count, 0);
    return b;
}

int64_t pipe_box_elements(const rt_port *p, const pipe_box *b)
{
    int64_t elements = 1;
    for (int i = 0; i < p->array->axes; i++) elements *= b->count[i];
    return elements;
}

size_t pipe_box_bytes(const rt_port *p, const pipe_box *b)
{
    return motet_type_bytes(p->array->type) * (size_t)pipe_box_elements(p, b);
}

int64_t pipe_box_piece(const rt_port *p, const pipe_box *box, int64_t from, int64_t most,
                       pipe_box *piece)
{
    if (from >= pipe_box_elements(p, box)) return 0;
    *piece = *box;
    int64_t step = 1; /* elements of one index of the axis */
    int axis = p->array->axes - 1, grown = axis;
    int64_t size = 1;           /* of an index of axis `grown`, which the piece is a range of */
    for (; axis >= 0; axis--) { /* the outermost axis on which the place and the size allow it */
        if (from % step || step > most) break;
        grown = axis;
        size = step;
        step *= box->count[axis];
    }
    const int64_t at = from / size % box->count[grown], left = box->count[grown] - at;
    const int64_t count = left < most / size ? left : most / size;
    int64_t rest = from / size / box->count[grown];
    piece->first[grown] = box->first[grown] + at;
    piece->count[grown] = count;
    for (int i = grown - 1; i >= 0; i--) {
        piece->first[i] = box->first[i] + rest % box->count[i];
        piece->count[i] = 1;
        rest /= box->count[i];
    }
    return count * size;
}

static rt_view view_of(const rt_port *p, motet_type type, void *data, const pipe_box *held,
                       const pipe_box *part)
{
    rt_view v;
    memset(&v, 0, sizeof v);
    int64_t stride = 1, offset = 0;
    for (int i = p->array->axes - 1; i >= 0; i--) {
        v.first[i] = part->first[i];
        v.count[i] = part->count[i];
        v.stride[i] = stride;
        offset += (part->first[i] - held->first[i]) * stride;
        stride *= held->count[i];
    }
    v.data = stride ? (char *)data + (size_t)offset * motet_type_bytes(type) : data;
    return v;
}

rt_view pipe_view(const rt_port *p, void *data, const pipe_box *held, const pipe_box *part)
{
    return view_of(p, p->array->type, data, held, part);
}

rt_view pipe_view_made(const rt_port *p, void *data, const pipe_box *held, const pipe_box *part)
{
    return view_of(p, p->made_type, data, held, part);
}

dev_access pipe_access(const rt_port *p, motet_type type, const rt_view *v)
{
    const size_t element = motet_type_bytes(type);
    int64_t length = 1, rows = 1, pitch = 0, last = 0;
    int even = 1;
    for (int i = p->array->axes - 1; i >= 0; i--) {
        const int64_t count = v->count[i], stride = v->stride[i];
        if (count == 0) return (dev_access){.data = v->data};
        last += (count - 1) * stride;
        if (count == 1) continue;
        if (rows == 1 && stride == length) {
            length *= count;
        } else if (rows == 1) {
            rows = count;
            pitch = stride;
        } else {
            even &= stride == rows * pitch;
            rows *= count;
        }
    }
    return (dev_access){.data = v->data,
                        .bytes = (size_t)(even ? length : last + 1) * element,
                        .writes = p->access != RT_READ,
                        .rows = even ? (size_t)rows : 1,
                        .pitch = (size_t)pitch * element};
}
