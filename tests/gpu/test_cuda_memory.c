/* P2 on a GPU: what its driver says is taken stays within what the plan said and the budget allows,
 * down to the least that a refusal names; and others may take memory meanwhile. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dev/cuda/driver.h"
#include "gpu/gpu.h"
#include "support/ct_jobs.h"

enum {
    PAGE = 2 << 20 /* what the driver takes memory in */,
    ALLOCATIONS = 3 /* of a run, at most */
};

static cuda_driver driver;
static const char *self; /* the path of this program */

static void must(CUresult result)
{
    char text[96];
    if (result != CUDA_SUCCESS) fail_msg("%s", cuda_text(&driver, result, text));
}

/* The least that was free on the GPU while it looked. */
typedef struct watcher {
    pthread_t thread;
    atomic_int stop;
    size_t least;
    atomic_size_t looks;
} watcher;

static size_t free_bytes(void)
{
    size_t available = 0, total = 0;
    must(driver.cuMemGetInfo_v2(&available, &total));
    return available;
}

static void enter(void)
{
    CUdevice device;
    CUcontext context;
    must(driver.cuDeviceGet(&device, 0));
    must(driver.cuDevicePrimaryCtxRetain(&context, device));
    must(driver.cuCtxPushCurrent_v2(context));
}

static void leave(void)
{
    CUdevice device;
    CUcontext context;
    must(driver.cuCtxPopCurrent_v2(&context));
    must(driver.cuDeviceGet(&device, 0));
    must(driver.cuDevicePrimaryCtxRelease_v2(device));
}

static void *watch(void *user)
{
    watcher *w = user;
    const struct timespec nap = {0, 100000};
    enter();
    while (!atomic_load(&w->stop)) {
        const size_t now = free_bytes();
        if (now < w->least) w->least = now;
        atomic_fetch_add(&w->looks, 1);
        nanosleep(&nap, NULL);
    }
    leave();
    return NULL;
}

static void watch_begin(watcher *w)
{
    enter();
    *w = (watcher){.least = free_bytes()};
    leave();
    assert_int_equal(pthread_create(&w->thread, NULL, watch, w), 0);
    while (!atomic_load(&w->looks)) sched_yield();
}

static void watch_end(watcher *w)
{
    atomic_store(&w->stop, 1);
    pthread_join(w->thread, NULL);
}

/* The jobs whose memory is looked at: projection and its transpose, many chunks' worth of arrays.
 */
typedef struct job {
    motet_ct_geometry *geometry;
    motet_array *volume, *sinogram, *back;
} job;

static void job_make(motet_context *c, job *j)
{
    const int64_t n = gpu_quick() ? 24 : 96;
    motet_ct_views g;
    motet_ct_views_init(&g);
    g.views = n;
    g.columns = 2 * n;
    g.rows = n + n / 2;
    g.nx = g.ny = g.nz = n;
    motet_ct_trajectory t;
    motet_ct_trajectory_init(&t);
    t.sid = 2.5 * (double)n;
    t.sdd = 4 * (double)n;
    motet_ct_view *view = calloc((size_t)g.views, sizeof *view);
    assert_non_null(view);
    assert_ok(c, motet_ct_trajectory_views(c, &t, &g, view));
    g.view = view;
    assert_ok(c, motet_ct_geometry_create(c, &g, &j->geometry));
    free(view);
    const int64_t box[3] = {n, n, n}, views[3] = {g.views, g.columns, g.rows};
    assert_ok(c, motet_array_create(c, MOTET_F32, 3, box, &j->volume));
    assert_ok(c, motet_array_create(c, MOTET_F32, 3, box, &j->back));
    assert_ok(c, motet_array_create(c, MOTET_F32, 3, views, &j->sinogram));
    uint64_t seed = 1;
    for (int64_t i = 0; i < n * n * n; i++)
        ((float *)motet_array_data(j->volume))[i] = (float)test_uniform(&seed, 0, 1);
}

