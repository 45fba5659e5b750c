/* Filtered back-projection of discs that are known exactly; one answer for every run. */
#include "support/ct_scan.h"

static const double pi = 3.14159265358979323846;

typedef struct disc_case {
    int64_t columns, rows, nx, ny, views;
    double pitch, voxel, centre; /* centre: columns off the middle */
} disc_case;

/* Line integrals, averaged over a column's width, of a disc of density mu around (x, y). */
static void disc_sinogram(const motet_ct_parallel *p, double radius, double mu, double x, double y,
                          float *out)
{
    const double centre = isnan(p->centre) ? 0.5 * (double)(p->columns - 1) : p->centre;
    for (int64_t k = 0; k < p->views; k++)
        for (int64_t u = 0; u < p->columns; u++) {
            const double middle = x * cos(p->angles[k]) + y * sin(p->angles[k]);
            double sum = 0.0;
            for (int i = 0; i < 8; i++) {
                const double d =
                    ((double)u - centre + ((double)i + 0.5) / 8 - 0.5) * p->pitch - middle;
                if (d * d < radius * radius) sum += 2.0 * sqrt(radius * radius - d * d) / 8;
            }
            for (int64_t v = 0; v < p->rows; v++)
                out[(k * p->columns + u) * p->rows + v] = (float)(mu * sum * (1.0 + (double)v));
        }
}

/* Relative errors within `inside` of the disc's middle: of the mean, and the worst voxel's. */
static void disc_errors(const motet_ct_parallel *p, const float *volume, double x, double y,
                        double inside, double mu, double *mean, double *worst)
{
    double sum = 0.0;
    int64_t count = 0;
    *worst = 0.0;
    for (int64_t v = 0; v < p->rows; v++)
        for (int64_t j = 0; j < p->ny; j++)
            for (int64_t i = 0; i < p->nx; i++) {
                const double dx = ((double)i - 0.5 * (double)(p->nx - 1)) * p->voxel - x;
                const double dy = ((double)j - 0.5 * (double)(p->ny - 1)) * p->voxel - y;
                if (dx * dx + dy * dy > inside * inside) continue;
                const double expected = mu * (1.0 + (double)v);
                const double e = (double)volume[(v * p->ny + j) * p->nx + i] / expected - 1.0;
                sum += e;
                count++;
                *worst = fmax(*worst, fabs(e));
            }
    assert_true(count > 20);
    *mean = sum / (double)count;
}

/* A disc of density mu becomes mu, to 0.5 %, in the mean and in every voxel of its inner part,
 * whatever the sizes, the pitch, the voxel and the axis are. */
static void discs_keep_their_density(void **state)
{
    (void)state;
    const disc_case cases[] = {{128, 1, 128, 128, 200, 1.0, 1.0, 0.0},
                               {127, 2, 126, 110, 180, 0.3, 0.3, 2.4},
                               {128, 3, 60, 75, 190, 1.0, 1.9, -3.3},
                               {129, 1, 250, 250, 201, 2.0, 0.9, 0.5},
                               {200, 1, 64, 64, 300, 0.05, 0.1537, 7.25}};
    motet_context *c = test_context();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const disc_case *d = &cases[i];
        double *angles = ct_angles(d->views, 0.3, pi);
        motet_ct_parallel p = ct_parallel(d->views, angles, d->columns, d->rows);
        p.pitch = d->pitch;
        p.voxel = d->voxel;
        p.nx = d->nx;
        p.ny = d->ny;
        p.centre = 0.5 * (double)(d->columns - 1) + d->centre;
        motet_ct_geometry *g = NULL;
        assert_ok(c, motet_ct_geometry_parallel(c, &p, &g));
        motet_array *s = ct_array(c, d->views, d->columns, d->rows);
        motet_array *v = ct_array(c, d->rows, d->ny, d->nx);
        const double width = d->pitch * (double)d->columns;
        const double x = 0.03 * width, y = -0.04 * width, radius = 0.3 * width;
        disc_sinogram(&p, radius, 0.7, x, y, ct_values(s));
        assert_ok(c, motet_ct_fbp(g, NULL, s, v));
        double mean, worst;
        disc_errors(&p, ct_values(v), x, y, 0.6 * radius, 0.7, &mean, &worst);
        if (!(fabs(mean) < 0.002 && worst < 0.005))
            fail_msg("case %zu: mean %g, worst %g", i, mean, worst);
        motet_array_free(s);
        motet_array_free(v);
        motet_ct_geometry_free(g);
        free(angles);
    }
    motet_context_free(c);
}

