/* Around the steps of a solver: what it is given is checked, its arrays are made and freed, and the
 * volume is written when all is done. */
#include "ct/solve/solver.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/number.h"
#include "ct/beam/beam.h"
#include "ct/operations.h"
#include "kern/digest.h"
#include "kern/exact.h"
#include "rt/disk.h"

static const double most_iterations = 1e12;

enum { NOTHING_LEFT = 2 }; /* and more, by the reason: ct_solver_numbers.ended */

void motet_ct_solve_options_init(motet_ct_solve_options *options)
{
    *options = (motet_ct_solve_options){.size = sizeof *options,
                                        .iterations = 30,
                                        .relaxation = 1.0,
                                        .least = k_nan(),
                                        .greatest = k_nan()};
}

/* What it is given. */

static motet_status check_options(motet_context *c, const ct_method *m,
                                  const motet_ct_solve_options *o)
{
    char text[NUMBER_TEXT], other[NUMBER_TEXT];
    if (o->size != sizeof *o)
        return fail(c, MOTET_BAD_ARGUMENT,
                    "options: size is %u, expected %zu: call motet_ct_solve_options_init", o->size,
                    sizeof *o);
    if (o->iterations < 0 || (double)o->iterations > most_iterations)
        return fail(c, MOTET_BAD_ARGUMENT, "iterations is %lld, expected 0 to %.0f",
                    (long long)o->iterations, most_iterations);
    if (!(o->tolerance >= 0.0 && k_is_finite(o->tolerance)))
        return fail(c, MOTET_BAD_ARGUMENT, "tolerance is %s, expected at least 0",
                    number_text(o->tolerance, text));
    if (!(o->stall >= 0.0 && o->stall < 1.0))
        return fail(c, MOTET_BAD_ARGUMENT, "stall is %s, expected at least 0 and less than 1",
                    number_text(o->stall, text));
    if (m->bounded && !(o->relaxation > 0.0 && o->relaxation < 2.0))
        return fail(c, MOTET_BAD_ARGUMENT, "relaxation is %s, expected more than 0 and less than 2",
                    number_text(o->relaxation, text));
    if (!m->bounded && o->relaxation != 1.0)
        return fail(c, MOTET_BAD_ARGUMENT, "relaxation is %s, expected 1: %s finds its own",
                    number_text(o->relaxation, text), m->name);
    if (!m->bounded && (o->least == o->least || o->greatest == o->greatest))
        return fail(c, MOTET_BAD_ARGUMENT,
                    "least is %s and greatest %s, expected none: %s has no bounds",
                    number_text(o->least, text), number_text(o->greatest, other), m->name);
    if (o->least > o->greatest)
        return fail(c, MOTET_BAD_ARGUMENT, "least is %s, expected at most greatest, %s",
                    number_text(o->least, text), number_text(o->greatest, other));
    return MOTET_OK;
}

static motet_status check_apart(const motet_array *a, const motet_array *b)
{
    const uintptr_t x = (uintptr_t)a->data, y = (uintptr_t)b->data;
    if (!a->bytes || !b->bytes || a->disk || b->disk || x + a->bytes <= y || y + b->bytes <= x)
        return MOTET_OK;
    return fail(a->context, MOTET_BAD_ARGUMENT, "sinogram and volume share memory");
}

/* Names the first value that is not finite, if the norm is not. */
static motet_status check_finite(const motet_array *a, const char *name, double square)
{
    if (k_is_finite(square)) return MOTET_OK;
    if (a->disk)
        return fail(a->context, MOTET_BAD_DATA, "%s: a value is not finite, or they are too large",
                    name);
    const float *value = a->data;
    char text[NUMBER_TEXT];
    int64_t i = 0;
    while (i < a->elements - 1 && k_is_finitef(value[i])) i++;
    const int64_t line = i / a->shape[2];
    return fail(a->context, MOTET_BAD_DATA, "%s: (%lld, %lld, %lld) is %s, expected finite values",
                name, (long long)(line / a->shape[1]), (long long)(line % a->shape[1]),
                (long long)(i % a->shape[2]), number_text((double)value[i], text));
}

/* Its arrays. */

static int64_t times(int64_t count, const motet_array *a)
{
    int64_t bytes;
    return __builtin_mul_overflow(count, (int64_t)a->bytes, &bytes) ? INT64_MAX : bytes;
}

static int64_t sums_bytes(const motet_array *like)
{
    int64_t shape[3], bytes = sizeof(double);
    const int axes = ct_sums_shape(like, shape);
    for (int i = 0; i < axes; i++)
        if (__builtin_mul_overflow(bytes, shape[i], &bytes)) return INT64_MAX;
    return bytes;
}

