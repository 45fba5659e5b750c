/* A whole reconstruction: the known answer, and one digest however it is run. */
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static motet_ct_simulate_options sized(int64_t views, int64_t rows, int64_t columns)
{
    motet_ct_simulate_options o;
    motet_ct_simulate_options_init(&o);
    o.views = views, o.rows = rows, o.columns = columns;
    o.centre = 0.5 * (double)(columns - 1) + 1.3;
    return o;
}

typedef struct kept {
    float *volume;
    int64_t slice, next;
    int64_t fail_at;
} kept;

static motet_status keep(int64_t first, int64_t rows, const float *slices, void *user)
{
    kept *k = user;
    assert_int_equal(first, k->next);
    if (k->fail_at && first >= k->fail_at) return MOTET_IO;
    k->next += rows;
    if (k->volume)
        memcpy(k->volume + first * k->slice, slices, (size_t)(rows * k->slice) * sizeof(float));
    return MOTET_OK;
}

static motet_ct_scan *open_scan(motet_context *c, const char *path)
{
    motet_ct_scan *scan = NULL;
    assert_ok(c, motet_ct_scan_open(c, path, NULL, &scan));
    return scan;
}

/* The volume is the phantom, in 1/mm: inside the skull within the noise, and scale and orientation
 * are right. */
static void volume_is_the_phantom(void **state)
{
    (void)state;
    motet_context *c = test_context();
    motet_ct_simulate_options o = sized(200, 3, 96);
    o.counts = 0;
    assert_ok(c, motet_ct_simulate(c, &o, test_path("quiet.h5"), 1));
    motet_ct_scan *scan = open_scan(c, test_path("quiet.h5"));
    motet_ct_recon_options r;
    motet_ct_recon_options_init(&r);
    motet_ct_recon_result result;
    const int64_t shape[3] = {3, 96, 96};
    motet_array *volume = NULL, *truth = NULL;
    assert_ok(c, motet_array_create(c, MOTET_F32, 3, shape, &volume));
    assert_ok(c, motet_array_create(c, MOTET_F32, 3, shape, &truth));
    kept k = {.volume = motet_array_data(volume), .slice = 96 * 96};
    assert_ok(c, motet_ct_recon(scan, &r, keep, &k, &result));
    assert_int_equal(k.next, 3);
    assert_true(fabs(result.centre - o.centre) < 0.25 && result.centre_quality > 0.1);
    char digest[33];
    assert_ok(c, motet_array_digest(volume, digest));
    assert_string_equal(digest, result.digest);
    assert_ok(c, motet_ct_simulate_truth(c, &o, 0.05, truth));
    const float *got = motet_array_data(volume), *want = motet_array_data(truth);
    double low = 1e9, high = -1e9, squares = 0.0, range = 0.0, product = 0.0, own = 0.0;
    for (int64_t i = 0; i < 3 * 96 * 96; i++) {
        low = fmin(low, (double)got[i]), high = fmax(high, (double)got[i]);
        range = fmax(range, (double)want[i]);
        squares += ((double)got[i] - want[i]) * ((double)got[i] - want[i]);
        product += (double)got[i] * want[i];
        own += (double)want[i] * want[i];
    }
    assert_true(result.minimum == low && result.maximum == high);
    const double rms = sqrt(squares / (3 * 96 * 96)) / range, scale = product / own;
    if (!(rms < 0.06 && scale > 0.93 && scale < 1.02)) {
        print_error("rms error %g of the range, scale %g\n", rms, scale);
        fail();
    }
    motet_array_free(volume);
    motet_array_free(truth);
    motet_ct_scan_free(scan);
    motet_context_free(c);
}

