/* Failing allocations while scans are made, opened, read and reconstructed: NO_MEMORY, nothing
 * written, nothing left behind. */
#include "support/support.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef motet_status step_fn(motet_context *c, void *user);

/* Fails allocation 1, 2, ... of the step, once and for good, until it gets through. */
static void sweep(motet_context *c, step_fn *step, void (*check)(motet_status, void *), void *user)
{
    assert_ok(c, step(c, user)); /* workers keep the scratch that they once needed */
    check(MOTET_OK, user);
    for (int forever = 0; forever < 2; forever++) {
        int64_t n = 1;
        for (; n < 5000; n++) {
            motet_memory before, after;
            motet_context_report_reset(c); /* operations and warnings are kept on purpose */
            motet_context_trim(c);
            motet_context_memory(c, &before);
            test_context_fail_at(c, n, forever);
            const motet_status st = step(c, user);
            const int failed = test_context_failed(c);
            test_context_fail_at(c, 0, 0);
            motet_context_report_reset(c);
            motet_context_trim(c);
            motet_context_memory(c, &after);
            if (after.now != before.now || after.blocks != before.blocks) {
                print_error("allocation %d failing leaks %d bytes\n", (int)n,
                            (int)(after.now - before.now));
                fail();
            }
            if (!failed) {
                assert_int_equal(st, MOTET_OK);
                check(st, user);
                break;
            }
            if (st != MOTET_NO_MEMORY) {
                motet_error error;
                motet_context_error(c, &error);
                print_error("allocation %d failing gives %s: %s\n", (int)n, motet_status_name(st),
                            error.message);
                fail();
            }
            check(st, user);
        }
        assert_true(n > 3 && n < 5000);
    }
}

static motet_ct_simulate_options small(void)
{
    motet_ct_simulate_options o;
    motet_ct_simulate_options_init(&o);
    o.views = 12, o.rows = 3, o.columns = 20;
    return o;
}

static motet_status simulate(motet_context *c, void *user)
{
    const motet_ct_simulate_options o = small();
    return motet_ct_simulate(c, &o, user, 0);
}

static void no_file(motet_status st, void *user)
{
    if (st == MOTET_OK)
        assert_int_equal(unlink(user), 0);
    else
        assert_int_equal(access(user, F_OK), -1);
}

static void simulating(void **state)
{
    (void)state;
    motet_context *c = test_context_failing(0, 0);
    char path[1024];
    snprintf(path, sizeof path, "%s", test_path("made.h5"));
    sweep(c, simulate, no_file, path);
    motet_context_free(c);
}

static motet_status open_scan(motet_context *c, void *user)
{
    motet_ct_scan *scan = NULL;
    motet_ct_scan_options o;
    motet_ct_scan_options_init(&o);
    o.angles = user;
    const motet_status st = motet_ct_scan_open(c, test_path("scan.h5"), &o, &scan);
    if (st != MOTET_OK) assert_null(scan);
    motet_ct_scan_free(scan);
    return st;
}

static void nothing(motet_status st, void *user) { (void)st, (void)user; }

static void make_scan(motet_context *c)
{
    const motet_ct_simulate_options o = small();
    assert_ok(c, motet_ct_simulate(c, &o, test_path("scan.h5"), 1));
}

static void opening(void **state)
{
    (void)state;
    motet_context *c = test_context_failing(0, 0);
    make_scan(c);
    sweep(c, open_scan, nothing, NULL);
    char range[] = "0:180";
    sweep(c, open_scan, nothing, range);
    motet_context_free(c);
}

typedef struct reading {
    motet_ct_scan *scan;
    motet_array *sinogram;
    motet_ct_recon_options options;
    motet_ct_recon_result result;
} reading;

static motet_status read_scan(motet_context *c, void *user)
{
    (void)c;
    reading *r = user;
    memset(motet_array_data(r->sinogram), 0x55, 12 * 20 * 2 * sizeof(float));
    return motet_ct_scan_read(r->scan, 1, r->sinogram);
}

static void untouched(motet_status st, void *user)
{
    const reading *r = user;
    const unsigned char *bytes = motet_array_data(r->sinogram);
    size_t kept = 0;
    for (size_t i = 0; i < 12 * 20 * 2 * sizeof(float); i++) kept += bytes[i] == 0x55;
    if (st == MOTET_OK)
        assert_true(kept < 400);
    else
        assert_true(kept == 12 * 20 * 2 * sizeof(float));
}

static motet_status reconstruct(motet_context *c, void *user)
{
    (void)c;
    reading *r = user;
    memset(&r->result, 0x55, sizeof r->result);
    return motet_ct_recon(r->scan, &r->options, NULL, NULL, &r->result);
}

static void no_result(motet_status st, void *user)
{
    const reading *r = user;
    if (st == MOTET_OK)
        assert_int_equal(strlen(r->result.digest), 32);
    else
        assert_true(r->result.digest[0] == 0x55 && r->result.clamped == 0x5555555555555555);
}

static void reading_and_reconstructing(void **state)
{
    (void)state;
    motet_context *c = test_context_failing(0, 0);
    make_scan(c);
    reading r;
    memset(&r, 0, sizeof r);
    assert_ok(c, motet_ct_scan_open(c, test_path("scan.h5"), NULL, &r.scan));
    assert_ok(c, motet_array_create(c, MOTET_F32, 3, (int64_t[3]){12, 20, 2}, &r.sinogram));
    sweep(c, read_scan, untouched, &r);
    motet_ct_recon_options_init(&r.options);
    r.options.slab_rows = 2;
    sweep(c, reconstruct, no_result, &r);
    motet_array_free(r.sinogram);
    motet_ct_scan_free(r.scan);
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(simulating),
        cmocka_unit_test(opening),
        cmocka_unit_test(reading_and_reconstructing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