int64_t ct_method_bytes(const ct_method *m, const motet_array *volume, const motet_array *sinogram,
                        int keeps)
{
    const int copies = (volume->flags & MOTET_WRITE_DIRECT) == 0;
    const int64_t part[] = {times(m->voxels + copies + (keeps ? 1 + m->state_voxels : 0), volume),
                            times(m->rays + (keeps ? m->state_rays : 0), sinogram),
                            sums_bytes(volume), sums_bytes(sinogram)};
    int64_t all = 0;
    for (int i = 0; i < 4; i++)
        if (__builtin_add_overflow(all, part[i], &all)) return INT64_MAX;
    return all;
}

static motet_status make_like(const ct_solver *s, const motet_array *like, motet_array **out)
{
    if (s->scratch)
        return rt_disk_scratch(s->context, s->scratch, MOTET_F32, like->axes, like->shape, out);
    TRY(motet_array_create(like->context, MOTET_F32, like->axes, like->shape, out));
    (*out)->flags |= MOTET_WRITE_DIRECT; /* nobody else sees it */
    return MOTET_OK;
}

/* The same memory as an array of the solver's own, which may stay on devices while the caller's
 * does not. */
static motet_status lend(const motet_array *from, motet_array **out)
{
    return motet_array_wrap(from->context, from->data, MOTET_F32, from->axes, from->shape,
                            MOTET_WRITE_DIRECT, out);
}

static motet_status make_arrays(ct_solver *s, const ct_method *m, const motet_array *sinogram)
{
    motet_context *c = s->context;
    const rt_loop loop = {.folder = s->options.checkpoint};
    const int64_t bytes =
        s->scratch ? 0 : ct_method_bytes(m, s->volume, sinogram, rt_loop_keeps(c, &loop));
    if (mem_left(c) < bytes)
        return fail(c, MOTET_OVER_BUDGET,
                    "%s: its arrays take %lld bytes on the host, %lld are left", m->name,
                    (long long)bytes, (long long)mem_left(c));
    if (sinogram->disk)
        s->b = (motet_array *)(uintptr_t)sinogram;
    else
        TRY(lend(sinogram, &s->b));
    if (s->volume->flags & MOTET_WRITE_DIRECT && !s->scratch)
        TRY(lend(s->volume, &s->x));
    else
        TRY(make_like(s, s->volume, &s->x));
    for (int i = 0; i < m->voxels; i++) TRY(make_like(s, s->volume, &s->voxels[i]));
    for (int i = 0; i < m->rays; i++) TRY(make_like(s, sinogram, &s->rays[i]));
    TRY(ct_sums_create(s->volume, &s->voxel_sums));
    return ct_sums_create(sinogram, &s->ray_sums);
}

/* What may stay on devices from now on. */
static void settle(ct_solver *s, const ct_method *m)
{
    if (m->rereads) rt_array_reside(s->b, RT_RESIDE_SHARDED);
    rt_array_reside(s->x, RT_RESIDE_SHARDED);
    for (int i = 0; i < m->voxels; i++) rt_array_reside(s->voxels[i], RT_RESIDE_SHARDED);
    for (int i = 0; i < m->rays; i++) rt_array_reside(s->rays[i], RT_RESIDE_SHARDED);
}

static void free_arrays(ct_solver *s)
{
    if (s->b && !s->b->disk) motet_array_free(s->b);
    motet_array_free(s->x);
    for (int i = 0; i < CT_SOLVER_ARRAYS; i++) motet_array_free(s->voxels[i]);
    for (int i = 0; i < CT_SOLVER_ARRAYS; i++) motet_array_free(s->rays[i]);
    motet_array_free(s->voxel_sums);
    motet_array_free(s->ray_sums);
}

/* Where it begins. The caller's arrays are at home. */
static motet_status start(ct_solver *s, const motet_array *from)
{
    double square;
    TRY(ct_solver_run(s, ct_square_of(s->b, s->ray_sums), &square));
    TRY(check_finite(s->b, "sinogram", square));
    s->norm = k_sqrt(square);
    const size_t bytes = s->x->bytes;
    if (s->scratch) {
        if (!s->options.warm_start) return MOTET_OK; /* it is zeros */
        TRY(rt_disk_copy(from, s->x));
        TRY(ct_vectors_run(ct_square_of(s->x, s->voxel_sums), &square));
        return check_finite(s->x, "the volume to start from", square);
    }
    if (!s->options.warm_start) {
        if (bytes) memset(s->x->data, 0, bytes);
        return MOTET_OK;
    }
    if (bytes && s->x->data != s->volume->data) memcpy(s->x->data, s->volume->data, bytes);
    TRY(ct_solver_run(s, ct_square_of(s->x, s->voxel_sums), &square));
    return check_finite(s->x, "volume", square);
}