/* P1: one digest for every number of threads, instruction set, chunk and slab. */
static void one_digest_however_it_is_run(void **state)
{
    (void)state;
    const motet_ct_simulate_options o = sized(60, 7, 50);
    char want[33] = "";
    static const struct {
        int threads;
        motet_isa isa;
        int64_t chunk, slab;
        uint64_t memory;
    } runs[] = {{1, MOTET_ISA_BASE, 0, 0, 0}, {2, MOTET_ISA_BASE, 1, 1, 0},
                {4, MOTET_ISA_AUTO, 0, 2, 0}, {1, MOTET_ISA_V3, 3, 3, 0},
                {2, MOTET_ISA_V3, 0, 7, 0},   {4, MOTET_ISA_V4, 2, 5, 0},
                {1, MOTET_ISA_V4, 0, 100, 0}, {2, MOTET_ISA_AUTO, 0, 0, 8 << 20}};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        if (!motet_isa_available(runs[i].isa)) continue;
        motet_context_options co;
        motet_context_options_init(&co);
        co.threads = runs[i].threads;
        co.isa = runs[i].isa;
        co.chunk = runs[i].chunk;
        co.host_memory = runs[i].memory;
        motet_context *c = NULL;
        assert_int_equal(motet_context_create(&co, &c), MOTET_OK);
        if (i == 0) assert_ok(c, motet_ct_simulate(c, &o, test_path("digest.h5"), 1));
        motet_ct_scan *scan = open_scan(c, test_path("digest.h5"));
        motet_ct_recon_options r;
        motet_ct_recon_options_init(&r);
        r.slab_rows = runs[i].slab;
        r.mask = 0.97;
        motet_ct_recon_result result;
        assert_ok(c, motet_ct_recon(scan, &r, NULL, NULL, &result));
        if (!want[0]) memcpy(want, result.digest, sizeof want);
        if (strcmp(want, result.digest)) {
            print_error("run %d gives %s, run 0 gave %s\n", (int)i, result.digest, want);
            fail();
        }
        motet_ct_scan_free(scan);
        motet_context_free(c);
    }
}

/* One entry of an HDF5 file as a file of another kind, its frames transposed for NPY. */
static void copy_frames(motet_context *c, const char *from, const char *entry, const char *to)
{
    motet_store *in = NULL, *out = NULL;
    motet_store_info info;
    assert_ok(c, motet_store_open(c, from, entry, &in));
    motet_store_describe(in, &info);
    const int64_t frames = info.shape[0], v_size = info.shape[1], u_size = info.shape[2];
    uint16_t *read = malloc(2 * (size_t)(frames * v_size * u_size)),
             *written = malloc(2 * (size_t)(frames * v_size * u_size));
    assert_ok(c, motet_store_read(in, 0, frames, MOTET_U16, read));
    motet_store_free(in);
    const int turned = strstr(to, ".npy") != NULL;
    for (int64_t k = 0; k < frames; k++)
        for (int64_t v = 0; v < v_size; v++)
            for (int64_t u = 0; u < u_size; u++)
                written[turned ? (k * u_size + u) * v_size + v : (k * v_size + v) * u_size + u] =
                    read[(k * v_size + v) * u_size + u];
    info.shape[1] = turned ? u_size : v_size;
    info.shape[2] = turned ? v_size : u_size;
    memset(info.spacing, 0, sizeof info.spacing);
    assert_ok(c, motet_store_create(c, test_path(to), NULL, &info, 1, &out));
    assert_ok(c, motet_store_write(out, 0, frames, written));
    assert_ok(c, motet_store_commit(out));
    motet_store_free(out);
    free(read);
    free(written);
}

/* The kind of file and the slab, which decide what is read when, leave the digest alone. */
static void one_digest_whatever_the_file(void **state)
{
    (void)state;
    motet_context *c = test_context();
    const motet_ct_simulate_options o = sized(24, 9, 40);
    assert_ok(c, motet_ct_simulate(c, &o, test_path("kinds.h5"), 1));
    static const char *const endings[] = {".tif", ".npy", ".mha", "/", ".h5"};
    char want[33] = "", name[3][64], path[3][1024];
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        static const char *const entries[3] = {"data", "data_white", "data_dark"};
        for (int k = 0; k < 3; k++) {
            char entry[32];
            snprintf(entry, sizeof entry, "/exchange/%s", entries[k]);
            snprintf(name[k], sizeof name[k], "%s%s", entries[k], endings[i]);
            copy_frames(c, test_path("kinds.h5"), entry, name[k]);
            snprintf(path[k], sizeof path[k], "%s", test_path(name[k]));
        }
        motet_ct_scan_options so;
        motet_ct_scan_options_init(&so);
        so.angles = "0:170";
        so.flats = path[1];
        so.darks = path[2];
        motet_ct_scan *scan = NULL;
        assert_ok(c, motet_ct_scan_open(c, path[0], &so, &scan));
        static const int64_t slabs[] = {1, 2, 4, 9};
        for (size_t k = 0; k < sizeof slabs / sizeof *slabs; k++) {
            motet_ct_recon_options r;
            motet_ct_recon_options_init(&r);
            r.slab_rows = slabs[k];
            r.pitch = 0.1;
            motet_ct_recon_result result;
            assert_ok(c, motet_ct_recon(scan, &r, NULL, NULL, &result));
            if (!want[0]) memcpy(want, result.digest, sizeof want);
            if (strcmp(want, result.digest)) {
                print_error("%s in slabs of %d gives %s, expected %s\n", name[0], (int)slabs[k],
                            result.digest, want);
                fail();
            }
        }
        motet_ct_scan_free(scan);
    }
    motet_context_free(c);
}

