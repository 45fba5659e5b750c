/* The head in three dimensions: its table, its line integrals against sums along the ray, and what
 * is refused. */
#include "ct/solid.h"
#include "support/ct_views.h"

/* Values at middles of parts, from the table: skull 1, brain 0.2, both ventricles 0, the rest 0.3.
 */
static void parts_lie_where_the_table_says(void **state)
{
    (void)state;
    const double centre[] = {1.0, -2.0, 3.0}, radius = 10.0;
    const solid s = solid_head(centre, radius, 2.0);
    const double want[][4] = {
        {0.0, 0.91, 0.0, 1.0},    {0.0, -0.5, 0.0, 0.2},     {0.22, 0.0, 0.0, 0.0},
        {-0.22, 0.0, 0.0, 0.0},   {0.0, 0.35, -0.15, 0.3},   {0.0, 0.1, 0.25, 0.3},
        {0.0, -0.1, 0.25, 0.3},   {-0.08, -0.605, 0.0, 0.3}, {0.0, -0.606, 0.0, 0.3},
        {0.06, -0.605, 0.0, 0.3}, {0.0, 0.0, 0.8, 1.0},      {0.0, 0.0, 0.82, 0.0},
        {0.3, 0.28, 0.0, 0.0},    {0.3, -0.28, 0.0, 0.2}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        double at[3];
        for (int j = 0; j < 3; j++) at[j] = centre[j] + radius * want[i][j];
        if (fabs(solid_point(&s, at) - 2.0 * want[i][3]) > 1e-12)
            fail_msg("part %zu: %g, expected %g", i, solid_point(&s, at), 2.0 * want[i][3]);
    }
}

/* Against 20000 samples along the ray, clipped to the segment wherever its ends lie. */
static void lines_are_sums_of_points(void **state)
{
    (void)state;
    const double centre[] = {0.3, 0.1, -0.2};
    const solid s = solid_head(centre, 1.1, 1.0);
    uint64_t seed = 5;
    for (int i = 0; i < 100; i++) {
        double from[3], along[3];
        for (int j = 0; j < 3; j++) from[j] = test_uniform(&seed, -1.5, 1.5);
        for (int j = 0; j < 3; j++) along[j] = test_uniform(&seed, -1.5, 1.5) - from[j];
        const double length = sqrt(along[0] * along[0] + along[1] * along[1] + along[2] * along[2]);
        enum { SAMPLES = 20000 };
        double sum = 0.0;
        for (int k = 0; k < SAMPLES; k++) {
            double at[3];
            for (int j = 0; j < 3; j++) at[j] = from[j] + along[j] * (k + 0.5) / SAMPLES;
            sum += solid_point(&s, at) * length / SAMPLES;
        }
        assert_true(fabs(solid_line(&s, from, along, 0.0, 1.0) - sum) < 1e-3);
    }
}

/* A source 10^9 lengths away costs no digits that its direction has. */
static void a_far_start_costs_no_digits(void **state)
{
    (void)state;
    const double centre[] = {0.0, 0.0, 0.0}, far[] = {0.05, 1e9, 0.1}, near[] = {0.05, 1.0, 0.1};
    const double down[] = {0.0, -1.0, 0.0};
    const solid s = solid_head(centre, 1.0, 1.0);
    assert_true(fabs(solid_line(&s, far, down, 0.0, 2e9) - solid_line(&s, near, down, 0.0, 2.0)) <
                1e-6);
}

