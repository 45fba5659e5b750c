/* Geometries of views in space: what is accepted, where rays run, which form does them. */
#include "ct/beam/beam.h"

#include <math.h>
#include <string.h>

#include "support/support.h"

enum { VIEWS = 3 };

static const motet_ct_view straight = {
    .source = {0, -50, 0}, .detector = {0, 30, 0}, .u = {1, 0, 0}, .v = {0, 0, 1}};

static motet_ct_views cone(motet_ct_view *view)
{
    motet_ct_views g;
    motet_ct_views_init(&g);
    for (int k = 0; k < VIEWS; k++) view[k] = straight;
    g.view = view;
    g.views = VIEWS;
    g.columns = 9;
    g.rows = 6;
    g.pitch_u = 1.5;
    g.pitch_v = 1.25;
    g.nx = 7;
    g.ny = 8;
    g.nz = 5;
    g.voxel[2] = 2;
    return g;
}

static motet_status make(motet_context *c, const motet_ct_views *views)
{
    motet_ct_geometry *g = NULL;
    const motet_status st = motet_ct_geometry_create(c, views, &g);
    assert_int_equal(st == MOTET_OK, g != NULL);
    motet_ct_geometry_free(g);
    return st;
}

/* Every field out of range is refused by its name and value. */
static void refuses_fields_out_of_range(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_view view[VIEWS];
    const motet_ct_views good = cone(view);
    assert_ok(c, make(c, &good));
#define REFUSED(field, value, name, word)                                                          \
    do {                                                                                           \
        motet_ct_views bad = good;                                                                 \
        bad.field = value;                                                                         \
        assert_status(c, make(c, &bad), MOTET_BAD_ARGUMENT);                                       \
        assert_message(c, name, word, NULL);                                                       \
    } while (0)
    REFUSED(size, 4, "size", "4");
    REFUSED(beam, (motet_ct_beam)7, "beam", "7");
    REFUSED(views, 0, "views", "0");
    REFUSED(columns, 0, "columns", "0");
    REFUSED(rows, -3, "rows", "-3");
    REFUSED(nx, (int64_t)1 << 40, "nx", "1099511627776");
    REFUSED(ny, 0, "ny", "0");
    REFUSED(nz, 0, "nz", "0");
    REFUSED(pitch_u, 0.0, "pitch_u", "0");
    REFUSED(pitch_v, NAN, "pitch_v", "nan");
    REFUSED(voxel[1], -2.0, "voxel", "-2");
    REFUSED(voxel[0], INFINITY, "voxel", "inf");
    REFUSED(centre[2], INFINITY, "centre", "inf");
    REFUSED(view, NULL, "view", "NULL");
#undef REFUSED
    motet_context_free(c);
}

/* A bad view is refused with its number. */
static void refuses_views_that_see_nothing(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_view view[VIEWS];
    motet_ct_views g = cone(view);
#define REFUSED(field, value, word)                                                                \
    do {                                                                                           \
        view[1].field = value;                                                                     \
        assert_status(c, make(c, &g), MOTET_BAD_ARGUMENT);                                         \
        assert_message(c, "view 1", word, NULL);                                                   \
        view[1] = straight;                                                                        \
    } while (0)
    REFUSED(source[0], NAN, "source");
    REFUSED(detector[1], -INFINITY, "detector");
    REFUSED(u[0], 1.5, "unit vector"); /* the pitch is no part of it */
    REFUSED(v[1], 0.5, "unit vector");
    REFUSED(source[1], 30, "source"); /* where the detector's middle is */
    REFUSED(detector[1], 2e15, "detector");
    REFUSED(source[0], 1e300, "the source is 1e+300 voxels");
    REFUSED(source[0], 1e300, "1e15 for the other; it is at (1e+300");
    view[1].source[1] = -3e6; /* both far away: the nearer is at fault */
    REFUSED(detector[1], 2e6, "the detector is 2000000");
    view[1].v[0] = 0.6;
    view[1].v[2] = 0.8;
    assert_status(c, make(c, &g), MOTET_BAD_ARGUMENT);
    assert_message(c, "view 1", "right angles", NULL);
    view[1] = straight;
    view[1].source[0] = 40; /* in the detector's plane */
    view[1].source[1] = 30;
    assert_status(c, make(c, &g), MOTET_BAD_ARGUMENT);
    assert_message(c, "view 1", "edge-on", NULL);
#undef REFUSED
    motet_context_free(c);
}

static void assert_near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance)) fail_msg("%.17g, expected %.17g", got, want);
}

/* A ray begins at the source and ends in its pixel, in voxels, whichever way it was turned. */
static void rays_run_from_source_to_pixel(void **state)
{
    (void)state;
    motet_context *c = test_context();
    uint64_t seed = 5;
    for (int trial = 0; trial < 50; trial++) {
        motet_ct_view view[VIEWS];
        motet_ct_views given = cone(view);
        for (int i = 0; i < 3; i++) {
            given.centre[i] = test_uniform(&seed, -20, 20);
            given.voxel[i] = test_uniform(&seed, 0.5, 2);
        }
        const double a = test_uniform(&seed, 0, 6.28), s = sin(a), k = cos(a);
        view[1] = (motet_ct_view){.source = {given.centre[0] + 70 * s, -70 * k, 3},
                                  .detector = {-20 * s, given.centre[1] + 20 * k, -4},
                                  .u = {k, s, 0},
                                  .v = {0, 0, 1}};
        motet_ct_geometry *g;
        assert_ok(c, motet_ct_geometry_create(c, &given, &g));
        const struct ct_beam *b = g->beam;
        const ct_pose *pose = (const ct_pose *)motet_array_data(b->poses) + 1;
        const int64_t u = (int64_t)(test_random(&seed) % 9), v = (int64_t)(test_random(&seed) % 6);
        const ct_ray ray = ct_ray_of(&b->space, pose, u, v);
        assert_true(ray.d[b->space.s] >= 0);
        const int turned = pose->d[b->space.s] < 0;
        for (int i = 0; i < 3; i++) {
            const double n = (double)b->space.n[i], h = given.voxel[i];
            const double pixel = view[1].detector[i] + ((double)u - 4) * 1.5 * view[1].u[i] +
                                 ((double)v - 2.5) * 1.25 * view[1].v[i];
            const double source = (view[1].source[i] - given.centre[i]) / h + n / 2;
            const double end = (pixel - given.centre[i]) / h + n / 2;
            assert_near(ray.o[i] + ray.first * ray.d[i], turned ? end : source, 1e-10);
            assert_near(ray.o[i] + ray.last * ray.d[i], turned ? source : end, 1e-10);
        }
        motet_ct_geometry_free(g);
    }
    motet_context_free(c);
}

