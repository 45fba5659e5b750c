/* Every long call, cancelled at any point: at each look at the clock, allocation, launch and access
 * to a file, also between two of the operations that it consists of. It answers so, leaves its
 * outputs as they were, and begins hardly anything more; what is called next works.
 *
 * The linker sends reads and writes of files through the functions below (tests/CMakeLists.txt). */
#include <dirent.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <motet/calibrate.h>
#include <motet/ct_disk.h>
#include <motet/ct_phantom.h>

#include "base/call.h"
#include "base/context.h"
#include "ct/disk/disk.h"
#include "ct/solve/solver.h"
#include "rt/devices.h"
#include "support/ct_solve.h"

/* Launches are those of a turn, of two chunks; of files a piece is read or written, and what ends a
 * call closes them. Opening a file of HDF5 is many small reads. */
enum { LAUNCHES = 2, ACCESSES = 12, OPENING = 100 };

typedef enum how { BY_CONTEXT, BY_JOB, BY_DEADLINE, HOWS } how;

/* ---- What happens, and when ---- */

static struct {
    motet_context *context;
    motet_job *_Atomic job;
    how way;
    atomic_int armed;
    atomic_int_fast64_t events, at, late; /* `late`: nanoseconds */
    atomic_int cancelled;
    atomic_int_fast64_t launches, accesses; /* since it was cancelled */
    atomic_int_fast64_t all;                /* launches */
    atomic_int_fast64_t reads;
    dev_table table;
    const dev_table *real;
} world;

static void event(void)
{
    if (!atomic_load(&world.armed)) return;
    if (atomic_fetch_add(&world.events, 1) + 1 != atomic_load(&world.at)) return;
    if (world.way == BY_CONTEXT) motet_context_cancel(world.context);
    if (world.way == BY_JOB) motet_job_cancel(atomic_load(&world.job));
    if (world.way == BY_DEADLINE) atomic_store(&world.late, 2000000000000000);
    atomic_store(&world.cancelled, 1);
}

static int64_t now(void *user)
{
    (void)user;
    event();
    return 1000 * atomic_fetch_add(&world.reads, 1) + atomic_load(&world.late);
}

static void *take(size_t bytes, void *user)
{
    (void)user;
    event();
    return malloc(bytes);
}

static void give(void *block, size_t bytes, void *user)
{
    (void)bytes, (void)user;
    free(block);
}

static motet_status launch(dev_stream *stream, const dev_launch *what)
{
    if (atomic_load(&world.cancelled)) atomic_fetch_add(&world.launches, 1);
    atomic_fetch_add(&world.all, 1);
    event();
    return world.real->launch(stream, what);
}

ssize_t __real_pread(int descriptor, void *out, size_t bytes, off_t offset);
ssize_t __wrap_pread(int descriptor, void *out, size_t bytes, off_t offset);
ssize_t __wrap_pread(int descriptor, void *out, size_t bytes, off_t offset)
{
    if (atomic_load(&world.cancelled)) atomic_fetch_add(&world.accesses, 1);
    event();
    return __real_pread(descriptor, out, bytes, offset);
}

ssize_t __real_pwrite(int descriptor, const void *data, size_t bytes, off_t offset);
ssize_t __wrap_pwrite(int descriptor, const void *data, size_t bytes, off_t offset);
ssize_t __wrap_pwrite(int descriptor, const void *data, size_t bytes, off_t offset)
{
    if (atomic_load(&world.cancelled)) atomic_fetch_add(&world.accesses, 1);
    event();
    return __real_pwrite(descriptor, data, bytes, offset);
}

/* ---- Calls ---- */

typedef struct work {
    motet_context *c;
    ct_scan_case slices, cone;
    motet_ct_scan *scan;
    motet_array *out, *filtered; /* made by calls */
    motet_store *in, *made;
    motet_ct_solve_options solve;
    double centre, quality;
} work;

