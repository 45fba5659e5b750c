/* More voxels and more rays than 31 bits count: other programs' most common silent corruption.
 * Memory is mapped and hardly touched, so that sparse volumes cost nothing. What must write all of
 * such an array is run with MOTET_TEST_LONG. */
#include <sys/mman.h>

#include "support/ct_views.h"

enum { SIDE = 1301 };    /* cubed: 2.2e9 voxels */
enum { PIXELS = 46400 }; /* squared: 2.15e9 rays */

static motet_array *sparse(motet_context *c, int64_t a, int64_t b, int64_t d, float **out)
{
    const size_t bytes = (size_t)(a * b * d) * sizeof(float);
    void *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) skip();
    motet_array *array = NULL;
    assert_ok(c, motet_array_wrap(c, data, MOTET_F32, 3, (const int64_t[]){a, b, d},
                                  MOTET_WRITE_DIRECT, &array));
    *out = data;
    return array;
}

static void drop(motet_array *array)
{
    void *data = motet_array_data(array);
    const size_t bytes = (size_t)motet_array_elements(array) * sizeof(float);
    motet_array_free(array);
    munmap(data, bytes);
}

/* Rays along y that see only columns of voxels in the far corner: `lean` 0 is done in columns, else
 * by rays of any pose. */
static motet_ct_views corner(motet_ct_view *view, int64_t columns, int64_t rows, double lean)
{
    motet_ct_views g;
    motet_ct_views_init(&g);
    g.beam = MOTET_CT_BEAM_PARALLEL;
    *view = (motet_ct_view){
        .source = {0, 1, 0},
        .detector = {0.5 * SIDE - 0.5 * (double)columns, 0, 0.5 * SIDE - 0.5 * (double)rows},
        .u = {1, 0, 0},
        .v = {0, sin(lean), cos(lean)}};
    g.views = 1;
    g.view = view;
    g.columns = columns;
    g.rows = rows;
    g.nx = g.ny = g.nz = SIDE;
    return g;
}

static void voxels_past_2_to_the_31(void **state)
{
    (void)state;
    motet_context *c = test_context();
    for (int form = 0; form < 2; form++) {
        if (form == 0 && !getenv("MOTET_TEST_LONG")) continue; /* lays the volume in columns */
        motet_ct_view view;
        const motet_ct_views g = corner(&view, 3, 2, form ? 1e-9 : 0);
        motet_ct_geometry *made = NULL;
        assert_ok(c, motet_ct_geometry_create(c, &g, &made));
        float *voxel;
        motet_array *x = sparse(c, SIDE, SIDE, SIDE, &voxel), *y = ct_array(c, 1, 3, 2);
        const int64_t last = (int64_t)SIDE * SIDE * SIDE - 1;
        assert_true(last > INT32_MAX);
        voxel[last] = 3;
        voxel[last - 1] = 5;
        voxel[last - (int64_t)SIDE * SIDE - 7 * SIDE] = 11; /* a slice below */
        assert_ok(c, motet_ct_project(made, x, y));
        static const float want[] = {0, 0, 0, 5, 11, 3};
        for (int i = 0; i < 6; i++) assert_true(fabsf(ct_values(y)[i] - want[i]) < 1e-4f);
        if (getenv("MOTET_TEST_LONG")) {
            for (int i = 0; i < 6; i++) ct_values(y)[i] = (float)(i + 1);
            assert_ok(c, motet_ct_backproject(made, y, x));
            assert_true(fabsf(voxel[last] - 6) < 1e-4f && fabsf(voxel[last - 1] - 4) < 1e-4f);
            assert_true(fabsf(voxel[last - (int64_t)SIDE * SIDE] - 5) < 1e-4f);
            assert_true(voxel[last - 3] == 0 && voxel[0] == 0);
        }
        drop(x);
        motet_array_free(y);
        motet_ct_geometry_free(made);
    }
    motet_context_free(c);
}

/* One view of more than 2^31 pixels sees a small volume with its last ones. */
static void rays_past_2_to_the_31(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_view view = {.source = {0, 1, 0},
                          .detector = {2 - 0.5 * PIXELS, 0, 2 - 0.5 * PIXELS},
                          .u = {1, 0, 0},
                          .v = {0, sin(1e-9), cos(1e-9)}};
    motet_ct_views g;
    motet_ct_views_init(&g);
    g.beam = MOTET_CT_BEAM_PARALLEL;
    g.views = 1;
    g.view = &view;
    g.columns = g.rows = PIXELS;
    g.nx = g.ny = g.nz = 4;
    motet_ct_geometry *made = NULL;
    assert_ok(c, motet_ct_geometry_create(c, &g, &made));
    float *ray;
    motet_array *y = sparse(c, 1, PIXELS, PIXELS, &ray), *x = ct_array(c, 4, 4, 4);
    const int64_t last = (int64_t)PIXELS * PIXELS - 1;
    assert_true(last > INT32_MAX);
    for (int u = 0; u < 4; u++)
        for (int v = 0; v < 4; v++) ray[last - (int64_t)u * PIXELS - v] = (float)(10 * u + v + 1);
    assert_ok(c, motet_ct_backproject(made, y, x));
    for (int z = 0; z < 4; z++)
        for (int i = 0; i < 16; i++)
            assert_true(fabsf(ct_values(x)[16 * z + i] - (float)(10 * (3 - i % 4) + 3 - z + 1)) <
                        1e-3f);
    if (getenv("MOTET_TEST_LONG")) {
        assert_ok(c, motet_ct_project(made, x, y));
        assert_true(fabsf(ray[last] - 4 * 1) < 1e-3f);
        assert_true(fabsf(ray[last - 3 * (int64_t)PIXELS - 2] - 4 * 33) < 1e-2f);
        assert_true(ray[last - 4] == 0 && ray[0] == 0);
    }
    drop(y);
    motet_array_free(x);
    motet_ct_geometry_free(made);
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(voxels_past_2_to_the_31),
        cmocka_unit_test(rays_past_2_to_the_31),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
