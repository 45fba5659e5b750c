/* Holds a reconstruction of a simulated scan against the head it was simulated from.
 *
 *     motet ct simulate -o scan.h5 && motet ct recon scan.h5 -o volume.mha
 *     ct_known_answer volume.mha FOLDER
 *     motet ct phantom -o views.npy --truth head.mha ... && motet ct fdk views.npy -o volume.mha
 * ... ct_known_answer volume.mha FOLDER head.mha
 *
 * prints one "name value" a line and writes to the folder: result.png, truth.png, difference.png
 * (middle slice, one grey scale for the first two), profile.txt (column, truth, result along the
 * middle line). Only the circle that every view sees is compared. */
#include <stdio.h>
#include <stdlib.h>

#include <motet/motet.h>

#include <math.h>

static motet_context *context;

static void check(motet_status status)
{
    if (status == MOTET_OK) return;
    motet_error error;
    motet_context_error(context, &error);
    fprintf(stderr, "ct_known_answer: %s\n", error.message);
    exit(1);
}

typedef struct volume {
    motet_array *array;
    float *data;
    int64_t nz, ny, nx;
    double voxel;
} volume;

static volume make(int64_t nz, int64_t ny, int64_t nx, double voxel)
{
    volume v = {.nz = nz, .ny = ny, .nx = nx, .voxel = voxel};
    check(motet_array_create(context, MOTET_F32, 3, (int64_t[]){nz, ny, nx}, &v.array));
    v.data = motet_array_data(v.array);
    return v;
}

static volume load(const char *path)
{
    motet_store *store = NULL;
    motet_store_info info;
    check(motet_store_open(context, path, NULL, &store));
    motet_store_describe(store, &info);
    if (info.axes != 3 || !(info.spacing[2] > 0)) {
        fprintf(stderr, "ct_known_answer: %s is not a volume with a voxel size\n", path);
        exit(1);
    }
    volume v = make(info.shape[0], info.shape[1], info.shape[2], info.spacing[2]);
    check(motet_store_read(store, 0, v.nz, MOTET_F32, v.data));
    motet_store_free(store);
    return v;
}

static volume truth_of(const volume *result)
{
    volume v = make(result->nz, result->ny, result->nx, result->voxel);
    motet_ct_simulate_options options;
    motet_ct_simulate_options_init(&options);
    options.rows = v.nz;
    options.columns = v.nx;
    options.pitch = v.voxel;
    check(motet_ct_simulate_truth(context, &options, v.voxel, v.array));
    return v;
}

static int inside(const volume *v, int64_t y, int64_t x)
{
    const double dy = (double)y - 0.5 * (double)(v->ny - 1);
    const double dx = (double)x - 0.5 * (double)(v->nx - 1);
    const double radius = 0.5 * (double)v->nx - 1;
    return dx * dx + dy * dy < radius * radius;
}

/* 1 where the head is the same all around: what is left there is noise and bias, not edges. */
static int is_flat(const volume *v, int64_t z, int64_t y, int64_t x)
{
    const float *slice = v->data + z * v->ny * v->nx;
    const float here = slice[y * v->nx + x];
    for (int64_t j = y - 3; j <= y + 3; j++)
        for (int64_t i = x - 3; i <= x + 3; i++)
            if (j < 0 || i < 0 || j >= v->ny || i >= v->nx || slice[j * v->nx + i] != here)
                return 0;
    return here > 0;
}