static motet_status fbp(work *w)
{
    return motet_ct_fbp(w->slices.geometry, NULL, w->slices.sinogram, w->slices.volume);
}
static motet_status project(work *w)
{
    return motet_ct_project(w->slices.geometry, w->slices.truth, w->filtered);
}
static motet_status backproject(work *w)
{
    return motet_ct_backproject(w->slices.geometry, w->slices.sinogram, w->slices.volume);
}
static motet_status filter(work *w)
{
    return motet_ct_filter(w->slices.geometry, NULL, w->slices.sinogram, w->filtered);
}
static motet_status fdk(work *w)
{
    return motet_ct_fdk(w->cone.geometry, NULL, w->cone.sinogram, w->cone.volume);
}
static motet_status cgls(work *w)
{
    return motet_ct_cgls(w->cone.geometry, &w->solve, w->cone.sinogram, w->cone.volume, NULL);
}
static motet_status sirt(work *w)
{
    return motet_ct_sirt(w->slices.geometry, &w->solve, w->slices.sinogram, w->slices.volume, NULL);
}
static motet_status phantom(work *w)
{
    return motet_ct_phantom_volume(w->cone.geometry, NULL, w->cone.volume);
}
static motet_status truth(work *w)
{
    motet_ct_simulate_options o;
    motet_ct_simulate_options_init(&o);
    o.rows = w->slices.volume_shape[0];
    return motet_ct_simulate_truth(w->c, &o, 0.05, w->slices.volume);
}
static motet_status find_centre(work *w)
{
    double angles[12];
    for (int k = 0; k < 12; k++) angles[k] = 0.26 * k;
    return motet_ct_find_centre(w->c, w->slices.sinogram, angles, &w->centre, &w->quality);
}
static motet_status calibrate(work *w)
{
    motet_calibrate_options o;
    motet_calibrate_options_init(&o);
    o.repeats = 2;
    return motet_ct_calibrate(w->slices.geometry, MOTET_CT_RECON, &o);
}
static motet_status simulate(work *w)
{
    motet_ct_simulate_options o;
    motet_ct_simulate_options_init(&o);
    o.views = 9, o.rows = 2, o.columns = 12, o.flats = o.darks = 3;
    return motet_ct_simulate(w->c, &o, test_path("made.h5"), 0);
}
static motet_status open_scan(work *w)
{
    motet_ct_scan *scan = NULL;
    const motet_status st = motet_ct_scan_open(w->c, test_path("scan.h5"), NULL, &scan);
    motet_ct_scan_free(scan);
    return st;
}
static motet_status read_scan(work *w) { return motet_ct_scan_read(w->scan, 0, w->out); }
static motet_status see(int64_t first, int64_t rows, const float *slices, void *user)
{
    (void)first, (void)rows, (void)slices, (void)user;
    return MOTET_OK;
}
static motet_status recon(work *w)
{
    motet_ct_recon_options o;
    motet_ct_recon_options_init(&o);
    o.slab_rows = 1;
    return motet_ct_recon(w->scan, &o, see, NULL, NULL);
}

/* From file to file, and what was made does not take its place. */
static motet_status begin_files(work *w, const ct_scan_case *s, const char *from, int projects)
{
    const int armed = atomic_exchange(&world.armed, 0); /* these are calls of their own */
    motet_status st = motet_store_open(w->c, test_path(from), NULL, &w->in);
    if (st == MOTET_OK)
        st = projects
                 ? motet_ct_create_sinogram(s->geometry, test_path("made.npy"), NULL, 1, &w->made)
                 : motet_ct_create_volume(s->geometry, test_path("made.npy"), NULL, 1, &w->made);
    atomic_store(&world.armed, armed);
    return st;
}
static motet_status end_files(work *w, motet_status st)
{
    motet_store_free(w->in);
    motet_store_free(w->made);
    w->in = w->made = NULL;
    return st;
}
static motet_status fbp_files(work *w)
{
    motet_status st = begin_files(w, &w->slices, "slices.npy", 0);
    if (st == MOTET_OK) st = motet_ct_fdk_store(w->slices.geometry, NULL, w->in, w->made);
    return end_files(w, st);
}
static motet_status fdk_files(work *w)
{
    motet_status st = begin_files(w, &w->cone, "cone.npy", 0);
    if (st == MOTET_OK) st = motet_ct_fdk_store(w->cone.geometry, NULL, w->in, w->made);
    return end_files(w, st);
}
static motet_status project_files(work *w)
{
    motet_status st = begin_files(w, &w->cone, "volume.npy", 1);
    if (st == MOTET_OK) st = motet_ct_project_store(w->cone.geometry, w->in, w->made);
    return end_files(w, st);
}
static motet_status backproject_files(work *w)
{
    motet_status st = begin_files(w, &w->cone, "cone.npy", 0);
    if (st == MOTET_OK) st = motet_ct_backproject_store(w->cone.geometry, w->in, w->made);
    return end_files(w, st);
}
static motet_status sirt_files(work *w)
{
    motet_status st = begin_files(w, &w->cone, "cone.npy", 0);
    if (st == MOTET_OK)
        st = motet_ct_sirt_store(w->cone.geometry, &w->solve, NULL, w->in, w->made, NULL);
    return end_files(w, st);
}

/* With a checkpoint after each step, as far as they cost that little. */
static motet_status cgls_on_disk(work *w)
{
    motet_array *pair[2] = {NULL, NULL};
    motet_ct_solve_options o = w->solve;
    call one;
    o.checkpoint = test_path("kept");
    motet_status st = begin_files(w, &w->cone, "cone.npy", 0);
    call_begin(w->c, &one);
    if (st == MOTET_OK) st = ct_disk_pair(w->cone.geometry, w->in, w->made, 1, pair);
    if (st == MOTET_OK)
        st = ct_solve_on_disk(w->cone.geometry, &ct_cgls, &o, test_folder(), NULL, pair[0], pair[1],
                              NULL);
    motet_array_free(pair[0]);
    motet_array_free(pair[1]);
    return end_files(w, call_end(&one, st));
}

