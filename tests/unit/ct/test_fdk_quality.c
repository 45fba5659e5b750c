/* The error of a reconstructed head, in decibels: 20 log10(1 / RMSE) over the cube. Circular cone,
 * source at 2.5 n, detector at 4 n. Fine: 3 n x 2 n pixels of 0.8, half a voxel at the axis, so
 * that the volume's grid bounds the result, and nothing below 0, as where others publish 33.96 dB
 * at 128^3 (by the Shepp-Logan window; without the bound it is a decibel less). Coarse: the
 * benchmarks' 2 n x 1.5 n pixels of 1.25. Both by ram-lak. MOTET_TEST_LONG: 128^3. */
#include "support/ct_views.h"

static double decibels(const motet_array *a, const motet_array *b)
{
    double sum = 0.0;
    const int64_t n = motet_array_elements(a);
    for (int64_t i = 0; i < n; i++) {
        const double d = (double)ct_values(a)[i] - (double)ct_values(b)[i];
        sum += d * d;
    }
    return -10.0 * log10(sum / (double)n);
}

/* Data of the body itself, or of its voxels by our own projector. */
static double quality(int64_t n, int64_t views, int fine, int exact)
{
    motet_context *c = test_context();
    const int64_t columns = fine ? 3 * n : 2 * n, rows = fine ? 2 * n : 3 * n / 2;
    motet_ct_view *view = calloc((size_t)views, sizeof *view);
    const motet_ct_views g = ct_circular(views, view, 2.5 * (double)n, 4.0 * (double)n, columns,
                                         rows, fine ? 0.8 : 1.25, n, n, n);
    motet_ct_geometry *geometry = NULL;
    assert_ok(c, motet_ct_geometry_create(c, &g, &geometry));
    motet_array *truth = ct_array(c, n, n, n), *found = ct_array(c, n, n, n);
    motet_array *rays = ct_array(c, views, columns, rows);
    assert_ok(c, motet_ct_phantom_volume(geometry, NULL, truth));
    assert_ok(c, exact ? motet_ct_phantom_project(geometry, NULL, rays)
                       : motet_ct_project(geometry, truth, rays));
    motet_ct_fdk_options options;
    motet_ct_fdk_options_init(&options);
    assert_ok(c, motet_ct_fdk(geometry, &options, rays, found));
    for (int64_t i = 0; fine && i < n * n * n; i++)
        ct_values(found)[i] = fmaxf(ct_values(found)[i], 0.0f);
    const double result = decibels(truth, found);
    print_message("%lld^3, %lld views, %s pixels, %s data: %.2f dB\n", (long long)n,
                  (long long)views, fine ? "fine" : "coarse", exact ? "exact" : "projected",
                  result);
    motet_array_free(truth);
    motet_array_free(found);
    motet_array_free(rays);
    motet_ct_geometry_free(geometry);
    free(view);
    motet_context_free(c);
    return result;
}

static void the_head_is_found(void **state)
{
    (void)state;
    assert_true(quality(32, 90, 1, 0) >= 29.0);
    assert_true(quality(32, 90, 1, 1) >= 21.0);
    if (!getenv("MOTET_TEST_LONG")) return;
    assert_true(quality(128, 360, 1, 0) >= 33.9);
    assert_true(quality(128, 360, 0, 0) >= 29.4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_head_is_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
