/* Rays in faces, edges and corners, along axes, grazing, missing, that begin or end in the volume:
 * each has the length that it should, in finite time, and the pair stays one matrix. */
#include "support/ct_kinds.h"

/* The length of a ray within the volume widened by `more` voxels on each side. */
static double length_of(const motet_ct_views *g, int64_t k, int64_t u, int64_t v, double more)
{
    const ct_oracle_line l = ct_oracle_line_of(g, k, u, v);
    long double t0 = l.first, t1 = l.last, unit = 0.0L;
    for (int i = 0; i < 3; i++) {
        const long double low = -more - l.from[i], high = (long double)l.n[i] + more - l.from[i];
        unit += l.along[i] * l.voxel[i] * l.along[i] * l.voxel[i];
        if (l.along[i] == 0.0L) {
            if (low > 0.0L || high < 0.0L) return 0.0;
            continue;
        }
        t0 = fmaxl(t0, fminl(low / l.along[i], high / l.along[i]));
        t1 = fminl(t1, fmaxl(low / l.along[i], high / l.along[i]));
    }
    return t1 > t0 ? (double)((t1 - t0) * sqrtl(unit)) : 0.0;
}

/* Rays of ones have their length in the volume, those in its outermost faces something up to it;
 * what misses has none and meets no NaN. */
static void check_lengths(motet_context *context, motet_ct_geometry *g, const motet_ct_views *views)
{
    const size_t rays = ct_oracle_rays(views), voxels = ct_oracle_voxels(views);
    float *ones = calloc(voxels, sizeof(float)), *out = malloc(sizeof(float) * rays);
    for (size_t i = 0; i < voxels; i++) ones[i] = 1.0f;
    ct_kinds_project(context, g, views, ones, out);
    for (size_t i = 0; i < rays; i++) {
        const int64_t v = (int64_t)i % views->rows, ray = (int64_t)i / views->rows;
        const int64_t k = ray / views->columns, u = ray % views->columns;
        const double most = length_of(views, k, u, v, 1e-9),
                     least = length_of(views, k, u, v, -1e-9);
        if (!((double)out[i] <= most * (1.0 + 1e-6) + 1e-6 &&
              (double)out[i] >= least * (1.0 - 1e-6) - 1e-6))
            fail_msg("view %d, ray (%d, %d): %.9g, expected %.9g to %.9g", (int)k, (int)u, (int)v,
                     (double)out[i], least, most);
    }
    for (size_t i = 0; i < voxels; i++) ones[i] = NAN;
    ct_kinds_project(context, g, views, ones, out);
    for (size_t i = 0; i < rays; i++) {
        const int64_t v = (int64_t)i % views->rows, ray = (int64_t)i / views->rows;
        const int64_t k = ray / views->columns, u = ray % views->columns;
        if (length_of(views, k, u, v, 1e-9) == 0.0 && g->beam->form == CT_FORM_RAYS)
            assert_true(out[i] == 0.0f); /* columns touch neighbours with a weight of 0 */
        if (length_of(views, k, u, v, -1e-9) > 1e-9) assert_true(isnan(out[i]));
    }
    free(ones);
    free(out);
}

/* Every weight of the back-projection has the bits of the projection's; what one operator does not
 * touch, the other does not either. */
static void check_matrix(motet_context *context, motet_ct_geometry *g, const motet_ct_views *views)
{
    const size_t rays = ct_oracle_rays(views), voxels = ct_oracle_voxels(views);
    float *matrix = malloc(sizeof(float) * rays * voxels);
    float *x = calloc(voxels, sizeof(float)), *y = calloc(rays, sizeof(float));
    float *back = calloc(voxels, sizeof(float)), *touched = calloc(rays * voxels, sizeof(float));
    for (size_t v = 0; v < voxels; v++) {
        x[v] = 1.0f;
        ct_kinds_project(context, g, views, x, matrix + v * rays);
        x[v] = NAN;
        ct_kinds_project(context, g, views, x, touched + v * rays);
        x[v] = 0.0f;
    }
    for (size_t i = 0; i < rays; i++) {
        for (int nan = 0; nan < 2; nan++) {
            y[i] = nan ? NAN : 1.0f;
            ct_kinds_backproject(context, g, views, y, back);
            for (size_t v = 0; v < voxels; v++)
                if (memcmp((nan ? touched : matrix) + v * rays + i, &back[v], sizeof(float)))
                    fail_msg("ray %zu, voxel %zu: %a forth, %a back%s", i, v,
                             (double)matrix[v * rays + i], (double)back[v], nan ? " of NaN" : "");
        }
        y[i] = 0.0f;
    }
    free(matrix);
    free(touched);
    free(x);
    free(y);
    free(back);
}

/* Both forms, where the first one is for it. */
static void check(motet_context *context, ct_kinds_case *c)
{
    motet_ct_geometry *g = ct_kinds_create(context, c);
    if (g->beam->form == CT_FORM_COLUMNS) check_lengths(context, g, &c->g);
    ct_beam_use_rays(g->beam);
    check_lengths(context, g, &c->g);
    check_matrix(context, g, &c->g);
    motet_ct_geometry_free(g);
}

