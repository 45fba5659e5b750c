/* Geometries of views in space: checking what the caller says, and the poses that kernels read. */
#include "ct/beam/beam.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/threads.h"
#include "ct/vector.h"
#include "kern/exact.h"

static const double greatest_size = 1073741824.0; /* voxels, columns, rows along an axis; views */
static const double tolerance = 1e-4;             /* of unit vectors at right angles */
static const double nearest_end = 1e6, farthest_end = 1e15; /* voxels from the volume's middle */
static const double aligned = 0x1p-40;     /* moves 2^20 rows by less than 2^-20 of a row */
static const double steepest = 0.999;      /* height of a chord, in cells, that columns may have */
static const double columns_size = 0x1p20; /* float32 counts cells of columns up to here */
static const double whole_line = 1e30;     /* t of the ends of a parallel ray */

static int is_finite(const double a[3])
{
    return k_is_finite(a[0]) && k_is_finite(a[1]) && k_is_finite(a[2]);
}

void motet_ct_views_init(motet_ct_views *views)
{
    memset(views, 0, sizeof *views);
    views->size = sizeof *views;
    views->beam = MOTET_CT_BEAM_CONE;
    views->rows = views->nz = 1;
    views->pitch_u = views->pitch_v = 1.0;
    for (int i = 0; i < 3; i++) views->voxel[i] = 1.0;
}

static motet_status check_size(motet_context *c, const char *name, int64_t value)
{
    if (value >= 1 && (double)value <= greatest_size) return MOTET_OK;
    return fail(c, MOTET_BAD_ARGUMENT, "%s is %lld, expected 1 to %.0f", name, (long long)value,
                greatest_size);
}

static motet_status check_length(motet_context *c, const char *name, double value)
{
    char text[NUMBER_TEXT];
    if (k_is_finite(value) && value > 0.0) return MOTET_OK;
    return fail(c, MOTET_BAD_ARGUMENT, "%s is %s, expected a positive length", name,
                number_text(value, text));
}

/* "(x, y, z)" */
enum { VECTOR_TEXT = 3 * NUMBER_TEXT + 8 };
static const char *vector_text(const double a[3], char out[VECTOR_TEXT])
{
    char x[NUMBER_TEXT], y[NUMBER_TEXT], z[NUMBER_TEXT];
    snprintf(out, VECTOR_TEXT, "(%s, %s, %s)", number_text(a[0], x), number_text(a[1], y),
             number_text(a[2], z));
    return out;
}

static motet_status check_vector(motet_context *c, int64_t view, const char *name,
                                 const double a[3])
{
    char text[VECTOR_TEXT];
    if (is_finite(a)) return MOTET_OK;
    return fail(c, MOTET_BAD_ARGUMENT, "view %lld: %s is %s, expected finite numbers",
                (long long)view, name, vector_text(a, text));
}

static motet_status check_unit(motet_context *c, int64_t view, const char *name, const double a[3])
{
    char text[VECTOR_TEXT], length[NUMBER_TEXT];
    TRY(check_vector(c, view, name, a));
    const double size = k_sqrt(vector_dot(a, a));
    if (k_abs(size - 1.0) <= tolerance) return MOTET_OK;
    return fail(c, MOTET_BAD_ARGUMENT,
                "view %lld: %s is %s, of length %s, expected a unit vector: the pitch is apart",
                (long long)view, name, vector_text(a, text), number_text(size, length));
}

/* Length of a vector, or what of it passes the range of squares. */
static double length_of(const double a[3])
{
    const double most = k_max(k_abs(a[0]), k_max(k_abs(a[1]), k_abs(a[2])));
    return most < 1e150 ? k_sqrt(vector_dot(a, a)) : most;
}

/* How far source and detector may be. */
static motet_status check_places(motet_context *c, const motet_ct_views *g, int64_t k,
                                 const motet_ct_view *w)
{
    const int cone = g->beam == MOTET_CT_BEAM_CONE;
    double voxels[2][3];
    for (int i = 0; i < 3; i++) {
        voxels[0][i] = cone ? (w->source[i] - g->centre[i]) / g->voxel[i] : 0.0;
        voxels[1][i] = (w->detector[i] - g->centre[i]) / g->voxel[i];
    }
    const double ends[] = {length_of(voxels[0]), length_of(voxels[1])};
    const int far = ends[1] > ends[0]; /* 1: the detector is the farther end */
    const int bad = ends[!far] <= nearest_end ? far : !far;
    if (ends[bad] <= (bad == far ? farthest_end : nearest_end)) return MOTET_OK;
    char number[NUMBER_TEXT], place[VECTOR_TEXT], voxel[VECTOR_TEXT];
    return fail(c, MOTET_BAD_ARGUMENT,
                "view %lld: the %s is %s voxels from the volume's middle, expected at most 1e6 for "
                "the nearer of source and detector, 1e15 for the other; it is at %s, a voxel is %s",
                (long long)k, bad ? "detector" : "source", number_text(ends[bad], number),
                vector_text(bad ? w->detector : w->source, place), vector_text(g->voxel, voxel));
}

