/* A head in a cone beam: its exact line integrals, and its volume again by FDK and by CGLS. Exit
 * code 1 if a volume is not the head. */
#include <math.h>
#include <motet/motet.h>
#include <stdio.h>

enum { VIEWS = 90, COLUMNS = 64, ROWS = 48, N = 32 };

static double rms_difference(const motet_array *a, const motet_array *b)
{
    const float *p = motet_array_data(a), *q = motet_array_data(b);
    double sum = 0;
    for (int i = 0; i < N * N * N; i++) sum += ((double)p[i] - q[i]) * ((double)p[i] - q[i]);
    return sqrt(sum / (N * N * N));
}

static motet_status print(const motet_ct_iteration *iteration, void *user)
{
    (void)user;
    printf("%3d  |b - A x| / |b| = %.4f\n", (int)iteration->number, iteration->relative);
    return MOTET_OK;
}

int main(void)
{
    static motet_ct_view view[VIEWS];
    motet_context *c = NULL;
    motet_ct_geometry *g = NULL;
    motet_array *head = NULL, *sinogram = NULL, *fdk = NULL, *cgls = NULL;
    if (motet_context_create(NULL, &c)) return 1;

    motet_ct_views views; /* lengths in mm, angles in radians */
    motet_ct_views_init(&views);
    views.beam = MOTET_CT_BEAM_CONE;
    views.views = VIEWS, views.columns = COLUMNS, views.rows = ROWS, views.view = view;
    views.pitch_u = views.pitch_v = 1.25;
    views.nx = views.ny = views.nz = N;
    motet_ct_trajectory circle; /* or fill `view` with poses of your own */
    motet_ct_trajectory_init(&circle);
    circle.sid = 80, circle.sdd = 128;
    motet_ct_phantom phantom;
    motet_ct_phantom_init(&phantom);
    phantom.points = 4; /* means over voxels and pixels, not their middles */
    motet_ct_solve_options options;
    motet_ct_solve_options_init(&options);
    options.iterations = 15, options.each = print;

    if (motet_array_create(c, MOTET_F32, 3, (int64_t[]){N, N, N}, &head) ||
        motet_array_create(c, MOTET_F32, 3, (int64_t[]){VIEWS, COLUMNS, ROWS}, &sinogram) ||
        motet_array_create(c, MOTET_F32, 3, (int64_t[]){N, N, N}, &fdk) ||
        motet_array_create(c, MOTET_F32, 3, (int64_t[]){N, N, N}, &cgls) ||
        motet_ct_trajectory_views(c, &circle, &views, view) ||
        motet_ct_geometry_create(c, &views, &g) || motet_ct_phantom_volume(g, &phantom, head) ||
        motet_ct_phantom_project(g, &phantom, sinogram) || motet_ct_fdk(g, NULL, sinogram, fdk) ||
        motet_ct_cgls(g, &options, sinogram, cgls, NULL)) {
        motet_error error;
        motet_context_error(c, &error);
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    const double by_fdk = rms_difference(fdk, head), by_cgls = rms_difference(cgls, head);
    printf("differs from the head by %.4f (FDK), %.4f (CGLS)\n", by_fdk, by_cgls);

    motet_ct_geometry_free(g);
    motet_array_free(cgls);
    motet_array_free(fdk);
    motet_array_free(sinogram);
    motet_array_free(head);
    motet_context_free(c);
    return by_fdk < 0.04 && by_cgls < 0.04 ? 0 : 1;
}
