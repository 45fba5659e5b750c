/* The kernels of the pair in column form, compiled in float64: only rounding keeps them from being
 * transposes of each other. */
#define CT_DOUBLE
#include "ct/beam/columns_backproject.k.h"
#include "ct/beam/columns_project.k.h"
#include "ct/beam/columns_scale.k.h"

#include "ct/beam/beam.h"
#include "support/ct_random.h"

static void project(const struct ct_beam *beam, const double *volume, double *sinogram)
{
    const ct_space *p = &beam->space;
    const ct_columns_project_args a = {
        .space = *p,
        .pose = motet_array_data(beam->poses),
        .views = beam->given.views,
        .columns = p->columns,
        .rows = p->rows,
        .volume = volume, /* (s, f, w) */
        .s_stride = p->n[p->f] * p->n[p->w],
        .f_stride = p->n[p->w],
        .end = p->n[p->s],
        .sinogram = sinogram,
        .view_stride = p->columns * p->rows,
        .column_stride = p->rows,
        .starts = 1,
        .finishes = 1,
    };
    for (int64_t i = 0; i < ct_columns_project_items(&a); i++) ct_columns_project_item(&a, i, NULL);
}

static void backproject(const struct ct_beam *beam, const double *sinogram, double *scaled,
                        double *volume)
{
    const ct_space *p = &beam->space;
    const ct_columns_scale_args scale = {
        .space = *p,
        .pose = motet_array_data(beam->poses),
        .views = beam->given.views,
        .from = sinogram,
        .view_stride = p->columns * p->rows,
        .column_stride = p->rows,
        .to = scaled,
    };
    const ct_columns_backproject_args a = {
        .space = *p,
        .pose = scale.pose,
        .views = scale.views,
        .rays = scaled,
        .volume = volume,
        .stride_s = p->n[p->f] * p->n[p->w],
        .stride_f = p->n[p->w],
        .stride_w = 1,
        .count_s = p->n[p->s],
        .count_f = p->n[p->f],
        .count_w = p->n[p->w],
        .starts = 1,
        .finishes = 1,
    };
    for (int64_t i = 0; i < scale.views * p->columns; i++) ct_columns_scale_item(&scale, i, NULL);
    for (int64_t i = 0; i < ct_columns_backproject_items(&a); i++)
        ct_columns_backproject_item(&a, i, NULL);
}

static double dot(const double *a, const double *b, size_t count)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) sum += a[i] * b[i];
    return sum;
}

static double *noise(size_t count, uint64_t *seed)
{
    double *values = malloc(sizeof *values * count);
    assert_non_null(values);
    for (size_t i = 0; i < count; i++) values[i] = test_uniform(seed, -0.2, 1.0);
    return values;
}

/* |<Ax, y> - <x, A'y>| <= 1e-12 |Ax| |y|. */
static void transpose_to_1e_12_in_float64(void **state)
{
    (void)state;
    motet_context *c = test_context();
    uint64_t seed = 32;
    for (int kind = 0; kind < CT_RANDOM_KINDS; kind++) {
        int columns = 0;
        for (int trial = 0; columns < 200; trial++) {
            motet_ct_view view[4];
            const motet_ct_views g = ct_random_views(&seed, kind, trial % 3, 4, 12, view);
            motet_ct_geometry *geometry = NULL;
            assert_ok(c, motet_ct_geometry_create(c, &g, &geometry));
            if (geometry->beam->form == CT_FORM_COLUMNS) {
                const size_t rays = ct_oracle_rays(&g), voxels = ct_oracle_voxels(&g);
                double *x = noise(voxels, &seed), *back = noise(voxels, &seed);
                double *y = noise(rays, &seed), *forth = noise(rays, &seed);
                double *scaled = noise(rays, &seed);
                project(geometry->beam, x, forth);
                backproject(geometry->beam, y, scaled, back);
                const double error = dot(forth, y, rays) - dot(x, back, voxels);
                const double size = sqrt(dot(forth, forth, rays) * dot(y, y, rays));
                if (!(fabs(error) <= 1e-12 * size))
                    fail_msg("kind %d trial %d: %g of %g", kind, trial, error, size);
                columns++;
                free(x);
                free(y);
                free(back);
                free(forth);
                free(scaled);
            }
            motet_ct_geometry_free(geometry);
            assert_true(trial < 400);
        }
    }
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(transpose_to_1e_12_in_float64)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