static int64_t bytes_read(void)
{
    FILE *file = fopen("/proc/self/io", "r");
    long long bytes = -1;
    if (!file) return -1;
    if (fscanf(file, "rchar: %lld", &bytes) != 1) bytes = -1;
    fclose(file);
    return bytes;
}

/* All slabs together read the file once, not each of them. */
static void a_slab_reads_its_own_rows(void **state)
{
    (void)state;
    if (bytes_read() < 0) skip();
    motet_context *c = test_context();
    const motet_ct_simulate_options o = sized(12, 64, 512);
    assert_ok(c, motet_ct_simulate(c, &o, test_path("tall.h5"), 1));
    static const char *const names[] = {"tall.h5", "tall.tif", "tall.mha"};
    copy_frames(c, test_path("tall.h5"), "/exchange/data", "tall.tif");
    copy_frames(c, test_path("tall.h5"), "/exchange/data", "tall.mha");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        motet_ct_scan_options so;
        motet_ct_scan_options_init(&so);
        so.angles = "0:170";
        so.line_integrals = 1;
        motet_ct_scan *scan = NULL;
        assert_ok(c, motet_ct_scan_open(c, test_path(names[i]), &so, &scan));
        motet_ct_recon_options r;
        motet_ct_recon_options_init(&r);
        r.centre = 255.5;
        r.nx = r.ny = 8;
        r.slab_rows = 8;
        const int64_t before = bytes_read();
        assert_ok(c, motet_ct_recon(scan, &r, NULL, NULL, NULL));
        const int64_t read = bytes_read() - before, size = 2 * 12 * 64 * 512;
        if (read < size || read > size * 3 / 2) {
            print_error("%s: %d bytes read of %d\n", names[i], (int)read, (int)size);
            fail();
        }
        motet_ct_scan_free(scan);
    }
    motet_context_free(c);
}

/* Rows reconstructed alone are the rows of the whole; the mask empties the corners and nothing
 * else. */
static void parts_of_the_volume(void **state)
{
    (void)state;
    motet_context *c = test_context();
    const motet_ct_simulate_options o = sized(40, 5, 32);
    assert_ok(c, motet_ct_simulate(c, &o, test_path("parts.h5"), 1));
    motet_ct_scan *scan = open_scan(c, test_path("parts.h5"));
    motet_ct_recon_options r;
    motet_ct_recon_options_init(&r);
    r.centre = o.centre;
    r.nx = 30, r.ny = 20;
    static float whole[5 * 600], part[2 * 600], masked[5 * 600];
    kept k = {.volume = whole, .slice = 600};
    motet_ct_recon_result result;
    assert_ok(c, motet_ct_recon(scan, &r, keep, &k, &result));
    assert_true(result.centre == o.centre && result.centre_quality == 0.0);
    r.first_row = 2, r.rows = 2;
    k = (kept){.volume = part, .slice = 600};
    assert_ok(c, motet_ct_recon(scan, &r, keep, &k, &result));
    assert_int_equal(k.next, 2);
    assert_memory_equal(part, whole + 2 * 600, sizeof part);
    r.first_row = r.rows = 0, r.mask = 0.8;
    k = (kept){.volume = masked, .slice = 600};
    assert_ok(c, motet_ct_recon(scan, &r, keep, &k, &result));
    for (int z = 0; z < 5; z++)
        for (int y = 0; y < 20; y++)
            for (int x = 0; x < 30; x++) {
                const int i = z * 600 + y * 30 + x;
                const double outside = hypot(x - 14.5, y - 9.5) - 0.8 * 10.0;
                assert_true(masked[i] == (outside > 0 ? 0.0f : whole[i]));
            }
    motet_ct_scan_free(scan);
    motet_context_free(c);
}

/* The unit of length: half the pitch, twice the attenuation. */
static void attenuation_is_per_length(void **state)
{
    (void)state;
    motet_context *c = test_context();
    const motet_ct_simulate_options o = sized(40, 1, 32);
    assert_ok(c, motet_ct_simulate(c, &o, test_path("unit.h5"), 1));
    motet_ct_scan *scan = open_scan(c, test_path("unit.h5"));
    motet_ct_recon_options r;
    motet_ct_recon_options_init(&r);
    r.centre = o.centre;
    static float scans[1024], given[1024];
    motet_ct_recon_result result;
    kept k = {.volume = scans, .slice = 1024};
    assert_ok(c, motet_ct_recon(scan, &r, keep, &k, &result)); /* pitch 0.05 from the file */
    r.pitch = 0.1;
    k = (kept){.volume = given, .slice = 1024};
    assert_ok(c, motet_ct_recon(scan, &r, keep, &k, &result));
    for (int i = 0; i < 1024; i++)
        assert_true(fabs((double)scans[i] - 2.0 * (double)given[i]) <= 1e-5 * result.maximum);
    motet_ct_scan_free(scan);
    motet_context_free(c);
}

