/* Reconstructions from and to stores: the bits of memory for views in space and independent slices,
 * also where every array of a solver is a file; stop rules, warm starts and checkpoints as in
 * memory. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/context.h"
#include "ct/disk/disk.h"
#include "ct/solve/solver.h"
#include "support/sim.h"

enum { VIEWS = 12, COLUMNS = 27, ROWS = 24, N = 24 };

typedef struct fixture {
    motet_context *c;
    motet_ct_geometry *g;
    motet_array *sinogram, *start, *volume; /* in memory */
    char sinogram_path[512], start_path[512], volume_path[512];
} fixture;

static motet_ct_geometry *cone(motet_context *c)
{
    motet_ct_view view[VIEWS];
    motet_ct_views v;
    motet_ct_views_init(&v);
    for (int k = 0; k < VIEWS; k++) {
        const double a = 6.283185307179586 * k / VIEWS;
        view[k] = (motet_ct_view){{-60 * sin(a), 60 * cos(a), 0.0},
                                  {40 * sin(a), -40 * cos(a), 0.0},
                                  {cos(a), sin(a), 0.0},
                                  {0.0, 0.0, 1.0}};
    }
    v.views = VIEWS, v.columns = COLUMNS, v.rows = ROWS, v.view = view;
    v.pitch_u = 1.9, v.pitch_v = 1.7;
    v.nx = N, v.ny = N + 1, v.nz = ROWS;
    motet_ct_geometry *g;
    assert_ok(c, motet_ct_geometry_create(c, &v, &g));
    return g;
}

static motet_ct_geometry *parallel(motet_context *c)
{
    double angles[VIEWS];
    motet_ct_parallel p;
    motet_ct_parallel_init(&p);
    for (int k = 0; k < VIEWS; k++) angles[k] = 3.14159265358979 * k / VIEWS;
    p.views = VIEWS, p.columns = COLUMNS, p.rows = ROWS, p.angles = angles;
    p.pitch = 1.0, p.nx = N, p.ny = N + 1;
    motet_ct_geometry *g;
    assert_ok(c, motet_ct_geometry_parallel(c, &p, &g));
    return g;
}

static motet_array *noise(motet_context *c, int64_t a, int64_t b, int64_t d, uint64_t seed)
{
    motet_array *out;
    assert_ok(c, motet_array_create(c, MOTET_F32, 3, (int64_t[]){a, b, d}, &out));
    float *data = motet_array_data(out);
    for (int64_t i = 0; i < a * b * d; i++) data[i] = (float)test_uniform(&seed, 0.0, 1.0);
    return out;
}

static void write_file(motet_context *c, const motet_array *a, const char *path)
{
    motet_store_info info = {.type = MOTET_F32, .axes = 3};
    for (int i = 0; i < 3; i++) info.shape[i] = motet_array_size(a, i);
    motet_store *s;
    assert_ok(c, motet_store_create(c, path, NULL, &info, 1, &s));
    assert_ok(c, motet_store_write(s, 0, info.shape[0], motet_array_data(a)));
    assert_ok(c, motet_store_commit(s));
    motet_store_free(s);
}

static void setup(fixture *f, int beam)
{
    f->c = test_context();
    f->g = beam ? cone(f->c) : parallel(f->c);
    f->sinogram = noise(f->c, VIEWS, COLUMNS, ROWS, 1);
    f->start = noise(f->c, ROWS, N + 1, N, 2);
    f->volume = noise(f->c, ROWS, N + 1, N, 3);
    snprintf(f->sinogram_path, 512, "%s", test_path("sinogram.npy"));
    snprintf(f->start_path, 512, "%s", test_path("start.npy"));
    snprintf(f->volume_path, 512, "%s", test_path("volume.mha"));
    write_file(f->c, f->sinogram, f->sinogram_path);
    write_file(f->c, f->start, f->start_path);
}

static void teardown(fixture *f)
{
    motet_array_free(f->sinogram);
    motet_array_free(f->start);
    motet_array_free(f->volume);
    motet_ct_geometry_free(f->g);
    motet_context_free(f->c);
}

static void digest_file(fixture *f, char out[33])
{
    motet_store *s;
    motet_array *a;
    const uint64_t bound = f->c->options.host_memory;
    f->c->options.host_memory = 0;
    assert_ok(f->c, motet_store_open(f->c, f->volume_path, NULL, &s));
    assert_ok(f->c, ct_disk_volume(f->g, s, &a));
    assert_ok(f->c, motet_array_digest(a, out));
    motet_array_free(a);
    motet_store_free(s);
    f->c->options.host_memory = bound;
}