/* Volume and sinogram are the body's points and lines where the geometry says that they are. */
static void arrays_hold_points_and_lines(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_view view[7];
    motet_ct_views g = ct_circular(7, view, 30.0, 50.0, 9, 6, 1.5, 12, 11, 10);
    g.centre[0] = 0.5;
    g.voxel[2] = 1.25;
    motet_ct_geometry *geometry = NULL;
    assert_ok(c, motet_ct_geometry_create(c, &g, &geometry));
    motet_array *volume = ct_array(c, 10, 11, 12), *sinogram = ct_array(c, 7, 9, 6);
    motet_ct_phantom p;
    motet_ct_phantom_init(&p);
    p.radius = 5.5;
    p.value = 3.0;
    assert_ok(c, motet_ct_phantom_volume(geometry, &p, volume));
    assert_ok(c, motet_ct_phantom_project(geometry, &p, sinogram));
    const solid s = solid_head(g.centre, 5.5, 3.0);
    for (int i = 0; i < 10 * 11 * 12; i++) {
        const double at[] = {0.5 + i % 12 - 5.5, i / 12 % 11 - 5.0, (i / 132 - 4.5) * 1.25};
        assert_true(ct_values(volume)[i] == (float)solid_point(&s, at));
    }
    for (int i = 0; i < 7 * 9 * 6; i++) {
        const motet_ct_view *w = &view[i / 54];
        double along[3];
        for (int j = 0; j < 3; j++)
            along[j] = w->detector[j] + (i / 6 % 9 - 4.0) * 1.5 * w->u[j] +
                       (i % 6 - 2.5) * 1.5 * w->v[j] - w->source[j];
        assert_true(fabs(ct_values(sinogram)[i] - solid_line(&s, w->source, along, 0.0, 1.0)) <
                    1e-5);
    }
    /* The mean over a voxel lies between what it is made of, and differs at edges only. */
    p.points = 4;
    motet_array *mean = ct_array(c, 10, 11, 12);
    assert_ok(c, motet_ct_phantom_volume(geometry, &p, mean));
    int edges = 0;
    for (int i = 0; i < 10 * 11 * 12; i++) {
        assert_true(ct_values(mean)[i] >= -1e-6f && ct_values(mean)[i] <= 3.0f);
        edges += ct_values(mean)[i] != ct_values(volume)[i];
    }
    assert_true(edges > 100 && edges < 10 * 11 * 12 / 2);
    motet_array_free(mean);
    motet_array_free(volume);
    motet_array_free(sinogram);
    motet_ct_geometry_free(geometry);
    motet_context_free(c);
}

static void refuses_nonsense(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_view view[2];
    const motet_ct_views g = ct_circular(2, view, 30.0, 50.0, 3, 4, 1.5, 5, 6, 7);
    motet_ct_geometry *geometry = NULL;
    assert_ok(c, motet_ct_geometry_create(c, &g, &geometry));
    motet_array *volume = ct_array(c, 7, 6, 5), *sinogram = ct_array(c, 2, 3, 4);
    ct_values(volume)[3] = 8.0f;
    motet_ct_phantom p;
    motet_ct_phantom_init(&p);
    p.radius = -1.0;
    assert_status(c, motet_ct_phantom_volume(geometry, &p, volume), MOTET_BAD_ARGUMENT);
    assert_message(c, "radius", "-1", NULL);
    motet_ct_phantom_init(&p);
    p.value = NAN;
    assert_status(c, motet_ct_phantom_project(geometry, &p, sinogram), MOTET_BAD_ARGUMENT);
    assert_message(c, "value", NULL);
    motet_ct_phantom_init(&p);
    p.points = 65;
    assert_status(c, motet_ct_phantom_volume(geometry, &p, volume), MOTET_BAD_ARGUMENT);
    assert_message(c, "points", "65", NULL);
    p.size = 3;
    assert_status(c, motet_ct_phantom_volume(geometry, &p, volume), MOTET_BAD_ARGUMENT);
    assert_status(c, motet_ct_phantom_volume(geometry, NULL, sinogram), MOTET_BAD_SHAPE);
    assert_status(c, motet_ct_phantom_project(geometry, NULL, volume), MOTET_BAD_SHAPE);
    assert_true(ct_values(volume)[3] == 8.0f);
    motet_array_free(volume);
    motet_array_free(sinogram);
    motet_ct_geometry_free(geometry);
    const double angles[] = {0.0, 1.0};
    const motet_ct_parallel parallel = ct_parallel(2, angles, 4, 3);
    assert_ok(c, motet_ct_geometry_parallel(c, &parallel, &geometry));
    volume = ct_array(c, 3, 4, 4);
    assert_status(c, motet_ct_phantom_volume(geometry, NULL, volume), MOTET_UNSUPPORTED);
    motet_array_free(volume);
    motet_ct_geometry_free(geometry);
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_lie_where_the_table_says),
        cmocka_unit_test(lines_are_sums_of_points), cmocka_unit_test(a_far_start_costs_no_digits),
        cmocka_unit_test(arrays_hold_points_and_lines), cmocka_unit_test(refuses_nonsense)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