/* All that the steps depend on. */

static motet_status fingerprint(const ct_solver *s, uint64_t out[2])
{
    struct {
        uint64_t geometry[2];
        digest views;
        char sinogram[33], volume[33], unused[6];
        double pitch, voxel, relaxation, least, greatest;
    } key;
    const motet_ct_geometry *g = s->geometry;
    const motet_ct_solve_options *o = &s->options;
    memset(&key, 0, sizeof key);
    ct_fingerprint(g, key.geometry);
    key.views = g->beam ? digest_bytes(g->beam->poses->data, g->beam->poses->bytes)
                        : digest_bytes(g->angles, sizeof *g->angles * (size_t)g->views);
    TRY(motet_array_digest(s->b, key.sinogram));
    if (o->warm_start) TRY(motet_array_digest(s->x, key.volume));
    key.pitch = g->pitch;
    key.voxel = g->voxel;
    key.relaxation = o->relaxation;
    key.least = o->least == o->least ? o->least : k_nan();
    key.greatest = o->greatest == o->greatest ? o->greatest : k_nan();
    const digest d = digest_bytes(&key, sizeof key);
    out[0] = d.low;
    out[1] = d.high;
    return MOTET_OK;
}

/* Rules. */

static motet_ct_iteration iteration_of(const ct_solver *s, int64_t k, double residual)
{
    return (motet_ct_iteration){k, residual, s->norm > 0.0 ? residual / s->norm : 0.0};
}

motet_status ct_solver_range(const ct_solver *s, int64_t k, const char *what, double square)
{
    char text[NUMBER_TEXT];
    if (k_is_finite(square)) return MOTET_OK;
    return fail(s->context, MOTET_BAD_DATA,
                "%s: the norm of the %s is %s after iteration %lld: values pass the range of "
                "float32, 3.4e38; scale the data down",
                s->name, what, number_text(k_sqrt(square), text), (long long)k);
}

/* Once of each. */
static motet_status tell(ct_solver *s)
{
    const motet_ct_solve_options *o = &s->options;
    if (s->last.number <= s->told) return MOTET_OK;
    s->told = s->last.number;
    if (o->each) TRY(o->each(&s->last, o->user));
    return log_phase_step(&s->phase, s->told);
}

/* After the last iteration. */
static int rules_say_stop(ct_solver *s)
{
    const motet_ct_solve_options *o = &s->options;
    const double former = s->numbers.before, residual = s->numbers.residual;
    const int64_t k = s->numbers.number;
    if (residual == 0.0)
        s->stop = MOTET_CT_STOP_EXACT;
    else if (o->tolerance > 0.0 && residual <= o->tolerance * s->norm)
        s->stop = MOTET_CT_STOP_TOLERANCE;
    else if (k > 0 && o->stall > 0.0 && former - residual < o->stall * former)
        s->stop = MOTET_CT_STOP_STALLED;
    else if (k >= o->iterations)
        s->stop = MOTET_CT_STOP_ITERATIONS;
    else
        return 0;
    return 1;
}

motet_status ct_solver_tell(ct_solver *s, int64_t k, double square, int *done)
{
    TRY(ct_solver_range(s, k, "residual", square));
    s->numbers.before = s->numbers.residual;
    s->numbers.residual = k_sqrt(square);
    s->numbers.number = k;
    s->last = iteration_of(s, k, s->numbers.residual);
    TRY(tell(s));
    *done = rules_say_stop(s);
    s->numbers.ended = *done;
    return MOTET_OK;
}

void ct_solver_end(ct_solver *s, int64_t k, motet_ct_stop stop, int *done)
{
    if (stop == MOTET_CT_STOP_UNDERFLOW)
        log_warning(s->context, s->name,
                    "stopped before iteration %lld: its projections are all below the range of "
                    "float32, 1.4e-45; scale the data, or the lengths, up",
                    (long long)k);
    s->last = iteration_of(s, k - 1, s->numbers.residual);
    s->stop = stop;
    s->numbers.ended = NOTHING_LEFT + (int64_t)stop;
    *done = 1;
}

