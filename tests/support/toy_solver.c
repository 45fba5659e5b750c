#include "support/toy_solver.h"

#include <string.h>

#include "kern/accumulate.h"

typedef struct solver_args {
    rt_view a, b, out;
    int64_t first, rows; /* of the chunk; of the arrays */
    int64_t columns;
    float factor;
} solver_args;
static const size_t solver_args_bytes = sizeof(solver_args);

static float *row_of(const rt_view *v, int64_t row)
{
    return (float *)v->data + (row - v->first[0]) * v->stride[0];
}

/* out = A a */
static void difference(const void *args, int64_t begin, int64_t end, void *scratch)
{
    (void)scratch;
    const solver_args *s = args;
    for (int64_t i = s->first + begin; i < s->first + end; i++)
        for (int64_t j = 0; j < s->columns; j++) {
            float sum = 2 * row_of(&s->a, i)[j];
            if (i > 0) sum -= row_of(&s->a, i - 1)[j];
            if (i < s->rows - 1) sum -= row_of(&s->a, i + 1)[j];
            row_of(&s->out, i)[j] = sum;
        }
}

/* out = out + factor a */
static void add(const void *args, int64_t begin, int64_t end, void *scratch)
{
    (void)scratch;
    const solver_args *s = args;
    for (int64_t i = s->first + begin; i < s->first + end; i++)
        for (int64_t j = 0; j < s->columns; j++)
            row_of(&s->out, i)[j] += s->factor * row_of(&s->a, i)[j];
}

/* out = a + factor out */
static void turn(const void *args, int64_t begin, int64_t end, void *scratch)
{
    (void)scratch;
    const solver_args *s = args;
    for (int64_t i = s->first + begin; i < s->first + end; i++)
        for (int64_t j = 0; j < s->columns; j++)
            row_of(&s->out, i)[j] = row_of(&s->a, i)[j] + s->factor * row_of(&s->out, i)[j];
}

/* out[row] = a[row] . b[row] */
static void multiply(const void *args, int64_t begin, int64_t end, void *scratch)
{
    (void)scratch;
    const solver_args *s = args;
    for (int64_t i = s->first + begin; i < s->first + end; i++) {
        double sum = 0;
        for (int64_t j = 0; j < s->columns; j += K_BLOCK)
            sum += k_dot_block(row_of(&s->a, i) + j, row_of(&s->b, i) + j,
                               s->columns - j < K_BLOCK ? s->columns - j : K_BLOCK);
        ((double *)s->out.data)[i - s->out.first[0]] = sum;
    }
}

#if defined(__x86_64__)
#define KERNEL(f)                                                                                  \
    static const k_kernel f##_kernel = {"solver." #f, &solver_args_bytes, {f, f, f}, {f, f, f}};
#else
#define KERNEL(f) static const k_kernel f##_kernel = {"solver." #f, &solver_args_bytes, {f}, {f}};
#endif
KERNEL(difference)
KERNEL(add)
KERNEL(turn)
KERNEL(multiply)

typedef struct call {
    const k_kernel *kernel;
    int64_t rows, columns;
    float factor;
} call;

static motet_status enqueue(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    const call *k = user;
    const solver_args args = {.a = chunk->port[0],
                              .b = chunk->port[1],
                              .out = chunk->port[2],
                              .first = chunk->first[0],
                              .rows = k->rows,
                              .columns = k->columns,
                              .factor = k->factor};
    return rt_launch(queue, k->kernel, &args, chunk->count[0]);
}

static motet_status apply(const toy_solver *s, const k_kernel *kernel, float factor,
                          const motet_array *a, const motet_array *b, const motet_array *out,
                          rt_access access)
{
    const call k = {kernel, a->shape[0], a->shape[1], factor};
    const rt_op op = {.name = kernel->name,
                      .axes = 1,
                      .extent = {a->shape[0]},
                      .port = {{.name = "a", .array = a, .halo = kernel == &difference_kernel},
                               {.name = "b", .array = b},
                               {.name = "out", .array = out, .access = access}},
                      .enqueue = enqueue,
                      .user = &k};
    if (s->options) return rt_run_with(s->context, &op, s->options);
    const rt_cut cut = {{s->cut}, 0};
    return rt_run_cut(s->context, &op, &cut);
}

/* The sum of products, of blocks in ascending order. */
static motet_status dot(const toy_solver *s, const motet_array *a, const motet_array *b,
                        double *out)
{
    motet_status st = apply(s, &multiply_kernel, 0, a, b, s->sums, RT_WRITE);
    if (st == MOTET_OK) st = motet_array_fetch(s->sums);
    if (st == MOTET_OK) *out = k_add_blocks(0, motet_array_data(s->sums), s->sums->elements);
    return st;
}

static motet_status step(int64_t k, int *done, void *user)
{
    toy_solver *s = user;
    double curvature, rho;
    TRY(apply(s, &difference_kernel, 0, s->p, NULL, s->q, RT_WRITE));
    TRY(dot(s, s->p, s->q, &curvature));
    const double length = s->rho / curvature;
    TRY(apply(s, &add_kernel, (float)length, s->p, NULL, s->x, RT_UPDATE));
    TRY(apply(s, &add_kernel, (float)-length, s->q, NULL, s->r, RT_UPDATE));
    TRY(dot(s, s->r, s->r, &rho));
    TRY(apply(s, &turn_kernel, (float)(rho / s->rho), s->r, NULL, s->p, RT_UPDATE));
    if (s->after) TRY(s->after(k, s));
    s->rho = rho;
    *done = rho <= s->enough;
    return MOTET_OK;
}

void toy_solver_make(motet_context *c, int64_t rows, int64_t columns, uint64_t seed, int resident,
                     toy_solver *s)
{
    memset(s, 0, sizeof *s);
    s->context = c;
    motet_array **const arrays[] = {&s->x, &s->r, &s->p, &s->q};
    for (int i = 0; i < 4; i++)
        assert_ok(c, motet_array_create(c, MOTET_F32, 2, (int64_t[]){rows, columns}, arrays[i]));
    assert_ok(c, motet_array_create(c, MOTET_F64, 1, &rows, &s->sums));
    float *r = motet_array_data(s->r);
    for (int64_t i = 0; i < rows * columns; i++) {
        r[i] = (float)test_uniform(&seed, -1, 1);
        s->rho += (double)r[i] * (double)r[i];
    }
    memcpy(motet_array_data(s->p), r, s->r->bytes);
    s->enough = 1e-9 * s->rho;
    for (int i = 0; resident && i < 4; i++) rt_array_reside(*arrays[i], RT_RESIDE_SHARDED);
    if (resident) rt_array_reside(s->sums, RT_RESIDE_SHARDED);
}

void toy_solver_free(toy_solver *s)
{
    motet_array_free(s->x);
    motet_array_free(s->r);
    motet_array_free(s->p);
    motet_array_free(s->q);
    motet_array_free(s->sums);
}

rt_loop toy_solver_loop(toy_solver *s, int64_t steps, const char *folder)
{
    return (rt_loop){.name = "toy.solver",
                     .state = {s->x, s->r, s->p},
                     .states = 3,
                     .numbers = &s->rho,
                     .numbers_bytes = sizeof s->rho,
                     .steps = steps,
                     .step = step,
                     .user = s,
                     .folder = folder,
                     .fingerprint = {1, 2}};
}
