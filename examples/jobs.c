/* Two requests at once, as a service would have them: each is a job with a deadline, they take
 * turns on the devices, and the program shows progress while it waits. Exit code 1 unless both end
 * well. */
#include <math.h>
#include <motet/motet.h>
#include <stdio.h>

enum { VIEWS = 180, N = 96, ROWS = 8, REQUESTS = 2 };

typedef struct request {
    motet_ct_geometry *geometry;
    motet_array *sinogram, *picture;
    motet_job *job;
} request;

/* On a thread of the job's own. Whatever fails here is the job's failure. */
static motet_status reconstruct(motet_context *c, void *user)
{
    (void)c;
    const request *r = user;
    return motet_ct_fbp(r->geometry, NULL, r->sinogram, r->picture);
}

/* On the thread that waits. */
static motet_go show(const motet_progress *p, void *user)
{
    printf("request %d: %s, %lld of %lld rows\n", *(const int *)user, p->phase, (long long)p->done,
           (long long)p->total);
    return MOTET_GO_ON; /* MOTET_STOP would cancel this job, and no other */
}

static int finish(request *r, int number)
{
    const motet_status st = motet_job_wait(r->job, INFINITY);
    motet_error error;
    motet_job_error(r->job, &error);
    printf("request %d: %s %s\n", number, motet_status_text(st), error.message);
    motet_job_free(r->job);
    motet_array_free(r->picture);
    motet_array_free(r->sinogram);
    return st == MOTET_OK;
}

int main(void)
{
    double angles[VIEWS];
    for (int k = 0; k < VIEWS; k++) angles[k] = k * 3.14159265358979 / VIEWS;
    motet_ct_parallel scan;
    motet_ct_parallel_init(&scan);
    scan.views = VIEWS, scan.columns = N, scan.rows = ROWS, scan.angles = angles, scan.pitch = 1;

    motet_context *c = NULL;
    motet_ct_geometry *g = NULL;
    if (motet_context_create(NULL, &c) || motet_ct_geometry_parallel(c, &scan, &g)) return 1;

    request r[REQUESTS];
    int number[REQUESTS];
    for (int i = 0; i < REQUESTS; i++) {
        number[i] = i;
        r[i] = (request){.geometry = g};
        motet_job_options options;
        motet_job_options_init(&options);
        options.deadline = 60; /* seconds; then it ends as MOTET_DEADLINE, its picture untouched */
        options.progress = show;
        options.progress_user = &number[i];
        if (motet_array_create(c, MOTET_F32, 3, (int64_t[]){VIEWS, N, ROWS}, &r[i].sinogram) ||
            motet_array_create(c, MOTET_F32, 3, (int64_t[]){ROWS, N, N}, &r[i].picture) ||
            motet_job_submit(c, reconstruct, &r[i], &options, &r[i].job))
            return 1;
    }
    int good = 0;
    for (int i = 0; i < REQUESTS; i++) good += finish(&r[i], i);
    motet_ct_geometry_free(g);
    motet_context_free(c);
    return good == REQUESTS ? 0 : 1;
}