typedef enum way { FDK, CGLS, SIRT, WAYS } way;

static motet_status in_memory(fixture *f, way how, const motet_ct_solve_options *o,
                              motet_ct_solve_result *result)
{
    if (how == FDK) return motet_ct_fdk(f->g, NULL, f->sinogram, f->volume);
    return (how == CGLS ? motet_ct_cgls : motet_ct_sirt)(f->g, o, f->sinogram, f->volume, result);
}

/* `forced`: on disk also where it would fit. */
static motet_status from_files(fixture *f, way how, const motet_ct_solve_options *o, int warm,
                               int forced, motet_ct_solve_result *result)
{
    motet_store *in = NULL, *start = NULL, *out = NULL;
    motet_array *pair[2] = {NULL, NULL}, *begin = NULL;
    motet_status st = motet_store_open(f->c, f->sinogram_path, NULL, &in);
    if (st == MOTET_OK && warm) st = motet_store_open(f->c, f->start_path, NULL, &start);
    if (st == MOTET_OK) st = motet_ct_create_volume(f->g, f->volume_path, NULL, 1, &out);
    if (st == MOTET_OK && how == FDK) st = motet_ct_fdk_store(f->g, NULL, in, out);
    if (st == MOTET_OK && how != FDK && !forced)
        st = (how == CGLS ? motet_ct_cgls_store : motet_ct_sirt_store)(f->g, o, start, in, out,
                                                                       result);
    if (st == MOTET_OK && how != FDK && forced) {
        st = ct_disk_pair(f->g, in, out, 1, pair);
        if (st == MOTET_OK && warm) st = ct_disk_volume(f->g, start, &begin);
        if (st == MOTET_OK)
            st = ct_solve_on_disk(f->g, how == CGLS ? &ct_cgls : &ct_sirt, o, test_folder(), begin,
                                  pair[0], pair[1], result);
    }
    if (st == MOTET_OK) st = motet_store_commit(out);
    motet_array_free(pair[0]);
    motet_array_free(pair[1]);
    motet_array_free(begin);
    motet_store_free(in);
    motet_store_free(start);
    motet_store_free(out);
    return st;
}

static void assert_same_result(const motet_ct_solve_result *a, const motet_ct_solve_result *b)
{
    assert_int_equal(a->iterations, b->iterations);
    assert_int_equal(a->stop, b->stop);
    assert_memory_equal(&a->residual, &b->residual, sizeof a->residual);
    assert_memory_equal(&a->relative, &b->relative, sizeof a->relative);
}

static motet_ct_solve_options few(int64_t iterations)
{
    motet_ct_solve_options o;
    motet_ct_solve_options_init(&o);
    o.iterations = iterations;
    return o;
}

static void files_have_the_bits_of_memory(void **state)
{
    (void)state;
    for (int beam = 0; beam < 2; beam++)
        for (way how = FDK; how < WAYS; how++)
            for (int warm = 0; warm < (how == FDK ? 1 : 2); warm++)
                for (int forced = 0; forced < 2; forced++) {
                    fixture f;
                    setup(&f, beam);
                    motet_ct_solve_options o = few(2);
                    motet_ct_solve_result expected = {0}, found = {0};
                    char memory[33], file[33];
                    o.warm_start = warm;
                    if (how == SIRT) o.least = 0.0;
                    if (warm)
                        memcpy(motet_array_data(f.volume), motet_array_data(f.start),
                               sizeof(float) * ROWS * (N + 1) * N);
                    assert_ok(f.c, in_memory(&f, how, &o, &expected));
                    assert_ok(f.c, motet_array_digest(f.volume, memory));
                    assert_ok(f.c, from_files(&f, how, &o, warm, forced, &found));
                    digest_file(&f, file);
                    assert_string_equal(memory, file);
                    assert_same_result(&expected, &found);
                    teardown(&f);
                }
}