static motet_status job_run(job *j, char digest[33])
{
    motet_status st = motet_ct_project(j->geometry, j->volume, j->sinogram);
    if (st == MOTET_OK) st = motet_ct_backproject(j->geometry, j->sinogram, j->back);
    if (st == MOTET_OK) st = motet_array_digest(j->back, digest);
    return st;
}

static void job_free(job *j)
{
    motet_array_free(j->volume);
    motet_array_free(j->sinogram);
    motet_array_free(j->back);
    motet_ct_geometry_free(j->geometry);
}

/* With so much memory on each device (0: chosen) on the set; answers as the job does. */
typedef struct outcome {
    motet_status status;
    int64_t least; /* what a refusal says it takes; 0: no refusal */
    int64_t planned, accounted;
    int64_t taken; /* by the driver's account, at most at once */
    char digest[33];
} outcome;

static int64_t of_gpu(motet_context *c, const char *what)
{
    char *text = NULL;
    assert_ok(c, motet_context_report(c, &text));
    json_t *report = json_loads(text, 0, NULL);
    const json_t *one = json_array_get(json_object_get(report, "devices"), 0);
    const int64_t value = json_integer_value(json_object_get(json_object_get(one, "memory"), what));
    json_decref(report);
    motet_text_free(c, text);
    return value;
}

static outcome attempt(const char *set, uint64_t memory)
{
    outcome o = {.status = MOTET_OK};
    motet_context_options options;
    motet_context_options_init(&options);
    options.memory = memory;
    motet_context *c = gpu_context_with(&options, set, 0);
    job j;
    watcher w;
    job_make(c, &j);
    watch_begin(&w);
    const size_t before = w.least;
    o.status = job_run(&j, o.digest);
    watch_end(&w);
    o.taken = (int64_t)(before - w.least);
    motet_error error;
    motet_context_error(c, &error);
    const char *at = strstr(error.message, "takes at least ");
    if (o.status == MOTET_OVER_BUDGET && at) o.least = atoll(at + strlen("takes at least "));
    if (o.status == MOTET_OK) {
        o.planned = of_gpu(c, "planned");
        o.accounted = of_gpu(c, "accounted");
        gpu_assert_worked(c, 0);
    }
    job_free(&j);
    motet_context_free(c);
    return o;
}

static const char *expected(void)
{
    static char digest[33];
    if (*digest) return digest;
    motet_context *c = test_context();
    job j;
    job_make(c, &j);
    assert_ok(c, job_run(&j, digest));
    job_free(&j);
    motet_context_free(c);
    return digest;
}

static void judge(const outcome *o, uint64_t memory)
{
    print_message("told: budget %.1f MiB: planned %.1f, taken %.1f MiB\n", (double)memory / 1048576,
                  (double)o->planned / 1048576, (double)o->taken / 1048576);
    assert_int_equal(o->status, MOTET_OK);
    assert_string_equal(o->digest, expected());
    assert_true(o->accounted <= o->planned);
    assert_true(o->taken <= o->planned + ALLOCATIONS * PAGE);
    if (memory) assert_true(o->planned <= (int64_t)memory);
}

static void the_driver_reports_no_more_than_planned(void **state)
{
    (void)state;
    const outcome ample = attempt("cuda:0", 0);
    judge(&ample, 0);
    for (int64_t memory = ample.planned; memory > PAGE; memory /= 2) {
        const outcome o = attempt("cuda:0", (uint64_t)memory);
        if (o.status == MOTET_OVER_BUDGET) return;
        judge(&o, (uint64_t)memory);
    }
}

