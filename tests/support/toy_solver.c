#include "support/toy_solver.h"

#include <string.h>

#include "support/toy_kernels.h"
#include "support/toy_solver.k.h"

typedef struct call {
    const k_kernel *kernel;
    int64_t rows, columns;
    float factor;
} call;

static motet_status enqueue(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    const call *k = user;
    const toy_solver_args args = {.a = toy_view_of(&chunk->port[0]),
                                  .b = toy_view_of(&chunk->port[1]),
                                  .out = toy_view_of(&chunk->port[2]),
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
                      .port = {{.name = "a", .array = a, .halo = kernel == &K_toy_difference},
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
    motet_status st = apply(s, &K_toy_multiply, 0, a, b, s->sums, RT_WRITE);
    if (st == MOTET_OK) st = motet_array_fetch(s->sums);
    if (st == MOTET_OK) *out = k_add_blocks(0, motet_array_data(s->sums), s->sums->elements);
    return st;
}

static motet_status step(int64_t k, int *done, void *user)
{
    toy_solver *s = user;
    double curvature, rho;
    TRY(apply(s, &K_toy_difference, 0, s->p, NULL, s->q, RT_WRITE));
    TRY(dot(s, s->p, s->q, &curvature));
    const double length = s->rho / curvature;
    TRY(apply(s, &K_toy_add, (float)length, s->p, NULL, s->x, RT_UPDATE));
    TRY(apply(s, &K_toy_add, (float)-length, s->q, NULL, s->r, RT_UPDATE));
    TRY(dot(s, s->r, s->r, &rho));
    TRY(apply(s, &K_toy_turn, (float)(rho / s->rho), s->r, NULL, s->p, RT_UPDATE));
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