static motet_go stop(const motet_progress *progress, void *user)
{
    (void)progress;
    return *(const int *)user ? MOTET_STOP : MOTET_GO_ON;
}

/* A receiver that fails or a user who stops ends the run; no result is written. */
static void receiver_and_user_can_stop_it(void **state)
{
    (void)state;
    motet_context_options co;
    motet_context_options_init(&co);
    motet_context *c = test_context(), *stopped = NULL;
    int stopping = 1;
    co.progress = stop;
    co.progress_user = &stopping;
    assert_int_equal(motet_context_create(&co, &stopped), MOTET_OK);
    const motet_ct_simulate_options o = sized(20, 6, 24);
    assert_ok(c, motet_ct_simulate(c, &o, test_path("stop.h5"), 1));
    motet_ct_scan *scan = open_scan(c, test_path("stop.h5"));
    motet_ct_recon_options r;
    motet_ct_recon_options_init(&r);
    r.slab_rows = 2;
    motet_ct_recon_result result = {.clamped = -7};
    kept k = {.slice = 24 * 24, .fail_at = 2};
    assert_status(c, motet_ct_recon(scan, &r, keep, &k, &result), MOTET_IO);
    assert_true(k.next == 2 && result.clamped == -7);
    motet_ct_scan_free(scan);
    scan = NULL;
    assert_status(stopped, motet_ct_scan_open(stopped, test_path("stop.h5"), NULL, &scan),
                  MOTET_CANCELLED);
    assert_null(scan);
    stopping = 0;
    scan = open_scan(stopped, test_path("stop.h5"));
    stopping = 1;
    assert_status(stopped, motet_ct_recon(scan, &r, NULL, NULL, &result), MOTET_CANCELLED);
    assert_true(result.clamped == -7);
    motet_ct_scan_free(scan);
    motet_context_free(stopped);
    motet_context_free(c);
}

/* Wrong options are named with their values. */
static void wrong_options_are_named(void **state)
{
    (void)state;
    motet_context *c = test_context();
    const motet_ct_simulate_options o = sized(20, 4, 24);
    assert_ok(c, motet_ct_simulate(c, &o, test_path("wrong.h5"), 1));
    motet_ct_scan *scan = open_scan(c, test_path("wrong.h5"));
    motet_ct_recon_options r;
#define REFUSED(change, word, other)                                                               \
    motet_ct_recon_options_init(&r);                                                               \
    change;                                                                                        \
    assert_status(c, motet_ct_recon(scan, &r, NULL, NULL, NULL), MOTET_BAD_ARGUMENT);              \
    assert_message(c, word, other, NULL)
    REFUSED(r.size = 0, "size is 0", "motet_ct_recon_options_init");
    REFUSED(r.first_row = 4, "first_row is 4", "0 to 3");
    REFUSED(r.first_row = -1, "first_row is -1", "0 to 3");
    REFUSED(r.first_row = 2; r.rows = 3, "rows is 3", "scan has 4");
    REFUSED(r.nx = -2, "-2", "nx");
    REFUSED(r.pitch = NAN, "pitch is nan", "positive");
    REFUSED(r.voxel = -0.5, "voxel is -0.5", "positive");
    REFUSED(r.mask = -1, "mask is -1", "fraction");
    REFUSED(r.slab_rows = -1, "slab_rows is -1", "at least 1");
    REFUSED(r.centre = 1e9, "centre", "");
    REFUSED(r.nx = INT64_MAX / 2; r.ny = 4, "nx * ny", "too many");
    motet_ct_scan_free(scan);
    motet_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(volume_is_the_phantom),
        cmocka_unit_test(one_digest_however_it_is_run),
        cmocka_unit_test(one_digest_whatever_the_file),
        cmocka_unit_test(a_slab_reads_its_own_rows),
        cmocka_unit_test(parts_of_the_volume),
        cmocka_unit_test(attenuation_is_per_length),
        cmocka_unit_test(receiver_and_user_can_stop_it),
        cmocka_unit_test(wrong_options_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