static ct_kinds_case start(motet_ct_beam beam, int64_t columns, int64_t rows, int64_t nx,
                           int64_t ny, int64_t nz)
{
    ct_kinds_case c;
    motet_ct_views_init(&c.g);
    c.g.beam = beam;
    c.g.views = 1;
    c.g.columns = columns;
    c.g.rows = rows;
    c.g.nx = nx;
    c.g.ny = ny;
    c.g.nz = nz;
    return c;
}

/* A view along an axis of space, or against it, u and v along the other two. */
static motet_ct_view along_axis(motet_ct_beam beam, int axis, double sign, double distance)
{
    motet_ct_view w = {.source = {0}};
    w.source[axis] = beam == MOTET_CT_BEAM_CONE ? -sign * distance : sign;
    w.detector[axis] = sign * distance;
    w.u[(axis + 1) % 3] = 1.0;
    w.v[(axis + 2) % 3] = -1.0;
    return w;
}

/* Along each axis both ways, detectors odd and even: in the middles of voxels, in faces, in edges,
 * in the outermost faces and beyond. */
static void rays_along_the_axes(void **state)
{
    (void)state;
    motet_context *context = test_context();
    for (int axis = 0; axis < 3; axis++)
        for (int odd = 0; odd < 4; odd++) {
            ct_kinds_case c = start(MOTET_CT_BEAM_PARALLEL, 6 + (odd & 1), 7 - (odd >> 1), 4, 5, 3);
            c.g.views = 2;
            c.view[0] = along_axis(MOTET_CT_BEAM_PARALLEL, axis, 1.0, 10.0);
            c.view[1] = along_axis(MOTET_CT_BEAM_PARALLEL, axis, -1.0, 10.0);
            check(context, &c);
        }
    motet_context_free(context);
}

/* From a source: the middle ray along an axis, the others through edges and corners. */
static void rays_from_a_source_through_corners(void **state)
{
    (void)state;
    motet_context *context = test_context();
    for (int axis = 0; axis < 3; axis++)
        for (int odd = 0; odd < 4; odd++) {
            ct_kinds_case c = start(MOTET_CT_BEAM_CONE, 5 + (odd & 1), 6 - (odd >> 1), 4, 4, 4);
            c.g.views = 3;
            c.g.pitch_u = c.g.pitch_v = 2.0; /* the rays meet lattice points half way */
            c.view[0] = along_axis(MOTET_CT_BEAM_CONE, axis, 1.0, 8.0);
            c.view[1] = along_axis(MOTET_CT_BEAM_CONE, axis, -1.0, 8.0);
            c.view[2] = along_axis(MOTET_CT_BEAM_CONE, axis, 1.0, 2.0); /* ends in the faces */
            check(context, &c);
        }
    motet_context_free(context);
}

/* Diagonals of a plane and of space, from corner to corner of voxels. */
static void rays_along_diagonals(void **state)
{
    (void)state;
    motet_context *context = test_context();
    const double h = sqrt(0.5), s = sqrt(1.0 / 6.0);
    for (int n = 3; n <= 4; n++)
        for (int odd = 0; odd < 2; odd++) {
            ct_kinds_case c = start(MOTET_CT_BEAM_PARALLEL, 5 + odd, 4 + odd, n, n, n);
            c.g.views = 4;
            c.g.pitch_u = sqrt(2.0);
            c.view[0] = (motet_ct_view){{1, 1, 0}, {0, 0, 0}, {h, -h, 0}, {0, 0, 1}};
            c.view[1] = (motet_ct_view){{-1, 1, 0}, {5, 5, 0}, {h, h, 0}, {0, 0, 1}};
            c.view[2] = (motet_ct_view){{1, 1, 1}, {0, 0, 0}, {h, -h, 0}, {s, s, -2 * s}};
            c.view[3] = (motet_ct_view){{1, -1, -1}, {9, -9, -9}, {h, h, 0}, {s, -s, 2 * s}};
            check(context, &c);
        }
    motet_context_free(context);
}

/* Almost along an axis or in a face, by 1e-3 to 1e-300. */
static void grazing_rays(void **state)
{
    (void)state;
    motet_context *context = test_context();
    const double tilts[] = {1e-3, -1e-9, 1e-13, -1e-16, 1e-20, 1e-60, -1e-150, 1e-290, 1e-300};
    for (size_t i = 0; i < sizeof tilts / sizeof *tilts; i++)
        for (int axis = 0; axis < 3; axis++) {
            ct_kinds_case c = start(MOTET_CT_BEAM_PARALLEL, 5, 6, 3, 4, 4);
            c.g.views = 2;
            c.view[0] = along_axis(MOTET_CT_BEAM_PARALLEL, axis, 1.0, 0.0);
            c.view[0].source[(axis + 1) % 3] = tilts[i];
            c.view[1] = along_axis(MOTET_CT_BEAM_PARALLEL, axis, -1.0, 0.0);
            c.view[1].source[(axis + 1) % 3] = tilts[i];
            c.view[1].source[(axis + 2) % 3] = -tilts[i] / 3;
            check(context, &c);
        }
    motet_context_free(context);
}

