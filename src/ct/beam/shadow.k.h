/* The pixels that may see a box of cells: its shadow on the detector.
 *
 * A place P is met by ray (a, b), a and b counted from the detector's middle, at t = depth . (P -
 * o), where a = u . (P - o) / s, b = v . (P - o) / s, and s is t - first for rays from a source, 1
 * for parallel ones. Shadows only cull: they are widened by far more than what rounding can do to
 * them or to the crossings of a ray, and whoever asks for a shadow tests each of its pixels. */
#ifndef MOTET_CT_SHADOW_K_H
#define MOTET_CT_SHADOW_K_H

#include "ct/beam/rays.k.h"

typedef struct ct_shadow {
    double o[3], depth[3], u[3], v[3];
    double swell, before;             /* s = swell t + before */
    double slack_s, slack_u, slack_v; /* of s and of the numerators of a and b */
    double middle_u, middle_v, last_u, last_v;
} ct_shadow;

typedef struct ct_pixels {
    int64_t first_u, end_u, first_v, end_v;
} ct_pixels;

K_FN ct_shadow ct_shadow_of(const ct_space *space, const ct_pose *pose)
{
    const int cone = pose->du[0] != 0.0 || pose->du[1] != 0.0 || pose->du[2] != 0.0;
    /* World axes in units of the first voxel axis, in which u and v are at right angles. */
    double ratio[3], d[3], u[3], v[3], uu = 0.0, vv = 0.0, du = 0.0, dv = 0.0, nd = 0.0;
    double sum_u = 0.0, sum_v = 0.0;
    for (int i = 0; i < 3; i++) {
        ratio[i] = space->voxel[i] / space->voxel[0];
        d[i] = pose->d[i] * ratio[i];
        u[i] = (cone ? pose->du[i] : pose->ou[i]) * ratio[i];
        v[i] = (cone ? pose->dv[i] : pose->ov[i]) * ratio[i];
        uu += u[i] * u[i];
        vv += v[i] * v[i];
        du += d[i] * u[i];
        dv += d[i] * v[i];
        sum_u += k_abs(u[i]);
        sum_v += k_abs(v[i]);
    }
    ct_shadow w;
    double normal[3];
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        normal[i] = u[j] * v[k] - u[k] * v[j];
        nd += normal[i] * d[i];
    }
    double far = 0.0; /* |t| of any place of the volume, at most */
    for (int i = 0; i < 3; i++) {
        const double n = (double)space->n[i];
        w.o[i] = pose->o[i];
        w.depth[i] = normal[i] * ratio[i] / nd;
        w.u[i] = (u[i] * ratio[i] - w.depth[i] * du) / uu;
        w.v[i] = (v[i] * ratio[i] - w.depth[i] * dv) / vv;
        far += k_abs(w.depth[i]) * (k_abs(0.5 * n - w.o[i]) + 0.5 * n);
    }
    w.swell = cone ? 1.0 : 0.0;
    w.before = cone ? -pose->first : 1.0;
    w.middle_u = space->middle_u;
    w.middle_v = space->middle_v;
    w.last_u = (double)(space->columns - 1);
    w.last_v = (double)(space->rows - 1);
    /* What may be wrong with a place, in cells: 2^-44 of all that was added up for it. */
    double slack_t = 0.0;
    w.slack_u = w.slack_v = 0.0;
    for (int i = 0; i < 3; i++) {
        const double along_u = k_abs(pose->ou[i]) + far * k_abs(pose->du[i]);
        const double along_v = k_abs(pose->ov[i]) + far * k_abs(pose->dv[i]);
        const double cells =
            0x1p-44 * (k_abs(w.o[i]) + (double)space->n[i] + far * k_abs(pose->d[i]) +
                       w.middle_u * along_u + w.middle_v * along_v);
        slack_t += sum_u * sum_v * ratio[i] / k_abs(nd) * cells;
        w.slack_u += k_abs(u[i]) * ratio[i] / uu * cells;
        w.slack_v += k_abs(v[i]) * ratio[i] / vv * cells;
    }
    w.slack_u += slack_t * k_abs(du) / uu;
    w.slack_v += slack_t * k_abs(dv) / vv;
    w.slack_s = slack_t * w.swell;
    return w;
}

/* Whole numbers first and end - 1 of what lies between low and high, on a detector axis. */
K_FN int64_t ct_shadow_first(double low, double middle, double last)
{
    return k_to_i64(k_min(k_max(-k_floor(-(low + middle)), 0.0), last + 1.0));
}
K_FN int64_t ct_shadow_end(double high, double middle, double last)
{
    return k_to_i64(k_min(k_max(k_floor(high + middle), -1.0), last) + 1.0);
}

K_FN ct_pixels ct_shadow_cast(const ct_shadow *w, const ct_box *box)
{
    double size[3], s0 = w->before, a0 = 0.0, b0 = 0.0;
    for (int i = 0; i < 3; i++) {
        const double p = (double)box->first[i] - w->o[i];
        size[i] = (double)(box->end[i] - box->first[i]);
        s0 += w->swell * w->depth[i] * p;
        a0 += w->u[i] * p;
        b0 += w->v[i] * p;
    }
    double s_least = k_infinity(), s_most = -k_infinity();
    double low[4], high[4]; /* of a and b; of their numerators */
    for (int i = 0; i < 4; i++) {
        low[i] = k_infinity();
        high[i] = -k_infinity();
    }
    for (int corner = 0; corner < 8; corner++) {
        double s = s0, value[4] = {0.0, 0.0, a0, b0};
        for (int i = 0; i < 3; i++) {
            const double p = corner >> i & 1 ? size[i] : 0.0;
            s += w->swell * w->depth[i] * p;
            value[2] += w->u[i] * p;
            value[3] += w->v[i] * p;
        }
        const double inverse = 1.0 / s; /* of no use where s is near 0 or behind */
        value[0] = value[2] * inverse;
        value[1] = value[3] * inverse;
        s_least = k_min(s_least, s);
        s_most = k_max(s_most, s);
        for (int i = 0; i < 4; i++) {
            low[i] = k_min(low[i], value[i]);
            high[i] = k_max(high[i], value[i]);
        }
    }
    s_least -= w->slack_s;
    s_most += w->slack_s;
    const double slack[] = {w->slack_u, w->slack_v}, middle[] = {w->middle_u, w->middle_v};
    for (int i = 0; i < 2; i++) {
        if (s_least > 0.0) {
            const double most = k_max(k_abs(low[i]), k_abs(high[i]));
            const double pad = (slack[i] + most * w->slack_s) / s_least + middle[i] * 0x1p-48;
            low[i] -= pad;
            high[i] += pad;
        } else { /* the source is beside it: its shadow has no end on one side, or on both */
            const double p = low[i + 2] - slack[i], q = high[i + 2] + slack[i];
            const double pad = middle[i] * 0x1p-44 + 0x1p-44;
            low[i] = p > 0.0 ? p / s_most * (1.0 - 0x1p-44) - pad : -k_infinity();
            high[i] = q < 0.0 ? q / s_most * (1.0 - 0x1p-44) + pad : k_infinity();
        }
    }
    ct_pixels out;
    out.first_u = ct_shadow_first(low[0], w->middle_u, w->last_u);
    out.end_u = ct_shadow_end(high[0], w->middle_u, w->last_u);
    out.first_v = ct_shadow_first(low[1], w->middle_v, w->last_v);
    out.end_v = ct_shadow_end(high[1], w->middle_v, w->last_v);
    if (!(s_most > 0.0)) out.end_u = out.first_u; /* behind the source */
    return out;
}

#endif
