/* Stores of a geometry: their shapes, and the arrays that they hold. */
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "ct/beam/beam.h"
#include "ct/disk/disk.h"
#include "rt/devices.h"
#include "store/file.h"
#include "store/format.h"

static void sinogram_shape(const motet_ct_geometry *g, int64_t shape[3])
{
    shape[0] = g->views;
    shape[1] = g->grid.columns;
    shape[2] = g->rows;
}

static void volume_shape(const motet_ct_geometry *g, int64_t shape[3])
{
    for (int i = 0; i < 3 && g->beam; i++) shape[i] = g->beam->space.n[2 - i];
    if (g->beam) return;
    shape[0] = g->rows;
    shape[1] = g->grid.ny;
    shape[2] = g->grid.nx;
}

/* Formats of arrays have the order of arrays, those of pictures the order of pictures. */
static int is_turned(const char *format)
{
    return strcmp(format, "npy") != 0 && strcmp(format, "npz") != 0;
}

motet_status motet_ct_create_sinogram(motet_ct_geometry *g, const char *path, const char *entry,
                                      int overwrite, motet_store **out)
{
    int64_t shape[3];
    sinogram_shape(g, shape);
    const int turned = path && !store_ends_in(path, ".npy .npz");
    const double pitch[3] = {1.0, g->pitch, g->beam ? g->beam->given.pitch_v : g->pitch};
    motet_store_info info = {.type = MOTET_F32, .axes = 3};
    for (int i = 0; i < 3; i++) {
        const int from = turned && i ? 3 - i : i;
        info.shape[i] = shape[from];
        info.spacing[i] = pitch[from];
        info.origin[i] = from ? -0.5 * (double)(shape[from] - 1) * pitch[from] : 0.0;
    }
    return motet_store_create(g->context, path, entry, &info, overwrite, out);
}

motet_status motet_ct_create_volume(motet_ct_geometry *g, const char *path, const char *entry,
                                    int overwrite, motet_store **out)
{
    motet_store_info info = {.type = MOTET_F32, .axes = 3};
    volume_shape(g, info.shape);
    for (int i = 0; i < 3; i++) {
        const double voxel = g->beam ? g->beam->given.voxel[2 - i] : i ? g->voxel : g->pitch;
        const double centre = g->beam ? g->beam->given.centre[2 - i] : 0.0;
        info.spacing[i] = voxel;
        info.origin[i] = centre - 0.5 * (double)(info.shape[i] - 1) * voxel;
    }
    return motet_store_create(g->context, path, entry, &info, overwrite, out);
}

motet_status ct_disk_sinogram(motet_ct_geometry *g, motet_store *store, motet_array **out)
{
    int64_t shape[3];
    sinogram_shape(g, shape);
    return rt_disk_store(g->context, store, "the sinogram", MOTET_F32, 3, shape,
                         is_turned(store->info.format), out);
}

motet_status ct_disk_volume(motet_ct_geometry *g, motet_store *store, motet_array **out)
{
    int64_t shape[3];
    volume_shape(g, shape);
    return rt_disk_store(g->context, store, "the volume", MOTET_F32, 3, shape, 0, out);
}

static motet_status check_use(motet_context *c, const motet_store *store, const char *name,
                              int writing)
{
    if (!store) return fail(c, MOTET_BAD_ARGUMENT, "%s is NULL, expected a store", name);
    if (store->writing && store->committed)
        return fail(c, MOTET_BAD_ARGUMENT, "%s: was committed already", store->path);
    if (store->writing == writing) return MOTET_OK;
    return fail(c, MOTET_BAD_ARGUMENT, "%s: %s is to be %s, and the store was %s", store->path,
                name, writing ? "written" : "read", writing ? "opened" : "begun");
}

motet_status ct_disk_pair(motet_ct_geometry *g, motet_store *sinogram, motet_store *volume,
                          int to_volume, motet_array *out[2])
{
    motet_context *c = g->context;
    motet_array *one = NULL;
    TRY(check_use(c, sinogram, "the sinogram", !to_volume));
    TRY(check_use(c, volume, "the volume", to_volume));
    TRY(motet_store_check_distinct(c, to_volume ? sinogram->path : volume->path,
                                   to_volume ? volume->path : sinogram->path));
    TRY(ct_disk_sinogram(g, sinogram, &one));
    const motet_status st = ct_disk_volume(g, volume, &out[1]);
    if (st != MOTET_OK)
        motet_array_free(one);
    else
        out[0] = one;
    return st;
}

int64_t ct_disk_room(motet_context *c)
{
    if (mem_left(c) < INT64_MAX) return mem_left(c) / 2;
    const int64_t bytes = rt_host_free(c);
    return bytes > 0 && bytes < INT64_MAX ? bytes / 2 : INT64_MAX;
}

motet_status ct_disk_folder(motet_context *c, const motet_store *store, char **out)
{
    const size_t bytes = file_folder_bytes(store->path);
    *out = bytes ? mem_format(c, "%.*s", (int)bytes, store->path) : mem_text(c, ".");
    if (*out) return MOTET_OK;
    return fail(c, MOTET_NO_MEMORY, "%s: no memory for the name of its folder", store->path);
}