motet_status ct_solver_resume(int64_t *step, int *done, void *user)
{
    ct_solver *s = user;
    const ct_solver_numbers *n = &s->numbers;
    *done = 0;
    if (!n->ended) return MOTET_OK;
    s->last = iteration_of(s, n->number, n->residual);
    const int nothing = n->ended >= NOTHING_LEFT;
    if (nothing) s->stop = (motet_ct_stop)(n->ended - NOTHING_LEFT);
    *done = nothing || rules_say_stop(s);
    if (*done) return tell(s);
    *step -= s->method->halves;
    return MOTET_OK;
}

/* All of it. */

static motet_status iterate(ct_solver *s, const ct_method *m, rt_loop_result *told)
{
    rt_loop loop = {.name = m->name,
                    .state = {s->x},
                    .states = 1,
                    .numbers = &s->numbers,
                    .numbers_bytes = sizeof s->numbers,
                    .steps = s->options.iterations + 1,
                    .step = m->step,
                    .resume = ct_solver_resume,
                    .user = s,
                    .folder = s->options.checkpoint,
                    .keep = s->options.keep_checkpoint || s->scratch};
    for (int i = 0; i < m->state_voxels; i++) loop.state[loop.states++] = s->voxels[i];
    for (int i = 0; i < m->state_rays; i++) loop.state[loop.states++] = s->rays[i];
    if (loop.folder) TRY(fingerprint(s, loop.fingerprint));
    if (m->prepare) TRY(m->prepare(s));
    settle(s, m);
    return rt_loop_run(s->context, &loop, told);
}

static motet_status deliver(const ct_solver *s, const ct_method *m, const rt_loop_result *told,
                            motet_ct_solve_result *result)
{
    if (s->scratch)
        TRY(rt_disk_copy(s->x, s->volume));
    else if (s->x->data != s->volume->data && s->x->bytes)
        memcpy(s->volume->data, s->x->data, s->x->bytes);
    motet_array_changed(s->volume);
    if (s->options.checkpoint && s->scratch && !s->options.keep_checkpoint)
        rt_loop_tidy(s->context, s->options.checkpoint, m->name);
    int64_t before = told->resumed - m->begins;
    if (before > s->last.number) before = s->last.number; /* the step that ends it is none */
    if (result)
        *result = (motet_ct_solve_result){.iterations = s->last.number,
                                          .resumed = before > 0 ? before : 0,
                                          .residual = s->last.residual,
                                          .relative = s->last.relative,
                                          .stop = s->stop};
    return MOTET_OK;
}

static motet_status solve(motet_ct_geometry *g, const ct_method *method,
                          const motet_ct_solve_options *options, const char *scratch,
                          const motet_array *from, const motet_array *sinogram, motet_array *volume,
                          motet_ct_solve_result *result)
{
    motet_status st = MOTET_OK;
    motet_context *c = g->context;
    ct_solver s = {.name = method->name,
                   .method = method,
                   .geometry = g,
                   .context = c,
                   .scratch = scratch,
                   .volume = volume,
                   .told = -1};
    rt_loop_result told;
    if (options)
        s.options = *options;
    else
        motet_ct_solve_options_init(&s.options);
    TRY(check_options(c, method, &s.options));
    TRY(ct_check_sinogram(g, sinogram, "sinogram"));
    TRY(ct_check_volume(g, volume, "volume"));
    TRY(check_apart(sinogram, volume));
    TRY(motet_array_fetch((motet_array *)(uintptr_t)sinogram));
    if (s.options.warm_start && !scratch) TRY(motet_array_fetch(volume));
    s.phase = log_phase_begin(c, method->name, s.options.iterations);
    TRY_GOTO(make_arrays(&s, method, sinogram));
    TRY_GOTO(start(&s, from));
    TRY_GOTO(iterate(&s, method, &told));
    TRY_GOTO(deliver(&s, method, &told, result));
out:
    free_arrays(&s);
    return st;
}

motet_status ct_solve(motet_ct_geometry *g, const ct_method *method,
                      const motet_ct_solve_options *options, const motet_array *sinogram,
                      motet_array *volume, motet_ct_solve_result *result)
{
    return solve(g, method, options, NULL, NULL, sinogram, volume, result);
}

motet_status ct_solve_on_disk(motet_ct_geometry *g, const ct_method *method,
                              const motet_ct_solve_options *options, const char *scratch,
                              const motet_array *start_at, const motet_array *sinogram,
                              motet_array *volume, motet_ct_solve_result *result)
{
    return solve(g, method, options, scratch, start_at, sinogram, volume, result);
}
