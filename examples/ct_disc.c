/* A disc, its projections, and its picture again: arrays of one's own instead of files. Exit code 1
 * if the picture is not the disc. */
#include <motet/motet.h>
#include <stdio.h>

int main(void)
{
    enum { VIEWS = 180, N = 64 };
    double angles[VIEWS];
    for (int k = 0; k < VIEWS; k++) angles[k] = k * 3.14159265358979 / VIEWS;

    motet_context *c = NULL;
    motet_ct_geometry *g = NULL;
    motet_array *disc = NULL, *sinogram = NULL, *picture = NULL;
    motet_ct_parallel scan;
    motet_ct_parallel_init(&scan);
    scan.views = VIEWS, scan.columns = N, scan.rows = 1, scan.angles = angles, scan.pitch = 1;

    if (motet_context_create(NULL, &c) ||
        motet_array_create(c, MOTET_F32, 3, (int64_t[]){1, N, N}, &disc) ||
        motet_array_create(c, MOTET_F32, 3, (int64_t[]){VIEWS, N, 1}, &sinogram) ||
        motet_array_create(c, MOTET_F32, 3, (int64_t[]){1, N, N}, &picture) ||
        motet_ct_geometry_parallel(c, &scan, &g))
        return 1;

    float *values = motet_array_data(disc);
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++)
            values[y * N + x] = (x - 32) * (x - 32) + (y - 32) * (y - 32) < 400;

    if (motet_ct_project(g, disc, sinogram) || motet_ct_fbp(g, NULL, sinogram, picture)) {
        motet_error error;
        motet_context_error(c, &error);
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    const float *back = motet_array_data(picture);
    const double inside = (double)back[32 * N + 32], outside = (double)back[4 * N + 32];
    printf("in the disc %.3f, outside %.3f\n", inside, outside);

    motet_ct_geometry_free(g);
    motet_array_free(picture);
    motet_array_free(sinogram);
    motet_array_free(disc);
    motet_context_free(c);
    return inside > 0.9 && inside < 1.1 && outside > -0.1 && outside < 0.1 ? 0 : 1;
}