/* Checks one view and makes its axes orthonormal. */
static motet_status take_view(motet_context *c, const motet_ct_views *g, int64_t k,
                              motet_ct_view *out)
{
    char text[VECTOR_TEXT], number[NUMBER_TEXT];
    motet_ct_view w = g->view[k];
    const int cone = g->beam == MOTET_CT_BEAM_CONE;
    TRY(check_vector(c, k, cone ? "source" : "the rays' direction", w.source));
    TRY(check_vector(c, k, "detector", w.detector));
    TRY(check_unit(c, k, "u", w.u));
    TRY(check_unit(c, k, "v", w.v));
    if (!(k_abs(vector_dot(w.u, w.v)) <= tolerance))
        return fail(c, MOTET_BAD_ARGUMENT, "view %lld: u . v is %s, expected axes at right angles",
                    (long long)k, number_text(vector_dot(w.u, w.v), number));
    const double size_u = k_sqrt(vector_dot(w.u, w.u));
    for (int i = 0; i < 3; i++) w.u[i] /= size_u;
    const double shared = vector_dot(w.u, w.v);
    for (int i = 0; i < 3; i++) w.v[i] -= shared * w.u[i];
    const double size_v = k_sqrt(vector_dot(w.v, w.v));
    for (int i = 0; i < 3; i++) w.v[i] /= size_v;

    TRY(check_places(c, g, k, &w));
    double normal[3], along[3];
    vector_cross(w.u, w.v, normal);
    for (int i = 0; i < 3; i++) along[i] = cone ? w.detector[i] - w.source[i] : w.source[i];
    const double length = length_of(along);
    if (!(length > 0.0) || length >= 1e150)
        return fail(c, MOTET_BAD_ARGUMENT, "view %lld: %s is %s, expected %s", (long long)k,
                    cone ? "source" : "the rays' direction", vector_text(w.source, text),
                    cone ? "a place apart from the detector's middle"
                         : "a direction: numbers within 1e150, not all 0");
    if (!(k_abs(vector_dot(along, normal)) > 1e-6 * length))
        return fail(c, MOTET_BAD_ARGUMENT, "view %lld: %s is %s, which sees the detector edge-on",
                    (long long)k, cone ? "source" : "the rays' direction",
                    vector_text(w.source, text));
    *out = w;
    return MOTET_OK;
}

static motet_status check(motet_context *c, const motet_ct_views *g)
{
    if (g->size != sizeof *g)
        return fail(c, MOTET_BAD_ARGUMENT, "size is %u, expected %zu: call motet_ct_views_init",
                    g->size, sizeof *g);
    if (g->beam != MOTET_CT_BEAM_PARALLEL && g->beam != MOTET_CT_BEAM_CONE)
        return fail(c, MOTET_BAD_ARGUMENT, "beam is %d, expected parallel or cone", (int)g->beam);
    TRY(check_size(c, "views", g->views));
    TRY(check_size(c, "columns", g->columns));
    TRY(check_size(c, "rows", g->rows));
    TRY(check_size(c, "nx", g->nx));
    TRY(check_size(c, "ny", g->ny));
    TRY(check_size(c, "nz", g->nz));
    TRY(check_length(c, "pitch_u", g->pitch_u));
    TRY(check_length(c, "pitch_v", g->pitch_v));
    TRY(check_length(c, "voxel[0]", g->voxel[0]));
    TRY(check_length(c, "voxel[1]", g->voxel[1]));
    TRY(check_length(c, "voxel[2]", g->voxel[2]));
    char text[VECTOR_TEXT];
    if (!is_finite(g->centre))
        return fail(c, MOTET_BAD_ARGUMENT, "centre is %s, expected finite numbers",
                    vector_text(g->centre, text));
    if (!g->view) return fail(c, MOTET_BAD_ARGUMENT, "view is NULL");
    return MOTET_OK;
}

/* The axis of the volume that v runs along in all views; -1: none. */
static int common_axis(const motet_ct_views *g)
{
    int common = -1;
    for (int64_t k = 0; k < g->views; k++) {
        int axis = -1;
        for (int i = 0; i < 3; i++)
            if (k_abs(g->view[k].v[(i + 1) % 3]) <= aligned &&
                k_abs(g->view[k].v[(i + 2) % 3]) <= aligned)
                axis = i;
        if (axis < 0 || (common >= 0 && axis != common)) return -1;
        common = axis;
    }
    return common;
}

