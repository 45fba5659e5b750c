/* The plan of a solver: the operations of one iteration, on arrays that are sizes only and stay on
 * devices between them. */
#include <string.h>

#include "ct/operations.h"
#include "ct/plan_inside.h"
#include "ct/solve/solver.h"
#include "ct/solve/vectors.h"
#include "rt/resident.h"

enum { OPS = 8, ARRAYS = 2 + 2 * CT_SOLVER_ARRAYS };

/* Arrays of a method as ct_solver has them, and the operations of an iteration. */
typedef struct iteration {
    motet_array array[ARRAYS]; /* b, x, voxels, rays */
    motet_array voxel_sums, ray_sums;
    ct_vectors vectors[OPS];
    rt_op op[OPS];
    int ops;
} iteration;

static motet_array sums_of(const motet_array *like)
{
    int64_t shape[3];
    const int axes = ct_sums_shape(like, shape);
    motet_array sums = ct_array_sizes(like->context, axes, shape);
    sums.type = MOTET_F64;
    sums.bytes = sums.bytes < INT64_MAX / 2 ? 2 * sums.bytes : INT64_MAX;
    sums.flags = MOTET_WRITE_DIRECT;
    return sums;
}

static void add_vectors(iteration *it, ct_vectors vectors)
{
    it->vectors[it->ops] = vectors;
    it->op[it->ops] = ct_vectors_op(&it->vectors[it->ops]);
    it->ops++;
}

/* In the order of ct_cgls's and ct_sirt's steps. */
static void list(iteration *it, const motet_ct_geometry *g, const ct_method *m)
{
    const motet_array *b = &it->array[0], *x = &it->array[1], *voxels = &it->array[2];
    const motet_array *rays = voxels + CT_SOLVER_ARRAYS;
    if (m == &ct_cgls) {
        it->op[it->ops++] = ct_backproject_any_op(g, &rays[0], &voxels[1]);
        add_vectors(it, ct_square_of(&voxels[1], &it->voxel_sums));
        add_vectors(it, ct_combine_of(1.0, &voxels[1], 1.0, &voxels[0], NULL));
        it->op[it->ops++] = ct_project_any_op(g, &voxels[0], &rays[1]);
        add_vectors(it, ct_square_of(&rays[1], &it->ray_sums));
        add_vectors(it, ct_combine_of(1.0, &voxels[0], 1.0, x, &it->voxel_sums));
        add_vectors(it, ct_combine_of(1.0, &rays[1], 1.0, &rays[0], &it->ray_sums));
    } else {
        it->op[it->ops++] = ct_project_any_op(g, x, &rays[0]);
        add_vectors(it, ct_misfit_of(b, &rays[1], &rays[0], &it->ray_sums));
        it->op[it->ops++] = ct_backproject_any_op(g, &rays[0], &voxels[0]);
        add_vectors(it, ct_correct_of(1.0, &voxels[0], &voxels[1], 0.0, 0.0, x));
    }
}

/* Bytes of each array that stay on a device: the most that any operation wants there. */
static void note_parts(const ct_planning *p, const iteration *it, const rt_op *op,
                       const rt_plan *plan, int64_t part[RT_DEVICES][ARRAYS])
{
    for (int d = 0; d < p->devices; d++)
        for (int i = 0; i < RT_PORTS; i++) {
            if (!(plan->share[d].resident >> i & 1)) continue;
            const ptrdiff_t a = op->port[i].array - it->array;
            const pipe_box box = rt_resident_box(op, i, &plan->share[d]);
            const int64_t bytes = (int64_t)pipe_box_bytes(&op->port[i], &box);
            if (bytes > part[d][a]) part[d][a] = bytes;
        }
}

/* Of those, what is there while the operation runs and is not in its own plan: arrays that it does
 * not use, and the former values of those that it writes. */
static int64_t held_beside(const iteration *it, const rt_op *op, const rt_share *share,
                           const int64_t part[ARRAYS])
{
    int64_t held = 0;
    for (int a = 0; a < ARRAYS; a++) {
        int reads = 0;
        for (int i = 0; i < RT_PORTS; i++)
            reads |= op->port[i].array == &it->array[a] && share->resident >> i & 1 &&
                     op->port[i].access == RT_READ;
        if (!reads && part[a] <= INT64_MAX - held) held += part[a];
    }
    return held;
}

static void reside(iteration *it, rt_residence residence)
{
    for (int i = 0; i < ARRAYS; i++) it->array[i].residence = residence;
}

static motet_status find_parts(ct_planning *p, const iteration *it,
                               int64_t part[RT_DEVICES][ARRAYS])
{
    memset(part, 0, RT_DEVICES * sizeof *part);
    for (int i = 0; i < it->ops; i++) {
        rt_plan plan;
        TRY(ct_plan_make(p, &it->op[i], &plan));
        note_parts(p, it, &it->op[i], &plan, part);
    }
    return MOTET_OK;
}

motet_status ct_plan_solve(ct_planning *p, const ct_method *m, int checkpoint, unsigned flags)
{
    const motet_ct_geometry *g = p->geometry;
    const motet_array sinogram = ct_sinogram_sizes(g);
    motet_array volume = ct_volume_sizes(g);
    volume.flags = flags;
    int64_t part[RT_DEVICES][ARRAYS], held[RT_DEVICES];
    int keeps = checkpoint;
    for (int i = 0; i < p->devices; i++) keeps |= !p->device[i].host_visible;
    iteration it = {.voxel_sums = sums_of(&volume), .ray_sums = sums_of(&sinogram)};
    for (int i = 0; i < ARRAYS; i++) {
        it.array[i] = i == 0 || i >= 2 + CT_SOLVER_ARRAYS ? sinogram : volume;
        it.array[i].flags = MOTET_WRITE_DIRECT;
    }
    list(&it, g, m);
    p->held = p->options.host_held = ct_method_bytes(m, &volume, &sinogram, keeps);
    reside(&it, RT_RESIDE_SHARDED);
    motet_status st = find_parts(p, &it, part);
    if (st == MOTET_OVER_BUDGET) { /* as the steps do it: solver_steps.c */
        reside(&it, RT_RESIDE_HOME);
        st = find_parts(p, &it, part);
    }
    TRY(st);
    for (int i = 0; i < it.ops; i++) {
        rt_plan plan;
        TRY(rt_plan_make(p->context, &it.op[i], p->device, p->devices, &p->options, &plan));
        for (int d = 0; d < p->devices; d++)
            held[d] = held_beside(&it, &it.op[i], &plan.share[d], part[d]);
        TRY(ct_plan_add(p, &it.op[i], held));
    }
    return MOTET_OK;
}