/* From plenty down to what is refused, on several sets of devices. */
static void no_budget_changes_a_bit(void **state)
{
    (void)state;
    static const char *const sets[] = {NULL, "cpu,sim:1"};
    for (way how = FDK; how < WAYS; how++)
        for (int set = 0; set < 2; set++) {
            fixture f;
            setup(&f, 1);
            const motet_ct_solve_options o = few(1);
            char memory[33], file[33];
            assert_ok(f.c, in_memory(&f, how, &o, NULL));
            assert_ok(f.c, motet_array_digest(f.volume, memory));
            if (sets[set]) assert_ok(f.c, sim_use(f.c, NULL, sets[set]));
            motet_memory now;
            motet_context_trim(f.c);
            motet_context_memory(f.c, &now);
            int64_t done = 0, refused = 0, on_disk = 0;
            const int64_t whole = ct_method_bytes(&ct_sirt, f.volume, f.sinogram, 1);
            for (uint64_t more = 3000000; more > 60000; more = more * 2 / 3) {
                f.c->options.host_memory = now.now + more;
                const motet_status st = from_files(&f, how, &o, 0, 0, NULL);
                refused += st != MOTET_OK;
                if (st != MOTET_OK) {
                    assert_true(st == MOTET_OVER_BUDGET || st == MOTET_NO_MEMORY);
                    continue;
                }
                assert_int_equal(refused, 0); /* less never does where more did not */
                done++;
                on_disk +=
                    (int64_t)more / 2 < whole + (int64_t)(f.volume->bytes + f.sinogram->bytes);
                digest_file(&f, file);
                assert_string_equal(memory, file);
            }
            assert_true(done > 1 && refused > 1 && (how == FDK || set || on_disk));
            teardown(&f);
        }
}

/* Stopped in some iteration, it goes on from its checkpoint to the same bits: on disk what was
 * begun on disk or in memory. */
typedef struct stopper {
    int64_t at, seen;
} stopper;

static motet_status stop_at(const motet_ct_iteration *iteration, void *user)
{
    stopper *s = user;
    s->seen = iteration->number;
    return iteration->number == s->at ? MOTET_IO : MOTET_OK;
}

static int64_t later(void *user) { return *(int64_t *)user += 1000000; }

static void a_checkpoint_goes_on_to_the_same_bits(void **state)
{
    (void)state;
    for (way how = CGLS; how < WAYS; how++)
        for (int first = 0; first < 2; first++)
            for (int second = 0; second < 2; second++) {
                fixture f;
                int64_t now = 0;
                setup(&f, 1);
                f.c->options.clock = (motet_clock){later, &now};
                motet_ct_solve_options o = few(10);
                motet_ct_solve_result result;
                char memory[33], file[33], folder[600];
                stopper s = {.at = 8};
                assert_ok(f.c, in_memory(&f, how, &o, NULL));
                assert_ok(f.c, motet_array_digest(f.volume, memory));
                snprintf(folder, sizeof folder, "%s/checkpoint%d%d%d", test_folder(), (int)how,
                         first, second);
                o.checkpoint = folder;
                o.each = stop_at;
                o.user = &s;
                assert_status(f.c, from_files(&f, how, &o, 0, first, NULL), MOTET_IO);
                assert_int_equal(s.seen, s.at);
                s.at = -1;
                assert_ok(f.c, from_files(&f, how, &o, 0, second, &result));
                assert_true(result.resumed > 0);
                digest_file(&f, file);
                assert_string_equal(memory, file);
                teardown(&f);
            }
}

static void what_does_not_fit_together_is_refused(void **state)
{
    (void)state;
    fixture f;
    setup(&f, 1);
    motet_ct_solve_options o = few(1);
    o.warm_start = 1;
    assert_status(f.c, from_files(&f, CGLS, &o, 0, 0, NULL), MOTET_BAD_ARGUMENT);
    assert_message(f.c, "warm_start", NULL);
    snprintf(f.start_path, sizeof f.start_path, "%s", f.sinogram_path);
    assert_status(f.c, from_files(&f, CGLS, &o, 1, 0, NULL), MOTET_BAD_SHAPE);
    assert_message(f.c, "the volume", "(24, 25, 24)", NULL);
    float *value = motet_array_data(f.sinogram);
    value[7] = NAN;
    write_file(f.c, f.sinogram, f.sinogram_path);
    assert_status(f.c, from_files(&f, SIRT, NULL, 0, 0, NULL), MOTET_BAD_DATA);
    o.warm_start = 0;
    assert_status(f.c, from_files(&f, CGLS, &o, 0, 1, NULL), MOTET_BAD_DATA);
    assert_message(f.c, "sinogram", "not finite", NULL);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_have_the_bits_of_memory),
        cmocka_unit_test(no_budget_changes_a_bit),
        cmocka_unit_test(a_checkpoint_goes_on_to_the_same_bits),
        cmocka_unit_test(what_does_not_fit_together_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