/* A source in a corner, an edge, a face, the inside of a voxel, and a detector within the volume.
 */
static void sources_in_the_volume(void **state)
{
    (void)state;
    motet_context *context = test_context();
    const double places[][3] = {{0, 0, 0},        {0, 0, 0.5},     {0.5, 0, 0.25},
                                {0.3, -0.2, 0.1}, {2, 2, 2},       {2, 0.5, -0.5},
                                {-2, -2, -2},     {1.9, -0.01, 1}, {-2, 0.3, 1.999}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        for (int axis = 0; axis < 3; axis++) {
            ct_kinds_case c = start(MOTET_CT_BEAM_CONE, 5, 4, 4, 4, 4);
            c.g.views = 3;
            for (int k = 0; k < 3; k++) {
                c.view[k] = along_axis(MOTET_CT_BEAM_CONE, axis, k == 1 ? -1.0 : 1.0, 4.0);
                for (int j = 0; j < 3; j++) {
                    c.view[k].source[j] = places[i][j];
                    if (k == 2) c.view[k].detector[j] = places[i][j];
                }
            }
            c.view[2].detector[axis] += 1.0; /* a voxel away: both in the volume */
            check(context, &c);
        }
    motet_context_free(context);
}

/* All of it beside the volume: exact zeros, both ways. */
static void rays_that_miss(void **state)
{
    (void)state;
    motet_context *context = test_context();
    for (int axis = 0; axis < 3; axis++)
        for (int b = 0; b < 2; b++) {
            const motet_ct_beam beam = b ? MOTET_CT_BEAM_CONE : MOTET_CT_BEAM_PARALLEL;
            ct_kinds_case c = start(beam, 3, 4, 4, 3, 5);
            c.g.views = 2;
            c.view[0] = c.view[1] = along_axis(beam, axis, 1.0, 6.0);
            c.view[0].detector[(axis + 1) % 3] += 20.0;
            if (b) c.view[0].source[(axis + 1) % 3] += 20.0;
            if (b) c.view[1].source[axis] = 3.0; /* begins behind the volume, away from it */
            if (!b) c.view[1].detector[(axis + 2) % 3] -= 9.0;
            check(context, &c);
        }
    motet_context_free(context);
}

/* Random poses, moved so that in each view one ray runs through a corner of voxels: whichever of
 * the eight it meets by rounding, it meets both ways. */
static void random_rays_through_corners(void **state)
{
    (void)state;
    motet_context *context = test_context();
    uint64_t seed = 62;
    for (int trial = 0; trial < 20 * CT_KIND_COUNT; trial++) {
        ct_kinds_case c = ct_kinds_random(&seed, (ct_kind)(trial % CT_KIND_COUNT), 4);
        const int64_t n[] = {c.g.nx, c.g.ny, c.g.nz};
        c.g.view = c.view;
        for (int64_t k = 0; k < c.g.views; k++) {
            const ct_oracle_line l =
                ct_oracle_line_of(&c.g, k, (int64_t)(test_random(&seed) % (uint64_t)c.g.columns),
                                  (int64_t)(test_random(&seed) % (uint64_t)c.g.rows));
            const double t = l.last > 1.0L ? 0.0 : test_uniform(&seed, 0.2, 0.8);
            for (int i = 0; i < 3; i++) { /* where the ray is at t goes to the corner */
                const int64_t corner = (int64_t)(test_random(&seed) % (uint64_t)(n[i] + 1));
                const double at = (double)(l.from[i] + t * l.along[i]);
                const double by = ((double)corner - at) * c.g.voxel[i];
                if (c.g.beam == MOTET_CT_BEAM_CONE) c.view[k].source[i] += by;
                c.view[k].detector[i] += by;
            }
        }
        check(context, &c);
    }
    motet_context_free(context);
}

/* One view, column, row and voxel, for all kinds; and each of them one while the others are not. */
static void one_of_everything(void **state)
{
    (void)state;
    motet_context *context = test_context();
    uint64_t seed = 61;
    for (int trial = 0; trial < 8 * CT_KIND_COUNT; trial++) {
        const int which = trial / CT_KIND_COUNT;
        ct_kinds_case c = ct_kinds_random(&seed, (ct_kind)(trial % CT_KIND_COUNT), 4);
        if (which == 0 || which == 1 || which == 7) c.g.views = 1;
        if (which == 0 || which == 2) c.g.columns = 1;
        if (which == 0 || which == 3) c.g.rows = 1;
        if (which == 0 || which == 4 || which == 7) c.g.nx = 1;
        if (which == 0 || which == 5 || which == 7) c.g.ny = 1;
        if (which == 0 || which == 6 || which == 7) c.g.nz = 1;
        check(context, &c);
    }
    motet_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rays_along_the_axes),
        cmocka_unit_test(rays_from_a_source_through_corners),
        cmocka_unit_test(rays_along_diagonals),
        cmocka_unit_test(grazing_rays),
        cmocka_unit_test(sources_in_the_volume),
        cmocka_unit_test(rays_that_miss),
        cmocka_unit_test(random_rays_through_corners),
        cmocka_unit_test(one_of_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
