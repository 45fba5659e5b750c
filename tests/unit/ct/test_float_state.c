/* P1: the floating-point state of the calling thread (another library may have set it to flush
 * small numbers or to round otherwise) changes no result and is left as it was. */
#include "base/threads.h"

#include "support/support.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
enum { FLUSH = 0x8040, UP = 0x4000, DOWN = 0x2000, CONTROL = 0xffc0 };
static void set_state(unsigned bits) { __builtin_ia32_ldmxcsr(0x1f80 | bits); }
static unsigned state_bits(void) { return __builtin_ia32_stmxcsr() & CONTROL; }

typedef struct results {
    char digest[7][33];
    double centre, quality;
} results;

static void digest(motet_context *c, motet_array *a, char out[33])
{
    assert_ok(c, motet_array_digest(a, out));
}

static motet_array *array(motet_context *c, int64_t x, int64_t y, int64_t z)
{
    motet_array *a = NULL;
    assert_ok(c, motet_array_create(c, MOTET_F32, 3, (int64_t[3]){x, y, z}, &a));
    return a;
}

/* Everything of the engine that computes, from one simulated scan. */
static void compute(unsigned bits, results *r)
{
    enum { VIEWS = 40, ROWS = 3, COLUMNS = 48 };
    char path[1024];
    snprintf(path, sizeof path, "%s", test_path("state.h5"));
    motet_context *c = test_context();
    motet_ct_simulate_options o;
    motet_ct_simulate_options_init(&o);
    o.views = VIEWS, o.rows = ROWS, o.columns = COLUMNS, o.seed = 9, o.counts = 3000;
    motet_ct_filter_options filter;
    motet_ct_filter_options_init(&filter);
    filter.window = MOTET_CT_SHEPP_LOGAN;
    motet_ct_recon_options recon;
    motet_ct_recon_options_init(&recon);
    recon.voxel = 0.07;
    motet_ct_parallel p;
    motet_ct_parallel_init(&p);
    p.views = VIEWS, p.columns = COLUMNS, p.rows = ROWS, p.pitch = 0.3, p.voxel = 0.41;
    motet_array *truth = array(c, ROWS, 32, 32), *sinogram = array(c, VIEWS, COLUMNS, ROWS);
    motet_array *filtered = array(c, VIEWS, COLUMNS, ROWS), *volume = array(c, ROWS, 48, 48);
    motet_ct_scan *scan = NULL;
    motet_ct_geometry *g = NULL;
    motet_ct_recon_result result;

    set_state(bits);
    assert_ok(c, motet_ct_simulate(c, &o, path, 1));
    assert_ok(c, motet_ct_simulate_truth(c, &o, 0.09, truth));
    assert_ok(c, motet_ct_scan_open(c, path, NULL, &scan));
    assert_ok(c, motet_ct_scan_read(scan, 0, sinogram));
    assert_ok(
        c, motet_ct_find_centre(c, sinogram, motet_ct_scan_angles(scan), &r->centre, &r->quality));
    p.angles = motet_ct_scan_angles(scan);
    p.centre = r->centre;
    assert_ok(c, motet_ct_geometry_parallel(c, &p, &g));
    assert_ok(c, motet_ct_filter(g, &filter, sinogram, filtered));
    digest(c, filtered, r->digest[0]);
    assert_ok(c, motet_ct_backproject(g, filtered, volume));
    digest(c, volume, r->digest[1]);
    assert_ok(c, motet_ct_project(g, volume, filtered));
    digest(c, filtered, r->digest[2]);
    assert_ok(c, motet_ct_fbp(g, &filter, sinogram, volume));
    digest(c, volume, r->digest[3]);
    assert_ok(c, motet_ct_recon(scan, &recon, NULL, NULL, &result));
    const unsigned after = state_bits();
    set_state(0);

    assert_int_equal(after, 0x1f80 | bits);
    digest(c, truth, r->digest[4]);
    digest(c, sinogram, r->digest[5]);
    memcpy(r->digest[6], result.digest, sizeof result.digest);
    motet_ct_geometry_free(g);
    motet_ct_scan_free(scan);
    motet_array_free(truth);
    motet_array_free(sinogram);
    motet_array_free(filtered);
    motet_array_free(volume);
    motet_context_free(c);
}

static void the_callers_state_leaves_no_trace(void **state)
{
    (void)state;
    static const char *const steps[] = {"filter", "backproject", "project", "fbp",
                                        "truth",  "scan",        "recon"};
    static const unsigned states[] = {FLUSH, UP, DOWN, UP | DOWN | FLUSH};
    results want, got;
    compute(0, &want);
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        compute(states[i], &got);
        for (size_t k = 0; k < sizeof steps / sizeof *steps; k++)
            if (strcmp(want.digest[k], got.digest[k]))
                fail_msg("state %x: %s has other bits", states[i], steps[k]);
        assert_memory_equal(&want.centre, &got.centre, sizeof want.centre);
        assert_memory_equal(&want.quality, &got.quality, sizeof want.quality);
    }
}

/* Reading a file converts by value, rounded to nearest, and keeps small numbers. */
static void reading_rounds_to_nearest(void **state)
{
    (void)state;
    motet_context *c = test_context();
    const double values[] = {0.1, -0.1, 1e-40, 1.0 + 0x1p-24, 3.0 / 7.0};
    const motet_store_info info = {.type = MOTET_F64, .axes = 1, .shape = {5}};
    motet_store *s = NULL;
    assert_ok(c, motet_store_create(c, test_path("values.npy"), NULL, &info, 1, &s));
    assert_ok(c, motet_store_write(s, 0, 5, values));
    assert_ok(c, motet_store_commit(s));
    motet_store_free(s);
    assert_ok(c, motet_store_open(c, test_path("values.npy"), NULL, &s));
    float want[5], got[5];
    for (int i = 0; i < 5; i++) want[i] = (float)values[i];
    set_state(UP | FLUSH);
    const motet_status st = motet_store_read(s, 0, 5, MOTET_F32, got);
    const unsigned after = state_bits();
    set_state(0);
    assert_ok(c, st);
    assert_int_equal(after, 0x1f80 | UP | FLUSH);
    assert_memory_equal(want, got, sizeof want);
    motet_store_free(s);
    motet_context_free(c);
}
#endif

int main(void)
{
#if defined(__x86_64__)
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_callers_state_leaves_no_trace),
                                       cmocka_unit_test(reading_rounds_to_nearest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
#else
    printf("skipped: the state is set through MXCSR, which this processor has not\n");
    return 77;
#endif
}