typedef struct long_call {
    const char *name;
    motet_status (*run)(work *w);
    int operations; /* 1: it launches much more than may be launched late */
    int accesses;   /* to files that may be late */
} long_call;

static const long_call calls[] = {
    {"fbp", fbp, 1, ACCESSES},
    {"project", project, 0, ACCESSES},
    {"backproject", backproject, 0, ACCESSES},
    {"filter", filter, 1, ACCESSES},
    {"fdk", fdk, 1, ACCESSES},
    {"cgls", cgls, 1, ACCESSES},
    {"sirt", sirt, 1, ACCESSES},
    {"phantom", phantom, 0, ACCESSES},
    {"truth", truth, 0, ACCESSES},
    {"find_centre", find_centre, 0, ACCESSES},
    {"calibrate", calibrate, 1, ACCESSES},
    {"simulate", simulate, 0, ACCESSES},
    {"open_scan", open_scan, 0, OPENING},
    {"read_scan", read_scan, 0, ACCESSES},
    {"recon", recon, 1, ACCESSES},
    {"fbp_files", fbp_files, 1, ACCESSES},
    {"fdk_files", fdk_files, 1, ACCESSES},
    {"project_files", project_files, 1, ACCESSES},
    {"backproject_files", backproject_files, 1, ACCESSES},
    {"sirt_files", sirt_files, 1, ACCESSES},
    {"cgls_on_disk", cgls_on_disk, 1, ACCESSES},
};

/* ---- Around them ---- */

static void write_array(motet_context *c, const motet_array *a, const char *name)
{
    motet_store_info info = {.type = MOTET_F32, .axes = 3};
    for (int i = 0; i < 3; i++) info.shape[i] = motet_array_size(a, i);
    motet_store *s;
    assert_ok(c, motet_store_create(c, test_path(name), NULL, &info, 1, &s));
    assert_ok(c, motet_store_write(s, 0, info.shape[0], motet_array_data(a)));
    assert_ok(c, motet_store_commit(s));
    motet_store_free(s);
}

static void setup(work *w, how way)
{
    memset(&world, 0, sizeof world);
    memset(w, 0, sizeof *w);
    motet_context_options o;
    motet_context_options_init(&o);
    o.allocator = (motet_allocator){take, give, NULL};
    o.clock = (motet_clock){now, NULL};
    o.threads = 1;
    o.chunk = 1;
    assert_int_equal(motet_context_create(&o, &w->c), MOTET_OK);
    world.context = w->c;
    world.way = way;
    w->slices = ct_case_slices(w->c, 12, 13, 9, CT_CASE_RANDOM);
    w->cone = ct_case_cone(w->c, 9, 9, 9, 9, 0.0, CT_CASE_RANDOM);
    assert_ok(w->c, motet_array_create(w->c, MOTET_F32, 3, w->slices.sinogram_shape, &w->filtered));
    write_array(w->c, w->slices.sinogram, "slices.npy");
    write_array(w->c, w->cone.sinogram, "cone.npy");
    write_array(w->c, w->cone.truth, "volume.npy");
    motet_ct_simulate_options s;
    motet_ct_simulate_options_init(&s);
    s.views = 12, s.rows = 9, s.columns = 16, s.flats = s.darks = 50;
    assert_ok(w->c, motet_ct_simulate(w->c, &s, test_path("scan.h5"), 1));
    assert_ok(w->c, motet_ct_scan_open(w->c, test_path("scan.h5"), NULL, &w->scan));
    assert_ok(w->c, motet_array_create(w->c, MOTET_F32, 3, (int64_t[]){12, 16, 9}, &w->out));
    motet_ct_solve_options_init(&w->solve);
    w->solve.iterations = 3;
    dev *device = w->c->devices->set[0].device;
    world.real = device->table;
    world.table = *world.real;
    world.table.launch = launch;
    device->table = &world.table;
}

static void teardown(work *w)
{
    w->c->devices->set[0].device->table = world.real;
    motet_ct_scan_free(w->scan);
    motet_array_free(w->out);
    motet_array_free(w->filtered);
    ct_case_free(&w->slices);
    ct_case_free(&w->cone);
    motet_context_free(w->c);
}

static void fill(motet_array *a)
{
    float *value = motet_array_data(a);
    for (int64_t i = 0; i < motet_array_elements(a); i++) value[i] = -7.0f;
}

