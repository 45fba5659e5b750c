/* Arrays as rows of blocks.
 *
 * A row is a line of the last axis, so that the first two can be cut. Where lines are short (a fan
 * has one row of pixels) it is all of a plane: else there would be a sum for every few elements. */
#include "ct/solve/vectors.h"

enum { SHORT_LINE = 64, X = 0, Y, OUT, SUMS };

static int has_lines(const motet_array *a) { return a->shape[2] >= SHORT_LINE; }

static int64_t row_elements(const motet_array *a)
{
    return has_lines(a) ? a->shape[2] : a->shape[1] * a->shape[2];
}

int ct_sums_shape(const motet_array *like, int64_t shape[3])
{
    const int64_t blocks = k_row_blocks(row_elements(like));
    shape[0] = like->shape[0];
    shape[1] = has_lines(like) ? like->shape[1] : blocks;
    shape[2] = blocks;
    return has_lines(like) ? 3 : 2;
}

motet_status ct_sums_create(const motet_array *like, motet_array **out)
{
    int64_t shape[3];
    const int axes = ct_sums_shape(like, shape);
    TRY(motet_array_create(like->context, MOTET_F64, axes, shape, out));
    (*out)->flags |= MOTET_WRITE_DIRECT; /* nobody else sees them */
    return MOTET_OK;
}

static ct_operand operand_of(const rt_view *v)
{
    return (ct_operand){v->data, v->stride[0], v->stride[1]};
}

static motet_status enqueue(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    const ct_vectors *v = user;
    const motet_array *like = v->out ? v->out : v->x;
    const rt_view *sums = &chunk->port[SUMS];
    const int64_t rows = has_lines(like) ? chunk->count[1] : 1;
    const int64_t elements = row_elements(like);
    const ct_vector_args a = {.x = operand_of(&chunk->port[X]),
                              .y = operand_of(&chunk->port[Y]),
                              .out = operand_of(&chunk->port[OUT]),
                              .a = v->a,
                              .b = v->b,
                              .least = v->least,
                              .greatest = v->greatest,
                              .sums = v->sums ? sums->data : NULL,
                              .sums_plane = sums->stride[0],
                              .sums_row = sums->stride[1],
                              .rows = rows,
                              .elements = elements,
                              .blocks = k_row_blocks(elements)};
    return rt_launch(queue, v->kernel, &a, chunk->count[0] * rows * a.blocks);
}

rt_op ct_vectors_op(const ct_vectors *v)
{
    const motet_array *like = v->out ? v->out : v->x;
    return (rt_op){
        .name = v->name,
        .axes = has_lines(like) ? 2 : 1,
        .extent = {like->shape[0], has_lines(like) ? like->shape[1] : 0},
        .port = {[X] = {.name = "x", .array = v->x, .access = RT_READ, .cut = {0, 1}},
                 [Y] = {.name = "y", .array = v->y, .access = RT_READ, .cut = {0, 1}},
                 [OUT] = {.name = "out", .array = v->out, .access = RT_UPDATE, .cut = {0, 1}},
                 [SUMS] = {.name = "sums", .array = v->sums, .access = RT_WRITE, .cut = {0, 1}}},
        .enqueue = enqueue,
        .user = v};
}

motet_status ct_vectors_run(ct_vectors v, double *square)
{
    const motet_array *like = v.out ? v.out : v.x;
    const rt_op op = ct_vectors_op(&v);
    TRY(rt_run(like->context, &op));
    if (!square) return MOTET_OK;
    TRY(motet_array_fetch((motet_array *)(uintptr_t)v.sums));
    *square = k_add_blocks(0.0, v.sums->data, v.sums->elements);
    return MOTET_OK;
}

ct_vectors ct_combine_of(double a, const motet_array *x, double b, const motet_array *out,
                         const motet_array *sums)
{
    return (ct_vectors){.name = "ct.combine",
                        .kernel = &K_ct_combine,
                        .x = x,
                        .out = out,
                        .sums = sums,
                        .a = a,
                        .b = b};
}

ct_vectors ct_square_of(const motet_array *x, const motet_array *sums)
{
    return (ct_vectors){.name = "ct.square", .kernel = &K_ct_square, .x = x, .sums = sums};
}

ct_vectors ct_misfit_of(const motet_array *x, const motet_array *weights, const motet_array *out,
                        const motet_array *sums)
{
    return (ct_vectors){.name = "ct.misfit",
                        .kernel = &K_ct_misfit,
                        .x = x,
                        .y = weights,
                        .out = out,
                        .sums = sums};
}

ct_vectors ct_correct_of(double a, const motet_array *x, const motet_array *weights, double least,
                         double greatest, const motet_array *out)
{
    return (ct_vectors){.name = "ct.correct",
                        .kernel = &K_ct_correct,
                        .x = x,
                        .y = weights,
                        .out = out,
                        .a = a,
                        .least = least,
                        .greatest = greatest};
}

ct_vectors ct_invert_of(const motet_array *out)
{
    return (ct_vectors){.name = "ct.invert", .kernel = &K_ct_invert, .out = out};
}