/* What a refusal names is enough, and a byte less is not. */
static void the_least_works_and_less_is_refused(void **state)
{
    (void)state;
    int64_t least = 1;
    for (int i = 0;; i++) {
        const outcome o = attempt("cuda:0", (uint64_t)least);
        if (o.status == MOTET_OK) {
            judge(&o, (uint64_t)least);
            break;
        }
        assert_int_equal(o.status, MOTET_OVER_BUDGET);
        assert_true(o.least > least && i < 20);
        least = o.least;
    }
    const outcome o = attempt("cuda:0", (uint64_t)least - 1);
    assert_int_equal(o.status, MOTET_OVER_BUDGET);
    assert_int_equal(o.least, least);
}

/* What is left when a context is gone is what was there before it, and nothing grows from run to
 * run. */
static void all_of_it_comes_back(void **state)
{
    (void)state;
    size_t first = 0;
    enter(); /* so that the primary context itself stays */
    (void)attempt("cuda:0", 0);
    for (int i = 0; i < 4; i++) {
        const size_t now = free_bytes();
        if (!i) first = now;
        assert_true(now + PAGE >= first);
        (void)attempt("cuda:0", 0);
    }
    leave();
}

/* Another process. */

static int hold(const char *fraction)
{
    CUdeviceptr data;
    char byte;
    enter();
    const size_t bytes = (size_t)((double)free_bytes() * atof(fraction));
    must(driver.cuMemAlloc_v2(&data, bytes));
    if (write(1, "!", 1) != 1) return 1;
    while (read(0, &byte, 1) > 0) {
    }
    must(driver.cuMemFree_v2(data));
    leave();
    return 0;
}

typedef struct other {
    pid_t pid;
    int in, out;
} other;

static void other_begin(other *o, const char *fraction)
{
    int to[2], from[2];
    assert_int_equal(pipe(to), 0);
    assert_int_equal(pipe(from), 0);
    fflush(NULL);
    o->pid = fork();
    assert_true(o->pid >= 0);
    if (!o->pid) {
        dup2(to[0], 0);
        dup2(from[1], 1);
        close(to[1]);
        close(from[0]);
        execl(self, self, "hold", fraction, (char *)NULL);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    o->in = to[1];
    o->out = from[0];
}

static void other_holds(const other *o)
{
    char byte;
    assert_int_equal(read(o->out, &byte, 1), 1);
}

static void other_end(other *o)
{
    int status;
    close(o->in);
    assert_int_equal(waitpid(o->pid, &status, 0), o->pid);
    close(o->out);
    assert_int_equal(status, 0);
}

static void another_process_takes_half(void **state)
{
    (void)state;
    motet_context *c = gpu_context("cuda:0"); /* opened when all was free */
    job j;
    char digest[33];
    other o;
    job_make(c, &j);
    other_begin(&o, "0.5");
    other_holds(&o);
    assert_ok(c, job_run(&j, digest));
    assert_string_equal(digest, expected());
    other_end(&o);
    gpu_assert_worked(c, 1);
    job_free(&j);
    motet_context_free(c);
}

/* Nearly all of it, at any time of a run: the CPU is there, too. */
static void another_process_takes_nearly_all_meanwhile(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        motet_context *c = gpu_context("cuda:0,cpu");
        job j;
        char digest[33];
        other o;
        job_make(c, &j);
        other_begin(&o, "0.98"); /* starts up while the runs go on */
        for (int k = 0; k < 6; k++) {
            assert_ok(c, job_run(&j, digest));
            assert_string_equal(digest, expected());
        }
        other_holds(&o);
        assert_ok(c, job_run(&j, digest));
        assert_string_equal(digest, expected());
        other_end(&o);
        job_free(&j);
        motet_context_free(c);
    }
}

int main(int count, char **words)
{
    gpu_need();
    cuda_driver_open(&driver);
    self = words[0];
    if (count == 3 && !strcmp(words[1], "hold")) return hold(words[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_driver_reports_no_more_than_planned),
        cmocka_unit_test(the_least_works_and_less_is_refused),
        cmocka_unit_test(all_of_it_comes_back), cmocka_unit_test(another_process_takes_half),
        cmocka_unit_test(another_process_takes_nearly_all_meanwhile)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
