/* Boxes of arrays. A box is moved run by run: a run is what lies without gaps in the array, too. */
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
    for (int i = 0; i < op->axes; i++)
        if (p->cut[i] != RT_WHOLE)
            cut_axis(&b, p->cut[i], chunk->first[i], chunk->count[i], i == 0 ? p->halo : 0);
    if (p->streamed) cut_axis(&b, p->stream_axis, chunk->stream_first, chunk->stream_count, 0);
    return b;
}

size_t pipe_box_bytes(const rt_port *p, const pipe_box *b)
{
    size_t bytes = motet_type_bytes(p->array->type);
    for (int i = 0; i < p->array->axes; i++) bytes *= (size_t)b->count[i];
    return bytes;
}

rt_view pipe_view(const rt_port *p, void *data, const pipe_box *held, const pipe_box *part)
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
    v.data = stride ? (char *)data + (size_t)offset * motet_type_bytes(p->array->type) : data;
    return v;
}

dev_access pipe_access(const rt_port *p, const rt_view *v)
{
    const size_t element = motet_type_bytes(p->array->type);
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

static void move(const rt_port *p, char *array, const pipe_box *b, size_t offset, size_t bytes,
                 char *packed, int into_array)
{
    const motet_array *a = p->array;
    const size_t element = motet_type_bytes(a->type);
    int outer = a->axes - 1; /* axes before it pick the run */
    int64_t length = b->count[outer];
    while (outer > 0 && b->count[outer] == a->shape[outer]) length *= b->count[--outer];
    const size_t run = (size_t)length * element;
    while (bytes) {
        int64_t number = (int64_t)(offset / run), stride = 1, at = 0;
        for (int i = a->axes - 1; i >= 0; i--) {
            int64_t index = b->first[i];
            if (i < outer) {
                index += number % b->count[i];
                number /= b->count[i];
            }
            at += index * stride;
            stride *= a->shape[i];
        }
        const size_t within = offset % run, part = run - within < bytes ? run - within : bytes;
        char *place = array + (size_t)at * element + within;
        if (into_array)
            memcpy(place, packed, part);
        else
            memcpy(packed, place, part);
        offset += part;
        packed += part;
        bytes -= part;
    }
}

void pipe_pack(const rt_port *p, const void *array, const pipe_box *b, size_t offset, size_t bytes,
               void *packed)
{
    move(p, (char *)(uintptr_t)array, b, offset, bytes, packed, 0);
}

void pipe_unpack(const rt_port *p, void *array, const pipe_box *b, size_t offset, size_t bytes,
                 const void *packed)
{
    move(p, array, b, offset, bytes, (char *)(uintptr_t)packed, 1);
}