/* Takes away what the alignment tolerates. */
static void align(motet_ct_view *view, int axis)
{
    for (int i = 0; i < 3; i++)
        if (i != axis) view->v[i] = 0.0;
    view->v[axis] = view->v[axis] < 0.0 ? -1.0 : 1.0;
    view->u[axis] = 0.0;
}

/* t = 0 is where the ray passes the volume's middle, measured along the detector's normal; counted
 * from the nearer end, so that a source however far costs no digits. */
static ct_pose pose_of(const motet_ct_views *g, const motet_ct_view *w)
{
    const double n[] = {(double)g->nx, (double)g->ny, (double)g->nz};
    double normal[3], along[3], from[3], to[3];
    vector_cross(w->u, w->v, normal);
    for (int i = 0; i < 3; i++) {
        along[i] = g->beam == MOTET_CT_BEAM_CONE ? w->detector[i] - w->source[i] : w->source[i];
        from[i] = g->centre[i] - w->source[i];
        to[i] = w->detector[i] - g->centre[i];
    }
    if (g->beam == MOTET_CT_BEAM_PARALLEL) {
        /* The direction may have any length: t counts cells of the axis that it crosses fastest. */
        double most = 0.0;
        for (int i = 0; i < 3; i++) most = k_max(most, k_abs(along[i] / g->voxel[i]));
        for (int i = 0; i < 3; i++) along[i] /= most;
    }
    const double depth = vector_dot(along, normal);
    double before = 0.0, after = 0.0; /* of the segment, before and after t = 0 */
    int near_source = 0;
    if (g->beam == MOTET_CT_BEAM_CONE) {
        before = k_min(k_max(vector_dot(from, normal) / depth, 0.0), 1.0);
        after = k_min(k_max(vector_dot(to, normal) / depth, 0.0), 1.0);
        near_source = before < after;
        if (near_source)
            after = 1.0 - before;
        else
            before = 1.0 - after;
    } else {
        after = vector_dot(to, normal) / depth;
    }
    ct_pose p;
    for (int i = 0; i < 3; i++) {
        const double source = (w->source[i] - g->centre[i]) / g->voxel[i] + 0.5 * n[i];
        const double detector = (w->detector[i] - g->centre[i]) / g->voxel[i] + 0.5 * n[i];
        const double u = w->u[i] * g->pitch_u / g->voxel[i];
        const double v = w->v[i] * g->pitch_v / g->voxel[i];
        p.d[i] = along[i] / g->voxel[i];
        if (g->beam == MOTET_CT_BEAM_CONE) {
            p.o[i] = near_source ? k_fma(before, p.d[i], source) : k_fma(-after, p.d[i], detector);
            p.du[i] = u;
            p.dv[i] = v;
            p.ou[i] = before * u;
            p.ov[i] = before * v;
        } else {
            p.o[i] = k_fma(-after, p.d[i], detector);
            p.du[i] = p.dv[i] = 0.0;
            p.ou[i] = u;
            p.ov[i] = v;
        }
    }
    p.first = g->beam == MOTET_CT_BEAM_CONE ? -before : -whole_line;
    p.last = g->beam == MOTET_CT_BEAM_CONE ? after : whole_line;
    return p;
}

/* The least over all columns of the greater of |d_s| and |d_f|: cells that a ray advances per t. It
 * is convex along u, so its ends and the places where the two are equal tell. */
static double least_advance(const ct_space *space, const ct_pose *p)
{
    const double ds = p->d[space->s], df = p->d[space->f];
    const double us = p->du[space->s], uf = p->du[space->f];
    const double end = space->middle_u;
    const double place[] = {-end, end, us != uf ? (df - ds) / (us - uf) : end,
                            us != -uf ? -(df + ds) / (us + uf) : end};
    double least = k_infinity();
    for (int i = 0; i < 4; i++) {
        const double u = k_min(k_max(place[i], -end), end);
        least = k_min(least, k_max(k_abs(k_fma(u, us, ds)), k_abs(k_fma(u, uf, df))));
    }
    return least;
}

