/* Filtered back-projection of views in space: the density of bodies that are known exactly,
 * whatever the path, the detector's pose, the arc and the voxels are. */
#include "ct/solid.h"
#include "support/ct_views.h"

static const double turn = 6.283185307179586;

/* One fan: a circle of the source around `around`, seen by a detector that may be off the axis and
 * turned about v. */
typedef struct fan {
    const char *name;
    double start, arc; /* of a turn */
    double sid, sdd;
    double shift, yaw; /* of the detector: columns; degrees */
    double around[2];
    double stretch; /* of the source's circle along y: an ellipse */
    double voxel[2], pitch;
    int64_t views, columns, nx, ny;
    int parallel, mirrored;
    int with_end; /* the view at the arc's end is one, too */
    double bound;
} fan;

static void fan_views(const fan *f, motet_ct_view *view)
{
    const double yaw = f->yaw * turn / 360.0;
    for (int64_t k = 0; k < f->views; k++) {
        const double part = (double)k / (double)(f->with_end ? f->views - 1 : f->views);
        const double t = (f->start + f->arc * part) * turn;
        motet_ct_view *w = &view[k];
        const double c = cos(t), s = sin(t), d = f->sdd - f->sid;
        const double u[] = {cos(t + yaw), sin(t + yaw)}, sign = f->mirrored ? -1.0 : 1.0;
        *w = (motet_ct_view){.source = {f->sid * s, -f->sid * c * f->stretch, 0.0},
                             .detector = {-d * s, d * c, 0.0},
                             .u = {sign * u[0], sign * u[1], 0.0},
                             .v = {0.0, 0.0, 1.0}};
        for (int i = 0; i < 2; i++) {
            if (f->parallel)
                w->source[i] = w->detector[i] - w->source[i];
            else
                w->source[i] += f->around[i];
            w->detector[i] += f->around[i] + f->shift * f->pitch * w->u[i];
        }
    }
}

static const fan plain = {"plain", 0.1, 1.0, 300.0, 450.0, 0.0, 0.0, {0.0, 0.0}, 1.0,   {1.0, 1.0},
                          1.0,     360, 160, 100,   100,   0,   0,   0,          0.0015};

/* Line integrals, averaged over a column's width. */
static void fan_sinogram(const motet_ct_views *g, const solid *body, float *out)
{
    for (int64_t i = 0; i < g->views * g->columns; i++) {
        const motet_ct_view *w = &g->view[i / g->columns];
        double sum = 0.0;
        for (int j = 0; j < 8; j++) {
            const double a = (double)(i % g->columns) - 0.5 * (double)(g->columns - 1) +
                             ((double)j + 0.5) / 8 - 0.5;
            double at[3], along[3];
            for (int n = 0; n < 3; n++) {
                at[n] = w->detector[n] + a * g->pitch_u * w->u[n];
                along[n] = g->beam == MOTET_CT_BEAM_CONE ? at[n] - w->source[n] : w->source[n];
            }
            sum += g->beam == MOTET_CT_BEAM_CONE ? solid_line(body, w->source, along, 0.0, 1.0) / 8
                                                 : solid_line(body, at, along, -1e9, 1e9) / 8;
        }
        out[i] = (float)sum;
    }
}

static void fan_errors(const motet_ct_views *g, const solid *body, double inside,
                       const float *volume, double *mean, double *worst)
{
    int64_t count = 0;
    *mean = *worst = 0.0;
    const solid_ellipsoid *e = &body->ellipsoid[0];
    for (int64_t i = 0; i < g->nx * g->ny; i++) {
        const double x = (double)(i % g->nx) - 0.5 * (double)(g->nx - 1);
        const double y = (double)(i / g->nx) - 0.5 * (double)(g->ny - 1);
        const double dx = x * g->voxel[0] + g->centre[0] - e->centre[0];
        const double dy = y * g->voxel[1] + g->centre[1] - e->centre[1];
        if (dx * dx + dy * dy > inside * inside) continue;
        const double error = (double)volume[i] / e->value - 1.0;
        *mean += error;
        *worst = fmax(*worst, fabs(error));
        count++;
    }
    assert_true(count > 20);
    *mean /= (double)count;
}

