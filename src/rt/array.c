/* Arrays in host memory: their own or the caller's. */
#include "rt/array.h"

#include <string.h>

#include "base/context.h"
#include "base/fail.h"
#include "base/mem.h"
#include "kern/digest.h"
#include "rt/disk.h"
#include "rt/part.h"
#include "rt/pool.h"

typedef struct type_row {
    int number;
    size_t bytes;
    const char *text;
} type_row;

static const type_row *row_of(motet_type type)
{
    static const type_row rows[] = {
#define ROW(name, number, bytes, text) {number, bytes, text},
        MOTET_TYPE_LIST(ROW)
#undef ROW
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].number == (int)type) return &rows[i];
    return NULL;
}

size_t motet_type_bytes(motet_type type)
{
    const type_row *row = row_of(type);
    return row ? row->bytes : 0;
}

const char *motet_type_text(motet_type type)
{
    const type_row *row = row_of(type);
    return row ? row->text : "unknown";
}

/* An array without data. Sizes of 0 do not hide an overflow of the others: strides must fit too. */
motet_status rt_array_bare(motet_context *c, motet_type type, int axes, const int64_t *shape,
                           motet_array **out)
{
    const size_t element = motet_type_bytes(type);
    if (!element)
        return fail(c, MOTET_BAD_ARGUMENT, "type is %d, expected one of the listed types",
                    (int)type);
    if (axes < 1 || axes > MOTET_MAX_AXES)
        return fail(c, MOTET_BAD_ARGUMENT, "axes is %d, expected 1 to %d", axes, MOTET_MAX_AXES);
    int64_t extent = 1; /* of the axes that are not empty */
    int empty = 0, beyond = 0;
    for (int i = 0; i < axes; i++) {
        if (shape[i] < 0)
            return fail(c, MOTET_BAD_ARGUMENT, "size of axis %d is %lld, expected at least 0", i,
                        (long long)shape[i]);
        if (shape[i] == 0)
            empty = 1;
        else if (__builtin_mul_overflow(extent, shape[i], &extent))
            beyond = 1;
    }
    size_t bytes;
    if (beyond || !mem_product(extent, element, &bytes))
        return fail(c, MOTET_BAD_ARGUMENT, "the array would have more than 2^63 - 1 bytes");
    motet_array *a = mem_new(c, motet_array);
    if (!a) return fail(c, MOTET_NO_MEMORY, "no memory for an array");
    a->context = c;
    a->type = type;
    a->axes = axes;
    memcpy(a->shape, shape, (size_t)axes * sizeof *shape);
    a->elements = empty ? 0 : extent;
    a->bytes = empty ? 0 : bytes;
    *out = a;
    return MOTET_OK;
}

motet_status motet_array_create(motet_context *context, motet_type type, int axes,
                                const int64_t *shape, motet_array **out)
{
    motet_array *a;
    TRY(rt_array_bare(context, type, axes, shape, &a));
    a->owned = 1;
    a->data = mem_zero(context, a->bytes);
    if (!a->data && rt_pool_flush(context)) a->data = mem_zero(context, a->bytes);
    if (!a->data) {
        const size_t bytes = a->bytes;
        mem_free(context, a);
        return fail(context, MOTET_NO_MEMORY, "no memory for an array of %zu bytes", bytes);
    }
    *out = a;
    return MOTET_OK;
}

motet_status motet_array_wrap(motet_context *context, void *data, motet_type type, int axes,
                              const int64_t *shape, unsigned flags, motet_array **out)
{
    if (flags & ~(unsigned)MOTET_WRITE_DIRECT)
        return fail(context, MOTET_BAD_ARGUMENT, "flags is %u, expected 0 or MOTET_WRITE_DIRECT",
                    flags);
    motet_array *a;
    TRY(rt_array_bare(context, type, axes, shape, &a));
    if ((a->bytes && !data) || (uintptr_t)data % motet_type_bytes(type)) {
        mem_free(context, a);
        return data ? fail(context, MOTET_BAD_ARGUMENT, "data at %p is not aligned to %s", data,
                           motet_type_text(type))
                    : fail(context, MOTET_BAD_ARGUMENT, "data is NULL");
    }
    a->data = data;
    a->flags = flags;
    *out = a;
    return MOTET_OK;
}

/* Residence. */

static void forget(motet_array *a)
{
    rt_parts_drop_all(a);
    if (!a->residence) return;
    pthread_mutex_lock(&a->context->lock);
    *a->self = a->next;
    if (a->next) a->next->self = a->self;
    a->residence = RT_RESIDE_HOME;
    pthread_mutex_unlock(&a->context->lock);
}

motet_status rt_array_reside(motet_array *a, rt_residence residence)
{
    if (a->disk) return MOTET_OK; /* it stays where it is */
    if (residence == RT_RESIDE_HOME) {
        const motet_status st = motet_array_fetch(a);
        forget(a);
        return st;
    }
    pthread_mutex_lock(&a->context->lock);
    if (!a->residence) {
        a->next = a->context->resident;
        a->self = &a->context->resident;
        if (a->next) a->next->self = &a->next;
        a->context->resident = a;
    }
    a->residence = residence;
    pthread_mutex_unlock(&a->context->lock);
    return MOTET_OK;
}

motet_status motet_array_fetch(motet_array *array)
{
    const pipe_box whole = pipe_box_whole(array);
    return rt_array_pull(array, &whole);
}

void motet_array_changed(motet_array *array)
{
    rt_parts_drop_all(array);
    array->broken[0] = 0;
}

void motet_array_free(motet_array *array)
{
    if (!array) return;
    forget(array);
    rt_disk_close(array->disk);
    if (array->owned) mem_free(array->context, array->data);
    mem_free(array->context, array);
}

void *motet_array_data(const motet_array *array) { return array->data; }
motet_type motet_array_type(const motet_array *array) { return array->type; }
int motet_array_axes(const motet_array *array) { return array->axes; }
int64_t motet_array_elements(const motet_array *array) { return array->elements; }

int64_t motet_array_size(const motet_array *array, int axis)
{
    return axis < 0 || axis >= array->axes ? 0 : array->shape[axis];
}

motet_status motet_array_digest(const motet_array *array, char out[33])
{
    const pipe_box whole = pipe_box_whole(array);
    TRY(rt_array_pull(array, &whole));
    const int64_t rows = array->shape[0];
    const size_t element = motet_type_bytes(array->type),
                 row = rows ? array->bytes / (size_t)rows : 0;
    digest_rows state;
    digest_rows_begin(&state, array->type, array->axes, array->shape);
    if (array->disk)
        TRY(rt_disk_digest(array, &state));
    else
        digest_rows_add(&state, array->data, rows, row, element);
    digest_text(digest_rows_end(&state), out);
    return MOTET_OK;
}
