/* A real scan, from counts to a picture: the tooth that comes with TomoPy (181 views, 2 rows, 640
 * columns). */
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VIEWS = 181, COLUMNS = 640, STEP = 5 }; /* every fifth voxel of the slice is compared */

typedef struct tooth {
    motet_context *context;
    motet_ct_scan *scan;
    motet_array *sinogram; /* both rows */
} tooth;

static tooth tooth_open(void)
{
    tooth t = {.context = test_context()};
    assert_ok(t.context, motet_ct_scan_open(t.context, test_data("ct/tooth.h5"), NULL, &t.scan));
    assert_ok(t.context, motet_array_create(t.context, MOTET_F32, 3,
                                            (int64_t[3]){VIEWS, COLUMNS, 2}, &t.sinogram));
    assert_ok(t.context, motet_ct_scan_read(t.scan, 0, t.sinogram));
    return t;
}

static void tooth_close(tooth *t)
{
    motet_array_free(t->sinogram);
    motet_ct_scan_free(t->scan);
    motet_context_free(t->context);
}

/* The file is understood. */
static void scan_is_understood(void **state)
{
    (void)state;
    tooth t = tooth_open();
    motet_ct_scan_info info;
    motet_ct_scan_describe(t.scan, &info);
    assert_string_equal(info.format, "DataExchange");
    assert_true(info.views == VIEWS && info.rows == 2 && info.columns == COLUMNS);
    assert_true(info.flats == 10 && info.darks == 10 && info.type == MOTET_F32);
    assert_true(info.first_angle == 0.0 &&
                fabs(info.last_angle * 180.0 / M_PI - 179.00552486) < 1e-6);
    tooth_close(&t);
}

/* 296 was found by brute force in float64 by least negativity, least entropy and least absolute sum
 * of a reconstruction, each to half a column, and as 296.2 by the centre of mass of the views. */
static void axis_is_found(void **state)
{
    (void)state;
    tooth t = tooth_open();
    double centre, quality;
    assert_ok(t.context, motet_ct_find_centre(t.context, t.sinogram, motet_ct_scan_angles(t.scan),
                                              &centre, &quality));
    if (!(fabs(centre - 296.0) < 0.75 && quality > 0.3)) {
        print_error("found %g, quality %g\n", centre, quality);
        fail();
    }
    tooth_close(&t);
}

/* The view's ramp-filtered row: direct convolution with the band-limited ramp. */
static void filter_row(const float *row, double *out)
{
    for (int u = 0; u < COLUMNS; u++) {
        double sum = 0.25 * (double)row[2 * u];
        for (int w = 0; w < COLUMNS; w++)
            if ((u - w) % 2) sum -= (double)row[2 * w] / (M_PI * M_PI * (u - w) * (u - w));
        out[u] = sum;
    }
}

typedef struct slice {
    float values[COLUMNS * COLUMNS];
} slice;

static motet_status first_slice(int64_t first, int64_t rows, const float *slices, void *user)
{
    (void)rows;
    if (first == 0) memcpy(user, slices, sizeof(slice));
    return MOTET_OK;
}

/* The slice agrees with a float64 filtered back-projection written here (linear between columns),
 * to 1e-4 of its range, and is the same picture: their normalised correlation is 1 but for
 * rounding. */
static void slice_agrees_with_float64(void **state)
{
    (void)state;
    tooth t = tooth_open();
    static slice got;
    static double filtered[VIEWS][COLUMNS];
    const float *sinogram = motet_array_data(t.sinogram);
    const double *angles = motet_ct_scan_angles(t.scan);
    motet_ct_recon_options o;
    motet_ct_recon_options_init(&o);
    o.centre = 296.0;
    motet_ct_recon_result result;
    assert_ok(t.context, motet_ct_recon(t.scan, &o, first_slice, &got, &result));
    assert_int_equal(result.clamped, 0);
    for (int k = 0; k < VIEWS; k++) filter_row(sinogram + k * COLUMNS * 2, filtered[k]);
    const double range = result.maximum - result.minimum, middle = 0.5 * (COLUMNS - 1);
    double worst = 0.0, n = 0.0, w1 = 0.0, w2 = 0.0, g1 = 0.0, g2 = 0.0, wg = 0.0;
    for (int y = 2; y < COLUMNS; y += STEP)
        for (int x = 2; x < COLUMNS; x += STEP) {
            double sum = 0.0;
            for (int k = 0; k < VIEWS; k++) {
                const double c = cos(angles[k]), s = sin(angles[k]);
                const double column = (x - middle) * c + (y - middle) * s + 296.0;
                const int u = (int)floor(column);
                if (u >= 0 && u < COLUMNS) sum += (u + 1 - column) * filtered[k][u];
                if (u >= -1 && u < COLUMNS - 1) sum += (column - u) * filtered[k][u + 1];
            }
            const double want = sum * M_PI / VIEWS, is = (double)got.values[y * COLUMNS + x];
            worst = fmax(worst, fabs(want - is));
            n += 1.0, w1 += want, w2 += want * want, g1 += is, g2 += is * is, wg += want * is;
        }
    const double correlation = (n * wg - w1 * g1) / sqrt((n * w2 - w1 * w1) * (n * g2 - g1 * g1));
    if (!(correlation > 0.99999)) {
        print_error("normalised correlation %.9f\n", correlation);
        fail();
    }
    if (!(worst < 1e-4 * range)) {
        print_error("worst error %g, range %g\n", worst, range);
        fail();
    }
    tooth_close(&t);
}