/* A disc of radius 33 around (9, -6) of the axis becomes its density. */
static int fan_is_right(motet_context *c, const fan *f, motet_ct_weights weights)
{
    motet_ct_view *view = calloc((size_t)f->views, sizeof *view);
    fan_views(f, view);
    motet_ct_views g;
    motet_ct_views_init(&g);
    g.beam = f->parallel ? MOTET_CT_BEAM_PARALLEL : MOTET_CT_BEAM_CONE;
    g.views = f->views;
    g.view = view;
    g.columns = f->columns;
    g.pitch_u = f->pitch;
    g.nx = f->nx;
    g.ny = f->ny;
    for (int i = 0; i < 2; i++) g.voxel[i] = f->voxel[i];
    solid body = {.ellipsoids = 1,
                  .ellipsoid = {{0.7, {33.0, 33.0, 1e6}, {9.0, -6.0, 0.0}, 1.0, 0.0}}};
    for (int i = 0; i < 2; i++) body.ellipsoid[0].centre[i] += f->around[i];
    motet_ct_geometry *geometry = NULL;
    assert_ok(c, motet_ct_geometry_create(c, &g, &geometry));
    motet_array *s = ct_array(c, f->views, f->columns, 1), *v = ct_array(c, 1, f->ny, f->nx);
    fan_sinogram(&g, &body, ct_values(s));
    motet_ct_fdk_options options;
    motet_ct_fdk_options_init(&options);
    options.weights = weights;
    assert_ok(c, motet_ct_fdk(geometry, &options, s, v));
    double mean, worst;
    fan_errors(&g, &body, 24.0, ct_values(v), &mean, &worst);
    const int right = fabs(mean) < 0.3 * f->bound && worst < f->bound;
    if (!right) print_message("%s: mean %g, worst %g\n", f->name, mean, worst);
    motet_array_free(s);
    motet_array_free(v);
    motet_ct_geometry_free(geometry);
    free(view);
    return right;
}

static void discs_keep_their_density(void **state)
{
    (void)state;
    motet_context *c = test_context();
    fan f[32];
    int n = 0, wrong = 0;
#define CASE(text, ...)                                                                            \
    do {                                                                                           \
        f[n] = plain;                                                                              \
        fan *x = &f[n++];                                                                          \
        x->name = text;                                                                            \
        __VA_ARGS__;                                                                               \
    } while (0)
    CASE("whole turn", (void)x);
    CASE("the other sense", x->arc = -1.0);
    CASE("mirrored u", x->mirrored = 1);
    CASE("both ends of the turn", x->with_end = 1);
    CASE("a turn and a half", x->arc = 1.5; x->views = 540);
    CASE("near a turn", x->arc = 355.0 / 360; x->views = 355);
    CASE("330 degrees", x->arc = 330.0 / 360; x->views = 330; x->start = 0.9);
    CASE("270 degrees", x->arc = 0.75; x->views = 270);
    CASE("short scan", x->arc = 212.0 / 360; x->views = 212);
    CASE("short scan the other way", x->arc = -212.0 / 360; x->views = 212; x->start = -0.3);
    CASE("off-origin centre", x->around[0] = 37.5; x->around[1] = -11.0);
    CASE("short, off-origin", x->around[0] = 37.5; x->arc = 212.0 / 360; x->views = 212);
    CASE("turned detector", x->yaw = 10.0);
    CASE("ellipse", x->stretch = 1.25; x->bound = 0.004);
    CASE("an arc of an ellipse", x->stretch = 1.25; x->arc = 0.65; x->views = 234; x->start = 0.3;
         x->bound = 0.004);
    CASE("offset detector", x->shift = 50.0; x->columns = 120);
    CASE("offset detector, other side", x->shift = -50.0; x->columns = 120);
    CASE("offset, mirrored", x->shift = 50.0; x->columns = 120; x->mirrored = 1;);
    CASE("small voxels", x->voxel[0] = x->voxel[1] = 0.3; x->nx = x->ny = 280);
    CASE("wide voxels", x->voxel[0] = x->voxel[1] = 3.1; x->nx = x->ny = 40; x->pitch = 0.5;
         x->columns = 320);
    CASE("anisotropic voxels", x->voxel[0] = 0.7; x->voxel[1] = 1.6);
    CASE("parallel, whole turn", x->parallel = 1);
    CASE("parallel, half a turn", x->parallel = 1; x->arc = 0.5; x->views = 180);
    CASE("parallel, half a turn and its end", x->parallel = 1; x->arc = 0.5; x->views = 181;
         x->with_end = 1);
    CASE("parallel, offset detector", x->parallel = 1; x->shift = 30.0; x->columns = 90;);
#undef CASE
    for (int i = 0; i < n; i++) wrong += !fan_is_right(c, &f[i], MOTET_CT_WEIGHTS_AUTO);
    assert_int_equal(wrong, 0);
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(discs_keep_their_density)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