/* Scans that are shuffled, uneven, doubled at 180, over 270 or over 360 degrees give it too. */
static void any_full_set_of_angles_will_do(void **state)
{
    (void)state;
    motet_context *c = test_context();
    enum { VIEWS = 361, U = 96 };
    double angles[VIEWS];
    for (int way = 0; way < 5; way++) {
        uint64_t seed = 17;
        for (int k = 0; k < VIEWS; k++)
            angles[k] = way == 0   ? pi * k / (VIEWS - 1)           /* both ends */
                        : way == 1 ? 2 * pi * k / (VIEWS - 1)       /* 360 */
                        : way == 2 ? 1.5 * pi * k / VIEWS           /* 270 */
                        : way == 3 ? pi * (k * 100 % VIEWS) / VIEWS /* shuffled */
                                   : pi * (k + test_uniform(&seed, -0.45, 0.45)) / VIEWS;
        motet_ct_parallel p = ct_parallel(VIEWS, angles, U, 1);
        p.nx = p.ny = U;
        p.voxel = 1.0;
        motet_ct_geometry *g = NULL;
        assert_ok(c, motet_ct_geometry_parallel(c, &p, &g));
        motet_array *s = ct_array(c, VIEWS, U, 1), *v = ct_array(c, 1, U, U);
        disc_sinogram(&p, 28.0, 0.02, 5.0, 3.0, ct_values(s));
        motet_ct_filter_options options;
        motet_ct_filter_options_init(&options);
        options.window = MOTET_CT_HANN;
        assert_ok(c, motet_ct_fbp(g, &options, s, v));
        double mean, worst;
        disc_errors(&p, ct_values(v), 5.0, 3.0, 18.0, 0.02, &mean, &worst);
        if (!(fabs(mean) < 0.005 && worst < 0.01))
            fail_msg("way %d: mean %g, worst %g", way, mean, worst);
        motet_array_free(s);
        motet_array_free(v);
        motet_ct_geometry_free(g);
    }
    motet_context_free(c);
}

/* Everything the engine computes from one scan, as one text of digests. */
static void digests_of(const motet_context_options *options, char out[4][33])
{
    motet_context *c = NULL;
    assert_int_equal(motet_context_create(options, &c), MOTET_OK);
    enum { VIEWS = 23, U = 41, ROWS = 70, NX = 50, NY = 37 };
    double *angles = ct_angles(VIEWS, 0.0, pi * 1.1);
    motet_ct_parallel p = ct_parallel(VIEWS, angles, U, ROWS);
    p.nx = NX;
    p.ny = NY;
    p.voxel = 0.9;
    p.centre = 19.3;
    motet_ct_geometry *g = NULL;
    assert_ok(c, motet_ct_geometry_parallel(c, &p, &g));
    motet_array *x = ct_array(c, ROWS, NY, NX), *y = ct_array(c, VIEWS, U, ROWS);
    motet_array *s = ct_array(c, VIEWS, U, ROWS), *v = ct_array(c, ROWS, NY, NX);
    uint64_t seed = 99;
    for (int i = 0; i < ROWS * NX * NY; i++) ct_values(x)[i] = (float)test_uniform(&seed, 0.0, 1.0);
    assert_ok(c, motet_ct_project(g, x, s));
    assert_ok(c, motet_array_digest(s, out[0]));
    assert_ok(c, motet_ct_filter(g, NULL, s, y));
    assert_ok(c, motet_array_digest(y, out[1]));
    assert_ok(c, motet_ct_backproject(g, y, v));
    assert_ok(c, motet_array_digest(v, out[2]));
    assert_ok(c, motet_ct_fbp(g, NULL, s, v));
    assert_ok(c, motet_array_digest(v, out[3]));
    motet_array_free(x);
    motet_array_free(y);
    motet_array_free(s);
    motet_array_free(v);
    motet_ct_geometry_free(g);
    free(angles);
    motet_context_free(c);
}

/* P1: threads, instruction sets and chunks leave no trace in the digests. */
static void one_answer(void **state)
{
    (void)state;
    motet_context_options options;
    motet_context_options_init(&options);
    options.threads = 1;
    char first[4][33], again[4][33];
    digests_of(&options, first);
    for (int isa = MOTET_ISA_BASE; isa <= MOTET_ISA_V4; isa++)
        for (int threads = 1; threads <= 4; threads *= 2)
            for (int64_t chunk = 0; chunk <= 40; chunk += 13) {
                if (!motet_isa_available((motet_isa)isa)) continue;
                options.isa = (motet_isa)isa;
                options.threads = threads;
                options.chunk = chunk;
                digests_of(&options, again);
                for (int i = 0; i < 4; i++) assert_string_equal(first[i], again[i]);
            }
}