static int is_untouched(const motet_array *a)
{
    const float *value = motet_array_data(a);
    for (int64_t i = 0; i < motet_array_elements(a); i++)
        if (value[i] != -7.0f) return 0;
    return 1;
}

static void clear_outputs(work *w)
{
    fill(w->slices.volume);
    fill(w->cone.volume);
    fill(w->filtered);
    fill(w->out);
    w->centre = w->quality = -7.0;
    unlink(test_path("made.h5"));
    unlink(test_path("kept/ct.cgls.loop"));
}

/* No output, and nothing beside it. */
static int others(void)
{
    int count = 0;
    DIR *folder = opendir(test_folder());
    assert_non_null(folder);
    for (struct dirent *d; (d = readdir(folder));)
        count += *d->d_name == 'm' || (*d->d_name == '.' && d->d_name[1] && d->d_name[1] != '.');
    closedir(folder);
    return count;
}

static motet_status in_job(motet_context *c, void *user)
{
    (void)c;
    const long_call *one = ((void **)user)[0];
    while (!atomic_load(&world.job)) usleep(100);
    atomic_store(&world.armed, 1);
    const motet_status st = one->run(((void **)user)[1]);
    atomic_store(&world.armed, 0);
    return st;
}

/* Cancelled at event k; 0: never. */
static motet_status attempt(work *w, const long_call *one, int64_t k)
{
    atomic_store(&world.events, 0);
    atomic_store(&world.at, k);
    atomic_store(&world.cancelled, 0);
    atomic_store(&world.launches, 0);
    atomic_store(&world.accesses, 0);
    atomic_store(&world.late, 0);
    atomic_store(&world.job, NULL);
    motet_status st;
    if (world.way == BY_CONTEXT) {
        atomic_store(&world.armed, 1);
        st = one->run(w);
        atomic_store(&world.armed, 0);
    } else {
        void *user[2] = {(void *)(uintptr_t)one, w};
        motet_job_options o;
        motet_job_options_init(&o);
        if (world.way == BY_DEADLINE) o.deadline = 1e6;
        motet_job *job = NULL;
        assert_ok(w->c, motet_job_submit(w->c, in_job, user, &o, &job));
        atomic_store(&world.job, job);
        st = motet_job_wait(job, INFINITY);
        motet_job_free(job);
    }
    atomic_store(&world.cancelled, 0);
    return st;
}

static void assert_nothing(const work *w, const long_call *one, int64_t k)
{
    if (is_untouched(w->slices.volume) && is_untouched(w->cone.volume) &&
        is_untouched(w->filtered) && is_untouched(w->out) && w->centre == -7.0 &&
        w->quality == -7.0 && !others())
        return;
    fail_msg("%s, cancelled at %lld: an output was touched", one->name, (long long)k);
}

static void cancel_everywhere(how way)
{
    const motet_status expected = way == BY_DEADLINE ? MOTET_DEADLINE : MOTET_CANCELLED;
    work w;
    setup(&w, way);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const long_call *one = &calls[i];
        int64_t cancelled = 0;
        clear_outputs(&w);
        atomic_store(&world.all, 0);
        assert_ok(w.c, attempt(&w, one, 0)); /* what pools and reports keep is there now */
        assert_true(!one->operations || atomic_load(&world.all) > 2 * LAUNCHES);
        assert_true(one->accesses < OPENING || atomic_load(&world.events) > 2 * OPENING);
        for (int64_t k = 1, over = 0; !over; k += 1 + k / 24) {
            clear_outputs(&w);
            const motet_status st = attempt(&w, one, k);
            over = atomic_load(&world.events) < k;
            if (st != MOTET_OK && st != expected)
                fail_msg("%s, cancelled at %lld: %s", one->name, (long long)k,
                         motet_status_text(st));
            if (over) assert_int_equal(st, MOTET_OK);
            cancelled += st == expected;
            const int64_t launches = atomic_load(&world.launches);
            const int64_t accesses = atomic_load(&world.accesses);
            if (!over && (launches > LAUNCHES || accesses > one->accesses))
                fail_msg("%s, cancelled at %lld: %lld launches and %lld accesses to files later",
                         one->name, (long long)k, (long long)launches, (long long)accesses);
            if (st == expected) assert_nothing(&w, one, k);
            if (k % 8 == 1) assert_ok(w.c, attempt(&w, one, 0));
        }
        assert_true(cancelled > 2);
    }
    teardown(&w);
}

static void by_the_context(void **state)
{
    (void)state;
    cancel_everywhere(BY_CONTEXT);
}

static void by_the_job(void **state)
{
    (void)state;
    cancel_everywhere(BY_JOB);
}

static void by_a_deadline(void **state)
{
    (void)state;
    cancel_everywhere(BY_DEADLINE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_the_context),
                                       cmocka_unit_test(by_the_job),
                                       cmocka_unit_test(by_a_deadline)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
