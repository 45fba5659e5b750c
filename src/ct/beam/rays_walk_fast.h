/* Neighbouring rays of a view, one a lane, that walk through a box together: what both fast ranges
 * share. Each lane meets the chords of the item's walk, in its order; where several planes are met
 * at once it passes them at once, which leaves out pieces without length only. */
#ifndef MOTET_CT_RAYS_WALK_FAST_H
#define MOTET_CT_RAYS_WALK_FAST_H

#include "ct/beam/rays.k.h"
#include "ct/beam/rays_lanes.h"

#ifdef CT_RAYS_LANES

typedef struct ct_walkers {
    ct_vd o[3], inverse[3];
    ct_vd plane[3], step[3], next[3]; /* the next plane of each axis, where it is met */
    ct_vd t, end, length;
    ct_vl at, jump[3]; /* the cell, as an offset from the box's first voxel */
    int any;           /* 0: all miss the box */
} ct_walkers;

/* Rays (u, v + lane), lane < count; the others miss. `stride` as in ct_ray_sum. */
K_FN void ct_walkers_start(const ct_space *space, const ct_pose *pose, int64_t u, int64_t v,
                           int64_t count, const ct_box *box, const int64_t stride[3],
                           ct_walkers *out)
{
    const double a = (double)u - space->middle_u;
    double lane[CT_RAYS_LANES];
    for (int i = 0; i < CT_RAYS_LANES; i++) lane[i] = (double)(v + i) - space->middle_v;
    const ct_vd b = ct_vd_load(lane), zero = ct_vd_of(0.0), one = ct_vd_of(1.0);
    ct_vd d[3], world[3];
    for (int i = 0; i < 3; i++) {
        out->o[i] =
            ct_vd_fma(b, ct_vd_of(pose->ov[i]), ct_vd_of(k_fma(a, pose->ou[i], pose->o[i])));
        d[i] = ct_vd_fma(b, ct_vd_of(pose->dv[i]), ct_vd_of(k_fma(a, pose->du[i], pose->d[i])));
    }
    const ct_vm turned = ct_vd_less(d[space->s], zero);
    ct_vd t0 = ct_vd_select(turned, ct_vd_of(-pose->last), ct_vd_of(pose->first));
    ct_vd t1 = ct_vd_select(turned, ct_vd_of(-pose->first), ct_vd_of(pose->last));
    for (int i = 0; i < 3; i++) {
        d[i] = ct_vd_select(turned, -d[i], d[i]);
        out->inverse[i] = ct_vd_select(ct_vd_less(ct_vd_abs(d[i]), ct_vd_of(1e-280)),
                                       ct_vd_of(1e280), one / d[i]);
        world[i] = d[i] * ct_vd_of(space->voxel[i]);
        const ct_vd p = (ct_vd_of((double)box->first[i]) - out->o[i]) * out->inverse[i];
        const ct_vd q = (ct_vd_of((double)box->end[i]) - out->o[i]) * out->inverse[i];
        t0 = ct_vd_max(t0, ct_vd_min(p, q));
        t1 = ct_vd_min(t1, ct_vd_max(p, q));
    }
    out->length = ct_vd_sqrt(
        ct_vd_fma(world[0], world[0], ct_vd_fma(world[1], world[1], world[2] * world[2])));
    for (int i = 0; i < CT_RAYS_LANES; i++) lane[i] = i < count ? 1.0 : 0.0;
    const ct_vm meets = ct_vm_and(ct_vd_less(t0, t1), ct_vd_less(zero, ct_vd_load(lane)));
    out->any = ct_vm_any(meets);
    out->t = ct_vd_select(meets, t0, zero);
    out->end = ct_vd_select(meets, t1, zero);
    out->at = ct_vl_of(0);
    if (!out->any) return;
    int64_t at[CT_RAYS_LANES] = {0}, jump[CT_RAYS_LANES];
    for (int i = 0; i < 3; i++) {
        const ct_vd first = ct_vd_of((double)box->first[i]);
        const ct_vd last = ct_vd_of((double)(box->end[i] - 1));
        const ct_vm up = ct_vd_less(zero, out->inverse[i]);
        const ct_vd step = ct_vd_select(up, one, zero - one), behind = ct_vd_select(up, zero, one);
        const ct_vd begin = ct_vd_select(up, first, last), end = ct_vd_select(up, last, first);
        ct_vd cell = ct_vd_floor(ct_vd_fma(out->t, d[i], out->o[i]));
        cell = ct_vd_select(meets, ct_vd_min(ct_vd_max(cell, first), last), first);
        for (;;) { /* as ct_ray_cell: back while the plane behind is ahead, */
            const ct_vd met = (cell + behind - out->o[i]) * out->inverse[i];
            const ct_vm move =
                ct_vm_and(ct_vm_and(ct_vd_less(out->t, met), ct_vd_differ(cell, begin)), meets);
            if (!ct_vm_any(move)) break;
            cell = ct_vd_add_where(move, cell, zero - step);
        }
        for (;;) { /* then on while the plane ahead is behind */
            const ct_vd met = (cell + (one - behind) - out->o[i]) * out->inverse[i];
            const ct_vm move =
                ct_vm_and_not(ct_vm_and(ct_vd_differ(cell, end), meets), ct_vd_less(out->t, met));
            if (!ct_vm_any(move)) break;
            cell = ct_vd_add_where(move, cell, step);
        }
        out->step[i] = step;
        out->plane[i] = cell + (one - behind);
        out->next[i] = ct_vd_select(meets, (out->plane[i] - out->o[i]) * out->inverse[i],
                                    ct_vd_of(k_infinity()));
        double cells[CT_RAYS_LANES], steps[CT_RAYS_LANES];
        ct_vd_store(cells, cell - first);
        ct_vd_store(steps, step);
        for (int l = 0; l < CT_RAYS_LANES; l++) {
            at[l] += k_to_i64(cells[l]) * stride[i];
            jump[l] = steps[l] > 0.0 ? stride[i] : -stride[i];
        }
        out->jump[i] = ct_vl_load(jump);
    }
    out->at = ct_vl_load(at);
}

/* One piece of each lane: its weight, its cell and whether it has one. Answers which lanes go on.
 */
K_FN ct_vm ct_walkers_step(ct_walkers *w, ct_vs *weight, ct_vl *at, ct_vm *has)
{
    const ct_vd next = ct_vd_min(ct_vd_min(w->next[0], w->next[1]), w->next[2]);
    const ct_vd to = ct_vd_min(next, w->end);
    const ct_vm on = ct_vd_less(next, w->end);
    *has = ct_vd_less(w->t, to);
    *weight = ct_vd_to_float((to - w->t) * w->length);
    *at = w->at;
    w->t = to;
    for (int i = 0; i < 3; i++) {
        const ct_vm met = ct_vm_and_not(on, ct_vd_less(next, w->next[i]));
        w->plane[i] = ct_vd_add_where(met, w->plane[i], w->step[i]);
        w->next[i] = ct_vd_select(met, (w->plane[i] - w->o[i]) * w->inverse[i], w->next[i]);
        w->at = ct_vl_add_where(met, w->at, w->jump[i]);
    }
    return on;
}

#endif
#endif