/* Shapes that disagree are refused by axis and size; outputs stay as they were; no rows, no work.
 */
static void refuses_other_shapes(void **state)
{
    (void)state;
    motet_context *c = test_context();
    const double angles[] = {0.0, 1.0};
    motet_ct_parallel p = ct_parallel(2, angles, 5, 3);
    p.nx = 4;
    p.ny = 6;
    motet_ct_geometry *g = NULL;
    assert_ok(c, motet_ct_geometry_parallel(c, &p, &g));
    motet_array *s = ct_array(c, 2, 5, 3), *v = ct_array(c, 3, 6, 4);
    motet_array *bad = ct_array(c, 2, 3, 5), *turned = ct_array(c, 3, 4, 6);
    ct_values(v)[7] = 2.0f;
    assert_status(c, motet_ct_backproject(g, bad, v), MOTET_BAD_SHAPE);
    assert_message(c, "sinogram", "axis 1", "3", "5", NULL);
    assert_status(c, motet_ct_project(g, turned, s), MOTET_BAD_SHAPE);
    assert_message(c, "volume", "axis 1", "4", "6", NULL);
    assert_status(c, motet_ct_fbp(g, NULL, s, turned), MOTET_BAD_SHAPE);
    assert_status(c, motet_ct_fbp(g, NULL, NULL, v), MOTET_BAD_ARGUMENT);
    const int64_t shape[] = {3, 6, 4};
    motet_array *wide = NULL;
    assert_ok(c, motet_array_create(c, MOTET_F64, 3, shape, &wide));
    assert_status(c, motet_ct_project(g, wide, s), MOTET_BAD_ARGUMENT);
    assert_message(c, "float64", "float32", NULL);
    assert_true(ct_values(v)[7] == 2.0f);
    motet_ct_geometry_free(g);
    p.rows = 0;
    assert_ok(c, motet_ct_geometry_parallel(c, &p, &g));
    motet_array *no_rays = ct_array(c, 2, 5, 0), *no_slices = ct_array(c, 0, 6, 4);
    assert_ok(c, motet_ct_fbp(g, NULL, no_rays, no_slices));
    assert_ok(c, motet_ct_project(g, no_slices, no_rays));
    motet_array_free(no_rays);
    motet_array_free(no_slices);
    motet_array_free(s);
    motet_array_free(v);
    motet_array_free(bad);
    motet_array_free(turned);
    motet_array_free(wide);
    motet_ct_geometry_free(g);
    motet_context_free(c);
}

/* Every failing allocation of a reconstruction: NO_MEMORY, the volume untouched, nothing kept. */
static void survives_every_failing_allocation(void **state)
{
    (void)state;
    motet_context *c = test_context_failing(0, 0);
    const double angles[] = {0.0, 1.0, 2.0};
    motet_ct_parallel p = ct_parallel(3, angles, 8, 2);
    motet_ct_geometry *g = NULL;
    assert_ok(c, motet_ct_geometry_parallel(c, &p, &g));
    motet_array *s = ct_array(c, 3, 8, 2), *v = ct_array(c, 2, 8, 8);
    for (int i = 0; i < 48; i++) ct_values(s)[i] = (float)i;
    for (int64_t nth = 1;; nth++) {
        ct_values(v)[5] = -4.0f;
        motet_memory before, after;
        motet_context_memory(c, &before);
        test_context_fail_at(c, nth, 0);
        const motet_status st = motet_ct_fbp(g, NULL, s, v);
        const int failed = test_context_failed(c);
        test_context_fail_at(c, 0, 0);
        motet_context_memory(c, &after);
        if (!failed) {
            assert_int_equal(st, MOTET_OK);
            assert_true(ct_values(v)[5] != -4.0f && nth > 8);
            break;
        }
        assert_int_equal(st, MOTET_NO_MEMORY);
        assert_true(ct_values(v)[5] == -4.0f);
        if (nth > 1) assert_true(after.blocks <= before.blocks + 4); /* the device keeps scratch */
    }
    motet_array_free(s);
    motet_array_free(v);
    motet_ct_geometry_free(g);
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(discs_keep_their_density),
                                       cmocka_unit_test(any_full_set_of_angles_will_do),
                                       cmocka_unit_test(one_answer),
                                       cmocka_unit_test(refuses_other_shapes),
                                       cmocka_unit_test(survives_every_failing_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