static void print_errors(const volume *result, const volume *truth)
{
    double squares = 0, largest = 0, flat_sum = 0, flat_truth = 0;
    int64_t count = 0, flats = 0, i = 0;
    for (int64_t z = 0; z < truth->nz; z++)
        for (int64_t y = 0; y < truth->ny; y++)
            for (int64_t x = 0; x < truth->nx; x++, i++) {
                if (!inside(truth, y, x)) continue;
                const double t = truth->data[i], difference = result->data[i] - t;
                squares += difference * difference;
                largest = t > largest ? t : largest;
                count++;
                if (!is_flat(truth, z, y, x)) continue;
                flat_sum += result->data[i];
                flat_truth += t;
                flats++;
            }
    const double rms = sqrt(squares / (double)count);
    printf("slices %lld\nheight %lld\nwidth %lld\n", (long long)truth->nz, (long long)truth->ny,
           (long long)truth->nx);
    printf("voxel_mm %g\n", truth->voxel);
    printf("largest_per_mm %.5f\n", largest);
    printf("rms_error_per_mm %.6f\n", rms);
    printf("rms_error_percent_of_largest %.2f\n", 100 * rms / largest);
    printf("psnr_db %.2f\n", 20 * log10(largest / rms));
    if (flats) {
        printf("flat_voxels %lld\n", (long long)flats);
        printf("flat_truth_per_mm %.6f\n", flat_truth / (double)flats);
        printf("flat_result_per_mm %.6f\n", flat_sum / (double)flats);
        printf("flat_bias_percent %.3f\n", 100 * (flat_sum / flat_truth - 1));
    }
}

/* Values from low to high become black to white. */
static void write_picture(const char *folder, const char *name, const float *slice, int64_t ny,
                          int64_t nx, double low, double high)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    unsigned char *pixels = malloc((size_t)(ny * nx));
    if (!pixels) exit(1);
    for (int64_t i = 0; i < ny * nx; i++) {
        const double grey = (slice[i] - low) / (high - low);
        pixels[i] = (unsigned char)(grey < 0 ? 0 : grey > 1 ? 255 : 255 * grey + 0.5);
    }
    motet_store *store = NULL;
    const motet_store_info info = {.type = MOTET_U8, .axes = 2, .shape = {ny, nx}};
    check(motet_store_create(context, path, NULL, &info, 1, &store));
    check(motet_store_write(store, 0, ny, pixels));
    check(motet_store_commit(store));
    motet_store_free(store);
    free(pixels);
}

static void write_profile(const char *folder, const float *truth, const float *result, int64_t nx)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/profile.txt", folder);
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        exit(1);
    }
    for (int64_t x = 0; x < nx; x++)
        fprintf(file, "%lld %.6f %.6f\n", (long long)x, truth[x], result[x]);
    if (fclose(file)) {
        perror(path);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    if (argc != 3 && argc != 4) {
        fprintf(stderr, "usage: ct_known_answer VOLUME FOLDER [HEAD]\n");
        return 1;
    }
    if (motet_context_create(NULL, &context) != MOTET_OK) return 1;
    volume result = load(argv[1]);
    volume truth = argc == 4 ? load(argv[3]) : truth_of(&result);
    if (truth.nz != result.nz || truth.ny != result.ny || truth.nx != result.nx) {
        fprintf(stderr, "ct_known_answer: %s and %s are of different sizes\n", argv[1], argv[3]);
        return 1;
    }
    print_errors(&result, &truth);

    const int64_t pixels = result.ny * result.nx, middle = result.nz / 2 * pixels;
    const float *r = result.data + middle, *t = truth.data + middle;
    float *difference = malloc((size_t)pixels * sizeof *difference);
    if (!difference) return 1;
    double high = 0;
    for (int64_t i = 0; i < pixels; i++) {
        difference[i] = r[i] - t[i];
        high = t[i] > high ? t[i] : high;
    }
    write_picture(argv[2], "result.png", r, result.ny, result.nx, 0, 0.5 * high);
    write_picture(argv[2], "truth.png", t, result.ny, result.nx, 0, 0.5 * high);
    write_picture(argv[2], "difference.png", difference, result.ny, result.nx, -0.1 * high,
                  0.1 * high);
    write_profile(argv[2], t + result.ny / 2 * result.nx, r + result.ny / 2 * result.nx, result.nx);

    free(difference);
    motet_array_free(truth.array);
    motet_array_free(result.array);
    motet_context_free(context);
    return 0;
}
