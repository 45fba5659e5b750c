/* Golden digests of a whole reconstruction, from a simulated scan to a volume: P1 across threads,
 * instruction sets, slabs and compilers. With --write the file is written anew: only for an
 * intended change of results. */
#include <stdio.h>
#include <string.h>

#include "support/support.h"

enum { VIEWS = 72, ROWS = 5, COLUMNS = 61, STEPS = 4 };

static const char *const names[STEPS] = {"line_integrals", "axis", "recon_ram_lak", "recon_coarse"};
typedef char digests[STEPS][33];

static void compute(motet_isa isa, int threads, int64_t slab, digests out)
{
    motet_context_options options;
    motet_context_options_init(&options);
    options.isa = isa;
    options.threads = threads;
    motet_context *c = NULL;
    assert_int_equal(motet_context_create(&options, &c), MOTET_OK);
    motet_ct_simulate_options o;
    motet_ct_simulate_options_init(&o);
    o.views = VIEWS, o.rows = ROWS, o.columns = COLUMNS, o.seed = 1971, o.centre = 31.375;
    assert_ok(c, motet_ct_simulate(c, &o, test_path("golden.h5"), 1));
    motet_ct_scan *scan = NULL;
    assert_ok(c, motet_ct_scan_open(c, test_path("golden.h5"), NULL, &scan));

    motet_array *sinogram = NULL, *axis = NULL;
    assert_ok(c,
              motet_array_create(c, MOTET_F32, 3, (int64_t[3]){VIEWS, COLUMNS, ROWS}, &sinogram));
    assert_ok(c, motet_array_create(c, MOTET_F64, 1, (int64_t[1]){2}, &axis));
    double *found = motet_array_data(axis); /* column, quality */
    assert_ok(c, motet_ct_scan_read(scan, 0, sinogram));
    assert_ok(c, motet_array_digest(sinogram, out[0]));
    assert_ok(c,
              motet_ct_find_centre(c, sinogram, motet_ct_scan_angles(scan), &found[0], &found[1]));
    assert_true(found[0] > 31.1 && found[0] < 31.6);
    assert_ok(c, motet_array_digest(axis, out[1]));

    motet_ct_recon_options r;
    motet_ct_recon_result result;
    motet_ct_recon_options_init(&r);
    r.slab_rows = slab;
    assert_ok(c, motet_ct_recon(scan, &r, NULL, NULL, &result));
    memcpy(out[2], result.digest, sizeof out[2]);
    r.filter.window = MOTET_CT_HAMMING;
    r.filter.cutoff = 0.8;
    r.filter.pad = 5;
    r.nx = 33, r.ny = 27, r.voxel = 0.09, r.mask = 0.9; /* columns are 0.05 apart */
    assert_ok(c, motet_ct_recon(scan, &r, NULL, NULL, &result));
    memcpy(out[3], result.digest, sizeof out[3]);
    motet_array_free(sinogram);
    motet_array_free(axis);
    motet_ct_scan_free(scan);
    motet_context_free(c);
}

static const char path[] = MOTET_SOURCE "/tests/golden/recon.txt";

static int write_file(void)
{
    digests all;
    compute(MOTET_ISA_BASE, 1, 0, all);
    FILE *file = fopen(path, "w");
    if (!file) return 1;
    fprintf(file, "# Digests of a reconstruction of a simulated scan: golden.recon --write\n");
    for (int i = 0; i < STEPS; i++) fprintf(file, "%s %s\n", names[i], all[i]);
    return fclose(file) != 0;
}

static void every_run_has_the_golden_bits(void **state)
{
    (void)state;
    digests want = {"", "", "", ""}, got;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char line[256], name[64], digest[64];
    while (fgets(line, sizeof line, file))
        for (int i = 0; i < STEPS && sscanf(line, "%63s %63s", name, digest) == 2; i++)
            if (!strcmp(name, names[i])) snprintf(want[i], sizeof want[i], "%.32s", digest);
    fclose(file);
    static const struct {
        motet_isa isa;
        int threads;
        int64_t slab;
    } runs[] = {{MOTET_ISA_BASE, 1, 0}, {MOTET_ISA_BASE, 4, 1}, {MOTET_ISA_V3, 2, 2},
                {MOTET_ISA_V3, 1, 3},   {MOTET_ISA_V4, 4, 4},   {MOTET_ISA_V4, 1, 0}};
    for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
        if (!motet_isa_available(runs[k].isa)) continue;
        compute(runs[k].isa, runs[k].threads, runs[k].slab, got);
        for (int i = 0; i < STEPS; i++)
            if (strcmp(want[i], got[i]))
                fail_msg("%s on %s, %d threads: %s, golden %s", names[i],
                         motet_isa_text(runs[k].isa), runs[k].threads, got[i], want[i]);
    }
}

int main(int count, char **words)
{
    if (count > 1 && !strcmp(words[1], "--write")) return write_file();
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_run_has_the_golden_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