/* Tells how steep the steepest ray is, too. */
static int columns_do(struct ct_beam *beam)
{
    const ct_space *space = &beam->space;
    const ct_pose *pose = motet_array_data(beam->poses);
    int can = 1;
    for (int i = 0; i < 3; i++)
        if ((double)space->n[i] > columns_size) can = 0;
    for (int64_t k = 0; k < beam->given.views; k++) {
        const ct_pose *p = &pose[k];
        const double v = space->middle_v * k_abs(p->dv[space->w]);
        const double rise = (k_abs(p->d[space->w]) + v) / least_advance(space, p);
        beam->steepest = k_max(beam->steepest, rise == rise ? rise : k_infinity());
        if (!(k_abs(p->o[space->w]) + space->middle_v * k_abs(p->ov[space->w]) <= 0x1p40)) can = 0;
    }
    return can && beam->steepest <= steepest;
}

static void set_axes(ct_space *space, int w)
{
    space->w = w;
    space->s = w == 2 ? 1 : 2;
    space->f = 3 - space->w - space->s;
}

void ct_beam_use_rays(struct ct_beam *beam)
{
    beam->form = CT_FORM_RAYS;
    set_axes(&beam->space, 0); /* streamed along z, as files lie */
}

static motet_status make(motet_context *c, const motet_ct_views *given, motet_ct_geometry **out)
{
    motet_status st = MOTET_OK;
    motet_ct_geometry *g = NULL;
    TRY(check(c, given));
    g = mem_new(c, motet_ct_geometry);
    struct ct_beam *beam = g ? mem_new(c, struct ct_beam) : NULL;
    motet_ct_view *view = beam ? mem_array(c, motet_ct_view, given->views) : NULL;
    if (!g || !beam || !view) {
        mem_free(c, beam);
        mem_free(c, g);
        return fail(c, MOTET_NO_MEMORY, "no memory for a geometry of %lld views",
                    (long long)given->views);
    }
    g->context = c;
    g->beam = beam;
    g->views = given->views;
    g->rows = given->rows;
    g->grid.columns = given->columns;
    g->pitch = given->pitch_u;
    beam->given = *given;
    beam->given.view = view;
    for (int64_t k = 0; k < given->views; k++) TRY_GOTO(take_view(c, given, k, &view[k]));
    ct_space *space = &beam->space;
    *space = (ct_space){.n = {given->nx, given->ny, given->nz},
                        .columns = given->columns,
                        .rows = given->rows,
                        .middle_u = 0.5 * (double)(given->columns - 1),
                        .middle_v = 0.5 * (double)(given->rows - 1),
                        .voxel = {given->voxel[0], given->voxel[1], given->voxel[2]}};
    const int axis = common_axis(&beam->given);
    set_axes(space, axis < 0 ? 0 : axis);
    const int64_t shape[] = {given->views, (int64_t)sizeof(ct_pose)}; /* < 2^38 */
    TRY_GOTO(motet_array_create(c, MOTET_U8, 2, shape, &beam->poses));
    ct_pose *pose = motet_array_data(beam->poses);
    for (int64_t k = 0; k < given->views; k++) {
        if (axis >= 0) align(&view[k], axis);
        pose[k] = pose_of(&beam->given, &view[k]);
    }
    beam->form = axis >= 0 && columns_do(beam) ? CT_FORM_COLUMNS : CT_FORM_RAYS;
    if (beam->form == CT_FORM_RAYS) ct_beam_use_rays(beam);
    *out = g;
    return MOTET_OK;
out:
    motet_ct_geometry_free(g);
    return st;
}

motet_status motet_ct_geometry_create(motet_context *context, const motet_ct_views *views,
                                      motet_ct_geometry **out)
{
    const thread_float_state former = thread_float_enter();
    const motet_status st = make(context, views, out);
    thread_float_leave(former);
    return st;
}

void ct_beam_free(motet_context *context, struct ct_beam *beam)
{
    if (!beam) return;
    motet_array_free(beam->poses);
    mem_free(context, (void *)(uintptr_t)beam->given.view);
    mem_free(context, beam);
}

motet_status motet_ct_geometry_describe(const motet_ct_geometry *geometry, motet_ct_views *out)
{
    if (!geometry->beam)
        return fail(geometry->context, MOTET_UNSUPPORTED,
                    "the geometry was made of angles, not of views in space");
    *out = geometry->beam->given;
    return MOTET_OK;
}

rt_op ct_beam_project_op(const motet_ct_geometry *g, const motet_array *volume,
                         const motet_array *sinogram)
{
    return g->beam->form == CT_FORM_COLUMNS ? ct_columns_project_op(g, volume, sinogram)
                                            : ct_rays_project_op(g, volume, sinogram);
}

rt_op ct_beam_backproject_op(const motet_ct_geometry *g, const motet_array *sinogram,
                             const motet_array *volume)
{
    return g->beam->form == CT_FORM_COLUMNS ? ct_columns_backproject_op(g, sinogram, volume)
                                            : ct_rays_backproject_op(g, sinogram, volume);
}
