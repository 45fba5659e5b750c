/* Projection as an operation: rows and views are owned, the volume's slices come with the rows. */
#include "ct/beam/beam.h"
#include "ct/geometry.h"
#include "ct/operations.h"
#include "ct/project_fast.h"

enum { VOLUME, SINOGRAM, TABLE };

static motet_status enqueue(const rt_chunk *chunk, const rt_queue *queue, const void *user)
{
    const motet_ct_geometry *g = user;
    const rt_view *volume = &chunk->port[VOLUME], *sinogram = &chunk->port[SINOGRAM];
    const ct_project_args a = {
        .grid = g->grid,
        .view = (const ct_view *)chunk->port[TABLE].data + chunk->first[1],
        .views = chunk->count[1],
        .volume = volume->data,
        .slice_stride = volume->stride[0],
        .line_stride = volume->stride[1],
        .sinogram = sinogram->data,
        .view_stride = sinogram->stride[0],
        .column_stride = sinogram->stride[1],
        .rows = chunk->count[0],
        .fast_taps = g->chords.most_taps > CT_FAST_TAPS ? 0 : g->chords.most_taps,
    };
    return rt_launch(queue, &K_ct_project, &a, ct_project_items(&a));
}

rt_op ct_project_op(const motet_ct_geometry *g, const motet_array *volume,
                    const motet_array *sinogram)
{
    rt_op op = {
        .name = "ct.project",
        .axes = 2,
        .extent = {g->rows, g->views},
        .grain = {CT_ROWS, CT_FAST_VIEWS},
        .port = {[VOLUME] =
                     {.name = "volume", .array = volume, .access = RT_READ, .cut = {0, RT_WHOLE}},
                 [SINOGRAM] =
                     {.name = "sinogram", .array = sinogram, .access = RT_WRITE, .cut = {2, 0}},
                 [TABLE] = {.name = "views",
                            .array = g->chords.views,
                            .access = RT_READ,
                            .cut = {RT_WHOLE, RT_WHOLE}}},
        .batch = g->grid.columns * CT_FAST_VIEWS,
        .scratch = {.fast = ct_project_scratch(g->grid.nx)},
        .enqueue = enqueue,
        .user = g,
    };
    ct_fingerprint(g, op.fingerprint);
    return op;
}

rt_op ct_project_any_op(const motet_ct_geometry *g, const motet_array *volume,
                        const motet_array *sinogram)
{
    return g->beam ? ct_beam_project_op(g, volume, sinogram) : ct_project_op(g, volume, sinogram);
}

static motet_status project(const motet_ct_geometry *g, const motet_array *volume,
                            const motet_array *sinogram, int anew)
{
    rt_op op = ct_project_any_op(g, volume, sinogram);
    if (anew) op.fingerprint[0] = op.fingerprint[1] = 0;
    return rt_run(g->context, &op);
}

motet_status ct_project_anew(const motet_ct_geometry *g, const motet_array *volume,
                             motet_array *sinogram)
{
    return project(g, volume, sinogram, 1);
}

motet_status motet_ct_project(motet_ct_geometry *geometry, const motet_array *volume,
                              motet_array *sinogram)
{
    TRY(ct_check_volume(geometry, volume, "volume"));
    TRY(ct_check_sinogram(geometry, sinogram, "sinogram"));
    return project(geometry, volume, sinogram, 0);
}