/* Mean of 11 x 11 voxels. */
static double around(const float *values, int x, int y)
{
    double sum = 0.0;
    for (int v = y - 5; v <= y + 5; v++)
        for (int u = x - 5; u <= x + 5; u++) sum += (double)values[v * COLUMNS + u];
    return sum / 121.0;
}

static void assert_places(const float *values, const int (*places)[2], int count, double low,
                          double high, const char *what)
{
    for (int i = 0; i < count; i++) {
        const double is = around(values, places[i][0], places[i][1]);
        if (!(is >= low && is <= high))
            fail_msg("%s at %d, %d: %g, expected %g to %g", what, places[i][0], places[i][1], is,
                     low, high);
    }
}

/* The slice looks like a tooth, at places read off the picture: a rim of enamel half as dense again
 * as the dentine inside it, a pulp cavity as empty as the air around, and each has its area. */
static void a_tooth_is_seen(void **state)
{
    (void)state;
    static const int enamel[][2] = {{412, 230}, {410, 185}, {320, 415},
                                    {255, 380}, {235, 250}, {245, 200}},
                     dentine[][2] = {{385, 340}, {390, 260}, {370, 230}, {365, 370}, {340, 210}},
                     cavity[][2] = {{285, 310}, {316, 275}, {300, 300}},
                     air[][2] = {{100, 100}, {320, 550}, {550, 320}, {320, 60}, {150, 320}};
    tooth t = tooth_open();
    static slice got;
    motet_ct_recon_options o;
    motet_ct_recon_options_init(&o);
    o.centre = 296.0;
    o.rows = 1;
    assert_ok(t.context, motet_ct_recon(t.scan, &o, first_slice, &got, NULL));
    double unit = 0.0; /* dentine */
    for (int i = 0; i < 5; i++) unit += around(got.values, dentine[i][0], dentine[i][1]) / 5.0;
    assert_true(unit > 0.0);
    assert_places(got.values, dentine, 5, 0.9 * unit, 1.1 * unit, "dentine");
    assert_places(got.values, enamel, 6, 1.5 * unit, 1.8 * unit, "enamel");
    assert_places(got.values, cavity, 3, -0.1 * unit, 0.1 * unit, "cavity");
    assert_places(got.values, air, 5, -0.05 * unit, 0.05 * unit, "air");
    double solid = 0.0, hard = 0.0; /* parts of the slice */
    for (int i = 0; i < COLUMNS * COLUMNS; i++) {
        solid += (double)got.values[i] > 0.5 * unit ? 1.0 / (COLUMNS * COLUMNS) : 0.0;
        hard += (double)got.values[i] > 1.3 * unit ? 1.0 / (COLUMNS * COLUMNS) : 0.0;
    }
    if (!(fabs(solid - 0.107) < 0.003 && fabs(hard - 0.065) < 0.005))
        fail_msg("parts of the slice: solid %g, hard %g", solid, hard);
    tooth_close(&t);
}

/* A wrong centre makes air negative and noisy. */
static void air_is_quietest_at_the_axis(void **state)
{
    (void)state;
    tooth t = tooth_open();
    static slice got;
    double noise[3];
    for (int i = 0; i < 3; i++) {
        motet_ct_recon_options o;
        motet_ct_recon_options_init(&o);
        o.centre = 296.0 + 4.0 * (i - 1);
        o.rows = 1;
        motet_ct_recon_result result;
        assert_ok(t.context, motet_ct_recon(t.scan, &o, first_slice, &got, &result));
        double below = 0.0;
        for (int p = 0; p < COLUMNS * COLUMNS; p++)
            if (got.values[p] < 0.0f) below -= (double)got.values[p];
        noise[i] = below;
    }
    assert_true(noise[1] < noise[0] && noise[1] < noise[2]);
    tooth_close(&t);
}

int main(void)
{
    test_need_data("ct/tooth.h5");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scan_is_understood),          cmocka_unit_test(axis_is_found),
        cmocka_unit_test(slice_agrees_with_float64),   cmocka_unit_test(a_tooth_is_seen),
        cmocka_unit_test(air_is_quietest_at_the_axis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