/* However far the source is, rays near the volume keep their place. */
static void a_far_source_costs_no_digits(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_view view[VIEWS];
    motet_ct_views given = cone(view);
    view[1].source[1] = -0.9e15;
    motet_ct_geometry *g;
    assert_ok(c, motet_ct_geometry_create(c, &given, &g));
    const ct_pose *pose = (const ct_pose *)motet_array_data(g->beam->poses) + 1;
    const ct_ray ray = ct_ray_of(&g->beam->space, pose, 8, 5);
    assert_near(ray.o[0], 3.5 + 6, 1e-9); /* as a parallel ray's */
    assert_near(ray.o[1], 4, 1e-9);
    assert_near(ray.o[2], 2.5 + 2.5 * 1.25 / 2, 1e-9);
    const double t = ct_cross(&ray, 1, 8);
    assert_near(t * ray.d[1], 4, 1e-9);
    motet_ct_geometry_free(g);
    motet_context_free(c);
}

static ct_form form_of(motet_context *c, const motet_ct_views *given, int64_t w)
{
    motet_ct_geometry *g;
    assert_ok(c, motet_ct_geometry_create(c, given, &g));
    const ct_form form = g->beam->form;
    if (w >= 0) assert_int_equal(g->beam->space.w, w);
    motet_ct_geometry_free(g);
    return form;
}

/* The form follows from v and from how steep rays are, in any view. */
static void the_form_follows_from_the_geometry(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_view view[VIEWS];
    motet_ct_views given = cone(view);
    assert_int_equal(form_of(c, &given, 2), CT_FORM_COLUMNS);
    view[2].v[2] = -1; /* rows counted the other way */
    assert_int_equal(form_of(c, &given, 2), CT_FORM_COLUMNS);
    view[2].v[2] = cos(1e-5);
    view[2].v[1] = sin(1e-5); /* tilted a little */
    assert_int_equal(form_of(c, &given, -1), CT_FORM_RAYS);
    view[2] = straight;
    view[2].v[2] = 0; /* another axis in one view */
    view[2].v[1] = 0;
    view[2].v[0] = 1;
    view[2].u[0] = 0;
    view[2].u[2] = 1;
    assert_int_equal(form_of(c, &given, -1), CT_FORM_RAYS);
    for (int k = 0; k < VIEWS; k++) view[k] = view[2];
    assert_int_equal(form_of(c, &given, 0), CT_FORM_COLUMNS);
    for (int k = 0; k < VIEWS; k++) view[k] = straight;
    view[1].source[1] = 25; /* so near that rays climb by more than a voxel a voxel */
    given.pitch_v = 10;
    assert_int_equal(form_of(c, &given, -1), CT_FORM_RAYS);
    motet_context_free(c);
}

/* What a geometry was made of can be asked for, its axes made orthonormal. */
static void tells_what_it_was_made_of(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_view view[VIEWS];
    const motet_ct_views given = cone(view);
    view[1].u[0] = 1.00005;
    view[1].u[2] = 0.00005;
    motet_ct_geometry *g;
    assert_ok(c, motet_ct_geometry_create(c, &given, &g));
    motet_ct_views told;
    assert_ok(c, motet_ct_geometry_describe(g, &told));
    assert_int_equal(told.views, VIEWS);
    assert_int_equal(told.rows, 6);
    assert_true(told.view != view);
    assert_memory_equal(&told.view[0], &straight, sizeof straight);
    const motet_ct_view *w = &told.view[1];
    assert_near(w->u[0] * w->v[0] + w->u[1] * w->v[1] + w->u[2] * w->v[2], 0, 1e-15);
    assert_near(w->u[0] * w->u[0] + w->u[1] * w->u[1] + w->u[2] * w->u[2], 1, 1e-15);
    motet_ct_geometry_free(g);
    motet_context_free(c);
}

/* Every failing allocation is told and leaves nothing behind. */
static void survives_every_failing_allocation(void **state)
{
    (void)state;
    motet_ct_view view[VIEWS];
    const motet_ct_views given = cone(view);
    for (int64_t nth = 1;; nth++) {
        motet_context *c = test_context_failing(nth, 0);
        const motet_status st = make(c, &given);
        const int reached = test_context_failed(c);
        assert_int_equal(st, reached ? MOTET_NO_MEMORY : MOTET_OK);
        motet_context_free(c);
        if (!reached) break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_fields_out_of_range),
        cmocka_unit_test(refuses_views_that_see_nothing),
        cmocka_unit_test(rays_run_from_source_to_pixel),
        cmocka_unit_test(a_far_source_costs_no_digits),
        cmocka_unit_test(the_form_follows_from_the_geometry),
        cmocka_unit_test(tells_what_it_was_made_of),
        cmocka_unit_test(survives_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
